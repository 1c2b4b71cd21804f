"""Was this person in it? Membership inference on means and count maps, by the likelihood ratio.

The attacker has the published aggregate, the target's own data, the distribution of the noise, and
people who are not in the aggregate, from whom they know what the population is like. With mean m
and variance v of the population, the mean of N people is nearly normal with variance v/N, around m
if the target is not among them and around ((N − 1)m + t)/N if they are; noise comes on top. (With a
person known, the variance is a little less. It is taken as the same, so that a wrong variance
speaks for neither side.) Cells and features count as independent, which costs the attack strength
where they are not: what is found is a lower bound on what could be.

**What a rate can refute.** An ε-DP aggregate lets nobody tell a person in it from the same
aggregate with other data in their place, of the form that the mechanism states, with an advantage
(true minus false positive rate) above (e^ε − 1 + 2δ)/(e^ε + 1). That speaks of the mechanism's
coins: `membership_game` runs the mechanism many times, each time with one target whose coin decides
whether they are in. Decisions are independent, and too many right ones refute the claim. (An
aggregate that is already out had no coin: an attacker who answers with the list of members is
always right, and has refuted nothing.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.attacks.identification import ALPHA
from eyelid.attacks.statistics import Rate, above, rate_of_shares
from eyelid.errors import InputError
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.rank1 import advantage_bound

Values = NDArray[np.float64]
Publish = Callable[[Values], Values]
"""From the data of the people in it, people first, to the published mean."""

# Beyond this the Laplace noise is too small beside the people to have a shape of its own.
_PEOPLE_OVER_NOISE = 300.0


@dataclass(frozen=True)
class NoiseDistribution:
    """The noise on each value of an aggregate, as its certificate states it; none by default.

    Attributes:
        sigma: of Gaussian noise, in units of the aggregate.
        b: of Laplace noise, likewise.
    """

    sigma: float = 0.0
    b: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.sigma < math.inf and 0 <= self.b < math.inf) or self.sigma * self.b:
            raise InputError(f"noise of σ = {self.sigma:g} and b = {self.b:g} is none: give one")

    def log_density(self, difference: Values, people_variance: Values) -> Values:
        """Log-density of what is published minus its centre, people's own spread being normal."""
        variance = people_variance + self.sigma**2
        normal = -(difference**2) / (2 * variance) - 0.5 * np.log(2 * np.pi * variance)
        if not self.b:
            return np.asarray(normal)
        from scipy.special import log_ndtr

        spread, b = np.sqrt(variance), self.b
        # The convolution of both laws, in logarithms: either factor alone would overflow.
        both = np.logaddexp(
            -difference / b + log_ndtr(difference / spread - spread / b),
            difference / b + log_ndtr(-difference / spread - spread / b),
        )
        convolved = both + variance / (2 * b**2) - math.log(2 * b)
        return np.where(spread > _PEOPLE_OVER_NOISE * b, normal, convolved)


@dataclass(frozen=True, eq=False)
class Membership:
    """How well people were told from others who could have been in it.

    Attributes:
        right: share of right answers, in and not in counting alike, with limits over people.
        true_positives: members called members, with limits over people.
        false_positives: others called members, with limits over people.
        auc: area under the curve of the evidence.
        bound: on the advantage; None where the guarantee allows anything.
        p_value: of so many right answers if the bound held, over the mechanism's own coins; None
            where there were none, so that nothing can be refuted.
        decisions: how many answers were given.
    """

    right: Rate
    true_positives: Rate
    false_positives: Rate
    auc: float
    bound: float | None
    p_value: float | None
    decisions: int

    @property
    def advantage(self) -> Rate:
        """True minus false positive rate, which guessing makes 0: 2·right − 1."""
        rate, low, high = (2 * x - 1 for x in (self.right.rate, self.right.low, self.right.high))
        return Rate(rate, low, high, 0.0, self.right.people)

    @property
    def refutes(self) -> bool:
        """Whether the certificate is false."""
        return self.p_value is not None and self.p_value < ALPHA


def evidence(
    aggregate: Values,
    target: Values,
    references: Values,
    size: int,
    distribution: NoiseDistribution,
) -> Values:
    """The log-likelihood ratio that a target is in the aggregate.

    Args:
        aggregate: the published mean.
        target: one person, or several, people first.
        references: people who are not in it, people first.
        size: N, how many people are in it.
        distribution: of the noise.
    """
    known = len(references) + 1
    # The target is of the population as well: left out of its mean, strangers would look like
    # members wherever that mean is off.
    mean = (references.sum(axis=0) + target) / known
    seen = references.var(axis=0, ddof=1)
    # As if one more person had been seen, who differs as people do on average: a cell that nobody
    # has looked at yet is no infinitely sure evidence.
    variance = ((known - 1) * seen + max(float(seen.mean()), 1e-12)) / known
    # The population's mean is itself known from a few people only.
    spread = variance / size + variance / known
    inside = distribution.log_density(aggregate - ((size - 1) * mean + target) / size, spread)
    outside = distribution.log_density(aggregate - mean, spread)
    return np.asarray((inside - outside).sum(axis=-1))


def membership_game(
    publish: Publish,
    people: ArrayLike,
    size: int,
    distribution: NoiseDistribution,
    person_level: Guarantee | None = None,
    targets: Sequence[int] | None = None,
    trials: int = 2000,
    seed: int = 0,
) -> Membership:
    """Publish again and again, each time with a target who is in it or not by the toss of a coin.

    Each trial draws anew who is in the aggregate; the person left over tells the attacker about the
    population. Where the coin says no, another person has the target's place.

    Args:
        publish: the mechanism, with fresh noise each time.
        people: everybody who could be in it, people first: vectors or maps.
        size: N, how many people are in an aggregate.
        distribution: of the noise, as claimed.
        person_level: what is claimed; None for nothing.
        targets: whom to attack, as indices; by default everybody in turn. A claim is for
            everybody: it fails first for a person unlike all others.
        trials: how often.
        seed: of targets, coins and who is in it.
    """
    everybody = _flat(people)
    count = len(everybody)
    if not 2 <= size <= count - 3:
        raise InputError(
            f"aggregates of {size} out of {count} people: leave at least 3 people out, who tell "
            "what people are like, and take at least 2 in"
        )
    rng = np.random.default_rng(seed)
    attacked = np.arange(count) if targets is None else np.asarray(targets, dtype=np.intp)
    target = attacked[np.arange(trials) % len(attacked)]
    coins = rng.random(trials) < 0.5
    scores = np.empty(trials)
    for trial, who in enumerate(target):
        others = rng.permutation(count - 1)
        others += others >= who
        there = np.append(others[: size - 1], who if coins[trial] else others[size - 1])
        # In random order, or a place in the list would tell.
        published = np.ravel(publish(everybody[rng.permutation(there)]))
        scores[trial] = evidence(
            published, everybody[who], everybody[others[size:]], size, distribution
        )
    return told_apart(scores, coins, target, person_level)


def told_apart(
    scores: Values,
    coins: NDArray[np.bool_],
    target: NDArray[np.intp],
    person_level: Guarantee | None,
) -> Membership:
    """How a game went, in each trial of which the mechanism's noise was fresh.

    Args:
        scores: evidence that the target was in it; above 0 says yes.
        coins: whether they were.
        target: who it was about.
        person_level: what is claimed; None for nothing.
    """
    bound = advantage_bound(person_level)
    said = scores > 0
    return Membership(
        right=_over_people(said == coins, target),
        true_positives=_over_people(said[coins], target[coins]),
        false_positives=_over_people(said[~coins], target[~coins]),
        auc=_auc(coins, scores),
        bound=bound,
        p_value=None
        if bound is None
        else above((said == coins).astype(np.float64), (1 + bound) / 2),
        decisions=len(coins),
    )


def _auc(coins: NDArray[np.bool_], scores: Values) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(coins, scores))


def _over_people(events: NDArray[np.bool_], target: NDArray[np.intp]) -> Rate:
    """How often something happened, each person counting once."""
    _, place = np.unique(target, return_inverse=True)
    shares = np.bincount(place, weights=events) / np.bincount(place)
    return rate_of_shares(shares, 0.5)


def _flat(people: ArrayLike) -> Values:
    """People × values, of vectors or maps."""
    each = np.asarray(people, dtype=np.float64)
    if each.ndim < 2:
        raise InputError(f"give people first, then their values: the shape is {each.shape}")
    if not np.isfinite(each).all():
        raise InputError("people have missing values: fill them in first")
    return each.reshape(len(each), -1)
