"""``eyelid recommend``: which release meets your goals, with the command to run."""

from __future__ import annotations

from typing import Annotated

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
    listed,
    print_json,
    remark,
    show,
    working,
)

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
    seed: Annotated[int, typer.Option(metavar="N", help="Of the simulated participants.")] = 0,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find the releases that meet your goals.

    Tried on simulated participants with the public facts of yours, which costs nothing; prints the
    commands. Exit code 1 when nothing meets the goals.
    """
    from eyelid.comparisons.recommend import recommend
    from eyelid.comparisons.recommendation_words import recommendation_lines, untried

    with working(engine, workers, quiet):
        found = recommend(
            source,
            goal or [],
            own=own,
            tuning_epsilon=tuning_epsilon,
            dry_run=dry_run,
            mechanisms=listed(mechanisms) or None,
            ledger=ledger,
            map=column_map(columns),
            seed=seed,
            tell=remark,
        )
        if as_json:
            print_json(found.to_dict())
        else:
            remark(*untried(found))
            show(recommendation_lines(found))
        if found.met is False:
            raise typer.Exit(1)
