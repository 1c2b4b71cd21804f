"""``eyelid demo``: the whole story on simulated participants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eyelid.cli.output import note, print_table, say

EXAMPLES = """\b
Examples:
  eyelid demo
  eyelid demo --out story --fast"""


def run(
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder.")] = Path("demo"),
    fast: Annotated[bool, typer.Option("--fast", help="Fewer people and runs.")] = False,
) -> None:
    """See the whole story, on simulated participants.

    Data, releases, attacks and a report, in under a minute.
    """
    from eyelid.engine.progress import shown
    from eyelid.releases.demo import demo

    with shown():
        story = demo(out, fast=fast, tell=note)
    rows = [(a.name, a.person_level, str(a.identified), str(a.document)) for a in story.attempts]
    columns = ["release", "one person, in total", "re-identified", "document recognised"]
    print_table("", columns, rows)
    say(f"The first release, audited. {story.audit.verdict}")
    say(f"Open {out / 'report.html'}")
