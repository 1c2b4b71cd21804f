"""Releases of studies larger than a piece: the same whoever works, stopped or not, counted once."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, replace

import polars as pl
import pytest

import eyelid
from eyelid.engine import runs
from eyelid.engine.engines import using
from eyelid.engine.remote import RemotePlace
from eyelid.engine.runs import Run, unfinished
from eyelid.errors import InputError, Refused
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import RECORDING_KEY
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.io.release_folder import (
    output_digest,
    person_digests,
)
from eyelid.io.study_parts import part_facts
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.features import windows_of
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy import Ledger
from eyelid.privacy.noise import randomness
from eyelid.privacy.noise.randomness import stream_of
from eyelid.releases import pipeline
from eyelid.releases.accounting import input_digest
from eyelid.releases.audits import earlier_digests
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.budget import budget
from eyelid.releases.kinds.features import preparation, release
from eyelid.releases.release import release as release_features

LAPLACE = {"mechanism": "laplace", "epsilon": 1.0}
PEOPLE, PARTS = 9, 5
SMALL = 250
pytestmark = pytest.mark.usefixtures("copies_count")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Two people of `home` in a piece."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", SMALL)


@pytest.fixture
def home(tmp_path, make_table):
    """Nine people: a folder for the study and its ledger, to be copied."""
    write(make_table(people=PEOPLE, recordings=2, rows=8).study(), tmp_path / "home" / "features")
    return tmp_path / "home"


def in_parts(folder, people=2):
    """The same study with a folder of parts in the place of one file."""
    data = pl.read_parquet(folder / "data.parquet")
    (folder / "data.parquet").unlink()
    (folder / "data.parquet").mkdir()
    names = data["person"].unique(maintain_order=True)
    parts = []
    for first in range(0, len(names), people):
        path = folder / "data.parquet" / f"part-{first:06d}.parquet"
        mine = names[first : first + people].to_list()
        data.filter(pl.col("person").is_in(mine)).write_parquet(path)
        parts.append(part_facts(path, folder))
    about = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(about | {"parts": parts}))
    return folder


def everything(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def parts_of(folder):
    return {name: data for name, data in everything(folder).items() if "parquet/" in name}


def debits(home):
    origin = json.loads((home / "features" / "study.json").read_text())["origin"]
    return len(Ledger(home / "features.ledger").debits(origin))


def test_a_release_is_the_same_whoever_makes_it_and_however_it_is_stored(
    home, tmp_path, two_cores, dask
):
    found = {}
    for name, engine in (("inline", None), ("processes", "local"), ("dask", dask), ("parts", None)):
        here = shutil.copytree(home, tmp_path / name)
        source = in_parts(here / "features", 3) if name == "parts" else here / "features"
        workers = 1 if engine is None else None
        with using(engine, workers):
            done = eyelid.release(source, here / "out", **LAPLACE, seed=3)
        found[name] = everything(here / "out")
        assert done.held is None
        assert done.certificate.output_sha256 == output_digest(done.table)
    assert len(parts_of(tmp_path / "inline" / "out")) == PARTS
    assert found["processes"] == found["inline"]
    assert found["dask"] == found["inline"]
    assert found["parts"] == found["inline"]
    held = eyelid.release(read(home / "features"), **LAPLACE, seed=3).table
    assert held.data.equals(read(tmp_path / "inline" / "out").data)


@pytest.mark.parametrize(
    "asked",
    [
        {"mechanism": "gaussian", "epsilon": 1.0, "bounds": "data", "keep": ["gender"]},
        {"mechanism": "prewindow", "epsilon": 1.0, "only": "linear", "window_s": 5.0},
        {"mechanism": "groupmean", "epsilon": 1.0, "inner": "prewindow:only=linear:window_s=5"},
        {"mechanism": "ksame", "k": 2},
    ],
    ids=lambda asked: asked["mechanism"],
)
def test_samples_are_summarised_in_pieces(tmp_path, asked, monkeypatch):
    study = simulate(people=4, tasks=("comic",), minutes=0.55, rate_hz=30.0, seed=2)
    write(study, tmp_path / "one" / "study")
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    # Two of four people in a piece.
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", study.data.height // 2 * study.data.width)
    eyelid.release(tmp_path / "one" / "study", tmp_path / "one" / "out", **asked, seed=1)
    memory = read(tmp_path / "other" / "study")
    done = eyelid.release(memory, tmp_path / "other" / "out", **asked, seed=1)
    assert everything(tmp_path / "one" / "out") == everything(tmp_path / "other" / "out")
    # What was summarised is private.
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        "out", "study", "study.ledger",
    ]  # fmt: skip
    if asked["mechanism"] == "gaussian":
        whole = eyelid.window_features(study)
        lows = [whole.data[name].min() for name in whole.names if whole.data[name].count()]
        bounds = done.certificate.bounds.values
        assert [bounds[n][0] for n in whole.names if whole.data[n].count()] == lows
        assert done.table.people.columns == ["person", "gender"]


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        # Of rows, of coefficients, of chunks, and of a law of its own.
        ({"mechanism": "laplace", "epsilon": 1.0}, PARTS),
        ({"mechanism": "fpa", "epsilon": 1.0}, PARTS),
        ({"mechanism": "dcfpa", "epsilon": 1.0, "chunk": 4}, PARTS),
        ({"mechanism": "envelope", "epsilon": 1.0}, PARTS),
        ({"mechanism": "groupmean", "epsilon": 1.0}, 0),
        ({"mechanism": "ksame", "k": 3}, 0),
        ({"mechanism": "lpa-paper", "epsilon": 1.0}, 0),
    ],
    ids=lambda value: value["mechanism"] if isinstance(value, dict) else "",
)
def test_certificates_and_audits_do_not_see_the_pieces(home, tmp_path, monkeypatch, asked, parts):
    shutil.copytree(home, tmp_path / "whole")
    eyelid.release(home / "features", home / "out", **asked, seed=3)
    monkeypatch.undo()
    eyelid.release(tmp_path / "whole" / "features", tmp_path / "whole" / "out", **asked, seed=3)
    pieces, whole = (
        json.loads((folder / "out" / "certificate.json").read_text())
        for folder in (home, tmp_path / "whole")
    )
    assert len(parts_of(home / "out")) == parts
    for certificate in (pieces, whole):
        del certificate["output_sha256"]
    assert pieces == whole
    cards = [(place / "out" / "DATACARD.md").read_text() for place in (home, tmp_path / "whole")]
    assert cards[0] == cards[1]
    assert audit_target(home / "features", home / "out").inconsistencies == ()


@pytest.mark.parametrize(
    "mechanism",
    [
        mechanism_named("groupmean", epsilon=1.0),
        mechanism_named("groupmean", epsilon=1.0, by="half"),
        mechanism_named("ksame-dp", epsilon=1.0, k=3),
    ],
    ids=["groupmean", "groupmean by half", "ksame-dp"],
)
def test_sums_over_people_add_up_over_pieces(make_table, mechanism):
    """The first lack a task, so that their recordings stand elsewhere than the others'."""
    table = make_table(people=PEOPLE, recordings=3, rows=8)
    lacking = (pl.col("person") < "3") & (pl.col("recording") == "1")
    halves = table.people.with_columns(half=pl.Series([*"aaaaabbbb"]))
    table = replace(table, data=table.data.filter(~lacking), people=halves)
    pieces = eyelid.release(table, mechanism=mechanism, seed=3).table
    whole = mechanism.apply(table, stream_of(randomness(3), 0))
    assert mechanism.execution is Execution.BY_SUMS
    assert pieces.data.equals(whole.data)
    assert pieces.people.equals(whole.people)


def own_shape(self, people, shape, noise):
    return self.present(self._perturbed(people, self.facts(people), noise))


def test_the_noise_of_a_piece_is_that_of_everybody(make_table, monkeypatch):
    """Those who have one recording only would need less noise among themselves."""
    table = make_table(people=40, recordings=4, rows=6)
    few = pl.col("person").cast(pl.Int64) >= 20
    table = replace(table, data=table.data.filter(~few | (pl.col("recording") == "0")))

    def noise_of_few():
        made = eyelid.release(table, mechanism="laplace", epsilon=1.0).table
        off = (made.data["pupil"] - table.data["pupil"]).abs()
        mean = pl.DataFrame({"off": off, "few": table.data.select(few)["person"]})
        return mean.group_by("few").mean().sort("few")["off"].to_list()

    others, mine = noise_of_few()
    assert 0.7 < mine / others < 1.4
    monkeypatch.setattr(RecordMechanism, "apply_to_some", own_shape)
    others, mine = noise_of_few()
    assert mine / others < 0.4


KILLED = """
import os, signal, sys
import eyelid
from eyelid.engine import runs
from eyelid.engine.engines import using
from eyelid.engine.remote import RemotePlace
from eyelid.engine.runs import Run
from eyelid.io import pieces
from eyelid.releases import pipeline
from eyelid.releases.kinds.features import release

source, out, moment = sys.argv[1:]
pieces.PIECE_VALUES = {small}

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

put = Run.put
def put_some(run, path, write):
    if path.name == "part-000003.parquet":
        die()
    return put(run, path, write)

if moment == "parts":
    Run.put = put_some
else:
    setattr(pipeline if moment == "charged" else release, moment, die)
with using("local", 1):
    eyelid.release(source, out, mechanism="laplace", epsilon=1.0)
"""


@pytest.mark.parametrize(
    ("moment", "counted", "parts"),
    [("charged", 0, 0), ("made_private", 1, 0), ("parts", 1, 3), ("write_manifest", 1, PARTS)],
)
def test_a_killed_release_goes_on_where_it_was(home, moment, counted, parts):
    out, source = home / "out", home / "features"
    script = KILLED.format(small=SMALL)
    done = subprocess.run([sys.executable, "-c", script, source, out, moment], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not out.exists()
    assert debits(home) == counted
    drawn = parts_of(unfinished(out) / "output")
    assert len(drawn) == parts
    made = eyelid.release(source, out, **LAPLACE)
    assert debits(home) == 1
    assert parts_of(out).items() >= drawn.items()
    assert len(made.certificate.ledger) == 1
    assert made.certificate.output_sha256 == output_digest(made.table)
    assert sorted(path.name for path in home.iterdir()) == ["features", "features.ledger", "out"]
    keys = [*RECORDING_KEY, "time_ms"]
    assert made.table.data.select(keys).equals(read(source).data.select(keys))
    assert audit_target(source, out).inconsistencies == ()


STOPPED = {
    "laplace": {"epsilon": 1.0},
    "groupmean": {"epsilon": 1.0},
    "ksame": {"k": 2},
    "ksame-dp": {"k": 2, "epsilon": 4.0},
    "seeded": {"epsilon": 4.0, "rows": 2, "bins": 2, "test": "deterministic", "k": 2},
    "synthetic": {"epsilon": 4.0, "carry": 1},
    "jitter": {"sd": 1.0},
}


# Where output goes is one thing for all features, and another for gaze.
@pytest.mark.parametrize(
    ("name", "where"),
    [*((name, "settle") for name in STOPPED), ("laplace", "upload"), ("jitter", "upload")],
)
def test_a_stop_before_the_output_is_in_its_place_changes_no_byte(home, name, where, monkeypatch):
    if name == "jitter":
        study = simulate(people=3, tasks=("comic",), minutes=0.1, rate_hz=30.0, seed=2)
        shutil.rmtree(home)
        write(study, home / "features")
        monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1000)
    monkeypatch.chdir(home)
    asked = {"mechanism": name} | STOPPED[name]
    out, send = home / "far" / "out", RemotePlace.send

    def stop(*about):
        if about[0].name in ("output", "study.json"):
            raise KeyboardInterrupt
        send(*about)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(runs, "settle", stop)
        patch.setattr(RemotePlace, "send", stop)
        eyelid.release("features", out if where == "settle" else f"file://{out}", **asked)
    (left,) = [found for found in (home, home / "far") for found in found.glob(".*.unfinished")]
    assert not (left / "scratch").exists()
    made = everything(left / "output")
    shown = everything(out) if out.exists() else {}
    assert shown.keys() - {".unfinished"} == (made.keys() - {"study.json"} if shown else set())
    eyelid.release("features", out if where == "settle" else f"file://{out}", **asked)
    assert everything(out) == made
    assert debits(home) == 1


def test_a_killed_worker_draws_no_part_twice(home, two_cores, tmp_path):
    @dataclass(frozen=True)
    class Deadly(Laplace):
        def perturb(self, integers, shape, noise):
            mark = tmp_path / "died"
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().perturb(integers, shape, noise)

    made = eyelid.release(home / "features", home / "out", mechanism=Deadly(epsilon=1.0))
    assert (tmp_path / "died").exists()
    assert debits(home) == 1
    assert made.table.recordings.height == 2 * PEOPLE
    assert made.certificate.output_sha256 == output_digest(made.table)


def test_a_full_disk_keeps_what_was_drawn(eyelid, home, monkeypatch):
    put = Run.put

    def full(run, path, write):
        if path.name == "part-000002.parquet":
            raise InputError(f"cannot write {path}: No space left on device")
        return put(run, path, write)

    words = f"release {home}/features {home}/out --mechanism laplace --epsilon 1".split()
    with monkeypatch.context() as patch:
        patch.setattr(Run, "put", full)
        failed = eyelid(*words)
    assert failed.code == 2
    assert "No space left" in failed.err
    assert "going on costs nothing more; the same command goes on" in failed.err
    assert failed.err.count("\n") == 1
    drawn = parts_of(unfinished(home / "out") / "output")
    assert len(drawn) == 2
    other = eyelid(*words[:-1], 2)
    assert "unfinished run of other data or settings" in other.err
    assert other.err.count("\n") == 1
    assert eyelid(*words, "--quiet").err == ""
    assert parts_of(home / "out").items() >= drawn.items()
    assert debits(home) == 1


def test_a_part_that_cannot_be_read_is_named_before_anything_is_spent(home):
    in_parts(home / "features")
    part = home / "features" / "data.parquet" / "part-000004.parquet"
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cannot read 1 of 5 parts.*part-000004\.parquet"):
        eyelid.release(home / "features", home / "out", **LAPLACE)
    assert debits(home) == 0
    assert sorted(path.name for path in home.iterdir()) == ["features", "features.ledger"]


def test_data_that_change_meanwhile_are_not_released(home, monkeypatch):
    honest = release.made_private

    def changed(*arguments):
        data = pl.read_parquet(home / "features" / "data.parquet")
        data.with_columns(pl.col("pupil") + 1).write_parquet(home / "features" / "data.parquet")
        return honest(*arguments)

    monkeypatch.setattr(release, "made_private", changed)
    with pytest.raises(InputError, match="changed after they were looked at"):
        eyelid.release(home / "features", home / "out", **LAPLACE)
    assert not (home / "out").exists()


def test_two_runs_into_one_folder_are_refused(home, monkeypatch):
    honest = release.made_private

    def meanwhile(*arguments):
        with pytest.raises(InputError, match="another run is writing"):
            eyelid.release(home / "features", home / "out", **LAPLACE)
        return honest(*arguments)

    monkeypatch.setattr(release, "made_private", meanwhile)
    eyelid.release(home / "features", home / "out", **LAPLACE)
    assert debits(home) == 1


def test_a_run_is_kept_before_it_is_counted(home, monkeypatch):
    """Whoever is killed right after the debit must find it again."""
    honest, kept = Ledger.debit, []

    def watched(ledger, *arguments, **options):
        kept.append((unfinished(home / "out") / "kept").exists())
        return honest(ledger, *arguments, **options)

    monkeypatch.setattr(Ledger, "debit", watched)
    eyelid.release(home / "features", home / "out", **LAPLACE)
    assert kept == [True]


@pytest.mark.parametrize("other", [{"keep": ["gender"]}, {"ledger": "other.ledger"}])
def test_a_run_goes_on_only_as_it_was_asked_for(home, monkeypatch, other):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(release, "made_private", stop)
        eyelid.release(home / "features", home / "out", **LAPLACE)
    if "ledger" in other:
        other = {"ledger": home / other["ledger"]}
    with pytest.raises(InputError, match="unfinished run of other data or settings"):
        eyelid.release(home / "features", home / "out", **LAPLACE, **other)


def test_a_certificate_is_of_the_part_that_was_put_down_first(home, monkeypatch):
    """Another person was faster: another draw of the same people is what is released."""
    honest, others = Run.put, []

    def late(run, path, write):
        if path.name == "part-000001.parquet" and not path.exists():

            def quicker(draft):
                write(draft)
                other = pl.read_parquet(draft).with_columns(pl.col("pupil") + 0.25)
                others.append(other)
                other.write_parquet(draft)

            honest(run, path, quicker)
        return honest(run, path, write)

    monkeypatch.setattr(Run, "put", late)
    done = eyelid.release(home / "features", home / "out", **LAPLACE)
    shown = pl.read_parquet(home / "out" / "data.parquet" / "part-000001.parquet")
    assert shown.equals(others[0])
    assert done.certificate.output_sha256 == output_digest(read(home / "out"))


def test_a_copy_of_what_a_finished_run_had_left_is_no_second_release(home, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(release, "made_private", stop)
        eyelid.release(home / "features", home / "out", **LAPLACE)
    shutil.copytree(unfinished(home / "out"), tmp_path / "backup")
    eyelid.release(home / "features", home / "out", **LAPLACE)
    (home / "out").rename(home / "shared")
    shutil.move(tmp_path / "backup", unfinished(home / "out"))
    with pytest.raises(InputError, match="this run has ended"):
        eyelid.release(home / "features", home / "out", **LAPLACE)
    assert debits(home) == 1


def test_two_copies_of_a_run_that_go_on_at_once_make_one_release(home, monkeypatch):
    """One stands where the run was begun, the other is the folder it was begun in, moved."""

    def stop(*_):
        raise KeyboardInterrupt

    first, second = home / "first" / "out", home / "second" / "out"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(release, "made_private", stop)
        eyelid.release(home / "features", first, **LAPLACE)
    first.parent.rename(second.parent)
    shutil.copytree(second.parent, first.parent)
    honest = release.made_private

    def meanwhile(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(release, "made_private", honest)
            # Its end is not noted in time: what it made is.
            patch.setattr(pipeline, "ended", lambda *_: None)
            eyelid.release(home / "features", first, **LAPLACE)
        return honest(*arguments)

    with monkeypatch.context() as patch, pytest.raises(InputError, match="a copy of this run has"):
        patch.setattr(release, "made_private", meanwhile)
        eyelid.release(home / "features", second, **LAPLACE)
    assert first.is_dir()
    assert list(second.parent.iterdir()) == []
    assert debits(home) == 1


@pytest.mark.parametrize(
    ("is_noted", "refusal"), [(True, "this run has ended"), (False, "a copy of this run has")]
)
def test_a_copy_of_a_run_is_no_second_release_though_its_people_were_joined_meanwhile(
    home, tmp_path, monkeypatch, is_noted, refusal
):
    """The run has opened its ledger before, and ends after: the copy asks the other ledger."""
    honest, study = release.made_private, read(home / "features")
    other = Ledger.create(home / "other.ledger")
    other.register("other", study.people["person"])

    def meanwhile(*arguments):
        shutil.copytree(unfinished(home / "out"), tmp_path / "backup")
        other.join("other", Ledger(home / "features.ledger"), [study.origin.id])
        return honest(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(release, "made_private", meanwhile)
        if not is_noted:
            patch.setattr(pipeline, "ended", lambda *_: None)
        eyelid.release(home / "features", home / "out", **LAPLACE)
    (home / "out").rename(home / "shared")
    shutil.move(tmp_path / "backup", unfinished(home / "out"))
    with pytest.raises(InputError, match=refusal):
        eyelid.release(home / "features", home / "out", **LAPLACE)
    assert not (home / "out").exists()
    assert len(other.debits("other")) == 1


def test_names_that_change_meanwhile_are_not_released(home, monkeypatch):
    honest = release.made_private

    def swapped(*arguments):
        data = pl.read_parquet(home / "features" / "data.parquet")
        names = data["person"].unique(maintain_order=True).to_list()
        swap = dict(zip(names[:2], reversed(names[:2]), strict=True))
        renamed = data.with_columns(pl.col("person").replace(swap))
        renamed.write_parquet(home / "features" / "data.parquet")
        return honest(*arguments)

    monkeypatch.setattr(release, "made_private", swapped)
    with pytest.raises(InputError, match="changed after they were looked at"):
        eyelid.release(home / "features", home / "out", **LAPLACE)


def test_a_limit_leaves_nothing_behind(home):
    budget(home / "features", limit_epsilon=0.5)
    with pytest.raises(Refused):
        eyelid.release(home / "features", home / "out", **LAPLACE)
    assert sorted(path.name for path in home.iterdir()) == ["features", "features.ledger"]


def test_a_folder_made_by_hand_goes_on_though_it_got_an_origin(home, monkeypatch):
    about = json.loads((home / "features" / "study.json").read_text())
    del about["origin"], about["ledger"]
    (home / "features" / "study.json").write_text(json.dumps(about))
    (home / "features.ledger").unlink()

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(release, "made_private", stop)
        eyelid.release(home / "features", home / "out", **LAPLACE)
    eyelid.release(home / "features", home / "out", **LAPLACE)
    assert debits(home) == 1


def test_a_study_in_memory_goes_on_too(home, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    study = read(home / "features")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(release, "made_private", stop)
        eyelid.release(study, home / "out", **LAPLACE)
    other = study.derive(data=study.data.with_columns(pl.col("pupil") + 0.1))
    with pytest.raises(InputError, match="unfinished run of other data"):
        eyelid.release(other, home / "out", **LAPLACE)
    eyelid.release(study, home / "out", **LAPLACE)
    assert debits(home) == 1


def test_what_was_summarised_before_a_stop_is_not_summarised_again(tmp_path, monkeypatch):
    write(simulate(people=2, tasks=("comic",), minutes=0.55, rate_hz=30.0, seed=2), tmp_path / "s")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(release, "made_private", stop)
        eyelid.release(tmp_path / "s", tmp_path / "out", **LAPLACE)
    monkeypatch.setattr(Laplace, "summarise", stop)
    assert len(eyelid.release(tmp_path / "s", tmp_path / "out", **LAPLACE).table.people) == 2


def test_digests_do_not_depend_on_pieces_and_see_everything(make_table):
    table = make_table(people=5)
    halves = [table.data.filter(pl.col("person") < "2"), table.data.filter(pl.col("person") >= "2")]
    assert [d for half in halves for d in person_digests(half)] == person_digests(table.data)
    taken = preparation.prepare(preparation.opened(table), windows_of, None, lambda by, what: None)
    assert len(taken.cut.pieces) == 5
    assert taken.digest() == input_digest(table)
    for column, value in (("pupil", 2.5), ("task", "x"), ("recording", "r"), ("time_ms", 1.0)):
        cell = pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(value)).otherwise(column)
        other = FeatureTable(table.data.with_columns(cell.alias(column)), table.features,
                             table.people)  # fmt: skip
        assert input_digest(other) != input_digest(table)
        assert output_digest(other) != output_digest(table)
    renamed = table.data.with_columns(pl.col("person").replace({"0": "Z"}))
    assert input_digest(replace(table, data=renamed)) != input_digest(table)


def test_certificates_of_earlier_versions_still_count(home):
    """Their digests were made column by column, of everybody at once."""
    eyelid.release(home / "features", home / "out", **LAPLACE)
    origin = read(home / "features").origin
    table, shown = (FeatureTable.of(read(home / name)) for name in ("features", "out"))
    ledger = Ledger(home / "features.ledger")
    file = home / "out" / "certificate.json"
    (debit,) = ledger.debits(origin.id)
    told = json.loads(file.read_text())
    told["output_sha256"] = earlier_digests.output_digest(shown)
    told["input_sha256"] = ledger.fingerprint(earlier_digests.input_digest(table), debit.id)
    file.write_text(json.dumps(told))
    assert audit_target(home / "features", home / "out").inconsistencies == ()
    file.write_text(json.dumps(told | {"output_sha256": told["output_sha256"][::-1]}))
    with pytest.raises(InputError, match="their hash differs"):
        audit_target(home / "features", home / "out")


def test_an_engine_that_is_none_is_refused_in_a_line(eyelid, home):
    words = f"release {home}/features {home}/out --mechanism laplace --epsilon 1".split()
    done = eyelid(*words, "--engine", "spark")
    assert (done.code, done.err.count("\n")) == (2, 1)
    with pytest.raises(InputError, match="unknown engine 'spark'"):
        release_features(home / "features", home / "out", **LAPLACE, engine="spark")
    assert debits(home) == 0
