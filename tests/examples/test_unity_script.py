"""The Unity script reads what the gatekeeper writes; nothing here can compile it."""

import re
from dataclasses import asdict
from pathlib import Path

from eyelid.stream import GazeEvent
from eyelid.stream.frames import SUBPROTOCOLS, encoded, events_text, hello
from eyelid.stream.samples import ReleasedGaze

SCRIPT = (Path(__file__).parents[2] / "examples" / "unity" / "EyelidGaze.cs").read_text("utf-8")


def number(name):
    return int(re.search(rf"const \w+ {name} = (\d+);", SCRIPT)[1])


def frame(mode, z):
    one = [1.0]
    gaze = ReleasedGaze(one, [one] * (3 if z else 2), mode, arrived_s=0.0)
    (message,) = encoded(gaze, lost=5, format="binary")
    return message


def test_it_knows_the_frames():
    header = number("HeaderBytes")
    plane, space = (len(frame("on", z)) - header for z in (False, True))
    assert f"hasZ ? {space} : {plane}" in SCRIPT
    assert frame("on", False)[0] == number("Version")
    assert frame("on", True)[1] == number("HasZ")
    assert frame("paused", False)[1] == number("Paused")
    assert frame("frozen", False)[1] == number("Frozen")
    assert all(f'"{name}"' in SCRIPT for name in SUBPROTOCOLS.values())


def test_it_knows_how_texts_begin():
    begun = {word for word in re.findall(r'"\{\\"(\w+)\\""', SCRIPT)}
    assert begun == {"hello", "events", "time_ms"}
    one = [1.0]
    gaze = ReleasedGaze(one, [one, one], "on", arrived_s=0.0)
    event = GazeEvent("area entered", 1.0, "logo", 2.0, 3.0, None)
    (text,) = encoded(gaze, lost=0, format="json")
    begins = [text, hello({}), events_text([event])]
    assert {each[2 : each.index('"', 2)] for each in begins} == begun
    for name in asdict(event):
        assert re.search(rf"public \w+ {name};", SCRIPT)


def test_the_token_is_in_no_address():
    assert 'SetRequestHeader("Authorization", "Bearer " + token)' in SCRIPT
    assert "token=" not in SCRIPT


def test_brackets_close():
    code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', "", SCRIPT)
    open_ones = []
    for bracket in re.findall(r"[()\[\]{}]", code):
        if bracket in "([{":
            open_ones.append(bracket)
        else:
            assert open_ones.pop() + bracket in ("()", "[]", "{}")
    assert open_ones == []
