"""Does `fixations` spend what it says, is its noise what it says, and can outcomes tell more?

The fuzz: pure differential privacy is about every single outcome. What tests and places came to is
simulated, with places far out in all directions, and its likelihood is computed for hostile
neighbours; budgets are read off the detector itself, at work on hostile streams.

And as filters are looked at from outside in `streams`: its noise is exchanged for numbers that we
choose, so that tests come out as we like, and a place shows by how far it misses how much was paid
for it. What tests should have looked at, and which of them changed samples can reach, is worked out
here, apart from the detector.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.streams.filter_run import FilterRun
from eyelid.mechanisms.streams.fixation_odds import MOVING, log_odds
from eyelid.mechanisms.streams.fixations import FixationRun, Fixations
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.privacy.noise import Randomness, SystemRandomness, randomness
from eyelid.verification.sensitivity import FLOATING, FuzzResult
from eyelid.verification.streams import (
    CERTAIN,
    ROOMY,
    WIDE,
    Outcomes,
    Same,
    StreamResult,
    budget_of,
    hostile_stream,
    in_square,
    looked_at,
)

# Of the fuzz.
_OUTCOMES, _FUZZED_STREAMS, _FUZZED_SAMPLES = 512, 8, 2_000
# Of the look from outside.
_STREAMS, _NEIGHBOURS = 25, 20
_TESTS, _STRETCHES = 10_000, 40
# Window, span and skip: single tests, several at once, rests of slots.
_SETTINGS = ((1, 2, 1), (1, 4, 4), (2, 3, 2), (3, 2, 4), (5, 4, 3), (12, 6, 1))
# In radii: so small that some gaze lies beyond it.
_SMALL = 64.0
# Beyond every distance in it, in steps.
_FARTHEST = 2.0**34
# What tests see is looked for so near to what they should see first.
_NEAR = 4.0
# Samples that a test has forgotten.
_LONG_AGO = 4
# Kinds of neighbours: all but these are moved where tests look, in one or several directions.
_UNSEEN, _ROUNDED, _KINDS = 4, 5, 6
_TURNS = 4_096
# Of a step.
_HARDLY = 2.0**-8
_AGAIN = 20


def fuzz_fixations(mechanism: Fixations, pairs: int, noise: Randomness) -> FuzzResult:
    """The largest share of ε that any outcome has lost, or any window has spent."""
    rng = np.random.default_rng(0)
    lost = max(_lost(mechanism, *_moved_gaze(mechanism, rng), rng) for _ in range(pairs))
    spent = max(
        _spent(mechanism, _resting_stream(mechanism, rng), noise) for _ in range(_FUZZED_STREAMS)
    )
    reached = max(lost, spent) / (1 + FLOATING)
    return FuzzResult(mechanism.name, str(mechanism.unit), reached, pairs, 0.0, 0)


def _moved_gaze(mechanism: Fixations, rng: np.random.Generator) -> tuple[Values, Values]:
    """Gaze in steps, and the same with w samples moved by the radius: aside, apart, anyhow."""
    radius = mechanism.radius / mechanism.step
    window, span = mechanism.window, mechanism.span
    length = 2 * (window + span)
    width, height = mechanism.size_steps
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


def _lost(mechanism: Fixations, one: Values, other: Values, rng: np.random.Generator) -> float:
    """The most that any of many simulated outcomes speaks for one against the other, over ε."""
    size = (_OUTCOMES, len(one))
    fixating = rng.random(size) < rng.random((_OUTCOMES, 1))
    angle = rng.integers(0, 4, size) * np.pi / 2
    far = 2.0**40 + np.stack([np.cos(angle), np.sin(angle)], axis=2) * 2.0**39
    shown = np.where(fixating[..., None], far, MOVING)
    odds = log_odds(mechanism, shown, other) - log_odds(mechanism, shown, one)
    return float(np.abs(odds).max() / mechanism.epsilon)


def _resting_stream(mechanism: Fixations, rng: np.random.Generator) -> Values:
    """Gaze that rests, moves, or is lost, each for as long as a few tests."""
    x0, y0, x1, y1 = mechanism.place.plane
    lasting = rng.integers(1, 2 * mechanism.span, _FUZZED_SAMPLES)
    kind = np.repeat(rng.integers(0, 3, _FUZZED_SAMPLES), lasting)[:_FUZZED_SAMPLES]
    stream = rng.uniform([x0, y0], [x1, y1], (_FUZZED_SAMPLES, 2))
    stream[kind == 0] = [x0, y0]
    stream[kind == 1] = np.nan
    return stream


def _spent(mechanism: Fixations, stream: Values, noise: Randomness) -> float:
    """What tests that w samples in a row can reach have spent at most, over ε, at any offset."""
    run = mechanism.start(noise)
    total = [0]
    for x, y in stream:
        run.push(float(x), float(y))
        total.append(run.spent_parts)
    reached = mechanism.window + mechanism.span - 1
    each = np.array(total, dtype=np.int64)
    return float((each[reached:] - each[:-reached]).max() / WHOLE)


# From outside.


def examine_fixations(
    mechanism: Fixations, noise: Randomness, declared: Fixations | None = None
) -> StreamResult:
    """Look at a detector from outside.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose ε, radius and noise it should have; the mechanism itself by default.
    """
    declared = declared or mechanism
    spent = [
        # Tests look back at m samples, so that a changed one is seen until m − 1 after it.
        budget_of(
            own,
            should,
            should.window + should.span - 1,
            lambda mechanism, gaze: _seen(mechanism, gaze)[1],
            _STREAMS,
        )
        for own, should in zip(_wide(mechanism), _wide(declared), strict=True)
    ]
    return StreamResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        streams=sum(each.streams for each in spent),
        window=max(each.window for each in spent),
        reached=max(_reached(mechanism, declared, span) for span in (2, 5, declared.span)),
        unmetered=sum(each.unmetered for each in spent),
        apart=_apart(mechanism),
        **_noise(mechanism, declared, noise),
    )


def _set(mechanism: Fixations, radii: float, window: int, span: int, skip: int) -> Fixations:
    """In a square scene, with cells and areas that fit into it."""
    changes: dict[str, Any] = {"window": window, "span": span, "skip": skip}
    return in_square(mechanism, radii, fewest=2, cell=None, areas="", **changes)


def _wide(mechanism: Fixations) -> list[Fixations]:
    """The mechanism with windows and memories of several lengths."""
    own = (mechanism.window, mechanism.span, mechanism.slot_samples)
    return [_set(mechanism, WIDE, *each) for each in (*_SETTINGS, own)]


# What tests look at.


def _seen(mechanism: Fixations, gaze: Values) -> tuple[Values, Values, Values]:
    """At every sample: how many of the last m were seen, their middle and their spread."""
    before = np.full((mechanism.span - 1, 2), np.nan)
    last = np.lib.stride_tricks.sliding_window_view(
        np.concatenate([before, gaze]), mechanism.span, 0
    )
    there = ~np.isnan(last[:, :1])
    count = there.sum(axis=2)
    often = np.maximum(count, 1)
    middle = np.where(there, last, 0.0).sum(axis=2) / often
    away = np.where(there, last - middle[:, :, None], 0.0)
    spread = np.sqrt((away**2).sum(axis=(1, 2)) / often[:, 0])
    return count[:, 0], middle, spread


# Neighbours.


def _reached(mechanism: Fixations, declared: Fixations, span: int) -> float:
    """How far neighbours are moved apart, in the place of a fixation and in what is tested."""
    mechanism, declared = (_set(one, _SMALL, 1, span, 1) for one in (mechanism, declared))
    rng = np.random.default_rng(0)
    run = mechanism.start(SystemRandomness())
    worst = 0.0
    for number in range(_NEIGHBOURS):
        pair = _neighbours(declared, number % _KINDS, rng)
        one, other = (_tested(run, gaze, _just_enough(declared, gaze)) for gaze in pair)
        moved = math.dist(*(_published(run, gaze) for gaze in pair)) / mechanism.step
        moved = max(moved, abs(one - other))
        # What tests do not see must not move them at all; and a place must be one.
        if not math.isfinite(moved) or (moved and number % _KINDS == _UNSEEN):
            moved = math.inf
        worst = max(worst, moved / declared.reach_steps)
    return worst


def _neighbours(mechanism: Fixations, kind: int, rng: np.random.Generator) -> tuple[Values, Values]:
    """Gaze of which the last m samples, or those before them only, are a radius elsewhere."""
    length = _LONG_AGO + mechanism.span
    side = _SMALL * mechanism.radius
    spread = mechanism.radius * rng.choice([0.0, 0.5, 3.0])
    one = rng.uniform(-0.1, 1.1, 2) * side + rng.normal(size=(length, 2)) * spread
    lost = rng.random(length) < rng.choice([0.0, 0.4])
    # A test needs two.
    lost[-2:] = False
    turn = rng.uniform(0, 2 * math.pi)
    order = np.cumsum(~lost)
    angle = [
        np.full(length, turn),
        turn + math.pi * (order % 2),
        # The last sample against the others.
        turn + math.pi * (np.arange(length) == length - 1),
        rng.uniform(0, 2 * math.pi, length),
        np.full(length, turn),
        np.full(length, _rounded_apart(mechanism, rng)),
    ][kind]
    by = mechanism.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if kind == _ROUNDED:
        one[:] = (math.floor(side / 2 / mechanism.step) + 0.5 - _HARDLY) * mechanism.step
    if kind == _UNSEEN:
        lost[_LONG_AGO:-2] = rng.random(mechanism.span - 2) < 0.5
        lost[:_LONG_AGO] = False
        by[_LONG_AGO:] = 0.0
    one[lost] = np.nan
    return one, one + by


def _rounded_apart(mechanism: Fixations, rng: np.random.Generator) -> float:
    """A direction in which a radius is hardly more than whole steps, across and up.

    What lies just short of half a step is rounded down, and a radius farther on it is rounded up.
    """
    turns = rng.uniform(0, math.pi / 2, _TURNS)
    steps = mechanism.radius / mechanism.step * np.stack([np.cos(turns), np.sin(turns)])
    beyond = np.mod(steps - 2 * _HARDLY, 1.0).max(axis=0)
    return float(turns[np.argmin(beyond)])


def _published(run: FixationRun, gaze: Values) -> tuple[float, float]:
    """Where a fixation that starts with the last sample is, without noise."""
    _until_the_last(run, gaze)
    run.tests, run.planes = Same(CERTAIN), Same(0.0, 0.0, 0.0)
    return FilterRun.push(run, *gaze[-1].tolist())


def _just_enough(mechanism: Fixations, gaze: Values) -> float:
    """Noise that should just let the last sample's test rest, but for rounding."""
    inside = np.clip(gaze, 0.0, mechanism.size_steps[0] * mechanism.step)
    return float(
        math.floor(_seen(mechanism, inside)[2][-1] / mechanism.step) - mechanism.threshold_steps
    )


def _tested(run: FixationRun, gaze: Values, about: float) -> float:
    """What the last sample's test sees, as far as its outcome tells: noise that just lets it rest.

    Noise is as it is drawn, whatever the detector then does to it.

    Args:
        run: of the detector.
        gaze: samples × 2.
        about: where to look first.
    """

    def rests(noise: float) -> bool:
        _until_the_last(run, gaze)
        run.tests = Same(noise)
        x, _ = FilterRun.push(run, *gaze[-1].tolist())
        return not math.isnan(x)

    low, high = about - _NEAR, about + _NEAR
    if rests(low) or not rests(high):
        low, high = -_FARTHEST, _FARTHEST
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        low, high = (low, middle) if rests(middle) else (middle, high)
    return high


def _until_the_last(run: FixationRun, gaze: Values) -> None:
    """Nothing rests before the last sample."""
    run.begin()
    run.tests = Same(-CERTAIN)
    FilterRun.push_many(run, *gaze[:-1].T)


# Noise.


def _noise(mechanism: Fixations, declared: Fixations, noise: Randomness) -> dict[str, Any]:
    """What long streams show of its noise, where no test shares samples or budget with others."""
    span = declared.span
    mechanism, declared = (_set(one, ROOMY, 1, span, span) for one in (mechanism, declared))
    gaze = _blocks(declared)
    seen, middle, spread = (each[::span] for each in _seen(declared, gaze))
    left: list[Values] = []
    outcomes: list[Outcomes] = []
    off_grid = 0
    for _ in range(2):
        run = mechanism.start(noise)
        # So few at once that nothing is compiled for them.
        parts = np.array_split(gaze, _STRETCHES * span)
        shown = np.concatenate([np.stack(FilterRun.push_many(run, *p.T), axis=1) for p in parts])
        shown = shown[::span] / declared.step
        rests = ~np.isnan(shown[:, 0])
        started = rests & ~np.concatenate([[False], rests[:-1]])
        off_grid += int((shown[started] != np.rint(shown[started])).any(axis=1).sum())
        left.append((shown - np.rint(middle / declared.step))[started])
        tested = seen >= 2
        outcomes.append((spread[tested] / declared.step, ~rests[tested]))
    # A start has half of what there is for starts.
    scale = declared.scale_parts / (declared.publish_parts // 2)
    return looked_at(np.concatenate(left), off_grid, outcomes, declared, scale)


def _blocks(mechanism: Fixations) -> Values:
    """As many samples as a test sees, again and again, elsewhere and spread otherwise each time."""
    rng = np.random.default_rng(0)
    side = ROOMY * mechanism.radius
    width = (mechanism.threshold or 0.0) + 2 * mechanism.test_scale_steps * mechanism.step
    shape = (_TESTS, mechanism.span, 2)
    gaze = rng.normal(size=shape) * rng.uniform(0, width, (_TESTS, 1, 1))
    gaze += rng.uniform(0.25, 0.75, (_TESTS, 1, 2)) * side
    gaze[rng.random(shape[:2]) < 0.1] = np.nan
    # The first test sees one sample only; later ones whole blocks, which end with theirs.
    return np.asarray(gaze.reshape(-1, 2)[mechanism.span - 1 :])


# Samples one by one.


def _apart(mechanism: Fixations) -> int:
    """Samples that come out otherwise one by one, together, or as the regions of noisy places."""
    # Cells are smaller than the noise.
    own = (mechanism.window, mechanism.span, mechanism.slot_samples)
    mechanism = _set(mechanism, _SMALL / 4, *own)
    gaze = np.tile(hostile_stream(np.random.default_rng(0), mechanism, 0), (_AGAIN, 1))
    single, together, places = (mechanism.start(randomness(7)) for _ in range(3))
    one_by_one = np.array([single.push(*point) for point in gaze.tolist()])
    at_once = np.stack(together.push_many(*gaze.T), axis=1)
    noisy = np.stack(FilterRun.push_many(places, *gaze.T), axis=1)
    shown = _shown(mechanism, noisy)
    return int(((one_by_one != at_once) | (one_by_one != shown)).any(axis=1).sum())


def _shown(mechanism: Fixations, noisy: Values) -> Values:
    """The middle of the region that noisy places last lay in; at first that of the scene."""
    x0, y0, x1, y1 = mechanism.place.plane
    rests = ~np.isnan(noisy[:, 0])
    regions = [
        mechanism.regions.middle(mechanism.regions.region_at(*place))
        for place in noisy[rests].tolist()
    ]
    shown = np.array([((x0 + x1) / 2, (y0 + y1) / 2), *regions])
    return np.asarray(shown[np.cumsum(rests)])
