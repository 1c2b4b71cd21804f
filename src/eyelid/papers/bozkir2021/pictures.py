"""Accuracy over ε: what is printed, what comes out here, and what a leak-free protocol says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyelid.papers.bozkir2021.methods import KEPT, Method
from eyelid.papers.bozkir2021.printed import CLASSIFIERS
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell
from eyelid.reporting.drawing import BLUE, GREY, INK, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_HOLLOW: dict[str, Any] = {"mfc": "none", "ls": ":"}
# By reading (whether the mean gets noise) and by what a cell has.
_LOOKS: dict[tuple[bool, str], dict[str, Any]] = {
    (True, "printed"): {"color": INK, "ls": ":", "marker": "x", "label": "printed"},
    (True, "by_protocol"): {"color": BLUE, "marker": "o", "label": "paper's protocol"},
    (False, "by_protocol"): {"color": BLUE, "marker": "o", "label": f"paper's, {KEPT}", **_HOLLOW},
    (True, "leak_free"): {"color": ORANGE, "marker": "s", "label": "leak-free"},
    (False, "leak_free"): {
        "color": ORANGE,
        "marker": "s",
        "label": f"leak-free, {KEPT}",
        **_HOLLOW,
    },
}
_LABELS = [style["label"] for style in _LOOKS.values()]
_DRAWN = CLASSIFIERS["forest"]


def file_name(exhibit: str) -> str:
    """What the picture of an exhibit is called.

    >>> file_name("Figures 3 and 4")
    'figures-3-and-4'
    """
    return exhibit.lower().replace(" ", "-")


def labelled(picture: Markup, source: Source) -> Markup:
    """A picture that says so itself where participants are simulated: it may leave its page.

    Args:
        picture: an SVG element.
        source: what it shows.
    """
    from markupsafe import Markup

    if not source.simulated:
        return picture
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    assert box is not None, "a picture without a size"
    width, height = (float(size) for size in box.groups())
    # A strip of its own below the picture, so that nothing is covered.
    text = str(picture).replace(box.group(), f'viewBox="0 0 {width:g} {height + 12:g}"', 1)
    label = (
        f'<text x="{width - 4:g}" y="{height + 8:g}" text-anchor="end" fill="{INK}" '
        f'style="font: {SMALL}px sans-serif">simulated participants</text>'
    )
    return Markup(text.replace("</svg>", f"{label}</svg>"))


def accuracy_picture(
    cells: Sequence[Cell], epsilons: Sequence[float], title: str, chance: float
) -> Markup:
    """One panel a family of methods, for the random forest, both readings.

    Args:
        cells: of a table.
        epsilons: its columns.
        title: what is recognised.
        chance: what guessing gives.
    """
    families: dict[str, str] = {}
    for cell in cells:
        method = Method.called(cell.row)
        families.setdefault(method.family, method.name)
    methods = list(families.values())
    place = {(cell.row, cell.column): cell for cell in cells}
    lines = {
        (name, look): [
            _number(place.get((_row(name, look[0]), f"ε = {epsilon:g}, {_DRAWN}")), look[1])
            for epsilon in epsilons
        ]
        for name in methods
        for look in _LOOKS
    }

    def draw(*axes: Axes) -> None:
        for axis, name in zip(axes, methods, strict=True):
            axis.axhline(chance, color=GREY, lw=0.9, label="guessing")
            for look, style in _LOOKS.items():
                shown = [
                    (epsilon, value)
                    for epsilon, value in zip(epsilons, lines[name, look], strict=True)
                    if value is not None
                ]
                if shown:
                    axis.plot(*zip(*shown, strict=True), ms=4, lw=1.2, **style)
            axis.set_xscale("log")
            axis.set_xticks(list(epsilons), [f"{epsilon:g}" for epsilon in epsilons], rotation=60)
            axis.minorticks_off()
            axis.set_ylim(-0.02, 1.05)
            axis.set_title(name, fontsize=SMALL)
            axis.set_xlabel("printed ε")
            axis.tick_params(labelsize=SMALL, labelleft=axis is axes[0])
        axes[0].set_ylabel("share right")
        # Not every panel has every line.
        named = {
            label: line
            for axis in axes
            for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        order = [label for label in ("guessing", *_LABELS) if label in named]
        axes[-1].legend(
            [named[label] for label in order],
            order,
            frameon=False,
            fontsize=SMALL,
            loc="upper left",
            bbox_to_anchor=(1, 1),
        )

    alt = f"{title}, random forest: " + "; ".join(
        f"{name} {_LOOKS[look]['label']} "
        f"{', '.join('–' if value is None else f'{value:.2f}' for value in values)}"
        for (name, look), values in lines.items()
    )
    return svg(draw, f"{alt}; chance {chance:.2f}", 2.6, columns=len(methods), width=6.4)


def _row(name: str, noisy_mean: bool) -> str:
    return name if noisy_mean else f"{name}, {KEPT}"


def _number(cell: Cell | None, kind: str) -> float | None:
    value = None if cell is None else getattr(cell, kind)
    return value if value is None or isinstance(value, float) else float(value.mean)
