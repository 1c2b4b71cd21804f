"""Presets for VR datasets, on synthetic files in their published layouts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.geometry import direction
from eyelid.io import read
from eyelid.io.formats.vr import PRESETS
from eyelid.io.layout import Layout

GAZE, HEAD = ["gaze_x", "gaze_y", "gaze_z"], ["head_x", "head_y", "head_z"]
PANORAMA_RATE = PRESETS["vr-eyetracking"].under(Layout(rate_hz=25.0))

ET_DK2_HEADER = (
    "SUB_ID,IMG_INDEX,IS_GRAY,GRAY_IDX,UNITY_TIMESTAMP,SMI_TIMESTAMP,GIW_X,GIW_Y,GIW_Z,"
    "GIW_TEXTURE_X,GIW_TEXTURE_Y,SCREEN_X,SCREEN_Y,HIW_X,HIW_Y,HIW_Z,HIW_TEXTURE_X,HIW_TEXTURE_Y,"
    "GAZE_DIR_X,GAZE_DIR_Y,GAZE_DIR_Z,HEAD_POS_X,HEAD_POS_Y,HEAD_POS_Z,HEAD_EUL_X,HEAD_EUL_Y,"
    "HEAD_EUL_Z"
)


def et_dk2_row(time_s: float, point, turned, image: int = 3, gray: bool = False) -> str:
    """A person standing at (1, 2, 3) whose gaze meets the world at a point beyond."""
    place = np.add(point, [1.0, 2.0, 3.0])
    values = [1002, image, gray, 0, time_s, 99, *place, 0.6, 0.4, 960, 540, *[0.0] * 5]
    return ",".join(map(str, [*values, 0.1, 0.2, 0.9, 1.0, 2.0, 3.0, *turned]))


ET_DK2 = "\n".join(
    [
        ET_DK2_HEADER,
        et_dk2_row(0.5, (0.0, 0.0, 2.0), (0.0, 0.0, 0.0), gray=True),
        et_dk2_row(0.516, (2.0, 0.0, 0.0), (0.0, 90.0, 0.0)),
        et_dk2_row(0.533, (2.0, 0.0, 2.0), (0.0, 0.0, 0.0)),
        et_dk2_row(0.55, (0.0, 1.0, 0.0), (270.0, 0.0, 0.0)),
        et_dk2_row(0.566, (0.0, 1.0, 1.0), (0.0, 0.0, 270.0)),
        et_dk2_row(0.583, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        et_dk2_row(0.6, (0.0, 0.0, 2.0), (0.0, 0.0, 0.0), image=4),
        "",
    ]
)
VR_EYETRACKING = "".join(
    f"frame,{number},forward,{head},eye,{eye}\n"
    for number, (head, eye) in enumerate(
        [("0.5,0.5", "0.5,0.5"), ("0.5,0.5", "0.75,0.5"), ("0.75,0.5", "0.75,0.75")], start=1
    )
)
EHTASK = """\
1600000000000 1 0.0 0.0 0.50 0.50 0.0 0.0
1600000000010 1 90.0 0.0 0.75 0.50 120.0 0.0
1600000000020 2 0.0 45.0 0.50 1.00 0.0 90.0
"""


def vectors(study, names) -> np.ndarray:
    return study.data.select(names).to_numpy()


@pytest.fixture
def file(tmp_path):
    def write(name: str, content: str):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        return path

    return write


def test_et_dk2_points_in_the_world_become_gaze_in_the_head(file):
    study = read(file("S1002.csv", ET_DK2), map="et-dk2")
    straight, aside, diagonal = [0, 0, 1], [1, 0, 0], [np.sqrt(0.5), 0, np.sqrt(0.5)]
    up = [0, 1, 0]
    # A head that is tilted to the right by a quarter sees what is above it on its left.
    tilted = [-np.sqrt(0.5), 0, np.sqrt(0.5)]
    nothing = [np.nan] * 3
    expected = [straight, straight, diagonal, straight, tilted, nothing, straight]
    np.testing.assert_allclose(vectors(study, GAZE), expected, atol=1e-12)
    heads = [straight, aside, straight, up, straight, straight, straight]
    np.testing.assert_allclose(vectors(study, HEAD), heads, atol=1e-12)
    assert study.data["head_roll_deg"].to_list()[4] == pytest.approx(90.0)


def test_et_dk2_has_a_recording_an_image(file):
    study = read(file("S1002.csv", ET_DK2), map="et-dk2")
    assert study.data["person"].unique().to_list() == ["1002"]
    assert study.data["recording"].unique().sort().to_list() == ["3", "4"]
    assert study.data["label_gray"].to_list()[:2] == ["True", "False"]
    assert study.data["time_ms"].to_list()[:2] == [500.0, 516.0]
    assert (study.units, study.xy_origin) == ("fraction", "bottom-left")


def test_vr_eyetracking_places_in_a_panorama_become_directions(file):
    study = read(file("p001/180.txt", VR_EYETRACKING), map=PANORAMA_RATE)
    expected = [[0, 0, 1], [1, 0, 0], [0, np.sqrt(0.5), np.sqrt(0.5)]]
    np.testing.assert_allclose(vectors(study, GAZE), expected, atol=1e-12)
    np.testing.assert_allclose(vectors(study, HEAD), [[0, 0, 1], [0, 0, 1], [1, 0, 0]], atol=1e-12)
    first = study.data.row(0, named=True)
    assert (first["person"], first["stimulus"]) == ("p001", "180")
    assert study.data["time_ms"].to_list() == [0.0, 40.0, 80.0]
    assert study.data["x"].to_list() == [0.5, 0.75, 0.75]


def test_vr_eyetracking_asks_for_the_rate_of_the_video(file):
    with pytest.raises(InputError, match="rate_hz"):
        read(file("p001/180.txt", VR_EYETRACKING), map="vr-eyetracking")


def test_ehtask_places_on_the_display_become_gaze_in_the_head(file):
    study = read(file("User_01_Video_07_Task_2.txt", EHTASK), map="ehtask")
    # The upper edge of the display is 55 degrees up; a quarter of its width to the right is 270 px
    # at a distance of 600 px / tan(55°).
    right_deg = np.degrees(np.arctan(270 / (600 / np.tan(np.radians(55)))))
    expected = np.stack(direction([0.0, right_deg, 0.0], [0.0, 0.0, 55.0]), axis=1)
    np.testing.assert_allclose(vectors(study, GAZE), expected, atol=1e-12)
    heads = np.stack(direction([0.0, 90.0, 0.0], [0.0, 0.0, 45.0]), axis=1)
    np.testing.assert_allclose(vectors(study, HEAD), heads, atol=1e-12)
    first = study.data.row(0, named=True)
    assert (first["person"], first["stimulus"], first["task"]) == ("01", "07", "2")
    assert study.rate_hz == 100.0
    assert study.data["time_ms"].diff().drop_nulls().to_list() == [10.0, 10.0]


def test_a_folder_of_recordings_is_one_study(file, tmp_path):
    for person, task in (("01", 1), ("01", 2), ("02", 1)):
        file(f"User_{person}_Video_01_Task_{task}.txt", EHTASK)
    study = read(tmp_path, map="ehtask")
    assert study.data.select("person", "recording").n_unique() == 3
    assert study.people["person"].to_list() == ["01", "02"]


@pytest.mark.parametrize(
    ("name", "content", "preset"),
    [
        ("S1002.csv", ET_DK2, PRESETS["et-dk2"]),
        ("p001/180.txt", VR_EYETRACKING, PANORAMA_RATE),
        ("User_01_Video_07_Task_2.txt", EHTASK, PRESETS["ehtask"]),
    ],
)
def test_directions_are_of_length_one(file, name, content, preset):
    study = read(file(name, content), map=preset)
    for axes in (GAZE, HEAD):
        lengths = np.linalg.norm(vectors(study, axes), axis=1)
        np.testing.assert_allclose(lengths[np.isfinite(lengths)], 1.0)


@pytest.mark.parametrize(
    ("name", "content", "preset", "said"),
    [
        ("S1002.csv", ET_DK2_HEADER + "\n", PRESETS["et-dk2"], "no rows"),
        ("S1002.csv", ET_DK2[:-30], PRESETS["et-dk2"], "middle of a line"),
        ("S1002.csv", ET_DK2.replace("270.0", "left"), PRESETS["et-dk2"], "'left', no number"),
        ("p1/1.txt", VR_EYETRACKING[:-12], PANORAMA_RATE, "middle of a line"),
        ("User_1_Video_1_Task_1.txt", EHTASK[:-12], PRESETS["ehtask"], "middle of a line"),
        ("other.txt", EHTASK, PRESETS["ehtask"], "does not fit"),
    ],
)
def test_files_with_too_little_in_them_are_errors(file, name, content, preset, said):
    with pytest.raises(InputError, match=said):
        read(file(name, content), map=preset)


@pytest.mark.parametrize(
    ("name", "content", "preset"),
    [
        ("S1002.csv", ET_DK2, PRESETS["et-dk2"]),
        ("180.txt", VR_EYETRACKING, PANORAMA_RATE),
        ("User_01_Video_07_Task_2.txt", EHTASK, PRESETS["ehtask"]),
    ],
)
@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data, name, content, preset):
    survives(content.encode(), data, name, map=preset)
