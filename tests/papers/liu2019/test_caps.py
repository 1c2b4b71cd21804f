"""Algorithm 1 of Liu et al. 2019 in one pass, against the loop as it is printed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.papers.liu2019.caps import best_cap, expected_mse


def printed(maps, sigma_star):
    """Lines 2 to 5 of the algorithm, on people × cells."""
    original = maps.mean(axis=0)
    caps = np.arange(1, max(1, int(maps.max(initial=0))) + 1)
    errors = [
        cap**2 * sigma_star**2 + np.mean((np.minimum(maps, cap).mean(axis=0) - original) ** 2)
        for cap in caps
    ]
    return caps, np.array(errors)


@given(
    st.lists(
        st.lists(st.sampled_from([0, 0, 0, 1, 2, 3, 7, 40, 41]), min_size=6, max_size=6),
        min_size=1,
        max_size=7,
    ),
    st.sampled_from([0.0, 1e-3, 0.02, 0.1, 0.5, 3.0]),
)
def test_every_cap_has_the_error_that_the_printed_loop_finds(rows, sigma_star):
    maps = np.array(rows, dtype=float)
    caps, errors = printed(maps, sigma_star)
    counts = PersonCounts.of_dense(maps)
    found_caps, found = expected_mse(counts, sigma_star)
    np.testing.assert_array_equal(found_caps, caps)
    np.testing.assert_allclose(found, errors, rtol=1e-9, atol=1e-12)
    best = best_cap(counts, sigma_star)
    assert errors[best - 1] == pytest.approx(errors.min(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("largest", [30, 3000])
def test_large_maps_of_many_people_agree_with_the_printed_loop(largest):
    rng = np.random.default_rng(8)
    maps = rng.poisson(0.2, (30, 400)) * rng.integers(1, largest // 5, (30, 400)).astype(float)
    caps, errors = printed(maps, 0.05)
    found_caps, found = expected_mse(PersonCounts.of_dense(maps), 0.05)
    np.testing.assert_array_equal(found_caps, caps)
    np.testing.assert_allclose(found, errors, rtol=1e-9)
    assert best_cap(PersonCounts.of_dense(maps), 0.05) == caps[np.argmin(errors)]


def test_counts_of_a_billion_need_no_loop_over_a_billion_caps():
    maps = np.array([[1e9, 0.0], [3.0, 0.0]])
    # The least of m²σ² + ((1e9 - m)/2)²/2, far above the count of 3, is at 1e9/(1 + 8σ²).
    assert best_cap(PersonCounts.of_dense(maps), 0.5) == round(1e9 / 3)


def test_without_noise_nothing_needs_to_be_cut_and_with_much_the_cap_is_one():
    counts = PersonCounts.of_dense(np.array([[5.0, 1.0], [2.0, 0.0]]))
    assert best_cap(counts, 0.0) == 5
    assert best_cap(counts, 100.0) == 1


def test_people_who_never_look_have_a_cap_of_one():
    counts = PersonCounts.of_dense(np.zeros((3, 4)))
    caps, errors = expected_mse(counts, 0.5)
    assert caps.tolist() == [1]
    assert errors.tolist() == [0.25]
    assert best_cap(counts, 0.5) == 1


def test_parts_of_counts_and_impossible_noise_are_refused():
    with pytest.raises(InputError, match="whole counts"):
        best_cap(PersonCounts.of_dense(np.array([[1.5]])), 0.1)
    with pytest.raises(InputError, match="noise factor"):
        expected_mse(PersonCounts.of_dense(np.array([[1.0]])), -0.1)
