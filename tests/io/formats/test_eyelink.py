"""EyeLink ``.asc``: files in its layout, their mutations, and real ones beside peers."""

import gzip
import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read as read_study
from eyelid.io.column_map import layout_from_dict
from eyelid.io.files import (
    Head,
    head_of,
)
from eyelid.io.formats import eyelink
from eyelid.io.layout import NOTHING_SAID
from eyelid.io.reading import read_part

PREAMBLE = """\
** CONVERTED FROM C:\\lab\\Ann Smith.edf using edfapi 4.2.1 Win32
** DATE: Thu Jan  1 01:02:03 1970
** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED
** VERSION: EYELINK II 1
**

MSG\t900 DISPLAY_COORDS 0 0 1023 767
MSG\t901 !CAL
>>>>>>> CALIBRATION (HV9,P-CR) FOR LEFT: <<<<<<<<<
MSG\t901 !CAL Cal coeff:
     -1  123.45  6.789  0.1234  0.5678
INPUT\t902\t0
"""
SCREEN = "MSG\t990 GAZE_COORDS 0.00 0.00 1919.00 1079.00\n"


def block(samples, eyes="LEFT", rate="1000.00", kind="GAZE", more="", end=True):
    """Samples or other lines between START and END."""
    tabs = "\t".join(eyes.split())
    lines = [
        f"START\t1000 \t{tabs}\tSAMPLES\tEVENTS",
        "PRESCALER\t1",
        "VPRESCALER\t1",
        "PUPIL\tAREA",
        f"EVENTS\t{kind}\t{tabs}\tRATE\t{rate}\tTRACKING\tCR\tFILTER\t2",
        f"SAMPLES\t{kind}\t{tabs}\tRATE\t{rate}\tTRACKING\tCR\tFILTER\t2{more}",
        *samples,
        *(["END\t2000 \tSAMPLES\tEVENTS\tRES\t  30.00\t  31.00"] if end else []),
    ]
    return "".join(line + "\n" for line in lines)


def mono(times, x=500.0):
    return [f"{t}\t{x + i:7.1f}\t  300.5\t  800.0\t..." for i, t in enumerate(times)]


def both(times):
    return [f"{t}\t  10.0\t  20.0\t  800.0\t  30.0\t  40.0\t  900.0\t....." for t in times]


def head(content, name="p01.asc"):
    content = content if isinstance(content, bytes) else content.encode()
    return Head(Path(name), content, True)


def read(content, name="p01.asc", **said):
    return eyelink.read(head(content, name), layout_from_dict(said) if said else NOTHING_SAID)


USUAL = (
    PREAMBLE
    + SCREEN
    + block(
        [
            "MSG\t1000 TRIALID 1",
            "1000\t  512.0\t  384.5\t  811.0\t...",
            "SFIX L   1001",
            "1001\t  512.5\t  384.0\t  812.0\t...",
            "1002\t   .\t   .\t    0.0\t...",
            "EFIX L   1001\t1002\t2\t  512.3\t  384.2\t    811",
            "BUTTON\t1002\t5\t1",
            "SSACC L  1003",
            "SBLINK L 1003",
            "1003\t   .\t   .\t    0.0\t.C.",
            "EBLINK L 1003\t1003\t1",
            "ESACC L  1003\t1004\t2\t   .\t   .\t  600.0\t  300.0\t   3.05\t    203",
            "MSG\t1004 -2 TRIALID 2",
            "1004\t  600.5\t -300.5\t  790.0\t...",
        ]
    )
)


def test_a_recording_of_one_eye():
    part = read(USUAL)
    assert part.format == "EyeLink"
    assert part.kind == "samples"
    assert_frame_equal(
        part.data,
        pl.DataFrame(
            {
                "time_ms": [1000.0, 1001.0, 1002.0, 1003.0, 1004.0],
                "eye": ["left"] * 5,
                "x": [512.0, 512.5, None, None, 600.5],
                "y": [384.5, 384.0, None, None, -300.5],
                "pupil": [811.0, 812.0, None, None, 790.0],
            }
        ),
    )
    assert (part.units, part.xy_origin, part.pupil_unit) == ("px", "top-left", "arbitrary")
    assert part.rate_hz == 1000.0
    assert part.screen == Screen(width_px=1920, height_px=1080)
    assert part.notes == ()


def test_events_last_from_their_onset_to_their_offset():
    assert_frame_equal(
        read(USUAL).events,
        pl.DataFrame(
            {
                "name": ["fixation", "blink", "saccade"],
                "onset_ms": [1001.0, 1003.0, 1003.0],
                "offset_ms": [1002.0, 1003.0, 1004.0],
                "duration_ms": [1.0, 0.0, 1.0],
                "eye": ["left"] * 3,
            }
        ),
        check_column_order=False,
    )


def test_a_recording_without_events_has_none():
    assert read(PREAMBLE + block(mono([1, 2]))).events is None


def test_both_eyes_are_kept_one_after_the_other():
    data = read(PREAMBLE + block(both([1, 2, 3]), "LEFT RIGHT")).data
    assert data["eye"].to_list() == ["left"] * 3 + ["right"] * 3
    assert data.row(2) == (3.0, "left", 10.0, 20.0, 800.0)
    assert data.row(3) == (1.0, "right", 30.0, 40.0, 900.0)


def test_the_right_eye_alone_is_the_right_one():
    assert read(PREAMBLE + block(mono([1, 2]), "RIGHT")).data["eye"].unique().item() == "right"


@pytest.mark.parametrize("rate", [250, 500, 1000, 2000])
def test_any_rate_is_read_as_stated(rate):
    times = [f"{1000 + i * 1000 / rate:.1f}" for i in range(9)]
    part = read(PREAMBLE + block(mono(times), rate=f"{rate:7.2f}"))
    assert part.rate_hz == rate
    np.testing.assert_allclose(np.diff(part.data["time_ms"]), 1000 / rate)
    assert part.notes == ()


def test_whole_milliseconds_at_2000_hz_stand_for_two_samples_each():
    part = read(PREAMBLE + block(mono([10, 10, 11, 11, 12]), rate="2000.00"))
    assert part.data["time_ms"].to_list() == [10.0, 10.5, 11.0, 11.5, 12.0]
    assert "evenly between stamps" in part.notes[0]


@pytest.mark.parametrize(("rate", "times"), [("1000.00", [10, 10]), ("2000.00", [10, 10, 10])])
def test_a_stamp_that_more_samples_share_than_the_rate_allows_is_an_error(rate, times):
    content = PREAMBLE + block(mono([8, 9, *times]), rate=rate)
    line = len(content.splitlines()) - 1
    with pytest.raises(InputError, match=rf"p01\.asc, line {line}: time must increase, .* 10"):
        read(content)


def test_time_that_runs_backwards_is_an_error_that_names_the_line():
    content = PREAMBLE + block(mono([8, 9])) + block(mono([11, 10, 12]))
    line = content.splitlines().index(mono([11, 10])[1]) + 1
    with pytest.raises(InputError, match=rf"line {line}: time must increase, but here is 10 ms"):
        read(content)


# What EDF2ASC may put behind position and pupil, and the word in the SAMPLES line for it.
MORE_COLUMNS = {
    "velocity": ("VEL", "   1.2\t  -3.4"),
    "velocity of both": ("VEL", "   1.2\t  -3.4\t   5.6\t  -7.8"),
    "resolution": ("RES", "  25.70\t  26.40"),
    "input": ("INPUT", "  127.0"),
    "buttons": ("BUTTONS", "  0"),
    "head target": ("HTARGET", " -9999.0\t 4000.0\t  587.4\t............."),
    "everything": ("VEL\tRES\tHTARGET\tINPUT", "1.2\t.\t25.7\t26.4\t127.0\t.\t.\t.\t..........M.."),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("name", MORE_COLUMNS)
@pytest.mark.parametrize("eyes", ["LEFT", "LEFT RIGHT"])
def test_further_columns_are_not_taken_for_gaze(name, eyes):
    word, columns = MORE_COLUMNS[name]
    samples = both([1, 2, 3]) if " " in eyes else mono([1, 2, 3])
    wider = [f"{line.rstrip('.')}{columns}\t..." for line in samples]
    plain = read(PREAMBLE + block(samples, eyes)).data
    assert_frame_equal(read(PREAMBLE + block(wider, eyes, more="\t" + word)).data, plain)


@pytest.mark.parametrize("end", ["", "\r"])
def test_samples_without_flags_are_whole(end):
    bare = [line.removesuffix("\t...") + end for line in mono([1, 2, 3])]
    part = read(PREAMBLE + block(bare))
    assert_frame_equal(part.data, read(PREAMBLE + block(mono([1, 2, 3]))).data)


def test_blocks_of_one_rate_are_one_recording():
    part = read(PREAMBLE + block(mono([1, 2])) + "MSG\t5 pause\n" + block(mono([11, 12])))
    assert part.data["time_ms"].to_list() == [1.0, 2.0, 11.0, 12.0]
    assert "recording" not in part.data.columns
    assert part.rate_hz == 1000.0
    assert part.notes == ()


def test_blocks_may_change_the_eye():
    part = read(
        PREAMBLE
        + block(mono([1, 2], x=1.0))
        + block(mono([11, 12], x=11.0), "RIGHT")
        + block(both([21]), "LEFT RIGHT")
        + block(mono([31], x=31.0))
    )
    assert part.data.select("time_ms", "eye", "x").rows() == [
        (1.0, "left", 1.0),
        (2.0, "left", 2.0),
        (21.0, "left", 10.0),
        (31.0, "left", 31.0),
        (11.0, "right", 11.0),
        (12.0, "right", 12.0),
        (21.0, "right", 30.0),
    ]


def test_each_run_of_blocks_with_one_rate_is_a_recording():
    saccade = "ESACC L  {0}\t{1}\t2\t  1.0\t  1.0\t  2.0\t  2.0\t   3.05\t    203"
    part = read(
        PREAMBLE
        + block([*mono([1, 2]), saccade.format(1, 2)])
        + block(mono([11, 12]))
        + block([*mono([3, 5]), saccade.format(3, 5)], rate="500.00")
        + block([*mono([21, 22]), saccade.format(21, 22)]),
        name="ann.v2.asc",
    )
    assert part.data["recording"].to_list() == ["ann-1"] * 4 + ["ann-2"] * 2 + ["ann-3"] * 2
    assert part.events["recording"].to_list() == ["ann-1", "ann-2", "ann-3"]
    assert part.rate_hz is None


def test_a_block_without_samples_does_not_part_recordings():
    empty = block(["MSG\t5 nothing"], rate="500.00")
    assert "recording" not in read(PREAMBLE + block(mono([1])) + empty + block(mono([11]))).data


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ("MSG\t1 DISPLAY_COORDS 0 0 1279 1023", (1280, 1024)),
        ("MSG\t1 DISPLAY_COORDS = 0, 0, 1279, 1023", (1280, 1024)),
        ("MSG\t1 GAZE_COORDS 0.00 0.00 1919.00 1079.00", (1920, 1080)),
        (
            "MSG\t1 GAZE_COORDS 0 0 99 49\nMSG\t2 DISPLAY_COORDS 0 0 1279 1023",
            (100, 50),
        ),
        ("MSG\t1 GAZE_COORDS 0 0 99 49\nMSG\t2 GAZE_COORDS 0 0 99 49", (100, 50)),
        ("MSG\t1 no coordinates", None),
    ],
)
def test_the_screen_reaches_to_its_last_pixel(messages, expected):
    preamble = "** TYPE: EDF_FILE BINARY\n" + messages + "\n"
    screen = read(preamble + block(mono([1, 2]))).screen
    assert (screen and (screen.width_px, screen.height_px)) == expected


def test_positions_count_from_the_first_pixel_of_the_screen():
    moved = PREAMBLE + "MSG\t950 GAZE_COORDS -960 -540 959 539\n" + block(mono([1], x=-900.0))
    part = read(moved)
    assert part.data.select("x", "y").row(0) == (60.0, 840.5)
    assert part.screen == Screen(width_px=1920, height_px=1080)
    assert "shifted" in part.notes[0]
    # Who says where zero is means the numbers as they stand.
    assert read(moved, xy_origin="centre").data["x"].item() == -900.0


@pytest.mark.parametrize(
    ("coords", "origin"),
    [
        (["0 0 1023 767", "0 0 1919 1079"], "top-left"),
        (["0 0 1023 767", "10 0 1919 1079"], None),
        (["0 1079 1919 0"], None),
    ],
)
def test_screens_that_do_not_fit_together_are_left_open(coords, origin):
    messages = "".join(f"MSG\t950 GAZE_COORDS {four}\n" for four in coords)
    part = read(PREAMBLE + messages + block(mono([1, 2])))
    assert part.screen is None
    assert part.xy_origin == origin
    assert "several or impossible screens" in part.notes[0]


@pytest.mark.parametrize("kind", ["HREF", "PUPIL"])
def test_positions_that_are_no_gaze_have_no_unit(kind):
    part = read(PREAMBLE + SCREEN + block(mono([1, 2]), kind=kind))
    assert (part.units, part.xy_origin) == (None, None)
    assert f"positions are {kind}" in part.notes[0]
    assert read(PREAMBLE + block(mono([1]), kind=kind), units="deg").units == "deg"


def test_positions_of_several_kinds_have_no_unit():
    part = read(PREAMBLE + block(mono([1])) + block(mono([2]), kind="HREF"))
    assert part.units is None
    assert "GAZE and HREF" in part.notes[0]


def test_a_value_that_stands_for_a_lost_eye_can_be_said():
    lost = ["1\t9999.0\t9999.0\t0.0\t...", "2\t1.0\t2.0\t3.0\t...", "3\tNaN\tNaN\t0.0\t..."]
    assert read(PREAMBLE + block(lost), lost="9999").data["x"].to_list() == [None, 1.0, None]


SPELLINGS = {
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "spaces": lambda text: text.replace(b"\t", b" "),
    "many blanks": lambda text: text.replace(b"\t", b" \t  "),
    "only tabs": lambda text: re.sub(rb"\t +", b"\t", text),
    "blanks at the end of lines": lambda text: text.replace(b"\n", b" \t \n"),
    "empty lines": lambda text: text.replace(b"\n", b"\n\n"),
    "latin-1": lambda text: text + "MSG\t2001 Größe\n".encode("latin-1"),
    "utf-8": lambda text: text + "MSG\t2001 Größe\n".encode(),
    "utf-8 with a mark": lambda text: text.decode().encode("utf-8-sig"),
    "utf-16": lambda text: text.decode().encode("utf-16"),
    "no last line end": lambda text: text.removesuffix(b"\n"),
    "comments": lambda text: text.replace(b"PRESC", b"# 1 2 3\n// 1 2 3\n; 1 2 3\nPRESC"),
    "without preamble": lambda text: text[text.index(b"MSG") :],
    "beginning with START": lambda text: text[text.index(b"START") :],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_same_recording_is_read_however_it_is_written(spelling):
    content = SPELLINGS[spelling](USUAL.encode())
    assert eyelink.recognises(head(content))
    part, usual = read(content), read(USUAL)
    assert_frame_equal(part.data, usual.data)
    assert_frame_equal(part.events, usual.events)
    assert part.notes == ()


@pytest.mark.parametrize("size", [1, 10, 100, 1000])
def test_it_does_not_matter_where_the_file_is_cut_into_chunks(size, monkeypatch):
    whole = read(USUAL, stimulus=r"msg:TRIALID (\d)")
    monkeypatch.setattr(eyelink, "_CHUNK_BYTES", size)
    pieces = read(USUAL, stimulus=r"msg:TRIALID (\d)")
    assert_frame_equal(pieces.data, whole.data)
    assert_frame_equal(pieces.events, whole.events)


def test_a_gzipped_file_is_read_too(tmp_path):
    with gzip.open(tmp_path / "p01.asc.gz", "wb") as file:
        file.write(USUAL.encode())
    assert_frame_equal(read_part(tmp_path / "p01.asc.gz").data, read(USUAL).data)


def test_a_file_longer_than_its_head_is_read_to_the_end(tmp_path):
    path = tmp_path / "p01.asc"
    path.write_text(PREAMBLE + block(mono(range(5000))))
    assert not head_of(path).whole
    assert read_part(path).data["time_ms"].to_list() == list(range(5000))
    path.write_text(PREAMBLE + block([*mono(range(5000)), *mono([4000])]))
    with pytest.raises(InputError, match=f"line {len(path.read_text().splitlines()) - 1}: time"):
        read_part(path)


def test_a_missing_end_is_noted():
    part = read(PREAMBLE + block(mono([1, 2]), end=False))
    assert len(part.data) == 2
    assert "no END line" in part.notes[0]
    between = read(PREAMBLE + block(mono([1]), end=False) + block(mono([2])))
    assert "no END line" in between.notes[0]


def test_wherever_a_file_is_cut_no_sample_and_no_event_is_made_up():
    whole, content = read(USUAL), USUAL.encode()
    begin = content.index(b"\n1000\t") + 1
    for end in range(begin, len(content)):
        cut = content[:end]
        complete = len(re.findall(rb"(?m)^\d+\t.*\n", cut))
        if complete == 0 and len(cut.splitlines()[-1].split()) < 5:
            with pytest.raises(InputError, match="without samples or fixations"):
                read(cut)
            continue
        part = read(cut)
        assert complete <= len(part.data) <= complete + 1
        assert_frame_equal(part.data, whole.data.head(len(part.data)))
        if part.events is not None:
            assert_frame_equal(part.events, whole.events.head(len(part.events)))
        assert any("no END line" in note for note in part.notes) == (b"\nEND" not in cut)


@pytest.mark.parametrize("cut", ["1004", "1004\t  600", "1004\t600.5\t30.5", "1004\t1.0\t2.0\t79"])
def test_a_sample_that_is_cut_off_is_left_out_and_noted(cut):
    part = read(PREAMBLE + block(mono([1, 2]), end=False) + cut)
    assert len(part.data) == 2
    assert any("cut off" in note for note in part.notes)


def test_samples_outside_of_blocks_are_left_out_and_noted():
    part = read(PREAMBLE + block(mono([1, 2])) + mono([3])[0] + "\n")
    assert len(part.data) == 2
    assert "outside of START" in part.notes[0]


EVENTS_ONLY = (
    PREAMBLE
    + SCREEN
    + block(
        [
            "EFIX L   1000\t1100\t101\t  100.0\t  200.0\t    811",
            "EFIX R   1001\t1099\t99\t  110.0\t  210.0\t      0",
            "ESACC L  1101\t1140\t40\t  1.0\t  1.0\t  2.0\t  2.0\t   3.05\t    203",
            "EFIX L   1141\t1200\t60\t  .\t  .\t    .",
        ],
        "LEFT RIGHT",
    )
)


def test_a_file_of_events_gives_its_fixations():
    part = read(EVENTS_ONLY)
    assert part.kind == "fixations"
    assert_frame_equal(
        part.data,
        pl.DataFrame(
            {
                "time_ms": [1000.0, 1141.0, 1001.0],
                "duration_ms": [100.0, 59.0, 98.0],
                "eye": ["left", "left", "right"],
                "x": [100.0, None, 110.0],
                "y": [200.0, None, 210.0],
                "pupil": [811.0, None, None],
            }
        ),
    )
    assert (part.units, part.xy_origin) == ("px", "top-left")
    assert part.events["name"].to_list() == ["fixation", "fixation", "saccade", "fixation"]


def test_fixations_can_be_asked_for():
    part = read(USUAL, kind="fixations")
    assert part.data.select("time_ms", "duration_ms", "x").row(0) == (1001.0, 1.0, 512.3)
    with pytest.raises(InputError, match="an EyeLink file without samples: convert"):
        read(EVENTS_ONLY, kind="samples")


def test_fixations_must_go_on_in_time():
    twice = EVENTS_ONLY.replace("EFIX L   1141", "EFIX L   1000")
    with pytest.raises(InputError, match=r"line \d+: time must increase, but here is 1000 ms"):
        read(twice)


@pytest.mark.parametrize(
    "content",
    [
        PREAMBLE,
        PREAMBLE + block([]),
        PREAMBLE + block(["EBLINK L 1003\t1003\t1"]),
        "** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED",
    ],
)
def test_a_file_without_samples_and_fixations_is_an_error(content):
    with pytest.raises(InputError, match="is an EyeLink file without samples or fixations"):
        read(content)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1003\t  1.0\t  2.0", "begins with 4 numbers, this line has 3 cells"),
        ("1003\t  1.0\tx2.0\t  3.0\t...", "'x2.0' is no number"),
        ("1003\t  1.0\t  2,0\t  3.0\t...", "'2,0' is no number"),
        ("10o3\t  1.0\t  2.0\t  3.0\t...", "'10o3' is no number"),
        ("1e999\t  1.0\t  2.0\t  3.0\t...", "time must increase"),
        ("EFIX L   1001", "'EFIX L 1001' is no event"),
        ("EFIX X   1001\t1002\t2\t  1.0\t  1.0\t  1", "'EFIX X 1001 1002' is no event"),
        ("EFIX L   1002\t1001\t2\t  1.0\t  1.0\t  1", "'EFIX L 1002 1001' is no event"),
        ("EBLINK L .\t1001\t2", "'EBLINK L . 1001' is no event"),
    ],
)
def test_a_damaged_line_is_named(line, message):
    content = PREAMBLE + block([*mono([1001, 1002]), line, *mono([1004])])
    number = content.splitlines().index(line) + 1
    with pytest.raises(InputError, match=rf"^p01\.asc, line {number}: .*{re.escape(message)}"):
        read(content)


def test_blanks_at_the_end_of_a_line_are_no_cells():
    with pytest.raises(InputError, match="this line has 3 cells"):
        read(PREAMBLE + block(["1003\t  1.0\t  2.0\t \r", *mono([1004])]))


def test_a_column_that_the_eyes_promise_must_be_there():
    with pytest.raises(InputError, match="sample of the left and right eye begins with 7 numbers"):
        read(PREAMBLE + block(mono([1, 2]), "LEFT RIGHT"))


TRIALS = PREAMBLE + block(
    [
        *mono([1]),
        "MSG\t2 TRIALID 7",
        *mono([2, 3]),
        "MSG\t1 !V IMGLOAD FILL cat.png",
        "EFIX L   2\t3\t2\t  512.3\t  384.2\t    811",
        "MSG\t3 TRIALID Bär",
        *mono([4]),
        "EFIX L   4\t4\t1\t  512.3\t  384.2\t    811",
    ]
)


def test_messages_can_name_the_trial():
    part = read(
        TRIALS.encode("latin-1"),
        stimulus=r"msg:TRIALID (\S+)",
        task="msg:TRIALID",
        label_image=r"msg:IMGLOAD \w+ (.*)",
    )
    assert part.data["stimulus"].to_list() == ["", "7", "7", "Bär"]
    assert part.data["task"].to_list() == ["", "TRIALID", "TRIALID", "TRIALID"]
    assert part.data["label_image"].to_list() == [None, None, None, "cat.png"]
    assert part.events["stimulus"].to_list() == ["7", "Bär"]
    assert "label_image" not in part.events.columns
    assert part.notes == ()


def test_messages_can_name_recordings_of_both_eyes():
    content = PREAMBLE + block(["MSG\t1 A", *both([1, 2]), "MSG\t3 B", *both([3])], "LEFT RIGHT")
    assert read(content, recording="msg:^[AB]$").data["recording"].to_list() == list("AABAAB")


def test_the_order_in_the_file_counts_not_the_stamps_of_messages():
    late = TRIALS.replace("MSG\t3 TRIALID", "MSG\t1 TRIALID")
    assert read(late, stimulus=r"msg:TRIALID (\S+)").data["stimulus"].to_list()[-1] == "Bär"


def test_a_pattern_that_no_message_fits_is_noted():
    part = read(USUAL, task="msg:PRACTICE")
    assert part.data["task"].to_list() == [""] * 5
    assert part.notes == ("no message fits task=msg:PRACTICE",)


def test_a_group_that_is_not_there_is_empty():
    assert read(TRIALS, task="msg:TRIALID( 8)?").data["task"].to_list() == [""] * 4


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["sample", "TRIALID a", "TRIALID b", "other"]), min_size=1))
def test_a_sample_has_the_last_message_before_it_that_fits(script):
    lines, expected, last = [], [], ""
    for time, what in enumerate(["sample", *script]):
        if what == "sample":
            lines += mono([time])
            expected.append(last)
        else:
            lines.append(f"MSG\t{time} {what}")
            last = what[-1] if what.startswith("TRIALID") else last
    part = read(PREAMBLE + block(lines), stimulus="msg:TRIALID (.)")
    assert part.data["stimulus"].to_list() == expected


@pytest.mark.parametrize("pattern", ["msg:(", "msg:*", "msg:(?P<a>x)(?P<a>y)"])
def test_an_invalid_pattern_is_an_error(pattern):
    with pytest.raises(InputError, match=r"task=msg:.*no regular expression"):
        read(USUAL, task=pattern)


@pytest.mark.parametrize("said", [{"x": "3"}, {"person": "msg:ID (.*)"}, {"task": "condition"}])
def test_columns_that_a_file_without_header_cannot_have_are_an_error(said):
    with pytest.raises(InputError, match="whose columns have no names"):
        read(USUAL, **said)


def test_messages_do_not_enter_the_data():
    secret = USUAL.replace("TRIALID 1", "Jane Doe, jane@example.org")
    part = read(secret)
    told = f"{part.data.rows()} {part.events.rows()} {part.notes} {part.names} {part.people}"
    for word in ("Jane", "Ann", "1970", "edf", "TRIALID"):
        assert word not in told


def test_what_somebody_says_wins():
    part = read(
        USUAL, units="deg", xy_origin="centre", pupil_unit="mm", rate_hz=60, screen="800x600"
    )
    assert (part.units, part.xy_origin, part.pupil_unit) == ("deg", "centre", "mm")
    assert part.rate_hz == 60.0
    assert part.screen == Screen(width_px=800, height_px=600)


def test_a_file_becomes_a_study(tmp_path):
    (tmp_path / "p01.asc").write_text(USUAL)
    study = read_study(tmp_path / "p01.asc", {"stimulus": r"msg:TRIALID (\d)"})
    assert study.data["person"].unique().to_list() == ["p01"]
    assert study.data["stimulus"].to_list() == ["1", "1", "1", "1", "2"]
    assert study.events["recording"].unique().to_list() == ["p01"]
    assert study.rate_hz == 1000.0


@pytest.mark.parametrize(
    "content",
    [
        "",
        "time,x,y\n1,2,3\n",
        "** notes **\n1 2 3\n",
        "## [iView]\n## Date:\t01.01.2020\nTime\tType\tTrial\n",
        "MSG,time,text\n1,2,3\n",
        "START\n1 2 3\n",
        "1000\t512.0\t384.5\t811.0\t...\n",
        b"\x00\x01** TYPE: EDF_FILE",
        "a table about EYELINK\n** TYPE: EDF_FILE\n",
    ],
)
def test_other_files_are_not_taken_for_eyelink(content):
    assert not eyelink.recognises(head(content))


BEGINNINGS = [USUAL, EVENTS_ONLY, TRIALS, PREAMBLE + block(both(range(9)), "LEFT RIGHT")]
MUTATIONS = st.tuples(
    st.integers(0, 3000),
    st.integers(0, 30),
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from(
            [
                *(b"\n", b"\t", b".", b"-", b"\r", b"1e999", b"nan", b"\nEND\n", b"\nEFIX L "),
                b"\nSTART\t1 \tRIGHT\n",
                b"\nSAMPLES\tGAZE\tLEFT\tRIGHT\tRATE\t2000\n",
                b"\nSAMPLES RATE 0\n",
            ]
        ),
    ),
)


def part_or_input_error(content, **said):
    try:
        part = read(content, **said)
    except InputError:
        return
    assert len(part.data) > 0
    assert part.data["time_ms"].is_finite().all()
    assert part.data["eye"].is_in(["left", "right"]).all()


@settings(max_examples=400)
@given(st.sampled_from(BEGINNINGS), st.lists(MUTATIONS, min_size=1, max_size=8))
def test_mutated_files_give_a_part_or_an_input_error(content, mutations):
    mutated = content.encode()
    for place, length, inserted in mutations:
        place %= len(mutated) + 1
        mutated = mutated[:place] + inserted + mutated[place + length :]
    part_or_input_error(mutated)
    part_or_input_error(mutated, stimulus=r"msg:TRIALID (\S+)", kind="fixations")


@settings(max_examples=200)
@given(st.sampled_from(["", PREAMBLE, USUAL, USUAL[: USUAL.index("END")]]), st.binary())
def test_any_bytes_after_a_beginning_give_a_part_or_an_input_error(beginning, rest):
    part_or_input_error(beginning.encode() + rest)


REAL = {
    "pymovements_eyelink_binocular_example.asc": (368, 1000.0, 2),
    "pymovements_eyelink_monocular_example.asc": (16, 1000.0, 1),
    "pymovements_eyelink_monocular_no_dummy_example.asc": (297, 500.0, 1),
    "sp_tool_binocular_1000hz.asc": (10_294, 1000.0, 2),
}


@pytest.fixture(params=REAL)
def real_file(request, real_data):
    return real_data / "vendor_samples" / "eyelink" / request.param


def wide(part):
    """One row a sample, as peers have it: time, then x, y and pupil of each eye."""
    frames = part.data.partition_by("eye", maintain_order=True)
    columns = [frame.select("x", "y", "pupil").to_numpy() for frame in frames]
    return np.column_stack([frames[0]["time_ms"].to_numpy(), *columns]).astype(float)


KINDS = {"EFIX": "fixation", "ESACC": "saccade", "EBLINK": "blink"}


def events_in(path, pattern=r"(?m)^(EFIX|ESACC|EBLINK)\b"):
    """How many lines of each kind of event fit."""
    return Counter(KINDS[word] for word in re.findall(pattern, path.read_text(encoding="utf-8")))


def test_real_files_are_read_whole(real_file):
    part = read_part(real_file)
    rows, rate_hz, eyes = REAL[real_file.name]
    assert eyelink.recognises(head_of(real_file))
    assert len(part.data) == rows * eyes
    assert part.rate_hz == rate_hz
    assert part.units == "px"
    assert Counter(part.events["name"]) == events_in(real_file)
    # The only one that ends without END.
    assert bool(part.notes) == ("no_dummy" in real_file.name)


def test_real_files_are_read_as_pymovements_reads_them(real_file):
    import pymovements

    part = read_part(real_file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pymovements.gaze.from_asc(real_file, events=True, encoding="utf-8")
    samples = peer.samples
    positions, pupils = (
        np.array(samples[name].to_list(), dtype=float).reshape(len(samples), -1)
        for name in ("pixel", "pupil")
    )
    # Its lost pupils are zeros.
    pupils[pupils == 0] = np.nan
    eyes = [np.column_stack([positions[:, 2 * i : 2 * i + 2], p]) for i, p in enumerate(pupils.T)]
    np.testing.assert_array_equal(wide(part), np.column_stack([samples["time"], *eyes]))
    assert part.rate_hz == peer.experiment.sampling_rate
    screen = peer.experiment.screen
    assert (part.screen.width_px, part.screen.height_px) == (screen.width_px, screen.height_px)
    # It leaves out events with a missing or negative number, or one with an exponent.
    theirs = [name.removesuffix("_eyelink") for name in peer.events.frame["name"]]
    plain = r"(?m)^(EFIX|ESACC|EBLINK) +[LR] +\d+(?:\s+\d+(?:\.\d+)?)+$"
    assert Counter(theirs) == events_in(real_file, plain)
    found = zip(theirs, *peer.events.frame.select("eye", "onset", "offset"), strict=True)
    ours = part.events.select("name", "eye", "onset_ms", "offset_ms").rows()
    assert {(name, eye.lower(), *times) for name, eye, *times in found} <= set(ours)


def test_real_files_are_read_as_mne_reads_them(real_file):
    import mne

    if "no_dummy" in real_file.name:
        pytest.skip("MNE reads only blocks with an END, and this file has none")
    part = read_part(real_file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = mne.io.read_raw_eyelink(real_file, verbose="ERROR")
    channels = [name for name in peer.ch_names if name.startswith(("xpos", "ypos", "pupil"))]
    ours = wide(part)
    theirs = peer.get_data(channels).T
    # It has zeros for lost pupils too, and counts time from the first sample, in steps of 1 / rate.
    pupils = [i for i, name in enumerate(channels) if name.startswith("pupil")]
    lost = theirs[:, pupils] == 0
    theirs[:, pupils] = np.where(lost, np.nan, theirs[:, pupils])
    np.testing.assert_array_equal(ours[:, 1:], theirs)
    assert part.rate_hz == peer.info["sfreq"]
    if "monocular" in real_file.name:
        # Samples were taken out of this file, and MNE drops annotations after its shorter time.
        return
    names = [name.removeprefix("BAD_") for name in peer.annotations.description]
    kinds = [name in KINDS.values() for name in names]
    assert Counter(np.array(names)[kinds]) == Counter(part.events["name"])
    onsets = sorted(part.events["onset_ms"] - part.data["time_ms"][0])
    np.testing.assert_allclose(np.sort(peer.annotations.onset[kinds]) * 1000, onsets, atol=1e-6)
