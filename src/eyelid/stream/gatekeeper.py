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
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.streams.continual import Counters
from eyelid.mechanisms.streams.draws import Unique
from eyelid.mechanisms.streams.filter import Filter, FilterRun
from eyelid.mechanisms.streams.fixations import FixationRun, Fixations
from eyelid.mechanisms.streams.regions import spelled
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.mechanisms.streams.stream import Run, StreamMechanism
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.noise import randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON
from eyelid.spelling import plural
from eyelid.stream.asked import as_text, check_counters, checked_limit, given, stream_mechanism
from eyelid.stream.book import Account, Book
from eyelid.stream.regimes import Regime, merged, together
from eyelid.stream.tiers import GazeEvent, Share, TierRun, Tiers, tiered
from eyelid.version import __version__

SCHEMA = "eyelid/stream/1"
SEEDED_BEFORE = f"of an earlier run, {SEEDED}"
UNPROTECTED = (
    "when samples come, how many there are, and which of them are lost",
    "who is streaming, and from which device",
    "whatever lasts longer than a window: it adds up to the person-level total",
    "what other streams of the same person give away, such as the other eye's: they add up",
    "a window over two runs that do not share a budget file: each starts the filter anew",
)
# Samples that are written down at once; a kill counts at most so many that never came.
_WRITTEN_AHEAD = 1024
_FOREVER = 1 << 62
# Whoever does not take events loses the oldest.
_KEPT_EVENTS = 1 << 16

Mode = Literal["on", "paused", "frozen", "closed"]
OnLimit = Literal["freeze", "coarsen"]
Floats = NDArray[np.float64]


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

    Attributes:
        law: the filter with its parameters.
        resumed: why it does not just go on from where the budget file was left; empty if it does.

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
        areas = areas if isinstance(areas, str) else spelled(areas)
        asked = {
            "epsilon": epsilon,
            "window": window,
            "radius": radius,
            "coordinates": units,
            "scene": scene if scene is None or isinstance(scene, str) else as_text(scene),
            **parameters,
        }
        if areas and filter == Fixations.name:
            asked["areas"] = areas
        elif areas and events is None and counters is None:
            raise InputError(
                "areas are for events, counters or the filter fixations: add events=0.3, or leave "
                "areas out"
            )
        self.law = stream_mechanism(filter, **given(asked))
        if events is not None or counters is not None:
            if not isinstance(self.law, Filter):
                raise InputError(
                    f"{self.law.name} promises nothing: there is no ε to share with events or "
                    "counters"
                )
            tiers = tiered(self.law, events, counters, areas)
            check_counters(tiers, budget, on_limit)
            if isinstance(filter, str):
                # What it was not told follows from its share of ε.
                asked["epsilon"] = tiers.fine.epsilon
                own = stream_mechanism(filter, **given(asked))
                assert isinstance(own, Filter)
                tiers = replace(tiers, filter=own)
            self.law = tiers
        self._noise = randomness(seed)
        self._asked = {"name": self.law.name, **self.law.parameters()}
        self._scene = self.law.place
        self._limit = checked_limit(limit, self.law)
        if on_limit not in ("freeze", "coarsen"):
            raise InputError(f"on_limit must be freeze or coarsen, got '{on_limit}'")
        self._on_limit = on_limit
        self._time_ms = -math.inf
        self._run: Run = self.law.start(self._noise)
        self._eventful = isinstance(self.law, Fixations) or (
            isinstance(self.law, Tiers) and (self.law.detector or self.law.fine).name == "fixations"
        )
        self._events: deque[GazeEvent] = deque(maxlen=_KEPT_EVENTS)
        self._last = self._middle()
        self._before = 0.0
        self._regimes: tuple[Regime, ...] = ()
        self._seeded_before = False
        self.resumed = ""
        # Samples taken under the present settings; others passed while nothing was released.
        self._taken = 0
        self._passed = 0
        self._mode: Mode = "on"
        self._left = 0
        # Whether a sample is being taken: budgets are in disorder where that was interrupted.
        self._at_work = False
        self._book = None if budget is None else Book(Path(budget))
        try:
            self._go_on()
        except BaseException:
            self.abandon()
            raise
        _OPEN.add(self)

    # What was spent.

    @property
    def samples(self) -> int:
        """How many came, those of earlier runs with the same settings included."""
        return self._taken + self._passed

    @property
    def mode(self) -> Mode:
        """Whether anything new is released, as `Meter` says."""
        return self._mode

    @property
    def window_epsilon(self) -> float:
        """What the last w samples have spent; infinite for filters that promise nothing.

        Until the first sample under new settings it is the most that any have spent before.
        """
        return self._spent("window_parts") if self._run.samples else self.worst_window_epsilon

    @property
    def worst_window_epsilon(self) -> float:
        """The most that any w samples in a row have spent, at any offset, restarts included."""
        if not isinstance(self.law, Filter):
            return math.inf
        return together(self._so_far(self.law), self.law, "worst")

    @property
    def person_epsilon(self) -> float:
        """The person-level total since the start, over restarts if there is a budget file.

        ⌈T/w⌉·ε·max(1, D/radius) for T samples in a scene of diameter D: whatever the person did in
        all this time, anywhere in the scene.
        """
        if not isinstance(self.law, Filter):
            return math.inf
        windows = math.ceil(self._taken / self.law.window)
        return self._before + windows * self._window_cost

    def meter(self) -> Meter:
        """All of this at once."""
        return Meter(
            samples=self.samples,
            epsilon=self.law.epsilon if isinstance(self.law, Filter) else math.inf,
            window_epsilon=self.window_epsilon,
            worst_window_epsilon=self.worst_window_epsilon,
            person_epsilon=self.person_epsilon,
            limit=self._limit,
            mode=self._mode,
        )

    @property
    def guarantee(self) -> Guarantee:
        """What holds of any window of all that was released so far, and of what comes.

        That of earlier settings is converted to the present window and radius, never down.
        """
        promise = self._promised(self.law.unit, 1)
        if not isinstance(self.law, Filter):
            return promise
        return replace(promise, epsilon=together(self._so_far(self.law), self.law, "epsilon"))

    def certificate(self) -> dict[str, Any]:
        """What holds of everything released so far, as JSON has it."""
        person = self._promised(PERSON, max(1, self._taken))
        if isinstance(self.law, Filter):
            person = replace(person, epsilon=self.person_epsilon)
        shape = Shape(1, 1, max(1, self._taken), 2, window=1)
        meter = {
            key: value if not isinstance(value, float) or math.isfinite(value) else None
            for key, value in vars(self.meter()).items()
        }
        return {
            "schema": SCHEMA,
            "mechanism": {"name": self.law.name, "parameters": self.law.parameters()},
            "guarantee": self.guarantee.to_dict(),
            "earlier_settings": [vars(regime) for regime in self._regimes],
            "person_level": person.summary() | {"how": self._how(shape)},
            "noise": {
                "sampler": self.law.sampler(shape),
                "numerics": self.law.numerics,
                "randomness": self._noise.name,
            },
            "form": self.law.form,
            "unprotected": list(UNPROTECTED),
            "meter": meter,
            "version": __version__,
        }

    def _how(self, shape: Shape) -> str:
        """How the person-level total has come about, in words."""
        law = self.law
        if not isinstance(law, Filter):
            return law.person_total(shape)
        windows = math.ceil(self._taken / law.window)
        told = (
            f"{plural(windows, 'window')} of {plural(law.window, 'sample')} at "
            f"ε = {rounded_up(law.window_cost)} each, which is "
            f"{rounded_up(law.window_cost / law.radii_of_scene)} for a radius of {law.radius:g}, "
            f"{rounded_up(law.radii_of_scene)} times for the whole scene"
        )
        standing = law.standing_cost if isinstance(law, Tiers) else 0.0
        if standing:
            told += f"; counters until their horizon: ε = {rounded_up(standing)}"
        if self._before > standing:
            told += f"; before these settings: ε = {rounded_up(self._before - standing)}"
        return told

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
        if not self._left:
            self._next_stretch()
        across, up = self._scene.point(x, y, z)
        self._time_ms = time_ms
        if self._mode == "on":
            # While it is at work nothing is left, so that an interruption is looked into first.
            left, self._left = self._left - 1, 0
            self._at_work = True
            self._taken += 1
            self._last = self._run.push(across, up)
            if self._eventful:
                self._collect([time_ms])
            self._at_work = False
            self._left = left
        else:
            self._left -= 1
            self._passed += 1
        return self._scene.gaze(*self._last)

    def push_many(
        self, time_ms: ArrayLike, x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None
    ) -> tuple[Floats, ...]:
        """The same for arrays, as if their samples had been pushed one by one.

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
        across, up = self._scene.to_plane(*parts)
        out = np.empty((2, len(times)))
        done = 0
        while done < len(times):
            if not self._left:
                self._next_stretch()
            count = min(self._left, len(times) - done)
            part = slice(done, done + count)
            if self._mode == "on":
                left, self._left = self._left - count, 0
                self._at_work = True
                self._taken += count
                out[:, part] = self._run.push_many(across[part], up[part])
                self._last = (float(out[0, part.stop - 1]), float(out[1, part.stop - 1]))
                if self._eventful:
                    self._collect(times[part])
                self._at_work = False
                self._left = left
            else:
                self._left -= count
                self._passed += count
                out[:, part] = np.array(self._last)[:, None]
            done += count
            self._time_ms = float(times[part.stop - 1])
        return self._scene.from_plane(*out)

    def take_events(self) -> list[GazeEvent]:
        """What happened since they were last taken, oldest first; the oldest of very many are lost.

        Of ``fixations``, or where a share of ε was given to events.
        """
        if not self._eventful:
            raise InputError(
                "no events are released: give them a share of ε with events=0.3, or use the "
                "filter fixations"
            )
        taken = list(self._events)
        self._events.clear()
        return taken

    def counters(self) -> Counters:
        """Noisy dwell in each area as it was last told."""
        told = self._run.counters() if isinstance(self._run, TierRun) else None
        if told is None:
            raise InputError(
                "there are no counters: give them a share of ε with counters=0.2, and areas"
            )
        return told

    def close(self) -> None:
        """Write down where the stream stands, so that the next run goes on from here."""
        if self._mode == "closed":
            return
        try:
            # Whoever was frozen from the start on has nothing to add to what others wrote.
            if self._book is not None and (self._mode != "frozen" or self._run.samples):
                self._write(self._taken, None if self._at_work else self._in_order())
        finally:
            self.abandon()

    def abandon(self) -> None:
        """End without writing down where the stream stands, as a kill does."""
        if self._book is not None:
            self._book.close()
            self._book = None
        self._mode, self._left = "closed", _FOREVER

    def _in_order(self) -> dict[str, Any]:
        """Where the stream stands, so that it can go on from here."""
        return {
            "run": self._filter_run.saved(),
            "last": list(self._last),
            "mode": self._mode,
            "left": self._pause_left,
            "passed": self._passed,
        }

    @property
    def _pause_left(self) -> int:
        return self._left if self._mode == "paused" else 0

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
        assert isinstance(self._run, TierRun | FixationRun)
        first = self._run.samples - len(time_ms)
        for event in self._run.take_events():
            at = float(time_ms[event.sample - first])
            place = self._scene.gaze(event.x, event.y)
            self._events.append(GazeEvent(event.name, at, event.region, *place))

    # Stretches: a number of samples under one mode, after which something must be decided.

    def _next_stretch(self) -> None:
        """Begin again after a pause, stop at the limit, write down what comes next."""
        if not isinstance(self.law, Filter) or self._mode in ("frozen", "closed"):
            self._left = _FOREVER
            return
        if self._at_work:
            self._after_an_interruption(self.law)
            return
        allowed = self._allowed(self.law) - self._taken
        if allowed <= 0:
            self._at_the_limit(self.law)
            return
        ahead = _WRITTEN_AHEAD if self._book is not None else _FOREVER
        left = min(allowed, ahead)
        # First of all, so that nothing is released that could not be written down.
        self._write(self._taken + left, None)
        self._mode, self._left = "on", left

    def _allowed(self, law: Filter) -> int:
        """How many samples the limit allows under these settings."""
        if self._limit is None:
            return _FOREVER
        rest = self._limit - self._before
        windows = max(0, math.floor(self._share(rest) / self._window_cost))
        return windows * law.window

    def _share(self, rest: float) -> float:
        """What of the rest of a limit may be spent at the present ε."""
        return rest if self._on_limit == "freeze" else rest / 2

    def _at_the_limit(self, law: Filter) -> None:
        """Freeze, or go on with a smaller ε after a pause."""
        self._end_settings()
        coarser = self._affordable(law) if self._on_limit == "coarsen" else None
        if coarser is None:
            self._freeze()
        else:
            self._begin_settings(coarser, apart=law.apart)

    def _after_an_interruption(self, law: Filter) -> None:
        """Nobody knows what the last window has spent: it counts whole, and a new one begins."""
        self._end_settings()
        if isinstance(law, Tiers) and law.counters is not None:
            self._freeze()
        else:
            self._begin_settings(law, apart=law.apart)

    def _affordable(self, law: Filter) -> Filter | None:
        """The filter with ε quartered until the rest of the limit pays for some of it."""
        rest = self._share((self._limit or 0.0) - self._before)
        epsilon = law.epsilon
        while rest > 0:
            epsilon /= 4
            if law.window_cost * epsilon / law.epsilon > rest:
                continue
            try:
                coarser = replace(law, epsilon=epsilon)
                coarser.start(self._noise)
            except InputError:
                # More noise than there are numbers for.
                return None
            return coarser
        return None

    def _end_settings(self) -> None:
        """Count what was spent as past."""
        self._before = self.person_epsilon
        if self._taken and isinstance(self.law, Filter):
            self._regimes = self._so_far(self.law)
        self._passed += self._taken
        self._taken = 0

    def _begin_settings(self, law: Filter, apart: int) -> None:
        """Go on with other settings once no window can have samples of both."""
        run = law.start(self._noise)
        # No calls in between, so that an interruption finds the old ones or the new.
        self.law, self._run, self._at_work = law, run, False
        self._mode, self._left = "paused", apart
        if not apart:
            self._next_stretch()

    def _freeze(self) -> None:
        self._mode, self._left = "frozen", _FOREVER

    # The book.

    def _go_on(self) -> None:
        """From where the last run stopped, or from the start."""
        if not isinstance(self.law, Filter):
            if self._book is not None:
                raise InputError(
                    f"{self.law.name} promises nothing, so there is no budget to keep: leave "
                    "budget out"
                )
            return
        account = Account() if self._book is None else self._book.read()
        self._before, self._regimes = account.before, account.regimes
        self._seeded_before = account.seeded
        begun = bool(account.taken or account.before)
        if isinstance(self.law, Tiers):
            self._before += self.law.standing_cost
        if begun and not self._restored(account, self.law):
            self._before = account.person_epsilon
            self._mode, self._left = "paused", max(account.apart, self.law.apart)
            self.resumed = _why_paused(account, self._asked, self._left)
        if self._taken or self._allowed(self.law) > 0:
            return
        coarser = self._affordable(self.law) if self._on_limit == "coarsen" else None
        if coarser is not None:
            self._begin_settings(coarser, apart=max(self._left, self.law.apart) if begun else 0)
        elif begun:
            self._freeze()
        else:
            raise InputError(
                f"limit {self._limit:g} is less than one window costs, which is "
                f"{rounded_up(self._before + self._window_cost)} for a person: choose a larger "
                "limit or radius, or a smaller epsilon"
            )

    def _restored(self, account: Account, law: Filter) -> bool:
        """Go on exactly from where an account of the same settings was left in order, if it was."""
        left = account.left_in_order
        if left is None or account.asked != self._asked or account.epsilon > law.epsilon:
            return False
        if account.epsilon < law.epsilon:
            law = replace(law, epsilon=account.epsilon)
        run = law.start(self._noise)
        assert isinstance(run, FilterRun | TierRun)
        try:
            run.restore(left["run"])
            x, y = map(float, left["last"])
            paused, pause_left = left["mode"] == "paused", int(left["left"])
            passed = int(left["passed"])
        except (InputError, KeyError, TypeError, ValueError):
            # What the last window has spent is not to be believed, then.
            self._regimes = tuple(replace(old, worst=old.epsilon) for old in self._regimes)
            return False
        self.law, self._run, self._last = law, run, (x, y)
        self._taken, self._passed = account.taken, passed
        if paused:
            self._mode, self._left = "paused", max(0, pause_left)
        return True

    @property
    def _filter_run(self) -> FilterRun | TierRun:
        assert isinstance(self._run, FilterRun | TierRun)
        return self._run

    @property
    def _window_cost(self) -> float:
        """Person-level ε of one window."""
        return self.law.window_cost if isinstance(self.law, Filter) else math.inf

    def _write(self, taken: int, left_in_order: dict[str, Any] | None) -> None:
        if self._book is None or not isinstance(self.law, Filter):
            return
        regimes = self._regimes
        if taken:
            # All of what may be spent, unless it is known what was.
            worst = self.law.epsilon if left_in_order is None else self._spent("worst_parts")
            regimes = merged(regimes, Regime.of(self.law, worst))
        account = Account(
            before=self._before,
            regimes=regimes,
            seeded=self._seeded_before or (taken + self._passed > 0 and not self._noise.private),
            asked=self._asked,
            epsilon=self.law.epsilon,
            window_cost=self._window_cost,
            window=self.law.window,
            apart=max(self.law.apart, self._pause_left),
            taken=taken,
            left_in_order=left_in_order,
        )
        self._book.write(account)

    def _spent(self, parts: str) -> float:
        if not isinstance(self.law, Filter):
            return math.inf
        return float(getattr(self._run, parts)) / WHOLE * self.law.epsilon

    def _promised(self, unit: Any, length: int) -> Guarantee:
        shape = Shape(1, 1, length, 2, window=1)
        reasons = [] if self._noise.private else [SEEDED]
        if self._seeded_before:
            reasons.append(SEEDED_BEFORE)
        return self.law.cost(shape, unit).broken(*reasons)

    def _so_far(self, law: Filter) -> tuple[Regime, ...]:
        """All settings so far, the present ones included."""
        worst = law.epsilon if self._at_work else self._spent("worst_parts")
        return merged(self._regimes, Regime.of(law, worst))

    def _middle(self) -> tuple[float, float]:
        """The public middle of the scene, shown before anything was released."""
        x0, y0, x1, y1 = self._scene.plane
        return (x0 + x1) / 2, (y0 + y1) / 2

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


def _why_paused(account: Account, asked: dict[str, Any], pause: int) -> str:
    """What operators are told where a stream does not just go on."""
    why = "the settings have changed"
    if account.asked == asked and account.left_in_order is None:
        why = (
            f"the last run was killed or interrupted, and up to {_WRITTEN_AHEAD} samples that may "
            "not have come are counted as spent"
        )
    return f"{why}: nothing new is released for {plural(pause, 'sample')}"
