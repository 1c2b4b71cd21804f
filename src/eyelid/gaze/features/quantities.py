"""What is measured of each event of a recording: windows and bins are made of it.

Events are those that a detector finds in samples, or the fixations that a report lists and the
saccades between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.events import DEFAULT_METHOD, events_of, lost_in
from eyelid.gaze.events.blinks import MAX_BLINK_MS
from eyelid.gaze.events.spans import Floats, Indices, Spans
from eyelid.gaze.features.catalogue import (
    MAX_FIXATION_MS,
    MAX_SACCADE_MS,
    PupilScale,
    Scale,
    pupil_scale_of,
    scale_of,
)
from eyelid.gaze.features.statistics import samples_of
from eyelid.gaze.features.wordbook import letters
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


@dataclass(frozen=True, eq=False)
class Quantities:
    """The events of a recording and their quantities, cut off at the public caps.

    Attributes:
        onset_ms: of each fixation, saccade and blink, from the first sample on; a report of
            fixations has no blinks.
        of_events: quantities by name: whose they are, and one value an event, NaN where unknown.
        saccades: which saccades are small, large, positive (to the right) and negative.
        letter: of each saccade, see `wordbook`.
    """

    onset_ms: dict[str, Floats]
    of_events: dict[str, tuple[str, Floats]]
    saccades: dict[str, NDArray[np.bool_]]
    letter: Indices


def quantities_in(
    study: Study,
    recording: Recording,
    units: str,
    method: str = DEFAULT_METHOD,
    **settings: float,
) -> Quantities:
    """The events of a recording, measured: those of a report, or those that a detector finds.

    Args:
        study: that the recording is of.
        recording: as `recordings_looked` gives it.
        units: of its x and y.
        method: the detector of samples.
        settings: of the detector.
    """
    if study.kind == "fixations":
        return quantities_of_report(recording, units, study.pupil_unit)
    return quantities_of(recording, units, study.pupil_unit, method, **settings)


def quantities_of_report(
    recording: Recording, units: str, pupil_unit: str | None = None
) -> Quantities:
    """The fixations that a report lists and the saccades between them, measured."""
    path, start_ms, scale = scanpath_of(recording), recording.time_ms[0], scale_of(units)
    amplitude = np.minimum(np.hypot(path.right, path.up), scale.max_amplitude)
    of_events = {
        "saccade_amplitude": ("saccade", amplitude),
        "fixation_duration": ("fixation", np.minimum(path.duration_ms, MAX_FIXATION_MS)),
    }
    if path.pupil is not None:
        pupils = pupil_scale_of(units, pupil_unit)[1]
        of_events["pupil_mean"] = ("fixation", np.clip(path.pupil, *pupils.diameter))
    return Quantities(
        onset_ms={
            "fixation": path.onset_ms - start_ms,
            "saccade": path.saccade_onset_ms - start_ms,
        },
        of_events=of_events,
        **_of_saccades(path.right, path.up, amplitude < scale.small),
    )


def _of_saccades(right: Floats, up: Floats, small: NDArray[np.bool_]) -> dict[str, Any]:
    """Which saccades are of which kind, and their letters."""
    kinds = {"small": small, "large": ~small, "positive": right > 0, "negative": right < 0}
    return {"saccades": kinds, "letter": letters(right, up, small)}


def quantities_of(
    recording: Recording,
    units: str,
    pupil_unit: str | None = None,
    method: str = DEFAULT_METHOD,
    **settings: float,
) -> Quantities:
    """The events that a detector finds, measured.

    The default detector follows events across losses as long as a blink, unless ``max_gap_ms``
    says otherwise: an eye that comes back elsewhere has made a saccade, and one that comes back to
    the same place is still in its fixation.
    """
    if method == DEFAULT_METHOD:
        settings = {"max_gap_ms": MAX_BLINK_MS} | settings
    events = events_of(recording, method, units, **settings)
    scale = scale_of(units)
    pupils = pupil_scale_of(units, pupil_unit)[1]
    time_ms = recording.time_ms - recording.time_ms[0]
    onset_ms = {name: time_ms[events[name].onset] for name in ("fixation", "saccade", "blink")}
    duration_ms = {name: time_ms[events[name].offset] - start for name, start in onset_ms.items()}
    onset, offset = events["saccade"]
    right, up = (recording[axis][offset] - recording[axis][onset] for axis in "xy")
    amplitude = np.minimum(np.hypot(right, up), scale.max_amplitude)
    small = amplitude < scale.small
    inside = _inside_fixations(recording, events["fixation"], scale, pupils)
    return Quantities(
        onset_ms=onset_ms,
        of_events={
            "saccade_amplitude": ("saccade", amplitude),
            "fixation_duration": ("fixation", np.minimum(duration_ms["fixation"], MAX_FIXATION_MS)),
            "blink_duration": ("blink", duration_ms["blink"]),
            **{name: ("fixation", values) for name, values in inside.items()},
        },
        **_of_saccades(right, up, small),
    )


def _inside_fixations(
    recording: Recording, fixations: Spans, scale: Scale, pupils: PupilScale
) -> dict[str, Floats]:
    """What gaze and pupil did within each fixation."""
    index, samples = samples_of(fixations, ~lost_in(recording))
    values = {
        f"fixation_{axis}_var": np.minimum(
            samples.moment(recording[axis][index], 2), scale.max_extent**2 / 4
        )
        for axis in "xy"
    }
    if "pupil" in recording.columns:
        pupil = recording["pupil"][index]
        known = np.isfinite(pupil)
        pupil, samples = pupil[known], samples.where(known)
        values["pupil_mean"] = np.clip(samples.mean(pupil), *pupils.diameter)
        values["pupil_var"] = np.minimum(samples.moment(pupil, 2), pupils.max_extent**2 / 4)
    return values


def usual_kind(study: Study, window_ms: float = 30_000.0) -> str:
    """What a row of features is where nobody says: ``windows``, or ``fixations`` of a report.

    Trials of which fixations are reported tend to be shorter than a window: an image, a sentence.
    So their rows are fixations, unless recordings are longer by design. No recording is looked at:
    what a release shows must not depend on how long a person took.

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
