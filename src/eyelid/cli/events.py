"""``eyelid events``: fixations, saccades and blinks of every recording."""

from __future__ import annotations

from typing import Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    In,
    LedgerFile,
    Out,
    column_map,
    print_table,
    say,
    settings,
)

EXAMPLES = """\b
Examples:
  eyelid events study with-events
  eyelid events study with-events --method ivt --set threshold_per_s=30
  eyelid events recordings with-events --method idt --map 'file={person}_{task}'"""


def run(
    source: In,
    out: Out,
    method: Annotated[
        str, typer.Option(metavar="robust|ivt|idt|ek|is5t", help="The detector.")
    ] = "robust",
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the detector (docs/events.md); repeatable.",
        ),
    ] = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
) -> None:
    """Detect fixations, saccades and blinks, and write the study with them.

    They replace any events that the study had.
    """
    import polars as pl

    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown, track
    from eyelid.gaze.events import events_by_recording
    from eyelid.gaze.study import RECORDING_KEY
    from eyelid.io import write
    from eyelid.io.intake import counted, read_scrubbed

    chosen = {name: _number(value) for name, value in settings(setting).items()}
    check_new(out)
    with shown():
        study = read_scrubbed(source, column_map(columns))
        each = events_by_recording(study, method, **chosen)
        total = study.data.select(RECORDING_KEY).n_unique()
        found = study.derive(events=pl.concat(track(each, "detecting", total)))
        write(counted(found, source, ledger), out)
    assert found.events is not None
    per_kind = found.events.group_by("name", maintain_order=True).agg(
        pl.len(), pl.col("duration_ms").median()
    )
    rows = [(name, f"{count:,}", f"{ms:.0f} ms") for name, count, ms in per_kind.iter_rows()]
    print_table("", ["event", "how many", "median duration"], rows)
    say(f"{out}: {len(found.events):,} events of {total} recordings by {method}.")
    say(f"Next: eyelid features {out} features --method {method} (it detects events itself)")


def _number(text: str) -> float | str:
    """A number where it is one; the detector says whether it wants another thing."""
    try:
        return float(text)
    except ValueError:
        return text
