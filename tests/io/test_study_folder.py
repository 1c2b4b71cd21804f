import json
import math
import os
import shutil

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.study import Study
from eyelid.io import (
    files as unpacking,
)
from eyelid.io import (
    read,
    write,
)
from eyelid.io.lint import lint
from eyelid.io.pieces import in_pieces
from eyelid.io.study_json import read_about
from eyelid.privacy import Ledger


def samples(**columns):
    rows = {"person": ["a", "a", "b"], "recording": ["1", "1", "1"], "time_ms": [0.0, 10.0, 0.0]}
    people = pl.DataFrame({"person": ["a", "b"]})
    return Study("samples", pl.DataFrame(rows | {"x": [1.0, None, 3.0]} | columns), people, "deg")


def test_what_is_written_is_read_again(tmp_path, simulated):
    write(simulated, tmp_path / "study")
    again = read(tmp_path / "study")
    assert_frame_equal(again.data, simulated.data)
    assert_frame_equal(again.people, simulated.people)
    assert_frame_equal(again.events, simulated.events)
    assert (again.units, again.rate_hz, again.screen) == (
        simulated.units,
        simulated.rate_hz,
        simulated.screen,
    )
    assert again.simulated


def test_features_keep_their_bounds_and_definitions(tmp_path, simulated_table):
    write(simulated_table.study(), tmp_path / "features")
    again = read(tmp_path / "features")
    assert again.features == simulated_table.features
    assert (again.step_ms, again.window_ms) == (500.0, 30_000.0)


def test_a_derived_study_inherits_origin_and_ledger(tmp_path, simulated):
    study = write(simulated, tmp_path / "study")
    write(window_features(study).study(), tmp_path / "deep" / "features")
    derived = read(tmp_path / "deep" / "features")
    assert derived.origin == read(tmp_path / "study").origin
    assert derived.origin.ledger == tmp_path / "study.ledger"
    about = json.loads((tmp_path / "deep" / "features" / "study.json").read_text())
    assert about["ledger"] == "../../study.ledger"


def test_a_family_of_studies_can_be_moved_together(tmp_path, simulated):
    study = write(simulated, tmp_path / "here" / "study")
    write(window_features(study).study(), tmp_path / "here" / "features")
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert read(tmp_path / "there" / "features").origin.ledger.exists()


def test_a_derived_study_of_a_lost_ledger_is_refused(tmp_path, simulated):
    study = write(simulated, tmp_path / "study")
    (tmp_path / "study.ledger").unlink()
    with pytest.raises(InputError, match="is missing: bring it back"):
        write(window_features(study).study(), tmp_path / "features")
    assert not (tmp_path / "features").exists()


@pytest.fixture
def by_hand(tmp_path, make_table):
    """A features study whose study.json knows no origin."""
    folder = tmp_path / "mine"
    write(make_table().study(), folder)
    (tmp_path / "mine.ledger").unlink()
    about = json.loads((folder / "study.json").read_text())
    del about["origin"], about["ledger"]
    (folder / "study.json").write_text(json.dumps(about))
    return folder


def test_reading_a_folder_written_by_hand_leaves_it_alone(by_hand):
    before = (by_hand / "study.json").read_text()
    assert read(by_hand).origin is None
    assert (by_hand / "study.json").read_text() == before
    assert not by_hand.with_name("mine.ledger").exists()


def test_the_first_release_gives_a_folder_written_by_hand_its_origin(by_hand, tmp_path):
    eyelid.release(by_hand, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    origin = read(by_hand).origin
    assert origin.ledger == tmp_path / "mine.ledger"
    shutil.move(by_hand, tmp_path / "renamed")
    eyelid.release(tmp_path / "renamed", tmp_path / "again", mechanism="laplace", epsilon=1.0)
    assert len(Ledger(tmp_path / "mine.ledger").debits(origin.id)) == 2


def test_a_ledger_of_choice_is_remembered_by_a_folder_written_by_hand(by_hand, tmp_path):
    where = tmp_path / "L"
    eyelid.release(by_hand, tmp_path / "out", mechanism="laplace", epsilon=1.0, ledger=where)
    eyelid.release(by_hand, tmp_path / "again", mechanism="laplace", epsilon=1.0)
    assert len(Ledger(where).debits(read(by_hand).origin.id)) == 2
    assert not (tmp_path / "mine.ledger").exists()


def test_an_origin_without_a_ledger_is_not_released_uncounted(by_hand, tmp_path):
    about = json.loads((by_hand / "study.json").read_text())
    (by_hand / "study.json").write_text(json.dumps(about | {"origin": "a person"}))
    with pytest.raises(InputError, match="name their origin and not its ledger"):
        eyelid.release(by_hand, tmp_path / "out", mechanism="laplace", epsilon=1.0)


def test_columns_that_may_be_left_out_are_filled_in(tmp_path):
    write(samples(), tmp_path / "s")
    assert read(tmp_path / "s").data.columns[-2:] == ["task", "stimulus"]


def test_rows_out_of_order_are_put_in_order(tmp_path):
    shuffled = samples()
    shuffled = shuffled.derive(data=shuffled.data[[2, 1, 0]])
    write(shuffled, tmp_path / "s")
    again = read(tmp_path / "s").data
    assert again["person"].to_list() == ["b", "a", "a"]
    assert again["time_ms"].to_list() == [0.0, 0.0, 10.0]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"time_ms": [0.0, 0.0, 0.0]}, "person a, recording 1 has more than one row at time_ms 0"),
        ({"time_ms": [0.0, None, 0.0]}, "time_ms has missing values"),
        ({"person": ["a", "a", "z"]}, "person z has data but no row in people.csv"),
    ],
    ids=["duplicate", "no time", "unknown person"],
)
def test_data_that_cannot_be_worked_with_are_named(tmp_path, columns, says):
    with pytest.raises(InputError, match=says):
        write(samples(**columns), tmp_path / "s")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_study_is_named(tmp_path):
    empty = samples().derive(data=samples().data.clear())
    with pytest.raises(InputError, match="the study is empty"):
        write(empty, tmp_path / "s")


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("study.json", "{", "cannot read"),
        ("study.json", "[]", "kind is one of"),
        ("study.json", '{"kind": "songs"}', "kind is one of"),
        ("study.json", '{"kind": "samples", "schema": "eyelid/study/9"}', "use the eyelid that"),
        ("study.json", '{"kind": "features", "features": [{"unit": "s"}]}', "not as expected"),
        ("data.parquet", "PAR1", "may be truncated"),
        ("data.parquet", None, "is missing"),
        ("people.csv", None, "is missing"),
        ("people.csv", "name\na\n", "no column person"),
    ],
)
def test_a_damaged_folder_is_named(tmp_path, file, content, says):
    write(samples(), tmp_path / "s")
    if content is None:
        (tmp_path / "s" / file).unlink()
    else:
        (tmp_path / "s" / file).write_text(content)
    with pytest.raises(InputError, match=says):
        read(tmp_path / "s")


def test_truncated_data_are_named(tmp_path):
    write(samples(), tmp_path / "s")
    data = tmp_path / "s" / "data.parquet"
    data.write_bytes(data.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"data\.parquet: .* it may be truncated"):
        read(tmp_path / "s")


def test_something_that_is_no_study_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match="is no recording in a format"):
        read(tmp_path / "notes.txt")


HOSTILE = [
    ("units", True),
    ("units", {"a": 1}),
    ("units", "furlong"),
    ("xy_origin", []),
    ("pupil_unit", 1),
    ("rate_hz", [1]),
    ("rate_hz", 0),
    ("rate_hz", True),
    ("rate_hz", math.inf),
    ("rate_hz", 10**400),
    ("screen", [1]),
    ("screen", {"distance_m": "x"}),
    ("screen", {"width_px": 1.5}),
    ("screen", {"depth": 1}),
    ("step_ms", math.nan),
    ("window_ms", -1),
    ("planned_ms", 1e308),
    ("planned_rows", 10**18),
    ("features", {"name": "a"}),
    ("features", [{"lower": 0}]),
    ("features", [{"name": "a", "lower": 10**400}]),
    ("features", [{"name": "a", "lower": "0"}]),
    ("features", [{"name": "a", "lower": 2, "upper": 1}]),
    ("features", [{"name": "\ud800"}]),
    ("features", [{"name": "a"}, {"name": "a"}]),
    ("parts", {"file": "a"}),
    ("parts", [1]),
    ("parts", [{"file": 1, "sha256": "a"}]),
    ("origin", ["a"]),
    ("origin", "a" * 100_000),
    ("ledger", 1),
    ("ledger", "a\0b"),
    ("released", "no"),
    ("simulated", 1),
]


@pytest.mark.parametrize(("key", "value"), HOSTILE)
def test_a_study_json_of_other_types_is_one_line(tmp_path, key, value):
    write(samples(), tmp_path / "s")
    about = json.loads((tmp_path / "s" / "study.json").read_text())
    (tmp_path / "s" / "study.json").write_text(json.dumps(about | {key: value}))
    for reading in (read, in_pieces):
        with pytest.raises(InputError, match=rf"study\.json is not as expected: {key}") as refused:
            reading(tmp_path / "s")
        assert len(str(refused.value)) < len(str(tmp_path)) + 250
        assert str(refused.value).isprintable()


NUMBERS = st.floats() | st.integers(-(10**400), 10**400)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5) | st.sampled_from(["px", "deg"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
KEYS = sorted({key for key, _ in HOSTILE} | {"schema", "kind", "labels"})


@given(said=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3))
def test_any_study_json_is_a_study_or_one_line(tmp_path_factory, said):
    file = tmp_path_factory.mktemp("any") / "study.json"
    file.write_text(json.dumps({"kind": "samples"} | said))
    reason = ""
    try:
        read_about(file)
    except InputError as error:
        reason = str(error)
    assert "\n" not in reason


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("place", ["data.parquet", "data.parquet/a.parquet"])
@pytest.mark.parametrize("what", ["pipe", "device"])
def test_a_part_that_is_no_file_is_not_waited_for(tmp_path, listed, place, what):
    write(samples(), tmp_path / "s")
    (tmp_path / "s" / "data.parquet").unlink()
    part = tmp_path / "s" / place
    part.parent.mkdir(exist_ok=True)
    os.mkfifo(part) if what == "pipe" else part.symlink_to("/dev/zero")
    if listed:
        about = json.loads((tmp_path / "s" / "study.json").read_text())
        about["parts"] = [{"file": place, "sha256": "0" * 64, "rows": 1}]
        (tmp_path / "s" / "study.json").write_text(json.dumps(about))
    for reading in (read, in_pieces, lint):
        with pytest.raises(InputError, match="it is no file"):
            reading(tmp_path / "s")


def test_events_that_are_a_pipe_are_not_waited_for(tmp_path):
    write(samples(), tmp_path / "s")
    os.mkfifo(tmp_path / "s" / "events.parquet")
    with pytest.raises(InputError, match="it is no file"):
        read(tmp_path / "s")
    cut = in_pieces(tmp_path / "s")
    with pytest.raises(InputError, match="it is no file"):
        cut.pieces[0].read(cut.head, events=True)


@pytest.mark.parametrize("what", ["pipe", "device"])
def test_a_certificate_that_is_no_file_does_not_hang_lint(tmp_path, what):
    write(samples(), tmp_path / "s")
    certificate = tmp_path / "s" / "certificate.json"
    os.mkfifo(certificate) if what == "pipe" else certificate.symlink_to("/dev/zero")
    assert isinstance(lint(tmp_path / "s"), list)


def test_people_of_many_columns_and_short_rows_are_refused(tmp_path, monkeypatch):
    write(samples(), tmp_path / "s")
    header = "person" + "".join(f",c{number}" for number in range(500))
    rows = "".join(f"P{number}\n" for number in range(500))
    (tmp_path / "s" / "people.csv").write_text(f"{header}\n{rows}")
    monkeypatch.setattr(unpacking, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(unpacking, "_CELLS_ALWAYS", 1 << 20)
    with pytest.raises(InputError, match="501 columns are mostly empty"):
        read(tmp_path / "s")
