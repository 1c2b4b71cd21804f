"""Places on a screen as degrees, in a file's content or in a study."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.geometry import degrees_on_screen, missing_for_degrees
from eyelid.gaze.study import Study
from eyelid.io.part import Part

T = TypeVar("T", Part, Study)


def in_degrees(recorded: T, where: str) -> T:
    """The same with x and y in degrees from straight ahead, y up.

    Args:
        recorded: with x and y on a screen of known geometry.
        where: how to name it when something is not known.
    """
    if recorded.units == "deg":
        return recorded
    if not {"x", "y"} <= set(recorded.data.columns):
        raise InputError(f"{where} has no x and y to turn into degrees")
    missing = missing_for_degrees(recorded.screen, recorded.units, recorded.xy_origin)
    if missing:
        raise InputError(
            f"{where}: degrees need to know {missing}; say it, such as --map "
            "screen=1920x1080,screen_m=0.53x0.30,distance_m=0.65,xy_origin=top-left"
        )
    places = recorded.data.select(pl.col("x", "y").cast(pl.Float64).fill_null(float("nan")))
    x, y = degrees_on_screen(
        places["x"].to_numpy(),
        places["y"].to_numpy(),
        recorded.screen,
        recorded.units,
        recorded.xy_origin,
    )
    turned = [pl.Series(name, values).fill_nan(None) for name, values in (("x", x), ("y", y))]
    data = recorded.data.with_columns(turned)
    return replace(recorded, data=data, units="deg", xy_origin="centre")
