"""Planted faults of `dwell`: broken twins that ``verify`` must catch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from eyelid.attacks.twins import twin
from eyelid.mechanisms.gaussian_total import SCALE
from eyelid.mechanisms.mechanism import NeighbourPair, Values
from eyelid.mechanisms.streams.continual import Dwell, DwellRun, Integers
from eyelid.mechanisms.streams.square_root import stretch
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import DiscreteGaussian, Randomness, randomness
from eyelid.verification.dwell import compare_dwell, examine_dwell, fuzz_dwell
from eyelid.verification.fault import Fault, game_fault, sold_as_person

_PAIRS = 200


def dwell_faults(law: Dwell) -> Iterator[Fault]:
    """What can go wrong with counters: what a sample moves, and what noise is for."""
    yield game_fault("scale × 0.85", law, {"noise": property(_less)})
    yield game_fault("fresh noise on every sum", law, _FRESH)
    yield game_fault("one draw for all ticks", law, _STALE)
    yield _fuzz_fault("one sample's sensitivity for w", law, {"moved": property(_one_sample)})
    yield _fuzz_fault("ticks counted each alone", law, {"moved": property(_each_tick)})
    yield _fuzz_fault("one area counted, not two", law, {"areas_moved": property(_one_area)})
    yield sold_as_person(law)
    for name, run in _AT_WORK.items():
        yield _at_work(name, law, run)


def _less(self: Dwell) -> DiscreteGaussian:
    return DiscreteGaussian(int(0.85 * SCALE))


def _one_sample(self: Dwell) -> float:
    return stretch(self.root, 1, self.every)


def _each_tick(self: Dwell) -> float:
    full, rest = divmod(self.window, self.every)
    alone = [stretch(self.root, count, self.every) for count in [self.every] * full + [rest]]
    return math.hypot(*alone)


def _one_area(self: Dwell) -> int:
    return 1


def _sums(self: Dwell, counts: Integers, noise: Integers) -> Integers:
    """Sums of all ticks, with the noise that a single telling would need."""
    return np.asarray(int(SCALE / _sd_of_one(self)) * counts.sum(axis=-2)) + noise


def _last(self: Dwell, measured: Floats) -> Floats:
    return np.asarray(measured[..., -1, :] * _sd_of_one(self) / SCALE)


def _sd_of_one(law: Dwell) -> float:
    """σ over what w samples move in one telling, in samples."""
    return math.sqrt(law.areas_moved) * law.window / law.mu


def _by_sums(self: Dwell, outputs: Values, pair: NeighbourPair) -> Values:
    told = outputs.reshape(len(outputs), len(pair.one), self.horizon, self.counters)
    difference = np.cumsum(self.counted(pair.other) - self.counted(pair.one), axis=1)
    return np.asarray(np.einsum("nrta,rta->n", told, difference))


class _OneDraw(DiscreteGaussian):
    """Noise of the first tick, again at every other."""

    def draw(self, size: Any, source: Randomness | None = None) -> Integers:
        first = super().draw((*size[:-2], 1, size[-1]), source)
        return np.asarray(np.broadcast_to(first, size)).copy()


def _by_changes(self: Dwell, outputs: Values, pair: NeighbourPair) -> Values:
    """Noise that stays the same falls out of differences."""
    told = outputs.reshape(len(outputs), -1, self.horizon, self.counters)
    return np.asarray(told[:, 0, 1, 0] - self.root[:2].sum() * told[:, 0, 0, 0])


_FRESH: dict[str, Any] = {"measured": _sums, "presented": _last, "score": _by_sums}
_STALE: dict[str, Any] = {
    "noise": cached_property(lambda _: _OneDraw(SCALE)),
    "score": _by_changes,
}


def _fuzz_fault(name: str, law: Dwell, changes: dict[str, Any]) -> Fault:
    def caught(_runs: int, _noise: Randomness) -> bool:
        return fuzz_dwell(twin(law, changes), _PAIRS).refuted

    return Fault(name, law.name, caught)


# Faults of counters at work, which games do not play against.


class _Stale(DwellRun):
    def __init__(self, law: Dwell, noise: Randomness) -> None:
        super().__init__(law, noise)
        self._noise[:] = self._noise[0]


class _Bare(DwellRun):
    def __init__(self, law: Dwell, noise: Randomness) -> None:
        super().__init__(law, noise)
        self._noise[:] = 0


class _Twice(DwellRun):
    def _tell(self) -> None:
        self._now = [2 * count for count in self._now]
        super()._tell()


class _Late(DwellRun):
    _kept: tuple[int, ...] | None = None

    def _tell(self) -> None:
        now = tuple(self._now)
        self._now = list(self._kept or [0] * len(now))
        self._kept = now
        super()._tell()


class _Seeded(DwellRun):
    def __init__(self, law: Dwell, _: Randomness) -> None:
        super().__init__(law, randomness(0))


_AT_WORK: dict[str, type[DwellRun]] = {
    "noise of the first tick at every tick": _Stale,
    "counters without noise": _Bare,
    "samples counted twice": _Twice,
    "sums one tick short": _Late,
    "generator seeded anew": _Seeded,
}


def _at_work(name: str, law: Dwell, run: type[DwellRun]) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        broken = twin(law, {"start": lambda self, source: run(self, source)})
        return compare_dwell(broken, law).refuted or examine_dwell(broken, noise, law).refuted

    return Fault(name, law.name, caught)
