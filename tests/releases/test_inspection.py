import polars as pl

from eyelid.releases.inspection import inspect


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
