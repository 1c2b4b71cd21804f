"""Whole lives of a gatekeeper: a ledger beside it never finds more spent than is told."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eyelid.mechanisms.streams.filter_run import FilterRun
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.stream import Gatekeeper, passage
from eyelid.stream.tiers import TierRun

SCENE = {"units": "px", "scene": (0, 0, 1000, 1000)}
ACROSS = math.hypot(1000, 1000)
FILTERS = ("kaleido", "bd", "ba", "uniform", "sample", "fixations", "tiers")
EPSILON = 2.0


def runs_of(gate: Gatekeeper) -> Iterator[FilterRun]:
    run = gate._passage.run
    yield from (run._fine, run._detector) if isinstance(run, TierRun) else (run,)


@dataclass
class Ledger:
    """What each real sample has spent: when, how much, since when it can have been looked at."""

    samples: int = 0
    rows: list[tuple[int, int, float, float]] = field(default_factory=list)
    firsts: dict[int, int] = field(default_factory=dict)
    kept: list[FilterRun] = field(default_factory=list)

    def push(self, gate: Gatekeeper, x: float, y: float) -> None:
        before = {id(run): run.spent_parts for run in runs_of(gate)}
        gate.push(self.samples, x, y)
        for run in runs_of(gate):
            first = self.firsts.setdefault(id(run), self.samples)
            # Kept, so that no other run gets the same id.
            self.kept.append(run)
            spent = (run.spent_parts - before.get(id(run), 0)) / WHOLE * run.mechanism.epsilon
            back = run.mechanism.span - 1 if isinstance(run.mechanism, Fixations) else 0
            if spent:
                row = (max(first, self.samples - back), self.samples, spent, run.mechanism.radius)
                self.rows.append(row)
        self.samples += 1

    def worst(self, window: int, radius: float) -> float:
        """The most that any ``window`` samples in a row lose, each moved by the radius."""
        lost = np.zeros(self.samples + window + 1)
        for since, until, spent, own in self.rows:
            # Windows that begin from since - window + 1 to until have some of what was looked at.
            loss = spent * max(1.0, min(radius, ACROSS) / own)
            lost[since] += loss
            lost[until + window] -= loss
        return float(np.cumsum(lost).max(initial=0.0))

    def person(self) -> float:
        """What has been spent on a person who could have looked anywhere else."""
        return sum(spent * max(1.0, ACROSS / own) for _, _, spent, own in self.rows)


def settings_of(name: str, chance: random.Random) -> dict[str, Any]:
    told: dict[str, Any] = {"limit": chance.choice([None, None, 60.0, 200.0])}
    told["on_limit"] = chance.choice(["freeze", "coarsen"])
    fixations = {"span": 4, "skip": 2}
    if name == "tiers":
        return told | {"filter": "bd", "events": {"share": 0.3, **fixations}}
    return told | {"filter": name} | (fixations if name == "fixations" else {})


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage, "_WRITTEN_AHEAD", 64)


def a_life(ledger: Ledger, gate: Gatekeeper, chance: random.Random) -> None:
    """Samples of a person who looks from corner to corner, then an end of some kind."""
    most = gate._passage._left if gate.mode == "paused" and chance.random() < 0.3 else 100
    for _ in range(chance.randint(0, most)):
        x = chance.choice([0.0, 1000.0, 500.0, math.nan])
        ledger.push(gate, x, chance.choice([0.0, 1000.0]))
    mechanism = gate.filter
    slack = 1 + 1e-9
    worst = ledger.worst(mechanism.window, mechanism.radius)
    assert worst <= gate.guarantee.epsilon * slack
    assert worst <= gate.worst_window_epsilon * slack
    assert gate.worst_window_epsilon <= gate.guarantee.epsilon * slack
    assert ledger.person() <= gate.person_epsilon * slack
    if gate.meter().limit is not None and gate.mode != "frozen":
        assert gate.person_epsilon <= gate.meter().limit * slack
    chance.choice([gate.close, gate.close, gate.abandon])()


@pytest.mark.parametrize("name", FILTERS)
def test_no_window_spends_more_than_epsilon_in_any_life(name: str, tmp_path: Path) -> None:
    for seed in range(12):
        chance, ledger = random.Random(f"{name} {seed}"), Ledger()
        window = chance.choice([1, 2, 3, 7, 16])
        for _ in range(chance.randint(2, 6)):
            settings = settings_of(chance.choice([name, name, *FILTERS]), chance)
            gate = Gatekeeper(
                **settings, **SCENE, epsilon=EPSILON, window=window, radius=1500.0,
                budget=tmp_path / str(seed),
            )  # fmt: skip
            assert gate.guarantee.epsilon == EPSILON
            a_life(ledger, gate, chance)
        assert ledger.worst(window, 1500.0) <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_nor_more_than_was_promised_when_windows_and_radii_change(
    seed: int, tmp_path: Path
) -> None:
    chance, ledger = random.Random(seed), Ledger()
    for _ in range(chance.randint(2, 6)):
        gate = Gatekeeper(
            **settings_of(chance.choice(FILTERS), chance) | {"limit": None}, **SCENE,
            epsilon=chance.choice([0.5, EPSILON]), window=chance.choice([1, 3, 10, 40]),
            radius=chance.choice([400.0, 1500.0]), budget=tmp_path / "person",
        )  # fmt: skip
        a_life(ledger, gate, chance)
