"""Filters that promise (ε, w, radius): what any w samples in a row were, each within a radius.

Budgets are whole numbers: ε is `WHOLE` parts, and what is spent in a window is added up exactly.
Gaze is put on a public grid, so that distances are whole numbers of steps, too.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter
from eyelid.mechanisms.streams.filter_run import FilterRun, Kernel
from eyelid.mechanisms.streams.schedule import schedule
from eyelid.mechanisms.streams.state import ABSORBING, HALVING, WHOLE
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.guarantee import Guarantee, Kind, rounded_up
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.discrete import MAX_SCALE
from eyelid.privacy.unit import PERSON, RECORDING, Neighbours, Trust, Unit

KELLARIS = (
    "Kellaris, Papadopoulos, Xiao & Papadias (2014), Differentially private event sequences over "
    "infinite streams; Andrés et al. (2013), Geo-indistinguishability"
)
_STEPS_PER_RADIUS_BITS = 24
# Putting two points on the grid brings them at most √2 steps farther apart, cutting their distances
# to whole steps 1 more; the rest is for floating point, which is good to 1/16 of a step or better.
_ROUNDING_STEPS = 4
_MOST_RADII = 2**24
_RADII = (1e-100, 1e100)
_MOST_NOISE = 1e200
_LONGEST_WINDOW = 10_000_000

# Scenes for games: one in which hardly anything is cut off, and one as small as a radius, in which
# a window costs a person who looks elsewhere no more than one who looks beside.
WIDE_GAME, NARROW_GAME = "-512,-512,512,512", "0,0,4,4"


@dataclass(frozen=True, kw_only=True)
class Filter(DifferentialMechanism, StreamMechanism):
    """A filter that repeats what it last released, or releases a new noisy point.

    Attributes:
        epsilon: the most that any window spends.
        window: w, samples in a row that are hidden together.
        radius: how far each of them may have been elsewhere.
    """

    family: ClassVar[str] = "filters"
    kind: ClassVar[Kind] = Kind.PURE
    units: ClassVar[tuple[str, ...]] = ("event",)
    skips: ClassVar[bool] = False
    """Whether ``skip`` samples pass from one test to the next."""
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 2.0, "window": 2, "radius": 2.0, "scene": WIDE_GAME},
        {"epsilon": 2.0, "window": 2, "radius": 5.65, "scene": NARROW_GAME},
    )

    window: int = parameter("samples in a row that are hidden together")
    radius: float = parameter("how far each of them may have been elsewhere, in units of gaze")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.window, int) or not 1 <= self.window <= _LONGEST_WINDOW:
            raise InputError(
                f"window must be a whole number of samples between 1 and {_LONGEST_WINDOW}, "
                f"got {self.window}"
            )
        if not _RADII[0] <= self.radius <= _RADII[1]:
            raise InputError(f"radius must be positive and finite, got {self.radius:g}")
        if self.place.diameter / self.radius > _MOST_RADII:
            raise InputError(
                f"radius {self.radius:g} is next to nothing in a scene of {self.scene}: "
                "choose a larger one"
            )
        if self.scale_parts > _MOST_NOISE or (
            self.test_parts and self.test_scale_steps > MAX_SCALE
        ):
            raise InputError(
                f"epsilon {self.epsilon:g} over {self.window} samples asks for more noise than "
                "there are numbers for: choose a larger one, or a shorter window"
            )

    @property
    def guaranteed(self) -> Filter:
        """This filter: it keeps its ε."""
        return self

    @property
    def resumes(self) -> bool:
        """Whether a stream can go on after a restart, or with another ε."""
        return True

    @property
    def standing_cost(self) -> float:
        """Person-level ε that is paid in advance, however long the stream lasts."""
        return 0.0

    @property
    def unit(self) -> Unit:
        """The samples of a window, each moved by at most the radius."""
        return Unit("event", self.window, self.radius)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """What any samples in a row lose: ε for each window, in proportion beyond the radius.

        A person is R·⌈T/w⌉·ε·max(1, D/radius), D being the public scene's diameter.
        """
        windows, radii = math.ceil(facts.length / self.window), self.radii_of_scene
        if unit == PERSON:
            windows *= facts.recordings
        elif unit.length is not None and unit.radius is not None:
            windows = math.ceil(unit.length / self.window)
            radii = max(1.0, unit.radius / self.radius)
        elif unit != RECORDING:
            raise Refused(f"{self.name} does not offer the unit '{unit}': it hides events")
        return Guarantee(
            kind=Kind.PURE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=Trust.LOCAL,
            epsilon=self.epsilon * windows * radii,
            delta=0.0,
        )

    @property
    def apart(self) -> int:
        """Samples that must pass so that nothing before and after them lies in one window."""
        return self.window - 1

    @property
    def radii_of_scene(self) -> float:
        """How many times the loss of a radius a person's gaze costs who looked anywhere else."""
        return max(1.0, self.place.diameter / self.radius)

    @property
    def window_cost(self) -> float:
        """Person-level ε of one window."""
        return self.epsilon * self.radii_of_scene

    def person_total(self, facts: PublicFacts) -> str:
        """R·⌈T/w⌉·ε·max(1, D/radius), in words."""
        windows = math.ceil(facts.length / self.window)
        return (
            f"{facts.recordings} recordings of at most {windows} windows of {self.window} samples, "
            f"each ε = {rounded_up(self.epsilon)} for a radius of {self.radius:g}, and "
            f"{rounded_up(self.radii_of_scene)} times that for the whole scene"
        )

    # The public grid.

    @cached_property
    def step(self) -> float:
        """The step of the grid: a power of two, at most 2⁻²⁴ of the radius."""
        return math.ldexp(1.0, math.frexp(self.radius)[1] - 1 - _STEPS_PER_RADIUS_BITS)

    @cached_property
    def reach_steps(self) -> int:
        """How far a sample can move by the radius, in whole steps, all rounding included."""
        return math.ceil(self.radius / self.step) + _ROUNDING_STEPS

    @cached_property
    def size_steps(self) -> tuple[int, int]:
        """Width and height of the scene, in steps."""
        x0, y0, x1, y1 = self.place.plane
        return math.floor((x1 - x0) / self.step), math.floor((y1 - y0) / self.step)

    @cached_property
    def middle_steps(self) -> tuple[int, int]:
        """The middle of the scene, which is shown before anything was released."""
        width, height = self.size_steps
        return width // 2, height // 2

    # What the kernel needs; planted faults are in these.

    rule: ClassVar[float]
    """How much a publication may spend: one of `state`."""
    starts_in_the_middle: ClassVar[bool] = False
    """Whether the first sample is tested, against the public middle of the scene."""

    @property
    def slot_samples(self) -> int:
        """Samples from one that may be published to the next."""
        return 1

    @property
    def threshold_steps(self) -> int:
        """How far gaze must have moved to be published; negative: a publication's error."""
        return -1

    @property
    def test_parts(self) -> int:
        """What one test spends, in parts of ε; 0 where nothing is tested."""
        return 0

    @property
    @abstractmethod
    def publish_parts(self) -> int:
        """What may be spent on publications, as the rule has it, in parts of ε."""

    @property
    def test_scale_steps(self) -> int:
        """The scale of a test's Laplace noise: its sensitivity over the ε of a test."""
        steps = Fraction(self.reach_steps * WHOLE, self.test_parts)
        return math.ceil(steps / Fraction(self.epsilon))

    @property
    def scale_parts(self) -> float:
        """Scale of planar noise in steps, times the parts of ε that pay for it."""
        return self.reach_steps * WHOLE / self.epsilon

    @property
    def memory(self) -> int:
        """Over how many samples, this one included, publications share their budget."""
        return self.window

    def kernel(self) -> Kernel:
        """What happens to samples, as a function that can be compiled."""
        return schedule

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        planar = (
            f"planar Laplace, rounded exactly to a grid of {self.step:g} {self.place.spoken_units}"
        )
        if not self.test_parts:
            return planar
        return (
            f"{planar}; tests: discrete Laplace, scale {self.test_scale_steps} steps of that grid"
        )

    def start(self, noise: Randomness) -> FilterRun:
        """Begin with a stream of one person."""
        return FilterRun(self, noise)

    # Games.

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person who looks at one place all of a window, or at another."""
        if unit == PERSON:
            # Far outside of the scene, where everybody is taken to look at its corner.
            one = np.full((1, 2 * self.window, 2), -50.0)
            yield self.pair("in one corner, or in the other", unit, one, one + 100.0)
            return
        assert unit.length is not None
        assert unit.radius is not None
        rest, away = 0, 0.0
        if self.test_parts:
            # Where a test tells most: a radius short of the distance that it looks for.
            rest, away = unit.length, max(0.0, self.farthest_test - unit.radius)
        x0, _, x1, _ = self.place.plane
        one = np.full((1, rest + unit.length, 2), 0.5)
        one[:, rest:, 0] += away / (x1 - x0)
        other = one.copy()
        other[:, rest:, 0] += unit.radius / (x1 - x0)
        yield self.pair("at one place, or beside it", unit, one, other)

    @property
    def farthest_test(self) -> float:
        """The distance that is looked for where nothing was published in the window."""
        if self.threshold_steps >= 0:
            return self.threshold_steps * self.step
        shares = {HALVING: 0.5, ABSORBING: float(self.window)}
        return 2 * self.scale_parts / (shares[self.rule] * self.publish_parts) * self.step

    def pair(self, name: str, unit: Unit, one: Values, other: Values) -> NeighbourPair:
        """Neighbours that differ in a unit, recordings × samples × 2, in spans of the scene."""
        recordings, length, _ = one.shape
        facts = PublicFacts(people=1, recordings=recordings, length=length, features=2, window=1)
        return NeighbourPair(name, facts, unit, one, other)

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Every recording as a stream of its own; in spans of the scene, as the values are."""
        corner, spans = self._corner_and_spans()
        run = self.start(noise)
        played = [run.repeated(corner + spans * recording, runs) for recording in values]
        steps = np.stack(played, axis=1)
        return (steps * (self.step / spans)).reshape(runs, -1)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The logarithm of how much likelier the other made them."""
        _, spans = self._corner_and_spans()
        per_span = spans / self.step
        size = (len(outputs), *pair.one.shape)
        released = np.rint(outputs.reshape(size) * per_span)
        limits = np.array(self.size_steps, dtype=np.float64)
        one, other = (np.clip(np.rint(v * per_span), 0, limits) for v in (pair.one, pair.other))
        scores = np.zeros(len(outputs))
        for j in range(len(one)):
            scores += _log_likelihood(self, other[j], released[:, j])
            scores -= _log_likelihood(self, one[j], released[:, j])
        return scores

    def _corner_and_spans(self) -> tuple[Values, Values]:
        x0, y0, x1, y1 = self.place.plane
        return np.array([x0, y0]), np.array([x1 - x0, y1 - y0])


def _log_likelihood(mechanism: Filter, gaze: Values, released: Values) -> Values:
    """How likely gaze makes what was released: a logarithm, but for what is the same for all gaze.

    It is all that an attacker can learn. The schedule is followed once more, for many runs side by
    side, from the outputs alone. A point that was cut off at the edge of the scene is taken as it
    is: there the likelihood is approximate.

    Args:
        mechanism: the filter.
        gaze: samples × 2, in steps; none of them lost.
        released: runs × samples × 2, in steps.
    """
    runs, samples, _ = released.shape
    spent = np.zeros((runs, samples))
    used_up_to = np.full(runs, -1.0)
    found = np.zeros(runs)
    last = np.broadcast_to(np.array(mechanism.middle_steps, dtype=np.float64), (runs, 2))
    for i in range(0, samples, mechanism.slot_samples):
        parts = np.full(runs, float(mechanism.publish_parts))
        if mechanism.rule == HALVING:
            shared = spent[:, max(0, i + 1 - mechanism.memory) : i].sum(axis=1)
            parts = np.floor((parts - shared) / 2)
        elif mechanism.rule == ABSORBING:
            parts = parts * np.clip(i - used_up_to, 0, mechanism.window)
        moved = offered = parts >= 1
        scale = mechanism.scale_parts / np.maximum(parts, 1)
        here = released[:, i]
        if mechanism.test_parts and (i or mechanism.starts_in_the_middle):
            moved = offered & (here != last).any(axis=1)
            beyond = mechanism.threshold_steps
            excess = np.hypot(*(gaze[i] - last).T) - (2 * scale if beyond < 0 else beyond)
            chance = _laplace_below(excess / mechanism.test_scale_steps)
            found += np.where(offered, np.log(np.where(moved, chance, 1 - chance)), 0.0)
        found -= np.where(moved, np.hypot(*(here - gaze[i]).T) / scale, 0.0)
        spent[:, i] = np.where(moved, parts, 0.0)
        used_up_to = np.where(moved, i + parts / mechanism.publish_parts - 1, used_up_to)
        last = here
    return found


def _laplace_below(value: Values) -> Values:
    """How likely Laplace noise of scale 1 is below a value; never quite 0 or 1."""
    tail = 0.5 * np.exp(-np.abs(value))
    return np.clip(np.where(value < 0, tail, 1 - tail), 1e-12, 1 - 1e-12)
