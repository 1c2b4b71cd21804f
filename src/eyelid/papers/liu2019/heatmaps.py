"""Figures 2 (c, d) and 3: what the noise leaves to see, and of whom it can still be told."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eyelid.attacks.maps import map_error
from eyelid.engine.parallel import parallel
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.spread import spread
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.papers.liu2019.caps import best_cap
from eyelid.papers.liu2019.observers import FEW, RATE_HZ, TIMES, Observers
from eyelid.papers.liu2019.theorems import SAMPLES, paper_delta
from eyelid.papers.page import shown
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.privacy.noise import gaussian_noise, laplace_noise
from eyelid.reporting.drawing import BLUE, GREY, ORANGE, SMALL, svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

EPSILONS = (0.5, 1.0, 1.5, 3.0, 5.0)
SHOWN_EPSILON = 1.0
"""Of the heatmap in Figure 2 (d)."""

FIXATIONS, SAMPLED = "fixations", "made-up samples"
AT = "ε = 1.5"
"""The column of the paper's example."""


CROWD = FEW * TIMES
DELTA = paper_delta(CROWD)

_SAME_COPIES = "the same copies, by a sound mechanism"
# Shorter, for a legend.
_CURVES = ("as printed", "same copies, sound mechanism")
_NOT_OF_FIVE = (
    f"No number of these could be published of the {FEW} people who were recorded: noise for "
    f"{CROWD:,} hides a copy and none of them, least of all the smaller noise of the sound "
    "mechanism (see 'Whom the copies protect')."
)
_REPEATED = f"{FEW} observers, each {TIMES:,} times over, as the paper does"
# Heatmaps are compared at every few px, far denser than the point spread.
STEP = 4


@dataclass(frozen=True)
class _Noise:
    """One kind of noise: the paper's mechanism, and one that holds with less of it."""

    words: str
    draw: Callable[[tuple[int, int], np.random.Generator], Floats]
    paper: str
    ours: str
    colour: str


GAUSSIAN = _Noise(
    "Gaussian",
    lambda size, rng: gaussian_noise(1.0, size, rng),
    "map-gaussian-paper",
    "map-gaussian",
    BLUE,
)
LAPLACIAN = _Noise(
    "Laplacian",
    lambda size, rng: laplace_noise(math.sqrt(0.5), size, rng),
    "map-laplace-paper",
    "map-laplace",
    ORANGE,
)
_NOISES = (GAUSSIAN, LAPLACIAN)


@dataclass(frozen=True, eq=False)
class Maps:
    """Heatmaps of five observers under noise for 50 000, drawn again and again.

    Attributes:
        observers: whose.
        looks: theirs, by kind: fixations, or made-up samples of them.
        truths: heatmaps without noise, by kind, at every few px.
        heats: noise spread out, by its law and draw.
    """

    observers: Observers
    looks: dict[str, GazePoints]
    truths: dict[str, Floats]
    heats: dict[str, tuple[Floats, ...]]

    @classmethod
    def drawn(cls, observers: Observers, repeats: int, seed: int) -> Maps:
        """So many draws of both kinds of noise."""
        width_px, height_px = observers.size

        def draw(number: int) -> list[Floats]:
            rng = np.random.default_rng([seed, number])
            return [heat_of(noise.draw((height_px, width_px), rng), observers) for noise in _NOISES]

        found = list(parallel(draw, range(repeats), "drawing noise"))
        heats = {
            noise.words: tuple(one[place] for one in found) for place, noise in enumerate(_NOISES)
        }
        looks = {FIXATIONS: observers.few, SAMPLED: observers.samples(seed)}
        truths = {kind: heat_of(gaze_map(each).values, observers) for kind, each in looks.items()}
        return cls(observers, looks, truths, heats)

    def noisy(self, kind: str, noise: _Noise, name: str, epsilon: float) -> list[Floats]:
        """What a mechanism shows, as the paper makes heatmaps: noise on the map, then spread out.

        A copy of everybody changes no mean, so that the map of five is that of 50 000.
        """
        mechanism = built(name, epsilon)
        facts = mechanism.facts_of(CROWD, 1, *self.observers.size, self.observers.sigma_px)
        signal = heat_of(_limited(mechanism, self.looks[kind], facts), self.observers)
        sigma = mechanism.cell_sd(facts)
        noisy = [signal + sigma * heat for heat in self.heats[noise.words]]
        if not isinstance(mechanism, CappedMap):
            return noisy
        # A limit of looks scales maps down, and a heatmap has no scale of its own.
        total = self.truths[kind].sum()
        return [heat * (total / heat.sum()) for heat in noisy]

    def likeness(self, kind: str, noise: _Noise, name: str, epsilon: float) -> tuple[Value, Value]:
        """Correlation with the true heatmap, and squared error over its variance."""
        truth = self.truths[kind]
        errors = [map_error(truth, heat) for heat in self.noisy(kind, noise, name, epsilon)]
        return (
            Value.of_runs([error.correlation or 0.0 for error in errors]),
            Value.of_runs([error.nmse for error in errors]),
        )

    @property
    def fixations_each(self) -> float:
        """How many one of the five has, on average."""
        return self.looks[FIXATIONS].person.size / FEW

    @property
    def samples_each(self) -> float:
        """How many one of the five has, on average."""
        return self.looks[SAMPLED].person.size / FEW


def built(name: str, epsilon: float) -> MapMechanism:
    """A mechanism of the paper's δ for 50 000 and cap 1."""
    pure = {"epsilon": epsilon, "cap": 1}
    mechanism = mechanism_named(name, **(pure if "laplace" in name else pure | {"delta": DELTA}))
    assert isinstance(mechanism, MapMechanism), name
    return mechanism


def _limited(mechanism: MapMechanism, looks: GazePoints, facts: MapFacts) -> Floats:
    """The mean map without noise, with what the mechanism cuts off."""
    if not isinstance(mechanism, CappedMap):
        return gaze_map(looks, cap=1).values
    counts = looks.counts(facts.grid)
    summed = np.bincount(counts.cell, mechanism.limited(counts, facts), counts.cells)
    return np.asarray(summed.reshape(facts.grid.rows, facts.grid.columns) / counts.people)


def heat_of(values: Floats, observers: Observers) -> Floats:
    """Spread out, at every few px."""
    grid = Grid.of_pixels(*observers.size)
    return spread(values, grid, observers.sigma_px)[::STEP, ::STEP]


def figure3(maps: Maps) -> tuple[Exhibit, Exhibit]:
    """Correlation and squared error over ε, of both kinds of noise."""
    correlations, errors = [], []
    for kind in (FIXATIONS, SAMPLED):
        for noise in _NOISES:
            for row, name in rows_of(noise, kind):
                for epsilon in EPSILONS:
                    correlation, error = maps.likeness(kind, noise, name, epsilon)
                    column = f"ε = {epsilon:g}"
                    correlations.append(Cell(row, column, as_printed=correlation))
                    errors.append(Cell(row, column, as_printed=error))
    at = {cell.row: cell.numbers[0] for cell in correlations if cell.column == AT}
    off = {cell.row: cell.numbers[0] for cell in errors if cell.column == AT}
    (theirs, ours), (few_theirs, few_ours), (wide, narrow) = (
        [row for row, _ in rows_of(noise, kind)]
        for noise, kind in ((GAUSSIAN, SAMPLED), (GAUSSIAN, FIXATIONS), (LAPLACIAN, SAMPLED))
    )
    protocol = (
        f"{_REPEATED}; noise of Theorems 3.4 and 3.5 on every pixel for N = {CROWD:,}, δ = "
        f"N^−1.5, m = 1, then the point spread. The paper prints a figure without numbers, of "
        f"samples of people we do not have: beside fixations ({maps.fixations_each:.0f} a person) "
        f"stand made-up samples of them ({maps.samples_each:.0f} a person, {RATE_HZ:g} Hz). "
        f"'{_SAME_COPIES.capitalize()}': map-gaussian and map-laplace at the same ε, δ and N, with "
        f"at most {SAMPLES} looks of a person, whoever has more being scaled down."
    )
    honest_protocol = (
        "There is none with copies: 'Figure 3, without the copies' has noise for the people there "
        "are."
    )
    ratio = off[wide] / off[theirs]
    return (
        Exhibit(
            name="Figure 3, correlation",
            title="likeness of noisy heatmaps to the true one, over ε",
            says=(
                f"As printed, at ε = 1.5, Gaussian noise leaves a correlation of "
                f"{shown(at[theirs], 2)} of samples and {shown(at[few_theirs], 2)} of fixations, "
                f"Laplacian {shown(at[wide], 2)} of samples. With the same copies, ε and δ, "
                f"counting at most {SAMPLES} looks of each, {shown(at[ours], 2)}, "
                f"{shown(at[few_ours], 2)} and {shown(at[narrow], 2)} are left: the theorems let "
                f"somebody change every pixel, which nobody can. {_NOT_OF_FIVE}"
            ),
            protocol=protocol,
            honest_protocol=honest_protocol,
            cells=tuple(correlations),
            pictures={"figure-3-correlation": _curves(maps, correlations, "correlation", "linear")},
        ),
        Exhibit(
            name="Figure 3, squared error",
            title="mean squared error over the variance of the true heatmap, over ε",
            says=(
                f"As printed, at ε = 1.5, the squared error of samples under Laplacian noise is "
                f"{ratio:,.0f} times that under Gaussian noise"
                f"{', the paper’s order' if ratio > 1 else ', not the paper’s order'}. With the "
                f"same copies, counting at most {SAMPLES} looks of each, the errors are "
                f"{shown(off[narrow], 4)} and {shown(off[ours], 4)} of the variance. "
                f"{_NOT_OF_FIVE}"
            ),
            protocol=f"{protocol} Maps of those are brought to one total. An error of 1 is what an "
            "evenly grey picture has.",
            honest_protocol=honest_protocol,
            cells=tuple(errors),
            pictures={
                "figure-3-error": _curves(maps, errors, "squared error over variance", "log")
            },
        ),
    )


def rows_of(noise: _Noise, kind: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """The rows of a kind of noise and their mechanisms: the paper's, then the sound one."""
    row = f"{noise.words}, {kind}"
    return (row, noise.paper), (f"{row}: {_SAME_COPIES}", noise.ours)


def _curves(maps: Maps, cells: Sequence[Cell], measure: str, scale: str) -> Markup:
    """Of samples on the left, of fixations on the right."""

    def draw(*axes: Axes) -> None:
        for axis, kind in zip(axes, (SAMPLED, FIXATIONS), strict=True):
            for noise in _NOISES:
                both = zip(rows_of(noise, kind), ("--", "-"), _CURVES, strict=True)
                for (row, _), style, words in both:
                    mine = (cell.as_printed for cell in cells if cell.row == row)
                    values = [value for value in mine if value is not None]
                    axis.errorbar(
                        EPSILONS,
                        [value.mean for value in values],
                        [value.spread or 0.0 for value in values],
                        linestyle=style,
                        marker="o" if style == "--" else "s",
                        markersize=4,
                        markerfacecolor="white" if style == "--" else noise.colour,
                        color=noise.colour,
                        capsize=2,
                        label=f"{noise.words}, {words}",
                    )
            axis.set(xscale="log", yscale=scale, xlabel="ε", ylabel=measure)
            axis.set_title(f"{kind}{maps.observers.simulated}", loc="left", fontsize=9)
            axis.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
            axis.set_xticks([], minor=True)
            if scale == "log":
                axis.yaxis.set_major_formatter("{x:g}")
            else:
                axis.axhline(0.0, color=GREY, linewidth=0.6)
        axes[0].figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False
        )

    told = "; ".join(
        f"{cell.row}: {shown(number, 2)}"
        for cell in cells
        if cell.column == AT
        for number in cell.numbers
    )
    alt = f"{measure} over ε{maps.observers.simulated}; at 1.5: {told}"
    return svg(draw, alt, 3.4, columns=2, width=7.4)


def figure2_heatmaps(maps: Maps) -> Exhibit:
    """Figure 2 (c, d): the heatmap, and what is to be seen of it at ε = 1."""
    noise, names = GAUSSIAN, (GAUSSIAN.paper, GAUSSIAN.ours)
    column = f"at ε = {SHOWN_EPSILON:g}, {CROWD:,} copies"
    cells = []
    for kind in (FIXATIONS, SAMPLED):
        for words, name in zip(("", f": {_SAME_COPIES}"), names, strict=True):
            found, _ = maps.likeness(kind, noise, name, SHOWN_EPSILON)
            cells.append(Cell(f"correlation, {kind}{words}", column, as_printed=found))
    sigma = [
        mechanism.cell_sd(mechanism.facts_of(CROWD, 1, *maps.observers.size))
        for mechanism in (built(name, SHOWN_EPSILON) for name in names)
    ]
    cells += [
        Cell("noise in a pixel", column, as_printed=Value(sigma[0])),
        Cell(f"noise in a pixel: {_SAME_COPIES}", column, as_printed=Value(sigma[1])),
    ]
    # Copies change neither the mean map nor what a cap cuts off it.
    cap = best_cap(maps.looks[SAMPLED].counts(Grid.of_pixels(*maps.observers.size)), sigma[0])
    cells.append(Cell(f"cap m by Algorithm 1, {SAMPLED}", column, 1.0, Value(float(cap))))
    (theirs_at,), (ours_at,) = (cell.numbers for cell in cells[2:4])
    drawn = [maps.noisy(SAMPLED, noise, name, SHOWN_EPSILON)[0] for name in names]
    pictures = (
        (f"without noise{maps.observers.simulated}", maps.truths[SAMPLED]),
        ("noise of Theorem 3.4", drawn[0]),
        ("the same copies, map-gaussian", drawn[1]),
    )
    return Exhibit(
        name="Figure 2 (c, d)",
        title="the heatmap, and the same with noise",
        says=(
            f"With the noise of Theorem 3.4 ({sigma[0]:.3f} in a pixel) a heatmap of samples has a "
            f"correlation of {shown(theirs_at, 2)} with the true one; with what is enough when a "
            f"copy counts for at most {SAMPLES} looks ({sigma[1]:.6f}), {shown(ours_at, 2)}. "
            f"{_NOT_OF_FIVE}"
        ),
        protocol=(
            f"{_REPEATED}; the paper shows a simulated heatmap and no number. Its cap m = 1 was "
            f"chosen by Algorithm 1, which reads the data: that choice is not private. "
            f"'{_SAME_COPIES.capitalize()}': map-gaussian at the same ε, δ and N, with a public "
            "cap."
        ),
        cells=tuple(cells),
        pictures={"figure-2-heatmaps": _heatmaps(pictures)},
        digits=4,
    )


def _heatmaps(pictures: Sequence[tuple[str, Floats]]) -> Markup:
    def draw(*axes: Axes) -> None:
        for axis, (words, heat) in zip(axes, pictures, strict=True):
            axis.imshow(np.maximum(heat, 0.0), cmap="viridis", interpolation="nearest")
            axis.set_title(words, fontsize=SMALL + 1, loc="left")
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_visible(False)

    alt = "Heatmaps of made-up samples of five observers: " + ", ".join(w for w, _ in pictures)
    return svg(draw, alt, 2.1, columns=len(pictures), width=7.4)
