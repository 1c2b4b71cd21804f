"""Planted faults of `fixations`: broken twins that ``verify`` must catch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from eyelid.attacks.twins import twin
from eyelid.mechanisms.streams.detecting import LOST, detecting
from eyelid.mechanisms.streams.filter_run import FilterRun, Kernel
from eyelid.mechanisms.streams.fixations import FixationRun, Fixations
from eyelid.mechanisms.streams.state import (
    INDEX,
    LAST_X,
    LAST_Y,
    PLANES_USED,
    PUBLISHED_SUM,
    SCALE_PARTS,
    STATE_SIZE,
    TESTS_USED,
    THRESHOLD,
    WHOLE,
    WORST,
)
from eyelid.privacy.noise import Randomness, randomness
from eyelid.verification.detector import examine_fixations
from eyelid.verification.fault import Fault, game_fault, sold_as_person
from eyelid.verification.fixations import fuzz_fixations

State = list[float]

_PAIRS = 48


def fixation_faults(variants: list[Fixations]) -> Iterator[Fault]:
    """What can go wrong with a detector: its memory, its noise, its shares of ε.

    Args:
        variants: as set for games: one test in a window first, a long memory last.
    """
    one_test, long_memory = variants
    yield game_fault("window of w, not w + m − 1", long_memory, {**_SHORT, **_SHORT_TESTS})
    yield _fuzz_fault("starts share budget over w only", long_memory, _SHORT)
    yield _fuzz_fault("tests counted over w only", long_memory, _SHORT_TESTS)
    yield _fuzz_fault("reach of half the radius", one_test, {"reach_steps": property(_half_reach)})
    yield _fuzz_fault("tests not paid for", long_memory, {"publish_parts": property(_everything)})
    yield _fuzz_fault("every start as if the first", long_memory, {"memory": property(lambda _: 1)})
    yield game_fault("place without noise", one_test, {"scale_parts": property(_no_scale)})
    yield game_fault("tests without noise", one_test, {"test_scale_steps": property(lambda _: 1)})
    yield sold_as_person(one_test)
    for name, changes in _SEEN.items():
        yield _seen(name, one_test, changes)
    # Its own reach is too short by what the grid does to neighbours.
    yield _seen("rounding not counted", one_test, _UNROUNDED, by_its_own=True)


def _of_window(self: Fixations) -> int:
    return self.window


def _tests_of_window(self: Fixations) -> int:
    return WHOLE // 2 // math.ceil(self.window / self.slot_samples)


def _everything(self: Fixations) -> int:
    return WHOLE


def _half_reach(self: Fixations) -> int:
    return math.ceil(0.5 * self.radius / self.step)


def _no_scale(self: Fixations) -> float:
    return 1.0


_SHORT: dict[str, Any] = {"memory": property(_of_window)}
_SHORT_TESTS: dict[str, Any] = {"test_parts": property(_tests_of_window)}


def _fuzz_fault(name: str, law: Fixations, changes: dict[str, Any]) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        return fuzz_fixations(twin(law, changes), _PAIRS, noise).refuted

    return Fault(name, law.name, caught)


# Faults inside of the detector, which no likelihood that it tells itself can show.


class _Times:
    """Noise times a factor, of which the detector takes one number at a time."""

    def __init__(self, noise: Any, factor: float) -> None:
        self._noise, self._factor = noise, factor

    def __getitem__(self, number: int) -> float:
        return float(self._factor * self._noise[number])


Before = Callable[[Fixations, State, list[Any]], None]
"""What is done to one sample and all that the detector is given with it."""
After = Callable[[Fixations, State, State], None]
"""What is done to the state behind it, given what it was before."""


def _meddled(before: Before | None = None, after: After | None = None) -> dict[str, Any]:
    """A detector that somebody meddles with at every sample."""

    def kernel(self: Fixations) -> Kernel:
        right: Kernel = detecting

        def changed(gx: Any, gy: Any, out_x: Any, out_y: Any, state: Any, *rest: Any) -> int:
            common = rest[:-1]
            for i in range(rest[-1], len(gx)):
                was, x, y = list(state), [0.0], [0.0]
                given = [gx[i], gy[i], *common]
                if before:
                    before(self, was, given)
                if not right([given[0]], [given[1]], x, y, state, *given[2:], 0):
                    return i
                if after:
                    after(self, was, state)
                rests = not math.isnan(x[0])
                out_x[i] = state[LAST_X] if rests else math.nan
                out_y[i] = state[LAST_Y] if rests else math.nan
            return len(gx)

        return changed

    return {"kernel": kernel}


# Behind a sample: what was published, what was spent, tests, noise of places twice and its doubts,
# facts.
_TESTS, _FACTS = 4, 8


def _fact(place: int, factor: float) -> Before:
    def changed(_: Fixations, was: State, given: list[Any]) -> None:
        facts = list(given[_FACTS])
        facts[place] *= factor
        given[_FACTS] = facts

    return changed


def _weak_tests(_: Fixations, was: State, given: list[Any]) -> None:
    given[_TESTS] = _Times(given[_TESTS], 0.8)


def _over_one_less(self: Fixations, was: State, given: list[Any]) -> None:
    """√(Σ/(n − 1)) beyond a limit is √(Σ/n) beyond √((n − 1)/n) of it."""
    count = len(_ring(self, was)) + (given[0] == given[0])
    factor = math.sqrt(max(1, count - 1) / max(1, count))
    _fact(THRESHOLD, factor)(self, was, given)
    given[_TESTS] = _Times(given[_TESTS], factor)


def _lost_kept(self: Fixations, was: State, given: list[Any]) -> None:
    """Where a sample is lost, the one that is m samples older stays."""
    at = STATE_SIZE + int(was[INDEX]) % self.span
    if math.isnan(given[0]) and was[at] != LOST:
        given[0], given[1] = was[at], was[at + self.span]


def _beyond_the_last(self: Fixations, was: State, state: State) -> None:
    """2·(last sample) − mean in the place of the mean."""
    if state[PLANES_USED] != was[PLANES_USED]:
        at = STATE_SIZE + int(was[INDEX]) % self.span
        x, y = np.mean(_ring(self, state), axis=0)
        state[LAST_X] += float(round(2 * (state[at] - x)))
        state[LAST_Y] += float(round(2 * (state[at + self.span] - y)))


def _ring(law: Fixations, state: State) -> list[tuple[float, float]]:
    """The samples that are there, and not about to go."""
    xs, ys = state[STATE_SIZE : STATE_SIZE + law.span], state[STATE_SIZE + law.span :]
    return [(x, y) for x, y in zip(xs, ys, strict=True) if x != LOST]


def _keep(place: int) -> After:
    def keep(_: Fixations, was: State, state: State) -> None:
        state[place] = was[place]

    return keep


def _forget(place: int) -> After:
    def forget(_: Fixations, was: State, state: State) -> None:
        state[place] = 0.0

    return forget


def _off_grid(_: Fixations, was: State, state: State) -> None:
    if state[PLANES_USED] != was[PLANES_USED]:
        state[LAST_X] += 0.25


class _Raw(FixationRun):
    """Where a fixation starts, the region of the sample itself is shown."""

    def push(self, x: float, y: float) -> tuple[float, float]:
        out, _ = FilterRun.push(self, x, y)
        if (out == out) != self._fixating:
            self._turn(self.samples - 1, x, y)
        return self._shown


def _raw(self: Fixations, noise: Randomness) -> FixationRun:
    return _Raw(self, noise)


def _seeded(self: Fixations, _: Randomness) -> FixationRun:
    return FixationRun(self, randomness(0))


def _without_rounding(self: Fixations) -> int:
    return math.ceil(self.radius / self.step)


_UNROUNDED: dict[str, Any] = {"reach_steps": property(_without_rounding)}
_SEEN: dict[str, dict[str, Any]] = {
    "noise of places × 0.85": _meddled(_fact(SCALE_PARTS, 0.85)),
    "noise of tests × 0.8": _meddled(_weak_tests),
    "place beyond the last sample": _meddled(after=_beyond_the_last),
    "spread over n − 1": _meddled(_over_one_less),
    "lost samples kept": _meddled(_lost_kept),
    "starts forgotten": _meddled(after=_forget(PUBLISHED_SUM)),
    "worst window forgotten": _meddled(after=_forget(WORST)),
    "noise of places reused": _meddled(after=_keep(PLANES_USED)),
    "noise of tests reused": _meddled(after=_keep(TESTS_USED)),
    "places off the grid": _meddled(after=_off_grid),
    "region of the raw sample": {"start": _raw},
    "generator seeded anew": {"start": _seeded},
}


def _seen(name: str, law: Fixations, changes: dict[str, Any], *, by_its_own: bool = False) -> Fault:
    """A twin that is found wanting from outside, by its own account or by that of the law."""

    def caught(_: int, noise: Randomness) -> bool:
        declared = None if by_its_own else law
        return examine_fixations(twin(law, changes), noise, declared).refuted

    return Fault(name, law.name, caught)
