"""Does a filter spend what it says, and is its noise what it says?

A long window is too much for a distinguishing game: it has more outcomes than there are runs. But
whether a filter keeps its budget can be seen from outside, without its own accounts. Its noise is
exchanged for numbers that we choose: tests then come out as we like, and a publication shows by how
far it misses how much it paid. This is tried with hostile streams, for every window at every
offset. Then the noise itself is looked at, in a long stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.residuals import ALPHA, SIGMAS, low_bits, repeated
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.streams.draws import BLOCK, Ahead, LaplaceAhead
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.filter_run import FilterRun
from eyelid.mechanisms.streams.state import ABSORBING, FIXED, PLANES_USED, TESTS_USED, WHOLE
from eyelid.privacy.noise import Randomness, SystemRandomness, randomness

_STREAMS, _NEIGHBOURS = 48, 48
_SAMPLES, _STRETCHES = 20_000, 20
_LONGEST_WINDOW = 12
# So wide that a publication with next to no budget still lands inside, in radii.
WIDE = 2.0**22
# So wide that hardly any noise goes beyond.
ROOMY = 2.0**12
# Where publications land on the edge, and in rounding a distance to whole steps.
_TOLERANCE = 1e-4
# No distance and no threshold is larger, and it is still a whole number in floating point.
CERTAIN = 2.0**60
_BINS = 16

Places = Callable[[Any, Values], Values]
"""Where a filter would publish each of samples × 2 without noise."""
L = TypeVar("L", bound=Filter)
Outcomes = tuple[Values, NDArray[np.bool_]]


@dataclass(frozen=True)
class StreamResult:
    """What was seen of a filter from outside.

    Attributes:
        mechanism: its name.
        unit: that it hides.
        streams: how many were tried.
        window: the most that any window was seen to spend, as a share of ε.
        reached: the largest change of a distance or place by a radius, as a share of the declared.
        unmetered: streams in which its meter told less than was seen.
        apart: samples that came out otherwise one by one than all together.
        draws: how many publications were looked at.
        off_grid: how many of these lie off the public grid.
        repeated: how many pairs of them had the same noise, in standard deviations of chance.
        spread: the largest deviation of a moment of the noise from its own, in standard errors.
        low_bits_p: of a chi-square test that its lowest bits are uniform.
        tests_p: of a chi-square test that tests come out as often as they should.
        settings: what sets this one apart from others of its kind.
    """

    mechanism: str
    unit: str
    streams: int
    window: float
    reached: float
    unmetered: int
    apart: int
    draws: int
    off_grid: int
    repeated: float
    spread: float
    low_bits_p: float
    tests_p: float
    settings: str = ""

    @property
    def refuted(self) -> bool:
        """Whether it spends more than ε, or its noise is not fresh, whole and of its mechanism."""
        return (
            self.window > 1
            or self.reached > 1
            or self.unmetered > 0
            or self.apart > 0
            or self.off_grid > 0
            or self.repeated > SIGMAS
            or self.spread > SIGMAS
            or min(self.low_bits_p, self.tests_p) < ALPHA
        )


def examine_stream(
    mechanism: Filter, noise: Randomness, declared: Filter | None = None
) -> StreamResult:
    """Look at a filter from outside.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose ε, radius and noise it should have; the mechanism itself by default.
    """
    declared = declared or mechanism
    spent = [
        budget_of(own, should, should.window, lambda _, gaze: gaze)
        for own, should in zip(_wide(mechanism), _wide(declared), strict=True)
    ]
    return StreamResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        streams=sum(each.streams for each in spent),
        window=max(each.window for each in spent),
        reached=_reached(_plain(mechanism), _plain(declared)),
        unmetered=sum(each.unmetered for each in spent),
        apart=_apart(mechanism),
        **_noise(_plain(mechanism), _plain(declared), noise),
    )


# Budgets.


@dataclass(frozen=True)
class Spent:
    """What windows were seen to spend.

    Attributes:
        streams: how many were tried.
        window: the most of any window, as a share of ε.
        unmetered: streams in which the meter told less.
    """

    streams: int
    window: float
    unmetered: int


def budget_of(
    mechanism: Filter, declared: Filter, touched: int, places: Places, streams: int = _STREAMS
) -> Spent:
    """Send it hostile streams, and decide its tests.

    Args:
        mechanism: with a wide scene.
        declared: whose ε and radius it should have.
        touched: samples in a row that changed ones can reach.
        places: that it should publish.
        streams: how many.
    """
    rng = np.random.default_rng(0)
    run = mechanism.start(SystemRandomness())
    assert isinstance(run.tests, LaplaceAhead)
    # As many tests as there are cost so much each, by the noise that they really have.
    test_cost = declared.reach_steps / run.tests.distribution.scale if declared.test_parts else 0.0
    worst, unmetered = 0.0, 0
    for number in range(streams):
        gaze = hostile_stream(rng, declared, number)
        verdicts, at = Verdicts(rng, number), places(declared, gaze)
        spent = seen_to_spend(run, gaze, verdicts, declared.reach_steps, test_cost, at)
        sums = np.convolve(spent, np.ones(touched)) / declared.epsilon
        worst = max(worst, float(sums.max()))
        metered = np.array([run.worst_parts, run.spent_parts]) / WHOLE
        seen = np.array([sums.max(), spent.sum() / declared.epsilon])
        unmetered += int((seen > metered * (1 + _TOLERANCE)).any())
    return Spent(streams, worst / (1 + _TOLERANCE), unmetered)


def seen_to_spend(
    run: FilterRun,
    gaze: Values,
    verdicts: Ahead,
    reach_steps: int,
    test_cost: float,
    places: Values | None = None,
) -> Values:
    """The ε that each sample is seen to spend: what noise of the scale that was used costs.

    Args:
        run: of a filter with a wide scene.
        gaze: samples × 2; lost ones are NaN.
        verdicts: in the place of the noise of tests.
        reach_steps: how far a radius goes.
        test_cost: of one test, in ε.
        places: where each would be published without noise; where it is, by default.
    """
    run.begin()
    places = gaze if places is None else places
    # Noise of scale 1 goes one step aside, without a doubt.
    run.tests, run.planes = verdicts, Same(1.0, 0.0, 0.0)
    spent = np.zeros(len(gaze))
    for i, (x, y) in enumerate(gaze.tolist()):
        # Draws are numbered anew when more are needed.
        run.tests.ensure(1)
        run.planes.ensure(1)
        before = run.tests.used, run.planes.used
        # A place, not yet the region that it lies in.
        out, _ = FilterRun.push(run, x, y)
        tests, planes = run.state[TESTS_USED] - before[0], run.state[PLANES_USED] - before[1]
        spent[i] = tests * test_cost
        if planes:
            scale = (out - places[i, 0]) / run.mechanism.step
            spent[i] += planes * (reach_steps / scale if scale > 0 else math.inf)
    return spent


class Verdicts(Ahead):
    """In the place of the noise of tests: numbers that settle each, by chance or in turn."""

    def __init__(self, rng: np.random.Generator, number: int) -> None:
        super().__init__(SystemRandomness())
        self._rng = rng
        # Published always, never, now and then, often, and in turn.
        self._chance = (1.0, 0.0, 0.3, 0.8, None)[number % 5]

    def block(self, source: Randomness) -> tuple[Values, ...]:
        """Far below any distance: published; far above: not."""
        published = np.arange(BLOCK) % 2 == 0
        if self._chance is not None:
            published = self._rng.random(BLOCK) < self._chance
        return (np.where(published, -CERTAIN, CERTAIN),)


class Same(Ahead):
    """Draws that are all the same."""

    def __init__(self, *values: float) -> None:
        super().__init__(SystemRandomness())
        self._values = values

    def block(self, source: Randomness) -> tuple[Values, ...]:
        """So many of each."""
        return tuple(np.full(BLOCK, value) for value in self._values)


def hostile_stream(rng: np.random.Generator, mechanism: Filter, number: int) -> Values:
    """Gaze that jumps where a scheduler could lose count; samples × 2, in the left of the scene."""
    window, slot = mechanism.window, mechanism.slot_samples
    length = int(rng.integers(1, 5 * window + 3 * slot + 2))
    periods = (1, slot - 1, slot, slot + 1, window - 1, window, window + 1, 2 * window, length)
    period = max(1, periods[number % len(periods)])
    x0, y0, x1, y1 = mechanism.place.plane
    far = np.arange(length) // period % 2
    jitter = mechanism.radius * rng.random((length, 2))
    gaze = np.array([x0, (y0 + y1) / 2]) + jitter + far[:, None] * [(x1 - x0) / 4, (y1 - y0) / 4]
    lost = rng.random(length) < rng.choice([0.0, 0.1, 0.7])
    # Whole stretches are lost, too: at the start, and as long as a window.
    start = int(rng.integers(0, length))
    lost[start : start + int(rng.integers(0, window + 2))] |= rng.random() < 0.3
    gaze[lost] = np.nan
    return gaze


def _wide(mechanism: Filter) -> list[Filter]:
    """The filter with windows of several lengths, in a scene that holds all of its noise."""
    changes: list[dict[str, Any]] = [
        {"window": window, **({"skip": skip} if mechanism.skips else {})}
        for window in (1, 2, 3, 5, _LONGEST_WINDOW)
        for skip in (sorted({1, 2, window}) if mechanism.skips else [1])
        if skip <= window
    ]
    return [in_square(mechanism, WIDE, **each) for each in changes]


def in_square(mechanism: L, radii: float, **changes: Any) -> L:
    """The filter in a square scene of so many radii."""
    side = f"{radii * mechanism.radius:.12g}"
    return replace(mechanism, coordinates="px", scene=f"0,0,{side},{side}", **changes)


# Distances.


def _plain(mechanism: Filter) -> Filter:
    """The filter with windows of one sample, of which each knows its budget, in a wide scene."""
    changes: dict[str, Any] = {"skip": 1} if mechanism.skips else {}
    return in_square(mechanism, ROOMY, window=1, **changes)


def _reached(mechanism: Filter, declared: Filter) -> float:
    """How far neighbours are moved apart, in what is published and in what is tested."""
    rng = np.random.default_rng(0)
    run = mechanism.start(SystemRandomness())
    run.planes = Same(0.0, 0.0, 0.0)
    _, _, side, _ = mechanism.place.plane
    worst = 0.0
    for number in range(_NEIGHBOURS):
        # Everywhere, at the edge and outside; what was last released is anywhere, too.
        last, one = rng.uniform(-0.1, 1.1, size=(2, 2)) * side
        if number % 4 == 0:
            last = one + rng.normal(size=2) * declared.radius
        turn = math.atan2(*(one - last)[::-1]) if number % 2 else rng.uniform(0, 2 * math.pi)
        other = one + declared.radius * np.array([math.cos(turn), math.sin(turn)])
        places = [_published(run, point) for point in (one, other)]
        moved = math.dist(*places) / mechanism.step
        if mechanism.test_parts:
            tested = [_tested(run, last, point) for point in (one, other)]
            moved = max(moved, abs(tested[0] - tested[1]))
        worst = max(worst, moved / declared.reach_steps)
    return worst


def _published(run: FilterRun, point: Values) -> tuple[float, float]:
    """Where a point is published without noise."""
    run.begin()
    run.tests = Same(-CERTAIN)
    return run.push(*point.tolist())


def _tested(run: FilterRun, last: Values, point: Values) -> float:
    """The distance that a test sees, as far as its outcome tells: noise that just lets it pass."""
    low, high = -(2.0**52), 2.0**52
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        _published(run, last)
        run.tests = Same(middle)
        run.planes.ensure(1)
        before = run.planes.used
        run.push(*point.tolist())
        if run.planes.used > before:
            low = middle
        else:
            high = middle
    return low


# Noise.


def _noise(mechanism: Filter, declared: Filter, noise: Randomness) -> dict[str, Any]:
    """What a long stream shows of its noise, given twice."""
    gaze = _wandering(declared)
    left, scale = [], declared.scale_parts / _parts(declared)
    outcomes = []
    off_grid = 0
    for _ in range(2):
        run = mechanism.start(noise)
        # So few at once that nothing is compiled for them.
        parts = [np.stack(run.push_many(*part.T), axis=1) for part in np.split(gaze, _STRETCHES)]
        out = np.concatenate(parts) / declared.step
        off_grid += int((out != np.rint(out)).any(axis=1).sum())
        before = np.concatenate([np.array([declared.middle_steps], dtype=np.float64), out[:-1]])
        moved = (out != before).any(axis=1)
        seen = np.rint(gaze / declared.step)
        left.append((out - seen)[moved])
        if declared.test_parts:
            first = 0 if declared.starts_in_the_middle else 1
            distance = np.hypot(*(seen - before)[first:].T)
            outcomes.append((distance, moved[first:]))
    return looked_at(np.concatenate(left), off_grid, outcomes, declared, scale)


def looked_at(
    residuals: Values, off_grid: int, outcomes: list[Outcomes], mechanism: Filter, scale: float
) -> dict[str, Any]:
    """What noise says of itself.

    Args:
        residuals: draws × 2, in steps: publications without what was published.
        off_grid: publications off the grid.
        outcomes: distances that were tested, in steps, and whether they were taken for far.
        mechanism: that tests should have.
        scale: that the noise of publications should have, in steps.
    """
    return {
        "draws": len(residuals),
        "off_grid": off_grid,
        "repeated": repeated(residuals, int(scale), pure=True) if len(residuals) else math.inf,
        "spread": _spread(residuals / scale),
        "low_bits_p": low_bits(residuals) if len(residuals) else 0.0,
        "tests_p": _tests_p(outcomes, mechanism, scale) if outcomes else 1.0,
    }


def _wandering(mechanism: Filter) -> Values:
    """Gaze all over a place so wide that tests come out both ways."""
    rng = np.random.default_rng(0)
    reach = mechanism.radius + (mechanism.farthest_test if mechanism.test_parts else 0.0)
    _, _, side, _ = mechanism.place.plane
    return np.asarray(side / 2 + rng.uniform(-2, 2, size=(_SAMPLES, 2)) * reach)


def _parts(mechanism: Filter) -> float:
    """What a publication spends where every sample is a window of its own."""
    return (
        mechanism.publish_parts
        if mechanism.rule in (FIXED, ABSORBING)
        else mechanism.publish_parts // 2
    )


def _spread(noise: Values) -> float:
    """Moments of planar Laplace noise of scale 1 against its mechanism's, in standard errors."""
    if not len(noise):
        return math.inf
    x, y = noise.T
    radius = np.hypot(x, y)
    longer = radius - 2
    # Mean and variance of each, from E r^k = (k + 1)! and a uniform direction.
    moments = (
        (x, 0, 3), (y, 0, 3), (x * y, 0, 15), (x * x, 3, 36), (y * y, 3, 36), (longer, 0, 2),
        # One draw says nothing about the next.
        (x[1:] * x[:-1], 0, 9), (y[1:] * y[:-1], 0, 9), (longer[1:] * longer[:-1], 0, 4),
    )  # fmt: skip
    return float(
        max(abs(m.mean() - mean) / math.sqrt(of / len(m)) for m, mean, of in moments if len(m))
    )


def _tests_p(outcomes: list[Outcomes], mechanism: Filter, scale: float) -> float:
    """The p-value of a chi-square test that gaze of each distance passes as often as it should."""
    from scipy.stats import chi2

    distance, moved = (np.concatenate(part) for part in zip(*outcomes, strict=True))
    beyond = mechanism.threshold_steps if mechanism.threshold_steps >= 0 else math.floor(2 * scale)
    excess = (np.floor(distance) - beyond) / mechanism.test_scale_steps
    tail = 0.5 * np.exp(-np.abs(excess))
    chance = np.where(excess < 0, tail, 1 - tail)
    bins = np.searchsorted(np.quantile(excess, np.linspace(0, 1, _BINS + 1)[1:-1]), excess)
    wanted, variance = np.bincount(bins, chance), np.bincount(bins, chance * (1 - chance))
    enough = variance > 10
    off = (np.bincount(bins, moved) - wanted)[enough] ** 2 / variance[enough]
    return float(chi2.sf(off.sum(), enough.sum()))


def _apart(mechanism: Filter) -> int:
    """Samples that come out otherwise one by one than together, the noise being the same."""
    rng = np.random.default_rng(0)
    gaze = hostile_stream(rng, replace(mechanism, window=_LONGEST_WINDOW), 0)
    one_by_one, together = (mechanism.start(randomness(7)) for _ in range(2))
    single = np.array([one_by_one.push(*point) for point in gaze.tolist()])
    return int((single != np.stack(together.push_many(*gaze.T), axis=1)).any(axis=1).sum())
