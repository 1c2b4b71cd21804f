"""Where everybody's numbers lie, as public ranges: by norms, and else by definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from eyelid.errors import InputError
from eyelid.gaze.measures.measure import PEOPLE, Measure
from eyelid.gaze.measures.panel import Column
from eyelid.gaze.norms import Norm, norm_for
from eyelid.gaze.norms.norm import DIFFERENCE, LOG, OWN
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
    of_difference = norm_for(of, DIFFERENCE, own) if column.contrast else None
    return of_difference or norm_for(of, activity, own)


def _as_feature(column: Column) -> Feature:
    """A measure of areas, by its own name."""
    measure = column.measure
    return Feature(measure.name, measure.unit, measure.definition, *measure.bounds)


def entry_of(column: Column, norm: Norm | None, k: float) -> Entry:
    """One number of everybody, with its range.

    A difference between tasks is as wide to both sides of 0. Where no norm is one of differences,
    its spread is taken for that of the measure itself, as if a person's numbers in both tasks had
    a correlation of one half.

    Args:
        column: which number.
        norm: where people's averages lie, in the measure's unit; None where nothing is known.
        k: how many standard deviations of it to both sides.
    """
    least, most = column.bounds
    if norm is None and isinstance(column.measure, Measure) and column.measure.rows == PEOPLE:
        raise InputError(
            f"{column.measure.name} is an attribute of people, and nothing says what it can be: "
            "give a norm of it, mean and spread from elsewhere with unit 1 (`norms=FILE`)"
        )
    if norm is None and not (math.isfinite(least) and math.isfinite(most)):
        raise InputError(
            f"{column.measure.name} has no bounds by its definition, and results need some: give "
            "it bounds where the study is made"
        )
    if norm is None or (norm.grade != OWN and not _overlaps(norm, k, column)):
        # A published norm that a study's own definition rules out is of another measure.
        norm = None
        found = Range(least, most)
    elif norm.task == DIFFERENCE:
        reach = k + abs(norm.mean) / norm.between
        found = Range.around(0.0, norm.between, reach, within=(least, most))
    elif column.contrast:
        sd = norm.mean * norm.between if norm.scale == LOG else norm.between
        found = Range.around(0.0, sd, k, within=(least, most))
    else:
        found = Range.around(norm.mean, norm.between, k, norm.scale, (least, most))
    if norm is not None and norm.grade == OWN:
        found = replace(found, source="data" if norm.is_read_off else "file")
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
