from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.attacks.samples.evidence import SAMPLE_ATTACKERS

ASKED = ["means", *SAMPLE_ATTACKERS]


@pytest.fixture(scope="module")
def study():
    return eyelid.simulate(people=4, minutes=0.7, seed=3, rate_hz=30.0)


def with_head(study):
    """Everybody holds their head in a way of their own."""
    rng = np.random.default_rng(0)
    number = pl.col("person").str.slice(1).cast(pl.Float64)
    swaying = pl.Series(rng.normal(0, 0.1, len(study.data)))
    return replace(study, data=study.data.with_columns(head_x=0.2 * number + swaying))


def test_an_original_is_attacked_by_its_samples(study):
    found = eyelid.audit(study)
    assert {one.attacker for one in found.identification} >= set(SAMPLE_ATTACKERS)
    assert found.not_sampled == ()
    assert "lost samples alone" in found.verdict
    assert {row["attacker"] for row in found.to_dict()["identification"]} >= set(SAMPLE_ATTACKERS)


def test_an_audit_of_features_alone_says_that_samples_were_not_attacked(study):
    table = eyelid.window_features(study)
    assert "Samples of gaze were not attacked" in eyelid.audit(table).verdict
    assert "Samples of gaze" not in eyelid.audit(table, attackers=["means"]).verdict


def test_sample_attackers_can_be_chosen_by_name(study):
    found = eyelid.audit(study, attackers=["means", "calibration offset"])
    assert {one.attacker for one in found.identification} == {"means", "calibration offset"}


def test_filtered_gaze_is_attacked_by_its_samples_under_every_protocol(study):
    done = eyelid.release(study, mechanism="kaleido", epsilon=4.0, window=15, radius=2.0)
    found = eyelid.audit(study, done, attackers=ASKED)
    tried = {(one.protocol, one.attacker) for one in found.identification}
    for protocol in ("raw→release", "release→raw", "release→release", "white-box"):
        assert tried >= {(protocol, attacker) for attacker in SAMPLE_ATTACKERS}
    assert {one.attacker for one in found.positive} >= set(SAMPLE_ATTACKERS)
    assert not found.refuted


def test_head_movement_beside_gaze_is_attacked_and_warned_of(study):
    raw = with_head(study)
    blurred = raw.data.with_columns(pl.col("x").round(0), pl.col("y").round(0))
    released = replace(raw, data=blurred, events=None, released=True)
    found = eyelid.audit(raw, released, attackers=["means"], protocols=["raw->release"])
    best = [one for one in found.without_gaze if one.protocol == "head movement alone"]
    assert best[0].rate.rate == 1.0
    assert "head_x" in found.verdict
    assert "Leave these columns out" in found.verdict


def test_head_movement_that_was_left_out_is_not_warned_of(study):
    raw = with_head(study)
    released = replace(study, events=None, released=True)
    found = eyelid.audit(raw, released, attackers=["means"], protocols=["raw->release"])
    assert not [one for one in found.without_gaze if one.protocol == "head movement alone"]
    assert "head_x" not in found.verdict
