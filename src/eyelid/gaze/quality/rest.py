"""Spectra of gaze in fixations: how many decibels other recordings are from the original ones."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from eyelid.gaze.events import gaze_of
from eyelid.gaze.generator.measurement import found_in
from eyelid.gaze.generator.spectra import resting_spectrum
from eyelid.gaze.study import Study

SLOWEST_HZ = 1.0
_BANDS_PER_OCTAVE = 1.5


def resting_levels(study: Study) -> pl.DataFrame:
    """Level of the spectrum in bands from 1 Hz to a third of the rate, mean over recordings.

    Args:
        study: of samples.

    Returns:
        task, hz (the middle of a band on a log scale), db (of degrees² per Hz, nominal ones where
        there are no others) and recordings.
    """
    rows = []
    for recording, units in gaze_of(study):
        found = found_in(recording, units)
        if found is None:
            continue
        frequency_hz, power = resting_spectrum(found.time_ms, found.x, found.y, found.fixations)
        # Rates of real trackers are a little off.
        upper_hz = round(found.rate_hz) / 3.0
        count = int(np.ceil(np.log2(max(upper_hz / SLOWEST_HZ, 1.01)) * _BANDS_PER_OCTAVE))
        edges = SLOWEST_HZ * 2.0 ** (np.arange(count + 1) / _BANDS_PER_OCTAVE)
        for low, high in itertools.pairwise(edges):
            # The last band may be a part of one.
            inside = (frequency_hz >= low) & (frequency_hz < high) & (frequency_hz <= upper_hz)
            if inside.any() and (mean := float(power[inside].mean())) > 0:
                rows.append((recording.task, float(np.sqrt(low * high)), 10.0 * np.log10(mean)))
    table = pl.DataFrame(
        rows, schema={"task": pl.String, "hz": pl.Float64, "db": pl.Float64}, orient="row"
    )
    return (
        table.group_by("task", pl.col("hz").round(3), maintain_order=True)
        .agg(pl.col("db").mean(), recordings=pl.len())
        .sort("task", "hz")
    )


def spectrum_differences(original: Study, other: Study) -> pl.DataFrame:
    """Decibels by which other recordings are above the original ones, band by band.

    Args:
        original: of samples.
        other: of samples, with tasks of the same names.

    Returns:
        task, hz, db of the original, other_db and difference_db.
    """
    ours, theirs = resting_levels(original), resting_levels(other)
    return (
        ours.drop("recordings")
        .join(
            theirs.drop("recordings").rename({"db": "other_db"}),
            on=["task", "hz"],
            how="left",
            maintain_order="left",
        )
        .with_columns(difference_db=pl.col("other_db") - pl.col("db"))
    )
