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
from eyelid.mechanisms.measuring import MeasuringMechanism, noise_of
from eyelid.mechanisms.mechanism import Mechanism, Shape, Values
from eyelid.mechanisms.perturbation import FourierMechanism
from eyelid.privacy.noise import DiscreteLaplace, Randomness, randomness
from eyelid.privacy.unit import PERSON, Unit

Integers = NDArray[np.int64]


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


def faults_of(kind: type[Mechanism]) -> Iterator[Fault]:
    """Every planted fault that makes sense for this mechanism."""
    variants = list(kind.set_for_games())
    mechanism = variants[0]
    if not isinstance(mechanism, MeasuringMechanism):
        return
    # Some lose less than they claim; what is planted is too little for the claim.
    too_little = 0.85 / getattr(mechanism, "times", 1)
    yield _game_fault(f"scale × {too_little:g}", mechanism, {"perturb": _less_noise(too_little)})
    yield _game_fault("missing clip", mechanism, {"clip": _no_clip})
    for name, changes in _STALE.items():
        yield _residual_fault(name, mechanism, changes)
    for smaller in variants[: len(kind.game_units or kind.units)]:
        if smaller.unit != PERSON:
            yield _sold_as_person(smaller)
    if isinstance(mechanism, AdditiveMechanism):
        yield _float_noise(mechanism)
    for variant in variants[-1:]:
        if isinstance(variant, FourierMechanism):
            yield _game_fault("noise on real parts only", variant, {"perturb": _real_only})
            yield _game_fault("missing √n", variant, {"perturb": _without_root_n})


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


def _less_noise(share: float) -> Callable[..., Integers]:
    def perturb(
        self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
    ) -> Integers:
        law = noise_of(self, shape)
        return integers + type(law)(int(share * law.scale)).draw(integers.shape, noise)

    return perturb


def _real_only(
    self: FourierMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    each = draws.reshape(*draws.shape[:-2], self.pieces(shape), -1, draws.shape[-1])
    each[..., self.kept(shape) :, :] = 0
    return integers + draws


def _without_root_n(
    self: FourierMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    law = noise_of(self, shape)
    smaller = type(law)(int(law.scale / self.piece(shape) ** 0.5))
    return integers + smaller.draw(integers.shape, noise)


def _no_clip(self: MeasuringMechanism, values: Values) -> Values:
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


def _residual_fault(name: str, mechanism: MeasuringMechanism, changes: dict[str, Any]) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        return examine(twin(mechanism, changes), noise, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


def _same_for_rows(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    one_row = (*integers.shape[:-2], 1, integers.shape[-1])
    return integers + noise_of(self, shape).draw(one_row, noise)


def _same_for_features(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    return integers + noise_of(self, shape).draw((*integers.shape[:-1], 1), noise)


def _shared_by_people(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    half = noise_of(self, shape).draw(((len(integers) + 1) // 2, *integers.shape[1:]), noise)
    both: Integers = np.concatenate([half, half])[: len(integers)]
    return integers + both


def _from_one_seed(
    self: MeasuringMechanism, integers: Integers, shape: Shape, _: Randomness
) -> Integers:
    return integers + noise_of(self, shape).draw(integers.shape, randomness(0))


def _coarse(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    return integers + np.left_shift(np.right_shift(draws, 10), 10)


def _only_first_rows(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    draws[..., -1:, :] = 0
    return integers + draws


def _mask_again(
    self: MeasuringMechanism, values: Values, shape: Shape, noise: Randomness
) -> Values:
    private = MeasuringMechanism.randomise(self, values, shape, noise)
    return np.where(np.isnan(values), np.nan, private)


def _mean_recordings(self: MeasuringMechanism, table: FeatureTable) -> Shape:
    shape = MeasuringMechanism.shape(self, table)
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


def _sold_as_person(mechanism: Mechanism) -> Fault:
    """The ε of one recording, row or chunk, printed as if it were a person's."""
    unit: Unit = mechanism.unit

    def caught(runs: int, noise: Randomness) -> bool:
        return play(mechanism, PERSON, runs, noise, lambda s: mechanism.cost(s, unit)).refuted

    return Fault(f"{unit.name} ε sold as person", mechanism.name, caught)
