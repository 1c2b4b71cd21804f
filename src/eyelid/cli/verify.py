"""``eyelid verify``: try to break the mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import Json, print_json, print_table, remark, say

if TYPE_CHECKING:
    from eyelid.releases.consistency.verification import FolderVerification
    from eyelid.verification.verify import Verification

EXAMPLES = """\b
Examples:
  eyelid verify --all
  eyelid verify laplace --runs 200000 --json"""


def run(
    mechanisms: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Which ones.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every mechanism [default].")] = False,
    runs: Annotated[
        int, typer.Option(metavar="N", help="Test runs per side of each game.")
    ] = 50_000,
    as_json: Json = False,
) -> None:
    """Test the mechanisms' guarantees by attacks.

    Plays distinguishing games, fuzzes sensitivities and plants faults. Neighbouring studies are
    released, too, and their folders compared: everything in them but released values must be the
    same. Exit code 1 when a claim falls or a planted fault gets through.
    """
    from eyelid.engine.progress import shown
    from eyelid.errors import InputError
    from eyelid.releases.consistency.verification import WholeVerification, verify_folders
    from eyelid.verification.verify import DEFAULT_RUNS, verify

    if mechanisms and everything:
        raise InputError("give names or --all, not both")
    with shown():
        found = WholeVerification(
            verify(mechanisms or (), runs=runs), verify_folders(mechanisms or ())
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _tell(found.claims, runs)
        _tell_folders(found.shown)
        _table(
            "Planted faults",
            ["fault", "in", ""],
            [(p.name, p.mechanism, "caught" if p.caught else "MISSED") for p in found.planted],
        )
        say("Nothing was refuted and every planted fault was caught." if found.passed else "")
    more = f" ({runs:,} runs may be too few for it: --runs {DEFAULT_RUNS})"
    few = more if runs < DEFAULT_RUNS else ""
    missed = [*[f"{each}{few}" for each in found.claims.uncaught], *found.shown.missed]
    remark(
        *found.refuted,
        *(f"planted fault not caught: {name}" for name in missed),
        *(
            f"{name} claims a guarantee that nothing tries: it declares no family that verify "
            "knows, or no games"
            for name in found.claims.untested
        ),
    )
    if not found.passed:
        raise typer.Exit(1)


def _tell_folders(found: FolderVerification) -> None:
    """What the folders of neighbouring studies show, one line a way to release."""
    says = {True: "the same", False: "DIFFERENT"}
    _table(
        "What the folder shows, of neighbouring studies",
        ["mechanism", "settings", "neighbours", "but for released values"],
        [
            (
                each.mechanism,
                each.settings,
                each.pairs,
                says[each.same] if each.holds else f"{says[each.same].lower()}, nothing is claimed",
            )
            for each in found.folders
        ],
    )


def _tell(found: Verification, runs: int) -> None:
    """Everything that was tried, as tables; those that are empty are left out."""
    played = ["mechanism", "set for", "settings", "attacked per", "claimed", "certified", ""]
    shown = [g for g in found.games if g.measure in ("epsilon", "mu")]
    for title, games in (("Distinguishing games", shown), ("Digits", found.digits)):
        rows = [
            (
                g.mechanism,
                g.calibrated_for,
                g.settings,
                g.unit,
                f"{g.measure} {g.claimed:.4g}",
                f"{g.lower_bound:.4g}",
                "REFUTED" if g.refuted else "stands",
            )
            for g in games
        ]
        _table(f"{title}, {runs:,} test runs a side", played, rows)
    if found.canaries:
        say(
            "Games about synthetic participants have few features (carry), bins and rows "
            "(records), as their settings say: only there has a game power. Larger tables rest on "
            "the proof; the fuzz shows how much of what is declared is reached in each round "
            "and in all together, in small tables, too."
        )
    _table(
        "k-anonymity and deniability: how often attacks are right",
        ["mechanism", "attack", "claimed", "certified", "tries", ""],
        [
            (
                g.mechanism,
                f"{g.measure}: {g.neighbours}",
                f"{g.claimed:.4g}",
                f"{g.lower_bound:.4g}",
                f"{g.runs:,}",
                "REFUTED" if g.refuted else "stands",
            )
            for g in found.games
            if g not in shown
        ],
    )
    _table(
        "Sensitivity fuzz (refuted above 1, or if people mix)",
        ["mechanism", "unit", "settings", "of declared", "of ε with choice", "mixed", "pairs"],
        [
            (
                f.mechanism,
                f.unit,
                f.settings,
                f"{f.reached:.3f}",
                f"{f.chosen:.3f}" if f.chosen else "",
                f.mixed,
                f.pairs,
            )
            for f in found.fuzzes
        ],
    )
    _table(
        "Noise of a whole table (refuted above 6 σ)",
        ["mechanism", "set for", "draws", "repeated", "spread"],
        [
            (r.mechanism, r.unit, f"{r.draws:,}", f"{r.repeated:.1f} σ", f"{r.spread:.1f} σ")
            for r in found.residuals
        ],
    )
    _table(
        "What is shown",
        ["mechanism", "set for", "values", "what is private", "without noise"],
        [
            (o.mechanism, o.unit, f"{o.values:,}", "yes" if o.same else "NO", o.bare)
            for o in found.outputs
        ],
    )
    _table(
        "Filters, seen from outside (refuted above 1, above 6 σ, or below p = 1e-8)",
        ["mechanism", "unit", "of ε a window", "of reach", "repeated", "spread", "tests", ""],
        [
            (
                s.mechanism,
                s.unit,
                f"{s.window:.4f}",
                f"{s.reached:.4f}",
                f"{s.repeated:.1f} σ",
                f"{s.spread:.1f} σ",
                f"{s.tests_p:.3f}",
                "REFUTED" if s.refuted else "stands",
            )
            for s in found.streams
        ],
    )
    _table(
        "Canaries: coins guessed from one run",
        [
            "mechanism",
            "settings",
            "claimed",
            "certified at 95%",
            "could be",
            "canaries",
            "right",
            "",
        ],
        [
            (
                c.mechanism,
                c.settings,
                f"{c.run.measure} {c.run.claimed:.4g}",
                f"{c.run.lower_bound:.4g}",
                f"{c.run.reach:.4g}",
                f"{c.run.canaries:,}",
                f"{c.run.right} of {c.run.guesses}",
                "REFUTED" if c.refuted else "stands",
            )
            for c in found.canaries
        ],
    )
    if found.canaries:
        say(
            "All guesses being right, as much as 'could be' would be certified. But in one run "
            "people hide each other: of a sound mechanism far less than the claim is certified, "
            "and of noise that is a little too small as well. Canaries find gross faults, such as "
            "people who count once a row; the games, the fuzz and the noise above find smaller "
            "ones."
        )
    _table(
        "Samplers, chi-square (refuted below p = 1e-8)",
        ["sampler", "scale", "p"],
        [(s.sampler, f"{s.scale:,}", f"{s.p_value:.3f}") for s in found.samplers],
    )


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table without the columns that nobody fills; nothing where there are no rows."""
    filled = [n for n, name in enumerate(columns) if not name or any(row[n] != "" for row in rows)]
    if rows:
        print_table(title, [columns[n] for n in filled], [[row[n] for n in filled] for row in rows])
