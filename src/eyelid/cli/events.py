"""``eyelid events``: fixations, saccades and blinks of every recording."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    DetectorSettings,
    EngineName,
    In,
    Json,
    LedgerFile,
    Out,
    Quiet,
    Workers,
    column_map,
    number_or_text,
    print_json,
    print_table,
    say,
    settings,
    working,
)

EXAMPLES = """\b
Examples:
  eyelid events study with-events
  eyelid events study with-events --method ivt --set threshold_per_s=30
  eyelid events recordings with-events --method idt --map 'file={person}_{task}'
  eyelid events study with-events --engine dask --workers 8
  eyelid events study with-events --engine dask:tls://scheduler:8786 --quiet --json"""


def run(
    source: In,
    out: Out,
    method: Annotated[
        str, typer.Option(metavar="robust|ivt|idt|ek|is5t", help="The detector.")
    ] = "robust",
    setting: DetectorSettings = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Detect fixations, saccades and blinks.

    Writes the study with them; they replace any events that it had.
    """
    from eyelid.io.detection import derive_events

    chosen = {name: number_or_text(value) for name, value in settings(setting).items()}
    with working(engine, workers, quiet):
        made = derive_events(source, out, method, chosen, map=column_map(columns), ledger=ledger)
        if as_json:
            print_json(
                {
                    "out": str(out),
                    "people": made.people,
                    "recordings": made.recordings,
                    "events": made.events,
                    "kinds": {
                        kind.name: {"events": kind.count, "median_ms": kind.median_ms}
                        for kind in made.kinds
                    },
                }
            )
            return
        rows = [(kind.name, f"{kind.count:,}", f"{kind.median_ms:.0f} ms") for kind in made.kinds]
        print_table("", ["event", "how many", "median duration"], rows)
        say(f"{out}: {made.events:,} events of {made.recordings} recordings by {method}.")
        say(f"Features detect events themselves: name --method {method} there, too.")
        say(f"Next: eyelid inspect {quote(str(out))}")
