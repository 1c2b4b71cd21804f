"""The detector of fixations and counters of dwell stand; faults planted in them are caught."""

from __future__ import annotations

import pytest

from eyelid.mechanisms.streams.dwell import Dwell
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.privacy.noise import randomness
from eyelid.verification.dwell import compare_dwell, dwell_mutants, examine_dwell
from eyelid.verification.families import mutants_of
from eyelid.verification.fixations import examine_fixations
from eyelid.verification.mutant import Mutant
from eyelid.verification.stream_mutants import fixation_mutants

FAULTS = [
    *fixation_mutants(list(Fixations.set_for_games())),
    *dwell_mutants(list(Dwell.set_for_games())),
]


@pytest.mark.parametrize("number", [0, 1])
def test_the_detector_spends_what_it_says_and_its_noise_is_of_its_law(number: int) -> None:
    # Six standard errors and p = 1e-8: a sound one fails once in a million seeds; this is fixed.
    seen = examine_fixations(list(Fixations.set_for_games())[number], randomness(7))
    assert not seen.refuted
    # All of the budget is used, and of the reach all but some steps of the grid.
    assert seen.window > 0.99
    assert seen.reached > 1 - 2.0**-21
    assert seen.draws > 1_000


def test_counters_at_work_tell_what_their_law_says() -> None:
    mechanism = next(Dwell.set_for_games())
    assert not compare_dwell(mechanism).refuted
    assert not examine_dwell(mechanism, randomness(7)).refuted


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.mechanism}: {fault.name}")
def test_a_planted_fault_is_caught(fault: Mutant) -> None:
    runs = 50_000 if fault.mechanism == "dwell" else 8_000
    assert fault.caught(runs, randomness(7))


def test_verify_knows_them() -> None:
    known = {fault.name for kind in (Fixations, Dwell) for fault in mutants_of(kind)}
    assert known == {fault.name for fault in FAULTS}
