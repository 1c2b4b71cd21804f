"""Rows of an exhibit as curves over its columns, every line of which the legend names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyelid.papers.reproduction import Cell, Exhibit
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_COLOURS = (BLUE, ORANGE, GREEN, GREY, INK)
MOST_CURVES = len(_COLOURS)
# Between the limits of two rows in the same column.
_ASIDE = 0.06


def curves_picture(exhibit: Exhibit, rows: Sequence[str], what: str, simulated: bool) -> Markup:
    """Draw rows of an exhibit.

    Args:
        exhibit: with its cells.
        rows: which of them, `MOST_CURVES` at most; the paper's protocol is dashed, the leak-free
            one is drawn with limits.
        what: along the upright axis.
        simulated: whether participants are simulated, which the picture then says.
    """
    columns = exhibit.columns
    where = {column: number for number, column in enumerate(columns)}

    def draw(axis: Axes) -> None:
        for number, (row, colour) in enumerate(zip(rows, _COLOURS, strict=False)):
            cells = [cell for cell in exhibit.cells if cell.row == row]
            _draw_row(axis, cells, where, colour, _ASIDE * number)
        _draw_printed(axis, exhibit, rows, where)
        if exhibit.chance is not None:
            axis.axhline(exhibit.chance, color=INK, lw=0.9, ls=":", label="guessing")
        axis.set_xticks(range(len(columns)), columns)
        axis.tick_params(labelsize=SMALL)
        axis.set_xlim(-0.4, len(columns) - 0.1)
        axis.set_ylim(0.0, 1.0)
        axis.set_ylabel(what)
        axis.set_xlabel("bars: 95% limits" + ". SIMULATED PARTICIPANTS" * simulated, fontsize=SMALL)
        axis.legend(
            loc="lower left",
            bbox_to_anchor=(-0.12, 1.0),
            ncols=1,
            frameon=False,
            fontsize=SMALL,
            handlelength=2.4,
        )

    alt = f"{exhibit.title}{', of simulated participants' * simulated}. " + "; ".join(
        f"{row}: "
        + ", ".join(
            f"{cell.leak_free.mean:.2f} at {cell.column}"
            for cell in exhibit.cells
            if cell.row == row and cell.leak_free is not None
        )
        for row in rows
    )
    return svg(draw, alt, 3.0 + 0.3 * len(rows))


def _draw_row(
    axis: Axes, cells: Sequence[Cell], where: dict[str, int], colour: str, aside: float
) -> None:
    leak_free = [(where[c.column] + aside, c.leak_free) for c in cells if c.leak_free is not None]
    by_protocol = [
        (where[c.column], c.by_protocol.mean) for c in cells if c.by_protocol is not None
    ]
    if leak_free:
        at, values = zip(*leak_free, strict=True)
        means = [value.mean for value in values]
        axis.plot(at, means, "o-", color=colour, ms=4, label=f"{cells[0].row}, leak-free")
        for place, value in leak_free:
            if value.low is not None and value.high is not None:
                axis.plot([place] * 2, [value.low, value.high], color=colour, lw=0.8, alpha=0.6)
    if by_protocol:
        axis.plot(
            *zip(*by_protocol, strict=True),
            "s--",
            color=colour,
            ms=3.5,
            lw=0.9,
            label=f"{cells[0].row}, paper’s protocol",
        )


def _draw_printed(axis: Axes, exhibit: Exhibit, rows: Sequence[str], where: dict[str, int]) -> None:
    """What the paper prints, and what is inferred from its words."""
    for words, marker, inferred in (("printed", "x", False), ("printed, inferred", "+", True)):
        points = [
            (where[cell.column], cell.printed)
            for cell in exhibit.cells
            if cell.row in rows and cell.printed is not None and bool(cell.inferred) == inferred
        ]
        if points:
            axis.plot(*zip(*points, strict=True), marker, color=INK, ms=7, label=words)
