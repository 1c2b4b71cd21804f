"""Which numbers of each person are asked for, by public facts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.areas import Area
from eyelid.gaze.events import settings_in_words, units_of_gaze
from eyelid.gaze.features.windows import WINDOW_S
from eyelid.gaze.measures.looks import (
    HIT,
    KINDS,
    AreaMeasure,
    Pages,
    area_kind,
    kind_name,
)
from eyelid.gaze.measures.measure import Measure, Measures
from eyelid.gaze.measures.panel import Panel, contrast_of
from eyelid.gaze.study import Study
from eyelid.io.areas import read_pages
from eyelid.io.pieces import StudyInPieces
from eyelid.mechanisms.groups.public_groups import Groups, groups_among
from eyelid.spelling import plural

USUAL = 3
"""Measures that are taken where nobody names any."""
EACH = "each"
FEWEST = 2
_LARGEST_SCREEN = 1 << 20
_MOST_SECONDS = 86_400.0
_USUAL_OF_AREAS = (HIT, "first_look", "dwell")

AreasSaid = Path | str | Mapping[str, Sequence[Area]] | None


@dataclass(frozen=True)
class Questions:
    """What the user wants to know, as they say it.

    Attributes:
        measures: names of measures; of areas their kinds. The usual ones where there are none.
        tasks: names of tasks that are wanted apart, or ``each``; all together by default.
        contrasts: each as ``A-B``.
        areas: of interest, by page, or their file.
        by: public attributes that groups are made by.
        seconds: how long a page with areas counts since it was shown; by default as planned, or
            for all the time that it was shown where nobody planned it.
        window_s: how long windows of gaze are; by default half a minute.
    """

    measures: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    areas: AreasSaid = None
    by: str | None = None
    seconds: float | None = None
    window_s: float | None = None

    def __post_init__(self) -> None:
        if self.seconds is None:
            return
        if self.areas is None:
            raise InputError("seconds say how long a page with areas counts: name areas as well")
        if not 0 < self.seconds <= _MOST_SECONDS:
            raise InputError(
                f"seconds must be above 0 and at most {_MOST_SECONDS:g}, got {self.seconds:g}"
            )


def several(said: str | Sequence[str]) -> tuple[str, ...]:
    """Names, each by itself or all in a text with commas between them.

    >>> several("hit, dwell"), several(["hit", "dwell"])
    (('hit', 'dwell'), ('hit', 'dwell'))
    """
    if isinstance(said, str):
        return tuple(name.strip() for name in said.split(",") if name.strip())
    return tuple(said)


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of whom, settled by public facts.

    Attributes:
        panel: the numbers of each person.
        people: everybody, those who have no number included, in the order of the study.
        groups: who of them is in which.
        tasks: all that the study has.
        said: the questions, with the usual measures by their names where none was named.
        features: all that could be asked of rows, by name.
        events: how events were detected in samples, in words; empty where none were.
    """

    panel: Panel
    people: tuple[str, ...]
    groups: Groups
    tasks: tuple[str, ...]
    said: Questions
    features: tuple[str, ...] = ()
    events: str = ""

    @property
    def sizes(self) -> tuple[tuple[str, int], ...]:
        """Name and people of each group."""
        return tuple(self.groups.people.select("person", "people").rows())


def asked_of(
    cut: StudyInPieces,
    questions: Questions,
    known: Callable[[Measure], bool] = lambda _: True,
    usual: int = USUAL,
) -> Asked:
    """The numbers that the user means; whatever does not fit the study is refused.

    Args:
        cut: the study.
        questions: as they are said.
        known: whether there is a norm for a measure: where none is named, those come first.
        usual: how many are taken where none is named.
    """
    head = cut.head
    people = tuple(head.people["person"].to_list())
    if len(people) < FEWEST:
        raise InputError(
            f"the study has only {plural(len(people), 'person', 'people')}: results are over "
            f"people, at least {FEWEST} of them"
        )
    groups = groups_among(head.people.select("person"), head.people, questions.by)
    tasks = _tasks(cut.recordings)
    pages = _pages(cut, questions.areas)
    measurable = Measures(head, questions.window_s or WINDOW_S)
    of_areas, of_rows = _measures(measurable, questions, pages)
    if pages is None and not of_rows:
        of_rows = measurable.usual(usual, known)
    places = tuple(dict.fromkeys([*(tasks if of_rows else ()), *(pages.areas if pages else ())]))
    contrasts = tuple(contrast_of(contrast, places) for contrast in questions.contrasts)
    for number, pair in enumerate(contrasts):
        if pair in contrasts[:number]:
            raise InputError(f"the contrast {pair[0]}-{pair[1]} is named twice: name it once")
    panel = Panel(
        measures=tuple(of_rows),
        tasks=_apart(questions.tasks, tasks, contrasts),
        contrasts=contrasts,
        areas=tuple(of_areas),
        pages=pages,
    )
    kinds = [kind_name(measure) for measure, _ in of_areas]
    names = dict.fromkeys([*kinds, *(measure.name for measure in of_rows)])
    said = replace(questions, measures=tuple(names), areas=None if pages is None else pages.areas)
    features = measurable.features if of_rows else [feature.name for feature in head.features]
    detected = bool(of_rows) and head.kind == "samples"
    events = settings_in_words(units_of_gaze(head)) if detected else ""
    return Asked(panel, people, groups, tasks, said, tuple(features), events)


def _tasks(recordings: pl.DataFrame) -> tuple[str, ...]:
    """All tasks that any person has, by name: which there are is public, who has which is not."""
    if "task" not in recordings.columns:
        return ("",)
    return tuple(sorted(recordings["task"].fill_null("").unique()))


def _apart(
    wanted: Sequence[str], tasks: Sequence[str], contrasts: Sequence[Any]
) -> tuple[str | None, ...]:
    """Which tasks have numbers of their own; None for all of them together."""
    if not wanted:
        return () if contrasts else (None,)
    if tuple(wanted) == (EACH,):
        return tuple(tasks)
    for task in wanted:
        if task not in tasks:
            raise unknown("task", task, [*filter(None, tasks), EACH])
    if len(set(wanted)) < len(wanted):
        raise InputError(f"each task can be named once, got {', '.join(wanted)}")
    return tuple(wanted)


def _measures(
    measurable: Measures, questions: Questions, pages: Pages | None
) -> tuple[list[tuple[AreaMeasure, str]], list[Measure]]:
    """Measures of areas, each with its page, and measures of rows."""
    named = [name.strip() for name in questions.measures if name.strip()]
    for name in named:
        _check_of_areas(name, measurable.head, pages)
    if pages is None:
        return [], measurable.all_named(named)
    kinds = [name for name in named if _is_of_areas(name)] or ([] if named else [*_USUAL_OF_AREAS])
    said = questions.seconds
    watched_ms = measurable.head.planned_ms if said is None else said * 1000.0
    of_areas = []
    for name in kinds:
        kind, within_s = area_kind(name)
        of_areas += [
            (AreaMeasure(kind, area.name, watched_ms, within_s), page)
            for page, areas in pages.areas.items()
            for area in areas
        ]
    if len(set(of_areas)) < len(of_areas):
        raise InputError(f"each measure of areas can be named once, got {', '.join(kinds)}")
    rest = [name for name in named if name not in kinds]
    return of_areas, measurable.all_named(rest) if rest else []


def _check_of_areas(name: str, head: Study, pages: Pages | None) -> None:
    """Refuse a measure of areas that is named as results name it, or without areas."""
    kind, colon, area = name.partition(":")
    own = [*(feature.name for feature in head.features), *head.people.columns]
    if not _is_of_areas(kind) or kind in own:
        return
    if pages is None:
        raise InputError(f"{kind} is of areas of interest: name them, `areas=…` (--areas FILE)")
    if colon:
        raise InputError(
            f"'{name}' is what results are called: `measures` (--measures) takes {kind} alone, "
            f"which is measured of every area. For '{area}' alone, name it alone in the areas"
        )


def _is_of_areas(name: str) -> bool:
    """Whether a measure is one of areas."""
    return name in KINDS or name.startswith("looked_within")


def _pages(cut: StudyInPieces, areas: AreasSaid) -> Pages | None:
    """The areas by page; None where there are none."""
    if areas is None:
        return None
    head = cut.head
    if head.kind == "features":
        raise InputError(
            "areas of interest need gaze, and this is a study of features: start from the "
            "recordings"
        )
    found = read_pages(areas, cut.stimuli) if isinstance(areas, str | Path) else areas
    if not found:
        raise InputError(
            "areas of interest are of stimuli, and no recording names one: say which column does "
            "(`map='stimulus=COLUMN'`)"
        )
    screen = head.screen
    known = (screen.width_px, screen.height_px) if screen is not None else (None, None)
    # Where nobody said how large the screen is, no look is beside it.
    width_px, height_px = (size or _LARGEST_SCREEN for size in known)
    return Pages(
        {page: tuple(own) for page, own in found.items()}, width_px, height_px, cut.stimuli
    )
