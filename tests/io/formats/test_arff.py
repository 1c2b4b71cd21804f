"""ARFF files of gaze on screens and on 360° pictures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff
from scipy.spatial.transform import Rotation

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import arff
from eyelid.io.reading import read_part

SCREEN = """%@METADATA width_px 1280.0
%@METADATA height_px 720.0
%@METADATA width_mm 400.0
%@METADATA height_mm 225.0
%@METADATA distance_mm 450.0
"""
GAZE = """@ATTRIBUTE time INTEGER
@ATTRIBUTE x NUMERIC
@ATTRIBUTE y NUMERIC
@ATTRIBUTE confidence NUMERIC
"""
FLAT = f"""{SCREEN}@RELATION gaze_labels

{GAZE}@ATTRIBUTE handlabeller1 INTEGER
@ATTRIBUTE handlabeller_final {{unassigned,fixation,saccade,sp,noise}}
@ATTRIBUTE speed_1 NUMERIC

@DATA
0,10.5,20.5,1.0,1,fixation,0.1
4000,11.5,21.5,0.3,2,saccade,0.2
8000,0.0,0.0,0.0,4,noise,0.0
12000,12.5,22.5,1.0,7,unassigned,0.4
"""
SPHERE_HEADER = f"""@RELATION gaze_360

%@METADATA height_px 1080
%@METADATA width_px 1920
%@METADATA fov_width_deg 100.00

{GAZE}@ATTRIBUTE x_head NUMERIC
@ATTRIBUTE y_head NUMERIC
@ATTRIBUTE angle_deg_head NUMERIC
@ATTRIBUTE labeller_1 {{unassigned,fixation,OKN+VOR}}

@DATA
"""
SPHERE = f"{SPHERE_HEADER}0,960,540,1,960,540,0,fixation\n5000,1000,500,1,970,530,3.5,OKN+VOR\n"


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "ann.arff"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_samples_labels_and_screen_are_read(file):
    part = read_part(file(FLAT))
    assert part.data["time_ms"].to_list() == [0.0, 4.0, 8.0, 12.0]
    assert part.data["x"].to_list() == [10.5, 11.5, 0.0, 12.5]
    assert part.data["y"].to_list() == [20.5, 21.5, 0.0, 22.5]
    assert part.screen == Screen(1280, 720, 0.4, 0.225, 0.45)
    assert (part.units, part.xy_origin) == ("px", "top-left")
    assert part.data["label_handlabeller_final"].to_list() == [
        "fixation",
        "saccade",
        "noise",
        "unassigned",
    ]


def test_low_confidence_is_kept_and_loses_nothing(file):
    part = read_part(file(FLAT))
    assert part.data["confidence"].to_list() == [1.0, 0.3, 0.0, 1.0]
    assert part.data["x"].null_count() == 0


def test_codes_of_hand_labellers_get_their_names_and_unknown_ones_none(file):
    found = read_part(file(FLAT)).data["label_handlabeller1"].to_list()
    assert found == ["fixation", "saccade", "noise", None]
    as_reals = FLAT.replace("handlabeller1 INTEGER", "handlabeller1 NUMERIC")
    as_reals = as_reals.replace("1.0,1,", "1.0,1.0,")
    assert read_part(file(as_reals)).data["label_handlabeller1"][0] == "fixation"


def test_other_attributes_are_left_out_and_named(file):
    part = read_part(file(FLAT))
    assert "speed_1" not in part.data.columns
    assert part.notes == ("attributes that are no gaze and no label were left out: speed_1",)


def test_missing_values_comments_quotes_and_spaces_are_understood(file):
    text = f"""% a remark
@relation 'of gaze'
{GAZE.lower()}@attribute 'eye movement' {{fixation,'smooth pursuit'}}
@data
% another
0, 1.5 ,2.5,\t1.0, fixation
4000,?,?,0.0,'smooth pursuit'
8000,3.5,4.5,1.0, ?
"""
    data = read_part(file(text)).data
    assert data["x"].to_list() == [1.5, None, 3.5]
    assert data["y"].to_list() == [2.5, None, 4.5]
    assert data["label_eye_movement"].to_list() == ["fixation", "smooth pursuit", None]


def test_zero_sizes_are_unknown_ones(file):
    text = FLAT.replace("width_mm 400.0", "width_mm 0.0").replace("distance_mm 450.0", "")
    assert read_part(file(text)).screen == Screen(1280, 720, None, 0.225, None)


def test_looking_where_the_head_points_is_straight_ahead(file):
    part = read_part(file(SPHERE))
    ahead = part.data.row(0, named=True)
    assert [ahead[f"gaze_{axis}"] for axis in "xyz"] == pytest.approx([0, 0, 1])
    assert [ahead[f"head_{axis}"] for axis in "xyz"] == pytest.approx([0, 0, 1])
    assert "x" not in part.data.columns
    assert (part.units, part.xy_origin, part.screen) == (None, None, None)
    assert part.data["label_labeller_1"].to_list() == ["fixation", "OKN+VOR"]


@pytest.mark.parametrize(
    ("x", "y", "direction"),
    [
        (960, 540, [0, 0, 1]),
        (1440, 540, [1, 0, 0]),
        (480, 540, [-1, 0, 0]),
        (0, 540, [0, 0, -1]),
        (960, 0, [0, 1, 0]),
        (960, 1080, [0, -1, 0]),
    ],
)
def test_right_and_up_in_the_picture_are_right_and_up(file, x, y, direction):
    data = read_part(file(f"{SPHERE_HEADER}0,{x},{y},1,960,540,0,fixation\n")).data
    assert data.select("gaze_x", "gaze_y", "gaze_z").row(0) == pytest.approx(direction, abs=1e-12)


def as_the_authors_do(x, y, x_head, y_head, angle_deg):
    """Gaze in the head by the rotations of the dataset's own tools.

    Their frame has y up and the middle of the picture at -x; a place to the right of it has a
    negative z. Turning about y, then z, then x by the tilt brings the head to the middle.
    """

    def vector(x, y):
        across, down = 2 * np.pi * x / 1920, np.pi * y / 1080
        return np.array(
            [np.sin(down) * np.cos(across), np.cos(down), np.sin(down) * np.sin(across)]
        )

    head = vector(x_head, y_head)
    turn = Rotation.from_euler("y", np.arctan2(head[2], head[0]))
    lift = Rotation.from_euler("z", np.arcsin(head[1]))
    tilt = Rotation.from_euler("x", -np.radians(angle_deg))
    half = Rotation.from_euler("y", np.pi)
    found = (tilt * lift * turn * half.inv()).apply(vector(x, y))
    return [-found[2], found[1], -found[0]]


def test_gaze_in_the_head_is_what_the_authors_of_the_dataset_compute(file):
    rng = np.random.default_rng(4)
    rows = np.column_stack(
        [
            rng.uniform(0, 1920, 50),
            rng.uniform(0, 1080, 50),
            rng.uniform(0, 1920, 50),
            rng.uniform(60, 1020, 50),
            rng.uniform(-60, 60, 50),
        ]
    ).round(3)
    lines = [f"{4000 * n},{x},{y},1,{h},{v},{a},fixation" for n, (x, y, h, v, a) in enumerate(rows)]
    data = read_part(file(SPHERE_HEADER + "\n".join(lines) + "\n")).data
    expected = [as_the_authors_do(*row) for row in rows]
    found = data.select("gaze_x", "gaze_y", "gaze_z").to_numpy()
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    assert data["head_roll_deg"].to_list() == [-angle for angle in rows[:, 4]]


def test_a_lost_place_on_the_sphere_is_a_lost_direction(file):
    data = read_part(file(SPHERE_HEADER + "0,?,540,0,960,540,0,?\n")).data
    assert data.select("gaze_x", "gaze_y", "gaze_z").row(0) == (None, None, None)
    assert data["head_z"].to_list() == [1.0]


def test_a_sphere_of_unknown_size_is_refused(file):
    with pytest.raises(InputError, match="size of its 360° picture"):
        read_part(file(SPHERE.replace("%@METADATA width_px 1920", "")))


def test_a_sphere_without_the_tilt_of_the_head_is_refused(file):
    with pytest.raises(InputError, match="no attribute angle_deg_head"):
        read_part(file(SPHERE.replace("@ATTRIBUTE angle_deg_head NUMERIC\n", "")))


def test_sparse_files_are_refused_with_a_remedy(file):
    sparse = FLAT[: FLAT.index("@DATA")] + "@DATA\n% remark\n{0 4000, 1 3.5}\n"
    with pytest.raises(InputError, match="sparse"):
        read_part(file(sparse))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FLAT[: FLAT.index("0,10.5")], "no rows"),
        (FLAT[: FLAT.index("@DATA")], "no line @DATA"),
        (FLAT[:-14], "truncated"),
        (FLAT.replace("x NUMERIC", "z NUMERIC"), "no attribute x"),
        (FLAT.replace("y NUMERIC", "X NUMERIC"), "two attributes"),
    ],
)
def test_what_is_missing_is_said(file, text, said):
    with pytest.raises(InputError, match=said):
        read_part(file(text))


def test_attributes_of_other_names_are_read_by_a_map(file):
    text = FLAT.replace("x NUMERIC", "GazeX NUMERIC")
    assert read(file(text), "x=GazeX").data["x"].to_list() == [10.5, 11.5, 0.0, 12.5]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_encodings_do_not_matter(file, encoding):
    text = "% vidéo\n" + FLAT
    assert read_part(file(text.encode(encoding))).data.equals(read_part(file(text)).data)


def test_repeated_and_backward_times_are_refused(file):
    with pytest.raises(InputError, match="backwards"):
        read(file(FLAT.replace("\n4000,", "\n9000,")))
    with pytest.raises(InputError, match="more than one row"):
        read(file(FLAT.replace("\n4000,", "\n8000,")))


@pytest.mark.parametrize("text", ["time,x,y\n0,1,2\n", "% only a remark\n", "@RELATIONS x\n"])
def test_other_texts_are_not_taken(file, text):
    assert not arff.recognises(head_of(file(text)))


@given(data=st.data(), text=st.sampled_from([FLAT, SPHERE]))
def test_damage_is_an_error_of_one_line(survives, data, text):
    survives(text.encode(), data)


@given(rest=st.binary(max_size=200), data=st.data())
def test_anything_after_the_header_is_read_or_refused(survives, rest, data):
    survives(SPHERE_HEADER.encode() + rest, data)


def test_a_real_file_is_read_as_scipy_reads_it(real_data):
    path = real_data / "vendor_samples" / "arff" / "gazecom_example.arff"
    rows, _ = scipy_arff.loadarff(path)
    part = read_part(path)
    assert len(part.data) == len(rows) > 4000
    np.testing.assert_allclose(part.data["time_ms"], rows["time"] / 1000)
    for name in ("x", "y", "confidence"):
        assert part.data[name].to_list() == rows[name].tolist()
    stated = dict(
        line.split()[1:] for line in path.read_text().splitlines() if line.startswith("%@METADATA")
    )
    assert part.screen.width_px == float(stated["width_px"])
    assert part.screen.distance_m == float(stated["distance_mm"]) / 1000
    assert read(path).rate_hz == pytest.approx(250.0)
