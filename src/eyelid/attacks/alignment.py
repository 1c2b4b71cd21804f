"""Original and release side by side, row for row."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable

_KEY = ["person", "recording", "row_in_recording"]


def aligned(original: FeatureTable, released: FeatureTable) -> tuple[FeatureTable, FeatureTable]:
    """The rows that both have: the n-th row of a recording beside the n-th.

    A release cuts or pads recordings to a common length and rewrites times, so rows are matched by
    their number, and by every so many of it where the release has longer steps. Labels and bounds
    are the original's.
    """
    number = pl.int_range(pl.len()).over("person", "recording").alias(_KEY[-1])
    every = 1
    if original.step_ms and released.step_ms:
        every = max(1, round(released.step_ms / original.step_ms))
    ours, theirs = (
        original.data.with_columns(number),
        released.data.with_columns(number * every),
    )
    ours = ours.join(theirs.select(_KEY), on=_KEY, how="semi", maintain_order="left")
    theirs = ours.select(_KEY).join(theirs, on=_KEY, how="left", maintain_order="left")
    if ours.is_empty():
        raise InputError("the release has no recording of the original: are these the right two?")
    return (
        replace(original, data=ours.drop(_KEY[-1])),
        replace(
            released,
            data=theirs.select(c for c in released.data.columns),
            features=original.features,
        ),
    )
