"""The smooth distribution of each feature in each task and group, behind all noisy counts of it."""

from __future__ import annotations

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.densities import Evidence, smooth
from eyelid.mechanisms.synthetic.estimates import nearest_shares, towards_common
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement

# Standard errors above which missing values are not noise: beside everybody, whose number is known,
# and beside the feature that most have.
_MISSING_OF_ALL, _MISSING_OF_MOST = 3.0, 5.0


def smooth_distributions(measurement: Measurement, answers: Answers) -> Values:
    """Smooth distributions (groups, tasks, features, bins)."""
    facts, shares = measurement.facts, measurement.shares
    counts = measurement.in_quarters(answers.shares)
    people = measurement.people_with(answers.shares)
    groups, tasks, features, parts = counts.shape
    cells = groups * tasks
    noise = shares.noise_of_person(facts)
    sd = noise / people.reshape(cells, features)
    noisy = (counts / people[..., None]).reshape(cells, features, parts)
    each = nearest_shares(towards_common(noisy, sd)) if cells > 1 else noisy
    which = measurement.quarters(answers.levels)[:, :-1]
    nested = measurement.level_counts(answers.levels)
    of_level = measurement.levels.noise_of_person(facts)
    # Rows of all tasks together count as one person, those of each task as another one.
    everybody = people.sum(axis=0).mean(axis=0)
    if cells == 1:
        everybody = facts.people * how_much_is_there(measurement, answers)[0, 0]
    found = np.empty((cells, features, measurement.levels.bins))
    for feature in range(features):
        inside = (which[feature] == np.arange(parts)[:, None]).astype(np.float64)
        by_part = counts[..., feature, :].sum(axis=0).mean(axis=0)
        whole = smooth(
            Evidence.of(measurement.sums, nested[feature], of_level, everybody[feature])
            + Evidence.of(inside, by_part, noise * np.sqrt(groups / tasks), everybody[feature])
        )
        for cell in range(cells):
            evidence = Evidence.of(inside, each[cell, feature], sd[cell, feature], 1.0)
            found[cell, feature] = smooth(evidence, whole) if cells > 1 else whole
    return found.reshape(groups, tasks, features, -1)


def how_much_is_there(measurement: Measurement, answers: Answers) -> Values:
    """How likely a row has a value, (groups, tasks, features): 1 where noise may have taken it."""
    people = measurement.people_with(answers.shares)
    most, clear = people.max(axis=-1, keepdims=True), _MISSING_OF_MOST
    if people.shape[:2] == (1, 1):
        # Everybody has a row of the only task.
        most, clear = np.full_like(most, measurement.facts.people), _MISSING_OF_ALL
    noise = measurement.shares.noise_of_person(measurement.facts) * np.sqrt(
        measurement.shares.pieces
    )
    found: Values = np.where(most - people > clear * noise, people / most, 1.0)
    return found
