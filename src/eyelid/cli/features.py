"""``eyelid features``: from samples to bounded features."""

from __future__ import annotations

from typing import Annotated

import typer

from eyelid.cli.output import In, LedgerFile, Out, say

EXAMPLES = """\b
Examples:
  eyelid features study features
  eyelid features study features --window 10 --step 1"""


def run(
    source: In,
    out: Out,
    kind: Annotated[str, typer.Option(help="What a row is: windows.")] = "windows",
    window: Annotated[float, typer.Option(metavar="S", help="Length of a window.")] = 30.0,
    step: Annotated[float, typer.Option(metavar="S", help="Time between windows.")] = 0.5,
    ledger: LedgerFile = None,
) -> None:
    """Summarise gaze samples as features with public bounds."""
    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown
    from eyelid.errors import InputError, unknown
    from eyelid.gaze.windows import window_features
    from eyelid.io import read, write
    from eyelid.io.origin import origin_of

    if kind != "windows":
        raise unknown("kind of features", kind, ["windows"])
    check_new(out)
    with shown():
        study = read(source)
        own = study.origin.ledger if study.origin else None
        if ledger is not None and own is not None and own.exists():
            raise InputError(f"this study is counted in {own}: leave out --ledger")
        table = window_features(study, window_s=window, step_s=step)
        write(table.study().derive(origin=origin_of(study, source, ledger)), out)
    say(f"{out}: {len(table.features)} features of {len(table.data):,} windows.")
    say(f"Next: eyelid cost {out} --mechanism gaussian --epsilon 1")
