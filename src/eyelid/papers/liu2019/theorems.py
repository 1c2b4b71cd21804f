"""The theorems' numbers: what cannot be promised, how much noise is enough, and where it is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from eyelid.attacks.statistics import clopper_pearson
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.papers.liu2019.maps import MapGaussianPaper, RandomSelection
from eyelid.papers.liu2019.protocols import THEOREMS
from eyelid.papers.page import shown
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.privacy.gaussian import gaussian_delta, gaussian_sigma
from eyelid.privacy.noise import randomness
from eyelid.reporting.drawing import BLUE, GREY, INK, ORANGE, SMALL, svg
from eyelid.reporting.maps.figures import (
    EXAMPLE_NOISE,
    EXAMPLE_SIDE,
    LEVELS,
    observers_for,
    paper_noise,
    sparse_noise,
)

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes


PEOPLE, WIDTH_PX, HEIGHT_PX, EPSILON = 50_000, 1680, 1050, 1.5
SAMPLES = 30
"""A public limit M on the gaze points of an observer, which the paper does not have."""

_PRINTED_SIGMA = 0.0986
_PLAYED_PEOPLE, _GAMES = 200, 2000
_AT_LEAST_C = "from “δ can’t be less than c”"
_FEW_CELLS = (1, 2, 4, 16, 64, 1024, 90_000)
_TABLE_PEOPLE = 1000


def paper_delta(people: float) -> float:
    """The δ of the paper's levels: n^(−3/2)."""
    return float(people**-1.5)


def dense_sigma(pixels: float, people: float, epsilon: float, delta: float) -> float:
    """The smallest σ that gives (ε, δ) when an observer may change every pixel by 1."""
    return gaussian_sigma(epsilon, delta, math.sqrt(pixels) / people)


def no_free_privacy(few: GazePoints, seed: int) -> Exhibit:
    """Sections 3.3 and 3.4: maps without noise, and maps of people drawn at random."""
    column = "δ that no ε can go below"
    cells = [Cell("map without noise", column, 1.0, Value(1.0), Value(_recovered(few)))]
    for name, words in (("map-rs1", "without replacement"), ("map-rs2", "with replacement")):
        for share in (0.5, 1.0):
            drawn = mechanism_named(name, share=share)
            assert isinstance(drawn, RandomSelection)
            row = f"a share of c = {share:g} drawn {words}"
            formula = Value(drawn.delta_at_least(PEOPLE))
            cells.append(Cell(row, column, share, formula, _played(drawn, seed), _AT_LEAST_C))
    formula_at, seen = cells[-1].ours
    return Exhibit(
        name="Sections 3.3 and 3.4",
        title="there is no free privacy",
        says=(
            "The paper is right that nothing of this protects an observer. Its proof of Theorem "
            "3.3 ends with “δ can’t be less than c”, which its own formula, 1 − (1 − 1/n)^(cn) ≈ "
            "1 − e^−c, of the order of c as the proof says, does not give to the letter: as many "
            f"draws with replacement as there are people (c = 1) leave {formula_at:.3f}, not 1, "
            f"and {seen:.3f} was seen in play. That is poor privacy all the same."
        ),
        protocol=THEOREMS.name,
        verdict=Verdict(Outcome.PARTLY, Outcome.YES),
        setting=(
            f"The paper's protocol: the formulas of its proofs for {PEOPLE:,} observers. Played: "
            "the share of five observers whose own map comes back exactly when the other four are "
            f"subtracted; {_GAMES:,} maps of {_PLAYED_PEOPLE} observers of whom one has looked, "
            "and how often that shows, with 95% limits."
        ),
        leak_free_words="ours, played",
        cells=tuple(cells),
        digits=3,
        measured=False,
        data="theory, and games on simulated counts",
        headline=(cells[-1].row, column),
    )


def _recovered(few: GazePoints) -> float:
    """The share of people whose map comes back exactly from everybody's less the others'."""
    people = len(few.people)
    everybody = people * gaze_map(few).values
    own = [gaze_map(few.of_people(each, each + 1)).values for each in range(people)]
    alone = [
        everybody - sum(other for place, other in enumerate(own) if place != each)
        for each in range(people)
    ]
    return fmean(
        float(np.array_equal(np.rint(found), mine)) for found, mine in zip(alone, own, strict=True)
    )


def _played(drawn: RandomSelection, seed: int) -> Value:
    """How often the only one who looked shows in the map."""
    counts = PersonCounts.of_dense(np.eye(_PLAYED_PEOPLE, 1))
    shape = MapFacts.of(_PLAYED_PEOPLE, 1, Grid(1, 1, 1, 1))
    maps = drawn.randomised(counts, shape, _GAMES, randomness(seed))
    seen = int(np.count_nonzero(maps))
    low, high = clopper_pearson(seen, _GAMES)
    return Value(seen / _GAMES, low=float(low), high=float(high))


def example() -> Exhibit:
    """Theorems 3.4 and 3.5: the noise of the paper's own example."""
    pixels, delta = WIDTH_PX * HEIGHT_PX, paper_delta(PEOPLE)
    given = (np.array(float(pixels)), np.array(float(PEOPLE)), EPSILON, delta)
    theorem, sparse = float(paper_noise(*given)), float(sparse_noise(*given, samples=SAMPLES))
    dense = dense_sigma(pixels, PEOPLE, EPSILON, delta)
    halved = math.sqrt(pixels * (EPSILON / 4 + math.log(pixels / delta))) / (PEOPLE * EPSILON)
    sensitivity = math.sqrt(pixels) / PEOPLE
    truly = gaussian_delta(EPSILON, sensitivity / _PRINTED_SIGMA)
    laplacian = math.sqrt(2) * pixels / (EPSILON * PEOPLE)
    sparse_laplacian = math.sqrt(2) * 2 * SAMPLES / (EPSILON * PEOPLE)
    column, limited = "σ of the noise in a pixel", f", at most {SAMPLES} gaze points of an observer"
    return Exhibit(
        name="Theorems 3.4 and 3.5",
        title=f"the noise of the example: {PEOPLE:,} observers, {WIDTH_PX} × {HEIGHT_PX} px",
        says=(
            f"The printed {_PRINTED_SIGMA:g} is said to be “based on Theorem 3.5”, the Laplacian "
            f"one, which asks for {laplacian:.2f}: we take it for Theorem 3.4's. That gives "
            f"{theorem:.5f} as it stands, and {halved:.4f} with ε/4 in place of ε/2, as in its "
            f"proof. For so many pixels the guarantee is valid with either: {dense:.5f} is enough "
            f"(the exact δ of the printed noise is {shown(truly, 2)}, below {shown(delta, 2)}). If "
            f"an observer counts for at most {SAMPLES} gaze points, {sparse:.6f} is, "
            f"{theorem / sparse:.0f} times less than the theorem asks for. The Laplacian theorem "
            "is right."
        ),
        protocol=THEOREMS.name,
        verdict=Verdict(Outcome.YES, Outcome.YES),
        setting=f"ε = {EPSILON:g}, δ = n^(−3/2) = {shown(delta, 2)}, m = 1. The limit of {SAMPLES} "
        "gaze points is not the paper's.",
        leak_free_words="ours, exact",
        cells=(
            Cell("Gaussian", column, _PRINTED_SIGMA, Value(theorem), Value(dense)),
            Cell(f"Gaussian{limited}", column, leak_free=Value(sparse)),
            Cell("Laplacian", column, by_protocol=Value(laplacian), leak_free=Value(laplacian)),
            Cell(f"Laplacian{limited}", column, leak_free=Value(sparse_laplacian)),
        ),
        digits=6,
        measured=False,
    )


def few_cells() -> Exhibit:
    """Theorem 3.4 where it is false: tables and maps of few cells."""
    delta = paper_delta(_TABLE_PEOPLE)
    cells, broken = [], {}
    for level, epsilon in LEVELS.items():
        paper = MapGaussianPaper(epsilon=epsilon, delta=delta)
        exact = []
        for count in _FEW_CELLS:
            facts = MapFacts.of(_TABLE_PEOPLE, 1, Grid(count, 1, count, 1))
            exact.append(paper.true_delta(facts))
            column = f"{count:,} cell{'s' * (count > 1)}"
            row = f"{level} privacy (ε = {epsilon:g})"
            promised = f"δ = n^(−3/2) for n = {_TABLE_PEOPLE:,}"
            cells.append(Cell(row, column, delta, leak_free=Value(exact[-1]), inferred=promised))
        broken[level] = [
            count for count, found in zip(_FEW_CELLS, exact, strict=True) if found > delta
        ]
    words = " and ".join(
        f"up to {max(counts)} cells at level {level}" for level, counts in broken.items() if counts
    )
    worst = max(cell.leak_free.mean for cell in cells if cell.leak_free) / delta
    return Exhibit(
        name="Theorem 3.4, few cells",
        title="the δ that the theorem's noise has, and the δ that it promises",
        says=(
            f"The theorem is false for few cells: of these, δ is larger than promised {words}, by "
            f"a factor of up to {worst:.1f}. Tables of areas of interest are that small; whole "
            "pictures are not, and get more noise than they need."
        ),
        protocol=THEOREMS.name,
        verdict=Verdict(Outcome.OPEN, Outcome.PARTLY),
        setting=f"{_TABLE_PEOPLE:,} observers.",
        quantity="δ of Gaussian noise with the σ of Theorem 3.4",
        leak_free_words="ours, exact",
        cells=tuple(cells),
        digits=6,
        measured=False,
    )


_SIDES, _OBSERVERS = (100, 300, 1000), (300, 1000, 10_000)
PRINTED_OBSERVERS = {"good": 900.0, "okay": 300.0}


def _theorem(side: float, people: float, epsilon: float) -> float:
    """σ of Theorem 3.4 at the paper's δ = n^(−3/2)."""
    delta = paper_delta(people)
    return float(paper_noise(np.array(side**2), np.array(people), epsilon, delta))


def _dense(side: float, people: float, epsilon: float) -> float:
    """The smallest σ at the paper's δ, when an observer may change every pixel."""
    return dense_sigma(side**2, people, epsilon, paper_delta(people))


def surfaces() -> Exhibit:
    """Figure 2 (a): σ over √r and n at two levels."""
    cells = [
        Cell(
            f"{level} privacy (ε = {epsilon:g}), {people:,} observers",
            f"{side} × {side} px",
            by_protocol=Value(_theorem(side, people, epsilon)),
            leak_free=Value(_dense(side, people, epsilon)),
        )
        for level, epsilon in LEVELS.items()
        for people in _OBSERVERS
        for side in _SIDES
    ]
    more = [theirs / ours for theirs, ours in (cell.ours for cell in cells)]
    return Exhibit(
        name="Figure 2 (a)",
        title="noise in a pixel, over the size of the picture and the number of observers",
        says=(
            f"The surfaces lie {min(more):.2f} to {max(more):.2f} times as high as they need to: "
            "“any value above the upper surface will provide good privacy” is true of these. A "
            "public limit on the gaze points of an observer takes the size of the picture out of "
            "it altogether."
        ),
        protocol=THEOREMS.name,
        verdict=Verdict(Outcome.OPEN, Outcome.YES if min(more) >= 1 else Outcome.NO),
        setting="The paper prints no numbers beside its surfaces; ranges of the axes are ours.",
        quantity="σ of the noise in a pixel",
        leak_free_words="ours, exact",
        cells=tuple(cells),
        pictures={"figure-2-surfaces": _surfaces()},
        digits=3,
        measured=False,
    )


def slice_of_300() -> Exhibit:
    """Figure 2 (b): how many observers bring the noise down to 1.5 on 300 × 300 px."""
    column = f"observers for σ = {EXAMPLE_NOISE:g}"
    cells = [
        Cell(
            f"{level} privacy (ε = {epsilon:g})",
            column,
            PRINTED_OBSERVERS[level],
            Value(observers_needed(_theorem, epsilon)),
            Value(observers_needed(_dense, epsilon)),
        )
        for level, epsilon in LEVELS.items()
    ]
    (good, enough), (okay, _) = (cell.ours for cell in cells)
    return Exhibit(
        name="Figure 2 (b)",
        title=f"a picture of {EXAMPLE_SIDE} × {EXAMPLE_SIDE} px",
        says=(
            f"“Of the order of n = 900 observers” is right for the theorem ({good:.0f} at level "
            f"good), and so are 300 at level okay ({okay:.0f}); {enough:.0f} are enough for the "
            "same guarantee at level good."
        ),
        protocol=THEOREMS.name,
        verdict=Verdict(Outcome.YES, Outcome.YES),
        setting="δ = n^(−3/2) changes along the curve with n, as in the paper.",
        leak_free_words="ours, exact",
        cells=tuple(cells),
        pictures={"figure-2-slice": _slice()},
        digits=0,
        measured=False,
    )


def observers_needed(noise: Callable[[float, float, float], float], epsilon: float) -> float:
    """How many observers bring a noise down to 1.5 on 300 × 300 px, δ being n^(−3/2)."""
    people = np.geomspace(2, 20_000, 400)
    found = np.array([noise(EXAMPLE_SIDE, each, epsilon) for each in people])
    return observers_for(EXAMPLE_NOISE, people, found)


def _surfaces() -> Markup:
    """Both levels over √r and n; the point is the example of Figure 2 (b)."""
    sides, people = np.meshgrid(np.linspace(50, 500, 19), np.linspace(200, 1500, 27))

    def draw(axis: Axes) -> None:
        figure = axis.figure
        axis.remove()
        # A surface needs axes of its own kind.
        space: Any = figure.add_subplot(projection="3d", computed_zorder=False)
        for level, colour in (("okay", BLUE), ("good", ORANGE)):
            noise = paper_noise(sides**2, people, LEVELS[level], people**-1.5)
            words = f"{level} privacy (ε = {LEVELS[level]:g}), Theorem 3.4"
            space.plot_surface(
                sides, people, noise, color=colour, alpha=0.75, linewidth=0.2, edgecolor="white"
            )
            space.plot([], [], [], color=colour, linewidth=6, label=words)
        observers = observers_needed(_theorem, LEVELS["good"])
        words = f"good privacy at σ = {EXAMPLE_NOISE:g}, {EXAMPLE_SIDE} × {EXAMPLE_SIDE} px"
        space.plot(
            [EXAMPLE_SIDE], [observers], [EXAMPLE_NOISE], "o", color=INK, markersize=5, label=words
        )
        space.set(xlabel="√r, px", ylabel="n, observers", zlabel="σ in a pixel")
        space.view_init(elev=22, azim=-55)
        space.set_box_aspect((4, 4, 3.4), zoom=1.0)
        space.set_yticks([500, 1000, 1500])
        figure.legend(*space.get_legend_handles_labels(), loc="outside upper left", frameon=False)

    alt = (
        "Two surfaces over image size and observers: noise grows with the picture, falls with "
        "observers, and is higher for good than for okay privacy"
    )
    return svg(draw, alt, 4.0, width=5.2)


def _slice() -> Markup:
    """Noise over observers at 300 × 300 px, and the example noise as a dotted line."""
    people = np.geomspace(50, 5000, 60)
    # Numbers stand off the lines: to the right of the upper one, to the left of the lower one.
    lines = (
        ("Theorem 3.4", _theorem, "--", "o", (3, 5), "left"),
        ("exact", _dense, "-", "s", (-3, -11), "right"),
    )

    def draw(axis: Axes) -> None:
        for level, colour in (("good", ORANGE), ("okay", BLUE)):
            for words, noise, style, marker, off, side in lines:
                values = [noise(EXAMPLE_SIDE, each, LEVELS[level]) for each in people]
                axis.plot(people, values, style, color=colour, label=f"{words}, {level} privacy")
                needed = observers_needed(noise, LEVELS[level])
                axis.plot(needed, EXAMPLE_NOISE, marker, color=colour, markersize=4)
                axis.annotate(
                    f"{needed:.0f}",
                    (needed, EXAMPLE_NOISE),
                    xytext=off,
                    ha=side,
                    textcoords="offset points",
                    fontsize=SMALL,
                    color=colour,
                )
        axis.axhline(
            EXAMPLE_NOISE, color=GREY, linestyle=":", label=f"σ = {EXAMPLE_NOISE:g}, the example"
        )
        axis.set(xscale="log", yscale="log", xlabel="n, observers", ylabel="σ in a pixel")
        for scale in (axis.xaxis, axis.yaxis):
            scale.set_major_formatter("{x:g}")
        axis.legend(frameon=False, fontsize=8)

    alt = "Noise in a pixel of 300 × 300 over observers, by the theorem and exactly, at two levels"
    return svg(draw, alt, 3.4)
