"""Lund 2013: hand-labelled samples in MATLAB files, one a coder."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import loadmat, savemat

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read
from eyelid.io.formats.lund2013 import LABELS

SCREEN = Screen(1024, 768, 0.38, 0.3, 0.67)


def pos(labels, step_us: float = 2000.0, start_us: float = 5e9) -> np.ndarray:
    """Samples with the given labels."""
    count = len(labels)
    stamps = start_us + np.arange(count) * step_us
    places = 100.0 + np.arange(2 * count).reshape(count, 2)
    return np.column_stack([stamps, np.full(count, 20.0), np.full(count, 22.0), places, labels])


def mat(samples: np.ndarray, rate_hz: float = 500.0, **fields) -> bytes:
    found = {
        "pos": samples,
        "screenDim": [0.38, 0.3],
        "screenRes": [1024, 768],
        "viewDist": 0.67,
        "sampFreq": rate_hz,
    }
    packed = io.BytesIO()
    savemat(packed, {"ETdata": found | fields, "results": {"confidence": []}}, do_compression=True)
    return packed.getvalue()


@pytest.fixture
def file(tmp_path):
    def write(content: bytes, name: str = "TH34_img_Europe_labelled_RA.mat"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


def test_a_file_gives_samples_with_the_labels_of_its_coder(file):
    study = read(file(mat(pos([1, 2, 3, 4, 5, 6]))))
    assert (study.units, study.xy_origin, study.rate_hz) == ("px", "top-left", 500.0)
    assert study.screen == SCREEN
    assert study.data["label_ra"].to_list() == list(LABELS.values())
    assert study.data["time_ms"].diff().drop_nulls().to_list() == [2.0] * 5
    assert study.data["pupil"].unique().to_list() == [21.0]
    first = study.data.row(0, named=True)
    keys = [first[name] for name in ("person", "recording", "task", "stimulus")]
    assert keys == ["TH34", "img_Europe", "img", "Europe"]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("UL23_video_triple_jump_labelled_MN.mat", ["UL23", "video", "triple_jump", "label_mn"]),
        ("UH21_trial17_labelled_RA.mat", ["UH21", "dots", "trial17", "label_ra"]),
        ("anything.mat", ["anything", "", "", "label_event"]),
    ],
)
def test_the_name_says_person_task_stimulus_and_coder(file, name, keys):
    study = read(file(mat(pos([1, 1])), name))
    first = study.data.row(0, named=True)
    assert [first["person"], first["task"], first["stimulus"], *study.labels] == keys


def test_samples_are_counted_where_there_are_no_time_stamps(file):
    samples = pos([4, 4, 4, 4])
    samples[:, 0] = np.nan
    samples[-1, 0] = 0.0
    study = read(file(mat(samples), "UH21_trial1_labelled_RA.mat"))
    assert study.data["time_ms"].to_list() == [0.0, 2.0, 4.0, 6.0]


def test_samples_after_the_last_time_stamp_follow_at_the_same_rate(file):
    samples = pos([1, 1, 1, 1, 1], start_us=2000.0)
    samples[3:, :5] = 0.0
    study = read(file(mat(samples)))
    assert study.data["time_ms"].to_list() == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert study.data["x"].null_count() == 2


def test_time_stamps_win_over_a_rate_that_contradicts_them(file):
    study = read(file(mat(pos([1, 1, 1], step_us=5000.0), rate_hz=500.0)))
    assert study.rate_hz == 200.0
    assert any("500 Hz" in note and "200 Hz" in note for note in study.notes)


def test_zeros_are_lost_gaze(file):
    samples = pos([1, 5, 5, 1])
    samples[1, 3:5] = 0.0
    samples[2, 1:4] = 0.0
    study = read(file(mat(samples)))
    assert study.data["x"].is_null().to_list() == [False, True, True, False]
    assert study.data["y"].is_null().to_list() == [False, True, True, False]
    assert study.data["pupil"].is_null().to_list() == [False, False, True, False]


def test_a_folder_has_both_coders_labels_on_the_same_samples(file, tmp_path):
    file(mat(pos([1, 2, 1])), "img/TH34_img_vy_labelled_RA.mat")
    file(mat(pos([1, 1, 1])), "img/TH34_img_vy_labelled_MN.mat")
    file(mat(pos([4, 4])), "dots/UH21_trial1_labelled_RA.mat")
    file(mat(pos([4, 4])), "dots/UH21_trial1_labelled_MN.mat")
    study = read(tmp_path)
    assert study.data["recording"].unique(maintain_order=True).to_list() == [
        "img_vy",
        "dots_trial1",
    ]
    image = study.data.filter(task="img")
    assert image["label_ra"].to_list() == ["fixation", "saccade", "fixation"]
    assert image["label_mn"].to_list() == ["fixation"] * 3
    assert len(read(tmp_path / "img").data) == 3


def test_the_longer_file_of_two_coders_is_kept(file, tmp_path):
    longer = pos([1, 1, 2, 2])
    longer[3, :5] = 0.0
    file(mat(longer), "TH34_img_vy_labelled_MN.mat")
    file(mat(pos([1, 1, 1])), "TH34_img_vy_labelled_RA.mat")
    study = read(tmp_path)
    assert study.data["label_ra"].to_list() == ["fixation"] * 3 + [None]
    assert study.data["label_mn"].null_count() == 0
    assert any("4 and 3 samples" in note for note in study.notes)


def test_coders_of_different_samples_are_an_error(file, tmp_path):
    file(mat(pos([1, 1])), "TH34_img_vy_labelled_MN.mat")
    file(mat(pos([1, 1]) + 1.0), "TH34_img_vy_labelled_RA.mat")
    with pytest.raises(InputError, match="other samples"):
        read(tmp_path)


def test_what_somebody_says_outranks_the_file(file):
    study = read(file(mat(pos([1, 1]))), map="distance_m=0.8,xy_origin=bottom-left")
    assert study.screen is not None
    assert study.screen.distance_m == 0.8
    assert study.screen.width_px == 1024
    assert study.xy_origin == "bottom-left"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (mat(np.ones((3, 4))), "6 columns"),
        (mat(np.empty((0, 6))), "6 columns"),
        (mat(pos([1, 1]), pos="text"), "6 columns"),
        (mat(pos([1, 1])[::-1]), "backwards"),
        (mat(pos([1, 1]) * [np.nan, 1, 1, 1, 1, 1], rate_hz=0.0), "neither time stamps"),
    ],
)
def test_what_cannot_be_samples_is_an_error(file, content, said):
    with pytest.raises(InputError, match=said):
        read(file(content))


def test_a_variable_of_the_same_name_that_is_no_structure_is_an_error(file):
    packed = io.BytesIO()
    savemat(packed, {"ETdata": [1.0]})
    with pytest.raises(InputError, match="no structure"):
        read(file(packed.getvalue()))


@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data):
    survives(mat(pos([1, 2, 3])), data)


@given(places=st.lists(st.floats(), min_size=12, max_size=12))
def test_any_numbers_are_a_study_or_an_input_error(tmp_path_factory, places):
    path = tmp_path_factory.mktemp("lund") / "a.mat"
    path.write_bytes(mat(np.reshape(places, (2, 6))))
    with contextlib.suppress(InputError):
        assert len(read(path).data) == 2


def test_the_published_folder_is_34_recordings_of_20_people(real_data):
    folder = real_data / "lund2013"
    if not folder.exists():
        pytest.skip("lund2013 is not in EYELID_DATA")
    study = read(folder)
    assert study.people.height == 20
    assert study.data.select("person", "recording").n_unique() == 34
    assert study.screen == SCREEN
    assert study.rate_hz is None
    assert sum("200 Hz" in note for note in study.notes if "UL47" in note or "UH47" in note) == 3
    slow = study.data.filter(person="UL47")["time_ms"].diff().median()
    assert slow == pytest.approx(5.0, abs=0.01)
    published = loadmat(folder / "img" / "TH34_img_Europe_labelled_RA.mat")["ETdata"][0, 0]["pos"]
    found = study.data.filter(person="TH34", recording="img_Europe")
    assert found["label_ra"].to_list() == [LABELS[int(code)] for code in published[:, 5]]
    seen = published[:, 3:5].any(axis=1)
    np.testing.assert_array_equal(found["x"].drop_nulls(), published[seen, 3])
    np.testing.assert_allclose(found["time_ms"] * 1000.0, published[:, 0])


def test_the_two_coders_of_the_published_files_saw_the_same_samples(real_data):
    folder = real_data / "lund2013"
    if not folder.exists():
        pytest.skip("lund2013 is not in EYELID_DATA")
    study = read(folder)
    both = study.data.drop_nulls(["label_ra", "label_mn"])
    # Two people who label the same eye agree on most of it.
    assert (both["label_ra"] == both["label_mn"]).mean() > 0.7
    assert len(study.data) - len(both) < 20
