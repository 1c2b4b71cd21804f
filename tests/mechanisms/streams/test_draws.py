import numpy as np
import pytest
from scipy.stats import gamma, kstest, uniform

from eyelid.mechanisms.streams.draws import (
    BLOCK,
    SETTLED,
    LaplaceAhead,
    PlanarAhead,
    own_sources,
)
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
    x, y, _ = taken(PlanarAhead(randomness(7)), [20_000])
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


def test_a_draw_that_is_settled_is_what_is_released():
    ahead = PlanarAhead(randomness(7))
    ahead.ensure(3)
    before = [list(column) for column in ahead.lists]
    ahead.settle(1, (50.0, 60.0), 10.0, (100, 100))
    point = (round(50 + 10 * before[0][1]), round(60 + 10 * before[1][1]))
    for kept in (ahead.lists, ahead.columns):
        assert (kept[0][1], kept[1][1], kept[2][1]) == (*point, SETTLED)
    before[0][1], before[1][1], before[2][1] = (*point, SETTLED)
    assert [list(column) for column in ahead.columns] == before


def test_settling_does_not_change_the_draws_that_follow():
    one, other = (PlanarAhead(randomness(7)) for _ in range(2))
    one.ensure(1)
    one.settle(0, (0.0, 0.0), 2.0**100, (2**200, 2**200))
    drawn = [taken(ahead, [BLOCK + 9])[:, 1:] for ahead in (one, other)]
    assert np.array_equal(*drawn)
