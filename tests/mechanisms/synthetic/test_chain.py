"""Features drawn one after the other, with exact odds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from eyelid.mechanisms.synthetic.chain import Chain, whole_odds
from eyelid.privacy.noise import randomness


@given(
    arrays.arrays(
        np.float64, (3, 5), elements=st.floats(0, 1e12) | st.sampled_from([1e-300, 1.0, 1e-9])
    )
)
def test_odds_are_whole_positive_and_add_up_exactly(counts: np.ndarray) -> None:
    counts[:, 0] += 1e-200
    odds = whole_odds(counts, 30)
    assert (odds >= 1).all()
    assert (odds.sum(axis=-1) == 2**30).all()
    shares = counts / counts.sum(axis=-1, keepdims=True)
    assert np.abs(odds / 2**30 - shares).max() < 1e-8


def test_rows_are_drawn_with_the_odds_that_are_computed() -> None:
    """Chi-square over all rows there can be, at p = 1e-6 with a fixed seed."""
    from scipy.stats import chisquare

    odds = np.random.default_rng(3).random((2, 3, 3))
    chain = Chain(whole_odds(odds, Chain.BITS))
    start = np.zeros((60_000, 2), dtype=np.uint8)
    rows = chain.drawn(start, np.zeros(len(start), dtype=np.intp), randomness(5))
    found = np.bincount(rows[:, 0] * 3 + rows[:, 1], minlength=9)
    every = np.array([[a, b] for a in range(3) for b in range(3)], dtype=np.uint8)
    expected = np.exp(chain.log_chance(every).sum(axis=1)) * len(start)
    assert expected.sum() == pytest.approx(len(start))
    assert chisquare(found, expected).pvalue > 1e-6


def test_what_is_kept_stays_and_what_follows_depends_on_it() -> None:
    never = np.zeros((2, 2, 2))
    never[0] = 1.0
    never[1] = np.eye(2)
    chain = Chain(whole_odds(never, Chain.BITS))
    start = np.array([[0, 1], [1, 0]] * 500, dtype=np.uint8)
    kept_one = chain.drawn(start, np.full(1000, 1), randomness(1))
    assert (kept_one[:, 0] == start[:, 0]).all()
    assert (kept_one[:, 1] == start[:, 0]).all()
    assert (chain.drawn(start, np.full(1000, 2), randomness(1)) == start).all()


def test_a_model_of_much_noise_follows_what_stands_out_and_else_the_feature_itself() -> None:
    tables = np.zeros((2, 4, 4))
    tables[0, 0] = [900.0, 100.0, 0.0, 0.0]
    tables[1, 0] = [0.0, 900.0, 0.0, 0.0]
    tables[1, 1] = [0.0, 0.0, 0.0, 3.0]
    chain = Chain.of(tables, noise_sd=10.0)
    share = chain.weights / 2**Chain.BITS
    assert share[0, 0, 0] > 0.85
    assert share[1, 0, 1] > 0.95
    # Three people do not stand out of a noise of ten: the second bin follows the feature's own.
    assert share[1, 1, 1] > 0.9
