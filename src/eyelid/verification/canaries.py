"""The whole of `synthetic` tried in one run, on people who carry a secret coin.

A canary has one of two records, by the toss of a coin: other values in every feature and task, and
other lengths. All canaries are synthesised once. The attacker knows both records of everybody and
sees the noisy answers, of which everything that is released is made, and guesses all coins from
them. See `eyelid.attacks.one_run` for what right guesses say about a claim.

What it can see: people who count several times what is said. What it cannot: noise that is a little
too small. In one run many people hide each other, and a Gaussian's ε shows in its tails only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.one_run import OneRun, one_run
from eyelid.attacks.override import override
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.sequences import Sequences
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON

PEOPLE = 1_000
"""As many as in Steinke, Nasr & Jagielski (2023)."""
ALPHA = 0.05
"""The chance that a lower bound is above the truth."""

# Many numbers, so that people are told apart; and rows of a recording, of which two are drawn.
_TASKS, _FEATURES, _BINS, _RECORDS = 2, 48, 64, 8
_ROWS = (1, 2, 4, 8, 16)
# With fewer people than bins nothing is drawn.
_FEWEST_PEOPLE = _BINS
# No value that is drawn is this near to a person's.
_UNTOUCHED = 1e-13


@dataclass(frozen=True)
class CanaryRun:
    """What one run of a mechanism has shown.

    Attributes:
        mechanism: its name.
        unit: in which the two records of a canary differ.
        run: about the claim for it; the lower bound has a confidence of 95%.
        settings: what the mechanism was set to for it.
    """

    mechanism: str
    unit: str
    run: OneRun
    settings: str

    @property
    def refuted(self) -> bool:
        """Whether the claim is false."""
        return self.run.refuted


@dataclass(frozen=True, eq=False)
class Canaries:
    """People with two records each, of which a coin takes one.

    Attributes:
        coins: how they fell.
        tails: the study if all had fallen so.
        heads: the study if all had fallen the other way.
    """

    coins: NDArray[np.bool_]
    tails: FeatureTable
    heads: FeatureTable

    @property
    def table(self) -> FeatureTable:
        """The study as the coins have it."""
        names = self.tails.people["person"].filter(pl.Series(self.coins)).implode()
        kept = [
            self.tails.data.filter(~pl.col("person").is_in(names)),
            self.heads.data.filter(pl.col("person").is_in(names)),
        ]
        return replace(self.tails, data=pl.concat(kept).sort("person", maintain_order=True))


def canaries(people: int = PEOPLE, seed: int | None = None) -> Canaries:
    """So many of them, with coins and records by a seed."""
    if people < _FEWEST_PEOPLE:
        raise InputError(
            f"{people} canaries tell nothing: take at least {_FEWEST_PEOPLE}, better {PEOPLE}"
        )
    rng = np.random.default_rng(seed)
    # The same in all tasks: what is counted over them moves furthest.
    size = (people, 1, 1, _FEATURES)
    place = rng.random(size)
    # So far from the first that it is in another quarter.
    other = (place + rng.uniform(0.25, 0.75, size)) % 1.0
    rows = rng.permuted(np.broadcast_to(_ROWS, (people, _TASKS, len(_ROWS))), axis=-1)
    return Canaries(
        rng.random(people) < 0.5, _study(place, rows[..., 0]), _study(other, rows[..., 1])
    )


def _study(place: Values, rows: NDArray[np.integer[Any]]) -> FeatureTable:
    """People who stay where they are, for so many rows of each task."""
    most = max(_ROWS)
    features = [Feature(f"canary_{j}", "", "made up", 0.0, 1.0) for j in range(_FEATURES)]
    # Bins are equal in the cube root.
    table = table_from_arrays(np.tile(place**3, (1, _TASKS, most, 1)), features)
    name = pl.col("person").str.zfill(6)
    data = table.data.filter((np.arange(most) < rows[..., None]).ravel()).with_columns(name)
    return replace(table, data=data, people=table.people.with_columns(name), simulated=True)


def set_for_canaries(mechanism: Synthetic) -> Synthetic:
    """With all their features, bins in which they are told apart, and several rows of each."""
    return replace(mechanism, carry=_FEATURES, bins=_BINS, records=_RECORDS)


def watched(mechanism: Synthetic) -> tuple[Synthetic, list[Answers]]:
    """A copy of the mechanism, and the noisy answers that it gets, which nobody else is shown.

    What is promised holds against those who see them, too.
    """
    seen: list[Answers] = []

    def measurement(self: Synthetic, facts: PublicFacts) -> Measurement:
        made = type(mechanism).measurement(self, facts)

        def measured(itself: Measurement, *question: Any) -> Answers:
            seen.append(type(made).measured(itself, *question))
            return seen[-1]

        spied: Measurement = override(made, {"measured": measured})
        return spied

    return override(mechanism, {"measurement": measurement}), seen


def scores(mechanism: Synthetic, answers: Answers, people: Canaries) -> Values:
    """How much the answers speak for heads, of each canary.

    The best linear guess at all coins together: others are in the way of each, as noise is.
    """
    measurement = mechanism.measurement(mechanism.facts(people.table))
    sides = [
        _counted(measurement, answers, mechanism.sequences(table)[1])
        for table in (people.tails, people.heads)
    ]
    answered = np.concatenate([part.ravel() for part in _answered(measurement, answers)])
    noise_sd = noise_of(measurement.levels, measurement.facts).scale
    apart = (sides[1] - sides[0]) / noise_sd
    surprise = answered / noise_sd - (sides[0] + sides[1]).sum(axis=0) / (2 * noise_sd)
    return coins_behind(apart, surprise)


def coins_behind(apart: Values, surprise: Values) -> Values:
    """The best linear guess at coins ±1, each of which adds ± half of its row, under unit noise.

    Args:
        apart: (coins, numbers).
        surprise: (numbers,).
    """
    coins, numbers = apart.shape
    found: Values
    # The same either way; the smaller system is solved sooner.
    if coins <= numbers:
        found = np.linalg.solve(np.eye(coins) + apart @ apart.T / 4, apart @ surprise) / 2
    else:
        found = apart @ np.linalg.solve(np.eye(numbers) + apart.T @ apart / 4, surprise) / 2
    return found


def shown_of(record: FeatureTable, released: FeatureTable) -> NDArray[np.bool_]:
    """Whether any value of each person's record is among those released, to the last digits."""
    shown = np.sort(released.data.select(released.names).to_numpy().ravel())
    own = record.data.select(released.names).to_numpy()
    after = np.minimum(np.searchsorted(shown, own), len(shown) - 1)
    nearest = np.minimum(np.abs(shown[after] - own), np.abs(own - shown[np.maximum(after - 1, 0)]))
    # Bounds are arbitrary.
    inside = (own > _UNTOUCHED) & (own < 1 - _UNTOUCHED)
    found = ((nearest < _UNTOUCHED) & inside).any(axis=1)
    person = record.data["person"].rank("dense").to_numpy().astype(np.intp) - 1
    return np.bincount(person, weights=found, minlength=len(record.people)) > 0


def _answered(measurement: Measurement, answers: Answers) -> Sequence[NDArray[np.int64]]:
    every = [answers.levels, answers.shares, answers.signs]
    return every if measurement.choice is None else [*every, answers.choice]


def _counted(measurement: Measurement, answers: Answers, sequences: Sequences) -> Values:
    """What each person adds to all answers."""
    facts = measurement.facts
    by_quarter = measurement.quarters(answers.levels)
    by_half = measurement.halves(answers.levels, answers.shares)
    signs = measurement.asked(answers.parents)
    every = [
        measurement.levels.counted(sequences, facts),
        measurement.shares.counted(sequences, facts, by_quarter),
        signs.counted(sequences, facts, by_half),
    ]
    if measurement.choice is not None:
        every.append(measurement.choice.counted(sequences, facts, by_half))
    return np.concatenate(every, axis=1).astype(np.float64)


def play_canaries(
    mechanism: Synthetic,
    noise: Randomness,
    people: int = PEOPLE,
    declared: Synthetic | None = None,
    seed: int | None = None,
) -> CanaryRun:
    """Synthesise canaries once and guess their coins; δ is that of so many people.

    Args:
        mechanism: to try.
        noise: its randomness.
        people: how many canaries.
        declared: whose claim is on trial; the mechanism's own by default.
        seed: of the coins and records.
    """
    tried, claiming = (
        set_for_canaries(replace(each, delta=None)) for each in (mechanism, declared or mechanism)
    )
    made = canaries(people, seed)
    spied, seen = watched(tried)
    spied.apply(made.table, noise)
    claim = claiming.cost(claiming.facts(made.table), PERSON)
    found = one_run(scores(tried, seen[0], made), made.coins, claim, ALPHA)
    settings = (
        f"carry={tried.carry}, bins={tried.bins}, records={tried.records}, pairs={tried.pairs}"
    )
    return CanaryRun(mechanism.name, str(PERSON), found, settings)
