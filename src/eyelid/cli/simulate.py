"""``eyelid simulate``: a study of made-up people."""

from __future__ import annotations

from typing import Annotated

import typer

from eyelid.cli.output import Out, say

EXAMPLES = """\b
Examples:
  eyelid simulate study
  eyelid simulate small --people 5 --tasks comic,image --minutes 1 --rate 250 --seed 7"""


def run(
    out: Out,
    people: Annotated[int, typer.Option(help="How many people.")] = 20,
    tasks: Annotated[
        str,
        typer.Option(help="What they do, separated by commas: comic, newspaper, textbook, image."),
    ] = "comic,newspaper,textbook",
    rate: Annotated[float, typer.Option(metavar="HZ", help="Sampling rate, 30 to 1000.")] = 60.0,
    minutes: Annotated[float, typer.Option(help="Length of a recording, about.")] = 5.0,
    seed: Annotated[int | None, typer.Option(help="Makes the same people again.")] = None,
) -> None:
    """Make a synthetic study folder with ground-truth events."""
    from eyelid.engine.atomic import check_new
    from eyelid.engine.progress import shown
    from eyelid.gaze.simulator import simulate
    from eyelid.io import write
    from eyelid.spelling import plural

    check_new(out)
    names = [name.strip() for name in tasks.split(",") if name.strip()]
    with shown():
        study = simulate(people=people, tasks=names, rate_hz=rate, minutes=minutes, seed=seed)
        write(study, out)
    made_up = plural(people, "made-up person", "made-up people")
    say(f"{out}: {made_up}, {plural(len(names), 'task')} each, {len(study.data):,} samples.")
    say(f"Next: eyelid inspect {out}")
