import gzip
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.written import write_bids

from eyelid.errors import InputError
from eyelid.gaze.geometry import direction
from eyelid.gaze.study import Feature, Origin, Screen, Study
from eyelid.io import read
from eyelid.io.bids.entities import labels
from eyelid.io.bids.sidecars import Sidecars
from eyelid.spelling import spelt_alike

# What only the people of a study could say.
NOBODY_KNOWS = {
    *("License", "HEDVersion", "SourceDatasets", "Authors"),
    *("CogAtlasID", "CogPOID", "Instructions", "TaskDescription"),
    *("InstitutionName", "InstitutionAddress", "InstitutionalDepartmentName"),
}
FACTS = ("kind", "units", "rate_hz", "screen", "xy_origin", "pupil_unit", "simulated", "released")


def written(study: Study, home: Path) -> Path:
    write_bids(study, home / "bids")
    return home / "bids"


def assert_same(again: Study, study: Study) -> None:
    for fact in FACTS:
        assert getattr(again, fact) == getattr(study, fact), fact
    assert_frame_equal(again.people, study.people, check_exact=True)
    assert_same_bits(again.data, study.data)
    assert (again.events is None) == (study.events is None)
    if study.events is not None:
        assert_same_bits(again.events, study.events)


def assert_same_bits(again: pl.DataFrame, frame: pl.DataFrame) -> None:
    """Equal to the last bit, zeros with their signs."""
    assert_frame_equal(again, frame, check_exact=True)
    for name, dtype in frame.schema.items():
        if dtype == pl.Float64:
            bits = [f[name].fill_null(0.0).to_numpy().view(np.uint64) for f in (again, frame)]
            assert (bits[0] == bits[1]).all(), name


def samples(**changes) -> Study:
    """Two people with a comic each, the second one twice."""
    rows = {
        "person": ["P1"] * 3 + ["P2"] * 6,
        "recording": ["a"] * 3 + ["a"] * 3 + ["b"] * 3,
        "task": ["comic"] * 9,
        "stimulus": ["page"] * 9,
        "time_ms": [0.0, 2.0, 4.0] * 3,
        "x": [1.5, None, 3.5] * 3,
        "y": [0.5, None, 0.25] * 3,
    }
    facts = {"units": "px", "rate_hz": 500.0, "xy_origin": "top-left"} | changes
    columns = facts.pop("columns", {})
    return Study(
        "samples", pl.DataFrame(rows | columns), pl.DataFrame({"person": ["P1", "P2"]}), **facts
    )


def binocular() -> Study:
    one = samples(pupil_unit="arbitrary", screen=Screen(800, 600, 0.4, 0.3, 0.6))
    eyes = [
        one.data.with_columns(pl.lit(eye).alias("eye"), pl.lit(size).alias("pupil"))
        for eye, size in (("left", 3.0), ("right", 4.0))
    ]
    data = pl.concat(eyes).sort("person", "recording", "eye", maintain_order=True)
    leading = ["person", "recording", "task", "stimulus", "time_ms", "eye"]
    return one.derive(data=data.select(*leading, pl.exclude(leading)))


def directions() -> Study:
    vector = direction(np.linspace(-30, 30, 9), np.linspace(5, -5, 9))
    columns = dict(zip(("gaze_x", "gaze_y", "gaze_z"), vector, strict=True))
    study = samples(units=None, xy_origin=None, columns=columns)
    return study.derive(data=study.data.drop("x", "y"))


def simulated_slice(simulated: Study) -> Study:
    people = simulated.people["person"].head(2).to_list()
    few = pl.col("person").is_in(people) & (pl.col("recording") != "textbook")
    return simulated.derive(
        data=simulated.data.filter(few & (pl.col("time_ms") < 2000)),
        events=simulated.events.filter(few & (pl.col("onset_ms") < 2000)),
        people=simulated.people.head(2),
    )


CASES = {
    "pixels": samples(),
    "pixels, whole geometry": samples(screen=Screen(800, 600, 0.4, 0.3, 0.6)),
    "pixels, some geometry": samples(screen=Screen(width_px=800, height_px=600)),
    "pixels, one side": samples(screen=Screen(width_px=800, distance_m=0.6)),
    "pixels from nobody knows where": samples(xy_origin=None),
    "binocular": binocular(),
    "fractions": samples(units="fraction", xy_origin="bottom-left"),
    "degrees from the centre": samples(units="deg", xy_origin="centre", rate_hz=None),
    "eye camera": samples(units="normalised", xy_origin=None, columns={"confidence": [0.5] * 9}),
    "directions": directions(),
    "released": samples(released=True),
    "odd names": samples(
        columns={
            "task": ["a b"] * 3 + ["ab"] * 3 + [""] * 3,
            "stimulus": [*"aabbcc", "\t", "", "n/a"],
        }
    ),
}


@pytest.fixture(scope="session")
def validate():
    """The complaints of the official validator, but for what nobody can know."""
    pytest.importorskip("bids_validator_deno", reason="needs bids-validator-deno")

    def run(folder: Path) -> list[tuple[str, ...]]:
        code = "import sys; from bids_validator_deno import cli; cli()"
        done = subprocess.run(
            [sys.executable, "-c", code, "--format", "json", "--max-rows", "-1", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        issues = json.loads(done.stdout)["issues"]["issues"]
        return [
            (issue["severity"], issue["code"], issue.get("subCode", ""), issue.get("location", ""))
            for issue in issues
            if issue["severity"] == "error"
            or (issue.get("subCode") not in NOBODY_KNOWS and issue["code"] != "TOO_FEW_AUTHORS")
        ]

    return run


@pytest.mark.parametrize("study", CASES.values(), ids=CASES)
def test_the_validator_has_no_complaints(tmp_path, validate, study):
    assert validate(written(study, tmp_path)) == []


def test_the_validator_has_no_complaints_about_the_simulated_study(tmp_path, validate, simulated):
    assert validate(written(simulated_slice(simulated), tmp_path)) == []


def test_the_validator_would_complain(tmp_path, validate):
    folder = written(samples(), tmp_path)
    next(folder.rglob("sub-P1*_events.json")).unlink()
    assert "INCOMPLETE_STIMULUS_PRESENTATION" in {code for _, code, *_ in validate(folder)}


@pytest.mark.parametrize("study", CASES.values(), ids=CASES)
def test_what_is_written_is_read_again(tmp_path, study):
    assert_same(read(written(study, tmp_path)), study)


def test_the_simulated_study_is_read_again(tmp_path, simulated):
    study = simulated_slice(simulated)
    again = read(written(study, tmp_path))
    assert_same(again, study)
    assert again.notes == ()


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=5) | st.sampled_from(
    ["n/a", "", '"', '""', "\\", "true", "1", "\t", "nan"]
)
NAMES = st.text("aA1 _-/é\n", min_size=1, max_size=3).filter(str.strip)
VALUES = {
    pl.String: st.none() | TEXTS,
    pl.Float64: st.none() | NUMBERS,
    pl.Int64: st.none() | st.integers(-(2**63), 2**63 - 1),
    pl.Boolean: st.none() | st.booleans(),
}
LEADING = ("person", "recording", "task", "stimulus", "time_ms", "eye")
MEASURED = (
    *(("x", "y"), ("pupil",), ("confidence",), ("gaze_x", "gaze_y", "gaze_z")),
    *(("head_x", "head_y", "head_z"), ("head_roll_deg",), ("velocity",)),
)
EVENTS = {"name": pl.String} | dict.fromkeys(("onset_ms", "offset_ms", "duration_ms"), pl.Float64)


def column(draw, name: str, dtype, rows: int) -> pl.Series:
    return pl.Series(name, draw(st.lists(VALUES[dtype], min_size=rows, max_size=rows)), dtype)


def random_columns(draw, names, rows: int) -> list[pl.Series]:
    chosen = draw(st.lists(st.sampled_from(names), unique=True))
    return [column(draw, name, draw(st.sampled_from(list(VALUES))), rows) for name in chosen]


@st.composite
def studies(draw) -> Study:
    """Small studies of samples, with everything that can be in one."""
    people = draw(st.lists(NAMES, unique_by=spelt_alike, min_size=1, max_size=3))
    known_eyes = st.sampled_from(["left", "right", "cyclopean", ""])
    eyes = draw(st.none() | st.lists(known_eyes, unique=True, min_size=1))
    # Any clock, for a day or so.
    later = st.lists(st.floats(0, 1e8), min_size=1, max_size=4)
    times = st.builds(
        lambda start, later: sorted({start + each for each in later}), st.floats(-1e6, 1e9), later
    )
    rows, events = [], []
    for person in people[: draw(st.integers(1, len(people)))]:
        for recording in draw(st.lists(TEXTS, unique=True, min_size=1, max_size=2)):
            task, stimulus, changing = draw(TEXTS), draw(TEXTS), draw(st.booleans())
            for eye in eyes or [None]:
                for time in draw(times):
                    here = draw(TEXTS) if changing else stimulus
                    rows.append((person, recording, task, here, time, eye))
                for _ in range(draw(st.integers(0, 2))):
                    numbers = draw(st.tuples(NUMBERS, NUMBERS, NUMBERS))
                    events.append((person, recording, draw(TEXTS), *numbers, eye))
    texts = dict.fromkeys(LEADING, pl.String)
    data = pl.DataFrame(rows, schema=texts | {"time_ms": pl.Float64}, orient="row")
    groups = draw(st.sets(st.sampled_from(MEASURED)))
    measured = [name for group in MEASURED if group in groups for name in group]
    data = data.with_columns(
        *[column(draw, name, pl.Float64, len(data)) for name in measured],
        *random_columns(draw, ["label_a", "label_b c", "label_é"], len(data)),
    )
    keys = dict.fromkeys(("person", "recording"), pl.String)
    happened = pl.DataFrame(events, schema=keys | EVENTS | {"eye": pl.String}, orient="row")
    if eyes is None:
        data = data.drop("eye")
    if eyes is None or draw(st.booleans()):
        happened = happened.drop("eye")
    attributes = random_columns(draw, ["age", "sex", "Group, or so", "a\tb"], len(people))
    sizes = st.none() | st.floats(0.01, 20)
    pixels = st.none() | st.integers(1, 10_000)
    return Study(
        "samples",
        data,
        pl.DataFrame([pl.Series("person", people, pl.String), *attributes]),
        units=draw(st.sampled_from([None, "deg", "px", "fraction", "normalised"])),
        rate_hz=draw(st.none() | st.floats(0.1, 5000)),
        screen=draw(st.none() | st.builds(Screen, pixels, pixels, sizes, sizes, sizes)),
        xy_origin=draw(st.sampled_from([None, "top-left", "bottom-left", "centre"])),
        pupil_unit=draw(st.sampled_from([None, "mm", "px", "arbitrary"])),
        events=happened if events else None,
        simulated=draw(st.booleans()),
        released=draw(st.booleans()),
    )


@settings(max_examples=50)
@given(studies())
def test_any_study_of_samples_is_read_again_as_it_was(study):
    with tempfile.TemporaryDirectory() as home:
        assert_same(read(written(study, Path(home))), study)


@given(st.lists(st.text(max_size=4), unique=True))
def test_labels_tell_names_apart_also_where_capitals_do_not_count(names):
    given_labels = labels(names, "person")
    assert set(given_labels) == set(names)
    assert len({label.lower() for label in given_labels.values()}) == len(names)
    assert all(label.isascii() and label.isalnum() for label in given_labels.values())


def test_the_same_study_gives_the_same_bytes(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        write_bids(binocular(), folder)
    for file in first.rglob("*.*"):
        assert file.read_bytes() == (second / file.relative_to(first)).read_bytes()


def test_the_origin_is_kept_and_the_ledger_is_not(tmp_path):
    study = samples(origin=Origin("a person", tmp_path / "secret.ledger"))
    folder = written(study, tmp_path)
    assert read(folder).origin == Origin("a person", None)
    assert all(b"secret" not in file.read_bytes() for file in folder.rglob("*.*"))


@pytest.mark.parametrize("kind", ["fixations", "features"])
def test_what_has_no_place_in_bids_is_refused(tmp_path, kind):
    feature = (Feature("x", "px", "x", 0.0, 1.0),)
    study = samples(features=feature).derive(kind=kind)
    with pytest.raises(
        InputError, match=f"none for {kind}: write them with --to study or --to csv"
    ):
        write_bids(study, tmp_path / "bids")
    assert list(tmp_path.iterdir()) == []


def test_a_column_that_bids_needs_for_itself_is_refused(tmp_path):
    with pytest.raises(InputError, match="BIDS needs the name 'timestamp' for something else"):
        write_bids(samples(columns={"timestamp": [0] * 9}), tmp_path / "bids")
    assert not (tmp_path / "bids").exists()


def test_a_release_is_a_derivative_of_something_that_is_not_public(tmp_path):
    folder = written(samples(released=True), tmp_path)
    about = json.loads((folder / "dataset_description.json").read_text())
    assert about["DatasetType"] == "derivative"
    assert about["GeneratedBy"][0]["Name"] == "eyelid"
    assert about["SourceDatasets"] == [{"Version": "not public"}]


def test_directions_have_angles_for_whoever_wants_x_and_y(tmp_path):
    folder = written(directions(), tmp_path)
    sidecar = json.loads(next(folder.rglob("sub-P1*_physio.json")).read_text())
    assert sidecar["SampleCoordinateSystem"] == "eye-in-head"
    rows = gzip.decompress(next(folder.rglob("sub-P1*_physio.tsv.gz")).read_bytes()).decode()
    _, azimuth, elevation, *_ = rows.splitlines()[0].split("\t")
    assert (float(azimuth), float(elevation)) == pytest.approx((-30.0, 5.0))


def test_what_is_not_finite_is_missing(tmp_path):
    study = samples(columns={"x": [np.nan, np.inf, 1.0] * 3})
    assert read(written(study, tmp_path)).data["x"].to_list() == [None, None, 1.0] * 3


def test_a_time_that_is_not_finite_is_refused(tmp_path):
    with pytest.raises(InputError, match="at time_ms nan: that is no time"):
        write_bids(samples(columns={"time_ms": [np.nan] * 9}), tmp_path / "bids")


def test_people_without_recordings_keep_their_attributes(tmp_path):
    people = pl.DataFrame({"person": ["nobody", "P1", "P2"], "glasses": [True, None, False]})
    again = read(written(samples().derive(people=people), tmp_path))
    assert_frame_equal(again.people, people)


def test_events_of_recordings_without_samples_are_left_out(tmp_path):
    rows = {"person": ["P1", "P9"], "recording": ["a", "a"], "name": ["fixation"] * 2}
    times = {"onset_ms": [0.0, 1.0], "offset_ms": [1.0, 2.0], "duration_ms": [1.0, 1.0]}
    again = read(written(samples(events=pl.DataFrame(rows | times)), tmp_path))
    assert again.events["person"].to_list() == ["P1"]


class Foreign:
    """A dataset as other tools write it: sessions, inherited sidecars, seconds."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.json("dataset_description.json", {"Name": "x", "BIDSVersion": "1.11.1"})
        self.json(
            "task-rest_physio.json",
            {
                "PhysioType": "eyetrack",
                "SamplingFrequency": 100,
                "SampleCoordinateSystem": "gaze-on-screen",
                "Columns": ["timestamp", "x_coordinate", "y_coordinate", "pupil_size", "trigger"],
                "timestamp": {"Units": "s"},
                "x_coordinate": {"Units": "pixel"},
                "y_coordinate": {"Units": "pixel"},
                "pupil_size": {"Description": "Pupil area", "Units": "a.u."},
            },
        )
        self.json(
            "task-rest_events.json",
            {
                "StimulusPresentation": {
                    "ScreenDistance": 0.6,
                    "ScreenOrigin": ["top", "left"],
                    "ScreenResolution": [800, 600],
                    "ScreenSize": [0.4, 0.3],
                }
            },
        )
        (root / "participants.tsv").write_text(
            'participant_id\tage\tnote\nsub-02\tn/a\t"a""b"\nsub-01\t30\tc\n'
        )
        self.eye("01", "1", "1", "Left")
        self.eye("01", "1", "2", "RIGHT")
        self.eye("02", "2", "1", "left")

    def json(self, name: str, content: object) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(json.dumps(content))

    def stem(self, person: str, session: str, eye: str) -> str:
        folder = f"sub-{person}/ses-{session}/func"
        return f"{folder}/sub-{person}_ses-{session}_task-rest_recording-eye{eye}"

    def eye(self, person: str, session: str, eye: str, recorded: str) -> None:
        stem = self.stem(person, session, eye)
        self.json(f"{stem}_physio.json", {"RecordedEye": recorded, "StartTime": 5})
        rows = "5.00\t1.5\t2.5\t900\t0\n5.01\tn/a\tn/a\tNaN\t0\n5.02\t3.5\t4.5\t901\t1\n"
        self.table(f"{stem}_physio.tsv.gz", rows)

    def table(self, name: str, rows: str) -> None:
        content = rows.encode()
        path = self.root / name
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.fixture
def foreign(tmp_path) -> Foreign:
    (tmp_path / "theirs").mkdir()
    return Foreign(tmp_path / "theirs")


def test_a_dataset_of_another_tool_is_read(foreign):
    study = read(foreign.root)
    assert study.data.select("person", "recording", "eye").unique(maintain_order=True).rows() == [
        ("01", "ses-1_rest", "left"),
        ("01", "ses-1_rest", "right"),
        ("02", "ses-2_rest", "left"),
    ]
    assert study.data["task"].unique().to_list() == ["rest"]
    assert study.data["time_ms"].head(3).to_list() == [5000.0, 5010.0, 5020.0]
    assert study.data["x"].head(3).to_list() == [1.5, None, 3.5]
    assert study.data["pupil"].head(3).to_list() == [900.0, None, 901.0]
    assert (study.units, study.rate_hz, study.xy_origin) == ("px", 100.0, "top-left")
    assert study.screen == Screen(800, 600, 0.4, 0.3, 0.6)
    assert study.pupil_unit == "arbitrary"
    assert study.people.rows() == [("02", None, 'a"b'), ("01", 30, "c")]
    assert study.notes == ("columns left out: trigger",)
    assert not study.released


def test_what_somebody_says_wins_over_the_sidecars(foreign):
    said = "time_unit=ms,units=deg,rate_hz=50,distance_m=1,lost=1.5,label_pulse=trigger"
    study = read(foreign.root, map=said)
    assert study.data["time_ms"].head(3).to_list() == [5.0, 5.01, 5.02]
    assert study.data["x"].head(3).to_list() == [None, None, 3.5]
    assert study.data["label_pulse"].head(3).to_list() == ["0", "0", "1"]
    assert (study.units, study.screen.distance_m, study.screen.width_px) == ("deg", 1.0, 800)


@pytest.mark.parametrize(
    ("units", "rate", "time_ms", "note"),
    [
        ({"Units": "ms"}, 100, 5.01, None),
        ({"Units": "µs"}, 100, 0.00501, None),
        ({}, 100, 5010.0, "time stamps without a unit are in s, by their rate"),
        ({}, 100_000, 5.01, "time stamps without a unit are in ms, by their rate"),
        ({"Units": "ticks"}, 7, 5010.0, "time stamps without a unit were taken for s"),
    ],
)
def test_time_stamps_are_in_their_unit_or_in_that_of_the_rate(foreign, units, rate, time_ms, note):
    sidecar = json.loads((foreign.root / "task-rest_physio.json").read_text())
    foreign.json("task-rest_physio.json", sidecar | {"timestamp": units, "SamplingFrequency": rate})
    study = read(foreign.root)
    assert study.data["time_ms"][1] == pytest.approx(time_ms)
    assert note is None or any(said.startswith(note) for said in study.notes)


def test_other_recordings_are_passed_over(foreign):
    stem = "sub-01/ses-1/func/sub-01_ses-1_task-rest_recording-cardiac"
    foreign.json(f"{stem}_physio.json", {"PhysioType": "generic", "Columns": ["cardiac"]})
    foreign.table(f"{stem}_physio.tsv.gz", "1\n2\n")
    (foreign.root / "sub-01/ses-1/func/sub-01_ses-1_task-rest_bold.json").write_text("{")
    foreign.json("derivatives/sub-01/func/x_eyetrack.json", {})
    foreign.table("derivatives/sub-01/func/x_eyetrack.tsv", "a\n")
    assert len(read(foreign.root).data) == 9


def test_events_of_another_tool_are_read_and_its_messages_are_not(foreign):
    foreign.json(
        "task-rest_physioevents.json",
        {"Columns": ["onset", "duration", "trial_type", "message"], "OnsetSource": "timestamp"},
    )
    rows = "5.0\t0.015\tfixation\tn/a\n5.01\tn/a\tn/a\tANN SITS DOWN\n"
    foreign.table(f"{foreign.stem('01', '1', '2')}_physioevents.tsv.gz", rows)
    events = read(foreign.root).events
    assert events.rows() == [("01", "ses-1_rest", "fixation", 5000.0, 5015.0, 15.0, "right")]


def test_durations_in_the_ticks_of_the_clock_are_known_by_their_length(foreign):
    foreign.json(
        "task-rest_physio.json",
        {
            **json.loads((foreign.root / "task-rest_physio.json").read_text()),
            "timestamp": {"Units": "ms"},
        },
    )
    foreign.json("task-rest_physioevents.json", {"Columns": ["onset", "duration", "trial_type"]})
    rows = "5.0\t0.015\tfixation\n"
    foreign.table(f"{foreign.stem('01', '1', '2')}_physioevents.tsv", rows)
    assert read(foreign.root).events["duration_ms"].to_list() == [0.015]


def test_the_nearest_sidecar_is_right(foreign):
    foreign.json("sub-01/ses-1/ses-1_task-rest_physio.json", {"SamplingFrequency": 99})
    foreign.json("sub-01/ses-1/ses-2_task-rest_physio.json", {"Columns": ["nothing"]})
    foreign.json("sub-01/sub-01_physio.json", {"SamplingFrequency": 1, "RecordedEye": "cyclopean"})
    study = read(foreign.root)
    assert study.data["eye"].unique(maintain_order=True).to_list() == ["left", "right"]
    assert study.rate_hz in (99.0, 99.5)


def test_a_file_that_is_not_packed_or_has_a_header_is_read_too(foreign):
    stem = foreign.stem("02", "2", "1")
    (foreign.root / f"{stem}_physio.tsv.gz").unlink()
    header = "timestamp\tx_coordinate\ty_coordinate\tpupil_size\ttrigger\r\n"
    foreign.table(f"{stem}_physio.tsv", header + "5\t1\t2\t3\t4\r\n")
    assert read(foreign.root).data.filter(person="02").select("x", "y").rows() == [(1.0, 2.0)]


def test_a_screen_in_centimetres_is_left_out(foreign):
    shown = {"ScreenDistance": 60, "ScreenSize": [40, 30], "ScreenResolution": [800, 600]}
    foreign.json("task-rest_events.json", {"StimulusPresentation": shown})
    study = read(foreign.root)
    assert study.screen == Screen(800, 600)
    assert any(
        note.startswith("ScreenDistance is 60, where BIDS has metres") for note in study.notes
    )


def test_a_draft_of_the_standard_with_both_eyes_in_one_file_is_read(tmp_path):
    (tmp_path / "dataset_description.json").write_text('{"Name": "x", "BIDSVersion": "1.8.0"}')
    home = tmp_path / "sub-7" / "eeg"
    home.mkdir(parents=True)
    sidecar = {
        "SamplingFrequency": 500,
        "SampleCoordinateUnits": "pixel",
        "EnvironmentCoordinates": "top-left",
        "RecordedEye": "Both",
        "ScreenResolution": [1024, 768],
    }
    (home / "sub-7_task-read_run-2_eyetrack.json").write_text(json.dumps(sidecar))
    names = ["eye_timestamp", *(f"eye{n}_{c}_coordinate" for n in (1, 2) for c in "xy")]
    (home / "sub-7_task-read_run-2_eyetrack.tsv").write_text(
        "\t".join(names) + "\n100\t1\t2\t3\t4\n102\t5\t6\t.\t.\n"
    )
    study = read(tmp_path)
    assert study.data.select("eye", "time_ms", "x", "y").rows() == [
        ("left", 100.0, 1.0, 2.0),
        ("left", 102.0, 5.0, 6.0),
        ("right", 100.0, 3.0, 4.0),
        ("right", 102.0, None, None),
    ]
    assert study.data["recording"][0] == "read_run-2"
    assert (study.units, study.xy_origin, study.screen) == ("px", "top-left", Screen(1024, 768))
    assert study.people.rows() == [("7",)]


def changed(foreign: Foreign, **keys) -> None:
    foreign.json(
        "task-rest_physio.json",
        json.loads((foreign.root / "task-rest_physio.json").read_text()) | keys,
    )


def damage(foreign: Foreign, how: str) -> None:
    table = f"{foreign.stem('02', '2', '1')}_physio.tsv.gz"
    path = foreign.root / table
    match how:
        case "no sidecar":
            for sidecar in foreign.root.rglob("*_physio.json"):
                sidecar.unlink()
        case "truncated":
            path.write_bytes(path.read_bytes()[:-9])
        case "not packed":
            path.write_bytes(b"\x1f\x8bnonsense")
        case "too few columns":
            foreign.table(table, "1\t2\t3\t4\n")
        case "too many columns":
            foreign.table(table, "1\t2\t3\t4\t5\t6\n")
        case "ends early":
            foreign.table(table, "1\t2\t3\t4\t5\n2\t3\n")
        case "a word":
            foreign.table(table, "1\t2\t3\t4\t5\n2\tleft\t3\t4\t5\n")
        case "no time":
            foreign.table(table, "1\t2\t3\t4\t5\nn/a\t3\t4\t5\t6\n")
        case "sidecar":
            (foreign.root / "task-rest_physio.json").write_text("{")
        case "columns":
            changed(foreign, Columns="timestamp")
        case "twice the same column":
            changed(foreign, Columns=["timestamp", "x_coordinate", "x_coordinate", "a", "b"])
        case "no gaze":
            changed(foreign, Columns=["timestamp", "a", "b", "c", "d"])
        case "no clock":
            columns = ["t", "x_coordinate", "y_coordinate", "pupil_size", "trigger"]
            changed(foreign, Columns=columns, SamplingFrequency="fast")
        case "people":
            (foreign.root / "participants.tsv").write_text("name\nann\n")
        case "the same eye":
            foreign.eye("01", "1", "2", "left")
        case "other units":
            stem = foreign.stem("01", "1", "2")
            foreign.json(
                f"{stem}_physio.json", {"RecordedEye": "right", "x_coordinate": {"Units": "deg"}}
            )
        case "nobody":
            shutil.rmtree(foreign.root / "sub-01")
            shutil.rmtree(foreign.root / "sub-02")
        case "description":
            (foreign.root / "dataset_description.json").write_text('{"BIDSVersion": "1", ')


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("no sidecar", r"eye1_physio\.tsv\.gz has no sidecar"),
        ("truncated", r"cannot read .*eye1_physio\.tsv\.gz"),
        ("not packed", r"cannot read .*eye1_physio\.tsv\.gz"),
        ("too few columns", r"eye1_physio\.tsv\.gz does not have 5 columns in every row"),
        ("too many columns", r"eye1_physio\.tsv\.gz does not have 5 columns in every row"),
        ("ends early", r"eye1_physio\.tsv\.gz does not have 5 columns in every row"),
        ("a word", r"eye1_physio\.tsv\.gz: row 2 of column 'x_coordinate' is 'left'"),
        ("no time", r"eye1_physio\.tsv\.gz: row 2 has no timestamp"),
        ("sidecar", r"cannot read .*task-rest_physio\.json"),
        ("columns", "must list the names of its Columns"),
        ("twice the same column", "two columns of one name"),
        ("no gaze", "has no columns x_coordinate and y_coordinate: it has a, b, c, d"),
        ("no clock", "neither time stamps nor a SamplingFrequency"),
        ("people", r"participants\.tsv has no column participant_id"),
        ("the same eye", r"eye2_physio\.tsv\.gz is of the same eye as another file"),
        ("other units", r"differ in units \(px and deg\)"),
        ("nobody", "a BIDS dataset without eye tracking"),
        ("description", r"cannot read .*dataset_description\.json"),
    ],
)
def test_what_is_wrong_with_a_dataset_is_named(foreign, how, says):
    damage(foreign, how)
    with pytest.raises(InputError, match=says):
        read(foreign.root)


def test_whoever_has_no_samples_counts_all_the_same(foreign):
    foreign.table(f"{foreign.stem('02', '2', '1')}_physio.tsv.gz", "")
    foreign.table(f"{foreign.stem('01', '1', '2')}_physio.tsv.gz", "")
    study = read(foreign.root)
    assert set(study.data.filter(person="01")["eye"]) == {"left"}
    (row,) = study.data.filter(person="02").to_dicts()
    assert (row["recording"], row["task"], row["x"]) == ("ses-2_rest", "rest", None)
    assert any("eye2_physio.tsv.gz has no samples" in note for note in study.notes)
    assert any("1 of 2 files has no rows" in note for note in study.notes)


def test_a_file_that_was_not_fetched_is_named(foreign):
    table = foreign.root / f"{foreign.stem('02', '2', '1')}_physio.tsv.gz"
    table.unlink()
    table.symlink_to("nowhere")
    with pytest.raises(InputError, match=r"cannot read .*eye1_physio\.tsv\.gz: No such file"):
        read(foreign.root)


ODD = (None, True, 0, -1, 1.5, 10**400, float("nan"), "", "x", [], [None], [[1]], {}, {"a": [1]})


def odd(content: object, rng: random.Random) -> object:
    """The same JSON with something else in some place."""
    if isinstance(content, dict) and content and rng.random() < 0.8:
        key = rng.choice(list(content))
        return content | {key: odd(content[key], rng)}
    if isinstance(content, list) and content and rng.random() < 0.5:
        at = rng.randrange(len(content))
        return [*content[:at], odd(content[at], rng), *content[at + 1 :]]
    return rng.choice(ODD)


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, cut out or doubled."""
    changed_bytes = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed_bytes) + 1)
        match rng.randrange(4):
            case 0:
                changed_bytes[at:at] = bytes([rng.randrange(256)])
            case 1:
                del changed_bytes[at : at + rng.randint(1, 20)]
            case 2:
                changed_bytes[at : at + 1] = rng.choice(b'\t\n"{}[],:-.0e/n').to_bytes()
            case 3:
                changed_bytes[at:at] = changed_bytes[at : at + rng.randint(1, 20)]
    return bytes(changed_bytes)


@pytest.mark.parametrize("seed", range(200))
def test_a_damaged_dataset_is_read_or_refused_in_one_line(foreign, seed):
    rng = random.Random(seed)
    foreign.json("task-rest_physioevents.json", {"Columns": ["onset", "duration", "trial_type"]})
    foreign.table(f"{foreign.stem('01', '1', '2')}_physioevents.tsv", "5.0\t0.015\tfixation\n")
    root = foreign.root
    if seed % 2:
        shutil.rmtree(root)
        write_bids(CASES["odd names"], root)
    path = rng.choice(sorted(path for path in root.rglob("*") if path.is_file()))
    content = path.read_bytes()
    if path.suffix == ".json" and rng.random() < 0.8:
        content = json.dumps(odd(json.loads(content), rng)).encode()
    elif path.suffix == ".gz" and rng.random() < 0.8:
        content = gzip.compress(mutated(gzip.decompress(content), rng))
    else:
        content = mutated(content, rng)
    path.write_bytes(content)
    said = ""
    try:
        read(root)
    except InputError as error:
        said = str(error)
    assert "\n" not in said


class Counting:
    """In the place of `itertools`: knows how often it was asked for a number."""

    chain = itertools.chain
    asked = 0

    @classmethod
    def count(cls, first):
        for number in itertools.count(first):
            cls.asked += 1
            yield number


def test_many_names_that_collapse_to_one_label_are_counted_through_once(monkeypatch):
    monkeypatch.setattr("eyelid.io.bids.entities.itertools", Counting)
    names = ["P" + "-" * number for number in range(300)]
    given = labels(names, "person")
    assert sorted(given.values()) == sorted(["P", *(f"Px{number}" for number in range(2, 301))])
    assert Counting.asked < 2 * len(names)


def test_a_large_sidecar_is_not_copied_for_every_file(tmp_path):
    about = {f"key{number}": number for number in range(20_000)}
    (tmp_path / "task-a_physio.json").write_text(json.dumps(about))
    files = []
    for number in range(40):
        stem = tmp_path / "sub-1" / f"sub-1_task-a_run-{number}_physio"
        stem.parent.mkdir(exist_ok=True)
        stem.with_suffix(".json").write_text(json.dumps({"StartTime": number}))
        files.append(stem.with_suffix(".tsv.gz"))
    sidecars = Sidecars(tmp_path)
    sidecars.of(files[0], "physio")
    tracemalloc.start()
    try:
        found = [sidecars.of(file, "physio") for file in files]
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [each["StartTime"] for each in found] == list(range(40))
    assert found[7]["key19999"] == 19_999
    assert grown < 1 << 20


def test_nearer_sidecars_and_those_with_more_entities_are_right(tmp_path):
    folder = tmp_path / "sub-1"
    folder.mkdir()
    said = {"a": 1, "b": 1, "c": 1, "d": 1}
    (tmp_path / "physio.json").write_text(json.dumps(said))
    (tmp_path / "task-t_physio.json").write_text('{"b": 2, "c": 2, "d": 2}')
    (folder / "sub-1_physio.json").write_text('{"c": 3, "d": 3}')
    (folder / "sub-1_task-t_physio.json").write_text('{"d": 4}')
    (folder / "sub-1_task-u_physio.json").write_text('{"a": 5}')
    (folder / "sub-1_task-t_events.json").write_text('{"a": 6}')
    found = Sidecars(tmp_path).of(folder / "sub-1_task-t_physio.tsv", "physio")
    assert dict(found) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_a_sidecar_that_is_a_pipe_is_not_waited_for(tmp_path):
    path = written(samples(), tmp_path)
    sidecar = next(path.rglob("*_physio.json"))
    sidecar.unlink()
    os.mkfifo(sidecar)
    with pytest.raises(InputError, match=r"_physio\.json: it is no file"):
        read(path)


def test_a_task_of_a_megabyte_is_not_written_into_every_row(tmp_path):
    path = written(samples(), tmp_path)
    sidecar = next(path.rglob("*_physio.json"))
    about = json.loads(sidecar.read_text())
    about.get("Eyelid", {}).pop("task", None)
    sidecar.write_text(json.dumps(about | {"TaskName": "a" * 1_000_000}))
    with pytest.raises(InputError, match="names its task in 1,000,000 characters"):
        read(path)
