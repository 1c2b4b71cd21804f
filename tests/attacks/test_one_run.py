"""One-run audits: the theorem by exact enumeration, coverage and power by simulation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from eyelid.attacks.one_run import (
    ALPHA,
    epsilon_lower_bound,
    gaussian_accuracy,
    mu_lower_bound,
    one_run,
    p_value,
)
from eyelid.errors import InputError
from eyelid.privacy import PERSON, Guarantee, Kind, Neighbours, Trust


def claim(**facts):
    given_ = {"kind": Kind.PURE, "trust": Trust.LOCAL, "neighbours": Neighbours.REPLACE_ONE}
    return Guarantee(unit=PERSON, **(given_ | facts))


def plain_p_value(m, r, v, epsilon, delta):
    """As the paper's appendix has it: one step at a time."""
    q = 1 / (1 + math.exp(-epsilon))
    steepest = total = 0.0
    for i in range(1, v + 1):
        total += binom.pmf(v - i, r, q)
        steepest = max(steepest, total / i)
    return min(1.0, binom.sf(v - 1, r, q) + 2 * m * delta * steepest)


@given(
    st.integers(1, 80),
    st.integers(1, 80),
    st.integers(0, 80),
    st.floats(0, 5),
    st.sampled_from([0.0, 1e-6, 1e-3, 0.1]),
)
def test_the_p_value_is_the_paper_s(m, r, v, epsilon, delta):
    r, v = min(r, m), min(v, r, m)
    assert p_value(m, r, v, epsilon, delta) == pytest.approx(
        plain_p_value(m, r, v, epsilon, delta), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_randomised_response_attains_the_bound_exactly(epsilon):
    """All 2^m answers to one set of coins: the chance of v right ones is the p-value itself."""
    m, q = 7, 1 / (1 + math.exp(-epsilon))
    rights = np.array([sum(answer) for answer in itertools.product([0, 1], repeat=m)])
    chances = q**rights * (1 - q) ** (m - rights)
    for v in range(m + 1):
        assert p_value(m, m, v, epsilon) == pytest.approx(chances[rights >= v].sum())


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3.0), st.integers(1, 3))
def test_no_mechanism_that_keeps_its_promise_beats_the_bound(seed, epsilon, guesses):
    """Exact: any table of probabilities, people dependent on each other in any way.

    Each coin moves the weight of every output by at most a factor e^(ε/2), so that with the
    normalisation probabilities move by at most e^ε.
    """
    m, rng = 3, np.random.default_rng(seed)
    coins = np.array(list(itertools.product([-1, 1], repeat=m)))
    outputs = np.array(
        [t for t in itertools.product([-1, 0, 1], repeat=m) if np.count_nonzero(t) == guesses]
    )
    pulls = rng.uniform(-1, 1, (len(outputs), m)) if seed % 2 else outputs.astype(float)
    logits = epsilon / 4 * coins @ pulls.T
    logits += rng.uniform(-3, 3, len(outputs))
    chances = np.exp(logits)
    chances /= chances.sum(axis=1, keepdims=True)
    for i in range(m):
        flipped = [int(np.flatnonzero((coins == c * np.where(np.arange(m) == i, -1, 1)).all(1))[0])
                   for c in coins]  # fmt: skip
        assert np.all(chances <= np.exp(epsilon) * chances[flipped] * (1 + 1e-9))
    right = (coins[:, None] * outputs[None] > 0).sum(axis=2)
    for v in range(guesses + 1):
        exact = (chances * (right >= v)).sum() / len(coins)
        assert exact <= p_value(m, guesses, v, epsilon) + 1e-12


@pytest.mark.parametrize("delta", [1e-3, 0.05])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_giving_everybody_away_at_once_with_chance_delta_stays_within_the_bound(epsilon, delta):
    m, q = 40, 1 / (1 + math.exp(-epsilon))
    for v in range(m + 1):
        exact = delta + (1 - delta) * binom.sf(v - 1, m, q)
        assert exact <= p_value(m, m, v, epsilon, delta) + 1e-12
        alone = binom.sf(v - 1, m, delta + (1 - delta) * q)
        assert alone <= p_value(m, m, v, epsilon, delta) + 1e-12


def test_lower_bounds_are_where_the_p_value_crosses():
    for delta in (0.0, 1e-6):
        bound = epsilon_lower_bound(1000, 200, 180, delta, alpha=0.05)
        assert p_value(1000, 200, 180, bound, delta) == pytest.approx(0.05, rel=1e-6)
    mu = mu_lower_bound(200, 180, alpha=0.05)
    assert binom.sf(179, 200, norm.cdf(mu / 2)) == pytest.approx(0.05, rel=1e-6)
    assert epsilon_lower_bound(100, 100, 50) == mu_lower_bound(100, 50) == 0.0


def laplace_run(rng, m, epsilon, factor=1.0):
    """Values on a grid, as ours are: the low digits of floating-point noise tell the coin."""
    coins = rng.random(m) < 0.5
    grid = 2.0**20
    output = np.rint(grid * coins) + np.rint(grid * rng.laplace(0, factor / epsilon, m))
    return epsilon * (np.abs(output) - np.abs(output - grid)) / grid, coins


def gaussian_run(rng, m, mu, factor=1.0):
    coins = rng.random(m) < 0.5
    return coins + rng.normal(0, factor / mu, m) - 0.5, coins


def test_floating_point_noise_gives_itself_away():
    """Ties of the score, broken by what rounding left in it, pick out the right guesses."""
    rng = np.random.default_rng(1)
    refuted = 0
    for _ in range(100):
        coins = rng.random(1000) < 0.5
        output = coins + rng.laplace(0, 2.0, 1000)
        scores = 0.5 * (np.abs(output) - np.abs(output - 1))
        refuted += one_run(scores, coins, claim(epsilon=0.5)).refuted
    assert refuted > 5


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_true_pure_claims_survive(epsilon):
    """One in 1000 audits of a true claim may fail: 6 of 1000 with a chance of 1 in 1000."""
    rng = np.random.default_rng(int(10 * epsilon))
    runs = [one_run(*laplace_run(rng, 400, epsilon), claim(epsilon=epsilon)) for _ in range(1000)]
    assert sum(run.refuted for run in runs) < 6
    assert all((run.lower_bound > epsilon) <= run.refuted for run in runs)


def test_bounds_cover_the_truth_as_often_as_they_say():
    """At 90% confidence randomised response and the Gaussian exceed 1 in 10 at most.

    Of 2000 seeded repetitions more than 240 would be, with chance 0.002, an accident.
    """
    rng = np.random.default_rng(5)
    q = 1 / (1 + math.exp(-1.0))
    above = [epsilon_lower_bound(300, 300, v, alpha=0.1) > 1.0 for v in rng.binomial(300, q, 2000)]
    assert 100 < sum(above) <= 240
    accuracy = gaussian_accuracy(0.8)
    above = [mu_lower_bound(300, v, 0.1) > 0.8 for v in rng.binomial(300, accuracy, 2000)]
    assert 100 < sum(above) <= 240


def test_true_gaussian_claims_survive_and_false_ones_do_not():
    """One in 1000 audits of the truth may fail: 4 of 500, 1 in 500; of half the noise, none."""
    rng = np.random.default_rng(6)
    truth = claim(kind=Kind.APPROXIMATE, epsilon=4.377, delta=1e-5, mu=1.0)
    assert sum(one_run(*gaussian_run(rng, 400, 1.0), truth).refuted for _ in range(500)) < 4
    found = [one_run(*gaussian_run(rng, 1000, 1.0, 0.5), truth) for _ in range(30)]
    assert all(run.refuted and run.measure == "mu" for run in found)


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_half_the_laplace_noise_is_refuted(epsilon):
    rng = np.random.default_rng(7)
    runs = [
        one_run(*laplace_run(rng, 1000, epsilon, 0.5), claim(epsilon=epsilon)) for _ in range(50)
    ]
    assert sum(run.refuted for run in runs) >= 49
    assert all(run.lower_bound > epsilon for run in runs if run.refuted)


def test_abstaining_finds_the_few_who_are_given_away():
    """One canary in twenty is certain, all others say nothing."""
    rng = np.random.default_rng(8)
    coins = rng.random(1000) < 0.5
    scores = np.where(rng.random(1000) < 0.05, np.where(coins, 9.0, -9.0), rng.normal(size=1000))
    found = one_run(scores, coins, claim(epsilon=1.0))
    assert found.refuted
    assert found.guesses <= 62
    assert p_value(1000, 1000, int(((scores > 0) == coins).sum()), 1.0) > ALPHA


def test_aggregates_are_not_taken_for_independent_games():
    coins = np.random.default_rng(9).random(1000) < 0.5
    scores = np.where(coins, 1.0, -1.0)
    central = claim(kind=Kind.APPROXIMATE, trust=Trust.CENTRAL, epsilon=20.0, delta=1e-6, mu=1.0)
    assert not one_run(scores, coins, central).refuted


def test_adding_and_removing_counts_twice_for_replacing():
    coins = np.random.default_rng(10).random(64) < 0.5
    added = claim(neighbours=Neighbours.ADD_REMOVE, epsilon=1.0)
    assert one_run(np.where(coins, 1.0, -1.0), coins, added).claimed == 2.0


def test_what_cannot_be_audited_is_refused():
    coins = np.zeros(100, dtype=bool)
    with pytest.raises(InputError, match="3 scores of 100 canaries"):
        one_run(np.zeros(3), coins, claim(epsilon=1.0))
    with pytest.raises(InputError, match="no number"):
        one_run(np.full(100, np.nan), coins, claim(epsilon=1.0))
    with pytest.raises(InputError, match="k-anonymity has neither"):
        one_run(np.zeros(100), coins, claim(kind=Kind.K_ANONYMITY, k=5))
    with pytest.raises(InputError, match="5 right of 4 guesses"):
        p_value(10, 4, 5, 1.0)
