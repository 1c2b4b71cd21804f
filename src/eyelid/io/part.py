"""What one file of recordings gives, before and after it is known whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import Feature, Kind, Screen


class NoRows(InputError):
    """A file that is as it should be, but for having no rows.

    Attributes:
        whose: person, recording, task and stimulus of what should be in it, as far as it says.
    """

    def __init__(self, message: str, whose: pl.DataFrame | None = None) -> None:
        super().__init__(message)
        self.whose = pl.DataFrame() if whose is None else whose


@dataclass(frozen=True)
class Places:
    """How many places of gaze there are, and how many of them are odd.

    Attributes:
        known: all of them.
        on_a_screen: those in a file that states its screen.
        off_screen: those of them that are beyond it.
        zero: those that are exactly (0, 0).
        minus_one: those that are exactly (-1, -1).
    """

    known: int = 0
    on_a_screen: int = 0
    off_screen: int = 0
    zero: int = 0
    minus_one: int = 0

    def __add__(self, other: Places) -> Places:
        return Places(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, eq=False)
class Part:
    """The content of one file.

    Attributes:
        format: the name of its format, for people.
        data: ``time_ms`` and the measured columns of a study; ``person``, ``recording``, ``task``,
            ``stimulus`` and ``eye`` where the file says them; ``duration_ms`` of fixations.
        kind: what a row is.
        units: of x and y.
        xy_origin: where x and y are zero.
        pupil_unit: of the pupil.
        rate_hz: as the file states it; None where it does not.
        screen: as far as the file states it.
        features: the feature columns, where a row is a window or a word.
        events: name, onset_ms, offset_ms and duration_ms of events that the file lists, with the
            keys that ``data`` has.
        people: ``person`` and attributes, where the file has them.
        names: person, recording, task and stimulus that follow from the file's name in this format.
        notes: what its readers should know.
        path: of the file, once its keys are filled in.
        rates_hz: what all of its rows show, where ``data`` has an excerpt of them; None where they
            are all there.
        places: what they are like.
        outside: of each feature, how many values are beyond its bounds, and how many there are.
        blank: whether the file has no rows, so that its recordings have one without values each,
            and nothing else is known of them.
    """

    format: str
    data: pl.DataFrame
    kind: Kind = "samples"
    units: str | None = None
    xy_origin: str | None = None
    pupil_unit: str | None = None
    rate_hz: float | None = None
    screen: Screen | None = None
    features: tuple[Feature, ...] = ()
    events: pl.DataFrame | None = None
    people: pl.DataFrame | None = None
    names: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    path: Path = Path()
    rates_hz: tuple[float | None, ...] | None = None
    places: Places = field(default_factory=Places)
    outside: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    blank: bool = False
