"""Event detection: one detector a module, and blinks from lost signal."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.events.blinks import detect_blinks, lost
from eyelid.gaze.events.ivt import ivt
from eyelid.gaze.events.spans import Spans
from eyelid.gaze.geometry import degrees_on_screen, missing_for_degrees
from eyelid.gaze.study import EVENT_COLUMNS, UNITS, Recording, Study

Detector = Callable[..., dict[str, Spans]]
"""Takes time_ms, x, y and the keyword units; gives the spans of each kind of event."""

METHODS: dict[str, Detector] = {"ivt": ivt}

Signals = tuple[ArrayLike, ArrayLike, ArrayLike]


def detect_events(
    source: Study | Signals, method: str = "ivt", units: str | None = None, **settings: float
) -> pl.DataFrame:
    """Fixations, saccades and blinks of a study, or of the arrays (time_ms, x, y).

    Places on a screen of known geometry are detected as degrees. Of several eyes the combined one
    is taken, or else the one that was seen longer. Lost signal is null or NaN, or has a confidence
    below 0.6.

    Args:
        source: a study of samples, or the arrays (time_ms, x, y) of one recording.
        method: the detector: ``ivt``.
        units: of x and y: ``deg``, ``px``, ``fraction`` or ``normalised``; by default those of
            the study, and degrees for arrays.
        settings: of the detector, see `eyelid.gaze.events.ivt.ivt`.

    Returns:
        One row an event, in order of onset within each recording: name, onset_ms, offset_ms and
        duration_ms, with person and recording first for a study.

    >>> import numpy as np
    >>> time_ms = np.arange(60) * 1000 / 60
    >>> x = np.repeat([0.0, 5.0, np.nan, 5.0], 15)
    >>> detect_events((time_ms, x, np.zeros(60)))["name"].to_list()
    ['fixation', 'saccade', 'fixation', 'blink', 'fixation']
    """
    if not isinstance(source, Study):
        time_ms, x, y = (np.asarray(a, dtype=np.float64) for a in source)
        if not time_ms.ndim == 1 or not time_ms.shape == x.shape == y.shape:
            raise InputError(
                f"time_ms, x and y must be as long as each other, got {time_ms.shape}, "
                f"{x.shape} and {y.shape}"
            )
        one = Recording("", "", "", "", time_ms, {"x": x, "y": y})
        return _frame(one, events_of(one, method, units or "deg", **settings)).select(
            EVENT_COLUMNS[2:]
        )
    frames = [
        _frame(recording, events_of(recording, method, found_units, **settings))
        for recording, found_units in gaze_of(source, units)
    ]
    return pl.concat(frames)


def gaze_of(study: Study, units: str | None = None) -> Iterator[tuple[Recording, str]]:
    """Each recording of a study of samples, with x and y in the units to detect in."""
    if study.kind != "samples":
        raise InputError(f"events are detected in samples, and this is a study of {study.kind}")
    absent = [name for name in ("x", "y") if name not in study.data.columns]
    if absent and "gaze_x" in study.data.columns:
        raise InputError("these are directions in space, and events need x and y on a surface")
    if absent:
        raise InputError(f"the data have no column {absent[0]}: events need it")
    if study.data.is_empty():
        raise InputError("the study is empty: it has no rows")
    units = units or study.units
    if units is None:
        raise InputError(f"the study does not say the units of x and y: give {', '.join(UNITS)}")
    known = not missing_for_degrees(study.screen, units, study.xy_origin)
    for recording in _best_eyes(study):
        if known:
            x, y = degrees_on_screen(
                recording["x"], recording["y"], study.screen, units, study.xy_origin
            )
            yield replace(recording, columns=recording.columns | {"x": x, "y": y}), "deg"
        else:
            yield recording, units


def _best_eyes(study: Study) -> Iterator[Recording]:
    """One eye of each recording: both together where that is known, else the one seen longer.

    A mean of two eyes would jump whenever one of them is lost.
    """
    tracks = study.recordings()
    for _, eyes in itertools.groupby(tracks, key=lambda r: (r.person, r.recording)):
        yield max(eyes, key=lambda r: (r.eye == "cyclopean", int((~lost_in(r)).sum())))


def events_of(recording: Recording, method: str, units: str, **settings: float) -> dict[str, Spans]:
    """The spans of each kind of event in one recording."""
    if method not in METHODS:
        raise unknown("method", method, METHODS)
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
    found = METHODS[method](time_ms, x, y, units=units, **settings)
    return found | {"blink": detect_blinks(time_ms, missing)}


def lost_in(recording: Recording) -> NDArray[np.bool_]:
    """Where a recording has no usable gaze."""
    return lost(recording["x"], recording["y"], recording.columns.get("confidence"))


def _frame(recording: Recording, found: dict[str, Spans]) -> pl.DataFrame:
    """The events of one recording as rows, in order of onset."""
    onset = np.concatenate([spans.onset for spans in found.values()])
    offset = np.concatenate([spans.offset for spans in found.values()])
    names = np.repeat(list(found), [len(spans.onset) for spans in found.values()])
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
