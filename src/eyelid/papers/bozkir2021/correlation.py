"""Figures 3 to 6: correlation coefficients with the fifth sample over time, raw and differences.

Windows overlap. Two of them share gaze as long as they are less than a window apart, and a
difference between neighbours is what enters at one end less what leaves at the other: what entered
leaves exactly one window later, and differences that far apart are correlated again, negatively.
"""

from __future__ import annotations

import math
from statistics import fmean

import polars as pl

from eyelid.attacks.temporal import temporal_correlations
from eyelid.errors import unknown
from eyelid.papers.bozkir2021.pictures import file_name, labelled
from eyelid.papers.bozkir2021.protocols import CORRELATION
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.reporting.temporal_pictures import correlation_picture

# The paper draws samples 6 to 200 against the fifth.
LONGEST_DELTA_T = 195
# Below this, differences a window apart are correlated again.
_AGAIN = -0.1
_WITHIN, _BEYOND, _WINDOW = "Δt within a window", "Δt beyond", "Δt = one window, all features"


def correlations(source: Source, feature: str, name: str) -> Exhibit:
    """One pair of figures: signals and their differences.

    Args:
        source: the dataset.
        feature: which one is drawn.
        name: of the figures.
    """
    table = source.table
    if feature not in table.names:
        raise unknown("feature", feature, table.names)
    found = temporal_correlations(table, longest_delta_t=LONGEST_DELTA_T)
    window = round((table.window_ms or 0) / (table.step_ms or 1))
    own = found.filter(pl.col("feature") == feature)
    near = pl.col("delta_t") < window
    cells = []
    for signal in ("raw", "difference"):
        size = own.with_columns(pl.col(signal).abs())
        for (task,), part in size.group_by("task", maintain_order=True):
            row = f"{'signals' if signal == 'raw' else 'differences'}, {task}"
            for column, where in ((_WITHIN, near), (_BEYOND, ~near)):
                cells += _cell(row, column, part.filter(where)[signal])
            again = found.filter(pl.col("task") == task, pl.col("delta_t") == window)
            cells += _cell(row, _WINDOW, again[signal])
    return Exhibit(
        name=name,
        title=f"Correlation of {feature} with the fifth sample, {source.name}",
        says=_says(cells, source.people),
        protocol=CORRELATION,
        setting="Means of absolute coefficients; of signed ones at Δt = one window.",
        quantity="correlation coefficient",
        cells=tuple(cells),
        verdict=Verdict(Outcome.OPEN, _claim(cells)),
        pictures={
            file_name(name): labelled(correlation_picture(own, feature, table.step_ms), source)
        },
    )


def _cell(row: str, column: str, values: pl.Series) -> list[Cell]:
    known = values.drop_nulls()
    return [Cell(row, column, by_protocol=Value(fmean(known)))] if len(known) else []


def independent(people: int) -> float:
    """The mean absolute correlation of two independent normal quantities of so many people.

    >>> round(independent(20), 2)
    0.19
    """
    # r² of n points is Beta(1/2, n/2 − 1).
    b = people / 2 - 1
    return math.exp(math.lgamma(0.5 + b) - math.lgamma(0.5) + math.lgamma(1.0) - math.lgamma(b + 1))


def _mean(cells: list[Cell], start: str, column: str) -> float:
    found = [
        c.by_protocol.mean
        for c in cells
        if c.row.startswith(start) and c.column == column and c.by_protocol
    ]
    return fmean(found) if found else math.nan


def _claim(cells: list[Cell]) -> Outcome:
    """Less correlated, and independent as well?"""
    if not _mean(cells, "differences", _WITHIN) < _mean(cells, "signals", _WITHIN):
        return Outcome.NO
    return Outcome.PARTLY if _mean(cells, "differences", _WINDOW) < _AGAIN else Outcome.YES


def _says(cells: list[Cell], people: int) -> str:
    """Whether differences are less correlated, and as little as unrelated numbers are."""
    raw, steps = _mean(cells, "signals", _WITHIN), _mean(cells, "differences", _WITHIN)
    nothing, back = independent(people), _mean(cells, "differences", _WINDOW)
    less = "less" if steps < raw else "no less"
    said = (
        f"Differences are {less} correlated than signals within a window (mean |r| {steps:.2f} "
        f"against {raw:.2f}; unrelated numbers of {people} people have {nothing:.2f})"
    )
    if math.isnan(back):
        return f"{said}."
    if back < _AGAIN:
        return (
            f"{said}, but not independent, as the paper takes them to be: windows overlap, what "
            f"enters one leaves it a window later, and there r is −{-back:.2f} on average over all "
            "features."
        )
    return f"{said}; a window apart, where what entered leaves again, r is {back:.2f} on average."
