"""What a guarantee allows an attacker: largest rates of re-identification and membership inference.

Bounds on naming are for one try among N people with a uniform prior; only for local releases,
where each person's own record is published. For pure ε the posterior odds move by at most e^ε.
"""

from __future__ import annotations

import math

from eyelid.privacy.composition import replace_one
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import PERSON, Trust


def rank1_bounds(person_level: Guarantee, people: int) -> dict[str, float | None]:
    """Upper bounds on rank-1 identification, or null where none is known.

    Args:
        person_level: the total over everything released of a person.
        people: how many candidates there are.

    Returns:
        ``raw_to_release``: one released record scored alone against knowledge that is independent
        of its noise; ``release_to_raw``: an attacker who sees all released records together.

    >>> from eyelid.privacy.unit import PERSON, Neighbours
    >>> one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=1.0)
    >>> {k: round(v, 3) for k, v in rank1_bounds(one, 20).items()}
    {'raw_to_release': 0.125, 'release_to_raw': 0.28}
    """
    nothing: dict[str, float | None] = {"raw_to_release": None, "release_to_raw": None}
    if people < 1 or not person_level.holds:
        return nothing
    if person_level.kind is Kind.K_ANONYMITY and person_level.k:
        return dict.fromkeys(nothing, 1.0 / person_level.k)
    if person_level.trust is not Trust.LOCAL or not person_level.kind.differential:
        return nothing
    epsilon, delta = person_level.epsilon, person_level.delta or 0.0
    alone = [] if epsilon is None else [_odds(epsilon, delta, people)]
    if person_level.mu is not None:
        alone.append(_gaussian(person_level.mu, people) + person_level.slack)
    return {
        "raw_to_release": min(1.0, *alone) if alone else None,
        "release_to_raw": _odds(2 * epsilon, 0.0, people)
        if epsilon is not None and person_level.kind is Kind.PURE
        else None,
    }


def guess_between_two(guarantee: Guarantee) -> float:
    """How often a guess between two values of the unit is right at most, where a coin is in half.

    >>> from eyelid.privacy.unit import PERSON, Neighbours
    >>> one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=1.0)
    >>> round(guess_between_two(one), 4)
    0.7311
    """
    if not guarantee.holds or guarantee.epsilon is None:
        return 1.0
    return _odds(guarantee.epsilon, guarantee.delta or 0.0, 2)


def advantage_bound(person_level: Guarantee | None) -> float | None:
    """What a guarantee allows any attacker as advantage: (e^ε − 1 + 2δ)/(e^ε + 1).

    For replace-one neighbours: a member against the same aggregate with any other data in their
    place, of the form that the mechanism states. For Gaussian noise 2Φ(μ/2) − 1 where that is less.
    None without a guarantee for a person.

    >>> from eyelid.privacy.guarantee import Kind
    >>> from eyelid.privacy.unit import Neighbours
    >>> one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, epsilon=1.0)
    >>> round(advantage_bound(one), 4)
    0.4621
    """
    if person_level is None or not person_level.holds or not person_level.kind.differential:
        return None
    if person_level.unit != PERSON:
        return None
    claim = replace_one(person_level)
    bounds = [1.0]
    if claim.epsilon is not None:
        epsilon = min(claim.epsilon, 700.0)
        delta = claim.delta or 0.0
        bounds.append(math.tanh(epsilon / 2) + 2 * delta / (math.exp(epsilon) + 1))
    if claim.mu is not None:
        bounds.append(math.erf(claim.mu / math.sqrt(8)) + 2 * claim.slack)
    return min(bounds)


def _odds(epsilon: float, delta: float, people: int) -> float:
    """(e^ε + (N−1)δ) / (e^ε + N − 1), without overflow."""
    shrunk = math.exp(-min(epsilon, 745.0))
    return min(1.0, (1 + (people - 1) * delta * shrunk) / (1 + (people - 1) * shrunk))


def _gaussian(mu: float, people: int) -> float:
    """Φ(Φ⁻¹(1/N) + μ·√((N−1)/(2N)))."""
    from scipy.special import ndtr, ndtri

    if people == 1:
        return 1.0
    return float(ndtr(ndtri(1 / people) + mu * math.sqrt((people - 1) / (2 * people))))
