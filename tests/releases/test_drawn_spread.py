"""A release of groups whose spread is drawn anew, from a folder to its audit."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.gaze.table import FeatureTable
from eyelid.io import write
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.groups.spread import drawn_around
from eyelid.releases.audits.groups import found_groups


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("drawn")
    features = eyelid.window_features(eyelid.simulate(people=8, minutes=0.8, seed=3)).study()
    write(features, place / "features")
    eyelid.release(place / "features", place / "groups", mechanism="ksame", k=4, spread="public")
    return place / "features", place / "groups"


def test_card_and_certificate_name_the_spread_and_where_it_is_known_from(folders):
    card = (folders[1] / "DATACARD.md").read_text("utf-8")
    certificate = json.loads((folders[1] / "certificate.json").read_text("utf-8"))
    assert certificate["mechanism"]["parameters"]["spread"] == "public"
    assert certificate["guarantee"]["k"] == 4
    assert certificate["guarantee"]["holds"]
    shown = " ".join(certificate["unprotected"])
    assert "published norms for fixation_rate" in shown
    assert "simulated participants for 45 other features" in shown
    assert "spread and relations between synthetic participants are no finding" in card
    assert "none of them is a member" in card
    assert "copies are all the same" not in card
    assert "We share synthetic participants, drawn around averages" in card


def test_its_audit_is_not_contradicted_and_says_what_it_could_not_check(folders):
    audit = eyelid.audit(*folders)
    assert "contradicts" in audit.verdict
    assert "participants are drawn around the means" in audit.verdict
    assert not audit.refuted


def test_an_audit_sees_draws_around_other_means(folders):
    mechanism = mechanism_named("ksame", k=4, spread="public")
    original, released = (FeatureTable.of(eyelid.read(folder)) for folder in folders)
    assert found_groups(mechanism, original, released)[1] == []
    moved = pl.col("fixation_duration_mean") * 1.05
    other = replace(released, data=released.data.with_columns(moved))
    _, wrong = found_groups(mechanism, original, other)
    assert wrong == ["the mean over all groups is not the mean over everybody"]


def test_people_with_the_same_seed_differ_from_one_group_to_the_next(folders):
    table = eyelid.read(folders[1])
    rows = table.data.filter(pl.col("time_ms") == 0)
    assert rows["fixation_rate"].n_unique() == len(rows)


def test_whoever_has_the_means_draws_the_same(folders):
    means = eyelid.release(folders[0], mechanism="ksame", k=4, seed=1).table
    drawn = drawn_around(means, eyelid.privacy.randomness(1))
    shown = drawn.data.group_by(
        pl.col("person").str.replace(r"-\d+$", ""), "recording", "time_ms", maintain_order=True
    ).agg(pl.col("fixation_rate").mean())
    # Far from either bound nothing is cut off.
    np.testing.assert_allclose(shown["fixation_rate"], means.data["fixation_rate"], rtol=1e-9)
