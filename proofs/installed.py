"""The built wheel in an empty environment: every command does its work, away from the source."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from eyelid.version import __version__
from proofs.result import Effort, Result, progress

_SOURCE = Path(__file__).parents[1]
_CLAIM = "the wheel, installed alone, has the plain version and every command works"
_LIMIT_S = 900
# Each command once, in an order in which each finds what it needs; 1 is a finding, no failure.
_COMMANDS = (
    "simulate study --people 8 --tasks comic,textbook --rate 60 --minutes 0.5 --seed 1",
    "inspect study",
    "lint study",
    "convert study tables --to csv",
    "convert study bids --to bids",
    "events study eventful --method ivt",
    "features study features --kind windows",
    "mechanisms",
    "mechanisms gaussian",
    "norms",
    "cost features --mechanism gaussian --epsilon 2",
    "summary study results --epsilon 4 --measures fixation_duration --seed 1",
    "release features private --mechanism gaussian --epsilon 2 --seed 1",
    "release features groups --mechanism ksame --set k=2 --seed 1",
    "heatmap study map --stimulus comic --epsilon 4 --seed 1",
    "stream --source file:study,person=P01 --speed full --epsilon 2 --window 60 --radius 3 "
    "--record gaze.csv",
    "budget features",
    "audit features private",
    "compare features --mechanisms gaussian,laplace --epsilons 2",
    "recommend features --goal rank1<=4x",
    "verify gaussian --runs 50000",
    "reproduce liu2019 --fast --out paper",
    "demo --out demo --fast",
)


def prove(effort: Effort) -> Result:
    """Build, install, and call every command; nothing of this environment is seen."""
    with tempfile.TemporaryDirectory(prefix="eyelid-installed-") as place:
        home = Path(place)
        python = _installed(home)
        work = home / "work"
        work.mkdir()
        return _tried(_Installed(python, work))


class _Installed:
    """The installed command line, in a folder of its own."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Call it without anything that points to the source."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        return subprocess.run(
            [self.python, "-m", "eyelid", *words],
            cwd=self.folder,
            env=clean,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_LIMIT_S,
            check=False,
        )


def _installed(home: Path) -> Path:
    """The Python of a fresh environment that has the wheel and what it requires, no more."""
    wheels = home / "wheels"
    _pip(Path(sys.executable), "wheel", "--no-deps", "--wheel-dir", str(wheels), str(_SOURCE))
    (wheel,) = wheels.glob("eyelid-*.whl")
    venv.create(home / "empty", with_pip=True)
    python = home / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    _pip(python, "install", str(wheel))
    return python


def _pip(python: Path, *words: str) -> None:
    progress(f"pip {words[0]} …")
    quiet = ["--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [python, "-m", "pip", words[0], *quiet, *words[1:]],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"pip {words[0]} failed: {done.stderr.strip()[-500:]}")


def _tried(eyelid: _Installed) -> Result:
    version = eyelid("--version").stdout.strip()
    offered = set(re.findall(r"^  ([a-z]+)  ", eyelid("--help").stdout, re.MULTILINE))
    failed: dict[str, Any] = {}
    for line in _COMMANDS:
        progress(f"eyelid {line}")
        done = eyelid(*line.split())
        found_something = done.returncode == 1 and line.startswith(("lint ", "audit "))
        if (done.returncode != 0 and not found_something) or "Traceback" in done.stderr:
            failed[line] = f"{done.returncode}: {done.stderr.strip()[-300:]}"
    missing = sorted(offered - {line.split()[0] for line in _COMMANDS})
    figures = {
        "version": version,
        "commands": len(offered),
        "calls": len(_COMMANDS),
        "not_called": missing,
        "failed": failed,
    }
    passed = bool(offered) and not missing and not failed and version == f"eyelid {__version__}"
    return Result(figures, _CLAIM, passed)
