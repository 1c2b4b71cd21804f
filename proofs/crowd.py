"""Several processes at once against one limit."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from proofs.aftermath import make_study
from proofs.command import answer, command
from proofs.result import Effort, Result

PROCESSES, LIMIT = 8, 3
REFUSED = 3


def prove(effort: Effort) -> Result:
    """ε = 1 each, a limit of 3: three come through, and the ledger says so."""
    with tempfile.TemporaryDirectory(prefix="eyelid-crowd-") as home:
        study = Path(home) / "study"
        make_study(study, people=20, windows=100)
        answer("budget", study, "--limit-epsilon", str(LIMIT))
        outs = [Path(home) / f"out-{i}" for i in range(PROCESSES)]
        crowd = [
            subprocess.Popen(
                command(["release", study, out, "--mechanism", "laplace", "--epsilon", "1"]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for out in outs
        ]
        codes = Counter(process.wait() for process in crowd)
        budget = answer("budget", study)
        released = sum((out / "certificate.json").exists() for out in outs)
        others = {path.name for path in Path(home).iterdir()} - {o.name for o in outs}
        debris = sorted(others - {"study", "study.ledger"})
        figures = {
            "processes": PROCESSES,
            "exit_codes": {str(code): count for code, count in sorted(codes.items())},
            "released": released,
            "ledger_releases": budget["releases"],
            "ledger_epsilon": budget["spent"]["epsilon"],
            "debris": debris,
        }
        passed = (
            codes == {0: LIMIT, REFUSED: PROCESSES - LIMIT}
            and released == budget["releases"] == LIMIT
            and budget["spent"]["epsilon"] == LIMIT
            and not debris
        )
        target = f"exactly {LIMIT} of {PROCESSES} succeed, the others exit {REFUSED}"
        return Result(figures, target, passed)
