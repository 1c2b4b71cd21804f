from dataclasses import replace

import polars as pl
import pytest

from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Screen, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.releases.cost import cost
from eyelid.releases.inspection import fitting_release, inspect, recordings_of


def test_a_study_is_counted(simulated):
    found = inspect(simulated)
    assert (found["people"], found["recordings"], found["tasks"], found["stimuli"]) == (6, 18, 3, 3)
    assert found["rate_hz"]["measured"] == 60.0 or abs(found["rate_hz"]["measured"] - 60) < 0.5
    assert 0 < found["quality"]["missing_x"] < 0.3
    assert set(found["events"]) == {"fixation", "saccade", "blink"}
    assert "eyelid features" in found["release"]


def test_lengths_that_single_people_out_are_named(simulated):
    found = inspect(simulated)
    (lengths,) = [q for q in found["quasi_identifiers"] if q["columns"] == ["recording lengths"]]
    assert lengths["people_alone"] == 6


def test_a_harmless_attribute_is_not_called_a_quasi_identifier(make_table):
    table = make_table(people=12)
    people = table.people.with_columns(pl.lit("yes").alias("consent"))
    study = table.study().derive(people=people)
    assert inspect(study)["quasi_identifiers"] == []


def test_one_person_is_told_so(make_table):
    assert "One person" in inspect(make_table(people=1).study())["release"]


def test_few_people_are_told_of_groups_and_that_these_have_no_epsilon(make_table):
    told = inspect(make_table(people=20).study())["release"]
    assert "Means of 5 groups of 4 (ksame) have no noise" in told
    assert "'eyelid release IN OUT --mechanism ksame --set k=4'" in told
    assert "not differential privacy: it has no ε" in told
    assert "--set k=3'" in inspect(make_table(people=7).study())["release"]
    for enough_or_too_few in (4, 400):
        study = make_table(people=enough_or_too_few, recordings=1, rows=4).study()
        assert "ksame" not in inspect(study)["release"]


@pytest.mark.parametrize("people", [4, 20, 400])
def test_the_release_that_is_advised_shows_something_or_says_what_it_would_take(make_table, people):
    study = make_table(people=people, recordings=1, rows=4).study()
    told = inspect(study)["release"]
    options, why, useful = fitting_release(recordings_of(study), FeatureTable.outline(study))
    assert why in told
    assert f"'eyelid cost IN {options}'" in told
    assert (f"'eyelid release IN OUT {options}'" in told) == useful == (people > 4)
    assert "gaussian" not in told
    if "can be relied on" in why:
        assert cost("groupmean", study, epsilon=1.0).expected.informative
    else:
        assert "at ε = 1 for a person, it takes" in why


def test_a_feature_of_words_is_refused_as_a_release_would(eyelid, features_folder):
    data = pl.read_parquet(features_folder / "data.parquet")
    data.with_columns(pupil=pl.lit("wide")).write_parquet(features_folder / "data.parquet")
    done = eyelid("inspect", features_folder)
    assert (done.code, done.out) == (2, "")
    assert "feature pupil is not a number: a mechanism cannot take it" in done.err


def fixations(**facts):
    """Two people who looked at one place each."""
    rows = {"person": ["a", "b"], "recording": ["1", "1"], "stimulus": ["page", "page"]}
    rows |= {"time_ms": [0.0, 0.0], "duration_ms": [200.0, 300.0], "x": [5.0, 6.0], "y": [7.0, 8.0]}
    people = pl.DataFrame({"person": ["a", "b"]})
    return Study("fixations", pl.DataFrame(rows), people, **facts)


def test_fixations_lead_to_a_heatmap():
    told = inspect(fixations(units="px", xy_origin="top-left", screen=Screen(20, 10)))["release"]
    assert "'eyelid heatmap IN OUT --level good --dry-run'" in told
    assert "yet" not in told
    told = inspect(fixations(units="px", xy_origin="top-left"))["release"]
    assert "eyelid heatmap" not in told
    assert "`size=…`" in told


def test_samples_lead_to_features_and_to_a_heatmap_of_one_of_their_stimuli(simulated):
    told = inspect(simulated)["release"]
    assert "'eyelid features IN OUT" in told
    assert "'eyelid heatmap IN OUT --stimulus comic --level good --dry-run'" in told


@pytest.mark.parametrize(
    ("units", "words"), [(None, "--map units=px"), ("normalised", "--kind fixations")]
)
def test_gaze_on_no_picture_leads_to_no_heatmap(units, words):
    told = inspect(fixations(units=units))["release"]
    assert words in told
    assert "eyelid heatmap" not in told


def test_directions_lead_to_a_filter(simulated):
    data = simulated.data.rename({"x": "gaze_x", "y": "gaze_y"}).with_columns(gaze_z=pl.lit(1.0))
    told = inspect(replace(simulated, data=data))["release"]
    assert "eyelid features IN OUT --kind windows" in told
    assert "--mechanism sample --epsilon 4 --set window=30 --set radius=6" in told
    assert "no person as a whole" in told


def test_rows_that_stand_for_recordings_without_gaze_are_not_counted(tmp_path):
    samples = "".join(f"{10 * i},1,2\n" for i in range(50))
    (tmp_path / "P1.csv").write_text("time_ms,x,y\n" + samples)
    (tmp_path / "P2.csv").write_text("time_ms,x,y\n")
    found = inspect(read(tmp_path, "file={person},units=px"))
    assert (found["people"], found["recordings"], found["rows"]) == (2, 2, 50)
    assert found["duration_s"]["shortest"] == found["duration_s"]["longest"] == 0.49
    assert found["quality"]["missing_x"] == 0.0


def test_rates_that_differ_are_told_of_study_folders_too(tmp_path):
    fast = simulate(people=2, tasks=("comic",), minutes=0.1, rate_hz=60.0, seed=1)
    slow = (pl.col("person") == "P02") & (pl.int_range(pl.len()) % 2 == 1)
    write(fast.derive(data=fast.data.filter(~slow)), tmp_path / "study")
    found = inspect(read(tmp_path / "study"))
    assert "rates differ: 30 to 60 Hz" in found["notes"]
    assert "rates differ" not in " ".join(inspect(fast)["notes"])
