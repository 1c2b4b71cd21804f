"""``eyelid convert``: any recording, scrubbed, in a form to work with."""

from __future__ import annotations

from typing import Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    In,
    Json,
    LedgerFile,
    Out,
    column_map,
    note,
    print_findings,
    print_json,
    say,
)

EXAMPLES = """\b
Examples:
  eyelid convert export.tsv study
  eyelid convert recordings study --map 'file={person}_{task}' --map people=people.csv
  eyelid convert recordings dataset --to bids --units deg
              --map screen_m=0.53x0.30,distance_m=0.65
  eyelid convert gaze.csv study --map header=no,time=1,time_unit=s,x=2,y=3,units=px"""


def run(
    source: In,
    out: Out,
    to: Annotated[str, typer.Option(metavar="study|bids|csv", help="What to write.")] = "study",
    columns: ColumnMap = None,
    units: Annotated[
        str | None, typer.Option(metavar="deg", help="Turn places on a screen into degrees.")
    ] = None,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Leave the names of people as they are.")
    ] = False,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Leave out files that cannot be read.")
    ] = False,
    ledger: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Write recordings anew, without what gives people away besides their gaze.

    Clocks start at 0, people get pseudonyms, dates, serial numbers, paths and messages stay behind.
    The gaze itself is not protected: that is what release is for.
    """
    from dataclasses import asdict

    from eyelid.engine.progress import shown
    from eyelid.io.convert import convert
    from eyelid.spelling import plural

    with shown():
        done = convert(
            source,
            out,
            to,
            column_map(columns),
            ledger=ledger,
            units=units,
            keep_names=keep_names,
            skip_unreadable=skip_unreadable,
        )
    study = done.study
    for remark in study.notes:
        note(f"eyelid: {remark}")
    if as_json:
        print_json(
            {
                "schema": "eyelid/convert/1",
                "to": to,
                "people": len(study.people),
                "people_renamed": done.people_renamed,
                "rows": len(study.data),
                "removed": [asdict(finding) for finding in done.removed],
                "notes": list(study.notes),
            }
        )
        return
    if done.removed:
        print_findings("Left behind", done.removed)
    people = plural(len(study.people), "person", "people")
    say(f"{out}: {people}, {plural(len(study.data), 'row')}.")
    if done.people_renamed:
        book = study.origin.ledger if study.origin else None
        say(f"{done.people_renamed} got pseudonyms, which the ledger {book} keeps.")
    if to == "study":
        say(f"Next: eyelid inspect {out}")
