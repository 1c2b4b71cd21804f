"""Figures of a comparison in words: how sure they are, what guessing and a promise make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eyelid.attacks.outcome import KNOWS
from eyelid.attacks.protocols import POSITIVE, PROTOCOLS
from eyelid.gaze.features.catalogue import most_used
from eyelid.reporting.comparisons.comparison import Comparison
from eyelid.reporting.comparisons.row import Row, total_of
from eyelid.reporting.rendering import bound
from eyelid.reporting.sentences import coarse, in_unit, limits, percent
from eyelid.spelling import Table, plural

ONE_DRAW = "one draw, limits unknown"
SAME_ANSWER = "always the same answer"
ATTACKERS = {
    "lda": "learns what sets people’s windows apart",
    "means": "compares a person’s mean of each feature",
    "whitened": "the same, with features weighted by how far people differ in them",
    "rows": "compares released rows with all people’s",
    "likelihood": "knows the distribution of the noise: the best there is for one released person",
    "intersection": "asks in which groups a participant is in every task",
}
KNOWLEDGE = {how.name: how.says for how in (POSITIVE, *PROTOCOLS)} | {
    KNOWS: "the raw files of what was released, under their names"
}


def how_sure(comparison: Comparison, row: Row) -> str:
    """What stands beside the share of windows recognised: limits, or why there are none."""
    used = row.used(comparison.used_chance)
    assert used is not None, "use was not tried"
    if row.one_draw:
        return ONE_DRAW
    return SAME_ANSWER if row.says_the_same(comparison.used_chance) else limits(used)


def use_in_words(comparison: Comparison, row: Row) -> str:
    """The share of windows recognised, with its limits; or why it was not tried."""
    used = row.used(comparison.used_chance)
    if used is None:
        return f"not tried: {row.not_used}" if row.not_used else "not tried"
    return f"{percent(used.rate)} ({how_sure(comparison, row)})"


def attackers_in_words(comparison: Comparison) -> list[str]:
    """Who is meant by the names of attackers in the table, one line each."""
    rows = [comparison.raw, *comparison.ran]
    parts = {part for row in rows for part in (row.attacker or "").split(", ")}
    known = ATTACKERS | KNOWLEDGE
    return [f"{name}: {known[name]}" for name in known if name in parts]


def comparison_lines(done: Comparison, *, verbose: bool = True) -> Iterator[str | Table]:
    """The figures of a comparison as a table, what its words mean, and why some have none.

    Args:
        done: with its rows.
        verbose: whether to say what the words mean.
    """
    target, attributes = done.questions.target, done.questions.attributes
    rows = [_row(done, row) for row in (done.raw, *done.ran)]
    guessing = f"guessing: {done.chance:.0%}"
    columns = ["setting", "a person, in total", f"re-identified ({guessing})", "by", "allowed"]
    what = done.questions.used_as if done.questions.concluded else target
    columns += [f"{what} (guessing: {done.used_chance:.0%})"] if target else []
    columns += [*(f"{name} recognised" for name in attributes), "error"]
    title = f"{plural(done.people, 'person', 'people')}, {plural(done.repeats, 'run')} of each"
    yield Table(f"{title}; limits of 95%", columns, rows)
    if verbose:
        yield from _legend(done)
    for title, reasons in (
        ("Not possible with these data:", {row.name: row.skipped for row in done.skipped}),
        (
            f"Not measured, {done.questions.used_as}:"
            if done.questions.concluded
            else f"No {target} recognised:",
            {r.name: r.not_used for r in done.ran if r.not_used},
        ),
    ):
        yield from _reasons(title, reasons)


def _legend(done: Comparison) -> Iterator[str]:
    """What the table's words mean."""
    yield "by: " + "; ".join(attackers_in_words(done)) + "."
    named = most_used(dict.fromkeys(name for row in done.ran for name in row.errors), 1)
    of = f"of {named[0]}, in its unit" if named else "as a share of a feature’s range"
    yield (
        "allowed: of an attacker who judges one released record; within chance: above it, as "
        f"happens. error: root mean square {of}; of released means, that of the mean. --json has "
        "all."
    )


def _reasons(title: str, reasons: Mapping[str, str]) -> Iterator[str]:
    """Each reason once, in full, with all that it is the reason of."""
    if reasons:
        yield title
    for why in dict.fromkeys(reasons.values()):
        yield f"  {'; '.join(name for name in reasons if reasons[name] == why)}: {why}"


def _row(done: Comparison, row: Row) -> list[str]:
    """One setting's cells of the table."""
    promise, used = row.promise, row.used(done.used_chance)
    against = done.against_promise(row)
    cells = [
        "raw data" if row.setting is None else row.name,
        "no guarantee" if promise is None else total_of(promise),
        "–" if row.named is None else str(row.named),
        row.attacker or ("no person's name" if row.nobodys else "–"),
        "–"
        if promise is None or row.nobodys
        else ", ".join([bound(promise.bound(done.people)), *([against] if against else [])]),
    ]
    if done.questions.target:
        cells.append("–" if used is None else use_in_words(done, row))
    for name in done.questions.attributes:
        inferred = row.inferred(name)
        public = "public" if row.shows(name) else None
        cells.append(public or ("–" if inferred is None else f"{inferred[0]:.0%}"))
    if row.error_of_span is None:
        return [*cells, "–"]
    named = most_used(row.errors, 1)
    return [*cells, in_unit(*row.errors[named[0]]) if named else coarse(row.error_of_span)]
