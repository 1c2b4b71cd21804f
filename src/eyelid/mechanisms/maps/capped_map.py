"""Maps of counts: at most m in a cell, at most M in all, as public numbers or by a private choice.

The cap may also be the paper's own choice (Liu et al. 2019, Algorithm 1), which reads the data: no
guarantee holds then, and the mechanisms of `eyelid.papers` have it.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.mechanisms.differential import SCALE, Integers
from eyelid.mechanisms.exponential_mechanism import choose, log_chances
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism, cleaned, with_others
from eyelid.mechanisms.maps.noisy_sum import NoisyMap
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter
from eyelid.privacy.noise import Randomness

# Of ε, for a private choice of the cap.
_SHARE = 0.1
# Sums in floating point may differ in their last places; this is far more.
_ROOM = 1 + 2.0**-20
# Bits of what a cap cuts off: of parts of one count, and of everybody's together.
_FINEST, _WIDEST = 20, 60
# In the fuzz: so many others that what they lose by a cap is far more than the noise.
_CROWD = 64


@dataclass(frozen=True)
class CappedMap(NoisyMap):
    """Counts of gaze points: everybody's scaled down to M in all, then cut at m in each cell."""

    cap: int | str = parameter("m, the most of a person in one cell, or private", default=1)
    samples: int = parameter("M, the most of a person in all layers together", default=30)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 1:
            raise InputError(f"samples must be at least 1, got {self.samples}")
        if isinstance(self.cap, str):
            if self.cap != "private":
                raise InputError(f"cap must be a number or private, got '{self.cap}'")
        elif self.cap < 1:
            raise InputError(f"cap must be at least 1, got {self.cap}")

    @abstractmethod
    def noise_norm(self, facts: MapFacts) -> float:
        """Root of the expected squared length of the noise on the sum, over all cells."""

    @property
    def chooses(self) -> bool:
        """Whether the cap is chosen privately."""
        return self.cap == "private"

    @property
    def most(self) -> int:
        """The cap m; of a private choice the largest candidate."""
        return self.samples if isinstance(self.cap, str) else self.cap

    @property
    def epsilon_of_choice(self) -> float:
        """What the choice of a cap may lose."""
        return _SHARE * self.epsilon if self.chooses else 0.0

    @property
    def most_of_person(self) -> float:
        """M."""
        return float(self.samples)

    def may_become(self, chosen: MapMechanism) -> bool:
        """As one of its candidates, where it chooses."""
        return chosen in self.candidates() if self.chooses else chosen == self

    def cells_of_about(self, people: int, layers: int) -> float:
        """As many as there are pixels: noise in counts is the same however many."""
        return math.inf

    def largest(self, facts: MapFacts) -> float:
        """M."""
        return float(self.most)

    def scaled(self, counts: PersonCounts) -> Values:
        """Each person's counts, in proportion, no more than M in all."""
        sums = counts.per_person(counts.count)
        return counts.count * np.minimum(1.0, self.samples / np.maximum(sums, 1.0))[counts.person]

    def limited(self, counts: PersonCounts, facts: MapFacts) -> Values:
        """No more than M in all, no more than m in a cell."""
        return np.minimum(self.scaled(counts), float(self.most))

    def candidates(self) -> tuple[Self, ...]:
        """The mechanism with each cap it may choose, 1, 2, 4, … M, under what is left of ε."""
        return _candidates(self)  # type: ignore[return-value]

    def costs(self, values: Values, facts: PublicFacts) -> Integers:
        """What each cap costs a person and a crowd (…, candidates), in steps of the choice.

        The crowd stares at one cell: where much is cut off, one person more or less matters most.
        """
        assert isinstance(facts, MapFacts)
        *front, layers, cells, _ = values.shape
        dense = cleaned(values).reshape(-1, layers * cells)
        crowd = np.zeros((_CROWD, layers * cells))
        crowd[:, 0] = self.samples
        found = [
            self.costs_of(PersonCounts.of_dense(np.vstack([row, crowd])), facts) for row in dense
        ]
        return np.stack(found).reshape(*front, -1)

    def costs_of(self, counts: PersonCounts, facts: MapFacts) -> Integers:
        """What each cap costs everybody, in steps of which P ∝ exp(−steps/SCALE)."""
        return self.costs_of_cuts(self.cuts(counts, facts), facts)

    def cuts(self, counts: PersonCounts, facts: MapFacts) -> Integers:
        """What each cap cuts off some of the people, in all cells (candidates, cells).

        In whole parts, cut towards zero: parts of all people can be added up in any order, and no
        person's tail gets longer.
        """
        clean = replace(counts, count=cleaned(counts.count))
        scaled = self.scaled(clean)
        summed = np.zeros((len(self.candidates()), counts.cells), dtype=np.int64)
        for cells, each in zip(summed, self.candidates(), strict=True):
            above = scaled > each.most
            tail = np.floor((scaled[above] - each.most) * self._parts(facts))
            np.add.at(cells, counts.cell[above], tail.astype(np.int64))
        return summed

    def costs_of_cuts(self, cuts: Integers, facts: MapFacts) -> Integers:
        """√(‖what is cut off‖² + E‖noise‖²) of each cap, in steps of which P ∝ exp(−steps/SCALE).

        One person moves what is cut off by at most √2·M: two tails without negative parts, each of
        length M at most.
        """
        # The exponential mechanism halves what it is given: the normaliser moves as well.
        step = 2 * math.sqrt(2) * self.samples * _ROOM / (self.epsilon_of_choice * SCALE)
        parts = self._parts(facts)
        found = [
            # Without BLAS, whose sums depend on the number of threads.
            math.hypot(math.sqrt(float(np.square(cells / parts).sum())), each.noise_norm(facts))
            / step
            for cells, each in zip(cuts, self.candidates(), strict=True)
        ]
        return np.asarray(np.floor(found), dtype=np.int64)

    def _parts(self, facts: MapFacts) -> float:
        """Parts of a count: a power of 2, such that everybody's tails fit into an integer."""
        return 2.0 ** min(_FINEST, _WIDEST - (facts.people * self.samples).bit_length())

    def settled(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Self:
        """The mechanism with its cap chosen, under what is left of ε."""
        return self.settled_by(self.cuts(counts, facts), facts, noise) if self.chooses else self

    def settled_by(self, cuts: Integers, facts: MapFacts, noise: Randomness) -> Self:
        """The mechanism with its cap chosen by what each cap cuts off everybody."""
        index = int(choose(self.costs_of_cuts(cuts, facts), SCALE, noise))
        return self.candidates()[index]

    def measure(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Values:
        """Choose, if there is anything to choose, and measure."""
        if self.chooses:
            return self.settled(counts, facts, noise).measure(counts, facts, noise)
        return super().measure(counts, facts, noise)

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """With a private choice the number of what was chosen comes last."""
        if not self.chooses:
            return super().play(values, facts, runs, noise)
        assert isinstance(facts, MapFacts)
        costs = self.costs_of(with_others(cleaned(values)), facts)
        chosen = choose(np.broadcast_to(costs, (runs, costs.size)), SCALE, noise)
        outputs = np.empty((runs, values.size + 1))
        outputs[:, -1] = chosen
        for number in np.unique(chosen):
            mine = chosen == number
            mechanism = self.candidates()[number]
            outputs[mine, :-1] = mechanism.play(values, facts, int(mine.sum()), noise)
        return outputs

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of choice and noise together."""
        if not self.chooses:
            return super().score(outputs, pair)
        facts = pair.facts
        assert isinstance(facts, MapFacts)
        one, other = (
            log_chances(self.costs_of(with_others(cleaned(side)), facts), SCALE)
            for side in (pair.one, pair.other)
        )
        chosen = outputs[:, -1].astype(np.intp)
        ratio: Values = (other - one)[chosen]
        for number in np.unique(chosen):
            mine = chosen == number
            ratio[mine] += self.candidates()[number].score(outputs[mine, :-1], pair)
        return ratio


@functools.lru_cache(maxsize=64)
def _candidates(mechanism: CappedMap) -> tuple[CappedMap, ...]:
    left = mechanism.epsilon - mechanism.epsilon_of_choice
    caps = [2**power for power in range(mechanism.samples.bit_length())]
    return tuple(replace(mechanism, cap=cap, epsilon=left) for cap in caps)
