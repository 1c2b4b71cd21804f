"""What was released, on disk."""

import json

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.stream.recorder import Recorder


@pytest.fixture
def quick_disk(monkeypatch):
    """Written at once, so that tests need not wait."""
    for name in ("_CSV_EVERY_S", "_PARQUET_EVERY_S"):
        monkeypatch.setattr(f"eyelid.stream.recorder.{name}", 0.02)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_recording_holds_what_was_released_and_its_certificate(
    run, streaming, hand, make_gate, tmp_path, kind
):
    path = tmp_path / f"released.{kind}"

    async def story():
        async with streaming(hand, [Recorder(path)]):
            hand.give(500)
            hand.give(1, start_ms=4000.0)

    run(story())
    found = pl.read_csv(path) if kind == "csv" else pl.read_parquet(path)
    times = [*(8.0 * i for i in range(500)), 4000.0]
    # The same noise as the stream's gives the same release.
    x, y = make_gate().push_many(times, [hand.x] * 501, [hand.y] * 501)
    assert found["time_ms"].to_list() == times
    np.testing.assert_array_equal(found["x"], x)
    np.testing.assert_array_equal(found["y"], y)
    assert found.columns == ["time_ms", "x", "y"]
    certificate = json.loads((tmp_path / f"released.{kind}.certificate.json").read_text())
    assert certificate["meter"]["samples"] == certificate["recorded_samples"] == 501
    assert certificate["recording"] == f"released.{kind}"
    assert certificate["complete"]
    for file in tmp_path.rglob("*.*"):
        assert file.is_dir() or b"777.12" not in file.read_bytes()


def test_a_recording_can_be_read_while_it_grows(run, streaming, until, hand, tmp_path, quick_disk):
    """Whatever moment a kill comes, whole lines are there."""
    path = tmp_path / "released.csv"

    async def story():
        async with streaming(hand, [Recorder(path)]):
            for i in range(10):
                hand.give(100, start_ms=800.0 * i)
            await until(lambda: len(pl.read_csv(path)) == 1000)
            assert path.read_bytes().endswith(b"\n")

    run(story())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_sample_is_on_disk_before_its_certificate(
    run, streaming, until, hand, tmp_path, quick_disk, monkeypatch, kind
):
    """At any moment that a kill might come: looked at before and after everything is written."""
    path, seen = tmp_path / f"released.{kind}", []

    def look():
        certificate = json.loads(recorder.certificate_path.read_text())
        seen.append((samples(path), certificate))

    def samples(path):
        if kind == "csv":
            return path.read_bytes().count(b"\n") - 1
        return sum(len(pl.read_parquet(part)) for part in path.glob("part-*"))

    write = Recorder._write

    def watched_write(self, gaze):
        look()
        write(self, gaze)
        look()

    monkeypatch.setattr(Recorder, "_write", watched_write)
    recorder = Recorder(path)

    async def story():
        async with streaming(hand, [recorder]):
            for i in range(5):
                hand.give(100, start_ms=800.0 * i)
                await until(lambda most=100 * (i + 1): recorder.consumers()[0].sent == most)

    run(story())
    assert [count for count, _ in seen[1::2]] == [100, 200, 300, 400, 500]
    for count, certificate in seen:
        assert certificate["recorded_samples"] >= count
        assert certificate["meter"]["samples"] >= count
        assert not certificate["complete"]
    # Written before: a window more, not the same again.
    totals = [certificate["person_level"]["epsilon"] for _, certificate in seen[::2]]
    assert totals == sorted(set(totals))


def test_recordings_beside_each_other_keep_their_certificates(tmp_path):
    csv, parquet = Recorder(tmp_path / "r.csv"), Recorder(tmp_path / "r.parquet")
    assert csv.certificate_path != parquet.certificate_path
    csv.certificate_path.write_text("of something else")
    with pytest.raises(InputError, match="exists already"):
        Recorder(tmp_path / "r.csv")


@pytest.mark.parametrize(("kind", "bytes_left"), [("csv", 50_000), ("parquet", 5_000)])
def test_a_full_disk_ends_the_recording_and_not_the_stream(
    run, streaming, until, hand, tmp_path, quick_disk, kind, bytes_left
):
    """The system refuses to let files grow beyond a size, as a full disk would."""
    resource = pytest.importorskip("resource")
    path = tmp_path / f"released.{kind}"
    recorder = Recorder(path)

    async def story():
        async with streaming(hand, [recorder]) as pump:
            hand.give(100)
            await until(lambda: recorder.consumers()[0].sent == 100)
            for i in range(1, 11):
                # Times that no file can say in fewer bytes than they have.
                hand.give(1000, start_ms=8000.0 * i, jitter_ms=2.0)
            await until(lambda: recorder.trouble)
            hand.give(1000, start_ms=1e6)
            return pump.gate.samples, pump.status().troubles

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, before[1]))
    try:
        samples, troubles = run(story())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert samples == 11_100
    assert len(troubles) == 1
    assert "recording stopped after 100 samples" in troubles[0]
    # What was written can still be read, and nothing of what did not fit.
    found = pl.read_csv(path) if kind == "csv" else pl.read_parquet(path)
    assert found["time_ms"].to_list() == [8.0 * i for i in range(100)]
    certificate = json.loads(recorder.certificate_path.read_text())
    assert (certificate["complete"], certificate["recorded_samples"]) == (False, 100)


@pytest.mark.parametrize("name", ["released.xlsx", "there.csv", "no/such/folder.txt"])
def test_a_place_that_will_not_do_is_refused_at_once(tmp_path, name):
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(InputError):
        Recorder(tmp_path / name)
    assert (tmp_path / "there.csv").read_text() == "mine"
