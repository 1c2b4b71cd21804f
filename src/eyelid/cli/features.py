"""``eyelid features``: from samples or fixations to bounded features."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    DetectorSettings,
    EngineName,
    In,
    Json,
    LedgerFile,
    MinSeconds,
    Out,
    People,
    Quiet,
    Workers,
    column_map,
    listed,
    number_or_text,
    print_json,
    print_table,
    remark,
    say,
    settings,
    show,
    working,
)

if TYPE_CHECKING:
    import polars as pl

    from eyelid.io.derivations import DerivedFeatures

EXAMPLES = """\b
Examples:
  eyelid features study features
  eyelid features study features --window 10 --step 1
  eyelid features study saccades --kind saccades
  eyelid features report.csv fixations --kind fixations    a table of fixations
  eyelid features study features --method ivt --set threshold_per_s=30
  eyelid features study features --min-seconds 60
  eyelid features study features --people every-task
  eyelid features study rates --only fixation_rate,blink_rate
  eyelid features features rates --only fixation_rate,blink_rate
  eyelid features recordings features --map 'file={person}_{task}'
  eyelid features study features --engine dask --workers 8
  eyelid features study features --engine dask:tls://scheduler:8786 --quiet --json"""


def run(
    source: In,
    out: Out,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="windows|fixations|saccades",
            help="What a row is [windows; of a table of fixations: fixations].",
        ),
    ] = None,
    window: Annotated[
        float | None, typer.Option(metavar="S", help="Length of a window, in seconds [30].")
    ] = None,
    step: Annotated[
        float | None, typer.Option(metavar="S", help="Time between windows, in seconds [0.5].")
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="The event detector [robust].")
    ] = None,
    setting: DetectorSettings = None,
    min_seconds: MinSeconds = None,
    people: People = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Keep these features; IN may have features already."),
    ] = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Turn gaze or fixations into features.

    52 features of every window, 14 of every fixation or 47 of every saccade (docs/features.md),
    with public bounds; of a table of fixations those that need no samples: 43, 5 and 5.
    Fewer in a release mean less noise on each: --only keeps those that you name. Recordings without
    a whole window, or with fewer than ten samples a second, are left out: they keep one row without
    values, so that their people still count.
    """
    from eyelid.errors import InputError
    from eyelid.gaze.features.catalogue import EVENT_KINDS
    from eyelid.io.derivations import derive_features
    from eyelid.releases.advice import ONE_PERSON, affordable, on
    from eyelid.releases.inspection import fitting_release, table_to_train_on
    from eyelid.spelling import plural

    asked = {"window_s": window, "step_s": step, "method": method}
    chosen_settings = {name: value for name, value in asked.items() if value is not None}
    typed = settings(setting, ("kind", "window", "step", "method", "min_seconds", "only"))
    for name in set(typed) & {"window_s", "step_s"}:
        raise InputError(f"{name} has an option of its own: write --{name[:-2]} {typed[name]}")
    of_detector = {name: number_or_text(value) for name, value in typed.items()}
    if kind in EVENT_KINDS and (window is not None or step is not None):
        raise InputError(f"--window and --step are for windows, not for {kind}: leave them out")
    with working(engine, workers, quiet):
        made = derive_features(
            source,
            out,
            kind,
            listed(only),
            chosen_settings | of_detector,
            map=column_map(columns),
            ledger=ledger,
            min_seconds=min_seconds,
            people=people,
        )
        remark(made.left_out, made.doubt)
        if made.several_stimuli:
            remark(
                "recordings show several stimuli, and rows do not tell which: 'eyelid convert "
                " IN OUT --map task=each-stimulus' makes a recording of each, to start from"
            )
        remark(*_of_fixations(made))
        if as_json:
            print_json(
                {
                    "out": str(out),
                    "people": made.people,
                    "recordings": made.recordings.height,
                    "rows": made.count,
                    "features": [feature.name for feature in made.features],
                    "left_out": made.omitted.to_dict(),
                }
            )
            return
        columns_in_words = ["task", "people", "recordings", made.rows, "in a recording"]
        print_table("", columns_in_words, _counts(made.recordings))
        say(f"{out}: {plural(len(made.features), 'feature')} of {made.count:,} {made.rows}.")
        if made.people < 2:
            say(ONE_PERSON)
            return
        fitting = fitting_release(made.recordings, made.table)
        say(fitting.why)
        show(
            f"Next: {on(command, out, out=f'{out.name}-released')}"
            for command in affordable(fitting.commands, made.table)
        )
        train = table_to_train_on(made.recordings, made.table, quote(str(out)))
        if train:
            say(train.strip())


def _of_fixations(made: DerivedFeatures) -> list[str]:
    """What a table of fixations does not tell, and where that matters."""
    if not made.of_fixations:
        return []
    inside = "spread within fixations, blinks" if made.rows == "windows" else "speeds and spreads"
    found = [f"these are made of fixations: what needs samples is not there ({inside})"]
    if made.empty:
        kept = ",".join(f.name for f in made.features if f.name not in made.empty)
        found.append(
            f"nobody has {', '.join(made.empty)} (the table has no times between fixations, or no "
            f"pupil): leave them out with --only {kept}"
        )
    return found


def _counts(recordings: pl.DataFrame) -> list[tuple[str, int, int, str, str]]:
    """What there is of each task."""
    import polars as pl

    known = pl.col("task").cast(pl.String).replace("", None).fill_null("–")
    named = recordings.with_columns(task=known if "task" in recordings else pl.lit("–"))
    counts = []
    for (task,), done in named.group_by("task", maintain_order=True):
        rows = [count for count in done["rows"] if count]
        each = f"{min(rows):,} to {max(rows):,}" if rows else "–"
        counts.append((str(task), done["person"].n_unique(), done.height, f"{sum(rows):,}", each))
    return counts
