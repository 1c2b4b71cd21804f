"""A heatmap of 100 000 simulated participants, in the memory that one of 10 000 takes."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.engine.runs import running
from eyelid.gaze.study import Origin, Screen, Study
from eyelid.io.study_folder import ledger_beside
from eyelid.io.study_parts import (
    write_manifest,
    write_part,
)
from eyelid.privacy import Ledger
from proofs.command import command
from proofs.result import Effort, Result, progress, skip

FEW, MANY = 10_000, 100_000
SAMPLES, PEOPLE_IN_PART = 60, 5_000
WIDTH, HEIGHT = 1280, 720
WORKERS = 2
# Counts in pixels: the most that is added up.
SETTINGS = ("--mechanism", "map-gaussian", "--engine", "local")
# A name and a digest of everybody, a few times over, and the transaction that counts them; in one
# piece the larger crowd takes 1800 MB.
MOST_GROWTH_MB, MOST_MB = 100.0, 700.0
TARGET = (
    f"a heatmap of {MANY:,} people with {SAMPLES} samples each takes no process more than "
    f"{MOST_GROWTH_MB:g} MB beyond one of {FEW:,}, nor more than {MOST_MB:g} MB, and counts "
    "everybody once"
)


def prove(effort: Effort) -> Result:
    """The same command on a small crowd and on a large one."""
    if not Path("/proc/self/status").exists():
        return skip("memory of other processes is read in /proc")
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="eyelid-crowded-") as home:
        for people in (FEW, MANY):
            study = Path(home) / f"crowd-{people}"
            start = time.perf_counter()
            make_crowd(study, people)
            progress(f"crowded_map: {people:,} people in {time.perf_counter() - start:.0f} s")
            figures[f"{people} people"] = _mapped(study, Path(home) / f"map-{people}")
    few, many = figures.values()
    growth = {who: many[who] - few[who] for who in ("coordinator_mb", "worker_mb")}
    passed = all(
        more <= MOST_GROWTH_MB and many[who] <= MOST_MB for who, more in growth.items()
    ) and all(
        found["counted_once"] == found["certified"] == people
        for people, found in ((FEW, few), (MANY, many))
    )
    return Result(figures | {"growth": growth}, TARGET, passed)


def make_crowd(path: Path, people: int) -> None:
    """A study of simulated participants who look at a few hotspots of one picture, part by part."""
    names = [f"p{number:06d}" for number in range(people)]
    origin = Origin(uuid.uuid4().hex, ledger_beside(path))
    firsts = range(0, people, PEOPLE_IN_PART)
    with running(path, origin.id) as run:
        facts = [
            write_part(
                run, place, len(firsts), partial(_samples, names[first : first + PEOPLE_IN_PART])
            )
            for place, first in enumerate(firsts)
        ]
        head = Study(
            "samples",
            _samples(names[:1]).clear(),
            pl.DataFrame({"person": names}),
            units="px",
            rate_hz=60.0,
            screen=Screen(WIDTH, HEIGHT),
            xy_origin="top-left",
            origin=origin,
            simulated=True,
        )
        write_manifest(run, head, facts, path)
    Ledger.create(ledger_beside(path)).register(origin.id)


def _samples(names: list[str]) -> pl.DataFrame:
    """Each of them dwells on two of five hotspots."""
    rng = np.random.default_rng(int(names[0][1:]))
    spots = rng.uniform(0.2, 0.8, (5, 2)) * (WIDTH, HEIGHT)
    chosen = np.repeat(rng.integers(0, 5, (len(names), 2)), SAMPLES // 2, axis=1).ravel()
    x, y = (spots[chosen] + rng.normal(0, 30, (chosen.size, 2))).T
    who = pl.Series("person", names).gather(np.repeat(np.arange(len(names)), SAMPLES))
    return pl.DataFrame(
        {
            "person": who,
            "recording": "1",
            "task": "free",
            "stimulus": "page",
            "time_ms": np.tile(np.arange(SAMPLES) * (1000 / 60), len(names)),
            "x": x,
            "y": y,
        }
    )


def _mapped(study: Path, out: Path) -> dict[str, Any]:
    """Make a heatmap, and see what it took and what the ledger has counted."""
    words = ("heatmap", study, out, "--stimulus", "page", "--level", "good")
    start = time.perf_counter()
    with (
        subprocess.Popen(
            command([*words, *SETTINGS, "--workers", str(WORKERS), "--json"]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        _watched(process.pid) as peaks,
    ):
        told, wrong = process.communicate()
    if process.returncode:
        raise RuntimeError(f"eyelid heatmap ended with {process.returncode}: {wrong}")
    seconds = time.perf_counter() - start
    certificate = json.loads(told)
    origin = json.loads((study / "study.json").read_text())["origin"]
    (balance,) = Ledger(ledger_beside(study)).balances(origin)
    return {
        "seconds": seconds,
        "mechanism": certificate["mechanism"]["name"],
        "data_mb": sum(file.stat().st_size for file in study.rglob("*.parquet")) / 1e6,
        "coordinator_mb": peaks.of.pop(process.pid) / 1e3,
        "worker_mb": max(peaks.of.values(), default=0.0) / 1e3,
        "processes": 1 + len(peaks.of),
        "certified": certificate["people"],
        "counted_once": balance.people if len(balance.debits) == 1 else 0,
    }


@dataclass
class _Peaks:
    """The most memory that each process of a family has had, in kB."""

    root: int
    of: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        family = [self.root]
        for process in family:
            # A process that has just left has no memory any more.
            with contextlib.suppress(OSError, ValueError, IndexError):
                listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
                family += [int(child) for child in listed]
                status = Path(f"/proc/{process}/status").read_text()
                peak = status.partition("VmHWM:")[2].split()[0]
                self.of[process] = max(self.of.get(process, 0.0), float(peak))


@contextlib.contextmanager
def _watched(root: int) -> Iterator[_Peaks]:
    """A look at every process of a family, ten times a second."""
    peaks, over = _Peaks(root), threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            peaks.look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()
