"""A recommendation in words: commands to run, what each promises, and what comes closest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from eyelid.comparisons.goals import Verdict
from eyelid.comparisons.recommendation import Recommendation
from eyelid.comparisons.verdicts import Judged
from eyelid.privacy.guarantee import rounded_up
from eyelid.releases.advice import RESULTS_BELOW
from eyelid.reporting.comparisons.row import total_of
from eyelid.reporting.sentences import measured_in_words, percent
from eyelid.spelling import Table, plural


def recommendation_lines(found: Recommendation) -> Iterator[str | Table]:
    """What was found for the user's goals, for people."""
    yield "Goals: " + ", ".join(goal.text for goal in found.goals.asked)
    if found.facts.people < RESULTS_BELOW:
        source = shlex.quote(found.source)
        yield (
            f"Of {found.facts.people} people the results of the study say more than any dataset: "
            f"'eyelid summary {source} results --epsilon 1 --dry-run' tells how exact they would "
            "be."
        )
    if found.choice is not None:
        yield from _choice(found)
    elif found.best:
        many = f"{found.studies} simulated studies"
        yield f"{len(found.tried)} releases were tried, the best of them on {many}."
        yield from _table(
            "These meet all goals on simulated participants, the strongest promise first",
            found.best,
        )
        for one in found.best:
            yield from _release(found, one)
    else:
        yield from _closest(found)
    yield ""
    for line in found.facts.in_words(found.goals.attributes):
        yield f"Public facts used: {line}."
    yield from found.notes


def untried(found: Recommendation) -> list[str]:
    """Why mechanisms were not tried, a reason of each, where nothing meets all goals."""
    if found.met is not False:
        return []
    reasons = {name.partition(",")[0]: why for name, why in found.skipped}
    return [f"{name} was not tried: {why}" for name, why in reasons.items()]


def _choice(found: Recommendation) -> Iterator[str | Table]:
    """What a choice on own data costs, and what it was."""
    choice = found.choice
    assert choice is not None, "own data decide"
    yield (
        f"Cost: {choice.guarantee.numbers()} for every person. {plural(choice.blocks, 'block')} of "
        f"people vote on {choice.candidates} candidates; if all agree, theirs is chosen with a "
        f"chance of {choice.sure:.0%}."
    )
    if not found.best:
        yield "Nothing was run, and nothing counted."
        return
    yield "Counted in the ledger." if found.counted else "No ledger has counted it."
    for one in found.best:
        if one.figures is not None:
            yield from _table("Chosen; the figures are of simulated participants", [one])
        yield from _release(found, one)


def _closest(found: Recommendation) -> Iterator[str | Table]:
    """That nothing meets the goals, what comes closest, and what would have to give."""
    yield (
        f"Nothing meets all goals: {len(found.tried)} releases were tried on synthetic "
        "participants."
    )
    if found.closest:
        yield from _table("Closest (0: all met, 1: as far off as can be)", found.closest, off=True)
        for one in found.closest:
            missed = "; ".join(f"{v.goal}: {_value(v)}" for v in one.missed)
            yield f"{one.candidate.setting} misses {missed}."
    for instead in found.instead:
        what = instead.judged
        yield ""
        yield (
            f"Without {' and '.join(instead.without)} this meets the rest: {what.candidate.setting}"
        )
        yield from _release(found, what)


def _table(title: str, rows: Sequence[Judged], off: bool = False) -> Iterator[str | Table]:
    """Candidates side by side."""
    goals = [verdict.goal for verdict in rows[0].verdicts]
    shown = [
        (
            one.candidate.setting,
            one.candidate.promise.guarantee.unit,
            total_of(one.candidate.promise),
            *(_cell(verdict) for verdict in one.verdicts),
            *([f"{one.off:.2f}"] if off else []),
        )
        for one in rows
    ]
    columns = ["release", "unit", "one person, in total", *goals, *(["off"] if off else [])]
    yield ""
    yield Table(title, columns, shown)


def _cell(verdict: Verdict) -> str:
    """A goal's figure, and whether it is met."""
    if verdict.low is None and not verdict.says:
        return ("yes" if verdict.met else "NO") + (f": {_value(verdict)}" if verdict.value else "")
    sure = "clearly" if verdict.clearly else "yes" if verdict.met else "NO"
    if verdict.guaranteed:
        sure = "guaranteed"
    return f"{sure}: {_value(verdict)}"


def _value(verdict: Verdict) -> str:
    """A figure with its limits; in words where there is none."""
    if verdict.value is None:
        return "nobody's record" if verdict.met else verdict.says or "not so"
    if verdict.low is None or verdict.high is None:
        return rounded_up(verdict.value)
    return f"{verdict.value:.2g} ({verdict.low:.2g}–{verdict.high:.2g})"


def _release(found: Recommendation, one: Judged) -> Iterator[str]:
    """The command, and what it promises and does not."""
    candidate, promise = one.candidate, one.candidate.promise
    yield ""
    yield f"  {candidate.setting.command(shlex.quote(found.source))}"
    unit = promise.guarantee.unit
    sentence = f"promises one {unit} {promise.guarantee.numbers()}"
    if unit.name != "person":
        sentence += f", which is {promise.person_level.numbers()} for one person in total"
    yield f"    {sentence} ({promise.how})"
    if found.choice is not None:
        yield f"    with this choice {found.with_choice(one).numbers()} in total for one person"
    carried = dict(candidate.setting.parameters).get("carry")
    if carried:
        yield f"    has {carried} of {candidate.facts.features} features; the others are left out"
    if one.figures is not None:
        yield f"    measured on simulated participants: {_figures(one)}"
    for verdict in one.verdicts:
        if verdict.says:
            yield f"    {verdict.goal}: {verdict.says}"
    if candidate.unprotected:
        yield "    does not protect:"
        for what in candidate.unprotected:
            yield f"      - {what}"


def _figures(one: Judged) -> str:
    """Everything that was measured, asked for or not."""
    figures = one.figures
    assert figures is not None, "something was measured"
    parts = [
        "no individual records"
        if one.candidate.nobodys
        else f"re-identified {figures.named}"
        if figures.named
        else "",
        ""
        if figures.used is None
        else f"task recognised {figures.used}, guessing "
        f"{percent(figures.used.chance)}{': carries nothing of it' if one.carries_nothing else ''}",
        ""
        if figures.error is None
        else f"off by {measured_in_words(figures.errors_in_units, figures.error)}",
    ]
    return ", ".join(part for part in parts if part)
