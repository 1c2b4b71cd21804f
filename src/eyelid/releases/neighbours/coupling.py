"""The same randomness for two releases, and no data: what differs then is no noise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import numpy as np

from eyelid.io import pieces
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.mechanism import Mechanism, Shape
from eyelid.mechanisms.noisy import Integers, NoisyMechanism
from eyelid.mechanisms.records.perturbation import FourierMechanism
from eyelid.privacy.noise import Randomness, SystemRandomness
from eyelid.privacy.noise.randomness import Words

_SEED = 20_261
# Words of this block alone: a release in another thread has the system's.
_own: ContextVar[np.random.Generator | None] = ContextVar("coupled", default=None)
_one_at_a_time = threading.RLock()
# Methods that take whole numbers of people's data, public facts and randomness.
_MEETS_CHANCE: tuple[tuple[type[Any], str], ...] = (
    (NoisyMechanism, "perturb"),
    (FourierMechanism, "choose"),
    (CappedMap, "settled_by"),
)


@contextmanager
def coupled() -> Iterator[None]:
    """Give everything that is released inside the same random words, and noise without data.

    Wherever whole numbers of people's data meet noise, or a private choice, zeros take their place,
    so that what is released depends on public facts and these words alone. Only what runs in this
    context is touched: a release in another thread keeps its noise.
    """
    with _one_at_a_time, ExitStack() as stack:
        for base, name in _MEETS_CHANCE:
            for kind in _and_below(base):
                if name in vars(kind):
                    _replace(stack, kind, name, _without_data)
        _replace(stack, SystemRandomness, "words", _repeated)
        token = _own.set(np.random.default_rng(_SEED))
        stack.callback(_own.reset, token)
        yield


@contextmanager
def small_pieces(values: int) -> Iterator[None]:
    """Have studies cut into pieces of so many values, as if they were large.

    Args:
        values: in the place of `eyelid.io.pieces.PIECE_VALUES`.
    """
    with _one_at_a_time:
        before = pieces.PIECE_VALUES
        pieces.PIECE_VALUES = values
        try:
            yield
        finally:
            pieces.PIECE_VALUES = before


def _and_below(kind: type[Any]) -> Iterator[type[Any]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _and_below(each)


def _replace(stack: ExitStack, kind: type, name: str, by: Callable[[Any], Any]) -> None:
    true = vars(kind)[name]
    setattr(kind, name, by(true))
    stack.callback(setattr, kind, name, true)


def _without_data(true: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(true)
    def met(self: Mechanism, data: Integers, shape: Shape, noise: Randomness) -> Any:
        return true(self, data if _own.get() is None else 0 * data, shape, noise)

    return met


def _repeated(true: Callable[..., Words]) -> Callable[..., Words]:
    @wraps(true)
    def words(self: SystemRandomness, count: int) -> Words:
        own = _own.get()
        if own is None:
            return true(self, count)
        return own.integers(0, 2**64, size=count, dtype=np.uint64)

    return words
