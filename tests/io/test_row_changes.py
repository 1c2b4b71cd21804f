"""Each stimulus a task of its own: recordings of different people are matched by what was shown."""

import re
import shlex

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.io.convert import convert
from eyelid.mechanisms.groups.slots import slots_of

ORDERS = ("AB", "BA", "AB", "BA")
EACH = {"task": "each-stimulus"}


@pytest.fixture
def gaze() -> Study:
    """Four people who saw two pictures, each a recording, in two orders; with an event in each."""
    rows = [
        (f"p{person}", str(number), "", picture, 10.0 * sample, 1.0 * sample, 2.0)
        for person, order in enumerate(ORDERS)
        for number, picture in enumerate(order)
        for sample in range(5)
    ]
    names = ["person", "recording", "task", "stimulus", "time_ms", "x", "y"]
    data = pl.DataFrame(rows, names, orient="row")
    events = data.filter(pl.col("time_ms") == 20.0).select(
        "person",
        "recording",
        pl.lit("fixation").alias("name"),
        pl.col("time_ms").alias("onset_ms"),
        (pl.col("time_ms") + 10).alias("offset_ms"),
        pl.lit(10.0).alias("duration_ms"),
    )
    return Study("samples", data, data.select("person").unique(maintain_order=True), events=events)


def in_one_recording(study: Study) -> Study:
    """The same with everything that a person saw in one recording, one picture after the other."""
    later = 100.0 * pl.col("recording").cast(pl.Int64)
    one = pl.lit("1").alias("recording")
    events = study.events.with_columns(pl.col("onset_ms", "offset_ms") + later)
    return study.derive(
        data=study.data.with_columns(pl.col("time_ms") + later).with_columns(one),
        events=events.with_columns(one),
    )


@pytest.mark.parametrize("values", [1 << 21, 40])
@pytest.mark.parametrize("one", [False, True], ids=["a recording each", "one recording"])
def test_a_study_folder_is_written_with_a_task_for_each_stimulus(
    gaze, tmp_path, monkeypatch, one, values
):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", values)
    write(in_one_recording(gaze) if one else gaze, tmp_path / "study")
    done = convert(tmp_path / "study", tmp_path / "out", map=EACH)
    assert done.recordings == 8
    keys = ["person", "recording", "task", "stimulus"]
    recordings = done.study.data.select(keys).unique(maintain_order=True)
    assert recordings["task"].to_list() == recordings["stimulus"].to_list() == [*"ABBAABBA"]
    assert done.study.events.join(recordings, on=keys[:2]).height == 8
    assert read(tmp_path / "study", EACH).data["task"].to_list() == [*"AAAAABBBBBBBBBBAAAAA"] * 2


def test_a_stimulus_of_two_tasks_is_a_task_in_each(gaze, tmp_path):
    task = pl.when(pl.col("recording") == "0").then(pl.lit("look")).otherwise(pl.lit("rate"))
    write(gaze.derive(data=gaze.data.with_columns(task.alias("task"))), tmp_path / "study")
    found = read(tmp_path / "study", EACH).data["task"].unique(maintain_order=True)
    assert found.to_list() == ["look-A", "rate-B", "look-B", "rate-A"]


def test_files_are_read_with_a_task_for_each_stimulus(gaze, tmp_path):
    (tmp_path / "raw").mkdir()
    for (person,), rows in gaze.data.partition_by("person", as_dict=True).items():
        clock = pl.int_range(pl.len()).alias("time_ms")
        rows.select(clock, "x", "y", "stimulus").write_csv(tmp_path / "raw" / f"{person}.csv")
    said = EACH | {"file": "{person}", "units": "px"}
    study = read(tmp_path / "raw", said)
    assert study.data.filter(person="p1")["task"].to_list() == [*"BBBBBAAAAA"]
    done = convert(tmp_path / "raw", tmp_path / "out", map=said)
    assert (done.recordings, done.study.data["task"].to_list()) == (8, study.data["task"].to_list())


def test_without_stimuli_there_is_nothing_to_make_tasks_of(gaze, tmp_path):
    bare = gaze.derive(data=gaze.data.with_columns(pl.lit("").alias("stimulus")))
    write(bare, tmp_path / "study")
    for reading in (read, convert):
        words = (tmp_path / "out",) if reading is convert else ()
        with pytest.raises(InputError, match="no stimulus has a name"):
            reading(tmp_path / "study", *words, map=EACH)


def test_a_recording_of_several_stimuli_is_not_called_by_the_first(gaze):
    assert {each.stimulus for each in gaze.recordings()} == {"A", "B"}
    assert {each.stimulus for each in in_one_recording(gaze).recordings()} == {""}


@pytest.mark.parametrize("one", [False, True], ids=["a recording each", "one recording"])
def test_features_of_several_stimuli_in_a_recording_are_foretold(eyelid, gaze, tmp_path, one):
    study = in_one_recording(gaze) if one else gaze
    fixations = study.data.with_columns(pl.lit(10.0).alias("duration_ms"))
    write(study.derive(kind="fixations", data=fixations, units="deg"), tmp_path / "study")
    done = eyelid("features", tmp_path / "study", tmp_path / "out")
    assert done.code == 0, done.err
    assert ("task=each-stimulus" in done.err) == one


@pytest.mark.parametrize(("mechanism", "said"), [("ksame", "k=2"), ("groupmean", "length=3")])
def test_the_command_against_mixed_stimuli_keeps_them_apart(
    eyelid, make_table, tmp_path, mechanism, said
):
    table = make_table(4, 2, 3)
    shown = [
        ORDERS[int(person)][int(recording)]
        for person, recording in table.data.select("person", "recording").rows()
    ]
    data = table.data.with_columns(pl.Series("stimulus", shown), pl.lit("look").alias("task"))
    write(table.study().derive(data=data), tmp_path / "mixed")
    asked = ["--mechanism", mechanism, "--set", said]
    asked += ["--epsilon", "1"] if mechanism == "groupmean" else []
    told = eyelid("cost", tmp_path / "mixed", *asked)
    everything = " ".join((told.out + told.err).split())
    (command,) = [w for w in re.findall(r"'eyelid ([^']*)'", everything) if "each-stim" in w]
    paths = {"IN": tmp_path / "mixed", "OUT": tmp_path / "apart"}
    done = eyelid(*[paths.get(word, word) for word in shlex.split(command)])
    assert done.code == 0, done.err
    slots = slots_of(FeatureTable.of(read(tmp_path / "apart")))
    assert slots.names["task"].to_list() == ["look-A", "look-B"]
    again = eyelid("cost", tmp_path / "apart", *asked)
    assert again.code == 0, again.err
    assert "different stimuli" not in " ".join((again.out + again.err).split())
    words = tmp_path / "mixed", tmp_path / "out", *asked, "--map", "task=each-stimulus"
    refused = eyelid("release", *words)
    assert "convert makes each of its stimuli a task" in refused.err


@pytest.mark.parametrize("again", [False, True], ids=["files", "a study folder"])
def test_a_lost_recording_gets_no_task_of_its_own(tmp_path, again):
    """A task that nobody else has showed in means that a person's file is empty."""
    (tmp_path / "raw").mkdir()
    shown = "time_ms,x,y,stimulus\n" + "".join(f"{10 * n},1,{n},STIMULUS\n" for n in range(5))
    for person in "abc":
        for task, stimulus in (("look", "B"), ("rate", "A")):
            text = shown.replace("STIMULUS", stimulus)
            (tmp_path / "raw" / f"{person}_{task}.csv").write_text(text)
    (tmp_path / "raw" / "b_look.csv").write_text("")
    (tmp_path / "raw" / "b_rate.csv").write_text("time_ms,x,y,stimulus\n")
    said = {"file": "{person}_{task}", "units": "px"}
    if again:
        convert(tmp_path / "raw", tmp_path / "study", map=said, keep_names=True)
        found = read(tmp_path / "study", EACH)
        done = convert(tmp_path / "study", tmp_path / "out", map=EACH, keep_names=True)
    else:
        found = read(tmp_path / "raw", said | EACH)
        done = convert(tmp_path / "raw", tmp_path / "out", map=said | EACH, keep_names=True)
    for study in (found, done.study):
        assert set(study.data.filter(person="b")["task"]) == {"look-B", "rate-A"}
        assert set(study.data["task"]) == {"look-B", "rate-A"}


def test_the_name_of_an_empty_file_tells_its_stimulus(tmp_path):
    (tmp_path / "raw").mkdir()
    for name in ("a_p1", "a_p2", "b_p1", "b_p2"):
        empty = name == "b_p2"
        text = "" if empty else "time_ms,x,y\n0,1,1\n10,1,2\n"
        (tmp_path / "raw" / f"{name}.csv").write_text(text)
    said = EACH | {"file": "{person}_{stimulus}", "units": "px"}
    study = read(tmp_path / "raw", said)
    assert study.data.filter(person="b")["task"].to_list() == ["p1", "p1", "p2"]


def test_an_event_before_the_first_sample_stays_in_a_recording_that_there_is(gaze, tmp_path):
    one = in_one_recording(gaze)
    early = one.events.with_columns(pl.col("onset_ms") - 50)
    write(one.derive(events=early), tmp_path / "study")
    found = read(tmp_path / "study", EACH)
    assert found.events.join(found.data, on=["person", "recording"], how="anti").is_empty()
    assert convert(tmp_path / "study", tmp_path / "out", map=EACH).study.events.height == 8
