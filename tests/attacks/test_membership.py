"""Membership inference: what exact aggregates give away, what noise hides, what refutes a claim."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from eyelid.attacks.membership import (
    NoiseDistribution,
    evidence,
    membership_game,
)
from eyelid.errors import InputError
from eyelid.privacy import PERSON, RECORDING, Guarantee, Kind, Neighbours, Trust, gaussian_mu
from eyelid.privacy.rank1 import advantage_bound


def central(**facts):
    given = {"kind": Kind.PURE, "neighbours": Neighbours.REPLACE_ONE, "unit": PERSON}
    return Guarantee(trust=Trust.CENTRAL, **(given | facts))


def mean_with(rng, distribution):
    """A distribution on means; its noise as the law says."""

    def publish(people):
        mean = people.mean(axis=0)
        if distribution == NoiseDistribution():
            return mean
        draw = rng.laplace if distribution.b else rng.normal
        return mean + draw(0, distribution.b or distribution.sigma, mean.shape)

    return publish


def one_unlike_all_others(people=200):
    """The first at the upper bound, all others at the lower one: the worst case of a mean."""
    return np.eye(people)[:, :1]


def ordinary(people, values, seed=2):
    return np.clip(np.random.default_rng(seed).normal(0.5, 0.15, (people, values)), 0, 1)


def test_the_density_of_noise_on_people_is_the_convolution():
    distribution, spread = NoiseDistribution(b=0.7), 0.4
    for point in (-3.0, -0.2, 0.0, 1.5, 30.0):
        expected = quad(
            lambda u, y=point: norm.pdf(u, scale=spread) * laplace.pdf(y - u, scale=0.7),
            -4,
            4,
            points=[min(max(point, -4), 4)],
            epsabs=0,
            limit=200,
        )[0]
        found = distribution.log_density(np.array(point), np.array(spread**2))
        assert np.exp(found) == pytest.approx(expected, rel=1e-6)
    gaussian = NoiseDistribution(sigma=0.3).log_density(np.array(0.5), np.array(0.16))
    assert gaussian == pytest.approx(norm.logpdf(0.5, scale=0.5))


def test_laplace_noise_that_vanishes_beside_people_is_no_noise():
    points, variance = np.linspace(-3, 3, 7), np.array(1.0)
    nearly = NoiseDistribution(b=1e-6).log_density(points, variance)
    assert nearly == pytest.approx(norm.logpdf(points))
    close = NoiseDistribution(b=1 / 299).log_density(points, variance)
    assert close == pytest.approx(norm.logpdf(points), abs=1e-3)


def test_the_evidence_is_that_of_a_plain_ratio():
    known, target = np.array([[0.0], [1.0], [2.0]]), np.array([3.0])
    found = evidence(np.array([1.4]), target, known, 4, NoiseDistribution())
    spread = np.sqrt(1 / 4 + 1 / 4)
    expected = norm.logpdf(1.4, (3 * 1.5 + 3) / 4, spread) - norm.logpdf(1.4, 1.5, spread)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("guarantee", "bound"),
    [
        (central(epsilon=1.0), (np.e - 1) / (np.e + 1)),
        (central(kind=Kind.APPROXIMATE, epsilon=0.0, delta=0.1), 0.1),
        (central(kind=Kind.APPROXIMATE, epsilon=9.0, delta=1e-6, mu=1.0), 2 * norm.cdf(0.5) - 1),
        (central(epsilon=0.5, neighbours=Neighbours.ADD_REMOVE), (np.e - 1) / (np.e + 1)),
        (central(epsilon=1000.0), 1.0),
        (central(epsilon=1.0, unit=RECORDING), None),
        (central(epsilon=1.0, holds=False), None),
        (central(kind=Kind.K_ANONYMITY, k=5), None),
        (None, None),
    ],
)  # fmt: skip
def test_the_bound_is_the_theory_s(guarantee, bound):
    assert advantage_bound(guarantee) == (None if bound is None else pytest.approx(bound))


def test_an_exact_mean_of_few_people_is_broken():
    """Of 100 values and 8 people the best attack is right Φ(√(100/8)/2) = 0.96 of the time."""
    found = membership_game(
        mean_with(None, NoiseDistribution()),
        ordinary(60, 100),
        size=8,
        distribution=NoiseDistribution(),
        trials=600,
    )
    assert found.right.rate > 0.9
    assert found.auc > 0.95
    assert found.advantage.low > 0.7
    assert found.bound is None
    assert not found.refutes


def test_an_exact_heatmap_of_few_people_is_broken():
    """Count maps: everybody looks at a dozen of 12 × 16 cells, some cells more than others."""
    rng = np.random.default_rng(3)
    favour = rng.dirichlet(np.full(192, 0.3))
    maps = rng.multinomial(12, favour, 80).reshape(80, 12, 16).astype(float)
    found = membership_game(
        mean_with(None, NoiseDistribution()),
        maps,
        size=10,
        distribution=NoiseDistribution(),
        trials=500,
    )
    assert found.right.rate > 0.85
    assert found.false_positives.rate < 0.2 < 0.8 < found.true_positives.rate


def test_real_people_are_found_in_the_mean_of_three(real_windows):
    people = np.stack(
        [
            np.nan_to_num(part.select(real_windows.names).to_numpy().astype(float)).mean(axis=0)
            for part in real_windows.data.partition_by("person", maintain_order=True)
        ]
    )
    spans = np.array([f.span for f in real_windows.features])
    found = membership_game(
        mean_with(None, NoiseDistribution()),
        people / spans,
        size=3,
        distribution=NoiseDistribution(),
        trials=400,
    )
    assert found.auc > 0.75
    assert found.right.low > 0.6


CLAIM = central(epsilon=1.0)


def outlier_game(factor, seed, trials=400):
    """A claim of ε = 1 for means of 10 people, with so much of the noise that it needs."""
    distribution, rng = NoiseDistribution(b=1 / 10), np.random.default_rng([seed, 1])
    publish = mean_with(rng, NoiseDistribution(b=factor * distribution.b))
    return membership_game(
        publish,
        one_unlike_all_others(),
        10,
        distribution,
        CLAIM,
        targets=[0],
        trials=trials,
        seed=seed,
    )


def test_sound_noise_stays_below_its_bound():
    """None of 60 games; one is with a chance of 4e-4, since 1 − e^(−1/2) is less than 0.462."""
    games = [outlier_game(1.0, seed) for seed in range(60)]
    assert not any(game.refutes for game in games)
    mean = np.mean([game.advantage.rate for game in games])
    # The best attack's advantage; four standard errors of 24 000 decisions are 0.024.
    assert mean == pytest.approx(1 - np.exp(-0.5), abs=0.024)
    assert mean < games[0].bound


@pytest.mark.parametrize("law_name", ["laplace", "gaussian"])
def test_sound_noise_hides_ordinary_people_altogether(law_name):
    size, values = 20, 30
    if law_name == "laplace":
        distribution, claim = NoiseDistribution(b=values / size), CLAIM
    else:
        mu = gaussian_mu(1.0, 1e-6)
        distribution = NoiseDistribution(sigma=np.sqrt(values) / size / mu)
        claim = central(kind=Kind.APPROXIMATE, epsilon=1.0, delta=1e-6, mu=mu)
    rng = np.random.default_rng(5)
    publish = mean_with(rng, distribution)
    found = membership_game(publish, ordinary(50, values), size, distribution, claim)
    # Four standard errors of 2000 fair decisions.
    assert abs(found.right.rate - 0.5) < 4 * 0.5 / np.sqrt(2000)
    assert not found.refutes
    assert found.advantage.low < 0 < found.advantage.high


@pytest.mark.parametrize(
    "factor", [pytest.param(10 / 60, id="noise for 50 people more"), pytest.param(0.3, id="0.3")]
)
@pytest.mark.parametrize("seed", range(3))
def test_too_little_noise_is_refuted(factor, seed):
    assert outlier_game(factor, seed).refutes


def test_what_cannot_be_attacked_is_refused():
    people = ordinary(10, 2)
    with pytest.raises(InputError, match="aggregates of 9 out of 10 people"):
        membership_game(mean_with(None, NoiseDistribution()), people, 9, NoiseDistribution())
    with pytest.raises(InputError, match="is none: give one"):
        NoiseDistribution(sigma=0.1, b=0.1)
    with pytest.raises(InputError, match="b = -1 is none"):
        NoiseDistribution(b=-1.0)
    with pytest.raises(InputError, match="missing values"):
        membership_game(
            mean_with(None, NoiseDistribution()), people * np.nan, 4, NoiseDistribution()
        )
