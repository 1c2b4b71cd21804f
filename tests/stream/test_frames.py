"""Messages: JSON and bytes, and what is none."""

import json
import struct

import numpy as np
import pytest

from eyelid.stream.frames import Malformed, decoded, encoded
from eyelid.stream.samples import ReleasedGaze


def released(count, parts=2, mode="on"):
    columns = [[0.5 * i + j for i in range(count)] for j in range(parts + 1)]
    return ReleasedGaze(columns[0], columns[1:], mode, 0.0)


def take(message, directions=False):
    return decoded(message, directions=directions, arrived_s=1.0)


def test_bytes_are_laid_out_as_said():
    (message,) = encoded(released(2, parts=3, mode="frozen"), 7, "binary")
    assert message == struct.pack("<BBHI", 1, 1 | 4, 2, 7) + b"".join(
        struct.pack("<dfff", 0.5 * i, 0.5 * i + 1, 0.5 * i + 2, 0.5 * i + 3) for i in range(2)
    )


def test_json_is_written_as_said():
    (message,) = encoded(released(2, mode="paused"), 3, "json")
    assert json.loads(message) == {
        "time_ms": [0.0, 0.5],
        "x": [1.0, 1.5],
        "y": [2.0, 2.5],
        "lost": 3,
        "mode": "paused",
    }


@pytest.mark.parametrize("format", ["json", "binary"])
@pytest.mark.parametrize("parts", [2, 3])
def test_what_is_sent_can_be_taken(format, parts):
    gaze = released(5, parts)
    (message,) = encoded(gaze, 0, format)
    raw = take(message, directions=parts == 3)
    assert (raw.time_ms, list(raw.parts)) == (gaze.time_ms, list(gaze.parts))
    assert raw.arrived_s == 1.0


def test_very_many_samples_are_several_frames_that_tell_the_loss_once():
    frames = list(encoded(released(70_000), 9, "binary"))
    heads = [struct.unpack_from("<BBHI", frame) for frame in frames]
    assert [head[2:] for head in heads] == [(65_535, 9), (4_465, 0)]


def test_a_tracker_may_send_single_numbers_and_nulls():
    raw = take('{"time_ms": 5, "x": null, "y": [2.5], "pupil": "whatever"}')
    assert raw.time_ms == [5.0]
    assert np.isnan(raw.parts[0][0])
    assert raw.parts[1] == [2.5]
    assert np.isnan(take('{"time_ms": 5, "x": NaN, "y": Infinity}').parts[0][0])


GOOD = struct.pack("<BBHI", 1, 0, 1, 0) + struct.pack("<dff", 1.0, 2.0, 3.0)
BAD = {
    "no JSON": "gaze 777.125",
    "a list": "[777.125, 2, 3]",
    "deep": "[" * 50_000,
    "no y": '{"time_ms": 1, "x": 777.125}',
    "text": '{"time_ms": 1, "x": "777.125", "y": 1}',
    "truth": '{"time_ms": 1, "x": true, "y": 1}',
    "nested": '{"time_ms": [1], "x": [[777.125]], "y": [1]}',
    "unequal": '{"time_ms": [1, 2], "x": [777.125], "y": [1]}',
    "empty": '{"time_ms": [], "x": [], "y": []}',
    "huge": '{"time_ms": 1, "x": 1' + "0" * 400 + ', "y": 1}',
    "nothing": b"",
    "short": GOOD[:-1],
    "long": GOOD + b"\0",
    "no samples": struct.pack("<BBHI", 1, 0, 0, 0),
    "other version": b"\2" + GOOD[1:],
    "with z": struct.pack("<BBHI", 1, 1, 1, 0) + struct.pack("<dfff", 1.0, 2.0, 3.0, 4.0),
}


@pytest.mark.parametrize("message", BAD.values(), ids=BAD)
def test_what_is_no_gaze_is_refused_without_repeating_it(message):
    with pytest.raises(Malformed) as refused:
        take(message)
    assert "777" not in str(refused.value)


def test_directions_need_their_z():
    assert len(take(GOOD)) == 1
    with pytest.raises(Malformed):
        take(GOOD, directions=True)
