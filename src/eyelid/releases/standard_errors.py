"""How far noise moves released means, from public numbers: the file ``standard_errors.csv``.

That is the error due to the added noise. How far the mean of other people would be from this one
(sampling error) depends on how people differ, which a release of means does not show.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelid.gaze.study import Feature
from eyelid.io.csv_cells import csv_text
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.records.prewindow import Prewindow

VALUE, MEAN_OVER_ROWS = "one value", "mean over rows"
_DIGITS = 6


def standard_errors(
    mechanism: FeatureMechanism,
    shape: Shape,
    features: Sequence[Feature],
    people: pl.DataFrame,
    step_ms: float | None = None,
) -> pl.DataFrame | None:
    """The standard deviation of the noise on each released mean, in the unit of its feature.

    One row for each group, of one value and, where a recording has several rows, of its mean over
    them. ``time_ms`` is null where the error is the same for all rows. Everything in it follows
    from public facts. It is before clipping to the bounds, and leaves out rounding, which is less
    than a billionth of it, and what a mechanism cuts off.

    Args:
        mechanism: that makes means, with its parameters.
        shape: the public facts.
        features: with the bounds that values are clipped to.
        people: of the release: groups, with how many ``people`` each has.
        step_ms: of the released rows.

    Returns:
        ``person`` (the group; not of groups that chance draws, which their ``people`` tell apart),
        ``people``, ``of``, ``time_ms`` and the features; None where nothing or something else than
        means under noise on their own values is released.
    """
    if not isinstance(mechanism, MeanMechanism) or isinstance(mechanism.core, Prewindow):
        return None
    # Which of the groups that chance draws is larger is left to chance, and is not shown here.
    names = ["people"] if mechanism.drawn else ["person", "people"]
    groups = people.select(names)
    if mechanism.drawn:
        groups = groups.unique().sort("people")
    spans = np.array([feature.span for feature in features])
    parts = []
    for group in groups.rows(named=True):
        rows, mean = mechanism.noise_sd_of_span(shape, group["people"])
        errors, of, time = rows[:, None] * spans, [VALUE] * rows.size, [None]
        if rows.size > 1:
            time = (np.arange(rows.size) * (step_ms or 1.0)).tolist()
        if shape.length > 1:
            errors, of = np.vstack([errors, mean * spans]), [*of, MEAN_OVER_ROWS]
            time = [*time, None]
        parts.append(
            pl.DataFrame(
                {
                    **{name: [group[name]] * len(of) for name in names},
                    "of": of,
                    "time_ms": pl.Series(time, dtype=pl.Float64),
                    **{each.name: errors[:, j] for j, each in enumerate(features)},
                }
            )
        )
    found = pl.concat(parts)
    return found.with_columns(
        pl.col(each.name).round_sig_figs(_DIGITS) for each in features if np.isfinite(each.span)
    )


def errors_text(errors: pl.DataFrame) -> str:
    """The text of standard_errors.csv."""
    return csv_text(errors)
