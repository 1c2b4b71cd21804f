"""``eyelid reproduce``: a paper done again, its numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import Json, print_json, print_table, remark, say, show

if TYPE_CHECKING:
    from eyelid.papers.reproduction import Exhibit

EXAMPLES = """\b
Examples:
  eyelid reproduce liu2019
  eyelid reproduce bozkir2021 --data datasets --out tables --fast
  eyelid reproduce davidjohn2022 --data datasets/MPIIDPEye --repeats 100"""


def run(
    paper: Annotated[
        str,
        typer.Argument(metavar="bozkir2021|liu2019|davidjohn2022", show_default=False),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            envvar="EYELID_DATA",
            help="A folder that holds the paper's datasets, or one of them; without, made-up "
            "people stand in.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder [reproduce-PAPER].")
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(help="Noisy runs; the papers have 100 [3, or 1 with --fast]."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Less of everything, in a minute.")] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="bozkir2021: as many windows as the paper looks at; takes hours."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Of noise and of made-up people.")] = 0,
    as_json: Json = False,
) -> None:
    """Do a paper's tables and figures again: printed, ours by its protocol, ours by an honest one.

    Writes a page with all of them, and its numbers as files.
    """
    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown
    from eyelid.papers.catalogue import reproduce
    from eyelid.papers.page import WORDS, write_reproduction
    from eyelid.papers.reproduction import to_dict

    place = Path(f"reproduce-{paper}") if out is None else out
    check_new(place)
    with shown():
        done = reproduce(paper, data=data, repeats=repeats, fast=fast, full=full, seed=seed)
    write_reproduction(done, place)
    if done.data.simulated:
        remark("simulated data: no number that was measured here can be the paper's")
    if as_json:
        print_json(to_dict(done) | {"report": str(place / "report.html")})
        return
    rows = [_row(exhibit) for exhibit in done.exhibits if exhibit.cells]
    print_table("", ["exhibit", "for example", *WORDS.values()], rows)
    show(f"- {finding}" for finding in done.findings)
    for exhibit in done.exhibits:
        if exhibit.not_run:
            remark(f"{exhibit.name} was not run: {exhibit.not_run}")
    say(f"Run on {done.data.name}: {done.data.says}.")
    say(f"Open {place / 'report.html'}")


def _row(exhibit: Exhibit) -> tuple[str, ...]:
    """The most telling number of a table or figure."""
    from eyelid.papers.page import shown

    cell = exhibit.most_telling
    ours = (None if each is None else each.mean for each in (cell.as_printed, cell.honest))
    numbers = (shown(each, exhibit.digits) for each in (cell.printed, *ours))
    return (exhibit.name, f"{cell.row}, {cell.column}", *numbers)
