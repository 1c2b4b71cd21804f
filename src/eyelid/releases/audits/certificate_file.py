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
        found = read_once(content_of(here(folder) / "certificate.json"))
    except OSError:
        found = None
    stated = json.loads(certificate.to_json())
    # Other versions may leave out what this one writes.
    ours = certificate.version == build()
    if not (alike(found, stated) if ours else among(found, stated)):
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


def among(found: Any, stated: Any) -> bool:
    """Whether every name that is found, in whatever is inside, is one that is stated, too.

    Args:
        found: of a file.
        stated: what may stand there.

    >>> among({"a": [{"b": 1}]}, {"a": [{"b": 2}], "c": 3}), among({"a": {"b": 1}}, {"a": {}})
    (True, False)
    """
    if isinstance(found, dict) and isinstance(stated, dict):
        return set(found) <= set(stated) and all(among(found[key], stated[key]) for key in found)
    if isinstance(found, list) and isinstance(stated, list):
        return len(found) == len(stated) and all(map(among, found, stated))
    return not isinstance(found, dict | list) and not isinstance(stated, dict | list)


def read_once(content: bytes) -> Any:
    """JSON in which every name is there once; None where it is no such.

    Args:
        content: of a file.
    """
    try:
        return json.loads(content, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are there once: of two the first would go unseen."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found
