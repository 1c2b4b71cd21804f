"""What a planted fault is, and those that every mechanism can have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eyelid.attacks.twins import twin
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.noisy import Integers, NoisyMechanism, noise_of
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

_FUZZ_PAIRS = 16_384


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


def game_fault(name: str, mechanism: DifferentialMechanism, changes: dict[str, Any]) -> Fault:
    """A twin that a distinguishing game should refute."""

    def caught(runs: int, noise: Randomness) -> bool:
        unit = mechanism.unit
        broken = twin(mechanism, changes)
        return play(broken, unit, runs, noise, lambda s: mechanism.cost(s, unit)).refuted

    return Fault(name, mechanism.name, caught)


def sold_as_person(mechanism: DifferentialMechanism) -> Fault:
    """The ε of one recording, row, chunk or window, printed as if it were a person's."""
    unit = mechanism.unit

    def caught(runs: int, noise: Randomness) -> bool:
        return play(mechanism, PERSON, runs, noise, lambda s: mechanism.cost(s, unit)).refuted

    return Fault(f"{unit.name} ε sold as person", mechanism.name, caught)


def less_noise(share: float) -> Callable[..., Integers]:
    """In the place of ``perturb``: noise of a share of its scale."""

    def perturb(
        self: NoisyMechanism, integers: Integers, shape: Shape, noise: Randomness
    ) -> Integers:
        law = noise_of(self, shape)
        return integers + type(law)(int(share * law.scale)).draw(integers.shape, noise)

    return perturb


def fuzz_fault(
    name: str, mechanism: NoisyMechanism, changes: dict[str, Any], pairs: int = _FUZZ_PAIRS
) -> Fault:
    """A twin that the sensitivity fuzz should refute."""

    def caught(_runs: int, _noise: Randomness) -> bool:
        return fuzz(twin(mechanism, changes), mechanism.unit, pairs).refuted

    return Fault(name, mechanism.name, caught)
