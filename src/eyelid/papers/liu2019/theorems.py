"""The theorems' numbers: what cannot be promised, how much noise is enough, and where it is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from eyelid.attacks.statistics import clopper_pearson
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.papers.liu2019.maps import MapGaussianPaper, RandomSelection
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.privacy.gaussian import gaussian_delta, gaussian_sigma
from eyelid.privacy.noise import randomness
from eyelid.reporting.drawing import BLUE, GREEN, ORANGE, svg
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
"""A public limit M on the looks of a person, which the paper does not have."""

_PRINTED_SIGMA = 0.0986
_PLAYED_PEOPLE, _GAMES = 200, 2000
_FEW_CELLS = (1, 2, 4, 16, 64, 1024, 90_000)
_TABLE_PEOPLE = 1000


def paper_delta(people: int) -> float:
    """The δ of the paper's levels: N^−1.5."""
    return float(people**-1.5)


def dense_sigma(pixels: float, people: float, epsilon: float, delta: float, cap: int = 1) -> float:
    """The smallest σ that gives (ε, δ) when a person may change every pixel by m."""
    return gaussian_sigma(epsilon, delta, cap * math.sqrt(pixels) / people)


def no_free_privacy(few: GazePoints, seed: int) -> Exhibit:
    """Sections 3.3 and 3.4: maps without noise, and maps of people drawn at random."""
    column = "δ that no ε can go below"
    cells = [Cell("map without noise", column, 1.0, Value(1.0), Value(_recovered(few)))]
    for name, words in (("map-rs1", "without replacement"), ("map-rs2", "with replacement")):
        for share in (0.5, 1.0):
            mechanism = mechanism_named(name, share=share)
            assert isinstance(mechanism, RandomSelection)
            row = f"a share of {share:g} drawn {words}"
            said = Value(mechanism.delta_at_least(PEOPLE))
            # The paper prints formulas and no numbers.
            cells.append(Cell(row, column, as_printed=said, honest=_played(mechanism, seed)))
    formula, seen = cells[-1].ours
    return Exhibit(
        name="Sections 3.3 and 3.4",
        title="there is no free privacy",
        says=(
            "The paper is right that nothing of this protects anybody. Its proof of Theorem 3.3 "
            "ends with 'δ can’t be less than c', which its own formula, 1 − (1 − 1/n)^(cn) ≈ "
            f"1 − e^−c, does not give: as many draws with replacement as there are people (c = 1) "
            f"leave {formula:.3f}, not 1, and {seen:.3f} was seen in play. Poor privacy it is all "
            "the same."
        ),
        protocol=f"The formulas of the proofs (c, and the one above), for {PEOPLE:,} observers.",
        honest_protocol=(
            "Without noise: the share of five observers whose own map comes back exactly when the "
            f"other four are subtracted. Drawn at random: {_GAMES:,} maps of {_PLAYED_PEOPLE} "
            "people of whom one has looked; how often that shows, with 95 % limits."
        ),
        cells=tuple(cells),
        digits=3,
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


def _played(mechanism: RandomSelection, seed: int) -> Value:
    """How often the only one who looked shows in the map."""
    counts = PersonCounts.of_dense(np.eye(_PLAYED_PEOPLE, 1))
    shape = MapFacts.of(_PLAYED_PEOPLE, 1, Grid(1, 1, 1, 1))
    maps = mechanism.randomised(counts, shape, _GAMES, randomness(seed))
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
    reach = math.sqrt(pixels) / PEOPLE
    truly = gaussian_delta(EPSILON, reach / _PRINTED_SIGMA)
    laplacian = math.sqrt(2) * pixels / (EPSILON * PEOPLE)
    sparse_laplacian = math.sqrt(2) * 2 * SAMPLES / (EPSILON * PEOPLE)
    column, limited = "σ of the noise in a pixel", f", at most {SAMPLES} looks of a person"
    return Exhibit(
        name="Theorems 3.4 and 3.5",
        title=f"the noise of the example: {PEOPLE:,} observers, {WIDTH_PX} × {HEIGHT_PX} px",
        says=(
            f"The printed {_PRINTED_SIGMA:g} is said to be 'based on Theorem 3.5', which is the "
            f"Laplacian one and asks for {laplacian:.2f}: we take it for Theorem 3.4's, the "
            f"Gaussian one. That gives {theorem:.5f} as it stands, and {halved:.4f} with ε/4 in "
            f"place of ε/2, as in its proof. {dense:.5f} is enough for the same promise, so that "
            f"with so many pixels the printed noise does hold (its δ is "
            f"{truly:.1e}, below {delta:.1e}); and if a person counts for at most {SAMPLES} looks, "
            f"{sparse:.6f} is, {theorem / sparse:.0f} times less than the theorem asks for. The "
            "Laplacian theorem is right."
        ),
        protocol=f"The theorems, at ε = {EPSILON:g}, δ = N^−1.5 = {delta:.2e} and m = 1.",
        honest_protocol=(
            "The smallest σ with which the Gaussian mechanism is (ε, δ)-private (Balle & Wang "
            "2018), when a person may change every pixel, and when a public limit of looks cuts "
            "off what is more."
        ),
        cells=(
            Cell("Gaussian", column, _PRINTED_SIGMA, Value(theorem), Value(dense)),
            Cell(f"Gaussian{limited}", column, honest=Value(sparse)),
            Cell("Laplacian", column, as_printed=Value(laplacian), honest=Value(laplacian)),
            Cell(f"Laplacian{limited}", column, honest=Value(sparse_laplacian)),
        ),
        digits=6,
    )


def few_cells() -> Exhibit:
    """Theorem 3.4 where it is false: tables and maps of few cells."""
    delta = paper_delta(_TABLE_PEOPLE)
    cells, broken = [], {}
    for level, epsilon in LEVELS.items():
        mechanism = MapGaussianPaper(epsilon=epsilon, delta=delta)
        ratios = []
        for count in _FEW_CELLS:
            facts = MapFacts.of(_TABLE_PEOPLE, 1, Grid(count, 1, count, 1))
            ratios.append(mechanism.true_delta(facts) / delta)
            column = f"{count:,} cell{'s' * (count > 1)}"
            row = f"{level} privacy (ε = {epsilon:g})"
            cells.append(Cell(row, column, 1.0, honest=Value(ratios[-1])))
        broken[level] = [
            count for count, ratio in zip(_FEW_CELLS, ratios, strict=True) if ratio > 1
        ]
    told = " and ".join(
        f"up to {max(counts)} cells at level {level}" for level, counts in broken.items() if counts
    )
    return Exhibit(
        name="Theorem 3.4, few cells",
        title="δ that the printed noise truly gives, over the δ it promises",
        says=(
            f"The theorem is false for few cells: of these it loses more than it promises {told}. "
            "Tables of areas of interest are that small; full pictures are not, and get more noise "
            "than they need."
        ),
        protocol=f"{_TABLE_PEOPLE:,} observers, δ = N^−1.5; the promise is 1.",
        honest_protocol="The exact δ of Gaussian noise of that σ (Balle & Wang 2018).",
        cells=tuple(cells),
    )


_SIDES, _OBSERVERS = (100, 300, 1000), (300, 1000, 10_000)
_PRINTED_OBSERVERS = {"good": 900.0, "okay": 300.0}


def _theorem(side: float, people: float, epsilon: float, cap: int = 1) -> float:
    """Theorem 3.4 at the paper's δ."""
    delta = paper_delta(round(people))
    return float(paper_noise(np.array(side**2), np.array(people), epsilon, delta, cap))


def _dense(side: float, people: float, epsilon: float, cap: int = 1) -> float:
    """What is enough, when a person may change every pixel."""
    return dense_sigma(side**2, people, epsilon, paper_delta(round(people)), cap)


def _sparse(side: float, people: float, epsilon: float, cap: int = 1) -> float:
    """What is enough, when a person counts for so many looks at most."""
    given = (np.array(side**2), np.array(people), epsilon, paper_delta(round(people)))
    return float(sparse_noise(*given, cap, SAMPLES))


def surfaces() -> Exhibit:
    """Figure 2 (a): σ over √r and n at two levels; and over ε and m, which follow."""
    cells = [
        Cell(
            f"{level} privacy (ε = {epsilon:g}), {people:,} observers",
            f"{side} × {side} px",
            as_printed=Value(_theorem(side, people, epsilon)),
            honest=Value(_dense(side, people, epsilon)),
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
            f"The surfaces have the right form, and lie {min(more):.2f} to {max(more):.2f} times "
            "as high as they need to; a public limit on the looks of a person takes the size of "
            "the picture out of it altogether."
        ),
        protocol="Theorem 3.4 with δ = N^−1.5 and m = 1. The paper prints no numbers beside it.",
        honest_protocol="The smallest σ that gives the same promise (Balle & Wang 2018).",
        cells=tuple(cells),
        pictures={"figure-2-noise": _picture()},
        digits=3,
    )


def slice_of_300() -> Exhibit:
    """Figure 2 (b): how many observers bring the noise down to 1.5 on 300 × 300 px."""
    column = f"observers for σ = {EXAMPLE_NOISE:g}"
    cells = [
        Cell(
            f"{level} privacy (ε = {epsilon:g})",
            column,
            _PRINTED_OBSERVERS[level],
            Value(_observers(_theorem, epsilon)),
            Value(_observers(_dense, epsilon)),
        )
        for level, epsilon in LEVELS.items()
    ]
    theirs, ours = cells[0].ours
    return Exhibit(
        name="Figure 2 (b)",
        title=f"a picture of {EXAMPLE_SIDE} × {EXAMPLE_SIDE} px",
        says=(
            f"'Of the order of 900 observers' is right for the theorem ({theirs:.0f} "
            f"at level good); {ours:.0f} are enough. Noise of {EXAMPLE_NOISE:g} where "
            "an observer counts 1 and most pixels have 0 leaves nothing to see before spreading "
            "out."
        ),
        protocol="Theorem 3.4 with δ = N^−1.5 and m = 1, solved for N.",
        honest_protocol="The smallest N for the same promise (Balle & Wang 2018).",
        cells=tuple(cells),
        digits=0,
    )


def _observers(distribution: Callable[[float, float, float], float], epsilon: float) -> float:
    people = np.geomspace(2, 20_000, 60)
    noise = np.array([distribution(EXAMPLE_SIDE, each, epsilon) for each in people])
    return observers_for(EXAMPLE_NOISE, people, noise)


def _picture() -> Markup:
    """The paper's noise and what is enough, over everything that it depends on."""
    side = float(np.sqrt(WIDTH_PX * HEIGHT_PX))
    axes_of = {
        "ε": np.geomspace(0.1, 10, 25),
        "observers": np.geomspace(100, 100_000, 25),
        "√px of the picture": np.geomspace(5, 2000, 25),
        "m, most looks in a pixel": np.arange(1.0, 11.0),
    }
    mechanisms = (
        ("Theorem 3.4", _theorem, ORANGE, "--"),
        ("enough, every pixel", _dense, BLUE, "-"),
        (f"enough, {SAMPLES} looks", _sparse, GREEN, ":"),
    )

    def noise(distribution: Callable[..., float], what: str, values: Floats) -> list[float]:
        given: dict[str, Callable[[float], tuple[float, ...]]] = {
            "ε": lambda value: (side, PEOPLE, value),
            "observers": lambda value: (side, value, EPSILON),
            "√px of the picture": lambda value: (value, PEOPLE, EPSILON),
            "m, most looks in a pixel": lambda value: (side, PEOPLE, EPSILON, int(value)),
        }
        return [distribution(*given[what](float(value))) for value in values]

    def draw(*axes: Axes) -> None:
        for place, (axis, (what, values)) in enumerate(zip(axes, axes_of.items(), strict=True)):
            for words, distribution, colour, style in mechanisms:
                axis.plot(
                    values, noise(distribution, what, values), style, color=colour, label=words
                )
            axis.set(xscale="linear" if what.startswith("m") else "log", yscale="log", xlabel=what)
            axis.set_ylabel("σ in a pixel")
            for scale in (axis.xaxis, axis.yaxis):
                scale.set_major_formatter("{x:g}")
            if not place:
                axis.legend(frameon=False, fontsize=8)

    alt = (
        "Noise in a pixel falls with ε and observers and grows with the picture and the cap; by "
        "Theorem 3.4 it is a little above what is enough, and far above what a limit of looks needs"
    )
    return svg(draw, alt, 5.0, columns=2, rows=2, width=7.4)
