"""Window features as functions of sums of bins: what can be made of noisy streams afterwards.

Rates are sums of counts and take nothing but noise from it. Shares, means and variances divide by
a noisy count. It is kept at one event at least, and the quotient within the feature's bounds, so
that every window has a value; these features are off by a bias as well as by noise.

What is no function of sums can be measured window by window beside the bins. White noise keeps its
size in every orthonormal coordinate, so that the first cosine coefficients of such a signal are
what the mechanism `dct` would have measured, and the others are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.gaze.features.bins import COUNTED_BY, middles, units_of
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.gaze.features.wordbook import LENGTHS, LETTERS
from eyelid.gaze.study import INDEX_COLUMNS
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.records.cosine import first_cosines, from_first_cosines

Sums = Mapping[str, Values]


@dataclass(frozen=True)
class Formula:
    """How a window feature follows from the sums of streams over the window.

    Attributes:
        streams: what it needs.
        value: from the sums and the length of the window in seconds.
        linear: whether noise on the sums is noise on the feature, and nothing else.
        mean_of: the quantity from whose middle the value is a difference, if it is one.
    """

    streams: tuple[str, ...]
    value: Callable[[Sums, float], Values]
    linear: bool = False
    mean_of: str | None = None


def windows_of_bins(
    bins: FeatureTable, names: tuple[str, ...], window_s: float, per_window: int
) -> FeatureTable:
    """The windows of recordings of bins, as `window_features` has them.

    Args:
        bins: a table of streams; window features among them stand at the first bin of their window.
        names: the features to make of streams, those whose streams are not there left out.
        window_s: length of a window.
        per_window: its number of bins.
    """
    units, pupil_unit = units_of(bins.features)
    middle = middles(units, pupil_unit)
    rows = bins.recordings["rows"].to_numpy()
    left = np.repeat(np.cumsum(rows), rows) - np.arange(len(bins.data))
    first = np.flatnonzero(left >= per_window)
    sums = {}
    for stream in _STREAMS.intersection(bins.names):
        running = np.r_[0.0, np.cumsum(bins.data[stream].to_numpy())]
        sums[stream] = running[first + per_window] - running[first]
    features, columns = [], []
    for feature in window_feature_set(units, window_s, pupil_unit):
        formula = FORMULAS.get(feature.name)
        if feature.name in bins.names:
            value = smoothed(bins.data[feature.name].to_numpy()[first], len(rows), per_window)
        elif formula and feature.name in names and sums.keys() >= set(formula.streams):
            value = formula.value(sums, window_s)
            if not formula.linear:
                value = value + (middle[formula.mean_of] if formula.mean_of else 0.0)
                value = np.clip(value, feature.lower, feature.upper)
        else:
            continue
        features.append(feature)
        columns.append(pl.Series(feature.name, value))
    keys = [name for name in INDEX_COLUMNS if name in bins.data.columns]
    return replace(
        bins,
        data=bins.data.select(keys)[first].with_columns(columns),
        features=tuple(features),
        window_ms=window_s * 1000.0,
    )


def cosines_kept(windows: int, per_window: int) -> int:
    """How many cosine coefficients of a signal of windows are kept: two for each whole window.

    >>> cosines_kept(1200, 60)
    40
    """
    return min(windows, math.ceil(2 * windows / per_window))


def smoothed(values: Values, recordings: int, per_window: int) -> Values:
    """Signals of recordings of one length, with their first cosine coefficients only."""
    signals = values.reshape(recordings, -1, 1)
    windows = signals.shape[1]
    kept = first_cosines(signals, cosines_kept(windows, per_window))
    return from_first_cosines(kept, windows).ravel()


def _rate(stream: str) -> Formula:
    return Formula((stream,), lambda sums, window_s: sums[stream] / window_s, linear=True)


def _ratio(part: str, whole: str) -> Formula:
    return Formula((part, whole), lambda sums, _: sums[part] / np.maximum(sums[whole], 1.0))


def _mean(quantity: str) -> Formula:
    return replace(_ratio(f"{quantity}_sum", COUNTED_BY[quantity]), mean_of=quantity)


def _variance(quantity: str) -> Formula:
    count, total, squares = COUNTED_BY[quantity], f"{quantity}_sum", f"{quantity}_squares"

    def value(sums: Sums, _: float) -> Values:
        events = np.maximum(sums[count], 1.0)
        return np.asarray(sums[squares] / events - (sums[total] / events) ** 2)

    return Formula((count, total, squares), value)


def _mean_word(length: int) -> Formula:
    """So many saccades in a row have one word less for each letter but the first."""
    bins = float(LETTERS**length)
    return Formula(
        ("saccades",), lambda sums, _: (sums["saccades"] - (length - 1)) / bins, linear=length == 1
    )


FORMULAS: dict[str, Formula] = {
    "fixation_rate": _rate("fixations"),
    "saccade_rate": _rate("saccades"),
    "blink_rate": _rate("blinks"),
    "saccade_fixation_ratio": _ratio("saccades", "fixations"),
    **{
        f"{kind}_saccade_{what}": formula
        for kind in ("small", "large", "positive", "negative")
        for what, formula in (
            ("rate", _rate(f"{kind}_saccades")),
            ("ratio", _ratio(f"{kind}_saccades", "saccades")),
        )
    },
    **{f"{name}_mean": _mean(name) for name in COUNTED_BY},
    **{f"{name}_var": _variance(name) for name in COUNTED_BY},
    **{f"wb{length}_mean": _mean_word(length) for length in LENGTHS},
}
"""Every feature that bins can give; maxima and the rest of the wordbook are no function of sums."""

_STREAMS = {stream for formula in FORMULAS.values() for stream in formula.streams}
