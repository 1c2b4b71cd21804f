"""Synthetic participants whose rows are no signal: a Gaussian copula between and within people.

Each feature of each row is z = √a·b + √(1 − a)·w: b is the person's, w the row's, both of variance
1, and a is the share of the variance that lies between people. All b go together as all w do. The
value is the one of the task's distribution that is as rare as z, and of all z of a task the ranks
count: values are spread as evenly as the distribution says, not as chance has it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.copula import Copula, rows_drawn
from eyelid.mechanisms.synthetic.estimates import shrunk
from eyelid.mechanisms.synthetic.fitting import correlation, fitted, shares_of_lengths
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.person_measurement import PersonMeasurement
from eyelid.mechanisms.synthetic.sequences import length_edges
from eyelid.mechanisms.synthetic.smooth_shares import how_much_is_there, smooth_distributions

# Rows of which values are made at once.
_BLOCK_ROWS = 1 << 18
# Of a sign's variance, the least that something is said about.
_LEAST_ROOM = 0.25
# Of a feature's variance, the least and the most that lies between people.
_ALIKE = (0.01, 0.99)
# The least that is left of a feature when all others are known.
_LEAST_OWN = 0.01


@dataclass(frozen=True, eq=False)
class PersonModel:
    """All that is known of people, from noisy counts alone.

    Attributes:
        distributions: (groups, tasks, features, bins).
        missing: (groups, tasks, features): how likely a row has no value.
        together: (features, features): correlations, of people and of rows.
        alike: (features,): the share of variance that lies between people.
        lengths: (groups, tasks, bins): how likely a recording has so many rows.
        bins: of values.
    """

    distributions: Values
    missing: Values
    together: Values
    alike: Values
    lengths: Values
    bins: Bins

    def rows(self, group: int, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Lengths of the recordings of synthetic participants, (people, tasks)."""
        return rows_drawn(self.lengths[group], people, rng)

    def drawn(
        self, group: int, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> Iterator[Values]:
        """Values of synthetic participants, block by block: (rows of recordings, features).

        Args:
            group: whom they belong to.
            rows: (people, tasks), the length of each recording.
            rng: any generator: what it draws from is private already.
        """
        people, tasks = rows.shape
        features = len(self.alike)
        person = np.repeat(np.arange(people), rows.sum(axis=1))
        task = np.repeat(np.tile(np.arange(tasks), people), rows.ravel())
        of_task = [np.flatnonzero(task == number) for number in range(tasks)]
        signal = self._signal(person, people, rng)
        place = np.empty((len(person), features))
        # One feature after the other: of many rows, ranks of all at once would take much memory.
        for feature, (number, mine) in itertools.product(range(features), enumerate(of_task)):
            if not mine.size:
                continue
            ranks = signal[mine, feature].argsort().argsort()
            shares = self.distributions[group, number, feature]
            ends = np.concatenate([[0.0], np.cumsum(shares)]) / shares.sum()
            rare = (ranks + rng.random(len(mine))) / len(mine)
            place[mine, feature] = np.interp(rare, ends, np.arange(len(ends)))
        del signal
        for first in range(0, len(place), _BLOCK_ROWS):
            some = slice(first, first + _BLOCK_ROWS)
            values = self.bins.values(place[some])
            values[rng.random(values.shape) < self.missing[group][task[some]]] = np.nan
            yield values

    def _signal(
        self, person: NDArray[np.intp], people: int, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """What makes values of rows high or low, (rows, features): a person's part and its own."""
        mixed = np.linalg.cholesky(self.together).T.astype(np.float32)
        sizes = (len(person), len(self.alike))
        found = rng.standard_normal(sizes, dtype=np.float32) @ mixed
        found *= np.sqrt(1 - self.alike).astype(np.float32)
        common = rng.standard_normal((people, sizes[1]), dtype=np.float32) @ mixed
        common *= np.sqrt(self.alike).astype(np.float32)
        for first in range(0, len(person), _BLOCK_ROWS):
            some = slice(first, first + _BLOCK_ROWS)
            found[some] += common[person[some]]
        signal: NDArray[np.float32] = found
        return signal


def model_of(measurement: Measurement, answers: Answers, bins: Bins) -> Copula | PersonModel:
    """What synthetic participants are drawn from: noisy answers and public facts alone."""
    if isinstance(measurement, PersonMeasurement):
        return _of_people(measurement, answers, bins)
    return fitted(measurement, answers, bins)


def _of_people(measurement: PersonMeasurement, answers: Answers, bins: Bins) -> PersonModel:
    distributions = smooth_distributions(measurement, answers)
    there = how_much_is_there(measurement, answers)
    lengths = shares_of_lengths(measurement, answers)
    # How much signs agree by chance: the halves that were asked for are no halves, quite.
    halves = measurement.halves(answers.levels, answers.shares)[..., :-1]
    means = (distributions * halves).sum(axis=-1)
    counted = there / there.sum(axis=(0, 1))
    alike = _alike(measurement, answers, (means, counted), there, lengths)
    together = _together(measurement, answers, (means, counted), there)
    # Of two rows of one person: what people have in common, and what single rows have.
    both = np.sqrt(np.outer(alike, alike)) + np.sqrt(np.outer(1 - alike, 1 - alike))
    return PersonModel(distributions, 1 - there, _possible(together / both), alike, lengths, bins)


def _present(measurement: PersonMeasurement, answers: Answers, there: Values) -> Values:
    """The share of people with values of each feature in each task, (tasks, features)."""
    facts = measurement.facts
    if there.shape[:2] == (1, 1):
        only: Values = there[0]
        return only
    people = measurement.people_with(answers.shares).sum(axis=0)
    found: Values = np.clip(people, 1.0, facts.people) / facts.people
    return found


def _alike(
    measurement: PersonMeasurement,
    answers: Answers,
    chance: tuple[Values, Values],
    there: Values,
    lengths: Values,
) -> Values:
    """The share of each feature's variance that lies between people."""
    facts = measurement.facts
    tasks = facts.recordings
    present = _present(measurement, answers, there)
    edges = length_edges()
    rows = np.clip((edges[:-1] + edges[1:] - 1) / 2, 1, facts.length)
    # So likely two rows of a recording that are looked at are one.
    same = (lengths.mean(axis=0) / rows).sum(axis=-1)[:, None]
    one = (present * same).sum(axis=0)
    two = (present * (1 - same)).sum(axis=0)
    for first in range(tasks):
        for other in range(tasks):
            two = two + (first != other) * np.minimum(present[first], present[other])
    squares = measurement.signs.in_people(answers.signs, facts) / facts.people
    means, counted = chance
    by_chance = (counted * means).sum(axis=(0, 1)) ** 2
    agree = (squares * tasks**2 - one) / np.maximum(two, 1 / facts.people)
    room = np.maximum(1 - by_chance, _LEAST_ROOM)
    sd = measurement.signs.noise_of_person(facts) / facts.people * tasks**2
    sd = sd / np.maximum(two, 1 / facts.people) / room
    found = (agree - by_chance) / room
    found = shrunk(found, sd, float(found.mean()))
    alike: Values = np.clip(correlation(found), *_ALIKE)
    return alike


def _together(
    measurement: PersonMeasurement,
    answers: Answers,
    chance: tuple[Values, Values],
    there: Values,
) -> Values:
    """Correlations of every two features."""
    facts = measurement.facts
    features = facts.features
    found = np.eye(features)
    if measurement.choice is None:
        return found
    first, second = np.triu_indices(features, 1)
    products = measurement.choice.in_people(answers.choice, facts)
    people = _present(measurement, answers, there).mean(axis=0) * facts.people
    both = np.minimum(people[first], people[second])
    means, counted = chance
    by_chance = (counted[..., first] * means[..., first] * means[..., second]).sum(axis=(0, 1))
    room = np.maximum(1 - (counted * means**2).sum(axis=(0, 1)), _LEAST_ROOM)
    sd = measurement.choice.noise_of_person(facts) / both
    pairs = shrunk(products / both - by_chance, sd, 0.0)
    found[first, second] = correlation(pairs / np.sqrt(room[first] * room[second]))
    found[second, first] = found[first, second]
    return found


def _possible(together: Values) -> Values:
    """The nearest correlations that can be, about: none of their directions is without variance."""
    sizes, directions = np.linalg.eigh(np.clip(together, -1.0, 1.0))
    kept = (directions * np.maximum(sizes, _LEAST_OWN)) @ directions.T
    own = np.sqrt(np.diag(kept))
    found: Values = kept / np.outer(own, own)
    return found
