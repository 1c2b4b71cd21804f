"""What is drawn on the privacy–utility plane: points, the lines they are on, and their words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eyelid.attacks.statistics import Rate
from eyelid.mechanisms.certificate import Promise
from eyelid.privacy.guarantee import NO_PROTECTION, Kind
from eyelid.privacy.unit import PERSON
from eyelid.reporting.drawing import BLUE, GREEN, INK, ORANGE
from eyelid.reporting.sentences import formal_only
from eyelid.spelling import plural

REGION = """\
Boxes are made to hold both true values in 95 of 100
such studies: 97.5% limits, over people and runs."""
_SAME = "A line without dots: always the same answer."
_OPEN = "Dotted: one draw serves everybody, limits unknown."
_GATHERED = "No boxes where many are not told from guessing."

# Okabe & Ito, the lighter ones dark enough for letters; where they come round, so do other dashes.
_COLOURS = (BLUE, ORANGE, GREEN, "#aa4f8f", "#946500", "#3d8fc7", INK)
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.")
# By what is promised: the marker, and what it means.
MARKERS = {
    "person": ("o", "differential privacy of a person"),
    "smaller": ("s", "differential privacy of less than a person"),
    "among": ("D", "no ε: k-anonymity or deniability"),
    "none": ("X", "faded: no valid guarantee, whatever the rate"),
}
_FORMAL = "hollow: a person's ε is above 10, formal only"
_LINE_INCH, _SIDE_INCH, _LANE_INCH, _PLANE_INCH, _LEAST_INCH = 0.152, 3.3, 0.19, 4.5, 4.4
_LINES_A_COLUMN = 40
# So many that are not told from guessing, and so near to it, share one label.
_CROWD, _NEAR = 4, (0.12, 0.06)
# How much lighter, or darker, further lines of a mechanism are.
_SHADES = (0.0, 0.3, -0.4, 0.5)
_FADED = 0.5


@dataclass(frozen=True)
class Point:
    """One setting on the plane.

    Attributes:
        name: of the setting, for people.
        swept: what sets it apart from others on its line.
        promise: what it promises; None for the raw data.
        x: re-identification rate; None where no person's record is released.
        y: what is left, with limits; those of an error are the error itself.
        one_draw: whether use was tried with a single draw that serves everybody.
        useful: whether it is better than guessing.
        same: whether what learned from it gives always the same answer.
        number: that leads to its words.
    """

    name: str
    swept: str
    promise: Promise | None
    x: Rate | None
    y: tuple[float, float, float]
    one_draw: bool
    useful: bool
    same: bool
    number: int = 0

    @property
    def promised(self) -> Promise:
        """What it promises, where it is not the raw data."""
        assert self.promise is not None, "only the raw data promise nothing"
        return self.promise

    @property
    def kind(self) -> str:
        """The kind of its promise, as `MARKERS` has it."""
        promised = self.promised.guarantee
        if not promised.holds or (
            promised.kind.differential and math.isinf(promised.epsilon or 0.0)
        ):
            return "none"
        if not promised.kind.differential:
            return "among"
        return "person" if promised.unit == PERSON else "smaller"

    def at_guessing(self, chance: float, used_chance: float) -> bool:
        """Whether it is near to guessing on both axes, and told from it on neither.

        Args:
            chance: of re-identifying a person by a guess.
            used_chance: of telling by a guess what the data are used for.
        """
        if self.x is None:
            return False
        off = abs(self.x.rate - chance), abs(self.y[0] - used_chance)
        near = off[0] <= _NEAR[0] and off[1] <= _NEAR[1]
        return near and self.x.low <= chance and not self.useful

    @property
    def hollow(self) -> bool:
        """Whether a person's ε is so large that it says next to nothing."""
        return self.kind in ("person", "smaller") and formal_only(self.promised.person_level)

    @property
    def words(self) -> str:
        """What sets it apart within its series, and what a person is promised."""
        total = self.promised.person_level
        # What protects nobody is drawn as that.
        numbers = total.numbers().replace(NO_PROTECTION, "")
        said = f"person {numbers}" if total.holds else "no guarantee for a person"
        if total.holds and total.kind is Kind.K_ANONYMITY:
            said = f"person one among {total.k}"
        return f"{self.swept} → {said}".lstrip()


@dataclass(frozen=True)
class Series:
    """Settings that differ in one number, from the smallest to the largest.

    Attributes:
        name: what they have in common.
        points: of them.
        colour: of the mechanism.
        dash: of the line between points.
    """

    name: str
    points: tuple[Point, ...]
    colour: str
    dash: Any

    @property
    def words(self) -> str:
        """The mechanism and whose value it hides."""
        first = self.points[0]
        promised = first.promised.guarantee
        own = {"none": "", "among": f", {promised.kind.spoken}"}
        hides = own.get(first.kind, f", hides a {promised.unit}")
        return self.name.removesuffix(f", {promised.unit}") + hides


@dataclass(frozen=True)
class Scene:
    """Everything that is drawn.

    Attributes:
        series: mechanisms with their points.
        raw: the data as they are.
        left_out: run, and not measured on one of the axes.
        target: what the data are used to tell; None where use is told by the error of values.
        chance: of re-identifying a person by a guess.
        used_chance: of telling the target by a guess.
        people: whose data they are.
        repeats: runs of each setting.
        simulated: whether the people are.
        boxes: what they mean, in lines.
        captioned: whether what goes with the picture wherever it is pasted is written on it.
        concluded: what a study concludes, in words, where use is told by that.
    """

    series: tuple[Series, ...]
    raw: Point | None
    left_out: tuple[str, ...]
    target: str | None
    chance: float
    used_chance: float
    people: int
    repeats: int
    simulated: bool
    boxes: str = REGION
    captioned: bool = True
    concluded: str = ""

    @property
    def points(self) -> Iterator[tuple[Series, Point]]:
        """All of them, with their series."""
        return ((series, point) for series in self.series for point in series.points)

    @property
    def nobodys(self) -> int:
        """How many have nobody's record."""
        return sum(point.x is None for _, point in self.points)

    @property
    def by_error(self) -> bool:
        """Whether use is told by the error of values."""
        return self.target is None

    @property
    def lines(self) -> int:
        """How many lines the words beside the plane take."""
        return sum(1 + len(series.points) for series in self.series)

    @property
    def columns(self) -> int:
        """How many columns these words stand in, side by side."""
        return max(1, math.ceil(self.lines / _LINES_A_COLUMN))

    @property
    def deep(self) -> int:
        """Lines of the words, from the first to the last."""
        return math.ceil(self.lines / self.columns) + len(self.key) + len(self.remarks) + 1

    def size(self) -> dict[str, Any]:
        """The size of the picture: lane, plane and words side by side."""
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
        shown = [look for kind, look in MARKERS.items() if kind in kinds]
        entries = [(marker, False, words) for marker, words in shown]
        if any(point.hollow for _, point in self.points):
            entries.append(("o", True, _FORMAL))
        if self.raw is not None:
            entries.append(("*", False, "the raw data, as people publish them today"))
        return entries

    @property
    def remarks(self) -> list[str]:
        """What goes with the picture wherever it is pasted."""
        if not self.captioned:
            return []
        made_up = "simulated " if self.simulated else ""
        whose = plural(self.people, f"{made_up}person", f"{made_up}people")
        size = f"{whose}, {plural(self.repeats, 'run')} of each setting."
        if self.by_error:
            return ["Bars: 95% limits over people and runs.", size]
        lines = self.boxes.splitlines()
        alone = [point for _, point in self.points if point.number not in self.crowd]
        lines += [_SAME] if any(point.same for point in alone) else []
        lines += [_OPEN] if any(point.one_draw for point in alone) else []
        lines += [_GATHERED] if self.crowd else []
        return [*lines, size]

    @cached_property
    def crowd(self) -> tuple[int, ...]:
        """Numbers of those that share one label, at guessing; none where they are few."""
        if self.by_error:
            return ()
        chances = self.chance, self.used_chance
        found = [point.number for _, point in self.points if point.at_guessing(*chances)]
        return tuple(found) if len(found) >= _CROWD else ()


def coloured(lines: Sequence[tuple[str, str, Sequence[Point]]]) -> tuple[Series, ...]:
    """Lines with a colour for each mechanism, whose points are numbered.

    Args:
        lines: of each its mechanism, what its points have in common, and these in their order.
    """
    number = itertools.count(1)
    names = list(dict.fromkeys(mechanism for mechanism, _, _ in lines))
    dashes = dict.fromkeys(names, 0)
    series = []
    for mechanism, name, own in lines:
        turn, colour = divmod(names.index(mechanism), len(_COLOURS))
        place = dashes[mechanism]
        dash = _DASHES[(turn + place) % len(_DASHES)]
        dashes[mechanism] += 1
        points = tuple(replace(point, number=next(number)) for point in own)
        shade = _shade(_COLOURS[colour], _SHADES[place % len(_SHADES)])
        shade = _shade(shade, _FADED) if points[0].kind == "none" else shade
        series.append(Series(name, points, shade, dash))
    return tuple(series)


def _shade(colour: str, lighter: float) -> str:
    """A colour mixed with so much white, or black where it is negative."""
    end = 255 if lighter > 0 else 0
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    mixed = [round(part + abs(lighter) * (end - part)) for part in parts]
    return "#" + "".join(f"{part:02x}" for part in mixed)
