"""How far a release is from its original, feature by feature.

NMSE and utility are those of Bozkir et al. 2021, Differential privacy for eye tracking with
temporal correlations, equations 4 to 6: for the signal of one feature in one recording the mean of
(x − x̃)² over the product of the two means, mean(x)·mean(x̃). It depends on where zero lies, and is
negative where the means have opposite signs; the paper reports its absolute value. Utility is
1/|NMSE|. As in the paper both are averaged over the recordings of a feature, then over features.
An error that is mere rounding is none: its inverse would decide every mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.records import aligned
from eyelid.errors import InputError
from eyelid.gaze.study import track_starts
from eyelid.gaze.table import FeatureTable

Floats = NDArray[np.float64]

# What rounding leaves of a sum that is zero, or of a signal that got no noise, as a share of what
# was computed with.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ErrorMeasures:
    """What a release costs in accuracy.

    Attributes:
        rmse_of_span: root mean square error as a share of the public span, over all features.
        nmse: mean absolute NMSE; None where no signal has one. One signal whose released mean is
            near zero can decide it: the utility is steadier.
        utility: mean of 1/|NMSE|; None where no signal has one.
        features: one row a feature: name, unit, rmse (in the unit), rmse_of_span, nmse, utility,
            correlation of rows and of the means of recordings; null where it is not defined.
            ``compared`` is the share of the original's values that the release has a value for.
        left_out: features without a single value to compare: they count in no figure.
        signals_without_nmse: signals of a recording with a mean of zero, original or released.
        signals_without_error: signals released exactly, but for rounding: their NMSE is 0, no
            figure for their utility is large enough, and they do not count in it.
    """

    rmse_of_span: float
    nmse: float | None
    utility: float | None
    features: pl.DataFrame
    left_out: tuple[str, ...]
    signals_without_nmse: int
    signals_without_error: int

    @property
    def in_units(self) -> dict[str, tuple[float, str]]:
        """By name, the root mean square error of each feature and its unit."""
        known = self.features.filter(pl.col("rmse").is_not_null())
        rows = known.select("name", "rmse", "unit").rows()
        return {name: (rmse, unit) for name, rmse, unit in rows}

    def to_dict(self) -> dict[str, Any]:
        """As ``audit.json`` has it."""
        return {
            "rmse_of_span": self.rmse_of_span,
            "nmse": self.nmse,
            "utility": self.utility,
            "left_out": list(self.left_out),
            "signals_without_nmse": self.signals_without_nmse,
            "signals_without_error": self.signals_without_error,
            "features": self.features.to_dicts(),
        }


def error_of(original: FeatureTable, released: FeatureTable) -> ErrorMeasures:
    """Compare the rows that both tables have; see `aligned`.

    A value counts where both have it. What the original does not know has no error.

    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> rate = [Feature("rate", "1/s", "", 0.0, 10.0)]
    >>> ones, threes = (table_from_arrays(np.full((2, 2, 5, 1), v), rate) for v in (1.0, 3.0))
    >>> error = error_of(ones, threes)
    >>> error.rmse_of_span, round(error.nmse, 4), error.utility
    (0.2, 1.3333, 0.75)
    """
    ours, theirs = aligned(original, released)
    x, noisy = _values(ours), _values(theirs)
    known = np.isfinite(x) & np.isfinite(noisy)
    some = np.asarray(known.any(axis=0))
    if not some.any():
        raise InputError("original and release have no value in common: are these the right two?")
    starts = track_starts(ours.data).arg_true().to_numpy()
    x, noisy, difference = (np.where(known, v, 0.0) for v in (x, noisy, x - noisy))

    counts = known.sum(axis=0)
    spans = np.array([feature.span for feature in ours.features])
    of_span = _over(np.sqrt(_over((difference**2).sum(axis=0), counts)), spans)

    rows = np.add.reduceat(known, starts, axis=0, dtype=np.intp)
    mean, noisy_mean, squared = (
        _over(np.add.reduceat(v, starts, axis=0), rows) for v in (x, noisy, difference**2)
    )
    # Features that nobody gave bounds have an infinite span.
    finite = np.where(np.isfinite(spans), spans, 0.0)
    size, noisy_size = (_over(np.add.reduceat(np.abs(v), starts, axis=0), rows) for v in (x, noisy))
    nonzero = ~_vanishes(mean, size) & ~_vanishes(noisy_mean, noisy_size)
    squared = np.where(_vanishes(np.sqrt(squared), np.maximum(size, finite)), 0.0, squared)
    nmse = np.abs(_over(squared, np.where(nonzero, mean * noisy_mean, 0.0)))
    utility = _over(np.ones_like(nmse), np.where(np.isfinite(nmse), nmse, 0.0))
    nmse_of_feature, utility_of_feature = _mean(nmse), _mean(utility)

    asked = np.isfinite(_values(ours)).sum(axis=0)
    columns = {
        "rmse": np.sqrt(_over((difference**2).sum(axis=0), counts)),
        "rmse_of_span": of_span,
        "nmse": nmse_of_feature,
        "utility": utility_of_feature,
        "row_correlation": correlation(x, noisy, known),
        "recording_correlation": correlation(mean, noisy_mean, rows > 0),
        "compared": _over(counts, asked),
    }
    names = {"name": ours.names, "unit": [feature.unit for feature in ours.features]}
    return ErrorMeasures(
        rmse_of_span=float(np.sqrt(np.mean(of_span[some] ** 2))),
        nmse=_figure(nmse_of_feature),
        utility=_figure(utility_of_feature),
        features=pl.DataFrame(names | columns).with_columns(pl.col(pl.Float64).fill_nan(None)),
        left_out=tuple(ours.names[column] for column in np.flatnonzero(~some)),
        signals_without_nmse=int(((rows > 0) & ~nonzero).sum()),
        signals_without_error=int((nmse == 0).sum()),
    )


def _values(table: FeatureTable) -> Floats:
    return table.data.select(pl.col(table.names).cast(pl.Float64).fill_null(np.nan)).to_numpy()


def _over(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """The quotient, NaN where there is nothing to divide by."""
    found = np.full(np.broadcast(part, whole).shape, np.nan)
    np.divide(part, whole, out=found, where=whole != 0)
    return found


def _vanishes(figure: Floats, size: Floats) -> Any:
    """Where a figure is zero but for rounding, beside the size of what it was computed from."""
    return ~(np.abs(figure) > _ROUNDING * size)


def _mean(signals: Floats) -> Floats:
    """Over the recordings that have a figure; NaN for a feature without any."""
    known = np.isfinite(signals)
    return _over(np.where(known, signals, 0.0).sum(axis=0), known.sum(axis=0))


def _figure(features: Floats) -> float | None:
    """Over the features that have a figure."""
    known = features[np.isfinite(features)]
    return float(known.mean()) if len(known) else None


def correlation(x: Floats, y: Floats, known: NDArray[np.bool_]) -> Floats:
    """Pearson's, column by column over the known rows; NaN where either does not vary."""
    counts = known.sum(axis=0)
    centred = []
    for values in (x, y):
        kept = np.where(known, values, 0.0)
        around = np.where(known, kept - _over(kept.sum(axis=0), counts), 0.0)
        size = np.abs(kept).max(axis=0, initial=0.0)
        varies = np.abs(around).max(axis=0, initial=0.0) > _ROUNDING * size
        centred.append(np.where(varies, around, 0.0))
    one, other = centred
    spread = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
    return _over((one * other).sum(axis=0), spread)
