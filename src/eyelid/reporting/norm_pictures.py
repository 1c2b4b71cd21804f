"""Norms as a picture: each as a bar, ± 1 and ± 2 standard deviations between people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eyelid.errors import InputError
from eyelid.gaze.norms import Norm
from eyelid.gaze.norms.norm import ASSUMED, LOG, MEASURED, converts
from eyelid.reporting.drawing import BLUE, GREY, INK, ORANGE, SMALL, figure, pdf, png, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png", ".pdf")
# What is known is filled, what is assumed an outline: distinct in grey too.
_COLOURS = {MEASURED: BLUE, ASSUMED: GREY}
_WORDS = {MEASURED: "measured", ASSUMED: "spread assumed"}
_ROW, _PANEL, _LEGEND = 0.26, 0.62, 0.35
_THICK, _THIN = 0.56, 0.2


def norms_figure(norms: Sequence[Norm]) -> Figure:
    """Norms as a matplotlib figure: an axis a measure, a bar a task.

    The thick part of a bar is ± 1 standard deviation between people, the thin one ± 2, the mark the
    mean. Measured norms are filled, assumed ones outlines.

    Args:
        norms: at least one.

    >>> from eyelid.gaze.norms import norms
    >>> [axis.get_xlabel() for axis in norms_figure(norms("reading_rate")).axes]
    ['reading_rate, words/min']
    """
    panels = _panels(norms)
    return figure(_Drawing(panels), **_size(panels))


def save_norms(norms: Sequence[Norm], path: Path) -> None:
    """Write what `norms_figure` draws to a file: SVG, PNG or PDF, by its ending.

    Args:
        norms: at least one.
        path: of the file.
    """
    from eyelid.engine.atomic import write_file

    check_norm_picture(path)
    panels = _panels(norms)
    drawing, size = _Drawing(panels), _size(panels)
    if path.suffix.lower() == ".svg":
        page = svg(drawing, _in_words(norms), **size)
        write_file(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{page}\n')
    else:
        write_file(path, (png if path.suffix.lower() == ".png" else pdf)(drawing, **size))


def check_norm_picture(path: Path) -> None:
    """Fail unless a picture could be put at ``path``.

    Args:
        path: of the file.
    """
    from eyelid.engine.atomic import check_file

    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"a picture ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, got '{path.name}': "
            "name it norms.svg"
        )
    check_file(path, ENDINGS)


def _panels(norms: Sequence[Norm]) -> list[list[Norm]]:
    """Norms of one measure together, in one unit where they convert."""
    panels: dict[tuple[str, str], list[Norm]] = {}
    for norm in norms:
        for (measure, unit), there in panels.items():
            if measure == norm.measure and converts(norm.unit, unit):
                there.append(norm.converted(unit))
                break
        else:
            panels[norm.measure, norm.unit] = [norm]
    return list(panels.values())


def _size(panels: list[list[Norm]]) -> dict[str, Any]:
    rows = sum(len(panel) for panel in panels)
    return {
        "height": _ROW * rows + _PANEL * len(panels) + _LEGEND,
        "rows": len(panels),
        "height_ratios": [_ROW * len(panel) + _PANEL / 2 for panel in panels],
    }


def _in_words(norms: Sequence[Norm]) -> str:
    return "Published norms, mean and standard deviation between people: " + "; ".join(
        f"{norm.measure}, {norm.task}: {norm.mean:g} {norm.unit}, {norm.between:g}"
        f"{' of the logarithm' if norm.scale == LOG else ''} ({norm.grade})"
        for norm in norms
    )


class _Drawing:
    """Draws panels on their axes."""

    def __init__(self, panels: list[list[Norm]]) -> None:
        self.panels = panels

    def __call__(self, *axes: Axes) -> None:
        from eyelid.plotting import Figure, Rectangle

        sheet = axes[0].figure
        assert isinstance(sheet, Figure), "axes are on a figure of their own"
        # On a slide of any colour it stays readable.
        sheet.add_artist(
            Rectangle((0, 0), 1, 1, transform=sheet.transFigure, color="white", zorder=-10)
        )
        for axis, panel in zip(axes, self.panels, strict=True):
            _panel(axis, panel)
        grades = dict.fromkeys(norm.grade for panel in self.panels for norm in panel)
        sheet.legend(
            handles=[
                Rectangle((0, 0), 1, 1, label=_WORDS.get(grade, grade), **_look(grade))
                for grade in grades
            ],
            loc="outside upper left",
            ncols=len(grades),
            frameon=False,
            fontsize=SMALL,
            title="bars: ± 1 and ± 2 standard deviations between people",
            title_fontsize=SMALL,
        )


def _panel(axis: Axes, norms: list[Norm]) -> None:
    from eyelid.plotting import Rectangle

    for row, norm in enumerate(norms):
        for k, height in ((2, _THIN), (1, _THICK)):
            lower, upper = norm.range(k)
            place = (lower, row - height / 2)
            axis.add_patch(Rectangle(place, upper - lower, height, **_look(norm.grade)))
        mark = INK if norm.grade == ASSUMED else "white"
        axis.plot(norm.mean, row, marker="|", markersize=9, color=mark, markeredgewidth=1.6)
    axis.set_yticks(range(len(norms)), [norm.task for norm in norms], fontsize=SMALL)
    axis.set_ylim(len(norms) - 0.4, -0.6)
    axis.margins(x=0.05)
    axis.autoscale(axis="x")
    least = min(norm.range(2)[0] for norm in norms)
    axis.set_xlim(left=0 if least >= 0 else None)
    axis.tick_params(axis="x", labelsize=SMALL)
    unit = "" if norms[0].unit == "1" else f", {norms[0].unit}"
    axis.set_xlabel(f"{norms[0].measure}{unit}", fontsize=SMALL)


def _look(grade: str) -> dict[str, Any]:
    colour = _COLOURS.get(grade, ORANGE)
    if grade == ASSUMED:
        return {"facecolor": "white", "edgecolor": colour, "linestyle": "--", "linewidth": 0.9}
    return {"facecolor": colour, "edgecolor": colour, "linewidth": 0.9}
