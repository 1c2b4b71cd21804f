"""What is asked of everybody: measures, of which tasks or pages, and differences between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.features.per_event import events_and_omissions
from eyelid.gaze.features.windows import windows_and_omissions
from eyelid.gaze.measures.looks import AreaMeasure, Pages
from eyelid.gaze.measures.measure import FEATURES, PEOPLE, WINDOWS, Measure
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable

Floats = NDArray[np.float64]

_SIDES = re.compile(r"\s*-\s*")


@dataclass(frozen=True)
class Column:
    """One number that everybody is asked for.

    Attributes:
        measure: which number.
        place: of which task, or of which page; None over everything that a person did.
        contrast: between which two tasks or pages: the first less the second.
    """

    measure: Measure | AreaMeasure
    place: str | None = None
    contrast: tuple[str, str] | None = None

    @property
    def task(self) -> str:
        """What results say it is of."""
        return " - ".join(self.contrast) if self.contrast else self.place or ""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that it can be by definition."""
        least, most = self.measure.bounds
        return (least - most, most - least) if self.contrast else (least, most)


@dataclass(frozen=True, eq=False)
class Panel:
    """All that is asked of everybody, by public facts alone.

    Attributes:
        measures: of rows.
        tasks: of which tasks each is wanted apart; None over all of them together.
        contrasts: differences between tasks, or between pages that have the same areas.
        areas: measures of areas of interest, each with the page that it is of.
        pages: the areas; None without measures of them.
    """

    measures: tuple[Measure, ...] = ()
    tasks: tuple[str | None, ...] = (None,)
    contrasts: tuple[tuple[str, str], ...] = ()
    areas: tuple[tuple[AreaMeasure, str], ...] = ()
    pages: Pages | None = None

    def __post_init__(self) -> None:
        if not self.columns:
            raise InputError(
                "no measure is asked for: name measures, and tasks, pages or contrasts of them"
            )

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Every number, in order: by measure, tasks before contrasts."""
        own = [
            column
            for measure in self.measures
            for column in (
                *(Column(measure, task) for task in self.tasks),
                *(Column(measure, None, pair) for pair in self.contrasts if pair[0] in self._tasks),
            )
        ]
        pairs = [pair for pair in self.contrasts if pair[0] not in self._tasks]
        there = set(self.areas)
        of_pages = [
            Column(measure, None, pair)
            for measure in dict.fromkeys(measure for measure, _ in self.areas)
            for pair in pairs
            if {(measure, pair[0]), (measure, pair[1])} <= there
        ]
        looks = [] if pairs else [Column(measure, page) for measure, page in self.areas]
        return (*own, *looks, *of_pages)

    @cached_property
    def _tasks(self) -> set[str]:
        """Tasks that a contrast may be between; all others are between pages."""
        pages = {page for _, page in self.areas}
        return {task for pair in self.contrasts for task in pair if task not in pages}

    def values(self, study: Study, people: Sequence[str]) -> Floats:
        """One row for each of some people, one column for each number; NaN where there is none.

        Args:
            study: with the rows of these people, as far as they have any.
            people: whose rows, in order.

        >>> from eyelid.gaze.study import Feature
        >>> rows = {"person": ["a", "a", "b"], "recording": ["1", "2", "1"], "time_ms": 0.0}
        >>> data = pl.DataFrame(rows | {"task": ["x", "y", "x"], "rate": [1.0, 4.0, 2.0]})
        >>> rate, people = Feature("rate", "1/s", "", 0.0, 10.0), data.select("person").unique()
        >>> study = Study("features", data, people, features=(rate,))
        >>> panel = Panel((Measure(rate, "features"),), (None, "x"), (("y", "x"),))
        >>> panel.values(study, ["a", "b"])
        array([[2.5, 1. , 3. ],
               [2. , 2. , nan]])
        """
        cells: dict[tuple[Measure | AreaMeasure, str | None], Floats] = {}
        for rows, window_s in dict.fromkeys((one.rows, one.window_s) for one in self.measures):
            mine = [one for one in self.measures if (one.rows, one.window_s) == (rows, window_s)]
            cells |= self._of_rows(_table(study, rows, window_s), mine, people)
        if self.pages is not None and self.areas:
            seen = self.pages.values(study, people, self.areas)
            cells |= {where: seen[:, n] for n, where in enumerate(self.areas)}
        found = np.full((len(people), len(self.columns)), np.nan)
        for number, column in enumerate(self.columns):
            sides = column.contrast or (column.place,)
            values = [cells[column.measure, side] for side in sides]
            found[:, number] = values[0] - values[1] if column.contrast else values[0]
        return found

    def _of_rows(
        self, data: pl.DataFrame, measures: Sequence[Measure], people: Sequence[str]
    ) -> dict[tuple[Measure | AreaMeasure, str | None], Floats]:
        """The numbers of everybody, by measure and task."""
        wanted = [*self.tasks, *(side for pair in self.contrasts for side in pair)]
        everybody = pl.DataFrame({"person": list(people)}, schema={"person": pl.String})
        task = pl.col("task").fill_null("") if "task" in data.columns else pl.lit("")
        numbers = [measure.of_rows() for measure in measures]
        apart = data.group_by("person", task.alias("task")).agg(numbers)
        found: dict[tuple[Measure | AreaMeasure, str | None], Floats] = {}
        for where in dict.fromkeys(wanted):
            each = (
                data.group_by("person").agg(numbers)
                if where is None or measures[0].rows == PEOPLE
                else apart.filter(pl.col("task") == where)
            )
            beside = everybody.join(each, on="person", how="left", maintain_order="left")
            for measure in measures:
                column = beside[measure.name].cast(pl.Float64)
                found[measure, where] = column.fill_null(np.nan).to_numpy()
        return found


def _table(study: Study, rows: str, window_s: float) -> pl.DataFrame:
    """The rows of some people that measures are made of."""
    if rows == FEATURES:
        return FeatureTable.outline(study).data
    if rows == PEOPLE:
        # What is no number is missing: it is one person's, and refuses nobody's results.
        attributes = pl.exclude("person").cast(pl.String).cast(pl.Float64, strict=False)
        return study.people.select("person", attributes)
    if rows == WINDOWS:
        return windows_and_omissions(study, window_s)[0].data
    return events_and_omissions(study, rows)[0].data


def contrast_of(text: str, places: Sequence[str]) -> tuple[str, str]:
    """Two tasks or pages from ``A-B``, whose names may have hyphens in them.

    Args:
        text: as it was typed.
        places: all tasks, or all pages.

    >>> contrast_of("pre-test - test", ["pre-test", "test"])
    ('pre-test', 'test')
    """
    cuts = [(text[: found.start()], text[found.end() :]) for found in _SIDES.finditer(text)]
    if not cuts:
        raise InputError(f"a contrast is between two tasks, such as A-B, got '{text}'")
    known = {place.strip(): place for place in places}
    pairs = [(one.strip(), other.strip()) for one, other in cuts]
    there = [pair for pair in pairs if pair[0] in known and pair[1] in known]
    if len(there) > 1:
        raise InputError(f"'{text}' can be read in {len(there)} ways: rename a task")
    if not there:
        lacking = next((side for pair in pairs for side in pair if side not in known), text)
        raise unknown("task of a contrast", lacking, [place for place in places if place])
    one, other = (known[side] for side in there[0])
    if one == other:
        raise InputError(f"a contrast of '{one}' with itself is nothing: name two tasks, as A-B")
    return one, other
