"""Features: CPU seconds and peak memory, on real recordings and on 1000 Hz x 30 min.

No known package computes window features with a wordbook, so the peer is what a script does:
numpy, one window after the other, from events that are found already.

``python -m benchmarks.features ACTION MINUTES`` does one thing once in a fresh process and prints
its figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.case import Case, remark
from benchmarks.events import RATE_HZ, WARM_UP_MINUTES, Figures, signals
from benchmarks.family import processor_seconds
from eyelid.gaze.events import DEFAULT_METHOD, events_of, gaze_of
from eyelid.gaze.features import event_features, window_features
from eyelid.gaze.study import Study
from eyelid.io import read

MINUTES = 30
REAL_TARGET_S = 10.0
MEMORY_TARGET_MB = 600
PEER = "numpy, window by window, events given (a script; measured on every 50th window)"
EVERY = 50


def made_up(minutes: float) -> Study:
    """One long recording."""
    time_ms, x, y = signals(minutes)
    pupil = 4.0 + 0.3 * np.sin(time_ms / 7000.0)
    keys = pl.DataFrame({"person": "a", "recording": "r", "task": "", "stimulus": ""})
    gaze = pl.DataFrame({"time_ms": time_ms, "x": x, "y": y, "pupil": pupil})
    return Study(
        kind="samples",
        data=keys.join(gaze, how="cross"),
        people=pl.DataFrame({"person": ["a"]}),
        units="deg",
    )


def window_by_window(study: Study, window_s: float = 30.0, step_s: float = 0.5) -> float:
    """Seconds for the same statistics by scanning the events of every window anew."""
    seconds = 0.0
    for recording, units in gaze_of(study):
        found = events_of(recording, DEFAULT_METHOD, units)
        start = time.process_time()
        time_s, x, y = recording.time_ms / 1000.0, recording["x"], recording["y"]
        for first_s in np.arange(time_s[0], time_s[-1] - window_s, step_s * EVERY):
            held = {}
            for kind, spans in found.items():
                onset_s = time_s[spans.onset]
                held[kind] = spans.keep((onset_s >= first_s) & (onset_s < first_s + window_s))
            _one_window(time_s, x, y, recording["pupil"], held)
        seconds += time.process_time() - start
    return seconds * EVERY


def _one_window(time_s, x, y, pupil, held) -> list[float]:  # type: ignore[no-untyped-def]
    onset, offset = held["saccade"]
    right, up = x[offset] - x[onset], y[offset] - y[onset]
    amplitude = np.hypot(right, up)
    small = amplitude < 3.0
    columns = [amplitude]
    columns += [time_s[held[kind].offset] - time_s[held[kind].onset] for kind in held]
    spans = list(zip(*held["fixation"], strict=True))
    columns += [np.array([np.nanvar(v[i : j + 1]) for i, j in spans]) for v in (x, y, pupil)]
    columns.append(np.array([np.nanmean(pupil[i : j + 1]) for i, j in spans]))
    values = [float(np.sum(which)) for which in (small, ~small, right > 0, right < 0)]
    for column in columns:
        if len(column):
            values += [len(column), column.mean(), column.var(), column.max()]
    sectors = np.where(small, 8, 16)
    letter = np.rint(np.arctan2(up, right) / (2 * np.pi) * sectors).astype(int) % sectors
    letter = (letter + 16 * small).tolist()
    for length in (1, 2, 3, 4):
        words = Counter(tuple(letter[i : i + length]) for i in range(len(letter) - length + 1))
        counts = np.zeros(24**length)
        counts[: len(words)] = list(words.values())
        values += [len(words), counts.max(), counts.mean(), counts.var()]
    return values


def cases() -> Iterator[Case]:
    """The real recordings if they are there, and one long simulated one."""
    data = os.environ.get("EYELID_DATA")
    if data and (Path(data) / "MPIIDPEye").is_dir():
        yield _real(Path(data) / "MPIIDPEye")
    else:
        remark("features: MPIIDPEye left out: set EYELID_DATA to the folder of real recordings")
    name = f"{RATE_HZ} Hz x {MINUTES} min"
    windows = _measured("windows")
    yield Case(
        f"52 window features, {name}: time",
        "s CPU",
        windows["cpu_seconds"],
        PEER,
        window_by_window(made_up(MINUTES)),
        more={"windows": int(windows["rows"])},
    )
    for kind, figures in (
        ("52 window features", windows),
        ("14 features of every fixation", _measured("fixations")),
        ("47 features of every saccade", _measured("saccades")),
    ):
        yield Case(
            f"{kind}, {name}: peak memory",
            "MB of the whole process",
            figures["peak_bytes"] / 1e6,
            "its memory before it began, the study included",
            (figures["peak_bytes"] - figures["growth_bytes"]) / 1e6,
            f"below {MEMORY_TARGET_MB} MB",
            figures["peak_bytes"] < MEMORY_TARGET_MB * 1e6,
            {"cpu_seconds": figures["cpu_seconds"], "rows": int(figures["rows"])},
        )


def _real(folder: Path) -> Case:
    study = read(folder)
    tables = []
    seconds = processor_seconds(lambda: tables.append(window_features(study)))
    (table,) = tables
    return Case(
        f"52 window features, {len(table.recordings)} recordings of MPIIDPEye",
        "s CPU",
        seconds,
        PEER,
        window_by_window(study),
        f"below {REAL_TARGET_S:g} s",
        seconds < REAL_TARGET_S,
        {"windows": len(table.data), "features": len(table.names)},
    )


ACTIONS: dict[str, Callable[[Study], int]] = {
    "windows": lambda study: len(window_features(study).data),
    "fixations": lambda study: len(event_features(study, "fixations").data),
    "saccades": lambda study: len(event_features(study, "saccades").data),
}


def _measured(action: str) -> Figures:
    command = [sys.executable, "-m", "benchmarks.features", action, str(MINUTES)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: Figures = json.loads(done.stdout)
    return found


def main(action: str, minutes: str) -> Figures:
    """Do it once; a short recording before that, so that late imports are not counted."""
    from benchmarks.fresh_process import measured

    ACTIONS[action](made_up(WARM_UP_MINUTES + 0.1))
    study = made_up(float(minutes))
    rows: list[int] = []
    figures = measured(lambda: rows.append(ACTIONS[action](study)))
    return figures | {"rows": rows[0]}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
