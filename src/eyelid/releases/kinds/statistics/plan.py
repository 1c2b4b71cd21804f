"""Everything about results that is settled before noise is drawn: all of it public."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from eyelid.errors import InputError, unknown
from eyelid.gaze.measures.measure import Measure
from eyelid.gaze.measures.panel import Column
from eyelid.gaze.norms import TASKS, Norm
from eyelid.gaze.norms.norm import DIFFERENCE
from eyelid.io.norms import read_norms
from eyelid.io.pieces import StudyInPieces
from eyelid.mechanisms.certificate import ReleasedAs
from eyelid.mechanisms.groups.public_groups import EVERYBODY
from eyelid.mechanisms.mechanism import check_set_alone
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.statistics.estimates import INTERVALS
from eyelid.mechanisms.statistics.planning import best_k
from eyelid.mechanisms.statistics.quantities import SUMS
from eyelid.mechanisms.statistics.ranges import Entry
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.privacy.bounds import Bounds, BoundsSource
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON
from eyelid.releases.accounting import Plan
from eyelid.releases.kinds.features.plan import promised
from eyelid.releases.kinds.statistics.choice import (
    check_carried,
    summary_mechanism,
    usual_mechanism,
)
from eyelid.releases.kinds.statistics.questions import USUAL, Asked, Questions, asked_of
from eyelid.releases.kinds.statistics.ranges import entry_of, norms_of
from eyelid.spelling import plural

BOX = "summary-box"
ANY = "any"
DATA_NORMS = "a norm was read off the private data, so the ranges, which are told, show these"
_OF_DIFFERENCES = ("higher", "signed-rank")


@dataclass(frozen=True)
class Terms:
    """How results are wanted.

    Attributes:
        epsilon: the total for a person.
        delta: for Gaussian noise.
        mechanism: its name, or one with its parameters set.
        statistics: what of which numbers, as the mechanism takes it; by default chosen.
        primary: measures that get half of ε to themselves.
        norms: a file of norms of one's own, or norms.
        activity: what people did, of `eyelid.gaze.norms.TASKS`.
    """

    epsilon: float | None = None
    delta: float | None = None
    mechanism: str | Summary = BOX
    statistics: str | None = None
    primary: tuple[str, ...] = ()
    norms: Path | str | Sequence[Norm] | None = None
    activity: str = ANY

    def __post_init__(self) -> None:
        if self.primary and self.statistics:
            raise InputError(
                "statistics say what has which share of ε: leave out primary, or write parts, such "
                "as 'mean:1@0.5;mean:2@0.5'"
            )
        if isinstance(self.mechanism, str):
            return
        given = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "statistics": self.statistics,
            "primary": self.primary or None,
        }
        asked = [name for name, value in given.items() if value is not None]
        check_set_alone(self.mechanism, asked)


@dataclass(frozen=True, eq=False)
class StatisticsDesign:
    """Results that could be released: nobody's numbers are in it.

    Attributes:
        asked: of whom, and what.
        entries: every number with its range.
        norms: where each range is from; None where it is by definition.
        mechanism: with its parameters.
        facts: the public facts.
        simulated: whether these people are made up.
    """

    asked: Asked
    entries: tuple[Entry, ...]
    norms: tuple[Norm | None, ...]
    mechanism: Summary
    facts: StatisticsFacts
    simulated: bool = False

    @property
    def by(self) -> str | None:
        """The attribute that groups are made by."""
        return self.mechanism.by

    @property
    def groups(self) -> dict[str, int]:
        """How many people each group has, by name; empty where everybody is together."""
        return dict(self.asked.sizes) if self.by else {}

    @property
    def shares(self) -> list[bool]:
        """Whether the mean of each number is a share of people."""
        columns = self.asked.panel.columns
        return [column.measure.is_yes_or_no and not column.contrast for column in columns]

    @property
    def statistics(self) -> list[tuple[Any, Any]]:
        """Every statistic with its part, in the order of what is measured."""
        parts = self.mechanism.parts_for(self.facts)
        return [(part, statistic) for part in parts for statistic in part.statistics]

    @property
    def described(self) -> dict[str, Any]:
        """What a certificate tells of results."""
        return {
            "entries": [
                {
                    "measure": entry.measure,
                    "definition": column.measure.definition,
                    "task": entry.task,
                    "unit": entry.unit,
                    "contrast": list(entry.contrast) if entry.contrast else None,
                    "lower": entry.range.lower,
                    "upper": entry.range.upper,
                    "within": [None if math.isinf(end) else end for end in entry.range.within],
                    "scale": entry.range.scale,
                    "source": entry.range.source,
                    "mean": entry.range.mean,
                    "sd": entry.range.sd,
                    "norm": None if norm is None else _source(norm),
                }
                for entry, column, norm in zip(
                    self.entries, self.asked.panel.columns, self.norms, strict=True
                )
            ],
            "statistics": self.mechanism.statistics,
            "groups": [[name, people] for name, people in self.asked.sizes],
            "intervals": INTERVALS,
            "events": self.asked.events or None,
            "noise": self._noise,
            "asked": self._asked,
            "rows": [list(row) for row in rows_of(self)],
        }

    @property
    def _noise(self) -> list[str]:
        """How large noise is, as a reader needs it; the certificate has its parameters as well."""
        found = []
        for part in self.mechanism.parts_for(self.facts):
            plain = all(statistic.name in SUMS for statistic in part.statistics)
            several = f"each of {part.shown} means and shares"
            means = "the mean or share" if part.shown == 1 else several
            found.append(
                f"of standard deviation {part.spread:.2g} of the range in {means} of {part.people} "
                "people"
                if part.spread is not None and plain
                else f"on {', '.join(dict.fromkeys(one.name for one in part.statistics))} of "
                f"{part.people} people, of the standard deviation that stands beside each result"
            )
        return list(dict.fromkeys(found))

    @property
    def _asked(self) -> dict[str, Any]:
        """The questions, so that an audit can ask them again."""
        said = self.asked.said
        areas = said.areas if isinstance(said.areas, Mapping) else None
        return {
            "measures": list(said.measures),
            "tasks": list(said.tasks),
            "contrasts": list(said.contrasts),
            "by": said.by,
            "seconds": said.seconds,
            "window_s": said.window_s,
            "areas": None
            if areas is None
            else {
                page: [{"name": area.name, "polygon": area.corners.tolist()} for area in own]
                for page, own in areas.items()
            },
        }


def rows_of(design: StatisticsDesign) -> list[tuple[str, str, str, str]]:
    """Measure, task, group and statistic of every result, in the order of what is measured."""
    names = [name for name, _ in design.asked.sizes]
    found = []
    for part, statistic in design.statistics:
        entries = [design.entries[column] for column in statistic.columns]
        group = EVERYBODY if part.group is None else names[part.group]
        if statistic.groups is not None:
            group = " > ".join(names[which] for which in statistic.groups)
        measures = " ~ ".join(entry.measure for entry in entries) or "any"
        tasks = " ~ ".join(dict.fromkeys(entry.task for entry in entries))
        for name in _called(design, statistic):
            found.append((measures, tasks, group, name))
    return found


def _called(design: StatisticsDesign, statistic: Any) -> list[str]:
    """What a statistic is called in results: a mean of logarithms, or of yes and no, is another."""
    if statistic.cells:
        entry = design.entries[statistic.columns[0]].range
        ends = [f"{entry.value(at / statistic.cells):.4g}" for at in range(statistic.cells + 1)]
        return [*(f"people:{one} to {two}" for one, two in pairwise(ends)), "people:no number"]
    if statistic.name == "quantile":
        return [f"quantile:{float(statistic.level):g}"]
    if statistic.name != "mean":
        return [statistic.name]
    if design.entries[statistic.columns[0]].range.scale == "log":
        return ["geometric mean"]
    return ["share" if design.shares[statistic.columns[0]] else "mean"]


def _source(norm: Norm) -> str:
    """Where a norm is from, in one line."""
    source = norm.source
    place = ", ".join(filter(None, (source.reference, source.place)))
    graded = "" if norm.grade == "own" else f" [{norm.grade}]"
    return f"{norm.measure}, {norm.task}: {source.text}{f' ({place})' if place else ''}{graded}"


def make_statistics_plan(
    cut: StudyInPieces, noise: Randomness, questions: Questions, terms: Terms
) -> Plan[StatisticsDesign]:
    """Check everything that can be checked without any rows.

    Args:
        cut: the study.
        noise: where it will come from.
        questions: what is asked.
        terms: how it is wanted.
    """
    if cut.head.released:
        raise InputError(
            "this is a released dataset already: results are of the original study, whose ledger "
            "counts these people"
        )
    design = _design(cut, questions, terms)
    mechanism, facts = design.mechanism, design.facts
    reasons = [] if noise.private else [SEEDED]
    bounds = bounds_of(design.entries)
    if bounds.source is BoundsSource.DATA:
        reasons.append(DATA_NORMS)
    guarantee = promised(mechanism, facts, PERSON, *reasons)
    return Plan(
        design=design,
        what=f"{plural(len(design.described['rows']), 'result')} over people",
        mechanism=mechanism,
        people=design.asked.people,
        guarantee=guarantee,
        person_level=guarantee,
        how=mechanism.person_total(facts),
        bounds=bounds,
        noise=(mechanism.sampler(facts), mechanism.numerics, noise.name),
        unprotected=unprotected_of(design),
        # Whoever is in a public group is told apart by that.
        alike=not design.by,
        released_as=ReleasedAs(ReleaseKind.STATISTICS, design.by, design.groups),
        results=design.described,
        chosen=cut.head.chosen,
    )


def _design(cut: StudyInPieces, questions: Questions, terms: Terms) -> StatisticsDesign:
    """What is asked, of the usual measures as many as the budget carries where none is named."""
    own = _own_norms(terms.norms, None)

    def known(measure: Measure) -> bool:
        return norms_of([Column(measure)], terms.activity, own)[0] is not None

    if terms.activity not in TASKS or terms.activity == DIFFERENCE:
        raise unknown_activity(terms.activity)
    fewest = USUAL if questions.measures or questions.areas is not None else 1
    for many in range(USUAL, 0, -1):
        asked = asked_of(cut, questions, known, many)
        try:
            return designed(asked, questions.by, terms, cut.head.simulated)
        except InputError:
            if many == fewest:
                raise
    raise AssertionError("the last one is returned or fails")


def unknown_activity(name: str) -> InputError:
    """The error for what nobody does: differences are of norms, and no activity.

    >>> print(unknown_activity("reading"))
    unknown activity 'reading': did you mean 'silent-reading' or 'reading-aloud'?
    """
    known = [task for task in TASKS if task != DIFFERENCE]
    near = [task for task in known if name and name.lower() in task]
    if len(near) < 2:
        return unknown("activity", name, known)
    return InputError(f"unknown activity '{name}': did you mean {' or '.join(map(repr, near))}?")


def designed(
    asked: Asked, by: str | None, terms: Terms, simulated: bool = False
) -> StatisticsDesign:
    """Ranges, statistics and mechanism of what is asked, by public facts.

    Args:
        asked: of whom, and what.
        by: the attribute that groups are made by.
        terms: how it is wanted.
        simulated: whether these people are made up.
    """
    columns = asked.panel.columns
    names = [*(column.measure.name for column in columns), *asked.features]
    own = _own_norms(terms.norms, names)
    norms = norms_of(columns, terms.activity, own)
    sizes = tuple(people for _, people in asked.sizes)
    facts = StatisticsFacts.of(sum(sizes), len(columns), sizes)
    made = terms.mechanism
    if isinstance(made, str):
        given = {"epsilon": terms.epsilon, "delta": terms.delta, "by": by}
        said = terms.statistics
        made = (
            summary_mechanism(made, statistics=said, **given)
            if said
            else usual_mechanism(made, asked, norms, facts, terms.primary, **given)
        )
    elif made.by != by:
        raise InputError(
            f"{made.name} has by={made.by}, and results are asked for with by={by}: say the same "
            "in both"
        )
    check_carried(made, facts)
    _check_differences(columns, made, facts)
    entries = _entries(columns, norms, made, facts)
    return StatisticsDesign(asked, entries, tuple(norms), made, facts, simulated)


def _check_differences(
    columns: Sequence[Column], mechanism: Summary, facts: StatisticsFacts
) -> None:
    """Refuse what compares a person's number with 0 where it is no difference."""
    for part in mechanism.parts_for(facts):
        for statistic in part.statistics:
            if statistic.name not in _OF_DIFFERENCES:
                continue
            (which,) = statistic.columns
            if columns[which].contrast is None:
                raise InputError(
                    f"{statistic.name} is of a difference between two tasks, and number "
                    f"{which + 1}, {columns[which].measure.name}, is none: ask for a contrast "
                    f"(A-B), and name the entries that are one, such as {statistic.name}:2"
                )


def _entries(
    columns: Sequence[Column],
    norms: Sequence[Norm | None],
    mechanism: Summary,
    facts: StatisticsFacts,
) -> tuple[Entry, ...]:
    """Every number with its range, as wide as is best for so many people."""
    ks = widths(mechanism, facts)
    return tuple(
        entry_of(column, norm, k) for column, norm, k in zip(columns, norms, ks, strict=True)
    )


def widths(mechanism: Summary, facts: StatisticsFacts) -> list[float]:
    """How many standard deviations of a norm each range reaches to both sides.

    What is best for its mean, where it is noisiest; of what has no mean for a mean alone.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
    """
    alone = math.sqrt(2) / (min(facts.groups) * mechanism.epsilon)
    noisiest = [0.0] * facts.features
    for part in mechanism.parts_for(facts):
        for statistic in part.statistics:
            if statistic.name == "mean":
                (column,) = statistic.columns
                noisiest[column] = max(noisiest[column], part.spread or 0.0)
    return [best_k(spread or alone) for spread in noisiest]


def resized(
    design: StatisticsDesign, people: int | None = None, epsilon: float | None = None
) -> StatisticsDesign:
    """A design for another number of people, in groups of the same proportions, or at another ε.

    Args:
        design: of a release.
        people: how many.
        epsilon: the total for a person.
    """
    facts, made = design.facts, design.mechanism
    if people is not None:
        # Whoever rounding leaves over is in the first group.
        sizes = [size * people // facts.people for size in facts.groups]
        sizes[0] += people - sum(sizes)
        facts = StatisticsFacts.of(people, facts.features, tuple(sizes))
    if epsilon is not None:
        made = replace(made, epsilon=epsilon)
    check_carried(made, facts)
    entries = _entries(design.asked.panel.columns, design.norms, made, facts)
    return replace(design, entries=entries, mechanism=made, facts=facts)


def check_said(mechanism: str, said: Iterable[str]) -> None:
    """Refuse what is neither a question about results nor a term of them.

    Args:
        mechanism: its name.
        said: names of what was said.
    """
    known = [item.name for kind in (Questions, Terms) for item in fields(kind)]
    for name in said:
        if name not in known:
            raise unknown(f"parameter of {mechanism}", name, known)


def _own_norms(
    said: Path | str | Sequence[Norm] | None, names: Sequence[str] | None
) -> Sequence[Norm]:
    """Norms of one's own."""
    if said is None:
        return ()
    return read_norms(said, names) if isinstance(said, str | Path) else said


def bounds_of(entries: Sequence[Entry]) -> Bounds:
    """The ranges, by measure and task.

    Args:
        entries: every number with its range.
    """
    sources = {entry.range.source for entry in entries}
    source = BoundsSource.FILE if "file" in sources else BoundsSource.PUBLIC
    source = BoundsSource.DATA if "data" in sources else source
    return Bounds(
        {
            f"{entry.measure} {entry.task}".strip(): (entry.range.lower, entry.range.upper)
            for entry in entries
        },
        source,
    )


def unprotected_of(design: StatisticsDesign) -> list[str]:
    """What results show that noise does not hide.

    Args:
        design: of the release.
    """
    own = design.mechanism.unprotected(design.facts)
    areas = ["names and places of the areas of interest"] if design.asked.panel.areas else []
    return [*own, "the names of measures, of tasks and pages, and the ranges of numbers", *areas]
