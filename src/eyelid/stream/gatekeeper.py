"""The gatekeeper: raw gaze goes in, filtered gaze comes out, and what that costs is counted."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.draws import Unique
from eyelid.mechanisms.streams.dwell import Counters
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.regions import spelled
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.noise import randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON, Unit
from eyelid.spelling import plural
from eyelid.stream.budget import Budget, OnLimit, together
from eyelid.stream.passage import KEPT_EVENTS, Floats, Mode, Passage
from eyelid.stream.tiers import Share, filter_asked
from eyelid.version import build

SCHEMA = "eyelid/stream/1"
SEEDED_BEFORE = f"of an earlier run, {SEEDED}"
UNPROTECTED = (
    "when samples come, how many there are, and which of them are lost",
    "who is streaming, and from which device",
    "whatever lasts longer than a window: it adds up to the person-level total",
    "what other streams of the same person give away, such as the other eye's: they add up",
    "a window over two runs that do not share a budget file: each starts the filter anew",
)


@dataclass(frozen=True)
class Meter:
    """What was spent so far.

    Attributes:
        samples: that came, those of earlier runs with the same settings included.
        epsilon: the most that a window may spend now.
        window_epsilon: what the last w samples have spent.
        worst_window_epsilon: the most that any w samples in a row have spent; what was spent under
            other settings is converted to the present window and radius, never down.
        person_epsilon: the person-level total since the start, restarts included.
        limit: where it must stop, if it must.
        mode: ``on``; ``paused`` while nothing new is released so that windows under different
            settings do not mix; ``frozen`` once the limit is reached; ``closed`` at the end.
    """

    samples: int
    epsilon: float
    window_epsilon: float
    worst_window_epsilon: float
    person_epsilon: float
    limit: float | None
    mode: Mode

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null where nothing is promised."""
        return {key: None if value == math.inf else value for key, value in vars(self).items()}


@dataclass(frozen=True)
class GazeEvent:
    """Something that was released, in the units of gaze.

    Attributes:
        name: ``fixation started``, ``fixation ended`` or ``area entered``.
        time_ms: of the sample at which it was released.
        region: where it happened: the name of an area, or the row and column of a cell.
        x: of the region's middle.
        y: the same.
        z: of directions.
    """

    name: str
    time_ms: float
    region: str
    x: float
    y: float
    z: float | None = None


class Gatekeeper(Unique):
    """A filter between a tracker and an app, with its budget.

    Streams that differ in one window of w samples, each by at most the radius, give the same
    outputs but for a factor e^ε. Everything that a person does costs more: `person_epsilon`.
    Noise and neighbours live in the plane of the public scene; of directions that is the view from
    the front, and the radius is in degrees. Filters that promise nothing take ``radius`` or
    ``window`` for their strength, have no use for ε, and say that they promise nothing.

    Args:
        filter: the name of a stream mechanism, or one with its parameters set.
        epsilon: the most that any window spends.
        window: w, in samples.
        radius: how far each sample of a window may have been elsewhere, in units of gaze.
        units: of gaze: px, deg, fraction, normalised, or direction (unit vectors).
        scene: (x0, y0, x1, y1), what everybody could look at; of directions in degrees.
        limit: a person-level total that is never exceeded.
        on_limit: ``freeze``: at the limit nothing new is released any more. ``coarsen``: whenever
            half of what was left of it is spent, ε is quartered, so that it lasts twice as long.
        budget: a file that keeps what was spent on this person over restarts.
        seed: makes the noise repeatable and the guarantee void.
        events: the share of ε for events beside the filter, fixations as they start and end; with
            further parameters as ``{"share": 0.2, "span": 100}``. ``fixations`` has its own.
        counters: the share of ε for dwell in ``areas``, told again and again until a horizon; it
            has a δ, cannot be kept over restarts, and counts whole from the start.
        areas: of interest, for events and counters: ``logo:0,0,200,80; menu:…`` or a list.
        parameters: of the filter.

    >>> gate = Gatekeeper(
    ...     "kaleido", epsilon=2.0, window=60, radius=50, units="px", scene=(0, 0, 1920, 1080)
    ... )
    >>> x, y = gate.push(0.0, 960.0, 540.0)
    >>> 0 <= x <= 1920 and 0 <= y <= 1080
    True
    >>> gate.worst_window_epsilon <= 2.0
    True
    >>> round(gate.person_epsilon, 3)
    88.116
    """

    def __init__(
        self,
        filter: str | StreamMechanism,
        *,
        epsilon: float | None = None,
        window: int | None = None,
        radius: float | None = None,
        units: str | None = None,
        scene: Any = None,
        limit: float | None = None,
        on_limit: OnLimit = "freeze",
        budget: Path | str | None = None,
        seed: int | None = None,
        events: Share | None = None,
        counters: Share | None = None,
        areas: str | Sequence[Area] = "",
        **parameters: Any,
    ) -> None:
        scene = scene if scene is None or isinstance(scene, str) else _scene_text(scene)
        asked = {
            "epsilon": epsilon,
            "window": window,
            "radius": radius,
            "coordinates": units,
            "scene": scene,
            **parameters,
        }
        areas = areas if isinstance(areas, str) else spelled(areas)
        chosen = filter_asked(filter, asked, events, counters, areas)
        self._rng = randomness(seed)
        self._scene = chosen.place
        self._time_ms = -math.inf
        self._events: deque[GazeEvent] = deque(maxlen=KEPT_EVENTS)
        self.budget = _budget_of(chosen, limit, on_limit, budget)
        try:
            self._passage = Passage(chosen, self.budget, self._rng)
        except BaseException:
            if self.budget is not None:
                self.budget.close()
            raise
        _OPEN.add(self)

    @property
    def filter(self) -> StreamMechanism:
        """The filter with its parameters, and the ε that it has at the moment."""
        return self._passage.filter

    @property
    def resumed(self) -> str:
        """Why it does not just go on from where the budget file was left; empty if it does."""
        return self._passage.resumed

    # What was spent.

    @property
    def samples(self) -> int:
        """How many came, those of earlier runs with the same settings included."""
        return self._passage.samples

    @property
    def mode(self) -> Mode:
        """Whether anything new is released, as `Meter` says."""
        return self._passage.mode

    @property
    def window_epsilon(self) -> float:
        """What the last w samples have spent; infinite for filters that promise nothing.

        Until the first sample under new settings it is the most that any have spent before.
        """
        run = self._passage.run
        if self.budget is None or not run.samples:
            return self.worst_window_epsilon
        return run.window_parts / WHOLE * self.budget.filter.epsilon

    @property
    def worst_window_epsilon(self) -> float:
        """The most that any w samples in a row have spent, at any offset, restarts included."""
        return self._so_far("worst")

    @property
    def person_epsilon(self) -> float:
        """The person-level total since the start, over restarts if there is a budget file.

        ⌈T/w⌉·ε·max(1, D/radius) for T samples in a scene of diameter D: whatever the person did in
        all this time, anywhere in the scene.
        """
        return math.inf if self.budget is None else self.budget.person_epsilon

    def meter(self) -> Meter:
        """All of this at once."""
        return Meter(
            samples=self.samples,
            epsilon=math.inf if self.budget is None else self.budget.filter.epsilon,
            window_epsilon=self.window_epsilon,
            worst_window_epsilon=self.worst_window_epsilon,
            person_epsilon=self.person_epsilon,
            limit=None if self.budget is None else self.budget.limit,
            mode=self.mode,
        )

    @property
    def guarantee(self) -> Guarantee:
        """What holds of any window of all that was released so far, and of what comes.

        That of earlier settings is converted to the present window and radius, never down.
        """
        promise = self._promised_for(self.filter.unit, 1)
        return promise if self.budget is None else replace(promise, epsilon=self._so_far("epsilon"))

    def _so_far(self, which: Literal["epsilon", "worst"]) -> float:
        """What any window was promised at most or has spent, earlier settings included."""
        if self.budget is None:
            return math.inf
        regimes = self.budget.so_far(self._passage.worst_epsilon(self.budget))
        return together(regimes, self.budget.filter, which)

    @property
    def promised(self) -> Filter | None:
        """The filter, while what it promises holds; None where nothing is promised."""
        return self.filter.guaranteed if self.guarantee.holds else None

    def certificate(self) -> dict[str, Any]:
        """What holds of everything released so far, as JSON has it."""
        taken = max(1, self.samples if self.budget is None else self.budget.taken)
        shape = PublicFacts(1, 1, taken, 2, window=1)
        person, how, earlier = self._promised_for(PERSON, taken), "", []
        if self.budget is None:
            how = self.filter.person_total(shape)
        else:
            person = replace(person, epsilon=self.person_epsilon)
            how = _how(self.budget)
            earlier = [vars(regime) for regime in self.budget.regimes]
        return {
            "schema": SCHEMA,
            "mechanism": {"name": self.filter.name, "parameters": self.filter.parameters()},
            "guarantee": self.guarantee.to_dict(),
            "earlier_settings": earlier,
            "person_level": person.summary() | {"how": how},
            "noise": {
                "sampler": self.filter.sampler(shape),
                "numerics": self.filter.numerics,
                "randomness": self._rng.name,
            },
            "form": self.filter.form,
            "unprotected": list(UNPROTECTED),
            "meter": self.meter().to_dict(),
            "version": build(),
        }

    def _promised_for(self, unit: Unit, length: int) -> Guarantee:
        """What the filter promises for so many samples, and why not."""
        reasons = [] if self._rng.private else [SEEDED]
        if self.budget is not None and self.budget.seeded_before:
            reasons.append(SEEDED_BEFORE)
        return self.filter.cost(PublicFacts(1, 1, length, 2, window=1), unit).broken(*reasons)

    # What comes and goes.

    def push(self, time_ms: float, x: float, y: float, z: float | None = None) -> tuple[float, ...]:
        """What is released for one sample; lost ones are NaN.

        Args:
            time_ms: when it was taken; must not go backwards.
            x: of gaze, in the units of the scene.
            y: the same.
            z: of directions, the part straight ahead.

        Returns:
            x and y, and z of directions.
        """
        if not self._time_ms <= time_ms < math.inf:
            raise self._backwards(time_ms)
        across, up = self._scene.point(x, y, z)
        released = self._passage.push(across, up)
        self._time_ms = time_ms
        if self._passage.events:
            self._collect([time_ms])
        return self._scene.gaze(*released)

    def push_many(
        self, time_ms: ArrayLike, x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None
    ) -> tuple[Floats, ...]:
        """Release arrays, as if their samples had been pushed one by one.

        Args:
            time_ms: when they were taken; must not go backwards.
            x: of gaze, in the units of the scene.
            y: the same.
            z: of directions, the part straight ahead.

        Returns:
            Arrays of x and y, and z of directions.
        """
        times, *parts = (
            np.asarray(part, dtype=np.float64) for part in (time_ms, x, y, z) if part is not None
        )
        if any(part.shape != times.shape or part.ndim != 1 for part in parts):
            raise InputError(
                "time_ms, x and y must be lists of one length, got "
                + ", ".join(str(part.shape) for part in (times, *parts))
            )
        if len(times):
            steps = np.diff(times, prepend=self._time_ms)
            wrong = np.flatnonzero(~((steps >= 0) & (times < math.inf)))
            if len(wrong):
                raise self._backwards(float(times[wrong[0]]))
        released = self._passage.push_many(*self._scene.to_plane(*parts))
        if len(times):
            self._time_ms = float(times[-1])
        if self._passage.events:
            self._collect(times)
        return self._scene.from_plane(*released)

    def take_events(self) -> list[GazeEvent]:
        """What happened since they were last taken, oldest first; the oldest of very many are lost.

        Of ``fixations``, or where a share of ε was given to events.
        """
        if not self.filter.eventful:
            raise InputError(
                "no events are released: give them a share of ε with events=0.3, or use the "
                "filter fixations"
            )
        taken = list(self._events)
        self._events.clear()
        return taken

    def counters(self) -> Counters:
        """Noisy dwell in each area as it was last told."""
        latest = self._passage.run.counters()
        if latest is None:
            raise InputError(
                "there are no counters: give them a share of ε with counters=0.2, and areas"
            )
        return latest

    def close(self) -> None:
        """Write down where the stream stands, so that the next run goes on from here."""
        self._passage.close()

    def abandon(self) -> None:
        """End without writing down where the stream stands, as a kill does."""
        self._passage.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _collect(self, time_ms: Floats | list[float]) -> None:
        """Events of the samples that were just taken, at their times and in units of gaze."""
        first = self.samples - len(time_ms)
        while self._passage.events:
            event = self._passage.events.popleft()
            # What was left over by an interruption comes with the next sample.
            at = float(time_ms[max(0, event.sample - first)])
            place = self._scene.gaze(event.x, event.y)
            self._events.append(GazeEvent(event.name, at, event.region, *place))

    def _backwards(self, time_ms: float) -> InputError:
        if not math.isfinite(time_ms):
            return InputError(f"time_ms must be a finite number, got {time_ms}")
        return InputError(
            f"time goes backwards: {time_ms:g} ms after {self._time_ms:g} ms. Nothing was "
            "released for it; drop such samples or sort them"
        )


_OPEN: WeakSet[Gatekeeper] = WeakSet()


def _close_forked() -> None:
    for gate in list(_OPEN):
        gate.abandon()


# Two processes would spend one budget; the parent goes on, and keeps the lock on its book.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_forked)


def _budget_of(
    filter: StreamMechanism,
    limit: float | None,
    on_limit: OnLimit,
    file: Path | str | None,
) -> Budget | None:
    """The budget of a filter that promises something; others have nothing to keep."""
    if on_limit not in ("freeze", "coarsen"):
        raise InputError(f"on_limit must be freeze or coarsen, got '{on_limit}'")
    if filter.guaranteed is not None:
        return Budget(filter.guaranteed, limit, on_limit, file)
    if limit is not None:
        raise InputError(
            f"{filter.name} promises nothing, so that no limit can be kept: leave it out"
        )
    if file is not None:
        raise InputError(
            f"{filter.name} promises nothing, so there is no budget to keep: leave budget out"
        )
    return None


def _scene_text(scene: Any) -> str:
    """A scene as a certificate writes it."""
    try:
        return ",".join(f"{float(corner):.12g}" for corner in scene)
    except (TypeError, ValueError):
        raise InputError(f"scene must be (x0, y0, x1, y1), got {scene!r}") from None


def _how(budget: Budget) -> str:
    """How the person-level total has come about, in words."""
    filter = budget.filter
    text = (
        f"{plural(budget.windows, 'window')} of {plural(filter.window, 'sample')} at "
        f"ε = {rounded_up(filter.window_cost)} each, which is "
        f"{rounded_up(filter.window_cost / filter.radii_of_scene)} for a radius of "
        f"{filter.radius:g}, {rounded_up(filter.radii_of_scene)} times for the whole scene"
    )
    standing = filter.standing_cost
    if standing:
        text += f"; counters until their horizon: ε = {rounded_up(standing)}"
    if budget.before > standing:
        text += f"; before these settings: ε = {rounded_up(budget.before - standing)}"
    return text
