"""Models of people against simulation; coverage with stated error rates and fixed seeds."""

import math

import numpy as np
import pytest
from scipy import stats

from eyelid.mechanisms.statistics import intervals, ranks
from eyelid.mechanisms.statistics.power import noise_of_test, statistics_under
from eyelid.mechanisms.statistics.spread import NoiseOfOne

NONE = NoiseOfOne(0.0)


@pytest.mark.parametrize(
    ("mean", "sd"), [(0.5, 0.2), (0.9, 0.3), (0.5, 0.01), (-0.2, 0.5), (3, 0.1)]
)
def test_moments_of_clipped_numbers_are_those_of_simulated_people(mean, sd):
    people = np.random.default_rng(0).normal(mean, sd, 1_000_000)
    h = 2 * np.clip(people, 0, 1) - 1
    found = intervals.clipped_moments(np.array(mean), np.array(sd))
    np.testing.assert_allclose(found, [(h**n).mean() for n in (1, 2, 3, 4)], atol=0.003)


def test_without_noise_a_share_s_interval_is_near_clopper_pearson_s():
    for count, people in ((3, 20), (10, 20), (40, 100)):
        found = intervals.share(count / people, people, NONE)
        exact = stats.binomtest(count, people).proportion_ci()
        assert found.low >= exact.low - 0.01
        assert found.high <= exact.high + 0.01
        assert found.high - found.low > 0.8 * (exact.high - exact.low)


def test_no_distribution_with_one_peak_is_spread_wider_than_the_widest():
    rng = np.random.default_rng(1)
    peak = rng.uniform(0, 1, (400, 1))
    # Khinchin: whatever has one peak at c is c + UY, U even over (0, 1).
    ends = rng.beta(*rng.uniform(0.05, 3, (2, 400, 1)), (400, 5000))
    people = peak + rng.uniform(0, 1, (400, 5000)) * (ends - peak)
    widest = intervals.widest_spread(people.mean(axis=1))
    assert (people.std(axis=1) <= widest + 0.006).all()
    even_and_at_the_end = np.where(rng.random(200_000) < 2 / 3, rng.random(200_000), 0.0)
    assert even_and_at_the_end.std() == pytest.approx(1 / 3, abs=0.003)
    assert float(intervals.widest_spread(np.array(1 / 3))) == pytest.approx(1 / 3)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (1, 12)])
def test_of_people_with_one_peak_intervals_without_a_norm_cover(shape):
    rng, noise = np.random.default_rng(2), NoiseOfOne(0.025, 1)
    truth = shape[0] / sum(shape)
    shown = rng.beta(*shape, (400, 20)).mean(axis=1) + noise.draw((400,), rng)
    found = [intervals.mean_of_one_peak(one, 20, noise) for one in shown]
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.92


def test_without_noise_and_with_a_known_spread_the_interval_is_the_textbook_s():
    sd = 0.1
    found = intervals.mean_by_norm(0.5, 40, sd / intervals.WIDER, NONE)
    half = 1.96 * sd / np.sqrt(40)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=0.002)


def test_many_people_tell_their_spread_whatever_the_norm_says():
    rng = np.random.default_rng(2)
    places = np.clip(rng.normal(0.45, 0.12, 20_000), 0, 1)
    moment = ((2 * places - 1) ** 2).mean()
    found = intervals.mean_and_spread(places.mean(), moment, 20_000, NONE, prior_sd=0.2)
    assert found.sd_estimate == pytest.approx(0.12, rel=0.02)
    assert found.sd.low < 0.12 < found.sd.high
    assert found.mean.high - found.mean.low == pytest.approx(
        2 * 1.96 * 0.12 / np.sqrt(20_000), rel=0.1
    )


def test_what_is_next_to_impossible_leaves_what_was_known_before():
    found = intervals.mean_and_spread(0.5, 40.0, 30, NONE, prior_sd=0.2)
    assert np.isfinite([found.mean.low, found.mean.high, found.sd_estimate]).all()


def coverage(inside, wanted=0.95):
    """Refuses a true coverage of at least ``wanted`` once in ten thousand times."""
    return stats.binomtest(int(np.sum(inside)), len(inside), wanted, "less").pvalue > 1e-4


@pytest.mark.parametrize("people", [20, 60])
def test_intervals_of_means_cover_people_s_mean(people):
    rng = np.random.default_rng(people)
    noise = NoiseOfOne(1 / (2 * people), 4)
    inside, width = [], []
    for _ in range(150):
        places = np.clip(rng.normal(0.5, 0.2, people), 0, 1)
        shown = places.mean() + noise.draw((), rng)
        moment = ((2 * places - 1) ** 2).mean() + noise.draw((), rng)
        found = intervals.mean_and_spread(shown, moment, people, noise, prior_sd=0.2).mean
        inside.append(found.low <= 0.5 <= found.high)
        width.append(found.high - found.low)
    assert coverage(inside)
    sd = np.hypot(noise.sd, 0.2 / np.sqrt(people))
    assert np.mean(width) < 6 * sd


@pytest.mark.parametrize(
    ("test", "effect", "people", "truth"),
    [
        ("tau", 0.3, (40,), 0.3),
        ("signed-rank", 0.5, (30,), 2 * stats.norm.cdf(0.5 * np.sqrt(2)) - 1),
    ],
)
def test_intervals_of_rank_statistics_cover_people_s(test, effect, people, truth):
    rng = np.random.default_rng(9)
    noise = noise_of_test(test, 2.0, *people)
    spread = {
        "tau": intervals.tau_spread,
        "signed-rank": intervals.signed_rank_spread,
    }[test](*people)
    shown = statistics_under(test, effect, 400, rng, *people) + noise.draw((400,), rng)
    found = [intervals.of_pairs(each, spread, noise) for each in shown]
    assert coverage([one.low <= truth <= one.high for one in found])
    drawn = statistics_under(test, effect, 4_000, rng, *people)
    assert spread(np.array([truth]))[0] == pytest.approx(drawn.std(), rel=0.12)


@pytest.mark.parametrize("sizes", [(25, 30), (4, 26), (26, 4)])
@pytest.mark.parametrize("spreads", [(1.0, 1.0), (1.0, 0.02), (0.02, 1.0)])
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_intervals_of_superiority_cover_however_groups_are_spread(sizes, spreads, shift):
    rng = np.random.default_rng(11)
    noise = noise_of_test("superiority", 4.0, *sizes)
    one, other = (sd * rng.normal(size=(600, n)) for sd, n in zip(spreads, sizes, strict=True))
    shown = ranks.dominance(one + shift, other) / math.prod(sizes) + noise.draw((600,), rng)
    truth = 2 * stats.norm.cdf(shift / math.hypot(*spreads)) - 1
    spread = intervals.dominance_spread(*sizes)
    found = [intervals.of_pairs(each, spread, noise) for each in shown]
    assert np.mean([each.low <= truth <= each.high for each in found]) > 0.93


def test_rank_statistics_without_noise_have_the_variance_of_theory():
    x, y = np.random.default_rng(1).normal(size=(2, 3_000, 50))
    tau = ranks.concordance(x, y) / (50 * 49 / 2)
    assert intervals.tau_spread(50)(np.array([0.0]))[0] == pytest.approx(tau.std(), rel=0.05)


def test_what_is_estimated_is_inside():
    assert intervals.Interval(0.2, 0.4).around(0.5) == intervals.Interval(0.2, 0.5)


@pytest.mark.parametrize("beyond", [0.3, 2.0, 50.0])
def test_noise_that_carries_a_number_beyond_what_can_be_leaves_no_narrow_interval(beyond):
    noise = NoiseOfOne(0.1, 3)
    half = noise.sd
    for found, least, most in (
        (intervals.share(1 + beyond, 30, noise), 0.0, 1.0),
        (intervals.share(-beyond, 30, noise), 0.0, 1.0),
        (intervals.of_pairs(1 + beyond, intervals.tau_spread(30), noise), -1.0, 1.0),
        (intervals.of_pairs(-1 - beyond, intervals.tau_spread(30), noise), -1.0, 1.0),
    ):
        assert found.high - found.low > half
        assert (found.low == least) != (found.high == most)
    sure, far = (intervals.mean_by_norm(x, 30, 0.2, noise) for x in (1.0, 1 + beyond))
    assert (far.low, far.high) == (sure.low, sure.high)
    fits = [intervals.mean_and_spread(x, 0.8, 30, noise, 0.2).mean for x in (1.0, 1 + beyond)]
    assert fits[0] == fits[1]


def test_intervals_of_shares_near_everybody_cover():
    rng = np.random.default_rng(3)
    noise, people = NoiseOfOne(0.05, 4), 25
    for truth in (0.9, 1.0):
        shown = rng.binomial(people, truth, 400) / people + noise.draw((400,), rng)
        found = [intervals.share(each, people, noise) for each in shown]
        assert coverage([one.low <= truth <= one.high for one in found])
