"""All trials of a study, and what they come to.

**Which mechanism keeps most of a document at equal identification?** That is the paper's claim. The
common level is the lowest that all three published mechanisms reach: the highest of their lowest
rates. Of each mechanism that setting is taken whose rate is nearest to it, and not above. What they
promise is not equal, whatever their rates: that is told besides.

Settings that release the very same under a seed are tried once: k of the Marginals changes nothing,
and groups of 8 and of 10 among 20 people are the same two groups to `ksame`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from eyelid.attacks.statistics import mean_of_people
from eyelid.engine.engines import Shared, shared, spread
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.papers.davidjohn2022.trials import (
    EPSILONS,
    FEW_EPSILONS,
    FEW_KS,
    KS,
    MACHINE,
    PUBLISHED,
    RAW,
    READINGS,
    SAME_GROUPS,
    SAMPLED_MACHINE,
    SOUND,
    Kind,
    Outcome,
    Setting,
    Shares,
    gathered,
    of_decisions,
    of_windows,
    off_by_runs,
    place,
    released_digest,
)
from eyelid.papers.reproduction import Value


class Parted(Protocol):
    """A study that was parted for some protocol."""

    @property
    def whole(self) -> FeatureTable:
        """Everything, to be released."""
        ...

    @property
    def why_not(self) -> str:
        """Why no document can be told; empty if it can."""
        ...


Parts = TypeVar("Parts", bound=Parted)


@dataclass(frozen=True, eq=False)
class Results:
    """What came of every setting, over noisy runs.

    Attributes:
        table: what was released.
        outcomes: of each setting that could be run.
        left_out: why the others could not.
        why_no_document: why no document can be told; empty if it can.
        ks: the k that are looked at.
        epsilons: the ε.
        public_bounds: whether bounds of features are public; else they are the data's own, and what
            needs them promises nothing.
    """

    table: FeatureTable
    outcomes: dict[Setting, list[Outcome]]
    left_out: dict[Setting, str]
    why_no_document: str
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]
    public_bounds: bool = True

    @property
    def people(self) -> int:
        """How many there are."""
        return int(self.table.recordings["person"].n_unique())

    @property
    def tasks(self) -> int:
        """How many different ones there are."""
        tasks = self.table.recordings
        return int(tasks["task"].n_unique()) if "task" in tasks.columns else 1

    @property
    def machine(self) -> str:
        """The paper's SVM or, in a fast run, its approximation."""
        exact = any(MACHINE in run.told for runs in self.outcomes.values() for run in runs)
        return MACHINE if exact else SAMPLED_MACHINE

    @property
    def chance_named(self) -> float:
        """The rate of re-identifying somebody by guessing."""
        return 1 / self.people

    @property
    def chance_told(self) -> float:
        """The rate of telling a document by guessing."""
        return 1 / self.tasks

    def axis(self, kind: Kind) -> tuple[float, ...]:
        """The places that a mechanism is looked at."""
        return tuple(map(float, self.ks)) if kind.axis == "k" else self.epsilons

    def settings(self, kind: Kind) -> list[Setting]:
        """The settings of a mechanism that were run."""
        all_of_it = [Setting(kind.name, value) for value in self.axis(kind)]
        return [setting for setting in all_of_it if setting in self.outcomes]

    def named_by_protocol(self, setting: Setting) -> Value | None:
        """People re-identified by the paper's protocol."""
        runs = [run.named_by_protocol for run in self._runs(setting)]
        shares = [found for found in runs if found is not None]
        return of_decisions(shares, setting != RAW) if shares else None

    def named(self, setting: Setting) -> dict[str, Value]:
        """People re-identified leak-free, by attacker."""
        runs = gathered(run.named for run in self._runs(setting))
        return {name: of_decisions(shares, setting != RAW) for name, shares in runs.items()}

    def strongest(self, setting: Setting) -> tuple[str, Value]:
        """The attacker who re-identifies most, and how many."""
        return max(self.named(setting).items(), key=lambda pair: pair[1].mean)

    def told_by_protocol(self, setting: Setting) -> dict[str, Value]:
        """Documents told by the paper's protocol, by model."""
        runs = gathered(run.told_by_protocol for run in self._runs(setting))
        return {name: of_windows(shares, setting != RAW) for name, shares in runs.items()}

    def told(self, setting: Setting) -> dict[str, Value]:
        """Documents told leak-free, by model."""
        runs = gathered(run.told for run in self._runs(setting))
        return {name: of_windows(shares, setting != RAW) for name, shares in runs.items()}

    def told_by_person(self, setting: Setting, model: str) -> list[Shares]:
        """Shares of each person's documents that are told, one a run."""
        return [run.told[model] for run in self._runs(setting)]

    def seconds(self, kind: Kind) -> Value | None:
        """That a release of everything takes."""
        runs = [run.seconds for setting in self.settings(kind) for run in self._runs(setting)]
        return Value.of_runs(runs) if runs else None

    def valid(self, kind: Kind) -> bool:
        """Whether the guarantee of a mechanism of ours is valid on these people."""
        # A mean over a group of k needs no bounds.
        return self.public_bounds or kind.name == KSame.name

    def why_left_out(self, kind: Kind) -> str:
        """What of an axis was not run, and why, in a sentence; empty if all was."""
        gone: dict[str, list[str]] = {}
        for value in self.axis(kind):
            reason = self.left_out.get(Setting(kind.name, value))
            if reason is not None:
                # What differs between places is the place itself.
                gone.setdefault(re.sub(r"\bk ?= ?\d+", "k", reason), []).append(
                    place(kind.axis, value)
                )
        return " ".join(
            f"{kind.title}: left out {', '.join(places)}, since {reason}."
            for reason, places in gone.items()
        )

    def _runs(self, setting: Setting) -> list[Outcome]:
        return self.outcomes[setting]


def measured(
    parts: Parts,
    trial: Callable[[Shared[Parts], tuple[Setting, int]], Outcome | str],
    kinds: Sequence[Kind],
    repeats: int,
    fast: bool,
    seed: int,
) -> Results:
    """Try mechanisms at every place of their axes.

    Args:
        parts: a study, parted as a protocol needs it.
        trial: what is done with each release; a function of a module.
        kinds: the mechanisms.
        repeats: noisy runs of each.
        fast: at fewer places.
        seed: of the first run.
    """
    ks, epsilons = (FEW_KS, FEW_EPSILONS) if fast else (KS, EPSILONS)
    results = Results(parts.whole, {}, {}, parts.why_not, ks, epsilons)
    wanted = [Setting(kind.name, value) for kind in kinds for value in results.axis(kind)]
    for setting in wanted:
        if setting.mechanism in _OF_PEOPLE and setting.value > results.people:
            results.left_out[setting] = f"there are {results.people} people"
    runnable = [setting for setting in wanted if setting not in results.left_out]
    # Nothing is drawn for what is raw.
    jobs = [(RAW, seed), *((s, seed + run) for run in range(repeats) for s in runnable)]
    with shared(parts) as handle:
        same = _same_releases(handle, jobs)
        distinct = [job for job in jobs if job not in same]
        found = dict(
            zip(
                distinct,
                spread(partial(trial, handle), distinct, "releasing and attacking"),
                strict=True,
            )
        )
    for job in jobs:
        setting, outcome = job[0], found[same.get(job, job)]
        if isinstance(outcome, str):
            results.left_out[setting] = outcome
        else:
            results.outcomes.setdefault(setting, []).append(outcome)
    if RAW in results.left_out:
        raise InputError(results.left_out[RAW])
    return results


def _same_releases(
    parts: Shared[Parts], jobs: Sequence[tuple[Setting, int]]
) -> dict[tuple[Setting, int], tuple[Setting, int]]:
    """Jobs that release the same as an earlier one of their mechanism, with that one."""
    asked = [job for job in jobs if job[0].mechanism in _K_MAY_CHANGE_NOTHING]
    first: dict[tuple[str, int, str], tuple[Setting, int]] = {}
    same = {}
    digests = spread(partial(_digest, parts), asked, "releasing")
    for job, digest in zip(asked, digests, strict=True):
        earlier = first.setdefault((job[0].mechanism, job[1], digest), job)
        if earlier != job:
            same[job] = earlier
    return same


def _digest(parts: Shared[Parts], job: tuple[Setting, int]) -> str:
    return released_digest(parts.get().whole, job)


_K_MAY_CHANGE_NOTHING = ("marginals-paper", "ksame")
# A group or a crowd of more people than there are.
_OF_PEOPLE = ("ksame-paper", SAME_GROUPS, "ksame", "seeded")


_ROUNDING = 1e-9


@dataclass(frozen=True)
class Chosen:
    """A mechanism at the common level.

    Attributes:
        kind: which one.
        setting: where on its axis.
        named: how many people are re-identified.
        told: how many windows' document is told, by model.
        reaches: whether it is at or below the level.
    """

    kind: Kind
    setting: Setting
    named: Value
    told: dict[str, Value]
    reaches: bool

    def kept(self, model: str) -> tuple[str, Value]:
        """What a model tells, or its approximation where that alone was tried; and which it is."""
        return told_by(self.told, model)


@dataclass(frozen=True)
class Order:
    """Mechanisms at one level of identification.

    Attributes:
        level: at most so many people are re-identified.
        chosen: the published ones, their other readings, and ours.
    """

    level: float
    chosen: tuple[Chosen, ...]

    def of(self, name: str) -> Chosen:
        """The choice of one mechanism."""
        return next(one for one in self.chosen if one.kind.name == name)

    def ranked(self, model: str) -> list[Chosen]:
        """The published ones, those that keep most first."""
        published = [self.of(kind.name) for kind in PUBLISHED]
        return sorted(published, key=lambda one: -one.kept(model)[1].mean)

    def as_published(self, model: str) -> bool:
        """Whether the order is the paper's: groups, then marginals, then noise."""
        return [one.kind for one in self.ranked(model)] == list(PUBLISHED)


def told_by(rates: Mapping[str, Value], model: str) -> tuple[str, Value]:
    """What a model tells, or its approximation where that alone was tried; and which it is."""
    name = model if model in rates else SAMPLED_MACHINE
    return name, rates[name]


def order_by_protocol(results: Results) -> Order | None:
    """At equal identification by the paper's protocol; None where something is missing."""
    points = {}
    for kind in _named_kinds():
        for setting in results.settings(kind):
            named, rates = results.named_by_protocol(setting), results.told_by_protocol(setting)
            if named is not None and rates:
                points[setting] = named, rates
    return _order(results, points)


def order(results: Results) -> Order | None:
    """Leak-free, by the attacker who re-identifies most; None where something is missing."""
    points = {
        setting: (results.strongest(setting)[1], results.told(setting))
        for kind in _named_kinds()
        for setting in results.settings(kind)
        if results.told(setting)
    }
    return _order(results, points)


def surely_more(results: Results, more: Setting, less: Setting, model: str) -> bool:
    """Whether one keeps more than the other for people and runs at large.

    That is, whether the lower limit of the difference is above zero; one run is never enough.
    """
    sides = (results.told_by_person(setting, model) for setting in (more, less))
    runs = [np.asarray(one - other) for one, other in zip(*sides, strict=True)]
    found = mean_of_people(np.asarray(np.mean(runs, axis=0)))
    if found is None or found.low is None:
        return False
    return found.value > math.hypot(found.value - found.low, off_by_runs(runs))


def _named_kinds() -> list[Kind]:
    others = [
        kind for kinds in (*READINGS.values(), *SOUND.values()) for kind in kinds if kind.named
    ]
    return [*PUBLISHED, *others]


def _order(results: Results, points: dict[Setting, tuple[Value, dict[str, Value]]]) -> Order | None:
    of_kind = {
        kind: [setting for setting in results.settings(kind) if setting in points]
        for kind in _named_kinds()
    }
    if not all(of_kind[kind] for kind in PUBLISHED):
        return None
    level = max(min(points[setting][0].mean for setting in of_kind[kind]) for kind in PUBLISHED)

    def nearest(kind: Kind) -> Chosen:
        def place(setting: Setting) -> tuple[bool, float, float]:
            named, rates = points[setting]
            above = named.mean > level + _ROUNDING
            kept = told_by(rates, results.machine)[1]
            # Above the level, the less the better; of equal rates the one that keeps more.
            return above, abs(named.mean - level), -kept.mean

        setting = min(of_kind[kind], key=place)
        named, rates = points[setting]
        return Chosen(kind, setting, named, rates, not place(setting)[0])

    return Order(level, tuple(nearest(kind) for kind in of_kind if of_kind[kind]))
