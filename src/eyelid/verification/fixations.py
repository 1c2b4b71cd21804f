"""The fuzz of `fixations`: no outcome may tell neighbours apart by more than ε, nor overspend it.

Pure differential privacy is about every single outcome. What tests and places came to is made up,
with places far out in all directions, and its likelihood is computed for hostile neighbours.
Budgets are read off the detector itself, at work on hostile streams.
"""

from __future__ import annotations

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.streams.fixation_odds import MOVING, log_odds
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.privacy.noise import Randomness
from eyelid.verification.sensitivity import FLOATING, FuzzResult

_OUTCOMES = 512
_STREAMS = 8
_SAMPLES = 2_000


def fuzz_fixations(law: Fixations, pairs: int, noise: Randomness, seed: int = 0) -> FuzzResult:
    """The largest share of ε that any outcome has lost, or any window has spent."""
    rng = np.random.default_rng(seed)
    lost = max(_lost(law, *_neighbours(law, rng), rng) for _ in range(pairs))
    spent = max(_spent(law, _hostile_stream(law, rng), noise) for _ in range(_STREAMS))
    reached = max(lost, spent) / (1 + FLOATING)
    return FuzzResult(law.name, str(law.unit), reached, pairs, 0.0, 0)


def _neighbours(law: Fixations, rng: np.random.Generator) -> tuple[Values, Values]:
    """Gaze in steps, and the same with w samples moved by the radius: aside, apart, anyhow."""
    radius = law.radius / law.step
    window, span = law.window, law.span
    length = 2 * (window + span)
    width, height = law.size_steps
    spread = radius * rng.choice([0.0, 0.5, 3.0])
    one = np.array([width / 2, height / 2]) + rng.normal(0.0, 1.0, (length, 2)) * spread
    first = int(rng.integers(0, length - window + 1))
    changed = slice(first, first + window)
    angle = [
        np.zeros(window),
        np.pi * (np.arange(window) % 2),
        np.pi / 2 * (np.arange(window) % 2),
        rng.uniform(0, 2 * np.pi, window),
    ][rng.integers(4)]
    other = one.copy()
    other[changed] += radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    # Where everything else is lost, changed samples are all that tests see.
    lost = rng.random(length) < rng.choice([0.0, 0.3, 1.0])
    lost[changed] &= rng.random(window) < rng.choice([0.0, 0.3])
    one[lost] = other[lost] = np.nan
    return one, other


def _lost(law: Fixations, one: Values, other: Values, rng: np.random.Generator) -> float:
    """The most that any of many made-up outcomes speaks for one against the other, over ε."""
    size = (_OUTCOMES, len(one))
    fixating = rng.random(size) < rng.random((_OUTCOMES, 1))
    angle = rng.integers(0, 4, size) * np.pi / 2
    far = 2.0**40 + np.stack([np.cos(angle), np.sin(angle)], axis=2) * 2.0**39
    shown = np.where(fixating[..., None], far, MOVING)
    told = log_odds(law, shown, other) - log_odds(law, shown, one)
    return float(np.abs(told).max() / law.epsilon)


def _hostile_stream(law: Fixations, rng: np.random.Generator) -> Values:
    """Gaze that rests, moves, or is lost, each for as long as a few tests."""
    x0, y0, x1, y1 = law.place.plane
    lasting = rng.integers(1, 2 * law.span, _SAMPLES)
    kind = np.repeat(rng.integers(0, 3, _SAMPLES), lasting)[:_SAMPLES]
    stream = rng.uniform([x0, y0], [x1, y1], (_SAMPLES, 2))
    stream[kind == 0] = [x0, y0]
    stream[kind == 1] = np.nan
    return stream


def _spent(law: Fixations, stream: Values, noise: Randomness) -> float:
    """What tests that w samples in a row can reach have spent at most, over ε, at any offset."""
    run = law.start(noise)
    total = [0]
    for x, y in stream:
        run.push(float(x), float(y))
        total.append(run.spent_parts)
    reached = law.window + law.span - 1
    each = np.array(total, dtype=np.int64)
    return float((each[reached:] - each[:-reached]).max() / WHOLE)
