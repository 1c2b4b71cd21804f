"""Counters that are released again and again as they grow: dwell in areas of interest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.differential import SCALE, DifferentialMechanism
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.draws import Unique
from eyelid.mechanisms.streams.regions import Regions
from eyelid.mechanisms.streams.square_root import square_root, stretch
from eyelid.mechanisms.streams.stream import Floats, SceneMechanism
from eyelid.privacy.gaussian import check_delta, discreteness_slack, gaussian_epsilon, gaussian_mu
from eyelid.privacy.guarantee import Guarantee, Kind, rounded_up
from eyelid.privacy.noise import DiscreteGaussian, Randomness
from eyelid.privacy.unit import PERSON, RECORDING, Neighbours, Trust, Unit

Integers = NDArray[np.int64]

_MOST_NUMBERS = 2_000_000
_LARGEST = 2.0**61
# Norms of whole numbers in floating point are right to about 1e-13.
_FLOATING = 1 + 1e-12


@register
@dataclass(frozen=True, kw_only=True)
class Dwell(DifferentialMechanism, SceneMechanism):
    """How long a person has looked at each area so far, at every tick of a public horizon."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""How long a person has looked at each area so far, at every tick of a public
        horizon.""",
        takes="""gaze samples, of which each counts for the first area that holds it, or for none;
        lost ones for none. A tick is ``every`` samples, and after ``horizon`` ticks nothing more is
        told.""",
        protects="""any w samples in a row, wherever in the scene they are moved to, with (ε, δ) and
        its μ; trust is local. Which samples are lost is outside of it. A person is all samples
        until the horizon, and has the μ of these: it is stated beside it.""",
        why="""with x the counts of an area in each tick, the sums of all ticks so far are A·x, and
        A = R·R for the triangular R of `square_root`. Released is R·(R·x + z): an attacker who
        knows R·x + z knows it, so that noise is needed on R·x only. One sample moves two areas by 1
        in one tick, and R·x by √2·√Σr_t² at most. Of w samples c_i lie in tick i and move x there
        by v_i, ‖v_i‖₂ ≤ √2·c_i; columns of R have no negative products, so that ‖R·v‖² = Σ⟨R_i,
        R_j⟩⟨v_i, v_j⟩ ≤ 2‖R·c‖², reached by going from one area to another throughout (one area
        alone: without the 2). R is cut to whole steps, counts are whole, so R·x is exact in
        integers, and so is the discrete Gaussian noise. The error of a sum is σ·√Σr_t², about 1.8
        times that of a single number.""",
        paper="""Fichtenberger, Henzinger & Upadhyay (2023), Constant matters; Henzinger, Upadhyay &
        Upadhyay (2023). Whole numbers, w samples in a row and several areas at once are ours.""",
    )
    name: ClassVar[str] = "dwell"
    family: ClassVar[str] = "dwell"
    takes: ClassVar[str] = "a live stream"
    command: ClassVar[str] = "stream --counters 0.2"
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    units: ClassVar[tuple[str, ...]] = ("event",)
    paper: ClassVar[str] = (
        "Fichtenberger, Henzinger & Upadhyay (2023), Constant matters: fine-grained error bound on "
        "differentially private continual observation; Henzinger, Upadhyay & Upadhyay (2023)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "epsilon": 4.0,
            "delta": 1e-5,
            "window": 5,
            "every": 2,
            "horizon": 6,
            "scene": "0,0,3,1",
            "areas": "left:0,0,1,1; right:2,0,3,1",
        },
    )

    window: int = parameter("w, samples in a row that are hidden together")
    areas: str = parameter("areas of interest, NAME:x0,y0,x1,y1 (or corners), ; between several")
    every: int = parameter("samples from one telling to the next", default=120)
    horizon: int = parameter("how often counters are told at most", default=3600)
    delta: float = parameter("δ", default=1e-6)

    def __post_init__(self) -> None:
        super().__post_init__()
        if check_delta(self.delta) == 0:
            raise InputError("delta must be above 0 for Gaussian noise")
        for name in ("window", "every", "horizon"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} must be a whole number, at least 1, got {value}")
        if not self.regions.areas:
            raise InputError("dwell needs areas of interest: areas='logo:0,0,200,80; menu:…'")
        if self.horizon * self.counters > _MOST_NUMBERS:
            raise InputError(
                f"{self.horizon} tellings of {self.counters} areas are too many: choose a shorter "
                "horizon, or a larger every"
            )
        if self.every * self.root.sum() / self.step > _LARGEST:
            raise InputError(f"epsilon {self.epsilon:g} asks for finer steps than there are")

    @cached_property
    def regions(self) -> Regions:
        """The areas."""
        return Regions(self.place, self.areas)

    @property
    def counters(self) -> int:
        """How many numbers are told at a time."""
        return len(self.regions.areas)

    @property
    def unit(self) -> Unit:
        """The samples of a window, wherever they were."""
        return Unit("event", self.window, self.place.diameter)

    @property
    def samples(self) -> int:
        """Until the horizon."""
        return self.horizon * self.every

    # The matrix in whole steps, and what it does to changes; planted faults are in these.

    @cached_property
    def root(self) -> Floats:
        """The diagonals of R."""
        return square_root(self.horizon)

    @property
    def areas_moved(self) -> int:
        """Counters that one sample can change."""
        return min(2, self.counters)

    @property
    def moved(self) -> float:
        """How far w samples in a row can move R·x, for one area."""
        return stretch(self.root, self.window, self.every)

    @cached_property
    def mu(self) -> float:
        """μ of w samples in a row, with room for the worst that the noise's grid can do."""
        slack = discreteness_slack(self.horizon * self.counters, SCALE)
        return gaussian_mu(self.epsilon, self.delta, slack)

    @cached_property
    def step(self) -> float:
        """Samples of dwell in one step, so that w changed samples move R·x by μ·SCALE steps."""
        return math.sqrt(self.areas_moved) * self.moved * _FLOATING / (self.mu * SCALE)

    @cached_property
    def steps_of_root(self) -> Integers:
        """R in steps, cut off, so that it stretches no more than it should."""
        return np.floor(self.root / self.step).astype(np.int64)

    def sensitivity(self, samples: int) -> float:
        """How far so many samples in a row can move R·x, in steps, in the L2 norm."""
        moved = stretch(self.steps_of_root, samples, self.every)
        return math.sqrt(self.areas_moved) * moved * _FLOATING

    @cached_property
    def noise(self) -> DiscreteGaussian:
        """σ is SCALE steps."""
        return DiscreteGaussian(SCALE)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for w samples in a row; for others ε at the same δ, from their μ."""
        streams, samples = 1, min(facts.length, self.samples)
        if unit == PERSON:
            streams = facts.recordings
        elif unit.length is not None and unit.radius is not None:
            samples = min(unit.length, self.samples)
        elif unit != RECORDING:
            raise Refused(f"{self.name} does not offer the unit '{unit}': it hides events")
        slack = discreteness_slack(streams * self.horizon * self.counters, SCALE)
        mu = math.sqrt(streams) * self.sensitivity(samples) / SCALE
        asked = streams == 1 and samples <= self.window
        return Guarantee(
            kind=self.kind,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=Trust.LOCAL,
            epsilon=self.epsilon if asked else gaussian_epsilon(mu, self.delta, slack),
            delta=self.delta,
            mu=mu,
            slack=slack,
        )

    def person_total(self, facts: PublicFacts) -> str:
        """The loss of all samples until the horizon, in words."""
        samples = min(facts.length, self.samples)
        return (
            f"{facts.recordings} recordings of at most {samples} samples until the horizon, all of "
            f"them moved: μ = {rounded_up(self.cost(facts, PERSON).mu or 0.0)}"
        )

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        return (
            f"discrete Gaussian, σ = {SCALE} steps of {self.step:.4g} samples, before the second "
            f"square root: standard error up to {self.standard_errors[-1]:.4g} samples of dwell"
        )

    @cached_property
    def standard_errors(self) -> Floats:
        """The standard error of each counter at each tick, in samples."""
        return np.asarray(SCALE * self.step * np.sqrt(np.cumsum(self.root**2)))

    # What happens at a tick.

    def measured(self, counts: Integers, noise: Integers) -> Integers:
        """R·x + z in steps, at the last of the ticks that are there.

        Args:
            counts: … × ticks × areas.
            noise: … × areas, of this tick.
        """
        back = self.steps_of_root[: counts.shape[-2]][::-1]
        return np.asarray(back @ counts + noise)

    def presented(self, measured: Floats) -> Floats:
        """Dwell so far, in samples, from R·x + z at all ticks so far (… × ticks × areas)."""
        back = self.root[: measured.shape[-2]][::-1]
        return np.asarray(back @ measured * self.step)

    def start(self, noise: Randomness) -> DwellRun:
        """Begin with a stream of one person."""
        return DwellRun(self, noise)

    # Games.

    def counts_of(self, x: Floats, y: Floats) -> Integers:
        """Samples of each tick in each area (ticks × areas), until the horizon."""
        area = self.regions.areas_at(x, y)
        tick = np.arange(len(x)) // self.every
        counted = (area >= 0) & (tick < self.horizon)
        counts = np.zeros((self.horizon, self.counters), dtype=np.int64)
        np.add.at(counts, (tick[counted], area[counted]), 1)
        return counts

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """What is told at all ticks, of every recording."""
        counters = np.empty((runs, len(values), self.horizon, self.counters))
        for number, recording in enumerate(self.counted(values)):
            draws = self.noise.draw((runs, self.horizon, self.counters), noise)
            measured = np.empty(draws.shape)
            for tick in range(self.horizon):
                measured[:, tick] = self.measured(recording[: tick + 1], draws[:, tick])
                counters[:, number, tick] = self.presented(measured[:, : tick + 1])
        return counters.reshape(runs, -1)

    def counted(self, values: Values) -> Integers:
        """Counts of every recording, from gaze in spans of the scene."""
        x0, y0, x1, y1 = self.place.plane
        points = np.array([x0, y0]) + np.array([x1 - x0, y1 - y0]) * values
        return np.array([self.counts_of(*recording.T) for recording in points])

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person who looks at the first area against a person who looks at the last."""
        facts = PublicFacts(1, 1, self.samples, 2, window=1)
        x0, y0, x1, y1 = self.place.plane
        first, last = (
            (np.array(self.regions.middle(area)) - [x0, y0]) / [x1 - x0, y1 - y0]
            for area in (0, self.counters - 1)
        )
        samples = self.samples if unit == PERSON else min(unit.length or 1, self.samples)
        one = np.full((1, self.samples, 2), np.nan)
        one[:, :samples] = first
        other = one.copy()
        other[:, :samples] = last if self.counters > 1 else np.nan
        yield NeighbourPair("at the first area or at the last", facts, unit, one, other)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The likelihood ratio of R·x + z, which what is told can be brought back to."""
        counters = outputs.reshape(len(outputs), len(pair.one), self.horizon, self.counters)
        back = np.linalg.inv(_triangle(self.root))
        measured = np.einsum("st,nrta->nrsa", back, counters) / self.step
        forth = _triangle(self.steps_of_root.astype(np.float64))
        difference = self.counted(pair.other) - self.counted(pair.one)
        return np.asarray(np.einsum("nrta,rta->n", measured, forth @ difference) / SCALE**2)


def _triangle(diagonals: Floats) -> Floats:
    """The lower triangular matrix that is the same along each diagonal."""
    ticks = np.arange(len(diagonals))
    lag = ticks[:, None] - ticks
    return np.where(lag >= 0, diagonals[lag], 0.0)


@dataclass(frozen=True)
class Counters:
    """What was last told.

    Attributes:
        names: of the areas.
        dwell_samples: noisy dwell in each so far, in samples; may be negative.
        standard_error: of each, in samples.
        samples: after how many samples it was told.
        finished: whether the horizon is reached, and nothing more will be told.
    """

    names: tuple[str, ...]
    dwell_samples: tuple[float, ...]
    standard_error: float
    samples: int
    finished: bool


class DwellRun(Unique):
    """Counters at work on one stream, in the plane of its scene; lost samples are NaN.

    All noise is drawn at the start.

    Attributes:
        mechanism: with its parameters.
        samples: how many were taken.
        ticks: how often counters were told.
    """

    def __init__(self, mechanism: Dwell, noise: Randomness) -> None:
        self.mechanism = mechanism
        size = (mechanism.horizon, mechanism.counters)
        self._noise = mechanism.noise.draw(size, noise)
        self._counts = np.zeros(size, dtype=np.int64)
        # Whatever is done with noisy numbers, rounding them included, tells no more than they do.
        self._measured = np.zeros(size)
        self._now = [0] * mechanism.counters
        self._told = (0.0,) * mechanism.counters
        self.samples = 0
        self.ticks = 0

    @property
    def finished(self) -> bool:
        """Whether the horizon is reached: what comes is not counted any more."""
        return self.ticks == self.mechanism.horizon

    def push(self, x: float, y: float) -> None:
        """Count a sample, and tell anew if it is the last of a tick."""
        self.samples += 1
        if self.finished:
            return
        area = self.mechanism.regions.area_at(x, y)
        if area >= 0:
            self._now[area] += 1
        if self.samples % self.mechanism.every == 0:
            self._tell()

    def push_many(self, x: Floats, y: Floats) -> None:
        """Push many samples, as if they had been pushed one by one."""
        mechanism, done = self.mechanism, 0
        area = mechanism.regions.areas_at(np.asarray(x), np.asarray(y))
        while done < len(area) and not self.finished:
            count = min(mechanism.every - self.samples % mechanism.every, len(area) - done)
            part = area[done : done + count]
            now = np.bincount(part[part >= 0], minlength=mechanism.counters)
            self._now = (now + self._now).tolist()
            self.samples += count
            done += count
            if self.samples % mechanism.every == 0:
                self._tell()
        self.samples += len(area) - done

    def counters(self) -> Counters:
        """What was last told; zeros before the first tick."""
        mechanism = self.mechanism
        return Counters(
            names=tuple(area.name for area in mechanism.regions.areas),
            dwell_samples=self._told,
            standard_error=float(mechanism.standard_errors[self.ticks - 1]) if self.ticks else 0.0,
            samples=self.ticks * mechanism.every,
            finished=self.finished,
        )

    def _tell(self) -> None:
        here, past = self.ticks, slice(self.ticks + 1)
        self._counts[here] = self._now
        self._now = [0] * self.mechanism.counters
        self._measured[here] = self.mechanism.measured(self._counts[past], self._noise[here])
        self._told = tuple(self.mechanism.presented(self._measured[past]).tolist())
        self.ticks += 1
