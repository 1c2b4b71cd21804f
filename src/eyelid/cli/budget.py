"""``eyelid budget``: what has been spent on these people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import (
    ColumnMap,
    Json,
    LedgerFile,
    Quiet,
    column_map,
    print_json,
    print_table,
    remark,
    say,
    working,
)
from eyelid.errors import InputError

if TYPE_CHECKING:
    from eyelid.stream.budget import Account

EXAMPLES = """\b
Examples:
  eyelid budget study
  eyelid budget study --limit-epsilon 4 --limit-delta 1e-6
  eyelid budget study --ledger moved/study.ledger   the ledger was moved there
  eyelid budget trials --join samples.ledger        the same people: both are counted together
  eyelid budget trials --apart samples.ledger       the same ids, and other people
  eyelid budget study --lost                        the ledger is lost for good: on, without a total
  eyelid budget anna.budget            what 'eyelid stream --budget anna.budget' has spent"""


def run(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="A study folder, a recording, a folder of recordings, or the budget of a stream.",
            show_default=False,
        ),
    ],
    limit_epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="Refuse releases above this ε per person.")
    ] = None,
    limit_delta: Annotated[
        float | None, typer.Option(metavar="D", help="The δ that goes with it [min(N^-1.5, 1e-6)].")
    ] = None,
    no_limit: Annotated[bool, typer.Option("--no-limit", help="Lift the limit.")] = False,
    join: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER",
            help="A study of the same people, or its ledger: count both together, the same id "
            "being the same person.",
        ),
    ] = None,
    apart: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER", help="A study with the same ids, or its ledger, of other people."
        ),
    ] = None,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost",
            help="Go on after the ledger was lost for good: in a new one, without a total.",
        ),
    ] = False,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show, or limit, what has been spent on people.

    Over everything derived from the same study.
    """
    from eyelid.releases.budget import budget
    from eyelid.stream.budget import is_account, read_account

    if is_account(source):
        given = (limit_epsilon, limit_delta, join, apart, ledger)
        if no_limit or lost or any(each is not None for each in given):
            raise InputError(
                f"{source} is the budget of a stream, whose limit is given where it streams: "
                "eyelid stream --limit"
            )
        with working(quiet=quiet):
            _tell_stream(source, read_account(source), as_json)
        return
    with working(quiet=quiet):
        state = budget(
            source,
            limit_epsilon=limit_epsilon,
            limit_delta=limit_delta,
            no_limit=no_limit,
            join=join,
            apart=apart,
            lost=lost,
            ledger=ledger,
            map=column_map(columns),
        )
        remark(*state.notes)
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
        named = ["when", "mechanism", "what", "people", "one person", "holds"]
        print_table("Releases", named, rows)
        say(state.sentence)


def _tell_stream(path: Path, account: Account, as_json: bool) -> None:
    """What a gatekeeper has spent on one person, as its file says."""
    from eyelid.mechanisms.streams.scene import spoken_units
    from eyelid.privacy.guarantee import epsilon_told
    from eyelid.spelling import plural
    from eyelid.stream.gatekeeper import SEEDED_BEFORE

    if as_json:
        report: dict[str, Any] = {
            "file": str(path),
            "person_epsilon": None if account.seeded else account.person_epsilon,
            "holds": not account.seeded,
            "left_in_order": account.left_in_order is not None,
            "samples": account.taken,
            "filter": account.asked,
            "settings": [vars(regime) for regime in account.regimes],
        }
        print_json(report)
        return
    if account.seeded:
        say(f"No bound on what this person has given away: {SEEDED_BEFORE}.")
        return
    rows = [
        (
            plural(regime.window, "sample"),
            f"{regime.radius:g} {spoken_units(regime.coordinates)}",
            epsilon_told(regime.epsilon),
            epsilon_told(regime.worst),
        )
        for regime in account.regimes
    ]
    print_table("Settings so far", ["any window of", "radius", "at most", "spent, at worst"], rows)
    say(f"Spent on this person, in all: {epsilon_told(account.person_epsilon)}.")
    if account.left_in_order is None and account.taken:
        say(
            "A gatekeeper is at work, or was killed: samples that it may yet release, or never "
            "did, are counted."
        )
