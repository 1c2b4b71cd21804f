"""OSIE: fixations on images in one MATLAB file."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import loadmat, savemat

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read

# Two people, two images: x, y and duration of each fixation.
SCANPATHS = {
    "1001.jpg": [([10.5, 20.0, 30.0], [1.0, 2.0, 3.0], [200, 150, 100]), ([5.0], [6.0], [300])],
    "boat.jpg": [([1.0, 2.0], [3.0, 4.0], [250, 120]), ([7.0, 8.0], [9.0, 10.0], [80, 90])],
}


def mat(scanpaths: dict = SCANPATHS, fields=("fix_x", "fix_y", "fix_duration")) -> bytes:
    images = np.empty((len(scanpaths), 1), dtype=object)
    for row, (image, people) in enumerate(scanpaths.items()):
        subjects = np.empty((len(people), 1), dtype=object)
        for number, values in enumerate(people):
            subjects[number, 0] = dict(zip(fields, values, strict=True))
        images[row, 0] = {"img": image, "subjects": subjects}
    packed = io.BytesIO()
    savemat(packed, {"fixations": images}, do_compression=True)
    return packed.getvalue()


@pytest.fixture
def file(tmp_path):
    def write(content: bytes):
        (tmp_path / "fixations.mat").write_bytes(content)
        return tmp_path / "fixations.mat"

    return write


def test_every_person_and_image_is_a_recording_of_fixations(file):
    study = read(file(mat()))
    assert study.kind == "fixations"
    assert (study.units, study.xy_origin) == ("px", "top-left")
    assert study.people["person"].to_list() == ["s1", "s2"]
    first = study.data.filter(person="s1", recording="1001")
    assert first["x"].to_list() == [10.5, 20.0, 30.0]
    assert first["duration_ms"].to_list() == [200.0, 150.0, 100.0]
    assert study.data["stimulus"].unique(maintain_order=True).to_list() == ["1001", "boat"]


def like_osie(people=15, image="1001.jpg", x=700.0):
    return mat({image: [([x], [500.0], [200])] * people})


def test_the_screen_of_osie_itself_is_known(file):
    study = read(file(like_osie()))
    assert study.read_as == ("OSIE",)
    assert study.screen == Screen(800, 600)


@pytest.mark.parametrize("other", [{"people": 16}, {"image": "boat.jpg"}, {"x": 1000.0}])
def test_a_file_of_another_dataset_gets_no_screen_of_osie(file, other):
    """Images of 1024 × 768 were taken for 800 × 600, and gaze misplaced."""
    study = read(file(like_osie(**other)))
    assert study.read_as == ("fixations by image, in a MATLAB file",)
    assert study.screen is None
    assert any("`map='screen=" in note for note in study.notes)
    said = read(file(like_osie(**other)), map="screen=1024x768")
    assert said.screen == Screen(1024, 768)
    assert not any("screen" in note for note in said.notes)


def test_a_fixation_begins_when_those_before_it_have_ended(file):
    study = read(file(mat()))
    times = study.data.filter(person="s1", recording="1001")["time_ms"]
    assert times.to_list() == [0.0, 200.0, 350.0]
    assert study.data.filter(person="s2", recording="boat")["time_ms"].to_list() == [0.0, 80.0]
    assert any("saccades" in note for note in study.notes)


def test_the_folder_is_the_study(tmp_path):
    home = tmp_path / "OSIE" / "data" / "eye"
    home.mkdir(parents=True)
    (home / "fixations.mat").write_bytes(mat())
    (tmp_path / "OSIE" / "LICENSE").write_text("MIT, with a comma")
    assert read(tmp_path / "OSIE").data["recording"].n_unique() == 2


def test_what_somebody_says_outranks_the_format(file):
    assert read(file(mat()), map="screen=1024x768,units=px").screen == Screen(1024, 768)


@pytest.mark.parametrize(
    ("scanpaths", "said"),
    [
        ({"a.jpg": [([1.0, 2.0], [1.0], [200, 100])]}, "s1 on 'a' has"),
        ({"a.jpg": [([1.0], [1.0], [0])]}, "without a duration"),
        ({"a.jpg": [([1.0], [1.0], [np.nan])]}, "without a duration"),
        ({"a.jpg": [([], [], [])]}, "no fixations"),
        ({}, "no fixations"),
    ],
)
def test_what_cannot_be_fixations_is_an_error(file, scanpaths, said):
    with pytest.raises(InputError, match=said):
        read(file(mat(scanpaths)))


def test_a_variable_of_the_same_name_and_another_shape_is_an_error(file):
    with pytest.raises(InputError, match="another shape"):
        read(file(mat(fields=("x", "y", "length"))))
    packed = io.BytesIO()
    savemat(packed, {"fixations": [1.0, 2.0]})
    with pytest.raises(InputError, match="another shape"):
        read(file(packed.getvalue()))


@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data):
    survives(mat(), data)


def processor_seconds(work):
    """What some work takes of the processor, whatever runs beside it."""
    before = time.process_time()
    work()
    return time.process_time() - before


def test_the_published_file_is_read_as_scipy_reads_it_and_soon(real_data):
    file = real_data / "OSIE" / "data" / "eye" / "fixations.mat"
    if not file.exists():
        pytest.skip("OSIE is not in EYELID_DATA")
    scipy_s = processor_seconds(lambda: loadmat(file))
    studies = []
    own_s = processor_seconds(lambda: studies.append(read(real_data / "OSIE")))
    # About six times as long, on any machine: the table is made, too.
    assert own_s < 25 * scipy_s
    (study,) = studies
    assert study.people.height == 15
    assert study.data.select("person", "recording").n_unique() == 700 * 15
    published = loadmat(file)["fixations"][:, 0]
    for place in (0, 350, 699):
        image = published[place][0, 0]
        name = image["img"][0].removesuffix(".jpg")
        for number in (1, 15):
            subject = image["subjects"][number - 1, 0][0, 0]
            found = study.data.filter(person=f"s{number}", recording=name)
            assert found["x"].to_list() == subject["fix_x"].ravel().tolist()
            assert found["y"].to_list() == subject["fix_y"].ravel().tolist()
            lengths = subject["fix_duration"].ravel().astype(float)
            assert found["duration_ms"].to_list() == lengths.tolist()
            assert found["time_ms"].to_list() == [0.0, *np.cumsum(lengths)[:-1]]
