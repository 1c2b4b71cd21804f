"""How far off means of synthetic participants will be, and how many people that takes."""

from __future__ import annotations

import bisect
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.public_groups import grouped, plain
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.calibration import measurement_of
from eyelid.mechanisms.synthetic.measurement import error_of_share
from eyelid.mechanisms.synthetic.sequences import BEND

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.synthetic import Synthetic

EVERY_PAIR = "all"
"""The word for ``pairs`` that measures every two features, and people apart from their rows."""
# How far means are off for each error of a share that is wanted: .2 standard deviations for .15.
_MEANS_TO_SHARES = 0.75
# Of the error of a mean in standard deviations of a feature's rows: that much more than the noise
# on a share, as found with real people and with simulated ones, signals and not.
_MEAN_NOISE = 3.5
_MOST_PEOPLE = 10**9


def error_with_all(mechanism: Synthetic, facts: PublicFacts) -> float:
    """How far released numbers will be off with all features of a shape, as an error of shares.

    The largest of that of shares of a quarter; of means over everybody, where .2 standard
    deviations of a feature count as much as .15; and where rows are no signal, of correlations of
    two features. As many people are made up as there are: with fewer, leaving out features
    would mend nothing.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
    """
    return _off(mechanism, facts, grouped(facts, mechanism.by).smallest)


def _off(mechanism: Synthetic, facts: PublicFacts, smallest: float) -> float:
    """How far off that is with so many people in the smallest group."""
    noise = mechanism.noise_of_people(facts) / smallest
    means = _MEAN_NOISE * noise / math.sqrt(facts.recordings)
    off = max(error_of_share(noise, smallest), _MEANS_TO_SHARES * means)
    return max(off, _noise_of_pairs(mechanism, plain(facts))) if mechanism.of_people(facts) else off


def _noise_of_pairs(mechanism: Synthetic, measured: PublicFacts) -> float:
    """Standard deviation of the noise on a correlation of two features; 0 where there are none."""
    choice = measurement_of(mechanism, measured).choice
    if choice is None:
        return 0.0
    return math.pi / 2 * choice.noise_of_person(measured) / measured.people


def mean_error_sd(mechanism: Synthetic, facts: PublicFacts) -> float:
    """How far a mean over everybody is off, in standard deviations of a feature's rows, about."""
    noise = mechanism.noise_of_shares(replace(facts, features=mechanism.carried(facts)))
    # Over all tasks, in each of which noise is drawn anew.
    return _MEAN_NOISE * noise / math.sqrt(facts.recordings)


def means_off(mechanism: Synthetic, table: FeatureTable) -> dict[str, float]:
    """How far the mean of each feature will be off over everybody, at most about, in its unit."""
    facts, bins = mechanism.facts(table), mechanism.bins_of(table)
    values = bins.values(np.arange(bins.count)[:, None] + np.full(bins.lowers.shape, 0.5))
    each = np.sqrt(((values - values.mean(axis=0)) ** 2).sum(axis=0))
    # Rows are no farther apart than if they were spread evenly over the bins.
    found = mean_error_sd(mechanism, facts) * each / math.sqrt(bins.count)
    names = [table.names[place] for place in mechanism.chosen(table)]
    return dict(zip(names, found.tolist(), strict=True))


def mean_off(feature: Feature, bins: int, error_sd: float, mean: float, spread: float) -> float:
    """How far a feature's mean is off, about, in its unit, by the rows that were released.

    Where rows lie in one bin all the same, they might lie anywhere in it.

    Args:
        feature: with its bounds.
        bins: how many they are cut into.
        error_sd: how far means are off, in standard deviations of rows.
        mean: of released rows.
        spread: their standard deviation.
    """
    cut = Bins.of([feature], bins, BEND)
    code = cut.codes([[mean]]).astype(np.float64)
    width = float((cut.values(code + 1) - cut.values(code))[0, 0])
    return math.hypot(error_sd * spread, width / math.sqrt(12))


def people_needed(mechanism: Synthetic, facts: PublicFacts) -> int:
    """The fewest people for the error that is wanted with all features of a shape."""
    part = grouped(facts, mechanism.by).smallest / facts.people

    def enough(people: int) -> bool:
        now = replace(facts, people=people)
        return _off(mechanism, now, people * part) <= mechanism.error

    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST_PEOPLE:
            raise InputError(
                f"no number of people up to {_MOST_PEOPLE:,} is enough for an error of "
                f"{mechanism.error:g} at epsilon {mechanism.epsilon:g}: choose larger ones"
            )
    return bisect.bisect_left(range(high), True, lo=high // 2 + 1, hi=high, key=enough)
