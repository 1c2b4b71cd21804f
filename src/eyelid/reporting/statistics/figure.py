"""The figure of the results: every estimate with its interval, one panel a measure."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from eyelid.mechanisms.groups.public_groups import EVERYBODY
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, figure
from eyelid.reporting.statistics.tables import spoken

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = ("mean", "geometric mean", "median", "share", "higher", "superiority", "tau", "slope")
"""Statistics that have a place on an axis; spreads and counts are in the table."""
_COLOURS = (BLUE, ORANGE, GREEN, "#cc79a7", INK)
_SIGNS = ("o", "s", "^", "D", "v")
# What a difference, a share or a relation is compared with.
_NOTHING = {"higher": 0.5, "superiority": 0.5, "tau": 0.0, "slope": 0.0}
BETWEEN = " - "
"""What stands between the tasks of a difference."""
_SHARP = 220
_ROW, _AROUND, _LETTERS = 0.24, 0.75, 26
_MOST_SHARE = ("share", "higher", "superiority")


def draw_results(results: pl.DataFrame) -> Figure:
    """Every estimate with its 95% interval, the part of it that is noise drawn thicker.

    Args:
        results: the table of all results.
    """
    panels = panels_of(results)
    heights = [_AROUND + _ROW * len(rows) for rows in panels]

    def draw(*axes: Axes) -> None:
        for own, rows in zip(axes, panels, strict=True):
            draw_panel(own, rows)

    drawn = figure(draw, sum(heights), rows=len(panels))
    grid = drawn.axes[0].get_gridspec()
    assert grid is not None, "axes were made in a grid"
    grid.set_height_ratios(heights)
    return drawn


def panels_of(results: pl.DataFrame) -> list[pl.DataFrame]:
    """Rows that share an axis: of one measure, and of one kind of number; differences apart."""
    drawn = results.filter(
        pl.col("statistic").str.split(":").list.first().is_in([*DRAWN, "quantile"])
    )
    if drawn.is_empty():
        drawn = results
    apart = pl.col("task").str.contains(BETWEEN, literal=True).fill_null(False).alias("difference")
    panels = drawn.with_columns(apart).partition_by(
        "measure", "statistic", "unit", "difference", maintain_order=True, include_key=True
    )
    return [rows.drop("difference") for rows in panels]


def draw_panel(axes: Axes, rows: pl.DataFrame) -> None:
    """One measure on axes that are there: a row for each task, a colour for each group.

    Args:
        axes: to draw on.
        rows: of the results, all of one measure and statistic.
    """
    tasks = rows["task"].unique(maintain_order=True).to_list()
    groups = rows["group"].unique(maintain_order=True).to_list()
    first = rows.row(0, named=True)
    labels = []
    for place, row in enumerate(rows.iter_rows(named=True)):
        group = groups.index(row["group"])
        colour, sign = _COLOURS[group % len(_COLOURS)], _SIGNS[group % len(_SIGNS)]
        at = -float(place)
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [at, at], color=colour, lw=1.2, zorder=1)
        if row["noise_sd"] is not None and row["estimate"] is not None:
            noise = row["estimate"] - row["noise_sd"], row["estimate"] + row["noise_sd"]
            axes.plot(noise, [at, at], color=colour, lw=3.5, alpha=0.45, zorder=2)
        if row["estimate"] is not None:
            axes.plot([row["estimate"]], [at], sign, color=colour, ms=5, zorder=3)
        labels.append(_label(row["task"], row["group"], len(tasks), len(groups)))
    compared = 0.0 if BETWEEN in (first["task"] or "") else None
    compared = _NOTHING.get(first["statistic"], compared)
    if compared is not None:
        axes.axvline(compared, color=GREY, lw=0.8, ls=":", zorder=0)
    if first["statistic"] in _MOST_SHARE:
        axes.set_xlim(-0.02, 1.02)
    axes.set_yticks([-float(place) for place in range(len(labels))], labels, fontsize=SMALL)
    axes.set_ylim(-len(labels) + 0.4, 0.6)
    axes.set_xlabel(_axis(first), fontsize=SMALL)
    axes.tick_params(axis="x", labelsize=SMALL)


def _label(task: str, group: str, tasks: int, groups: int) -> str:
    """What a row is of, as far as it differs from the others."""
    parts = [task] if tasks > 1 or task else []
    if groups > 1 or group not in ("", EVERYBODY):
        parts.append(group)
    return textwrap.shorten(", ".join(parts) or "everybody", _LETTERS, placeholder=" …")


def _axis(row: dict[str, Any]) -> str:
    """The measure, what of it, and its unit."""
    unit = "" if row["unit"] in ("", "1") else f" ({row['unit']})"
    of = "difference of " if row["statistic"] == "mean" and BETWEEN in (row["task"] or "") else ""
    # What counts half is said below tables, and in the caption.
    what = spoken(row["statistic"]).partition(" (ties")[0]
    return f"{of}{row['measure']}, {what}{unit}"


def legend(people: int, promise: str) -> str:
    """What thin and thick lines are, below the figure or in its caption.

    Args:
        people: N.
        promise: the guarantee in numbers.
    """
    return (
        f"Results of {people} participants under {promise} for each of them. Thin lines are 95% "
        "intervals that cover sampling, noise and clipping; thick ones are ± one standard "
        "deviation of the noise alone. In a share of people who are higher, ties and people "
        "without a number count half."
    )


def save(drawn: Figure, path: Path) -> None:
    """Write the figure, with nothing about who drew it, when or where.

    Args:
        drawn: the figure.
        path: whose suffix says as what: svg, pdf or png.
    """
    from eyelid.plotting import styled

    about: dict[str, Any] = {
        ".svg": {"Date": None, "Creator": None},
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        ".png": {"Software": None},
    }[path.suffix]
    with styled({"svg.fonttype": "none", "svg.hashsalt": "eyelid", "pdf.fonttype": 42}):
        _settle(drawn)
        drawn.savefig(path, metadata=about, facecolor="white", dpi=_SHARP)


def _settle(drawn: Figure) -> None:
    """Put panels where the layout has them, rounded: its last digits differ from run to run."""
    drawn.draw_without_rendering()
    drawn.set_layout_engine("none")
    for axes in drawn.axes:
        x, y, width, height = (round(float(at), 4) for at in axes.get_position().bounds)
        axes.set_position((x, y, width, height))
