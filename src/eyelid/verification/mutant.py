"""Mutants: mechanisms with methods replaced, which ``verify`` must catch, or it proves nothing.

A mutant is data: what is wrong with it, the sound mechanism, what takes the place of which of its
methods, and the check that must see it. The modules of the families list theirs; here are the
checks and the wrong noise that several families share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eyelid.attacks.override import override, sound_of
from eyelid.mechanisms.differential import Integers, noise_of
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

_PAIRS = 16_384
# What is wrong in every pair is seen in few.
_FEW_PAIRS = 1_024

Changes = Mapping[str, Any]
"""What takes the place of methods and properties, by their names."""
Seen = Callable[[Any, Any, int, Randomness], bool]
"""Whether a check refutes a mutant: it, the sound mechanism, runs of a game, randomness."""


Row = tuple[str, Changes, Seen]
"""What is wrong, what is replaced, and what must see it."""


@dataclass(frozen=True)
class Mutant:
    """A mechanism that is wrong on purpose, and the check that must see it.

    Attributes:
        name: what is wrong.
        sound: the mechanism that it is a mutant of.
        changes: what is replaced in it.
        seen: the check.
    """

    name: str
    sound: Any
    changes: Changes
    seen: Seen

    @property
    def mechanism(self) -> str:
        """The name of the sound mechanism."""
        return str(self.sound.name)

    def caught(self, runs: int, noise: Randomness) -> bool:
        """Whether the check refutes it.

        Args:
            runs: of a game, a side.
            noise: the randomness of the mutant.
        """
        return self.seen(override(self.sound, self.changes), self.sound, runs, noise)


def planted(sound: Any, rows: Iterable[Row]) -> Iterator[Mutant]:
    """Mutants of one mechanism, from rows of what is wrong, what is replaced, and what sees it."""
    for name, changes, seen in rows:
        yield Mutant(name, sound, changes, seen)


def mutants(sound: Any, seen: Seen, listed: Mapping[str, Changes]) -> Iterator[Mutant]:
    """Mutants of one mechanism that one check must see, from what is replaced, by name."""
    for name, changes in listed.items():
        yield Mutant(name, sound, changes, seen)


def by_game(mutant: Any, sound: Any, runs: int, noise: Randomness) -> bool:
    """Whether a distinguishing game refutes the sound mechanism's claim."""
    unit = sound.unit
    return play(mutant, unit, runs, noise, lambda facts: sound.cost(facts, unit)).refuted


def by_short_game(most: int) -> Seen:
    """Whether a game of no more than so many runs does: where they cost more than elsewhere."""
    return lambda mutant, sound, runs, noise: by_game(mutant, sound, min(runs, most), noise)


def by_fuzz(mutant: Any, sound: Any, _runs: int, _noise: Randomness) -> bool:
    """Whether the sensitivity fuzz finds neighbours beyond what is declared."""
    return fuzz(mutant, sound.unit, _PAIRS).refuted


def by_short_fuzz(mutant: Any, sound: Any, _runs: int, _noise: Randomness) -> bool:
    """Whether few pairs are enough for the fuzz."""
    return fuzz(mutant, sound.unit, _FEW_PAIRS).refuted


def by_noise(examine: Callable[[Any, Randomness, Any], Any]) -> Seen:
    """Whether a look at the noise, or from outside, does, held against the sound mechanism."""
    return lambda mutant, sound, _runs, noise: bool(examine(mutant, noise, sound).refuted)


def by_output(compare: Callable[[Any, Any], Any]) -> Seen:
    """Whether a look at what is shown does, held against the sound mechanism."""
    return lambda mutant, sound, _runs, _noise: bool(compare(mutant, sound).refuted)


def sold_as_person(mechanism: Any) -> Mutant:
    """The ε of one recording, row, chunk or window, printed as if it were a person's."""

    def seen(mutant: Any, sound: Any, runs: int, noise: Randomness) -> bool:
        return play(mutant, PERSON, runs, noise, lambda s: sound.cost(s, sound.unit)).refuted

    return Mutant(f"{mechanism.unit.name} ε sold as person", mechanism, {}, seen)


# What is chosen among is given all of ε, too; and a choice that is made with four times its share.
ON_TOP: Changes = {
    "candidates": lambda self, *facts: tuple(
        replace(each, epsilon=self.epsilon) for each in sound_of(self).candidates(*facts)
    )
}
KEEN: Changes = {"costs": lambda self, values, facts: 4 * sound_of(self).costs(values, facts)}


# Wrong noise, in the place of ``perturb``.


def less_noise(share: float) -> Changes:
    """Noise of a share of its scale."""

    def perturb(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Integers:
        distribution = noise_of(self, facts)
        return integers + type(distribution)(int(share * distribution.scale)).draw(
            integers.shape, noise
        )

    return {"perturb": perturb}


def altered_noise(alter: Callable[[Integers, PublicFacts], Integers]) -> Changes:
    """Noise to which something happens once it is drawn."""

    def perturb(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Integers:
        return integers + alter(noise_of(self, facts).draw(integers.shape, noise), facts)

    return {"perturb": perturb}


def reused_noise(axis: int) -> Changes:
    """Noise that is drawn once for everything along an axis."""

    def perturb(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Integers:
        size = list(integers.shape)
        size[axis] = 1
        return integers + noise_of(self, facts).draw(tuple(size), noise)

    return {"perturb": perturb}


def _from_one_seed(self: Any, integers: Integers, facts: PublicFacts, _: Randomness) -> Integers:
    return integers + noise_of(self, facts).draw(integers.shape, randomness(0))


NO_NOISE: Changes = {"perturb": lambda self, integers, facts, noise: integers}
SEEDED_ANEW: Changes = {"perturb": _from_one_seed}
COARSE: Changes = altered_noise(lambda draws, _: np.left_shift(np.right_shift(draws, 10), 10))
