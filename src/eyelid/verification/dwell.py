"""Does `dwell` keep to what it says: its fuzz, and looks at counters at work.

The fuzz: whole numbers of neighbours are never farther apart than is declared. Games play against
the mechanism, not against the counters that serve a stream: these are pushed samples one by one and
together. What they tell must be L·(R·x + z) for the noise z that they were given, with x counted
here; and what is left of fresh runs, once R·x is taken off, must be draws of its noise.
Then the mutants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from eyelid.attacks.override import override
from eyelid.attacks.residuals import ResidualResult, judged
from eyelid.gaze.areas import Floats
from eyelid.mechanisms.differential import SCALE
from eyelid.mechanisms.mechanism import NeighbourPair, Values
from eyelid.mechanisms.streams.dwell import Dwell, DwellRun, Integers
from eyelid.mechanisms.streams.square_root import stretch
from eyelid.privacy.noise import DiscreteGaussian, Randomness, randomness
from eyelid.verification.mutant import Changes, Mutant, by_game, by_output, mutants, sold_as_person
from eyelid.verification.outputs import OutputResult
from eyelid.verification.sensitivity import FLOATING, FuzzResult

_RUNS = 500
_FEW_PAIRS = 200
# Of what is told, and of the noise's scale.
_NEXT_TO_NOTHING = 1e-6


def fuzz_dwell(mechanism: Dwell, pairs: int) -> FuzzResult:
    """The farthest that w samples have moved R·x, over what the noise was made for."""
    rng = np.random.default_rng(0)
    allowed = mechanism.mu * mechanism.noise.scale
    farthest = 0.0
    for _ in range(pairs):
        one, other = _neighbours(mechanism, rng)
        steps = _measured(mechanism, one) - _measured(mechanism, other)
        farthest = max(farthest, float(np.linalg.norm(steps.astype(np.float64))))
    reached = farthest / allowed / (1 + FLOATING)
    return FuzzResult(mechanism.name, str(mechanism.unit), reached, pairs, 0.0, 0)


def _neighbours(mechanism: Dwell, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Gaze anywhere in the scene and beyond it, and w samples of it elsewhere."""
    x0, y0, x1, y1 = mechanism.place.plane
    size = (mechanism.samples + mechanism.every, 2)
    one = rng.uniform([x0 - 1.0, y0 - 1.0], [x1 + 1.0, y1 + 1.0], size)
    one[rng.random(len(one)) < rng.choice([0.0, 0.2])] = np.nan
    other = one.copy()
    # Most can be lost early, from one area to another and never back.
    first = int(rng.integers(0, len(one))) if rng.random() < 0.5 else 0
    changed = slice(first, first + mechanism.window)
    if rng.random() < 0.5:
        # Beyond the scene is in no area.
        places = [*map(mechanism.regions.middle, range(mechanism.counters)), (x1 + 1e6, y1 + 1e6)]
        one[changed], other[changed] = (places[rng.integers(len(places))] for _ in range(2))
    else:
        other[changed] = rng.uniform([x0, y0], [x1, y1], other[changed].shape)
    return one, other


def _measured(mechanism: Dwell, gaze: Floats) -> Integers:
    """R·x at all ticks, without noise."""
    counts = mechanism.counts_of(*gaze.T)
    none = np.zeros(mechanism.counters, dtype=np.int64)
    ticks = range(1, mechanism.horizon + 1)
    return np.array([mechanism.measured(counts[:tick], none) for tick in ticks])


# Counters at work.


def examine_dwell(
    mechanism: Dwell, noise: Randomness, declared: Dwell | None = None
) -> ResidualResult:
    """Let counters tell of known gaze again and again, and look at the noise.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose R and distribution of noise it should have; the mechanism itself by default.
    """
    declared = declared or mechanism
    gaze = _known(declared)
    shown = np.array([_tick_by_tick(mechanism.start(noise), gaze) for _ in range(_RUNS)])
    back = np.linalg.inv(_triangle(declared.root))
    left = np.rint(back @ shown / declared.step) - _triangle(declared.steps_of_root) @ _counted(
        declared, gaze
    )
    return judged(mechanism, left.reshape(_RUNS, -1), declared.noise)


def compare_dwell(mechanism: Dwell, declared: Dwell | None = None) -> OutputResult:
    """Look whether what is told, one by one and together, is L·(R·x + z) for z that we choose.

    Args:
        mechanism: to look at.
        declared: what it should tell; the mechanism itself by default.
    """
    declared = declared or mechanism
    gaze = _known(declared)
    chosen = declared.noise.draw((declared.horizon, declared.counters), randomness(0))
    given = override(mechanism, {"noise": cached_property(lambda _: _Chosen(chosen))})
    bare = _triangle(declared.steps_of_root) @ _counted(declared, gaze)
    wanted, without = (
        _triangle(declared.root) @ steps * declared.step for steps in (bare + chosen, bare)
    )
    shown = [tell(given.start(randomness(0)), gaze) for tell in (_one_by_one, _tick_by_tick)]
    close = _NEXT_TO_NOTHING * declared.standard_errors[:, None]
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=sum(each.size for each in shown),
        same=all(bool((np.abs(each - wanted) <= close).all()) for each in shown),
        inside=wanted.size,
        bare=sum(int((np.abs(each - without) <= close).sum()) for each in shown),
    )


class _Chosen(DiscreteGaussian):
    """Noise that was drawn before."""

    def __init__(self, chosen: Integers) -> None:
        super().__init__(1)
        self._chosen = chosen

    def draw(self, size: Any, source: Randomness | None = None) -> Integers:
        return self._chosen.reshape(size).copy()


def _known(mechanism: Dwell) -> Floats:
    """Gaze in and beside areas until after the horizon, some of it lost."""
    rng = np.random.default_rng(0)
    x0, y0, x1, y1 = mechanism.place.plane
    gaze = rng.uniform([x0, y0], [x1, y1], (mechanism.samples + mechanism.every, 2))
    gaze[rng.random(len(gaze)) < 0.1] = np.nan
    return gaze


def _counted(mechanism: Dwell, gaze: Floats) -> Integers:
    """Samples of each tick in each area, one by one."""
    counts = np.zeros((mechanism.horizon, mechanism.counters), dtype=np.int64)
    for number, (x, y) in enumerate(gaze[: mechanism.samples].tolist()):
        area = mechanism.regions.area_at(x, y)
        if area >= 0:
            counts[number // mechanism.every, area] += 1
    return counts


def _one_by_one(run: DwellRun, gaze: Floats) -> Floats:
    """What was told at each tick, sample by sample."""
    shown = []
    for number, (x, y) in enumerate(gaze.tolist(), start=1):
        run.push(x, y)
        if number % run.mechanism.every == 0:
            shown.append(run.counters().dwell_samples)
    return np.array(shown[: run.mechanism.horizon])


def _tick_by_tick(run: DwellRun, gaze: Floats) -> Floats:
    """What is told when samples come a tick at a time."""
    shown = []
    for tick in gaze.reshape(-1, run.mechanism.every, 2):
        run.push_many(*tick.T)
        shown.append(run.counters().dwell_samples)
    return np.array(shown[: run.mechanism.horizon])


def _triangle(diagonals: Floats | Integers) -> Floats:
    """The lower triangular matrix that is the same along each diagonal."""
    ticks = np.arange(len(diagonals))
    return np.asarray(np.tril(diagonals[np.abs(ticks[:, None] - ticks)]), dtype=np.float64)


# Mutants.


def dwell_mutants(variants: Sequence[Dwell]) -> Iterator[Mutant]:
    """What can go wrong with counters: what a sample moves, and what noise is for."""
    sound = variants[0]
    yield from mutants(sound, by_game, _PLAYED)
    yield from mutants(
        sound, by_output(lambda mechanism, _: fuzz_dwell(mechanism, _FEW_PAIRS)), _FUZZED
    )
    yield sold_as_person(sound)
    yield from mutants(sound, _at_work, _AT_WORK)


def _at_work(mutant: Dwell, sound: Dwell, _: int, noise: Randomness) -> bool:
    return compare_dwell(mutant, sound).refuted or examine_dwell(mutant, noise, sound).refuted


def _each_tick(self: Dwell) -> float:
    full, rest = divmod(self.window, self.every)
    alone = [stretch(self.root, count, self.every) for count in [self.every] * full + [rest]]
    return math.hypot(*alone)


def _sums(self: Dwell, counts: Integers, noise: Integers) -> Integers:
    """Sums of all ticks, with the noise that a single telling would need."""
    return np.asarray(int(SCALE / _sd_of_one(self)) * counts.sum(axis=-2)) + noise


def _last(self: Dwell, measured: Floats) -> Floats:
    return np.asarray(measured[..., -1, :] * _sd_of_one(self) / SCALE)


def _sd_of_one(mechanism: Dwell) -> float:
    """σ over what w samples move in one telling, in samples."""
    return math.sqrt(mechanism.areas_moved) * mechanism.window / mechanism.mu


def _by_sums(self: Dwell, outputs: Values, pair: NeighbourPair) -> Values:
    counters = outputs.reshape(len(outputs), len(pair.one), self.horizon, self.counters)
    difference = np.cumsum(self.counted(pair.other) - self.counted(pair.one), axis=1)
    return np.asarray(np.einsum("nrta,rta->n", counters, difference))


class _OneDraw(DiscreteGaussian):
    """Noise of the first tick, again at every other."""

    def draw(self, size: Any, source: Randomness | None = None) -> Integers:
        first = super().draw((*size[:-2], 1, size[-1]), source)
        return np.asarray(np.broadcast_to(first, size)).copy()


def _by_changes(self: Dwell, outputs: Values, pair: NeighbourPair) -> Values:
    """Noise that stays the same falls out of differences."""
    counters = outputs.reshape(len(outputs), -1, self.horizon, self.counters)
    return np.asarray(counters[:, 0, 1, 0] - self.root[:2].sum() * counters[:, 0, 0, 0])


_PLAYED: dict[str, Changes] = {
    "scale × 0.85": {"noise": property(lambda _: DiscreteGaussian(int(0.85 * SCALE)))},
    "fresh noise on every sum": {"measured": _sums, "presented": _last, "score": _by_sums},
    "one draw for all ticks": {
        "noise": cached_property(lambda _: _OneDraw(SCALE)),
        "score": _by_changes,
    },
}
_FUZZED: dict[str, Changes] = {
    "one sample's sensitivity for w": {
        "moved": property(lambda self: stretch(self.root, 1, self.every))
    },
    "ticks counted each alone": {"moved": property(_each_tick)},
    "one area counted, not two": {"areas_moved": property(lambda _: 1)},
}


# Faults of counters at work, which games do not play against.


class _Stale(DwellRun):
    def __init__(self, mechanism: Dwell, noise: Randomness) -> None:
        super().__init__(mechanism, noise)
        self._noise[:] = self._noise[0]


class _Bare(DwellRun):
    def __init__(self, mechanism: Dwell, noise: Randomness) -> None:
        super().__init__(mechanism, noise)
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


_AT_WORK: dict[str, Changes] = {
    "noise of the first tick at every tick": {"start": lambda self, noise: _Stale(self, noise)},
    "counters without noise": {"start": lambda self, noise: _Bare(self, noise)},
    "samples counted twice": {"start": lambda self, noise: _Twice(self, noise)},
    "sums one tick short": {"start": lambda self, noise: _Late(self, noise)},
    "generator seeded anew": {"start": lambda self, _: DwellRun(self, randomness(0))},
}
