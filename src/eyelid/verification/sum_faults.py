"""Planted faults that every noisy sum over people can have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from eyelid.attacks.twins import twin
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.mechanisms.maps.map_mechanism import cleaned
from eyelid.mechanisms.maps.noisy_sum import BLOCK, NoisySum
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.noisy import Integers, noise_of
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import Unit
from eyelid.verification.fault import Fault, fuzz_fault, game_fault, less_noise
from eyelid.verification.sums import compare_sum, examine_sum

_FEW_PAIRS = 1_024


def sum_faults(mechanism: NoisySum) -> Iterator[Fault]:
    """Noise that is too small, stale or missing, rounding, and a number of people from the data."""
    yield game_fault("scale × 0.85", mechanism, {"perturb": less_noise(0.85)})
    yield game_fault("noise of the mean on the sum", mechanism, {"perturb": less_noise(1 / 3)})
    yield fuzz_fault("rounded up, not cut", mechanism, {"integers": _rounded_up})
    yield fuzz_fault("less stated than is lost", mechanism, {"cost": _understated}, _FEW_PAIRS)
    yield output_fault("counts taken as they come", mechanism, {"integers": _uncleaned})
    yield output_fault("limits for the first people only", mechanism, {"limited": _some_limited})
    for name, changes in _STALE.items():
        yield residual_fault(name, mechanism, changes)
    yield residual_fault("divided by those who looked", mechanism, {"measure": _by_those_present})
    yield output_fault("no noise", mechanism, {"measure": _exact})


def _rounded_up(self: NoisySum, counts: PersonCounts, shape: Shape) -> Integers:
    clean = replace(counts, count=cleaned(counts.count))
    return np.asarray(np.ceil(self.limited(clean, shape) / self.step(shape)), dtype=np.int64) + 1


def _same_for_layers(
    self: NoisySum, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw((*integers.shape[:-1], shape.length), noise)
    return integers + np.tile(draws, shape.recordings)


def _same_for_cells(
    self: NoisySum, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw((*integers.shape[:-1], shape.recordings), noise)
    return integers + np.repeat(draws, shape.length, axis=-1)


def _from_one_seed(self: NoisySum, integers: Integers, shape: Shape, _: Randomness) -> Integers:
    return integers + noise_of(self, shape).draw(integers.shape, randomness(0))


def _coarse(self: NoisySum, integers: Integers, shape: Shape, noise: Randomness) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    return integers + np.left_shift(np.right_shift(draws, 10), 10)


def _only_where_looked(
    self: NoisySum, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    return integers + np.where(integers, noise_of(self, shape).draw(integers.shape, noise), 0)


def _by_those_present(
    self: NoisySum, counts: PersonCounts, shape: Shape, noise: Randomness
) -> Values:
    measured: Values = sound(self).measure(counts, shape, noise)
    return measured * shape.people / max(1, np.unique(counts.person).size)


def _exact(self: NoisySum, counts: PersonCounts, shape: Shape, _: Randomness) -> Values:
    return self.divided(self.total(counts, shape), shape)


def sound(broken: NoisySum) -> Any:
    """The mechanism that this is a twin of."""
    return super(type(broken), broken)


def residual_fault(name: str, mechanism: NoisySum, changes: dict[str, Any]) -> Fault:
    """A twin whose noise should be found wanting."""

    def caught(_: int, noise: Randomness) -> bool:
        return examine_sum(twin(mechanism, changes), noise, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


def output_fault(name: str, mechanism: NoisySum, changes: dict[str, Any]) -> Fault:
    """A twin whose output should be found to be something else."""

    def caught(_runs: int, _noise: Randomness) -> bool:
        return compare_sum(twin(mechanism, changes), declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


# Faults that a game about one person and few cells cannot see.
_STALE: dict[str, dict[str, Callable[..., Integers]]] = {
    "noise reused over pictures": {"perturb": _same_for_layers},
    "noise reused over cells": {"perturb": _same_for_cells},
    "generator seeded anew": {"perturb": _from_one_seed},
    "low bits without noise": {"perturb": _coarse},
    "noise only where somebody looked": {"perturb": _only_where_looked},
}


def _understated(self: NoisySum, shape: Shape, unit: Unit) -> Guarantee:
    said: Guarantee = sound(self).cost(shape, unit)
    return replace(said, epsilon=0.8 * (said.epsilon or 0.0))


def _uncleaned(self: NoisySum, counts: PersonCounts, shape: Shape) -> Integers:
    with np.errstate(invalid="ignore"):
        steps = self.limited(counts, shape) / self.step(shape)
        return np.asarray(np.floor(steps)).astype(np.int64)


def _some_limited(self: NoisySum, counts: PersonCounts, shape: Shape) -> Values:
    limited: Values = sound(self).limited(counts, shape)
    # The last block has fewer people than the others.
    return limited if counts.people == BLOCK else 10 * limited
