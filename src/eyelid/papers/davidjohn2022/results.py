"""All trials of a study, and what they come to.

**Which mechanism keeps most of a document at equal identification?** That is the paper's claim. The
common level is the lowest that all three published mechanisms reach: the highest of their lowest
rates. Of each mechanism that setting is taken whose rate is nearest to it, and not above. What they
promise is not equal, whatever their rates: that is told besides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from eyelid.attacks.statistics import mean_of_people
from eyelid.engine.engines import Shared, shared, spread
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.papers.davidjohn2022.trials import (
    EPSILONS,
    FEW_EPSILONS,
    FEW_KS,
    KS,
    MACHINE,
    PUBLISHED,
    RAW,
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
    """

    table: FeatureTable
    outcomes: dict[Setting, list[Outcome]]
    left_out: dict[Setting, str]
    why_no_document: str
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]

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
    def chance_named(self) -> float:
        """Of naming somebody by guessing."""
        return 1 / self.people

    @property
    def chance_told(self) -> float:
        """Of telling a document by guessing."""
        return 1 / self.tasks

    def axis(self, kind: Kind) -> tuple[float, ...]:
        """The places that a mechanism is looked at."""
        return tuple(map(float, self.ks)) if kind.axis == "k" else self.epsilons

    def settings(self, kind: Kind) -> list[Setting]:
        """Those of a mechanism that were run."""
        all_of_it = [Setting(kind.name, value) for value in self.axis(kind)]
        return [setting for setting in all_of_it if setting in self.outcomes]

    def named_as_printed(self, setting: Setting) -> Value | None:
        """People named under the paper's protocol."""
        return self._over(setting, lambda run: run.named_as_printed, of_decisions)

    def named(self, setting: Setting) -> dict[str, Value]:
        """People named honestly, by attacker."""
        runs = gathered(run.named for run in self._runs(setting))
        return {name: of_decisions(shares, setting != RAW) for name, shares in runs.items()}

    def strongest(self, setting: Setting) -> tuple[str, Value]:
        """The attacker who names most, and how many."""
        return max(self.named(setting).items(), key=lambda pair: pair[1].mean)

    def told_as_printed(self, setting: Setting) -> Value | None:
        """Documents told under the paper's protocol."""
        return self._over(setting, lambda run: run.told_as_printed, of_windows)

    def told(self, setting: Setting) -> dict[str, Value]:
        """Documents told honestly, by model."""
        runs = gathered(run.told for run in self._runs(setting))
        return {name: of_windows(shares, setting != RAW) for name, shares in runs.items()}

    def told_by_person(self, setting: Setting, model: str = MACHINE) -> list[Shares]:
        """The same by person, one a run."""
        return [run.told[model] for run in self._runs(setting)]

    def seconds(self, kind: Kind) -> Value | None:
        """That a release of everything takes."""
        runs = [run.seconds for setting in self.settings(kind) for run in self._runs(setting)]
        return Value.of_runs(runs) if runs else None

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

    def _over(
        self,
        setting: Setting,
        which: Callable[[Outcome], Shares | None],
        value: Callable[[Sequence[Shares], bool], Value],
    ) -> Value | None:
        shares = [found for run in self._runs(setting) if (found := which(run)) is not None]
        return value(shares, setting != RAW) if shares else None


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
        found = spread(partial(trial, handle), jobs, "releasing and attacking")
        for (setting, _), outcome in zip(jobs, found, strict=True):
            if isinstance(outcome, str):
                results.left_out[setting] = outcome
            else:
                results.outcomes.setdefault(setting, []).append(outcome)
    if RAW in results.left_out:
        raise InputError(results.left_out[RAW])
    return results


# A group or a crowd of more people than there are.
_OF_PEOPLE = ("ksame-paper", "ksame", "seeded")


_ROUNDING = 1e-9


@dataclass(frozen=True)
class Chosen:
    """A mechanism at the common level.

    Attributes:
        kind: which one.
        setting: where on its axis.
        named: how many people are.
        told: how many windows' document is, by model; one model under the paper's protocol.
        reaches: whether it is at or below the level.
    """

    kind: Kind
    setting: Setting
    named: Value
    told: dict[str, Value]
    reaches: bool


@dataclass(frozen=True)
class Order:
    """Mechanisms at one level of identification.

    Attributes:
        level: at most so many people are named.
        chosen: the published ones and ours.
    """

    level: float
    chosen: tuple[Chosen, ...]

    def of(self, name: str) -> Chosen:
        """That of one mechanism."""
        return next(one for one in self.chosen if one.kind.name == name)

    def ranked(self, model: str = MACHINE) -> list[Chosen]:
        """The published ones, those that keep most first."""
        published = [self.of(kind.name) for kind in PUBLISHED]
        return sorted(published, key=lambda one: -one.told[model].mean)

    def as_published(self, model: str = MACHINE) -> bool:
        """Whether the order is the paper's: groups, then marginals, then noise."""
        return [one.kind for one in self.ranked(model)] == list(PUBLISHED)


def order_as_printed(results: Results) -> Order | None:
    """At equal identification under the paper's protocol; None where something is missing."""
    points = {}
    for kind in _named_kinds():
        for setting in results.settings(kind):
            named, told = results.named_as_printed(setting), results.told_as_printed(setting)
            if named is not None and told is not None:
                points[setting] = named, {MACHINE: told}
    return _order(results, points)


def order(results: Results) -> Order | None:
    """The same honestly: by the attacker who names most; None where something is missing."""
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
    ours = [kind for kinds in SOUND.values() for kind in kinds if kind.named]
    return [*PUBLISHED, *ours]


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
            named, told = points[setting]
            above = named.mean > level + _ROUNDING
            # Above the level, the less the better; of equal rates the one that keeps more.
            return above, abs(named.mean - level), -told[MACHINE].mean

        setting = min(of_kind[kind], key=place)
        named, told = points[setting]
        return Chosen(kind, setting, named, told, not place(setting)[0])

    return Order(level, tuple(nearest(kind) for kind in of_kind if of_kind[kind]))
