"""A comparison as a page: the plane, what it shows, every figure, and how it was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from eyelid.attacks.statistics import Rate
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.unit import PERSON
from eyelid.reporting.comparisons.comparison import ABOVE, Comparison
from eyelid.reporting.comparisons.row import Row, price_of, total_of
from eyelid.reporting.comparisons.scene import scene_of
from eyelid.reporting.comparisons.words import attackers_in_words, how_sure, use_in_words
from eyelid.reporting.plane import caption
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import formal_only, limits, measured_in_words, percent
from eyelid.spelling import plural
from eyelid.version import build

_NONE = "none is shown to be better than guessing"


@dataclass(frozen=True)
class Best:
    """The most useful of the releases that promise a person the same.

    Attributes:
        total: what a person is promised.
        of: how many promise that.
        name: of the best of them; empty where none is shown to be better than guessing.
        use: how good it is, in words.
    """

    total: str
    of: int
    name: str
    use: str


def comparison_page(comparison: Comparison) -> str:
    """One HTML file that asks nothing of the network, and names nobody."""
    return rendered(
        "comparison.html.j2",
        done=comparison,
        picture=comparison.picture(),
        caption=caption(scene_of(comparison)),
        findings=findings(comparison),
        best=best_by_promise(comparison),
        total_of=total_of,
        how_sure=how_sure,
        above=ABOVE,
        attackers=attackers_in_words(comparison),
        limits=limits,
        version=build(),
    )


def findings(comparison: Comparison) -> list[str]:
    """What the figures come to, in sentences."""
    found = [_raw(comparison), _of_person(comparison)]
    less = [row for row in comparison.ran if _hides_less(row.promised.guarantee)]
    smaller = _best(comparison, less)
    if smaller is None and less:
        found.append(f"Of {plural(len(less), 'setting')} that hide less than a person, {_NONE}.")
    if smaller is not None:
        found.append(
            f"The most useful that hides less than a person is {smaller.name}: "
            f"{_in_words(comparison, smaller)}. For a person that comes to "
            f"{total_of(smaller.promised)}."
        )
    among = [r for r in comparison.ran if not r.promised.guarantee.kind.differential]
    groups = [row for row in among if row.promised.guarantee.holds]
    grouped = _best(comparison, groups)
    if grouped is None and any(row.one_draw for row in groups):
        found.append(
            f"Without any ε, {_highest(comparison, groups)}: one draw of groups, whose limits are "
            "unknown; --repeats 3 gives some."
        )
    if grouped is not None:
        found.append(
            f"Without any ε, {grouped.name} gives {_in_words(comparison, grouped)}. That is one "
            f"among {grouped.promised.guarantee.k}, of this release alone, and not differential "
            "privacy."
        )
    found.append(_naming(comparison))
    return [sentence for sentence in found if sentence]


def best_by_promise(comparison: Comparison) -> list[Best]:
    """The most useful of those that promise a person the same; the strongest promise first."""
    alike: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(comparison.ran, key=_strength):
        alike.setdefault(price_of(row.promised), []).append(row)
    found = []
    for (total, _), rows in alike.items():
        best = _best(comparison, rows)
        if best is not None:
            found.append(Best(total, len(rows), best.name, _use(comparison, best)))
        elif any(row.one_draw for row in rows):
            found.append(
                Best(total, len(rows), "", f"one draw cannot tell: {_highest(comparison, rows)}")
            )
        elif any(row.used(comparison.used_chance) is not None for row in rows):
            found.append(Best(total, len(rows), "", _NONE))
    return found


def _highest(comparison: Comparison, rows: list[Row]) -> str:
    """The highest figure of those that one draw was tried of, which proves nothing yet."""
    rates = {row.name: row.used(comparison.used_chance) for row in rows if row.one_draw}
    known = {name: rate.rate for name, rate in rates.items() if rate is not None}
    name = max(known, key=lambda one: known[one])
    return f"{name} had {percent(known[name])} there"


def _raw(comparison: Comparison) -> str:
    raw = comparison.raw
    named = "" if raw.named is None else f"name {_measured(raw.named)} of people"
    # Raw data conclude what they do: there is nothing to say of it.
    used = None if comparison.questions.concluded else raw.used(comparison.used_chance)
    what = f"tell the {comparison.questions.target} in"
    recognised = "" if used is None else f"{what} {_measured(used)} of windows"
    both = " and ".join(part for part in (named, recognised) if part)
    if not both:
        return ""
    chances = [comparison.chance] * bool(named) + [comparison.used_chance] * bool(recognised)
    guessing = " and ".join(map(percent, chances))
    return f"As they are, the data {both}; guessing gives {guessing}."


def _of_person(comparison: Comparison) -> str:
    """What hiding a whole person costs, at an ε that means something."""
    rows = [
        row
        for row in comparison.ran
        if row.promised.guarantee.holds
        and row.promised.guarantee.kind.differential
        and not formal_only(row.promised.person_level)
    ]
    if not rows:
        return "None of these hides a whole person at an ε of at most 10."
    lead = f"Of {plural(len(rows), 'setting')} whose total for a person is at most ε = 10,"
    best = _best(comparison, rows)
    if best is None:
        drawn = [row for row in rows if row.one_draw]
        tried = [row for row in rows if row.used(comparison.used_chance) is not None]
        if not tried:
            return ""
        if not drawn:
            return f"{lead} {_NONE}: here such a promise costs all of the use."
        tried_once = plural(len(drawn), "of them was", "of them were")
        return (
            f"{lead} {_NONE}. {tried_once.capitalize()} tried with one draw that serves everybody, "
            f"which cannot tell ({_highest(comparison, drawn)}): --repeats 3 can."
        )
    lead = f"{lead} {best.name} is the most useful: {_in_words(comparison, best)}."
    used, raw = (row.used(comparison.used_chance) for row in (best, comparison.raw))
    if used is None:
        return lead
    lost = "" if raw is None else f", {100 * (raw.rate - used.rate):.0f} points below the raw data"
    return f"{lead} That is above guessing by 99% limits{lost}."


def _naming(comparison: Comparison) -> str:
    """Where the re-identification rate is above guessing."""
    named = [
        row.name
        for row in comparison.ran
        if row.named is not None and row.named.low > comparison.chance
    ]
    if all(row.named is None for row in comparison.ran):
        return ""
    if not named:
        return (
            "In none of the releases are people re-identified clearly more often than by guessing."
        )
    return (
        "Participants are re-identified clearly more often than by guessing in "
        f"{plural(len(named), 'release')}: {'; '.join(named)}."
    )


def _best(comparison: Comparison, rows: list[Row]) -> Row | None:
    """The most useful; None where none is shown to be better than guessing."""

    def use(row: Row) -> float:
        if comparison.questions.target is None:
            return -math.inf if row.error_of_span is None else -row.error_of_span
        used = row.used(comparison.used_chance)
        return -math.inf if used is None or not comparison.useful(row) else used.rate

    known = [row for row in rows if use(row) > -math.inf]
    return max(known, key=use, default=None)


def _in_words(comparison: Comparison, row: Row) -> str:
    named = "no record under a person’s name" if row.nobodys else "naming was not measured"
    named = named if row.named is None else f"names {_measured(row.named)}"
    return f"{_use(comparison, row)}, {named}"


def _use(comparison: Comparison, row: Row) -> str:
    if comparison.questions.target is None:
        return f"a value is off by {measured_in_words(row.errors, row.error_of_span or 0.0)}"
    told = comparison.questions
    what = told.used_as if told.concluded else told.target
    return f"{what} {use_in_words(comparison, row)}"


def _measured(rate: Rate) -> str:
    return f"{percent(rate.rate)} ({limits(rate)})"


def _hides_less(guarantee: Guarantee) -> bool:
    return guarantee.holds and guarantee.kind.differential and guarantee.unit != PERSON


def _strength(row: Row) -> tuple[bool, bool, float]:
    """Small for strong promises: a person's ε, then those without one, then none."""
    person = row.promised.person_level
    number = -(person.k or 0) if person.epsilon is None else person.epsilon
    return not person.holds, not person.kind.differential, number
