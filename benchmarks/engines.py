"""Engines: against a bare process pool, Dask against processes, what each command costs, growth.

The bare pool reads the same pieces, computes the same features and writes the same Parquet files;
it has no manifest, no digests, no resume and no bar.
"""

from __future__ import annotations

import math
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from proofs.watched import Watched, watched

from benchmarks.case import Case, remark
from eyelid.engine.engines import using
from eyelid.gaze.features import window_features
from eyelid.gaze.study import Study
from eyelid.io.derivations import derive_features
from eyelid.io.pieces import Piece, in_pieces

WORKERS = 2
PEOPLE, TASKS, MINUTES = 500, ("comic", "textbook"), 1.0
REPETITIONS = 5
LEAST_OF_BARE, MOST_OF_LOCAL, MOST_EXPONENT = 0.9, 1.6, 1.05
GROWING = (500, 2000, 8000)
# Long enough that the start of processes hardly counts; and short ones, of ever more people.
COST_MINUTES, GROWING_MINUTES = 5.0, 0.8
# Few enough that an audit or a comparison ends; their costs do not grow like a map.
FEW = 40


def cases() -> Iterator[Case]:
    """All of them, on simulated recordings."""
    with tempfile.TemporaryDirectory(prefix="eyelid-engines-") as home:
        place = Path(home)
        study = place / "study"
        _simulate(study, PEOPLE, TASKS, MINUTES)
        yield _against_bare_pool(study, place)
        yield _dask_against_local(study, place)
        shutil.rmtree(study)
        yield from _costs(place)
        yield from _growth(place)


def _simulate(study: Path, people: int, tasks: Sequence[str], minutes: float) -> None:
    """In a process of its own: workers of this one would be counted when they go home."""
    number = ["--people", str(people), "--minutes", str(minutes), "--seed", "1"]
    watched(["simulate", study, *number, "--tasks", ",".join(tasks), "--quiet"])


def _against_bare_pool(study: Path, place: Path) -> Case:
    """Features of 1000 recordings by both in turn, the start of processes included."""
    ours, theirs = math.inf, math.inf
    for number in range(REPETITIONS):
        out = place / f"out-{number}"
        theirs = min(theirs, _seconds(partial(_bare, study, out)))
        shutil.rmtree(out)
        ours = min(ours, _seconds(partial(_by_engine, study, out)))
        shutil.rmtree(out)
        remark(f"engines: best of {number + 1}: {ours:.2f} s, bare pool {theirs:.2f} s")
    return Case(
        f"features of {PEOPLE * len(TASKS)} recordings, {WORKERS} workers, best of {REPETITIONS}",
        "s",
        ours,
        "concurrent.futures.ProcessPoolExecutor, the same work and nothing else",
        theirs,
        f"at least {LEAST_OF_BARE} of the bare pool's speed",
        theirs / ours >= LEAST_OF_BARE,
    )


def _by_engine(study: Path, out: Path) -> None:
    from joblib.externals.loky import get_reusable_executor

    with using("local", WORKERS):
        derive_features(study, out)
    # The next time they start anew, as the peer's do.
    get_reusable_executor(max_workers=WORKERS).shutdown(wait=True, kill_workers=True)


def _bare(study: Path, out: Path) -> None:
    out.mkdir()
    with using("local", 1):
        cut = in_pieces(study)
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=fresh) as pool:
        list(pool.map(partial(_one_bare, cut.head, out), cut.pieces))


def _one_bare(head: Study, out: Path, piece: Piece) -> None:
    table = window_features(piece.read(head))
    table.data.write_parquet(out / f"{piece.number}.parquet")


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _dask_against_local(study: Path, place: Path) -> Case:
    """The whole command, a cluster's start and end included."""
    best = {}
    for engine in ("local", "dask"):
        took = [
            _command(place, ["features", study, place / "out"], engine).seconds for _ in range(3)
        ]
        best[engine] = min(took)
    return Case(
        f"features of {PEOPLE * len(TASKS)} recordings on Dask, {WORKERS} workers, with its start",
        "s",
        best["dask"],
        "eyelid on local processes",
        best["local"],
        f"at most {MOST_OF_LOCAL} times the local engine",
        best["dask"] / best["local"] <= MOST_OF_LOCAL,
    )


def _command(place: Path, words: Sequence[str | Path], engine: str = "local") -> Watched:
    took = watched([*words, "--engine", engine, "--workers", str(WORKERS), "--quiet"])
    _remove(place / "out")
    return took


def _remove(out: Path) -> None:
    shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)


def _costs(place: Path) -> Iterator[Case]:
    """Recording-hours a processor second of each command, beside those of copying the data."""
    study = place / "long"
    _simulate(study, PEOPLE, TASKS, COST_MINUTES)
    watched(["features", study, place / "features", "--quiet"])
    few = place / "few"
    _simulate(few, FEW, TASKS, COST_MINUTES)
    watched(["features", few, place / "few-features", "--quiet"])
    out = place / "out"
    release = ["--mechanism", "dct", "--epsilon", "1"]
    heatmap = ["--stimulus", "comic", "--epsilon", "1"]
    runs: list[tuple[str, int, list[str | Path]]] = [
        ("convert to a study", PEOPLE, ["convert", study, out]),
        ("convert to csv", PEOPLE, ["convert", study, out, "--to", "csv"]),
        ("events", PEOPLE, ["events", study, out]),
        ("features", PEOPLE, ["features", study, out]),
        ("release of features", PEOPLE, ["release", place / "features", out, *release]),
        ("release of recordings", PEOPLE, ["release", study, out, *release]),
        ("heatmap", PEOPLE, ["heatmap", study, out, *heatmap]),
        (f"audit of {FEW} people", FEW, ["audit", place / "few-features"]),
        (f"compare --fast of {FEW} people", FEW, ["compare", place / "few-features", "--fast"]),
    ]
    copied = _seconds(lambda: shutil.copytree(study, place / "copy"))
    hours = PEOPLE * len(TASKS) * COST_MINUTES / 60
    in_bytes = _size(place / "copy")
    for name, people, words in runs:
        took = watched([*words, "--engine", "local", "--workers", str(WORKERS), "--quiet"])
        written = _size(out)
        _remove(out)
        mine = people * len(TASKS) * COST_MINUTES / 60
        yield Case(
            f"{name}, processor seconds a recording-hour (60 Hz)",
            "s",
            took.cpu_seconds / mine,
            "copying the study's files",
            copied / hours,
            None,
            None,
            {
                "recording_hours_per_cpu_second": mine / took.cpu_seconds,
                "seconds": took.seconds,
                "written_bytes_per_recording_hour": written / mine,
                "read_bytes_per_recording_hour": in_bytes / hours,
                "peak_mb": took.peak_mb,
            },
        )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _growth(place: Path) -> Iterator[Case]:
    """Processor seconds over the number of people, those of starting taken off."""
    release = ["--mechanism", "gaussian", "--epsilon", "1", "--set", "length=1"]
    heatmap = ["--stimulus", "comic", "--epsilon", "1"]
    found: dict[str, list[float]] = {"features": [], "release": [], "heatmap": []}
    for people in (2, *GROWING):
        study = place / f"grown-{people}"
        _simulate(study, people, ("comic",), GROWING_MINUTES)
        for name, more in (("features", []), ("release", release), ("heatmap", heatmap)):
            took = _command(place, [name, study, place / "out", *more])
            found[name].append(took.cpu_seconds)
            remark(f"engines: {name} of {people} people: {took.cpu_seconds:.1f} processor s")
        shutil.rmtree(study)
    for name, (start, *seconds) in found.items():
        least, most = seconds[0] - start, seconds[-1] - start
        exponent = math.log(most / least) / math.log(GROWING[-1] / GROWING[0])
        yield Case(
            f"{name}, growth exponent from {GROWING[0]:,} to {GROWING[-1]:,} people",
            "exponent",
            exponent,
            "linear growth",
            1.0,
            f"at most {MOST_EXPONENT}",
            exponent <= MOST_EXPONENT,
            {f"cpu_seconds_{n}": s for n, s in zip((2, *GROWING), found[name], strict=True)},
        )
