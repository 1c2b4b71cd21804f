"""Pupil Labs: gaze.csv of Neon and Invisible, gaze_positions.csv of Pupil Player."""

from __future__ import annotations

import csv
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import pupil_labs
from eyelid.io.reading import read_part

START_NS = 1_700_000_000_000_000_000


def table(columns: dict[str, list[object]]) -> str:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def neon(**changed: list[object] | None) -> str:
    """Eight samples at 200 Hz: two fixations, a blink, and glasses taken off at the end."""
    columns = {
        "section id": ["s1"] * 8,
        "recording id": ["r1"] * 8,
        "timestamp [ns]": [START_NS + 5_000_000 * n for n in range(8)],
        "gaze x [px]": [800.5 + n for n in range(8)],
        "gaze y [px]": [600.25 - n for n in range(8)],
        "worn": ["1.0"] * 7 + ["0.0"],
        "fixation id": [1, 1, 1, "", "", 2, 2, ""],
        "blink id": ["", "", "", 1, 1, "", "", ""],
        "azimuth [deg]": [0.0, 90.0, -90.0, 0.0, 30.0, 0.0, 0.0, 0.0],
        "elevation [deg]": [0.0, 0.0, 0.0, 90.0, 0.0, -30.0, 0.0, 0.0],
    }
    return table({k: v for k, v in (columns | changed).items() if v is not None})


def player(**changed: list[object] | None) -> str:
    """Four gaze positions with the directions of both eyes."""
    columns = {
        "gaze_timestamp": [100.0, 100.008, 100.016, 100.024],
        "world_index": [0, 0, 1, 1],
        "confidence": [0.9, 0.8, 0.1, 1.0],
        "norm_pos_x": [0.1, 0.2, 0.3, 0.4],
        "norm_pos_y": [0.9, 0.8, 0.7, 0.6],
        "base_data": ["100.0-0 100.0-1"] * 4,
        "gaze_point_3d_x": [1.0] * 4,
        "gaze_normal0_x": [0.0, 0.6, 0.0, 0.0],
        "gaze_normal0_y": [0.0, 0.0, 0.6, 0.0],
        "gaze_normal0_z": [1.0, 0.8, 0.8, 1.0],
        "gaze_normal1_x": [0.0, -0.6, "", 0.0],
        "gaze_normal1_y": [0.0, 0.0, "", -0.6],
        "gaze_normal1_z": [1.0, 0.8, "", 0.8],
    }
    return table({k: v for k, v in (columns | changed).items() if v is not None})


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "gaze.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_gaze_is_in_pixels_of_the_scene_camera_whose_size_is_not_stated(file):
    part = read_part(file(neon()))
    assert part.data["x"].to_list() == [800.5 + n for n in range(7)] + [None]
    assert part.data["y"].to_list() == [600.25 - n for n in range(7)] + [None]
    assert (part.units, part.xy_origin, part.screen) == ("px", "top-left", None)
    assert part.data["recording"].unique().to_list() == ["r1"]


def test_time_of_nanoseconds_since_1970_keeps_its_steps(file):
    time_ms = read_part(file(neon())).data["time_ms"]
    assert (time_ms - time_ms[0]).to_list() == pytest.approx([5.0 * n for n in range(8)], abs=1e-3)
    assert read(file(neon())).rate_hz == pytest.approx(200.0, rel=1e-3)


def test_angles_become_directions_to_the_right_and_up(file):
    vectors = read_part(file(neon())).data.select("gaze_x", "gaze_y", "gaze_z").rows()
    half, root = 0.5, math.sqrt(3) / 2
    expected = [(0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (half, 0, root), (0, -half, root)]
    for found, wanted in zip(vectors, expected, strict=False):
        assert found == pytest.approx(wanted, abs=1e-12)


def test_glasses_that_nobody_wears_see_nothing(file):
    last = read_part(file(neon())).data.row(-1, named=True)
    assert [last[name] for name in ("x", "y", "gaze_x", "gaze_y", "gaze_z")] == [None] * 5


def test_fixations_and_blinks_are_the_runs_of_their_numbers(file):
    part = read_part(file(neon()))
    start = part.data["time_ms"][0]
    assert part.events["name"].to_list() == ["fixation", "blink", "fixation"]
    onsets = [onset - start for onset in part.events["onset_ms"]]
    assert onsets == pytest.approx([0.0, 15.0, 25.0], abs=1e-3)
    assert part.events["duration_ms"].to_list() == pytest.approx([10.0, 5.0, 5.0], abs=1e-3)
    assert part.events["recording"].unique().to_list() == ["r1"]
    assert not [name for name in part.data.columns if name.startswith("label_")]


def test_the_least_that_neon_player_exports_is_enough(file):
    fewer = dict.fromkeys(
        ["section id", "recording id", "worn", "fixation id", "blink id", "azimuth [deg]"]
    )
    part = read_part(file(neon(**fewer)))
    assert part.data.columns == ["time_ms", "x", "y"]
    assert part.events is None


def test_gaze_positions_are_shares_of_the_image_from_below(file):
    part = read_part(file(player()))
    gaze = part.data.filter(eye="cyclopean")
    assert gaze["x"].to_list() == [0.1, 0.2, 0.3, 0.4]
    assert gaze["y"].to_list() == [0.9, 0.8, 0.7, 0.6]
    assert gaze["confidence"].to_list() == [0.9, 0.8, 0.1, 1.0]
    assert gaze["time_ms"].to_list() == pytest.approx([100_000.0 + 8 * n for n in range(4)])
    assert (part.units, part.xy_origin) == ("fraction", "bottom-left")


def test_the_first_camera_is_at_the_right_eye_and_its_y_axis_points_down(file):
    data = read_part(file(player())).data
    vectors = {
        eye: data.filter(eye=eye).select("gaze_x", "gaze_y", "gaze_z").rows()
        for eye in ("left", "right")
    }
    assert vectors["right"] == [(0, 0, 1), (0.6, 0, 0.8), (0, -0.6, 0.8), (0, 0, 1)]
    assert vectors["left"] == [(0, 0, 1), (-0.6, 0, 0.8), (None, None, None), (0, 0.6, 0.8)]


def test_the_direction_of_one_unnamed_eye_stands_with_the_gaze(file):
    missing = {f"gaze_normal1_{axis}": [""] * 4 for axis in "xyz"}
    data = read_part(file(player(**missing))).data
    assert "eye" not in data.columns
    assert data["x"].to_list() == [0.1, 0.2, 0.3, 0.4]
    assert data["gaze_x"].to_list() == [0.0, 0.6, 0.0, 0.0]
    absent = {f"gaze_normal1_{axis}": None for axis in "xyz"}
    assert read_part(file(player(**absent))).data.equals(data)


def test_gaze_mapped_in_two_dimensions_has_no_directions(file):
    empty = {f"gaze_normal{eye}_{axis}": [""] * 4 for eye in (0, 1) for axis in "xyz"}
    data = read_part(file(player(**empty))).data
    assert data.columns == ["time_ms", "x", "y", "confidence"]


def test_older_exports_of_pupil_player_are_read(file):
    old = player().replace("gaze_timestamp,world_index", "timestamp,index")
    assert read_part(file(old)).data.equals(read_part(file(player())).data)


@pytest.mark.parametrize("text", [neon(), player()])
def test_a_header_alone_is_said_so(file, text):
    with pytest.raises(InputError, match="no rows"):
        read_part(file(text.splitlines()[0] + "\n"))


@pytest.mark.parametrize("text", [neon(), player()])
def test_a_line_cut_short_is_noticed(file, text):
    with pytest.raises(InputError, match="truncated"):
        read_part(file(text[:-12]))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("text", [neon(**{"recording id": ["é"] * 8}), player()])
def test_encodings_do_not_matter(file, encoding, text):
    assert read_part(file(text.encode(encoding))).data.equals(read_part(file(text)).data)


def test_repeated_and_backward_times_are_refused_or_mended_as_said(file):
    with pytest.raises(InputError, match="more than one row"):
        read(file(player(gaze_timestamp=[1, 1, 2, 3])))
    with pytest.raises(InputError, match="backwards"):
        read(file(player(gaze_timestamp=[2, 1, 3, 4])))
    study = read(file(player(gaze_timestamp=[2, 1, 3, 4])), "backwards=sort")
    assert study.data.filter(eye="cyclopean")["x"].to_list() == [0.2, 0.1, 0.3, 0.4]


def test_a_map_goes_before_the_format(file):
    study = read(file(neon()), "screen=1600x1200,recording=section id")
    assert (study.screen.width_px, study.screen.height_px) == (1600, 1200)
    assert study.data["recording"].unique().to_list() == ["s1"]


@pytest.mark.parametrize(
    "header",
    [
        "pupil_timestamp,world_index,eye_id,confidence,norm_pos_x,norm_pos_y,diameter\n",
        "recording id,timestamp [ns],name,type\n",
        "time,x,y\n",
    ],
)
def test_other_tables_are_not_taken(file, header):
    assert not pupil_labs.recognises(head_of(file(header)))


@given(data=st.data(), text=st.sampled_from([neon(), player()]))
def test_damage_is_an_error_of_one_line(survives, data, text):
    survives(text.encode(), data)


@given(rest=st.binary(max_size=200), data=st.data(), text=st.sampled_from([neon(), player()]))
def test_anything_after_the_header_is_read_or_refused(survives, rest, data, text):
    survives(text.splitlines()[0].encode() + b"\n" + rest, data)


def test_a_real_file_is_read_as_it_stands(real_data):
    path = real_data / "vendor_samples" / "pupil_labs" / "neon_cloud_gaze_excerpt.csv"
    with open(path) as lines:
        rows = list(csv.DictReader(lines))
    part = read_part(path)
    assert part.data["x"].to_list() == [float(row["gaze x [px]"]) for row in rows]
    assert part.data["y"].to_list() == [float(row["gaze y [px]"]) for row in rows]
    assert part.data["time_ms"].to_list() == pytest.approx(
        [int(row["timestamp [ns]"]) / 1e6 for row in rows], abs=1e-9
    )
    vectors = part.data.select("gaze_x", "gaze_y", "gaze_z").rows()
    for row, (x, y, z) in zip(rows, vectors, strict=True):
        assert math.degrees(math.atan2(x, z)) == pytest.approx(float(row["azimuth [deg]"]))
        assert math.degrees(math.asin(y)) == pytest.approx(float(row["elevation [deg]"]))
    numbers = {row["fixation id"] for row in rows} - {""}
    assert part.events["name"].to_list() == ["fixation"] * len(numbers)
    # Left of the middle of a 1600 px wide image is left, and above it is up.
    assert all((x < 0) == (px < 800) for x, px in part.data.select("gaze_x", "x").rows())
    assert all((y > 0) == (px < 600) for y, px in part.data.select("gaze_y", "y").rows())
