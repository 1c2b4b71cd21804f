import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.written import write_csv

from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.study import Feature, Origin, Screen, Study
from eyelid.io import read
from eyelid.spelling import spelt_alike

FACTS = (
    *("kind", "units", "rate_hz", "screen", "xy_origin", "pupil_unit", "features", "step_ms"),
    *("window_ms", "simulated", "released", "origin", "chosen"),
)


def written(study: Study, home: Path) -> Path:
    write_csv(study, home / "csv")
    return home / "csv"


def assert_same(again: Study, study: Study) -> None:
    for fact in FACTS:
        assert getattr(again, fact) == getattr(study, fact), fact
    assert (again.events is None) == (study.events is None)
    tables = [(again.data, study.data), (again.people, study.people)]
    tables += [] if study.events is None else [(again.events, study.events)]
    for here, there in tables:
        assert_frame_equal(here, there, check_exact=True)
        for name, dtype in there.schema.items():
            if dtype == pl.Float64:
                bits = [f[name].fill_null(0.0).to_numpy().view(np.uint64) for f in (here, there)]
                assert (bits[0] == bits[1]).all(), name


def samples(**facts) -> Study:
    rows = {
        "person": ["a", "a", "b"],
        "recording": ["1", "1", "1"],
        "task": ["read", "read", "read"],
        "stimulus": ["", "", ""],
        "time_ms": [0.0, 10.0, 0.0],
        "x": [1.0, None, 3.0],
        "y": [0.1, None, 0.3],
        "label_word": ["the", None, ""],
    }
    people = pl.DataFrame({"person": ["a", "b"], "age": [30, None]})
    return Study("samples", pl.DataFrame(rows), people, **{"units": "px"} | facts)


def test_the_simulated_study_is_read_again(tmp_path, simulated):
    assert_same(read(written(simulated, tmp_path)), simulated)


def test_features_keep_their_bounds_and_definitions(tmp_path, simulated):
    study = window_features(simulated).study()
    assert_same(read(written(study, tmp_path)), study)


def test_fixations_are_read_again(tmp_path):
    durations = pl.Series("duration_ms", [200.0, 0.1, 1e-300])
    study = samples().derive(kind="fixations", data=samples().data.with_columns(durations))
    assert_same(read(written(study, tmp_path)), study)


def test_the_origin_is_kept_and_the_ledger_is_not(tmp_path):
    folder = written(samples(origin=Origin("a person", tmp_path / "secret.ledger")), tmp_path)
    assert read(folder).origin == Origin("a person", None)
    assert all(b"secret" not in file.read_bytes() for file in folder.iterdir())


def test_the_map_is_one_that_can_be_said(tmp_path):
    study = samples(xy_origin="top-left", rate_hz=100.0, screen=Screen(800, 600))
    folder = written(study, tmp_path)
    data = shutil.copy(folder / "data.csv", tmp_path)
    again = read(data, map=folder / "map.toml")
    for fact in ("kind", "units", "xy_origin", "screen"):
        assert getattr(again, fact) == getattr(study, fact)
    assert_frame_equal(again.data.drop("label_word"), study.data.drop("label_word"))
    assert_frame_equal(again.people, study.people)


def test_what_somebody_says_besides_wins(tmp_path):
    folder = written(samples(screen=Screen(800, 600)), tmp_path)
    study = read(folder, map="units=deg,distance_m=0.7")
    assert (study.units, study.screen) == ("deg", Screen(800, 600, distance_m=0.7))


TEXTS = st.text(max_size=6) | st.sampled_from(
    ["", '"', '""', ",", "a,b", "\r\n", "\n", "\r", "\x7f", "\\u0041", "NaN", "null", "true", " a "]
)
VALUES = {
    pl.String: st.none() | TEXTS,
    pl.Float64: st.none() | st.floats(allow_nan=False),
    pl.Int64: st.none() | st.integers(-(2**63), 2**63 - 1),
    pl.UInt8: st.none() | st.integers(0, 255),
    pl.Float32: st.none() | st.floats(width=32, allow_nan=False),
    pl.Boolean: st.none() | st.booleans(),
}
BOUNDS = st.floats(allow_nan=False)


def random_table(draw, rows: int, first: dict[str, pl.Series], names) -> pl.DataFrame:
    """A table whose other columns have any names and types."""
    free = names.filter(lambda name: name not in RESERVED and '"' not in name)
    others = draw(st.lists(free, unique=True, max_size=4))
    columns = [series.alias(name) for name, series in first.items()]
    for name in others:
        dtype = draw(st.sampled_from(list(VALUES)))
        values = draw(st.lists(VALUES[dtype], min_size=rows, max_size=rows))
        columns.append(pl.Series(name, values, dtype))
    return pl.DataFrame(columns)


RESERVED = ("person", "recording", "task", "stimulus", "eye", "time_ms")


@st.composite
def studies(draw) -> Study:
    """Small studies of any kind, with columns of any name."""
    names = st.text("abcé\"',\n0", min_size=1, max_size=3).filter(str.strip)
    people = draw(st.lists(names, unique_by=spelt_alike, min_size=1))
    # Any clock, for a day or so.
    start, later = draw(st.floats(-1e6, 1e9)), st.lists(st.floats(0, 1e8), min_size=1, max_size=4)
    times = sorted({start + each for each in draw(later)})
    rows = len(people) * len(times)
    tasks = draw(st.lists(TEXTS, min_size=len(people), max_size=len(people)))
    keys = {
        "person": pl.Series([name for name in people for _ in times], dtype=pl.String),
        "recording": pl.Series([draw(TEXTS)] * rows, dtype=pl.String),
        "task": pl.Series([task for task in tasks for _ in times], dtype=pl.String),
        "time_ms": pl.Series(times * len(people), dtype=pl.Float64),
    }
    names = st.text(min_size=1, max_size=4) | st.sampled_from(
        ["x", "y", "pupil", "label_a", "label_é b"]
    )
    events = random_table(draw, 2, {"name": pl.Series(["fixation", "blink"])}, names)
    pixels, sizes = st.none() | st.integers(1, 9999), st.none() | st.floats(1e-300, 1e300)
    feature = st.builds(Feature, TEXTS, TEXTS, TEXTS, BOUNDS, BOUNDS)
    return Study(
        draw(st.sampled_from(["samples", "fixations", "features"])),
        random_table(draw, rows, keys, names),
        random_table(draw, len(people), {"person": pl.Series(people, dtype=pl.String)}, names),
        units=draw(st.sampled_from([None, "deg", "px", "fraction", "normalised"])),
        rate_hz=draw(st.none() | st.floats(1e-300, 1e300)),
        screen=draw(st.none() | st.builds(Screen, pixels, pixels, sizes, sizes, sizes)),
        xy_origin=draw(st.sampled_from([None, "top-left", "bottom-left", "centre"])),
        pupil_unit=draw(st.sampled_from([None, "mm", "px", "arbitrary"])),
        features=tuple(draw(st.lists(feature, max_size=2))),
        step_ms=draw(st.none() | BOUNDS),
        window_ms=draw(st.none() | BOUNDS),
        events=draw(st.sampled_from([None, events, events.clear()])),
        origin=draw(st.none() | st.builds(Origin, st.text(min_size=1))),
        simulated=draw(st.booleans()),
        released=draw(st.booleans()),
    )


@settings(max_examples=50)
@given(studies())
def test_any_study_is_read_again_as_it_was(study):
    with tempfile.TemporaryDirectory() as home:
        assert_same(read(written(study, Path(home))), study)


def test_a_table_that_csv_cannot_hold_is_refused(tmp_path):
    lists = pl.Series("z", [[1], [2], [3]])
    study = samples().derive(data=samples().data.with_columns(lists))
    with pytest.raises(InputError, match="csv cannot hold the table"):
        write_csv(study, tmp_path / "csv")
    assert not (tmp_path / "csv").exists()


def test_a_name_that_a_header_cannot_hold_is_refused(tmp_path):
    study = samples().derive(data=samples().data.rename({"label_word": 'label_"word"'}))
    with pytest.raises(InputError, match="cannot hold the name 'label_\"word\"': rename"):
        write_csv(study, tmp_path / "csv")


@pytest.fixture
def by_hand(tmp_path) -> Path:
    """Recordings of two people, and a map that a person wrote once."""
    (tmp_path / "map.toml").write_text(
        'units = "px"\ntime_unit = "s"\nfile = "{person}_{task}"\npeople = "who.csv"\n'
        '[columns]\ntime = "T"\nx = "X"\ny = "Y"\n[screen]\nwidth_px = 800\n'
    )
    (tmp_path / "who.csv").write_text("person,age\nann,30\n")
    for name in ("ann_read", "ann_look", "bob_read"):
        (tmp_path / f"{name}.csv").write_text("T,X,Y\n0,1,2\n0.5,3,4\n")
    return tmp_path


def test_recordings_are_read_with_the_map_beside_them(by_hand):
    study = read(by_hand)
    assert study.data["time_ms"].to_list() == [0.0, 500.0] * 3
    assert study.data.select("person", "task").unique(maintain_order=True).rows() == [
        ("ann", "look"),
        ("ann", "read"),
        ("bob", "read"),
    ]
    assert study.people.rows() == [("ann", 30), ("bob", None)]
    assert (study.units, study.screen) == ("px", Screen(800))


def test_what_somebody_says_wins_over_the_map_beside_the_recordings(by_hand):
    assert read(by_hand, map="time_unit=ms").data["time_ms"].to_list() == [0.0, 0.5] * 3


def test_a_data_csv_of_somebodys_own_is_a_recording(by_hand):
    for file in by_hand.glob("*_*.csv"):
        file.unlink()
    (by_hand / "map.toml").write_text('units = "px"\ntime_unit = "s"\n[columns]\ntime = "T"\n')
    (by_hand / "who.csv").unlink()
    (by_hand / "data.csv").write_text("T,x,y\n0,1,2\n")
    assert read(by_hand).data.select("person", "time_ms", "x").rows() == [("data", 0.0, 1.0)]


def test_a_map_without_recordings_is_named(tmp_path):
    (tmp_path / "map.toml").write_text('units = "px"\n')
    with pytest.raises(InputError, match="has no recordings"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("map.toml", "[study]", "[study", r"cannot read the column map .*map\.toml"),
        ("map.toml", 'kind = "samples"\nsimulated', 'kind = "songs"\nsimulated', "no kind 'songs'"),
        ("map.toml", "simulated = false", "", r"\[study\] is not as expected: KeyError"),
        ("map.toml", "features = []", "features = [1]", r"\[study\] is not as expected: TypeError"),
        ("map.toml", '"Float64"', '"Complex"', r"\[study\] is not as expected: KeyError"),
        ("map.toml", 'units = "px"', 'units = "inch"', "unknown units 'inch'"),
        ("map.toml", "[columns]", "columns = 1\n[study.a]", r"\[columns\] must be a table"),
        ("data.csv", "1.0,0.1", "left,0.1", r"data\.csv: row 1 of column 'x' is 'left', no number"),
        ("data.csv", "1.0,0.1", '",0.1', r"cannot read .*data\.csv"),
        ("data.csv", '3.0,0.3,""\n', "3.0", r"data\.csv ends in the middle of a line"),
        ("data.csv", "time_ms", "when", "the data have no column time_ms"),
        ("people.csv", "b,", "c,", "person b has data but no row in people"),
    ],
)
def test_what_is_wrong_with_a_folder_is_named(tmp_path, file, old, new, says):
    path = written(samples(), tmp_path) / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=says):
        read(path.parent)


def test_a_missing_table_is_named(tmp_path):
    folder = written(samples(), tmp_path)
    (folder / "people.csv").unlink()
    with pytest.raises(InputError, match=r"cannot read .*people\.csv"):
        read(folder)


@pytest.mark.parametrize("seed", range(150))
def test_a_damaged_folder_is_read_or_refused_in_one_line(tmp_path, seed):
    rng = random.Random(seed)
    folder = written(samples(screen=Screen(800, 600)), tmp_path)
    path = rng.choice(sorted(folder.iterdir()))
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(3):
            case 0:
                content[at : at + rng.randint(0, 1)] = bytes([rng.randrange(256)])
            case 1:
                del content[at : at + rng.randint(1, 20)]
            case 2:
                content[at:at] = rng.choice([b"\n", b",", b'"', b"[", b"1e999", b"=", b"{"])
    path.write_bytes(content)
    said = ""
    try:
        read(folder)
    except InputError as error:
        said = str(error)
    assert "\n" not in said
