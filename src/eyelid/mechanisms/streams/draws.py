"""Noise drawn ahead, in blocks of one size, so that a single sample never waits for it.

The order of draws is that of their use, whether samples come one by one or together: blocks have
one size, and each kind of noise has its own source.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, ClassVar, NoReturn
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import Refused
from eyelid.privacy.noise import DiscreteLaplace, Randomness, SeededRandomness
from eyelid.privacy.noise.continuous import planar, settled_planar

Floats = NDArray[np.float64]

BLOCK = 512
SETTLED = -1.0
"""In the place of a doubt: the draw is what is released."""


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
        behind: of a block's arrays the last ones, which are kept back.
    """

    behind: ClassVar[int] = 0

    def __init__(self, source: Randomness) -> None:
        self._source = source
        self.forget()
        _ALL.add(self)

    def forget(self) -> None:
        """Drop what was not used."""
        self.columns: tuple[Floats, ...] = ()
        self._kept: tuple[Any, ...] = ()
        self.used = 0
        self._there = 0
        self._lists: tuple[list[float], ...] | None = None

    @property
    def lists(self) -> tuple[list[float], ...]:
        """The columns as lists, which plain Python reads faster than arrays."""
        if self._lists is None:
            self._lists = tuple(column.tolist() for column in self.columns)
        return self._lists

    @abstractmethod
    def block(self, source: Randomness) -> tuple[Any, ...]:
        """The next `BLOCK` draws, one array a column; draws are the last axis."""

    def blocks(self, source: Randomness, count: int) -> tuple[Any, ...]:
        """So many blocks, one behind the other."""
        drawn = [self.block(source) for _ in range(count)]
        return tuple(np.concatenate(part, axis=-1) for part in zip(*drawn, strict=True))

    def ensure(self, count: int) -> None:
        """Have at least so many unused draws at hand."""
        missing = count - (self._there - self.used)
        if missing <= 0:
            return
        left = tuple(part[..., self.used :] for part in self.columns + self._kept)
        joined = self.blocks(self._source, -(-missing // BLOCK))
        if left:
            pairs = zip(left, joined, strict=True)
            joined = tuple(np.concatenate(pair, axis=-1) for pair in pairs)
        shown = len(joined) - self.behind
        self.columns, self._kept = joined[:shown], joined[shown:]
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
        self.distribution = _laplace(scale)

    def block(self, source: Randomness) -> tuple[Floats, ...]:
        """Integers below 2⁵³ in all but impossible cases, so that floats hold them."""
        return (self.distribution.draw(BLOCK, source).astype(np.float64),)


class PlanarAhead(Ahead):
    """Planar Laplace noise of scale 1: x, y, and how far these may be off the ideal noise.

    Where that leaves a doubt about what is published, `settle` puts an end to it.
    """

    behind: ClassVar[int] = 1

    def __init__(self, source: Randomness) -> None:
        super().__init__(source)
        # In the order of use, which is the same for single samples and for arrays.
        (self._more,) = own_sources(source, 1)

    def block(self, source: Randomness) -> tuple[Any, ...]:
        """From three words each, which are kept for those that remain in doubt."""
        return self.blocks(source, 1)

    def blocks(self, source: Randomness, count: int) -> tuple[Any, ...]:
        """All at once, from the same words as one by one."""
        drawn = source.words(3 * BLOCK * count).reshape(count, 3, BLOCK)
        words = np.moveaxis(drawn, 0, 1).reshape(3, -1)
        return *planar(words), words

    def settle(
        self, number: int, at: tuple[float, float], scale: float, most: tuple[int, int]
    ) -> None:
        """Put in the place of a draw, without doubt, the point that it makes of another.

        Args:
            number: of the draw.
            at: the point that is published.
            scale: of the noise.
            most: width and height of the scene in steps.
        """
        point = settled_planar(self._kept[0][:, number], self._more, at, scale, most)
        for column, settled in enumerate((*point, SETTLED)):
            self.columns[column][number] = settled
            if self._lists is not None:
                self._lists[column][number] = float(settled)
