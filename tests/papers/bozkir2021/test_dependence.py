"""ε′ of one value, against densities computed by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from eyelid.papers.bozkir2021.dependence import coordinates, dependence, dependent_loss
from eyelid.papers.reproduction import Outcome


def test_coordinates_are_those_of_the_transform():
    x = np.random.default_rng(1).normal(size=8)
    for differenced in (False, True):
        spectrum = np.fft.rfft(np.diff(x, prepend=0.0) if differenced else x)
        wanted = [spectrum[0].real, spectrum[1].real, spectrum[1].imag]
        assert coordinates(8, 2, differenced) @ x == pytest.approx(wanted)


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_one_noisy_sum_of_two_values_tells_this_much_about_the_first(rho):
    """y = x₁ + x₂ + Lap(λ) with a Gaussian belief: the density ratio tends to exp ε′ from below."""
    scale, apart = 2.0, 1.5
    query = coordinates(2, 1, differenced=False)
    loss = dependent_loss(query, rho, np.array([[scale]]), np.array([[apart]]))[0, 0]

    def density(y: float, first: float) -> float:
        # x₂ given x₁ is normal around ρ·x₁.
        def joint(second: float) -> float:
            return laplace.pdf(y - first - second, scale=scale) * norm.pdf(
                second, rho * first, np.sqrt(1 - rho**2)
            )

        return quad(joint, -8, 8, epsabs=0, limit=200)[0]

    ratios = [np.log(density(y, apart) / density(y, 0.0)) for y in (0.0, 5.0, 25.0)]
    assert max(ratios) <= loss + 1e-6
    assert ratios[-1] == pytest.approx(loss, rel=1e-4)
    assert loss == pytest.approx(apart * (1 + rho) / scale)


@pytest.mark.parametrize("differenced", [False, True])
def test_chunks_add_up_as_they_do_in_one_matrix(differenced):
    rng = np.random.default_rng(3)
    length, chunks, rho = 4, 3, 0.8
    query = coordinates(length, 2, differenced)
    scale, distance = rng.uniform(1, 3, (2, chunks)), rng.uniform(1, 2, (2, chunks))
    rows = np.arange(length * chunks)
    covariance = 5.0 * rho ** np.abs(rows[:, None] - rows)
    everything = np.kron(np.eye(chunks), query)
    found = dependent_loss(query, rho, scale, distance)
    for feature in range(2):
        noise = np.repeat(scale[feature], len(query))
        moved = everything @ covariance / np.diag(covariance)
        each = np.abs(moved / noise[:, None]).sum(axis=0).reshape(chunks, length).max(axis=1)
        assert found[feature] == pytest.approx(distance[feature] * each)


def test_the_conjecture_is_judged_by_what_correlation_adds(make_source):
    source = make_source(rows=64)
    methods = ("FPA", "CFPA-8", "CFPA-16", "DCFPA-8", "DCFPA-16")
    found = dependence(source, methods)
    assert found.rows == list(methods)
    shares = {
        row: [cell.leak_free.mean for cell in found.cells if cell.row == row] for row in methods
    }
    growth = {row: each[-1] / each[0] for row, each in shares.items()}
    less = [growth[f"DCFPA-{c}"] < growth[f"CFPA-{c}"] for c in (8, 16)]
    wanted = Outcome.YES if all(less) else Outcome.PARTLY if any(less) else Outcome.NO
    assert found.verdict.claim is wanted
    assert f"comes out for {sum(less)} of 2 lengths" in found.says
    # Values that nobody believes to go together are what a chunk's share of ε is about.
    assert all(each[0] <= each[1] <= each[2] for each in shares.values())


def test_a_feature_that_is_the_same_for_everybody_has_no_say(make_source):
    source = make_source(rows=32)
    name = source.table.names[0]
    flat = source.table.data.with_columns(**{name: 0.0})
    with_flat = replace(source, table=replace(source.table, data=flat))
    found = dependence(with_flat, ("CFPA-8", "DCFPA-8"))
    assert all(np.isfinite(cell.leak_free.mean) for cell in found.cells)
