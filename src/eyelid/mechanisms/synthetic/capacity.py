"""How far off means of synthetic participants will be, and how many people that takes."""

from __future__ import annotations

import bisect
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.public_groups import grouped
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.measurement import error_of_share

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.synthetic import Synthetic

EVERY_PAIR = "all"
"""The word for ``pairs`` that measures every two features, and people apart from their rows."""
# How far means are off for each error of a share that is wanted: .2 standard deviations for .15.
_MEANS_TO_SHARES = 0.75
# Of the error of a mean in standard deviations between people: that much more than the noise on a
# share, as found with simulated and real people whose rows are no signal; and of signals, of what
# noise on each bin by itself would give.
_MEAN_NOISE = 3.0
_MOST_OF_BINS = 0.5
_MOST_PEOPLE = 10**9


def error_of_means(mechanism: Synthetic, facts: PublicFacts, noise: float) -> float:
    """How far means are off, as an error of shares of the same weight; 0 where not foreseen.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
        noise: on a share.
    """
    off = _MEAN_NOISE * noise / math.sqrt(facts.recordings)
    return _MEANS_TO_SHARES * off if mechanism.of_people(facts) else 0.0


def mean_error_sd(mechanism: Synthetic, facts: PublicFacts) -> float | None:
    """How far a mean over everybody is off, in standard deviations between people, about.

    None of signals, whose means are foreseen by their bins.
    """
    if not mechanism.of_people(facts):
        return None
    noise = mechanism.noise_of_shares(replace(facts, features=mechanism.carried(facts)))
    # Over all tasks, in each of which noise is drawn anew.
    return _MEAN_NOISE * noise / math.sqrt(facts.recordings)


def means_off(mechanism: Synthetic, table: FeatureTable) -> dict[str, float]:
    """How far the mean of each feature will be off over everybody, at most about, in its unit."""
    facts, bins = mechanism.facts(table), mechanism.bins_of(table)
    values = bins.values(np.arange(bins.count)[:, None] + np.full(bins.lowers.shape, 0.5))
    each = np.sqrt(((values - values.mean(axis=0)) ** 2).sum(axis=0))
    off = mean_error_sd(mechanism, facts)
    if off is None:
        levels = mechanism.measurement(facts).levels
        noise = levels.noise_of_person(mechanism.carried_facts(facts)) / facts.people
        found = _MOST_OF_BINS * noise * each
    else:
        # People are no farther apart than if they were spread evenly over the bins.
        found = off * each / math.sqrt(bins.count)
    names = [table.names[place] for place in mechanism.chosen(table)]
    return dict(zip(names, found.tolist(), strict=True))


def people_needed(mechanism: Synthetic, facts: PublicFacts) -> int:
    """The fewest people for the error that is wanted with all features of a shape."""
    part = grouped(facts, mechanism.by).smallest / facts.people

    def enough(people: int) -> bool:
        noise = mechanism.noise_of_people(replace(facts, people=people)) / (people * part)
        off = error_of_share(noise, people * part), error_of_means(mechanism, facts, noise)
        return max(off) <= mechanism.error

    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST_PEOPLE:
            raise InputError(
                f"no number of people up to {_MOST_PEOPLE:,} is enough for an error of "
                f"{mechanism.error:g} at epsilon {mechanism.epsilon:g}: choose larger ones"
            )
    return bisect.bisect_left(range(high), True, lo=high // 2 + 1, hi=high, key=enough)
