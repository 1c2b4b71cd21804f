"""Any table: what its columns mean is said by their names, or by a map."""

import contextlib
import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.io import read
from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.raw_tables import separator_of
from eyelid.io.tables import read_table

USUAL = "person,time_ms,x,y\nann,0,1.5,2.5\nann,10,,\nbob,0,3.5,4.5\n"


@pytest.fixture
def table(tmp_path):
    def write(content, name="gaze.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_usual_names_need_no_map(table):
    study = read(table(USUAL), {"units": "px"})
    assert study.data["person"].to_list() == ["ann", "ann", "bob"]
    assert study.data["x"].to_list() == [1.5, None, 3.5]
    assert study.units == "px"


def test_columns_that_nobody_mapped_are_named_once(table):
    header = "person,time_ms,x,y,gaze_valid"
    study = read(table(f"{header}\nann,0,1,2,1\n"), {"units": "px"})
    assert study.notes == ("columns that are not mapped were left out: gaze_valid",)
    more = ",".join(f"c{number}" for number in range(9))
    study = read(table(f"{header},{more}\nann,0,1,2,1{',1' * 9}\n"), {"units": "px"})
    assert study.notes[0].endswith(": gaze_valid, c0, c1, c2, c3, c4 and 4 more")


def test_other_signals_than_gaze_are_told_where_to_look(table):
    with pytest.raises(InputError, match=r"no gaze that is known.*heart_rate.*features"):
        read(table("person,time_ms,heart_rate\nann,0,61\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("person,when,heart_rate,day\nann,0,61,12.03.2021\n", "such as 'heart_rate,UNIT"),
        ('person,n,gaze\nann,1,"[{""x"": 1}]"\n', "`map='x=COLUMN.*the columns person, n, x"),
        ("person,x,y,t\nann,1,2,3\n", "has no time.*it has the columns person, x, y, t"),
        ("person,time_ms,dir_x,dir_y,dir_z\nann,0,0,0,1\n", "gaze_x=COLUMN,gaze_y=COLUMN"),
    ],
    ids=["measures are numbers", "JSON in cells", "no time", "directions"],
)
def test_what_is_advised_fits_the_columns(table, text, said):
    with pytest.raises(InputError, match=said):
        read(table(text))


DIRECTIONS = "time_ms,gaze_x,gaze_y,gaze_z\n0,0,0,1\n10,0,0,0\n20,0.6,0,0.8\n"


def test_directions_are_no_places_and_without_length_lost(table):
    """Trackers write 0, 0, 0 where they lost the eye: that is not straight ahead."""
    data = read(table(DIRECTIONS)).data
    assert not {"x", "y"} & set(data.columns)
    assert data["gaze_x"].to_list() == [0.0, None, 0.6]
    assert data["gaze_z"].to_list() == [1.0, None, 0.8]


@pytest.mark.parametrize("z", [-1, 1])
def test_directions_that_point_backwards_are_a_remark(table, z):
    """Some systems look along -z."""
    study = read(table(f"time_ms,gaze_x,gaze_y,gaze_z\n0,0,0,{z}\n10,0,0,0\n20,0,0,{z}\n"))
    assert any("point backwards (gaze_z is negative)" in note for note in study.notes) == (z < 0)


def test_two_columns_called_gaze_are_places(table):
    data = read(table("time_ms,gaze_x,gaze_y\n0,100,200\n10,110,200\n"), {"units": "px"}).data
    assert data["x"].to_list() == [100.0, 110.0]
    assert not {"gaze_x", "gaze_y"} & set(data.columns)


@pytest.mark.parametrize("role", ["gaze", "head"])
def test_what_is_no_unit_vector_is_no_direction(table, role):
    header = ",".join(f"rot_{axis}" for axis in "xyz")
    said = ",".join(f"{role}_{axis}=rot_{axis}" for axis in "xyz")
    text = f"time_ms,x,y,{header}\n0,1,1,0,0.7,0\n10,1,1,0,0.6,0\n"
    with pytest.raises(InputError, match=r"rot_x, rot_y, rot_z are no unit vectors.*a rotation"):
        read(table(text), said + ",units=px")


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_separators_are_found_out(table, separator):
    study = read(table(USUAL.replace(",", separator)))
    assert study.data["y"].to_list() == [2.5, None, 4.5]


def test_columns_between_spaces(table):
    study = read(table("time_ms   x    y\n 0  1.5 2.5\n10  3.5 4.5\n"))
    assert study.data["y"].to_list() == [2.5, 4.5]


def test_decimal_commas(table):
    study = read(table("person;time_ms;x;y\nann;0;1,5;2,5\nann;10;-3,25;4,5\n"))
    assert study.data["x"].to_list() == [1.5, -3.25]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings(table, encoding):
    content = "person,time_ms,x,y\nJörg,0,1.5,2.5\n".encode(encoding)
    assert read(table(content)).data["person"].to_list() == ["Jörg"]


def test_gzipped(table):
    path = table(gzip.compress(USUAL.encode()), "gaze.csv.gz")
    assert len(read(path).data) == 3


def test_parquet(table, tmp_path):
    pl.DataFrame({"t": [0.0, 0.1], "gx": [1, 2], "gy": [3, 4]}).write_parquet(
        tmp_path / "g.parquet"
    )
    study = read(tmp_path / "g.parquet", "time=t,time_unit=s,x=gx,y=gy")
    assert study.data["time_ms"].to_list() == [0.0, 100.0]


def test_a_table_without_a_header_is_read_by_numbers(table):
    path = table("556.85,510.24\n556.96,512.07\n")
    study = read(path, "x=1,y=2,units=px,rate_hz=60,header=no")
    assert study.data["time_ms"].to_list() == [0.0, pytest.approx(1000 / 60)]
    assert study.data["y"].to_list() == [510.24, 512.07]


def test_both_eyes_are_kept(table):
    path = table("time_ms,x_left,y_left,x_right,y_right\n0,1,2,3,4\n10,5,6,,\n")
    study = read(path)
    assert study.data.select("eye", "time_ms", "x", "y").rows() == [
        ("left", 0.0, 1.0, 2.0),
        ("left", 10.0, 5.0, 6.0),
        ("right", 0.0, 3.0, 4.0),
        ("right", 10.0, None, None),
    ]
    assert [r.eye for r in study.recordings()] == ["left", "right"]


def test_an_eye_that_stands_in_a_column(table):
    path = table("time_ms,eye,x,y\n0,L,1,2\n0,R,3,4\n10,L,5,6\n10,R,7,8\n")
    study = read(path)
    assert study.data["eye"].to_list() == ["left", "left", "right", "right"]
    assert study.data["x"].to_list() == [1.0, 5.0, 3.0, 7.0]


def test_labels_stay_labels(table):
    path = table("time_ms,x,y,label_event,kind\n0,1,2,fixation,a\n10,1,2,saccade,b\n")
    study = read(path, "label_kind=kind")
    assert study.labels == ["label_event", "label_kind"]
    assert study.data["label_kind"].to_list() == ["a", "b"]


def test_several_values_may_mean_that_the_eye_was_lost(table):
    rows = "time_ms,x,y,pupil\n0,-1,-1,-1\n10,1,2,3\n20,0,0,2.5\n30,0,0,0\n"
    study = read(table(rows), "lost=-1;0")
    assert study.data["x"].to_list() == [None, 1.0, None, None]
    assert study.data["pupil"].to_list() == [None, 3.0, 2.5, None]
    assert study.notes == ()


def test_a_place_that_comes_again_and_again_is_a_remark(table):
    rows = "".join(f"{10 * i},{i % 2},{i % 2}\n" for i in range(40))
    (told,) = read(table(f"time_ms,x,y\n{rows}")).notes
    assert told.startswith("20 places are exactly (0, 0): if that means that the eye was lost")


def test_a_value_may_mean_that_the_eye_was_lost(table):
    study = read(table("time_ms,x,y\n0,0,5\n10,1,2\n"), "lost=0")
    assert study.data["x"].to_list() == [None, 1.0]
    assert study.data["y"].to_list() == [None, 2.0]


def test_a_duration_makes_fixations(table):
    study = read(table("person,stimulus,duration_ms,x,y\n1,a,200,1,2\n1,a,100,3,4\n"))
    assert study.kind == "fixations"
    assert study.data["time_ms"].to_list() == [0.0, 200.0]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        (" \n\n ", "is empty"),
        ("time_ms,x,y\n", "has a header and no rows"),
        ("time,x,y\n0,1,2\n", "does not say the unit of time"),
        ("time_ms,x,y\n0,1,2\n10,abc,3\n", "row 2 of column 'x' is 'abc', no number"),
        ("time_ms,x,y\n0,1,2\n,1,2\n", "row 2 has no time in column 'time_ms'"),
        ("time_ms,x,y\n0,1,2\n10,1", "ends in the middle of a line"),
        ("time_ms,x,y\n10,1,2\n5,1,2\n", "time runs backwards at row 2 (to 5 ms)"),
        ("time_ms,x,y\n10,1,2\n10,1,2\n", "more than one row at time_ms 10"),
        ("time_ms,x,y\n0,1,2\n10;1;2\n", "gaze.csv"),
        ("x,y\n1,2\n", "has no time"),
        ("a,b\n1,2\n", "columns say nothing known"),
        ("Dear diary, today\nI saw, a bird\n", "columns say nothing known"),
        ("\x00\x01\x02binary", "it is binary"),
        ("hello", "no recording in a format"),
        ("time_ms,x,y\n0,1,2,3\n", "cannot read"),
    ],
)
def test_a_bad_table_gets_one_clear_line(table, content, complaint):
    with pytest.raises(InputError) as refused:
        read(table(content))
    assert complaint in str(refused.value)
    assert "gaze.csv" in str(refused.value) or "time_ms 10" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_column_that_is_not_there_is_named(table):
    with pytest.raises(
        InputError, match="no column 'gx': it has the columns person, time_ms, x, y"
    ):
        read(table(USUAL), "x=gx")


def test_repeats_are_mended_when_somebody_says_how(table):
    path = table("time_ms,x,y\n0,1,1\n0,2,2\n1,3,3\n1,4,4\n")
    assert read(path, "repeats=first").data["x"].to_list() == [1.0, 3.0]
    assert read(path, "repeats=spread").data["time_ms"].to_list() == [0.0, 0.5, 1.0, 1.5]


def test_backward_time_is_sorted_when_somebody_says_so(table):
    path = table("time_ms,x,y\n10,1,1\n0,2,2\n")
    assert read(path, "backwards=sort").data["x"].to_list() == [2.0, 1.0]


def test_interleaved_recordings_are_told_apart_by_a_column(table):
    path = table("session,time_ms,x,y\na,0,1,1\nb,5,2,2\na,10,3,3\nb,6,4,4\n")
    study = read(path)
    assert study.data["recording"].to_list() == ["a", "a", "b", "b"]
    assert study.data["x"].to_list() == [1.0, 3.0, 2.0, 4.0]


def test_negative_time_is_time(table):
    assert read(table("time_ms,x,y\n-10,1,1\n0,2,2\n")).data["time_ms"].to_list() == [-10.0, 0.0]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_part_or_a_complaint(content):
    head = Head(Path("gaze.csv"), b"time_ms,x,y\n0,1,2\n" + content, whole=True)
    with contextlib.suppress(InputError):
        read_table(head, Layout(columns={"time": "time_ms", "x": "x", "y": "y"}))


@given(st.lists(st.text(max_size=30), max_size=5))
def test_a_separator_is_always_found(lines):
    assert separator_of(lines) in "\t;,| "


def test_a_column_may_be_a_number_and_a_label(table):
    study = read(table("time_ms,x,y\n0,1,2\n"), "label_x=x")
    assert study.data["label_x"].to_list() == study.data["x"].to_list() == [1.0]


def test_what_is_infinite_was_not_measured(table):
    assert read(table("time_ms,x,y\n0,inf,2\n10,1,-inf\n")).data["x"].to_list() == [None, 1.0]
    with pytest.raises(InputError, match="row 2 has no time"):
        read(table("time_ms,x,y\n0,1,2\ninf,1,2\n"))


@pytest.mark.parametrize(
    "said",
    ["repeats=spread", "repeats=first", "repeats=spread,backwards=sort", "repeats=spread,lost=5"],
)
def test_one_persons_rows_do_not_move_anothers(table, said):
    """Otherwise a promise to one person would rest on everybody's data."""
    ann = "".join(f"ann,{10 * (i // 2)},{i},1\n" for i in range(40))
    studies = [
        read(table(f"person,time_ms,x,y\n{ann}" + other), said)
        for other in (
            "".join(f"bob,{1000 * i},{5 * i},2\n" for i in range(40)),
            "bob,0,5,5\nbob,3,,\n",
        )
    ]
    of_ann = [study.data.filter(pl.col("person") == "ann") for study in studies]
    assert of_ann[0].equals(of_ann[1])


@pytest.mark.parametrize(
    ("pattern", "first_ms"),
    [
        ("2024-05-06T10:00:{}Z", 1714989600000.0),
        ("2024-05-06 10:00:{}", 1714989600000.0),
        ("2024-05-06T10:00:{}+02:00", 1714982400000.0),
    ],
)
def test_times_may_be_dates_with_a_time_of_day(tmp_path, pattern, first_ms):
    rows = [(pattern.format(f"{i // 100:02d}.{i % 100 * 10:03d}"), i, 2) for i in range(300)]
    frame = pl.DataFrame(rows, schema=["timestamp", "x", "y"], orient="row")
    frame.write_csv(tmp_path / "P1.csv")
    study = read(tmp_path / "P1.csv")
    assert study.data["time_ms"][:3].to_list() == [first_ms, first_ms + 10, first_ms + 20]
    assert study.rate_hz == 100.0
    zone = None if " " in pattern else "UTC"
    clock = frame["timestamp"].str.to_datetime(time_zone=zone)
    frame.with_columns(clock).write_parquet(tmp_path / "P1.parquet")
    assert read(tmp_path / "P1.parquet").data["time_ms"].equals(study.data["time_ms"])


def test_a_time_that_is_none_among_dates_is_told(tmp_path):
    (tmp_path / "P1.csv").write_text("timestamp,x,y\n2024-05-06T10:00:00,1,2\nlater,1,2\n")
    with pytest.raises(InputError, match="row 2 of column 'timestamp' is 'later', no time like"):
        read(tmp_path / "P1.csv")


def test_pupils_of_two_eyes_beside_one_place_are_not_dropped(tmp_path):
    rows = ["t,x,y,l,r", "0,1,2,3.0,4.0", "10,1,2,0,4.0", "20,1,2,3.0,", "30,1,2,0,0"]
    (tmp_path / "P1.csv").write_text("\n".join(rows))
    said = {"time": "t", "time_unit": "ms", "x": "x", "y": "y", "units": "px", "pupil_unit": "mm"}
    study = read(tmp_path / "P1.csv", said | {"pupil_left": "l", "pupil_right": "r"})
    assert study.data["pupil"].to_list() == [3.5, 4.0, 3.0, None]


CLOCKS = "who,page,text,t,x,y\n" + "".join(
    f"{who},{page},{text},{10 * i},{i},{i}\n"
    for who in ("a", "b")
    for page in ("one", "two")
    for text in ("easy", "hard")
    for i in range(5)
)
MAPPED = {"person": "who", "task": "text", "stimulus": "page", "time": "t", "time_unit": "ms"}


def test_clocks_that_start_anew_with_each_stimulus_tell_recordings_apart(tmp_path):
    """Sorting them by time would make one recording of four, its rows in turn."""
    (tmp_path / "all.csv").write_text(CLOCKS)
    study = read(tmp_path / "all.csv", MAPPED | {"units": "px"})
    names = ["easy-one", "easy-two", "hard-one", "hard-two"]
    assert sorted(study.data.filter(person="a")["recording"].unique()) == names
    assert study.data.group_by("person", "recording").len()["len"].to_list() == [5] * 8


def test_one_person_s_clock_cuts_nobody_else_s_recordings(tmp_path):
    """A release that counts anybody by task would show whose clock it was."""
    others = []
    for restarts in (False, True):
        rows = ["who,text,t,x,y"]
        for person in ("a", "b"):
            for n in range(4):
                t = 10 * (n % 2 if restarts and person == "a" else n)
                rows.append(f"{person},{'one' if n < 2 else 'two'},{t},{n},{n}")
        (tmp_path / "all.csv").write_text("\n".join(rows) + "\n")
        said = {name: MAPPED[name] for name in ("person", "task", "time", "time_unit")}
        study = read(tmp_path / "all.csv", said | {"units": "px"})
        assert (
            study.data.group_by("person", "recording")
            .agg(pl.col("task").n_unique())["task"]
            .to_list()
            == [1] * 4
        )
        others.append(study.data.filter(person="b"))
    assert others[0].equals(others[1])


def test_clocks_that_start_anew_within_a_stimulus_are_still_an_error(tmp_path):
    (tmp_path / "all.csv").write_text(CLOCKS + "b,two,hard,0,1,1\n")
    with pytest.raises(InputError, match="time runs backwards"):
        read(tmp_path / "all.csv", MAPPED | {"units": "px"})
