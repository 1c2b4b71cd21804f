"""The privacy–utility plane: who is re-identified against what the data are still good for.

To the left fewer people are re-identified, upwards more is left to learn. Each mechanism has a
colour, the marker what kind of promise it is, a number leads to its words: unit, ε, and what that
comes to for a person.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from eyelid.attacks.statistics import Rate
from eyelid.errors import InputError
from eyelid.reporting.drawing import GREY, INK, SMALL, pdf, png, svg
from eyelid.reporting.scene import MARKERS, Point, Scene, Series
from eyelid.reporting.sentences import coarse, percent

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

ENDINGS = (".svg", ".pdf", ".png")
_NOBODYS = "no\nindividual\nrecords"
# Open ends of points whose limits are not known, in typographic points.
_STUB = 16.0
# A letter, a line, and how far from its point a label may be: in typographic points.
_LETTER, _TALL = 5.0, 8.0
_REACHES, _DIRECTIONS = (9.0, 14.0, 20.0, 28.0, 37.0, 48.0, 60.0), 24
_LETTERS_A_LINE = 24


def plane(scene: Scene) -> Markup:
    """The picture as SVG.

    Args:
        scene: of at least one setting that was run.
    """
    return svg(_Drawing(scene), _alt(scene), **scene.size())


def draw_plane(scene: Scene, ax: Axes | None = None) -> Axes:
    """Draw the picture on given axes, or with its lane and words on a figure of its own.

    Args:
        scene: of at least one setting that was run.
        ax: where to draw the plane alone, with the settings' names; None for a fresh figure.

    Returns:
        the axes of the plane.
    """
    from eyelid.plotting import lane_beside, paper_figure

    drawing = _Drawing(scene)
    if ax is not None:
        drawing.plane(ax, [lane_beside(ax)] if scene.nobodys else (), named=True)
        return ax
    size = scene.size()
    with paper_figure(size["width"], size["height"]) as figure:
        grid = figure.subplots(1, size["columns"], squeeze=False, width_ratios=size["ratios"])
        axes: list[Axes] = list(grid.flat)
        drawing(*axes)
    return axes[-2]


def save_plane(scene: Scene, path: Path) -> None:
    """Write the picture to a file: SVG, PDF or PNG, by its ending."""
    from eyelid.engine.atomic import write_file

    check_picture(path)
    if path.suffix.lower() == ".svg":
        write_file(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{plane(scene)}\n')
        return
    write = pdf if path.suffix.lower() == ".pdf" else png
    write_file(path, write(_Drawing(scene), **scene.size()))


def check_picture(path: Path) -> None:
    """Fail unless a picture could be put at ``path``."""
    from eyelid.engine.atomic import check_file

    if path.suffix.lower() not in ENDINGS:
        *others, last = ENDINGS
        raise InputError(
            f"a picture ends in {', '.join(others)} or {last}, got '{path.name}': name it plane.svg"
        )
    check_file(path, ENDINGS)


def caption(scene: Scene) -> str:
    """How to read the picture, beside what it says itself."""
    lines = [
        "Each point is a setting: fewer people are re-identified to the left, more is learned "
        "upwards."
    ]
    if any(len(series.points) > 1 for series in scene.series):
        lines.append("Lines join settings of one mechanism.")
    if scene.nobodys:
        there = "the error is that of a mean" if scene.by_error else "bars are 95% limits"
        lines.append(
            "In the lane at the left no individual records are released, to re-identify people by: "
            f"across it the place means nothing, and {there}."
        )
    if any(point.kind == "none" for _, point in scene.points):
        lines.append("Without a valid guarantee, a low rate of these attackers promises nothing.")
    if scene.left_out:
        lines.append(f"Not drawn, for want of a figure on one axis: {'; '.join(scene.left_out)}.")
    return " ".join([*lines, *scene.remarks])


@dataclass(frozen=True)
class _Drawing:
    """Draws a scene on its axes."""

    scene: Scene

    def __call__(self, *axes: Axes) -> None:
        from eyelid.plotting import Figure, Rectangle

        sheet = axes[-1].figure
        assert isinstance(sheet, Figure), "axes are on a figure of their own"
        # Pasted on a slide of any colour it stays readable.
        sheet.add_artist(
            Rectangle((0, 0), 1, 1, transform=sheet.transFigure, color="white", zorder=-10)
        )
        *lanes, main, side = axes
        self._words(side)
        self.plane(main, lanes)

    def plane(self, main: Axes, lanes: Sequence[Axes] = (), *, named: bool = False) -> None:
        """Draw the plane, and the lane beside it.

        Args:
            main: where the plane goes.
            lanes: where what is nobody's goes; at most one.
            named: whether points have names instead of numbers.
        """
        from eyelid.plotting import Figure

        self._scales(main, lanes)
        self._lines(main)
        # Many upon each other must not hide what is behind.
        soft = min(0.05, 0.6 / max(1, len(self._on(main=True))))
        crowd = self.scene.crowd
        marks, places = [], []
        for series, point in self._on(main=True):
            drawn = _drawn(main, point, series.colour, soft, boxed=point.number not in crowd)
            if point.number not in crowd:
                marks.append((point.name if named else str(point.number), series.colour))
                places.append(drawn)
        hidden = [(p.x.rate, p.y[0]) for _, p in self._on(main=True) if p.x and p.number in crowd]
        if crowd:
            marks.append((f"{ranges(crowd)}\nnear guessing", GREY))
            places.append((fmean(x for x, _ in hidden), fmean(y for _, y in hidden)))
        raw = self.scene.raw
        if raw is not None:
            places.append(_drawn_raw(main, self._shown(raw)))
        for lane in lanes:
            self._lane(lane, named=named)
        sheet = main.figure
        while not isinstance(sheet, Figure):
            sheet = sheet.figure
        sheet.draw_without_rendering()
        words = "raw data, no error" if self.scene.by_error else "raw data"
        marks += [(words, INK)] if raw is not None else []
        labelled(main, places, marks, hidden)

    def _on(self, main: bool) -> list[tuple[Series, Point]]:
        """Points on the plane, or in the lane beside it."""
        return [
            (series, self._shown(point))
            for series, point in self.scene.points
            if (point.x is not None) == main
        ]

    def _shown(self, point: Point) -> Point:
        """An error of 0 lies beyond a logarithmic axis: at its end."""
        if not self.scene.by_error:
            return point
        y = max(point.y[0], self._least_error)
        return replace(point, y=(y, y, y))

    @property
    def _least_error(self) -> float:
        errors = [point.y[0] for _, point in self.scene.points if point.y[0] > 0]
        return min(errors, default=1.0) / 3

    def _scales(self, main: Axes, lanes: Sequence[Axes]) -> None:
        scene = self.scene
        first = lanes[0] if lanes else main
        main.set_xlim(-0.02, 1.02)
        main.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        main.set_xlabel("people re-identified by the strongest attacker  (← more private)")
        if self.scene.by_error:
            errors = [self._shown(point).y[0] for _, point in self.scene.points]
            for axis in (main, *lanes):
                axis.set_yscale("log")
                axis.set_ylim(2 * max(errors, default=1.0), self._least_error / 1.5)
                axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
                axis.yaxis.set_minor_formatter(lambda *_: "")
            first.set_ylabel("error of a value, as a share of its range  (↑ more useful)")
        else:
            shown = [*(point for _, point in self.scene.points)]
            shown += [self.scene.raw] if self.scene.raw is not None else []
            lows = [scene.used_chance, *(point.y[1] for point in shown)]
            highs = [scene.used_chance, *(point.y[2] for point in shown)]
            for axis in (main, *lanes):
                axis.set_ylim(max(-0.02, min(lows) - 0.03), min(1.04, max(highs) + 0.05))
                axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
                axis.axhline(scene.used_chance, color=GREY, lw=0.9, ls=":", zorder=0)
            target = scene.target
            use = scene.concluded or f"windows whose {target} is recognised"
            first.set_ylabel(f"{use}  (↑ more useful)")
            main.annotate(
                "without data" if scene.concluded else f"guessing the {target}",
                (1.0, scene.used_chance),
                xycoords=("axes fraction", "data"),
                xytext=(-2, 2),
                textcoords="offset points",
                fontsize=SMALL,
                color=GREY,
                ha="right",
            )
        if lanes:
            main.tick_params(axis="y", labelleft=False)
        main.axvline(scene.chance, color=GREY, lw=0.9, ls=":", zorder=0)
        main.annotate(
            "guessing who",
            (scene.chance, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -8),
            textcoords="offset points",
            fontsize=SMALL,
            color=GREY,
        )

    def _lines(self, main: Axes) -> None:
        for series in self.scene.series:
            shown = [self._shown(point) for point in series.points if point.x is not None]
            main.plot(
                [point.x.rate for point in shown if point.x is not None],
                [point.y[0] for point in shown],
                color=series.colour,
                ls=series.dash,
                lw=1.1,
                alpha=0.75,
                zorder=2,
            )

    def _lane(self, lane: Axes, *, named: bool) -> None:
        """Where no person's record is there to re-identify: x means nothing."""
        inside = self._on(main=False)
        lane.set_xlim(0, len(inside) + 1)
        lane.set_xticks([])
        lane.set_facecolor("#f4f7f9")
        lane.set_xlabel(_NOBODYS, fontsize=SMALL)
        joined: dict[str, list[tuple[float, float]]] = {}
        for place, (series, point) in enumerate(inside, 1):
            value, low, high = point.y
            lane.plot([place] * 2, [low, high], color=series.colour, lw=5, alpha=0.22, zorder=1)
            _open_ended(lane, place, point, series.colour)
            _mark(lane, place, value, point, series.colour)
            joined.setdefault(series.name, []).append((place, value))
            lane.annotate(
                point.name.replace(", ", "\n") if named else str(point.number),
                (place, max(low, high) if not self.scene.by_error else value),
                xytext=(0, _STUB + 1 if point.one_draw else 6),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
                color=series.colour,
                fontweight="bold",
            )
        for series, _ in inside:
            line = joined.pop(series.name, [])
            xs, ys = [x for x, _ in line], [y for _, y in line]
            lane.plot(xs, ys, color=series.colour, ls=series.dash, lw=1.1, alpha=0.75, zorder=2)

    def _words(self, side: Axes) -> None:
        """Every setting with its promise, beside the plane."""
        scene, columns = self.scene, self.scene.columns
        each = math.ceil(scene.lines / columns)
        side.set_axis_off()
        side.set(xlim=(0, columns), ylim=(scene.deep, 0))
        column, line = 0, 0.5
        for series in scene.series:
            if line > 1 and line + len(series.points) > each + 1 and column < columns - 1:
                column, line = column + 1, 0.5
            _text(side, column + 0.02, line, series.words, color=series.colour, fontweight="bold")
            for point in series.points:
                line += 1
                _mark(side, column + 0.04, line, point, series.colour)
                number = {"color": series.colour, "fontweight": "bold", "ha": "right"}
                _text(side, column + 0.125, line, str(point.number), **number)
                _text(side, column + 0.145, line, point.words)
            line += 1
        line = scene.deep - len(scene.key) - len(scene.remarks) + 0.5
        for marker, hollow, words in scene.key:
            face = "white" if hollow else GREY
            side.plot([0.04], [line], marker, color=GREY, markersize=5, markerfacecolor=face)
            _text(side, 0.09, line, words, color=GREY)
            line += 1
        for remark in scene.remarks:
            _text(side, 0.02, line, remark, color=GREY)
            line += 1


def _text(axis: Axes, x: float, y: float, words: str, **look: Any) -> None:
    axis.text(x, y, words, va="center", fontsize=SMALL, **look).set_in_layout(False)


def _mark(axis: Axes, x: float, y: float, point: Point, colour: str) -> None:
    axis.plot(
        [x],
        [y],
        MARKERS[point.kind][0],
        color=colour,
        markersize=6 if point.kind != "among" else 5,
        markeredgewidth=1.2,
        markerfacecolor="white" if point.hollow else colour,
        zorder=4,
    )


def _open_ended(axis: Axes, x: float, point: Point, colour: str) -> None:
    """Up and down from a point, nobody knows how far."""
    if not point.one_draw:
        return
    for away in (-_STUB, _STUB):
        axis.annotate(
            "",
            (x, point.y[0]),
            xytext=(0, away),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "ls": ":", "lw": 1.2, "color": colour, "alpha": 0.7},
            zorder=2,
        ).set_in_layout(False)


def _drawn(axis: Axes, point: Point, colour: str, soft: float, boxed: bool) -> tuple[float, float]:
    """The region that is sure to hold the truth, softly, and the point that was measured."""
    assert point.x is not None, "it has no place on the plane"
    if boxed:
        _box(axis, point.x, point.y, colour, soft)
        _open_ended(axis, point.x.rate, point, colour)
    _mark(axis, point.x.rate, point.y[0], point, colour)
    return point.x.rate, point.y[0]


def _drawn_raw(axis: Axes, point: Point) -> tuple[float, float]:
    assert point.x is not None, "raw records belong to people"
    _box(axis, point.x, point.y, INK)
    axis.plot([point.x.rate], [point.y[0]], "*", color=INK, markersize=11, zorder=4)
    return point.x.rate, point.y[0]


def _box(
    axis: Axes, x: Rate, y: tuple[float, float, float], colour: str, soft: float = 0.05
) -> None:
    from eyelid.plotting import Rectangle

    _, low, high = y
    if low == high:
        axis.plot([x.low, x.high], [low, low], color=colour, lw=4, alpha=0.2, zorder=1)
        return
    corner, wide, tall = (x.low, low), x.high - x.low, high - low
    axis.add_patch(Rectangle(corner, wide, tall, color=colour, lw=0, alpha=soft, zorder=1))
    edge = Rectangle(corner, wide, tall, fill=False, color=colour, lw=0.6, alpha=0.35, zorder=1)
    axis.add_patch(edge)


def _alt(scene: Scene) -> str:
    """The picture in words."""
    what = "error of a value" if scene.by_error else scene.concluded or f"{scene.target} recognised"
    points = [] if scene.raw is None else [("raw data", scene.raw)]
    points += [(point.name, point) for _, point in scene.points]
    parts = []
    for name, point in points:
        x = "no individual records" if point.x is None else f"{percent(point.x.rate)} re-identified"
        y = f"{coarse(point.y[0])} of the range" if scene.by_error else percent(point.y[0])
        parts.append(f"{name}: {x}, {y}")
    guessing = "" if scene.by_error else f" and {percent(scene.used_chance)}"
    return (
        f"Share re-identified by the strongest attacker against {what}; guessing gives "
        f"{percent(scene.chance)}{guessing}. {'; '.join(parts)}."
    )


def labelled(
    axis: Axes,
    places: Sequence[tuple[float, float]],
    labels: Iterable[tuple[str, str]],
    others: Sequence[tuple[float, float]] = (),
) -> None:
    """Words beside points, where they hide neither points nor each other; a line leads to them."""
    dots = [axis.transData.transform(place) * 72 / axis.figure.dpi for place in (*places, *others)]
    frame = axis.get_window_extent()
    edges = [edge * 72 / axis.figure.dpi for edge in (frame.x0, frame.y0, frame.x1, frame.y1)]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    for place, (x, y), (words, colour) in zip(places, dots, labels, strict=False):
        lines = words.splitlines()
        wide, tall = _LETTER * (max(map(len, lines)) + 1), _TALL * len(lines)
        away = _away(x, y, wide, taken, edges, tall)
        centre = x + away[0], y + away[1]
        taken.append(_around(*centre, wide, tall))
        far = math.hypot(*away) > 1.5 * _REACHES[0] + wide / 2
        axis.annotate(
            words,
            place,
            xytext=away,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=SMALL,
            fontweight="bold",
            color=colour,
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.75, "pad": 0.4, "lw": 0},
            arrowprops={"arrowstyle": "-", "lw": 0.6, "color": colour, "alpha": 0.6, "shrinkB": 3}
            if far
            else None,
        ).set_in_layout(False)


def _away(
    x: float,
    y: float,
    wide: float,
    taken: Sequence[tuple[float, float, float, float]],
    edges: Sequence[float],
    tall: float = _TALL,
) -> tuple[float, float]:
    """The nearest free spot for some words; where there is none, straight above."""
    for reach in _REACHES:
        for turn in range(_DIRECTIONS):
            angle = math.pi / 2 - 2 * math.pi * turn / _DIRECTIONS
            dx = (reach + wide / 2 - _LETTER) * math.cos(angle)
            dy = (reach + (tall - _TALL) / 2) * math.sin(angle)
            left, low, right, high = _around(x + dx, y + dy, wide, tall)
            inside = left > edges[0] and low > edges[1] and right < edges[2] and high < edges[3]
            if inside and not any(
                left < x1 and right > x0 and low < y1 and high > y0 for x0, y0, x1, y1 in taken
            ):
                return dx, dy
    return 0.0, _REACHES[0]


def _around(
    x: float, y: float, wide: float, tall: float = _TALL
) -> tuple[float, float, float, float]:
    return x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2


def ranges(numbers: Sequence[int]) -> str:
    """Numbers that follow each other as one, in short lines.

    >>> ranges([1, 2, 3, 5, 7, 8])
    '1–3, 5, 7, 8'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return textwrap.fill(", ".join(words), _LETTERS_A_LINE)
