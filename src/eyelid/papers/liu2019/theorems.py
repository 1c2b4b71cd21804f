"""The theorems' numbers: what cannot be promised, how much noise is enough, and where it is not."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np

from eyelid.attacks.statistics import clopper_pearson
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.looks import Looks
from eyelid.mechanisms import mechanism
from eyelid.mechanisms.maps.map_mechanism import MapShape
from eyelid.papers.liu2019.maps import MapGaussianPaper, RandomSelection
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.privacy.gaussian import gaussian_delta, gaussian_sigma
from eyelid.privacy.noise import randomness
from eyelid.releases.maps.figures import LEVELS, paper_noise, sparse_noise

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


def no_free_privacy(few: Looks, seed: int) -> Exhibit:
    """Sections 3.3 and 3.4: maps without noise, and maps of people drawn at random."""
    column = "δ that no ε can go below"
    cells = [Cell("map without noise", column, 1.0, Value(1.0), Value(_recovered(few)))]
    for name, words in (("map-rs1", "without replacement"), ("map-rs2", "with replacement")):
        for share in (0.5, 1.0):
            law = mechanism(name, share=share)
            assert isinstance(law, RandomSelection)
            row = f"a share of {share:g} drawn {words}"
            said = Value(law.delta_at_least(PEOPLE))
            # The paper prints formulas and no numbers.
            cells.append(Cell(row, column, as_printed=said, honest=_played(law, seed)))
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


def _recovered(few: Looks) -> float:
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


def _played(law: RandomSelection, seed: int) -> Value:
    """How often the only one who looked shows in the map."""
    counts = PersonCounts.of_dense(np.eye(_PLAYED_PEOPLE, 1))
    shape = MapShape.of(_PLAYED_PEOPLE, 1, Grid(1, 1, 1, 1))
    maps = law.randomised(counts, shape, _GAMES, randomness(seed))
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
        law = MapGaussianPaper(epsilon=epsilon, delta=delta)
        ratios = []
        for count in _FEW_CELLS:
            shape = MapShape.of(_TABLE_PEOPLE, 1, Grid(count, 1, count, 1))
            ratios.append(law.true_delta(shape) / delta)
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
