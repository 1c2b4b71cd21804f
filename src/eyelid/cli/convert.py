"""``eyelid convert``: any recording, scrubbed, in a form to work with."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    EngineName,
    In,
    Json,
    LedgerFile,
    Out,
    People,
    Quiet,
    SkipUnreadable,
    Workers,
    column_map,
    print_findings,
    print_json,
    remark,
    say,
    working,
)

EXAMPLES = """\b
Examples:
  eyelid convert export.tsv study
  eyelid convert recordings study --map 'file={person}_{task}' --map people=people.csv
  eyelid convert trials.csv trials --ledger recordings.ledger    people that it counts already
  eyelid convert recordings dataset --to bids --units deg \\
              --map screen_m=0.53x0.30,distance_m=0.65
  eyelid convert trials.csv study --map person=subject,task=condition --features features.csv
      features.csv: name,unit,lower,upper,definition (a row a trial)
  eyelid convert gaze.csv study --map header=no,time=1,time_unit=s,x=2,y=3,units=px
  eyelid convert recordings study --map 'file={person}_{task}' --people @consented.txt
  eyelid convert recordings study --map 'file={person}_{task}' --engine dask --workers 8
  eyelid convert study dataset --to bids --engine dask:tls://scheduler:8786"""


def run(
    source: In,
    out: Out,
    to: Annotated[str, typer.Option(metavar="study|bids|csv", help="What to write.")] = "study",
    columns: ColumnMap = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Make a study of features of a table: csv or TOML with name, unit, lower, upper, "
            "definition.",
        ),
    ] = None,
    units: Annotated[
        str | None, typer.Option(metavar="deg", help="Turn places on a screen into degrees.")
    ] = None,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Leave the names of people as they are.")
    ] = False,
    skip_unreadable: SkipUnreadable = False,
    people: People = None,
    ledger: LedgerFile = None,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Turn recordings into a scrubbed study.

    Clocks start at 0, people get pseudonyms, dates, serial numbers, paths and messages stay behind.
    The gaze itself is not protected: that is what release is for. A conversion that was stopped
    resumes when it is rerun.
    """
    from dataclasses import asdict

    from eyelid.io.convert import convert
    from eyelid.mechanisms.certificate import by_data
    from eyelid.spelling import plural

    with working(engine, workers, quiet):
        done = convert(
            source,
            out,
            to,
            column_map(columns),
            features=features,
            ledger=ledger,
            units=units,
            keep_names=keep_names,
            skip_unreadable=skip_unreadable,
            people=people,
        )
        head = done.head
        if by_data(head.chosen):
            remark(
                "people were chosen by their data: who they are is not protected in "
                "releases, and certificates say so"
            )
        remark(*head.notes)
        if as_json:
            print_json(
                {
                    "schema": "eyelid/convert/1",
                    "to": to,
                    "out": str(out),
                    "people": len(head.people),
                    "people_renamed": done.people_renamed,
                    "recordings": done.recordings,
                    "rows": done.rows,
                    "people_chosen": list(head.chosen),
                    "removed": [asdict(finding) for finding in done.removed],
                    "notes": list(head.notes),
                }
            )
            return
        if done.removed:
            print_findings("Left behind", done.removed)
        written = plural(len(head.people), "person", "people")
        recordings = plural(done.recordings, "recording")
        say(f"{out}: {written}, {recordings}, {plural(done.rows, 'row')}.")
        if done.people_renamed:
            book = head.origin.ledger if head.origin else None
            say(f"{done.people_renamed} got pseudonyms, which the ledger {book} keeps.")
        if to == "study":
            say(f"Next: eyelid inspect {quote(str(out))}")
