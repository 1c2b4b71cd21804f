"""Are the samplers what they say? A chi-square test, and planted faults that it must catch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.privacy.noise import (
    DiscreteBox,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteNoise,
    Randomness,
)
from eyelid.privacy.noise.randomness import below

# Refutes a true sampler once in a hundred million tests.
ALPHA = 1e-8
_SCALES = (1, 2, 3, 7, 50, 12_345, 2**34 + 17)
_DISTRIBUTIONS: tuple[type[DiscreteNoise], ...] = (DiscreteLaplace, DiscreteGaussian)

# Scales and numbers of coordinates of box noise: the acceptance rate is about exp(−d/2t).
_BOXES = ((1, 1), (2, 2), (5, 8), (50, 3), (2**20, 1), (2**20, 8), (2**30 + 17, 40))
_FAULTY_BOX = (10, 8)

Draw = Callable[[int, Randomness], NDArray[np.int64]]


@dataclass(frozen=True)
class SamplerResult:
    """One chi-square test.

    Attributes:
        sampler: its name.
        scale: in grid steps.
        draws: how many.
        p_value: of the chi-square statistic.
    """

    sampler: str
    scale: int
    draws: int
    p_value: float

    @property
    def refuted(self) -> bool:
        """Whether the draws cannot come from the distribution."""
        return self.p_value < ALPHA


def check_samplers(draws: int, noise: Randomness) -> Iterator[SamplerResult]:
    """Test the exact samplers from the smallest scales to the usual one."""
    for distribution in _DISTRIBUTIONS:
        for scale in _SCALES:
            sampler = distribution(scale)
            yield chi_square(sampler, sampler.draw, draws, noise, sampler.label)
    for scale, dimension in _BOXES:
        box = DiscreteBox(scale, dimension)
        vectors = draws // dimension
        yield from box_chi_squares(box, box.draw((vectors, dimension), noise))


def faulty_samplers(draws: int, noise: Randomness) -> Iterator[tuple[str, str, SamplerResult]]:
    """Tests of samplers with a planted fault: sampler, fault, and the test's result."""
    for distribution in _DISTRIBUTIONS:
        true = distribution(20)
        faults = {"scale × 0.85": distribution(17).draw, "zero counted twice": _zero_twice(true)}
        for fault, draw in faults.items():
            yield true.label, fault, chi_square(true, draw, draws, noise, true.label)
    box = DiscreteBox(*_FAULTY_BOX)
    for fault, faulty in _FAULTY_BOXES.items():
        vectors = faulty(box, draws // box.dimension, noise)
        worst = min(box_chi_squares(box, vectors), key=lambda result: result.p_value)
        yield box.label, fault, worst


def _one_part_too_few(box: DiscreteBox, count: int, noise: Randomness) -> NDArray[np.int64]:
    """The law of the largest number taken for that of the cube."""
    laplace = DiscreteLaplace(box.scale)
    half = laplace.geometric(count * box.dimension, noise).reshape(count, -1).sum(axis=1)
    return _uniform_within(half, box.dimension, noise)


def _every_proposal(box: DiscreteBox, count: int, noise: Randomness) -> NDArray[np.int64]:
    """Cubes as they are proposed, none rejected."""
    laplace = DiscreteLaplace(box.scale)
    parts = laplace.geometric(count * (box.dimension + 1), noise)
    return _uniform_within(parts.reshape(count, -1).sum(axis=1), box.dimension, noise)


def _on_the_surface(box: DiscreteBox, count: int, noise: Randomness) -> NDArray[np.int64]:
    """One number at the end of the cube."""
    drawn = box.draw((count, box.dimension), noise)
    drawn[:, 0] = np.where(drawn[:, 0] < 0, -1, 1) * np.abs(drawn).max(axis=1)
    return drawn


def _each_alone(box: DiscreteBox, count: int, noise: Randomness) -> NDArray[np.int64]:
    """Independent Laplace noise of the box's own scale, which costs d times as much."""
    return DiscreteLaplace(box.scale).draw((count, box.dimension), noise)


def _of_less_scale(box: DiscreteBox, count: int, noise: Randomness) -> NDArray[np.int64]:
    return DiscreteBox(int(0.85 * box.scale), box.dimension).draw((count, box.dimension), noise)


_FAULTY_BOXES: dict[str, Callable[[DiscreteBox, int, Randomness], NDArray[np.int64]]] = {
    "scale × 0.85": _of_less_scale,
    "one geometric part too few": _one_part_too_few,
    "every proposal accepted": _every_proposal,
    "one number at the end of the cube": _on_the_surface,
    "each number with noise of its own": _each_alone,
}


def _uniform_within(
    half: NDArray[np.int64], dimension: int, noise: Randomness
) -> NDArray[np.int64]:
    """Vectors that are uniform on cubes."""
    limits = np.broadcast_to(2 * half[:, None] + 1, (half.size, dimension))
    return below(noise, limits) - half[:, None]


def _zero_twice(distribution: DiscreteNoise) -> Draw:
    """Sign and magnitude without rejecting −0, the classic slip."""

    def draw(count: int, noise: Randomness) -> NDArray[np.int64]:
        draws = distribution.draw(2 * count, noise)
        weight = float(np.exp(distribution.log_mass(np.zeros(1)))[0])
        fresh = noise.words(count).astype(np.float64) * 2.0**-64
        return np.where(fresh < 2 * weight / (1 + weight), 0, draws[draws != 0][:count])

    return draw


def chi_square(
    distribution: DiscreteNoise, draw: Draw, draws: int, noise: Randomness, name: str
) -> SamplerResult:
    """Counts in cells against probabilities, computed in another way than they are drawn."""
    edges = _edges(distribution)
    counts = _counted(draw(draws, noise), edges)
    p_value = _p_value(counts, np.diff(_below(distribution, edges), prepend=0.0, append=1.0))
    return SamplerResult(name, distribution.scale, draws, p_value)


def box_chi_squares(box: DiscreteBox, vectors: NDArray[np.int64]) -> Iterator[SamplerResult]:
    """Draws of box noise: their largest numbers, single numbers, and who is the largest."""
    last = box.dimension - 1
    reach = box.scale * (box.dimension + 1 + 12 * math.sqrt(box.dimension + 1))
    steps = np.unique(np.linspace(-1, reach, 101).astype(np.int64))
    sides = np.unique(np.concatenate([-steps, steps]))
    norms = np.abs(vectors).max(axis=1)
    counts = {
        "largest": (_counted(norms, steps), _norm_below(box, steps)),
        "first": (_counted(vectors[:, 0], sides), 1 - box.marginal_above(sides)),
        "last": (_counted(vectors[:, last], sides), 1 - box.marginal_above(sides)),
    }
    for what, (counted, under) in counts.items():
        p_value = _p_value(counted, np.diff(under, prepend=0.0, append=1.0))
        yield SamplerResult(_box_name(box, what), box.scale, len(vectors), p_value)
    # Of equal ones none is the largest; which sides they lie on is as even.
    alone = ((np.abs(vectors) == norms[:, None]).sum(axis=1) == 1) & (norms > 0)
    which = np.abs(vectors[alone]).argmax(axis=1)
    sign = (vectors[alone, which] > 0).astype(np.int64)
    counted = np.bincount(2 * which + sign, minlength=2 * box.dimension)
    even = np.full(2 * box.dimension, 0.5 / box.dimension)
    p_value = _p_value(counted, even)
    yield SamplerResult(_box_name(box, "which"), box.scale, len(vectors), p_value)


def _box_name(box: DiscreteBox, what: str) -> str:
    return f"{box.label} of {box.dimension}, {what}"


def _norm_below(box: DiscreteBox, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(‖z‖∞ ≤ edge): a cube's points, each with its mass; of large scales the integral."""
    from scipy.special import gammainc

    if box.scale > 50:
        found: NDArray[np.float64] = gammainc(box.dimension, (edges + 0.5) / box.scale)
        return np.where(edges < 0, 0.0, found)
    r = np.arange(edges[-1] + 1)
    points = (2.0 * r + 1) ** box.dimension - np.maximum(2.0 * r - 1, 0) ** box.dimension
    below_r = np.cumsum(points * np.exp(box.log_mass(r[:, None])))
    return np.where(edges < 0, 0.0, below_r[np.maximum(edges, 0)])


def _counted(draws: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many are in the cells (−∞, e0], (e0, e1], …, (e_last, ∞)."""
    return np.bincount(np.searchsorted(edges, draws), minlength=edges.size + 1)


def _p_value(counts: NDArray[np.int64], shares: NDArray[np.float64]) -> float:
    """The p-value of the chi-square statistic; cells of which little is expected are one."""
    from scipy.stats import chi2

    expected = counts.sum() * shares
    keep = expected >= 10
    observed = np.append(counts[keep], counts[~keep].sum())
    wanted = np.append(expected[keep], expected[~keep].sum())
    if wanted[-1] < 10:
        observed = np.append(observed[:-2], observed[-2:].sum())
        wanted = np.append(wanted[:-2], wanted[-2:].sum())
    statistic = float(((observed - wanted) ** 2 / wanted).sum())
    return float(chi2.sf(statistic, observed.size - 1))


def _edges(distribution: DiscreteNoise) -> NDArray[np.int64]:
    """Cell borders: every integer at small scales, 200 cells at large ones."""
    reach = 12 * distribution.scale
    return (
        np.unique(np.linspace(-reach, reach, 201).astype(np.int64))
        if distribution.scale > 50
        else (np.arange(-reach, reach + 1))
    )


def _below(distribution: DiscreteNoise, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(k ≤ edge), from the closed form or by summation."""
    from scipy.special import ndtr

    below: NDArray[np.float64]
    if isinstance(distribution, DiscreteLaplace):
        q = np.exp(-1.0 / distribution.scale)
        tail = np.exp(-np.abs(edges) / distribution.scale) / (1 + q)
        below = np.where(edges >= 0, 1 - q * tail, tail)
    elif distribution.scale > 50:
        # The discrete sum is the integral up to half a step, to within 1e-10 at these scales.
        below = ndtr((edges + 0.5) / distribution.scale)
    else:
        everything = np.arange(-40 * distribution.scale, 40 * distribution.scale + 1)
        below = np.cumsum(np.exp(distribution.log_mass(everything)))[
            edges + 40 * distribution.scale
        ]
    return below
