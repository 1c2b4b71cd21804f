"""Mechanisms as papers print them: noise scaled by the data themselves.

None gives what it prints: they are here to be compared with. Nothing is clipped, since no bound is
used.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import DifferentialMechanism, offered_unit
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.papers.floating_noise import NUMERICS
from eyelid.papers.signals import (
    TaskSignals,
    longest_facts,
    signals_of,
    subsampled,
    table_of,
    tasks_of,
)
from eyelid.privacy.guarantee import Guarantee, Kind, rounded_up
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, RECORDING, Neighbours, Trust, Unit

_BYSTANDER = 0.25


@dataclass(frozen=True)
class PaperMechanism(DifferentialMechanism, FeatureMechanism):
    """Noise on whole tables, scaled by what the people in them happen to be like.

    Offered for a recording: that is what a paper's ε, summed over features, would be about. The
    number beside it for a person is what the loss would come to if the scale were public.
    """

    takes: ClassVar[str] = "features"
    kind: ClassVar[Kind] = Kind.NONE
    units: ClassVar[tuple[str, ...]] = ("recording",)
    release: ClassVar[ReleaseKind] = ReleaseKind.RECORDS
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    predictable: ClassVar[bool] = True
    claims_to_hold: ClassVar[bool] = False
    lengths: ClassVar[str] = "recordings keep their own lengths"

    unit: Unit = offered_unit(RECORDING)
    subsample: int = parameter("every so many-th row is kept, before the noise", default=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subsample < 1:
            raise InputError(f"subsample must be at least 1, got {self.subsample}")

    @abstractmethod
    def randomised(
        self, tasks: Sequence[TaskSignals], runs: int, noise: Randomness
    ) -> Iterator[tuple[TaskSignals, Values]]:
        """Each task, as it is padded, with its noisy signals (runs, recordings, features, rows)."""

    @abstractmethod
    def why_not(self, facts: PublicFacts) -> Iterator[str]:
        """Why the printed guarantee does not hold, in words."""

    @abstractmethod
    def with_public_scale(self, facts: PublicFacts, unit: Unit) -> tuple[float, str]:
        """What a unit would lose at most if the noise did not depend on the data, and why."""

    @property
    def kept_one_in(self) -> int:
        """Rows are thinned out before the noise."""
        return self.subsample

    def epsilon_per_feature(self, features: int) -> float:
        """The printed ε is split evenly over the features."""
        return self.epsilon / features

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """No guarantee. The number is the printed claim, and for a person what would hold."""
        loss = self.epsilon if unit == self.unit else self.with_public_scale(facts, unit)[0]
        return Guarantee(
            kind=Kind.NONE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=Trust.LOCAL,
            epsilon=loss,
        ).broken(*self.why_not(facts))

    def person_total(self, facts: PublicFacts) -> str:
        """That there is none, and what it would be."""
        loss, how = self.with_public_scale(facts, PERSON)
        if math.isinf(loss):
            return f"no bound: the noise is scaled by the data, and {how}"
        return (
            "no bound: the noise is scaled by the data. Had the scale been public, "
            f"ε = {rounded_up(loss)} for a person: {how}"
        )

    @property
    def numerics(self) -> str:
        """Floating point."""
        return NUMERICS

    def facts(self, table: FeatureTable) -> PublicFacts:
        """People, the most recordings of one, the longest recording's rows, features."""
        # Whatever cannot be compared is refused now.
        list(tasks_of(table))
        facts = longest_facts(table)
        return replace(facts, length=math.ceil(facts.length / self.subsample))

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """The noisy table. Time stamps are rewritten to the step, labels are dropped."""
        thinned = subsampled(table, self.subsample)
        noisy = self.randomised(list(signals_of(thinned)), 1, noise)
        return table_of([replace(task, values=values[0]) for task, values in noisy], thinned)

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What is released without any noise at all; the reasons say why the rest is not safe."""
        return [
            "the number of people, their names and order, their recordings, tasks and stimuli",
            f"how long recordings are: {self.lengths}",
        ]

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """The noisy values of a bystander, who was recorded in the same tasks."""
        tasks = [
            together(np.stack([np.full_like(recording, _BYSTANDER), recording]))
            for recording in values.transpose(0, 2, 1)
        ]
        played = [noisy[:, 0].reshape(runs, -1) for _, noisy in self.randomised(tasks, runs, noise)]
        return np.concatenate(played, axis=1)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """Somebody just like the bystander, whose noise then has scale 0, against somebody else."""
        facts = PublicFacts(1, 1, 4, 1)
        like = np.full((1, 4, 1), _BYSTANDER)
        yield NeighbourPair("like somebody else, or not", facts, unit, like, like + 0.5)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """How far the bystander's values are off."""
        off: Values = np.abs(outputs - _BYSTANDER).sum(axis=1)
        return off


def together(values: Values) -> TaskSignals:
    """Made-up recordings of one task, (recordings, features, rows)."""
    count, _, rows = values.shape
    return TaskSignals("", values, np.full(count, rows), np.arange(count))
