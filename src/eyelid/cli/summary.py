"""``eyelid summary``: the results of a study, private."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import (
    CardFile,
    ColumnMap,
    Delta,
    EngineName,
    EpsilonOfPerson,
    In,
    Json,
    LedgerFile,
    Out,
    People,
    Quiet,
    Seed,
    Workers,
    column_map,
    listed,
    print_json,
    remark,
    same_command,
    say,
    show,
    working,
)

if TYPE_CHECKING:
    from eyelid.reporting.statistics.results import Results

EXAMPLES = """\b
Examples:
  eyelid summary study results --epsilon 1 --dry-run
  eyelid summary study results --epsilon 1
  eyelid summary study results --contrast comic-newspaper --epsilon 2
  eyelid summary study results --measures fixation_duration,fixation_duration:median \\
      --by gender --epsilon 2
  eyelid summary trials results --measures reading_rate,skipping --activity silent-reading \\
      --epsilon 1
  eyelid summary study results --areas areas.json --measures hit,first_look,dwell \\
      --seconds 15 --epsilon 1
  eyelid summary study results --measures fixation_duration --want width=0.5 --epsilon 1 \\
      --dry-run"""


def run(
    context: typer.Context,
    source: In,
    out: Out,
    measures: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Features, or FEATURE:median, FEATURE:share>LIMIT; of areas hit, first_look, "
            "dwell, revisits, looked_within_2s [the usual three].",
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(metavar="A,B|each", help="Tasks that are wanted apart [all together]."),
    ] = None,
    areas: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Areas of interest on pages (JSON)."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="How long a page with areas counts since it was shown [as planned, or all].",
        ),
    ] = None,
    window: Annotated[
        float | None, typer.Option(metavar="S", help="Length of windows of gaze, in seconds [30].")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="ATTRIBUTE", help="Results for each value of a public attribute."),
    ] = None,
    contrast: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A-B", help="The difference of two tasks or pages within people; repeatable."
        ),
    ] = None,
    epsilon: EpsilonOfPerson = None,
    delta: Delta = None,
    norms: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Norms of your own, with their source (docs/norms.md)."),
    ] = None,
    activity: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What people did, for norms that fit: silent-reading, search, …"
        ),
    ] = "any",
    primary: Annotated[
        str | None, typer.Option(metavar="A,B", help="Measures that get half of ε to themselves.")
    ] = None,
    want: Annotated[
        str | None,
        typer.Option(
            metavar="width=W", help="How many people or which ε an interval of that width takes."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say how exact it would be; measure and spend nothing."),
    ] = False,
    mechanism: Annotated[str, typer.Option(metavar="NAME", help="Its name.")] = "summary-box",
    statistics: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What of which numbers, such as 'mean;superiority': parts with a share of ε each "
            "stand apart by ';' ('eyelid mechanisms summary-box') [by public facts].",
        ),
    ] = None,
    people: People = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    card: CardFile = None,
    seed: Seed = None,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Release the results of a study.

    Estimates with intervals, a figure, tables and methods. Each person gives a few numbers, so that
    twenty people are enough. The spending is counted before anything is computed, and refused above
    a limit. A run that was stopped after that resumes when rerun, with the same noise.
    """
    asked: dict[str, Any] = {
        "measures": listed(measures) or (),
        "tasks": listed(tasks) or (),
        "contrasts": contrast or (),
        "areas": areas,
        "by": by,
        "seconds": seconds,
        "window_s": window,
        "epsilon": epsilon,
        "delta": delta,
        "mechanism": mechanism,
        "statistics": statistics,
        "primary": listed(primary) or (),
        "norms": norms,
        "activity": activity,
        "map": column_map(columns),
        "people": people,
    }
    with working(engine, workers, quiet):
        if dry_run or want is not None:
            _preview(source, out, asked, want, same_command(context, "dry_run"), as_json=as_json)
        else:
            _release(source, out, asked | {"card": card}, ledger, seed, as_json=as_json)


def _preview(
    source: Path, out: Path, asked: dict[str, Any], want: str | None, same: str, *, as_json: bool
) -> None:
    from eyelid.engine.atomic import check_new
    from eyelid.releases.kinds.statistics.forecast import wanted_width
    from eyelid.releases.kinds.statistics.quote import summary_preview

    check_new(out)
    found = summary_preview(source, width=None if want is None else wanted_width(want), **asked)
    remark(*found.notes)
    if as_json:
        print_json(found.to_dict())
        return
    say("A dry run: nobody was measured, nothing was spent or written.")
    show(found.lines())
    if want is None and not found.refused:
        say(f"Next: {same}")


def _release(
    source: Path,
    out: Path,
    asked: dict[str, Any],
    ledger: Path | None,
    seed: int | None,
    *,
    as_json: bool,
) -> None:
    from eyelid.releases.kinds.statistics.release import summary

    shown: list[str] = []

    def tell(text: str) -> None:
        shown.append(text)
        remark(text)

    done = summary(source, out, ledger=ledger, seed=seed, tell=tell, **asked)
    remark(*done.notes[len(shown) :])
    if not done.certificate.guarantee.holds:
        remark("these results carry no guarantee")
    if as_json:
        print_json(done.certificate.to_dict() | {"rows": done.frame.rows(named=True)})
        return
    _say(done, out)


def _say(done: Results, out: Path) -> None:
    """The results, and what is promised."""
    from eyelid.reporting.sentences import in_all, promise_lines
    from eyelid.reporting.statistics.tables import (
        rows_of,
        shown_columns,
        warnings,
        widths_in_words,
    )
    from eyelid.spelling import Table, plural

    certificate = done.certificate
    many, whose = plural(len(done.frame), "result"), plural(certificate.people, "person", "people")
    say(f"{out}: {many} over {whose}.")
    columns = shown_columns(done.frame)
    show([Table("", columns, rows_of(done.frame, columns))])
    if widths := widths_in_words(done.frame):
        say(widths)
    for warning in warnings(done.frame):
        say(warning)
    show(promise_lines(certificate.person_level, form=certificate.form))
    if certificate.incomplete or len(certificate.ledger) > 1:
        say(in_all(certificate))
    say(
        f"The figure is {out / 'results.svg'}, the paragraph about methods {out / 'methods.md'}; "
        f"read {out / 'DATACARD.md'}."
    )
