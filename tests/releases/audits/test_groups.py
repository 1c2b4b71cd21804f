"""The audit of releases of groups, of groups as printed, and of synthetic rows, through files."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from markupsafe import escape
from tests.reporting.test_rendering import Rules

from eyelid.attacks import synthetic
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import read, write
from eyelid.io.release_folder import output_digest
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.releases.audits.accounts import Account
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.consistency import among_promises
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.release import release
from eyelid.reporting.audits.page import report, standing
from eyelid.reporting.audits.verdict import whole_of
from eyelid.reporting.group_pictures import (
    group_view,
    lines_picture,
    plane_picture,
    telling_features,
)

WORDS = {"speed": "turns a second", "rate": "looks a second", "same": "", "idle": ""}
FEATURES = [Feature(name, "1/s", words, 0.0, 10.0) for name, words in WORDS.items()]


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
def done(home, quick_block):
    with quick_block(drawn=True):
        return audit(home / "features", home / "out", attackers=["means"])


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
    assert done.verdict.startswith("Told who is in which group, the strongest of ")
    assert "Every record is the plain mean over 3 people, as certified." in done.verdict
    assert "The guarantee allows at most 3 on average over the members of a group" in done.verdict
    assert "Not hidden: which group a participant is in (found for " in done.verdict
    assert "but one can compute the last one’s exactly" in done.verdict
    assert {f.protocol: f.bound for f in done.identification} == {
        "raw→release": pytest.approx(1 / 3),
        "release→raw": pytest.approx(1 / 3),
        "white-box": pytest.approx(1 / 3),
    }
    assert max(f.rate.rate for f in done.identification) <= 1 / 3 + 1e-9
    assert standing(done).name == "weak"


def test_the_json_keeps_its_contract_and_tells_of_groups(done, home):
    told = json.loads((home / "out-audit" / "audit.json").read_text(encoding="utf-8"))
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


def test_the_page_of_an_audit_is_for_the_owner_and_draws_people(done, home):
    written = (home / "out-audit" / "report.html").read_text(encoding="utf-8")
    bare = report(done)
    for page in (bare, written):
        assert "Why group means are still of use" in page
        assert Rules(page).broken == []
        assert "of t0, t1, t2, over time" in page
        # Features are told in words, where a person wrote them down.
        assert any(words and words in page for words in WORDS.values())
        assert "not to be shared" in page
    assert "for the owner’s eyes" in written
    assert "for the owner’s eyes" not in bare
    # A line a person and recording for either of two features.
    assert written.count("stroke-opacity: 0.35") == 2 * 27
    assert bare.count("stroke-opacity: 0.35") == 0


def test_the_terminal_tells_what_groups_hide_and_what_not(done, home, eyelid, monkeypatch):
    monkeypatch.setattr("eyelid.releases.audits.audit.audit", lambda *words, **more: done)
    told = eyelid("audit", home / "features", home / "out", "--verbose")
    assert told.code == 0
    text = " ".join(told.out.split())
    assert "which group is a participant in (not protected)" in text
    assert "all but one of a group of 3 has the last one's values exactly" in text
    assert "after 1, " in text
    assert "A group's mean is off a member's by" in text


def test_the_features_that_are_drawn_keep_tasks_apart_and_groups_lie_closer(done):
    assert set(telling_features(nine_people())) == {"speed", "rate"}
    grouped = done.target.groups
    view = group_view(grouped.original, grouped.means, own=True)
    assert view.tasks == ("t0", "t1", "t2")
    assert set(view.words) == {"turns a second\n1/s", "looks a second\n1/s"}
    assert view.narrower < 1.0
    assert group_view(grouped.original, grouped.means, own=False).own is False


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
    found = audit_target(home / "features", changed(home, tmp_path, change))
    assert any(words in said for said in found.inconsistencies)


def test_values_that_are_no_means_refute_before_anything_is_attacked(home, tmp_path, eyelid):
    late = 0.01 * (pl.col("time_ms") > 4000)
    out = changed(
        home, tmp_path, lambda t: replace(t, data=t.data.with_columns(pl.col("rate") + late))
    )
    told = eyelid("audit", home / "features", out)
    assert told.code == 1
    assert "not the means over groups of these people. Do not share" in " ".join(told.out.split())
    beside = out.with_name(f"{out.name}-audit")
    written = json.loads((beside / "audit.json").read_text(encoding="utf-8"))
    assert (written["identification"], written["controls"]["null"]) == ([], None)
    assert "Refuted" in (beside / "report.html").read_text(encoding="utf-8")


def test_a_file_that_no_release_has_breaks_what_rests_on_nothing_else(home, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(home / "out", out)
    (out / "names.csv").write_text("group1,anna", encoding="utf-8")
    found = audit_target(home / "features", out)
    assert any("holds 1 more than a release has" in said for said in found.inconsistencies)


def test_without_a_certificate_groups_are_found_and_nothing_is_promised(home, done):
    table = FeatureTable.of(read(home / "features"))
    released = FeatureTable.of(read(home / "out"))
    found = audit_target(table, released)
    assert found.groups.sizes.tolist() == [3, 3, 3]
    assert found.bounds() == {}
    assert replace(done, target=found).verdict.startswith(
        "Nothing is promised about this release. Told who is in which group, the strongest of "
    )
    noisy = released.data.with_columns(pl.col("rate") + 0.1 * pl.col("speed"))
    with pytest.raises(InputError, match="not plain means over people of the original"):
        audit_target(table, replace(released, data=noisy))


@pytest.mark.usefixtures("plain_pictures")
def test_a_second_release_of_the_same_people_is_told(done, tmp_path):
    write(nine_people().study(), tmp_path / "f")
    for name in ("a", "b"):
        release(tmp_path / "f", tmp_path / name, mechanism="ksame", k=3, copies=True)
    found = audit_target(tmp_path / "f", tmp_path / "a")
    assert (found.releases, found.inconsistencies) == (2, ())
    twice = replace(done, target=found)
    assert "These people are in 2 releases" in twice.verdict
    assert (
        "This release alone would allow at most 3 on average over the members of a group"
        in twice.verdict
    )
    assert "but with the others of these people there is no bound" in twice.verdict
    page = report(twice)
    assert "This release alone would allow" in page
    assert "With the other releases of these people: <strong>no bound</strong>" in page
    assert standing(twice).words == "k-anonymity of one release, and these people are in 2"


@pytest.mark.usefixtures("plain_pictures")
def test_groups_as_printed_are_attacked_by_intersection_and_padding(monkeypatch):
    for slow in ("utility", "averaging"):
        monkeypatch.setattr(f"eyelid.releases.audits.records.{slow}", lambda *words, **more: [])
    table = nine_people()
    made = release(table, mechanism="ksame-paper", k=3)
    found = audit(table, made, attackers=["means"], protocols=["raw->release"])
    assert "no guarantee" in found.verdict
    assert "link the groups of their tasks: an attacker who has raw recordings" in found.verdict
    assert found.groups.exact_intersection.rate > 0.5
    assert found.groups.padding.values > 0
    # The headline is the strongest attack of all, not the strongest that learns.
    rates = (found.groups.intersection.rate, found.groups.exact_intersection.rate)
    assert found.worst.rate.rate == max(rates) > max(f.rate.rate for f in found.honest)
    page = report(found)
    assert f"<b>{whole_of(found.worst.rate)}</b>are re-identified from the <em>release</em>" in page
    assert "k = 3: printed or asked for, not promised" in page
    assert "<td>k = 3</td>" not in page
    assert "Why these groups do not hide people" in page


def lacking(table, people, task):
    names = table.recordings["person"].unique(maintain_order=True)[people].to_list()
    kept = ~(pl.col("person").is_in(names) & (pl.col("task") == task))
    return replace(table, data=table.data.filter(kept))


def two_tasks(people=8, tasks=2, rows=12):
    rng = np.random.default_rng(3)
    values = 5 + rng.normal(0, 1, (people, tasks, 1, 2))
    values = values + rng.normal(0, 0.3, (people, tasks, rows, 2))
    table = table_from_arrays(values, FEATURES[:2])
    return replace(table, data=table.data.with_columns(task="t" + pl.col("recording")))


@pytest.mark.parametrize(
    ("table", "k"),
    [
        # No group has the second task, so that two releases cannot be compared.
        pytest.param(lacking(two_tasks(), slice(5, 8), "t1"), 8, id="one group, some lack a task"),
        pytest.param(lacking(two_tasks(), slice(1, 8), "t1"), 4, id="most lack a task"),
        pytest.param(two_tasks(tasks=1), 4, id="one recording each"),
        pytest.param(two_tasks(people=3), 3, id="three people"),
        pytest.param(replace(two_tasks(tasks=1), window_ms=30_000.0), 4, id="too short to part"),
        pytest.param(two_tasks(people=30, rows=6), 5, id="too few values to find groups"),
    ],
)
@pytest.mark.usefixtures("plain_pictures")
def test_whatever_people_and_groups_lack_the_audit_comes_to_an_end(table, k, monkeypatch):
    monkeypatch.setattr("eyelid.releases.audits.records.utility", lambda *words, **more: [])
    made = release(table, mechanism="ksame", k=k)
    found = audit(table, made, attackers=["means"])
    assert found.refuted == []
    assert "Not hidden: " in found.verdict
    assert "What groups hide" in report(found)
    json.loads(found.to_json())
    assert found.worst.rate.rate <= 1 / k + 1e-9


def test_people_with_nothing_to_know_beforehand_are_not_to_be_named(monkeypatch):
    monkeypatch.setattr("eyelid.releases.audits.records.utility", lambda *words, **more: [])
    table = replace(two_tasks(tasks=1), window_ms=30_000.0)
    found = audit(table, release(table, mechanism="ksame", k=4), attackers=["means"])
    assert found.identification == ()
    assert "re-identification from other recordings was not tried" in found.to_dict()["notes"][-2]
    assert found.groups.exact_intersection.rate == pytest.approx(1 / 4)


@pytest.mark.usefixtures("plain_pictures")
def test_groups_that_cannot_be_found_out_are_checked_as_far_as_it_goes(monkeypatch):
    monkeypatch.setattr("eyelid.releases.audits.records.utility", lambda *words, **more: [])
    table = two_tasks(people=30, rows=6)
    made = release(table, mechanism="ksame", k=5)
    found = audit(table, made, attackers=["means"])
    assert found.target.groups.fresh
    assert "too few values" in found.verdict
    assert "In another run of the mechanism" in found.verdict
    assert "as certified" not in found.verdict
    assert found.to_dict()["groups"]["of_another_run"]
    assert standing(found).words.endswith("not everything could be tested")
    page = report(found)
    assert "Who is in which could not be found out" in page
    assert "re-identified from another run like the <em>release</em>" in page
    off = made.table.data.with_columns(pl.col("rate") + 0.01)
    edited = replace(made.table, data=off)
    certificate = replace(made.certificate, output_sha256=output_digest(edited))
    wrong = audit_target(table, replace(made, held=edited, certificate=certificate))
    assert "the mean over all groups is not the mean over everybody" in wrong.inconsistencies


def made_up_people(people):
    rng = np.random.default_rng(1)
    centres = np.array([[3.0, 7.0], [7.0, 3.0]])[None, :, None]
    table = table_from_arrays(rng.normal(centres, 0.8, (people, 2, 3, 2)), FEATURES[:2])
    return replace(table, data=table.data.with_columns(task="t" + pl.col("recording")))


def test_a_promise_that_allows_much_is_not_green(monkeypatch):
    monkeypatch.setattr(synthetic, "_TRIALS", 10)
    monkeypatch.setattr(
        "eyelid.releases.audits.synthetic.learned_elsewhere", lambda *words, **more: []
    )
    table = made_up_people(300)
    made = release(table, mechanism="seeded", epsilon=4.0, delta=1e-3, rows=1, bins=4)
    found = audit(table, made)
    total = found.target.promised
    found = replace(found, target=replace(found.target, total=total))
    assert found.synthetic.membership.bound > 0.9
    assert standing(found).name == "weak"
    assert standing(found).words == "Certificate not contradicted, but the guarantee allows much"
    assert "which is much: the promise rules out little" in found.verdict
    member = replace(found.synthetic.membership, bound=0.4)
    modest = replace(found, synthetic=replace(found.synthetic, membership=member))
    assert standing(modest).name == "sound"
    assert "rules out little" not in modest.verdict


@pytest.mark.usefixtures("plain_pictures")
def test_rows_from_histograms_without_noise_show_who_is_alone_in_a_bin(monkeypatch):
    for slow in ("utility", "averaging"):
        monkeypatch.setattr(f"eyelid.releases.audits.records.{slow}", lambda *words, **more: [])
    table = nine_people()
    made = release(table, mechanism="marginals-paper")
    found = audit(table, made, attackers=["means"], protocols=["raw->release"])
    assert found.histograms.shown > 0
    assert f"are one person’s alone, which shows values of {found.histograms.people}" in (
        found.verdict
    )
    assert "What the histograms show of single people" in report(found)
    assert found.to_dict()["histograms"]["alone"] == found.histograms.alone


@pytest.mark.usefixtures("plain_pictures")
def test_made_up_rows_are_asked_who_gave_them_and_what_they_are_worth(monkeypatch, eyelid):
    monkeypatch.setattr(synthetic, "_TRIALS", 20)
    table = made_up_people(150)
    made = release(table, mechanism="seeded", epsilon=3.0, delta=1e-3, rows=4, bins=4)
    found = audit(table, made)
    assert found.refuted == []
    assert "Which of two participants was in it is inferred with an advantage of" in found.verdict
    # Rows that begin as a person's are not nobody's.
    kept = "keep 1 of 2 features of a person's row, every value as one of 4 bins"
    assert f"The certificate is not contradicted. Some rows {kept}. Which" in found.verdict
    assert "nobody" not in found.verdict
    assert found.synthetic.membership.bound == pytest.approx(np.tanh(1.5), abs=1e-3)
    assert found.synthetic.copies == 0
    assert found.to_dict()["made_up"]["rows"] == 8
    assert {use.protocol for use in found.utility} == {"synthetic→raw"}
    monkeypatch.setattr("eyelid.releases.audits.audit.audit", lambda *words, **more: found)
    text = " ".join(eyelid("audit", "original", "released", "--verbose").out.split())
    assert "Which of two people was in it" in text
    assert "That is no guarantee." in text
    page = report(found)
    assert "Whose data were these rows made of?" in page
    assert f"Some of the 8 rows {escape(kept)}; none has a person’s name" in page
    assert f"Some rows {escape(kept)}." in page
    assert "No participant’s record" not in page
    assert "How often an attacker is right who is asked which of two people was in it" in page
    assert "Distance from the distribution of participants&#39; values" in page
    assert "not a guarantee" in page


def test_made_up_rows_that_are_peoples_own_are_refuted(monkeypatch):
    monkeypatch.setattr(synthetic, "_TRIALS", 10)
    table = made_up_people(40)
    made = release(table, mechanism="seeded", epsilon=3.0, test="deterministic", k=5, rows=4)
    own = table.data.filter(pl.col("time_ms") == 0).select("speed", "rate")[: len(made.table.data)]
    copied = replace(made.table, data=made.table.data.with_columns(own.get_columns()))
    certificate = replace(made.certificate, output_sha256=output_digest(copied))
    found = audit(table, replace(made, held=copied, certificate=certificate))
    assert "synthetic rows are rows of people as they were recorded" in found.refuted[0]
    with pytest.raises(InputError, match="no record under a person's name: leave out"):
        audit(table, made, attackers=["means"])


def test_a_page_in_the_folder_draws_nothing_but_what_was_released():
    """Other people with the same released means: the same pictures, and nothing of people."""
    table = nine_people()
    means = KSame(k=3).averaged(table, np.repeat([0, 1, 2], 3))
    others = replace(table, data=table.data.with_columns(pl.col(table.names) * 0.5))
    views = [group_view(people, means, own=False) for people in (table, others)]
    assert all(view.people is None for view in views)
    pages = [str(lines_picture(view)) + str(plane_picture(view)) for view in views]
    drawn = [re.sub(r"aria-label=.[^>]*>|<title>.*?</title>", "", page) for page in pages]
    assert drawn[0] == drawn[1]


def test_a_bound_that_other_releases_undo_is_refuted_whatever_its_certificate_lists():
    certificate = release(nine_people(), mechanism="ksame", k=3).certificate
    assert list(among_promises(certificate, Account(by_then=1))) == []
    found = set(among_promises(certificate, Account(by_then=2)))
    assert found == {
        "the certificate states a bound on re-identifying people that its own numbers do not give"
    }
