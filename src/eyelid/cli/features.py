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
  eyelid features study rates --only fixation_rate,blink_rate
  eyelid features features rates --only fixation_rate,blink_rate
  eyelid features recordings features --map 'file={person}_{task}'"""


def run(
    source: In,
    out: Out,
    kind: Annotated[
        str | None,
        typer.Option(metavar="windows|fixations|saccades", help="What a row is [windows]."),
    ] = None,
    window: Annotated[
        float | None, typer.Option(metavar="S", help="Length of a window [30].")
    ] = None,
    step: Annotated[
        float | None, typer.Option(metavar="S", help="Time between windows [0.5].")
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="The event detector [robust].")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Keep these features; IN may have features already."),
    ] = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
) -> None:
    """Summarise gaze samples as features with public bounds.

    52 features of every window, 14 of every fixation or 47 of every saccade (docs/features.md).
    Fewer in a release mean less noise on each: --only keeps those that you name.
    """
    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown
    from eyelid.errors import InputError, unknown
    from eyelid.gaze.features import event_features, window_features
    from eyelid.gaze.features.catalogue import EVENT_KINDS
    from eyelid.gaze.sampling import slow_sampling
    from eyelid.gaze.table import FeatureTable
    from eyelid.io import write
    from eyelid.io.intake import counted, read_scrubbed
    from eyelid.releases.inspection import fitting_release, table_to_train_on
    from eyelid.spelling import plural

    asked = {"window_s": window, "step_s": step, "method": method}
    settings: dict[str, Any] = {k: value for k, value in asked.items() if value is not None}
    rows = kind or "windows"
    if rows not in ("windows", *EVENT_KINDS):
        raise unknown("kind of features", rows, ["windows", *EVENT_KINDS])
    if rows != "windows" and (window is not None or step is not None):
        raise InputError(f"--window and --step are for windows, not for {rows}: leave them out")
    check_new(out)
    with shown():
        study = read_scrubbed(source, column_map(columns))
        there = study.kind == "features"
        if there:
            if only is None or kind is not None or settings:
                raise InputError(f"{source} has features already: choose of them with --only A,B")
            if study.released:
                raise InputError(f"{source} is a release already: choose features before a release")
            table = FeatureTable.of(study)
            rows = "windows" if table.window_ms else "rows"
        elif rows == "windows":
            table = window_features(study, **settings)
        else:
            table = event_features(study, rows, **settings)
        if only is not None:
            table = table.only(*(name.strip() for name in only.split(",") if name.strip()))
        made = write(counted(table.study(), source, ledger), out)
    doubt = None if there else slow_sampling(study)
    if doubt:
        note(f"eyelid: {doubt}")
    print_table("", ["task", "people", "recordings", rows, "in a recording"], _counts(table))
    say(f"{out}: {plural(len(table.features), 'feature')} of {len(table.data):,} {rows}.")
    options, why = fitting_release(made)
    say(why)
    say(f"Next: eyelid cost {out} {options}")
    train = table_to_train_on(made, str(out))
    if train:
        say(train.strip())


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
