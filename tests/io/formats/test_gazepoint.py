"""Gazepoint: exports of all gaze and of fixations."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import gazepoint
from eyelid.io.reading import read_part

CLOCK = "TIME(2024/01/02 10:11:12.345)"
ROWS = 12


def table(columns: dict[str, list[object] | None]) -> str:
    """An export, which ends each of its lines with a comma."""
    columns = {name: values for name, values in columns.items() if values is not None}
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    return "".join(f"{line},\n" for line in lines)


def all_gaze(**changed: list[object] | None) -> str:
    """Two fixations, the second one with a blink in it, at 60 Hz."""
    columns = {
        "MEDIA_ID": [0] * ROWS,
        "MEDIA_NAME": ["Slide0"] * ROWS,
        "CNT": list(range(ROWS)),
        CLOCK: [f"{n / 60:.5f}" for n in range(ROWS)],
        "TIMETICK(f=10000000)": [10**9 + n for n in range(ROWS)],
        "FPOGX": [0.5] * ROWS,
        "FPOGY": [0.25] * 6 + [0.75] * 6,
        "FPOGS": ["0.00000"] * 6 + ["0.10000"] * 6,
        "FPOGD": [f"{n / 60:.5f}" for n in range(6)] * 2,
        "FPOGID": [1] * 6 + [2] * 6,
        "FPOGV": [1] * 5 + [0] + [1] * 6,
        "BPOGX": [f"{0.4 + n / 100:.2f}" for n in range(ROWS)],
        "BPOGY": [f"{0.6 - n / 100:.2f}" for n in range(ROWS)],
        "BPOGV": [1] * 11 + [0],
        "LPOGX": [0.3] * ROWS,
        "LPOGY": [0.4] * ROWS,
        "LPOGV": [1, 0] * 6,
        "RPOGX": [0.5] * ROWS,
        "RPOGY": [0.6] * ROWS,
        "RPOGV": [1] * ROWS,
        "LPMM": [3.25] * ROWS,
        "LPMMV": [1] * 11 + [0],
        "RPMM": [3.75] * ROWS,
        "RPMMV": [1] * ROWS,
        "BKID": [0] * 8 + [5, 5] + [0] * 2,
        "BKDUR": [0.0] * 10 + [0.033, 0.0],
        "AOI": ["face"] * 3 + [""] * 9,
    }
    return table(columns | changed)


BOTH_TOGETHER = {f"{eye}POG{axis}": None for eye in "LR" for axis in "XYV"}
NO_PLACE = BOTH_TOGETHER | {name: None for name in ("BPOGX", "BPOGY", "BPOGV", "FPOGX", "FPOGY")}


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "User 0_all_gaze.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def of(data, eye, column):
    return data.filter(eye=eye)[column].to_list()


def test_each_eye_and_the_best_of_both_are_read_as_shares_of_the_screen(file):
    part = read_part(file(all_gaze()))
    best = [pytest.approx(0.4 + n / 100) for n in range(11)]
    assert of(part.data, "cyclopean", "x") == [*best, None]
    assert of(part.data, "left", "x") == [0.3, None] * 6
    assert of(part.data, "right", "y") == [0.6] * ROWS
    assert of(part.data, "left", "time_ms") == pytest.approx(
        [1000 * n / 60 for n in range(ROWS)], abs=0.01
    )
    assert (part.kind, part.units, part.xy_origin) == ("samples", "fraction", "top-left")


def test_pupils_are_in_mm_where_they_are_known(file):
    part = read_part(file(all_gaze()))
    assert of(part.data, "left", "pupil") == [3.25] * 11 + [None]
    assert part.pupil_unit == "mm"
    in_px = {"LPMM": None, "LPMMV": None, "RPMM": None, "RPMMV": None}
    part = read_part(file(all_gaze(**in_px, LPD=[20.5] * ROWS, LPV=[1, 0] * 6)))
    assert of(part.data, "left", "pupil") == [20.5, None] * 6
    assert part.pupil_unit == "px"


def test_pupils_of_gaze_of_both_eyes_together_are_averaged_and_noted(file):
    part = read_part(file(all_gaze(**BOTH_TOGETHER)))
    assert part.data["pupil"].to_list() == [3.5] * 11 + [3.75]
    assert "eye" not in part.data.columns
    assert any("averaged" in note for note in part.notes)


def test_media_are_stimuli_and_areas_of_interest_labels(file):
    data = read_part(file(all_gaze())).data.filter(eye="left")
    assert data["stimulus"].to_list() == ["Slide0"] * ROWS
    assert data["label_aoi"].to_list() == ["face"] * 3 + [None] * 9


def test_the_date_in_the_name_of_a_column_stays_out(file):
    assert not any("2024" in name for name in read_part(file(all_gaze())).data.columns)


def test_fixations_and_blinks_are_the_runs_of_their_numbers(file):
    events = read_part(file(all_gaze())).events
    assert events["name"].to_list() == ["fixation", "fixation", "blink"]
    assert events["onset_ms"].to_list() == pytest.approx([0, 100, 8000 / 60], abs=0.01)
    assert events["duration_ms"].to_list() == pytest.approx(
        [4000 / 60, 5000 / 60, 1000 / 60], abs=0.01
    )


def test_a_recording_ends_where_time_begins_again(file):
    times = [f"{(n % 6) / 60:.5f}" for n in range(ROWS)]
    names = ["Slide0"] * 6 + ["Slide1"] * 6
    study = read(file(all_gaze(**{CLOCK: times, "MEDIA_NAME": names})))
    assert study.data.select("recording", "stimulus").unique(maintain_order=True).rows() == [
        ("User 0_all_gaze-1", "Slide0"),
        ("User 0_all_gaze-2", "Slide1"),
    ]
    assert study.events["recording"].unique(maintain_order=True).to_list() == [
        "User 0_all_gaze-1",
        "User 0_all_gaze-2",
    ]


def test_a_file_of_one_recording_is_called_by_its_name(file):
    study = read(file(all_gaze()))
    assert study.data["recording"].unique().to_list() == ["User 0_all_gaze"]
    assert study.events["recording"].unique().to_list() == ["User 0_all_gaze"]


def test_an_export_of_fixations_has_one_row_for_each(file):
    lines = all_gaze().splitlines()
    part = read_part(file("\n".join([lines[0], lines[5], lines[12]]) + "\n"))
    assert part.kind == "fixations"
    assert part.data.select("x", "y").rows() == [(0.5, 0.25), (0.5, 0.75)]
    assert part.data["time_ms"].to_list() == [0.0, 100.0]
    assert part.data["duration_ms"].to_list() == pytest.approx([4000 / 60, 5000 / 60], abs=0.01)
    assert (part.units, part.xy_origin) == ("fraction", "top-left")


def test_without_places_the_last_row_of_a_fixation_has_its_duration(file):
    part = read_part(file(all_gaze(**NO_PLACE)))
    assert part.kind == "fixations"
    assert part.data["time_ms"].to_list() == [0.0, 100.0]
    # The last row of the first fixation is not valid.
    assert part.data["duration_ms"].to_list() == pytest.approx([4000 / 60, 5000 / 60], abs=0.01)
    assert part.data["label_aoi"].to_list() == ["face", None]
    assert "x" not in part.data.columns
    assert (part.units, part.xy_origin) == (None, None)


def test_fixations_without_start_and_duration_last_from_row_to_row(file):
    part = read_part(file(all_gaze(**NO_PLACE, FPOGS=None, FPOGD=None, FPOGV=None)))
    assert part.data["time_ms"].to_list() == pytest.approx([0.0, 100.0])
    assert part.data["duration_ms"].to_list() == pytest.approx([83.33, 83.33])


def test_one_eye_alone_is_read(file):
    fewer = {"RPOGX": None, "RPOGY": None, "RPOGV": None, "BPOGX": None, "RPMM": None}
    data = read_part(file(all_gaze(**fewer))).data
    assert data["eye"].unique().to_list() == ["left"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (all_gaze().splitlines()[0] + "\n", "no rows"),
        (all_gaze()[:-20], "truncated"),
        (all_gaze(**NO_PLACE, FPOGV=[0] * ROWS), "no valid fixation"),
        (all_gaze(**BOTH_TOGETHER, BPOGY=None, FPOGID=None), "no place of gaze"),
        (all_gaze(**{CLOCK: ["soon"] * ROWS}), "no number"),
    ],
)
def test_what_is_missing_is_said(file, text, said):
    with pytest.raises(InputError, match=said):
        read_part(file(text))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_encodings_do_not_matter(file, encoding):
    text = all_gaze(MEDIA_NAME=["Bär"] * ROWS)
    assert read_part(file(text.encode(encoding))).data.equals(read_part(file(text)).data)


def test_repeated_times_are_refused_or_mended_as_said(file):
    times = all_gaze(**{CLOCK: [0, 0, *range(1, ROWS - 1)]})
    with pytest.raises(InputError, match="more than one row"):
        read(file(times))
    assert len(read(file(times), "repeats=first").data) == 3 * (ROWS - 1)


def test_a_map_goes_before_the_format(file):
    study = read(file(all_gaze()), "person=MEDIA_ID,time=CNT,time_unit=ms")
    assert study.people["person"].to_list() == ["0"]
    assert study.data["time_ms"].max() == ROWS - 1


@pytest.mark.parametrize("header", ["TIME,x,y\n", "FPOGX,FPOGY,FPOGID\n", "time,BPOGX,BPOGY\n"])
def test_other_tables_are_not_taken(file, header):
    assert not gazepoint.recognises(head_of(file(header)))


@given(data=st.data(), text=st.sampled_from([all_gaze(), all_gaze(**NO_PLACE)]))
def test_damage_is_an_error_of_one_line(survives, data, text):
    survives(text.encode(), data)


@given(rest=st.binary(max_size=200), data=st.data())
def test_anything_after_the_header_is_read_or_refused(survives, rest, data):
    survives(all_gaze().splitlines()[0].encode() + b"\n" + rest, data)


def test_a_real_file_gives_its_fixations(real_data):
    path = real_data / "vendor_samples" / "gazepoint" / "GazePlotter_fixation_rows.csv"
    with open(path) as lines:
        rows = list(csv.DictReader(lines))
    last = {row["FPOGID"]: row for row in rows}
    part = read_part(path)
    assert part.kind == "fixations"
    assert part.data.select("stimulus", "time_ms", "duration_ms").rows() == [
        (row["MEDIA_NAME"], pytest.approx(1000 * float(row["FPOGS"])), pytest.approx(lasted))
        for row, lasted in ((row, 1000 * float(row["FPOGD"])) for row in last.values())
    ]
    hits = {row["FPOGID"]: row["AOI"] for row in reversed(rows) if row["AOI"]}
    assert part.data["label_aoi"].to_list() == [hits.get(number) for number in last]
