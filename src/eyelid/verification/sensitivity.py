"""The sensitivity fuzz: without noise, no neighbours may differ by more than is declared.

Beside it, two more things that need no noise to be seen: that a person's integers are their own,
with any others in the table, and that a private choice and the noise after it fit into one ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eyelid.mechanisms.differential import NoisyMechanism, noise_of
from eyelid.mechanisms.exponential_mechanism import log_chances
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.privacy.gaussian import discreteness_slack, gaussian_epsilon
from eyelid.privacy.noise import DiscreteLaplace
from eyelid.privacy.unit import Unit

_BATCH = 256
# People of each batch who are measured alone as well.
_ALONE = 8
# Norms of integers, and logarithms, in floating point are right to about 1e-15.
FLOATING = 1e-12


@dataclass(frozen=True)
class FuzzResult:
    """The largest difference found, as a share of the declared sensitivity.

    Attributes:
        mechanism: its name.
        unit: where the neighbours differ.
        reached: at most 1 if the declaration is true; near 1 if it is not wasteful. Of sums over
            people also what their noise loses, as a share of what is stated.
        pairs: how many were tried.
        chosen: the most that choice and noise can lose together, as a share of the ε that is
            stated; 0 where nothing is chosen.
        mixed: people, of those looked at, who are measured otherwise among others than alone; of
            statistics over people, studies of which something else is measured in another order.
        settings: what sets this one apart from others of its kind that are looked at.
    """

    mechanism: str
    unit: str
    reached: float
    pairs: int
    chosen: float
    mixed: int
    settings: str = ""

    @property
    def refuted(self) -> bool:
        """Whether some pair exceeds what is declared, or a person's integers are not their own."""
        return self.reached > 1.0 or self.chosen > 1.0 or self.mixed > 0


def fuzz(mechanism: NoisyMechanism, unit: Unit, pairs: int, seed: int = 0) -> FuzzResult:
    """Try random and extreme neighbours, inside and outside the bounds, missing values included."""
    rng = np.random.default_rng(seed)
    worst, chosen, mixed, tried = 0.0, 0.0, 0, 0

    def look_at(one: Values, other: Values, facts: PublicFacts) -> None:
        """At neighbours, the first axis going over pairs."""
        nonlocal worst, chosen, mixed
        worst = max(worst, _reached(mechanism, one, other, facts, unit))
        chosen = max(chosen, _lost_with_choice(mechanism, one, other, facts, unit))
        mixed += _mixed(mechanism, one, facts)

    for pair in mechanism.neighbour_pairs(unit):
        look_at(pair.one[None], pair.other[None], pair.facts)
        worst = max(worst, _stated(mechanism, pair.facts, unit))
    while tried < pairs:
        facts = mechanism.random_facts(rng)
        size = (facts.recordings, facts.length, facts.features)
        batch = min(_BATCH, pairs - tried)
        one = hostile(rng, (batch, *size))
        other = one.copy()
        where = np.zeros(size, dtype=bool)
        where[mechanism.within(facts, unit)] = True
        other[:, where] = hostile(rng, other[:, where].shape)
        # In half of the pairs the unit goes from one end to the other.
        ends = rng.random(batch) < 0.5
        one[ends] = np.where(where, -rng.random(), one[ends])
        other[ends] = np.where(where, 1.0 + rng.random(), one[ends])
        look_at(one, other, facts)
        tried += batch
    room = 1 + FLOATING
    return FuzzResult(mechanism.name, str(unit), worst / room, tried, chosen / room, mixed)


def _reached(
    mechanism: NoisyMechanism, one: Values, other: Values, facts: PublicFacts, unit: Unit
) -> float:
    """The largest distance of neighbours, as a share of what is declared."""
    steps = mechanism.query(one, facts) - mechanism.query(other, facts)
    distance = mechanism.distance(steps.reshape(len(one), -1))
    return float(distance.max() / mechanism.sensitivity(facts, unit))


def _stated(mechanism: NoisyMechanism, facts: PublicFacts, unit: Unit) -> float:
    """What noise of this scale loses at the declared sensitivity, over what is stated, of sums."""
    if mechanism.family not in _SUMS or mechanism.chooses:
        return 0.0
    said, distribution = mechanism.cost(facts, unit), noise_of(mechanism, facts)
    loss = mechanism.sensitivity(facts, unit) / distribution.scale
    if isinstance(distribution, DiscreteLaplace):
        return loss / (said.epsilon or 0.0)
    slack = discreteness_slack(facts.recordings * facts.length, distribution.scale)
    epsilon = gaussian_epsilon(loss, said.delta or 0.0, slack)
    return max(loss / (said.mu or 0.0), epsilon / (said.epsilon or 0.0))


def _lost_with_choice(
    mechanism: NoisyMechanism, one: Values, other: Values, facts: PublicFacts, unit: Unit
) -> float:
    """What any choice can tell, and the noise of the worst one, as a share of the ε stated."""
    lost = _CHOSEN.get(mechanism.family) if mechanism.chooses else None
    return lost(mechanism, one, other, facts, unit) if lost else 0.0


def _lost_with_cap(
    mechanism: Any, one: Values, other: Values, facts: PublicFacts, _: Unit
) -> float:
    lost = _loss_of_choice(mechanism, one, other, facts)
    # Candidates are the mechanism itself with a number for a cap, which has its own fuzz.
    of_noise = max(each.epsilon for each in mechanism.candidates())
    return float((lost.max() + of_noise) / mechanism.epsilon)


def _lost_with_k(
    mechanism: Any, one: Values, other: Values, facts: PublicFacts, unit: Unit
) -> float:
    lost = _loss_of_choice(mechanism, one, other, facts)
    of_choice = lost.max(axis=-1).reshape(len(one), -1).sum(axis=1).max()
    # What noise loses is how far integers go, over the scale that is drawn whatever was chosen.
    scale = noise_of(mechanism, facts).scale
    of_noise = max(
        each.sensitivity(facts, unit) * max(1.0, _reached(each, one, other, facts, unit)) / scale
        for each in mechanism.candidates(facts)
    )
    return float((of_choice + of_noise) / (mechanism.cost(facts, unit).epsilon or 0.0))


def _loss_of_choice(mechanism: Any, one: Values, other: Values, facts: PublicFacts) -> Values:
    """How much likelier neighbours make each choice."""
    scale = noise_of(mechanism, facts).scale
    chances = [log_chances(mechanism.costs(values, facts), scale) for values in (one, other)]
    return np.abs(chances[0] - chances[1])


# Families that choose privately, and how what they lose is put together.
_CHOSEN: dict[str, Callable[[Any, Values, Values, PublicFacts, Unit], float]] = {
    "fourier": _lost_with_k,
    "maps": _lost_with_cap,
}
_SUMS = ("sums", "maps", "tables")


def _mixed(mechanism: Any, values: Values, facts: PublicFacts) -> int:
    """How many of the first people are measured otherwise alone, by as little as one step."""
    measures = [mechanism.query]
    if mechanism.chooses and mechanism.family in _CHOSEN:
        measures.append(mechanism.costs)
    among = [measure(values, facts) for measure in measures]
    return sum(
        any(
            not np.array_equal(everybody[i : i + 1], measure(values[i : i + 1], facts))
            for everybody, measure in zip(among, measures, strict=True)
        )
        for i in range(min(_ALONE, len(values)))
    )


def hostile(rng: np.random.Generator, shape: tuple[int, ...]) -> Values:
    """Values of every kind: inside, at the ends, far outside, missing, infinite."""
    kinds = rng.integers(0, 6, size=shape)
    return np.choose(
        kinds,
        [
            rng.random(shape),
            np.rint(rng.random(shape)),
            rng.normal(0.5, 2.0, shape),
            rng.normal(0.0, 1e6, shape),
            np.full(shape, np.nan),
            np.where(rng.random(shape) < 0.5, -np.inf, np.inf),
        ],
    )
