"""The audit of releases of groups, of groups as printed, and of made-up rows, through files."""

import json
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.audits import synthetic
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import read, write
from eyelid.releases.audit import audit
from eyelid.releases.fingerprint import output_digest
from eyelid.releases.group_pictures import group_view, telling_features
from eyelid.releases.release import release
from eyelid.releases.report import report, standing
from eyelid.releases.subject import subject_of

FEATURES = [Feature(name, "1/s", "", 0.0, 10.0) for name in ("speed", "rate", "same", "idle")]


def nine_people():
    """Tasks differ in the first two features, and nobody differs in the third."""
    rng = np.random.default_rng(0)
    task = np.array([[2.0, 2.0, 0.0, 0.0], [-2.0, 2.0, 0.0, 0.0], [0.0, -2.0, 0.0, 0.0]])
    own = rng.normal(0, 0.5, (9, 1, 1, 4))
    values = 5 + task[None, :, None] + own + rng.normal(0, 0.3, (9, 3, 30, 4))
    values[..., 2] = 5.0
    table = table_from_arrays(values, FEATURES)
    row = pl.int_range(pl.len()).over("person", "recording")
    data = table.data.filter(row < 30 - (pl.col("person").rank("dense") - 1))
    kind = pl.Series("kind", ["x", "y", "y"] * 3)
    return replace(
        table,
        data=data.with_columns(task="t" + pl.col("recording")),
        people=table.people.with_columns(kind),
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    write(nine_people().study(), folder / "features")
    release(folder / "features", folder / "out", mechanism="ksame", k=3)
    return folder


@pytest.fixture(scope="module")
def done(home):
    return audit(home / "features", home / "out", attackers=["means"], report=home / "page.html")


def changed(home, where, change):
    """A copy whose data were edited, with a hash that agrees again."""
    out = where / "out"
    shutil.copytree(home / "out", out)
    table = change(FeatureTable.of(read(out)))
    table.data.write_parquet(out / "data.parquet")
    table.people.write_csv(out / "people.csv")
    told = json.loads((out / "certificate.json").read_text(encoding="utf-8"))
    told["output_sha256"] = output_digest(FeatureTable.of(read(out)))
    (out / "certificate.json").write_text(json.dumps(told), encoding="utf-8")
    return out


def test_a_sound_release_is_not_refuted_and_its_verdict_says_what_is_not_hidden(done):
    assert done.refuted == []
    assert done.verdict.startswith("Not refuted: every record is the plain mean over 3 people")
    assert "at most 33.4 % is allowed" in done.verdict
    assert "which group somebody is in is not hidden" in done.verdict
    assert "compute the last one’s values exactly" in done.verdict
    assert {f.protocol: f.bound for f in done.identification} == {
        "raw→release": pytest.approx(1 / 3),
        "release→raw": pytest.approx(1 / 3),
        "white-box": pytest.approx(1 / 3),
    }
    assert max(f.rate.rate for f in done.identification) <= 1 / 3 + 1e-9
    assert standing(done).name == "weak"


def test_the_json_keeps_its_contract_and_tells_of_groups(done, home):
    told = json.loads((home / "out" / "audit.json").read_text(encoding="utf-8"))
    assert told["groups"]["sizes"] == [3, 3, 3]
    assert told["groups"]["exact_intersection"]["rate"] == pytest.approx(1 / 3)
    assert told["groups"]["padding"]["values"] == 0
    assert told["controls"]["positive"]["rate"] > 0.5
    assert told["error"]["rmse_of_span"] > 0
    assert {use["protocol"] for use in told["utility"]} == {"leave-group-out", "halves"}
    assert max(use["accuracy"] for use in told["utility"]) > 0.9
    assert {one["protocol"] for one in told["attributes"]} == {"raw→raw", "raw→release"}
    assert told["made_up"] is None
    assert told["verdict"] == done.verdict


def test_only_a_page_outside_the_released_folder_draws_people(done, home):
    inside = (home / "out" / "report.html").read_text(encoding="utf-8")
    outside = (home / "page.html").read_text(encoding="utf-8")
    for page in (inside, outside):
        assert "Why group means are still of use" in page
        assert "speed and rate of t0, t1, t2, over time" in page
    assert "for the owner’s eyes" in outside
    assert "for the owner’s eyes" not in inside
    # A line a person and recording in either of two pictures, where there are three bands.
    assert outside.count("stroke-opacity: 0.35") == 2 * 27
    assert inside.count("stroke-opacity: 0.35") == 0


def test_the_terminal_tells_what_groups_hide_and_what_not(done, home, eyelid, monkeypatch):
    monkeypatch.setattr("eyelid.releases.audit.audit", lambda *words, **more: done)
    told = eyelid("audit", home / "features", home / "out")
    assert told.code == 0
    text = " ".join(told.out.split())
    assert "which group is somebody in (not protected)" in text
    assert "All members of a group of 3 but one compute the last one's values exactly" in text
    assert "after 1, " in text
    assert "A group's mean is off a member's by" in text


def test_the_features_that_are_drawn_keep_tasks_apart_and_groups_lie_closer(done):
    assert set(telling_features(nine_people())) == {"speed", "rate"}
    view = group_view(done.subject.groups, own=True)
    assert view.tasks == ("t0", "t1", "t2")
    assert view.narrower < 1.0
    assert group_view(done.subject.groups, own=False).own is False


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda t: replace(t, data=t.data.filter(pl.col("time_ms") < 5000)),
            "other recordings or rows than all of their members have",
        ),
        (
            lambda t: replace(t, people=t.people.with_columns(kind=pl.lit("x"))),
            "tells more of its groups than their sizes",
        ),
    ],
)
def test_an_edited_release_disagrees_with_its_certificate(home, tmp_path, change, words):
    found = subject_of(home / "features", changed(home, tmp_path, change))
    assert any(words in said for said in found.disagreements)


def test_values_that_are_no_means_refute_before_anything_is_attacked(home, tmp_path, eyelid):
    late = 0.01 * (pl.col("time_ms") > 4000)
    out = changed(
        home, tmp_path, lambda t: replace(t, data=t.data.with_columns(pl.col("rate") + late))
    )
    told = eyelid("audit", home / "features", out)
    assert told.code == 1
    assert "not the means over groups of these people. Do not share" in " ".join(told.out.split())
    written = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert (written["identification"], written["controls"]["null"]) == ([], None)
    assert "Refuted" in (out / "report.html").read_text(encoding="utf-8")


def test_a_file_that_no_release_has_breaks_what_rests_on_nothing_else(home, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(home / "out", out)
    (out / "names.csv").write_text("group1,anna", encoding="utf-8")
    found = subject_of(home / "features", out)
    assert any("holds 1 more than a release has" in said for said in found.disagreements)


def test_without_a_certificate_groups_are_found_and_nothing_is_promised(home, done):
    table = FeatureTable.of(read(home / "features"))
    released = FeatureTable.of(read(home / "out"))
    found = subject_of(table, released)
    assert found.groups.sizes.tolist() == [3, 3, 3]
    assert found.bounds() == {}
    assert replace(done, subject=found).verdict.startswith(
        "Nothing is promised about this release; every record is the plain mean over 3 people"
    )
    noisy = released.data.with_columns(pl.col("rate") + 0.1 * pl.col("speed"))
    with pytest.raises(InputError, match="not plain means over people of the original"):
        subject_of(table, replace(released, data=noisy))


def test_a_second_release_of_the_same_people_is_told(done, tmp_path):
    write(nine_people().study(), tmp_path / "f")
    for name in ("a", "b"):
        release(tmp_path / "f", tmp_path / name, mechanism="ksame", k=4, copies=True)
    found = subject_of(tmp_path / "f", tmp_path / "a")
    assert (found.releases, found.disagreements) == (2, ())
    twice = replace(done, subject=found)
    assert "These people are in 2 releases" in twice.verdict
    assert standing(twice).words == "k-anonymity of one release, and these people are in 2"


def test_groups_as_printed_are_attacked_by_intersection_and_padding(monkeypatch):
    for slow in ("utility", "averaging"):
        monkeypatch.setattr(f"eyelid.releases.audit.{slow}", lambda *words, **more: [])
    table = nine_people()
    made = release(table, mechanism="ksame-paper", k=3)
    found = audit(table, made, attackers=["means"], protocols=["raw->release"])
    assert "no guarantee" in found.verdict
    assert "intersect: whoever has raw recordings of somebody finds their name" in found.verdict
    assert found.groups.exact_intersection.rate > 0.5
    assert found.groups.padding.values > 0
    assert "Why these groups do not hide people" in report(found)


def made_up_people(people):
    rng = np.random.default_rng(1)
    centres = np.array([[3.0, 7.0], [7.0, 3.0]])[None, :, None]
    table = table_from_arrays(rng.normal(centres, 0.8, (people, 2, 3, 2)), FEATURES[:2])
    return replace(table, data=table.data.with_columns(task="t" + pl.col("recording")))


def test_made_up_rows_are_asked_who_gave_them_and_what_they_are_worth(monkeypatch, eyelid):
    monkeypatch.setattr(synthetic, "_TRIALS", 20)
    table = made_up_people(150)
    made = release(table, mechanism="seeded", epsilon=3.0, delta=1e-3, rows=4, bins=4)
    found = audit(table, made)
    assert found.refuted == []
    assert "which of two people was in it is told with an advantage of" in found.verdict
    assert found.synthetic.membership.bound == pytest.approx(np.tanh(1.5), abs=1e-3)
    assert found.synthetic.copies == 0
    assert found.to_dict()["made_up"]["rows"] == 8
    assert {use.protocol for use in found.utility} == {"made-up→raw"}
    monkeypatch.setattr("eyelid.releases.audit.audit", lambda *words, **more: found)
    text = " ".join(eyelid("audit", "original", "released").out.split())
    assert "Which of two people was in it" in text
    assert "That is no guarantee." in text
    page = report(found)
    assert "Whose data were these rows made of?" in page
    assert "no guarantee" in page


def test_made_up_rows_that_are_peoples_own_are_refuted(monkeypatch):
    monkeypatch.setattr(synthetic, "_TRIALS", 10)
    table = made_up_people(40)
    made = release(table, mechanism="seeded", epsilon=3.0, test="deterministic", k=5, rows=4)
    own = table.data.filter(pl.col("time_ms") == 0).select("speed", "rate")[: len(made.table.data)]
    copied = replace(made.table, data=made.table.data.with_columns(own.get_columns()))
    certificate = replace(made.certificate, output_sha256=output_digest(copied))
    found = audit(table, replace(made, table=copied, certificate=certificate))
    assert "made-up rows are rows of people as they were recorded" in found.refuted[0]
    with pytest.raises(InputError, match="nobody can be named: leave out attackers"):
        audit(table, made, attackers=["means"])
