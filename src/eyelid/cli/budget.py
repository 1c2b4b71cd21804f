"""``eyelid budget``: what has been spent on these people."""

from __future__ import annotations

from typing import Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    In,
    Json,
    LedgerFile,
    column_map,
    print_json,
    print_table,
    say,
)

EXAMPLES = """\b
Examples:
  eyelid budget study
  eyelid budget study --limit-epsilon 4 --limit-delta 1e-6"""


def run(
    source: In,
    limit_epsilon: Annotated[
        float | None, typer.Option(help="Refuse releases above this ε per person.")
    ] = None,
    limit_delta: Annotated[
        float | None, typer.Option(help="The δ that goes with it [min(N^-1.5, 1e-6)].")
    ] = None,
    no_limit: Annotated[bool, typer.Option("--no-limit", help="Lift the limit.")] = False,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Show what has been spent on these people, over everything derived from the same study."""
    from eyelid.releases.spending import budget

    state = budget(
        source,
        limit_epsilon=limit_epsilon,
        limit_delta=limit_delta,
        no_limit=no_limit,
        ledger=ledger,
        map=column_map(columns),
    )
    if as_json:
        print_json(state.to_dict())
        return
    rows = [
        (
            d.made_at[:16].replace("T", " "),
            d.mechanism,
            d.what,
            d.people,
            d.guarantee.numbers(),
            "no" if not d.guarantee.holds else "only alone" if d.id in state.undone else "yes",
        )
        for d in state.debits
    ]
    print_table("Releases", ["when", "mechanism", "what", "people", "one person", "holds"], rows)
    say(state.sentence)
