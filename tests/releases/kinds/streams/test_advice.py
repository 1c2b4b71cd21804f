"""What inspect proposes for gaze itself can be typed as it stands."""

import re
import shlex

import polars as pl
import pytest

from eyelid.gaze.study import Screen
from eyelid.io import write
from eyelid.releases.advice import stream_way

# What a sentence leaves to its reader to fill in.


@pytest.fixture
def with_eyes(make_gaze):
    """Gaze of a left and a right eye; the left one of P1 is missing where that is asked for."""

    def make(lacking=False, **facts):
        study = make_gaze(**facts)
        eyes = [study.data.with_columns(pl.lit(eye).alias("eye")) for eye in ("left", "right")]
        if lacking:
            eyes[0] = eyes[0].filter(pl.col("person") != "P1")
        order = ["person", "recording", "eye", "time_ms"]
        return study.derive(data=pl.concat(eyes).sort(order))

    return make


@pytest.mark.parametrize("screen", [Screen(1000, 500), None], ids=["screen", "no screen"])
@pytest.mark.parametrize(("lacking", "eye"), [(False, "left"), (True, "right")])
def test_every_command_that_inspect_proposes_for_two_eyes_works(
    eyelid, with_eyes, tmp_path, screen, lacking, eye
):
    write(with_eyes(lacking, screen=screen), tmp_path / "study")
    told = eyelid("inspect", tmp_path / "study").out
    commands = re.findall(r"With (--mechanism sample [^,]*),", " ".join(told.split()))
    if screen is None:
        # Nobody knows its scene: what is to be given is named, and no command that fails.
        assert commands == []
        assert "--set scene=" in told
        assert f"--set eye={eye}" in told
        return
    assert len(commands) == 1
    assert f"--set eye={eye}" in commands[0]
    words = ["release", "IN", "OUT", *shlex.split(commands[0])]
    paths = {"IN": tmp_path / "study", "OUT": tmp_path / "out"}
    done = eyelid(*[paths.get(word, word) for word in words])
    assert done.code == 0, done.err


def test_half_a_second_is_counted_by_the_fastest_recording_where_rates_differ(make_gaze):
    study = make_gaze(screen=Screen(1000, 500))
    # At 10 Hz, and one person at 12.
    step_ms = pl.when(pl.col("person") == "P1").then(1000 / 12).otherwise(100.0)
    number = pl.int_range(pl.len()).over("person", "recording")
    slow = study.data.with_columns((number * step_ms).alias("time_ms"))
    said = stream_way(study.derive(data=slow, rate_hz=None))
    assert "--set window=6 " in said
    assert "for half a second of one recording" in said


def test_where_no_eye_is_in_every_recording_no_command_is_proposed(with_eyes):
    study = with_eyes(lacking=True)
    study = study.derive(
        data=study.data.filter((pl.col("person") != "P2") | (pl.col("eye") == "left"))
    )
    assert "leave out the recordings that lack it" in stream_way(study)
    assert "eyelid release" not in stream_way(study)
