"""The filter that the user asks for, with events and counters of the same gaze beside it.

Tiers are more things told of the same gaze under one ε; to the gatekeeper they are a filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, cast

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import PublicFacts, mechanism_named
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.draws import own_sources
from eyelid.mechanisms.streams.dwell import Counters, Dwell
from eyelid.mechanisms.streams.events import StreamEvent
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.filter_run import FilterRun
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.streams.state import FIXED, WHOLE
from eyelid.mechanisms.streams.stream import (
    Floats,
    Run,
    StreamMechanism,
    filter_named,
    first_missing,
)
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Neighbours, Trust, Unit

Share = float | str | Mapping[str, Any]
"""A share of ε, or that and further parameters: ``{"share": 0.2, "span": 100}``."""


@dataclass(frozen=True, kw_only=True)
class Tiers(Filter):
    """A filter, with events or counters of the same gaze beside it."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="A filter, with events or counters of the same gaze beside it.",
        takes="gaze samples, which each of them sees for itself.",
        protects="""any w samples in a row, each moved by at most radius, with ε in all; pure
        without counters, and with their δ where there are some. A person's total adds up
        theirs.""",
        why="each keeps its share of ε whatever the others tell, and losses add up.",
        paper="Dwork, McSherry, Nissim & Smith (2006), composition.",
    )
    name: ClassVar[str] = "tiers"
    paper: ClassVar[str] = "Dwork, McSherry, Nissim & Smith (2006), composition"
    rule: ClassVar[float] = FIXED

    filter: Filter
    events: Fixations | None
    counters: Dwell | None
    events_share: float
    counters_share: float

    @property
    def publish_parts(self) -> int:
        """All of it; how it is spent the parts know."""
        return WHOLE

    @property
    def spoken(self) -> str:
        """The filter, and what there is beside it."""
        beside = {"events": self.events, "counters": self.counters}
        names = " and ".join(name for name, part in beside.items() if part is not None)
        return f"{self.filter.spoken} with {names}"

    @property
    def eventful(self) -> bool:
        """Events are told beside the filter, or by it."""
        return self.events is not None or self.filter.eventful

    @property
    def counting(self) -> bool:
        """Counters are told beside the filter."""
        return self.counters is not None

    @property
    def resumes(self) -> bool:
        """Counters need what everybody did before, which no file may keep."""
        return not self.counting

    @cached_property
    def fine(self) -> Filter:
        """The filter with what the others leave of ε, to the last digit."""
        others = (part.epsilon for part in (self.detector, self.dwell) if part is not None)
        rest = Fraction(self.epsilon) - sum(Fraction(epsilon) for epsilon in others)
        epsilon = float(rest)
        if epsilon > rest:
            epsilon = math.nextafter(epsilon, 0.0)
        return replace(self.filter, epsilon=epsilon)

    @cached_property
    def detector(self) -> Fixations | None:
        """Events with theirs."""
        if self.events is None:
            return None
        return replace(self.events, epsilon=self.epsilon * self.events_share)

    @cached_property
    def dwell(self) -> Dwell | None:
        """Counters with theirs."""
        if self.counters is None:
            return None
        return replace(self.counters, epsilon=self.epsilon * self.counters_share)

    def filters(self) -> Iterator[Filter]:
        """What goes on for ever, each with its share."""
        return (part for part in (self.fine, self.detector) if part is not None)

    def parts(self) -> Iterator[DifferentialMechanism]:
        """Everything that is told, each with its share."""
        yield from self.filters()
        if self.dwell is not None:
            yield self.dwell

    @property
    def apart(self) -> int:
        """Samples that must pass so that nothing before and after them shares changed ones."""
        return max(part.apart for part in self.filters())

    @property
    def window_cost(self) -> float:
        """Person-level ε of one window of what goes on for ever."""
        return sum(part.window_cost for part in self.filters())

    @property
    def standing_cost(self) -> float:
        """Person-level ε of counters until their horizon, however far they have come."""
        if self.dwell is None:
            return 0.0
        whole = PublicFacts(1, 1, self.dwell.samples, 2, window=1)
        return float(self.dwell.cost(whole, PERSON).epsilon or 0.0)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """The sum of what all of them lose."""
        losses = [part.cost(facts, unit) for part in self.parts()]
        total = sum(loss.epsilon or 0.0 for loss in losses)
        return Guarantee(
            kind=Kind.PURE if self.dwell is None else Kind.APPROXIMATE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=Trust.LOCAL,
            # What floats lost of shares is no loss.
            epsilon=self.epsilon if unit == self.unit else total,
            delta=sum(loss.delta or 0.0 for loss in losses),
        )

    def person_total(self, facts: PublicFacts) -> str:
        """The total of each tier, in words."""
        return "; ".join(f"{part.name}: {part.person_total(facts)}" for part in self.parts())

    def sampler(self, facts: PublicFacts) -> str:
        """The noise of each, in words."""
        return "; ".join(f"{part.name}: {part.sampler(facts)}" for part in self.parts())

    def parameters(self) -> dict[str, Any]:
        """As a certificate writes them: of everything that is told, with its own ε."""
        parts = {part.name: part.parameters() for part in self.parts()}
        return {"epsilon": self.epsilon, "window": self.window, "radius": self.radius, **parts}

    def start(self, noise: Randomness) -> TierRun:  # type: ignore[override]
        """Begin with a stream of one person."""
        return TierRun(self, noise)


class TierRun(Run):
    """All of them at work on one stream.

    Attributes:
        law: with its parameters.
    """

    def __init__(self, mechanism: Tiers, noise: Randomness) -> None:
        self.mechanism = mechanism
        fine, detector, dwell = own_sources(noise, 3)
        self._fine: FilterRun = mechanism.fine.start(fine)
        self._detector = None if mechanism.detector is None else mechanism.detector.start(detector)
        self._dwell = None if mechanism.dwell is None else mechanism.dwell.start(dwell)

    def push(self, x: float, y: float) -> tuple[float, float]:
        """What the filter releases for the next sample."""
        for beside in (self._detector, self._dwell):
            if beside is not None:
                beside.push(x, y)
        self.samples += 1
        return self._fine.push(x, y)

    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """What the filter releases for many samples, as if they had been pushed one by one."""
        for beside in (self._detector, self._dwell):
            if beside is not None:
                beside.push_many(x, y)
        self.samples += len(x)
        return self._fine.push_many(x, y)

    def take_events(self) -> list[StreamEvent]:
        """Events told beside the filter, or by the filter itself."""
        return (self._detector or self._fine).take_events()

    def counters(self) -> Counters | None:
        """What counters last told, if there are any."""
        return None if self._dwell is None else self._dwell.counters()

    @property
    def window_parts(self) -> int:
        """What the last w samples have spent; counters count whole."""
        return self._added("window_parts")

    @property
    def worst_parts(self) -> int:
        """No less than what any w samples in a row have spent: the worst of each."""
        return self._added("worst_parts")

    def _added(self, name: str) -> int:
        """In parts of all of ε; exact, so that nothing has to be cut off."""
        runs = [run for run in (self._fine, self._detector) if run is not None]
        spent = [(run.mechanism.epsilon, getattr(run, name)) for run in runs]
        if self._dwell is not None:
            spent.append((self._dwell.mechanism.epsilon, WHOLE))
        total = sum((Fraction(epsilon) * parts for epsilon, parts in spent), Fraction())
        return math.ceil(total / Fraction(self.mechanism.epsilon))

    def saved(self) -> dict[str, Any]:
        """Budgets and what was released, to go on after a restart; no gaze."""
        saved: dict[str, Any] = {"fine": self._fine.saved(), "samples": self.samples}
        return saved if self._detector is None else saved | {"events": self._detector.saved()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved of a run of the same filter."""
        self._fine.restore(saved["fine"])
        if self._detector is not None:
            self._detector.restore(saved["events"])
        self.samples = int(saved["samples"])


def filter_asked(
    filter: str | StreamMechanism,
    asked: dict[str, Any],
    events: Share | None,
    counters: Share | None,
    areas: str,
) -> StreamMechanism:
    """The filter that the user asks for, with tiers if there is a share of ε for any.

    Args:
        filter: its name, or one with its parameters set.
        asked: parameters of the filter; those that are None were not given.
        events: the share of ε for events.
        counters: the share of ε for counters.
        areas: of interest.
    """
    asked = {name: value for name, value in asked.items() if value is not None}
    tiers = events is not None or counters is not None
    if areas and isinstance(filter, str) and takes_areas(filter_named(filter)):
        asked["areas"] = areas
    elif areas and not tiers:
        raise InputError(
            "areas are for events, counters or the filter fixations: add events=0.3, or leave "
            "areas out"
        )
    own = _filter_with(filter, asked)
    if not tiers:
        return own
    if own.guaranteed is None:
        raise InputError(
            f"{own.name} promises nothing: there is no ε to share with events or counters"
        )
    both = tiered(own.guaranteed, events, counters, areas)
    if not isinstance(filter, str):
        return both
    # What it was not told follows from its share of ε.
    fine = _filter_with(filter, asked | {"epsilon": both.fine.epsilon}).guaranteed
    return replace(both, filter=fine or both.filter)


def takes_areas(kind: type[StreamMechanism]) -> bool:
    """Whether a filter has areas of interest among its parameters."""
    return any(item.name == "areas" for item in fields(kind))


def _filter_with(filter: str | StreamMechanism, parameters: dict[str, Any]) -> StreamMechanism:
    """A filter from its name and parameters."""
    if not isinstance(filter, str):
        if parameters:
            raise InputError(
                f"{filter.name} has its parameters set already: leave out {', '.join(parameters)}"
            )
        return filter
    kind = filter_named(filter)
    parameters = kind.as_formal(parameters)
    missing = first_missing(kind, parameters)
    if missing is not None:
        name, means = missing
        raise InputError(f"{kind.name} needs {name}, {means}: give it as {name}=…")
    return cast(StreamMechanism, mechanism_named(filter, **parameters))


def tiered(filter: Filter, events: Share | None, counters: Share | None, areas: str) -> Tiers:
    """A filter with events or counters beside it, all of them within its ε."""
    common: dict[str, Any] = {
        "epsilon": filter.epsilon,
        "window": filter.window,
        "coordinates": filter.coordinates,
        "scene": filter.scene,
    }
    events_share, events_settings = _share("events", events)
    counters_share, counters_settings = _share("counters", counters)
    if events_share + counters_share >= 1:
        raise InputError(
            f"events and counters take {events_share + counters_share:g} of ε and leave nothing "
            "for the filter: choose smaller shares"
        )
    detector: Any = None
    if events_share:
        if filter.eventful:
            raise InputError(f"{filter.name} tells events by itself: leave events out")
        own = {"areas": areas, "radius": filter.radius, "epsilon": filter.epsilon * events_share}
        detector = mechanism_named("fixations", **{**common, **own, **events_settings})
    dwell: Any = None
    if counters_share:
        own = {"areas": areas, "epsilon": filter.epsilon * counters_share}
        dwell = mechanism_named("dwell", **{**common, **own, **counters_settings})
    return Tiers(
        **common,
        radius=filter.radius,
        filter=filter,
        events=detector,
        counters=dwell,
        events_share=events_share,
        counters_share=counters_share,
    )


def _share(what: str, asked: Share | None) -> tuple[float, dict[str, Any]]:
    """The share of ε, and what else was set."""
    if asked is None:
        return 0.0, {}
    settings = dict(asked) if isinstance(asked, Mapping) else {"share": asked}
    written: Any = settings.pop("share", None)
    try:
        share = float(written)
    except (TypeError, ValueError):
        share = math.nan
    if not 0 < share < 1:
        raise InputError(f"{what} must be a share of ε between 0 and 1, got {written}")
    for name in ("epsilon", "window", "radius", "coordinates", "scene"):
        if name in settings:
            raise Refused(f"{what} share the filter's {name}: leave it out")
    return share, settings
