"""``eyelid mechanisms``: the catalogue, and the literature beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import Json, Lines, print_json, print_table, say, show

if TYPE_CHECKING:
    from eyelid.mechanisms import Mechanism
    from eyelid.mechanisms.literature import Published

EXAMPLES = """\b
Examples:
  eyelid mechanisms
  eyelid mechanisms laplace
  eyelid mechanisms --literature"""


def run(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One mechanism, in full.")
    ] = None,
    literature: Annotated[
        bool,
        typer.Option("--literature", help="What was published for eye tracking, and what is true."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the mechanisms, or explain one.

    With a name: its proof note, its parameters, its paper, and what was published of its kind.
    """
    from eyelid.mechanisms import catalogue, describe, find
    from eyelid.mechanisms.literature import LITERATURE, facts, published_as

    kinds = [find(name)] if name else list(catalogue().values())
    rows = published_as(kinds[0].name) if name else list(LITERATURE)
    if as_json:
        print_json(
            {
                "mechanisms": [describe(kind) for kind in kinds],
                "literature": [facts(row) for row in rows],
            }
        )
    elif name:
        _show(kinds[0], rows)
    elif literature:
        _list([kind for kind in kinds if not kind.claims_to_hold], "As published: none is valid")
        say()
        _literature(rows)
    else:
        _list(
            [kind for kind in kinds if kind.claims_to_hold], "Mechanisms whose guarantee is valid"
        )
        say()
        say("One in full: 'eyelid mechanisms NAME'.")
        say("What was published, and what is true of it: 'eyelid mechanisms --literature'.")


def _list(kinds: list[type[Mechanism]], title: str) -> None:
    """Some of the catalogue, a line each."""
    rows = [
        (kind.name, kind.takes, f"{kind.kind}, {kind.units[0]}", kind.note.summary)
        for kind in kinds
    ]
    print_table(title, ["name", "takes", "guarantee, for one", "what it does"], rows)


def _literature(rows: list[Published]) -> None:
    """Table 1 and the poster of David-John et al. 2022, and what is true of them."""
    from eyelid.mechanisms.literature import POSTER

    print_table(
        "Published for eye tracking (Table 1 of David-John et al. 2022, and more of its papers)",
        ["mechanism", "guarantee", "takes", "adaptation to eye tracking"],
        [
            (Lines((r.name, r.source)), r.guarantee, f"{r.data}: {r.input}", r.adaptation)
            for r in rows
        ],
    )
    say()
    print_table(
        "What their poster says of each guarantee",
        ["guarantee", "hides who", "duplicate", "synthetic", "noisy", "utility lost"],
        [
            (
                f.name,
                *map(_answer, (f.reidentification, f.duplicate, f.synthetic, f.noisy)),
                f.utility,
            )
            for f in POSTER
        ],
    )
    say()
    print_table(
        "What is true of it, and what eyelid has",
        ["mechanism", "holds", "as printed", "so that it holds"],
        [(r.name, _answer(r.holds), _names(r.as_printed), _names(r.that_hold)) for r in rows],
    )
    say()
    show(f"{row.name}, for {row.unit}: {row.why}." for row in rows)
    say()
    say(
        "The poster's ranking rests on document types alone, and for differential privacy on "
        "Exponential-DP. docs/mechanisms.md has what eyelid measured."
    )


def _show(kind: type[Mechanism], rows: list[Published]) -> None:
    """One mechanism in full."""
    from eyelid.mechanisms import describe
    from eyelid.privacy.unit import Trust

    about = describe(kind)
    say(kind.name)
    say()
    show(str(kind.note).splitlines())
    parameters = [
        (p["name"], "needed" if p["required"] else p["default"] or "–", p["help"])
        for p in about["parameters"]
    ]
    print_table("", ["parameter", "default", "what"], parameters)
    # Only who has a record of their own has attributes to go with it.
    if kind.trust is Trust.LOCAL:
        say("For release also: keep=COLUMN,… (attributes of people to release as they are).")
    needed = [p["name"] for p in about["parameters"] if p["required"]]
    given = ["--epsilon 1" if each == "epsilon" else f"--set {each}=…" for each in needed]
    say(" ".join(["What to expect of it: eyelid cost --mechanism", kind.name, *given, "IN"]))
    say(f"Cite: {kind.paper}")
    for row in rows:
        say()
        print_table(f"{row.name}, {row.source}", ["published", ""], list(_as_published(row)))


def _as_published(row: Published) -> Iterable[tuple[str, str]]:
    """A row of the literature, one fact a line; what nobody said is left out."""
    measured = f"{row.measured} (docs/{row.measured_in})" if row.measured else ""
    sound = [f"{kind.name} ({kind.kind}, {' or '.join(kind.units)})" for kind in row.that_hold]
    lines = {
        "guarantee": row.guarantee,
        "about": row.unit,
        "data": row.data,
        "input": row.input,
        "adaptation": row.adaptation,
        "said to hide who it is": _answer(row.family.reidentification),
        "releases": _releases(row),
        "utility lost, as ranked": row.family.utility,
        "utility, as published": row.printed,
        "utility, as eyelid finds": measured,
        "holds as printed": f"{_answer(row.holds)}: {row.why}",
        "here, as printed": _names(row.as_printed),
        "here, so that it holds": ", ".join(sound),
    }
    return ((what, text) for what, text in lines.items() if text)


def _names(kinds: list[type[Mechanism]]) -> str:
    return ", ".join(kind.name for kind in kinds)


def _answer(value: bool | None) -> str:
    return "untried" if value is None else "yes" if value else "no"


def _releases(row: Published) -> str:
    """What kind of data comes out, as the poster tells them apart."""
    said = {
        "duplicate data": row.family.duplicate,
        "synthetic data": row.family.synthetic,
        "noisy data": row.family.noisy,
    }
    return ", ".join(what for what, true in said.items() if true) or "exact data"
