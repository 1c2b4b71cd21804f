"""Figures 2 (c, d) and 3: what the noise leaves to see."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eyelid.attacks.maps import map_error
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.grid import Floats
from eyelid.gaze.maps.placement import default_sigma_px
from eyelid.gaze.maps.spread import point_spread
from eyelid.gaze.simulator.scenes import simulated_scene
from eyelid.papers.liu2019.heatmaps import (
    AT,
    CROWD,
    DENSE,
    EPSILONS,
    GAUSSIAN,
    KINDS,
    LAPLACIAN,
    NOISES,
    SAMPLED,
    SHOWN_EPSILON,
    Maps,
    Noise,
    noise_sd,
    on_hotspot,
    share_of,
)
from eyelid.papers.liu2019.observers import FEW
from eyelid.papers.liu2019.protocols import HEATMAPS
from eyelid.papers.liu2019.theorems import PRINTED_OBSERVERS, SAMPLES
from eyelid.papers.page import shown
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.privacy.noise import gaussian_noise
from eyelid.reporting.drawing import GREY, SMALL, svg
from eyelid.reporting.maps.figures import EXAMPLE_NOISE, EXAMPLE_SIDE

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_SOUND = "ours, valid for copies"
_NOT_OF_FIVE = (
    f"None of these maps could be published of the {FEW} people who were recorded (see 'Whom the "
    "copies protect')."
)
_POINTS_EACH = (30, 300, 3000)
# Before it is said where hotspots are.
_FEWEST_DRAWS = 10
# Hotspots as wide as in the simulator's scenes of 1680 px.
_HOTSPOT_SHARE = 60 / 1680
FOUND = "share of draws that are hottest on a hotspot of the original"
_HOTSPOT = "A hotspot has at least half of the original's maximum; limits are over draws."


def row_of(noise: Noise, kind: str) -> str:
    """The row of a kind of noise on a kind of gaze points."""
    return f"{noise.words}, {kind}"


def figure3(maps: Maps) -> tuple[Exhibit, Exhibit]:
    """Correlation and squared error over ε, of both kinds of noise."""
    correlations: list[Cell] = []
    errors: list[Cell] = []
    for kind in KINDS:
        for noise in NOISES:
            for epsilon in EPSILONS:
                theirs, ours = (
                    maps.likeness(kind, noise, name, epsilon) for name in (noise.paper, noise.ours)
                )
                place = row_of(noise, kind), f"ε = {epsilon:g}"
                for cells, measure in ((correlations, 0), (errors, 1)):
                    cells.append(Cell(*place, None, theirs[measure], ours[measure]))
    at = {cell.row: cell.ours for cell in correlations if cell.column == AT}
    off = {cell.row: cell.ours for cell in errors if cell.column == AT}
    few, gaussian, dense = (row_of(GAUSSIAN, kind) for kind in KINDS)
    _, wide, laplacian = (row_of(LAPLACIAN, kind) for kind in KINDS)
    order = order_outcome(correlations, errors)
    ratio = off[wide][0] / off[gaussian][0]
    least = min(ours for _, ours in at.values())
    points = ", ".join(f"{maps.points_each(kind):,.0f} {kind}" for kind in KINDS)
    setting = f"Gaze points each: {points}. The paper prints a figure without numbers."
    measured = Exhibit(
        name="Figure 3",
        title="",
        protocol=HEATMAPS.name,
        verdict=Verdict(Outcome.OPEN, order),
        setting=setting,
        leak_free_words=_SOUND,
        headline=(gaussian, AT),
    )
    return (
        replace(
            measured,
            name="Figure 3, correlation",
            title="likeness of noisy heatmaps to the original, over ε",
            says=(
                f"At {AT} Gaussian noise leaves a correlation of {shown(at[gaussian][0], 2)} for "
                f"{SAMPLED}, {shown(at[dense][0], 2)} for {DENSE} and {shown(at[few][0], 2)} for "
                f"fixations, Laplacian noise {shown(at[laplacian][0], 2)} for {DENSE}. The "
                "theorems let an observer change every pixel. If a copy counts for at most "
                f"{SAMPLES} gaze points, at least {shown(least, 2)} is left at the same ε and δ. "
                f"{_NOT_OF_FIVE}"
            ),
            quantity="correlation with the heatmap without noise, over all pixels",
            cells=tuple(correlations),
            pictures={"figure-3-correlation": _curves(maps, correlations, "correlation", "linear")},
        ),
        replace(
            measured,
            name="Figure 3, mean squared error",
            title="mean squared error of noisy heatmaps, over ε",
            says=(
                f"At {AT} the squared error under Laplacian noise is {ratio:,.0f} times that under "
                f"Gaussian noise. If a copy counts for at most {SAMPLES} gaze points, the errors "
                f"of {SAMPLED} are {shown(off[wide][1], 2)} and {shown(off[gaussian][1], 2)}. "
                f"{_NOT_OF_FIVE}"
            ),
            quantity="mean squared error over all pixels, the kernel's peak being 1",
            cells=tuple(errors),
            pictures={"figure-3-error": _curves(maps, errors, "mean squared error", "log")},
        ),
    )


def order_outcome(correlations: Sequence[Cell], errors: Sequence[Cell]) -> Outcome:
    """Whether both measures are in the paper's order; of a single draw nothing is known."""
    if any(cell.by_protocol and cell.by_protocol.runs == 1 for cell in correlations):
        return Outcome.OPEN
    return Outcome.YES if in_order(correlations, 1) and in_order(errors, -1) else Outcome.NO


def in_order(cells: Sequence[Cell], sign: int) -> bool:
    """Whether a measure gets better with ε and is better under Gaussian noise, as the paper says.

    Nothing may clearly be the other way round, and somewhere Gaussian noise must clearly be better.

    Args:
        cells: of one measure, by noise, kind and ε.
        sign: 1 where more is better, −1 where less is.
    """
    value = {(cell.row, cell.column): cell.by_protocol for cell in cells if cell.by_protocol}
    columns = [f"ε = {epsilon:g}" for epsilon in EPSILONS]

    def better(one: tuple[str, str], other: tuple[str, str]) -> bool:
        errors = [(value[at].spread or 0.0) ** 2 / (value[at].runs or 1) for at in (one, other)]
        return sign * (value[one].mean - value[other].mean) > 2 * math.sqrt(sum(errors))

    by_epsilon = [
        ((row_of(noise, kind), columns[-1]), (row_of(noise, kind), columns[0]))
        for noise in NOISES
        for kind in KINDS
    ]
    by_noise = [
        ((row_of(GAUSSIAN, kind), column), (row_of(LAPLACIAN, kind), column))
        for kind in KINDS
        for column in columns
    ]
    contrary = any(better(other, one) for one, other in (*by_epsilon, *by_noise))
    return not contrary and any(better(one, other) for one, other in by_noise)


def _curves(maps: Maps, cells: Sequence[Cell], measure: str, scale: str) -> Markup:
    """A panel for each kind of gaze points."""

    def draw(*axes: Axes) -> None:
        for axis, kind in zip(axes, KINDS, strict=True):
            for noise in NOISES:
                mine = [cell for cell in cells if cell.row == row_of(noise, kind)]
                for style, marker, words, values in (
                    ("--", "o", "paper’s protocol", [cell.by_protocol for cell in mine]),
                    ("-", "s", f"{noise.ours}, same copies", [cell.leak_free for cell in mine]),
                ):
                    known = [value for value in values if value is not None]
                    axis.errorbar(
                        EPSILONS,
                        [value.mean for value in known],
                        [value.spread or 0.0 for value in known],
                        linestyle=style,
                        marker=marker,
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

    sentence = "; ".join(
        f"{cell.row}: {' and '.join(shown(number, 2) for number in cell.numbers)}"
        for cell in cells
        if cell.column == AT
    )
    alt = f"{measure} over ε{maps.observers.simulated}; at 1.5, the paper's and ours: {sentence}"
    return svg(draw, alt, 3.2, columns=len(KINDS), width=9.0)


def figure2_heatmaps(maps: Maps) -> Exhibit:
    """Figure 2 (c, d) of the five observers: the heatmap, and what is seen of it at ε = 1."""
    column = f"ε = {SHOWN_EPSILON:g}, {CROWD:,} copies"
    cells = []
    for kind in KINDS:
        theirs, ours = (
            maps.likeness(kind, GAUSSIAN, name, SHOWN_EPSILON)[0]
            for name in (GAUSSIAN.paper, GAUSSIAN.ours)
        )
        cells.append(Cell(f"correlation, {kind}", column, None, theirs, ours))
    found = [maps.found_again(kind) for kind in KINDS]
    for kind, value in zip(KINDS, found, strict=True):
        cells.append(Cell(f"{FOUND}, {kind}", column, None, value))
    sigma, enough = (
        noise_sd(name, SHOWN_EPSILON, maps.observers) for name in (GAUSSIAN.paper, GAUSSIAN.ours)
    )
    cells.append(Cell("σ of the noise in a pixel", column, None, Value(sigma), Value(enough)))
    theirs_at, ours_at = cells[1].ours
    pictures = (
        (f"(c) {SAMPLED}, no noise{maps.observers.simulated}", maps.kinds[SAMPLED].truth),
        (f"(d) {SAMPLED}, Theorem 3.4", maps.noisy(SAMPLED, GAUSSIAN.paper)),
        (f"(d) {DENSE}, Theorem 3.4", maps.noisy(DENSE, GAUSSIAN.paper)),
        (f"{SAMPLED}, map-gaussian", maps.noisy(SAMPLED, GAUSSIAN.ours)),
    )
    return Exhibit(
        name="Figure 2 (c, d), 1050 × 1680 px",
        title="the heatmap of the five observers, and the same with noise",
        says=(
            f"With the noise of Theorem 3.4 ({sigma:.3f} in a pixel) a heatmap of {SAMPLED} has a "
            f"correlation of {shown(theirs_at, 2)} with the original. It is hottest on one of the "
            f"original's hotspots in {shown(found[1].mean, 2)} of draws, with {DENSE} in "
            f"{shown(found[2].mean, 2)}, with fixations in {shown(found[0].mean, 2)}: how much "
            f"gaze there is decides. Where a copy counts for at most {SAMPLES} gaze points, "
            f"σ = {enough:.6f} is enough, with a correlation of {shown(ours_at, 2)}. {_NOT_OF_FIVE}"
        ),
        protocol=HEATMAPS.name,
        verdict=Verdict(Outcome.OPEN, unchanged(found)),
        setting="The paper shows a simulated heatmap of unprinted size and no number, and says: "
        f"“The location of the hotspots is unchanged for all practical purposes”. {_HOTSPOT}",
        leak_free_words=_SOUND,
        cells=tuple(cells),
        pictures={"figure-2-heatmaps": _heatmaps(pictures)},
        headline=(cells[1].row, column),
    )


def unchanged(found: Sequence[Value]) -> Outcome:
    """Whether hotspots stay where they are: in all maps, in none, or only in some.

    Of a few draws that is not known.
    """
    if any(value.runs is not None and value.runs < _FEWEST_DRAWS for value in found):
        return Outcome.OPEN
    if all(value.mean >= 0.95 for value in found):
        return Outcome.YES
    return Outcome.PARTLY if any(value.mean >= 0.5 for value in found) else Outcome.NO


def figure2_simulated(repeats: int, seed: int) -> Exhibit:
    """Figure 2 (c, d) at the size of Figure 2 (b): simulated observers on 300 × 300 px."""
    people, side = int(PRINTED_OBSERVERS["good"]), EXAMPLE_SIDE
    sigma_px = default_sigma_px(side)
    likeness, found, pictures = [], [], []
    for points in _POINTS_EACH:
        scene = simulated_scene(
            people,
            width_px=side,
            height_px=side,
            hotspot_sd_px=_HOTSPOT_SHARE * side,
            fixations=points,
            seed=seed,
        )
        truth = point_spread(gaze_map(scene).values, sigma_px)
        capped = gaze_map(scene, cap=1).values
        noisy = [
            point_spread(capped + _example_noise(seed, number, points), sigma_px)
            for number in range(repeats)
        ]
        likeness.append(
            Value.of_runs([map_error(truth, heat).correlation or 0.0 for heat in noisy])
        )
        found.append(share_of([on_hotspot(truth, heat) for heat in noisy]))
        pictures += [(f"(d) {points:,} gaze points each", noisy[0])]
    pictures.insert(0, ("(c) without noise, simulated people", truth))
    columns = [f"{points:,} gaze points each" for points in _POINTS_EACH]
    cells = [
        *(Cell("correlation", *at) for at in _columns(columns, likeness)),
        *(Cell(FOUND, *at) for at in _columns(columns, found)),
    ]
    return Exhibit(
        name="Figure 2 (c, d), 300 × 300 px",
        title=f"a simulated heatmap of {people} observers under noise of {EXAMPLE_NOISE:g}",
        says=(
            f"Noise of {EXAMPLE_NOISE:g} where an observer counts at most 1 leaves a correlation "
            f"of {shown(likeness[0].mean, 2)} if everybody has {_POINTS_EACH[0]} gaze points, "
            f"{shown(likeness[1].mean, 2)} with {_POINTS_EACH[1]} and "
            f"{shown(likeness[2].mean, 2)} with {_POINTS_EACH[2]:,}: whether hotspots stay where "
            "they are depends on how much gaze there is."
        ),
        protocol=HEATMAPS.name,
        verdict=Verdict(Outcome.OPEN, unchanged(found)),
        setting=f"Inferred: {people} observers, 300 × 300 px and σ = {EXAMPLE_NOISE:g}, the "
        "example of Figure 2 (b), with four hotspots of the simulator and a point spread of "
        f"{sigma_px:.1f} px. {_HOTSPOT}",
        cells=tuple(cells),
        pictures={"figure-2-simulated": _heatmaps(pictures)},
        measured=False,
        data="simulated (scene)",
        headline=("correlation", columns[1]),
    )


def _columns(columns: Sequence[str], values: Sequence[Value]) -> list[tuple[str, None, Value]]:
    return [(column, None, value) for column, value in zip(columns, values, strict=True)]


def _example_noise(seed: int, number: int, points: int) -> Floats:
    rng = np.random.default_rng([seed, number, points])
    return gaussian_noise(EXAMPLE_NOISE, (EXAMPLE_SIDE, EXAMPLE_SIDE), rng)


def _heatmaps(pictures: Sequence[tuple[str, Floats]]) -> Markup:
    def draw(*axes: Axes) -> None:
        for axis, (words, heat) in zip(axes, pictures, strict=True):
            # Far denser than the point spread.
            step = max(1, len(heat) // 260)
            seen = np.maximum(heat[::step, ::step], 0.0)
            axis.imshow(seen, cmap="viridis", interpolation="nearest")
            axis.set_title(words, fontsize=SMALL, loc="left")
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_visible(False)

    alt = "Heatmaps: " + ", ".join(words for words, _ in pictures)
    return svg(draw, alt, 2.0, columns=len(pictures), width=9.0)
