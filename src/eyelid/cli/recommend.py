"""``eyelid recommend``: which release meets your goals, with the command to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    EngineName,
    In,
    Json,
    LedgerFile,
    Quiet,
    Workers,
    column_map,
    note,
    print_json,
    print_table,
    say,
    working,
)

if TYPE_CHECKING:
    from eyelid.comparisons.goals import Verdict
    from eyelid.comparisons.recommendation import Recommendation
    from eyelid.comparisons.verdicts import Judged

EXAMPLES = """\b
Examples:
  eyelid recommend study --goal "rank1<=2x" --goal "task>=0.7"
  eyelid recommend study --goal "gender<=0.6" --goal "unit=person" --goal "epsilon<=4"
  eyelid recommend study --goal "rank1<=10%" --goal "k>=4" --goal "error<=0.1" --json
  eyelid recommend study --goal "task>=0.6" --own --tuning-epsilon 2 --dry-run
  eyelid recommend study --goal "rank1<=2x" --engine dask --workers 8"""


def run(
    source: In,
    goal: Annotated[
        list[str] | None,
        typer.Option(
            "--goal",
            metavar="GOAL",
            help="rank1<=2x (times guessing), rank1<=10%, task>=0.7, ATTRIBUTE<=0.6, error<=0.1 "
            "(spans), unit=person, epsilon<=4, delta<=1e-6, k>=4, kind=pure-dp; repeatable.",
        ),
    ] = None,
    own: Annotated[
        bool, typer.Option("--own", help="Choose on your people's data, which costs an ε.")
    ] = False,
    tuning_epsilon: Annotated[
        float | None,
        typer.Option(metavar="E", help="What that costs a person, counted in the ledger."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --own: its price and how sure it can be.")
    ] = False,
    mechanisms: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Try these only [all that hold].")
    ] = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    seed: Annotated[int, typer.Option(help="Of the made-up people.")] = 0,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Search mechanisms and parameters for your goals, and print the commands that meet them.

    Tried on made-up people with the public facts of yours, which costs nothing. Exit code 1 when
    nothing meets the goals.
    """
    from eyelid.comparisons.recommend import recommend

    names = [name.strip() for name in (mechanisms or "").split(",") if name.strip()]
    with working(engine, workers, quiet):
        found = recommend(
            source,
            goal or [],
            own=own,
            tuning_epsilon=tuning_epsilon,
            dry_run=dry_run,
            mechanisms=names or None,
            ledger=ledger,
            map=column_map(columns),
            seed=seed,
            tell=lambda text: note(f"eyelid: {text}"),
        )
        if as_json:
            print_json(found.to_dict())
        else:
            _tell(found)
        if found.met is False:
            raise typer.Exit(1)


def _tell(found: Recommendation) -> None:
    """What was found, for people."""
    say("Goals: " + ", ".join(goal.text for goal in found.goals.asked))
    if found.choice is not None:
        _tell_choice(found)
    elif found.best:
        many = f"{found.studies} made-up studies"
        say(f"{len(found.tried)} releases were tried, the best of them on {many}.")
        _table("These meet all goals on made-up people, the strongest promise first", found.best)
        for one in found.best:
            _tell_one(found, one)
    else:
        _tell_closest(found)
    say()
    for line in found.facts.told(found.goals.attributes):
        say(f"Public facts used: {line}.")
    for remark in found.notes:
        say(remark)


def _tell_choice(found: Recommendation) -> None:
    """What a choice on own data costs, and what it was."""
    from eyelid.spelling import plural

    choice = found.choice
    assert choice is not None, "own data decide"
    say(
        f"Cost: {choice.guarantee.numbers()} for every person. {plural(choice.blocks, 'block')} of "
        f"people vote on {choice.candidates} candidates; if all agree, theirs is chosen with a "
        f"chance of {choice.sure:.0%}."
    )
    if not found.best:
        say("Nothing was run, and nothing counted.")
        return
    say("Counted in the ledger." if found.counted else "No ledger has counted it.")
    for one in found.best:
        if one.figures is not None:
            _table("Chosen; the figures are of made-up people", [one])
        _tell_one(found, one)


def _tell_closest(found: Recommendation) -> None:
    """That nothing meets the goals, what comes closest, and what would have to give."""
    say(f"Nothing meets all goals: {len(found.tried)} releases were tried on made-up people.")
    reasons = {name.partition(",")[0]: why for name, why in found.skipped}
    for name, why in reasons.items():
        note(f"eyelid: {name} was not tried: {why}")
    if found.closest:
        _table("Closest (0: all met, 1: as far off as can be)", found.closest, off=True)
        for one in found.closest:
            missed = "; ".join(f"{v.goal}: {_value(v)}" for v in one.missed)
            say(f"{one.candidate.setting} misses {missed}.")
    for instead in found.instead:
        what = instead.judged
        say()
        say(
            f"Without {' and '.join(instead.without)} this meets the rest: {what.candidate.setting}"
        )
        _tell_one(found, what)


def _table(title: str, rows: Sequence[Judged], off: bool = False) -> None:
    """Candidates side by side."""
    from eyelid.comparisons.comparison import total_of

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
    say()
    print_table(title, columns, shown)


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
    from eyelid.privacy.guarantee import rounded_up

    if verdict.value is None:
        return "nobody's record" if verdict.met else verdict.says or "not so"
    if verdict.low is None or verdict.high is None:
        return rounded_up(verdict.value)
    return f"{verdict.value:.2g} ({verdict.low:.2g}–{verdict.high:.2g})"


def _tell_one(found: Recommendation, one: Judged) -> None:
    """The command, and what it promises and does not."""
    import shlex

    candidate, promise = one.candidate, one.candidate.promise
    say()
    say(f"  {candidate.setting.command(shlex.quote(found.source))}")
    unit = promise.guarantee.unit
    told = f"promises one {unit} {promise.guarantee.numbers()}"
    if unit.name != "person":
        told += f", which is {promise.person_level.numbers()} for one person in total"
    say(f"    {told} ({promise.how})")
    if found.choice is not None:
        say(f"    with this choice {found.with_choice(one).numbers()} in total for one person")
    carried = dict(candidate.setting.parameters).get("carry")
    if carried:
        say(f"    has {carried} of {candidate.shape.features} features; the others are left out")
    if one.figures is not None:
        say(f"    measured on made-up people: {_figures(one)}")
    for verdict in one.verdicts:
        if verdict.says:
            say(f"    {verdict.goal}: {verdict.says}")
    if candidate.unprotected:
        say("    does not protect:")
        for what in candidate.unprotected:
            say(f"      - {what}")


def _figures(one: Judged) -> str:
    """Everything that was measured, asked for or not."""
    from eyelid.releases.words import measured_told, percent

    figures = one.figures
    assert figures is not None, "something was measured"
    parts = [
        "nobody's record to name"
        if one.candidate.nobodys
        else f"named {figures.named}"
        if figures.named
        else "",
        ""
        if figures.used is None
        else f"task recognised {figures.used}, guessing "
        f"{percent(figures.used.chance)}{': carries nothing of it' if one.carries_nothing else ''}",
        ""
        if figures.error is None
        else f"off by {measured_told(figures.errors_in_units, figures.error)}",
    ]
    return ", ".join(part for part in parts if part)
