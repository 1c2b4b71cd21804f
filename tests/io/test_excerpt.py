"""An excerpt says as much about what is to be scrubbed as all rows do."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.study import Study
from eyelid.io.excerpt import excerpt_of, excerpt_of_events
from eyelid.io.scrub import findings, planned

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


def study_of(rows):
    names = ["person", "recording", "task", "stimulus", *LABELS]
    schema = dict.fromkeys(names, pl.String) | {"label_number": pl.Float64}
    data = pl.DataFrame(rows, schema, orient="row")
    data = data.with_columns(time_ms=pl.int_range(pl.len()).cast(pl.Float64))
    people = data.select("person").unique(maintain_order=True)
    return Study("samples", data, people, "px")


@given(st.lists(row, min_size=1, max_size=30), st.integers(0, 30))
def test_the_same_is_decided_and_found(rows, cut):
    study = study_of(rows)
    data = study.data
    parts = [part for part in (data[:cut], data[cut:]) if len(part)]
    for some in (excerpt_of(data), pl.concat([excerpt_of(part) for part in parts])):
        assert planned(study.derive(data=some)) == planned(study)
        assert list(findings(study.derive(data=some), "s")) == list(findings(study, "s"))


@pytest.mark.parametrize("count", [10, 1000])
def test_it_does_not_grow_with_the_rows(count):
    rows = [("P1", "r1", "read", "", f"v{number}", float(number)) for number in range(count)]
    assert len(excerpt_of(study_of(rows).data)) == 2


def test_every_name_of_an_event_is_there():
    events = pl.DataFrame({"name": ["a", "b", "a", None], "onset_ms": [1, 2, 3, 4]})
    assert excerpt_of_events(events)["onset_ms"].to_list() == [1, 2, 4]


def test_what_comes_late_is_seen():
    rows = [("P1", "r1", "read", "", f"v{number}", None) for number in range(300)]
    study = study_of([*rows, ("P1", "r1", "read", "", "by ann@x.example", None)])
    assert "by ann@x.example" in excerpt_of(study.data)["label_text"].to_list()
    some = study.derive(data=excerpt_of(study.data))
    assert list(findings(some, "s")) == list(findings(study, "s")) != []
    events = pl.DataFrame({"name": [*["a", "b"] * 150, "ann"], "onset_ms": range(301)})
    assert excerpt_of_events(events)["name"].to_list() == ["a", "b", "ann"]
