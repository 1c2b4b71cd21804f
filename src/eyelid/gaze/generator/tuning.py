"""Profiles whose recordings are found to be what was wished for, by the detectors that measure.

A detector overlooks short fixations and small saccades, and a slow tracker sees others than a fast
one. So a generator that is given what was measured makes recordings that measure otherwise. Here
recordings are made, measured and made again with other inputs, until they agree. That looks at no
real recording, so it costs no privacy whatever the wish was made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.gaze.generator.measurement import measured
from eyelid.gaze.generator.parameters import PARAMETERS, Floats
from eyelid.gaze.generator.profile import Profile
from eyelid.gaze.generator.recordings import Planned, deviations, entropy_of, generated
from eyelid.gaze.study import Screen, Study

ROUNDS = 8
_ALL_MS, _FEWEST, _MOST = 3_000_000.0, 24, 96
LONGEST_MS, LEAST_SAMPLES = 90_000.0, 60_000
"""Longer recordings tell little more about what detectors find, if they have so many samples."""
_STEP = 0.8
# Inputs stay within so many standard deviations of what they should come to.
_FARTHEST = 3.0
_LEAST_RECORDINGS = 6


def tuned(
    profiles: Mapping[str, Profile],
    recordings: Sequence[Planned],
    rate_hz: float,
    screen: Screen | None,
    rng: np.random.Generator,
    *,
    units: str = "deg",
    xy_origin: str | None = None,
    pupil: str | None = None,
) -> dict[str, Profile]:
    """Profiles to generate from, so that recordings measure as these profiles say.

    Parameters that recordings of this kind do not have keep their values.

    Args:
        profiles: by task, as they should be measured.
        recordings: that everybody has, in order.
        rate_hz: of the tracker.
        screen: where things are shown, as far as it is known.
        rng: source of randomness.
        units: of gaze.
        xy_origin: of gaze.
        pupil: the unit of the pupil, None for no pupil.
    """
    longest_ms = max(LONGEST_MS, 1000.0 * LEAST_SAMPLES / rate_hz)
    short = [replace(one, length_ms=min(one.length_ms, longest_ms)) for one in recordings]
    wished = {task: profile.table() for task, profile in profiles.items()}
    inputs = dict(profiles)
    seed = int(rng.integers(0, 2**63))
    people = int(np.clip(_ALL_MS / min(one.length_ms for one in short), _FEWEST, _MOST))
    drawn = _drawn(entropy_of(np.random.default_rng(seed)), people, short)
    for _ in range(ROUNDS):
        # The people of every round are alike, so that rounds differ by their inputs alone.
        same = np.random.default_rng(seed)
        data, events = generated(
            inputs,
            people,
            short,
            rate_hz,
            screen,
            same,
            units=units,
            xy_origin=xy_origin,
            pupil=pupil,
        )
        study = Study(
            "samples",
            data,
            data.select("person").unique(maintain_order=True),
            units=units,
            rate_hz=rate_hz,
            screen=screen,
            xy_origin=xy_origin,
            pupil_unit=pupil,
            events=events,
            simulated=True,
        )
        # In the order in which recordings were made.
        order = data.select("person", "recording").unique(maintain_order=True)
        found = order.join(measured(study), on=["person", "recording"], maintain_order="left")
        for task in inputs:
            rows = (found["task"] == task).arg_true().to_numpy()
            if len(rows):
                inputs[task] = _nearer(inputs[task], wished[task], found[rows], drawn[rows])
    return inputs


def _drawn(entropy: Sequence[int], people: int, recordings: Sequence[Planned]) -> Floats:
    """How every recording deviates: recordings × (what lasts, what does not) × parameters."""
    every = [
        deviations(entropy, place, number)
        for place in range(people)
        for number in range(len(recordings))
    ]
    return np.array([(lasting, today) for lasting, _, today, _ in every])


def _nearer(
    profile: Profile, wished: tuple[Floats, Floats, Floats], found: pl.DataFrame, drawn: Floats
) -> Profile:
    """Inputs of a task moved by what is lacking.

    What was found is held against what these very people should have, so that their being few
    does not matter.
    """
    moved: tuple[dict[str, float], ...] = ({}, {}, {})
    for number, one in enumerate(PARAMETERS):
        mean, between, within = (float(part[number]) for part in profile.table())
        wish, wish_between, wish_within = (float(part[number]) for part in wished)
        values = found[one.name].cast(pl.Float64).to_numpy()
        known = np.isfinite(values)
        if known.sum() >= _LEAST_RECORDINGS:
            got, (lasting, today) = one.scaled(values[known]), drawn[known, :, number].T
            due = wish + wish_between * lasting + wish_within * today
            lower, upper = one.bounds
            lack = float((np.clip(due, lower, upper) - got).mean())
            reach = _FARTHEST * float(np.hypot(one.between, one.within))
            mean = float(np.clip(mean + _STEP * lack, wish - reach, wish + reach))
            ways = np.column_stack([np.ones(len(got)), lasting, today])
            slopes, *_ = np.linalg.lstsq(ways, got)
            rest = float(((got - ways @ slopes) ** 2).sum() / max(len(got) - 3, 1))
            between = float(
                np.clip(between + _STEP * (wish_between - slopes[1]), 0, 2 * wish_between)
            )
            # Few events measure a recording badly, which adds to how recordings differ.
            within = _spread(within, wish_within, float(slopes[2] ** 2 + rest))
        for into, value in zip(moved, (mean, between, within), strict=True):
            into[one.name] = value
    means, betweens, withins = moved
    return replace(profile, means=means, between=betweens, within=withins)


def _spread(given: float, wish: float, got_variance: float) -> float:
    """A spread moved by what is lacking of its variance; at most twice the wish."""
    variance = given**2 + _STEP * (wish**2 - got_variance)
    return float(np.sqrt(np.clip(variance, 0.0, (2.0 * wish) ** 2)))
