"""Which releases could meet the user's goals: from public facts and the goals, nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from eyelid.comparisons.goals import Goal, Goals, Verdict
from eyelid.comparisons.settings import check_features, feature_mechanisms, mechanism_of
from eyelid.errors import EyelidError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms import find
from eyelid.mechanisms.certificate import Promise
from eyelid.mechanisms.differential import default_delta
from eyelid.mechanisms.expectation import predicted
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.rank1 import advantage_bound
from eyelid.privacy.unit import PERSON, Trust, Unit
from eyelid.releases.kinds.features.plan import promised, released_alike
from eyelid.reporting.comparisons.setting import Setting

# Up to this ε in total a promise to a person counts more than one chance in k.
STRONG_EPSILON = 10.0
# Without a goal for ε: what people ask for, more of it where the unit is less. What is computed
# over people is tried more finely: there a person can be hidden and something seen.
_EPSILONS = {
    "person": (1.0, 4.0, 16.0),
    "recording": (1.0, 4.0, 16.0),
    "record": (1.0, 4.0, 16.0, 64.0),
    "chunk": (1.0, 4.0, 16.0, 64.0),
}
_OVER_PEOPLE = (1.0, 2.0, 4.0, 8.0, 16.0)
# Of the ε that a goal allows.
_PARTS = (1.0, 0.5, 0.25)
_KS = (2, 3, 4, 6, 8)
# From the whole to its parts; a chunk is part of a recording, and no row.
_INSIDE = {
    "person": ("person",),
    "recording": ("person", "recording"),
    "record": ("person", "recording", "record"),
    "chunk": ("person", "recording", "chunk"),
}


@dataclass(frozen=True, eq=False)
class Candidate:
    """A release that could be made, with what it would promise.

    Attributes:
        setting: mechanism and parameters.
        promise: from public facts.
        facts: the public facts.
        unprotected: what it would show besides.
        k: people of a group; None where there are none.
    """

    setting: Setting
    promise: Promise
    facts: PublicFacts
    unprotected: tuple[str, ...] = ()
    k: int | None = None

    @property
    def people(self) -> int:
        """How many people."""
        return self.facts.people

    @property
    def nobodys(self) -> bool:
        """Whether nobody's own record is released, not even that of a small group."""
        return self.promise.guarantee.trust is Trust.CENTRAL and self.k is None

    @cached_property
    def advantage(self) -> float | None:
        """Largest advantage in membership inference; None for individual records."""
        return advantage_bound(self.promise.person_level) if self.nobodys else None

    @property
    def strength(self) -> tuple[float, ...]:
        """Sorts promises to a person, the strongest first."""
        person = self.promise.person_level
        epsilon = person.epsilon if person.epsilon is not None else math.inf
        if not person.kind.differential:
            return (1.0, -float(self.k or 0), math.inf)
        # Above ε = 10 a person is promised next to nothing: one chance in k is more.
        return (0.0 if epsilon <= STRONG_EPSILON else 2.0, epsilon, person.delta or 0.0)


def covers(unit: Unit, asked: str) -> bool:
    """Whether hiding one unit hides another: everything of a person hides each of their rows.

    >>> covers(Unit.parse("recording"), "record"), covers(Unit.parse("record"), "person")
    (True, False)
    """
    name, _, length = asked.partition(":")
    return unit.name in _INSIDE[name] and (unit.name != "chunk" or length in ("", str(unit.length)))


def promise_kept(goal: Goal, candidate: Candidate, goals: Goals) -> Verdict:
    """A goal that public facts decide."""
    promise = candidate.promise
    # For the unit asked for, and whatever holds it has the same ε; else for a person in total.
    hidden = goals.unit is not None and covers(promise.guarantee.unit, goals.unit)
    counted = promise.guarantee if hidden else promise.person_level
    value: float | None = None
    if goal.name == "unit":
        met = covers(promise.guarantee.unit, goal.word)
    elif goal.name == "kind":
        met = counted.kind == goal.word
    elif goal.name == "k":
        value = candidate.k
        met = value is not None and goal.met(value)
    else:
        value = counted.epsilon if goal.name == "epsilon" else counted.delta
        if goal.name == "delta" and counted.kind.differential:
            value = value or 0.0
        met = value is not None and goal.met(value)
    off = 0.0
    if not met:
        off = 1.0
        if value is not None and goal.name == "k":
            off = min(1.0, abs(1 - value / goal.limit))
        elif value:
            off = min(1.0, abs(1 - goal.limit / value))
    # JSON has no infinity, and no ε is what it is.
    known = value if value is not None and math.isfinite(value) else None
    return Verdict(goal.text, met, met, met, off, known)


def candidates(
    table: FeatureTable, goals: Goals, mechanisms: Sequence[str] | None = None
) -> tuple[list[Candidate], dict[str, str]]:
    """Every release worth a trial, and why others are none.

    Only what holds, and promises what the goals ask for. Of mechanisms that add noise to
    everybody's own values, or to a mean over everybody, and promise the same, two are tried at
    most: those with the smallest expected error of a value and of a recording's mean. Both errors
    follow from public facts.

    Args:
        table: whose public facts are taken: people, recordings, length, features.
        goals: which say what may be promised.
        mechanisms: only these; all that hold by default.

    Returns:
        Candidates, and by name those that cannot be run, with the reason.
    """
    found: list[Candidate] = []
    skipped: dict[str, str] = {}
    predictable: dict[tuple[object, ...], list[tuple[Candidate, float, float]]] = {}
    for setting in (one for kind in _kinds(mechanisms) for one in _settings(kind, goals, table)):
        try:
            mechanism = mechanism_of(setting)
            candidate = _candidate(setting, mechanism, table)
        except EyelidError as error:
            skipped[str(setting)] = str(error)
            continue
        asked = [goal for goal in goals.asked if not goal.measured]
        kept = all(promise_kept(goal, candidate, goals).met for goal in asked)
        if not kept or not candidate.promise.person_level.holds:
            continue
        if known := predicted(mechanism):
            facts = candidate.facts
            errors = known.expected_rmse_of_span(facts), known.expected_mean_rmse_of_span(facts)
            guarantee = candidate.promise.guarantee
            alike = (guarantee.unit, guarantee.trust, dict(setting.parameters)["epsilon"])
            predictable.setdefault((*alike, candidate.k), []).append((candidate, *errors))
        else:
            found.append(candidate)
    for same in predictable.values():
        of_value = min(same, key=lambda one: one[1])[0]
        of_mean = min(same, key=lambda one: one[2])[0]
        found += dict.fromkeys([of_value, of_mean])
    return found, skipped


def _kinds(mechanisms: Sequence[str] | None) -> Iterator[type[FeatureMechanism]]:
    """Mechanisms for features as they are, by name."""
    possible = [
        name
        for name in feature_mechanisms()
        if find(name).claims_to_hold and find(name).takes != "samples"
    ]
    for name in mechanisms or possible:
        kind = check_features(find(name))
        if kind.name not in possible:
            raise unknown("mechanism that holds and takes features", name, possible)
        yield kind


def _settings(kind: type[FeatureMechanism], goals: Goals, table: FeatureTable) -> Iterator[Setting]:
    """A mechanism with everything that may be tried of it."""
    known = {item.name for item in fields(kind)}
    people = table.recordings["person"].n_unique()
    for unit in _units(kind, goals):
        own = {} if unit == "person" else {"unit": unit}
        for epsilon in _epsilons(kind, goals, unit) if "epsilon" in known else (None,):
            fixed: dict[str, Any] = {} if epsilon is None else {"epsilon": epsilon}
            fixed |= _delta(goals, people) if "delta" in known else {}
            for more in _more(kind, goals, fixed, table):
                yield Setting(kind.name, tuple((fixed | own | more).items()))


def _units(kind: type[FeatureMechanism], goals: Goals) -> list[str]:
    """Units that hide what is asked for; with a goal for a person's ε, the person alone."""
    asked = goals.unit
    if asked is None:
        inside = _INSIDE["person" if goals.find("epsilon") else "record"]
    else:
        inside = _INSIDE[asked.partition(":")[0]]
    if kind.release.of_means:
        # A mean over people can as well hide all of a person.
        inside = ("person",)
    return [asked if unit == "chunk" and asked else unit for unit in inside if unit in kind.units]


def _epsilons(kind: type[FeatureMechanism], goals: Goals, unit: str) -> tuple[float, ...]:
    goal = goals.find("epsilon")
    if goal is None:
        central = kind.trust is Trust.CENTRAL
        return _OVER_PEOPLE if central else _EPSILONS[unit.partition(":")[0]]
    if goal.sign == "=":
        return (goal.limit,)
    return tuple(goal.limit * part for part in _PARTS if goal.met(goal.limit * part))


def _delta(goals: Goals, people: int) -> dict[str, Any]:
    goal = goals.find("delta")
    if goal is None or (goal.sign != "=" and goal.met(default_delta(people))):
        return {}
    return {"delta": goal.limit if "=" in goal.sign else goal.limit / 2}


def _more(
    kind: type[FeatureMechanism], goals: Goals, fixed: Mapping[str, Any], table: FeatureTable
) -> Iterable[dict[str, Any]]:
    """Parameters besides ε, δ and the unit: sizes of groups that chance draws, or its own."""
    if kind.release not in (ReleaseKind.GROUPS, ReleaseKind.RANDOM_MEANS):
        return kind.variants(table, **fixed)
    people = table.recordings["person"].n_unique()
    return [{"k": k} for k in _ks(goals, people, with_noise=kind.release.of_means)]


def _ks(goals: Goals, people: int, with_noise: bool) -> list[int]:
    """Sizes of groups; under noise the larger the better, so that the largest are tried."""
    goal, rank1 = goals.find("k"), goals.find("rank1")
    smallest = 2 if goal is None else int(goal.limit) + (goal.sign == ">")
    if goal is not None and goal.sign == "=":
        return [smallest]
    if with_noise:
        return [max(smallest, people // 2)]
    # Two groups are as many as can be told apart: more people in each name nobody less.
    tried = {k for k in (*_KS, 2 * smallest, people // 2) if 2 * k <= people}
    if rank1 is not None:
        # From this k on the guarantee itself implies the goal.
        tried.add(min(people, math.ceil(1 / rank1.limit - 1e-9)))
    return sorted(k for k in {*tried, smallest} if k >= smallest)


def _candidate(setting: Setting, mechanism: FeatureMechanism, table: FeatureTable) -> Candidate:
    """What a setting would promise; refused where it could not be released."""
    facts = mechanism.facts(table)
    mechanism.check(table)
    guarantee = promised(mechanism, facts, mechanism.unit)
    promise = Promise(
        guarantee,
        promised(mechanism, facts, PERSON),
        mechanism.person_total(facts),
        released_alike(mechanism, guarantee, table),
    )
    return Candidate(
        setting, promise, facts, tuple(mechanism.unprotected(table)), mechanism.group_size
    )
