"""The fuzz of `dwell`: whole numbers of neighbours are never farther apart than is declared."""

from __future__ import annotations

import numpy as np

from eyelid.audits.claims.sensitivity import FLOATING, FuzzResult
from eyelid.gaze.areas import Floats
from eyelid.mechanisms.streams.continual import Dwell, Integers


def fuzz_dwell(law: Dwell, pairs: int, seed: int = 0) -> FuzzResult:
    """The farthest that w samples have moved R·x, over what the noise was made for."""
    rng = np.random.default_rng(seed)
    allowed = law.mu * law.noise.scale
    farthest = 0.0
    for _ in range(pairs):
        one, other = _neighbours(law, rng)
        steps = _measured(law, one) - _measured(law, other)
        farthest = max(farthest, float(np.linalg.norm(steps.astype(np.float64))))
    reached = farthest / allowed / (1 + FLOATING)
    return FuzzResult(law.name, str(law.unit), reached, pairs, 0.0, 0)


def _neighbours(law: Dwell, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Gaze anywhere in the scene and beyond it, and w samples of it elsewhere."""
    x0, y0, x1, y1 = law.place.plane
    size = (law.samples + law.every, 2)
    one = rng.uniform([x0 - 1.0, y0 - 1.0], [x1 + 1.0, y1 + 1.0], size)
    one[rng.random(len(one)) < rng.choice([0.0, 0.2])] = np.nan
    other = one.copy()
    # Most can be lost early, from one area to another and never back.
    first = int(rng.integers(0, len(one))) if rng.random() < 0.5 else 0
    changed = slice(first, first + law.window)
    if rng.random() < 0.5:
        # Beyond the scene is in no area.
        places = [*map(law.regions.middle, range(law.counters)), (x1 + 1e6, y1 + 1e6)]
        one[changed], other[changed] = (places[rng.integers(len(places))] for _ in range(2))
    else:
        other[changed] = rng.uniform([x0, y0], [x1, y1], other[changed].shape)
    return one, other


def _measured(law: Dwell, gaze: Floats) -> Integers:
    """R·x at all ticks, without noise."""
    counts = law.counts_of(*gaze.T)
    none = np.zeros(law.counters, dtype=np.int64)
    ticks = range(1, law.horizon + 1)
    return np.array([law.measured(counts[:tick], none) for tick in ticks])
