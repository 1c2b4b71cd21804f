"""What a person means by a stimulus, and where its picture lay, is found or refused."""

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study
from eyelid.releases.kinds.maps.view import view_of


def study(stimuli=("page",), screen=(320, 200, 0.32, 0.2, 0.6), gaze=(1.0, 1.0)):
    data = pl.DataFrame(
        {
            "person": "a",
            "recording": list(stimuli) or ["r"],
            "stimulus": list(stimuli) or [None],
            "time_ms": np.arange(max(1, len(stimuli)), dtype=float),
            "x": gaze[0],
            "y": gaze[1],
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
    with pytest.raises(InputError, match="`size=…`"):
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


def gazing(x, y, screen=(320, 200)):
    """A study of one stimulus, with gaze at these places of the screen."""
    data = pl.DataFrame({"x": x, "y": y}).with_columns(
        person=pl.lit("a"),
        recording=pl.lit("page"),
        stimulus=pl.lit("page"),
        time_ms=pl.int_range(pl.len()).cast(pl.Float64),
    )
    return study(screen=screen).derive(data=data)


def refusal(found, **asked):
    with pytest.raises(InputError) as stopped:
        view_of(found, ["page"], **asked)
    return str(stopped.value)


RNG = np.random.default_rng(3)


def test_the_suggested_placement_is_accepted_and_centred():
    # Somewhere on a picture of 160 × 50 px in the middle of the screen.
    looking = gazing(RNG.uniform(80, 240, 200), RNG.uniform(75, 125, 200))
    said = refusal(looking, size=(160, 50))
    assert "`at=80,75` `scale=1` (100% of the gaze is on it then);" in said
    assert "`at=0,50` `scale=2`" in said
    found = view_of(looking, ["page"], size=(160, 50), at=(0.0, 50.0), scale=2.0)
    x, y = found.placement.on_picture(np.array([160.0]), np.array([100.0]))
    assert (x.item(), y.item()) == (80, 25)


def test_no_scale_is_advised_for_a_screen_that_the_gaze_does_not_fit():
    """Images of 1024 × 768 px under a foreign screen of 800 × 600: --scale 0.78 was advised."""
    looking = gazing(RNG.uniform(0, 1024, 500), RNG.uniform(0, 768, 500), screen=(800, 600))
    said = refusal(looking, size=(1024, 768))
    assert "0.78" not in said
    assert "of the gaze lies beyond that screen" in said
    assert "where the picture lay is not known" in said
    assert "`map='screen=WIDTHxHEIGHT'`" in said
    assert "if x and y are px of the picture itself, write `at=0,0` `scale=1`" in said
    # What it says is accepted, and puts gaze where it was.
    found = view_of(looking, ["page"], size=(1024, 768), at=(0.0, 0.0), scale=1.0)
    assert found.placement.on_picture(np.array([900.0]), np.array([700.0]))[0].item() == 900
    # Neither of the two is known of gaze that fits nothing.
    lost = gazing(RNG.uniform(0, 5000, 500), RNG.uniform(0, 768, 500), screen=(800, 600))
    assert "`at=0,0`" not in refusal(lost, size=(1024, 768))


def test_no_middle_is_advised_for_gaze_that_is_told_from_the_picture_s_corner():
    looking = gazing(RNG.uniform(0, 160, 200), RNG.uniform(0, 100, 200))
    said = refusal(looking, size=(160, 100))
    assert "100% of the gaze lies within 160 × 100 px from 0, 0" in said
    assert "if so write `at=0,0` `scale=1`" in said
    assert "`at=80,50`" not in said


def test_no_middle_is_advised_where_people_did_not_look():
    # In the lower right corner.
    looking = gazing(RNG.uniform(260, 320, 200), RNG.uniform(150, 200, 200))
    said = refusal(looking, size=(100, 100))
    assert "in the middle of the screen it did not lie" in said
    assert "`scale=1`" not in said


def test_without_any_gaze_no_placement_is_advised():
    lost = gazing([None, None], [1.0, 2.0]).derive()
    said = refusal(lost, size=(100, 100))
    assert "there is no gaze to tell it by" in said
