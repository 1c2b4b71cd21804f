"""Where random bits come from; a guarantee is worth no more than its bits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

SEEDED = "the noise came from a seed, so anyone who has or guesses the seed can remove it"
"""Why nothing holds of noise that can be repeated."""


class Randomness(Protocol):
    """A source of independent uniform 64-bit words."""

    @property
    def name(self) -> str:
        """What a certificate calls the source."""

    @property
    def private(self) -> bool:
        """Whether nobody can repeat the words."""

    def words(self, count: int) -> Words:
        """The next ``count`` words."""


@dataclass(frozen=True)
class SystemRandomness:
    """The operating system's cryptographic generator."""

    name: str = "operating system (os.urandom)"
    private: bool = True

    def words(self, count: int) -> Words:
        """The next ``count`` words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class SeededRandomness:
    """A numpy generator: repeatable, and therefore not private."""

    generator: np.random.Generator
    name: str = "seeded generator (repeatable, not private)"
    private: bool = False

    def words(self, count: int) -> Words:
        """The next ``count`` words."""
        return self.generator.integers(0, 2**64, size=count, dtype=np.uint64)


def randomness(rng: Randomness | np.random.Generator | int | None = None) -> Randomness:
    """The source behind ``rng``: the operating system unless a seed or generator is given.

    >>> randomness().private, randomness(7).private
    (True, False)
    """
    if rng is None:
        return SystemRandomness()
    if isinstance(rng, int | np.integer):
        return SeededRandomness(np.random.default_rng(int(rng)))
    if isinstance(rng, np.random.Generator):
        return SeededRandomness(rng)
    return rng


def stream_of(source: Randomness, number: int) -> Randomness:
    """Words of its own for one part of some work, the same wherever and whenever it is done.

    Args:
        source: of the whole work.
        number: of the part. Of a seed, every number has its own words, always the same.

    >>> one, same, other = (stream_of(randomness(7), number).words(1) for number in (0, 0, 1))
    >>> one == same, one == other
    (array([ True]), array([False]))
    """
    if not isinstance(source, SeededRandomness):
        # The operating system never repeats itself.
        return source
    seeds = source.generator.bit_generator.seed_seq
    assert isinstance(seeds, np.random.SeedSequence)
    own = np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, number))
    return SeededRandomness(np.random.default_rng(own))


def uniforms(source: Randomness, count: int) -> NDArray[np.float64]:
    """Floating-point numbers strictly inside (0, 1), on a grid of 2⁻⁵² offset by half a step."""
    # With one bit more the largest would have no room for its half, and round to 1.
    top = (source.words(count) >> np.uint64(12)).astype(np.float64)
    return (top + 0.5) * 2.0**-52


def below(source: Randomness, limits: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each limit a whole number below it, all equally likely, exactly."""
    wide = limits.astype(np.uint64)
    words = source.words(limits.size).reshape(limits.shape).copy()
    # The last, incomplete round of 2⁶⁴ numbers would favour small ones.
    most = np.uint64(2**64 - 1)
    rest = (most % wide + np.uint64(1)) % wide
    while (again := words > most - rest).any():
        words[again] = source.words(int(again.sum()))
    found: NDArray[np.int64] = (words % wide).astype(np.int64)
    return found
