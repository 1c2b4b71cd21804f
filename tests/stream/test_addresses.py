"""Recordings and simulated participants as sources, and texts that name sources and sinks."""

import asyncio
import os
from time import perf_counter

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError, Refused
from eyelid.gaze.study import Screen, Study
from eyelid.io import read, write
from eyelid.io.intake import counted
from eyelid.privacy.ledger import Ledger
from eyelid.stream.access import checked_origins, find_token, token_or_new
from eyelid.stream.addresses import sink_of, source_of
from eyelid.stream.session import window_samples


class Taken:
    """Takes everything, and remembers when it began anew."""

    def __init__(self):
        self.pieces, self.begun = [], 0

    def begin(self):
        self.begun += 1

    def take(self, raw):
        self.pieces.append(raw)

    async def until_room(self):
        await asyncio.sleep(0)

    @property
    def columns(self):
        pieces = [[p.time_ms, *p.parts] for p in self.pieces]
        return [np.concatenate(column) for column in zip(*pieces, strict=True)]


@pytest.fixture
def study(tmp_path):
    """Two people, two recordings each, 60 samples at 120 Hz, some lost."""
    rows = [
        {"person": p, "recording": r, "time_ms": i * 1000 / 120, "x": i + 100.0 * r_, "y": 7.0}
        for p in "ab"
        for r_, r in enumerate(["one", "two"])
        for i in range(60)
    ]
    data = pl.DataFrame(rows).with_columns(
        x=pl.when(pl.col("x") == 30).then(None).otherwise(pl.col("x"))
    )
    people = pl.DataFrame({"person": ["a", "b"]})
    screen = Screen(width_px=1920, height_px=1080)
    write(Study("samples", data, people, "px", 120.0, screen, xy_origin="top-left"), tmp_path / "s")
    return tmp_path / "s"


def test_a_recording_is_played_as_it_was(run, study):
    told, taken = [], Taken()
    source = source_of(f"file:{study},person=b", speed="full", tell=told.append)
    assert "not in the ledger" in told[0]
    run(source.run(taken, False))
    time_ms, x, y = taken.columns
    assert taken.begun == 2
    np.testing.assert_allclose(time_ms[:60], np.arange(60) * 1000 / 120)
    assert np.isnan(x[30])
    np.testing.assert_array_equal(x[60:], np.arange(60) + 100.0)
    assert set(y) == {7.0}
    assert (source.scenery.units, source.scenery.rate_hz) == ("px", 120.0)
    assert source.scenery.scene == "0,0,1920,1080"


def test_recordings_whose_ledger_has_a_limit_are_not_played_past_it(study):
    counted_study = counted(read(study), study)
    origin = counted_study.origin
    source_of(f"file:{study},person=b", speed="full")
    ledger = Ledger(origin.ledger)
    ledger.set_allowance(origin.id, 1.0, 1e-6)
    with pytest.raises(Refused, match=r"limit of ε = 1 .*eyelid release"):
        source_of(f"file:{study},person=b", speed="full")
    ledger.lift_allowance(origin.id)
    source_of(f"file:{study},person=b", speed="full")


def test_in_real_time_samples_come_when_they_are_due(run, study):
    source = source_of(f"file:{study},person=a,recording=two")
    taken = Taken()
    begun_s = perf_counter()
    run(source.run(taken, False))
    arrived = np.repeat([p.arrived_s for p in taken.pieces], [len(p) for p in taken.pieces])
    time_ms, _, _ = taken.columns
    # Never early; how late depends on how busy this machine is.
    assert (1000 * (arrived - begun_s) - time_ms).min() > -0.5


def test_one_stream_is_of_one_person(study):
    with pytest.raises(InputError, match=r"holds 2 people.*person=a"):
        source_of(f"file:{study}")
    with pytest.raises(InputError, match="no person 'c': choose from a, b"):
        source_of(f"file:{study},person=c")


def test_a_made_up_person_looks_at_the_scene(run):
    source = source_of("simulate:rate=250,minutes=0.05,seed=3", speed="full")
    taken = Taken()
    run(source.run(taken, False))
    time_ms, x, y = taken.columns
    assert np.median(np.diff(time_ms)) == 4.0
    x0, y0, x1, y1 = (float(corner) for corner in source.scenery.scene.split(","))
    assert x0 <= np.nanmin(x) <= np.nanmax(x) <= x1
    assert y0 <= np.nanmin(y) <= np.nanmax(y) <= y1


BAD_SOURCES = {
    "simulte": "did you mean 'simulate'",
    "simulate:fast": "no 'fast'",
    "simulate:rate=quick": "must be a number, got 'quick'",
    "simulate:rate=5": "between 30 and 1000",
    "simulate:rate=60,rate=70": "twice",
    "file:": "needs a path",
    "file:no/such/file.csv": "does not exist",
    "lsl:": "needs the name of a stream",
    "ws://": "no WebSocket address",
    "ws-serve:nowhere": "no place to listen",
    "ws-serve:127.0.0.1:0,rate=-4": "must be positive, got -4",
    "ws://127.0.0.1:1,format=xml": "unknown format 'xml'",
}


@pytest.mark.parametrize(("text", "complaint"), BAD_SOURCES.items(), ids=BAD_SOURCES)
def test_a_source_that_is_none_is_one_clear_line(text, complaint):
    with pytest.raises(InputError, match=complaint):
        source_of(text)


def test_only_what_is_replayed_has_a_full_speed():
    with pytest.raises(InputError, match="is live"):
        source_of("ws://127.0.0.1:1", speed="full")
    with pytest.raises(InputError, match="unknown speed"):
        source_of("simulate", speed="warp")


@pytest.mark.parametrize("text", ["none", "file:x.csv", "lsl:", "ws-serve:", "ws://"])
def test_a_sink_that_is_none_is_refused(text):
    with pytest.raises(InputError):
        sink_of(text)


def test_listening_beyond_this_machine_is_warned_of(monkeypatch):
    monkeypatch.setenv("EYELID_SINK_TOKEN", "a-token-for-the-tests")
    told = []
    sink_of("ws-serve:0.0.0.0:0", tell=told.append)
    assert "nothing is encrypted" in told[0]
    assert not any("a-token-for-the-tests" in line for line in told)
    sink_of("ws-serve:127.0.0.1:0", tell=told.append)
    assert len(told) == 1


def test_tokens_come_from_a_file_or_the_environment_or_are_made_once(tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text("from-a-file-of-my-own\n")
    monkeypatch.setenv("A_TOKEN", "from-the-environment")
    assert find_token(file, "A_TOKEN") == "from-a-file-of-my-own"
    assert find_token(None, "A_TOKEN") == "from-the-environment"
    monkeypatch.delenv("A_TOKEN")
    assert find_token(None, "A_TOKEN") is None
    told = []
    made = token_or_new(None, "A_TOKEN", told.append)
    assert len(made) >= 32
    assert len(told) == 1
    assert made in told[0]
    assert made != token_or_new(None, "A_TOKEN", told.append)


@pytest.mark.parametrize("token", ["short", "with a space inside it", "", "line\nbreak-in-it-all"])
def test_a_bad_token_is_refused_and_not_repeated(tmp_path, token):
    file = tmp_path / "token"
    file.write_text(token)
    with pytest.raises(InputError, match="at least 16") as refused:
        find_token(file, "A_TOKEN")
    assert not token or token not in str(refused.value)
    with pytest.raises(InputError, match="cannot read a token"):
        find_token(tmp_path / "missing", "A_TOKEN")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of Unix")
def test_a_token_that_others_can_read_is_warned_of(tmp_path):
    file, told = tmp_path / "token", []
    file.write_text("a-token-for-the-tests")
    file.chmod(0o644)
    find_token(file, "A_TOKEN", told.append)
    file.chmod(0o600)
    find_token(file, "A_TOKEN", told.append)
    assert [text.partition("chmod")[1:] for text in told] == [("chmod", f" 600 {file}")]


def test_an_origin_is_a_web_address():
    assert checked_origins(["https://a.test/"]) == ("https://a.test",)
    for bad in ("*", "localhost", "http://a.test/page", "https://*.a.test"):
        with pytest.raises(InputError, match="web address"):
            checked_origins([bad])


def test_a_window_in_time_needs_a_rate():
    assert window_samples("0.1s", 30.0) == 3
    assert window_samples("1ms", 30.0) == 1
    with pytest.raises(InputError, match="--rate HZ"):
        window_samples("500ms", None)
    for bad in ("long", "1.5", "-3", "5min", ""):
        with pytest.raises(InputError, match="500ms"):
            window_samples(bad, 120.0)
