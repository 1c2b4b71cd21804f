"""Golden numbers of the theory that concern noise: computed, and the energies measured."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from eyelid.attacks.statistics import clopper_pearson
from eyelid.privacy import (
    PERSON,
    Guarantee,
    Kind,
    Neighbours,
    Trust,
    gaussian_noise,
    gaussian_sigma,
    laplace_noise,
    planar_laplace_noise,
    rank1_bounds,
    spherical_laplace_noise,
)
from proofs.result import Effort, Result

PEOPLE = 20
# K of a real signal's 64 kept frequencies, as in the theory's table of energies.
COORDINATES = 127
VECTORS = 100_000
# Standard errors; a true energy is farther off once in two million times.
MARGIN = 5.0


def prove(effort: Effort) -> Result:
    """Every number beside its golden value, each to the digits that are printed there."""
    computed = {name: (found, golden, 0.51 * unit) for name, found, golden, unit in _computed()}
    wrong = [n for n, (found, golden, room) in computed.items() if abs(found - golden) > room]
    energies = dict(_energies())
    wrong += [name for name, (_, _, errors) in energies.items() if abs(errors) > MARGIN]
    figures = {
        "computed": {name: found for name, (found, _, _) in computed.items()},
        "energies": {name: found for name, (found, _, _) in energies.items()},
        "energies_in_standard_errors": {name: errors for name, (_, _, errors) in energies.items()},
        "wrong": wrong,
    }
    target = f"golden values to the printed digits, energies within {MARGIN:g} standard errors"
    return Result(figures, target, not wrong)


def _computed() -> Iterator[tuple[str, float, float, float]]:
    """Name, what eyelid says, the golden value, and the unit of its last digit."""
    for epsilon, delta, golden in (
        (1.0, 1e-5, 3.7306),
        (0.5, 1e-5, 7.0318),
        (4.0, 1e-5, 1.0812),
        (1.5, 50_000**-1.5, 3.2142),
    ):
        name = f"sigma at ε={epsilon:g}, δ={delta:.3g}"
        yield name, gaussian_sigma(epsilon, delta), golden, 1e-4
    dense, sparse = math.sqrt(1050 * 1680) / 50_000, math.sqrt(2 * 30) / 50_000
    yield "map sigma, dense", gaussian_sigma(1.5, 50_000**-1.5, dense), 0.08538, 1e-5
    yield "map sigma, sparse", gaussian_sigma(1.5, 50_000**-1.5, sparse), 0.000498, 1e-6
    for epsilon, golden in ((0.5, 0.080), (1.0, 0.125), (2.0, 0.280), (3.0, 0.514), (5.0, 0.887)):
        yield f"rank-1 at ε={epsilon:g}", _rank1(Kind.PURE, epsilon=epsilon), golden, 1e-3
    yield "rank-1 at μ=1", _rank1(Kind.GAUSSIAN, mu=1.0), 0.170, 1e-3
    low, high = clopper_pearson(1, 20)
    yield "1 of 20, lower limit", float(low), 0.001, 1e-3
    yield "1 of 20, upper limit", float(high), 0.249, 1e-3


def _rank1(kind: Kind, **numbers: float) -> float:
    promise = Guarantee(kind, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, **numbers)
    return rank1_bounds(promise, PEOPLE)["raw_to_release"] or math.nan


def _energies() -> Iterator[tuple[str, tuple[float, float, float]]]:
    """E‖z‖² per unit sensitivity at ε = 1 (δ = 1e-5): measured, in theory, and how far off."""
    k = COORDINATES
    sigma = gaussian_sigma(1.0, 1e-5)
    for name, draw, golden in (
        ("spherical Laplace", lambda n: spherical_laplace_noise(1.0, k, n), 16256.0),
        ("planar Laplace", lambda n: planar_laplace_noise(1.0, n), 6.0),
        ("orthonormal Laplace", lambda n: laplace_noise(math.sqrt(k), (n, k)), 32258.0),
        ("Gaussian", lambda n: gaussian_noise(sigma, (n, k)), k * 3.7306**2),
    ):
        squares = np.concatenate([(draw(VECTORS // 10) ** 2).sum(axis=1) for _ in range(10)])
        error = float(squares.std(ddof=1)) / math.sqrt(squares.size)
        found = float(squares.mean())
        yield name, (found, golden, (found - golden) / error)
