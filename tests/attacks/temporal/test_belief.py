"""What a Gaussian belief makes of a linear release, against the printed formula and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.fft import dct
from scipy.special import ndtr, ndtri

from eyelid.attacks.temporal.belief import (
    autoregressive_covariance,
    dependent_epsilon,
    dependent_mu,
)
from eyelid.errors import InputError
from eyelid.privacy.gaussian import gaussian_epsilon


def some_case(seed, values, outputs):
    rng = np.random.default_rng(seed)
    root, shape = rng.normal(size=(values, values)), rng.normal(size=(outputs, outputs))
    noise = shape @ shape.T + 0.1 * np.eye(outputs)
    return rng.normal(size=(outputs, values)), root @ root.T + 0.01 * np.eye(values), noise


CASES = st.builds(some_case, st.integers(0, 2**20), st.integers(1, 5), st.integers(1, 5))


def printed_formula(a, prior, z, i):
    column = prior[:, i]
    v = a @ column / prior[i, i]
    k = a @ (prior - np.outer(column, column) / prior[i, i]) @ a.T + z
    return np.sqrt(v @ np.linalg.inv(k) @ v)


@given(CASES, st.floats(0.0, 10.0))
def test_it_is_the_printed_formula(case, distance):
    a, prior, z = case
    expected = [distance * printed_formula(a, prior, z, i) for i in range(len(prior))]
    assert dependent_mu(a, prior, z, distance) == pytest.approx(expected, rel=1e-6)


@given(CASES)
def test_it_is_what_is_learned_in_precision(case):
    a, prior, z = case
    precision = np.linalg.inv(prior) + a.T @ np.linalg.inv(z) @ a
    learned = 1 / np.diag(np.linalg.inv(precision)) - 1 / np.diag(prior)
    assert dependent_mu(a, prior, z) ** 2 == pytest.approx(learned, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("i", [0, 2])
def test_an_attacker_with_the_likelihood_ratio_reaches_it_and_no_more(i):
    """Simulated people whose value i is a or b; the ratio's errors give μ′ within 0.03.

    200 000 runs a side: the standard error of Φ⁻¹ of a rate near 0.2 is 0.0032, so 0.03 is wrong
    by chance less than once in 10⁹ runs.
    """
    rng = np.random.default_rng(9)
    prior, a, sd = autoregressive_covariance(0.8, 4), dct(np.eye(4), norm="ortho", axis=0)[:3], 0.7
    low, high, runs = -0.5, 0.6, 200_000
    weights = prior[:, i] / prior[i, i]
    rest = np.linalg.cholesky(prior + 1e-12 * np.eye(4))
    released = []
    for value in (low, high):
        x = rng.normal(size=(runs, 4)) @ rest.T
        # Given x_i the others are drawn from what the belief says about them.
        x += (value - x[:, [i]]) * weights
        assert np.allclose(x[:, i], value)
        released.append(x @ a.T + sd * rng.normal(size=(runs, 3)))
    # The best test between two normal laws of one covariance, both taken from the simulation.
    means = [y.mean(axis=0) for y in released]
    best = np.linalg.solve(np.cov(released[0].T), means[1] - means[0])
    cut = 0.5 * (means[0] + means[1]) @ best
    hits, alarms = (np.mean(y @ best > cut) for y in released[::-1])
    measured = ndtri(hits) - ndtri(alarms)
    assert dependent_mu(a, prior, sd**2, high - low)[i] == pytest.approx(measured, abs=0.03)


@given(st.integers(1, 30), st.floats(0.1, 5.0))
def test_values_that_repeat_each_other_cost_as_a_group(rows, sd):
    # All rows are one: √rows times the μ of a single row, as group privacy says.
    found = dependent_mu(np.eye(rows), np.ones((rows, rows)), sd**2)
    assert found == pytest.approx(np.full(rows, np.sqrt(rows) / sd), rel=1e-6)


@given(CASES)
def test_independent_values_cost_no_more_than_differential_privacy_says(case):
    a, prior, z = case
    known_others = np.sqrt(np.einsum("oi,oi->i", a, np.linalg.solve(z, a)))
    found = dependent_mu(a, np.diag(np.diag(prior)), z)
    assert (found <= known_others * (1 + 1e-9)).all()


@given(CASES)
def test_nothing_costs_more_than_all_values_together(case):
    """μ′ of one value is at most that of the whole x moving as the belief says it does."""
    a, prior, z = case
    together = prior / np.diag(prior)
    all_at_once = np.sqrt(np.einsum("oi,oi->i", a @ together, np.linalg.solve(z, a @ together)))
    assert (dependent_mu(a, prior, z) <= all_at_once * (1 + 1e-9)).all()


def test_correlation_raises_what_is_told_about_a_row():
    alone = 1.0
    found = [
        dependent_mu(np.eye(64), autoregressive_covariance(rho, 64), 1.0)[32]
        for rho in (0.0, 0.5, 0.9, 0.99)
    ]
    assert found == sorted(found)
    assert found[0] == pytest.approx(alone)
    assert found[-1] > 2.5 * alone


@pytest.mark.parametrize("sd", [1e-6, 1e6])
def test_very_little_and_very_much_noise_keep_their_digits(sd):
    a, prior = np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([[1.0, 0.5], [0.5, 1.0]])
    z = sd**2 * np.eye(2)
    expected = [printed_formula(a, prior, z, i) for i in range(2)]
    if sd < 1:
        # K is singular but for the noise: in 50 digits.
        import mpmath

        with mpmath.workdps(50):
            a_, p_, z_ = (mpmath.matrix(m.tolist()) for m in (a, prior, z))
            expected = []
            for i in range(2):
                column = p_[:, i]
                v = a_ * column / p_[i, i]
                k = a_ * (p_ - column * column.T / p_[i, i]) * a_.T + z_
                expected.append(float(mpmath.sqrt((v.T * k**-1 * v)[0])))
    assert dependent_mu(a, prior, z) == pytest.approx(expected, rel=1e-5)


def test_variances_of_independent_noise_are_a_diagonal():
    a, prior, _ = some_case(3, 3, 2)
    assert dependent_mu(a, prior, [0.5, 2.0]).tolist() == (
        dependent_mu(a, prior, np.diag([0.5, 2.0])).tolist()
    )
    assert dependent_mu(a, prior, 0.5).tolist() == dependent_mu(a, prior, [0.5, 0.5]).tolist()


def test_distances_may_differ_from_value_to_value():
    a, prior, z = some_case(4, 3, 2)
    assert dependent_mu(a, prior, z, [1.0, 0.0, 3.0]) == pytest.approx(
        dependent_mu(a, prior, z) * [1.0, 0.0, 3.0]
    )


def test_epsilon_is_that_of_gaussian_differential_privacy():
    a, prior, z = some_case(5, 4, 3)
    mu = dependent_mu(a, prior, z)
    found = dependent_epsilon(a, prior, z, 1e-6)
    assert found.tolist() == [gaussian_epsilon(each, 1e-6) for each in mu]
    delta = ndtr(mu / 2 - found / mu) - np.exp(found) * ndtr(-mu / 2 - found / mu)
    assert delta == pytest.approx(np.full(4, 1e-6), rel=1e-3)


GOOD = (np.eye(2), np.eye(2), 1.0)


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        (([1.0, 2.0], np.eye(2), 1.0), "the query must be a matrix of finite numbers"),
        ((np.eye(2) * np.nan, np.eye(2), 1.0), "the query must be a matrix of finite numbers"),
        ((np.eye(2), np.eye(3), 1.0), r"the prior must have the shape \(2, 2\), got \(3, 3\)"),
        ((np.eye(2), [[1.0, 0.3], [0.0, 1.0]], 1.0), "the prior is not symmetric"),
        ((np.eye(2), [[1.0, 2.0], [2.0, 1.0]], 1.0), "the prior has the negative eigenvalue -1"),
        ((np.eye(2), np.diag([1.0, 0.0]), 1.0), "value 2 has no variance in the prior"),
        ((*GOOD[:2], 0.0), "some output has no noise"),
        ((*GOOD[:2], [1.0, 0.0]), "some output has no noise"),
        ((*GOOD[:2], -1.0), "the noise has the negative eigenvalue -1"),
        ((*GOOD[:2], [1.0, 1.0, 1.0]), "3 noise variances for 2 outputs"),
        ((*GOOD, -1.0), "distance must be a number of at least 0"),
        ((*GOOD, [1.0, 2.0, 3.0]), "one for each of 2 values"),
    ],
)
def test_what_cannot_be_computed_is_said(given_, says):
    with pytest.raises(InputError, match=says):
        dependent_mu(*given_)


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ((1.5, 3), "correlation must lie between -1 and 1, got 1.5"),
        ((0.5, 0), "rows must be at least 1, got 0"),
        ((0.5, 3, 0.0), "variance must be positive and finite, got 0"),
    ],
)
def test_what_is_no_process_is_said(given_, says):
    with pytest.raises(InputError, match=says):
        autoregressive_covariance(*given_)
