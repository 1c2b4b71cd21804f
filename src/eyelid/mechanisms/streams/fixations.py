"""Fixations as they start and end, in cells or areas: the coarse tier and its events."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.geometry import in_units
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.detector import LOST, detecting
from eyelid.mechanisms.streams.events import (
    AREA_ENTERED,
    FIXATION_ENDED,
    FIXATION_STARTED,
    StreamEvent,
)
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.filter_run import FilterRun, Kernel
from eyelid.mechanisms.streams.fixation_odds import MOVING, log_odds
from eyelid.mechanisms.streams.regions import Regions
from eyelid.mechanisms.streams.state import HALVING, PUBLISHED, STATE_SIZE, WHOLE
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Unit

# The shortest fixation, 100 ms, at 120 Hz.
_SPAN = 12
_LONGEST_SPAN = 1_000
# Between the spread of gaze within a fixation and that around a saccade.
_THRESHOLD_DEG = 0.7
_CELLS_ACROSS = 10
# Whoever does not take events loses the oldest.
_KEPT_EVENTS = 1 << 16


@register
@dataclass(frozen=True, kw_only=True)
class Fixations(Filter):
    """The region of every fixation, and when it starts and ends, found inside from raw gaze."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "The region of every fixation, and when it starts and ends, found inside from raw gaze."
        ),
        takes="""gaze samples; each is clamped to the public scene and put on a public grid. Every
        ``skip`` samples a test looks at those seen among the last m = ``span``. Gaze that rests
        starts a fixation, whose noisy middle is released as the cell or area that it falls into;
        gaze that is spread ends it. Between tests, and from a fixation's end to the next start, the
        last region is repeated. A test that sees fewer than ``fewest`` samples is left out; where
        all are lost a fixation ends.""",
        protects="""any w samples in a row, each moved by at most radius, with pure ε-DP. Time
        stamps and which samples are lost are released as they are. A person's total is
        R·⌈T/w⌉·ε·max(1, D/radius).""",
        why="""a test compares the spread s = √(Σ|gᵢ − ḡ|²/n) of the n samples seen. It is a
        seminorm of them: moving each by vᵢ, |vᵢ| ≤ radius, moves s by at most
        √(Σ|vᵢ − v̄|²/n) ≤ √(Σ|vᵢ|²/n) ≤ radius, and ḡ by at most radius. Laplace noise of scale
        radius/(ε/2n) makes a test cost ε/2n; planar Laplace noise of scale radius/εᵢ makes the
        middle cost εᵢ. Changed samples are seen by tests until m − 1 samples after them: w of them
        can touch the slots of w + m − 1 samples in a row and no others, by index alone. Those have
        n = ⌈(w + m − 1)/skip⌉ tests, ε/2 together; a start takes half of what those of the last
        w + m − 2 samples have left of ε/2. Given what was released, whether a fixation lasts is
        known, so that each outcome is that of one test and one place. Regions and names follow from
        noisy places.""",
        paper="""ours, from the budget of Kellaris et al. (2014) and Li et al. (2021) over windows
        that count the detector's memory, and the dispersion of Salvucci & Goldberg (2000).""",
    )
    name: ClassVar[str] = "fixations"
    family: ClassVar[str] = "fixations"
    paper: ClassVar[str] = (
        "ours; Kellaris, Papadopoulos, Xiao & Papadias (2014); Li, Chowdhury, Fawaz & Kim (2021); "
        "Salvucci & Goldberg (2000)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "epsilon": 2.0,
            "window": 4,
            "radius": 1.0,
            "scene": "-400,-400,400,400",
            "span": 2,
            "skip": 5,
            "threshold": 0.0,
        },
        {
            "epsilon": 2.0,
            "window": 2,
            "radius": 1.0,
            "scene": "-400,-400,400,400",
            "span": 12,
            "skip": 1,
            "threshold": 1.0,
            "fewest": 2,
        },
    )

    rule: ClassVar[float] = HALVING
    skips: ClassVar[bool] = True

    span: int = parameter(
        "m, samples that a test looks back at: as many as the shortest fixation has", default=_SPAN
    )
    skip: int | None = parameter("samples from test to test (default: half of m)", default=None)
    threshold: float | None = parameter(
        "spread of gaze (root mean square) that ends a fixation (default: about 0.7 degrees)",
        default=None,
    )
    fewest: int | None = parameter(
        "samples that a test must see of the last m (default: half of them)", default=None
    )
    cell: float | None = parameter(
        "size of a cell (default: a tenth of the scene's longer side)", default=None
    )
    areas: str = parameter(
        "areas of interest, NAME:x0,y0,x1,y1 (or corners), with ; between several", default=""
    )

    def __post_init__(self) -> None:
        for name in ("span", "skip", "fewest"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, int):
                raise InputError(f"{name} must be a whole number of samples, got {given}")
        super().__post_init__()
        if not 2 <= self.span <= _LONGEST_SPAN:
            raise InputError(f"span must be between 2 and {_LONGEST_SPAN} samples, got {self.span}")
        x0, y0, x1, y1 = self.place.plane
        defaults = {
            "skip": self.span // 2,
            "threshold": min(
                in_units(_THRESHOLD_DEG, self.place.spoken_units), self.place.diameter
            ),
            "fewest": max(2, math.ceil(self.span / 2)),
            "cell": max(x1 - x0, y1 - y0) / _CELLS_ACROSS,
        }
        for name, value in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        if not 1 <= (self.skip or 0) <= self.touched:
            raise InputError(
                f"skip must be between 1 and w + span - 1 = {self.touched}, got {self.skip}"
            )
        if not 0 <= (self.threshold or 0.0) <= self.place.diameter:
            raise InputError(
                f"threshold must be between 0 and the scene's diameter, "
                f"{self.place.diameter:g}, got {self.threshold}"
            )
        if not 2 <= (self.fewest or 0) <= self.span:
            raise InputError(f"fewest must be between 2 and span = {self.span}, got {self.fewest}")
        # Refused here if there are none such.
        _ = self.regions

    @cached_property
    def regions(self) -> Regions:
        """Areas of interest and the cells around them."""
        return Regions.with_cells(self.place, self.areas, float(self.cell or 0.0))

    @property
    def eventful(self) -> bool:
        """Fixations start and end, and enter areas."""
        return True

    @property
    def slot_samples(self) -> int:
        """``skip``, once it is set."""
        return int(self.skip or 1)

    @property
    def touched(self) -> int:
        """Over how many samples there are tests that w changed ones in a row can reach."""
        return self.window + self.span - 1

    @property
    def apart(self) -> int:
        """Samples that must pass so that nothing before and after them shares changed ones."""
        return self.touched - 1

    @property
    def memory(self) -> int:
        """Starts share their budget with all that the same changed samples can reach."""
        return self.touched

    @property
    def tests_in_window(self) -> int:
        """The most tests that w changed samples in a row can reach."""
        return math.ceil(self.touched / self.slot_samples)

    @property
    def test_parts(self) -> int:
        """Half of ε, over the tests that w samples can reach."""
        return WHOLE // 2 // self.tests_in_window

    @property
    def publish_parts(self) -> int:
        """The other half."""
        return WHOLE // 2

    @cached_property
    def reach_steps(self) -> int:
        """How far spread and middle can move, in steps, with the rounding of sums counted.

        A mean or spread of m numbers below D, summed up in floating point, is off by at most
        (2m + 4)·D·2⁻⁵³; of neighbours both are.
        """
        rounding = (self.span + 2) * max(self.size_steps) * 2.0**-51
        return super().reach_steps + math.ceil(rounding)

    @property
    def threshold_steps(self) -> int:
        """``threshold`` in steps."""
        return math.floor((self.threshold or 0.0) / self.step)

    def kernel(self) -> Kernel:
        """The detector."""
        return detecting

    def start(self, noise: Randomness) -> FixationRun:
        """Begin with a stream of one person."""
        return FixationRun(self, noise)

    # Games.

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Noisy places of fixations in spans of the scene, sample by sample; -1 where none is.

        All runs go through the detector one after the other, with so many lost samples between
        them that it has forgotten everything.
        """
        x0, y0, x1, y1 = self.place.plane
        corner, spans = np.array([x0, y0]), np.array([x1 - x0, y1 - y0])
        recordings, length, _ = values.shape
        skip = self.slot_samples
        pause = max(self.memory, self.touched) + self.span + skip
        period = math.ceil((length + pause) / skip) * skip
        stream = np.full((runs, recordings, period, 2), np.nan)
        stream[:, :, :length] = corner + spans * values
        run = self.start(noise)
        x, y = FilterRun.push_many(run, *stream.reshape(-1, 2).T)
        played = (np.stack([x, y], axis=1) - corner) / spans
        played = played.reshape(runs, recordings, period, 2)[:, :, :length]
        return np.asarray(np.nan_to_num(played, nan=MOVING).reshape(runs, -1))

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person whose gaze rests or is spread, here or there, with everything else lost.

        While all that a test sees is what was changed, its loss is whole.
        """
        length = self.touched + self.slot_samples
        facts = PublicFacts(1, 1, length, 2, window=1)
        if unit == PERSON:
            far = np.tile([[0.0, 0.0], [1.0, 1.0]], (length, 1))[:length][None]
            yield NeighbourPair("rests, or goes to and fro", facts, unit, 0.0 * far, far)
            return
        x0, y0, x1, y1 = self.place.plane
        reach = 0.999 * np.array([self.radius / (x1 - x0), self.radius / (y1 - y0)])
        first = self._first_changed()
        changed = slice(first, first + self.window)
        rests = np.full((1, length, 2), np.nan)
        rests[:, changed] = 0.5
        spread, aside, both = rests.copy(), rests.copy(), rests.copy()
        turns = np.array([(-1.0) ** i for i in range(self.window)])
        spread[:, changed, 0] += reach[0] * turns
        aside[:, changed, 0] += reach[0]
        # A single test costs twice what its start does, and both lose most by moves like these.
        both[:, changed, 0] += reach[0] * turns * math.sqrt(0.8)
        both[:, changed, 1] += reach[1] * math.sqrt(0.2)
        yield NeighbourPair("rests or is spread", facts, unit, rests, spread)
        yield NeighbourPair("is here or beside", facts, unit, rests, aside)
        yield NeighbourPair("rests, or is spread beside", facts, unit, rests, both)

    def _first_changed(self) -> int:
        """So that some test sees the last changed sample and those before it."""
        return -(self.window - 1) % self.slot_samples

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The logarithm of the likelihood ratio of all that came of tests and places."""
        x0, y0, x1, y1 = self.place.plane
        size = np.array([x1 - x0, y1 - y0]) / self.step
        shown = outputs.reshape(len(outputs), *pair.one.shape)
        odds = np.zeros(len(outputs))
        for number in range(pair.facts.recordings):
            of_one, of_other = (
                log_odds(self, shown[:, number] * size, values[number] * size)
                for values in (pair.one, pair.other)
            )
            odds += of_other - of_one
        return odds


class FixationRun(FilterRun):
    """A detector at work.

    Attributes:
        mechanism: with its parameters.
    """

    mechanism: Fixations

    def __init__(self, mechanism: Fixations, noise: Randomness) -> None:
        super().__init__(mechanism, noise)
        self._facts += [float(mechanism.span), float(mechanism.fewest or 2)]

    def begin(self) -> None:
        """Forget the stream; what was not yet used of the noise is kept."""
        super().begin()
        self.state += [LOST] * (2 * self.mechanism.span)
        self._of_all = [0.0] * self.mechanism.touched
        x0, y0, x1, y1 = self.mechanism.place.plane
        self._shown = ((x0 + x1) / 2, (y0 + y1) / 2)
        self._region: int | None = None
        self._fixating = False
        self._events: deque[StreamEvent] = deque(maxlen=_KEPT_EVENTS)

    def saved(self) -> dict[str, Any]:
        """Budgets and what was released; samples that tests looked at count as lost."""
        saved = super().saved()
        saved["state"] = saved["state"][:STATE_SIZE] + [LOST] * (2 * self.mechanism.span)
        return saved | {"shown": list(self._shown), "region": self._region}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what was saved of a run of the same filter."""
        super().restore(saved)
        x, y = saved["shown"]
        self._shown, self._region = (float(x), float(y)), saved["region"]
        self._fixating = bool(self.state[PUBLISHED])

    def take_events(self) -> list[StreamEvent]:
        """What happened since they were last taken, oldest first."""
        taken = list(self._events)
        self._events.clear()
        return taken

    def push(self, x: float, y: float) -> tuple[float, float]:
        """The middle of the last fixation's region, in the plane of the scene."""
        x, y = super().push(x, y)
        if (x == x) != self._fixating:
            self._turn(self.samples - 1, x, y)
        return self._shown

    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Release many samples, as if they had been pushed one by one."""
        before = self.samples
        x, y = super().push_many(x, y)
        turns = np.flatnonzero(np.diff(~np.isnan(x), prepend=self._fixating))
        shown = [self._shown]
        for turn in turns.tolist():
            self._turn(before + turn, float(x[turn]), float(y[turn]))
            shown.append(self._shown)
        lasting = np.diff([0, *turns, len(x)])
        out = np.repeat(np.array(shown), lasting, axis=0)
        return out[:, 0], out[:, 1]

    def _turn(self, sample: int, x: float, y: float) -> None:
        """A fixation has started at a noisy place, or ended."""
        regions = self.mechanism.regions
        self._fixating = not self._fixating
        names = [FIXATION_ENDED]
        if self._fixating:
            region = regions.region_at(x, y)
            entered = region < len(regions.areas) and region != self._region
            names = [FIXATION_STARTED, AREA_ENTERED] if entered else [FIXATION_STARTED]
            self._region, self._shown = region, regions.middle(region)
        where = regions.name(self._region or 0)
        self._events.extend(StreamEvent(name, sample, *self._shown, where) for name in names)
