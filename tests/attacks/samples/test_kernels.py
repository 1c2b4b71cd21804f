from __future__ import annotations

import numpy as np
import pytest

from eyelid.attacks.samples.kernels import PLACES, Kernels, count_with_numpy, whole_numbers


@pytest.fixture
def windows():
    rng = np.random.default_rng(1)
    return rng.normal(size=(150, 2, 200)).cumsum(axis=2).astype(np.float32)


def test_there_are_84_kernels_of_weight_zero():
    weights = np.full((len(PLACES), 9), -1)
    np.put_along_axis(weights, PLACES, 2, axis=1)
    assert len(np.unique(weights, axis=0)) == 84
    assert not weights.sum(axis=1).any()


def test_counts_are_those_of_convolutions_by_numpy():
    rng = np.random.default_rng(2)
    signal = rng.integers(-50, 50, (3, 60)).astype(np.int32)
    dilations = np.array([1, 3])
    thresholds = rng.integers(-100, 100, (2, 84, 2)).astype(np.int32)
    counts = count_with_numpy(signal, dilations, thresholds)
    for step, dilation in enumerate(dilations):
        for kernel in (0, 40, 83):
            weights = np.full(9, -1)
            weights[PLACES[kernel]] = 2
            spread = np.zeros(8 * dilation + 1, dtype=int)
            spread[::dilation] = weights
            for window in range(3):
                found = np.correlate(signal[window], spread, mode="valid")
                for level in range(2):
                    expected = (found > thresholds[step, kernel, level]).sum()
                    assert counts[window, step, kernel, level] == expected


def test_numba_counts_the_same_as_numpy(windows):
    pytest.importorskip("numba")
    kernels = Kernels.of(windows, seed=0)
    np.testing.assert_array_equal(
        kernels.shares(windows, fast=True), kernels.shares(windows, fast=False)
    )


def test_what_is_added_to_a_whole_window_changes_nothing(windows):
    kernels = Kernels.of(windows, seed=0)
    moved = windows + (1000 * kernels.scale[:, None]).astype(np.float32)
    apart = kernels.shares(moved) - kernels.shares(windows)
    # But for rounding of single samples.
    assert np.abs(apart).max() < 0.03


def test_shares_are_shares_and_differ(windows):
    shares = Kernels.of(windows, seed=0).shares(windows)
    assert shares.min() >= 0
    assert shares.max() <= 1
    assert (shares.std(axis=0) > 0).mean() > 0.9


def test_what_is_far_out_is_cut_and_still_adds_up_without_overflow():
    far = np.full((1, 1, 50), 1e30, np.float32)
    whole = whole_numbers(far, np.ones(1))
    counts = count_with_numpy(whole[:, 0], np.array([1]), np.zeros((1, 84, 1), np.int32))
    assert not counts.any()


def test_a_channel_that_stands_still_is_no_error():
    still = np.zeros((5, 1, 120), np.float32)
    shares = Kernels.of(still, seed=0).shares(still)
    assert not shares.any()
