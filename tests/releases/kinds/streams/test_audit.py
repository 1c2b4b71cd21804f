from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError
from eyelid.privacy.noise import randomness
from eyelid.releases.audits.pairing import audit_target

KNOWN = {"mechanism": "kaleido", "epsilon": 8.0, "window": 30, "radius": 2.0}


@pytest.fixture(scope="module")
def readers():
    return eyelid.simulate(people=3, tasks=("comic", "textbook"), minutes=0.7, seed=2)


def test_gaze_that_somebody_changed_is_refused(readers):
    done = eyelid.release(readers, **KNOWN)
    moved = replace(done.study, data=done.study.data.with_columns(pl.col("x") + 1.0))
    with pytest.raises(InputError, match="not those of the certificate"):
        audit_target(readers, replace(done, held=moved))


def test_a_certificate_that_claims_more_is_refuted(readers):
    done = eyelid.release(readers, **KNOWN)
    person = replace(done.certificate.person_level, epsilon=1.0)
    certificate = replace(done.certificate, person_level=person)
    found = audit_target(readers, replace(done, certificate=certificate))
    assert any("promises one person ε = 1" in said for said in found.inconsistencies)


def test_features_are_no_original_of_gaze(readers, simulated_table):
    done = eyelid.release(readers, **KNOWN)
    with pytest.raises(InputError, match="give the recordings"):
        audit_target(simulated_table, done)


def test_regular_times_are_made_of_the_original_too(readers):
    late = replace(readers, data=readers.data.with_columns(pl.col("time_ms") * 1.01))
    found = audit_target(late, eyelid.release(late, times="regular", **KNOWN))
    assert found.inconsistencies == ()
    assert found.original.data["time_ms"].equals(found.released.data["time_ms"])


def test_an_audit_says_where_too_little_is_published_to_check_the_noise(readers):
    few = eyelid.release(readers, **KNOWN | {"mechanism": "sample", "window": 2000})
    found = audit_target(readers, few)
    assert found.inconsistencies == ()
    assert any("too few publications to check the noise" in said for said in found.notes)
    notes = audit_target(readers, eyelid.release(readers, **KNOWN)).notes
    assert not any("too few publications" in said for said in notes)


@pytest.mark.parametrize("times", ["recorded", "regular"])
def test_recordings_shorter_than_the_usual_window_are_audited_in_shorter_ones(times):
    short = eyelid.simulate(people=3, tasks=("comic", "textbook"), minutes=0.2, seed=2)
    found = audit_target(short, eyelid.release(short, times=times, **KNOWN))
    assert found.inconsistencies == ()
    assert {each.window_ms for each in (found.original, found.released)} == {10_000.0}
    again = found.again(randomness(np.random.default_rng(1)))
    assert again(found.original).window_ms == 10_000.0
    assert any("no recording has a window of 30 s" in said for said in found.notes)
