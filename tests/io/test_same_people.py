"""Several tables of the same people: counted together or apart by their owner's word alone."""

import json
import shutil

import polars as pl
import pytest

import eyelid as api
from eyelid.errors import InputError, Refused
from eyelid.gaze.features import event_features, window_features
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.convert import convert
from eyelid.io.same_people import ledger_here
from eyelid.privacy.ledger import Ledger
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.budget import budget

LAPLACE = {"mechanism": "laplace", "epsilon": 1.0}
ELSEWHERE = "other releases of these people may be counted in another ledger"


@pytest.fixture(scope="module")
def gaze():
    return simulate(people=4, tasks=("comic",), minutes=0.6, rate_hz=60.0, seed=3)


@pytest.fixture(scope="module")
def tables(gaze):
    """Samples, a table of windows and one of fixations, as Python has them."""
    fixations = event_features(gaze, "fixations")
    return {
        "samples": gaze,
        "windows": window_features(gaze).only("fixation_rate").study(),
        "fixations": fixations.only(fixations.names[0]).study(),
    }


def renamed(study, **names):
    ids = pl.col("person").replace(names)
    return study.derive(
        data=study.data.with_columns(ids), people=study.people.with_columns(ids), events=None
    )


def written(path, *people):
    """Recordings as a person exported them."""
    rows = [f"{name},{20 * i},{i % 7},1" for name in people for i in range(2000)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["person,time_ms,x,y", *rows, ""]))
    return path


def test_three_tables_of_the_same_people_are_no_three_only_releases(tables, tmp_path, eyelid):
    notes = [write(study, tmp_path / name).notes for name, study in tables.items()]
    assert [len(each) for each in notes] == [0, 1, 2]
    assert "samples.ledger counts another study with 4 ids of these" in notes[1][0]
    for name in ("windows", "fixations"):
        done = api.release(tmp_path / name, tmp_path / f"{name}-out", mechanism="ksame", k=4)
        told = done.certificate
        assert told.others == ELSEWHERE
        assert told.total is None
        assert set(told.rank1_bound.values()) == {None}
        assert "only release" not in (tmp_path / f"{name}-out" / "DATACARD.md").read_text()
    shown = eyelid("release", tmp_path / "samples", tmp_path / "o", "--mechanism", "jitter",
                   "--set", "sd=1")  # fmt: skip
    assert "There is no total over all releases of these people" in shown.out


def test_tables_that_are_joined_add_up(tables, tmp_path, eyelid):
    for name, study in tables.items():
        write(study, tmp_path / name)
    api.release(tmp_path / "windows", **LAPLACE)
    api.release(tmp_path / "fixations", **LAPLACE)
    for other in ("samples", "fixations.ledger"):
        told = eyelid("budget", tmp_path / "windows", "--join", tmp_path / other)
        assert told.code == 0, told.err
        assert "4 ids of both are the same people" in told.err
    assert "Spent on one person, at most: ε = 2." in told.out
    for name in tables:
        state = budget(tmp_path / name)
        assert state.sound.epsilon == 2.0
        assert state.gaps == ()
    done = api.release(tmp_path / "fixations", tmp_path / "out", **LAPLACE)
    assert done.certificate.total.epsilon == 3.0
    assert len(done.certificate.ledger) == 3
    again = eyelid("budget", tmp_path / "windows", "--join", tmp_path / "samples")
    assert again.code == 2
    assert "are the same people to the ledger already" in again.err


def test_an_audit_knows_a_release_whose_ledger_was_joined(tables, tmp_path):
    for name in ("windows", "fixations"):
        write(tables[name], tmp_path / name)
        api.release(tmp_path / name, tmp_path / f"{name}-out", **LAPLACE)
    budget(tmp_path / "windows", join=tmp_path / "fixations")
    for name in ("windows", "fixations"):
        subject = audit_target(tmp_path / name, tmp_path / f"{name}-out")
        assert subject.inconsistencies == ()
        assert subject.total.epsilon == 2.0


@pytest.mark.parametrize("what", ["study", "folder", "ledger", "table"])
def test_the_same_people_as_another_study_are_counted_with_it(tables, tmp_path, what):
    first = write(tables["windows"], tmp_path / "windows")
    other = {
        "study": first,
        "folder": tmp_path / "windows",
        "ledger": str(tmp_path / "windows.ledger"),
        "table": api.FeatureTable.of(first),
    }[what]
    second = write(tables["fixations"], tmp_path / "fixations", same_people_as=other)
    assert second.origin == first.origin
    assert second.notes == (
        f"these are people of {tmp_path / 'windows.ledger'}, by 4 of 4 ids, and are counted "
        "together with them",
    )
    assert not (tmp_path / "fixations.ledger").exists()
    api.release(tmp_path / "windows", **LAPLACE)
    done = api.release(tmp_path / "fixations", **LAPLACE)
    assert done.certificate.total.epsilon == 2.0


def test_how_many_ids_are_new_is_told(tables, tmp_path):
    first = write(tables["windows"], tmp_path / "windows")
    other = renamed(tables["fixations"], P01="Q01")
    second = write(other, tmp_path / "fixations", same_people_as=first)
    assert second.notes[0].endswith(
        "by 3 of 4 ids, and are counted together with them; 1 id is new to it"
    )
    api.release(tmp_path / "windows", **LAPLACE)
    done = api.release(tmp_path / "fixations", **LAPLACE).certificate
    # The owner has said who they are: nobody may be another person under another name.
    assert done.total.epsilon == 2.0
    assert not done.incomplete


def test_people_without_a_common_id_are_not_the_same(tables, tmp_path):
    first = write(tables["windows"], tmp_path / "windows")
    other = renamed(tables["fixations"], **{f"P0{i}": f"Q0{i}" for i in range(1, 5)})
    with pytest.raises(InputError, match="none of these 4 ids is known to"):
        write(other, tmp_path / "fixations", same_people_as=first)
    assert not (tmp_path / "fixations").exists()
    with pytest.raises(InputError, match="no ledger counts the people of the other study yet"):
        write(other, tmp_path / "fixations", same_people_as=tables["windows"])
    with pytest.raises(InputError, match="is not there: name a study or a ledger"):
        write(other, tmp_path / "fixations", same_people_as=tmp_path / "nothing")
    # Without a word nothing is doubted: no id is the same.
    assert write(other, tmp_path / "fixations").notes == ()


def test_a_study_that_is_counted_already_is_joined_and_not_written_elsewhere(tables, tmp_path):
    first = write(tables["windows"], tmp_path / "windows")
    second = write(tables["fixations"], tmp_path / "fixations")
    with pytest.raises(InputError, match="join both with 'eyelid budget IN --join OTHER'"):
        write(second, tmp_path / "again", same_people_as=first)
    budget(tmp_path / "fixations", join=first)
    write(second, tmp_path / "again", same_people_as=first)


def test_a_ledger_named_at_the_first_writing_counts_its_people(tmp_path, eyelid):
    trials = written(tmp_path / "trials" / "trials.csv", "Annabel", "Roberta", "Cydonia")
    samples = written(tmp_path / "samples" / "samples.csv", "Roberta", "Annabel", "Beatrix")
    said = {"map": "units=px"}
    convert(trials, tmp_path / "one", **said)
    ledger = tmp_path / "trials" / "recordings.ledger"
    told = eyelid("convert", samples, tmp_path / "two", "--map", "units=px", "--ledger", ledger)
    assert "by 2 of 3 ids, and are counted together with them; 1 id is new to it" in told.err
    one, two = read(tmp_path / "one"), read(tmp_path / "two")
    assert one.origin == two.origin
    # The same pseudonym for the same person, in both.
    names = Ledger(ledger).pseudonyms(one.origin.id, ["Annabel", "Roberta", "Cydonia", "Beatrix"])
    assert set(one.people["person"]) == {names[n] for n in ("Annabel", "Roberta", "Cydonia")}
    assert set(two.people["person"]) == {names[n] for n in ("Annabel", "Roberta", "Beatrix")}
    assert not (tmp_path / "samples" / "recordings.ledger").exists()
    api.release(tmp_path / "one", **LAPLACE)
    done = api.release(tmp_path / "two", **LAPLACE).certificate
    assert done.total.epsilon == 2.0
    # Nobody else's: a new study in the same ledger.
    others = written(tmp_path / "others" / "others.csv", "Eleonora", "Gwendolyn")
    three = convert(others, tmp_path / "three", **said, ledger=ledger)
    assert three.head.origin.id != one.origin.id
    assert three.head.notes == ()


def test_recordings_are_said_to_be_of_the_same_people(tmp_path):
    said = {"map": "units=px"}
    trials = written(tmp_path / "trials" / "trials.csv", "P1", "P2")
    samples = written(tmp_path / "samples" / "samples.csv", "P1", "P2")
    api.release(trials, **LAPLACE, **said)
    convert(samples, tmp_path / "study", **said, same_people_as=trials)
    done = api.release(tmp_path / "study", **LAPLACE).certificate
    assert done.total.epsilon == 2.0
    elsewhere = {"same_people_as": trials, "ledger": tmp_path / "new.ledger"}
    third = written(tmp_path / "third" / "third.csv", "P1", "P2")
    with pytest.raises(InputError, match="leave out `ledger`"):
        convert(third, tmp_path / "third-study", **said, **elsewhere)


def test_a_ledger_with_several_people_of_these_ids_asks_which(tmp_path):
    said, book = {"map": "units=px"}, tmp_path / "lab.ledger"
    for name in ("one", "two"):
        convert(
            written(tmp_path / name / f"{name}.csv", "P1", "P2"), tmp_path / f"s-{name}", **said
        )
    # Both in one ledger, and apart.
    ledger = Ledger.create(book)
    ledger.register("a", ["P1", "P2"])
    ledger.register("b", ["P1", "P2"])
    third = written(tmp_path / "three" / "three.csv", "P1", "P2")
    with pytest.raises(InputError, match="counts 2 groups of people with these ids"):
        convert(third, tmp_path / "s-three", **said, ledger=book)
    assert not (tmp_path / "s-three").exists()


def test_the_same_ids_of_other_people_are_counted_apart_by_their_owners_word(
    tables, tmp_path, eyelid
):
    write(tables["windows"], tmp_path / "windows")
    write(tables["fixations"], tmp_path / "fixations")
    told = eyelid("budget", tmp_path / "fixations", "--apart", tmp_path / "windows.ledger")
    assert (told.code, told.err) == (0, "")
    for name in ("windows", "fixations"):
        done = api.release(tmp_path / name, **LAPLACE).certificate
        assert done.total.epsilon == 1.0
        assert not done.incomplete
    # A third one of these ids is asked about all the same.
    third = write(tables["samples"], tmp_path / "samples")
    assert len(third.notes) == 2
    nobody = eyelid("budget", tmp_path / "fixations", "--apart", tmp_path / "nothing")
    assert nobody.code == 2


def test_a_study_that_is_removed_and_written_again_is_no_fresh_start(tables, tmp_path):
    write(tables["windows"], tmp_path / "windows")
    api.release(tmp_path / "windows", **LAPLACE)
    shutil.rmtree(tmp_path / "windows")
    again = write(tables["windows"], tmp_path / "windows")
    assert "another study with 4 ids of these" in again.notes[0]
    assert api.release(tmp_path / "windows", **LAPLACE).certificate.total is None
    budget(tmp_path / "windows", join=tmp_path / "windows.ledger")
    assert budget(tmp_path / "windows").sound.epsilon == 2.0
    assert budget(tmp_path / "windows").gaps == ()


def test_a_folder_made_by_hand_beside_a_ledger_with_its_ids_says_so(tables, tmp_path):
    write(tables["windows"], tmp_path / "windows")
    write(tables["fixations"], tmp_path / "apart" / "mine")
    about = json.loads((tmp_path / "apart" / "mine" / "study.json").read_text())
    del about["origin"], about["ledger"]
    (tmp_path / "apart" / "mine").rename(tmp_path / "mine")
    (tmp_path / "mine" / "study.json").write_text(json.dumps(about))
    done = api.release(tmp_path / "mine", **LAPLACE).certificate
    assert done.total is None
    assert done.others == ELSEWHERE
    # The other one knows it, too.
    assert api.release(tmp_path / "windows", **LAPLACE).certificate.total is None


def test_a_table_in_python_is_known_by_its_ids_in_the_ledger_it_is_given(tables, tmp_path):
    write(tables["windows"], tmp_path / "windows")
    table = api.FeatureTable.of(tables["fixations"])
    book = tmp_path / "windows.ledger"
    note = api.release(table, **LAPLACE, ledger=book).notes[0]
    assert note.startswith(f"these are people of {book}, by 4 of 4 ids")
    assert api.release(table, **LAPLACE, ledger=book).certificate.total.epsilon == 2.0
    assert api.release(tmp_path / "windows", **LAPLACE).certificate.total.epsilon == 3.0
    alone = api.release(table, **LAPLACE, ledger=tmp_path / "other.ledger").certificate
    assert alone.total is None


def test_other_files_called_ledger_are_left_alone(tables, tmp_path):
    (tmp_path / "accounts.ledger").write_text("2024/01/01 Tea\n  Food  $1\n  Cash\n")
    assert write(tables["windows"], tmp_path / "windows").notes == ()


def test_people_whose_ledger_was_joined_are_still_noticed(tables, tmp_path):
    """The ledger in the folder points to one elsewhere, which has the ids."""
    write(tables["windows"], tmp_path / "here" / "windows")
    write(tables["fixations"], tmp_path / "away" / "fixations")
    budget(tmp_path / "away" / "fixations", join=tmp_path / "here" / "windows.ledger")
    third = write(tables["samples"], tmp_path / "here" / "samples")
    assert f"{tmp_path / 'away' / 'fixations.ledger'} counts another study" in third.notes[0]


def totals_of(done):
    told = done.certificate
    return (None if told.total is None else told.total.epsilon), told.incomplete


def test_recordings_that_grow_by_people_of_another_folder_have_no_total(tmp_path):
    asked = LAPLACE | {"map": "units=px"}
    one = written(tmp_path / "lab" / "wave1.csv", "P1", "P2")
    two = written(tmp_path / "lab" / "wave2.csv", "P5", "P6")
    assert totals_of(api.release(two, tmp_path / "o1", **asked)) == (1.0, False)
    for number in range(2):
        api.release(one, tmp_path / f"w{number}", **asked)
    written(two, "P5", "P6", "P1", "P2")
    grown = api.release(two, tmp_path / "o2", **asked)
    assert totals_of(grown) == (None, True)
    assert any("recordings.ledger counts another study with 2 ids" in n for n in grown.notes)
    assert totals_of(api.release(one, tmp_path / "o3", **asked)) == (None, True)


def test_a_study_that_grows_by_people_of_the_study_beside_it_has_no_total(tables, tmp_path):
    windows = tables["windows"]
    others = renamed(windows, **{name: f"Q{name}" for name in windows.people["person"]})
    write(windows, tmp_path / "one")
    mine = write(others, tmp_path / "two")
    assert totals_of(api.release(tmp_path / "two", **LAPLACE)) == (1.0, False)
    api.release(tmp_path / "one", **LAPLACE)
    grown = others.derive(
        data=pl.concat([others.data, windows.data]),
        people=pl.concat([others.people, windows.people]),
        origin=mine.origin,
    )
    # By path, and as Python has it.
    assert totals_of(api.release(grown, **LAPLACE)) == (None, True)
    write(grown, tmp_path / "grown")
    assert totals_of(api.release(tmp_path / "grown", **LAPLACE)) == (None, True)
    assert totals_of(api.release(tmp_path / "one", **LAPLACE)) == (None, True)


def test_studies_moved_into_one_folder_with_their_ledgers_have_no_total(tables, tmp_path):
    both = tmp_path / "both"
    both.mkdir()
    for name in ("windows", "fixations"):
        (tmp_path / name).mkdir()
        write(tables[name], tmp_path / name / name)
        assert totals_of(api.release(tmp_path / name / name, **LAPLACE)) == (1.0, False)
        for part in sorted((tmp_path / name).iterdir()):
            shutil.move(part, both / part.name)
    for name in ("windows", "fixations"):
        assert totals_of(api.release(both / name, **LAPLACE)) == (None, True)
    # The remedy that is named gives the true one.
    budget(both / "windows", join=both / "fixations.ledger")
    assert totals_of(api.release(both / "windows", **LAPLACE)) == (5.0, False)


@pytest.fixture
def nested(tmp_path):
    """A folder of two sessions, of which the first was released by itself."""
    for number, who in ((1, ("P1", "P2")), (2, ("P1", "P3"))):
        (tmp_path / "data").mkdir(exist_ok=True)
        written(tmp_path / "data" / f"session{number}" / f"s{number}.csv", *who)
    api.release(tmp_path / "data" / "session1", tmp_path / "r1", **LAPLACE, map="units=px")
    return tmp_path / "data"


def test_a_part_its_folder_and_the_part_again_have_no_total_of_two(nested, tmp_path):
    asked = LAPLACE | {"map": "units=px"}
    assert totals_of(api.release(nested, tmp_path / "r2", **asked)) == (None, True)
    assert totals_of(api.release(nested / "session1", tmp_path / "r3", **asked)) == (None, True)
    # Joined, all three are counted.
    budget(nested, join=nested / "recordings.ledger", map="units=px")
    found = budget(nested / "session1", map="units=px")
    assert (found.gaps, max(b.total.epsilon for b in found.balances)) == ((), 3.0)
    assert totals_of(api.release(nested, tmp_path / "r4", **asked)) == (4.0, False)


def test_a_part_whose_ids_are_others_in_its_folder_has_no_total(nested, tmp_path):
    for number in (1, 2):
        file = nested / f"session{number}" / f"s{number}.csv"
        file.write_text(file.read_text().replace("P", "other"))
    done = api.release(nested, tmp_path / "r2", **LAPLACE, map="units=px")
    assert totals_of(done) == (None, True)
    part = nested / "session1" / "s1.csv"
    part.write_text(part.read_text().replace("other", "P"))
    done = api.release(nested / "session1", tmp_path / "r3", **LAPLACE, map="units=px")
    assert totals_of(done) == (None, True)


def test_the_limit_of_a_part_is_not_passed_by_its_folder(nested, tmp_path):
    asked = LAPLACE | {"map": "units=px"}
    budget(nested / "session1", limit_epsilon=1.5, map="units=px")
    with pytest.raises(Refused, match="under a limit of ε") as no:
        api.release(nested, tmp_path / "r2", **asked)
    with pytest.raises(Refused, match="under a limit"):
        convert(nested, tmp_path / "study", map="units=px")
    # The remedies that are named work: one keeps the limit, the other lifts it.
    assert f"--join {nested / 'recordings.ledger'}" in str(no.value)
    budget(nested, join=nested / "recordings.ledger", map="units=px")
    with pytest.raises(Refused, match="would bring a person to"):
        api.release(nested, tmp_path / "r2", **asked)
    budget(nested / "session1", no_limit=True, map="units=px")
    assert totals_of(api.release(nested, tmp_path / "r2", **asked)) == (2.0, False)


@pytest.mark.parametrize("named", ["fixations", "fixations.ledger"])
def test_a_join_that_was_stopped_is_ended_by_the_same_command(
    tables, tmp_path, eyelid, monkeypatch, named
):
    for name in ("windows", "fixations"):
        write(tables[name], tmp_path / name)
        api.release(tmp_path / name, **LAPLACE)

    def stopped(*_):
        raise KeyboardInterrupt

    for step in ("bring_over", "end_leaving"):
        with monkeypatch.context() as patch:
            patch.setattr(f"eyelid.privacy.joins.{step}", stopped)
            with pytest.raises(KeyboardInterrupt):
                budget(tmp_path / "windows", join=tmp_path / named)
        assert budget(tmp_path / "fixations").gaps
        with pytest.raises(InputError, match="was stopped"):
            api.release(tmp_path / "fixations", **LAPLACE)
        with pytest.raises(InputError, match="knows these people"):
            budget(tmp_path / "fixations", lost=True)
    told = eyelid("budget", tmp_path / "windows", "--join", tmp_path / named)
    assert told.code == 0, told.err
    for number, name in enumerate(("windows", "fixations")):
        assert totals_of(api.release(tmp_path / name, **LAPLACE)) == (3.0 + number, False)


@pytest.mark.parametrize("name", ["study.json", "certificate.json"])
def test_a_ledger_is_not_begun_in_what_is_passed_on(tmp_path, name):
    (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match="is inside"):
        ledger_here(tmp_path / "new.ledger")
    (tmp_path / "old.ledger").touch()
    assert ledger_here(tmp_path / "old.ledger") == (tmp_path / "old.ledger").resolve()
