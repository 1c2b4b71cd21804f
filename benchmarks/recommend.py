"""`eyelid recommend` on the study of the demo, in a fresh process, on both cores."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.case import Case, remark
from eyelid.gaze.simulator import simulate
from eyelid.io import write

TARGET_S = 120.0
# What can be met, and what cannot, which takes longer: promises are relaxed too.
_GOALS = {
    "goals met": ("rank1<=2x", "task>=0.65"),
    "nothing meets the goals": (
        "rank1<=2x",
        "task>=0.8",
        "gender<=0.6",
        "unit=person",
        "epsilon<=4",
    ),
}


def cases() -> Iterator[Case]:
    """Seconds until the answer."""
    with tempfile.TemporaryDirectory(prefix="eyelid-recommend-") as home:
        study = Path(home) / "study"
        tasks = ("comic", "newspaper", "textbook")
        write(simulate(people=20, tasks=tasks, seed=1, minutes=5), study)
        for name, goals in _GOALS.items():
            asked = [word for goal in goals for word in ("--goal", goal)]
            words = [sys.executable, "-m", "eyelid", "recommend", str(study), *asked, "--json"]
            before, start = _used(), time.perf_counter()
            # Exit code 1 says that nothing meets the goals.
            done = subprocess.run(words, cwd=home, capture_output=True, text=True, check=False)
            wall_s, cpu_s = time.perf_counter() - start, _used() - before
            told = json.loads(done.stdout)
            remark(f"recommend, {name}: {wall_s:.1f} s, {cpu_s:.1f} processor s")
            yield Case(
                f"recommend, demo study, {name}",
                "s",
                wall_s,
                "the time that is promised",
                TARGET_S,
                f"under {TARGET_S:g} s",
                wall_s < TARGET_S,
                {"cpu_seconds": cpu_s, "candidates": len(told["candidates"]), "met": told["met"]},
            )


def _used() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime
