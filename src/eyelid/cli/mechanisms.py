"""``eyelid mechanisms``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from eyelid.cli.output import Json, print_json, print_table, say

EXAMPLES = """\b
Examples:
  eyelid mechanisms
  eyelid mechanisms laplace"""


def run(
    name: Annotated[str | None, typer.Argument(help="One mechanism, in full.")] = None,
    as_json: Json = False,
) -> None:
    """List the mechanisms; with a name, show its parameters, its proof note and its paper."""
    import inspect

    from eyelid.mechanisms import catalogue, describe, find

    kinds = [find(name)] if name else list(catalogue().values())
    facts = [describe(kind) for kind in kinds]
    if as_json:
        print_json({"mechanisms": facts})
        return
    if name is None:
        rows = [
            (f["name"], f["takes"], ", ".join(f["units"]), f["kind"], "yes" if f["holds"] else "no")
            for f in facts
        ]
        print_table("", ["name", "takes", "units", "kind", "holds"], rows)
        say()
        # A column would cut them, and what they differ in comes last.
        for kind in kinds:
            first, *_ = (inspect.getdoc(kind) or "").splitlines()
            say(f"{kind.name}: {first}")
        return
    say(f"{facts[0]['name']}\n")
    say(inspect.getdoc(kinds[0]) or "")
    parameters = [
        (p["name"], "needed" if p["required"] else p["default"] or "–", p["help"])
        for p in facts[0]["parameters"]
    ]
    print_table("", ["parameter", "default", "what"], parameters)
    say("For release also: keep=COLUMN,… (attributes of people to release as they are).")
    say(f"What to expect of it: eyelid cost --mechanism {facts[0]['name']} --epsilon 1 IN")
    say(f"Cite: {facts[0]['paper']}")
