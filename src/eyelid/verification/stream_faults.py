"""Planted faults of filters: in what is paid for, in how it is counted, in the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from eyelid.attacks.twins import twin
from eyelid.mechanisms.mechanism import NeighbourPair, Values
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.filter_run import FilterRun, Kernel
from eyelid.mechanisms.streams.kaleido import Kaleido
from eyelid.mechanisms.streams.schedule import schedule
from eyelid.mechanisms.streams.state import (
    ABSORBING,
    CLOCK,
    HALVING,
    INDEX,
    LAST_X,
    LAST_Y,
    PLANES_USED,
    PUBLISHED_SUM,
    TESTS_USED,
    USED_UP_TO,
    WORST,
)
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import PERSON, Unit
from eyelid.verification.fault import Fault, game_fault, sold_as_person
from eyelid.verification.game import play
from eyelid.verification.streams import examine_stream

Changes = dict[str, Any]
State = list[float]
Meddling = Callable[[Filter, State, State, State], None]
"""What is done to the state after a sample, given what it was before, and to the publications."""

_LARGE_RADIUS = 8.0
_LONG = 16
# Long streams take long, and show much.
_FEW_RUNS = 30_000
# So far away that only the distance matters.
_FAR_AWAY = 100.0
_FAR = 0.2


def stream_faults(variants: list[Filter]) -> Iterator[Fault]:
    """Those that every filter can have, and those of its rule."""
    law, small = variants[0], variants[-1]
    far: Changes = {"threshold": _FAR_AWAY} if isinstance(law, Kaleido) else {}
    large = replace(law, epsilon=2.0, radius=_LARGE_RADIUS, **far)
    yield game_fault(
        "a third of the noise", law, _times("scale_parts", 1 / 3) | _times(_TEST, 1 / 3)
    )
    yield game_fault(
        "publications without the radius", large, _times("scale_parts", 1 / _LARGE_RADIUS)
    )
    yield sold_as_person(law)
    yield _person_fault("gaze outside the scene", small, _times("size_steps", 100))
    yield _seen("scale × 0.85", law, _times("scale_parts", 0.85))
    yield _seen("a window too short by one sample", law, _of_shorter_windows(law))
    for name, changes in _STALE.items():
        yield _seen(name, law, changes)
    if law.test_parts:
        yield from _test_faults(law, large)
    if law.rule == HALVING:
        yield from _halving_faults(law)
    if law.rule == ABSORBING:
        yield from _absorbing_faults(law)
    if isinstance(law, Kaleido):
        yield from _clock_faults(law)


def _test_faults(law: Filter, large: Filter) -> Iterator[Fault]:
    yield game_fault("test noise 1/ε, not radius/ε", large, _times(_TEST, 1 / _LARGE_RADIUS))
    yield _seen("test scale × 0.85", law, _times(_TEST, 0.85))
    yield _seen("tests on top of ε", law, _times("publish_parts", 2))
    yield _seen("noise of tests reused", law, _meddled(_keep(TESTS_USED)))


def _halving_faults(law: Filter) -> Iterator[Fault]:
    """Budgets that are summed up over the wrong samples."""
    changes: Changes = {"skip": 1, "threshold": 0.0} if isinstance(law, Kaleido) else {}
    long = replace(law, epsilon=2.0, window=_LONG, **changes)
    of_one = {"memory": property(lambda _: 1)}
    yield _long_game("budget of one sample", long, of_one | {"neighbour_pairs": _jumping})
    of_half = {"memory": property(lambda self: max(1, self.window // 2))}
    yield _seen("budget of half a window", law, of_half)
    yield _seen("budget of a block of w samples", law, _meddled(_new_at_blocks))
    yield _seen("first publication not counted", law, _meddled(_first_is_free))


def _absorbing_faults(law: Filter) -> Iterator[Fault]:
    """Slots that are used more than once."""
    long = replace(law, window=_LONG)
    again = _meddled(_keep(USED_UP_TO))
    yield _long_game("absorbed again and again", long, again | {"neighbour_pairs": _jumping})
    yield _seen("silence forgotten", law, _meddled(_not_silent))


def _clock_faults(law: Kaleido) -> Iterator[Fault]:
    """Tests at every sample once the clock has run out, until one is published."""
    long = replace(law, epsilon=2.0, window=_LONG, skip=_LONG, threshold=_FAR_AWAY)
    restarted = _meddled(_until_published)
    at_every_sample = {"slot_samples": property(lambda _: 1)} | {
        "test_parts": property(lambda _: long.test_parts)
    }

    def score(self: Filter, outputs: Values, pair: NeighbourPair) -> Values:
        scores: Values = twin(long, at_every_sample).score(outputs, pair)
        return scores

    yield _long_game("clock restarted at publications", long, restarted | {"score": score})
    yield _seen("clock restarted at publications, seen by tests", law, restarted)


# What is changed.

_TEST = "test_scale_steps"


def _times(name: str, factor: float) -> Changes:
    """A fact of the filter that is so many times what it should be; whole where it was."""

    def changed(self: Filter) -> Any:
        fact = getattr(super(type(self), self), name)
        if isinstance(fact, tuple):
            return tuple(int(factor * each) for each in fact)
        return type(fact)(factor * fact)

    return {name: property(changed)}


def _of_shorter_windows(law: Filter) -> Changes:
    """Everything as if the window had one sample less."""

    def changed(name: str) -> property:
        def fact(self: Filter) -> Any:
            window = max(1, self.window - 1)
            skip = {"skip": min(self.skip or 1, window)} if isinstance(self, Kaleido) else {}
            told = {item.name: getattr(self, item.name) for item in fields(self)}
            return getattr(type(law)(**told | {"window": window} | skip), name)

        return property(fact)

    names = ("slot_samples", "test_parts", "publish_parts", "memory")
    return {name: changed(name) for name in names}


def _jumping(self: Filter, unit: Unit) -> Iterator[NeighbourPair]:
    """So far to and fro that every sample is published."""
    x0, _, x1, _ = self.place.plane
    one = np.full((1, self.window, 2), 0.5)
    one[:, ::2, 0] += _FAR
    one[:, 1::2, 0] -= _FAR
    other = one + np.array([self.radius / (x1 - x0), 0.0])
    yield self.pair("to and fro, or beside it", unit, one, other)


def _meddled(meddle: Meddling) -> Changes:
    """A filter whose state somebody meddles with after every sample."""

    def kernel(self: Filter) -> Kernel:
        right: Kernel = schedule

        def changed(
            gx: Any, gy: Any, out_x: Any, out_y: Any, state: Any, of: Any, *rest: Any
        ) -> int:
            common = rest[:-1]
            for i in range(rest[-1], len(gx)):
                before, x, y = list(state), [0.0], [0.0]
                if not right([gx[i]], [gy[i]], x, y, state, of, *common, 0):
                    return i
                meddle(self, before, state, of)
                out_x[i], out_y[i] = state[LAST_X], state[LAST_Y]
            return len(gx)

        return changed

    return {"kernel": kernel}


def _keep(place: int) -> Meddling:
    def keep(law: Filter, before: State, state: State, of: State) -> None:
        state[place] = before[place]

    return keep


def _new_at_blocks(law: Filter, before: State, state: State, of: State) -> None:
    if state[INDEX] % law.window == 0:
        of[:] = [0.0] * len(of)
        state[PUBLISHED_SUM] = 0.0


def _first_is_free(law: Filter, before: State, state: State, of: State) -> None:
    if before[INDEX] == 0:
        of[:] = [0.0] * len(of)
        state[PUBLISHED_SUM] = 0.0


def _not_silent(law: Filter, before: State, state: State, of: State) -> None:
    state[USED_UP_TO] = min(state[USED_UP_TO], before[INDEX])


def _until_published(law: Filter, before: State, state: State, of: State) -> None:
    if state[PLANES_USED] == before[PLANES_USED]:
        state[CLOCK] = before[CLOCK] + 1


def _unrounded(law: Filter, before: State, state: State, of: State) -> None:
    state[LAST_X] += 0.25


def _forgotten(law: Filter, before: State, state: State, of: State) -> None:
    state[WORST] = 0.0


def _seeded(self: Filter, _: Randomness) -> FilterRun:
    return FilterRun(self, randomness(0))


# Faults of every filter that a likelihood of independent noise cannot see.
_STALE: dict[str, Changes] = {
    "noise reused over samples": _meddled(_keep(PLANES_USED)),
    "generator seeded anew": {"start": _seeded},
    "places off the grid": _meddled(_unrounded),
    "worst window forgotten": _meddled(_forgotten),
}


def _long_game(name: str, mechanism: Filter, changes: Changes) -> Fault:
    """A twin that a game with few runs should refute."""
    sought = game_fault(name, mechanism, changes)
    return replace(sought, caught=lambda runs, noise: sought.caught(min(runs, _FEW_RUNS), noise))


def _person_fault(name: str, mechanism: Filter, changes: Changes) -> Fault:
    """A twin that a game about whole people should refute."""

    def caught(runs: int, noise: Randomness) -> bool:
        broken = twin(mechanism, changes)
        return play(broken, PERSON, runs, noise, lambda s: mechanism.cost(s, PERSON)).refuted

    return Fault(name, mechanism.name, caught)


def _seen(name: str, mechanism: Filter, changes: Changes) -> Fault:
    """A twin that is found wanting from outside."""

    def caught(_: int, noise: Randomness) -> bool:
        return examine_stream(twin(mechanism, changes), noise, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)
