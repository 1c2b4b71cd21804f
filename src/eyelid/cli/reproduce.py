"""``eyelid reproduce``: a paper done again, its numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import Json, print_json, print_table, remark, say, show

if TYPE_CHECKING:
    from eyelid.papers.reproduction import Exhibit, Reproduction

EXAMPLES = """\b
Examples:
  eyelid reproduce liu2019
  eyelid reproduce bozkir2021 --data datasets --out tables --fast
  eyelid reproduce davidjohn2022 --data datasets/MPIIDPEye --repeats 100
  eyelid reproduce davidjohn2022 --datasets"""


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
            help="A folder that holds the paper's datasets, or one of them; without, simulated "
            "participants stand in.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder [reproduce-PAPER].")
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Noisy runs; the papers have 100 [liu2019: 100, others: 3; 1 with --fast].",
        ),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="Fewer settings, once: about a minute on two idle cores.",
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="bozkir2021, davidjohn2022: all windows that the papers have; takes hours.",
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Of noise and of simulated participants.")
    ] = 0,
    datasets: Annotated[
        bool,
        typer.Option("--datasets", help="Print the paper's datasets and stop."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Reproduce a paper's tables and figures.

    Printed, ours by its protocol, ours leak-free: a page with a verdict on each, and its numbers as
    files.
    """
    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown
    from eyelid.papers.catalogue import reproduce
    from eyelid.papers.page import WORDS, duration, write_reproduction
    from eyelid.papers.reproduction import to_dict

    if datasets:
        _print_datasets(paper, data, as_json)
        return
    place = Path(f"reproduce-{paper}") if out is None else out
    check_new(place)
    with shown():
        done = reproduce(paper, data=data, repeats=repeats, fast=fast, full=full, seed=seed)
    write_reproduction(done, place)
    if done.data.simulated:
        but = f", but for {', '.join(done.recorded)}" if done.recorded else ""
        remark(f"simulated data: no number that was measured here can be the paper's{but}")
    if as_json:
        seconds = round(done.seconds, 1)
        print_json(to_dict(done) | {"seconds": seconds, "report": str(place / "report.html")})
        return
    rows = [_row(exhibit, done) for exhibit in done.exhibits if exhibit.cells]
    print_table("", ["exhibit", "for example", *WORDS.values(), "verdict"], rows)
    show(f"- {finding}" for finding in done.findings)
    for exhibit in done.exhibits:
        if exhibit.not_run:
            remark(f"not run: {exhibit.name}: {exhibit.not_run}")
    say(f"Run on {done.data.name}: {done.data.says}. It took {duration(done.seconds)}.")
    say(f"Open {place / 'report.html'}")


def _row(exhibit: Exhibit, done: Reproduction) -> tuple[str, ...]:
    """The most telling number of a table or figure, and the verdict on all of it."""
    from eyelid.papers.page import as_printed, shown

    cell = exhibit.most_telling
    printed = as_printed(cell.printed, exhibit.digits) + " (inferred)" * bool(cell.inferred)
    rest = (
        shown(None if each is None else each.mean, exhibit.digits)
        for each in (cell.by_protocol, cell.leak_free)
    )
    verdict = "; ".join(answer.words for answer in done.answers_on(exhibit))
    return (exhibit.name, f"{cell.row}, {cell.column}", printed, *rest, verdict)


def _print_datasets(paper: str, data: Path | None, as_json: bool) -> None:
    """The paper's datasets as it prints them, how each is read, and which are at hand."""
    from eyelid.papers.catalogue import datasets_of

    found = [(dataset, dataset.at_hand(data)) for dataset in datasets_of(paper)]
    if as_json:
        print_json(
            {
                "paper": paper,
                "datasets": [
                    vars(dataset) | {"printed": dict(dataset.printed), "at_hand": there}
                    for dataset, there in found
                ],
            }
        )
        return
    heads = list(dict.fromkeys(head for dataset, _ in found for head in dataset.printed))
    rows = [
        (
            dataset.name,
            *(dataset.printed.get(head, "") for head in heads),
            dataset.reading,
            "yes" if there else "no",
        )
        for dataset, there in found
    ]
    print_table("", ["dataset", *heads, "in eyelid", "at hand"], rows)
