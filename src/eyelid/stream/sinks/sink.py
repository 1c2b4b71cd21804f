"""Where released gaze goes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eyelid.stream.latency import Latency
from eyelid.stream.samples import ReleasedGaze


@dataclass(frozen=True)
class Consumer:
    """How one consumer fares.

    Attributes:
        name: of it.
        sent: samples that it was sent.
        lost: samples that it missed because it was too slow; None where nobody can know.
        waiting: samples that it has yet to take.
    """

    name: str
    sent: int
    lost: int | None
    waiting: int


@dataclass(frozen=True)
class Stage:
    """What a sink is told when the stream begins.

    Attributes:
        hello: what apps are told first: filter, guarantee, units, scene.
        directions: whether gaze has a z.
        rate_hz: nominal samples per second, if known.
        lsl_clock: whether times are those of the Lab Streaming Layer.
        meter: gives what apps are told of the budget.
        certificate: gives what holds of everything released so far.
        latency: is told how long samples took.
    """

    hello: dict[str, Any]
    directions: bool
    rate_hz: float | None
    lsl_clock: bool
    meter: Callable[[], str]
    certificate: Callable[[], dict[str, Any]]
    latency: Latency

    @property
    def columns(self) -> list[str]:
        """What gaze is made of, without its time."""
        return ["x", "y", "z"] if self.directions else ["x", "y"]


class Sink(ABC):
    """Somewhere that released gaze goes. It takes nothing else, and never makes anybody wait.

    Attributes:
        name: as a person wrote it.
        listens_at: where apps connect to it, once they can.
        trouble: what is wrong with it, for people; empty while all is well.
        refused: what was asked of it and not done, and why.
        token: of apps, where there is one.
    """

    token: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.listens_at = ""
        self.trouble = ""
        self.refused: Counter[str] = Counter()

    @abstractmethod
    async def open(self, stage: Stage) -> None:
        """Be ready to take samples; fails if it cannot be."""

    @abstractmethod
    def offer(self, gaze: ReleasedGaze) -> None:
        """Samples were released; called from any one thread, and returns at once."""

    def tell(self, text: str) -> None:  # noqa: B027 most sinks have nobody to tell
        """Something beside gaze, for sinks whose consumers can read."""

    @abstractmethod
    def consumers(self) -> list[Consumer]:
        """Who is there."""

    @abstractmethod
    async def close(self) -> None:
        """The stream has ended: let go of the rest."""

    @property
    def crowded(self) -> bool:
        """Whether so much waits that a source which can wait should."""
        return False

    @property
    def progress(self) -> int:
        """Grows whenever somebody takes something."""
        return sum(c.sent + (c.lost or 0) for c in self.consumers())
