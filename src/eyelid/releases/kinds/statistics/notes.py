"""What the owner should know before paying: by public facts, and of everybody's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from eyelid.gaze.measures.looks import FIRST, WATCHED_MS, WITHIN
from eyelid.gaze.measures.measure import WINDOWS
from eyelid.gaze.study import Study
from eyelid.mechanisms.statistics.ranges import Entry
from eyelid.releases.kinds.statistics.plan import StatisticsDesign
from eyelid.releases.kinds.statistics.questions import Asked
from eyelid.releases.kinds.statistics.survey import Survey

PRIVATE = "from the raw data, never in a release"
"""How a note begins that nobody but the owner may read."""


def public_notes(design: StatisticsDesign, head: Study) -> list[str]:
    """What public facts say of what is asked, for the owner: how long pages and windows are.

    Args:
        design: of the release.
        head: of the study; its rows are not looked at.
    """
    return [*_of_pages(design.asked), *_of_windows(design.asked, head)]


def _of_pages(asked: Asked) -> Iterator[str]:
    """How long pages with areas count, and how to say it."""
    measures = [measure for measure, _ in asked.panel.areas if measure.kind != WITHIN]
    if not measures:
        return
    watched_ms = measures[0].watched_ms
    if watched_ms is not None:
        said = "as you say" if asked.said.seconds else "the planned length of a recording"
        yield (
            f"of each page only the first {watched_ms / 1000:g} s count, {said}: another time is "
            "said by `seconds=…` (--seconds S)"
        )
        return
    kinds = ", ".join(dict.fromkeys(measure.kind for measure in measures if measure.kind != FIRST))
    if kinds:
        yield (
            f"nobody said how long pages are shown: {kinds} are over all the time that a page was "
            "shown to a person; for the same time of everybody say `seconds=…` (--seconds S)"
        )
    if any(measure.kind == FIRST for measure in measures):
        yield (
            "NOBODY SAID HOW LONG PAGES ARE SHOWN: first_look counts those who have not looked "
            f"within the first {WATCHED_MS / 1000:g} s with {WATCHED_MS:g} ms. If pages are "
            "shown for longer, say so: `seconds=15` (--seconds 15)"
        )


def _of_windows(asked: Asked, head: Study) -> Iterator[str]:
    """Which measures are of windows that recordings may be too short for."""
    named = [one for one in asked.panel.measures if one.rows == WINDOWS]
    if not named:
        return
    names, window_s = ", ".join(one.name for one in named), named[0].window_s
    remedy = "`window_s=…` (--window S)"
    if head.planned_ms is None:
        yield (
            f"{names}: over windows of {window_s:g} s. Recordings that are shorter have none, and "
            "people without any count with the middle of the range; shorter windows are said by "
            f"{remedy}"
        )
    elif head.planned_ms < 1000.0 * window_s:
        yield (
            f"{names}: over windows of {window_s:g} s, and recordings are planned to last "
            f"{head.planned_ms / 1000:g} s: people without a window count with the middle "
            f"of the range, and if nobody has one, this is noise alone. Say {remedy}"
        )


def lacking_notes(design: StatisticsDesign, survey: Survey) -> list[str]:
    """How many people have no number, and which way they pull results, for the owner alone.

    Args:
        design: of the release.
        survey: everybody's numbers.
    """
    everybody, found = len(design.asked.people), []
    for entry, count in zip(design.entries, survey.lacking.tolist(), strict=True):
        what = f"{entry.measure}{f' in {entry.task}' if entry.task else ''}"
        if count == everybody:
            found.append(
                f"{PRIVATE}: nobody has a value of {what}, so that what is released of it is noise "
                "alone: leave it out"
            )
        elif count:
            found.append(
                f"{PRIVATE}: {count} of {everybody} people have no {what}, and count with the "
                f"{'0 of no difference' if entry.contrast else 'middle of its range'}. "
                f"{_pulled(entry)}"
            )
    if len(found) > sum(survey.lacking == everybody):
        found.append(
            "to leave such people out is a choice that may be made by what is public alone: see "
            "--people every-task (`people='every-task'`)"
        )
    return found


def _pulled(entry: Entry) -> str:
    """Where results are drawn to by those who have no number."""
    if entry.contrast:
        return "They pull its mean towards 0, and the share of people who are higher towards 0.5"
    middle = float(entry.range.value(0.5))
    unit = "" if entry.unit in ("", "1") else f" {entry.unit}"
    return f"They pull its mean towards {middle:.4g}{unit}, and comparisons towards no difference"
