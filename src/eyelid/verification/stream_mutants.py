"""Mutants of filters and of `fixations`: in what is paid for, how it is counted, and the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from eyelid.attacks.override import override, sound_of
from eyelid.mechanisms.mechanism import NeighbourPair, Values
from eyelid.mechanisms.streams.detector import LOST
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.filter_run import FilterRun, Kernel
from eyelid.mechanisms.streams.fixations import FixationRun, Fixations
from eyelid.mechanisms.streams.state import (
    ABSORBING,
    CLOCK,
    HALVING,
    INDEX,
    LAST_X,
    LAST_Y,
    PLANES_USED,
    PUBLISHED_SUM,
    SCALE_PARTS,
    STATE_SIZE,
    TESTS_USED,
    THRESHOLD,
    USED_UP_TO,
    WHOLE,
    WORST,
)
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import PERSON, Unit
from eyelid.verification.fixations import examine_fixations, fuzz_fixations
from eyelid.verification.game import play
from eyelid.verification.mutant import (
    Changes,
    Mutant,
    Row,
    by_game,
    by_noise,
    by_short_game,
    mutants,
    sold_as_person,
)
from eyelid.verification.streams import examine_stream

State = list[float]
Before = Callable[[Any, State, list[Any]], None]
"""What is done to one sample and all that a kernel is given with it."""
After = Callable[[Any, State, State, list[Any]], None]
"""What is done to the state behind it, given what it was before."""

_LARGE_RADIUS = 8.0
_LONG = 16
# So far away that only the distance matters.
_FAR_AWAY = 100.0
_FAR = 0.2
_PAIRS = 48
# Long streams take long, and show much.
_by_long_game = by_short_game(30_000)


def _by_person(mutant: Any, sound: Filter, runs: int, noise: Randomness) -> bool:
    """Whether a game about whole people refutes it."""
    return play(mutant, PERSON, runs, noise, lambda s: sound.cost(s, PERSON)).refuted


_from_outside = by_noise(examine_stream)


# What is changed.


def _times(name: str, factor: float) -> Changes:
    """A fact of the filter that is so many times what it should be; whole where it was."""

    def changed(self: Filter) -> Any:
        fact = getattr(sound_of(self), name)
        if isinstance(fact, tuple):
            return tuple(int(factor * each) for each in fact)
        return type(fact)(factor * fact)

    return {name: property(changed)}


def _meddled(before: Before | None = None, after: After | None = None) -> Changes:
    """A filter that is tampered with at every sample."""

    def kernel(self: Filter) -> Kernel:
        right: Kernel = sound_of(self).kernel()

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
                    after(self, was, state, given)
                # Where nothing rests, no place is shown.
                rests = not math.isnan(x[0])
                out_x[i] = state[LAST_X] if rests else math.nan
                out_y[i] = state[LAST_Y] if rests else math.nan
            return len(gx)

        return changed

    return {"kernel": kernel}


# Behind a sample: what was published, what was spent, tests, noise of places twice and its doubts,
# facts.
_PUBLISHED, _TESTS, _FACTS = 2, 4, 8


def _keep(place: int) -> Changes:
    def keep(_: Filter, was: State, state: State, given: list[Any]) -> None:
        state[place] = was[place]

    return _meddled(after=keep)


def _forget(place: int) -> Changes:
    def forget(_: Filter, was: State, state: State, given: list[Any]) -> None:
        state[place] = 0.0

    return _meddled(after=forget)


# Filters.


def filter_mutants(variants: Sequence[Filter]) -> Iterator[Mutant]:
    """Those that every filter can have, and those of its rule."""
    sound, small = variants[0], variants[-1]
    far: dict[str, Any] = {"threshold": _FAR_AWAY} if sound.skips else {}
    large = replace(sound, epsilon=2.0, radius=_LARGE_RADIUS, **far)
    yield Mutant("a third of the noise", sound, _THIRD, by_game)
    without_radius = _times("scale_parts", 1 / _LARGE_RADIUS)
    yield Mutant("publications without the radius", large, without_radius, by_game)
    yield sold_as_person(sound)
    yield Mutant("gaze outside the scene", small, _times("size_steps", 100), _by_person)
    yield from mutants(sound, _from_outside, _ALWAYS)
    if sound.test_parts:
        of_radius = _times(_TEST, 1 / _LARGE_RADIUS)
        yield Mutant("test noise 1/ε, not radius/ε", large, of_radius, by_game)
        yield from mutants(sound, _from_outside, _TESTED)
    if sound.rule == HALVING:
        yield from _halving_mutants(sound)
    if sound.rule == ABSORBING:
        again = {**_keep(USED_UP_TO), "neighbour_pairs": _jumping}
        long = replace(sound, window=_LONG)
        yield Mutant("absorbed again and again", long, again, _by_long_game)
        yield Mutant("silence forgotten", sound, _meddled(after=_not_silent), _from_outside)
    if sound.skips:
        yield from _clock_mutants(sound)


def _halving_mutants(sound: Filter) -> Iterator[Mutant]:
    """Budgets that are summed up over the wrong samples."""
    changes: dict[str, Any] = {"skip": 1, "threshold": 0.0} if sound.skips else {}
    long = replace(sound, epsilon=2.0, window=_LONG, **changes)
    of_one = {"memory": property(lambda _: 1), "neighbour_pairs": _jumping}
    yield Mutant("budget of one sample", long, of_one, _by_long_game)
    yield from mutants(sound, _from_outside, _HALVED)


def _clock_mutants(sound: Filter) -> Iterator[Mutant]:
    """Tests at every sample once the clock has run out, until one is published."""
    clock: dict[str, Any] = {"skip": _LONG, "threshold": _FAR_AWAY}
    long = replace(sound, epsilon=2.0, window=_LONG, **clock)
    at_every_sample = {
        "slot_samples": property(lambda _: 1),
        "test_parts": property(lambda _: long.test_parts),
    }

    def score(self: Filter, outputs: Values, pair: NeighbourPair) -> Values:
        scores: Values = override(long, at_every_sample).score(outputs, pair)
        return scores

    restarted = _meddled(after=_until_published)
    name = "clock restarted at publications"
    yield Mutant(name, long, {**restarted, "score": score}, _by_long_game)
    yield Mutant(f"{name}, seen by tests", sound, restarted, _from_outside)


def _of_shorter_windows(name: str) -> property:
    """A fact as if the window had one sample less."""

    def fact(self: Filter) -> Any:
        window = max(1, self.window - 1)
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["window"] = window
        if self.skips:
            values["skip"] = min(values["skip"] or 1, window)
        return getattr(type(self).overridden(**values), name)  # type: ignore[attr-defined]

    return property(fact)


def _jumping(self: Filter, unit: Unit) -> Iterator[NeighbourPair]:
    """So far to and fro that every sample is published."""
    x0, _, x1, _ = self.place.plane
    one = np.full((1, self.window, 2), 0.5)
    one[:, ::2, 0] += _FAR
    one[:, 1::2, 0] -= _FAR
    other = one + np.array([self.radius / (x1 - x0), 0.0])
    yield self.pair("to and fro, or beside it", unit, one, other)


def _nothing_published(state: State, given: list[Any]) -> None:
    given[_PUBLISHED][:] = [0.0] * len(given[_PUBLISHED])
    state[PUBLISHED_SUM] = 0.0


def _new_at_blocks(mechanism: Filter, was: State, state: State, given: list[Any]) -> None:
    if state[INDEX] % mechanism.window == 0:
        _nothing_published(state, given)


def _first_is_free(mechanism: Filter, was: State, state: State, given: list[Any]) -> None:
    if was[INDEX] == 0:
        _nothing_published(state, given)


def _not_silent(mechanism: Filter, was: State, state: State, given: list[Any]) -> None:
    state[USED_UP_TO] = min(state[USED_UP_TO], was[INDEX])


def _until_published(mechanism: Filter, was: State, state: State, given: list[Any]) -> None:
    if state[PLANES_USED] == was[PLANES_USED]:
        state[CLOCK] = was[CLOCK] + 1


def _unrounded(mechanism: Filter, was: State, state: State, given: list[Any]) -> None:
    state[LAST_X] += 0.25


_TEST = "test_scale_steps"
_THIRD = {**_times("scale_parts", 1 / 3), **_times(_TEST, 1 / 3)}
_SHORTER = ("slot_samples", "test_parts", "publish_parts", "memory")
_ALWAYS: dict[str, Changes] = {
    "scale × 0.85": _times("scale_parts", 0.85),
    "a window too short by one sample": {name: _of_shorter_windows(name) for name in _SHORTER},
    # What a likelihood of independent noise cannot see.
    "noise reused over samples": _keep(PLANES_USED),
    "generator seeded anew": {"start": lambda self, _: FilterRun(self, randomness(0))},
    "places off the grid": _meddled(after=_unrounded),
    "worst window forgotten": _forget(WORST),
}
_TESTED: dict[str, Changes] = {
    "test scale × 0.85": _times(_TEST, 0.85),
    "tests on top of ε": _times("publish_parts", 2),
    "noise of tests reused": _keep(TESTS_USED),
}
_HALVED: dict[str, Changes] = {
    "budget of half a window": {"memory": property(lambda self: max(1, self.window // 2))},
    "budget of a block of w samples": _meddled(after=_new_at_blocks),
    "first publication not counted": _meddled(after=_first_is_free),
}


# `fixations`.


def fixation_mutants(variants: Sequence[Fixations]) -> Iterator[Mutant]:
    """What can go wrong with a detector: its memory, its noise, its shares of ε.

    Args:
        variants: as set for games: one test in a window first, a long memory last.
    """
    one_test, long_memory = variants
    for long, name, changes, seen in _OF_FIXATIONS:
        yield Mutant(name, long_memory if long else one_test, changes, seen)
    yield sold_as_person(one_test)
    yield from mutants(one_test, by_noise(examine_fixations), _INSIDE)
    # Its own reach is too short by what the grid does to neighbours.
    unrounded = {"reach_steps": property(lambda self: math.ceil(self.radius / self.step))}
    yield Mutant("rounding not counted", one_test, unrounded, _by_its_own_account)


def _by_fuzz(mutant: Any, _sound: Fixations, _runs: int, noise: Randomness) -> bool:
    return fuzz_fixations(mutant, _PAIRS, noise).refuted


_by_its_own_account = by_noise(lambda mutant, noise, _: examine_fixations(mutant, noise))
_SHORT: dict[str, Any] = {"memory": property(lambda self: self.window)}
_SHORT_TESTS: dict[str, Any] = {
    "test_parts": property(lambda self: WHOLE // 2 // math.ceil(self.window / self.slot_samples))
}


# Whether it takes a long memory to be seen, and a row as of all mutants.
_OF_FIXATIONS: tuple[tuple[bool, *Row], ...] = (
    (True, "window of w, not w + m − 1", _SHORT | _SHORT_TESTS, by_game),
    (True, "starts share budget over w only", _SHORT, _by_fuzz),
    (True, "tests counted over w only", _SHORT_TESTS, _by_fuzz),
    (
        False,
        "reach of half the radius",
        {"reach_steps": property(lambda self: math.ceil(0.5 * self.radius / self.step))},
        _by_fuzz,
    ),
    (True, "tests not paid for", {"publish_parts": property(lambda _: WHOLE)}, _by_fuzz),
    (True, "every start as if the first", {"memory": property(lambda _: 1)}, _by_fuzz),
    (False, "place without noise", {"scale_parts": property(lambda _: 1.0)}, by_game),
    (False, "tests without noise", {_TEST: property(lambda _: 1)}, by_game),
)


# What is wrong inside of the detector, which no likelihood that it tells itself can show.


class _Times:
    """Noise times a factor, of which the detector takes one number at a time."""

    def __init__(self, noise: Any, factor: float) -> None:
        self._noise, self._factor = noise, factor

    def __getitem__(self, number: int) -> float:
        return float(self._factor * self._noise[number])


def _scaled_fact(place: int, factor: float) -> Before:
    def changed(_: Fixations, was: State, given: list[Any]) -> None:
        given[_FACTS] = list(given[_FACTS])
        given[_FACTS][place] *= factor

    return changed


def _weak_tests(_: Fixations, was: State, given: list[Any]) -> None:
    given[_TESTS] = _Times(given[_TESTS], 0.8)


def _over_one_less(self: Fixations, was: State, given: list[Any]) -> None:
    """√(Σ/(n − 1)) beyond a limit is √(Σ/n) beyond √((n − 1)/n) of it."""
    count = len(_ring(self, was)) + (given[0] == given[0])
    factor = math.sqrt(max(1, count - 1) / max(1, count))
    _scaled_fact(THRESHOLD, factor)(self, was, given)
    given[_TESTS] = _Times(given[_TESTS], factor)


def _lost_kept(self: Fixations, was: State, given: list[Any]) -> None:
    """Where a sample is lost, the one that is m samples older stays."""
    at = STATE_SIZE + int(was[INDEX]) % self.span
    if math.isnan(given[0]) and was[at] != LOST:
        given[0], given[1] = was[at], was[at + self.span]


def _beyond_the_last(self: Fixations, was: State, state: State, given: list[Any]) -> None:
    """2·(last sample) − mean in the place of the mean."""
    if state[PLANES_USED] != was[PLANES_USED]:
        at = STATE_SIZE + int(was[INDEX]) % self.span
        x, y = np.mean(_ring(self, state), axis=0)
        state[LAST_X] += float(round(2 * (state[at] - x)))
        state[LAST_Y] += float(round(2 * (state[at + self.span] - y)))


def _ring(mechanism: Fixations, state: State) -> list[tuple[float, float]]:
    """The samples that are there, and not about to go."""
    xs, ys = state[STATE_SIZE : STATE_SIZE + mechanism.span], state[STATE_SIZE + mechanism.span :]
    return [(x, y) for x, y in zip(xs, ys, strict=True) if x != LOST]


def _off_grid(_: Fixations, was: State, state: State, given: list[Any]) -> None:
    if state[PLANES_USED] != was[PLANES_USED]:
        state[LAST_X] += 0.25


class _Raw(FixationRun):
    """Where a fixation starts, the region of the sample itself is shown."""

    def push(self, x: float, y: float) -> tuple[float, float]:
        out, _ = FilterRun.push(self, x, y)
        if (out == out) != self._fixating:
            self._turn(self.samples - 1, x, y)
        return self._shown


_INSIDE: dict[str, Changes] = {
    "noise of places × 0.85": _meddled(_scaled_fact(SCALE_PARTS, 0.85)),
    "noise of tests × 0.8": _meddled(_weak_tests),
    "place beyond the last sample": _meddled(after=_beyond_the_last),
    "spread over n − 1": _meddled(_over_one_less),
    "lost samples kept": _meddled(_lost_kept),
    "starts forgotten": _forget(PUBLISHED_SUM),
    "worst window forgotten": _forget(WORST),
    "noise of places reused": _keep(PLANES_USED),
    "noise of tests reused": _keep(TESTS_USED),
    "places off the grid": _meddled(after=_off_grid),
    "region of the raw sample": {"start": lambda self, noise: _Raw(self, noise)},
    "generator seeded anew": {"start": lambda self, _: FixationRun(self, randomness(0))},
}
