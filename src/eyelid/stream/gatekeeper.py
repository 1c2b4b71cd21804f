"""The gatekeeper: raw gaze goes in, filtered gaze comes out, and what that costs is counted."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.mechanisms.mechanism import Shape, find, mechanism
from eyelid.mechanisms.streams.baseline import Baseline
from eyelid.mechanisms.streams.continual import Counters
from eyelid.mechanisms.streams.filter import Filter, FilterRun
from eyelid.mechanisms.streams.fixations import FixationRun, Fixations
from eyelid.mechanisms.streams.regions import spelled
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.mechanisms.streams.stream import Run, StreamMechanism
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.spelling import plural
from eyelid.stream.book import Account, Book
from eyelid.stream.tiers import GazeEvent, Share, TierRun, Tiers, tiered
from eyelid.version import __version__

SCHEMA = "eyelid/stream/1"
SEEDED = "the noise came from a seed, so anybody who has or guesses the seed can take it off again"
UNPROTECTED = (
    "when samples come, how many there are, and which of them are lost",
    "who is streaming, and from which device",
    "whatever lasts longer than a window: it adds up to the person-level total",
    "what other streams of the same person give away, such as the other eye's: they add up",
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
        worst_window_epsilon: the most that any w samples in a row have spent.
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


class Gatekeeper:
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
        areas = areas if isinstance(areas, str) else spelled(areas)
        asked = {
            "epsilon": epsilon,
            "window": window,
            "radius": radius,
            "coordinates": units,
            "scene": scene if scene is None or isinstance(scene, str) else _as_text(scene),
            **parameters,
        }
        if areas and filter == Fixations.name:
            asked["areas"] = areas
        self.law = _stream_mechanism(filter, **{k: v for k, v in asked.items() if v is not None})
        if events is not None or counters is not None:
            if not isinstance(self.law, Filter):
                raise InputError(
                    f"{self.law.name} promises nothing: there is no ε to share with events or "
                    "counters"
                )
            self.law = tiered(self.law, events, counters, areas)
            _check_counters(self.law, budget, on_limit)
        self._noise = randomness(seed)
        self._asked = {"name": self.law.name, **self.law.parameters()}
        self._scene = self.law.place
        self._limit = _checked_limit(limit, self.law)
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
        self._worst_before = 0.0
        self._largest_before = 0.0
        # Samples taken under the present settings; others passed while nothing was released.
        self._taken = 0
        self._passed = 0
        self._mode: Mode = "on"
        self._left = 0
        self._book = None if budget is None else Book(Path(budget))
        try:
            self._go_on()
        except BaseException:
            self._let_go()
            raise

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
        """What the last w samples have spent; infinite for filters that promise nothing."""
        return self._spent("window_parts")

    @property
    def worst_window_epsilon(self) -> float:
        """The most that any w samples in a row have spent, at any offset."""
        return max(self._worst_before, self._spent("worst_parts"))

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
        """What is promised of any window so far: the largest ε that there was under a limit."""
        promise = self._promised(self.law.unit, 1)
        return replace(promise, epsilon=max(promise.epsilon or 0.0, self._largest_before))

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
            "person_level": person.summary() | {"how": self._how(shape)},
            "noise": {
                "sampler": self.law.sampler(shape),
                "numerics": self.law.numerics,
                "randomness": self._noise.name,
            },
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
        self._left -= 1
        if self._mode == "on":
            self._taken += 1
            self._last = self._run.push(across, up)
            if self._eventful:
                self._collect([time_ms])
        else:
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
            self._left -= count
            if self._mode == "on":
                self._taken += count
                out[:, part] = self._run.push_many(across[part], up[part])
                self._last = (float(out[0, part.stop - 1]), float(out[1, part.stop - 1]))
                if self._eventful:
                    self._collect(times[part])
            else:
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
        if self._book is not None and isinstance(self.law, Filter):
            state = {
                "run": self._filter_run.saved(),
                "last": list(self._last),
                "mode": self._mode,
                "left": self._left if self._mode == "paused" else 0,
                "passed": self._passed,
            }
            self._write(self._taken, state)
        self._let_go()

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
        if self._mode == "paused":
            self._mode = "on"
        allowed = self._allowed(self.law) - self._taken
        if allowed <= 0:
            self._at_the_limit(self.law)
            return
        ahead = _WRITTEN_AHEAD if self._book is not None else _FOREVER
        self._left = min(allowed, ahead)
        self._write(self._taken + self._left, None)

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
        self._worst_before = self.worst_window_epsilon
        if self._taken and isinstance(self.law, Filter):
            self._largest_before = max(self._largest_before, self.law.epsilon)
        self._passed += self._taken
        self._taken = 0

    def _begin_settings(self, law: Filter, apart: int) -> None:
        """Go on with other settings once no window can have samples of both."""
        self.law = law
        self._run = law.start(self._noise)
        self._mode, self._left = ("paused", apart) if apart else ("on", 0)
        if not self._left:
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
        self._before, self._worst_before = account.before, account.worst_window
        self._largest_before = account.largest
        law = self.law
        if isinstance(law, Tiers):
            self._before += law.standing_cost
        if account.taken or account.before:
            law = self._after(account, law)
        if self._mode == "frozen" or self._taken:
            return
        if self._limit is not None and self._allowed(law) <= 0:
            coarser = self._affordable(law) if self._on_limit == "coarsen" else None
            if coarser is None and not (account.taken or account.before):
                raise InputError(
                    f"limit {self._limit:g} is less than one window costs, which is "
                    f"{rounded_up(self._before + self._window_cost)} for a person: choose a larger "
                    "limit or radius, or a smaller epsilon"
                )
            if coarser is None:
                self._freeze()
                return
            self._begin_settings(coarser, apart=self._left)

    def _after(self, account: Account, law: Filter) -> Filter:
        """Continue an account: exactly if it was left in order, else after a pause."""
        same = account.asked == self._asked and account.epsilon <= law.epsilon
        left = account.left_in_order
        if same and left is not None:
            if account.epsilon < law.epsilon:
                law = replace(law, epsilon=account.epsilon)
            self.law = law
            self._run = law.start(self._noise)
            self._filter_run.restore(left["run"])
            self._taken, self._passed = account.taken, int(left["passed"])
            self._last = (float(left["last"][0]), float(left["last"][1]))
            if left["mode"] == "paused":
                self._mode, self._left = "paused", int(left["left"])
            return law
        self._before = account.person_epsilon
        # Nobody knows what the last windows have spent but that it was within their promise.
        self._worst_before = max(account.worst_window, account.epsilon)
        self._largest_before = max(account.largest, account.epsilon)
        apart = max(account.apart, law.apart)
        self._mode, self._left = "paused", apart
        return law

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
        account = Account(
            before=self._before,
            worst_window=self.worst_window_epsilon,
            largest=self._largest_before,
            asked=self._asked,
            epsilon=self.law.epsilon,
            window_cost=self._window_cost,
            window=self.law.window,
            apart=self.law.apart,
            taken=taken,
            left_in_order=left_in_order,
        )
        self._book.write(account)

    def _let_go(self) -> None:
        if self._book is not None:
            self._book.close()
            self._book = None
        self._mode, self._left = "closed", _FOREVER

    def _spent(self, parts: str) -> float:
        if not isinstance(self.law, Filter):
            return math.inf
        return float(getattr(self._run, parts)) / WHOLE * self.law.epsilon

    def _promised(self, unit: Any, length: int) -> Guarantee:
        shape = Shape(1, 1, length, 2, window=1)
        promise = self.law.cost(shape, unit)
        return promise if self._noise.private else promise.broken(SEEDED)

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


def _as_text(scene: Any) -> str:
    try:
        return ",".join(f"{float(corner):.12g}" for corner in scene)
    except (TypeError, ValueError):
        raise InputError(f"scene must be (x0, y0, x1, y1), got {scene!r}") from None


def _stream_mechanism(filter: str | StreamMechanism, **parameters: Any) -> StreamMechanism:
    """A filter from its name and what was asked for."""
    if isinstance(filter, StreamMechanism):
        if parameters:
            raise InputError(
                f"{filter.name} has its parameters set already: leave out {', '.join(parameters)}"
            )
        return filter
    kind = find(filter)
    if not issubclass(kind, StreamMechanism):
        raise InputError(
            f"{kind.name} takes {kind.takes}, and is no filter for a stream of gaze: use 'eyelid "
            f"{kind.command}'"
        )
    if issubclass(kind, Baseline):
        parameters = kind.as_formal(parameters)
    made = mechanism(filter, **parameters)
    assert isinstance(made, StreamMechanism)
    return made


def _check_counters(law: Tiers, budget: Path | str | None, on_limit: str) -> None:
    """Counters need what everybody did before, which no file may keep."""
    if law.counters is not None and (budget is not None or on_limit == "coarsen"):
        raise InputError(
            "counters cannot go on after a restart or with another ε: leave out counters, or both "
            "budget and on_limit=coarsen"
        )


def _checked_limit(limit: float | None, law: StreamMechanism) -> float | None:
    if limit is None:
        return None
    if not isinstance(law, Filter):
        raise InputError(f"{law.name} promises nothing, so that no limit can be kept: leave it out")
    if not (math.isfinite(limit) and limit > 0):
        raise InputError(f"limit must be positive and finite, got {limit:g}")
    return float(limit)
