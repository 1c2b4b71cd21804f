"""Where random words come from, and words as numbers."""

import os
import sys

import numpy as np
import pytest

from eyelid.privacy.noise import SystemRandomness, randomness
from eyelid.privacy.noise.randomness import uniforms


class Stuck:
    """A source that gives the same word for ever."""

    name, private = "stuck", False

    def __init__(self, word):
        self.word = word

    def words(self, count):
        return np.full(count, self.word, dtype=np.uint64)


@pytest.fixture
def system(monkeypatch):
    """The operating system's own generator, which tests do without elsewhere."""
    monkeypatch.setattr(sys.modules[SystemRandomness.__module__], "os", os)


@pytest.mark.usefixtures("system")
def test_without_a_seed_the_operating_system_gives_every_bit(monkeypatch):
    given = bytes(range(24))
    monkeypatch.setattr(os, "urandom", lambda count: given[:count])
    assert randomness().words(3).tobytes() == given


@pytest.mark.usefixtures("system")
def test_the_operating_system_never_says_the_same_twice():
    one, other = randomness().words(1000), randomness().words(1000)
    assert len({*one.tolist(), *other.tolist()}) == 2000


@pytest.mark.parametrize(("word", "wanted"), [(0, 2.0**-53), (2**64 - 1, 1 - 2.0**-53)])
def test_uniforms_are_strictly_inside_zero_and_one(word, wanted):
    found = uniforms(Stuck(word), 3)
    assert ((found > 0) & (found < 1)).all()
    assert found.tolist() == [wanted] * 3


def test_uniforms_are_as_near_to_one_end_as_to_the_other():
    words = np.random.default_rng(1).integers(0, 2**64, size=1000, dtype=np.uint64)
    low = np.array([uniforms(Stuck(word), 1)[0] for word in words])
    high = np.array([uniforms(Stuck(~word), 1)[0] for word in words])
    np.testing.assert_array_equal(low, 1 - high)


def test_uniforms_are_spread_evenly():
    """Chi-square over 100 bins; a false alarm in a million, the seed is fixed."""
    from scipy.stats import chisquare

    found = uniforms(randomness(5), 100_000)
    assert chisquare(np.bincount((found * 100).astype(int), minlength=100)).pvalue > 1e-6
