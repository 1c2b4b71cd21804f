"""What effects tests under noise find, from public facts alone: simulated people, exact noise."""

from __future__ import annotations

import functools
import math

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.statistics import ranks
from eyelid.mechanisms.statistics.significance import SIGNIFICANT, TESTS, critical_value
from eyelid.mechanisms.statistics.spread import NoiseOfOne

USUAL_POWER = 0.8
_STUDIES = 4_000
_SEED = 13
_MOST_EFFECT = 8.0
_MOST_TAU = 0.999
_PAIRS_AT_ONCE = 1 << 24


def noise_of_test(test: str, epsilon: float, *people: int, numbers: int = 1) -> NoiseOfOne:
    """The noise of a test's statistic, between −1 and 1, in a box of so many numbers.

    Args:
        test: its name.
        epsilon: of the box.
        people: N, of superiority those in each group.
        numbers: that share the box.

    >>> round(noise_of_test("tau", 1.0, 95).sd, 3)
    0.06
    """
    n = sum(people)
    moved = {
        "sign": lambda: 2 / n,
        "signed-rank": lambda: 4 / (n + 1),
        "superiority": lambda: 2 / min(people),
        "tau": lambda: 4 / n,
    }
    if test not in moved:
        raise InputError(f"there is no test '{test}': choose one of {', '.join(TESTS)}")
    return NoiseOfOne(moved[test]() / epsilon, numbers)


def statistics_under(
    test: str, effect: float, studies: int, rng: np.random.Generator, *people: int
) -> Values:
    """A test's statistic in simulated studies, without noise, between −1 and 1.

    Args:
        test: its name.
        effect: of normal people, in standard deviations of a difference (sign, signed-rank), or
            between people (superiority); of tau Kendall's τ of normal pairs.
        studies: how many.
        rng: their randomness.
        people: N, of superiority those in each group.
    """
    n = sum(people)
    some = max(1, _PAIRS_AT_ONCE // n**2)
    if studies > some:
        parts = [
            statistics_under(test, effect, min(some, studies - done), rng, *people)
            for done in range(0, studies, some)
        ]
        return np.concatenate(parts)
    drawn = rng.normal(size=(studies, n))
    if test == "sign":
        return np.asarray(2 * (drawn + effect > 0).mean(axis=1) - 1)
    if test == "signed-rank":
        return ranks.signed_ranks(0.5 + drawn + effect) / (n * (n + 1) / 2)
    if test == "superiority":
        first, second = people
        apart = ranks.dominance(drawn[:, :first] + effect, drawn[:, first:])
        return apart / (first * second)
    r = math.sin(math.pi * effect / 2)
    other = r * drawn + math.sqrt(1 - r * r) * rng.normal(size=drawn.shape)
    return ranks.concordance(drawn, other) / (n * (n - 1) / 2)


def power(
    test: str,
    effect: float,
    noise: NoiseOfOne,
    *people: int,
    level: float = SIGNIFICANT,
    studies: int = _STUDIES,
) -> float:
    """How often a test finds an effect.

    Args:
        test: its name.
        effect: as for `statistics_under`.
        noise: on the statistic.
        people: N, of superiority those in each group.
        level: the chance of a false alarm.
        studies: simulated ones.
    """
    needed = critical_value(test, noise, *people, level=level)
    rng = np.random.default_rng(_SEED)
    found = statistics_under(test, effect, studies, rng, *people)
    return float((noise.at_least(needed - found) + noise.at_least(needed + found)).mean())


@functools.lru_cache(maxsize=256)
def effect_found(
    test: str, noise: NoiseOfOne, *people: int, wanted: float = USUAL_POWER
) -> float | None:
    """The smallest effect that a test finds so often; None where it finds none.

    Args:
        test: its name.
        noise: on the statistic.
        people: N, of superiority those in each group.
        wanted: how often.
    """
    from scipy.optimize import brentq

    most = _MOST_TAU if test == "tau" else _MOST_EFFECT

    def lacking(effect: float) -> float:
        return power(test, effect, noise, *people, studies=_STUDIES // 4) - wanted

    if lacking(most) < 0:
        return None
    return float(brentq(lacking, 0.0, most, xtol=0.005))
