"""What results would promise and show, before the data are touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.norms import Norm
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.mechanisms.statistics.parts import each_result
from eyelid.mechanisms.statistics.planning import plan
from eyelid.mechanisms.statistics.quantities import SUMS
from eyelid.mechanisms.statistics.ranges import Entry, Range
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.mechanisms.statistics.typical import off_at_worst, off_by_one_sd
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.releases.budget import spent_on
from eyelid.releases.kinds.features.plan import promised
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.statistics.choice import check_carried, summary_mechanism
from eyelid.releases.kinds.statistics.forecast import (
    exactness_of,
    least_epsilon,
    least_people,
    wanted_width,
    widths_of,
)
from eyelid.releases.kinds.statistics.notes import public_notes
from eyelid.releases.kinds.statistics.plan import (
    ANY,
    BOX,
    StatisticsDesign,
    Terms,
    make_statistics_plan,
    resized,
    rows_of,
    widths,
)
from eyelid.releases.kinds.statistics.questions import AreasSaid, Questions, several
from eyelid.releases.pipeline import Source
from eyelid.reporting.budget import UNCOUNTED
from eyelid.reporting.quote import Quote
from eyelid.reporting.sentences import number
from eyelid.reporting.statistics.quote import (
    Prospect,
    RangeForeseen,
    ResultForeseen,
    StatisticsOffer,
    Wanted,
)

# Less is not worth another kind of promise.
_WORTH_TELLING = 0.9
PEOPLE = (20, 50, 100, 500)
"""Numbers of people that it is told of what they would allow."""


def summary_preview(
    source: Source,
    *,
    width: float | None = None,
    measures: str | Sequence[str] = (),
    tasks: str | Sequence[str] = (),
    contrasts: str | Sequence[str] = (),
    areas: AreasSaid = None,
    by: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    mechanism: str | Summary = BOX,
    statistics: str | None = None,
    primary: str | Sequence[str] = (),
    norms: Path | str | Sequence[Norm] | None = None,
    activity: str = ANY,
    seconds: float | None = None,
    window_s: float | None = None,
    map: Map = None,
    people: Whom = None,
) -> Quote[StatisticsOffer]:
    """How exact results would be, from public facts; the arguments are those of `summary`.

    Args:
        source: a study; of its rows nothing is looked at but who and what there are.
        width: of an interval that is wanted, in standard deviations between people.
        measures: what is measured.
        tasks: which are wanted apart.
        contrasts: differences within people.
        areas: areas of interest.
        by: public attributes whose values make groups.
        epsilon: the total for one person.
        delta: for Gaussian noise.
        mechanism: its name, or one with its parameters set.
        statistics: what of which numbers.
        primary: measures that get half of ε to themselves.
        norms: norms of one's own.
        activity: what people did.
        seconds: how long a page with areas counts.
        window_s: how long windows of gaze are.
        map: what you say about the columns of recordings.
        people: whom it is about.
    """
    questions = Questions(
        several(measures), several(tasks), several(contrasts), areas, by, seconds, window_s
    )
    terms = Terms(epsilon, delta, mechanism, statistics, several(primary), norms, activity)
    cut = opened(source, map, people)
    plan = make_statistics_plan(cut, randomness(None), questions, terms)
    design = plan.design
    offer = StatisticsOffer(
        design.mechanism,
        design.facts,
        foreseen(design),
        _prospects(design),
        None if width is None else _wanted(design, width),
        _ranges(design),
        _other(design.mechanism, design.facts),
    )
    path = Path(source) if isinstance(source, str | Path) else None
    before, notes = UNCOUNTED, [*cut.head.notes, *public_notes(design, cut.head)]
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
    parts = design.mechanism.parts_for(design.facts)
    exact = exactness_of(parts, design.entries, design.shares)
    found = []
    rows = zip(rows_of(design), each_result(parts), exact, strict=True)
    for (measure, task, group, name), (part, statistic), each in rows:
        entries = [design.entries[column] for column in statistic.columns]
        in_unit = statistic.name in ("mean", "median", "quantile", "sd")
        unit = entries[0].unit if entries and in_unit else "1"
        found.append(ResultForeseen(measure, task, group, name, unit, part.people, each))
    return tuple(found)


def _ranges(design: StatisticsDesign) -> tuple[RangeForeseen, ...]:
    """What everybody's numbers are limited to, but for shares of people."""
    found = []
    for entry, norm, share in zip(design.entries, design.norms, design.shares, strict=True):
        range_ = entry.range
        source = "definition"
        if norm is not None:
            source = f"{norm.source.short or norm.source.text} [{norm.grade}]"
        if not share:
            found.append(
                RangeForeseen(
                    entry.measure,
                    entry.task,
                    entry.unit,
                    range_.lower,
                    range_.upper,
                    source,
                    off_by_one_sd(entry),
                    off_at_worst(entry),
                    range_.scale == "log",
                )
            )
    return tuple(found)


def _other(mechanism: Summary, facts: StatisticsFacts) -> str:
    """Which mechanism is foreseen to be nearer, in words; nothing where this one is."""
    parts = mechanism.parts_for(facts)
    if len(mechanism.asked) > 1 or any(
        s.name not in SUMS for part in parts for s in part.statistics
    ):
        return ""
    asked = min(facts.groups), parts[0].shown, mechanism.epsilon
    best, box = plan(*asked, mechanism.delta), plan(*asked, 0.0)
    if best.mechanism == mechanism.name or best.error > _WORTH_TELLING * box.error:
        return ""
    return (
        f"Foreseen to be nearer here: --mechanism {best.mechanism}, whose promise is (ε, δ), with "
        f"an error of {number(best.error, 2)} standard deviations between people in place of "
        f"{number(box.error, 2)}, should norms be one of them off."
    )


def _widest(design: StatisticsDesign) -> float | None:
    parts = design.mechanism.parts_for(design.facts)
    known = widths_of(parts, design.entries, design.shares)
    return max((width for width in known if width is not None), default=None)


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
    (1.34, 'ε = 1')
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
        entries = _numbered_entries(made, facts)
        parts = made.parts_for(facts)
        exact = exactness_of(parts, entries, [False] * features)
        found = [
            ResultForeseen(_numbered(s.columns), "", "everybody", s.name, "1", p.people, each)
            for (p, s), each in zip(each_result(parts), exact, strict=True)
        ]
        return StatisticsOffer(made, facts, tuple(found), other=_other(made, facts))

    def widest(people: int, **changes: Any) -> float | None:
        made = summary_mechanism(mechanism, **chosen | changes)
        facts = StatisticsFacts.of(people, features)
        try:
            check_carried(made, facts)
        except InputError:
            return None
        known = widths_of(made.parts_for(facts), _numbered_entries(made, facts), [False] * features)
        return max((width for width in known if width is not None), default=None)

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


def _numbered_entries(mechanism: Summary, facts: StatisticsFacts) -> tuple[Entry, ...]:
    """Numbers in standard deviations between people, around a norm."""
    ranges = [Range(-k, k, "linear", "norm", 0.0, 1.0) for k in widths(mechanism, facts)]
    return tuple(Entry(f"number {n}", "", range_) for n, range_ in enumerate(ranges, start=1))


def _numbered(columns: Sequence[int]) -> str:
    return " ~ ".join(f"number {column + 1}" for column in columns) or "any"
