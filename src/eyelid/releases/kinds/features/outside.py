"""How many values lie outside of their public bounds, which only the owner of the data is told."""

from __future__ import annotations

import polars as pl

from eyelid.gaze.table import FeatureTable
from eyelid.spelling import plural

_LISTED = 5


def outside_in_words(table: FeatureTable) -> str:
    """How many values lie outside of their bounds, feature by feature; empty where none does.

    Args:
        table: with the bounds that values are clipped to.
    """
    counts = []
    for feature in table.features:
        values = table.data[feature.name].cast(pl.Float64).fill_nan(None).drop_nulls()
        outside = int((~values.is_between(feature.lower, feature.upper)).sum())
        if outside:
            unit = "" if feature.unit in ("", "1") else f" {feature.unit}"
            bounds = f"{feature.lower:g} to {feature.upper:g}{unit}"
            said = f"{feature.name} {outside:,} of {len(values):,} ({bounds})"
            counts.append((outside / len(values), said))
    if not counts:
        return ""
    most = [said for _, said in sorted(counts, key=lambda one: -one[0])[:_LISTED]]
    left = len(counts) - len(most)
    rest = f", and of {plural(left, 'other feature')}" if left else ""
    return (
        "values outside of the public bounds count as if they lay at the nearest one: "
        f"{', '.join(most)}{rest}. If these are no slips, give bounds that cover what is possible, "
        "without looking at the data for them"
    )
