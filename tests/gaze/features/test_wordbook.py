from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.features.statistics import Ranges
from eyelid.gaze.features.wordbook import LETTERS, letters, word_statistics


def every_bin(letter, length):
    """How often each of all the words occurs, the slow way."""
    words = [tuple(letter[i : i + length]) for i in range(len(letter) - length + 1)]
    return np.array([words.count(w) for w in itertools.product(range(LETTERS), repeat=length)])


@given(
    letter=st.lists(st.sampled_from([0, 1, 2, 23]), max_size=40),
    edges=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30)), min_size=1, max_size=12),
    length=st.integers(1, 2),
)
def test_running_sums_equal_counting_every_bin(letter, edges, length):
    low = np.minimum(np.cumsum([step for step, _ in edges]), len(letter))
    high = np.minimum(np.maximum.accumulate(low + [width for _, width in edges]), len(letter))
    found = word_statistics(np.array(letter, dtype=np.intp), Ranges(low, high), length)
    for j, (first, last) in enumerate(zip(low, high, strict=True)):
        bins = every_bin(letter[first:last], length)
        seen = bins[bins > 0]
        expected = {
            "nonzero": len(seen),
            "max": bins.max(),
            "min": seen.min() if len(seen) else 0,
            "range": bins.max() - (seen.min() if len(seen) else 0),
            "mean": bins.mean(),
            "var": bins.var(),
        }
        for name, value in expected.items():
            assert found[name][j] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize(("small", "width", "first"), [(False, 22.5, 0), (True, 45.0, 16)])
def test_letters_are_sectors_around_right_up_left_and_down(small, width, first):
    degrees = np.arange(0.0, 360.0, width)
    for off in (-0.49 * width, 0.0, 0.49 * width):
        turned = np.radians(degrees + off)
        found = letters(np.cos(turned), np.sin(turned), np.full(len(degrees), small))
        assert found.tolist() == list(range(first, first + len(degrees)))


@given(st.integers(0, 2**32 - 1))
def test_whether_y_points_up_or_down_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    right, up = rng.normal(size=(2, 50))
    windows = Ranges(np.array([0, 10, 20]), np.array([30, 35, 50]))
    small = np.hypot(right, up) < 1
    for length in (1, 2, 3, 4):
        one = word_statistics(letters(right, up, small), windows, length)
        other = word_statistics(letters(right, -up, small), windows, length)
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_word_belongs_to_the_windows_that_hold_all_its_saccades():
    letter = np.array([0, 1, 2, 3])
    windows = Ranges(np.array([0, 0, 1, 2]), np.array([2, 3, 4, 4]))
    assert word_statistics(letter, windows, 3)["nonzero"].tolist() == [0, 1, 1, 0]
