"""The paper's figures drawn again: rates over k or ε."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyelid.papers.reproduction import Cell, Exhibit
from eyelid.releases.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_COLOURS = (BLUE, ORANGE, GREEN, GREY)
MOST_CURVES = len(_COLOURS)
# Between the limits of two rows in the same column.
_ASIDE = 0.07


def curves_picture(exhibit: Exhibit, rows: Sequence[str], what: str, simulated: bool) -> Markup:
    """Rows of an exhibit as curves over its columns.

    Args:
        exhibit: with its cells.
        rows: which of them, `MOST_CURVES` at most; the paper's protocol is dashed, the honest one
            is drawn with limits.
        what: along the upright axis.
        simulated: whether people are made up, which the picture then says.
    """
    columns = exhibit.columns
    where = {column: number for number, column in enumerate(columns)}

    def draw(axis: Axes) -> None:
        for number, (row, colour) in enumerate(zip(rows, _COLOURS, strict=False)):
            cells = [cell for cell in exhibit.cells if cell.row == row]
            _draw_row(axis, cells, where, colour, _ASIDE * number)
        if exhibit.chance is not None:
            axis.axhline(exhibit.chance, color=INK, lw=0.9, ls=":")
            axis.annotate(
                "guessing", (len(columns) - 0.6, exhibit.chance), va="bottom", fontsize=SMALL
            )
        axis.set_xticks(range(len(columns)), columns)
        axis.tick_params(axis="x", labelsize=SMALL)
        axis.set_xlim(-0.4, len(columns) - 0.1)
        axis.set_ylim(0.0, 1.0)
        axis.set_ylabel(what)
        axis.set_xlabel(
            "dashed: as the paper measures, ×: printed, bars: 95 % limits"
            + ". SIMULATED PEOPLE" * simulated,
            fontsize=SMALL,
        )
        axis.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=2,
            frameon=False,
            fontsize=SMALL,
            handlelength=1.6,
        )

    alt = f"{exhibit.title}{', of simulated people' * simulated}. " + "; ".join(
        f"{row}: "
        + ", ".join(
            f"{cell.honest.mean:.2f} at {cell.column}"
            for cell in exhibit.cells
            if cell.row == row and cell.honest is not None
        )
        for row in rows
    )
    return svg(draw, alt, 2.9 + 0.15 * len(rows))


def _draw_row(
    axis: Axes, cells: Sequence[Cell], where: dict[str, int], colour: str, aside: float
) -> None:
    honest = [
        (where[cell.column] + aside, cell.honest) for cell in cells if cell.honest is not None
    ]
    as_printed = [
        (where[cell.column], cell.as_printed.mean) for cell in cells if cell.as_printed is not None
    ]
    printed = [(where[cell.column], cell.printed) for cell in cells if cell.printed is not None]
    if honest:
        at, values = zip(*honest, strict=True)
        axis.plot(
            at, [value.mean for value in values], "o-", color=colour, ms=4, label=cells[0].row
        )
        for place, value in honest:
            if value.low is not None and value.high is not None:
                axis.plot([place] * 2, [value.low, value.high], color=colour, lw=0.8, alpha=0.6)
    if as_printed:
        name = None if honest else cells[0].row
        axis.plot(*zip(*as_printed, strict=True), "s--", color=colour, ms=3.5, lw=0.9, label=name)
    if printed:
        name = None if honest or as_printed else cells[0].row
        axis.plot(*zip(*printed, strict=True), "x", color=INK, ms=6, label=name)
