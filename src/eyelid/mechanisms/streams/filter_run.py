"""A filter with a budget at work on samples: one by one, many at once, or again and again."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.streams.draws import Ahead, LaplaceAhead, PlanarAhead, own_sources
from eyelid.mechanisms.streams.state import (
    CLOCK,
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
from eyelid.mechanisms.streams.stream import Floats, Run
from eyelid.privacy.noise import Randomness

if TYPE_CHECKING:
    from eyelid.mechanisms.streams.filter import Filter

# Samples that are handed to compiled code at once.
_CHUNK = 1 << 16
_WORTH_COMPILING = 2048
_MANY_WORTH_COMPILING = 350_000

Kernel = Callable[..., int]


class FilterRun(Run):
    """A filter at work.

    Attributes:
        mechanism: the filter.
        state: as `state` says; budgets in parts of ε, places in steps.
        tests: the noise of tests, drawn ahead.
        planes: the noise of publications.
    """

    def __init__(self, mechanism: Filter, noise: Randomness) -> None:
        self.mechanism = mechanism
        self._kernel = mechanism.kernel()
        tests, planes = own_sources(noise, 2)
        self.tests: Ahead = LaplaceAhead(
            mechanism.test_scale_steps if mechanism.test_parts else 1, tests
        )
        self.planes: Ahead = PlanarAhead(planes)
        # Where nothing is tested the first block is never used up.
        self.tests.ensure(1)
        x0, y0, *_ = mechanism.place.plane
        self._x0, self._y0, self._step = x0, y0, mechanism.step
        width, height = mechanism.size_steps
        self._width, self._height = float(width), float(height)
        # Draw, place and scale of a publication that floating point leaves in doubt.
        self._asked = [0.0] * 4
        self._facts = [
            float(mechanism.window),
            float(mechanism.memory),
            mechanism.rule,
            float(mechanism.slot_samples),
            float(mechanism.threshold_steps),
            float(mechanism.publish_parts),
            float(mechanism.test_parts),
            mechanism.scale_parts,
            self._width,
            self._height,
        ]
        self.begin()

    def begin(self) -> None:
        """Forget the stream; what was not yet used of the noise is kept."""
        self.state = [0.0] * STATE_SIZE
        self.state[LAST_X], self.state[LAST_Y] = map(float, self.mechanism.middle_steps)
        self.state[CLOCK] = float(self.mechanism.slot_samples)
        self.state[PUBLISHED] = float(self.mechanism.starts_in_the_middle)
        self.state[USED_UP_TO] = -1.0
        self._of_publications = [0.0] * self.mechanism.memory
        self._of_all = [0.0] * self.mechanism.window
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
                raise InputError(f"what was saved of {self.mechanism.name} does not fit: {name}")
            kept[:] = (float(number) for number in saved[name])
        self.samples = int(saved["samples"])
        state, spent = self.state, self._of_all + self._of_publications
        if not (
            min(spent) >= 0
            and state[PUBLISHED_SUM] == sum(self._of_publications)
            and state[WINDOW_SUM] == sum(self._of_all) <= state[WORST] <= WHOLE
            and state[INDEX] == self.samples
        ):
            raise InputError(f"what was saved of {self.mechanism.name} does not add up")

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
        self.planes.settle(int(number), (x, y), scale, self.mechanism.size_steps)

    def _until_done(self, kernel: Kernel, count: int, *given: Any) -> None:
        """Let a kernel work, and settle what floating point leaves in doubt, until all is done."""
        asked: Any = self._asked if isinstance(given[0], list) else np.zeros(4)
        done = kernel(*given, asked, 0)
        while done < count:
            self._settle(asked)
            done = kernel(*given, asked, done)

    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Release many samples, as if they had been pushed one by one."""
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
        tests.ensure(runs * len(gx) if self.mechanism.test_parts else 1)
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
        tests.ensure(len(x) if self.mechanism.test_parts else 1)
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
    """A kernel compiled for many runs; None where it cannot be."""
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
