"""``eyelid features``: from samples to bounded features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import ColumnMap, In, LedgerFile, Out, column_map, note, print_table, say

if TYPE_CHECKING:
    from eyelid.gaze.table import FeatureTable

EXAMPLES = """\b
Examples:
  eyelid features study features
  eyelid features study features --window 10 --step 1
  eyelid features study saccades --kind saccades
  eyelid features recordings features --map 'file={person}_{task}'"""


def run(
    source: In,
    out: Out,
    kind: Annotated[
        str, typer.Option(metavar="windows|fixations|saccades", help="What a row is.")
    ] = "windows",
    window: Annotated[
        float | None, typer.Option(metavar="S", help="Length of a window [30].")
    ] = None,
    step: Annotated[
        float | None, typer.Option(metavar="S", help="Time between windows [0.5].")
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="The event detector [robust].")
    ] = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
) -> None:
    """Summarise gaze samples as features with public bounds.

    52 features of every window, 14 of every fixation or 47 of every saccade (docs/features.md).
    """
    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown
    from eyelid.errors import InputError, unknown
    from eyelid.gaze.features import event_features, window_features
    from eyelid.gaze.features.catalogue import EVENT_KINDS
    from eyelid.gaze.sampling import slow_sampling
    from eyelid.io import write
    from eyelid.io.intake import counted, read_scrubbed

    asked = {"window_s": window, "step_s": step, "method": method}
    settings: dict[str, Any] = {k: value for k, value in asked.items() if value is not None}
    if kind not in ("windows", *EVENT_KINDS):
        raise unknown("kind of features", kind, ["windows", *EVENT_KINDS])
    if kind != "windows" and (window is not None or step is not None):
        raise InputError(f"--window and --step are for windows, not for {kind}: leave them out")
    check_new(out)
    with shown():
        study = read_scrubbed(source, column_map(columns))
        if kind == "windows":
            table = window_features(study, **settings)
        else:
            table = event_features(study, kind, **settings)
        write(counted(table.study(), source, ledger), out)
    if doubt := slow_sampling(study):
        note(f"eyelid: {doubt}")
    print_table("", ["task", "people", "recordings", kind, "in a recording"], _counts(table))
    say(f"{out}: {len(table.features)} features of {len(table.data):,} {kind}.")
    say(f"Next: eyelid cost {out} --mechanism gaussian --epsilon 1")


def _counts(table: FeatureTable) -> list[tuple[str, int, int, str, str]]:
    """What there is of each task."""
    tasks: dict[str, list[dict[str, Any]]] = {}
    for recording in table.recordings.iter_rows(named=True):
        tasks.setdefault(recording.get("task") or "–", []).append(recording)
    counts = []
    for task, recordings in tasks.items():
        people = {recording["person"] for recording in recordings}
        rows = [recording["rows"] for recording in recordings]
        each = f"{min(rows):,} to {max(rows):,}"
        counts.append((task, len(people), len(rows), f"{sum(rows):,}", each))
    return counts
