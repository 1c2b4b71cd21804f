"""``eyelid compare``: mechanisms side by side on the same people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from eyelid.cli.output import (
    MORE,
    ColumnMap,
    EngineName,
    In,
    Json,
    MinSeconds,
    People,
    Quiet,
    Verbose,
    Workers,
    column_map,
    print_json,
    remark,
    say,
    show,
    working,
)
from eyelid.errors import InputError

EXAMPLES = """\b
Examples:
  eyelid compare study --fast
  eyelid compare study --report compare.html --picture plane.png
  eyelid compare study --mechanisms dct,gaussian:record,ksame --epsilons 1,4,16 --sweep k=2,4,8
  eyelid compare study --mechanisms ksame,groupmean --utility contrasts
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
    repeats: Annotated[
        int | None, typer.Option(metavar="N", help="Noisy runs of each [3].")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="UNIT", help="Whose value is hidden, where it is offered [person]."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="T", help="Use to measure: task, label or attribute [task]."),
    ] = None,
    utility: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who recognises it: forest, svm, logistic; or, of tasks, what a study concludes: "
            "contrasts, sizes, relations.",
        ),
    ] = "forest",
    attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of people, that should stay hidden; repeatable."),
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="A page to read.")] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The plane alone: .svg or .png.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Fewer ε, attackers and runs.")] = False,
    people: People = None,
    min_seconds: MinSeconds = None,
    columns: ColumnMap = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of noise and of attackers' choices.")] = 0,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Compare mechanisms by privacy and utility.

    Releases in many ways without releasing; nothing is counted. What is stopped resumes when rerun
    in the same folder.
    """
    from eyelid.comparisons.compare import compare
    from eyelid.comparisons.settings import DEFAULT
    from eyelid.reporting.comparisons.page import findings
    from eyelid.reporting.comparisons.words import comparison_lines

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
                utility=utility,
                attributes=attribute or (),
                report=report,
                picture=picture,
                resume=Path() if report is None else report.parent,
                fast=fast,
                map=column_map(columns),
                people=people,
                min_seconds=min_seconds,
                seed=seed,
                tell=remark,
            )
        except KeyboardInterrupt as stopped:
            stopped.add_note(GOES_ON)
            raise
        if as_json:
            files = {"report": report, "picture": picture}
            print_json(done.to_dict() | {k: v and str(v) for k, v in files.items()})
            return
        show(findings(done))
        show(comparison_lines(done, verbose=verbose))
        if not verbose:
            say(MORE)
        remark(*done.notes)
        show(f"Open {path}" for path in (report, picture) if path is not None)
        if report is None:
            say("A page to read: --report FILE.")


def _listed(option: str, text: str) -> list[str]:
    """Values between commas, none of them empty."""
    values = [part.strip() for part in text.split(",")]
    if not all(values):
        raise InputError(f"{option} takes values with commas between them, got '{text}'")
    return values


def _numbers(option: str, text: str) -> list[float]:
    values = _listed(option, text)
    try:
        return [float(value) for value in values]
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
