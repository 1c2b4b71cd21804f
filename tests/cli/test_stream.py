"""``eyelid stream`` as a person meets it."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import polars as pl
import pytest

from eyelid import simulate as eyelid_simulate
from eyelid import write
from eyelid.gaze.study import Screen

FILTER = ["--epsilon", "1", "--window", "500ms", "--radius", "3"]
SHORT = ["--source", "simulate:minutes=0.05,seed=1", "--speed", "full", *FILTER]


def test_the_promise_is_told_before_anything_is_streamed(eyelid):
    done = eyelid("stream", *SHORT)
    assert done.code == 0
    lines = done.out.splitlines()
    assert "any 60 samples in a row (500 ms at 120 Hz), each within 3 deg" in lines[0]
    assert "ε = 1" in lines[0]
    # e / (1 + e), never rounded down.
    assert "is right at most 73.2% of the time, not 50" in lines[0]
    # 51.97 / 3 for a window, 120 windows a minute; 180 Hz and half a second more are let in.
    assert "every window costs the person ε = 17.33, which is 2079 a minute at 120 Hz" in lines[1]
    assert f"at most {math.ceil(51.97 / 3 * 182)} a minute at the 180 Hz" in lines[1]
    assert "when samples come" in lines[2]
    assert any(line.startswith("worst window: ε = 0.") for line in lines)


def test_json_is_one_object_and_the_recording_what_was_released(eyelid, tmp_path):
    record = tmp_path / "released.csv"
    done = eyelid("stream", *SHORT, "--record", record, "--limit", "60", "--json")
    told = json.loads(done.out)
    assert told["meter"]["mode"] == "frozen"
    assert told["meter"]["person_epsilon"] <= 60
    assert told["certificate"]["guarantee"]["holds"]
    assert "Limit: ε = 60 for the person, reached after 3 windows, 1.5 s at 120 Hz." in done.err
    # Nobody remembers it, and that is said.
    assert "forgotten when this command ends" in done.err
    assert len(pl.read_csv(record)) == told["samples"] == told["consumers"][0]["sent"]


def test_a_limit_that_is_kept_and_never_reached_is_not_said_to_end(eyelid, tmp_path):
    words = ["--limit", "60", "--on-limit", "coarsen", "--budget", tmp_path / "anna"]
    done = eyelid("stream", *SHORT, *words)
    assert "Limit: ε = 60 for the person, never reached: whenever half" in done.out
    assert "quartered" in done.out
    assert "reached after" not in done.out
    assert "forgotten" not in done.out


def test_a_limit_that_is_spent_already_is_refused_by_its_own_exit_code(eyelid, tmp_path):
    words = ["--limit", "60", "--budget", tmp_path / "anna"]
    assert eyelid("stream", *SHORT, *words).code == 0
    again = eyelid("stream", *SHORT, *words)
    assert again.code == 3
    assert "leaves nothing of the limit 60" in again.err


def test_an_ε_that_hides_next_to_nothing_is_not_called_protection(eyelid):
    done = eyelid("stream", *SHORT, "--epsilon", "10")
    assert done.out.startswith("Hardly protected: any 60 samples")
    assert "at most 99.996% of the time, not 50: next to nothing is hidden" in done.out


def test_a_seed_voids_the_promise_aloud_and_every_number_of_it(eyelid):
    done = eyelid("stream", *SHORT, "--seed", "1")
    assert done.out.startswith("Not protected: kaleido carries no guarantee")
    assert "ε =" not in done.out
    told = json.loads(eyelid("stream", *SHORT, "--seed", "1", "--json").out)
    assert told["promised"] is None
    assert not [name for name, value in told["meter"].items() if "epsilon" in name and value]


def test_a_baseline_promises_nothing(eyelid):
    words = ["--source", "simulate:minutes=0.05,seed=1", "--speed", "full", "--json"]
    filter = ["--filter", "temporal", "--set", "every=1"]
    refused = eyelid("stream", *words, *filter)
    assert refused.code == 2
    assert "say --unprotected" in refused.err
    done = eyelid("stream", *words, *filter, "--unprotected")
    assert done.err.startswith("eyelid: NOTHING IS PROTECTED: temporal lets raw gaze out")
    assert "Not protected: temporal carries no guarantee" in done.err
    told = json.loads(done.out)
    assert told["meter"]["person_epsilon"] is None
    assert not told["certificate"]["guarantee"]["holds"]


REFUSED = {
    "raw gaze": (["--filter", "none"], "raw gaze out"),
    "no stream": (["--filter", "laplace"], "laplace"),
    "no filter": (
        ["--filter", "kalido"],
        "unknown filter 'kalido': did you mean 'kaleido'?",
    ),
    "no parameter": (["--set", "event=0.3"], "did you mean '--events'?"),
    "areas for nothing": (["--areas", "a:0,0,9,9"], "--areas are for --events, --counters or"),
    "nothing to count": (
        ["--counters", "0.2"],
        "--counters count time on areas: say them, --areas",
    ),
    "no file to map": (["--map", "x=1"], "--map says what columns of a file mean"),
    "an option with a dash": (["--set", "on_limit=freeze"], "write --on-limit freeze"),
    "no source": (["--source", "webcam"], "unknown source 'webcam'"),
    "no sink": (["--sink", "none"], "unknown sink"),
    "no tier": (["--tier", "middle"], "unknown tier"),
    "two tiers": (["--tier", "coarse", "--filter", "kaleido"], "leave one out"),
    "no time": (["--seconds", "0"], "--seconds must be positive, got 0"),
    "no rate": (["--source", "ws://127.0.0.1:1", "--speed", "real"], "--rate HZ"),
    "no origin": (["--sink", "ws-serve:127.0.0.1:0", "--origin", "*"], "web address"),
    "other units": (["--units", "px"], "is in deg"),
    "a limit of nothing": (["--limit", "60", "--seed", "1"], "leave one out"),
    "protection that is there": (["--unprotected"], "leave it out"),
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
        while not (record.exists() and record.stat().st_size > 1000):
            assert process.poll() is None, "the stream ended by itself"
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 0, err
    told = json.loads(out)
    assert len(pl.read_csv(record)) == told["samples"] > 0
    # Left in order: the next run goes on from there.
    left = json.loads(budget.read_text())
    assert left["taken"] == told["samples"]
    assert left["left_in_order"] is not None


SAID = {"--epsilon": "1", "--window": "60", "--radius": "50", "--scene": "0,0,1920,1080"}
NEEDED = {
    "--epsilon": "kaleido needs epsilon, .*: give it with --epsilon 1",
    "--window": "kaleido needs window, .*: give it with --window 500ms",
    "--radius": "kaleido needs radius, .*: give it with --radius 100",
    "--scene": r"gaze in px needs a scene.*: --scene 0,0,1920,1080, say \(--units",
}


@pytest.mark.parametrize("left_out", NEEDED)
def test_what_is_missing_is_named_as_the_option_it_is(eyelid, left_out):
    words = [word for pair in SAID.items() if pair[0] != left_out for word in pair]
    done = eyelid("stream", "--source", "lsl:nobody,rate=120", *words)
    assert done.code == 2
    assert re.search(NEEDED[left_out], done.err)


def test_a_window_of_one_sample_is_told(eyelid):
    done = eyelid("stream", *SHORT, "--window", "1ms")
    assert "--window 1ms is 1 sample: single samples are hidden, and no fixation" in done.err


def test_events_and_counters_have_options_and_share_epsilon(eyelid):
    areas = ["--areas", "left:0,0,20,26; right:20,0,45,26"]
    done = eyelid("stream", *SHORT, "--events", "0.3", "--counters", "0.2", *areas, "--json")
    told = json.loads(done.out)["certificate"]["mechanism"]["parameters"]
    assert told["fixations"]["areas"] == told["dwell"]["areas"] == areas[1]
    shares = [told[mechanism]["epsilon"] for mechanism in ("kaleido", "fixations", "dwell")]
    assert shares == pytest.approx([0.5, 0.3, 0.2])


def test_a_study_says_its_own_scene_and_units(eyelid, tmp_path):
    study = eyelid_simulate(people=1, tasks=("comic",), minutes=0.05, rate_hz=60, seed=1)
    screen = Screen(width_m=0.5, height_m=0.3, distance_m=0.6)
    write(replace(study, screen=screen, units="deg", xy_origin="centre"), tmp_path / "study")
    words = ["--source", f"file:{tmp_path / 'study'}", "--speed", "full", *FILTER, "--json"]
    told = json.loads(eyelid("stream", *words).out)["certificate"]["mechanism"]["parameters"]
    assert told["coordinates"] == "deg"
    # 2·atan(0.25/0.6) is 45.24°.
    assert told["scene"].startswith("-22.619864948")


def test_columns_of_a_file_are_named_with_map(eyelid, tmp_path):
    path = tmp_path / "gaze.csv"
    time_ms = [10.0 * row for row in range(100)]
    pl.DataFrame({"when": time_ms, "across": 5.0, "down": 7.0}).write_csv(path)
    words = ["--source", f"file:{path}", "--speed", "full", *FILTER, "--json"]
    refused = eyelid("stream", *words)
    assert refused.code == 2
    assert "--map" in refused.err
    named = ["--map", "time=when,time_unit=ms,x=across,y=down,units=px,screen=640x480"]
    told = json.loads(eyelid("stream", *words, *named).out)
    assert told["samples"] == 100
    assert told["certificate"]["mechanism"]["parameters"]["scene"] == "0,0,640,480"
