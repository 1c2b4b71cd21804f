"""Measures: what one number of a person is, of which feature, and within which bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.events import units_of_gaze
from eyelid.gaze.features.catalogue import most_used
from eyelid.gaze.features.per_event import event_outline
from eyelid.gaze.features.windows import WINDOW_S, window_outline
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable

FEATURES, FIXATIONS, SACCADES, WINDOWS = "features", "fixations", "saccades", "windows"
PEOPLE = "people"
"""A row is a person, and its columns are their attributes, such as a score."""
# What most studies report, first where nobody names any.
_USUAL = ("fixation_duration", "saccade_amplitude", "fixation_rate")
_STATISTICS = ("mean", "median", "share")
_PARTS = re.compile(r"(?P<feature>[^:]+)(?::(?P<statistic>[a-z]+)(?P<limit>[<>].*)?)?")


@dataclass(frozen=True)
class Measure:
    """One number a person, of the rows that they have.

    Attributes:
        feature: of which rows, with the bounds of its definition.
        rows: what a row is: ``features`` (of a study of features), ``fixations``, ``saccades``,
            ``windows``, or ``people``.
        statistic: ``mean``, ``median``, or ``share`` of rows.
        above: of a share, those above a limit; False for those below it.
        limit: of a share.
        window_s: how long windows are, where rows are those.
    """

    feature: Feature
    rows: str
    statistic: str = "mean"
    above: bool = True
    limit: float = 0.0
    window_s: float = WINDOW_S

    @property
    def name(self) -> str:
        """What results call it, and what a person types to get it.

        >>> Measure(Feature("fixation_duration", "ms", "", 50.0, 3000.0), FIXATIONS, "median").name
        'fixation_duration:median'
        """
        if self.statistic == "mean":
            return self.feature.name
        if self.statistic != "share":
            return f"{self.feature.name}:{self.statistic}"
        return f"{self.feature.name}:share{'>' if self.above else '<'}{self.limit:g}"

    @property
    def unit(self) -> str:
        """A share has none."""
        return "1" if self.statistic == "share" else self.feature.unit

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that it can be, for any person."""
        return (0.0, 1.0) if self.is_share else (self.feature.lower, self.feature.upper)

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1 because it is a share of rows."""
        return self.statistic == "share"

    @property
    def is_yes_or_no(self) -> bool:
        """Whether it is 0 or 1 of everybody: a mean over people is then a share of them."""
        return False

    @property
    def definition(self) -> str:
        """What it is, in a few words."""
        what = self.feature.definition or self.feature.name
        if self.is_share:
            side = "above" if self.above else "below"
            return f"share of {self._rows} with {self.feature.name} {side} {self.limit:g}"
        if self.rows == PEOPLE:
            return what
        rows = f"all {self._rows}"
        return f"{self.statistic} over {rows}: {what}"

    @property
    def _rows(self) -> str:
        if self.rows == WINDOWS:
            return f"windows of {self.window_s:g} s"
        return "rows" if self.rows == FEATURES else self.rows

    def of_rows(self) -> pl.Expr:
        """The number of some rows that belong together; null where none of them has a value."""
        value = pl.col(self.feature.name).cast(pl.Float64).fill_nan(None)
        if self.is_share:
            found = (value > self.limit) if self.above else (value < self.limit)
            return found.mean().alias(self.name)
        value = value.clip(self.feature.lower, self.feature.upper)
        return (value.median() if self.statistic == "median" else value.mean()).alias(self.name)


@dataclass(frozen=True, eq=False)
class Measures:
    """What can be measured of the people of a study, by public facts alone.

    Attributes:
        head: of the study; its rows are not looked at.
        window_s: how long windows of gaze are.
    """

    head: Study
    window_s: float = WINDOW_S

    @cached_property
    def features(self) -> dict[str, tuple[str, Feature]]:
        """Every feature by name, with what a row of it is."""
        if self.head.kind == "features":
            outlines = {FEATURES: FeatureTable.outline(self.head)}
        else:
            units_of_gaze(self.head)
            outlines = {rows: event_outline(self.head, rows) for rows in (FIXATIONS, SACCADES)}
            outlines[WINDOWS] = window_outline(self.head, self.window_s)
        attributes = [name for name in self.head.people.columns if name != "person"]
        return {name: (PEOPLE, _attribute(name)) for name in attributes} | {
            feature.name: (rows, feature)
            for rows, outline in reversed(outlines.items())
            for feature in outline.features
            if _is_number(self.head, feature)
        }

    def named(self, name: str) -> Measure:
        """The measure of that name: a feature, or ``FEATURE:median``, ``FEATURE:share>LIMIT``.

        Args:
            name: as it is typed.
        """
        found = _PARTS.fullmatch(name.strip())
        feature, statistic, limit = found.groups() if found else (name, None, None)
        if feature not in self.features:
            raise unknown("measure", str(feature), self.features)
        rows, known = self.features[feature]
        if statistic is None:
            return Measure(known, rows, window_s=self.window_s)
        if statistic not in _STATISTICS:
            raise unknown(f"statistic of {feature}", statistic, _STATISTICS)
        if statistic != "share":
            if limit:
                raise InputError(f"only a share has a limit, got '{name}': leave out '{limit}'")
            return Measure(known, rows, statistic, window_s=self.window_s)
        above = not limit or limit[0] == ">"
        return Measure(known, rows, "share", above, _limit(name, limit), self.window_s)

    def usual(self, many: int, known: Callable[[Measure], bool] = lambda _: True) -> list[Measure]:
        """The measures that most studies report, where nobody names any.

        Args:
            many: how many at most.
            known: whether it is known of a measure how people differ; those come first.
        """
        # How long recordings are planned to be is public.
        features = [name for name, (rows, _) in self.features.items() if self._may_exist(rows)]
        ranked = [name for name in _USUAL if name in features]
        # A feature of windows that averages one of events says the same again.
        rest = [name for name in features if name.removesuffix("_mean") not in ranked]
        others = most_used(rest, len(rest))
        found = [self.named(name) for name in [*ranked, *others]]
        return sorted(found, key=lambda measure: not known(measure))[:many]

    def _may_exist(self, rows: str) -> bool:
        """Whether recordings as long as planned have such rows; attributes have none."""
        planned_ms = self.head.planned_ms
        if rows == PEOPLE:
            return False
        return rows != WINDOWS or planned_ms is None or planned_ms >= 1000.0 * self.window_s

    def all_named(self, names: Sequence[str]) -> list[Measure]:
        """Measures by their names, each once."""
        found = [self.named(name) for name in names]
        for number, measure in enumerate(found):
            if measure in found[:number]:
                raise InputError(f"the measure {measure.name} is named twice: name it once")
        return found


def _attribute(name: str) -> Feature:
    """An attribute of people: nothing says what it can be, but a norm of one's own."""
    return Feature(name, "1", f"{name}, as people's attributes say", -math.inf, math.inf)


def _is_number(head: Study, feature: Feature) -> bool:
    """Whether a feature is one that can be averaged; what eyelid makes always is."""
    return head.kind != "features" or head.data.schema[feature.name].is_numeric()


def _limit(name: str, text: str | None) -> float:
    """The limit of a share; 0 where none is said."""
    if text is None:
        return 0.0
    try:
        return float(text[1:])
    except ValueError:
        raise InputError(
            f"the limit of a share must be a number, such as fixation_duration:share>300, got "
            f"'{name}'"
        ) from None
