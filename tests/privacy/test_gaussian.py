import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.privacy import gaussian_delta, gaussian_epsilon, gaussian_mu, gaussian_sigma
from eyelid.privacy.gaussian import (
    discreteness_slack,
    epsilon_of_rho,
    rho_of_mu,
)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (1.0, 1e-5, 3.7306),
        (0.5, 1e-5, 7.0318),
        (4.0, 1e-5, 1.0812),
        (1.5, 50_000**-1.5, 3.2142),
    ],
)
def test_sigma_is_the_golden_analytic_gaussian(epsilon, delta, sigma):
    assert gaussian_sigma(epsilon, delta) == pytest.approx(sigma, abs=5e-5)


def test_sigma_scales_with_the_sensitivity_as_in_the_heatmap_example():
    sparse = gaussian_sigma(1.5, 50_000**-1.5, math.sqrt(2 * 30) / 50_000)
    dense = gaussian_sigma(1.5, 50_000**-1.5, math.sqrt(1050 * 1680) / 50_000)
    assert dense == pytest.approx(0.08538, abs=5e-6)
    assert sparse == pytest.approx(0.000498, abs=5e-7)


@given(st.floats(0.01, 30), st.floats(1e-12, 0.1))
def test_sigma_is_never_too_small_and_not_wasteful(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta)
    assert gaussian_delta(epsilon, 1 / sigma) <= delta
    assert gaussian_delta(epsilon, 1 / (0.999 * sigma)) > delta


@given(st.floats(0.05, 6), st.floats(1e-10, 1e-3))
def test_delta_agrees_with_dp_accounting(epsilon, delta):
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    sigma = gaussian_sigma(epsilon, delta)
    oracle = GaussianPrivacyLoss(sigma).get_delta_for_epsilon(epsilon)
    assert gaussian_delta(epsilon, 1 / sigma) == pytest.approx(oracle, rel=1e-6)


@given(st.floats(0.01, 5), st.floats(1e-10, 1e-2))
def test_epsilon_and_mu_undo_each_other(mu, delta):
    epsilon = gaussian_epsilon(mu, delta)
    if epsilon > 1e-6:
        assert gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-6)


@given(st.floats(0.05, 20), st.floats(1e-9, 1e-2))
def test_zcdp_never_promises_more_than_the_gaussian_itself(mu, delta):
    assert epsilon_of_rho(rho_of_mu(mu), delta) >= gaussian_epsilon(mu, delta) - 1e-9


@given(st.floats(0.05, 100), st.floats(1e-9, 1e-3), st.floats(0, 1e-12))
def test_slack_only_ever_costs(mu, delta, slack):
    assert gaussian_epsilon(mu, delta, slack) >= gaussian_epsilon(mu, delta) - 1e-9
    assert math.isfinite(gaussian_epsilon(mu, delta, slack))


@given(st.floats(0.1, 50), st.floats(1e-9, 1e-3), st.floats(1e-20, 1e-11))
def test_a_calibrated_mu_keeps_its_epsilon_when_the_slack_is_counted(epsilon, delta, slack):
    mu = gaussian_mu(epsilon, delta, slack)
    directly = gaussian_delta(epsilon, mu) + (1 + math.exp(epsilon)) * slack <= delta
    assert directly or epsilon_of_rho(rho_of_mu(mu), delta) <= epsilon


@pytest.mark.parametrize("s", [4, 16, 64, 256])
def test_discreteness_costs_no_more_than_the_stated_distance(s):
    """½·Σ|p(k) − P(round(N) = k)| against 0.0202/s², by summation."""
    import numpy as np
    from scipy.special import ndtr

    k = np.arange(-12 * s, 12 * s + 1)
    discrete = np.exp(-0.5 * (k / s) ** 2)
    discrete /= discrete.sum()
    rounded = ndtr((k + 0.5) / s) - ndtr((k - 0.5) / s)
    distance = 0.5 * np.abs(discrete - rounded).sum()
    assert distance * s**2 == pytest.approx(0.02017, rel=0.02)
    assert distance <= 0.0202 / s**2


def test_a_grid_too_coarse_for_the_slack_is_an_error():
    with pytest.raises(InputError, match="too coarse"):
        discreteness_slack(1, 1000)


@pytest.mark.parametrize(
    ("epsilon", "delta", "says"),
    [
        (0.0, 1e-5, "epsilon must be positive and finite, got 0"),
        (-1.0, 1e-5, "got -1"),
        (math.inf, 1e-5, "got inf"),
        (math.nan, 1e-5, "got nan"),
        (1.0, 0.0, "delta"),
        (1.0, 1.0, "got 1"),
    ],
)
def test_bad_epsilon_and_delta_are_named(epsilon, delta, says):
    with pytest.raises(InputError, match=says):
        gaussian_sigma(epsilon, delta)


def test_bad_sensitivity_is_named():
    with pytest.raises(InputError, match="sensitivity must be positive and finite, got 0"):
        gaussian_sigma(1.0, 1e-5, 0.0)
