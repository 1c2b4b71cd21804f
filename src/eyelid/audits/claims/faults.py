"""Planted faults: broken twins of a mechanism that ``verify`` must catch, or it proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.audits.claims.game import play
from eyelid.audits.claims.precision import attack
from eyelid.audits.claims.residuals import examine
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.additive import AdditiveMechanism
from eyelid.mechanisms.mechanism import Mechanism, Shape, Values
from eyelid.privacy.noise import DiscreteLaplace, DiscreteNoise, Randomness, randomness
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
        for name, changes in _STALE.items():
            yield _residual_fault(name, mechanism, changes)
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


def _residual_fault(name: str, mechanism: AdditiveMechanism, changes: dict[str, Any]) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        return examine(twin(mechanism, changes), noise, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


Integers = NDArray[np.int64]


def _same_for_rows(
    self: AdditiveMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    return integers + self.noise(shape).draw((len(integers), 1, shape.features), noise)


def _same_for_features(
    self: AdditiveMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    return integers + self.noise(shape).draw((len(integers), shape.length, 1), noise)


def _shared_by_people(
    self: AdditiveMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    half = self.noise(shape).draw(((len(integers) + 1) // 2, *integers.shape[1:]), noise)
    both: Integers = np.concatenate([half, half])[: len(integers)]
    return integers + both


def _from_one_seed(
    self: AdditiveMechanism, integers: Integers, shape: Shape, _: Randomness
) -> Integers:
    return integers + self.noise(shape).draw(integers.shape, randomness(0))


def _coarse(
    self: AdditiveMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = self.noise(shape).draw(integers.shape, noise)
    return integers + np.left_shift(np.right_shift(draws, 10), 10)


def _only_first_rows(
    self: AdditiveMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = self.noise(shape).draw(integers.shape, noise)
    draws[:, -1:] = 0
    return integers + draws


def _mask_again(self: AdditiveMechanism, values: Values, shape: Shape, noise: Randomness) -> Values:
    private = AdditiveMechanism.randomise(self, values, shape, noise)
    return np.where(np.isnan(values), np.nan, private)


def _mean_recordings(self: AdditiveMechanism, table: FeatureTable) -> Shape:
    shape = AdditiveMechanism.shape(self, table)
    return replace(shape, recordings=max(1, len(table.recordings) // shape.people))


# Faults that a game about one person and few values cannot see.
_STALE: dict[str, dict[str, Any]] = {
    "noise reused over rows": {"perturb": _same_for_rows},
    "noise reused over features": {"perturb": _same_for_features},
    "noise shared by two people": {"perturb": _shared_by_people},
    "generator seeded anew": {"perturb": _from_one_seed},
    "low bits without noise": {"perturb": _coarse},
    "rows without noise": {"perturb": _only_first_rows},
    "missing values published": {"randomise": _mask_again},
    "mean number of recordings": {"shape": _mean_recordings},
}


def _recording_as_person(mechanism: AdditiveMechanism) -> Fault:
    """The ε of one recording, printed as if it were a person's."""

    def caught(runs: int, noise: Randomness) -> bool:
        weaker = replace(mechanism, unit=RECORDING)
        return play(weaker, PERSON, runs, noise, lambda s: weaker.cost(s, RECORDING)).refuted

    return Fault("recording ε sold as person", mechanism.name, caught)
