"""The names of files in BIDS: entities such as ``sub-01`` and ``task-reading``, and a suffix."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

Entity = tuple[str, str]
"""A key and a label, such as ``sub`` and ``01``."""

_LABEL = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True)
class Name:
    """What the name of a file says.

    Attributes:
        entities: in order.
        suffix: what the file holds, such as ``physio``.
    """

    entities: tuple[Entity, ...]
    suffix: str

    def __getitem__(self, key: str) -> str:
        """The label of an entity; empty where the name has none."""
        return dict(self.entities).get(key, "")

    def without(self, *keys: str) -> tuple[Entity, ...]:
        """The entities other than these."""
        return tuple((key, label) for key, label in self.entities if key not in keys)


def name_of(path: Path) -> Name:
    """The name of a file, taken apart.

    >>> name = name_of(Path("sub-01_task-rest_recording-eye1_physio.tsv.gz"))
    >>> name["task"], name.suffix
    ('rest', 'physio')
    """
    *words, suffix = path.name.split(".", 1)[0].split("_")
    pairs = (word.partition("-") for word in words)
    return Name(tuple((key, label) for key, _, label in pairs), suffix)


def labels(names: Iterable[str], nameless: str) -> dict[str, str]:
    """A label of letters and digits for every name, no two alike, not even but for capitals.

    Args:
        names: whatever people call things.
        nameless: the label of a name without letters and digits.

    >>> labels(["P 1", "P1", "p1", "?"], "person")
    {'P1': 'P1', 'p1': 'p1x2', 'P 1': 'P1x3', '?': 'person'}
    """
    given: dict[str, str] = {}
    taken: set[str] = set()
    # Where to go on for each label: many names may be alike.
    numbers: dict[str, Iterator[int]] = {}
    # Names that are labels already come first, so that they keep themselves.
    for name in sorted(dict.fromkeys(names), key=lambda n: _LABEL.fullmatch(n) is None):
        base = "".join(_LABEL.findall(name)) or nameless
        more = numbers.setdefault(base.lower(), itertools.count(2))
        tries = itertools.chain([base], (f"{base}x{number}" for number in more))
        given[name] = next(label for label in tries if label.lower() not in taken)
        taken.add(given[name].lower())
    return given
