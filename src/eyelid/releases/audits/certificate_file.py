"""What stands in certificate.json beside what a certificate says.

A certificate is read by its names: whatever else someone wrote into the file would go unseen, and
be shared with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eyelid.engine.files import content_of
from eyelid.io.remote import here
from eyelid.mechanisms.certificate import Certificate
from eyelid.version import build

MORE = "the certificate says more, or other things, than a certificate of such a release"
# Other computers round otherwise.
_TOLERANCE = 1e-9


def said_besides(folder: Path | None, certificate: Certificate) -> Iterator[str]:
    """That the file has names which no certificate has, or one of them twice.

    Args:
        folder: of the release; None in memory.
        certificate: as it was read from there.
    """
    if folder is None:
        return
    try:
        content = content_of(here(folder) / "certificate.json")
        found = json.loads(content, object_pairs_hook=_once)
    except (OSError, ValueError, RecursionError):
        found = None
    stated = json.loads(certificate.to_json())
    # Other versions may leave out what this one writes.
    ours = certificate.version == build()
    if not (alike(found, stated) if ours else _among(found, stated)):
        yield MORE


def alike(found: Any, wanted: Any) -> bool:
    """Whether two things of JSON are the same, numbers to within rounding.

    Args:
        found: one of them.
        wanted: the other.

    >>> alike({"a": [1.0, "x"]}, {"a": [1, "x"]}), alike({"a": 1, "b": 2}, {"a": 1})
    (True, False)
    """
    if isinstance(wanted, dict) and isinstance(found, dict):
        return set(found) == set(wanted) and all(alike(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(alike, found, wanted))
    if {type(found), type(wanted)} <= {int, float}:
        return math.isclose(found, wanted, rel_tol=_TOLERANCE)
    return type(found) is type(wanted) and bool(found == wanted)


def _among(found: Any, stated: Any) -> bool:
    """Whether every name that is found is one that is stated, too."""
    if isinstance(found, dict) and isinstance(stated, dict):
        return set(found) <= set(stated) and all(_among(found[key], stated[key]) for key in found)
    return not isinstance(found, dict) or stated is None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are there once: of two the first would go unseen."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found
