"""The privacy–utility plane: who is named against what the data are still good for.

To the left fewer people are named, upwards more is left to learn. Colour tells mechanisms apart,
the marker what kind of promise it is, a number leads to its words: unit, ε, and what that comes to
for a person.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from eyelid.audits.statistics import Rate
from eyelid.comparisons.comparison import Comparison, Promise, Row
from eyelid.comparisons.settings import Setting
from eyelid.errors import InputError
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.unit import PERSON
from eyelid.releases.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL, png, svg
from eyelid.releases.words import coarse, formal_only, percent
from eyelid.spelling import plural

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

ENDINGS = (".svg", ".png")
_REGION = """\
Boxes are made to hold both true values in 95 of 100
such studies: 97.5 % limits, over people and runs."""
_SAME = "A line without dots: always the same answer."
_OPEN = "Dotted: one draw serves everybody, limits unknown."
_GATHERED = "No boxes where many are not told from guessing."

# Okabe & Ito, the lighter ones dark enough for letters; where they come round, so do other dashes.
_COLOURS = (BLUE, ORANGE, GREEN, "#aa4f8f", "#946500", "#3d8fc7", INK)
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.")
# By what is promised: the marker, and what it means.
_MARKERS = {
    "person": ("o", "differential privacy of a person"),
    "smaller": ("s", "differential privacy of less than a person"),
    "among": ("D", "no ε: k-anonymity or deniability"),
    "none": ("X", "faded: no promise that holds, whoever was named"),
}
_FORMAL = "hollow: a person's ε is above 10, formal only"
_NOBODYS = "nobody's\nrecord is\nreleased"
_LINE_INCH, _SIDE_INCH, _LANE_INCH, _PLANE_INCH, _LEAST_INCH = 0.152, 3.3, 0.19, 4.5, 4.4
_LINES_A_COLUMN = 40
# Letters, leaders and open ends beside points, in typographic points.
_LETTER, _TALL, _STUB = 5.0, 8.0, 16.0
# So many that are not told from guessing, and so near to it, share one label.
_CROWD, _NEAR = 4, (0.12, 0.06)
_LETTERS_A_LINE = 24
# How much lighter, or darker, further lines of a mechanism are.
_SHADES = (0.0, 0.3, -0.4, 0.5)
_FADED = 0.5
_REACHES, _DIRECTIONS = (9.0, 14.0, 20.0, 28.0, 37.0, 48.0, 60.0), 24


@dataclass(frozen=True)
class _Point:
    """One setting on the plane.

    Attributes:
        number: that leads to its words.
        row: the setting, and what came of it.
        x: people named; None where nobody's record is released.
        y: what is left, with limits; those of an error are the error itself.
    """

    number: int
    row: Row
    x: Rate | None
    y: tuple[float, float, float]

    @property
    def promise(self) -> Promise:
        assert self.row.promise is not None, "what was run promises something"
        return self.row.promise

    @property
    def kind(self) -> str:
        promised = self.promise.guarantee
        if not promised.holds or (
            promised.kind.differential and math.isinf(promised.epsilon or 0.0)
        ):
            return "none"
        if not promised.kind.differential:
            return "among"
        return "person" if promised.unit == PERSON else "smaller"

    def at_guessing(self, comparison: Comparison) -> bool:
        """Whether it is near to guessing on both axes, and told from it on neither."""
        if self.x is None:
            return False
        off = abs(self.x.rate - comparison.chance), abs(self.y[0] - comparison.used_chance)
        near = off[0] <= _NEAR[0] and off[1] <= _NEAR[1]
        return near and self.x.low <= comparison.chance and not comparison.useful(self.row)

    @property
    def hollow(self) -> bool:
        return self.kind in ("person", "smaller") and formal_only(self.promise.person_level)

    @property
    def words(self) -> str:
        """What sets it apart within its series, and what a person is promised."""
        assert self.row.setting is not None, "only the raw data have none"
        own = _axis(self.row.setting)
        swept = [pair for pair in self.row.setting.parameters if pair[0] == own]
        told = str(Setting("", tuple(swept))).removeprefix(", ")
        total = self.promise.person_level
        said = f"person {total.numbers()}" if total.holds else "no guarantee for a person"
        if total.holds and total.kind is Kind.K_ANONYMITY:
            said = f"person one among {total.k}"
        return f"{told} → {said}".lstrip()


@dataclass(frozen=True)
class _Series:
    """Settings that differ in one number, from the smallest to the largest.

    Attributes:
        name: what they have in common.
        points: of them.
        colour: of the mechanism.
        dash: of the line between points.
    """

    name: str
    points: tuple[_Point, ...]
    colour: str
    dash: Any

    @property
    def words(self) -> str:
        """The mechanism and whose value it hides."""
        first = self.points[0]
        promised = first.promise.guarantee
        own = {"none": "", "among": f", {promised.kind.spoken}"}
        hides = own.get(first.kind, f", hides a {promised.unit}")
        return self.name.removesuffix(f", {promised.unit}") + hides


@dataclass(frozen=True)
class _Scene:
    """Everything that is drawn.

    Attributes:
        comparison: what it is of.
        series: mechanisms with their points.
        raw: the data as they are.
        left_out: run, and not measured on one of the axes.
    """

    comparison: Comparison
    series: tuple[_Series, ...]
    raw: _Point | None
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, comparison: Comparison) -> _Scene:
        rows: dict[Setting, list[Row]] = {}
        left_out = []
        for row in comparison.ran:
            assert row.setting is not None, "only the raw data have none"
            if _point(comparison, row) is None:
                left_out.append(row.name)
            else:
                rows.setdefault(_common(row.setting), []).append(row)
        number = itertools.count(1)
        names = list(dict.fromkeys(common.mechanism for common in rows))
        dashes = dict.fromkeys(names, 0)
        series = []
        for common, own in rows.items():
            turn, colour = divmod(names.index(common.mechanism), len(_COLOURS))
            place = dashes[common.mechanism]
            dash = _DASHES[(turn + place) % len(_DASHES)]
            dashes[common.mechanism] += 1
            found = [_point(comparison, row, next(number)) for row in sorted(own, key=_swept)]
            points = tuple(point for point in found if point is not None)
            shade = _shade(_COLOURS[colour], _SHADES[place % len(_SHADES)])
            shade = _shade(shade, _FADED) if points[0].kind == "none" else shade
            series.append(_Series(str(common), points, shade, dash))
        return cls(comparison, tuple(series), _point(comparison, comparison.raw), tuple(left_out))

    @property
    def points(self) -> Iterator[tuple[_Series, _Point]]:
        return ((series, point) for series in self.series for point in series.points)

    @property
    def nobodys(self) -> int:
        return sum(point.x is None for _, point in self.points)

    @property
    def by_error(self) -> bool:
        return self.comparison.questions.target is None

    @property
    def lines(self) -> int:
        return sum(1 + len(series.points) for series in self.series)

    @property
    def columns(self) -> int:
        return max(1, math.ceil(self.lines / _LINES_A_COLUMN))

    @property
    def deep(self) -> int:
        """Lines of the words, from the first to the last."""
        return math.ceil(self.lines / self.columns) + len(self.key) + len(self.remarks) + 1

    def size(self) -> dict[str, Any]:
        """Of the picture: lane, plane and words side by side."""
        widths = [_PLANE_INCH, _SIDE_INCH * self.columns]
        if self.nobodys:
            widths.insert(0, max(4, self.nobodys + 1) * _LANE_INCH)
        return {
            "height": max(_LEAST_INCH, _LINE_INCH * self.deep),
            "columns": len(widths),
            "ratios": widths,
            "width": sum(widths),
        }

    @property
    def key(self) -> list[tuple[str, bool, str]]:
        """Marker, whether it is hollow, and what that means; of what is there."""
        kinds = {point.kind for _, point in self.points}
        shown = [look for kind, look in _MARKERS.items() if kind in kinds]
        told = [(marker, False, words) for marker, words in shown]
        if any(point.hollow for _, point in self.points):
            told.append(("o", True, _FORMAL))
        if self.raw is not None:
            told.append(("*", False, "the raw data, as people publish them today"))
        return told

    @property
    def remarks(self) -> list[str]:
        """What goes with the picture wherever it is pasted."""
        asked = self.comparison
        made_up = "simulated " if asked.simulated else ""
        whose = plural(asked.people, f"{made_up}person", f"{made_up}people")
        size = f"{whose}, {plural(asked.repeats, 'run')} of each setting."
        if self.by_error:
            return ["Bars: 95 % limits over people and runs.", size]
        told = _REGION.splitlines()
        rows = [point.row for _, point in self.points if point.number not in self.crowd]
        told += [_SAME] if any(row.says_the_same(asked.used_chance) for row in rows) else []
        told += [_OPEN] if any(row.one_draw for row in rows) else []
        told += [_GATHERED] if self.crowd else []
        return [*told, size]

    @cached_property
    def crowd(self) -> tuple[int, ...]:
        """Numbers of those that share one label, at guessing; none where they are few."""
        if self.by_error:
            return ()
        found = [point.number for _, point in self.points if point.at_guessing(self.comparison)]
        return tuple(found) if len(found) >= _CROWD else ()


def plane(comparison: Comparison) -> Markup:
    """The picture as SVG.

    Args:
        comparison: with at least one setting that was run.
    """
    scene = _Scene.of(comparison)
    return svg(_Drawing(scene), _alt(scene), **scene.size())


def save_plane(comparison: Comparison, path: Path) -> None:
    """Write the picture to a file: SVG or PNG, by its ending."""
    from eyelid.engine.atomic import write_file

    check_picture(path)
    if path.suffix.lower() == ".svg":
        write_file(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{plane(comparison)}\n')
        return
    scene = _Scene.of(comparison)
    write_file(path, png(_Drawing(scene), **scene.size()))


def check_picture(path: Path) -> None:
    """Fail unless a picture could be put at ``path``."""
    from eyelid.engine.atomic import check_file

    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"a picture ends in {' or '.join(ENDINGS)}, got '{path.name}': name it plane.svg"
        )
    check_file(path, ENDINGS)


def caption(comparison: Comparison) -> str:
    """How to read the picture, beside what it says itself."""
    scene = _Scene.of(comparison)
    told = ["Each point is a setting: fewer people are named to the left, more is learned upwards."]
    if any(len(series.points) > 1 for series in scene.series):
        told.append("Lines join settings of one mechanism.")
    if scene.nobodys:
        there = "the error is that of a mean" if scene.by_error else "bars are 95 % limits"
        told.append(
            "In the lane at the left nobody’s record is released, so that there is nobody to name: "
            f"across it the place means nothing, and {there}."
        )
    if any(point.kind == "none" for _, point in scene.points):
        told.append(
            "Where no promise holds, that few were named by these attackers promises nothing."
        )
    if scene.left_out:
        told.append(f"Not drawn, for want of a figure on one axis: {'; '.join(scene.left_out)}.")
    return " ".join([*told, *scene.remarks])


def _point(comparison: Comparison, row: Row, number: int = 0) -> _Point | None:
    """Where a row is on the plane; None where it was not measured on both axes."""
    by_error = comparison.questions.target is None
    named, used = row.region(comparison.used_chance)
    if by_error:
        named, error = row.named, row.error_of_span
        if error is None:
            return None
        y = (error,) * 3
    else:
        # Alone on its axis it may have the whole of the 5 %.
        used = row.used(comparison.used_chance) if row.nobodys else used
        if used is None:
            return None
        y = (used.rate,) * 3 if row.one_draw else (used.rate, used.low, used.high)
    if named is None and not row.nobodys:
        return None
    return _Point(number, row, named, y)


def _axis(setting: Setting) -> str | None:
    """The parameter that is swept along a line."""
    given = dict(setting.parameters)
    return next((name for name in ("epsilon", "k") if name in given), None)


def _swept(row: Row) -> float:
    """Where on that line a row is; what is no number comes last."""
    assert row.setting is not None, "only the raw data have none"
    try:
        return float(dict(row.setting.parameters)[_axis(row.setting) or ""])
    except (KeyError, ValueError):
        return math.inf


def _common(setting: Setting) -> Setting:
    """A setting without that."""
    left = [(name, value) for name, value in setting.parameters if name != _axis(setting)]
    return Setting(setting.mechanism, tuple(left))


@dataclass(frozen=True)
class _Drawing:
    """Draws a scene on its axes."""

    scene: _Scene

    def __call__(self, *axes: Axes) -> None:
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle

        sheet = axes[-1].figure
        assert isinstance(sheet, Figure), "axes are on a figure of their own"
        # Pasted on a slide of any colour it stays readable.
        sheet.add_artist(
            Rectangle((0, 0), 1, 1, transform=sheet.transFigure, color="white", zorder=-10)
        )
        *lanes, main, side = axes
        self._scales(main, lanes)
        self._lines(main)
        # Many upon each other must not hide what is behind.
        soft = min(0.05, 0.6 / max(1, len(self._on(main=True))))
        crowd = self.scene.crowd
        marks, places = [], []
        for series, point in self._on(main=True):
            drawn = _drawn(main, point, series.colour, soft, boxed=point.number not in crowd)
            if point.number not in crowd:
                marks.append((str(point.number), series.colour))
                places.append(drawn)
        hidden = [(p.x.rate, p.y[0]) for _, p in self._on(main=True) if p.x and p.number in crowd]
        if crowd:
            marks.append((f"{_ranges(crowd)}\nnear guessing", GREY))
            places.append((fmean(x for x, _ in hidden), fmean(y for _, y in hidden)))
        raw = self.scene.raw
        if raw is not None:
            places.append(_drawn_raw(main, self._shown(raw)))
        for lane in lanes:
            self._lane(lane)
        self._words(side)
        sheet.draw_without_rendering()
        words = "raw data, no error" if self.scene.by_error else "raw data"
        marks += [(words, INK)] if raw is not None else []
        _labelled(main, places, marks, hidden)

    def _on(self, main: bool) -> list[tuple[_Series, _Point]]:
        """Points on the plane, or in the lane beside it."""
        return [
            (series, self._shown(point))
            for series, point in self.scene.points
            if (point.x is not None) == main
        ]

    def _shown(self, point: _Point) -> _Point:
        """An error of 0 lies beyond a logarithmic axis: at its end."""
        if not self.scene.by_error:
            return point
        y = max(point.y[0], self._least_error)
        return _Point(point.number, point.row, point.x, (y, y, y))

    @property
    def _least_error(self) -> float:
        errors = [point.y[0] for _, point in self.scene.points if point.y[0] > 0]
        return min(errors, default=1.0) / 3

    def _scales(self, main: Axes, lanes: Sequence[Axes]) -> None:
        comparison = self.scene.comparison
        first = lanes[0] if lanes else main
        main.set_xlim(-0.02, 1.02)
        main.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        main.set_xlabel("people named by the strongest attacker  (← more private)")
        if self.scene.by_error:
            errors = [self._shown(point).y[0] for _, point in self.scene.points]
            for axis in (main, *lanes):
                axis.set_yscale("log")
                axis.set_ylim(2 * max(errors, default=1.0), self._least_error / 1.5)
                axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
                axis.yaxis.set_minor_formatter(lambda *_: "")
            first.set_ylabel("error of a value, in spans of its bounds  (↑ more useful)")
        else:
            shown = [*(point for _, point in self.scene.points)]
            shown += [self.scene.raw] if self.scene.raw is not None else []
            lows = [comparison.used_chance, *(point.y[1] for point in shown)]
            highs = [comparison.used_chance, *(point.y[2] for point in shown)]
            for axis in (main, *lanes):
                axis.set_ylim(max(-0.02, min(lows) - 0.03), min(1.04, max(highs) + 0.05))
                axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
                axis.axhline(comparison.used_chance, color=GREY, lw=0.9, ls=":", zorder=0)
            target = comparison.questions.target
            first.set_ylabel(f"windows whose {target} is recognised  (↑ more useful)")
            main.annotate(
                f"guessing the {target}",
                (1.0, comparison.used_chance),
                xycoords=("axes fraction", "data"),
                xytext=(-2, 2),
                textcoords="offset points",
                fontsize=SMALL,
                color=GREY,
                ha="right",
            )
        if lanes:
            main.tick_params(axis="y", labelleft=False)
        main.axvline(comparison.chance, color=GREY, lw=0.9, ls=":", zorder=0)
        main.annotate(
            "guessing who",
            (comparison.chance, 1.0),
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

    def _lane(self, lane: Axes) -> None:
        """Where nobody is named because nobody's record is there: x means nothing."""
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
                str(point.number),
                (place, max(low, high) if not self.scene.by_error else value),
                xytext=(0, _STUB + 1 if point.row.one_draw else 6),
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


def _mark(axis: Axes, x: float, y: float, point: _Point, colour: str) -> None:
    axis.plot(
        [x],
        [y],
        _MARKERS[point.kind][0],
        color=colour,
        markersize=6 if point.kind != "among" else 5,
        markeredgewidth=1.2,
        markerfacecolor="white" if point.hollow else colour,
        zorder=4,
    )


def _open_ended(axis: Axes, x: float, point: _Point, colour: str) -> None:
    """Up and down from a point, nobody knows how far."""
    if not point.row.one_draw:
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


def _drawn(axis: Axes, point: _Point, colour: str, soft: float, boxed: bool) -> tuple[float, float]:
    """The region that is sure to hold the truth, softly, and the point that was measured."""
    assert point.x is not None, "it has no place on the plane"
    if boxed:
        _box(axis, point.x, point.y, colour, soft)
        _open_ended(axis, point.x.rate, point, colour)
    _mark(axis, point.x.rate, point.y[0], point, colour)
    return point.x.rate, point.y[0]


def _drawn_raw(axis: Axes, point: _Point) -> tuple[float, float]:
    assert point.x is not None, "raw records are somebody's"
    _box(axis, point.x, point.y, INK)
    axis.plot([point.x.rate], [point.y[0]], "*", color=INK, markersize=11, zorder=4)
    return point.x.rate, point.y[0]


def _box(
    axis: Axes, x: Rate, y: tuple[float, float, float], colour: str, soft: float = 0.05
) -> None:
    from matplotlib.patches import Rectangle

    _, low, high = y
    if low == high:
        axis.plot([x.low, x.high], [low, low], color=colour, lw=4, alpha=0.2, zorder=1)
        return
    corner, wide, tall = (x.low, low), x.high - x.low, high - low
    axis.add_patch(Rectangle(corner, wide, tall, color=colour, lw=0, alpha=soft, zorder=1))
    edge = Rectangle(corner, wide, tall, fill=False, color=colour, lw=0.6, alpha=0.35, zorder=1)
    axis.add_patch(edge)


def _labelled(
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


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers that follow each other as one, in short lines.

    >>> _ranges([1, 2, 3, 5, 7, 8])
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


def _shade(colour: str, lighter: float) -> str:
    """A colour mixed with so much white, or black where it is negative."""
    end = 255 if lighter > 0 else 0
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    mixed = [round(part + abs(lighter) * (end - part)) for part in parts]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _alt(scene: _Scene) -> str:
    """The same in words."""
    comparison = scene.comparison
    what = "error of a value" if scene.by_error else f"{comparison.questions.target} recognised"
    told = [] if scene.raw is None else [("raw data", scene.raw)]
    told += [(point.row.name, point) for _, point in scene.points]
    parts = []
    for name, point in told:
        x = "nobody’s record" if point.x is None else f"{percent(point.x.rate)} named"
        y = f"{coarse(point.y[0])} spans" if scene.by_error else percent(point.y[0])
        parts.append(f"{name}: {x}, {y}")
    guessing = "" if scene.by_error else f" and {percent(comparison.used_chance)}"
    return (
        f"People named by the strongest attacker against {what}; guessing gives "
        f"{percent(comparison.chance)}{guessing}. {'; '.join(parts)}."
    )
