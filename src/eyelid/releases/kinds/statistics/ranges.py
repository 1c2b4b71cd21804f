"""Where everybody's numbers lie, as public ranges: by norms, and else by definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.measures.measure import Measure
from eyelid.gaze.measures.panel import Column
from eyelid.gaze.norms import Norm, norm_for
from eyelid.gaze.norms.norm import LOG, OWN
from eyelid.gaze.study import Feature
from eyelid.mechanisms.statistics.ranges import Entry, Range


def norms_of(
    columns: Sequence[Column], activity: str, own: Sequence[Norm] = ()
) -> list[Norm | None]:
    """The norm of each number; None where there is none. Shares have none: they need none.

    Args:
        columns: what is asked of everybody.
        activity: what people did, of `eyelid.gaze.norms.TASKS`.
        own: norms of one's own.
    """
    return [_norm_of(column, activity, own) for column in columns]


def _norm_of(column: Column, activity: str, own: Sequence[Norm]) -> Norm | None:
    measure = column.measure
    if measure.is_share:
        return None
    of = measure.feature if isinstance(measure, Measure) else _as_feature(column)
    return norm_for(of, activity, own)


def _as_feature(column: Column) -> Feature:
    """A measure of areas, by its own name."""
    measure = column.measure
    return Feature(measure.name, measure.unit, measure.definition, *measure.bounds)


def entry_of(column: Column, norm: Norm | None, k: float) -> Entry:
    """One number of everybody, with its range.

    A difference between tasks is as wide to both sides of 0. Its spread is taken for that of the
    measure itself, as if a person's numbers in both tasks had a correlation of one half.

    Args:
        column: which number.
        norm: where people's averages lie, in the measure's unit; None where nothing is known.
        k: how many standard deviations of it to both sides.
    """
    least, most = column.bounds
    if not (math.isfinite(least) and math.isfinite(most)):
        raise InputError(
            f"{column.measure.name} has no bounds by its definition, and results need some: give "
            "it bounds where the study is made"
        )
    if norm is None or (norm.grade != OWN and not _overlaps(norm, k, column)):
        # A published norm that a study's own definition rules out is of another measure.
        norm = None
        found = Range(least, most)
    elif column.contrast:
        sd = norm.mean * norm.between if norm.scale == LOG else norm.between
        found = Range.around(0.0, sd, k, within=(least, most))
    else:
        found = Range.around(norm.mean, norm.between, k, norm.scale, (least, most))
    if norm is not None and norm.grade == OWN:
        found = replace(found, source="file")
    return Entry(column.measure.name, column.task, found, column.measure.unit, column.contrast)


def _overlaps(norm: Norm, k: float, column: Column) -> bool:
    """Whether some of a norm's range is possible at all."""
    if column.contrast:
        return True
    least, most = column.bounds
    if norm.scale == LOG:
        lower, upper = (norm.mean * math.exp(side * k * norm.between) for side in (-1, 1))
    else:
        lower, upper = (norm.mean + side * k * norm.between for side in (-1, 1))
    return lower < most and upper > least


def best_k(people: int, numbers: int, epsilon: float) -> float:
    """How many standard deviations of a norm a range reaches to both sides.

    The least of squared noise and squared bias by clipping, should the norm be one standard
    deviation off.

    Args:
        people: in the smallest group.
        numbers: that share a draw of noise.
        epsilon: of the whole.

    >>> best_k(45, 3, 1.0), best_k(535, 3, 1.0)
    (1.8, 2.95)
    """
    from scipy.stats import norm

    k = np.arange(100, 401, 5) / 100
    noise = 2 * k * math.sqrt((numbers + 1) * (numbers + 2) / 3) / (people * epsilon)
    # The mean of a normal variable around 1 with unit spread that is cut off at ±k.
    low, high = -k - 1, k - 1
    inside = norm.cdf(high) - norm.cdf(low) + norm.pdf(low) - norm.pdf(high)
    bias = 1 - (k * norm.sf(high) - k * norm.cdf(low) + inside)
    return float(k[np.argmin(noise**2 + bias**2)])
