"""What results would promise and show, before anybody's data are touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.mechanisms.statistics.ranges import Range
from eyelid.mechanisms.statistics.summary import StatisticsFacts
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.releases.budget import spent_on
from eyelid.releases.kinds.features.plan import promised
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.statistics.foreseen import (
    exactness_of,
    least_epsilon,
    least_people,
    wanted_width,
)
from eyelid.releases.kinds.statistics.plan import (
    BOX,
    StatisticsDesign,
    Terms,
    check_carried,
    make_statistics_plan,
    resized,
    rows_of,
    summary_mechanism,
)
from eyelid.releases.kinds.statistics.questions import Questions
from eyelid.releases.kinds.statistics.ranges import best_k
from eyelid.releases.pipeline import Source
from eyelid.reporting.budget import UNCOUNTED
from eyelid.reporting.quote import Quote
from eyelid.reporting.statistics.quote import (
    Exactness,
    Prospect,
    ResultForeseen,
    StatisticsOffer,
    Wanted,
)

PEOPLE = (20, 50, 100, 500)
"""Numbers of people that it is told of what they would allow."""


def summary_preview(
    source: Source, *, width: float | None = None, map: Map = None, people: Whom = None, **said: Any
) -> Quote[StatisticsOffer]:
    """How exact results would be, from public facts; the arguments are those of `summary`.

    Args:
        source: a study; of its rows nothing is looked at but who and what there are.
        width: of an interval that is wanted, in standard deviations between people.
        map: what you say about the columns of recordings.
        people: whom it is about.
        said: what is asked, and how.
    """
    names = ("measures", "tasks", "contrasts", "areas", "by")
    asked = {name: said.pop(name) for name in names if name in said}
    for name in ("measures", "tasks", "contrasts"):
        asked[name] = tuple(asked.get(name, ()))
    said["primary"] = tuple(said.get("primary", ()))
    cut = opened(source, map, people)
    plan = make_statistics_plan(cut, randomness(None), Questions(**asked), Terms(**said))
    design = plan.design
    offer = StatisticsOffer(
        design.mechanism,
        design.facts,
        foreseen(design),
        _prospects(design),
        None if width is None else _wanted(design, width),
    )
    path = Path(source) if isinstance(source, str | Path) else None
    before, notes = UNCOUNTED, [*cut.head.notes]
    try:
        before = spent_on(cut.entering, path)
    except InputError as error:
        notes.append(f"what was released of these people before is not known: {error}")
    return Quote(
        offer,
        plan.guarantee,
        plan.person_level,
        plan.how,
        design.mechanism.form,
        alike=plan.alike,
        before=before,
        notes=tuple(notes),
    )


def foreseen(design: StatisticsDesign) -> tuple[ResultForeseen, ...]:
    """How exact every result will be.

    Args:
        design: of the release.
    """
    exact = _exact(design)
    several = [pair for pair in design.statistics for _ in range(pair[1].cells + 1)]
    found = []
    rows = zip(rows_of(design), several, exact, strict=True)
    for (measure, task, group, name), (part, statistic), each in rows:
        entries = [design.entries[column] for column in statistic.columns]
        in_unit = statistic.name in ("mean", "median", "quantile")
        unit = entries[0].unit if entries and in_unit else "1"
        logs = in_unit and entries and entries[0].range.scale == "log"
        scale = entries[0].range.mean or 1.0 if logs else 1.0
        found.append(ResultForeseen(measure, task, group, name, unit, part.people, each, scale))
    return tuple(found)


def _exact(design: StatisticsDesign) -> list[Exactness | None]:
    ranges = [entry.range for entry in design.entries]
    return exactness_of(design.mechanism, design.facts, ranges, design.shares)


def _widest(design: StatisticsDesign) -> float | None:
    known = [each.relative for each in _exact(design) if each is not None]
    return max(known, default=None)


def _prospects(design: StatisticsDesign) -> tuple[Prospect, ...]:
    found = []
    for people in PEOPLE:
        try:
            found.append(Prospect(people, _widest(resized(design, people))))
        except InputError:
            found.append(Prospect(people, None))
    return tuple(found)


def _wanted(design: StatisticsDesign, width: float) -> Wanted:
    def narrow(people: int | None = None, epsilon: float | None = None) -> bool:
        try:
            widest = _widest(resized(design, people, epsilon))
        except InputError:
            return False
        return widest is not None and widest <= width

    fewest = 2 * len(design.facts.groups)
    return Wanted(
        width,
        least_people(lambda people: narrow(people=people), fewest),
        least_epsilon(lambda epsilon: narrow(epsilon=epsilon)),
    )


def statistics_cost(
    mechanism: str = BOX,
    *,
    people: int | None = None,
    features: int | None = None,
    want: str | None = None,
    **parameters: Any,
) -> Quote[StatisticsOffer]:
    """The price of results without a study: so many numbers of so many people.

    Widths are in standard deviations between people, as if norms were known.

    Args:
        mechanism: its name.
        people: how many.
        features: how many numbers each gives.
        want: ``width=W``, for how many people or which ε that takes.
        parameters: of the mechanism.

    >>> quote = statistics_cost(people=40, features=3, epsilon=1.0)
    >>> round(quote.offer.widest, 2), quote.guarantee.numbers()
    (1.08, 'ε = 1')
    """
    given = {"people": people, "features": features}
    absent = [name for name, value in given.items() if value is None]
    if absent or people is None or features is None:
        raise InputError(
            f"the cost of results needs `people` and `features` (numbers of each); missing: "
            f"{', '.join(absent)}"
        )
    if parameters.get("by"):
        raise InputError(
            "how many people each group has is not known without a study: leave out by"
        )
    chosen = {key: value for key, value in parameters.items() if value is not None}

    def offered(people: int, **changes: Any) -> StatisticsOffer:
        made = summary_mechanism(mechanism, **chosen | changes)
        facts = StatisticsFacts.of(people, features)
        check_carried(made, facts)
        numbers = max(part.shown for part in made.parts_for(facts))
        k = best_k(people, numbers, made.epsilon)
        ranges: Sequence[Range] = [Range(-k, k, "linear", "norm", 0.0, 1.0)] * features
        exact = exactness_of(made, facts, ranges, [False] * features)
        pairs = [(p, s) for p in made.parts_for(facts) for s in p.statistics]
        found = [
            ResultForeseen(_numbered(s.columns), "", "everybody", s.name, "1", p.people, each)
            for (p, s), each in zip(pairs, exact, strict=True)
        ]
        return StatisticsOffer(made, facts, tuple(found))

    def widest(people: int, **changes: Any) -> float | None:
        try:
            return offered(people, **changes).widest
        except InputError:
            return None

    offer = replace(
        offered(people), prospects=tuple(Prospect(many, widest(many)) for many in PEOPLE)
    )
    if want is not None:
        width = wanted_width(want)

        def narrow(people: int, **changes: Any) -> bool:
            found = widest(people, **changes)
            return found is not None and found <= width

        most = least_people(narrow)
        offer = replace(
            offer, wanted=Wanted(width, most, least_epsilon(lambda e: narrow(people, epsilon=e)))
        )
    guarantee = promised(offer.mechanism, offer.facts, PERSON)
    how, form = offer.mechanism.person_total(offer.facts), offer.mechanism.form
    return Quote(offer, guarantee, guarantee, how, form)


def _numbered(columns: Sequence[int]) -> str:
    return " ~ ".join(f"number {column + 1}" for column in columns) or "any"
