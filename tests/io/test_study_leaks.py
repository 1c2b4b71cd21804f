"""What gives people away besides their gaze is taken out; gaze is left as it is."""

import pydoc

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.study import Study
from eyelid.io.leaks import are_plain_takes, is_code, leak_of_field, leaks_in_text
from eyelid.io.study_leaks import (
    excerpt_of,
    excerpt_of_events,
    findings,
    names_to_replace,
    planned,
    renamed,
    scrubbed,
)


def study_of(**columns):
    rows = {
        "person": ["1", "1", "2", "2", "3", "3"],
        "recording": ["r1"] * 6,
        "task": ["read"] * 6,
        "stimulus": ["page"] * 6,
        "time_ms": [0.0, 10.0] * 3,
        "x": [1.0, None, 3.0, 4.0, 5.0, 6.0],
    }
    people = columns.pop("people", {})
    data = pl.DataFrame(rows | columns)
    persons = data["person"].unique(maintain_order=True)
    return Study("samples", data, pl.DataFrame({"person": persons} | people), units="px")


def kinds(study):
    return {finding.what for finding in findings(study, "study")}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("mail ann.lee+x@uni-x.example now", "an e-mail address"),
        (r"D:\IDF\n3296\salmov1.idf", "a path"),
        (r"\\server\share\ann", "a path"),
        ("/home/ann/rec.edf", "a path"),
        ("Wed Oct 14 23:29:53 2015", "a date"),
        ("03.08.2009 11:50", "a date"),
        ("2021/07/13 09:21:09.801", "a date"),
        ("2024-01-31T10:00", "a date"),
        ("12 March 2020", "a date"),
        ("3rd of March, 2020", "a date"),
        ("03-MAR-20", "a date"),
        ("A2MJ8CN0P4XQ1Z", "a crowd worker's id"),
        ("5f3a9c0b1d2e4f5a6b7c8d9e", "a crowd worker's id"),
        ("0f8fad5b-d9cb-469f-a165-70867728950e", "a unique id"),
    ],
)
def test_free_text_gives_away(text, what):
    assert what in [kind for kind, _ in leaks_in_text(text)]


@pytest.mark.parametrize(
    "text",
    [
        "1.11.0",
        "edfapi 4.2.1197.0",
        "x/y",
        "10.5281/zenodo.17",
        "v5.04",
        "1920x1080",
        "3/4",
        "ABBA",
        "Gecko/20100101",
        "3 markers in 2020",
        "version 12 may 20",
    ],
)
def test_harmless_text_is_left_alone(text):
    assert list(leaks_in_text(text)) == []


@pytest.mark.parametrize(
    ("field", "what"),
    [
        ("Participant name", "a name"),
        ("Recording date", "a date or time of day"),
        ("Recording start time", "a date or time of day"),
        ("DeviceSerialNumber", "a serial number"),
        ("** SERIAL NUMBER", "a serial number"),
        ("Recording duration", "a precise recording length"),
        ("prolific_pid", "a crowd worker's id"),
        ("Geburtsdatum (TT.MM.JJJJ)", "a date or time of day"),
        ("IP Address", "an IP address"),
        ("Matrikelnummer", "a personal number"),
        ("IP_INDEX", None),
        ("nombre", None),
        ("x", None),
        ("task", None),
    ],
)
def test_fields_are_known_by_name(field, what):
    assert leak_of_field(field) == what


def test_codes_are_nobodys_names():
    assert all(is_code(name) for name in ["P01", "p1", "sub-12", "S_1002", "7", "participant 3"])
    assert all(is_code(name) for name in ["VP01", "vp_3", "ppt12", "Proband 4", "TN07"])
    assert not any(is_code(name) for name in ["ann", "TH34", "sergiu0", "msd001", "Y1", ""])


def test_a_recording_may_be_called_after_its_task():
    assert are_plain_takes(["comic"], ["comic"])
    assert are_plain_takes(["run-2"], [])
    assert not are_plain_takes(["anna_lee_2"], ["comic"])


def test_a_study_without_leaks_has_no_findings():
    assert kinds(study_of()) == set()


def test_a_simulated_study_has_no_findings(simulated):
    assert kinds(simulated) == set()


def test_clocks_start_at_zero_in_every_recording_and_events_with_them():
    start = 1.7e12
    study = study_of(time_ms=[start, start + 10, 50.0, 60.0, 0.0, 10.0])
    events = pl.DataFrame(
        {
            "person": ["1"],
            "recording": ["r1"],
            "name": ["fixation"],
            "onset_ms": [start + 2],
            "offset_ms": [start + 5],
            "duration_ms": [3.0],
        }
    )
    done = scrubbed(study.derive(events=events))
    assert done.data["time_ms"].to_list() == [0.0, 10.0] * 3
    assert done.events.row(0)[3:] == (2.0, 5.0, 3.0)
    assert done.data["x"].equals(study.data["x"])


def test_a_date_in_time_stamps_is_found():
    assert "a date or time of day" in kinds(study_of(time_ms=[1.7e12 + i for i in range(6)]))


def test_recordings_named_after_files_are_numbered():
    study = study_of(recording=["ann_lee_1", "ann_lee_1", "bob_1", "bob_1", "cyd", "cyd"])
    assert kinds(study) == {"names of recordings that say more than a number"}
    assert scrubbed(study).data["recording"].to_list() == ["r1"] * 6


@pytest.mark.parametrize("names", [("1", "2", "1"), ("r01", "r02", "r01")])
def test_numbers_that_count_from_one_for_each_person_say_nothing(names):
    """Most studies have more recordings of some people than of others."""
    study = study_of(
        person=["1", "1", "1", "1", "2", "2"], recording=[n for n in names for _ in "12"]
    )
    assert kinds(study) == set()


@pytest.mark.parametrize("names", [("1", "2", "3"), ("1", "3", "1"), ("a1", "b2", "a1")])
def test_numbers_that_tell_who_came_when_or_missed_what_are_counted_anew(names):
    study = study_of(
        person=["1", "1", "1", "1", "2", "2"], recording=[n for n in names for _ in "12"]
    )
    what = "names of recordings that say more than a number"
    if names[0] == "1":
        what = "numbers of recordings that not everybody has: they may tell who came when"
    assert kinds(study) == {what}
    done = scrubbed(study)
    assert done.data["recording"].to_list() == ["r1", "r1", "r2", "r2", "r1", "r1"]
    assert kinds(done) == set()


def test_paths_in_stimuli_become_their_last_part():
    study = study_of(stimulus=[r"d:\Pres\cups.bmp"] * 3 + [r"e:\Pres\cups.bmp"] * 3)
    assert kinds(study) == {"a path"}
    done = scrubbed(study)
    assert "cups" in set(done.data["stimulus"])
    assert done.data["stimulus"].n_unique() == 2
    assert kinds(done) == set()


def test_labels_and_attributes_of_everybodys_own_are_dropped():
    study = study_of(
        label_code=["a", "a", "b", "b", "c", "c"],
        label_event=["fixation", "saccade"] * 3,
        people={"age": [20, 30, 40], "gender": ["f", "m", "f"], "email": ["n/a"] * 3},
    )
    assert kinds(study) == {"something of every person's own", "an e-mail address"}
    done = scrubbed(study)
    assert done.labels == ["label_event"]
    assert done.people.columns == ["person", "gender"]


def test_two_people_may_differ():
    data = study_of().data.filter(pl.col("person") != "3")
    people = pl.DataFrame({"person": ["1", "2"], "age": [20, 30]})
    assert kinds(Study("samples", data, people)) == set()


def test_free_text_labels_with_leaks_are_dropped():
    study = study_of(label_note=["seen by ann@lab.example"] * 6)
    assert scrubbed(study).labels == []


def test_labels_that_are_called_names_are_dropped():
    """Two of three participants had the same first name, so that it was nobody's own."""
    study = study_of(label_Vorname=["Ann", "Ann", "Ann", "Ann", "Bo", "Bo"])
    assert kinds(study) == {"a name"}
    assert scrubbed(study).labels == []


def test_recordings_that_are_called_by_the_codes_of_participants_say_no_more():
    names = ["p1", "p1", "p2", "p2", "p3", "p3"]
    assert kinds(study_of(person=names, recording=names)) == set()
    others = ["p1", "p1", "p2", "p2", "p7", "p7"]
    assert kinds(study_of(person=names, recording=others))


def test_pseudonyms_come_in_their_own_order():
    study = study_of(person=["cyd", "cyd", "ann", "ann", "7", "7"])
    assert names_to_replace(study.people) == ["cyd", "ann"]
    done = renamed(study, {"cyd": "anon02", "ann": "anon01"})
    assert done.data["person"].unique(maintain_order=True).to_list() == ["7", "anon01", "anon02"]
    assert done.data.filter(pl.col("person") == "anon02")["x"].to_list() == [1.0, None]
    assert done.people["person"].to_list() == ["7", "anon01", "anon02"]


def test_many_people_and_as_many_stimuli_are_not_compared_one_by_one(monkeypatch):
    """Time grew with people times stimuli, and with recordings times stimuli."""
    count = 60
    names = [chr(97 + number % 26) + chr(97 + number // 26) for number in range(count)]
    rows = pl.DataFrame(
        {
            "person": [f"who{name}" for name in names],
            "recording": [f"take{name}" for name in names],
            "stimulus": [f"shown{name}" for name in names[:-1]] + ["a picture of Who_aa"],
            "time_ms": [0.0] * count,
        }
    )
    study = Study("samples", rows, rows.select("person"))
    calls = []
    for place in ("study_leaks._letters", "leaks._words"):
        plain = pydoc.locate(f"eyelid.io.{place}")

        def counted(name, plain=plain):
            calls.append(name)
            return plain(name)

        monkeypatch.setattr(f"eyelid.io.{place}", counted)
    found = [each.value for each in findings(study, "here") if each.where == "here, stimulus"]
    assert found == ["a picture of Who_aa"]
    assert len(calls) < 20 * count


TASKS = ["read", "watch", r"c:\tasks\annabel.psy", "2023-07-05"]
LABELS = {
    "label_text": ["fixation", "saccade", "by ann@x.example", "C:/data/x", None],
    "label_number": [None, 1.0, 2.0, 1.7e12, float("nan")],
}
row = st.tuples(
    st.sampled_from(["P1", "P2", "P3", "annabel"]),
    st.sampled_from(["r1", "annabel_1", "2"]),
    st.sampled_from(TASKS),
    st.sampled_from(TASKS),
    *[st.sampled_from(values) for values in LABELS.values()],
)


def of_rows(rows):
    names = ["person", "recording", "task", "stimulus", *LABELS]
    schema = dict.fromkeys(names, pl.String) | {"label_number": pl.Float64}
    data = pl.DataFrame(rows, schema, orient="row")
    data = data.with_columns(time_ms=pl.int_range(pl.len()).cast(pl.Float64))
    people = data.select("person").unique(maintain_order=True)
    return Study("samples", data, people, "px")


@given(st.lists(row, min_size=1, max_size=30), st.integers(0, 30))
def test_the_same_is_decided_and_found(rows, cut):
    study = of_rows(rows)
    data = study.data
    parts = [part for part in (data[:cut], data[cut:]) if len(part)]
    for some in (excerpt_of(data), pl.concat([excerpt_of(part) for part in parts])):
        assert planned(study.derive(data=some)) == planned(study)
        assert list(findings(study.derive(data=some), "s")) == list(findings(study, "s"))


@pytest.mark.parametrize("count", [10, 1000])
def test_it_does_not_grow_with_the_rows(count):
    rows = [("P1", "r1", "read", "", f"v{number}", float(number)) for number in range(count)]
    assert len(excerpt_of(of_rows(rows).data)) == 2


def test_every_name_of_an_event_is_there():
    events = pl.DataFrame({"name": ["a", "b", "a", None], "onset_ms": [1, 2, 3, 4]})
    assert excerpt_of_events(events)["onset_ms"].to_list() == [1, 2, 4]


def test_what_comes_late_is_seen():
    rows = [("P1", "r1", "read", "", f"v{number}", None) for number in range(300)]
    study = of_rows([*rows, ("P1", "r1", "read", "", "by ann@x.example", None)])
    assert "by ann@x.example" in excerpt_of(study.data)["label_text"].to_list()
    some = study.derive(data=excerpt_of(study.data))
    assert list(findings(some, "s")) == list(findings(study, "s")) != []
    events = pl.DataFrame({"name": [*["a", "b"] * 150, "ann"], "onset_ms": range(301)})
    assert excerpt_of_events(events)["name"].to_list() == ["a", "b", "ann"]
