"""``eyelid simulate``: a study of simulated participants."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from eyelid.cli.output import EngineName, Out, Quiet, Workers, listed, say, working

EXAMPLES = """\b
Examples:
  eyelid simulate study
  eyelid simulate small --people 5 --tasks comic,image --minutes 1 --rate 250 --seed 7
  eyelid simulate many --people 100000 --tasks comic --minutes 0.5 --engine dask"""


def run(
    out: Out,
    people: Annotated[int, typer.Option(metavar="N", help="How many people.")] = 20,
    tasks: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="What they do, separated by commas: comic, newspaper, textbook, image.",
        ),
    ] = "comic,newspaper,textbook",
    rate: Annotated[float, typer.Option(metavar="HZ", help="Sampling rate, 30 to 1000.")] = 60.0,
    minutes: Annotated[
        float, typer.Option(metavar="M", help="Length of a recording, about.")
    ] = 5.0,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Makes the same people again.")
    ] = None,
    offset: Annotated[
        float,
        typer.Option(
            metavar="DEG",
            help="How far recorded gaze is off, on average over people; each in a direction of "
            "their own that lasts.",
        ),
    ] = 0.8,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Make a study of simulated participants.

    A study folder with ground-truth events. Nobody in it exists.
    """
    from eyelid.io.simulation import write_simulated
    from eyelid.spelling import plural

    names = listed(tasks) or []
    with working(engine, workers, quiet):
        samples = write_simulated(out, people, names, rate, minutes, seed, offset_deg=offset)
        participants = plural(people, "simulated participant")
        say(f"{out}: {participants}, {plural(len(names), 'task')} each, {samples:,} samples.")
        say(f"Next: eyelid inspect {quote(str(out))}")
