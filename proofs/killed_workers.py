"""Workers killed at random moments of a seeded release, on both engines: nothing shows of it."""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import psutil

from eyelid.engine.runs import unfinished
from eyelid.gaze.features import window_feature_set
from eyelid.gaze.table import table_from_arrays
from eyelid.io import write
from eyelid.io.study_folder import ledger_beside
from eyelid.privacy.ledger import Ledger
from proofs.command import command
from proofs.result import Effort, Result, progress

PEOPLE, RECORDINGS, WINDOWS = 900, 3, 150
# As many as these people give; a run looks at each, and then draws its noise.
PARTS = 12
ENGINES = ("local", "dask")
# How the command lines of worker processes look, and those of their helpers do not.
_WORKERS = ("popen_loky_posix", "multiprocessing.spawn")
_LONGEST_S = 300


def prove(effort: Effort) -> Result:
    """One undisturbed release an engine, then releases of which one worker is killed."""
    with tempfile.TemporaryDirectory(prefix="eyelid-killed-workers-") as home:
        place = Path(home)
        _make_study(place / "study")
        seconds, wanted = {}, {}
        for engine in ENGINES:
            start = time.perf_counter()
            wanted[engine], _ = _released(place, engine, None)
            seconds[engine] = time.perf_counter() - start
            progress(f"killed_workers: {engine}, {seconds[engine]:.1f} s when left alone")
        wrong = [] if wanted["local"] == wanted["dask"] else ["the engines differ"]
        if len(list((place / "out" / "data.parquet").iterdir())) != PARTS:
            wrong.append(f"there are not {PARTS} parts")
        killed = 0
        for number in range(effort.kills):
            engine = ENGINES[number % len(ENGINES)]
            found, hit = _released(place, engine, random.random())
            killed += hit
            if found != wanted["local"]:
                wrong.append(f"run {number} ({engine}): {found}")
        figures = {
            "seconds_left_alone": seconds,
            "parts": PARTS,
            "runs": effort.kills,
            "runs_in_which_a_worker_was_killed": killed,
            "wrong": wrong,
        }
        target = (
            "all runs complete with the same bytes and certificate on both engines, everybody "
            "once, one debit; a worker was killed in at least half of them"
        )
        return Result(figures, target, not wrong and 2 * killed >= effort.kills)


def _make_study(path: Path) -> None:
    features = window_feature_set("deg")
    values = np.random.default_rng(0).random((PEOPLE, RECORDINGS, WINDOWS, len(features)))
    values *= [feature.span for feature in features]
    values += [feature.lower for feature in features]
    write(table_from_arrays(values, features).study(), path)
    shutil.copy(ledger_beside(path), path.with_name("fresh.ledger"))


def _released(place: Path, engine: str, moment: float | None) -> tuple[dict[str, object], bool]:
    """What a release gives, and whether a worker of it was killed."""
    study, out = place / "study", place / "out"
    shutil.rmtree(out, ignore_errors=True)
    # Of a ledger that counts on, certificates would differ in what was spent before.
    shutil.copy(place / "fresh.ledger", ledger_beside(study))
    words = ["release", study, out, "--mechanism", "laplace", "--epsilon", "1", "--seed", "7"]
    process = subprocess.Popen(
        command([*words, "--engine", engine, "--workers", "2", "--quiet"]),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    hit = False
    if moment is not None:
        _wait_for(moment, out, process)
        hit = _kill_a_worker(process.pid)
    _, errors = process.communicate(timeout=_LONGEST_S)
    if process.returncode != 0:
        return {"ended with": process.returncode, "errors": errors}, hit
    ledger = Ledger(ledger_beside(study))
    about = pl.scan_parquet(out / "data.parquet")
    people = about.select(pl.col("person").n_unique()).collect().item()
    rows = about.select(pl.struct("person", "recording", "time_ms").n_unique()).collect().item()
    return {
        "files": _digests(out),
        "debits": len(ledger.debits(_origin(study))),
        "people": people,
        "different_rows": rows,
        "left_behind": sorted(p.name for p in place.iterdir() if p.name.startswith(".")),
    }, hit


def _wait_for(share: float, out: Path, process: subprocess.Popen[str]) -> None:
    """Until such a share of the run is done, and then a moment longer."""
    home = unfinished(out)
    while process.poll() is None:
        looked_at = len(list(home.glob("scratch/facts-*.json")))
        if looked_at + len(list(home.glob("output/data.parquet/*"))) > share * 2 * PARTS:
            break
        time.sleep(0.005)
    time.sleep(random.uniform(0, 0.2))


def _kill_a_worker(parent: int) -> bool:
    try:
        children = psutil.Process(parent).children(recursive=True)
    except psutil.NoSuchProcess:
        return False
    workers = [child for child in children if _works(child)]
    if not workers:
        return False
    random.choice(workers).kill()
    return True


def _works(process: psutil.Process) -> bool:
    try:
        words = " ".join(process.cmdline())
    except psutil.Error:
        return False
    return any(mark in words for mark in _WORKERS) and "resource_tracker" not in words


def _digests(out: Path) -> dict[str, str]:
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def _origin(study: Path) -> str:
    from eyelid.io import read

    origin = read(study).origin
    assert origin is not None
    return origin.id
