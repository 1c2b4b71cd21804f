"""Mechanisms that other packages bring, found by the entry points of what is installed.

A package names the modules that register mechanisms in its metadata, under ``eyelid.mechanisms``.
Nothing of it is imported before the whole catalogue is read, or for a name that is not
there. The published mechanisms in `eyelid.papers` come by the same door.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points

from eyelid.errors import EyelidWarning

GROUP = "eyelid.mechanisms"
_EYELID = "eyelid"

OWN = (
    "eyelid.papers.baselines.coarse",
    "eyelid.papers.baselines.noisy",
    "eyelid.papers.bozkir2021.mechanisms",
    "eyelid.papers.davidjohn2022.exponential",
    "eyelid.papers.davidjohn2022.ksame",
    "eyelid.papers.davidjohn2022.marginals",
    "eyelid.papers.liu2019.maps",
)
"""The modules that eyelid's own entry points name.

Metadata are written when a package is installed: a checkout that was installed before a mechanism
was there, or moved, would lose it without a word. So its own are known here as well, and what
metadata say of eyelid itself beyond them is left over from another version.
"""


def modules() -> Iterator[tuple[str, str]]:
    """Each module that brings mechanisms, with the package that says so; eyelid's own first.

    >>> next(modules())
    ('eyelid.papers.baselines.coarse', 'eyelid')
    """
    yield from ((module, _EYELID) for module in OWN)
    for point in entry_points(group=GROUP):
        owner = point.dist.name if point.dist is not None else point.name
        if owner != _EYELID:
            yield point.value.partition(":")[0].strip(), owner


def load(module: str, owner: str) -> bool:
    """Import a module that registers mechanisms; where it cannot, say so in one line.

    Another package that is broken must not take eyelid's own mechanisms away, nor those of others.

    Returns:
        whether it was imported.
    """
    try:
        import_module(module)
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        warnings.warn(
            f"the mechanisms of {owner} ({module}) are left out: {reason}", EyelidWarning, 2
        )
        return False
    return True
