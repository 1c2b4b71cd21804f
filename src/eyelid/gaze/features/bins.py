"""Streams of bins: counts and sums of the events that begin in each half second.

Bins do not overlap, and an event belongs to the bin of its onset alone. Windows are sums of bins,
so that noise on the bins is noise on every window that holds them. A bin counts a public number of
events of each kind at most, the first ones, and each quantity is cut off at its public range: so
every stream has bounds that no recording leaves.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.events import gaze_units
from eyelid.gaze.events.spans import Floats
from eyelid.gaze.features.catalogue import PUPILS, SCALES, scale_of, window_feature_set
from eyelid.gaze.features.omission import Rows, outline_of, summarised
from eyelid.gaze.features.quantities import Quantities, quantities_of
from eyelid.gaze.features.windows import least_s, planned_windows, window_starts_ms
from eyelid.gaze.study import Feature, Recording, Study
from eyelid.gaze.table import FeatureTable

# Of half a second: reading makes about two fixations in it, and two blinks a second are the bound.
MAX_EVENTS = 3
MAX_BLINKS = 1

_KINDS = {
    "fixations": "fixation",
    "saccades": "saccade",
    "small_saccades": "saccade",
    "large_saccades": "saccade",
    "positive_saccades": "saccade",
    "negative_saccades": "saccade",
    "blinks": "blink",
    "pupil_fixations": "fixation",
}

COUNTED_BY = {
    "saccade_amplitude": "saccades",
    "fixation_duration": "fixations",
    "fixation_x_var": "fixations",
    "fixation_y_var": "fixations",
    "pupil_mean": "pupil_fixations",
    "pupil_var": "pupil_fixations",
    "blink_duration": "blinks",
}
"""The quantities that are summed over events, each with the stream that counts these."""


def middles(units: str, pupil_unit: str | None = None) -> dict[str, float]:
    """The middle of the public range of each quantity: sums are of differences from it.

    >>> middles("deg")["blink_duration"]
    285.0
    """
    return {name: (f.lower + f.upper) / 2 for name, f in _public_ranges(units, pupil_unit).items()}


def stream_set(
    units: str = "deg",
    pupil_unit: str | None = None,
    max_events: int = MAX_EVENTS,
    max_blinks: int = MAX_BLINKS,
) -> tuple[Feature, ...]:
    """Every stream of a bin, with bounds from public facts alone.

    >>> stream = stream_set("deg")[-2]
    >>> stream.name, stream.lower, stream.upper
    ('blink_duration_sum', -215.0, 215.0)
    """
    most = {"fixation": max_events, "saccade": max_events, "blink": max_blinks}
    small = scale_of(units).small
    counted = {
        "small_saccades": f"saccades below {small:g} {units}",
        "large_saccades": f"saccades of {small:g} {units} or more",
        "positive_saccades": "saccades to the right",
        "negative_saccades": "saccades to the left",
        "pupil_fixations": "fixations in which the pupil was seen",
    }
    streams = [
        Feature(name, "1", counted.get(name, name), 0.0, float(most[kind]))
        for name, kind in _KINDS.items()
    ]
    middle = middles(units, pupil_unit)
    for name, f in _public_ranges(units, pupil_unit).items():
        times, half = most[_KINDS[COUNTED_BY[name]]], f.span / 2
        off = f"the difference of {name} from {middle[name]:g} {f.unit}"
        reach, area = times * half, times * half**2
        streams += [
            Feature(f"{name}_sum", f.unit, f"sum of {off}", -reach, reach),
            Feature(f"{name}_squares", f"({f.unit})²", f"sum of squares of {off}", 0.0, area),
        ]
    return tuple(streams)


def bin_streams(
    study: Study,
    names: Sequence[str],
    window_s: float = 30.0,
    step_s: float = 0.5,
    max_events: int = MAX_EVENTS,
    max_blinks: int = MAX_BLINKS,
) -> FeatureTable:
    """Streams of the bins that the windows of every recording are made of.

    Bin j covers [j·step, (j + 1)·step) from the first sample of its recording; `time_ms` is its
    start. A recording has the bins that its windows, those of `window_features`, cover: n windows
    have n − 1 + window/step. One that `window_features` leaves out has one bin without any value.

    Args:
        study: a study of samples, as for `window_features`.
        names: which of the streams of `stream_set`.
        window_s: length of a window, in whole steps.
        step_s: length of a bin.
        max_events: most fixations of a bin, and most saccades; later ones are left out.
        max_blinks: most blinks of a bin.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=1, tasks=("comic",), minutes=1.0, seed=1)
    >>> table = bin_streams(study, ["fixations", "blinks"])
    >>> table.data["fixations"].head(4).to_list()
    [2.0, 2.0, 3.0, 2.0]
    """
    per_window = bins_of_window(window_s, step_s)
    units = gaze_units(study)
    known = {f.name: f for f in stream_set(units, study.pupil_unit, max_events, max_blinks)}
    for name in names:
        if name not in known:
            raise unknown("stream", name, known)
    planned = planned_windows(study, window_s, step_s)
    step_ms, bins = step_s * 1000.0, None if planned is None else planned + per_window - 1
    outline = outline_of(study, [known[name] for name in names], step_ms, step_ms, bins)
    most = {"fixation": max_events, "saccade": max_events, "blink": max_blinks}
    ranges = _public_ranges(units, study.pupil_unit)

    def describe(recording: Recording, units: str) -> Rows | None:
        windows = len(window_starts_ms(recording, window_s, step_s))
        if not windows:
            return None
        edges_ms = np.arange(windows + per_window, dtype=np.float64) * step_ms
        measured = quantities_of(recording, units, study.pupil_unit)
        values = _streams_of(measured, edges_ms, most, ranges)
        absent = [name for name in names if name not in values]
        if absent:
            raise InputError(f"the recordings have no pupil, which {absent[0]} is about")
        return edges_ms[:-1], values

    return summarised(study, outline, least_s(study, window_s), describe)[0]


def bins_of_window(window_s: float, step_s: float) -> int:
    """How many bins a window has.

    >>> bins_of_window(30.0, 0.5)
    60
    """
    bins = round(window_s / step_s) if 0 < step_s <= window_s < np.inf else 0
    if bins < 1 or abs(bins * step_s - window_s) > 1e-9 * window_s:
        raise InputError(
            f"a window of {window_s:g} s does not have whole bins of {step_s:g} s: "
            "choose window_s as a multiple of step_s"
        )
    return bins


def units_of(features: Collection[Feature]) -> tuple[str, str]:
    """The units of x and y, and of the pupil, that streams and window features say they are in.

    >>> units_of(stream_set("px", "mm"))
    ('px', 'mm')
    """
    for units in SCALES:
        for pupil_unit in PUPILS:
            known = stream_set(units, pupil_unit) + window_feature_set(units, 30.0, pupil_unit)
            meant = {f.name: (f.unit, f.definition) for f in known}
            if all(meant.get(f.name) == (f.unit, f.definition) for f in features):
                return units, pupil_unit
    raise InputError("these are no streams of bins: make them of samples with bin_streams")


def _public_ranges(units: str, pupil_unit: str | None) -> dict[str, Feature]:
    """The mean of each quantity, whose bounds are the range of the quantity itself."""
    features = {f.name: f for f in window_feature_set(units, pupil_unit=pupil_unit)}
    return {name: features[f"{name}_mean"] for name in COUNTED_BY}


def _streams_of(
    measured: Quantities, edges_ms: Floats, most: dict[str, int], ranges: dict[str, Feature]
) -> dict[str, Floats]:
    """All streams of one recording, from the events that each bin keeps."""
    bins = len(edges_ms) - 1
    place, kept = {}, {}
    for kind, onset_ms in measured.onset_ms.items():
        bin_of = np.searchsorted(edges_ms, onset_ms, side="right") - 1
        earlier = np.arange(len(bin_of)) - np.searchsorted(bin_of, bin_of)
        kept[kind] = (earlier < most[kind]) & (bin_of < bins)
        place[kind] = bin_of[kept[kind]]

    def total(kind: str, values: NDArray[np.float64] | NDArray[np.bool_]) -> Floats:
        summed = np.bincount(place[kind], values[kept[kind]], minlength=bins)
        return np.asarray(summed, dtype=np.float64)

    values = {f"{kind}s": total(kind, np.ones(len(inside))) for kind, inside in kept.items()}
    for which, those in measured.saccades.items():
        values[f"{which}_saccades"] = total("saccade", those)
    for name, (kind, quantity) in measured.of_events.items():
        known = np.isfinite(quantity)
        lower, upper = ranges[name].lower, ranges[name].upper
        off = np.where(known, np.clip(quantity, lower, upper) - (lower + upper) / 2, 0.0)
        values[f"{name}_sum"], values[f"{name}_squares"] = total(kind, off), total(kind, off**2)
        values.setdefault(COUNTED_BY[name], total(kind, known))
    return values
