"""What someone writes into certificate.json, or beside it, is not accepted as a certificate."""

import json
import shutil

import polars as pl
import pytest

import eyelid
from eyelid.io import write
from eyelid.releases import pipeline
from eyelid.releases.audits.certificate_file import MORE
from eyelid.releases.audits.data_card import CHANGED
from eyelid.releases.audits.pairing import audit_target


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("stated")
    features = eyelid.window_features(eyelid.simulate(people=30, minutes=0.8, seed=3)).study()
    write(features, place / "features")
    eyelid.release(
        place / "features", place / "synthetic", mechanism="synthetic", epsilon=8.0, carry=2
    )
    eyelid.release(place / "features", place / "groups", mechanism="ksame", k=4)
    return place


def _without_doubt(certificate):
    certificate["person_level"]["how"] = "k-anonymity of a person"


def _exacter(certificate):
    certificate["made_up"]["mean_errors"][0]["error"] /= 2


def _another_source(certificate):
    certificate["noise"]["randomness"] += ", twice"


def _less_spent(certificate):
    certificate["ledger"][0] |= {"epsilon": 1.0, "mu": 0.1}


def _more_of_a_release(certificate):
    certificate["ledger"][0]["who"] = "P03"


def _remark(certificate):
    certificate["remark"] = "P03 blinked 17 times"


def _remark_inside(certificate):
    certificate["guarantee"]["remark"] = "P03 blinked 17 times"


def _reasons(certificate):
    certificate["guarantee"]["reasons"] = ["P03 blinked 17 times"]


def _default(certificate):
    del certificate["mechanism"]["parameters"]["error"]


@pytest.mark.parametrize(
    ("kind", "change", "refuted"),
    [
        ("synthetic", _remark, MORE),
        ("synthetic", _remark_inside, MORE),
        ("synthetic", _default, MORE),
        ("synthetic", _exacter, "otherwise what synthetic participants are like"),
        ("synthetic", _another_source, "describes another noise"),
        ("synthetic", _less_spent, "lists other releases than the ledger has counted"),
        ("synthetic", _more_of_a_release, "says more of releases"),
        ("synthetic", _reasons, "why a guarantee is not valid"),
        ("groups", _without_doubt, "how a person's total comes about"),
        ("groups", _another_source, "describes another noise"),
    ],
)
def test_what_is_written_into_a_certificate_refutes_it(tmp_path, folders, kind, change, refuted):
    out = tmp_path / "out"
    shutil.copytree(folders / kind, out)
    certificate = json.loads((out / "certificate.json").read_text("utf-8"))
    change(certificate)
    (out / "certificate.json").write_text(json.dumps(certificate), "utf-8")
    found = audit_target(folders / "features", out).inconsistencies
    assert any(refuted in each for each in found), found


def test_a_name_that_is_there_twice_refutes_a_certificate(tmp_path, folders):
    shutil.copytree(folders / "groups", tmp_path / "out")
    file = tmp_path / "out" / "certificate.json"
    file.write_text(file.read_text("utf-8").replace("{", '{"schema": "P03 is ill",', 1), "utf-8")
    assert MORE in audit_target(folders / "features", tmp_path / "out").inconsistencies


@pytest.mark.parametrize("kind", ["synthetic", "groups"])
def test_the_owner_is_told_that_a_data_card_was_changed(tmp_path, folders, kind):
    shutil.copytree(folders / kind, tmp_path / "out")
    target = audit_target(folders / "features", tmp_path / "out")
    assert CHANGED not in target.notes
    assert not target.inconsistencies
    card = tmp_path / "out" / "DATACARD.md"
    card.write_text(card.read_text("utf-8") + "\nP03 blinked 17 times.\n", "utf-8")
    assert CHANGED in audit_target(folders / "features", tmp_path / "out").notes


def test_a_parameter_that_is_no_text_is_no_fault_of_ours(tmp_path, folders):
    shutil.copytree(folders / "groups", tmp_path / "out")
    file = tmp_path / "out" / "certificate.json"
    certificate = json.loads(file.read_text("utf-8"))
    certificate["mechanism"]["parameters"]["balance"] = 3
    file.write_text(json.dumps(certificate), "utf-8")
    with pytest.raises(eyelid.InputError, match="cannot be run here"):
        audit_target(folders / "features", tmp_path / "out")


def test_a_release_that_was_stopped_and_made_after_another_is_not_refuted(tmp_path, monkeypatch):
    write(eyelid.simulate(people=6, minutes=0.2, seed=3), tmp_path / "study")

    def stopped(*_):
        raise KeyboardInterrupt

    def late():
        return eyelid.heatmap(tmp_path / "study", tmp_path / "late", stimulus="comic", epsilon=2.0)

    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "claimed", stopped)
        with pytest.raises(KeyboardInterrupt):
            late()
    eyelid.heatmap(tmp_path / "study", tmp_path / "other", stimulus="comic", epsilon=1.0)
    listed = late().certificate.ledger
    assert [each["epsilon"] for each in listed] == [1.0, 2.0]
    for name in ("late", "other"):
        assert not eyelid.audit(tmp_path / "study", tmp_path / name).refuted


def _with_remark(manifest):
    manifest["remark"] = "P03 blinked 17 times"


def _with_remark_of_a_feature(manifest):
    manifest["features"][0]["remark"] = "P03 blinked 17 times"


def _with_another_definition(manifest):
    manifest["features"][0]["definition"] = "P03 blinked 17 times"


def _with_other_bounds(manifest):
    manifest["features"][0]["upper"] = 17.25


@pytest.mark.parametrize(
    ("change", "refuted"),
    [
        (_with_remark, "study.json says more"),
        (_with_remark_of_a_feature, "study.json says more"),
        (_with_another_definition, "other units, definitions or bounds"),
        (_with_other_bounds, "other units, definitions or bounds"),
    ],
)
def test_what_is_written_into_a_manifest_refutes_a_release(tmp_path, folders, change, refuted):
    shutil.copytree(folders / "groups", tmp_path / "out")
    file = tmp_path / "out" / "study.json"
    manifest = json.loads(file.read_text("utf-8"))
    change(manifest)
    file.write_text(json.dumps(manifest), "utf-8")
    found = audit_target(folders / "features", tmp_path / "out").inconsistencies
    assert any(refuted in each for each in found), found


def test_what_is_written_into_files_of_rows_refutes_a_release(tmp_path, folders):
    shutil.copytree(folders / "groups", tmp_path / "out")
    (file,) = (tmp_path / "out").rglob("*.parquet")
    pl.read_parquet(file).write_parquet(file, metadata={"remark": "P03 blinked 17 times"})
    found = audit_target(folders / "features", tmp_path / "out").inconsistencies
    assert "the files of rows say more than that of a release" in found
