"""Whose value is hidden, from what, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from eyelid.errors import InputError, unknown


class Neighbours(StrEnum):
    """Which two datasets a guarantee compares.

    ``replace-one``: the unit's data change arbitrarily inside the public bounds; the number of
    people is public and participation is not hidden. ``add-remove``: the unit is there or not.
    """

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"


class Trust(StrEnum):
    """What is released: each person's own record (local) or an aggregate over people (central)."""

    LOCAL = "local"
    CENTRAL = "central"


_MEANINGS = {
    "person": "everything of one person (all recordings, all features)",
    "recording": "all features of one recording of one person",
    "chunk": "values of one chunk (cut one after the other from the first row) of one feature of "
    "one recording",
    "event": "consecutive samples, each moved at most a radius",
    "sample": "one gaze sample",
    "record": "one released row (all features of one window or event)",
}

# What must be said besides the name; a number that means nothing would claim something.
_NUMBERS = {"chunk": ("length",), "event": ("length", "radius")}


@dataclass(frozen=True, order=True)
class Unit:
    """The thing whose data may change without the output telling.

    Attributes:
        name: person, recording, chunk, event, sample or record.
        length: values in a chunk, or samples in an event window.
        radius: how far each sample of an event may move.

    >>> Unit.parse("chunk:32")
    Unit(name='chunk', length=32, radius=None)
    >>> str(Unit.parse("person"))
    'person'
    """

    name: str
    length: int | None = None
    radius: float | None = None

    def __post_init__(self) -> None:
        if self.name not in _MEANINGS:
            raise unknown("unit", self.name, _MEANINGS)
        wanted = _NUMBERS.get(self.name, ())
        given = tuple(n for n in ("length", "radius") if getattr(self, n) is not None)
        if given != wanted:
            form = ":".join([self.name, *[n.upper() for n in wanted]])
            raise InputError(f"unit '{self}' is not one: write it as {form}")
        if any(getattr(self, n) <= 0 for n in given):
            raise InputError(f"unit '{self}': its numbers must be positive")

    @classmethod
    def parse(cls, text: str) -> Unit:
        """The unit that a person typed: ``person``, ``chunk:32``, ``event:30:2.5``."""
        name, *numbers = text.split(":")
        try:
            length = int(numbers[0]) if numbers else None
            radius = float(numbers[1]) if len(numbers) > 1 else None
        except ValueError:
            length = radius = None
            numbers = ["no number"] * 3
        if len(numbers) > 2:
            raise InputError(
                f"unit '{text}': write it as NAME, chunk:LENGTH or event:LENGTH:RADIUS"
            )
        return cls(name, length, radius)

    @property
    def meaning(self) -> str:
        """What the unit covers, in words."""
        count = "" if self.length is None else f"the {self.length} "
        return count + _MEANINGS[self.name]

    def __str__(self) -> str:
        # However a radius was written, as 2 or as 2.0, it reads the same.
        radius = None if self.radius is None else float(self.radius)
        return ":".join(str(part) for part in (self.name, self.length, radius) if part is not None)


PERSON = Unit("person")
RECORDING = Unit("recording")
RECORD = Unit("record")
