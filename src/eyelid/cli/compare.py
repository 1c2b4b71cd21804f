"""``eyelid compare``: mechanisms side by side on the same people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    EngineName,
    In,
    Json,
    MinSeconds,
    People,
    Quiet,
    Workers,
    column_map,
    note,
    print_json,
    print_table,
    say,
    working,
)
from eyelid.errors import InputError

if TYPE_CHECKING:
    from eyelid.comparisons.comparison import Comparison, Row

EXAMPLES = """\b
Examples:
  eyelid compare study --fast
  eyelid compare study --report compare.html --picture plane.png
  eyelid compare study --mechanisms dct,gaussian:record,ksame --epsilons 1,4,16 --sweep k=2,4,8
  eyelid compare features --mechanisms all --attribute gender --repeats 10 --json
  eyelid compare study --mechanisms all --engine dask:tls://scheduler:8786 --report compare.html"""

GOES_ON = "the same command in the same folder goes on where this was stopped"


def run(
    source: In,
    mechanisms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B:UNIT,…|all",
            help="'eyelid mechanisms' lists them; 'A:UNIT' hides another unit [one of each kind].",
        ),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(metavar="E,…", help="Totals for one unit [1,4,16], for those that have an ε."),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=V,…",
            help="Values of a parameter: k of groups, NAME.KEY of one mechanism; repeatable.",
        ),
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="Noisy runs of each [3].")] = None,
    unit: Annotated[
        str | None, typer.Option(help="Whose value is hidden, where it is offered [person].")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="T", help="Use to measure: task, label or attribute [task]."),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of people, that should not be told; repeatable."),
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="A page to read.")] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The plane alone: .svg or .png.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Fewer ε, attackers and runs.")] = False,
    people: People = None,
    min_seconds: MinSeconds = None,
    columns: ColumnMap = None,
    seed: Annotated[int, typer.Option(help="Of noise and of attackers' choices.")] = 0,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Release in many ways without releasing: who is named, what is left, what is promised?

    Nothing is counted. What is stopped goes on with the same command in the same folder.
    """
    from eyelid.comparisons.compare import compare
    from eyelid.comparisons.settings import DEFAULT

    with working(engine, workers, quiet):
        try:
            done = compare(
                source,
                DEFAULT if mechanisms is None else _listed("--mechanisms", mechanisms),
                None if epsilons is None else _numbers("--epsilons", epsilons),
                _swept(sweep),
                repeats,
                unit=unit,
                target=target,
                attributes=attribute or (),
                report=report,
                picture=picture,
                resume=Path() if report is None else report.parent,
                fast=fast,
                map=column_map(columns),
                people=people,
                min_seconds=min_seconds,
                seed=seed,
                tell=lambda told: note(f"eyelid: {told}"),
            )
        except KeyboardInterrupt as stopped:
            stopped.add_note(GOES_ON)
            raise
        if as_json:
            told = {"report": report, "picture": picture}
            print_json(done.to_dict() | {k: v and str(v) for k, v in told.items()})
            return
        _tell(done)
        for remark in done.notes:
            note(f"eyelid: {remark}")
        for path in (report, picture):
            if path is not None:
                say(f"Open {path}")
        if report is None:
            say("A page to read: --report FILE.")


def _listed(option: str, text: str) -> list[str]:
    """Values between commas, none of them empty."""
    values = [part.strip() for part in text.split(",")]
    if not all(values):
        raise InputError(f"{option} takes values with commas between them, got '{text}'")
    return values


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(value) for value in _listed(option, text)]
    except ValueError:
        raise InputError(f"{option} takes numbers with commas between them, got '{text}'") from None


def _swept(pairs: Sequence[str] | None) -> dict[str, list[str]]:
    """``--sweep key=a,b`` as a dictionary; mechanisms make numbers of the values themselves."""
    found: dict[str, list[str]] = {}
    for pair in pairs or ():
        key, separator, values = pair.partition("=")
        # Mechanisms have hyphens in their names, parameters have not.
        mechanism, dot, own = key.strip().rpartition(".")
        key = f"{mechanism}{dot}{own.replace('-', '_')}"
        if not separator or not key:
            raise InputError(f"--sweep takes KEY=VALUE,VALUE,…, got '{pair}'")
        if key in found:
            raise InputError(f"--sweep {key} is given twice: give it once, with all values")
        found[key] = _listed(f"--sweep {key}", values)
    return found


def _tell(done: Comparison) -> None:
    """The figures as a table, and why some have none."""
    from eyelid.spelling import plural

    target, attributes = done.questions.target, done.questions.attributes
    rows = [_row(done, row) for row in (done.raw, *done.ran)]
    guessing = f"guessing: {done.chance:.0%}"
    columns = ["setting", "a person, in total", f"named ({guessing})", "by", "allowed"]
    columns += [f"{target} (guessing: {done.used_chance:.0%})"] if target else []
    columns += [*(f"{name} told" for name in attributes), "error"]
    title = f"{plural(done.people, 'person', 'people')}, {plural(done.repeats, 'run')} of each"
    print_table(f"{title}; limits of 95 %", columns, rows)
    for words in _legend(done):
        say(words)
    for title, reasons in (
        ("Not possible with these data:", {row.name: row.skipped for row in done.skipped}),
        (f"No {target} recognised:", {r.name: r.not_used for r in done.ran if r.not_used}),
    ):
        _tell_reasons(title, reasons)


def _legend(done: Comparison) -> Iterator[str]:
    """What the table's words mean."""
    from eyelid.comparisons.words import attackers_told
    from eyelid.gaze.features.catalogue import most_used

    yield "by: " + "; ".join(attackers_told(done)) + "."
    named = most_used(dict.fromkeys(name for row in done.ran for name in row.errors), 1)
    of = f"of {named[0]}, in its unit" if named else "as a share of a feature’s range"
    yield (
        "allowed: of whoever judges one released record; within chance: above it, as happens. "
        f"error: root mean square {of}; of released means, that of the mean. --json has all."
    )


def _tell_reasons(title: str, reasons: Mapping[str, str]) -> None:
    """Each reason once, in full, with all that it is the reason of."""
    if reasons:
        say(title)
    for why in dict.fromkeys(reasons.values()):
        say(f"  {'; '.join(name for name in reasons if reasons[name] == why)}: {why}")


def _row(done: Comparison, row: Row) -> list[str]:
    from eyelid.comparisons.comparison import total_of
    from eyelid.comparisons.words import use_told
    from eyelid.gaze.features.catalogue import most_used
    from eyelid.releases.rendering import bound
    from eyelid.releases.words import coarse, in_unit

    promise, used = row.promise, row.used(done.used_chance)
    against = done.against_promise(row)
    cells = [
        "raw data" if row.setting is None else row.name,
        "no guarantee" if promise is None else total_of(promise),
        "–" if row.named is None else str(row.named),
        row.attacker or ("no person's name" if row.nobodys else "–"),
        "–"
        if promise is None or row.nobodys
        else ", ".join([bound(promise.bound(done.people)), *([against] if against else [])]),
    ]
    if done.questions.target:
        cells.append("–" if used is None else use_told(done, row))
    for name in done.questions.attributes:
        told = row.told(name)
        public = "public" if row.shows(name) else None
        cells.append(public or ("–" if told is None else f"{told[0]:.0%}"))
    if row.error_of_span is None:
        return [*cells, "–"]
    named = most_used(row.errors, 1)
    return [*cells, in_unit(*row.errors[named[0]]) if named else coarse(row.error_of_span)]
