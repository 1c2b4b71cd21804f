"""Figures 2 and 3 of Liu et al. 2019 for given data: how much noise, and what it leaves to see.

Figure 2 follows from public facts. Figure 3 compares noisy maps with the true one: it is made from
private data without any guarantee, says so, and is not for release.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.maps import map_error
from eyelid.engine.cores import in_turn, parallel
from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.spread import spread, spread_error
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.mechanism import find
from eyelid.privacy.gaussian import gaussian_sigma
from eyelid.privacy.noise import Randomness, gaussian_noise, laplace_noise, randomness
from eyelid.reporting.drawing import BLUE, GREEN, GREY, INK, ORANGE, SMALL
from eyelid.reporting.maps.page import NO_GUARANTEE, Page, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

LEVELS = {"good": 1.0, "okay": 3.0}
EPSILONS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
EXAMPLE_NOISE, EXAMPLE_SIDE = 1.5, 300
_WHOSE = ("Liu et al.", "ours")
_SIDES = np.geomspace(30, 2000, 60)
_PEOPLE = np.geomspace(10, 100_000, 80)
_LEGEND = (
    "Nobody's gaze is in this figure: it follows from public facts alone (people, px, ε and δ)."
)
_WARNING = (
    f"{NO_GUARANTEE}: this figure compares with the true map of the private data. It is for those "
    "who may see them; do not publish it."
)


@dataclass(frozen=True)
class _Curve:
    """How a mechanism is drawn, and the distribution of its noise."""

    words: str
    distribution: Callable[[tuple[int, ...], Randomness], Floats]
    colour: str
    marker: str
    style: str


def _gaussian(size: tuple[int, ...], noise: Randomness) -> Floats:
    return gaussian_noise(1.0, size, noise)


def _laplace(size: tuple[int, ...], noise: Randomness) -> Floats:
    return laplace_noise(math.sqrt(0.5), size, noise)


CURVES = {
    "map-grid": _Curve("map-grid (ours, shares in cells)", _gaussian, GREEN, "s", "-"),
    "map-gaussian": _Curve("map-gaussian (ours, pixels)", _gaussian, BLUE, "o", "-"),
    "map-laplace": _Curve("map-laplace (ours, pixels)", _laplace, ORANGE, "^", "-"),
    "map-gaussian-paper": _Curve("Gaussian of Liu et al. (2019)", _gaussian, BLUE, "o", "--"),
    "map-laplace-paper": _Curve("Laplacian of Liu et al. (2019)", _laplace, ORANGE, "^", "--"),
}


def paper_noise(
    cells: Floats, people: Floats, epsilon: float, delta: float | Floats, cap: int = 1
) -> Floats:
    """Σ of Theorem 3.4: (m/(Nε))·√(r(ε/2 + ln(r/δ))).

    >>> people = np.array(50_000.0)
    >>> float(paper_noise(np.array(1680.0 * 1050), people, 1.5, people**-1.5).round(3))
    0.099
    """
    logarithm = np.log(cells / delta)
    return np.asarray(cap / (people * epsilon) * np.sqrt(cells * (epsilon / 2 + logarithm)))


def sparse_noise(
    cells: Floats,
    people: Floats,
    epsilon: float,
    delta: float,
    cap: int = 1,
    samples: int = 30,
) -> Floats:
    """Σ of ours at the same ε and δ: σ_AG·min(m√r, √(2mM))/N."""
    reach = np.minimum(cap * np.sqrt(cells), math.sqrt(2 * cap * samples))
    return np.asarray(gaussian_sigma(epsilon, delta) * reach / people)


def figure2(
    people: int, width_px: int, height_px: int, delta: float, *, cap: int = 1, samples: int = 30
) -> Figure:
    """How much noise a pixel needs, over image size and observers, the paper's and ours.

    Args:
        people: N of the data at hand, marked in every panel.
        width_px: of the picture at hand.
        height_px: of the picture at hand.
        delta: of the release at hand, for everything.
        cap: m, the most of a person in a pixel.
        samples: M, the most of a person in all.
    """
    from eyelid.plotting import LogNorm

    side = math.sqrt(width_px * height_px)
    both = np.meshgrid(_SIDES, _PEOPLE)
    here = (
        f"The star: {people:,} people and {width_px:,} × {height_px:,} px. White line: the example "
        f"of Liu et al. (2019), noise of {EXAMPLE_NOISE:g}. δ = {delta:g} everywhere, as in this "
        f"release; theirs is 1/N^1.5. At most {cap} of a person in a pixel; ours (map-gaussian) "
        f"also takes at most {samples} gaze points of a person, so that larger pictures need no "
        "more noise. map-grid, the default for few people, is not in this figure: it measures "
        "shares of gaze in cells, whose noise is on another scale. Figure 3 has it."
    )
    width, height, gap, left = 1.72, 1.9, 0.2, 0.75
    body = left + 4 * width + 3 * gap
    title = "Noise on every pixel of the mean count map, over image size and observers"
    with styled():
        page = Page(body, height + 3.9, _LEGEND, title, [here], below=0.45, label="noise levels")
        for column, (level, ours) in enumerate((each, of) for of in (0, 1) for each in LEVELS):
            sigma = _noise(level, ours, *both, delta, cap, samples)
            axes = page.axes(left + column * (width + gap), 0.25, width, height)
            filled = axes.contourf(*both, sigma, 10.0 ** np.arange(-4, 4.1, 0.5), norm=LogNorm())
            axes.contour(*both, sigma, [EXAMPLE_NOISE], colors="white", linewidths=1.4)
            axes.plot(side, people, "*", color="white", mec=INK, ms=11)
            axes.set(xscale="log", yscale="log", xlabel="√px of the picture")
            axes.set(xlim=_SIDES[[0, -1]], ylim=_PEOPLE[[0, -1]])
            axes.set_title(
                f"{_WHOSE[ours]}, {level} (ε = {LEVELS[level]:g})", fontsize=8.5, loc="left"
            )
            _plain_numbers(axes)
            if column:
                axes.set_yticklabels([])
            else:
                axes.set_ylabel("observers")
        powers = [10.0**power for power in range(-4, 5, 2)]
        bar = page.figure.colorbar(filled, cax=page.axes(body + 0.12, 0.25, 0.15, height))
        bar.set_ticks(powers, labels=[f"{power:g}" for power in powers])
        bar.set_label("sd of the noise", fontsize=8.5)
        _draw_slice(page.axes(left, height + 1.15, body - left, 2.75), delta, cap, samples)
    return page.figure


def _noise(
    level: str, ours: int, sides: Floats, people: Floats, delta: float, cap: int, samples: int
) -> Floats:
    if ours:
        return sparse_noise(sides**2, people, LEVELS[level], delta, cap, samples)
    return paper_noise(sides**2, people, LEVELS[level], delta, cap)


def _draw_slice(axes: Axes, delta: float, cap: int, samples: int) -> None:
    """Noise over observers for a picture of 300 × 300 px, as in Figure 2b of Liu et al.."""
    sides = np.full(_PEOPLE.shape, float(EXAMPLE_SIDE))
    for ours, colour in enumerate((ORANGE, BLUE)):
        for level, style in zip(LEVELS, ("-", ":"), strict=True):
            sigma = _noise(level, ours, sides, _PEOPLE, delta, cap, samples)
            axes.plot(_PEOPLE, sigma, style, color=colour, label=f"{_WHOSE[ours]}, {level}")
            if not sigma[0] > EXAMPLE_NOISE > sigma[-1]:
                continue
            enough = observers_for(EXAMPLE_NOISE, _PEOPLE, sigma)
            axes.plot(enough, EXAMPLE_NOISE, "o", color=colour, ms=4)
            axes.annotate(
                f"{enough:.0f}",
                (enough, EXAMPLE_NOISE),
                xytext=(2, 4),
                textcoords="offset points",
                fontsize=SMALL,
                color=colour,
            )
    axes.axhline(EXAMPLE_NOISE, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)))
    axes.set(xscale="log", yscale="log", xlabel="observers", ylabel="sd of the noise")
    axes.set_xlim(_PEOPLE[0], _PEOPLE[-1])
    _plain_numbers(axes)
    axes.set_title(
        f"a picture of {EXAMPLE_SIDE} × {EXAMPLE_SIDE} px, and the observers that bring the noise "
        f"down to {EXAMPLE_NOISE:g}",
        fontsize=9,
        loc="left",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper right", fontsize=8.5, frameon=False)


def _plain_numbers(axes: Axes) -> None:
    """Numbers along logarithmic axes as people write them."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
        axis.set_minor_formatter("")


def observers_for(sigma: float, people: Floats, noise: Floats) -> float:
    """How many observers bring the noise down to this, between those it was computed for.

    >>> round(observers_for(1.0, np.array([10.0, 1000.0]), np.array([10.0, 0.1])), 6)
    100.0
    """
    return float(np.exp(np.interp(-math.log(sigma), -np.log(noise), np.log(people))))


def replicated(counts: PersonCounts, times: int) -> PersonCounts:
    """Everybody so many times over, as the paper makes 50 000 observers of five.

    >>> few = PersonCounts.of_dense(np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> replicated(few, 3).dense.sum(axis=0).tolist()
    [3.0, 6.0]
    """
    shift = np.repeat(np.arange(times) * counts.people, len(counts.person))
    return PersonCounts(
        counts.people * times,
        counts.cells,
        np.tile(counts.person, times) + shift,
        np.tile(counts.cell, times),
        np.tile(counts.count, times),
    )


@dataclass(frozen=True, eq=False)
class _Case:
    """One mechanism at one ε: what it shows but for the draw of its noise, at every few px."""

    name: str
    epsilon: float
    grid: Grid
    signal: Floats
    cell_sd: float


def experiment(
    counts_at: Callable[[Grid], PersonCounts],
    width_px: int,
    height_px: int,
    people: int,
    sigma_px: float,
    *,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = 100,
    mechanisms: Sequence[str] = tuple(CURVES),
    cap: int = 1,
    samples: int = 30,
    delta: float,
    noise: Randomness | None = None,
) -> pl.DataFrame:
    """How like the true heatmap noisy ones are, over ε: not private, and for no release.

    Spreading out is linear, so that each draw of noise is spread out once and serves every ε and
    every mechanism of its law, scaled. All maps, the paper's too, are shown alike: less one
    standard error, nothing below 0, and a total of 1, as the true one has. They are compared at
    every few px, far denser than the point spread.

    Args:
        counts_at: everybody's counts on a grid, of one layer.
        width_px: of the picture.
        height_px: of the picture.
        people: N.
        sigma_px: of the point spread, the same for all.
        epsilons: at least one.
        draws: of the noise, for each mechanism and ε.
        mechanisms: by name.
        cap: m, the most of a person in a pixel.
        samples: M, the most of a person in all.
        delta: of all of them, as the release at hand has it.
        noise: the operating system's randomness by default.

    Returns:
        One row a mechanism and ε: mechanism, epsilon, correlation_mean, correlation_sd, mse_mean
        and mse_sd. A map on which nothing is left has a correlation of 0.
    """
    if draws < 2:
        raise InputError(f"draws must be at least 2 for a standard deviation, got {draws}")
    step = max(1, min(4, int(sigma_px / 4)))

    def seen(cells: Floats, grid: Grid) -> Floats:
        return spread(cells, grid, sigma_px)[::step, ::step]

    pixels = Grid.of_pixels(width_px, height_px)
    known = {pixels: counts_at(pixels)}
    truth = _share(seen(_mean(known[pixels], pixels), pixels), step)
    given = {"delta": delta, "cap": cap, "samples": samples}
    cases, errors = [], {}
    for name, epsilon in itertools.product(mechanisms, epsilons):
        taken = {item.name for item in fields(find(name))}
        mechanism = cast(
            MapMechanism,
            mechanism_named(
                name, epsilon=epsilon, **{key: given[key] for key in given if key in taken}
            ),
        )
        facts = mechanism.facts_of(people, 1, width_px, height_px, sigma_px)
        grid = facts.grid
        if grid not in known:
            known[grid] = counts_at(grid)
        if grid not in errors:
            errors[grid] = spread_error(grid, sigma_px, 1.0)[::step, ::step]
        signal = seen(mechanism.without_noise(known[grid], facts)[0], grid)
        cases.append(_Case(name, float(epsilon), grid, signal, mechanism.cell_sd(facts)))
    source = randomness(None) if noise is None else noise

    def compared(_: int) -> list[tuple[float, float]]:
        spread_out: dict[tuple[Callable[..., Floats], Grid], Floats] = {}
        found = []
        for case in cases:
            key = CURVES[case.name].distribution, case.grid
            if key not in spread_out:
                white = key[0]((case.grid.rows, case.grid.columns), source)
                spread_out[key] = seen(white, case.grid)
            above = case.signal + case.cell_sd * (spread_out[key] - errors[case.grid])
            error = map_error(truth, _share(np.maximum(above, 0.0), step))
            found.append((error.correlation or 0.0, error.mse))
        return found

    # Who brings a generator wants its numbers in order.
    run = parallel if source.private else in_turn
    found = np.array(list(run(compared, range(draws), "drawing noise")))
    means, deviations = found.mean(axis=0), found.std(axis=0, ddof=1)
    return pl.DataFrame(
        {
            "mechanism": [case.name for case in cases],
            "epsilon": [case.epsilon for case in cases],
            "correlation_mean": means[:, 0],
            "correlation_sd": deviations[:, 0],
            "mse_mean": means[:, 1],
            "mse_sd": deviations[:, 1],
        }
    )


def _mean(counts: PersonCounts, grid: Grid) -> Floats:
    """The paper's G, without a cap."""
    summed = np.bincount(counts.cell, weights=counts.count, minlength=counts.cells)
    return np.asarray(summed.reshape(grid.rows, grid.columns) / counts.people)


def _share(heat: Floats, step: int) -> Floats:
    """Shares per px of a total of 1; nothing stays nothing."""
    total = float(heat.sum()) * step**2
    return heat / total if total > 0 else heat


def figure3(rows: pl.DataFrame, people: int, delta: float, draws: int = 100) -> Figure:
    """Correlation and squared error over ε, mean ± sd over draws, the paper's and ours.

    Args:
        rows: of `experiment`.
        people: N.
        delta: as `experiment` had it.
        draws: how many there were.
    """
    note = (
        f"{people:,} observers, δ = {delta:g} as in this release; {draws} draws of the noise, mean "
        "± 1 sd. Every map is spread out by the same point spread, less one standard error, "
        "without what is below 0, and normalised to a total of 1."
    )
    panels = (
        ("correlation", "correlation with the map without noise", "linear"),
        ("mse", "mean squared error in (share per px)²,\nboth maps normalised to sum 1", "log"),
    )
    width, height, left, legend = 3.2, 3.0, 0.55, 0.5
    with styled():
        body = 2 * (left + width) + 0.45
        title = "What is left of the heatmap, over ε"
        page = Page(body, legend + height, _WARNING, title, [note], beside=0.1, below=0.45)
        for column, (measure, words, scale) in enumerate(panels):
            axes = page.axes(left + column * (body - left - width), legend, width, height)
            _draw_curves(axes, rows, measure)
            axes.set(xscale="log", yscale=scale, xlabel="ε, for everything of a person")
            axes.set_ylabel(words)
            _label_epsilons(axes, rows)
            axes.spines[["top", "right"]].set_visible(False)
            if scale == "linear":
                axes.set_ylim(-0.15, 1.05)
                axes.axhline(0.0, color=GREY, linewidth=0.6)
                axes.legend(loc="lower left", bbox_to_anchor=(-0.04, 1.0), ncols=3, frameon=False)
            else:
                axes.yaxis.set_major_formatter("{x:.0e}")
    return page.figure


def _draw_curves(axes: Axes, rows: pl.DataFrame, measure: str) -> None:
    names = rows["mechanism"].unique(maintain_order=True).to_list()
    for place, name in enumerate(names):
        curve, mine = CURVES[name], rows.filter(pl.col("mechanism") == name).sort("epsilon")
        # A little beside each other, so that bars do not overlap.
        aside = 1.012 ** (place - (len(names) - 1) / 2)
        mean, deviation = (mine[f"{measure}_{of}"].to_numpy() for of in ("mean", "sd"))
        axes.errorbar(
            mine["epsilon"].to_numpy() * aside,
            mean,
            deviation,
            color=curve.colour,
            marker=curve.marker,
            linestyle=curve.style,
            markerfacecolor="white" if curve.style == "--" else curve.colour,
            markersize=4.5,
            linewidth=1.3,
            elinewidth=0.9,
            capsize=2,
            label=curve.words,
        )


def _label_epsilons(axes: Axes, rows: pl.DataFrame) -> None:
    epsilons = sorted(set(rows["epsilon"].to_list()))
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.set_xticks([], minor=True)
