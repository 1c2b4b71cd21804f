"""SMI: samples as text, and lists of events."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymovements.gaze.io import from_begaze

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import smi
from eyelid.io.reading import read_part

REMARKS = """## [iView]
## Converted from:\tC:\\people\\ann smith.idf
## Date:\t01.02.2020 03:04:05
## Sample Rate:\t50
## Subject:\tann\t
## [Calibration]
## Calibration Area:\t1280\t1024
## [Geometry]
## Stimulus Dimension [mm]:\t380\t300
## Head Distance [mm]:\t650
##
"""
NAMES = (
    "Time\tType\tTrial\tL Dia X [px]\tL Dia Y [px]\tL Mapped Diameter [mm]\tL POR X [px]\t"
    "L POR Y [px]\tR POR X [px]\tR POR Y [px]\tTiming\tL Event Info\tR Event Info\tStimulus\n"
)
ROWS = """1000000\tMSG\t1\tScene Image: c:\\pictures\\lake.bmp
1005000\tSMP\t1\t30.10\t29.00\t4.10\t500.25\t300.50\t510.25\t310.50\t0\tFixation\tFixation\tx.bmp
1025000\tSMP\t1\t30.20\t29.00\t4.20\t501.25\t301.50\t0.00\t0.00\t0\tFixation\t-\tx.bmp
1030000\tMSG\t1\t# Message: ann is tired
1045000\tSMP\t2\t30.30\t29.00\t4.30\t0.00\t301.50\t512.25\t312.50\t0\tSaccade\t-\tx.bmp
1046000\tMSG\t2\t# Message: faces/bob.PNG
1065000\tSMP\t2\t0.00\t0.00\t0.00\t0.00\t0.00\t513.25\t313.50\t0\tBlink\tBlink\tx.bmp
1085000\tSMP\t2\t30.50\t29.00\t4.50\t504.25\t304.50\t514.25\t314.50\t0\t-\t-\tx.bmp
"""
SAMPLES = REMARKS + NAMES + ROWS
LIST = """Trial,Stimulus,Participant,Category,Eye L/R,Event Start Trial Time [ms],\
Event End Trial Time [ms],Fixation Position X [px],Fixation Position Y [px],\
Fixation Average Pupil Diameter [mm],AOI Name
T1,page.png,ann,Fixation,Left,0.0,100.5,10.5,20.5,3.5,face
T1,page.png,ann,Saccade,Left,100.5,130.5,-,-,-,-
T1,page.png,ann,Fixation,Left,130.5,300.5,30.5,40.5,3.6,-
T2,wall.png,ann,Visual Intake,Left,5.0,90.0,11.5,21.5,3.7,White Space
T2,wall.png,ann,Blink,Left,90.0,200.0,-,-,-,-
T1,page.png,bob,Fixation,Left,0.0,80.0,12.5,22.5,3.8,face
"""


def test_a_file_without_samples_is_of_the_subject_that_it_states(tmp_path):
    (tmp_path / "1.txt").write_text(SAMPLES)
    (tmp_path / "2.txt").write_text(REMARKS.replace("ann", "bob") + NAMES)
    study = read(tmp_path)
    assert study.people["person"].to_list() == ["ann", "bob"]
    (row,) = study.data.filter(person="bob").to_dicts()
    assert row["x"] is None


def test_whoever_has_events_but_no_fixation_counts_all_the_same(file):
    part = read_part(file(LIST.replace("bob,Fixation", "bob,Saccade")))
    (lost,) = part.data.filter(person="bob").to_dicts()
    assert (lost["duration_ms"], lost["x"]) == (None, None)
    assert "none of gaze" in part.notes[-1]


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "samples.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def of(data, eye, column):
    return data.filter(eye=eye)[column].to_list()


def without(text: str, *names: str) -> str:
    """Samples without some of their columns; messages stay as they are."""
    rows = [line.split("\t") for line in (NAMES + ROWS).splitlines()]
    kept = [n for n, name in enumerate(rows[0]) if name not in names]
    lines = [row if row[1] == "MSG" else [row[n] for n in kept] for row in rows]
    return text.replace(NAMES + ROWS, "".join("\t".join(row) + "\n" for row in lines))


def test_samples_of_both_eyes_are_read_and_zeros_are_lost(file):
    part = read_part(file(SAMPLES))
    assert of(part.data, "left", "x") == [500.25, 501.25, 0.0, None, 504.25]
    assert of(part.data, "left", "y") == [300.5, 301.5, 301.5, None, 304.5]
    assert of(part.data, "right", "x") == [510.25, None, 512.25, 513.25, 514.25]
    assert of(part.data, "left", "time_ms") == [1005.0, 1025.0, 1045.0, 1065.0, 1085.0]
    assert (part.units, part.xy_origin) == ("px", "top-left")


def test_the_remarks_state_rate_screen_and_person(file):
    part = read_part(file(SAMPLES))
    assert part.rate_hz == 50.0
    assert part.screen == Screen(1280, 1024, 0.38, 0.3, 0.65)
    assert part.names == {"person": "ann"}
    assert read(file(SAMPLES)).people["person"].to_list() == ["ann"]


def test_remarks_that_say_nothing_leave_it_unknown(file):
    part = read_part(file("##  an example\n##\n" + NAMES + ROWS))
    assert (part.rate_hz, part.screen, part.names) == (None, None, {})


def test_pupils_are_in_mm_before_px(file):
    part = read_part(file(SAMPLES))
    assert of(part.data, "left", "pupil") == [4.1, 4.2, 4.3, None, 4.5]
    assert part.pupil_unit == "mm"
    part = read_part(file(without(SAMPLES, "L Mapped Diameter [mm]")))
    assert of(part.data, "left", "pupil") == [30.1, 30.2, 30.3, None, 30.5]
    assert part.pupil_unit == "px"
    part = read_part(
        file(without(SAMPLES, "L Mapped Diameter [mm]", "L Dia X [px]", "L Dia Y [px]"))
    )
    assert part.pupil_unit is None


def test_a_message_that_names_a_picture_says_what_the_samples_after_it_saw(file):
    part = read_part(file(SAMPLES))
    assert of(part.data, "left", "stimulus") == ["lake", "lake", "lake", "bob", "bob"]


def test_without_such_messages_the_column_says_it(file):
    for text, seen in ((SAMPLES, "x"), (without(SAMPLES, "Stimulus"), "")):
        quiet = text.replace(".bmp\n1005000", "\n1005000").replace(".PNG", "")
        assert of(read_part(file(quiet)).data, "left", "stimulus") == [seen] * 5


def test_paths_dates_and_messages_stay_out(file):
    study = read(file(SAMPLES))
    told = study.data.write_csv() + str(study.notes)
    assert not any(word in told for word in ("tired", "smith", "people", "pictures", "2020"))


def test_trials_are_labels(file):
    assert of(read_part(file(SAMPLES)).data, "right", "label_trial") == ["1", "1", "2", "2", "2"]


def test_marks_of_samples_become_events(file):
    part = read_part(file(SAMPLES))
    assert part.events.rows() == [
        ("fixation", 1005.0, 1025.0, 20.0),
        ("saccade", 1045.0, 1045.0, 0.0),
        ("blink", 1065.0, 1065.0, 0.0),
    ]
    assert read_part(file(without(SAMPLES, "L Event Info", "R Event Info"))).events is None


def test_one_eye_alone_is_read(file):
    data = read_part(file(without(SAMPLES, "R POR X [px]", "R POR Y [px]"))).data
    assert data["eye"].unique().to_list() == ["left"]


def test_samples_without_a_point_of_regard_are_refused(file):
    gaze = [f"{side} POR {axis} [px]" for side in "LR" for axis in "XY"]
    with pytest.raises(InputError, match="no gaze position"):
        read_part(file(without(SAMPLES, *gaze)))


def test_a_last_message_without_an_end_of_line_is_no_truncation(file):
    assert len(read_part(file(SAMPLES + "1086000\tMSG\t2\t# Message: end")).data) == 10


def test_lines_may_end_as_on_windows_and_stand_apart(file):
    windows = SAMPLES.replace("\n", "\r\n")
    apart = REMARKS + NAMES + "\n" + ROWS.replace("\n1045000", "\n\n1045000")
    for text in (windows, apart):
        assert read_part(file(text)).data.equals(read_part(file(SAMPLES)).data)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_encodings_do_not_matter(file, encoding):
    text = SAMPLES.replace("lake", "bär")
    assert read_part(file(text.encode(encoding))).data.equals(read_part(file(text)).data)


def test_decimal_commas_are_read(file):
    rows = ROWS.replace(".", ",").replace(",bmp", ".bmp").replace(",PNG", ".PNG")
    assert read_part(file(REMARKS + NAMES + rows)).data.equals(read_part(file(SAMPLES)).data)


def test_repeated_and_backward_times_are_refused_or_mended_as_said(file):
    with pytest.raises(InputError, match="more than one row"):
        read(file(SAMPLES.replace("1025000", "1005000")))
    with pytest.raises(InputError, match="backwards"):
        read(file(SAMPLES.replace("1025000", "1000")))
    study = read(file(SAMPLES.replace("1025000", "1000")), "backwards=sort")
    assert study.data.filter(eye="left")["x"][0] == 501.25


def test_a_map_goes_before_the_format(file):
    study = read(file(SAMPLES), "person=Trial,distance_m=0.5")
    assert study.people["person"].to_list() == ["1", "2"]
    assert study.screen == Screen(1280, 1024, 0.38, 0.3, 0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REMARKS + NAMES, "no"),
        (SAMPLES[:-12], "truncated"),
        (LIST.splitlines()[0] + "\n", "no rows"),
        (LIST[:-12], "truncated"),
        ("\n".join(LIST.splitlines()[::2][:1] + LIST.splitlines()[2:3]) + "\n", "no event of"),
    ],
)
def test_what_is_missing_is_said(file, text, said):
    with pytest.raises(InputError, match=said):
        read_part(file(text))


def test_a_list_of_events_gives_fixations_of_people_and_trials(file):
    part = read_part(file(LIST))
    assert part.kind == "fixations"
    named = part.data.select("person", "recording", "stimulus", "time_ms", "duration_ms")
    assert named.rows() == [
        ("ann", "T1", "page.png", 0.0, 100.5),
        ("ann", "T1", "page.png", 130.5, 170.0),
        ("ann", "T2", "wall.png", 5.0, 85.0),
        ("bob", "T1", "page.png", 0.0, 80.0),
    ]
    assert part.data.select("x", "y", "pupil").rows() == [
        (10.5, 20.5, 3.5),
        (30.5, 40.5, 3.6),
        (11.5, 21.5, 3.7),
        (12.5, 22.5, 3.8),
    ]
    assert part.data["label_aoi"].to_list() == ["face", None, "White Space", "face"]
    assert part.data["eye"].to_list() == ["left"] * 4
    assert (part.units, part.xy_origin, part.pupil_unit) == ("px", "top-left", "mm")


def test_other_categories_become_events(file):
    events = read(file(LIST)).events
    assert events.rows() == [
        ("ann", "T1", "saccade", 100.5, 130.5, 30.0),
        ("ann", "T2", "blink", 90.0, 200.0, 110.0),
    ]


def test_a_list_with_tabs_and_decimal_commas_is_read(file):
    text = LIST.replace(",", "\t").replace(".5", ",5").replace("0.0", "0,0").replace("5.0", "5,0")
    text = text.replace("3.6", "3,6").replace("3.7", "3,7").replace("3.8", "3,8")
    assert read_part(file(text)).data.equals(read_part(file(LIST)).data)


def test_a_list_without_positions_has_none(file):
    text = "\n".join(
        ",".join(cell for n, cell in enumerate(line.split(",")) if n not in (7, 8, 9))
        for line in LIST.splitlines()
    )
    part = read_part(file(text + "\n"))
    assert "x" not in part.data.columns
    assert (part.units, part.xy_origin, part.pupil_unit) == (None, None, None)


@pytest.mark.parametrize("text", ["## remarks\ntime,x,y\n", "Time,Type,x\n", "Category,Stimulus\n"])
def test_other_texts_are_not_taken(file, text):
    assert not smi.recognises(head_of(file(text)))


@given(data=st.data(), text=st.sampled_from([SAMPLES, LIST]))
def test_damage_is_an_error_of_one_line(survives, data, text):
    survives(text.encode(), data)


@given(rest=st.binary(max_size=200), data=st.data())
def test_anything_after_the_header_is_read_or_refused(survives, rest, data):
    survives((REMARKS + NAMES).encode() + rest, data)


@pytest.mark.parametrize(
    ("name", "eyes"),
    [
        ("smi/sp_tool_iview_50hz_Samples.txt", {"left": "L"}),
        ("pymovements_examples/didec_example.txt", {"left": "L", "right": "R"}),
    ],
)
def test_real_samples_are_read_as_pymovements_reads_them(real_data, name, eyes):
    path = real_data / "vendor_samples" / name
    part = read_part(path)
    assert part.data["eye"].unique().sort().to_list() == sorted(eyes)
    for eye, letter in eyes.items():
        theirs = from_begaze(path, prefer_eye=letter).samples
        ours = part.data.filter(eye=eye)
        np.testing.assert_allclose(ours["time_ms"], theirs["time"])
        places = np.array(theirs["pixel"].to_list(), dtype=float)
        # They round to a tenth of a pixel, and keep zeros.
        np.testing.assert_allclose(
            ours.select("x", "y").fill_null(0.0).to_numpy(), places, atol=0.0501
        )
        lost = (places == 0).all(axis=1)
        assert ours["x"].is_null().to_list() == lost.tolist()


def test_real_remarks_are_understood(real_data):
    path = real_data / "vendor_samples" / "smi" / "sp_tool_iview_50hz_Samples.txt"
    lines = path.read_text().splitlines()
    stated = dict(line[3:].split(":", 1) for line in lines if line.startswith("##") and ":" in line)
    rows = [line.split("\t") for line in lines if "\tSMP\t" in line]
    width_px, height_px = map(int, stated["Calibration Area"].split())
    width_mm, height_mm = map(int, stated["Stimulus Dimension [mm]"].split())
    study = read(path)
    assert study.rate_hz == float(stated["Sample Rate"])
    assert study.screen == Screen(
        width_px,
        height_px,
        width_mm / 1000,
        height_mm / 1000,
        int(stated["Head Distance [mm]"]) / 1000,
    )
    assert study.people["person"].to_list() == [stated["Subject"].strip()]
    assert study.data["label_trial"].to_list() == [row[2] for row in rows]
    assert study.data["pupil"].to_list() == [float(row[5]) or None for row in rows]
    assert study.data["stimulus"].n_unique() == 1


def test_real_events_are_those_that_pymovements_finds(real_data):
    path = real_data / "vendor_samples" / "pymovements_examples" / "didec_example.txt"
    theirs = from_begaze(path).events.frame
    ours = read_part(path).events
    assert [f"{name}_begaze" for name in ours["name"]] == theirs["name"].to_list()
    np.testing.assert_allclose(ours["onset_ms"], theirs["onset"])
    np.testing.assert_allclose(ours["offset_ms"], theirs["offset"])


def test_a_real_list_of_events_is_read_as_it_stands(real_data):
    path = real_data / "vendor_samples" / "smi" / "GazePlotter_BeGaze_events_mock.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    part = read_part(path)
    named = part.data.select("time_ms", "duration_ms", "stimulus", "person", "label_aoi")
    assert named.rows() == [
        (float(start), float(end) - float(start), stimulus, person, aoi)
        for start, end, stimulus, person, _, aoi in rows
    ]
