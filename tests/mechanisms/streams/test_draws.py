import numpy as np
import pytest
from scipy.stats import gamma, kstest, uniform

from eyelid.mechanisms.streams.draws import BLOCK, LaplaceAhead, PlanarAhead, own_sources
from eyelid.privacy.noise import SystemRandomness, randomness


def taken(ahead, counts):
    """Draws in the order of their use, asked for in such portions."""
    parts = []
    for count in counts:
        ahead.ensure(count)
        parts.append(np.stack(ahead.columns)[:, ahead.used : ahead.used + count])
        ahead.used += count
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("make", [lambda s: LaplaceAhead(1000, s), PlanarAhead])
def test_portions_do_not_change_what_is_drawn(make):
    one_by_one = taken(make(randomness(7)), [1] * (BLOCK + 5))
    together = taken(make(randomness(7)), [3, BLOCK - 7, 9])
    assert np.array_equal(one_by_one, together)


def test_what_was_used_is_forgotten():
    ahead = PlanarAhead(randomness(7))
    taken(ahead, [BLOCK] * 5)
    ahead.ensure(1)
    assert len(ahead.columns[0]) == BLOCK
    assert ahead.lists[0] == ahead.columns[0].tolist()


def test_planar_noise_has_its_radius_and_direction():
    # Each test fails by chance once in a million seeds; the seed is fixed.
    x, y = taken(PlanarAhead(randomness(7)), [20_000])
    assert kstest(np.hypot(x, y), gamma(2).cdf).pvalue > 1e-6
    assert kstest(np.arctan2(y, x), uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-6


def test_kinds_of_noise_have_sources_of_their_own():
    first, second = own_sources(randomness(7), 2)
    alone, _ = own_sources(randomness(7), 2)
    second.words(5)
    assert np.array_equal(first.words(4), alone.words(4))
    assert own_sources(SystemRandomness(), 3) == [SystemRandomness()] * 3


def test_streams_of_one_seed_differ():
    noise = randomness(7)
    one, other = (PlanarAhead(own_sources(noise, 2)[1]) for _ in range(2))
    assert not np.isin(taken(one, [100]), taken(other, [100])).any()
