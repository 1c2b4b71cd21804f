"""The .coord text of gaze on videos."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import coord
from eyelid.io.reading import read_part

HEADER = "# of a video\n#\ngaze 1280 720\ngeometry distance 0.45 width 0.4 height 0.225\n"
SAMPLES = "".join(f"{4000 * n} {100.5 + n} {50 + n} {int(n != 3)}\n" for n in range(8))


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "ann.coord"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_samples_are_read_with_the_screen_that_stands_above_them(file):
    part = read_part(file(HEADER + SAMPLES))
    assert part.format == "coord"
    assert part.data["time_ms"].to_list() == [4.0 * n for n in range(8)]
    assert part.data["x"].to_list() == [100.5 + n for n in range(8)]
    assert part.data["y"].to_list() == [50.0 + n for n in range(8)]
    assert part.data["confidence"].to_list() == [1, 1, 1, 0, 1, 1, 1, 1]
    assert part.screen == Screen(1280, 720, 0.4, 0.225, 0.45)
    assert (part.units, part.xy_origin) == ("px", "top-left")


def test_a_picture_without_geometry_has_a_size_in_pixels_only(file):
    assert read_part(file("gaze 640 480\n" + SAMPLES)).screen == Screen(640, 480)


def test_columns_of_single_eyes_behind_the_mean_are_left_alone(file):
    part = read_part(file("gaze 640 480\n0 1 2 1 9 9 9 9\n4000 2 3 1 9 9 9 9\n"))
    assert part.data["x"].to_list() == [1.0, 2.0]


def test_samples_without_confidence_have_none(file):
    assert "confidence" not in read_part(file("gaze 640 480\n0 1 2\n4000 2 3\n")).data.columns


def test_a_map_goes_before_the_file(file):
    part = read_part(file(HEADER + SAMPLES))
    study = read(file(HEADER + SAMPLES), "time_unit=ms,screen=100x50")
    assert study.data["time_ms"].to_list() == [1000 * t for t in part.data["time_ms"]]
    assert study.screen == Screen(100, 50, 0.4, 0.225, 0.45)


def test_a_header_without_samples_is_said_so(file):
    with pytest.raises(InputError, match="no samples"):
        read_part(file(HEADER))


def test_a_line_cut_short_is_noticed(file):
    with pytest.raises(InputError, match="truncated"):
        read_part(file((HEADER + SAMPLES)[:-8]))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_encodings_do_not_matter(file, encoding):
    text = HEADER.replace("video", "vidéo") + SAMPLES
    assert read_part(file(text.encode(encoding))).data.equals(read_part(file(text)).data)


def test_repeated_and_backward_times_are_refused_or_mended_as_said(file):
    with pytest.raises(InputError, match="backwards"):
        read(file("gaze 640 480\n4000 1 2 1\n0 2 3 1\n"))
    with pytest.raises(InputError, match="more than one row"):
        read(file("gaze 640 480\n0 1 2 1\n0 2 3 1\n"))
    assert len(read(file("gaze 640 480\n0 1 2 1\n0 2 3 1\n"), "repeats=first").data) == 1


@pytest.mark.parametrize("text", ["gaze at me\n1 2 3\n", "time x y\n1 2 3\n", "# gaze 3 4\n1 2\n"])
def test_other_texts_are_not_taken(file, text):
    assert not coord.recognises(head_of(file(text)))


@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data):
    survives((HEADER + SAMPLES).encode(), data)


@given(rest=st.binary(max_size=200), data=st.data())
def test_anything_after_the_header_is_read_or_refused(survives, rest, data):
    survives(HEADER.encode() + rest, data)


def test_a_real_file_is_read_as_it_stands(real_data):
    path = real_data / "vendor_samples" / "arff" / "dsf_example.coord"
    rows = [
        [float(cell) for cell in line.split()]
        for line in path.read_text().splitlines()
        if line[:1].isdigit()
    ]
    part = read_part(path)
    names = ("time_ms", "x", "y", "confidence")
    assert part.data.select(names).rows() == [(t / 1000, x, y, c) for t, x, y, c in rows]
    assert len(rows) > 2000
    assert read(path).rate_hz == pytest.approx(250.0)
