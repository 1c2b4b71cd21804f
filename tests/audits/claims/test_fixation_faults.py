"""Faults planted in the detector of fixations and in counters of dwell are caught."""

from __future__ import annotations

import pytest

from eyelid.audits.claims.dwell_faults import dwell_faults
from eyelid.audits.claims.fault import Fault
from eyelid.audits.claims.faults import faults_of
from eyelid.audits.claims.fixation_faults import fixation_faults
from eyelid.mechanisms.streams.continual import Dwell
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.privacy.noise import randomness

FAULTS = [
    *fixation_faults(list(Fixations.set_for_games())),
    *dwell_faults(next(Dwell.set_for_games())),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.mechanism}: {fault.name}")
def test_a_planted_fault_is_caught(fault: Fault) -> None:
    runs = 50_000 if fault.mechanism == "dwell" else 8_000
    assert fault.caught(runs, randomness(7))


def test_verify_knows_them() -> None:
    known = {fault.name for kind in (Fixations, Dwell) for fault in faults_of(kind)}
    assert known == {fault.name for fault in FAULTS}
