"""Was this person in it? Membership inference on means and count maps, by the likelihood ratio.

The attacker has the published aggregate, the target's own data, the law of the noise, and people
who are not in the aggregate, from whom they know what the population is like. With mean m and
variance v of the population, the mean of N people is nearly normal with variance v/N, around m if
the target is not among them and around ((N − 1)m + t)/N if they are; noise comes on top. (With a
person known, the variance is a little less. It is taken as the same, so that a wrong variance
speaks for neither side.) Cells and features count as independent, which costs the attack strength
where they are not: what is found is a lower bound on what could be.

**What a rate can refute.** An ε-DP aggregate lets nobody tell a person in it from the same
aggregate with other data in their place, of the form that the mechanism states, with an advantage
(true minus false positive rate) above (e^ε − 1 + 2δ)/(e^ε + 1). That speaks of the mechanism's
coins. Three ways to attack follow:

- `membership_game` runs the mechanism many times, each time with one target whose coin decides
  whether they are in. Decisions are independent, and too many right ones refute the claim.
- `membership_by_pairs` runs it once, with a coin for each of N pairs of people. The decisions share
  one draw of the noise; the one-run theorem holds all the same, for ε and (ε, δ).
- `membership_rates` attacks an aggregate that is already out. There was one draw of the noise and
  no coin: whoever answers with the list of members is always right and has refuted nothing. The
  rates tell the risk; the bound is printed beside them, and they refute nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.attacks.identification import ALPHA
from eyelid.attacks.one_run import OneRun, one_run
from eyelid.attacks.statistics import Rate, above, rate_of_decisions, rate_of_shares
from eyelid.errors import InputError
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.rank1 import advantage_bound

Values = NDArray[np.float64]
Publish = Callable[[Values], Values]
"""From the data of the people in it, people first, to the published mean."""

# Beyond this the Laplace noise is too small beside the people to have a shape of its own.
_PEOPLE_OVER_NOISE = 300.0


@dataclass(frozen=True)
class NoiseLaw:
    """The noise on each value of an aggregate, as its certificate states it.

    Attributes:
        name: ``exact`` for none.
        scale: σ of the Gaussian, b of the Laplace law, in units of the aggregate.
    """

    name: Literal["exact", "gaussian", "laplace"] = "exact"
    scale: float = 0.0

    def __post_init__(self) -> None:
        if (self.name == "exact") != (self.scale == 0) or not 0 <= self.scale < math.inf:
            raise InputError(f"{self.name} noise of scale {self.scale:g} is none: give its scale")

    def log_density(self, difference: Values, people_variance: Values) -> Values:
        """Of what is published minus its centre, the people's own spread being normal."""
        variance = people_variance + (self.scale**2 if self.name == "gaussian" else 0.0)
        normal = -(difference**2) / (2 * variance) - 0.5 * np.log(2 * np.pi * variance)
        if self.name != "laplace":
            return np.asarray(normal)
        from scipy.special import log_ndtr

        spread, b = np.sqrt(variance), self.scale
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
    law: NoiseLaw,
) -> Values:
    """The log-likelihood ratio that a target is in the aggregate.

    Args:
        aggregate: the published mean.
        target: one person, or several, people first.
        references: people who are not in it, people first.
        size: N, how many people are in it.
        law: of the noise.
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
    inside = law.log_density(aggregate - ((size - 1) * mean + target) / size, spread)
    outside = law.log_density(aggregate - mean, spread)
    return np.asarray((inside - outside).sum(axis=-1))


def membership_game(
    publish: Publish,
    people: ArrayLike,
    size: int,
    law: NoiseLaw,
    person_level: Guarantee | None = None,
    targets: Sequence[int] | None = None,
    trials: int = 2000,
    seed: int = 0,
) -> Membership:
    """Publish again and again, each time with a target who is in it or not by the toss of a coin.

    Each trial draws anew who is in the aggregate; whoever is left over tells the attacker about the
    population. Where the coin says no, somebody else has the target's place.

    Args:
        publish: the mechanism, with fresh noise each time.
        people: everybody who could be in it, people first: vectors or maps.
        size: N, how many people are in an aggregate.
        law: of the noise, as claimed.
        person_level: what is claimed; None for nothing.
        targets: whom to attack, as indices; by default everybody in turn. A claim is for
            everybody: it fails first for whoever is unlike all others.
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
        scores[trial] = evidence(published, everybody[who], everybody[others[size:]], size, law)
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


def membership_by_pairs(
    publish: Publish, pairs: ArrayLike, law: NoiseLaw, person_level: Guarantee, seed: int = 0
) -> OneRun:
    """Publish once; of each pair of people one is in it, by the toss of a coin.

    The attacker knows both people of every pair, and guesses the coins. This has power where people
    are in each other's way little: each pair looks at cells of their own.

    Args:
        publish: the mechanism, run once.
        pairs: pairs × 2 × values (or maps).
        law: of the noise, as claimed.
        person_level: what is claimed.
        seed: of the coins.
    """
    both = np.asarray(pairs, dtype=np.float64)
    if both.ndim < 3 or both.shape[1] != 2:
        raise InputError(f"pairs of people have the shape pairs × 2 × values, got {both.shape}")
    both = both.reshape(len(both), 2, -1)
    size = len(both)
    coins = np.random.default_rng(seed).random(size) < 0.5
    published = np.ravel(publish(both[np.arange(size), coins.astype(np.intp)]))
    middle, half = both.mean(axis=1), (both[:, 1] - both[:, 0]) / 2
    # What the other pairs' coins do to each value.
    spread = ((half**2).sum(axis=0) - half**2) / size**2 + 1e-18
    around = (middle.sum(axis=0) - middle) / size
    tails, heads = (
        law.log_density(published - around - both[:, side] / size, spread) for side in (0, 1)
    )
    return one_run((heads - tails).sum(axis=1), coins, person_level)


def membership_rates(
    aggregate: ArrayLike,
    members: ArrayLike,
    strangers: ArrayLike,
    references: ArrayLike,
    law: NoiseLaw,
    person_level: Guarantee | None = None,
) -> Membership:
    """Attack one aggregate that is already published. The rates refute nothing: see above.

    Args:
        aggregate: the published mean.
        members: everybody who is in it, people first.
        strangers: people who are not, and are attacked too.
        references: people who are not, and tell what the population is like.
        law: of the noise.
        person_level: what is claimed; None for nothing.
    """
    inside, outside, known = _flat(members), _flat(strangers), _flat(references)
    if len(known) < 2:
        raise InputError(f"{len(known)} people tell too little of what people are like: give 2")
    published = np.ravel(np.asarray(aggregate, dtype=np.float64))
    if not published.size == inside.shape[1] == outside.shape[1] == known.shape[1]:
        raise InputError(
            f"the aggregate has {published.size} values, members {inside.shape[1]}, strangers "
            f"{outside.shape[1]}, references {known.shape[1]}: they must be the same"
        )
    of_members = evidence(published, inside, known, len(inside), law)
    of_strangers = evidence(published, outside, known, len(inside), law)
    found = rate_of_decisions((of_members > 0).astype(np.float64), 0.5)
    alarms = rate_of_decisions((of_strangers > 0).astype(np.float64), 0.5)
    return Membership(
        right=_balanced(found, alarms),
        true_positives=found,
        false_positives=alarms,
        auc=_auc(
            np.arange(len(inside) + len(outside)) < len(inside),
            np.concatenate([of_members, of_strangers]),
        ),
        bound=advantage_bound(person_level),
        p_value=None,
        decisions=len(inside) + len(outside),
    )


def _balanced(found: Rate, alarms: Rate) -> Rate:
    """The mean of both rates of being right; limits by Newcombe's square-and-add (1998)."""
    rate = (found.rate + 1 - alarms.rate) / 2
    below = math.hypot(found.rate - found.low, alarms.high - alarms.rate) / 2
    above_it = math.hypot(found.high - found.rate, alarms.rate - alarms.low) / 2
    low, high = max(0.0, rate - below), min(1.0, rate + above_it)
    return Rate(rate, low, high, 0.5, found.people + alarms.people)


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
