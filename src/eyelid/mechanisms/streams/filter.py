"""Filters that promise (ε, w, radius): what any w samples in a row were, each within a radius.

Budgets are whole numbers: ε is `WHOLE` parts, and what is spent in a window is added up exactly.
Gaze is put on a public grid, so that distances are whole numbers of steps, too.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import Mechanism, NeighbourPair, Shape, Values, parameter
from eyelid.mechanisms.streams.draws import LaplaceAhead, PlanarAhead, own_sources
from eyelid.mechanisms.streams.state import (
    LAST_X,
    LAST_Y,
    PLANES_USED,
    SPENT,
    STATE_SIZE,
    TESTS_USED,
    WINDOW_SUM,
    WORST,
)
from eyelid.mechanisms.streams.stream import Floats, Run, StreamMechanism
from eyelid.privacy.guarantee import Guarantee, Kind, rounded_up
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.discrete import MAX_SCALE
from eyelid.privacy.unit import PERSON, Neighbours, Trust, Unit

WHOLE = 2**32
"""Parts of ε in which budgets are counted."""
_STEPS_PER_RADIUS_BITS = 24
# Putting a point on the grid moves it by less than a step, and so does cutting a distance.
_ROUNDING_STEPS = 4
_MOST_RADII = 2**24
_LONGEST_WINDOW = 10_000_000
# Samples that are handed to compiled code at once.
_CHUNK = 1 << 16
_WORTH_COMPILING = 2048

Kernel = Callable[..., None]


@dataclass(frozen=True, kw_only=True)
class Filter(DifferentialMechanism, StreamMechanism):
    """A filter that repeats what it last released, or releases a new noisy point.

    Attributes:
        epsilon: the most that any window spends.
        window: w, samples in a row that are hidden together.
        radius: how far each of them may have been elsewhere.
    """

    kind: ClassVar[Kind] = Kind.PURE
    units: ClassVar[tuple[str, ...]] = ("event",)
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 1.0, "window": 4, "radius": 1.0, "scene": "-400,-400,400,400"},
    )

    window: int = parameter("samples in a row that are hidden together")
    radius: float = parameter("how far each of them may have been elsewhere, in units of gaze")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.window <= _LONGEST_WINDOW:
            raise InputError(
                f"window must be between 1 and {_LONGEST_WINDOW} samples, got {self.window}"
            )
        if not (math.isfinite(self.radius) and self.radius > 0):
            raise InputError(f"radius must be positive and finite, got {self.radius:g}")
        if self.place.diameter > _MOST_RADII * self.radius:
            raise InputError(
                f"radius {self.radius:g} is next to nothing in a scene of {self.scene}: "
                "choose a larger one"
            )

    @property
    def unit(self) -> Unit:
        """The samples of a window, each moved by at most the radius."""
        return Unit("event", self.window, self.radius)

    @classmethod
    def set_for_games(cls) -> Iterator[Mechanism]:
        """The mechanism as `verify` plays against it."""
        for parameters in cls.games:
            yield cls(**parameters)

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """What any samples in a row lose: ε for each window, in proportion beyond the radius.

        A person is R·⌈T/w⌉·ε·max(1, D/radius), D being the public scene's diameter.
        """
        if unit == PERSON:
            windows = shape.recordings * math.ceil(shape.length / self.window)
            radii = self.radii_of_scene
        else:
            windows = math.ceil((unit.length or 1) / self.window)
            radii = max(1.0, (unit.radius or 0.0) / self.radius)
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

    def person_total(self, shape: Shape) -> str:
        """R·⌈T/w⌉·ε·max(1, D/radius), in words."""
        windows = math.ceil(shape.length / self.window)
        return (
            f"{shape.recordings} recordings of at most {windows} windows of {self.window} samples, "
            f"each ε = {rounded_up(self.epsilon)} for a radius of {self.radius:g}, and "
            f"{rounded_up(self.radii_of_scene)} times that for the whole scene"
        )

    @property
    def numerics(self) -> str:
        """Tests and budgets are exact; the planar noise is computed in floating point."""
        return "idealised"

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

    # What the kernels need; planted faults are in these.

    @property
    def test_parts(self) -> int:
        """What one test spends, in parts of ε; 0 where nothing is tested."""
        return 0

    @property
    def publish_parts(self) -> int:
        """What all publications of a window may spend together, in parts of ε."""
        return WHOLE

    @property
    def test_scale_steps(self) -> int:
        """Of the Laplace noise of a test: reach over the ε of a test."""
        scale = math.ceil(self.reach_steps * WHOLE / (self.test_parts * self.epsilon))
        if scale > MAX_SCALE:
            raise InputError(
                f"epsilon {self.epsilon:g} over {self.window} samples asks for more noise than "
                "there are numbers for: choose a larger one, or a shorter window"
            )
        return scale

    @property
    def memory(self) -> int:
        """Over how many samples, this one included, publications share their budget."""
        return self.window

    @abstractmethod
    def kernel(self) -> Kernel:
        """What happens to samples, as a function that can be compiled."""

    def settings(self) -> list[float]:
        """What the kernel is told besides the common facts."""
        return []

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        planar = f"planar Laplace on a grid of {self.step:g} {self.place.spoken_units}"
        if not self.test_parts:
            return planar
        return (
            f"{planar}; tests: discrete Laplace, scale {self.test_scale_steps} steps of that grid"
        )

    def start(self, noise: Randomness) -> FilterRun:
        """Begin with a stream of one person."""
        return FilterRun(self, noise)

    # Games.

    def play(self, values: Values, shape: Shape, runs: int, noise: Randomness) -> Values:
        """Every recording as a stream of its own; in spans of the scene, as the values are."""
        x0, y0, x1, y1 = self.place.plane
        corner, spans = np.array([x0, y0]), np.array([x1 - x0, y1 - y0])
        points = corner + spans * values
        played = np.empty((runs, *values.shape))
        run = self.start(noise)
        for i in range(runs):
            for j, recording in enumerate(points):
                run.begin()
                played[i, j] = np.stack(run.push_many(*recording.T), axis=1)
        return ((played - corner) / spans).reshape(runs, -1)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """Somebody who looks at one place all the time, or beside it."""
        raise NotImplementedError

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The likelihood ratio of what was released."""
        raise NotImplementedError


class FilterRun(Run):
    """A filter at work.

    Attributes:
        state: as `state` says; budgets in parts of ε, places in steps.
    """

    def __init__(self, law: Filter, noise: Randomness) -> None:
        self.law = law
        self._kernel = law.kernel()
        tests, planes = own_sources(noise, 2)
        self._tests = LaplaceAhead(law.test_scale_steps if law.test_parts else 1, tests)
        self._planes = PlanarAhead(planes)
        # Where nothing is tested the first block is never used up.
        self._tests.ensure(1)
        x0, y0, *_ = law.place.plane
        self._x0, self._y0, self._step = x0, y0, law.step
        width, height = law.size_steps
        self._width, self._height = float(width), float(height)
        self._facts = [
            float(law.window),
            float(law.memory),
            float(law.publish_parts),
            float(law.test_parts),
            float(law.reach_steps),
            # Scale of planar noise in steps, times the parts that pay for it.
            law.reach_steps * WHOLE / law.epsilon,
            self._width,
            self._height,
            *law.settings(),
        ]
        self.begin()

    def begin(self) -> None:
        """Forget the stream; what was not yet used of the noise is kept."""
        self.state = [0.0] * STATE_SIZE
        self.state[LAST_X] = math.floor(self._width / 2)
        self.state[LAST_Y] = math.floor(self._height / 2)
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
        """Go on from what was saved of a run of the same filter."""
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
        return int(self.state[SPENT])

    def push(self, x: float, y: float) -> tuple[float, float]:
        """What is released for the next sample, in the plane of the scene."""
        tests, planes, state = self._tests, self._planes, self.state
        tests.ensure(1)
        planes.ensure(1)
        gx = (x - self._x0) / self._step
        gy = (y - self._y0) / self._step
        # Anything that is not a number is lost, infinities too.
        if gx - gx == 0.0 and gy - gy == 0.0:
            gx = float(round(min(max(gx, 0.0), self._width)))
            gy = float(round(min(max(gy, 0.0), self._height)))
        else:
            gx = gy = math.nan
        state[TESTS_USED], state[PLANES_USED] = tests.used, planes.used
        out_x, out_y = [0.0], [0.0]
        self._kernel(
            [gx], [gy], out_x, out_y, state, self._of_publications, self._of_all,
            *tests.lists, *planes.lists, self._facts,
        )  # fmt: skip
        tests.used, planes.used = int(state[TESTS_USED]), int(state[PLANES_USED])
        self.samples += 1
        return self._x0 + out_x[0] * self._step, self._y0 + out_y[0] * self._step

    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The same for many samples, as if they had been pushed one by one."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        out = np.empty((2, len(x)))
        for start in range(0, len(x), _CHUNK):
            part = slice(start, start + _CHUNK)
            out[:, part] = self._chunk(x[part], y[part])
        self.samples += len(x)
        return self._x0 + out[0] * self._step, self._y0 + out[1] * self._step

    def _chunk(self, x: Floats, y: Floats) -> Any:
        """Samples that are not too many for the noise drawn ahead, in steps."""
        with np.errstate(invalid="ignore", over="ignore"):
            gx, gy = (x - self._x0) / self._step, (y - self._y0) / self._step
        lost = ~(np.isfinite(gx) & np.isfinite(gy))
        gx = np.where(lost, np.nan, np.rint(np.clip(gx, 0.0, self._width)))
        gy = np.where(lost, np.nan, np.rint(np.clip(gy, 0.0, self._height)))
        tests, planes = self._tests, self._planes
        tests.ensure(len(x) if self.law.test_parts else 1)
        planes.ensure(len(x))
        self.state[TESTS_USED], self.state[PLANES_USED] = tests.used, planes.used
        fast = compiled(self._kernel) if len(x) >= _WORTH_COMPILING else None
        if fast is None:
            out: Any = ([0.0] * len(x), [0.0] * len(x))
            self._kernel(
                gx.tolist(), gy.tolist(), *out, self.state, self._of_publications, self._of_all,
                *tests.lists, *planes.lists, self._facts,
            )  # fmt: skip
        else:
            out = np.empty((2, len(x)))
            kept = [np.array(k) for k in (self.state, self._of_publications, self._of_all)]
            fast(gx, gy, *out, *kept, *tests.columns, *planes.columns, np.array(self._facts))
            self.state, self._of_publications, self._of_all = (k.tolist() for k in kept)
        tests.used = int(self.state[TESTS_USED])
        planes.used = int(self.state[PLANES_USED])
        return out


@cache
def compiled(kernel: Kernel) -> Kernel | None:
    """The kernel as machine code, where the extra ``fast`` is installed; None elsewhere."""
    try:
        import numba
    except ImportError:
        return None
    fast: Kernel = numba.njit(kernel)
    return fast
