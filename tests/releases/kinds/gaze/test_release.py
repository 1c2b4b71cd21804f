import json

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError, Refused
from eyelid.gaze.study import Screen, Study
from eyelid.releases.audits.synthetic_gaze import synthetic_gaze_target

pytestmark = pytest.mark.usefixtures("few_kernels")


@pytest.fixture(scope="module")
def study():
    return eyelid.simulate(people=20, tasks=("comic", "textbook"), minutes=0.4, seed=5)


@pytest.fixture
def folder(study, tmp_path):
    eyelid.write(study, tmp_path / "study")
    return tmp_path / "study"


def gaze(**columns):
    """Twelve people without any attributes, who looked for eight seconds."""
    rng = np.random.default_rng(0)
    rows, each = 240, 8

    def looked():
        return np.repeat(rng.random(rows // each), each) + 1e-3 * rng.standard_normal(rows)

    parts = [
        pl.DataFrame(
            {
                "person": f"p{person}",
                "recording": "1",
                "task": "look",
                "stimulus": "picture",
                "time_ms": np.arange(rows) * 1000 / 30,
                "x": looked(),
                "y": looked(),
            }
        )
        for person in range(12)
    ]
    made = pl.concat(parts)
    people = made.select(pl.col("person").unique(maintain_order=True))
    given = {"units": "fraction", "xy_origin": "top-left", "rate_hz": 30.0} | columns
    return Study("samples", made, people, **given)


def test_a_release_is_a_study_of_samples_with_events(folder, tmp_path):
    done = eyelid.release(
        folder, tmp_path / "out", mechanism="synthetic-gaze", epsilon=1.0, minutes=0.2
    )
    assert done.certificate.person_level.epsilon == 1.0
    read = eyelid.read(tmp_path / "out")
    assert (read.kind, read.released, read.notes) == ("samples", True, ())
    assert read.data.height == 20 * 2 * round(0.2 * 60 * 60)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "DATACARD.md",
        "certificate.json",
        "data.parquet",
        "events.parquet",
        "measured.json",
        "people.csv",
        "study.json",
    ]
    assert set(pl.read_parquet(tmp_path / "out" / "events.parquet")["name"]) >= {"fixation"}
    assert not list(eyelid.lint(tmp_path / "out"))


def test_it_can_be_written_as_bids(folder, tmp_path):
    eyelid.release(folder, tmp_path / "out", mechanism="ksame-gaze", k=5, minutes=0.1)
    eyelid.convert(tmp_path / "out", tmp_path / "bids", to="bids")
    assert len(list((tmp_path / "bids").glob("sub-*"))) == 20
    assert (tmp_path / "bids" / "certificate.json").exists()
    back = eyelid.read(tmp_path / "bids")
    assert back.data.height == eyelid.read(tmp_path / "out").data.height
    with pytest.raises(InputError, match="is a release already"):
        eyelid.convert(tmp_path / "out", tmp_path / "study2")


def test_the_ledger_counts_it_before_anything_is_drawn(folder, tmp_path):
    eyelid.budget(folder, limit_epsilon=1.5)
    eyelid.release(folder, tmp_path / "one", mechanism="synthetic-gaze", epsilon=1.0, minutes=0.1)
    assert eyelid.budget(folder).to_dict()["spent"]["epsilon"] == 1.0
    with pytest.raises(Refused):
        eyelid.release(folder, tmp_path / "two", mechanism="synthetic-gaze", epsilon=1.0)
    assert not (tmp_path / "two").exists()


def test_twenty_people_are_told_what_would_keep_more(folder, tmp_path):
    done = eyelid.release(
        folder, tmp_path / "out", mechanism="synthetic-gaze", epsilon=1.0, minutes=0.1
    )
    said = "\n".join(done.notes)
    assert "everything but the map's average is the norm's" in said
    for command in (
        "eyelid release study OUT --mechanism ksame-gaze --set k=5",
        "eyelid summary study OUT --epsilon 1",
        "eyelid heatmap study OUT --stimulus 'comic' --epsilon 1",
    ):
        assert command in said
    assert done.worth.startswith("Everything but the map's average is the norm's")
    quote = eyelid.cost("synthetic-gaze", folder, epsilon=1.0)
    assert "ksame-gaze --set k=5" in "\n".join(quote.verdict)


def test_the_card_says_of_every_parameter_whether_it_is_the_norms(folder, tmp_path):
    eyelid.release(folder, tmp_path / "out", mechanism="synthetic-gaze", epsilon=60.0, minutes=0.1)
    card = (tmp_path / "out" / "DATACARD.md").read_text()
    facts = json.loads((tmp_path / "out" / "certificate.json").read_text())["generated"]
    assert len(facts["parameters"]) > 15
    for row in facts["parameters"]:
        line = next(line for line in card.splitlines() if line.startswith(f"| {row['name']}:"))
        assert ("measured" in line.split("|")[2]) == (row["means"] != "norm")
    slow = next(row for row in facts["parameters"] if row["name"] == "peak_speed_deg_s")
    assert slow["why_norm"] == "needs 120 Hz, the tracker has 60"
    assert "needs 120 Hz, the tracker has 60" in card


def test_lengths_come_from_plans_and_never_from_recordings(tmp_path):
    long = gaze()
    data = long.data.with_columns(time_ms=pl.col("time_ms") * 3)
    for made in (long, Study("samples", data, long.people, units="fraction", rate_hz=30.0)):
        done = eyelid.release(made, mechanism="synthetic-gaze", epsilon=4.0)
        assert done.study.data.height == 12 * 30 * 60
        assert "nobody said how long" in "\n".join(done.notes)
    planned = gaze(planned_ms=6000.0)
    done = eyelid.release(planned, mechanism="synthetic-gaze", epsilon=4.0)
    assert done.study.data.height == 12 * 30 * 6
    done = eyelid.release(planned, mechanism="synthetic-gaze", epsilon=4.0, minutes=0.05, rate=100)
    assert done.study.data.height == 12 * 300


def test_a_seed_repeats_it_and_voids_the_guarantee():
    one, other = (
        eyelid.release(gaze(), mechanism="synthetic-gaze", epsilon=4.0, minutes=0.1, seed=1)
        for _ in range(2)
    )
    assert one.study.data.equals(other.study.data)
    assert not one.certificate.guarantee.holds


def test_groups_have_a_synthetic_participant_for_every_member():
    done = eyelid.release(gaze(), mechanism="ksame-gaze", k=5, minutes=0.1)
    groups = done.study.people["group"].value_counts().sort("group")["count"].to_list()
    assert groups == [6, 6]
    assert done.certificate.person_level.k == 5


# What cannot be released.


@pytest.mark.parametrize(
    ("said", "with_", "wrong"),
    [
        ({"rate_hz": None}, {}, "the recordings have no one rate: say that of the synthetic ones"),
        ({}, {"k": 13}, "k=13 needs at least 13 people, this study has 12: choose k ≤ 12"),
        ({}, {"k": 5, "minutes": 1e9}, "minutes of a recording must be above 0 and at most 1440"),
        ({}, {"k": 5, "rate": 1e6}, "rate must be between 10 and 2000 Hz"),
        ({}, {"k": 5, "keep": ["age"]}, "synthetic participants have no attributes"),
        ({}, {"k": 5, "bounds": "data"}, "the bounds of ksame-gaze are those of its generator"),
        ({}, {"k": 5, "min_seconds": 3}, "ksame-gaze takes recordings of any length"),
        ({}, {"k": 5, "unit": "recording"}, "ksame-gaze protects the person"),
        ({}, {"k": 5, "movement": "look:jumping"}, "movement is reading, scene, search or auto"),
    ],
)
def test_what_cannot_be_released_is_refused_in_one_line(said, with_, wrong):
    with pytest.raises((InputError, Refused), match=wrong):
        eyelid.release(gaze(**said), mechanism="ksame-gaze", **({"k": 5} | with_))


def test_without_a_rate_of_their_own_recordings_have_that_which_is_asked_for():
    done = eyelid.release(gaze(rate_hz=None), mechanism="ksame-gaze", k=5, rate=50, minutes=0.1)
    assert done.study.rate_hz == 50
    assert any("recordings have no one rate" in note for note in done.notes)


def test_camera_units_have_no_places_and_keep_their_movements():
    done = eyelid.release(
        gaze(units="normalised", xy_origin=None), mechanism="ksame-gaze", k=5, minutes=0.1
    )
    assert done.study.units == "normalised"
    assert done.certificate.generated["generator"]["places"] == "norm"
    assert any("does not say where on a screen gaze is" in note for note in done.notes)
    with pytest.raises(InputError, match="neither parameters nor places can be measured"):
        eyelid.release(
            gaze(units="normalised", xy_origin=None), mechanism="synthetic-gaze", epsilon=1.0
        )


def test_pixels_are_written_as_pixels():
    made = gaze(units="px", screen=Screen(1000, 500))
    made = Study(
        "samples",
        made.data.with_columns(x=pl.col("x") * 1000, y=pl.col("y") * 500),
        made.people,
        units="px",
        xy_origin="top-left",
        rate_hz=30.0,
        screen=Screen(1000, 500),
    )
    done = eyelid.release(made, mechanism="ksame-gaze", k=5, minutes=0.2)
    assert 200 < done.study.data["x"].mean() < 800
    assert 100 < done.study.data["y"].mean() < 400


def test_slow_trackers_and_missing_pupils_are_said():
    notes = "\n".join(eyelid.release(gaze(), mechanism="ksame-gaze", k=5, minutes=0.1).notes)
    assert "pupil_mm, pupil_variation cannot be measured (no pupil was recorded)" in notes
    assert "needs 120 Hz, the tracker has 30" in notes


def test_people_without_gaze_count_as_the_norm_and_stimuli_of_one_are_told():
    made = gaze()
    lost = pl.col("person") == "p3"
    data = made.data.with_columns(
        x=pl.when(lost).then(None).otherwise("x"),
        y=pl.when(lost).then(None).otherwise("y"),
        stimulus=pl.when(pl.col("person") == "p5").then(pl.lit("own")).otherwise("stimulus"),
    )
    people = pl.concat([made.people, pl.DataFrame({"person": ["absent"]})])
    with_absent = Study("samples", data, people, units="fraction", rate_hz=30.0)
    done = eyelid.release(with_absent, mechanism="synthetic-gaze", epsilon=4.0, minutes=0.05)
    notes = "\n".join(done.notes)
    assert "2 people have no gaze that parameters could be measured of" in notes
    assert "one person alone has recordings of 'own'" in notes
    assert done.certificate.people == 13


def test_features_and_releases_are_refused(folder, tmp_path):
    table = eyelid.window_features(eyelid.read(folder), window_s=10)
    with pytest.raises(InputError, match="gaze sample by sample, and this is a FeatureTable"):
        eyelid.release(table, mechanism="ksame-gaze", k=5)
    eyelid.release(folder, tmp_path / "out", mechanism="ksame-gaze", k=5, minutes=0.1)
    with pytest.raises(InputError, match="released dataset already"):
        eyelid.release(tmp_path / "out", tmp_path / "again", mechanism="ksame-gaze", k=5)


# What an audit sees.


def test_an_audit_does_not_contradict_a_sound_release(folder, tmp_path):
    eyelid.release(folder, tmp_path / "out", mechanism="synthetic-gaze", epsilon=2.0, minutes=0.4)
    found = eyelid.audit(folder, tmp_path / "out")
    assert found.refuted == []
    assert found.membership.advantage.low <= found.membership.bound
    assert found.resemblance.follows
    assert (tmp_path / "out-audit" / "report.html").exists()
    content = json.loads((tmp_path / "out-audit" / "audit.json").read_text())
    assert content["subject"] == "synthetic recordings"
    assert [one["attacker"] for one in content["samples"]][-1] == "fused samples"
    assert all(one["p_value"] > 0.01 for one in content["samples"])
    assert not any("no task" in note for note in content["notes"])
    kinds = {row["task"] for row in content["utility"]}
    assert {"parameter", "events", "spectra", "maps", "task"} <= kinds
    page = (tmp_path / "out-audit" / "report.html").read_text()
    assert "guess without data" in page
    assert "Events of people, release and guess" in page


def test_an_audit_of_groups_stays_below_one_in_k_and_its_control_does_not(folder, tmp_path):
    eyelid.release(folder, tmp_path / "out", mechanism="ksame-gaze", k=5, minutes=0.3)
    found = eyelid.audit(folder, tmp_path / "out")
    assert found.refuted == []
    assert found.members.identification.low <= 1 / 5
    assert found.members.alone.low > 1 / 5
    assert all(one.within.low <= 1 / 5 for one in found.samples)
    assert all(one.found is not None for one in found.samples)
    assert found.use.figures


def test_an_audit_tells_of_what_stands_beside_the_answers(folder, tmp_path):
    out = tmp_path / "out"
    eyelid.release(folder, out, mechanism="synthetic-gaze", epsilon=2.0, minutes=0.1)
    content = json.loads((out / "measured.json").read_text())
    (out / "measured.json").write_text(json.dumps(content | {"ann": [1.5, 2.5]}))
    assert synthetic_gaze_target(folder, out).inconsistencies


@pytest.mark.parametrize(("minutes", "rate"), [(0.0333, 60.0), (0.0001, 60.0), (1 / 70, 33.3)])
def test_recordings_have_as_many_samples_as_the_certificate_says(minutes, rate):
    done = eyelid.release(
        gaze(), mechanism="synthetic-gaze", epsilon=2.0, minutes=minutes, rate=rate
    )
    rows = done.study.data.group_by("person", "recording").len()["len"]
    assert rows.unique().to_list() == [done.certificate.generated["samples_each"]]


@pytest.mark.parametrize("file", ["data.parquet", "events.parquet", "DATACARD.md", "measured.json"])
def test_an_audit_tells_of_a_changed_folder(folder, tmp_path, file):
    out = tmp_path / "out"
    eyelid.release(folder, out, mechanism="synthetic-gaze", epsilon=2.0, minutes=0.1)
    if file == "DATACARD.md":
        (out / file).write_text((out / file).read_text().replace("norm's", "people's"))
    elif file == "measured.json":
        (out / file).write_text('{"numbers": [], "places": [[1]], "people": [20]}')
    else:
        rows = pl.read_parquet(out / file)
        column = "x" if file == "data.parquet" else "onset_ms"
        rows.with_columns(pl.col(column) + 1).write_parquet(out / file)
    assert synthetic_gaze_target(folder, out).inconsistencies


def test_a_release_of_other_people_is_refused(folder, tmp_path):
    eyelid.release(folder, tmp_path / "out", mechanism="synthetic-gaze", epsilon=2.0, minutes=0.1)
    with pytest.raises(InputError, match="certificate is for 20 people and the original has 12"):
        eyelid.audit(gaze(), tmp_path / "out")
