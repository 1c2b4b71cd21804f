"""Heatmaps of five observers under noise for 50,000, as the paper makes them, at its own size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eyelid.attacks.statistics import clopper_pearson
from eyelid.engine.cores import parallel
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.spread import spread
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.papers.liu2019.observers import FEW, TIMES, Observers
from eyelid.papers.liu2019.theorems import paper_delta
from eyelid.papers.reproduction import Value
from eyelid.privacy.noise import gaussian_noise, laplace_noise
from eyelid.reporting.drawing import BLUE, ORANGE

EPSILONS = (0.5, 1.0, 1.5, 3.0, 5.0)
SHOWN_EPSILON = 1.0
"""The ε of the heatmap in Figure 2 (d)."""

FIXATIONS, SAMPLED, DENSE = KINDS = ("fixations", "samples at 60 Hz", "samples at 1,000 Hz")
"""Kinds of gaze points that maps are made of; samples are simulated from fixations."""

_RATES_HZ = {SAMPLED: 60.0, DENSE: 1000.0}
AT = "ε = 1.5"
"""The column of the paper's example."""

CROWD = FEW * TIMES
DELTA = paper_delta(CROWD)


@dataclass(frozen=True)
class Noise:
    """One kind of noise: the paper's mechanism, and one with a valid guarantee that needs less."""

    words: str
    draw: Callable[[tuple[int, int], np.random.Generator], Floats]
    paper: str
    ours: str
    colour: str


GAUSSIAN = Noise(
    "Gaussian",
    lambda size, rng: gaussian_noise(1.0, size, rng),
    "map-gaussian-paper",
    "map-gaussian",
    BLUE,
)
LAPLACIAN = Noise(
    "Laplacian",
    lambda size, rng: laplace_noise(math.sqrt(0.5), size, rng),
    "map-laplace-paper",
    "map-laplace",
    ORANGE,
)
NOISES = (GAUSSIAN, LAPLACIAN)


def built(name: str, epsilon: float) -> MapMechanism:
    """A mechanism of the paper's δ for 50,000 and cap 1."""
    pure = {"epsilon": epsilon, "cap": 1}
    made = mechanism_named(name, **(pure if "laplace" in name else pure | {"delta": DELTA}))
    assert isinstance(made, MapMechanism), name
    return made


def heat_of(values: Floats, observers: Observers) -> Floats:
    """A gaze map spread out by the printed kernel, I(i, j) with a peak of 1."""
    grid = Grid.of_pixels(*observers.size)
    return spread(values, grid, observers.sigma_px) * (2 * math.pi * observers.sigma_px**2)


@dataclass(frozen=True, eq=False)
class _Kind:
    """The heatmaps without noise of one kind of gaze points.

    Attributes:
        truth: of all of them.
        capped: as the paper has it, at most 1 of an observer in a pixel.
        limited: as a mechanism with a valid guarantee has it, at most 30 of an observer besides.
    """

    truth: Floats
    capped: Floats
    limited: Floats

    @classmethod
    def of(cls, points: GazePoints, observers: Observers) -> _Kind:
        counts = points.counts(Grid.of_pixels(*observers.size))
        sound = built(GAUSSIAN.ours, SHOWN_EPSILON)
        assert isinstance(sound, CappedMap)
        shape = sound.facts_of(CROWD, 1, *observers.size)
        summed = np.bincount(counts.cell, sound.limited(counts, shape), counts.cells)
        mean = summed.reshape(observers.size[::-1]) / counts.people
        maps = (gaze_map(points).values, gaze_map(points, cap=1).values, np.asarray(mean))
        return cls(*(heat_of(values, observers) for values in maps))

    def signal(self, name: str) -> Floats:
        """What a mechanism shows without its noise; copies of everybody change no mean."""
        return self.limited if name in (GAUSSIAN.ours, LAPLACIAN.ours) else self.capped


@dataclass(frozen=True, eq=False)
class _Draw:
    """Sums over all pixels of noise that is spread out: enough for every ε and mechanism.

    Attributes:
        total: of the noise.
        square: of its square.
        times: of its product with the truth and with either signal, by kind.
        on_hotspot: whether the noisy map of Figure 2 (d) is hottest where the original is hot, by
            kind.
    """

    total: float
    square: float
    times: dict[str, dict[str, float]]
    on_hotspot: dict[str, bool]


@dataclass(frozen=True, eq=False)
class Maps:
    """Heatmaps of five observers under noise for 50,000, drawn again and again.

    Attributes:
        observers: whose.
        points: gaze points of five of them, by kind.
        kinds: their heatmaps without noise, by kind.
        draws: of either noise of standard deviation 1, spread out.
        shown: the first Gaussian one itself.
    """

    observers: Observers
    points: dict[str, GazePoints]
    kinds: dict[str, _Kind]
    draws: dict[str, tuple[_Draw, ...]]
    shown: Floats

    @classmethod
    def drawn(cls, observers: Observers, repeats: int, seed: int) -> Maps:
        """So many draws of both kinds of noise, on every pixel."""
        width_px, height_px = observers.size
        points = {FIXATIONS: observers.few}
        points |= {kind: observers.samples(rate, seed) for kind, rate in _RATES_HZ.items()}
        kinds = {name: _Kind.of(each, observers) for name, each in points.items()}
        sigma = noise_sd(GAUSSIAN.paper, SHOWN_EPSILON, observers)

        def heat(noise: Noise, number: int) -> Floats:
            rng = np.random.default_rng([seed, number, NOISES.index(noise)])
            return heat_of(noise.draw((height_px, width_px), rng), observers)

        def draw(number: int) -> list[_Draw]:
            return [_summed(heat(noise, number), kinds, sigma) for noise in NOISES]

        found = list(parallel(draw, range(repeats), "drawing noise"))
        draws = {
            noise.words: tuple(one[place] for one in found) for place, noise in enumerate(NOISES)
        }
        return cls(observers, points, kinds, draws, heat(GAUSSIAN, 0))

    def likeness(self, kind: str, noise: Noise, name: str, epsilon: float) -> tuple[Value, Value]:
        """Correlation with the heatmap without noise, and the mean squared error.

        Maps of a mechanism that limits gaze points are scaled to the total of the true one: they
        are shares, and a heatmap has no scale of its own.
        """
        sigma = noise_sd(name, epsilon, self.observers)
        sums = self._sums[kind]
        pixels, truth, truths = sums["pixels"], sums["truth"], sums["truth²"]
        which = "limited" if name == noise.ours else "capped"
        signal, squares, both = sums[which], sums[f"{which}²"], sums[f"truth·{which}"]
        correlations, errors = [], []
        for draw in self.draws[noise.words]:
            times = draw.times[kind]
            total = signal + sigma * draw.total
            square = squares + 2 * sigma * times[which] + sigma**2 * draw.square
            with_truth = both + sigma * times["truth"]
            scale = truth / total if name == noise.ours else 1.0
            covariance = with_truth - truth * total / pixels
            variances = (truths - truth**2 / pixels) * (square - total**2 / pixels)
            correlations.append(covariance / math.sqrt(variances) if variances > 0 else 0.0)
            errors.append((scale**2 * square - 2 * scale * with_truth + truths) / pixels)
        return Value.of_runs(correlations), Value.of_runs(errors)

    def found_again(self, kind: str) -> Value:
        """How often Figure 2 (d) is hottest where the original is hot, with limits over draws."""
        return share_of([draw.on_hotspot[kind] for draw in self.draws[GAUSSIAN.words]])

    def noisy(self, kind: str, name: str) -> Floats:
        """The heatmap of Figure 2 (d) with the first draw of Gaussian noise."""
        sigma = noise_sd(name, SHOWN_EPSILON, self.observers)
        return self.kinds[kind].signal(name) + sigma * self.shown

    def points_each(self, kind: str) -> float:
        """How many gaze points one of the five has, on average."""
        return self.points[kind].person.size / FEW

    @cached_property
    def _sums(self) -> dict[str, dict[str, float]]:
        """Sums over all pixels of what has no noise, by kind."""
        found = {}
        for name, kind in self.kinds.items():
            sums = {"pixels": float(kind.truth.size)}
            for which in ("truth", "capped", "limited"):
                heat = getattr(kind, which)
                sums[which] = float(heat.sum())
                sums[f"{which}²"] = float(np.vdot(heat, heat))
                sums[f"truth·{which}"] = float(np.vdot(kind.truth, heat))
            found[name] = sums
        return found


def noise_sd(name: str, epsilon: float, observers: Observers) -> float:
    """Standard deviation of a mechanism's noise in a pixel of the gaze map of 50,000."""
    made = built(name, epsilon)
    return made.cell_sd(made.facts_of(CROWD, 1, *observers.size))


def _summed(heat: Floats, kinds: dict[str, _Kind], sigma: float) -> _Draw:
    times = {
        name: {
            which: float(np.vdot(heat, getattr(kind, which)))
            for which in ("truth", "capped", "limited")
        }
        for name, kind in kinds.items()
    }
    hot = {name: on_hotspot(kind.truth, kind.capped + sigma * heat) for name, kind in kinds.items()}
    return _Draw(float(heat.sum()), float(np.vdot(heat, heat)), times, hot)


def share_of(answers: Sequence[bool]) -> Value:
    """The share of draws with the answer yes, with its 95% limits."""
    low, high = clopper_pearson(sum(answers), len(answers))
    share = sum(answers) / len(answers)
    return Value(share, low=float(low), high=float(high), runs=len(answers))


def on_hotspot(truth: Floats, heat: Floats) -> bool:
    """Whether the hottest place of a map has at least half the largest value of the original."""
    return bool(truth.flat[np.argmax(heat)] >= 0.5 * truth.max())
