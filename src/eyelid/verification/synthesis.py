"""Do the rounds of `synthetic` fit into its claim, is their noise fresh, and is nothing else used?

The games play against all rounds at once, with few people and worst cases that somebody thought of.
Here the rounds are searched for neighbours, after whatever answers; their noise is looked at
together; and whatever is asked and shown must stay as it is when people change and noisy answers do
not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.residuals import ResidualResult, judged
from eyelid.attacks.twins import twin
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.noisy import Integers, noise_of
from eyelid.mechanisms.synthetic.measurement import Measurement
from eyelid.mechanisms.synthetic.rounds import (
    LENGTH_BINS,
    QUARTERS,
    AllPairs,
    Lookup,
    Round,
    Shares,
    Signs,
)
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.gaussian import gaussian_epsilon
from eyelid.privacy.noise import Randomness, randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.outputs import OutputResult
from eyelid.verification.sensitivity import FLOATING, FuzzResult, hostile

_BATCH = 256
_PEOPLE, _TASKS, _ROWS, _FEATURES = 40, 2, 9, 5
_RUNS = 1_000
_SEED = 0
# Bins of lengths that are not too long to be made up in no time.
_SHORT = 12


def fuzz_rounds(
    mechanism: Synthetic, pairs: int, declared: Synthetic | None = None, seed: int = _SEED
) -> FuzzResult:
    """Replace people by others, in all rounds at once, after whatever noisy answers.

    Args:
        mechanism: to search.
        pairs: how many people are replaced.
        declared: whose claim is on trial; the mechanism's own by default.
        seed: of the search.
    """
    rng = np.random.default_rng(seed)
    reached, whole, mixed, tried = 0.0, 0.0, 0, 0
    while tried < pairs:
        tasks, rows, features = (int(many) for many in rng.integers(1, 4, size=3))
        law = replace(mechanism, carry=features, records=rows)
        shape = Shape(_PEOPLE, tasks, rows, features, window=1)
        claim = replace(declared or mechanism, carry=features, records=rows).cost(shape, PERSON)
        measurement = law.measurement(shape)
        batch = min(_BATCH, pairs - tried)
        one, other = (hostile(rng, (batch, tasks, rows, features)) for _ in range(2))
        ends = rng.random(batch) < 0.5
        one[ends], other[ends] = -rng.random(), 1 + rng.random()
        squares, most = np.zeros(batch), 0.0
        for each in measurement.rounds:
            lookup = _any_lookup(each, shape, rng)
            seen = [
                each.counted(each.sequences(people, shape), shape, lookup)
                for people in (one, other)
            ]
            alone = each.counted(each.sequences(one[:1], shape), shape, lookup)
            mixed += not np.array_equal(seen[0][:1], alone)
            scale = noise_of(each, shape).scale
            squares += (each.distance(seen[0] - seen[1]) / scale) ** 2
            most += (each.sensitivity(shape, PERSON) / scale) ** 2
        mu, epsilon = claim.mu or 0.0, claim.epsilon or 0.0
        reached = max(reached, math.sqrt(squares.max()) / mu)
        lost = gaussian_epsilon(math.sqrt(most), claim.delta or 0.0, claim.slack)
        whole = max(whole, math.sqrt(most) / mu, lost / epsilon)
        tried += batch
    room = 1 + FLOATING
    return FuzzResult(mechanism.name, str(PERSON), reached / room, tried, whole / room, mixed)


def _any_lookup(law: Round, shape: Shape, rng: np.random.Generator) -> Lookup | None:
    """What noisy answers might suggest to ask."""
    if isinstance(law, Shares):
        found = rng.integers(0, QUARTERS, size=(shape.features, law.bins))
        nothing = QUARTERS
    elif isinstance(law, Signs | AllPairs):
        found = rng.choice([-1, 1], size=(1, shape.recordings, shape.features, law.bins))
        nothing = 0
    else:
        return None
    last = np.full((*found.shape[:-1], 1), nothing)
    return np.concatenate([found, last], axis=-1)


def examine_rounds(
    mechanism: Synthetic, noise: Randomness, declared: Synthetic | None = None
) -> ResidualResult:
    """Measure known people many times and look at the noise of all rounds together.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: what should be measured of them; the mechanism itself by default.
    """
    table = _people(_SEED)
    law = replace(mechanism, carry=_FEATURES)
    sound = replace(declared or mechanism, carry=_FEATURES)
    shape, (_, sequences) = sound.shape(table), sound.sequences(table)
    tree = range(-1, _FEATURES - 1)
    answers = law.measurement(shape).measured(law.sequences(table)[1], tree, noise, (_RUNS,))
    measurement = sound.measurement(shape)
    left = [each for _, each in measurement.residuals(answers, sequences)]
    residuals = np.concatenate(left, axis=1).astype(np.float64)
    return judged(mechanism, residuals, noise_of(measurement.levels, measurement.facts))


def compare_made_up(mechanism: Synthetic) -> OutputResult:
    """Make people up from the same noisy answers about two different studies.

    What is asked, and all that is shown, must be the same, and nobody's row among it.
    """
    law = replace(mechanism, carry=_FEATURES, by="team")
    asked: list[list[Any]] = []
    shown = []
    for seed in range(2):
        asked.append([])
        shown.append(_with_fixed_answers(law, asked[-1]).apply(_people(seed), randomness(_SEED)))
    originals = pl.concat([_people(seed).data.select(_people(seed).names) for seed in range(2)])
    made = shown[0].data.select(originals.columns)
    bare = made.join(originals.unique(), on=originals.columns, how="semi")
    questions = zip(*asked, strict=False)
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=made.width * made.height,
        same=len(asked[0]) == len(asked[1])
        and all(np.array_equal(one, other) for one, other in questions)
        and shown[0].data.equals(shown[1].data)
        and shown[0].people.equals(shown[1].people)
        and shown[0].features == shown[1].features,
        inside=made.width * made.height,
        bare=bare.width * bare.height,
    )


def _with_fixed_answers(mechanism: Synthetic, asked: list[Any]) -> Synthetic:
    """The same, with answers that say nothing of anybody, and all questions written down."""

    def measurement(self: Synthetic, shape: Shape) -> Measurement:
        made = type(mechanism).measurement(self, shape)
        fixed = {
            name: law and twin(law, {"perturb": _nothing_but_noise, "total": _written(law, asked)})
            for name, law in vars(made).items()
            if name != "facts"
        }
        return replace(made, **fixed)

    quiet: Synthetic = twin(mechanism, {"measurement": measurement})
    return quiet


def _nothing_but_noise(
    self: Round, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    # So large that quarters, halves and trees follow from it.
    draws = _PEOPLE * noise_of(self, shape).draw(integers.shape, randomness(_SEED))
    if isinstance(self, Shares) and self.with_lengths:
        lengths = draws.shape[-1] - shape.recordings * LENGTH_BINS
        by_length = draws[..., lengths:].reshape(*draws.shape[:-1], -1, LENGTH_BINS)
        by_length[..., _SHORT:] = 0
        draws[..., lengths:] = by_length.reshape(*draws.shape[:-1], -1)
    return draws


def _written(law: Round, asked: list[Any]) -> Callable[..., Integers]:
    def total(self: Round, sequences: Any, shape: Shape, lookup: Lookup | None = None) -> Integers:
        asked.append(None if lookup is None else np.array(lookup))
        asked.append(getattr(self, "parents", None))
        return type(law).total(self, sequences, shape, lookup)

    return total


def _people(seed: int) -> FeatureTable:
    """A study of two teams: who has which rows and values is not public, and depends on the seed.

    In each, other features go together; in one values are large and rows are few.
    """
    rng = np.random.default_rng(seed)
    values = rng.random((_PEOPLE, _TASKS, _ROWS, _FEATURES)) ** (1 + 2 * seed)
    values[..., 1 + seed] = values[..., 0]
    values[rng.random(values.shape) < 0.05] = np.nan
    features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(_FEATURES)]
    table = table_from_arrays(values, features, step_ms=1.0)
    rows = np.where(rng.random((_PEOPLE, _TASKS)) < 0.2, 0, rng.integers(1, 4 + 5 * seed, _TASKS))
    rows[:, 0] = np.maximum(rows[:, 0], 1)
    there = np.arange(_ROWS) < rows[..., None]
    team = pl.Series("team", np.resize(["a", "b"], _PEOPLE))
    return replace(
        table,
        data=table.data.filter(there.ravel()),
        people=table.people.with_columns(team),
    )
