"""Every mechanism that takes features, side by side on real people (MPIIDPEye), and killed once.

Every one of the catalogue is in the table, measured or with the reason why these people cannot be
released so. A second run is killed in the middle; resuming it gives the same table.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from eyelid.comparisons.compare import compare
from eyelid.comparisons.settings import feature_mechanisms
from eyelid.reporting.comparisons.comparison import ABOVE
from proofs.result import Effort, Result, progress, real_recordings

EPSILONS = (1.0, 16.0)
# The second run is killed when so many runs are noted.
NOTED = 12
_KILLED = """
import sys
from pathlib import Path
from eyelid.comparisons.compare import compare
compare(Path(sys.argv[1]), "all", [1.0, 16.0], fast=True, resume=sys.argv[2])
"""


def prove(effort: Effort) -> Result:
    """The table, and the same table after a kill."""
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        return folder
    with tempfile.TemporaryDirectory(prefix="eyelid-comparison-") as home:
        notes = Path(home)
        noted = _killed(folder, notes)
        progress(f"comparison: killed with {noted} runs noted")
        went_on = compare(folder, "all", EPSILONS, fast=True, resume=notes)
        progress("comparison: went on to the end; once more without a stop")
        whole = compare(folder, "all", EPSILONS, fast=True)
    table = whole.records()
    there = {row["mechanism"] for row in table if row["skipped"] or row["runs"]}
    missing = sorted(set(feature_mechanisms()) - there)
    same = went_on.records() == table
    # By limits that allow for all rows and attackers.
    above = [row.name for row in whole.ran if whole.against_promise(row) == ABOVE]
    passed = not missing and same and not above and 0 < noted < len(whole.ran)
    figures = {
        "settings": len(whole.rows),
        "measured": len(whole.ran),
        "skipped": len(whole.skipped),
        "missing": missing,
        "noted_when_killed": noted,
        "same_after_the_kill": same,
        "named_above_what_is_allowed": above,
        "table": {row["setting"]: _short(row) for row in table},
    }
    target = (
        "every mechanism that takes features is measured or skipped with a reason; a run that is "
        "killed and goes on gives the same table; nobody is re-identified more often than allowed"
    )
    return Result(figures, target, passed)


def _killed(folder: Path, notes: Path) -> int:
    """Start it, and kill it in the middle; how many runs were noted."""

    def noted() -> int:
        return sum(file.read_bytes().count(b"\n") for file in notes.iterdir())

    words = [sys.executable, "-c", _KILLED, str(folder), str(notes)]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(words, stdin=nowhere, stderr=nowhere) as process:
        while process.poll() is None and noted() < NOTED:
            time.sleep(0.02)
        process.kill()
    return noted()


def _short(row: dict[str, Any]) -> str:
    """A row in a few words."""
    if row["skipped"]:
        return f"skipped: {row['skipped']}"
    named, used = (None if row[key] is None else row[key]["rate"] for key in ("named", "used"))
    who = "nobody's record" if named is None else f"named {named:.2f}"
    what = "" if used is None else f", task {used:.2f}"
    return f"{row['person_total']}: {who}{what}"
