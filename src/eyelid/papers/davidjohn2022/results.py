"""All trials of a study, and what they come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from eyelid.engine.engines import Shared, shared, spread
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.papers.davidjohn2022.settings import (
    EPSILONS,
    FEW_EPSILONS,
    FEW_KS,
    KS,
    RAW,
    Kind,
    Setting,
    place,
)
from eyelid.papers.davidjohn2022.trials import (
    MACHINE,
    Outcome,
    Shares,
    gathered,
    of_decisions,
    of_windows,
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
