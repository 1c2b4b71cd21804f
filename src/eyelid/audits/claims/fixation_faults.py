"""Planted faults of `fixations`: broken twins that ``verify`` must catch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from eyelid.audits.claims.fault import Fault, game_fault, sold_as_person
from eyelid.audits.claims.fixations import fuzz_fixations
from eyelid.audits.claims.twins import twin
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.privacy.noise import Randomness

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
