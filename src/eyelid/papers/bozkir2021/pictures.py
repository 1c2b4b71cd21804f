"""Accuracy over ε: what is printed, what comes out here, and what an honest protocol says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyelid.papers.bozkir2021.printed import CLASSIFIERS
from eyelid.papers.reproduction import Cell
from eyelid.releases.drawing import BLUE, GREY, INK, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_LOOKS: dict[str, dict[str, Any]] = {
    "printed": {"color": INK, "ls": ":", "marker": "x", "label": "printed"},
    "as_printed": {"color": BLUE, "ls": "-", "marker": "o", "label": "paper's protocol, here"},
    "honest": {"color": ORANGE, "ls": "--", "marker": "s", "label": "honest protocol"},
}
_DRAWN = CLASSIFIERS["forest"]


def file_name(exhibit: str) -> str:
    """What the picture of an exhibit is called.

    >>> file_name("Figures 3 and 4")
    'figures-3-and-4'
    """
    return exhibit.lower().replace(" ", "-")


def accuracy_picture(
    cells: Sequence[Cell], epsilons: Sequence[float], title: str, chance: float
) -> Markup:
    """One panel a family of methods, for the random forest.

    Args:
        cells: of a table.
        epsilons: its columns.
        title: what is recognised.
        chance: what guessing gives.
    """
    families: dict[str, str] = {}
    for cell in cells:
        families.setdefault(cell.row.partition("-")[0], cell.row)
    methods = list(families.values())
    place = {(cell.row, cell.column): cell for cell in cells}
    lines = {
        (method, kind): [
            _number(place[method, f"ε = {epsilon:g}, {_DRAWN}"], kind) for epsilon in epsilons
        ]
        for method in methods
        for kind in _LOOKS
    }

    def draw(*axes: Axes) -> None:
        for axis, method in zip(axes, methods, strict=True):
            axis.axhline(chance, color=GREY, lw=0.9)
            for kind, looks in _LOOKS.items():
                shown = [
                    (epsilon, value)
                    for epsilon, value in zip(epsilons, lines[method, kind], strict=True)
                    if value is not None
                ]
                if shown:
                    axis.plot(*zip(*shown, strict=True), ms=4, lw=1.2, **looks)
            axis.set_xscale("log")
            axis.set_xticks(list(epsilons), [f"{epsilon:g}" for epsilon in epsilons], rotation=60)
            axis.minorticks_off()
            axis.set_ylim(-0.02, 1.05)
            axis.set_title(method, fontsize=SMALL)
            axis.set_xlabel("printed ε")
            axis.tick_params(labelsize=SMALL, labelleft=axis is axes[0])
        axes[0].set_ylabel("share right")
        axes[-1].legend(frameon=False, fontsize=SMALL, loc="upper left", bbox_to_anchor=(1, 1))

    alt = f"{title}, random forest: " + "; ".join(
        f"{method} {looks['label']} {', '.join('–' if v is None else f'{v:.2f}' for v in values)}"
        for (method, kind), values in lines.items()
        for looks in (_LOOKS[kind],)
    )
    return svg(draw, f"{alt}; chance {chance:.2f}", 2.6, columns=len(methods), width=6.4)


def _number(cell: Cell, kind: str) -> float | None:
    value = getattr(cell, kind)
    return value if value is None or isinstance(value, float) else float(value.mean)
