"""What the release benchmark runs in fresh processes; prints one JSON object.

``make STUDY PEOPLE``, ``release STUDY OUT MECHANISM``, ``numpy STUDY OUT -``.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.family import taken_by
from benchmarks.release import RECORDINGS, WINDOWS
from eyelid.engine.cores import cores
from eyelid.engine.engines import spread
from eyelid.gaze.features import window_feature_set
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import read, write
from eyelid.releases.release import release


def make(study: Path, people: int) -> dict[str, int]:
    """Write a features study with values anywhere inside the bounds."""
    features = window_feature_set("deg")
    rng = np.random.default_rng(0)
    values = rng.random((people, RECORDINGS, WINDOWS, len(features)))
    values *= [f.span for f in features]
    values += [f.lower for f in features]
    write(table_from_arrays(values, features).study(), study)
    data = FeatureTable.of(read(study)).data
    # Polars counts the letters of a text column, not the 16 bytes of each of its views.
    views = 16 * len(data) * sum(kind == pl.String for kind in data.dtypes)
    size = data.estimated_size()
    return {"values": values.size, "table_bytes": size, "with_views_bytes": size + views}


def warm_up(mechanism: str) -> None:
    """A tiny release, here and by every worker: what is imported is not the table's memory."""
    tiny_release(mechanism)
    with tempfile.TemporaryDirectory() as marks:
        list(spread(partial(_warm_worker, mechanism, Path(marks), cores()), range(cores()), ""))


def _warm_worker(mechanism: str, marks: Path, workers: int, number: int) -> None:
    """Nobody goes on before everybody has begun: so each worker has one."""
    (marks / str(number)).touch()
    while len(list(marks.iterdir())) < workers:
        time.sleep(0.01)
    tiny_release(mechanism)


def tiny_release(mechanism: str) -> None:
    """Release two people with a row or two."""
    features = [Feature("ratio", "1", "", 0.0, 1.0)]
    tiny = table_from_arrays(np.zeros((2, 2, 2, 1)), features)
    with tempfile.TemporaryDirectory() as home:
        write(tiny.study(), Path(home) / "tiny")
        # Twice, since a ledger that has something to add up imports more.
        for name in ("first", "second"):
            release(Path(home) / "tiny", Path(home) / name, mechanism=mechanism, epsilon=1.0)


def numpy_noise(study: Path, out: Path) -> None:
    """What a script would do: float noise on every column, and a parquet file."""
    data = pl.read_parquet(study / "data.parquet")
    rng = np.random.default_rng()
    noisy = [
        pl.Series(name, data[name].to_numpy() + rng.laplace(0.0, 1.0, len(data)))
        for name, kind in data.schema.items()
        if kind == pl.Float64 and name != "time_ms"
    ]
    out.mkdir()
    data.with_columns(noisy).write_parquet(out / "data.parquet")


def measured(action: Callable[[], object]) -> dict[str, float]:
    """Seconds, processor seconds, and how far the resident memory rose above its start.

    Of this process and its workers; what begins with ``first_`` is of this process alone.
    """
    took = taken_by(action)
    return {
        "seconds": took.seconds,
        "cpu_seconds": took.cpu_seconds,
        "growth_bytes": took.peak_bytes - took.before_bytes,
        "peak_bytes": took.peak_bytes,
        "processes": took.processes,
        "first_cpu_seconds": took.own_cpu_seconds,
        "first_growth_bytes": took.own_peak_bytes - took.own_before_bytes,
    }


def main(action: str, study: str, *rest: str) -> dict[str, float]:
    """Do one thing and return its figures."""
    if action == "make":
        return dict(make(Path(study), int(rest[0])))
    out, mechanism = Path(rest[0]), rest[1]
    try:
        if action == "numpy":
            return measured(lambda: numpy_noise(Path(study), out))
        warm_up(mechanism)
        return measured(lambda: release(study, out, mechanism=mechanism, epsilon=1.0))
    finally:
        shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
