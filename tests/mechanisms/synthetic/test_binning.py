"""Bins: every value in one, and back inside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.mechanisms.synthetic.binning import Bins
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


BENT = [*FEATURES, Feature("below", "1", "", -8.0, -1.0), Feature("large", "1", "", 2.0, 1e6)]


@given(st.floats(-20, 20), st.floats(0, 5), st.integers(1, 256))
def test_bent_bins_rise_with_the_values(value, step, count):
    bins = Bins.of(BENT, count, 3)
    low, high = bins.codes([[value] * 4, [value + step] * 4])
    assert (low <= high).all()


@pytest.mark.parametrize("bend", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 64, 256])
def test_values_at_places_are_the_inverse_of_codes(count, bend):
    bins = Bins.of(BENT, count, bend)
    place = np.arange(count)[:, None] + np.array([[0.01, 0.3, 0.7, 0.99]])
    values = bins.values(place)
    assert (bins.codes(values) == np.arange(count)[:, None]).all()
    ends = bins.values(np.array([[0.0] * 4, [float(count)] * 4]))
    assert ends[0] == pytest.approx(bins.lowers)
    assert ends[1] == pytest.approx(bins.uppers)
    assert (np.diff(values, axis=0) > 0).all()


def test_bent_bins_are_equal_in_the_cube_root_of_the_distance_from_zero_or_the_bound_next_to_it():
    edges = Bins.of(BENT, 8, 3).values(np.repeat(np.arange(9.0)[:, None], 4, axis=1))
    for number, feature in enumerate(BENT):
        nearest = min(max(0.0, feature.lower), feature.upper)
        roots = np.cbrt(edges[:, number] - nearest)
        assert np.diff(roots) == pytest.approx(np.full(8, np.ptp(roots) / 8))


def test_bent_bins_of_a_signed_feature_are_finest_around_zero():
    bins = Bins(np.array([-4.0]), np.array([4.0]), 32, 3)
    widths = np.diff(bins.values(np.arange(33.0)[:, None])[:, 0])
    assert widths[:16] == pytest.approx(widths[:15:-1])
    assert (np.diff(widths[:16]) < 0).all()
    assert bins.codes([[-1e-9], [0.0], [1e-9], [np.nan]]).ravel().tolist() == [15, 16, 16, 16]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1), st.integers(1, 256))
def test_without_a_bend_bins_are_equal_as_ever(values, count):
    column = np.array(values)[:, None]
    wanted = np.clip(np.nan_to_num(column, nan=3.0, posinf=9.0, neginf=-3.0), -3.0, 9.0)
    wanted = np.minimum((wanted + 3.0) / 12.0 * count, count - 1).astype(int)
    assert (Bins.of(FEATURES[1:], count, 1).codes(column) == wanted).all()


def test_a_feature_without_a_span_has_one_bent_bin_and_one_value():
    bins = Bins(np.array([4.0, -4.0]), np.array([4.0, -4.0]), 30, 3)
    assert (bins.codes([[4.0, -4.0], [7.0, np.nan]]) == 0).all()
    assert bins.values(np.full((2, 2), 17.0)).tolist() == [[4.0, -4.0]] * 2
