"""Real studies go through: from looking at odd ones to a release of each, and its audit."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.odd_studies import (
    ODD_STUDIES,
    ids_in_file_names,
    missing_feature,
    no_usable_recording,
    one_short_file,
)

RELEASES = {
    "ksame": ("--set", "k=3"),
    "groupmean": ("--epsilon", "4"),
    "laplace": ("--epsilon", "4"),
}
# Each by groups; what leaves gaps also by a mean and by records.
WAYS = [(made, "ksame") for made in ODD_STUDIES]
WAYS += [(no_usable_recording, "groupmean"), (one_short_file, "laplace")]
# What leaves gaps is for all attackers; of the other tables one knows as much as they.
GAPS = missing_feature, no_usable_recording, one_short_file


@pytest.mark.parametrize(("made", "mechanism"), WAYS)
def test_from_inspect_to_a_release_and_its_audit(made, mechanism, tmp_path, eyelid, quick_audits):
    odd = made(tmp_path / "data")
    study, features, out = tmp_path / "study", tmp_path / "features", tmp_path / "out"

    def done(*words):
        finished = eyelid(*words)
        assert finished.code == 0, finished.err
        return finished

    if not odd.table:
        assert eyelid("lint", odd.source, *odd.said).code in (0, 1)
        done("inspect", odd.source, *odd.said)
    done("convert", odd.source, study, *odd.said, *odd.table)
    done("inspect", study)
    assert eyelid("lint", study).code == 0
    if odd.features is not None:
        done("features", study, features, *odd.features)
        study = features
    options = RELEASES[mechanism]
    told = json.loads(done("cost", study, "--mechanism", mechanism, *options, "--json").out)
    assert told
    done("release", study, out, "--mechanism", mechanism, *options)
    card = json.loads((out / "certificate.json").read_text())
    assert card["people"] == pl.read_csv(study / "people.csv").height
    attackers = () if made in GAPS else ("--attackers", "means")
    found = eyelid("audit", study, out, "--json", *attackers)
    assert found.code in (0, 1), found.err
    assert json.loads(found.out)["verdict"]


def test_ids_in_file_names_are_leaks(tmp_path, eyelid):
    odd = ids_in_file_names(tmp_path / "data")
    found = eyelid("lint", odd.source)
    assert found.code == 1
    assert "KQ7ZXW" in found.out
