"""Noise drawn ahead, in blocks of one size, so that a single sample never waits for it.

The order of draws is that of their use, whether samples come one by one or together: blocks have
one size, and each kind of noise has its own source.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, NoReturn
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import Refused
from eyelid.privacy.noise import DiscreteLaplace, Randomness, SeededRandomness
from eyelid.privacy.noise.randomness import uniforms

Floats = NDArray[np.float64]

BLOCK = 512


def own_sources(noise: Randomness, count: int) -> list[Randomness]:
    """Sources that do not disturb each other's order; those of the system have none."""
    if isinstance(noise, SeededRandomness):
        return [SeededRandomness(generator) for generator in noise.generator.spawn(count)]
    return [noise] * count


class Unique:
    """Something with noise or budgets in it, of which there must be one."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Neither pickled nor copied: two would use the same noise, which comes off again."""
        raise Refused(
            f"{type(self).__name__} cannot be copied or pickled: two would spend one budget and "
            "share their noise; begin another"
        )


class Ahead(Unique, ABC):
    """Columns of noise drawn ahead; what was used is forgotten.

    Attributes:
        columns: what is there to be used, from `used` on.
        used: how many of them were.
    """

    def __init__(self, source: Randomness) -> None:
        self._source = source
        self.forget()
        _ALL.add(self)

    def forget(self) -> None:
        """Drop what was not used."""
        self.columns: tuple[Floats, ...] = ()
        self.used = 0
        self._there = 0
        self._lists: tuple[list[float], ...] | None = None

    @property
    def lists(self) -> tuple[list[float], ...]:
        """The same columns as lists, which plain Python reads faster than arrays."""
        if self._lists is None:
            self._lists = tuple(column.tolist() for column in self.columns)
        return self._lists

    @abstractmethod
    def block(self, source: Randomness) -> tuple[Floats, ...]:
        """The next `BLOCK` draws, one array a column."""

    def ensure(self, count: int) -> None:
        """Have at least so many unused draws at hand."""
        missing = count - (self._there - self.used)
        if missing <= 0:
            return
        left = tuple(column[self.used :] for column in self.columns)
        blocks = [self.block(self._source) for _ in range(-(-missing // BLOCK))]
        parts = [left, *blocks] if left else blocks
        self.columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        self._lists = None
        self.used, self._there = 0, len(self.columns[0])


_ALL: WeakSet[Ahead] = WeakSet()


def _forget_all() -> None:
    for ahead in list(_ALL):
        ahead.forget()


# A forked process must not use the noise that its parent will use.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


@lru_cache(maxsize=64)
def _laplace(scale: int) -> DiscreteLaplace:
    """The law of a scale, whose tables take longer than many draws; no noise is kept in it."""
    return DiscreteLaplace(scale)


class LaplaceAhead(Ahead):
    """Exact integer Laplace noise of one scale, as whole floats."""

    def __init__(self, scale: int, source: Randomness) -> None:
        super().__init__(source)
        self.law = _laplace(scale)

    def block(self, source: Randomness) -> tuple[Floats, ...]:
        """Integers below 2⁵³ in all but impossible cases, so that floats hold them."""
        return (self.law.draw(BLOCK, source).astype(np.float64),)


class PlanarAhead(Ahead):
    """Planar Laplace noise of scale 1: x and y."""

    def block(self, source: Randomness) -> tuple[Floats, ...]:
        """A radius of law Gamma(2), as the sum of two exponentials, in a uniform direction."""
        one, two, turn = uniforms(source, 3 * BLOCK).reshape(3, BLOCK)
        radius = -np.log(one) - np.log(two)
        return radius * np.cos(2 * math.pi * turn), radius * np.sin(2 * math.pi * turn)
