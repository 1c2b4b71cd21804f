"""Public corpora, known by their headers, against pymovements' definitions of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read

# Synthetic rows in the layout of each corpus, and the name of one of its files.
FILES = {
    "GazeBase": (
        "S_1042_S2_TEX.csv",
        "n,x,y,val,dP,lab,xT,yT",
        ["0,-1.5,2.5,0,3000,1,NaN,NaN", "1,-1.25,2.0,4,2990,2,0.5,1.0", "2,NaN,NaN,4,0,0,0.5,1.0"],
    ),
    "GazeBaseVR": (
        "S_3007_S1_2_RAN.csv",
        "n,x,y,lx,ly,rx,ry,xT,yT,zT,clx,cly,clz,crx,cry,crz",
        [f"{4 * n}.0,1.0,2.0,0.5,2.5,1.5,1.5,0.0,3.0,0.4,0,0,0,0,0,0" for n in range(3)],
    ),
    "JuDo1000": (
        "17_3.csv",
        "trialId\tpointId\ttime\tx_left\ty_left\tx_right\ty_right",
        [
            "1\t1\t500\t600.0\t500.0\t610.0\t501.0",
            "1\t2\t501\t600.5\t500.5\t610.5\t501.5",
            "2\t1\t900\tNaN\tNaN\t611.0\t502.0",
        ],
    ),
    "PoTeC": (
        "reader12_b3_raw_data.tsv",
        "time\tx\ty\tpupil_diameter",
        [f"{200 + n}\t90.{n}\t60.{n}\t1700.0" for n in range(4)],
    ),
    "SBSAT": (
        "msd007.csv",
        "book_name\tscreen_id\ttime\tx_left\ty_left\tpupil_left",
        ["river\t1\t10\t270.5\t108.5\t2300.0", "river\t2\t11\t271.5\t109.5\t2301.0"],
    ),
    "EMTeC": (
        "ET_42.csv",
        "item_id\tTRIAL_ID\tTrial_Index_\tmodel\tdecoding_strategy\ttime\tx\ty\tpupil_right",
        [f"item1\t1\t1\tphi\tbeam\t{1000 + n // 2}\t116.{n}\t216.0\t400.0" for n in range(6)],
    ),
    "HBN": (
        "NDARAA123BCD_video1.csv",
        "x_pix,y_pix,time",
        [f"45{n}.0,36{n}.0,{n}" for n in range(4)],
    ),
    "PotsdamBingeRemotePVT": (
        "8_1_alcohol_6_2.csv",
        "trial_id,block_id,x_pix_eyelink,y_pix_eyelink,eyelink_timestamp,"
        "x_pix_pupilcore_interpolated,y_pix_pupilcore_interpolated,pupil_size_eyelink,"
        "target_distance,pupil_size_pupilcore_interpolated,pupil_confidence_interpolated,"
        "time_to_prev_bac,time_to_next_bac,prev_bac,next_bac",
        [
            f"6.0,2.0,99{n}.0,485.0,{700 + n},96{n}.0,573.0,1550.0,772.0,34.6,0.75,1,8,0.04,0.05"
            for n in range(3)
        ],
    ),
}
KEYS = {
    "GazeBase": ("042", "1_S2_TEX", "TEX", ""),
    "GazeBaseVR": ("007", "3_S1_2_RAN", "RAN", ""),
    "JuDo1000": ("17", "3_1", "", ""),
    "PoTeC": ("12", "b3", "", "b3"),
    "SBSAT": ("msd007", "river_1", "", "river_1"),
    "EMTeC": ("42", "item1", "", "item1"),
    "HBN": ("NDARAA123BCD", "video1", "", "video1"),
    "PotsdamBingeRemotePVT": ("8", "1_alcohol_6_2", "alcohol", ""),
}


def text(corpus: str) -> str:
    _, header, rows = FILES[corpus]
    return "\n".join([header, *rows]) + "\n"


@pytest.fixture
def file(tmp_path):
    def write(corpus: str, name: str | None = None, content: str | None = None):
        path = tmp_path / (name or FILES[corpus][0])
        path.write_text(text(corpus) if content is None else content)
        return path

    return write


@pytest.mark.parametrize("corpus", FILES)
def test_the_name_of_a_file_says_whose_it_is(file, corpus):
    first = read(file(corpus)).data.row(0, named=True)
    found = tuple(first[name] for name in ("person", "recording", "task", "stimulus"))
    assert found == KEYS[corpus]


@pytest.mark.parametrize("corpus", FILES)
def test_rate_and_screen_are_those_that_pymovements_states(file, corpus):
    pymovements = pytest.importorskip("pymovements")
    stated = pymovements.DatasetLibrary.get(corpus).experiment
    study = read(file(corpus))
    assert study.rate_hz == stated.sampling_rate
    if corpus == "GazeBaseVR":
        # A headset has no screen of 1680 × 1050 px.
        assert study.screen is None
        return
    screen = stated.screen
    cm = [screen.width_cm, screen.height_cm, screen.distance_cm]
    expected = [screen.width_px, screen.height_px, *[size and size / 100 for size in cm]]
    assert study.screen is not None
    assert list(vars(study.screen).values()) == pytest.approx(expected)


@pytest.mark.parametrize("corpus", FILES)
def test_what_stands_in_no_file_is_noted(file, corpus):
    assert any("the corpus's" in note for note in read(file(corpus)).notes)


def test_gazebase_is_the_left_eye_in_degrees_where_it_is_valid(file):
    study = read(file("GazeBase"))
    assert (study.units, study.pupil_unit) == ("deg", "arbitrary")
    assert study.data["eye"].unique().to_list() == ["left"]
    assert study.data["x"].to_list() == [-1.5, None, None]
    assert study.data["label_event"].to_list() == ["1", "2", "0"]
    assert study.data["label_target_x"].to_list() == [None, "0.5", "0.5"]


def test_gazebasevr_has_both_eyes_and_the_one_between_them(file):
    study = read(file("GazeBaseVR"))
    firsts = study.data.group_by("eye").first().select("eye", "x", "y").sort("eye").rows()
    assert firsts == [("cyclopean", 1.0, 2.0), ("left", 0.5, 2.5), ("right", 1.5, 1.5)]


def test_judo1000_has_a_recording_a_trial_and_both_eyes(file):
    study = read(file("JuDo1000"))
    assert study.data["recording"].unique().sort().to_list() == ["3_1", "3_2"]
    left = study.data.filter(eye="left")
    assert left["x"].to_list() == [600.0, 600.5, None]
    assert study.data.filter(eye="right")["x"].to_list() == [610.0, 610.5, 611.0]


def test_emtec_time_stamps_that_stand_twice_are_spread(file):
    study = read(file("EMTeC"))
    times = study.data["time_ms"] - study.data["time_ms"][0]
    assert times.to_list() == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    assert study.data["eye"].unique().to_list() == ["right"]


def test_hbn_counts_samples(file):
    times = read(file("HBN")).data["time_ms"]
    assert times.to_list() == pytest.approx([0.0, 1000 / 120, 2000 / 120, 25.0])


def test_potsdam_binge_has_two_trackers_on_two_eyes(file):
    study = read(file("PotsdamBingeRemotePVT"))
    right = study.data.filter(eye="right").row(0, named=True)
    left = study.data.filter(eye="left").row(0, named=True)
    assert (right["x"], right["pupil"], right["confidence"]) == (990.0, 1550.0, None)
    assert (left["x"], left["pupil"], left["confidence"]) == (960.0, None, 0.75)
    assert not [name for name in study.data.columns if "bac" in name]


@pytest.mark.parametrize("corpus", ["PoTeC", "HBN"])
def test_a_plain_header_over_other_time_stamps_is_anybodys_table(file, corpus):
    _, header, rows = FILES[corpus]
    separator = "\t" if "\t" in header else ","
    place = header.split(separator).index("time")
    table = [row.split(separator) for row in rows]
    for number, row in enumerate(table):
        row[place] = str(16 * number)
    content = "\n".join([header, *(separator.join(row) for row in table)]) + "\n"
    study = read(file(corpus, content=content), map="time_unit=ms")
    assert study.rate_hz == 62.5
    assert study.notes == ()


def test_the_same_columns_in_parquet_are_anybodys_table(tmp_path):
    table = pl.DataFrame({"time": [0, 1], "x": [1.0, 2.0], "y": [1.0, 2.0], "pupil_diameter": 3.0})
    table.write_parquet(tmp_path / "mine.parquet")
    assert read(tmp_path / "mine.parquet", map="time_unit=ms").screen is None


def test_what_somebody_says_outranks_the_corpus(file):
    study = read(file("PoTeC"), map="distance_m=0.9,pupil_unit=px")
    assert study.screen == Screen(1680, 1050, 0.475, 0.3, 0.9)
    assert study.pupil_unit == "px"


@pytest.mark.parametrize("corpus", ["GazeBase", "JuDo1000", "PoTeC", "EMTeC"])
def test_a_folder_of_files_is_one_study(file, tmp_path, corpus):
    file(corpus)
    name = FILES[corpus][0]
    digit = next(at for at, character in enumerate(name) if character.isdigit())
    other = name[:digit] + "5" + name[digit + 1 :]
    file(corpus, name=other)
    assert read(tmp_path).data.select("person", "recording").n_unique() > 1


@pytest.mark.parametrize("corpus", FILES)
def test_a_header_without_rows_is_an_error(file, corpus):
    with pytest.raises(InputError, match="no rows"):
        read(file(corpus, content=FILES[corpus][1] + "\n"))


@pytest.mark.parametrize("corpus", FILES)
def test_a_file_that_was_cut_short_is_an_error(file, corpus):
    whole = text(corpus)
    separator = "\t" if "\t" in whole else ","
    with pytest.raises(InputError, match="middle of a line"):
        read(file(corpus, content=whole[: whole.rindex(separator)]))


@pytest.mark.parametrize("corpus", FILES)
@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data, corpus):
    survives(text(corpus).encode(), data, FILES[corpus][0])


PUBLISHED = {
    "gazebase_example.csv": ("deg", 1000.0, ["left"], 10),
    "gazebase_vr_example.csv": ("deg", 250.0, ["cyclopean", "left", "right"], 10),
    "judo1000_example.csv": ("px", 1000.0, ["left", "right"], 10),
    "potec_example.tsv": ("px", 1000.0, [], 10),
    "sbsat_example.csv": ("px", 1000.0, ["left"], 10),
    "emtec_example.csv": ("px", 2000.0, ["right"], 20),
    "hbn_example.csv": ("px", 120.0, [], 10),
    "potsdam_binge_pvt_example.csv": ("px", 1000.0, ["left", "right"], 29),
}


@pytest.fixture
def examples(real_data):
    folder = real_data / "vendor_samples" / "pymovements_examples"
    if not folder.exists():
        pytest.skip("the rows of public corpora are not in EYELID_DATA")
    return folder


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_rows_are_read(examples, name):
    units, rate_hz, eyes, rows = PUBLISHED[name]
    study = read(examples / name)
    assert (study.units, study.rate_hz) == (units, rate_hz)
    assert len(study.data) == rows * max(len(eyes), 1)
    assert study.data.get_column("eye", default=pl.Series([])).unique().sort().to_list() == eyes
    assert study.data["x"].null_count() == 0


def test_published_positions_turn_into_the_degrees_of_pymovements(examples):
    pymovements = pytest.importorskip("pymovements")
    file = examples / "potec_example.tsv"
    gaze = pymovements.gaze.from_csv(
        file,
        experiment=pymovements.DatasetLibrary.get("PoTeC").experiment,
        time_column="time",
        time_unit="ms",
        pixel_columns=["x", "y"],
        read_csv_kwargs={"separator": "\t"},
    )
    gaze.pix2deg()
    theirs = np.array(gaze.samples["position"].to_list())
    ours = read(file, units="deg").data
    # They count down from the top and take pixels by their upper left corners.
    np.testing.assert_allclose(ours["x"], theirs[:, 0], atol=0.03)
    np.testing.assert_allclose(ours["y"], -theirs[:, 1], atol=0.03)


def test_rows_without_a_header_are_read_with_a_column_map(examples):
    faces = eyelid.read(
        examples / "gaze_on_faces_example.csv",
        map={"x": "1", "y": "2", "rate_hz": 60, "units": "px", "screen": "1280x1024"},
    )
    assert faces.data["time_ms"].diff().drop_nulls().to_list() == pytest.approx([1000 / 60] * 9)
    assert (faces.units, faces.rate_hz, faces.screen) == ("px", 60.0, Screen(1280, 1024))
    graph = eyelid.read(examples / "gazegraph_example.csv", map="x=1,y=2,rate_hz=30,units=fraction")
    assert (graph.units, graph.rate_hz, len(graph.data)) == ("fraction", 30.0, 10)


def test_columns_of_numbers_get_names_and_trials_by_a_column_map(real_data):
    file = real_data / "vendor_samples" / "tobii" / "eyetools_P107_Exp6_t_x_y_trial.csv"
    if not file.exists():
        pytest.skip("the eyetools recording is not in EYELID_DATA")
    study = eyelid.read(file, map="time=1,x=2,y=3,recording=4,time_unit=ms,units=px")
    assert study.data["recording"].n_unique() > 1
    assert study.rate_hz == pytest.approx(300, rel=0.2)
    with pytest.raises(InputError, match="`map="):
        eyelid.read(file)


def test_a_table_of_published_figures_is_refused_in_one_line(real_data, eyelid):
    done = eyelid("inspect", real_data / "bozkir2021" / "nmse.csv")
    assert done.code == 2
    assert done.err.count("\n") == 1
