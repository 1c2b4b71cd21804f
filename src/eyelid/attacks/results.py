"""Attacks on results of a study: who is in them, and what subtracting all others gives.

The attacker has the noisy whole numbers that everything was made of, the data of all others,
and both of what the last person may be like. The likelihood ratio of what is shown is the best test
there is, and the mechanism says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.membership import Membership, told_apart
from eyelid.attacks.subtraction import Subtraction, subtraction
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.statistics.quantities import imputed
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import randomness

Values = NDArray[np.float64]
TRIALS = 2000
_RUNS_OF_TARGET = 20


def opposite(places: Values) -> Values:
    """The opposite of a person: every number at the farther end of its range."""
    return np.where(np.nan_to_num(places, nan=0.0) < 0.5, 1.0, 0.0)


def membership_in_results(
    mechanism: Summary,
    facts: StatisticsFacts,
    places: Values,
    labels: Integers,
    promised: Guarantee,
    *,
    trials: int = TRIALS,
    seed: int = 0,
) -> Membership:
    """Release again and again, with a person or with their opposite by the toss of a coin.

    Args:
        mechanism: of the release.
        facts: the public facts.
        places: people × entries.
        labels: the group of each person.
        promised: to a person.
        trials: how often.
        seed: of targets and coins, and of the noise, which is fresh each time.
    """
    rng, noise = np.random.default_rng(seed), randomness(seed)
    each = max(1, trials // _RUNS_OF_TARGET)
    targets = rng.permutation(np.arange(each) % len(places))
    parts = mechanism.parts_for(facts)
    scores, coins, owner = [], [], []
    for who in targets.tolist():
        other = places.copy()
        other[who] = opposite(places[who])
        coin = rng.random(_RUNS_OF_TARGET) < 0.5
        score = np.zeros(_RUNS_OF_TARGET)
        for part in parts:
            inside, outside = (part.query(side, labels) for side in (places, other))
            asked = np.where(coin[:, None], inside, outside)
            shown = part.draw(asked, noise)
            score += part.log_chance(shown, inside) - part.log_chance(shown, outside)
        scores.append(score)
        coins.append(coin)
        owner.append(np.full(_RUNS_OF_TARGET, who))
    return told_apart(
        np.concatenate(scores), np.concatenate(coins), np.concatenate(owner), promised
    )


def left_over(
    means: Sequence[tuple[int, int | None, float]], places: Values, labels: Integers
) -> Subtraction | None:
    """What subtracting all others from released means gives of the last person.

    Args:
        means: of each released mean its entry, its group (None for everybody) and its place.
        places: people × entries.
        labels: the group of each person.
    """
    everybody = [mean for mean in means if mean[1] is None]
    groups = [mean[1] for mean in means if mean[1] is not None]
    group = None if everybody else min(groups, default=None)
    chosen = everybody or [mean for mean in means if mean[1] == group]
    if not chosen:
        return None
    mine = places if group is None else places[labels == group]
    columns = [column for column, _, _ in chosen]
    return subtraction([place for *_, place in chosen], imputed(mine[:, columns]))


@dataclass(frozen=True)
class Coverage:
    """How often intervals held what they were about, over releases of resampled people.

    Attributes:
        releases: how many were drawn.
        share: of all intervals that did.
        intervals: how many results have one.
    """

    releases: int
    share: float
    intervals: int
