"""Planted faults: broken twins of a mechanism that ``verify`` must catch, or it proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.audits.game import play
from eyelid.audits.precision import attack
from eyelid.mechanisms.additive import AdditiveMechanism
from eyelid.mechanisms.mechanism import Mechanism, Shape, Values
from eyelid.privacy.noise import DiscreteLaplace, DiscreteNoise, Randomness
from eyelid.privacy.unit import PERSON, RECORDING


@dataclass(frozen=True)
class Fault:
    """A broken twin and the attack that should see it.

    Attributes:
        name: what was broken.
        mechanism: whose twin it is.
        caught: plays the attack and says whether the claim was refuted.
    """

    name: str
    mechanism: str
    caught: Callable[[int, Randomness], bool]


def faults_of(mechanism: Mechanism) -> Iterator[Fault]:
    """Every planted fault that makes sense for this mechanism."""
    if isinstance(mechanism, AdditiveMechanism):
        yield _game_fault("scale × 0.85", mechanism, {"noise": _too_little_noise})
        yield _game_fault("missing clip", mechanism, {"clip": _no_clip})
        yield _float_noise(mechanism)
        if {"person", "recording"} <= set(mechanism.units):
            yield _recording_as_person(mechanism)


def twin(mechanism: Mechanism, changes: dict[str, Any]) -> Any:
    """The same mechanism with some methods replaced; it does not join the catalogue."""
    kind = type(mechanism)
    return type(f"Faulty{kind.__name__}", (kind,), changes)(**vars(mechanism))


def _game_fault(name: str, mechanism: Mechanism, changes: dict[str, Any]) -> Fault:
    def caught(runs: int, noise: Randomness) -> bool:
        unit = mechanism.unit
        broken = twin(mechanism, changes)
        return play(broken, unit, runs, noise, lambda s: mechanism.cost(s, unit)).refuted

    return Fault(name, mechanism.name, caught)


def _too_little_noise(self: AdditiveMechanism, shape: Shape) -> DiscreteNoise:
    law: DiscreteNoise = type(self).__mro__[1].noise(self, shape)  # type: ignore[attr-defined]
    return type(law)(int(0.85 * law.scale))


def _no_clip(self: AdditiveMechanism, values: Values) -> Values:
    return np.where(np.isnan(values), 0.5, values)


def _float_noise(mechanism: AdditiveMechanism) -> Fault:
    """Textbook noise in floating point instead of integers on a grid."""

    def randomise(self: AdditiveMechanism, values: Values, shape: Shape, _: Randomness) -> Values:
        rng = np.random.default_rng()
        pure = isinstance(self.noise(shape), DiscreteLaplace)
        draw: Callable[..., NDArray[np.float64]] = rng.laplace if pure else rng.normal
        return self.clip(values) + draw(0.0, self.scale_in_spans(shape), values.shape)

    def caught(runs: int, noise: Randomness) -> bool:
        broken = twin(mechanism, {"randomise": randomise})
        pair = next(mechanism.neighbour_pairs(mechanism.unit))
        return attack(broken, pair, runs, noise).refuted

    return Fault("float noise", mechanism.name, caught)


def _recording_as_person(mechanism: AdditiveMechanism) -> Fault:
    """The ε of one recording, printed as if it were a person's."""

    def caught(runs: int, noise: Randomness) -> bool:
        weaker = replace(mechanism, unit=RECORDING)
        return play(weaker, PERSON, runs, noise, lambda s: weaker.cost(s, RECORDING)).refuted

    return Fault("recording ε sold as person", mechanism.name, caught)
