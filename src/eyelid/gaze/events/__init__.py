"""Event detection: one detector a module, and blinks from lost signal."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from eyelid.errors import InputError, unknown
from eyelid.gaze.events.blinks import detect_blinks, lost, with_lids
from eyelid.gaze.events.ek import ek
from eyelid.gaze.events.idt import idt
from eyelid.gaze.events.is5t import is5t
from eyelid.gaze.events.ivt import ivt
from eyelid.gaze.events.robust import MIN_AMPLITUDE, THRESHOLD_PER_S, robust
from eyelid.gaze.events.spans import Floats, Mask, Spans
from eyelid.gaze.geometry import (
    Vectors,
    angles,
    degrees_on_screen,
    in_world,
    missing_for_degrees,
)
from eyelid.gaze.study import EVENT_COLUMNS, UNITS, Recording, Study

Detector = Callable[..., dict[str, Spans]]
"""Takes time_ms, x, y and the keyword units; gives the spans of each kind of event."""

METHODS: dict[str, Detector] = {"robust": robust, "ivt": ivt, "idt": idt, "ek": ek, "is5t": is5t}

DEFAULT_METHOD = "robust"

_LARGEST_SETTING = 1e6

Signals = tuple[ArrayLike, ArrayLike, ArrayLike]

_GAZE = ("gaze_x", "gaze_y", "gaze_z")
_HEAD = ("head_x", "head_y", "head_z")


def detect_events(
    source: Study | Signals,
    method: str = DEFAULT_METHOD,
    units: str | None = None,
    **settings: float | str,
) -> pl.DataFrame:
    """Fixations, saccades and blinks of a study, or of the arrays (time_ms, x, y).

    Places on a screen of known geometry, and directions in space, are detected as degrees; see
    `gaze_of`. Of several eyes the combined one is taken, or else the one that was seen longer. Lost
    signal is null or NaN, has a confidence below 0.6 or no pupil, or a lid moving over the pupil.

    Args:
        source: a study of samples, or the arrays (time_ms, x, y) of one recording.
        method: the detector: ``robust``, ``ivt``, ``idt``, ``ek`` or ``is5t``; docs/events.md
            compares them.
        units: of x and y: ``deg``, ``px``, ``fraction`` or ``normalised``; by default those of
            the study, and degrees for arrays.
        settings: of the detector, see the function of its name, such as
            `eyelid.gaze.events.robust.robust`.

    Returns:
        One row an event, in order of onset within each recording: name, onset_ms, offset_ms and
        duration_ms, with person and recording first for a study.

    >>> import numpy as np
    >>> time_ms = np.arange(60) * 1000 / 60
    >>> x = np.repeat([0.0, 5.0, np.nan, 5.0], 15)
    >>> detect_events((time_ms, x, np.zeros(60)))["name"].to_list()
    ['fixation', 'saccade', 'fixation', 'blink', 'fixation']
    """
    from eyelid.gaze.sources import refuse_frame

    if not (isinstance(source, tuple | list | np.ndarray) and len(source) == 3):
        refuse_frame(source, "detect_events", gaze=True)
    if isinstance(source, Study):
        recordings = gaze_of(source, units)
        return pl.concat(
            _frame(one, events_of(one, method, u, **settings)) for one, u in recordings
        )
    time_ms, x, y = (np.asarray(a, dtype=np.float64) for a in source)
    if not time_ms.ndim == 1 or not time_ms.shape == x.shape == y.shape:
        raise InputError(
            f"time_ms, x and y must be as long as each other, got {time_ms.shape}, "
            f"{x.shape} and {y.shape}"
        )
    one = Recording("", "", "", "", time_ms, {"x": x, "y": y})
    events = events_of(one, method, units or "deg", **settings)
    return _frame(one, events).select(EVENT_COLUMNS[2:])


def gaze_of(study: Study, units: str | None = None) -> Iterator[tuple[Recording, str]]:
    """Each recording of a study of samples, with x and y in the units to detect in.

    Those are degrees wherever degrees are known: on a screen of known size and distance; or else of
    directions, as azimuth to the right and elevation up, in the world where the head is known and
    in the head where it is not. Azimuth goes on beyond 180° instead of leaping back. Where neither
    is known, or ``units`` are given, x and y are taken as they are.
    """
    _check_samples(study)
    return recordings_of_gaze(study, units)


def recordings_of_gaze(study: Study, units: str | None = None) -> Iterator[tuple[Recording, str]]:
    """Each recording of a study of samples or of fixations, and the units of x and y.

    Both are as `gaze_of` has them. Of several eyes the combined one is taken, or else the one that
    was seen longer: a mean of two eyes would jump whenever one of them is lost. Of fixations that
    is the one with more of them.
    """
    place, units = _place_and_units(study, units)
    if study.data.is_empty():
        raise InputError("the study is empty: it has no rows")

    def looked(recording: Recording) -> Recording:
        if place == "space":
            x, y = _directions_deg(recording)
        elif place == "screen":
            x, y = degrees_on_screen(
                recording["x"], recording["y"], study.screen, units, study.xy_origin
            )
        else:
            return recording
        return replace(recording, columns=recording.columns | {"x": x, "y": y})

    def rank(recording: Recording) -> tuple[bool, int]:
        known = np.isfinite(recording["x"]) if study.kind == "fixations" else ~lost_in(recording)
        return recording.eye == "cyclopean", int(known.sum())

    for _, tracks in itertools.groupby(study.recordings(), key=lambda r: (r.person, r.recording)):
        eyes = [looked(eye) for eye in tracks]
        best = max(eyes, key=rank) if len(eyes) > 1 else eyes[0]
        yield best, "deg" if place == "screen" else units


def gaze_units(study: Study, units: str | None = None) -> str:
    """The units in which `gaze_of` gives x and y, the same for everybody.

    Args:
        study: with all rows, some, or none.
        units: of x and y, as for `detect_events`.
    """
    _check_samples(study)
    place, units = _place_and_units(study, units)
    return "deg" if place == "screen" else units


def units_of_gaze(study: Study) -> str:
    """The units in which `recordings_looked` gives x and y, the same for everybody."""
    if study.kind != "fixations":
        return gaze_units(study)
    if "duration_ms" not in study.data.columns:
        raise InputError("the data have no column duration_ms: every fixation needs it")
    place, units = _place_and_units(study, None)
    return "deg" if place == "screen" else units


def _check_samples(study: Study) -> None:
    if study.kind != "samples":
        raise InputError(
            f"events are detected in samples, and this is a study of {study.kind}: start "
            "from the recordings"
        )


def _place_and_units(study: Study, units: str | None) -> tuple[str, str]:
    """Where people look: on a ``screen`` or a ``plane``, in its units, or into ``space``.

    By what there is for everybody: one person's data must not decide how others' are read.
    """
    on_screen = not missing_for_degrees(study.screen, units or study.units, study.xy_origin)
    known = {name for name, kind in study.data.schema.items() if kind.is_numeric()}
    if set(_GAZE) <= known and not on_screen and units is None:
        return "space", "deg"
    absent = [name for name in ("x", "y") if name not in study.data.columns]
    if absent:
        raise InputError(f"the data have no column {absent[0]}: events need it")
    units = units or study.units
    if units is None:
        raise InputError(f"the study does not say the units of x and y: give {', '.join(UNITS)}")
    return ("screen" if on_screen else "plane"), units


def _directions_deg(recording: Recording) -> tuple[Floats, Floats]:
    """Azimuth and elevation of gaze, in the world where the head is known."""

    def vectors(names: tuple[str, ...]) -> Vectors:
        x, y, z = (recording[name] for name in names)
        return x, y, z

    gaze = vectors(_GAZE)
    if set(_HEAD) <= set(recording.columns):
        gaze = in_world(gaze, vectors(_HEAD), recording.columns.get("head_roll_deg", 0.0))
    azimuth, elevation = angles(*gaze)
    known = np.isfinite(azimuth)
    azimuth[known] = np.unwrap(azimuth[known], period=360.0)
    return azimuth, elevation


def events_of(
    recording: Recording, method: str, units: str, /, **settings: float | str
) -> dict[str, Spans]:
    """The spans of each kind of event in one recording."""
    check_settings(method, settings)
    time_ms = recording.time_ms
    stuck = np.flatnonzero(~(np.diff(time_ms) > 0))
    if len(stuck):
        before, after = time_ms[stuck[0] : stuck[0] + 2]
        of = f" of person {recording.person}, {recording.recording}" if recording.person else ""
        raise InputError(
            f"time_ms{of} must increase, but {before:g} is followed by {after:g}: "
            "sort the samples and remove repeated ones"
        )
    missing = lost_in(recording)
    x, y = (np.where(missing, np.nan, recording[axis]) for axis in "xy")
    events = METHODS[method](time_ms, x, y, units=units, **settings)
    return events | {"blink": detect_blinks(time_ms, missing)}


def settings_in_words(units: str, method: str = DEFAULT_METHOD) -> str:
    """How events are detected unless told otherwise: the method with its settings.

    Args:
        units: of gaze.
        method: the event detector.

    >>> settings_in_words("deg")[:58]
    'robust (threshold_per_s 30 deg/s, min_amplitude 0.4 deg, m'
    """
    known = inspect.signature(METHODS[method]).parameters
    given = {name: each.default for name, each in known.items() if name != "units"}
    of_units = {"threshold_per_s": (THRESHOLD_PER_S, "/s"), "min_amplitude": (MIN_AMPLITUDE, "")}
    said = [
        f"{name} {of_units[name][0][units]:g} {units}{of_units[name][1]}"
        if name in of_units
        else f"{name} {value:g}"
        for name, value in given.items()
        if name in of_units or isinstance(value, int | float)
    ]
    return f"{method} ({', '.join(said)})"


def check_settings(method: str, settings: Mapping[str, float | str]) -> None:
    """Fail unless settings are the detector's, and numbers where it wants numbers.

    Args:
        method: the detector.
        settings: of it.
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    wanted = dict(inspect.signature(METHODS[method]).parameters)
    known = [n for n, p in wanted.items() if p.kind == p.KEYWORD_ONLY and n != "units"]
    for name, value in settings.items():
        if name not in known:
            raise unknown(f"setting of {method}", name, known)
        if isinstance(wanted[name].default, str):
            continue
        if isinstance(value, str) or not 0 <= value <= _LARGEST_SETTING:
            raise InputError(f"{name} must be a number from 0 to a million, got {value}")
        if value == 0 and "threshold" in name:
            raise InputError(f"{name} must be positive, got 0")


def lost_in(recording: Recording) -> Mask:
    """Where a recording has no usable gaze."""
    columns = recording.columns
    pupil = columns.get("pupil")
    missing = lost(columns["x"], columns["y"], columns.get("confidence"), pupil)
    return missing if pupil is None else with_lids(recording.time_ms, missing, pupil)


def _frame(recording: Recording, events: dict[str, Spans]) -> pl.DataFrame:
    """The events of one recording as rows, in order of onset."""
    onset = np.concatenate([spans.onset for spans in events.values()])
    offset = np.concatenate([spans.offset for spans in events.values()])
    names = np.repeat(list(events), [len(spans.onset) for spans in events.values()])
    order = np.argsort(onset, kind="stable")
    onset_ms, offset_ms = recording.time_ms[onset[order]], recording.time_ms[offset[order]]
    columns = {
        "person": pl.repeat(recording.person, len(order), eager=True),
        "recording": pl.repeat(recording.recording, len(order), eager=True),
        "name": pl.Series(names[order], dtype=pl.String),
        "onset_ms": onset_ms,
        "offset_ms": offset_ms,
        "duration_ms": offset_ms - onset_ms,
    }
    return pl.DataFrame(columns).select(EVENT_COLUMNS)
