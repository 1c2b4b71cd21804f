"""What somebody means by a stimulus, and where its picture lay, is found or refused."""

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study
from eyelid.releases.maps.view import view_of


def study(stimuli=("page",), screen=(320, 200, 0.32, 0.2, 0.6)):
    data = pl.DataFrame(
        {
            "person": "a",
            "recording": list(stimuli) or ["r"],
            "stimulus": list(stimuli) or [None],
            "time_ms": np.arange(max(1, len(stimuli)), dtype=float),
            "x": 1.0,
            "y": 1.0,
        },
        schema_overrides={"stimulus": pl.String},
    )
    people = pl.DataFrame({"person": ["a"]})
    where = Screen(*screen) if screen else None
    return Study("fixations", data, people, units="px", xy_origin="top-left", screen=where)


@pytest.fixture
def picture(tmp_path):
    from PIL import Image

    def make(name, size=(320, 200)):
        Image.new("RGB", size, "white").save(tmp_path / name)
        return tmp_path / name

    return make


@pytest.mark.parametrize("known", ["page.png", "page"])
def test_a_picture_is_the_stimulus_of_its_name_with_or_without_ending(known, picture):
    found = view_of(study((known, "other")), [picture("page.png")])
    assert found.stimuli == (known,)
    assert found.pictures[0].shape == (200, 320, 3)
    assert found.notes == ()


def test_the_path_of_another_machine_is_read_by_its_last_part():
    found = view_of(study(("page", "other")), [r"C:\slides\page.png"])
    assert (found.stimuli, found.pictures) == (("page",), (None,))


def test_a_file_that_happens_to_be_called_like_a_stimulus_is_no_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page").write_text("not a picture")
    assert view_of(study(), ["page"]).pictures == (None,)


def test_a_name_is_never_guessed_among_several(picture):
    with pytest.raises(InputError, match="no stimulus is called like the picture"):
        view_of(study(("page", "other")), [picture("poster.png")])
    with pytest.raises(InputError, match="named twice"):
        view_of(study(), ["page", "page"])


def test_data_without_stimuli_take_any_picture_and_say_so(picture):
    found = view_of(study(()), [picture("poster.png")])
    assert found.stimuli is None
    assert "name no stimulus" in found.notes[0]
    with pytest.raises(InputError, match="name no stimulus"):
        view_of(study(()), ["poster"])


def test_the_size_is_the_picture_s_then_the_one_given_then_the_screen_s(picture):
    assert view_of(study(), ["page"]).size == (320, 200)
    assert view_of(study(screen=None), ["page"], size=(50, 40)).size == (50, 40)
    with pytest.raises(InputError, match="one size"):
        view_of(study(), [picture("page.png")], size=(50, 40))
    with pytest.raises(InputError, match="--size WxH"):
        view_of(study(screen=None), ["page"])


def test_the_point_spread_is_a_degree_where_known_and_follows_the_picture_s_scale():
    degree_px = np.tan(np.radians(1)) * 0.6 / 0.32 * 320
    assert view_of(study(), ["page"]).sigma_px == pytest.approx(degree_px)
    assert view_of(study(), ["page"], blur="2deg").sigma_px == pytest.approx(2 * degree_px)
    assert view_of(study(), ["page"], blur="7.5").sigma_px == 7.5
    half = view_of(study(), ["page"], size=(160, 100), scale=2.0)
    assert half.sigma_px == pytest.approx(degree_px / 2)
    plain = view_of(study(screen=(320, 200)), ["page"])
    assert plain.sigma_px == pytest.approx(320 / 42)
    assert plain.degree_px is None


def test_the_suggested_placement_is_accepted_and_centred():
    with pytest.raises(InputError) as stopped:
        view_of(study(), ["page"], size=(160, 50))
    assert "--at 80,75 --scale 1;" in str(stopped.value)
    assert "--at 0,50 --scale 2" in str(stopped.value)
    found = view_of(study(), ["page"], size=(160, 50), at=(0.0, 50.0), scale=2.0)
    x, y = found.placement.on_picture(np.array([160.0]), np.array([100.0]))
    assert (x.item(), y.item()) == (80, 25)
