"""Are the samplers what they say? A chi-square test, and planted faults that it must catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.privacy.noise import DiscreteGaussian, DiscreteLaplace, DiscreteNoise, Randomness

# Refutes a true sampler once in a hundred million tests.
ALPHA = 1e-8
_SCALES = (1, 2, 3, 7, 50, 12_345, 2**34 + 17)
_DISTRIBUTIONS: tuple[type[DiscreteNoise], ...] = (DiscreteLaplace, DiscreteGaussian)

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
    """Test both exact samplers from the smallest scales to the usual one."""
    for distribution in _DISTRIBUTIONS:
        for scale in _SCALES:
            sampler = distribution(scale)
            yield chi_square(sampler, sampler.draw, draws, noise, sampler.label)


def faulty_samplers(draws: int, noise: Randomness) -> Iterator[tuple[str, str, SamplerResult]]:
    """The same tests on samplers with a planted fault: sampler, fault, and the test's result."""
    for distribution in _DISTRIBUTIONS:
        true = distribution(20)
        faults = {"scale × 0.85": distribution(17).draw, "zero counted twice": _zero_twice(true)}
        for fault, draw in faults.items():
            yield true.label, fault, chi_square(true, draw, draws, noise, true.label)


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
    from scipy.stats import chi2

    edges = _edges(distribution)
    # Cells are (−∞, e0], (e0, e1], …, (e_last, ∞).
    counts = np.bincount(np.searchsorted(edges, draw(draws, noise)), minlength=edges.size + 1)
    below = np.append(_below(distribution, edges), 1.0)
    expected = draws * np.diff(below, prepend=0.0)
    keep = expected >= 10
    observed = np.append(counts[keep], counts[~keep].sum())
    wanted = np.append(expected[keep], expected[~keep].sum())
    if wanted[-1] < 10:
        observed = np.append(observed[:-2], observed[-2:].sum())
        wanted = np.append(wanted[:-2], wanted[-2:].sum())
    statistic = float(((observed - wanted) ** 2 / wanted).sum())
    return SamplerResult(
        name, distribution.scale, draws, float(chi2.sf(statistic, observed.size - 1))
    )


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
