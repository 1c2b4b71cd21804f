"""Tobii: tables of the SDK, and exports of Pro Lab."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import tobii
from eyelid.io.reading import read_part


def tsv(*columns: tuple[str, list[object]]) -> str:
    """A table with tabs, from names and values."""
    names, values = zip(*columns, strict=True)
    rows = ["\t".join(map(str, row)) for row in zip(*values, strict=True)]
    return "\n".join(["\t".join(names), *rows]) + "\n"


def sdk(**changed: list[object]) -> str:
    """Six samples of a TX300: the left eye is lost once, the right eye twice."""
    columns = {
        "Time": [2_000_000 + 3333 * n for n in range(6)],
        "LEyePos3dx": [-2.3] * 6,
        "LGazePos2dx": [0.41, 0.42, -1.0, 0.44, 0.45, 0.46],
        "LGazePos2dy": [0.51, 0.52, -1.0, 0.54, 0.55, 0.56],
        "LPupilDm": [4.1, 4.2, -1.0, 4.4, 4.5, 4.6],
        "LValidity": [0, 1, 4, 0, 0, 0],
        "RGazePos2dx": [0.31, 0.32, 0.33, -1.0, 0.35, 0.36],
        "RGazePos2dy": [0.61, 0.62, 0.63, -1.0, 0.65, 0.66],
        "RPupilDm": [3.1, 3.2, 3.3, -1.0, 3.5, 3.6],
        "RValidity": [0, 0, 0, 4, 2, 0],
        "RelTimestamp": [3.333 * n for n in range(6)],
    }
    return tsv(*((columns | changed).items()))


def pro_lab(*, unit: str = " [ms]", place: str = " [DACS px]", step: int = 16, **changed) -> str:
    """An export of two people with eight samples each, and rows that are no samples."""
    times = [step * n for n in range(8)] * 2
    columns = {
        f"Recording timestamp{unit}": times,
        "Sensor": ["Eye Tracker"] * 16,
        "Participant name": ["ann"] * 8 + ["bob"] * 8,
        "Recording name": ["Recording1"] * 16,
        "Recording date": ["01/02/2023"] * 16,
        "Recording resolution width": [1920] * 16,
        "Recording resolution height": [1080] * 16,
        "Presented Stimulus name": (["page"] * 4 + [""] * 4) * 2,
        f"Gaze point X{place}": [100 + n for n in range(16)],
        f"Gaze point Y{place}": [200 + n for n in range(16)],
        f"Gaze point left X{place}": [90 + n for n in range(16)],
        f"Gaze point left Y{place}": [190 + n for n in range(16)],
        f"Gaze point right X{place}": [110 + n for n in range(16)],
        f"Gaze point right Y{place}": [210 + n for n in range(16)],
        "Pupil diameter left [mm]": [3.25] * 16,
        "Pupil diameter right [mm]": [3.5] * 16,
        "Validity left": ["Valid"] * 15 + ["Invalid"],
        "Validity right": ["Valid"] * 16,
        "Eye movement type": (["Fixation"] * 3 + ["Saccade"] + ["Fixation"] * 3 + ["EyesNotFound"])
        * 2,
        "Gaze event duration": ([48] * 3 + [16] + [50] * 3 + [16]) * 2,
        "Eye movement type index": [1, 1, 1, 1, 2, 2, 2, 1] * 2,
    }
    columns |= changed
    return tsv(*((name, values) for name, values in columns.items() if values is not None))


def without(text: str, *names: str) -> str:
    """A table without some of its columns."""
    rows = [line.split("\t") for line in text.splitlines()]
    kept = [n for n, name in enumerate(rows[0]) if not name.startswith(names)]
    return "\n".join("\t".join(row[n] for n in kept) for row in rows) + "\n"


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "export.tsv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def of(data, eye, column):
    return data.filter(eye=eye)[column].to_list()


def test_both_eyes_of_the_sdk_are_read_as_shares_of_the_screen(file):
    part = read_part(file(sdk()))
    assert of(part.data, "left", "x") == [0.41, 0.42, None, 0.44, 0.45, 0.46]
    assert of(part.data, "right", "y") == [0.61, 0.62, 0.63, None, None, 0.66]
    assert of(part.data, "left", "pupil") == [4.1, 4.2, None, 4.4, 4.5, 4.6]
    assert of(part.data, "right", "time_ms") == pytest.approx([2000 + 3.333 * n for n in range(6)])
    assert (part.units, part.xy_origin, part.pupil_unit) == ("fraction", "top-left", "mm")


def test_a_validity_above_one_loses_the_eye_and_its_pupil(file):
    data = read_part(file(sdk())).data
    assert of(data, "right", "x")[4] is None
    assert of(data, "right", "pupil")[4] is None


def test_without_its_clock_the_sdk_has_a_relative_time_in_ms(file):
    data = read_part(file(without(sdk(), "Time"))).data
    assert of(data, "left", "time_ms") == pytest.approx([3.333 * n for n in range(6)])


def test_one_eye_of_the_sdk_is_enough(file):
    data = read_part(file(without(sdk(), "R"))).data
    assert data["eye"].unique().to_list() == ["left"]


def test_an_export_has_people_recordings_stimuli_and_a_screen(file):
    study = read(file(pro_lab()))
    assert study.people["person"].to_list() == ["ann", "bob"]
    assert study.data["recording"].unique().to_list() == ["Recording1"]
    assert study.data["stimulus"].unique().sort().to_list() == ["", "page"]
    assert study.screen == Screen(1920, 1080)
    assert (study.units, study.xy_origin, study.pupil_unit) == ("px", "top-left", "mm")
    assert study.rate_hz == pytest.approx(62.5)


def test_an_export_keeps_each_eye_and_both_together(file):
    data = read_part(file(pro_lab())).data.filter(person="ann")
    assert of(data, "cyclopean", "x") == [100 + n for n in range(8)]
    assert of(data, "left", "x") == [90 + n for n in range(8)]
    assert of(data, "right", "y") == [210 + n for n in range(8)]
    assert of(data, "right", "pupil") == [3.5] * 8


def test_dates_and_other_personal_fields_stay_out(file):
    study = read(file(pro_lab()))
    assert not any("date" in name.lower() for name in study.data.columns)
    assert "01/02/2023" not in study.data.write_csv()


def test_an_invalid_eye_is_lost(file):
    data = read_part(file(pro_lab())).data.filter(person="bob")
    assert of(data, "left", "x")[-1] is None
    assert of(data, "left", "pupil")[-1] is None
    assert of(data, "right", "x")[-1] == 125


def test_events_are_the_runs_of_eye_movement_types_with_their_stated_durations(file):
    events = read_part(file(pro_lab())).events
    of_ann = events.filter(person="ann").select("name", "onset_ms", "offset_ms", "duration_ms")
    assert of_ann.rows() == [
        ("fixation", 0.0, 48.0, 48.0),
        ("saccade", 48.0, 64.0, 16.0),
        ("fixation", 64.0, 114.0, 50.0),
    ]
    assert len(events) == 6


def test_events_without_stated_durations_last_from_sample_to_sample(file):
    events = read_part(file(without(pro_lab(), "Gaze event duration"))).events
    assert events["duration_ms"].to_list() == [32.0, 0.0, 32.0] * 2


@pytest.mark.parametrize(
    ("unit", "step"), [(" [ms]", 16), (" [μs]", 16000), (" [µs]", 16000), (" (us)", 16000)]
)
def test_the_header_says_the_unit_of_time(file, unit, step):
    part = read_part(file(pro_lab(unit=unit, step=step)))
    assert part.data["time_ms"].max() == pytest.approx(112.0)
    assert not any("unit" in note for note in part.notes)


@pytest.mark.parametrize(("step", "unit"), [(1, "ms"), (33, "ms"), (833, "us"), (33000, "us")])
def test_a_unit_of_time_that_is_not_stated_follows_from_the_steps_and_is_noted(file, step, unit):
    part = read_part(file(pro_lab(unit="", step=step)))
    assert part.data["time_ms"].max() == pytest.approx(7 * step / (1000 if unit == "us" else 1))
    assert any(f"taken as {unit}" in note for note in part.notes)


def test_a_map_says_the_unit_of_time_better(file):
    study = read(file(pro_lab(unit="", step=16)), "time_unit=us")
    assert study.data["time_ms"].max() == pytest.approx(0.112)
    assert not any("unit" in note for note in study.notes)


def test_one_time_alone_tells_no_unit(file):
    text = "\n".join(pro_lab(unit="").splitlines()[:2]) + "\n"
    with pytest.raises(InputError, match="time_unit=ms"):
        read_part(file(text))


def test_rows_of_other_sensors_and_of_events_are_no_samples(file):
    sensors = ["Gyroscope", "Eye Tracker", "", "Eye Tracker"] * 4
    part = read_part(file(pro_lab(Sensor=sensors)))
    assert len(part.data) == 8 * 3
    rows = ["RecordingStart", *[""] * 14, "RecordingEnd"]
    assert len(read_part(file(pro_lab(Sensor=None, Event=rows))).data) == 14 * 3


@pytest.mark.parametrize("places", [" [DACS px]", None], ids=["samples", "fixations"])
def test_whoever_has_no_row_of_the_eye_tracker_counts_all_the_same(file, places):
    rows = pro_lab(Sensor=["Mouse"] * 8 + ["Eye Tracker"] * 8)
    part = read_part(file(rows if places else without(rows, "Gaze point")))
    (lost,) = part.data.filter(person="ann").to_dicts()
    assert part.data["person"].unique(maintain_order=True).to_list() == ["ann", "bob"]
    assert (lost["recording"], lost.get("x"), lost.get("duration_ms")) == ("Recording1", None, None)
    (note,) = [note for note in part.notes if "from the raw data" in note]
    assert "1 recording in export.tsv has rows, but none of gaze" in note


def test_an_export_without_the_eye_tracker_is_said_so(file):
    with pytest.raises(InputError, match="no rows of the sensor 'Eye Tracker'"):
        read_part(file(pro_lab(Sensor=["Mouse"] * 16)))


@pytest.mark.parametrize(
    ("place", "units", "screen"),
    [
        ("", "px", Screen(1920, 1080)),
        (" (DACSpx)", "px", Screen(1920, 1080)),
        (" [MCS px]", "px", None),
        (" (MCSnorm)", "fraction", None),
    ],
)
def test_positions_are_on_the_screen_or_on_what_it_showed(file, place, units, screen):
    part = read_part(file(pro_lab(place=place)))
    assert (part.units, part.screen) == (units, screen)
    assert any("not on the screen" in note for note in part.notes) == (screen is None)


def test_positions_in_millimetres_are_not_taken_for_pixels(file):
    with pytest.raises(InputError, match=r"no column|nor types|gaze points"):
        read_part(file(without(pro_lab(place=" [DACS mm]"), "Eye movement", "Gaze event")))


def test_rows_of_one_person_do_not_take_the_screen_from_all(file):
    export = file(pro_lab(**{"Recording resolution width": [800, 1920] * 8}))
    with pytest.raises(InputError, match=r"several screens \(800 x 1080, 1920 x 1080\)"):
        read_part(export)
    assert read(export, "screen=1920x1080").screen == Screen(1920, 1080)
    assert read(export, "screen=each").screen is None


def test_a_map_adds_to_the_screen_of_the_file(file):
    study = read(file(pro_lab()), "distance_m=0.6,screen_m=0.5x0.3")
    assert study.screen == Screen(1920, 1080, 0.5, 0.3, 0.6)


def test_pupils_of_gaze_of_both_eyes_together_are_averaged_and_noted(file):
    part = read_part(file(without(pro_lab(), "Gaze point left", "Gaze point right")))
    assert part.data["pupil"].to_list() == [3.375] * 16
    assert "eye" not in part.data.columns
    assert any("averaged" in note for note in part.notes)


def test_decimal_commas_are_read(file):
    text = pro_lab(
        **{
            "Pupil diameter left [mm]": ["3,25"] * 16,
            "Pupil diameter right [mm]": ["3,5"] * 16,
            "Gaze point X [DACS px]": [f"{100 + n},5" for n in range(16)],
            "Participant name": ["1.2"] * 8 + ["bob"] * 8,
        }
    )
    data = read_part(file(text)).data.filter(person="1.2")
    assert of(data, "cyclopean", "x") == [100.5 + n for n in range(8)]
    assert of(data, "left", "pupil") == [3.25] * 8


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("unit", [" [ms]", " [µs]"])
def test_encodings_do_not_matter(file, encoding, unit):
    text = pro_lab(unit=unit, step=16000).replace("ann", "zoë")
    assert read_part(file(text.encode(encoding))).data.equals(read_part(file(text)).data)


FIXATIONS = without(pro_lab(unit=" [μs]", step=16000), "Gaze point", "Pupil", "Validity")


def test_an_export_without_gaze_is_a_list_of_fixations(file):
    columns = ("Fixation point X", [10, 10, 10, "", 30, 30, 30, ""] * 2)
    text = "\n".join(
        f"{line}\t{x}\t{y}"
        for line, x, y in zip(
            FIXATIONS.splitlines(),
            [columns[0], *columns[1]],
            ["Fixation point Y", *columns[1]],
            strict=True,
        )
    )
    part = read_part(file(text + "\n"))
    assert part.kind == "fixations"
    assert part.data.select("person", "time_ms", "duration_ms", "x", "y").rows() == [
        ("ann", 0.0, 48.0, 10.0, 10.0),
        ("ann", 64.0, 50.0, 30.0, 30.0),
        ("bob", 0.0, 48.0, 10.0, 10.0),
        ("bob", 64.0, 50.0, 30.0, 30.0),
    ]
    assert (part.units, part.xy_origin, part.screen) == ("px", "top-left", Screen(1920, 1080))


def test_fixations_without_a_place_or_a_stated_duration_have_what_their_rows_say(file):
    part = read_part(file(without(FIXATIONS, "Gaze event duration")))
    assert part.data["duration_ms"].to_list() == pytest.approx([32.0, 32.0] * 2)
    assert "x" not in part.data.columns
    assert (part.units, part.xy_origin) == (None, None)


def test_an_export_without_gaze_and_fixations_is_refused(file):
    with pytest.raises(InputError, match="neither gaze points nor types"):
        read_part(file(without(FIXATIONS, "Eye movement type")))
    with pytest.raises(InputError, match="neither gaze points nor fixations"):
        read_part(file(FIXATIONS.replace("\tFixation", "\tUnclassified")))


def test_columns_that_are_left_out_are_noted(file):
    hits = {"AOI hit [page - face]": [0] * 16}
    assert (
        "columns of AOI hits and of mapped gaze were left out"
        in read_part(file(pro_lab(**hits))).notes
    )


@pytest.mark.parametrize("text", [sdk(), pro_lab()])
def test_a_header_alone_is_said_so(file, text):
    with pytest.raises(InputError, match="no rows"):
        read_part(file(text.splitlines()[0] + "\n"))


@pytest.mark.parametrize("text", [sdk(), pro_lab()])
def test_a_line_cut_short_is_noticed(file, text):
    with pytest.raises(InputError, match="truncated"):
        read_part(file(text[:-20]))


def test_repeated_and_backward_times_are_refused_or_mended_as_said(file):
    times = [0, 0, 16, 32, 48, 64, 80, 96] * 2
    repeated = pro_lab(**{"Recording timestamp [ms]": times})
    with pytest.raises(InputError, match="more than one row"):
        read(file(repeated))
    assert read(file(repeated), "repeats=spread").data["time_ms"].min() == 0.0
    with pytest.raises(InputError, match="backwards"):
        read(file(pro_lab(**{"Recording timestamp [ms]": [*range(15), 3]})))


@pytest.mark.parametrize(
    "header", ["Time\tLGaze\n", "timestamp [ns],gaze x [px]\n", "Recording timestamp\tx\ty\n"]
)
def test_other_tables_are_not_taken(file, header):
    assert not tobii.recognises(head_of(file(header)))


@given(data=st.data(), text=st.sampled_from([sdk(), pro_lab(unit=""), FIXATIONS]))
def test_damage_is_an_error_of_one_line(survives, data, text):
    survives(text.encode(), data)


@given(rest=st.binary(max_size=200), data=st.data())
def test_anything_after_the_header_is_read_or_refused(survives, rest, data):
    survives(pro_lab(unit="").splitlines()[0].encode() + b"\n" + rest, data)


@pytest.mark.parametrize("trial", [1, 2, 3, 4, 5])
def test_real_samples_are_read_as_they_stand(real_data, trial):
    path = real_data / "vendor_samples" / "tobii" / f"I2MC_TX300_p1_trial{trial}.tsv"
    with open(path) as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    part = read_part(path)
    for eye, letter in (("left", "L"), ("right", "R")):
        data = part.data.filter(eye=eye)
        seen = [int(row[f"{letter}Validity"]) <= 1 for row in rows]
        assert data["x"].is_not_null().to_list() == seen
        for name, column in (("x", "GazePos2dx"), ("y", "GazePos2dy"), ("pupil", "PupilDm")):
            stated = [
                float(row[letter + column]) if ok else None
                for row, ok in zip(rows, seen, strict=True)
            ]
            assert data[name].to_list() == stated
        # The file has both clocks: they must agree.
        relative = np.array([float(row["RelTimestamp"]) for row in rows])
        np.testing.assert_allclose(data["time_ms"] - data["time_ms"][0], relative, atol=1e-3)
    assert read(path).rate_hz == pytest.approx(300.0, rel=0.02)


def test_a_real_export_without_gaze_gives_its_fixation(real_data):
    path = real_data / "vendor_samples" / "tobii" / "GazePlotter_TobiiProLab_testMobileTsvData.tsv"
    with open(path) as lines:
        rows = [
            row for row in csv.DictReader(lines, delimiter="\t") if row["Sensor"] == "Eye Tracker"
        ]
    indices = {row["Eye movement type index"] for row in rows}
    part = read_part(path)
    assert part.kind == "fixations"
    assert len(part.data) == len(indices)
    found = part.data.row(0, named=True)
    assert found["time_ms"] == pytest.approx(float(rows[0]["Recording timestamp"]) / 1000)
    assert found["duration_ms"] == float(rows[0]["Gaze event duration"])
    assert (found["x"], found["y"]) == (
        float(rows[0]["Fixation point X"]),
        float(rows[0]["Fixation point Y"]),
    )
    assert any("taken as us" in note for note in part.notes)
