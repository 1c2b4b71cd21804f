"""Filters that promise (ε, w, radius): what any w samples in a row were, each within a radius.

Budgets are whole numbers: ε is `WHOLE` parts, and what is spent in a window is added up exactly.
Gaze is put on a public grid, so that distances are whole numbers of steps, too.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import NeighbourPair, Shape, Values, parameter
from eyelid.mechanisms.streams.draws import Ahead, LaplaceAhead, PlanarAhead, own_sources
from eyelid.mechanisms.streams.likelihood import log_likelihood
from eyelid.mechanisms.streams.schedule import schedule
from eyelid.mechanisms.streams.state import (
    ABSORBING,
    CLOCK,
    HALVING,
    INDEX,
    LAST_X,
    LAST_Y,
    PLANES_USED,
    PUBLISHED,
    PUBLISHED_SUM,
    SPENT,
    SPENT_WHOLE,
    STATE_SIZE,
    TESTS_USED,
    USED_UP_TO,
    WHOLE,
    WINDOW_SUM,
    WORST,
)
from eyelid.mechanisms.streams.stream import Floats, Run, StreamMechanism
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
# Samples that are handed to compiled code at once.
_CHUNK = 1 << 16
_WORTH_COMPILING = 2048
_MANY_WORTH_COMPILING = 350_000

# Scenes for games: one in which hardly anything is cut off, and one as small as a radius, in which
# a window costs whoever looks elsewhere no more than one who looks beside.
WIDE_GAME, NARROW_GAME = "-512,-512,512,512", "0,0,4,4"

Kernel = Callable[..., int]


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

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """What any samples in a row lose: ε for each window, in proportion beyond the radius.

        A person is R·⌈T/w⌉·ε·max(1, D/radius), D being the public scene's diameter.
        """
        windows, radii = math.ceil(shape.length / self.window), self.radii_of_scene
        if unit == PERSON:
            windows *= shape.recordings
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
        """How many times the loss of a radius somebody's gaze costs who looked anywhere else."""
        return max(1.0, self.place.diameter / self.radius)

    @property
    def window_cost(self) -> float:
        """Person-level ε of one window."""
        return self.epsilon * self.radii_of_scene

    def person_total(self, shape: Shape) -> str:
        """R·⌈T/w⌉·ε·max(1, D/radius), in words."""
        windows = math.ceil(shape.length / self.window)
        return (
            f"{shape.recordings} recordings of at most {windows} windows of {self.window} samples, "
            f"each ε = {rounded_up(self.epsilon)} for a radius of {self.radius:g}, and "
            f"{rounded_up(self.radii_of_scene)} times that for the whole scene"
        )

    # The public grid.

    @cached_property
    def step(self) -> float:
        """Of the grid: a power of two, at most 2⁻²⁴ of the radius."""
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
        """Of the Laplace noise of a test: reach over the ε of a test."""
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

    def sampler(self, shape: Shape) -> str:
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
        """Somebody who looks at one place all of a window, or at another."""
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
        shape = Shape(people=1, recordings=recordings, length=length, features=2, window=1)
        return NeighbourPair(name, shape, unit, one, other)

    def play(self, values: Values, shape: Shape, runs: int, noise: Randomness) -> Values:
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
            scores += log_likelihood(self, other[j], released[:, j])
            scores -= log_likelihood(self, one[j], released[:, j])
        return scores

    def _corner_and_spans(self) -> tuple[Values, Values]:
        x0, y0, x1, y1 = self.place.plane
        return np.array([x0, y0]), np.array([x1 - x0, y1 - y0])


class FilterRun(Run):
    """A filter at work.

    Attributes:
        law: the filter.
        state: as `state` says; budgets in parts of ε, places in steps.
        tests: the noise of tests, drawn ahead.
        planes: the noise of publications.
    """

    def __init__(self, law: Filter, noise: Randomness) -> None:
        self.law = law
        self._kernel = law.kernel()
        tests, planes = own_sources(noise, 2)
        self.tests: Ahead = LaplaceAhead(law.test_scale_steps if law.test_parts else 1, tests)
        self.planes: Ahead = PlanarAhead(planes)
        # Where nothing is tested the first block is never used up.
        self.tests.ensure(1)
        x0, y0, *_ = law.place.plane
        self._x0, self._y0, self._step = x0, y0, law.step
        width, height = law.size_steps
        self._width, self._height = float(width), float(height)
        # Draw, place and scale of a publication that floating point leaves in doubt.
        self._asked = [0.0] * 4
        self._facts = [
            float(law.window),
            float(law.memory),
            law.rule,
            float(law.slot_samples),
            float(law.threshold_steps),
            float(law.publish_parts),
            float(law.test_parts),
            law.scale_parts,
            self._width,
            self._height,
        ]
        self.begin()

    def begin(self) -> None:
        """Forget the stream; what was not yet used of the noise is kept."""
        self.state = [0.0] * STATE_SIZE
        self.state[LAST_X], self.state[LAST_Y] = map(float, self.law.middle_steps)
        self.state[CLOCK] = float(self.law.slot_samples)
        self.state[PUBLISHED] = float(self.law.starts_in_the_middle)
        self.state[USED_UP_TO] = -1.0
        self._of_publications = [0.0] * self.law.memory
        self._of_all = [0.0] * self.law.window
        self.samples = 0

    def saved(self) -> dict[str, Any]:
        """Budgets and the last point released, to go on after a restart; no gaze."""
        return {
            "state": list(self.state),
            "of_publications": list(self._of_publications),
            "of_all": list(self._of_all),
            "samples": self.samples,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved of a run of the same filter, if its sums agree."""
        self.begin()
        for kept, name in (
            (self.state, "state"),
            (self._of_publications, "of_publications"),
            (self._of_all, "of_all"),
        ):
            if len(saved[name]) != len(kept):
                raise InputError(f"what was saved of {self.law.name} does not fit: {name}")
            kept[:] = (float(number) for number in saved[name])
        self.samples = int(saved["samples"])
        state, spent = self.state, self._of_all + self._of_publications
        if not (
            min(spent) >= 0
            and state[PUBLISHED_SUM] == sum(self._of_publications)
            and state[WINDOW_SUM] == sum(self._of_all) <= state[WORST] <= WHOLE
            and state[INDEX] == self.samples
        ):
            raise InputError(f"what was saved of {self.law.name} does not add up")

    @property
    def window_parts(self) -> int:
        """What the last w samples have spent."""
        return int(self.state[WINDOW_SUM])

    @property
    def worst_parts(self) -> int:
        """The most that any w samples in a row have spent."""
        return int(self.state[WORST])

    @property
    def spent_parts(self) -> int:
        """What all samples have spent together."""
        return int(self.state[SPENT_WHOLE]) * WHOLE + int(self.state[SPENT])

    def push(self, x: float, y: float) -> tuple[float, float]:
        """What is released for the next sample, in the plane of the scene."""
        tests, planes, state = self.tests, self.planes, self.state
        tests.ensure(1)
        planes.ensure(1)
        # Anything that is not a number is lost, infinities too.
        if x - x == 0.0 and y - y == 0.0:
            gx = float(round(min(max((x - self._x0) / self._step, 0.0), self._width)))
            gy = float(round(min(max((y - self._y0) / self._step, 0.0), self._height)))
        else:
            gx = gy = math.nan
        state[TESTS_USED], state[PLANES_USED] = tests.used, planes.used
        out_x, out_y = [0.0], [0.0]
        while not self._kernel(
            [gx], [gy], out_x, out_y, state, self._of_publications, self._of_all,
            *tests.lists, *planes.lists, self._facts, self._asked, 0,
        ):  # fmt: skip
            self._settle(self._asked)
        tests.used, planes.used = int(state[TESTS_USED]), int(state[PLANES_USED])
        self.samples += 1
        return self._x0 + out_x[0] * self._step, self._y0 + out_y[0] * self._step

    def _settle(self, asked: Any) -> None:
        """End the doubt about what a draw publishes."""
        assert isinstance(self.planes, PlanarAhead)
        number, x, y, scale = map(float, asked)
        self.planes.settle(int(number), (x, y), scale, self.law.size_steps)

    def _until_done(self, kernel: Kernel, count: int, *given: Any) -> None:
        """Let a kernel work, and settle what floating point leaves in doubt, until all is done."""
        asked: Any = self._asked if isinstance(given[0], list) else np.zeros(4)
        done = kernel(*given, asked, 0)
        while done < count:
            self._settle(asked)
            done = kernel(*given, asked, done)

    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The same for many samples, as if they had been pushed one by one."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        out = np.empty((2, len(x)))
        for start in range(0, len(x), _CHUNK):
            part = slice(start, start + _CHUNK)
            out[:, part] = self._chunk(x[part], y[part])
        self.samples += len(x)
        return self._x0 + out[0] * self._step, self._y0 + out[1] * self._step

    def repeated(self, gaze: Floats, runs: int) -> Floats:
        """What many runs on the same samples × 2 release: runs × samples × 2, in steps.

        Nothing of one run is left for the next.
        """
        gx, gy = self._on_grid(gaze[:, 0], gaze[:, 1])
        out = np.empty((2, runs, len(gx)))
        many = compiled_many(self._kernel) if out.size >= _MANY_WORTH_COMPILING else None
        at_once = max(1, _CHUNK // len(gx))
        for start in range(0, runs, at_once):
            part = slice(start, min(start + at_once, runs))
            out[:, part] = self._many(many, gx, gy, part.stop - part.start)
        return out.transpose(1, 2, 0)

    def _many(self, many: Kernel | None, gx: Floats, gy: Floats, runs: int) -> Any:
        """As many runs as are not too many for the noise drawn ahead."""
        tests, planes = self.tests, self.planes
        tests.ensure(runs * len(gx) if self.law.test_parts else 1)
        planes.ensure(runs * len(gx))
        self.begin()
        self.state[TESTS_USED], self.state[PLANES_USED] = tests.used, planes.used
        kept: list[Any] = [self.state, self._of_publications, self._of_all]
        if many is None:
            out: Any = [[[0.0] * len(gx) for _ in range(runs)] for _ in range(2)]
            self._until_done(
                many_times(self._kernel), runs, gx.tolist(), gy.tolist(), *out, list(self.state),
                *kept, *tests.lists, *planes.lists, self._facts,
            )  # fmt: skip
        else:
            out = np.empty((2, runs, len(gx)))
            kept = [np.array(part) for part in kept]
            self._until_done(
                many, runs, gx, gy, *out, np.array(self.state), *kept,
                *tests.columns, *planes.columns, np.array(self._facts),
            )  # fmt: skip
        tests.used, planes.used = int(kept[0][TESTS_USED]), int(kept[0][PLANES_USED])
        self.begin()
        return out

    def _on_grid(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Samples in whole steps, cut off at the edge of the scene; lost ones are NaN."""
        with np.errstate(invalid="ignore", over="ignore"):
            gx, gy = (x - self._x0) / self._step, (y - self._y0) / self._step
        lost = ~(np.isfinite(x) & np.isfinite(y))
        return (
            np.where(lost, np.nan, np.rint(np.clip(gx, 0.0, self._width))),
            np.where(lost, np.nan, np.rint(np.clip(gy, 0.0, self._height))),
        )

    def _chunk(self, x: Floats, y: Floats) -> Any:
        """Samples that are not too many for the noise drawn ahead, in steps."""
        gx, gy = self._on_grid(x, y)
        tests, planes = self.tests, self.planes
        tests.ensure(len(x) if self.law.test_parts else 1)
        planes.ensure(len(x))
        self.state[TESTS_USED], self.state[PLANES_USED] = tests.used, planes.used
        fast = compiled(self._kernel) if len(x) >= _WORTH_COMPILING else None
        if fast is None:
            out: Any = ([0.0] * len(x), [0.0] * len(x))
            self._until_done(
                self._kernel, len(x), gx.tolist(), gy.tolist(), *out, self.state,
                self._of_publications, self._of_all, *tests.lists, *planes.lists, self._facts,
            )  # fmt: skip
        else:
            out = np.empty((2, len(x)))
            kept = [np.array(k) for k in (self.state, self._of_publications, self._of_all)]
            self._until_done(
                fast, len(x), gx, gy, *out, *kept, *tests.columns, *planes.columns,
                np.array(self._facts),
            )  # fmt: skip
            self.state, self._of_publications, self._of_all = (k.tolist() for k in kept)
        tests.used = int(self.state[TESTS_USED])
        planes.used = int(self.state[PLANES_USED])
        return out


@cache
def compiled(kernel: Kernel) -> Kernel | None:
    """The kernel as machine code, where the extra ``fast`` is installed; None elsewhere.

    Only functions of a module are compiled; others may know things that compiled code cannot.
    """
    try:
        import numba
    except ImportError:
        return None
    if kernel.__closure__ is not None:
        return None
    compile_it: Any = numba.njit(nogil=True)
    fast: Kernel = compile_it(kernel)
    return fast


@cache
def compiled_many(kernel: Kernel) -> Kernel | None:
    """The same for many runs."""
    fast = compiled(kernel)
    if fast is None:
        return None
    import numba

    compile_it: Any = numba.njit(nogil=True)
    many: Kernel = compile_it(many_times(fast))
    return many


def many_times(kernel: Kernel) -> Kernel:
    """The kernel at work on the same samples again and again; only noise is not used twice.

    Returns how many runs are done; one whose noise must be settled begins again with the same.
    """

    def many(
        gx: Any,
        gy: Any,
        out_x: Any,
        out_y: Any,
        begin: Any,
        state: Any,
        of_publications: Any,
        of_all: Any,
        tests: Any,
        planes_x: Any,
        planes_y: Any,
        doubts: Any,
        facts: Any,
        asked: Any,
        start: int,
    ) -> int:
        for run in range(start, len(out_x)):
            tests_used, planes_used = state[TESTS_USED], state[PLANES_USED]
            state[:] = begin
            state[TESTS_USED], state[PLANES_USED] = tests_used, planes_used
            for i in range(len(of_publications)):
                of_publications[i] = 0.0
            for i in range(len(of_all)):
                of_all[i] = 0.0
            done = kernel(
                gx, gy, out_x[run], out_y[run], state, of_publications, of_all,
                tests, planes_x, planes_y, doubts, facts, asked, 0,
            )  # fmt: skip
            if done < len(gx):
                state[TESTS_USED], state[PLANES_USED] = tests_used, planes_used
                return run
        return len(out_x)

    return many
