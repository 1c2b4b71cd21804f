"""Where raw gaze comes from, and where released gaze goes: what every source and sink is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from eyelid.stream.samples import Latency, RawGaze, ReleasedGaze

Speed = Literal["real", "full"]
AT_ITS_END = "at its end"


class Endpoint:
    """One end of a stream.

    Attributes:
        name: as the user wrote it.
        listens_at: where others connect to it, once they can.
        refused: what was sent or asked for and not taken, and why.
        token: that others must have, where there is one.
        trouble: what is wrong with it, for people; empty while all is well.
    """

    token: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.listens_at = ""
        self.trouble = ""
        self.refused: Counter[str] = Counter()


@dataclass(frozen=True)
class Scenery:
    """What is publicly known of a source's gaze, as far as it is.

    Attributes:
        rate_hz: nominal samples per second.
        units: of gaze.
        scene: x0,y0,x1,y1: what everybody could look at.
    """

    rate_hz: float | None = None
    units: str | None = None
    scene: str | None = None


class Taker(Protocol):
    """A consumer of raw gaze; one thread at a time may call it."""

    def begin(self) -> None:
        """The tracker has connected, perhaps with another clock."""

    def take(self, raw: RawGaze) -> None:
        """Samples have come."""

    async def until_room(self) -> None:
        """Wait until consumers have taken what there is; for sources that can wait."""


class Source(Endpoint, ABC):
    """Somewhere that gaze comes from.

    Attributes:
        scenery: what is known of its gaze beforehand.
        by_arrival: whether samples come as they are taken; False where they are replayed at once.
        lsl_clock: whether its time is the clock of the Lab Streaming Layer.
        state: what it is doing, in a word or two.
    """

    by_arrival: bool = True
    lsl_clock: ClassVar[bool] = False

    def __init__(self, name: str, scenery: Scenery) -> None:
        super().__init__(name)
        self.scenery = scenery
        self.state = "waiting"

    def end(self) -> None:
        """Nobody takes anything any more."""
        if self.state != AT_ITS_END:
            self.state = "stopped"

    @abstractmethod
    async def run(self, taker: Taker, directions: bool) -> None:
        """Hand over what comes until it ends; what breaks off is taken up again.

        Args:
            taker: gets it.
            directions: whether gaze has a z.
        """


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


class Sink(Endpoint, ABC):
    """Somewhere that released gaze goes. It takes nothing else, and never makes others wait."""

    @abstractmethod
    async def open(self, stage: Stage) -> None:
        """Be ready to take samples; fails if it cannot be."""

    @abstractmethod
    def offer(self, gaze: ReleasedGaze) -> None:
        """Samples were released; called from any one thread, and returns at once."""

    def tell(self, text: str) -> None:
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
        """Grows whenever something is taken."""
        return sum(c.sent + (c.lost or 0) for c in self.consumers())
