"""Frames of other libraries become studies and tables, or are refused with what to write."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pymovements as pm
import pytest
from polars.testing import assert_frame_equal

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.frames import polars_frame
from eyelid.gaze.simulator import simulate
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Feature, Screen, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.reading import read as read_file

TRIALS = pl.DataFrame(
    {
        "subject": [1, 1, 2, 2],
        "page": ["a", "b", "a", "b"],
        "rate": [1.0, 2.0, 3.0, 4.0],
        "regressions": [1, 2, 3, 4],
        "age": [20, 20, 30, 30],
        "remark": ["x", None, "y", "z"],
    }
)
BOUNDS = {"rate": (0, 10), "regressions": (0, 9)}
KEYS = {"person": "subject", "task": "page", "attributes": ["age"], "drop": ["remark"]}
LIBRARIES = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "pandas of arrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
}


@pytest.fixture(params=LIBRARIES.values(), ids=LIBRARIES)
def trials(request):
    return request.param(TRIALS)


def table(frame=TRIALS, bounds=BOUNDS, **said):
    return FeatureTable.from_frame(frame, **KEYS | said, bounds=bounds)


def test_a_table_is_the_same_from_every_library(trials):
    made = table(trials)
    assert made.names == ["rate", "regressions"]
    assert made.features[1] == Feature("regressions", "", "", 0.0, 9.0)
    assert made.data.columns[:5] == ["person", "recording", "task", "stimulus", "time_ms"]
    assert made.data["person"].to_list() == ["1", "1", "2", "2"]
    assert made.data["recording"].to_list() == ["a", "b", "a", "b"]
    assert made.data["rate"].to_list() == [1.0, 2.0, 3.0, 4.0]
    assert made.people.to_dict(as_series=False) == {"person": ["1", "2"], "age": [20, 30]}


def test_a_frame_with_a_study_s_own_names_needs_no_word():
    rows = pl.DataFrame({"person": ["a", "b"], "time_ms": [5.0, 6.0], "rate": [1.0, 2.0]})
    made = FeatureTable.from_frame(rows, bounds={"rate": Feature("rate", "1/s", "fast", 0, 10)})
    assert made.features[0].definition == "fast"
    assert made.data["time_ms"].to_list() == [5.0, 6.0]
    assert made.people.columns == ["person"]


def test_people_come_from_a_frame_of_their_own():
    people = pd.DataFrame({"subject": [2, 1], "group": ["patient", "control"]})
    made = table(people=people, attributes=(), drop=["remark", "age"])
    assert dict(made.people.rows()) == {"1": "control", "2": "patient"}


def test_labels_stay_beside_the_features():
    made = table(labels=["remark"], drop=())
    assert made.study().labels == ["label_remark"]
    assert made.data["label_remark"].to_list() == ["x", None, "y", "z"]


def test_a_frame_that_came_from_a_table_gives_it_back():
    study = simulate(people=2, minutes=0.3, seed=1)
    back = Study.from_frame(study.to_pandas(), units="deg")
    assert_frame_equal(back.data, study.data, check_column_order=False)


def missing(value):
    return TRIALS.with_columns(rate=pl.Series([1.0, value, 2.0, 3.0])).to_pandas()


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: table(person="subjct"), "unknown column (person) 'subjct': did you mean 'subj"),
        (lambda: table(person=None), "whose rows these are: name the column, person='…' (there"),
        (lambda: table(bounds=None), "no bounds for 'rate', 'regressions': give bounds={'rate'"),
        (lambda: table(bounds={"rate": (0, 1)}), "no bounds for 'regressions': give bounds={'reg"),
        (lambda: table(bounds=BOUNDS | {"r": (0, 1)}), "unknown column (bounds) 'r'"),
        (lambda: table(bounds=BOUNDS | {"remark": (0, 1)}), "feature 'remark' is String: features"),
        (lambda: table(bounds=BOUNDS | {"rate": 3}), "the bounds of 'rate' are 3: give two"),
        (lambda: table(bounds=BOUNDS | {"rate": (3, 1)}), "the lower bound of 'rate' is 3 and the"),
        (lambda: table(bounds=BOUNDS | {"rate": (0, np.inf)}), "bounds of 'rate' must be finite"),
        (lambda: table(missing(np.nan)), "'rate' has 1 missing value (NaN), the first in row 2"),
        (lambda: table(missing(np.inf)), "feature 'rate' has infinite values"),
        (lambda: table(missing="fill"), "unknown word for missing"),
        (lambda: table(drop=["remarks"]), "unknown column (drop) 'remarks'"),
        (
            lambda: table(attributes=["age", "remark"], drop=()),
            "attribute 'remark' has 2 values in the rows of",
        ),
        (lambda: table(people=pd.DataFrame({"subject": [1]})), "people has everybody's attributes"),
        (
            lambda: table(people=pd.DataFrame({"subject": [1]}), attributes=(), drop=["age"]),
            "'remark'",
        ),
        (
            lambda: table(
                people=pd.DataFrame({"subject": [1]}), attributes=(), drop=["age", "remark"]
            ),
            "people has no row of person '2'",
        ),
        (
            lambda: table(TRIALS.with_columns(t=0, page=pl.lit("a")), time="t"),
            "more than one row at time_ms 0",
        ),
        (
            lambda: table(TRIALS.with_columns(subject=pl.Series([1, None, 2, 2]))),
            "column 'subject' (person) has no value in row 2",
        ),
        (lambda: table(time="remark"), "column 'remark' (time) has no value in row 2"),
        (lambda: table(time="rate", time_unit="min"), "unknown unit of time (time_unit) 'min'"),
        (lambda: table([1, 2]), "the frame is a list: give a frame of polars, pandas or Arrow"),
        (lambda: Study("features", TRIALS.to_pandas(), TRIALS), "data is a DataFrame of pandas"),
        (lambda: FeatureTable(TRIALS, (), TRIALS.to_arrow()), "people is a Table of pyarrow"),
    ],
)
def test_what_is_wrong_is_said_with_the_remedy(made, told):
    with pytest.raises(InputError) as error:
        made()
    assert told in str(error.value)


def test_missing_values_are_kept_where_that_is_meant():
    assert table(missing(np.nan), missing="keep").data["rate"].to_list() == [1.0, None, 2.0, 3.0]


SAMPLES = pd.DataFrame(
    {
        "who": ["a"] * 3 + ["b"] * 3,
        "t": [0.0, 0.1, 0.2] * 2,
        "gx": [1.0, 2.0, np.nan] * 2,
        "gy": [1.0] * 6,
        "more": 1,
    }
)
SAID = {"person": "who", "time": "t", "time_unit": "s", "x": "gx", "y": "gy", "units": "px"}


def test_samples_become_a_study_whose_lost_signal_is_missing():
    study = Study.from_frame(SAMPLES, **SAID, rate_hz=10.0)
    assert (study.kind, study.units, study.rate_hz) == ("samples", "px", 10.0)
    assert study.data["x"].to_list() == [1.0, 2.0, None] * 2
    assert study.data["time_ms"].to_list() == [0.0, 100.0, 200.0] * 2
    assert study.notes == ("columns that nobody named were left out: 'more'",)


def test_dates_count_from_the_beginning_of_each_recording():
    began = dt.datetime(2026, 1, 1)
    times = [began + dt.timedelta(milliseconds=10 * step) for step in range(6)]
    study = Study.from_frame(SAMPLES.assign(t=times), **SAID | {"time_unit": "ms"})
    assert study.data["time_ms"].to_list() == [0.0, 10.0, 20.0] * 2


def test_fixations_are_rows_with_a_duration():
    study = Study.from_frame(SAMPLES.assign(ms=200), **SAID, duration="ms")
    assert study.kind == "fixations"
    assert study.data["duration_ms"].to_list() == [200.0] * 6


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"time": None}, "samples need a time: name its column, time='…'"),
        ({"x": None}, "samples need places: name their columns, x='…' and y='…'"),
        ({"units": "pix"}, "unknown units 'pix': did you mean 'px'?"),
        ({"x": "who"}, "column 'who' (x) is String: give numbers"),
        ({"x": "gz"}, "unknown column (x) 'gz'"),
    ],
)
def test_samples_that_cannot_be_are_refused(said, told):
    with pytest.raises(InputError) as error:
        Study.from_frame(SAMPLES, **SAID | said)
    assert told in str(error.value)


@pytest.mark.parametrize("frame", [TRIALS, TRIALS.to_pandas(), TRIALS.to_arrow(), TRIALS.lazy()])
def test_a_bare_frame_is_answered_with_the_call_to_write(frame):
    with pytest.raises(InputError, match=r"audit\(eyelid\.FeatureTable\.from_frame\(frame, person"):
        refuse_frame(frame, "audit")


def test_what_is_no_frame_is_none_of_its_business():
    refuse_frame("study")
    refuse_frame(None, "cost")
    assert polars_frame(pa.table({"a": [None, 1]}))["a"].to_list() == [None, 1.0]


@pytest.mark.parametrize(
    ("call", "given", "says"),
    [
        ("window_features", "study", "eyelid.window_features(eyelid.read('study'), …)"),
        ("gaze_map", [[1, 2]], "gaze_map takes a study, and got a value of type list"),
        ("release", None, "release takes a study, or the path of one, and got nothing"),
        ("read", 5, "read takes the path of recordings"),
        ("convert", [1], "eyelid.write(study, 'study'), then convert('study', …)"),
    ],
)
def test_what_is_neither_study_nor_path_is_refused_with_the_remedy(call, given, says):
    with pytest.raises(InputError) as error:
        refuse_frame(given, call)
    assert says in str(error.value)


def experiment(**other):
    said = {"screen_width_px": 1280, "screen_height_px": 1024, "origin": "upper left"}
    size = {"screen_width_cm": 38, "screen_height_cm": 30, "distance_cm": 68}
    return pm.gaze.Experiment(**said | size | {"sampling_rate": 500} | other)


def gaze_of(columns, **said):
    values = {"time": [0, 2, 4], "pupil": [3.0] * 3}
    values |= {name: np.arange(3.0) + place for place, name in enumerate(columns)}
    return pm.gaze.Gaze(
        pl.DataFrame(values),
        **{"experiment": experiment(), "pixel_columns": list(columns), "time_column": "time"}
        | {"time_unit": "ms"}
        | said,
    )


def test_gaze_of_pymovements_brings_its_experiment():
    parts = [gaze_of("xy", metadata={"subject": number, "text": "t"}) for number in (1, 2)]
    study = Study.from_pymovements(parts, person="subject", task="text", pupil_unit="mm")
    assert study.data["person"].unique(maintain_order=True).to_list() == ["1", "2"]
    assert (study.units, study.rate_hz, study.xy_origin) == ("px", 500.0, "top-left")
    assert study.screen == Screen(1280, 1024, 0.38, 0.3, 0.68)
    assert study.data["y"].to_list() == [1.0, 2.0, 3.0] * 2


def test_two_eyes_of_pymovements_are_rows_of_their_own():
    gaze = gaze_of(["xl", "yl", "xr", "yr"], metadata={"subject": "a"})
    study = Study.from_pymovements(gaze, person="subject")
    assert study.data["eye"].to_list() == ["left"] * 3 + ["right"] * 3
    assert study.data["x"].to_list() == [0.0, 1.0, 2.0, 2.0, 3.0, 4.0]


def test_degrees_of_pymovements_go_up_from_the_middle():
    gaze = gaze_of("xy", metadata={"subject": "a"})
    gaze.pix2deg()
    degrees = np.array(gaze.samples["position"].to_list())
    gaze.samples = gaze.samples.drop("pixel")
    study = Study.from_pymovements(gaze, person="subject")
    assert (study.units, study.xy_origin) == ("deg", "centre")
    # A place near the top of the screen is above its middle.
    assert (study.data["y"] > 0).all()
    np.testing.assert_allclose(study.data["y"], -degrees[:, 1])


@pytest.mark.parametrize(
    ("gaze", "told"),
    [
        (lambda: gaze_of("xy"), "nobody says whose gaze this is"),
        (lambda: [], "there is no gaze in it"),
        (lambda: [1], "this is a int: give a Gaze of pymovements"),
        (
            lambda: [
                gaze_of("xy", metadata={"person": "a"}),
                gaze_of("xy", metadata={"person": "b"}, experiment=experiment(sampling_rate=60)),
            ],
            "recordings differ in rate_hz",
        ),
    ],
)
def test_gaze_of_pymovements_that_cannot_be_is_refused(gaze, told):
    with pytest.raises(InputError) as error:
        Study.from_pymovements(gaze())
    assert told in str(error.value)


def trials_of_two_conditions():
    """Trials whose numbers begin anew in each condition, which differ by 300."""
    return pd.DataFrame(
        [
            (f"s{person}", condition, trial, 260.0 + 300.0 * (condition == "load") + trial)
            for person in range(4)
            for condition in ("base", "load")
            for trial in range(3)
        ],
        columns=["who", "cond", "trial", "fix"],
    )


@pytest.mark.parametrize("time", [None, "trial"])
def test_trials_that_are_numbered_anew_in_each_task_are_recordings_of_their_own(time):
    frame = trials_of_two_conditions()
    said = {"person": "who", "task": "cond", "recording": "trial", "bounds": {"fix": (0, 900)}}
    made = FeatureTable.from_frame(frame, **said, time=time)
    assert made.recordings["recording"].to_list()[:2] == ["0-base", "1-base"]
    means = made.data.group_by("task").agg(pl.col("fix").mean()).sort("task")
    assert means.rows() == [("base", 261.0), ("load", 561.0)]
    assert made.recordings.height == len(frame)


def test_samples_of_several_stimuli_whose_clock_restarts_are_cut_as_files_are(tmp_path):
    frame = pd.concat([SAMPLES.assign(page=page) for page in ("p", "q")]).sort_values(
        ["who", "page", "t"]
    )
    study = Study.from_frame(frame, **SAID, stimulus="page")
    path = tmp_path / "gaze.csv"
    frame.to_csv(path, index=False)
    columns = {"person": "who", "stimulus": "page", "time": "t", "x": "gx", "y": "gy"}
    read = read_file(path, columns | {"units": "px", "time_unit": "s"})
    assert study.data["stimulus"].to_list() == read.data["stimulus"].to_list()
    assert study.data["time_ms"].to_list() == read.data["time_ms"].to_list()
    assert study.data.select("person", "recording").n_unique() == 4


def test_one_column_may_be_the_recording_and_what_was_looked_at():
    study = Study.from_frame(SAMPLES.assign(page="p"), **SAID, stimulus="page", recording="page")
    assert study.data["recording"].to_list() == study.data["stimulus"].to_list() == ["p"] * 6


def test_repeated_rows_of_a_frame_are_told_without_a_word_on_files():
    with pytest.raises(InputError, match="more than one row at time_ms 0: remove") as error:
        Study.from_frame(SAMPLES.assign(t=0.0), **SAID)
    assert "map" not in str(error.value)


@pytest.mark.parametrize(
    ("column", "other", "told"),
    [("task", "Read ", "tasks 'read' and 'Read '"), ("stimulus", "READ", "stimuli 'read' and")],
)
def test_tasks_and_stimuli_that_differ_in_spelling_alone_are_refused(column, other, told):
    frame = SAMPLES.assign(doing=["read"] * 3 + [other] * 3)
    with pytest.raises(InputError, match=told):
        Study.from_frame(frame, **SAID, **{column: "doing"})


def test_levels_of_an_index_are_columns_where_they_are_named():
    frame = trials_of_two_conditions().set_index(["who", "cond", "trial"])
    said = {"person": "who", "task": "cond", "bounds": {"fix": (0, 900)}}
    made = FeatureTable.from_frame(frame, **said)
    assert made.data["person"].unique(maintain_order=True).to_list() == ["s0", "s1", "s2", "s3"]
    numbered = FeatureTable.from_frame(frame, **said, recording="trial")
    assert numbered.recordings.height == len(frame)


def test_what_is_true_or_false_is_a_share():
    frame = trials_of_two_conditions().assign(correct=[True, False, True] * 8)
    said = {"person": "who", "task": "cond", "drop": ["trial", "fix"]}
    made = FeatureTable.from_frame(frame, **said, bounds={"correct": (0, 1)})
    assert made.data["correct"].to_list()[:3] == [1.0, 0.0, 1.0]


def test_bounds_may_have_a_unit():
    made = table(bounds=BOUNDS | {"rate": (0, 10, "1/s")})
    assert made.features[0] == Feature("rate", "1/s", "", 0.0, 10.0)
    with pytest.raises(InputError, match="give two numbers and, where there is one, the unit"):
        table(bounds=BOUNDS | {"rate": (0, 10, 3)})


@pytest.mark.parametrize("call", [eyelid.summary, eyelid.release, eyelid.inspect])
def test_every_function_answers_a_bare_frame_alike(call):
    with pytest.raises(InputError, match=r"\(eyelid\.FeatureTable\.from_frame\(frame, person"):
        call(TRIALS.to_pandas())
