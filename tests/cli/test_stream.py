"""``eyelid stream`` as a person meets it."""

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

FILTER = ["--epsilon", "1", "--window", "500ms", "--radius", "3"]
SHORT = ["--source", "simulate:minutes=0.05,seed=1", "--speed", "full", *FILTER]


def test_the_promise_is_told_before_anything_is_streamed(eyelid):
    done = eyelid("stream", *SHORT)
    assert done.code == 0
    lines = done.out.splitlines()
    assert "any 60 samples in a row (500 ms at 120 Hz), each within 3 deg" in lines[0]
    assert "ε = 1" in lines[0]
    # 51.97 / 3 for a window, 120 windows a minute.
    assert "every window costs the person ε = 17.33, which is 2079 a minute" in lines[1]
    assert "when samples come" in lines[2]
    assert any(line.startswith("worst window: ε = 0.") for line in lines)


def test_json_is_one_object_and_the_recording_what_was_released(eyelid, tmp_path):
    record = tmp_path / "released.csv"
    done = eyelid("stream", *SHORT, "--record", record, "--limit", "60", "--json")
    told = json.loads(done.out)
    assert told["meter"]["mode"] == "frozen"
    assert told["meter"]["person_epsilon"] <= 60
    assert told["certificate"]["guarantee"]["holds"]
    assert "Limit: ε = 60 for the person, reached after 3 windows" in done.err
    assert len(pl.read_csv(record)) == told["samples"] == told["consumers"][0]["sent"]


def test_a_seed_voids_the_promise_aloud(eyelid):
    done = eyelid("stream", *SHORT, "--seed", "1")
    assert "Protected: any" not in done.out
    assert "carries no guarantee" in done.out


def test_a_baseline_promises_nothing(eyelid):
    words = ["--source", "simulate:minutes=0.05,seed=1", "--speed", "full", "--json"]
    done = eyelid("stream", *words, "--filter", "jitter", "--set", "sd=1")
    assert "Not protected: jitter carries no guarantee" in done.err
    told = json.loads(done.out)
    assert told["meter"]["person_epsilon"] is None
    assert not told["certificate"]["guarantee"]["holds"]


REFUSED = {
    "raw gaze": (["--filter", "none"], "raw gaze out"),
    "no stream": (["--filter", "laplace"], "laplace"),
    "no source": (["--source", "webcam"], "unknown source 'webcam'"),
    "no sink": (["--sink", "none"], "unknown sink"),
    "no tier": (["--tier", "middle"], "unknown tier"),
    "two tiers": (["--tier", "coarse", "--filter", "kaleido"], "leave one out"),
    "no time": (["--seconds", "0"], "--seconds must be positive, got 0"),
    "no rate": (["--source", "ws://127.0.0.1:1", "--speed", "real"], "--rate HZ"),
    "no origin": (["--sink", "ws-serve:127.0.0.1:0", "--origin", "*"], "web address"),
    "no scene": (["--units", "px"], "scene"),
    "a parameter with an option": (["--set", "epsilon=3"], "write --epsilon 3"),
    "no recording": (["--record", "released.doc"], ".csv or .parquet"),
}


@pytest.mark.parametrize(("words", "complaint"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_one_clear_line(eyelid, words, complaint):
    done = eyelid("stream", *SHORT, *words)
    assert done.code == 2
    assert complaint in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


def test_a_token_is_made_and_told_once_and_never_in_the_results(eyelid, monkeypatch):
    monkeypatch.delenv("EYELID_SINK_TOKEN", raising=False)
    done = eyelid("stream", *SHORT, "--sink", "ws-serve:127.0.0.1:0", "--json")
    (line,) = [line for line in done.err.splitlines() if "EYELID_SINK_TOKEN=" in line]
    token = line.split("=")[1].split()[0]
    assert token not in done.out
    assert done.err.count(token) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as they are on Unix")
def test_ctrl_c_ends_a_stream_cleanly_and_its_budget_goes_on(tmp_path):
    budget, record = tmp_path / "anna", tmp_path / "released.csv"
    words = ["--source", "simulate:seed=1,minutes=1", *FILTER, "--budget", str(budget), "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "eyelid", "stream", *words, "--record", str(record)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        end = time.monotonic() + 30
        while not (record.exists() and record.stat().st_size > 1000):
            assert time.monotonic() < end, "the stream did not begin in time"
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    told = json.loads(out)
    assert len(pl.read_csv(record)) == told["samples"] > 0
    # Left in order: the next run goes on from there.
    left = json.loads(budget.read_text())
    assert left["taken"] == told["samples"]
    assert left["left_in_order"] is not None
