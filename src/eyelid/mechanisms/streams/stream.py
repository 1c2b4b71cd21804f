"""Mechanisms that take gaze sample by sample, and give one sample for each that they take.

They are causal and remember a fixed amount. The same run serves a live stream and a recording.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.mechanisms.mechanism import Form, Mechanism, catalogue, find, parameter
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.streams.draws import Unique
from eyelid.mechanisms.streams.events import StreamEvent
from eyelid.mechanisms.streams.scene import Scene
from eyelid.privacy.noise import Randomness

if TYPE_CHECKING:
    from eyelid.mechanisms.streams.dwell import Counters
    from eyelid.mechanisms.streams.filter import Filter

Floats = NDArray[np.float64]


class Run(Unique, ABC):
    """A filter at work on one stream, in the plane of its scene; lost samples are NaN.

    Attributes:
        samples: how many were taken.
    """

    samples: int = 0

    @abstractmethod
    def push(self, x: float, y: float) -> tuple[float, float]:
        """What is released for the next sample."""

    @abstractmethod
    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Release many samples, as if they had been pushed one by one."""

    # What a filter with a budget spends and keeps, and what is told beside gaze.

    @property
    def window_parts(self) -> int:
        """What the last w samples have spent, in parts of ε; nothing where there is no budget."""
        return 0

    @property
    def worst_parts(self) -> int:
        """The most that any w samples in a row have spent, in parts of ε."""
        return 0

    def saved(self) -> dict[str, Any]:
        """Budgets and what was released, to go on after a restart; no gaze."""
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved of a run of the same filter."""

    def take_events(self) -> list[StreamEvent]:
        """What happened since events were last taken, oldest first."""
        return []

    def counters(self) -> Counters | None:
        """What counters last told, where there are any."""
        return None


@dataclass(frozen=True, kw_only=True)
class SceneMechanism(Mechanism):
    """A mechanism for gaze at a public scene.

    Attributes:
        coordinates: what gaze is measured in; ``direction`` for unit vectors.
        scene: what everybody could look at, x0,y0,x1,y1 in these units (of directions: degrees).
    """

    release: ClassVar[ReleaseKind] = ReleaseKind.SAMPLES

    coordinates: str = parameter(
        "what gaze is measured in: px, deg, fraction, normalised or direction", default="px"
    )
    scene: str = parameter("x0,y0,x1,y1: what everybody could look at", default="")

    @property
    def may_differ(self) -> Form:
        """Where samples are and when they were taken is released as it is."""
        return Form("of the same form (recordings, length, time stamps, lost samples)", times=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        # As text, so that a certificate can say it; here it is refused if it is none.
        object.__setattr__(self, "scene", str(Scene.of(self.coordinates, self.scene)))

    @cached_property
    def place(self) -> Scene:
        """The scene."""
        return Scene.of(self.coordinates, self.scene)


@dataclass(frozen=True, kw_only=True)
class StreamMechanism(SceneMechanism):
    """A filter with its parameters set."""

    takes: ClassVar[str] = "samples"
    strength: ClassVar[dict[str, str]] = {}
    """Own parameters that ``window`` or ``radius`` set where the filter has no such parameters."""

    @property
    def guaranteed(self) -> Filter | None:
        """This filter with its ε, window and radius; None where it promises nothing."""
        return None

    @property
    def eventful(self) -> bool:
        """Whether its runs tell events beside gaze."""
        return False

    @property
    def counting(self) -> bool:
        """Whether its runs tell counters beside gaze."""
        return False

    @classmethod
    def as_formal(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Own parameters where those of a filter with a guarantee were given."""
        return parameters

    @property
    def spoken(self) -> str:
        """Its name in a sentence."""
        return self.name

    @abstractmethod
    def start(self, noise: Randomness) -> Run:
        """Begin with a stream of one person."""


def filter_named(name: str) -> type[StreamMechanism]:
    """The filter of that name or alias.

    >>> filter_named("kalido")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    eyelid.errors.InputError: unknown filter 'kalido': did you mean 'kaleido'?...
    """
    kinds = catalogue().values()
    if not any(name in (kind.name, *kind.aliases) for kind in kinds):
        filters = (kind.name for kind in kinds if issubclass(kind, StreamMechanism))
        raise unknown("filter", name, filters, "eyelid mechanisms")
    kind = find(name)
    if not issubclass(kind, StreamMechanism):
        raise InputError(
            f"{kind.name} takes {kind.takes}, and is no filter for a stream of gaze: use 'eyelid "
            f"{kind.command}'"
        )
    return kind


def first_missing(kind: type[Mechanism], given: Collection[str]) -> tuple[str, str] | None:
    """A parameter that a mechanism needs and was not given, and what it means."""
    for item in fields(kind):
        if item.default is MISSING and item.name not in given:
            return item.name, item.metadata["help"]
    return None
