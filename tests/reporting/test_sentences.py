import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyelid
from eyelid.mechanisms.expectation import (
    CONSTANT_RMSE_OF_SPAN,
    beats_constant,
    clipped,
    constant_nearer,
    fewest,
    worse_than_constant,
)
from eyelid.papers.bozkir2021.mechanisms import LPAPaper
from eyelid.privacy.unit import RECORDING

FACTS = {"recordings": 3, "features": 28, "length": 600}


def says(mechanism, people=20, **parameters):
    return eyelid.cost(mechanism, people=people, **FACTS, **parameters).to_dict()["says"]


@pytest.mark.parametrize("error", [0.02, 0.1, 0.371, 1.0, 30.0])
def test_the_clipped_error_is_that_of_clipped_values(error):
    # A million values: the mean square is off by less than five standard errors, which are below
    # 0.1% of it, in all but one of a million tries.
    rng = np.random.default_rng(3)
    values, noise = rng.random(1_000_000), rng.standard_normal(1_000_000)
    left = np.clip(values + error * noise, 0.0, 1.0) - values
    assert clipped(error) == pytest.approx(np.sqrt(np.mean(left**2)), rel=5e-3)


@given(st.floats(0.0, 1e15), st.floats(1.0, 10.0))
def test_the_clipped_error_grows_and_ends_at_coin_flips(error, times):
    assert clipped(error) <= clipped(error * times) + 1e-12
    assert clipped(error) <= min(error, math.sqrt(1 / 3)) + 1e-9


def test_a_constant_is_nearer_for_as_many_values_as_said():
    values = np.linspace(0.0, 1.0, 100_001)
    for error in (0.03, 0.1, 0.29, 0.8):
        share = np.mean(np.abs(values - 0.5) < error)
        assert constant_nearer(error) == pytest.approx(share, abs=1e-4)
    assert np.sqrt(np.mean((values - 0.5) ** 2)) == pytest.approx(CONSTANT_RMSE_OF_SPAN, rel=1e-4)


def test_what_is_worse_than_a_constant_never_beats_it():
    errors = np.geomspace(1e-3, 1e3, 200)
    assert not any(beats_constant(e) and worse_than_constant(e) for e in errors)
    assert beats_constant(errors[0])
    assert worse_than_constant(errors[-1])


@given(st.floats(0.01, 1e5), st.floats(-1.0, 0.3))
def test_the_fewest_people_are_enough_and_one_less_is_not(size, slower):
    def error(people):
        return size / people ** (1 - slower)

    people = fewest(error)
    if people is not None:
        assert beats_constant(error(people))
        assert people == 2 or not beats_constant(error(people - 1))


def test_no_number_of_people_helps_an_error_that_does_not_fall():
    assert fewest(lambda people: 1.0) is None


def test_single_values_and_means_are_judged_apart():
    text = says("gaussian", epsilon=2000.0, unit="recording")
    assert "Means over rows carry information. Single values are farther from the truth" in text


def test_an_error_between_is_called_little_and_its_share_is_told():
    text = says("gaussian", epsilon=900.0)
    assert "For 49% of all values that the bounds allow, the data-free guess (their middle)" in text
    assert "One feature says little; all together may still re-identify people." in text


def test_nothing_is_said_to_be_hidden_by_noise_that_depends_on_the_data():
    text = says(LPAPaper(epsilon=0.1, unit=RECORDING))
    assert "The noise depends on the data" in text
    assert "no information" not in text


def test_what_is_shrunk_to_the_middle_is_not_said_to_average_out():
    expected = eyelid.cost("envelope", people=10_000, **FACTS, epsilon=1.0).to_dict()
    errors = expected["expected_error"]
    assert errors["group_mean_rmse_of_span"] == errors["rmse_of_span"]
    assert not expected["informative_about"]["group_means"]


def test_a_mean_of_local_releases_that_can_be_read_is_told():
    text = eyelid.cost(
        "cfpa", people=1000, recordings=1, features=1, length=128, epsilon=10.0, chunk=128
    ).to_dict()["says"]
    assert "The mean of what is released over all 1000 people is off by 0.0" in text
