"""``eyelid audit``: how identifiable is this, and does a release keep its promise?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from eyelid.cli.output import (
    MORE,
    ColumnMap,
    EngineName,
    Json,
    LedgerFile,
    MinSeconds,
    People,
    Quiet,
    Verbose,
    Workers,
    column_map,
    listed,
    print_json,
    remark,
    say,
    show,
    working,
)
from eyelid.spelling import Table

EXAMPLES = """\b
Examples:
  eyelid audit study
  eyelid audit features private
  eyelid audit export.tsv heatmap
  eyelid audit study gaze
  eyelid audit features private --attackers means,forest --report audit.html --json
  eyelid audit recordings --map 'file={person}_{task}' --report risk.html
  eyelid audit study private --engine dask --workers 8"""


def run(
    original: Annotated[
        Path,
        typer.Argument(
            metavar="ORIGINAL",
            help="The study folder, recordings or features that were or may be released.",
            show_default=False,
        ),
    ],
    released: Annotated[
        Path | None,
        typer.Argument(metavar="RELEASED", help="What was released of it.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A page to read [RELEASED-audit/report.html]."),
    ] = None,
    attackers: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Who attacks (docs/audit.md) [all].")
    ] = None,
    protocols: Annotated[
        str | None, typer.Option(metavar="P,Q,…", help="How, e.g. 'raw->release' [all].")
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(metavar="T,…", help="Use to measure: task, attribute, label [task, labels]."),
    ] = None,
    people: People = None,
    min_seconds: MinSeconds = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the attackers' choices.")] = 0,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Attack data, or a release, as an adversary would.

    With one argument: how identifiable is this now? With two: what does the release still show,
    and is its certificate contradicted (exit code 1)? What is found is written into RELEASED-audit
    beside it, for you alone: it is made of raw data.
    """
    from eyelid.releases.audits.audit import audit
    from eyelid.reporting.audits.audit_json import UNCOVERED

    with working(engine, workers, quiet):
        done = audit(
            original,
            released,
            report=report,
            attackers=listed(attackers or None),
            protocols=listed(protocols or None),
            targets=listed(targets or None),
            map=column_map(columns),
            ledger=ledger,
            seed=seed,
            people=people,
            min_seconds=min_seconds,
        )
        remark(*done.target.remarks, *done.not_tried, done.unwritten)
        if as_json:
            print_json(done.to_dict())
        else:
            say(done.verdict if verbose else done.headline)
            show(part for part in done.lines() if verbose or isinstance(part, Table))
            if not verbose:
                say(MORE)
            _point_to(done.written, UNCOVERED)
            if done.people is not None:
                say("This names people: it is for the owner's eyes.")
        if done.refuted:
            raise typer.Exit(1)


def _point_to(written: Sequence[Path], uncovered: str) -> None:
    """Where the page is, and what not to share."""
    pages = [path for path in written if path.suffix != ".json"]
    say(f"Read {pages[0]}. {uncovered}" if pages else "A page to read: --report FILE.")
    beside = [path.parent for path in written if path.name == "audit.json"]
    if beside:
        say(f"Share the release alone: {beside[0]} is made of raw data, for you alone.")
