"""Which mechanism is taken with which statistics where nobody says, by public facts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from eyelid.errors import InputError, unknown
from eyelid.gaze.measures.looks import AreaMeasure
from eyelid.gaze.measures.measure import Measure
from eyelid.gaze.norms import Norm
from eyelid.mechanisms.mechanism import find, mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.statistics.parts import Part
from eyelid.mechanisms.statistics.statistic import BETWEEN
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.releases.kinds.statistics.questions import Asked
from eyelid.spelling import plural

RANKS_BELOW = 50
"""Below so many people rank statistics come first where no norm exists; from there on it is counted
how many lie outside of a norm's range."""
# Standard deviation of a guess anywhere in the range: noise above it leaves nothing to see.
_GUESS = 1 / math.sqrt(12)
_PRIMARY_SHARE = "0.5"


def summary_mechanism(name: str, **parameters: Any) -> Summary:
    """The mechanism of results, with its parameters; those that are None keep their default."""
    if parameters.get("epsilon") is None:
        raise InputError("say how private it must be: `epsilon=…`, the total for one person")
    kind = find(name)
    if kind.release is not ReleaseKind.STATISTICS:
        raise InputError(f"{kind.name} makes no results: use 'eyelid {kind.command}'")
    given = {key: value for key, value in parameters.items() if value is not None}
    return cast(Summary, mechanism_named(name, **given))


def usual_mechanism(
    name: str,
    asked: Asked,
    norms: Sequence[Norm | None],
    facts: StatisticsFacts,
    primary: Sequence[str] = (),
    **given: Any,
) -> Summary:
    """The mechanism with the usual statistics, or as many of them as the budget carries.

    Args:
        name: of the mechanism.
        asked: of whom, and what.
        norms: of each number.
        facts: the public facts.
        primary: measures that get half of ε.
        given: parameters of the mechanism.
    """
    by = given.get("by")
    for compared in (True, False):
        usual = usual_statistics(asked, norms, by, primary, compared=compared)
        made = summary_mechanism(name, statistics=usual, **given)
        try:
            check_carried(made, facts)
        except InputError:
            continue
        break
    if primary:
        plain = summary_mechanism(
            name, statistics=usual_statistics(asked, norms, by, compared=compared), **given
        )
        _check_primary(made, plain, facts, asked, primary)
    return made


def _check_primary(
    made: Summary, plain: Summary, facts: StatisticsFacts, asked: Asked, primary: Sequence[str]
) -> None:
    """Refuse half of ε for measures whose noise that makes no smaller.

    Args:
        made: with half of ε for them.
        plain: without.
        facts: the public facts.
        asked: of whom, and what.
        primary: their names.
    """
    columns = asked.panel.columns
    mine = {n for n, column in enumerate(columns) if column.measure.name in primary}

    def noise(mechanism: Summary) -> float:
        found = [
            part.spread or 0.0
            for part in mechanism.parts_for(facts)
            for statistic in part.statistics
            if mine & {*statistic.columns} and statistic.name != BETWEEN
        ]
        return max(found, default=0.0)

    with_half, without = noise(made), noise(plain)
    if with_half >= without > 0:
        raise InputError(
            f"with half of ε to themselves, {', '.join(primary)} would have noise of "
            f"{with_half:.3g} of their range, and of {without:.3g} without: there are too few "
            "other numbers that share ε with them. Leave `primary` (--primary) out"
        )


def usual_statistics(
    asked: Asked,
    norms: Sequence[Norm | None],
    by: str | None,
    primary: Sequence[str] = (),
    *,
    compared: bool = True,
) -> str:
    """What is released of which numbers where nobody says, by public facts.

    Means of everything. Of a difference also the share of people who are higher in the first task,
    and only that where below fifty people no norm says how wide its range has to be. Between two
    groups also the probability of superiority, which has a test, and only that where there is no
    norm for so few. Where a norm's range may be too narrow, and from fifty people on, also how many
    people lie outside of it.

    Args:
        asked: of whom, and what.
        norms: of each number.
        by: the attribute that groups are made by.
        primary: measures that get half of ε.
        compared: whether two groups are compared where there are means of them, too.
    """
    columns, fewest = asked.panel.columns, min(people for _, people in asked.sizes)
    sums: dict[bool, list[str]] = {True: [], False: []}
    ranks = []
    names = {column.measure.name for column in columns}
    for name in primary:
        if name not in names:
            raise unknown("primary measure", name, names)
    for number, (column, norm) in enumerate(zip(columns, norms, strict=True), start=1):
        unlimited = norm is None and not _is_share(column.measure) and fewest < RANKS_BELOW
        first = column.measure.name in primary
        if unlimited and by and not column.contrast:
            ranks.append(f"superiority:{number}")
            continue
        means = [] if unlimited and column.contrast else [f"mean:{number}"]
        shares = [f"higher:{number}"] if column.contrast else []
        sums[first] += [*shares, *means] if fewest < RANKS_BELOW else [*means, *shares]
        if compared and by and len(asked.sizes) == 2 and not column.contrast:
            ranks.append(f"superiority:{number}")
    if any(norms) and fewest >= RANKS_BELOW and sums[False]:
        sums[False].append("clipped")
    parts = [",".join(terms) for terms in (sums[True], sums[False], ranks) if terms]
    if sums[True] and len(parts) > 1:
        parts[0] += f"@{_PRIMARY_SHARE}"
    return ";".join(parts)


def _is_share(measure: Measure | AreaMeasure) -> bool:
    """Whether it lies between 0 and 1, of no unit: a range by definition is narrow enough then."""
    least, most = measure.bounds
    return measure.unit == "1" and least >= 0 and most <= 1


def check_carried(mechanism: Summary, facts: StatisticsFacts) -> None:
    """Refuse more numbers than a guess in the middle of each range would be as good for.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
    """
    for part in mechanism.parts_for(facts):
        if part.spread is None or part.spread <= _GUESS:
            continue
        most = _most(part)
        can = f"at most {plural(most, 'number')}" if most else "not a single one"
        raise InputError(
            f"{plural(part.shown, 'number')} of {part.people} people drown in the noise of ε = "
            f"{float(part.epsilon):g}, which carries {can} here: name fewer measures, tasks or "
            "contrasts, take a larger ε, or more people"
        )


def _most(part: Part) -> int:
    """How many numbers a draw of noise carries."""
    assert part.noise is not None, "it is noise that is added"
    if not part.noise.dimension:
        return math.floor(part.shown * (_GUESS / part.noise.sd) ** 2)
    numbers = range(1, part.shown)
    return sum(replace(part.noise, dimension=d).sd <= _GUESS for d in numbers)
