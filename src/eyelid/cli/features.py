"""``eyelid features``: from samples to bounded features."""

from __future__ import annotations

from typing import Annotated

import typer

from eyelid.cli.output import ColumnMap, In, LedgerFile, Out, column_map, say

EXAMPLES = """\b
Examples:
  eyelid features study features
  eyelid features study features --window 10 --step 1
  eyelid features recordings features --map 'file={person}_{task}'"""


def run(
    source: In,
    out: Out,
    kind: Annotated[str, typer.Option(help="What a row is: windows.")] = "windows",
    window: Annotated[float, typer.Option(metavar="S", help="Length of a window.")] = 30.0,
    step: Annotated[float, typer.Option(metavar="S", help="Time between windows.")] = 0.5,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
) -> None:
    """Summarise gaze samples as features with public bounds."""
    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown
    from eyelid.errors import unknown
    from eyelid.gaze.windows import window_features
    from eyelid.io import write
    from eyelid.io.intake import counted, read_scrubbed

    if kind != "windows":
        raise unknown("kind of features", kind, ["windows"])
    check_new(out)
    with shown():
        table = window_features(
            read_scrubbed(source, column_map(columns)), window_s=window, step_s=step
        )
        write(counted(table.study(), source, ledger), out)
    say(f"{out}: {len(table.features)} features of {len(table.data):,} windows.")
    say(f"Next: eyelid cost {out} --mechanism gaussian --epsilon 1")
