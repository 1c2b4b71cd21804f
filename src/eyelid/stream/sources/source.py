"""Where raw gaze comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from eyelid.stream.samples import RawGaze

Speed = Literal["real", "full"]
AT_ITS_END = "at its end"


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
    """Whoever takes raw gaze; one thread at a time may call it."""

    def begin(self) -> None:
        """The tracker has connected, perhaps with another clock."""

    def take(self, raw: RawGaze) -> None:
        """Samples have come."""

    async def until_room(self) -> None:
        """Wait until consumers have taken what there is; for sources that can wait."""


class Source(ABC):
    """Somewhere that gaze comes from.

    Attributes:
        name: as a person wrote it.
        scenery: what is known of its gaze beforehand.
        by_arrival: whether samples come as they are taken; False where they are replayed at once.
        lsl_clock: whether its time is the clock of the Lab Streaming Layer.
        state: what it is doing, in a word or two.
        listens_at: where others connect to it, once they can.
        refused: what was sent or asked for and not taken, and why.
        token: of trackers, where there is one.
        trouble: what is wrong with it, for people; empty while all is well.
    """

    by_arrival: bool = True
    token: str | None = None
    lsl_clock: ClassVar[bool] = False

    def __init__(self, name: str, scenery: Scenery) -> None:
        self.name = name
        self.scenery = scenery
        self.state = "waiting"
        self.listens_at = ""
        self.refused: Counter[str] = Counter()
        self.trouble = ""

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
