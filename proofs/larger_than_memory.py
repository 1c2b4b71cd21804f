"""Studies of 1×, 10× and 100× people: what is in memory at once is a part, not the study."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl

from eyelid.engine.runs import running
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Origin, Study
from eyelid.io.study_folder import ledger_beside
from eyelid.io.study_parts import (
    part_facts,
    part_path,
    write_manifest,
)
from eyelid.privacy.ledger import Ledger
from proofs.result import Effort, Result, progress
from proofs.watched import watched

PEOPLE, MINUTES = 8, 2.0
TIMES = (1, 10, 100)
# Of ten times as many people: what grows is a row a recording, and a name a person.
_MOST_GROWTH = 1.25


def prove(effort: Effort) -> Result:
    """Events, features and a release of each, with two workers."""
    few = simulate(people=PEOPLE, minutes=MINUTES, seed=1)
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="eyelid-larger-") as home:
        place = Path(home)
        for times in TIMES:
            study = place / "study"
            rows = _write_copies(few, study, times)
            for name, words in _commands(study, place / "out").items():
                took = watched([*words, "--workers", "2", "--quiet"])
                found[f"{name}, {times}×"] = {
                    "million_rows": rows / 1e6,
                    "peak_mb": took.peak_mb,
                    "largest_process_mb": took.largest_mb,
                    "seconds": took.seconds,
                }
                progress(f"larger_than_memory: {name}, {times}×: {took}")
                shutil.rmtree(place / "out")
            shutil.rmtree(study)
            ledger_beside(study).unlink()
    growth = {
        name: found[f"{name}, 100×"]["peak_mb"] / found[f"{name}, 10×"]["peak_mb"]
        for name in _commands(Path(), Path())
    }
    return Result(
        {"growth_from_10_to_100": growth, "runs": found},
        f"at 100× no more than {_MOST_GROWTH} times the memory of 10×",
        all(more <= _MOST_GROWTH for more in growth.values()),
    )


def _commands(study: Path, out: Path) -> dict[str, list[str | Path]]:
    return {
        "events": ["events", study, out],
        "features": ["features", study, out],
        "release": ["release", study, out, "--mechanism", "dct", "--epsilon", "1"],
    }


def _write_copies(few: Study, path: Path, times: int) -> int:
    """Simulated participants repeated under other names, a part at a time; the rows."""
    origin = Origin("copies", ledger_beside(path))
    Ledger.create(ledger_beside(path)).register(origin.id)
    head = replace(few, data=few.data.clear(), events=None, origin=origin)
    with running(path, "copies") as run:
        facts, people = [], []
        for number in range(times):
            named = [
                frame.with_columns(pl.format(f"C{number:03d}{{}}", "person").alias("person"))
                for frame in (few.data, few.people)
            ]
            file = part_path(run.output, number, times)
            run.put(file, named[0].write_parquet)
            facts.append(part_facts(file, run.output))
            people.append(named[1])
        write_manifest(run, replace(head, people=pl.concat(people)), facts, path)
    return times * len(few.data)
