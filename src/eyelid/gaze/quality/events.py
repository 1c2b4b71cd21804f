"""How far events of two sets of recordings are apart, found by one detector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelid.gaze.events import gaze_of
from eyelid.gaze.events.spans import Floats
from eyelid.gaze.generator.measurement import Found, found_in
from eyelid.gaze.study import Study

QUANTITIES = {
    "fixation_ms": "duration of a fixation",
    "saccade_amplitude_deg": "amplitude of a saccade",
    "peak_speed_deg_s": "peak speed of a saccade",
    "main_sequence_per_s": "peak speed of a saccade over its amplitude",
    "blinks_per_min": "blinks a minute, one a recording",
    "forward_deg": "amplitude of saccades to the right",
    "regression_share": "share of saccades that go back by less than a sweep, one a recording",
    "sweeps_per_min": "sweeps to the left a minute, one a recording",
}
"""What is compared; the last three are what reading is known by."""
READING = ("forward_deg", "regression_share", "sweeps_per_min")
# A sweep is so many usual steps.
_SWEEP_STEPS = 3.0
SPLITS = 50

Samples = dict[str, dict[str, Floats]]
"""Quantity by quantity, the values of each person."""


def quantities_of(study: Study) -> dict[str, Samples]:
    """Task by task, every quantity of every person, as eyelid's detector finds them.

    Args:
        study: of samples.

    >>> from eyelid.gaze.simulator import simulate
    >>> found = quantities_of(simulate(2, ("comic",), minutes=0.5, seed=1))
    >>> list(found), sorted(found["comic"]["fixation_ms"])
    (['comic'], ['P01', 'P02'])
    """
    parts: dict[str, dict[str, dict[str, list[Floats]]]] = {}
    for recording, units in gaze_of(study):
        found = found_in(recording, units)
        if found is None:
            continue
        of_task = parts.setdefault(recording.task, {name: {} for name in QUANTITIES})
        for name, values in _quantities(found).items():
            known = values[np.isfinite(values)]
            if len(known):
                of_task[name].setdefault(recording.person, []).append(known)
    return {
        task: {
            name: {person: np.concatenate(values) for person, values in people.items()}
            for name, people in of_task.items()
        }
        for task, of_task in parts.items()
    }


def _quantities(found: Found) -> dict[str, Floats]:
    minutes = found.lasted_s / 60.0
    flat = np.abs(found.right) > np.abs(found.up)
    forward = found.amplitude[flat & (found.right > 0)]
    back = found.amplitude[flat & (found.right < 0)]
    reading = {}
    if len(forward) and len(found.amplitude):
        sweeps = back > _SWEEP_STEPS * np.median(forward)
        reading = {
            "forward_deg": forward,
            "regression_share": np.array([(~sweeps).sum() / len(found.amplitude)]),
            "sweeps_per_min": np.array([sweeps.sum() / minutes]),
        }
    return {
        "fixation_ms": found.fixation_ms,
        "saccade_amplitude_deg": found.amplitude,
        "peak_speed_deg_s": found.peak_per_s,
        "main_sequence_per_s": found.peak_per_s / found.amplitude,
        "blinks_per_min": np.array([len(found.blinks.onset) / minutes]),
        **reading,
    }


def event_distances(
    original: Study, other: Study, *, splits: int = SPLITS, seed: int = 0
) -> pl.DataFrame:
    """How far every quantity of other recordings is from the original's, task by task.

    Distances are Wasserstein's, between the distributions of events in which every person counts as
    much as any other. Beside each stands the distance of two random halves of the original people,
    the mean over several ways to halve them: ``ratio`` 1 is as near as people are to each other.

    Args:
        original: of samples.
        other: of samples, with tasks of the same names.
        splits: ways to halve the people.
        seed: of the halves.

    Returns:
        task, quantity, distance, halves and ratio; null where fewer than four people have any.
    """
    ours, theirs = quantities_of(original), quantities_of(other)
    rng = np.random.default_rng(seed)
    rows = []
    for task in ours:
        for name in QUANTITIES:
            real, made = ours[task][name], theirs.get(task, {}).get(name, {})
            people = list(real)
            halves = _halves(real, people, splits, rng) if len(people) >= 4 else None
            distance = _distance(list(real.values()), list(made.values())) if made else None
            rows.append((task, name, distance, halves))
    text, number = pl.String, pl.Float64
    schema = {"task": text, "quantity": text, "distance": number, "halves": number}
    ratio = pl.when(pl.col("halves") > 0).then(pl.col("distance") / pl.col("halves"))
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(ratio=ratio)


def _halves(
    values: dict[str, Floats], people: Sequence[str], splits: int, rng: np.random.Generator
) -> float:
    found = []
    for _ in range(splits):
        order = rng.permutation(len(people))
        half = len(people) // 2
        sides = ([values[people[n]] for n in some] for some in (order[:half], order[half:]))
        found.append(_distance(*sides))
    return float(np.mean(found))


def _distance(one: Sequence[Floats], other: Sequence[Floats]) -> float:
    """Wasserstein distance of two groups of people, everybody with the same weight."""
    from scipy.stats import wasserstein_distance

    def flat(group: Sequence[Floats]) -> tuple[Floats, Floats]:
        weights = [np.full(len(values), 1.0 / len(values)) for values in group]
        return np.concatenate(group), np.concatenate(weights)

    (first, first_weight), (second, second_weight) = flat(one), flat(other)
    return float(wasserstein_distance(first, second, first_weight, second_weight))
