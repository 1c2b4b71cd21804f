"""``eyelid heatmap``: a heatmap of some people that exposes none of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyelid.cli.output import (
    Blur,
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
    Settings,
    Until,
    Workers,
    column_map,
    print_json,
    remark,
    same_command,
    say,
    settings,
    show,
    working,
)

if TYPE_CHECKING:
    from eyelid.releases.kinds.maps.quote import HeatmapPreview
    from eyelid.reporting.release import Release

EXAMPLES = """\b
Examples:
  eyelid heatmap export.tsv out --stimulus page.png --level good --dry-run
  eyelid heatmap export.tsv out --stimulus page.png --level good
  eyelid heatmap study out --stimulus comic --epsilon 1 --blur 1deg
  eyelid heatmap study out --stimulus page --image page.png --at 120,80 --scale 1.5 --level okay
  eyelid heatmap study out --stimulus a.png --stimulus b.png --level good
  eyelid heatmap study out --stimulus clip --every 2 --for 20 --level okay
  eyelid heatmap study out --stimulus page --by gender --level okay
  eyelid heatmap study out --stimulus page --areas areas.json --only areas --level good
  eyelid heatmap crowd out --stimulus page --level good --engine dask:tls://scheduler:8786"""

# What has an option of its own here; the unit is always the person.
_OPTIONS = (
    *("stimulus", "image", "size", "at", "scale", "blur", "weight", "every", "for", "by"),
    *("between", "areas", "only", "figures", "mechanism", "epsilon", "level", "delta"),
    *("grid", "cap", "samples", "ledger", "seed", "map", "card", "engine", "workers"),
)


def run(
    context: typer.Context,
    source: In,
    out: Out,
    stimulus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|PICTURE",
            help="A stimulus by its name in the data, or its picture file; several share ε.",
        ),
    ] = None,
    epsilon: EpsilonOfPerson = None,
    delta: Delta = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="good|okay", help="Instead of --epsilon: good is 1, okay is 3."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Its name [map-grid; map-gaussian for tens of thousands of people].",
        ),
    ] = None,
    grid: Annotated[
        str | None, typer.Option(metavar="WxH", help="Columns and rows of cells, or pixels.")
    ] = None,
    cap: Annotated[
        str | None,
        typer.Option(
            metavar="m|private|paper", help="Most of a person in one cell, for maps of counts."
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(metavar="M", help="Most gaze points of a person, for maps of counts [30]."),
    ] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PNG", help="The picture that was looked at; of several --stimulus one each."
        ),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Its size in px, without a file [the screen].")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="X,Y", help="Where its top left lay, in px of the screen [0,0]."),
    ] = None,
    scale: Annotated[
        float | None, typer.Option(metavar="S", help="px of the screen that one px of it took [1].")
    ] = None,
    blur: Blur = None,
    weight: Annotated[
        str, typer.Option(metavar="count|duration", help="What a look counts: 1, or its seconds.")
    ] = "count",
    every: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="A map of each stretch of time.")
    ] = None,
    until: Until = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="ATTRIBUTE", help="A map for each of two groups, and the difference."),
    ] = None,
    between: Annotated[
        str | None, typer.Option(metavar="A,B", help="Which two values, with --by.")
    ] = None,
    areas: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Areas of interest (JSON): tables, with half of ε."),
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="areas", help="Tables of areas and no map.")
    ] = None,
    figures: Annotated[
        bool,
        typer.Option(
            "--figures",
            help="Also the paper's Figures 2 and 3 of your data, in OUT-figures-not-private: not "
            "private, for you alone.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what it would promise and show; spend nothing."),
    ] = False,
    people: People = None,
    setting: Settings = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    card: CardFile = None,
    seed: Seed = None,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Release a private heatmap.

    Pictures, map.npz, a certificate and a data card. The spending is counted before anything is
    computed, and refused above a limit. A run that was stopped after that resumes when rerun, with
    the same noise.
    """
    from eyelid.errors import unknown
    from eyelid.releases.kinds.maps.view import parsed_place, parsed_size

    if only not in (None, "areas"):
        raise unknown("--only", str(only), ["areas"])
    asked: dict[str, Any] = {
        "stimulus": stimulus,
        "epsilon": epsilon,
        "level": level,
        "mechanism": mechanism,
        "image": image,
        "size": None if size is None else parsed_size(size),
        "at": None if at is None else parsed_place(at),
        "scale": scale,
        "blur": blur,
        "weight": weight,
        "every_s": every,
        "for_s": until,
        "by": by,
        "between": None if between is None else [name.strip() for name in between.split(",")],
        "areas": areas,
        "only_areas": only == "areas",
        "seed": seed,
        "map": column_map(columns),
        "people": people,
        "delta": delta,
        "grid": grid,
        "cap": cap,
        "samples": samples,
        **settings(setting, _OPTIONS),
    }
    with working(engine, workers, quiet):
        if dry_run:
            _preview(source, out, asked, same_command(context, "dry_run"), as_json=as_json)
        else:
            _release(source, out, asked | {"card": card}, ledger, figures=figures, as_json=as_json)


def _preview(source: Path, out: Path, asked: dict[str, Any], same: str, *, as_json: bool) -> None:
    from eyelid.engine.atomic import check_new
    from eyelid.releases.advice import affordable, on
    from eyelid.releases.kinds.maps.quote import heatmap_preview

    check_new(out)
    found = heatmap_preview(source, **asked)
    _remark(found)
    if as_json:
        print_json(found.to_dict())
        return
    say(f"A dry run: nothing was spent or written. It would be: {found.plan.design.in_words}.")
    show((found.protects, *found.says))
    if not found.survey.points:
        return
    expected = found.outlook
    for command in affordable([same], found.study, source):
        if command != same:
            say(f"Next: {on(command, source)}")
        elif expected is not None and expected.likeness.as_good:
            # What is hardly worth its price is not urged.
            say(f"If that is worth its price: {same}")
        else:
            say(f"Next: {same}")


def _release(
    source: Path,
    out: Path,
    asked: dict[str, Any],
    ledger: Path | None,
    *,
    figures: bool,
    as_json: bool,
) -> None:
    from eyelid.privacy.guarantee import large_deltas
    from eyelid.releases.kinds.maps.heatmap import heatmap
    from eyelid.reporting.sentences import in_all, promise_lines

    beside = out.with_name(f"{out.name}-figures-not-private") if figures else None
    done = heatmap(source, out, figures=beside, ledger=ledger, **asked)
    certificate = done.certificate
    _remark(done)
    if beside is not None:
        remark(f"{beside} compares with the raw map and is NOT private: keep it to yourself")
    if not certificate.guarantee.holds:
        remark("this heatmap carries no guarantee")
    if as_json:
        print_json(certificate.to_dict() | {"says": done.worth})
        return
    say(f"{out}: {done.rows}.")
    first, *more = promise_lines(certificate.person_level, form=certificate.form)
    say(done.protects if certificate.person_level.holds else first)
    show(more)
    if certificate.incomplete or len(certificate.ledger) > 1:
        say(in_all(certificate))
    # What is said of the release itself tells of its own δ.
    own = large_deltas(certificate.people, certificate.person_level)
    for line in large_deltas(certificate.people, certificate.total):
        if line not in own:
            say(f"Not protected is {line}.")
    show(done.heatmaps.says)
    say(f"Read {out / 'DATACARD.md'}; the certificate is {out / 'certificate.json'}.")


def _remark(found: Release | HeatmapPreview) -> None:
    """What was taken for granted, and what is for the owner of the data alone."""
    remark(*found.notes)
    remark(*(f"for you alone, not in the files: {text}" for text in found.for_owner))
