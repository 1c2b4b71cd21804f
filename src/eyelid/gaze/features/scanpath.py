"""Fixations that a report lists, and the saccades between them: events without samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.events import DEFAULT_METHOD, fixations_of, gaze_of, gaze_units, looked_units
from eyelid.gaze.events.blinks import MAX_BLINK_MS
from eyelid.gaze.events.spans import Floats, Indices
from eyelid.gaze.features.catalogue import MAX_SACCADE_MS
from eyelid.gaze.study import Recording, Study


@dataclass(frozen=True, eq=False)
class Scanpath:
    """The fixations of a recording in order, and the saccades from one to the next.

    A saccade leads from a fixation to the next one if both have a place, another one, and no more
    than a blink is between them. It begins where the fixation ends, or where the next one begins if
    that is sooner. A fixation without a duration is left out.

    Attributes:
        onset_ms: of each fixation.
        duration_ms: of each fixation.
        x: of each fixation, NaN where it is not known.
        y: of each fixation, likewise.
        pupil: of each fixation, NaN where it was not seen; None where nobody's was measured.
        first: the number of the fixation that each saccade leaves.
        saccade_onset_ms: of each saccade.
        saccade_ms: how long each takes, NaN where the report has no such time: fixations that
            follow each other at once, or a pause longer than a saccade.
        right: how far each goes along x.
        up: how far each goes along y.
    """

    onset_ms: Floats
    duration_ms: Floats
    x: Floats
    y: Floats
    pupil: Floats | None
    first: Indices
    saccade_onset_ms: Floats
    saccade_ms: Floats
    right: Floats
    up: Floats


def scanpath_of(recording: Recording) -> Scanpath:
    """The scanpath of a recording whose rows are fixations.

    >>> time_ms, duration_ms = np.array([0.0, 230.0, 1430.0]), np.array([200.0, 200.0, 100.0])
    >>> place = {"x": np.array([0.0, 3.0, 9.0]), "y": np.array([0.0, 4.0, 4.0])}
    >>> columns = {"duration_ms": duration_ms} | place
    >>> path = scanpath_of(Recording("p", "r", "", "", time_ms, columns))
    >>> path.first.tolist(), path.saccade_ms.tolist(), path.right.tolist()
    ([0], [30.0], [3.0])
    """
    known = recording["duration_ms"] > 0
    onset_ms, duration_ms = recording.time_ms[known], recording["duration_ms"][known]
    x, y = recording["x"][known], recording["y"][known]
    pupil = recording.columns.get("pupil")
    if pupil is not None:
        # A pupil of 0 was not seen.
        pupil = np.where(pupil > 0, pupil, np.nan)[known]
    end_ms = onset_ms + duration_ms
    gap_ms = onset_ms[1:] - end_ms[:-1]
    right, up = np.diff(x), np.diff(y)
    # What is not known compares as false.
    first = np.flatnonzero((np.abs(right) + np.abs(up) > 0) & (gap_ms <= MAX_BLINK_MS))
    timed = (gap_ms > 0) & (gap_ms <= MAX_SACCADE_MS)
    return Scanpath(
        onset_ms=onset_ms,
        duration_ms=duration_ms,
        x=x,
        y=y,
        pupil=pupil,
        first=first,
        saccade_onset_ms=np.minimum(end_ms[:-1], onset_ms[1:])[first],
        saccade_ms=np.where(timed, gap_ms, np.nan)[first],
        right=right[first],
        up=up[first],
    )


def recordings_looked(study: Study) -> Iterator[tuple[Recording, str]]:
    """Each recording of a study of samples or of fixations, and the units of x and y."""
    return fixations_of(study) if study.kind == "fixations" else gaze_of(study)


def units_looked(study: Study) -> str:
    """The units in which `recordings_looked` gives x and y, the same for everybody."""
    if study.kind != "fixations":
        return gaze_units(study)
    if "duration_ms" not in study.data.columns:
        raise InputError("the data have no column duration_ms: every fixation needs it")
    return looked_units(study)


def usual_kind(study: Study, window_ms: float = 30_000.0) -> str:
    """What a row of features is where nobody says: ``windows``, or ``fixations`` of a report.

    Trials of which fixations are reported tend to be shorter than a window: an image, a sentence.
    So their rows are fixations, unless recordings are longer by design. No recording is looked at:
    what a release shows must not depend on how long somebody took.

    Args:
        study: with all rows, some, or none.
        window_ms: length of a window.
    """
    planned_ms = study.planned_ms or 0.0
    return "fixations" if study.kind == "fixations" and planned_ms < window_ms else "windows"


def check_nothing_to_detect(method: str, settings: dict[str, float]) -> None:
    """Refuse a detector, or settings of one, where fixations are given."""
    if method != DEFAULT_METHOD or settings:
        said = next(iter(settings), f"method {method}")
        raise InputError(
            f"this is a study of fixations, in which nothing is detected: leave out {said}"
        )
