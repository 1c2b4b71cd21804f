"""Figures of a comparison in words: how sure they are, what guessing and a promise make of them."""

from __future__ import annotations

from eyelid.attacks.protocols import POSITIVE, PROTOCOLS
from eyelid.attacks.same_recordings import KNOWS
from eyelid.comparisons.comparison import Comparison, Row
from eyelid.releases.words import limits, percent

ONE_DRAW = "one draw, limits unknown"
SAME_ANSWER = "always the same answer"
ATTACKERS = {
    "lda": "learns what sets people’s windows apart",
    "means": "compares a person’s mean of each feature",
    "whitened": "the same, with features weighted by how far people differ in them",
    "rows": "puts released rows beside everybody’s",
    "likelihood": "knows the law of the noise: the best there is for one released person",
    "intersection": "asks in which groups somebody is in every task",
}
KNOWLEDGE = {how.name: how.says for how in (POSITIVE, *PROTOCOLS)} | {
    KNOWS: "the raw files of what was released, under everybody’s name"
}


def how_sure(comparison: Comparison, row: Row) -> str:
    """What stands beside the share of windows told: limits, or why there are none."""
    used = row.used(comparison.used_chance)
    assert used is not None, "use was not tried"
    if row.one_draw:
        return ONE_DRAW
    return SAME_ANSWER if row.says_the_same(comparison.used_chance) else limits(used)


def use_told(comparison: Comparison, row: Row) -> str:
    """The share of windows told, with that; or why it was not tried."""
    used = row.used(comparison.used_chance)
    if used is None:
        return f"not tried: {row.not_used}" if row.not_used else "not tried"
    return f"{percent(used.rate)} ({how_sure(comparison, row)})"


def attackers_told(comparison: Comparison) -> list[str]:
    """Who is meant by the names of attackers in the table, one line each."""
    rows = [comparison.raw, *comparison.ran]
    parts = {part for row in rows for part in (row.attacker or "").split(", ")}
    known = ATTACKERS | KNOWLEDGE
    return [f"{name}: {known[name]}" for name in known if name in parts]
