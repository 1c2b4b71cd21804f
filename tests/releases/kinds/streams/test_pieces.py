"""Releases of gaze in pieces: the same whoever works, counted once, and on from where they stop."""

import os
import shutil
import subprocess
import sys

import polars as pl
import pytest

import eyelid
from eyelid.engine.engines import using
from eyelid.engine.runs import unfinished
from eyelid.errors import InputError
from eyelid.io import read
from eyelid.io.pieces import in_pieces
from eyelid.io.release_folder import output_digest
from eyelid.mechanisms.streams.study_scene import filtered
from eyelid.privacy.ledger import Ledger
from eyelid.privacy.noise import randomness
from eyelid.privacy.noise.randomness import stream_of
from eyelid.privacy.unit import PERSON
from eyelid.releases.accounting import debit_of, read_certificate, samples_digest
from eyelid.releases.budget import budget
from eyelid.releases.kinds.streams import release as releases
from eyelid.releases.kinds.streams.plan import build_filter
from eyelid.releases.kinds.streams.preparation import facts_of, taken_of

KNOWN = {"mechanism": "kaleido", "epsilon": 2.0, "window": 25, "radius": 40.0}
# One person each, of those in these tests.
VALUES = 9 * 400
pytestmark = pytest.mark.usefixtures("copies_count")


@pytest.fixture
def pieces(monkeypatch):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", VALUES)


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def is_true(out, original):
    """Whether a certificate is of this release, and of this original."""
    told, study = read_certificate(out), read(original)
    book, taken = Ledger(study.origin.ledger), samples_digest(taken_of(study))
    known = debit_of(told.input_sha256, [lambda: taken], book, study.origin.id) is not None
    return known and told.output_sha256 == output_digest(read(out))


def test_files_are_the_same_whoever_works(gaze_folder, tmp_path, pieces, monkeypatch, dask):
    asked = {"mechanism": "jitter", "sd": 10.0}

    def released(home):
        # Each with its own copy of the ledger, which knows of no other.
        shutil.copytree(gaze_folder, home / "study")
        shutil.copy(gaze_folder.with_name("study.ledger"), home)
        eyelid.release(home / "study", home / "out", seed=3, **asked)
        return content(home / "out")

    here = released(tmp_path / "here")
    assert [name for name in here if "part-" in name] == [
        f"data.parquet/part-00000{number}.parquet" for number in range(3)
    ]
    with monkeypatch.context() as patch:
        patch.setattr("eyelid.engine.cores.cores", lambda: 2)
        assert released(tmp_path / "two") == here
    with using(dask):
        assert released(tmp_path / "cluster") == here


def test_a_piece_is_what_the_filter_makes_of_it_in_the_whole_study(gaze_folder, tmp_path, pieces):
    released = eyelid.release(gaze_folder, tmp_path / "out", seed=3, **KNOWN).study
    taken = taken_of(read(gaze_folder))
    mechanism = build_filter("kaleido", taken, epsilon=2.0, window=25, radius=40.0)
    for piece in in_pieces(gaze_folder).pieces:
        mine = pl.col("person").is_in(piece.people)
        alone = taken.derive(data=taken.data.filter(mine))
        expected = filtered(mechanism, alone, stream_of(randomness(3), piece.number)).data
        assert released.data.filter(mine).equals(expected)


def test_a_certificate_is_the_same_in_pieces_and_in_one(gaze_folder, make_gaze, tmp_path, pieces):
    many = eyelid.release(gaze_folder, tmp_path / "many", **KNOWN)
    assert is_true(tmp_path / "many", gaze_folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyelid.io.pieces.PIECE_VALUES", 1 << 21)
        one = eyelid.release(gaze_folder, tmp_path / "one", **KNOWN)
        assert (tmp_path / "one" / "data.parquet").is_file()
    held = eyelid.release(make_gaze(), **KNOWN)
    for other in (one, held):
        assert other.certificate.guarantee == many.certificate.guarantee
        assert other.certificate.person_level == many.certificate.person_level
        assert other.certificate.bounds == many.certificate.bounds
        assert other.study.data.drop("x", "y").equals(many.study.data.drop("x", "y"))


@pytest.mark.parametrize(("again", "most"), [("r1", (2, 360)), ("r2", (3, 200))])
def test_what_a_person_is_promised_is_true_of_whoever_has_most(make_gaze, pieces, again, most):
    study = make_gaze()
    # The last person's last recording goes on, or there is one more of them.
    last = study.data.filter(pl.col("person") == "P2", pl.col("recording") == "r1")
    later = last.with_columns(pl.col("time_ms") + 20.0 * len(last), recording=pl.lit(again))
    study = study.derive(data=pl.concat([study.data, later]))
    assert len(in_pieces(study).pieces) == 3
    taken = taken_of(study)
    mechanism = build_filter("kaleido", taken, epsilon=2.0, window=25, radius=40.0)
    assert (facts_of(taken).recordings, facts_of(taken).length) == most
    fewer = mechanism.cost(facts_of(taken_of(make_gaze())), PERSON)
    done = eyelid.release(study, **KNOWN).certificate.person_level
    assert done == mechanism.cost(facts_of(taken), PERSON)
    assert done.epsilon > fewer.epsilon


def test_a_person_of_a_late_piece_who_differs_is_bounded_by_nothing(make_gaze, pieces):
    study = make_gaze()
    first = study.data.filter(pl.col("person") == "P0")
    same = [first.with_columns(person=pl.lit(name)) for name in ("P0", "P1", "P2")]
    alike = study.derive(data=pl.concat(same))
    lost = (pl.col("person") == "P2") & (pl.col("time_ms") == pl.col("time_ms").max())
    seen = [pl.when(~lost).then(pl.col(name)).alias(name) for name in ("x", "y")]
    unlike = study.derive(data=alike.data.with_columns(seen))
    assert len(in_pieces(unlike).pieces) == 3
    # So small an ε that whole people, too, are promised something.
    asked = KNOWN | {"epsilon": 1e-3}
    bounds = eyelid.release(alike, **asked).certificate.rank1_bound
    assert all(bound is not None and bound < 1 for bound in bounds.values())
    assert set(eyelid.release(unlike, **asked).certificate.rank1_bound.values()) <= {None, 1.0}


def test_an_eye_that_one_piece_has_is_asked_of_all(make_gaze, pieces):
    study = make_gaze()
    eye = pl.when(pl.col("person") == "P2").then(pl.lit("left")).otherwise(pl.lit("right"))
    mixed = study.derive(data=study.data.with_columns(eye=eye))
    with pytest.raises(InputError, match=r"several eyes \(left, right\)"):
        eyelid.release(mixed, **KNOWN)
    with pytest.raises(InputError, match="P0, recording r0 has no left eye"):
        eyelid.release(mixed, eye="left", **KNOWN)
    with pytest.raises(InputError, match="unknown eye 'cyclopean'"):
        eyelid.release(mixed, eye="cyclopean", **KNOWN)


def test_a_lost_recording_is_of_any_eye_and_its_person_counts(make_gaze, pieces):
    """What stands for an empty file has no eye: it was a third one, and ended the release."""
    study = make_gaze()
    both = pl.concat([study.data.with_columns(eye=pl.lit(e)) for e in ("left", "right")])
    gone = pl.DataFrame({"person": ["P1"] * 2, "recording": ["r0", "r1"], "eye": [""] * 2})
    gone = gone.with_columns(time_ms=pl.lit(0.0), task=pl.lit(""), stimulus=pl.lit(""))
    data = pl.concat([both.filter(pl.col("person") != "P1"), gone], how="diagonal_relaxed")
    lost = study.derive(data=data.sort("person", "recording", maintain_order=True))
    assert len(in_pieces(lost).pieces) > 1
    with pytest.raises(InputError, match=r"several eyes \(left, right\).*`eye=left`"):
        eyelid.release(lost, **KNOWN)
    with pytest.raises(InputError, match="unknown eye 'cyclopean'"):
        eyelid.release(lost, eye="cyclopean", **KNOWN)
    done = eyelid.release(lost, eye="right", **KNOWN)
    assert done.certificate.people == 3


def stop_before(number):
    def stream(noise, piece):
        if piece == number:
            raise KeyboardInterrupt
        return stream_of(noise, piece)

    return stream


def test_a_stopped_release_goes_on_with_its_parts_and_one_debit(
    gaze_folder, tmp_path, pieces, monkeypatch
):
    out = tmp_path / "out"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as stop:
        patch.setattr(releases, "stream_of", stop_before(2))
        eyelid.release(gaze_folder, out, **KNOWN)
    assert "the same command goes on" in stop.value.__notes__[-1]
    parts = content(unfinished(out) / "output")
    assert len(parts) == 2
    with pytest.raises(InputError, match="unfinished run of other data or settings"):
        eyelid.release(gaze_folder, out, **KNOWN | {"epsilon": 3.0})
    eyelid.release(gaze_folder, out, **KNOWN)
    assert content(out).items() > parts.items()
    assert len(budget(gaze_folder).debits) == 1
    assert is_true(out, gaze_folder)
    assert not unfinished(out).exists()


KILLED = """
import os, sys
import eyelid, eyelid.engine.engines, eyelid.io.pieces, eyelid.mechanisms.streams.filter_run
from eyelid.releases.kinds.streams import release

def stream(noise, piece):
    if piece == 1:
        os.kill(os.getpid(), 9)
    return noise

release.stream_of = stream
eyelid.io.pieces.PIECE_VALUES = int(sys.argv[3])
eyelid.mechanisms.streams.filter_run.compiled = lambda kernel: None
known = {"mechanism": "kaleido", "epsilon": 2.0, "window": 25, "radius": 40.0}
with eyelid.engine.engines.using("local", workers=1):
    eyelid.release(sys.argv[1], sys.argv[2], **known)
"""


def test_a_killed_release_goes_on_with_one_debit(gaze_folder, tmp_path, pieces):
    out = tmp_path / "out"
    words = [sys.executable, "-c", KILLED, str(gaze_folder), str(out), str(VALUES)]
    done = subprocess.run(words, env=os.environ, check=False)
    assert done.returncode == -9
    parts = content(unfinished(out) / "output")
    assert list(parts) == ["data.parquet/part-000000.parquet"]
    eyelid.release(gaze_folder, out, **KNOWN)
    assert content(out).items() > parts.items()
    assert len(budget(gaze_folder).debits) == 1
    assert is_true(out, gaze_folder)


def test_to_give_a_folder_its_origin_is_no_change_of_input(
    make_gaze, tmp_path, pieces, monkeypatch
):
    home, out = tmp_path / "study", tmp_path / "out"
    eyelid.write(make_gaze(), home)
    about = home / "study.json"
    about.write_text(about.read_text().replace('"origin"', '"was"').replace('"ledger"', '"had"'))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(releases, "stream_of", stop_before(1))
        eyelid.release(home, out, **KNOWN)
    eyelid.release(home, out, **KNOWN)
    assert len(budget(home).debits) == 1


def test_recordings_that_change_after_the_first_look_are_not_released(
    gaze_folder, tmp_path, monkeypatch
):
    looked_at = releases.looked_at

    def meddled(*words):
        facts = looked_at(*words)
        file = gaze_folder / "data.parquet"
        pl.read_parquet(file).with_columns(pl.col("x") + 1.0).write_parquet(file)
        return facts

    monkeypatch.setattr(releases, "looked_at", meddled)
    with pytest.raises(InputError, match="changed after they were looked at"):
        eyelid.release(gaze_folder, tmp_path / "out", **KNOWN)
    assert not (tmp_path / "out").exists()
