"""One measured case, and how it is told: JSON for machines, remarks for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.family import processor_seconds


@dataclass(frozen=True)
class Case:
    """A figure of ours beside a peer's.

    Attributes:
        name: what was measured.
        unit: of both figures; smaller is better.
        figure: ours.
        peer: the peer's name.
        peer_figure: the peer's, from the same run.
        target: what was aimed at, in words; None where the figure is only reported.
        passed: whether the target was met; None without one.
        more: further figures.
    """

    name: str
    unit: str
    figure: float
    peer: str
    peer_figure: float
    target: str | None = None
    passed: bool | None = None
    more: dict[str, float | int] | None = None

    @property
    def ratio(self) -> float:
        """The peer's figure over ours: above 1 we need less."""
        return self.peer_figure / self.figure

    def to_json(self) -> str:
        """The case as one line."""
        return json.dumps(
            {
                "case": self.name,
                "unit": self.unit,
                "eyelid": _short(self.figure),
                "peer": self.peer,
                "peer_figure": _short(self.peer_figure),
                "ratio": _short(self.ratio),
                "target": self.target,
                "pass": self.passed,
                **{key: _short(value) for key, value in (self.more or {}).items()},
            },
            ensure_ascii=False,
        )


def _short(value: float) -> float:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def remark(text: str) -> None:
    """Something for people, on stderr."""
    print(text, file=sys.stderr, flush=True)


def best_cpu_seconds(action: Callable[[], object], repetitions: int) -> float:
    """The least processor time of several repetitions, of all processes that take part.

    What others do on the machine is not ours.

    The first, unmeasured call fills caches and tables.
    """
    action()
    return min(processor_seconds(action) for _ in range(repetitions))
