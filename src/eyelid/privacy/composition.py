"""What several guarantees come to together, and one loss that is paid many times.

Whatever is (ε, δ)-DP is no worse than a coin that tells the truth with odds e^ε, and everything
with probability δ (Kairouz, Oh & Viswanath 2015). So n of them lose at most what n such coins do,
and of these the number that point one way is binomial: the total is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from eyelid.errors import InputError
from eyelid.privacy.gaussian import gaussian_epsilon
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import Neighbours, Trust

# Above this the discretised privacy-loss distribution grows large and gains nothing.
_PLD_MAX_EPSILON = 40.0


def replace_one(guarantee: Guarantee) -> Guarantee:
    """An add-remove guarantee as seen by replace-one neighbours: remove, then add.

    >>> from eyelid.privacy.unit import PERSON
    >>> replace_one(Guarantee(Kind.PURE, PERSON, Neighbours.ADD_REMOVE, Trust.CENTRAL, 1.0)).epsilon
    2.0
    """
    if guarantee.neighbours is Neighbours.REPLACE_ONE or not guarantee.kind.differential:
        return guarantee
    epsilon, delta = guarantee.epsilon, guarantee.delta
    return replace(
        guarantee,
        neighbours=Neighbours.REPLACE_ONE,
        epsilon=None if epsilon is None else 2 * epsilon,
        delta=None if delta is None else min(1.0, delta * (1 + math.exp(min(epsilon or 0.0, 700)))),
        mu=None if guarantee.mu is None else 2 * guarantee.mu,
        slack=2 * guarantee.slack,
    )


def sequential(guarantees: Sequence[Guarantee], delta: float | None = None) -> Guarantee:
    """The total over releases that touch the same person.

    Pure ε adds. Gaussian μ² adds. A mixture goes through the privacy-loss distribution of
    dp-accounting, or plain addition where that is smaller. Anything that does not hold, or is not
    differential privacy, makes the total unbounded: families never add up.

    Args:
        guarantees: at the same unit.
        delta: the δ at which ε is stated when any of them has one; by default the largest of
            theirs.
    """
    if not guarantees:
        raise InputError("nothing to compose")
    first = guarantees[0]
    if any(other.unit != first.unit for other in guarantees):
        units = ", ".join(sorted({str(g.unit) for g in guarantees}))
        raise InputError(f"guarantees of different units do not add up: {units}")
    trust = Trust.LOCAL if any(g.trust is Trust.LOCAL for g in guarantees) else Trust.CENTRAL
    total = replace(first, neighbours=Neighbours.REPLACE_ONE, trust=trust, k=None, gamma=None)

    failing = [g for g in guarantees if not g.holds or not g.kind.differential]
    if failing:
        reasons = [
            r
            for g in failing
            for r in (g.reasons or (f"{g.kind.spoken} is not differential privacy and has no ε",))
        ]
        return replace(
            total,
            kind=Kind.NONE,
            epsilon=None,
            delta=None,
            mu=None,
            slack=0.0,
            holds=False,
            reasons=tuple(dict.fromkeys(reasons)),
        )

    same = [replace_one(g) for g in guarantees]
    if len(same) == 1 and delta is None:
        return replace(same[0], trust=trust)
    pure = math.fsum(_epsilon(g) for g in same if g.kind is Kind.PURE)
    gaussian = [g for g in same if g.kind is not Kind.PURE and g.mu is not None]
    approximate = [g for g in same if g.kind is not Kind.PURE and g.mu is None]
    if not gaussian and not approximate:
        return replace(total, kind=Kind.PURE, epsilon=pure, delta=0.0, mu=None, slack=0.0)

    target = delta if delta is not None else max(g.delta or 0.0 for g in same)
    mu = math.sqrt(math.fsum((g.mu or 0.0) ** 2 for g in gaussian))
    slack = math.fsum(g.slack for g in gaussian)
    spent = math.fsum(g.delta or 0.0 for g in approximate)
    plain = pure + math.fsum(_epsilon(g) for g in approximate)
    if target <= spent + 2 * slack:
        # The δs alone exceed the wanted one: state their sum.
        target = spent + (max((g.delta or 0.0) for g in gaussian) if gaussian else 0.0)
    epsilon = plain + (gaussian_epsilon(mu, target - spent, slack) if gaussian else 0.0)
    if len(same) > 1 and plain and epsilon < _PLD_MAX_EPSILON:
        epsilon = min(epsilon, _mixture_epsilon(tuple(same), target, slack))
    return replace(
        total,
        kind=Kind.APPROXIMATE,
        epsilon=epsilon,
        delta=target,
        mu=None if (pure or approximate) else mu,
        slack=0.0 if (pure or approximate) else slack,
    )


# A total is asked for many times in a run: before a release, in its certificate, in its card.
@lru_cache(maxsize=256)
def _mixture_epsilon(guarantees: tuple[Guarantee, ...], delta: float, slack: float) -> float:
    """ε at δ of a mixture, by composing privacy-loss distributions (pessimistic rounding)."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    losses = None
    for g in guarantees:
        if g.kind is not Kind.PURE and g.mu is not None:
            if g.mu == 0:
                continue
            loss = pld.from_gaussian_mechanism(1.0 / g.mu, value_discretization_interval=1e-3)
        else:
            # Known by (ε, δ) alone, so bounded by the worst mechanism that has them.
            parameters = common.DifferentialPrivacyParameters(_epsilon(g), g.delta or 0.0)
            loss = pld.from_privacy_parameters(parameters, value_discretization_interval=1e-3)
        losses = loss if losses is None else losses.compose(loss)
    if losses is None:
        return 0.0
    epsilon = float(losses.get_epsilon_for_delta(delta))
    if slack:
        # δ also pays (1 + e^ε)·slack, and ε is only known to grow when δ shrinks.
        room = delta - (1 + math.exp(min(epsilon + 1.0, 700))) * slack
        again = float(losses.get_epsilon_for_delta(room)) if room > 0 else math.inf
        epsilon = again if again <= epsilon + 1.0 else math.inf
    return epsilon


def _epsilon(guarantee: Guarantee) -> float:
    """ε, and infinity rather than nothing where it is not stated."""
    return math.inf if guarantee.epsilon is None else guarantee.epsilon


def parallel(guarantees: Sequence[Guarantee], delta: float | None = None) -> Guarantee:
    """The total over releases of **disjoint people**: the worst of them.

    >>> from eyelid.privacy.unit import PERSON
    >>> one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, 1.0)
    >>> parallel([one, one]).epsilon, sequential([one, one]).epsilon
    (1.0, 2.0)
    """
    singles = [sequential([g], delta) for g in guarantees]
    failing = [g for g in singles if not g.holds]
    if failing:
        return sequential(failing, delta)
    worst = replace(
        max(singles, key=_epsilon),
        delta=max(g.delta or 0.0 for g in singles),
        trust=Trust.LOCAL if any(g.trust is Trust.LOCAL for g in singles) else Trust.CENTRAL,
    )
    kinds = {g.kind for g in singles}
    mus = [g.mu for g in singles if g.mu is not None]
    if len(mus) == len(singles) and len(kinds) == 1:
        return replace(worst, mu=max(mus), slack=max(g.slack for g in singles))
    kind = Kind.PURE if kinds == {Kind.PURE} else Kind.APPROXIMATE
    return replace(worst, kind=kind, mu=None, slack=0.0)


def repeated_delta(each: float, times: int, total: float) -> float:
    """The δ at which ``times`` pure losses of ``each`` come to no more than ``total``.

    With j of n coins for one side the loss is (2j − n)·ε, and δ = E[max(0, 1 − e^(total − loss))].

    >>> repeated_delta(0.1, 10, 1.0), round(repeated_delta(0.1, 100, 2.0), 4)
    (0.0, 0.0201)
    """
    from scipy.stats import binom

    if total >= times * each * (1 - 1e-12):
        return 0.0
    j = np.arange(times + 1)
    loss = (2 * j - times) * each
    mass = binom.pmf(j, times, 1 / (1 + math.exp(-each)))
    return float((mass * -np.expm1(np.minimum(total - loss, 0.0))).sum())


def share_of_total(total: float, delta: float, times: int) -> float:
    """The largest loss that may be paid so many times within (total, delta).

    >>> share_of_total(4.0, 1e-7, 1)
    4.0
    >>> 0.04 < share_of_total(4.0, 1e-7, 300) < 0.06
    True
    """
    low, high = total / times, total
    if times == 1:
        return total
    for _ in range(60):
        middle = (low + high) / 2
        if repeated_delta(middle, times, total) <= delta:
            low = middle
        else:
            high = middle
    return low
