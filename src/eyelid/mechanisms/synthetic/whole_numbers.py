"""Features that are whole numbers, which synthetic ones must be, too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from eyelid.errors import unknown
from eyelid.gaze.table import FeatureTable

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.synthetic import Synthetic

WHOLE_UNITS = ("count", "counts")


def rounded(mechanism: Synthetic, table: FeatureTable) -> list[pl.Expr]:
    """How features that are whole numbers become whole, as far as they are made up."""
    wanted = [name.strip() for name in (mechanism.whole or "").split(",") if name.strip()]
    for name in wanted:
        if name not in table.names:
            raise unknown("feature that is a whole number", name, table.names)
    made = {table.names[place] for place in mechanism.chosen(table)}
    return [
        pl.col(feature.name).round().clip(math.ceil(feature.lower), math.floor(feature.upper))
        for feature in table.features
        if feature.name in made and (feature.name in wanted or feature.unit in WHOLE_UNITS)
    ]
