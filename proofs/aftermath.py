"""What a killed release may leave behind, and what it may not."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from eyelid.engine.runs import unfinished
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io import read, write
from eyelid.privacy import Ledger

FEATURES = 28
_FILES = {"study.json", "people.csv", "data.parquet", "certificate.json", "DATACARD.md"}


def make_study(path: Path, people: int, windows: int) -> None:
    """A features study with something in it."""
    features = [Feature(f"feature_{j}", "1", "", 0.0, 1.0) for j in range(FEATURES)]
    values = np.random.default_rng(0).random((people, 3, windows, FEATURES))
    write(table_from_arrays(values, features).study(), path)


@dataclass
class Scene:
    """A folder with one study, where releases are tried and killed again and again.

    Attempts repeat the same command until it gets through. Every output has an ε of its own, by
    which its debit is known.

    Attributes:
        home: the folder.
        rows: of a whole release.
        attempts: how many so far.
        completed: the outputs that came to be, with their ε.
        unfinished: attempts that left something to go on with.
        reused: parts that an attempt left and the next released.
        debits: in the ledger.
        wrong: everything that should not have been.
    """

    home: Path
    rows: int
    attempts: int = 0
    completed: dict[str, float] = field(default_factory=dict)
    unfinished: int = 0
    reused: int = 0
    debits: int = 0
    wrong: list[str] = field(default_factory=list)
    _noisy: dict[str, str] = field(default_factory=dict)

    @property
    def study(self) -> Path:
        """The study that is released."""
        return self.home / "study"

    @property
    def out(self) -> Path:
        """Where the present attempts write."""
        return self.home / f"out-{len(self.completed)}"

    def arguments(self) -> list[str | Path]:
        """The next attempt."""
        self.attempts += 1
        epsilon = f"{self._epsilon():g}"
        return ["release", self.study, self.out, "--mechanism", "laplace", "--epsilon", epsilon]

    def _epsilon(self) -> float:
        # One division, so that it is the number that its decimals say.
        return (1000 + len(self.completed)) / 1000

    def inspect(self, what: str) -> bool:
        """Look round after an attempt; whether its output is there."""
        out, finished = self.out, self.out.exists()
        # What was drawn before a kill is what is released after it.
        drawn = _parts(out if finished else unfinished(out) / "output")
        if any(drawn.get(name) != digest for name, digest in self._noisy.items()):
            self.wrong.append(f"{what}: a part was drawn twice")
        if finished:
            self.wrong += [f"{what}: {fault}" for fault in self._faults_of(out)]
            self.completed[out.name] = self._epsilon()
            self.reused += len(self._noisy)
        self._noisy = {} if finished else drawn
        self.wrong += [f"{what}: {fault}" for fault in self._faults_of_ledger()]
        known = {"study", "study.ledger", *self.completed}
        rest = [path.name for path in self.home.iterdir() if path.name not in known]
        debris = [name for name in rest if finished or name != unfinished(out).name]
        self.unfinished += len(rest) - len(debris)
        # A ledger killed while it writes has a journal, by which the next to open it goes back.
        debris = [name for name in debris if not name.endswith("-journal")]
        if finished and debris == [unfinished(out).name] and _is_over(unfinished(out)):
            # Killed between the rename and the tidying up: nothing private is in it.
            shutil.rmtree(unfinished(out))
        elif debris:
            self.wrong.append(f"{what}: left {debris}")
        return finished

    def _faults_of(self, out: Path) -> list[str]:
        """What is wrong with an output that is there."""
        names = {path.name for path in out.iterdir()}
        if names != _FILES:
            return [f"{out.name} holds {sorted(names)}"]
        rows = read(out).data.select("person", "recording", "time_ms").n_unique()
        certificate = json.loads((out / "certificate.json").read_text("utf-8"))
        faults = [] if rows == self.rows else [f"{out.name} has {rows} rows of {self.rows}"]
        if certificate["guarantee"]["epsilon"] != self._epsilon():
            faults.append(f"{out.name} has the certificate of another release")
        return faults

    def _faults_of_ledger(self) -> list[str]:
        path = self.home / "study.ledger"
        origin = read(self.study).origin
        debits = [d.guarantee.epsilon for d in Ledger(path).debits(origin.id if origin else "")]
        with sqlite3.connect(path) as database:
            state = database.execute("PRAGMA integrity_check").fetchone()[0]
        database.close()
        faults = [] if state == "ok" else [f"the ledger says {state}"]
        faults += [
            f"{name} was counted {debits.count(paid)} times"
            for name, paid in self.completed.items()
            if debits.count(paid) != 1
        ]
        if len(debits) > len(self.completed) + 1:
            faults.append(f"{len(debits)} debits for {len(self.completed) + 1} releases")
        self.debits = len(debits)
        return faults


def _parts(folder: Path) -> dict[str, str]:
    """The noisy parts that are there, with their digests."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("data.parquet*/*.parquet"))
        or sorted(path for path in folder.glob("data.parquet") if path.is_file())
    }


def _is_over(folder: Path) -> bool:
    return not (folder / "output").exists() and not (folder / "scratch").exists()
