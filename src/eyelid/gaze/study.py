"""A study: recordings of people looking at things, and what is publicly known about them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.display import Framed, facts
from eyelid.errors import InputError, unknown
from eyelid.gaze.naming import check_people as check_people
from eyelid.gaze.naming import check_shown as check_shown
from eyelid.gaze.order import RECORDING_KEY as RECORDING_KEY
from eyelid.gaze.order import of_one_task as of_one_task
from eyelid.gaze.order import ordered as ordered
from eyelid.gaze.order import tasks_apart as tasks_apart
from eyelid.gaze.order import track_key as track_key
from eyelid.gaze.order import track_starts as track_starts
from eyelid.spelling import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["samples", "fixations", "features"]

ROW_KEY = [*RECORDING_KEY, "time_ms"]
INDEX_COLUMNS = ["person", "recording", "task", "stimulus", "time_ms"]
UNITS = ("deg", "px", "fraction", "normalised")
XY_ORIGINS = ("top-left", "bottom-left", "centre")
PUPIL_UNITS = ("mm", "px", "arbitrary")
CHOSEN_BY_LIST, EVERY_TASK, SAW = "list", "every-task", "saw:"
"""How people may be chosen out of a study; the last is followed by the name of a stimulus."""
EYES = ("left", "right", "cyclopean")
_DAY_MS = 86_400_000.0
LONGEST_MS = 2 * _DAY_MS
"""Nobody is recorded for longer; a clock that jumps would make windows of years."""
EVENT_COLUMNS = ["person", "recording", "name", "onset_ms", "offset_ms", "duration_ms"]


@dataclass(frozen=True)
class Feature:
    """One column of a feature table, with bounds that follow from its definition alone.

    Attributes:
        name: of the column.
        unit: of its values, such as ``1/s``, ``deg`` or ``mm``.
        definition: what it is, in a few words.
        lower: the least that it can be, for any person.
        upper: the most.
    """

    name: str
    unit: str
    definition: str
    lower: float
    upper: float

    @property
    def span(self) -> float:
        """Width of the public bounds."""
        return self.upper - self.lower


Bound = tuple[float, float] | tuple[float, float, str] | Feature
"""The least and the most that a column can be, its unit where it has one, or all there is."""


@dataclass(frozen=True)
class Screen:
    """Where the stimulus was shown, as far as it is known.

    Attributes:
        width_px: its resolution, across.
        height_px: and down.
        width_m: its size, across.
        height_m: and down.
        distance_m: from the eyes, before its middle.
    """

    width_px: int | None = None
    height_px: int | None = None
    width_m: float | None = None
    height_m: float | None = None
    distance_m: float | None = None


@dataclass(frozen=True)
class Origin:
    """Who these people are to the ledger: kept by every study derived from the first one.

    Attributes:
        id: an opaque name, made once when the people first enter eyelid.
        ledger: the file that counts what has been spent on them.
    """

    id: str
    ledger: Path | None = None


@dataclass(frozen=True)
class Derivation:
    """How the features of a study were made of samples; the same for everybody.

    Attributes:
        kind: what a row is: ``windows``, ``fixations`` or ``saccades``.
        method: the event detector.
        settings: of the detector, as far as they were set; others are its defaults.
        min_seconds: recordings that are shorter were left out.
        window_s: length of a window.
        step_s: time from one window to the next.
        version: of eyelid.
    """

    kind: str
    method: str
    settings: Mapping[str, float | str] = field(default_factory=dict)
    min_seconds: float | None = None
    window_s: float | None = None
    step_s: float | None = None
    version: str = ""


@dataclass(frozen=True)
class Recording:
    """One person doing one task once, as arrays; lost samples are NaN.

    Of a recording with several eyes, one of them: ``left``, ``right`` or ``cyclopean``.
    """

    person: str
    recording: str
    task: str
    stimulus: str
    time_ms: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]
    eye: str = ""

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        """The values of one column, such as ``x``, ``y`` or ``pupil``."""
        return self.columns[column]


@dataclass(frozen=True, eq=False, repr=False)
class Study(Framed):
    """Recordings of some people, in the shape of a study folder.

    Attributes:
        kind: what a row is: a gaze sample, a fixation, or a window of features.
        data: person, recording, task, stimulus, time_ms, eye where there are several, then the
            measured columns; nulls are lost signal. Rows of one eye of one recording stand
            together, in order of time. Directions are unit vectors ``gaze_x/y/z`` (in the head) and
            ``head_x/y/z``, with x to the right, y up and z straight ahead.
        people: one row a person: ``person`` and any attributes.
        units: of x and y: ``deg``, ``px``, ``fraction`` of the screen or scene image, or
            ``normalised`` (pupil positions in an eye camera image).
        rate_hz: nominal sampling rate; None where recordings differ.
        screen: where things were shown.
        xy_origin: where x and y are zero: ``top-left`` (y down), ``bottom-left`` or ``centre``
            (y up).
        pupil_unit: of the diameter: ``mm``, ``px`` of the eye camera, or ``arbitrary``.
        features: the feature columns of a ``features`` study, in order.
        step_ms: time between two rows of a ``features`` study.
        window_ms: length of the window that a row of a ``features`` study summarises.
        planned_ms: how long a recording of a ``samples`` study is by its design, which is public;
            None where nobody said. Never read off the recordings.
        planned_rows: how many rows a recording of a ``features`` study has by its design.
        events: ground-truth or detected events.
        origin: whose budget a release of it spends.
        notes: what its readers should know, such as what was left out.
        simulated: whether these participants are simulated.
        released: whether this is a release, and so no original to release from.
        read_as: the formats that its files were taken for; empty for what eyelid made.
        min_seconds: shorter recordings of a ``samples`` study are left out when it is summarised;
            None for those that have no window. Given by the code that summarises, and never
            written.
        derived: how the features of a ``features`` study were made, where eyelid made them.
        chosen: how its people were chosen out of more: ``list``, ``every-task``, ``saw:…``.
    """

    kind: Kind
    data: pl.DataFrame
    people: pl.DataFrame
    units: str | None = None
    rate_hz: float | None = None
    screen: Screen | None = None
    xy_origin: str | None = None
    pupil_unit: str | None = None
    features: tuple[Feature, ...] = ()
    step_ms: float | None = None
    window_ms: float | None = None
    planned_ms: float | None = None
    planned_rows: int | None = None
    events: pl.DataFrame | None = None
    origin: Origin | None = None
    notes: tuple[str, ...] = ()
    simulated: bool = False
    released: bool = False
    read_as: tuple[str, ...] = ()
    min_seconds: float | None = None
    derived: Derivation | None = None
    chosen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(isinstance(frame, pl.DataFrame) for frame in (self.data, self.people)):
            from eyelid.gaze.frames import check_polars

            check_polars(data=self.data, people=self.people)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        person: str | None = None,
        recording: str | None = None,
        task: str | None = None,
        stimulus: str | None = None,
        time: str | None = None,
        time_unit: str = "ms",
        x: str | None = None,
        y: str | None = None,
        pupil: str | None = None,
        eye: str | None = None,
        duration: str | None = None,
        units: str | None = None,
        rate_hz: float | None = None,
        screen: Screen | None = None,
        xy_origin: str | None = None,
        pupil_unit: str | None = None,
        people: object = None,
        attributes: Sequence[str] = (),
        planned_ms: float | None = None,
        simulated: bool = False,
    ) -> Study:
        """A study of gaze samples, or of fixations, from a frame of polars, pandas or Arrow.

        Features go in through `FeatureTable.from_frame`. Names of people are kept as they are, and
        in releases of individual records they are seen: use pseudonyms. Write the study into a
        folder (`eyelid.write`) to have a ledger count its releases.

        Args:
            frame: one row a sample or fixation; lost signal is NaN or null.
            person: the column that says whose it is; other columns that are called as in a study
                folder (``person``, ``time_ms``, ``x``, ``gaze_x``, ``confidence``…) need no word.
            recording: which of the person's; by default there is one for each task.
            task: what the person did.
            stimulus: what they looked at.
            time: of the sample, or when the fixation began.
            time_unit: of it: ``ms``, ``s``, ``us`` or ``ns``.
            x: to the right.
            y: up or down, see ``xy_origin``.
            pupil: its diameter.
            eye: ``left``, ``right`` or ``cyclopean``, where there are several.
            duration: of a fixation in ms; with it rows are fixations.
            units: of x and y: ``deg``, ``px``, ``fraction`` or ``normalised``.
            rate_hz: nominal sampling rate.
            screen: where things were shown.
            xy_origin: ``top-left``, ``bottom-left`` or ``centre``.
            pupil_unit: ``mm``, ``px`` or ``arbitrary``.
            people: a frame with a row a person, and their attributes, if any are known.
            attributes: columns of the frame that are of a person, instead.
            planned_ms: how long a recording is by design, if that is public.
            simulated: whether nobody was recorded.

        >>> rows = pl.DataFrame({"who": ["a", "a"], "t": [0, 1], "x": [0.5, 0.6], "y": [0.1, 0.1]})
        >>> Study.from_frame(rows, person="who", time="t", time_unit="s", units="fraction")
        Study of samples
          people      1
          recordings  1
          tasks       1
          rows        2
          units       fraction
        """
        from eyelid.gaze.frames import Columns, study_of_frame

        known = ("units", units, UNITS), ("xy_origin", xy_origin, XY_ORIGINS)
        for name, value, allowed in (*known, ("pupil_unit", pupil_unit, PUPIL_UNITS)):
            if value is not None and value not in allowed:
                raise unknown(name, value, allowed)
        measured = {"eye": eye, "x": x, "y": y, "pupil": pupil, "duration_ms": duration}
        others = (f"{what}_{axis}" for what in ("gaze", "head") for axis in "xyz")
        return study_of_frame(
            frame,
            Columns(person, recording, task, stimulus, time, time_unit),
            measured | dict.fromkeys((*others, "confidence")),
            people=people,
            attributes=attributes,
            kind="samples" if duration is None else "fixations",
            units=units,
            rate_hz=rate_hz,
            screen=screen,
            xy_origin=xy_origin,
            pupil_unit=pupil_unit,
            planned_ms=planned_ms,
            simulated=simulated,
        )

    @classmethod
    def from_pymovements(
        cls,
        gaze: object,
        *,
        person: str | None = None,
        recording: str | None = None,
        task: str | None = None,
        stimulus: str | None = None,
        pupil_unit: str | None = None,
        people: object = None,
    ) -> Study:
        """A study of a ``Gaze`` of pymovements, or of several, such as those of a ``Dataset``.

        Units (pixels, where it has them), rate and screen are those of its experiment.

        Args:
            gaze: of pymovements, one or a sequence.
            person: the column of its samples, or the entry of its metadata, that says whose it is.
            recording: which of the person's, likewise; so are the following two.
            task: what the person did.
            stimulus: what they looked at.
            pupil_unit: ``mm``, ``px`` or ``arbitrary``.
            people: a frame with a row a person, and attributes.
        """
        from eyelid.gaze.frames import Columns
        from eyelid.gaze.pymovements_gaze import study_of_gaze

        columns = Columns(person, recording, task, stimulus, "time")
        return study_of_gaze(gaze, columns, pupil_unit=pupil_unit, people=people)

    @property
    def frame(self) -> pl.DataFrame:
        """Its rows."""
        return self.data

    def in_short(self) -> Table:
        """What it holds, in numbers."""
        data = self.data
        tasks = data["task"].n_unique() if "task" in data.columns else None
        return facts(
            {
                "people": data["person"].n_unique(),
                "recordings": data.select(RECORDING_KEY).n_unique(),
                "tasks": tasks,
                "rows": f"{len(data):,}",
                "features": len(self.features) or None,
                "units": self.units,
                "rate": self.rate_hz and f"{self.rate_hz:g} Hz",
            },
            f"{'Simulated study' if self.simulated else 'Study'} of {self.kind}"
            + (", released" if self.released else ""),
        )

    def plot(self, ax: Axes | None = None, *, person: str | None = None) -> Axes:
        """The path of a person's gaze in one recording: private data, for their owner's eyes.

        Args:
            ax: where to draw; fresh axes by default, in the sizes of a paper.
            person: whose; the first person's by default.
        """
        from eyelid.gaze.pictures import draw_study

        return draw_study(self, person, ax)

    @property
    def labels(self) -> list[str]:
        """The columns that label rows."""
        return [name for name in self.data.columns if name.startswith("label_")]

    def recordings(self) -> Iterator[Recording]:
        """Each recording in turn, as arrays; one eye after the other where there are several."""
        text = set(INDEX_COLUMNS) - {"time_ms"}
        numeric = [n for n, t in self.data.schema.items() if n not in text and t.is_numeric()]
        for part in self.data.partition_by(track_key(self.data), maintain_order=True):
            first = part.row(0, named=True)
            # Nulls become NaN.
            arrays = {name: part[name].cast(pl.Float64).to_numpy() for name in numeric}
            yield Recording(
                person=first["person"],
                recording=first["recording"],
                task=first.get("task") or "",
                stimulus=_only_stimulus(part),
                time_ms=arrays.pop("time_ms"),
                columns=arrays,
                eye=first.get("eye") or "",
            )

    def derive(self, **changes: object) -> Study:
        """A study of the same people with other contents; the origin is inherited."""
        return replace(self, **changes)  # type: ignore[arg-type]


def _only_stimulus(rows: pl.DataFrame) -> str:
    """The stimulus that a recording begins with, where it has no other."""
    if "stimulus" not in rows.columns:
        return ""
    first = rows["stimulus"][0] or ""
    return first if {*rows["stimulus"].unique()} <= {first, "", None} else ""


def check(study: Study) -> Study:
    """Return the study in order if it can be worked with, otherwise say what is wrong with it."""
    missing = [name for name in ROW_KEY if name not in study.data.columns]
    if missing:
        raise InputError(f"the data have no column {', '.join(missing)}: every row needs it")
    if study.data.is_empty():
        raise InputError("the study is empty: it has no rows")
    empty = [name for name in ROW_KEY if study.data[name].null_count()]
    if empty:
        raise InputError(f"column {empty[0]} has missing values: every row needs one")
    if (study.data["person"].cast(pl.String).str.strip_chars() == "").any():
        raise InputError("some rows have an empty name in column person: every row needs a person")
    _check_planned("planned_ms", study.planned_ms)
    _check_planned("planned_rows", study.planned_rows)
    data = ordered(study.data)
    _check_times(study.kind, data, read=bool(study.read_as))
    check_people(data["person"].unique(maintain_order=True), study.people)
    check_shown(data)
    return replace(study, data=data)


def _check_times(kind: Kind, data: pl.DataFrame, *, read: bool) -> None:
    """Fail where time stamps are no times of a recording, or tell no recording's task.

    Args:
        kind: what a row is.
        read: whether files were read, so that `map` has a word on how.
        data: in order.
    """
    times, starts = data["time_ms"].cast(pl.Float64), track_starts(data)

    def refuse(rows: pl.Series, why: str) -> None:
        if len(rows):
            row = data.row(rows[0], named=True)
            whose = f"person {row['person']}, recording {row['recording']}"
            raise InputError(f"{whose} {why.format(**row)}")

    refuse((~times.is_finite()).arg_true(), "has a row at time_ms {time_ms}: that is no time")
    # Only what was read of files can be read otherwise.
    remedy = " (`map='repeats=first'`)" if read and kind != "features" else ""
    refuse(
        ((times.diff() == 0) & ~starts).arg_true(),
        f"has more than one row at time_ms {{time_ms:g}}: remove the duplicates{remedy}, or name "
        "the column that tells recordings apart",
    )
    if "task" in data.columns:
        task = data["task"].cast(pl.String).fill_null("")
        other = task != task.shift()
        refuse(
            (other & ~starts).arg_true(),
            "has rows of another task, '{task}', than it began with: a recording is of one task, "
            "so give that of each its own name",
        )
    if kind == "features":
        return
    first = times.set(~starts, None).forward_fill()
    refuse(
        (times - first > LONGEST_MS).arg_true(),
        "goes on at time_ms {time_ms:g}, "
        f"more than {LONGEST_MS / _DAY_MS:g} days after it began: mend the time stamp, or their "
        "unit (`map='time_unit=…'`)",
    )


def _check_planned(name: str, value: float | None) -> None:
    """Refuse a planned length that no recording can have."""
    if value is None:
        return
    whole = name == "planned_rows"
    if not isinstance(value, int if whole else int | float) or not 0 < value < math.inf:
        wanted = "a whole number from 1" if whole else "a positive number"
        raise InputError(f"{name} must be {wanted}, got {value!r}")
