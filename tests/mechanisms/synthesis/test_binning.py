"""Bins: every value in one, and back inside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.mechanisms.synthesis.binning import Bins
from eyelid.privacy.noise import randomness

FEATURES = [Feature("rate", "1/s", "", 0.0, 10.0), Feature("size", "mm", "", -3.0, 9.0)]


@given(st.floats(-20, 20), st.integers(1, 256))
def test_a_value_lies_between_the_edges_of_its_bin(value, count):
    code = Bins.of(FEATURES, count).codes([value, value])
    for feature, found in zip(FEATURES, code.tolist(), strict=True):
        inside = min(max(value, feature.lower), feature.upper)
        width = feature.span / count
        slack = 1e-9 * feature.span
        assert feature.lower + found * width - slack <= inside
        assert inside <= feature.lower + (found + 1) * width + slack


def test_missing_values_and_those_out_of_bounds_have_bins_too():
    bins = Bins.of(FEATURES[:1], 5)
    values = [[np.nan], [-np.inf], [-0.1], [0.0], [1.99], [2.0], [9.99], [10.0], [np.inf]]
    assert bins.codes(values).ravel().tolist() == [2, 0, 0, 0, 0, 1, 4, 4, 4]


@pytest.mark.parametrize("count", [1, 2, 30, 256])
def test_values_drawn_inside_bins_lie_in_them_again(count):
    bins = Bins.of(FEATURES, count)
    codes = np.tile(np.arange(count, dtype=np.uint8)[:, None], (40, 2))
    values = bins.inside(codes, randomness(1))
    assert (bins.codes(values) == codes).all()
    assert (values >= bins.lowers).all()
    assert (values <= bins.uppers).all()


def test_values_are_spread_evenly_inside_a_bin():
    """Kolmogorov-Smirnov with a fixed seed; a right one would fail one time in a thousand."""
    from scipy.stats import kstest

    bins = Bins.of(FEATURES[:1], 5)
    values = bins.inside(np.full((2000, 1), 3, dtype=np.uint8), randomness(2))
    assert kstest(values[:, 0], "uniform", args=(6.0, 2.0)).pvalue > 0.001


def test_a_feature_without_a_span_has_one_bin_and_one_value():
    bins = Bins(np.array([4.0]), np.array([4.0]), 30)
    assert bins.codes([[4.0], [7.0], [np.nan]]).ravel().tolist() == [0, 0, 0]
    assert bins.inside(np.zeros((3, 1), dtype=np.uint8), randomness(0)).tolist() == [[4.0]] * 3


@pytest.mark.parametrize("count", [0, -1, 257])
def test_numbers_of_bins_that_do_not_fit_a_byte_are_refused(count):
    with pytest.raises(InputError, match=f"bins must be 1 to 256, got {count}"):
        Bins.of(FEATURES, count)
