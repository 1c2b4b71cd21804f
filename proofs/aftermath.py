"""What a killed release may leave behind, and what it may not."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

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

    Every attempt has an ε of its own, by which its debit is known. Attempts share an output until
    one completes it.

    Attributes:
        home: the folder.
        rows: of a whole release.
        attempts: how many so far.
        completed: the outputs that came to be, with their ε.
        partial: the partial folders seen so far, each left by one attempt.
        debits: in the ledger.
        wrong: everything that should not have been.
    """

    home: Path
    rows: int
    attempts: int = 0
    completed: dict[str, float] = field(default_factory=dict)
    partial: set[str] = field(default_factory=set)
    debits: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def study(self) -> Path:
        """The study that is released."""
        return self.home / "study"

    @property
    def out(self) -> Path:
        """Where the present attempt writes."""
        return self.home / f"out-{len(self.completed)}"

    def arguments(self) -> list[str | Path]:
        """The next attempt."""
        self.attempts += 1
        epsilon = f"{self._epsilon():g}"
        return ["release", self.study, self.out, "--mechanism", "laplace", "--epsilon", epsilon]

    def _epsilon(self) -> float:
        # One division, so that it is the number that its decimals say.
        return (1000 + self.attempts) / 1000

    def inspect(self, what: str) -> bool:
        """Look round after an attempt; whether its output is there."""
        out, finished = self.out, self.out.exists()
        if finished:
            self.wrong += [f"{what}: {fault}" for fault in self._faults_of(out)]
            self.completed[out.name] = self._epsilon()
        self.wrong += [f"{what}: {fault}" for fault in self._faults_of_ledger()]
        known = {"study", "study.ledger", *self.completed}
        rest = [path.name for path in self.home.iterdir() if path.name not in known]
        partial = [name for name in rest if name.startswith(".") and name.endswith(".partial")]
        debris = [name for name in rest if name not in partial]
        self.partial |= set(partial)
        if debris:
            self.wrong.append(f"{what}: left {debris}")
        if len(partial) > (0 if finished else 1):
            self.wrong.append(f"{what}: {len(partial)} partial folders stayed behind")
            self._sweep(partial)
        return finished

    def _sweep(self, partial: list[str]) -> None:
        """Reported once; the next attempts should be judged by what they do themselves."""
        for name in partial:
            shutil.rmtree(self.home / name)

    def _faults_of(self, out: Path) -> list[str]:
        """What is wrong with an output that is there."""
        names = {path.name for path in out.iterdir()}
        if names != _FILES:
            return [f"{out.name} holds {sorted(names)}"]
        rows = len(read(out).data)
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
            f"{name} was not counted" for name, paid in self.completed.items() if paid not in debits
        ]
        if len(debits) != len(set(debits)) or len(debits) > self.attempts:
            faults.append(f"{len(debits)} debits for {self.attempts} attempts")
        self.debits = len(debits)
        return faults
