"""Whose budget is spent: no other ledger, copy, address or spelling starts from nothing."""

import shutil
from pathlib import Path

import pytest

import eyelid as api
from eyelid.comparisons.recommend import recommend
from eyelid.engine.remote import on_this_machine
from eyelid.errors import InputError, Refused
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.convert import convert
from eyelid.io.derivations import derive_features
from eyelid.io.origin import enter
from eyelid.privacy.ledger import Ledger
from eyelid.releases.budget import budget
from eyelid.releases.kinds.maps.heatmap import heatmap

LAPLACE = {"mechanism": "laplace", "epsilon": 1.0}


@pytest.fixture
def spent(features_folder, tmp_path):
    """A study under a limit that is used up."""
    budget(features_folder, limit_epsilon=1.0)
    api.release(features_folder, tmp_path / "first", **LAPLACE)
    return features_folder


@pytest.fixture(scope="module")
def gaze():
    return simulate(people=4, tasks=("comic", "textbook"), minutes=0.6, rate_hz=60.0, seed=3)


def of_gaze(command):
    """What a command does with a study of samples, counted in a file."""
    return {
        "heatmap": lambda s, out, book: heatmap(s, out, stimulus="comic", epsilon=1.0, ledger=book),
        "filter": lambda s, out, book: api.release(
            s, out, mechanism="kaleido", epsilon=1.0, window=10, radius=50, ledger=book
        ),
        "features": lambda s, out, book: derive_features(s, out, ledger=book),
        "convert": lambda s, out, book: convert(s, out, ledger=book),
        "budget": lambda s, out, book: budget(s, ledger=book, limit_epsilon=1.0),
        "look": lambda s, out, book: budget(s, ledger=book),
    }[command]


@pytest.mark.parametrize("command", ["heatmap", "filter", "features", "convert", "budget", "look"])
def test_a_new_ledger_is_no_fresh_start_where_the_own_one_is_missing(gaze, tmp_path, command):
    write(gaze, tmp_path / "study")
    (tmp_path / "study.ledger").unlink()
    with pytest.raises(InputError, match="'eyelid budget IN --lost'"):
        of_gaze(command)(tmp_path / "study", tmp_path / "out", tmp_path / "new.ledger")
    assert not (tmp_path / "new.ledger").exists()
    assert not (tmp_path / "out").exists()


def test_a_new_ledger_is_no_fresh_start_for_features_and_recommendations(spent, tmp_path):
    (tmp_path / "features.ledger").unlink()
    fresh = {"ledger": tmp_path / "new.ledger"}
    with pytest.raises(InputError, match="--lost"):
        api.release(spent, tmp_path / "out", **LAPLACE, **fresh)
    with pytest.raises(InputError, match="--lost"):
        api.release(read(spent), **LAPLACE, **fresh)
    with pytest.raises(InputError, match="--lost"):
        api.release(api.FeatureTable.of(read(spent)), **LAPLACE, **fresh)
    assert not (tmp_path / "new.ledger").exists()


def test_a_ledger_of_other_people_is_no_fresh_start_either(spent, tmp_path, make_table):
    write(make_table(seed=9).study(), tmp_path / "elsewhere" / "other")
    (tmp_path / "features.ledger").unlink()
    with pytest.raises(InputError, match="does not know these people"):
        api.release(
            spent, tmp_path / "out", **LAPLACE, ledger=tmp_path / "elsewhere" / "other.ledger"
        )


def test_a_copied_folder_does_not_dodge_the_limit(spent, tmp_path):
    away = shutil.copytree(spent, tmp_path / "away" / "features")
    with pytest.raises(InputError, match="is missing"):
        api.release(away, tmp_path / "out", **LAPLACE)
    with pytest.raises(InputError, match="these people have a ledger"):
        api.release(away, tmp_path / "out", **LAPLACE, ledger=tmp_path / "away" / "new.ledger")
    with pytest.raises(Refused):
        api.release(away, tmp_path / "out", **LAPLACE, ledger=tmp_path / "features.ledger")
    beside = shutil.copytree(spent, tmp_path / "copy")
    with pytest.raises(Refused):
        api.release(beside, tmp_path / "out", **LAPLACE)


def test_a_copied_pair_of_study_and_ledger_does_not_dodge_the_limit(features_folder, tmp_path):
    budget(features_folder, limit_epsilon=1.0)
    away = shutil.copytree(features_folder, tmp_path / "away" / "features")
    copied = shutil.copy(tmp_path / "features.ledger", tmp_path / "away")
    api.release(features_folder, tmp_path / "first", **LAPLACE)
    for chosen in ({}, {"ledger": copied}):
        with pytest.raises(InputError, match=r"is a copy of \S+features\.ledger, which counts"):
            api.release(away, tmp_path / "out", **LAPLACE, **chosen)
    with pytest.raises(InputError, match="is a copy of"):
        budget(away, no_limit=True)
    # The remedy that is named works, and counts where the others are.
    with pytest.raises(Refused):
        api.release(away, tmp_path / "out", **LAPLACE, ledger=tmp_path / "features.ledger")


def test_copied_recordings_with_their_ledger_do_not_dodge_the_limit(tmp_path):
    rows = [f"{name},{20 * i},{i % 7},1" for name in ("P1", "P2") for i in range(2000)]
    path = tmp_path / "lab" / "gaze.csv"
    path.parent.mkdir()
    path.write_text("\n".join(["person,time_ms,x,y", *rows, ""]))
    asked = LAPLACE | {"map": "units=px"}
    budget(path, limit_epsilon=1.0, map="units=px")
    shutil.copytree(tmp_path / "lab", tmp_path / "copy")
    api.release(path, tmp_path / "one", **asked)
    with pytest.raises(InputError, match="is a copy of"):
        api.release(tmp_path / "copy" / "gaze.csv", tmp_path / "two", **asked)
    with pytest.raises(Refused):
        api.release(
            tmp_path / "copy" / "gaze.csv",
            tmp_path / "two",
            **asked,
            ledger=tmp_path / "lab" / "recordings.ledger",
        )


def test_a_file_address_does_not_dodge_the_limit(spent, tmp_path, eyelid):
    address = f"file://{spent}"
    for study in (address, Path(address), address.replace("file://", "FILE:/")):
        with pytest.raises(Refused):
            api.release(study, tmp_path / "out", **LAPLACE)
        with pytest.raises(Refused):
            api.release(study, tmp_path / "out", **LAPLACE, ledger=tmp_path / "new.ledger")
        assert len(budget(study).debits) == 1
    words = ("release", address, tmp_path / "out", "--mechanism", "laplace", "--epsilon", 1)
    assert eyelid(*words).code == 3
    assert eyelid(*words, "--ledger", f"file://{tmp_path}/new.ledger").code == 3
    assert eyelid(*words, "--ledger", f"file://{tmp_path}/features.ledger").code == 3
    assert not (tmp_path / "new.ledger").exists()
    api.write(read(address), tmp_path / "derived")
    with pytest.raises(Refused):
        api.release(tmp_path / "derived", tmp_path / "out", **LAPLACE)


def test_recordings_at_a_file_address_are_those_at_the_path(tmp_path):
    rows = [f"{name},{20 * i},{i % 7},1" for name in ("P1", "P2") for i in range(2000)]
    path = tmp_path / "gaze.csv"
    path.write_text("\n".join(["person,time_ms,x,y", *rows, ""]))
    convert(f"file://{path}", tmp_path / "study", map="units=px")
    assert read(tmp_path / "study").origin.ledger == tmp_path / "recordings.ledger"
    assert budget(path, map="units=px").counted
    done = api.release(path, **LAPLACE, map="units=px")
    assert done.certificate.total.epsilon == 1.0
    done = api.release(f"file:{path}", **LAPLACE, map="units=px")
    assert done.certificate.total.epsilon == 2.0


def test_what_is_written_to_a_file_address_names_its_ledger(make_table, tmp_path):
    write(make_table().study(), f"file://{tmp_path}/study")
    assert read(tmp_path / "study").origin.ledger == tmp_path / "study.ledger"
    derive = read(tmp_path / "study")
    write(derive, f"file://{tmp_path}/deep/derived")
    assert read(tmp_path / "deep" / "derived").origin == derive.origin


def test_a_file_address_is_a_plain_path_in_every_spelling():
    for said in ("file:///a/study", "file:/a/study", "FILE:///a/study", "local:/a/study"):
        assert on_this_machine(said) == on_this_machine(Path(said)) == Path("/a/study")
    assert on_this_machine("file:///C:/study") == Path("C:/study")
    for said in ("file:study", "s3://bucket/file:/x", "study", "zip://a::file:///x"):
        assert on_this_machine(said) == Path(said)


def test_links_and_other_spellings_of_study_and_ledger_do_not_dodge_the_limit(spent, tmp_path):
    (tmp_path / "away").mkdir()
    linked = tmp_path / "away" / "linked"
    linked.symlink_to(spent)
    ledger = tmp_path / "away" / "link.ledger"
    ledger.symlink_to(tmp_path / "features.ledger")
    winding = tmp_path / "away" / ".." / "features.ledger"
    for chosen in ({}, {"ledger": ledger}, {"ledger": winding}, {"ledger": str(winding)}):
        for study in (linked, tmp_path / "away" / ".." / "features"):
            with pytest.raises(Refused, match="above the limit"):
                api.release(study, tmp_path / "out", **LAPLACE, **chosen)
    spent.rename(tmp_path / "renamed")
    with pytest.raises(Refused, match="above the limit"):
        api.release(tmp_path / "renamed", tmp_path / "out", **LAPLACE)


def test_a_lost_ledger_is_gone_on_from_by_name_and_never_with_a_total(spent, tmp_path, eyelid):
    (tmp_path / "features.ledger").unlink()
    refused = eyelid("release", spent, tmp_path / "out", "--mechanism", "laplace", "--epsilon", 1)
    assert refused.code == 2
    assert "'eyelid budget IN --lost' goes on without a total" in refused.err
    told = eyelid("budget", spent, "--lost")
    assert told.code == 0
    assert "There is no total: the ledger that counted these people was lost" in told.out
    for name in ("a", "b"):
        done = api.release(spent, tmp_path / name, **LAPLACE).certificate
        assert done.total is None
        assert done.to_dict()["ledger_total"] is None
        assert done.incomplete
        assert set(done.rank1_bound.values()) == {None}
        card = (tmp_path / name / "DATACARD.md").read_text()
        assert "so far" not in card
        assert "**One person, over all releases**: not known" in card
    assert "ledger that was lost" in " ".join(done.unprotected)
    assert eyelid("budget", spent, "--lost").err == (
        f"eyelid: the ledger {tmp_path / 'features.ledger'} is there and knows these people: "
        "leave out --lost\n"
    )


def test_nothing_is_lost_where_a_ledger_knows_these_people(spent, tmp_path, make_table):
    with pytest.raises(InputError, match="is there and knows these people"):
        budget(spent, lost=True, ledger=tmp_path / "new.ledger")
    moved = (tmp_path / "features.ledger").rename(tmp_path / "moved.ledger")
    with pytest.raises(InputError, match="knows these people: give it with `ledger`"):
        budget(spent, lost=True, ledger=moved)
    with pytest.raises(InputError, match="no ledger is lost"):
        budget(make_table(), lost=True)
    with pytest.raises(Refused):
        api.release(spent, tmp_path / "out", **LAPLACE, ledger=moved)


def test_a_ledger_that_is_gone_between_two_steps_of_a_loss_is_never_a_fresh_one(
    spent, tmp_path, monkeypatch
):
    """A kill between making the new ledger and noting the loss."""
    (tmp_path / "features.ledger").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "register", lambda *words: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            budget(spent, lost=True)
    with pytest.raises(InputError, match="does not know these people"):
        api.release(spent, tmp_path / "out", **LAPLACE)
    budget(spent, lost=True)
    assert api.release(spent, tmp_path / "out", **LAPLACE).certificate.total is None


def test_a_renamed_recording_is_not_taken_for_new_people_without_a_word(tmp_path):
    rows = [f"{name},{20 * i},{i % 7},1" for name in ("P1", "P2") for i in range(2000)]
    path = tmp_path / "gaze.csv"
    path.write_text("\n".join(["person,time_ms,x,y", *rows, ""]))
    asked = LAPLACE | {"map": "units=px"}
    api.release(path, **asked)
    path.rename(tmp_path / "renamed.csv")
    made = api.release(tmp_path / "renamed.csv", **asked)
    assert any("another study with 2 ids of these" in note for note in made.notes)
    done = made.certificate
    assert done.total is None
    assert done.others == "other releases of these people may be counted in another ledger"


def test_a_look_that_was_stopped_is_made_again(tmp_path, monkeypatch):
    """A kill after people have entered a ledger, before others with their ids were looked for."""
    rows = [f"{name},{20 * i},{i % 7},1" for name in ("P1", "P2") for i in range(2000)]
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("\n".join(["person,time_ms,x,y", *rows, ""]))
    asked = LAPLACE | {"map": "units=px"}
    api.release(tmp_path / "one.csv", **asked)
    study = read(tmp_path / "two.csv", "units=px")
    with monkeypatch.context() as patch:
        patch.setattr("eyelid.io.origin.noticed", lambda *words, **more: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            enter(study, tmp_path / "two.csv")
    origin = Ledger(tmp_path / "recordings.ledger").known_folder("two.csv")
    assert Ledger(tmp_path / "recordings.ledger").is_incomplete(origin)
    (note,) = enter(study, tmp_path / "two.csv").notes
    assert "another study with 2 ids of these" in note
    assert api.release(tmp_path / "two.csv", **asked).certificate.total is None


def test_a_choice_paid_for_is_counted_by_the_same_rule(make_table, tmp_path):
    write(make_table(people=40, recordings=1, rows=4).study(), tmp_path / "study")
    (tmp_path / "study.ledger").unlink()
    with pytest.raises(InputError, match="--lost"):
        recommend(
            tmp_path / "study",
            ["epsilon<=100"],
            own=True,
            tuning_epsilon=1.0,
            ledger=tmp_path / "new.ledger",
            mechanisms=["laplace", "gaussian"],
        )
    assert not (tmp_path / "new.ledger").exists()
