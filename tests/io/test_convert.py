"""Convert scrubs, lists what it left behind, counts on the same ledger, and lints clean."""

import json

import polars as pl
import pytest

from eyelid.errors import InputError, Refused
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.convert import convert
from eyelid.io.lint import lint
from eyelid.privacy.ledger import Ledger
from eyelid.releases.budget import budget
from eyelid.releases.release import release

TARGETS = ["study", "bids", "csv"]
TOBII = (
    "Recording timestamp [ms]\tParticipant name\tRecording name\tRecording date\t"
    "Presented Stimulus name\tGaze point X\tGaze point Y\tRecording resolution width\t"
    "Recording resolution height\n"
)


@pytest.fixture
def export(tmp_path):
    """Three people in one export, with their names and dates, 40 s each."""
    rows = [
        f"{5000 + 20 * i}\t{name}\tRecording of {name}\t2023-07-05\tC:\\stimuli\\page.png\t"
        f"{500 + 300 * (i // 25 % 2) + number}\t{400 + number}\t1920\t1080\n"
        for number, name in enumerate(["Cydonia", "Annabel", "Roberta"])
        for i in range(2000)
    ]
    path = tmp_path / "in" / "export.tsv"
    path.parent.mkdir()
    path.write_text(TOBII + "".join(rows))
    return path


@pytest.mark.parametrize("to", TARGETS)
def test_the_result_is_clean_and_lists_what_was_left_behind(export, tmp_path, to):
    done = convert(export, tmp_path / "out", to)
    assert lint(tmp_path / "out") == []
    assert {"a name", "a date or time of day", "a path"} <= {f.what for f in done.removed}
    written = b"".join(p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file())
    for name in (b"Cydonia", b"Annabel", b"Roberta", b"2023-07-05", b"stimuli"):
        assert name not in written
    study = read(tmp_path / "out")
    assert study.data["time_ms"].min() == 0.0
    assert study.people["person"].to_list() == ["anon01", "anon02", "anon03"]
    assert study.data["stimulus"].unique().to_list() == ["page"]


def test_gaze_is_left_as_it_is(export, tmp_path):
    convert(export, tmp_path / "out")
    raw, done = read(export), read(tmp_path / "out")
    names = Ledger(export.with_name("recordings.ledger")).pseudonyms(
        done.origin.id, ["Annabel", "Roberta", "Cydonia"]
    )
    for person, pseudonym in names.items():
        before = raw.data.filter(pl.col("person") == person)
        after = done.data.filter(pl.col("person") == pseudonym)
        assert before["x"].equals(after["x"])
        assert (before["time_ms"] - 5000.0).equals(after["time_ms"])


def test_people_keep_their_pseudonyms_and_their_account(export, tmp_path):
    first = convert(export, tmp_path / "one").study
    second = convert(export, tmp_path / "two", units=None).study
    assert first.origin == second.origin
    assert first.data.equals(second.data)
    release(tmp_path / "one", tmp_path / "p1", mechanism="laplace", epsilon=1.0)
    release(tmp_path / "two", tmp_path / "p2", mechanism="laplace", epsilon=1.0)
    done = release(export, tmp_path / "p3", mechanism="laplace", epsilon=1.0)
    assert done.certificate.total.epsilon == 3.0
    assert budget(export).sound.epsilon == 3.0
    convert(export, tmp_path / "named", keep_names=True)
    done = release(tmp_path / "named", tmp_path / "p4", mechanism="laplace", epsilon=1.0)
    assert done.certificate.total.epsilon == 4.0


def test_names_do_not_leave_with_a_release_from_recordings(export, tmp_path):
    release(export, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    written = b"".join(p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file())
    for name in (b"Cydonia", b"Annabel", b"Roberta", b"stimuli\\"):
        assert name not in written


def test_a_copy_that_left_the_house_is_not_counted_from_nothing(export, tmp_path):
    convert(export, tmp_path / "copy", "bids")
    with pytest.raises(InputError, match="`ledger=…`"):
        release(tmp_path / "copy", tmp_path / "out", mechanism="laplace", epsilon=1.0)
    ledger = export.with_name("recordings.ledger")
    release(export, tmp_path / "p1", mechanism="laplace", epsilon=1.0)
    done = release(
        tmp_path / "copy", tmp_path / "out", mechanism="laplace", epsilon=1.0, ledger=ledger
    )
    assert done.certificate.total.epsilon == 2.0
    assert not done.certificate.incomplete
    fresh = {"mechanism": "laplace", "epsilon": 1.0, "ledger": tmp_path / "l"}
    with pytest.raises(InputError, match="these people have a ledger, and"):
        release(tmp_path / "copy", tmp_path / "p2", **fresh)
    assert not (tmp_path / "l").exists()


def test_a_wrong_ledger_for_a_copy_is_refused_and_a_new_one_never_has_a_total(export, tmp_path):
    convert(export, tmp_path / "copy", "csv")
    wrong = tmp_path / "typo.ledger"
    with pytest.raises(InputError, match="is not there"):
        budget(tmp_path / "copy", ledger=wrong)
    assert not wrong.exists()
    asked = {"mechanism": "laplace", "epsilon": 1.0}
    with pytest.raises(InputError, match="is not there"):
        release(tmp_path / "copy", tmp_path / "out", **asked, ledger=wrong)
    # A person who got the copy and will never have the ledger says so.
    with pytest.raises(InputError, match="say with `ledger=…`"):
        budget(tmp_path / "copy", lost=True)
    budget(tmp_path / "copy", ledger=wrong, lost=True)
    convert(tmp_path / "copy", tmp_path / "study", ledger=wrong)
    for name in ("copy", "study"):
        more = {"ledger": wrong} if name == "copy" else {}
        done = release(tmp_path / name, tmp_path / f"out-{name}", **asked, **more)
        assert done.certificate.incomplete
        assert done.certificate.total is None
    assert len(done.certificate.ledger) == 2


def test_another_ledger_does_not_dodge_a_limit(export, tmp_path):
    budget(export, limit_epsilon=1.0)
    release(export, tmp_path / "o1", mechanism="laplace", epsilon=1.0)
    with pytest.raises(InputError, match="leave out `ledger`"):
        convert(export, tmp_path / "study", ledger=tmp_path / "x.ledger")
    with pytest.raises(Refused):
        release(
            export, tmp_path / "o2", mechanism="laplace", epsilon=1.0, ledger=tmp_path / "x.ledger"
        )
    convert(export, tmp_path / "study")
    with pytest.raises(Refused):
        release(tmp_path / "study", tmp_path / "o3", mechanism="laplace", epsilon=1.0)
    link = tmp_path / "link"
    link.symlink_to(export.parent)
    for path in (link / export.name, export.parent / "." / export.name):
        with pytest.raises(Refused):
            release(path, tmp_path / "o4", mechanism="laplace", epsilon=1.0)


def test_a_limit_in_a_ledger_of_choice_holds_there(export, tmp_path):
    chosen = tmp_path / "x.ledger"
    budget(export, limit_epsilon=1.0, ledger=chosen)
    release(export, tmp_path / "o1", mechanism="laplace", epsilon=1.0, ledger=chosen)
    release(export, tmp_path / "o2", mechanism="laplace", epsilon=1.0)
    with pytest.raises(Refused):
        release(export, tmp_path / "o3", mechanism="laplace", epsilon=0.5, ledger=chosen)


def test_a_real_name_like_a_pseudonym_is_nobody_elses(tmp_path):
    rows = [f"{name},{20 * i},{i % 7},1" for name in ("anon01", "ann", "P03") for i in range(2000)]
    path = tmp_path / "gaze.csv"
    path.write_text("\n".join(["person,time_ms,x,y", *rows, ""]))
    done = convert(path, tmp_path / "study", map="units=px").study
    assert len(set(done.people["person"])) == 3
    assert len(done.data) == 6000
    out = release(path, mechanism="laplace", epsilon=1.0, map="units=px")
    assert out.certificate.people == out.table.data["person"].n_unique() == 3
    balance = Ledger(tmp_path / "recordings.ledger").balances(done.origin.id)
    assert [b.people for b in balance] == [3]
    with pytest.raises(InputError, match="called like a pseudonym"):
        convert(path, tmp_path / "kept", map="units=px", keep_names=True)


def test_recordings_of_everybodys_own_are_numbered_and_bound_nothing_by_hand(export, tmp_path):
    text = export.read_text()
    for number, name in enumerate(["Cydonia", "Annabel", "Roberta"]):
        text = text.replace(f"Recording of {name}", f"Recording{number + 1}")
    export.write_text(text)
    assert set(convert(export, tmp_path / "study").study.data["recording"]) == {"r1"}


def test_nothing_that_names_somebody_survives_in_any_text(export, tmp_path):
    text = export.read_text().replace("C:\\stimuli\\page.png", "C:\\rec\\annabel.mp4")
    text = text.replace("Recording of Cydonia", "2024_03_05").replace("\tAnnabel\t", "\tAnnabel\t")
    export.write_text(text)
    for to in TARGETS:
        convert(export, tmp_path / to, to)
        assert lint(tmp_path / to) == []
        written = b"".join(p.read_bytes() for p in (tmp_path / to).rglob("*") if p.is_file())
        assert b"annabel" not in written.lower()
        assert b"2024_03" not in written


@pytest.fixture(scope="module")
def simulated():
    """Smaller than the one of all tests: it is written and read again and again here."""
    return simulate(people=2, minutes=0.5, rate_hz=60.0, seed=11)


def test_further_columns_of_a_study_folder_stay_behind(simulated, tmp_path):
    extra = simulated.derive(
        simulated=False,
        data=simulated.data.with_columns(
            contact=pl.lit("ann@x.example"), label_utc=pl.lit(1.7e12), operator=pl.lit("bo")
        ),
        events=simulated.events.with_columns(
            name=pl.lit("seen by ann@x.example"), note=pl.lit("C:/data/ann")
        ),
    )
    write(extra, tmp_path / "own")
    for to in TARGETS:
        convert(tmp_path / "own", tmp_path / to, to)
        assert lint(tmp_path / to) == []
        again = read(tmp_path / to)
        assert not {"contact", "operator", "label_utc"} & set(again.data.columns)
        assert again.events["name"].unique().to_list() == ["other"]
        assert "note" not in again.events.columns


def test_names_are_kept_when_asked(export, tmp_path):
    done = convert(export, tmp_path / "out", keep_names=True)
    assert set(done.study.people["person"]) == {"Annabel", "Roberta", "Cydonia"}
    assert {finding.what for finding in lint(tmp_path / "out")} == {"what may be a name"}


def test_an_input_that_cannot_be_written_beside_needs_a_ledger(export, tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("eyelid.privacy.ledger_file.os.link", refuse)
    with pytest.raises(InputError, match="`ledger=…`"):
        convert(export, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_ledger_of_choice_counts_recordings_by_their_name(export, tmp_path):
    ledger = tmp_path / "books" / "people.ledger"
    ledger.parent.mkdir()
    convert(export, tmp_path / "out", ledger=ledger)
    assert not export.with_name("recordings.ledger").exists()
    release(tmp_path / "out", tmp_path / "p1", mechanism="laplace", epsilon=1.0)
    assert budget(export, ledger=ledger).sound.epsilon == 1.0
    done = release(export, tmp_path / "p2", mechanism="laplace", epsilon=1.0, ledger=ledger)
    assert done.certificate.total.epsilon == 2.0


def test_a_release_is_not_converted(features_folder, tmp_path):
    release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    with pytest.raises(InputError, match="is a release already"):
        convert(tmp_path / "out", tmp_path / "again")


@pytest.mark.parametrize("to", TARGETS)
def test_a_simulated_study_comes_back_as_it_was(simulated, tmp_path, to):
    write(simulated, tmp_path / "study")
    done = convert(tmp_path / "study", tmp_path / "out", to)
    assert done.removed == ()
    again = read(tmp_path / "out")
    assert again.data.equals(simulated.data)
    assert again.events.equals(simulated.events)
    assert again.people.equals(simulated.people)
    for name in ("kind", "units", "rate_hz", "screen", "xy_origin", "pupil_unit", "simulated"):
        assert getattr(again, name) == getattr(simulated, name)
    assert again.origin.id == read(tmp_path / "study").origin.id


def test_the_command_tells_what_it_did(export, tmp_path, eyelid):
    done = eyelid("convert", export, tmp_path / "out")
    assert done.code == 0
    assert "Left behind" in done.out
    assert "3 got pseudonyms" in done.out
    done = eyelid("convert", export, tmp_path / "again", "--to", "csv", "--json")
    shown = json.loads(done.out)
    assert (shown["people"], shown["people_renamed"], shown["rows"]) == (3, 3, 6000)
    assert shown["removed"]


def test_degrees_on_request(export, tmp_path, eyelid):
    said = ["--map", "screen_m=0.53x0.30,distance_m=0.65"]
    assert eyelid("convert", export, tmp_path / "out", "--units", "deg", *said).code == 0
    assert read(tmp_path / "out").units == "deg"
    refused = eyelid("convert", export, tmp_path / "px", "--units", "deg")
    assert refused.code == 2
    assert "degrees need to know screen_m" in refused.err
    assert not (tmp_path / "px").exists()


def test_bad_wishes_get_one_line(export, tmp_path, eyelid):
    for words, says in [
        (["--to", "xml"], "unknown target 'xml'"),
        (["--map", "colour=red"], "unknown column or setting 'colour'"),
    ]:
        refused = eyelid("convert", export, tmp_path / "out", *words)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert says in refused.err
    (tmp_path / "there").mkdir()
    assert eyelid("convert", export, tmp_path / "there").code == 2


def test_no_other_name_for_the_same_data_dodges_a_limit(export, tmp_path):
    folder = export.parent
    budget(folder, limit_epsilon=1.0)
    release(folder, tmp_path / "o1", mechanism="laplace", epsilon=1.0)
    for path in (folder, export, tmp_path / "in" / "." / "export.tsv"):
        with pytest.raises(Refused):
            release(path, tmp_path / "o2", mechanism="laplace", epsilon=1.0)
    convert(folder, tmp_path / "study")
    convert(folder, tmp_path / "csv", "csv")
    for part in (tmp_path / "study" / "data.parquet", tmp_path / "csv" / "data.csv"):
        with pytest.raises(InputError, match="is part of"):
            release(part, tmp_path / "o3", mechanism="laplace", epsilon=1.0, map="units=px")
    with pytest.raises(InputError, match="which eyelid wrote"):
        read(tmp_path, "glob=*/data.csv")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "link").symlink_to(tmp_path / "study")
    with pytest.raises(Refused):
        release(elsewhere / "link", tmp_path / "o4", mechanism="laplace", epsilon=1.0)
    with pytest.raises(InputError, match="leave out `ledger`"):
        convert(elsewhere / "link", tmp_path / "o5", ledger=tmp_path / "x.ledger")


def test_a_folder_whose_parts_were_counted_says_so(export, tmp_path):
    release(export, tmp_path / "o1", mechanism="laplace", epsilon=1.0)
    done = release(export.parent, tmp_path / "o2", mechanism="laplace", epsilon=1.0)
    assert any("another ledger" in item for item in done.certificate.unprotected)
    assert done.certificate.rank1_bound["raw_to_release"] is None


def test_the_same_people_under_other_names_are_not_taken_for_others(tmp_path):
    def recorded(*names):
        rows = [f"{name},{20 * i},{i % 7},1" for name in names for i in range(2000)]
        path.write_text("\n".join(["person,time_ms,x,y", *rows, ""]))

    path = tmp_path / "gaze.csv"
    recorded("P1", "P2")
    release(path, mechanism="laplace", epsilon=1.0, map="units=px")
    recorded("p01", "P02")
    done = release(path, mechanism="laplace", epsilon=1.0, map="units=px")
    assert done.certificate.total.epsilon == 2.0
    recorded("P1", "P7")
    done = release(path, mechanism="laplace", epsilon=1.0, map="units=px")
    assert done.certificate.incomplete
    assert done.certificate.total is None
    assert done.certificate.rank1_bound["raw_to_release"] is None
