"""The whole release pipeline audited in one run, on simulated participants with a secret coin.

Some thousand canaries are written to disk as a features study, released once by
`eyelid.releases.release.release`, and read back with their certificate. From the released record of
each the attacker guesses how its coin fell. Too many right guesses refute the certificate; see
`eyelid.attacks.one_run` for the theorem. Everything between the study folder and the released
folder is on trial: reading, bounds, padding, clipping, noise, the total on the certificate,
writing.

What it can see: a loss about twice the claimed one, at claims of ε around 0.5 to 4, and less where
the loss is spread over several coefficients of a signal; values, gaps or lengths that pass without
noise for a few people in a hundred. What it cannot: a noise scale a little too small, a fault that
touches single people, noise that repeats without telling a coin (`eyelid verify` looks for these),
and any claim beyond what so few people can refute (``reach``).

A release of synthetic participants has no individual records: the attacker sees the
noisy answers that it is made of, and looks for canaries' values among those that were released
(`eyelid.verification.canaries`).
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.one_run import CanaryResult, OneRun, one_run
from eyelid.attacks.override import override
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.means.mean_mechanism import PLACE, TEAM, MeanMechanism, with_others
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Unit
from eyelid.releases.accounting import read_certificate
from eyelid.releases.release import release
from eyelid.verification.canaries import canaries, scores, set_for_canaries, shown_of, watched

# Steinke et al. take 1000; four times as many see half the noise missing from a Gaussian at ε = 1.
PEOPLE = 4000
_RECORDINGS = 2
# No noise that holds gives back a value this exactly.
_UNTOUCHED = 1e-9
_FAR = 1e4
_STEP_MS = 500.0
# As windows of features have it: few coefficients are kept, and the loss shows in these.
_WINDOW_MS = 30_000.0

Values = NDArray[np.float64]


@dataclass(frozen=True)
class _Sort:
    """One sort of canary: what the coin decides about a unit's data.

    Attributes:
        tails: the unit's values, in spans above the lower bound; rows that are against the others
            have those of heads.
        heads: the same for the other side of the coin.
        missing: whether the first value is missing under tails.
        short: whether recordings are short under tails and long under heads.
    """

    tails: float
    heads: float
    missing: bool = False
    short: bool = False


_SORTS = (
    _Sort(0.0, 1.0),
    _Sort(-_FAR, _FAR),
    _Sort(0.0, 1.0, missing=True),
    _Sort(0.0, 1.0, short=True),
)


class Canaries(ABC):
    """Simulated participants for one kind of release."""

    def suit(self, mechanism: FeatureMechanism) -> bool:
        """Whether a mechanism can be tried on people who have features and no gaze."""
        return mechanism.core.takes == "features"

    @abstractmethod
    def run(
        self,
        mechanism: Any,
        people: int = PEOPLE,
        features: int = 1,
        seed: int | None = None,
    ) -> CanaryResult:
        """Release simulated participants once, like any study, and guess their coins.

        Args:
            mechanism: with the parameters of a certificate.
            people: how many canaries.
            features: columns; each more costs power.
            seed: of the coins; the noise is the pipeline's own.
        """


class RecordCanaries(Canaries):
    """Canaries with records of their own."""

    def run(
        self,
        mechanism: Any,
        people: int = PEOPLE,
        features: int = 1,
        seed: int | None = None,
    ) -> CanaryResult:
        """Guess the coins from the likelihood of released records."""
        if people < 32:
            raise InputError(f"{people} canaries tell nothing: take at least 32, better {PEOPLE}")
        # Few values: the loss shows only where the noise on all of a person's points the same way.
        short = mechanism.fewest_rows
        long = short + 1 if mechanism.length == "shortest" else 2 * short
        if isinstance(mechanism.length, int):
            mechanism = replace(mechanism, length=long)
        groups = _groups(people, mechanism, (short, long), features, seed)
        mechanism, table, released, certificate = self.released(mechanism, groups)
        facts = mechanism.facts(table)

        def audited(claim: Guarantee) -> OneRun:
            mine = [group for group in groups if group.unit == claim.unit]
            scores = [self.scores(mechanism, group, released, facts) for group in mine]
            coins = [group.coins for group in mine]
            return one_run(np.concatenate(scores), np.concatenate(coins), claim)

        smaller = mechanism.unit != PERSON
        return CanaryResult(
            mechanism=mechanism.name,
            unit=str(mechanism.unit),
            person=audited(certificate.person_level),
            within=audited(certificate.guarantee) if smaller else None,
            holds=certificate.person_level.holds and certificate.guarantee.holds,
        )

    def released(
        self, mechanism: Any, groups: Sequence[_Group]
    ) -> tuple[Any, FeatureTable, FeatureTable, Certificate]:
        """The mechanism as it was run, on which people, what came of it and what is promised."""
        table = _table(groups)
        return mechanism, table, *_released(table, mechanism)

    def own(self, outputs: Values, side: Values) -> Values:
        """What of a released record is the canary's own."""
        return outputs

    def scores(
        self, mechanism: Any, group: _Group, released: FeatureTable, facts: PublicFacts
    ) -> Values:
        """How much each canary's released record speaks for heads.

        The likelihood ratio of the mechanism, unless something passed without noise: a value, a
        gap or a length that only one side of the coin has.
        """
        length = facts.length
        outputs, rows = _records(released, group, length)
        one, other = group.tails[:, :length], group.heads[:, :length]
        pair = NeighbourPair("canaries", facts, group.unit, one, other)
        ratio = mechanism.score(np.nan_to_num(outputs, nan=0.5).reshape(len(outputs), -1), pair)
        outputs = self.own(outputs, one)
        clear = np.abs(_filled(one) - _filled(other)) > _UNTOUCHED

        def passed(side: Values, against: Values) -> NDArray[np.bool_]:
            value = (np.abs(outputs - _filled(side)) < _UNTOUCHED) & clear
            gap = np.isnan(outputs) & np.isnan(side) & ~np.isnan(against)
            return np.asarray((value | gap).any(axis=(1, 2, 3)))

        longer = np.isnan(group.tails).sum() > np.isnan(group.heads).sum()
        beyond = (rows > _RECORDINGS * length) & longer
        guesses = (passed(other, one) | beyond).astype(float) - passed(one, other)
        evidence: Values = np.nan_to_num(ratio)
        return np.where(guesses != 0, np.copysign(np.inf, guesses), evidence)


class MeanCanaries(RecordCanaries):
    """Canaries each in a group with others who stay the same."""

    def released(
        self, mechanism: Any, groups: Sequence[_Group]
    ) -> tuple[Any, FeatureTable, FeatureTable, Certificate]:
        """The means of groups, each under the name of the canary that is in it."""
        # Clipping would hide what it does not protect.
        mechanism, drawn = _watched(replace(mechanism.in_teams(), clipped=False))
        table = _in_teams(_table(groups), groups)
        released, certificate = _released(table, mechanism)
        return mechanism, table, _under_their_names(released, table, *drawn), certificate

    def own(self, outputs: Values, side: Values) -> Values:
        """What is left when the others are taken off."""
        team = with_others(_filled(side))
        return np.asarray(outputs * len(team) - _filled(team[1:]).sum(axis=0))


class SyntheticCanaries(Canaries):
    """Canaries among those whom synthetic participants are drawn from, without a record."""

    def run(
        self,
        mechanism: Any,
        people: int = PEOPLE,
        features: int = 1,
        seed: int | None = None,
    ) -> CanaryResult:
        """Guess the coins from all noisy answers, and by values that were released."""
        settled = set_for_canaries(mechanism)
        spied, seen = watched(settled)
        made = canaries(people, seed)
        released, certificate = _released(made.table, spied)
        by_noise = scores(settled, seen[0], made)
        guesses = shown_of(made.heads, released).astype(float) - shown_of(made.tails, released)
        found = np.where(guesses != 0, np.copysign(np.inf, guesses), by_noise)
        return CanaryResult(
            mechanism=mechanism.name,
            unit=str(mechanism.unit),
            person=one_run(found, made.coins, certificate.person_level),
            within=None,
            holds=certificate.person_level.holds,
        )


def _released(table: FeatureTable, mechanism: FeatureMechanism) -> tuple[FeatureTable, Certificate]:
    """What is released of these people, and what is said about it."""
    with tempfile.TemporaryDirectory(prefix="eyelid-canaries-") as home:
        write(table.study(), Path(home) / "canaries")
        release(Path(home) / "canaries", Path(home) / "released", mechanism=mechanism)
        certificate = read_certificate(Path(home) / "released")
        assert certificate is not None
        return FeatureTable.of(read(Path(home) / "released")), certificate


@dataclass(frozen=True, eq=False)
class _Group:
    """Canaries of one sort, whose coins decide about one unit.

    Attributes:
        names: of the people.
        coins: how theirs fell.
        unit: what differs.
        tails: recordings × rows × features, in spans; NaN for what is missing, and for whole rows
            after the first that are not there.
        heads: the same for the other side.
    """

    names: tuple[str, ...]
    coins: NDArray[np.bool_]
    unit: Unit
    tails: Values
    heads: Values


def _groups(
    people: int, mechanism: FeatureMechanism, rows: tuple[int, int], features: int, seed: int | None
) -> list[_Group]:
    """The canaries; where the unit is not the person, half of them differ in one unit only."""
    rng = np.random.default_rng(seed)
    levels = dict.fromkeys((PERSON, mechanism.unit))
    kinds = [(sort, level) for level in levels for sort in _SORTS]
    up = _moving_most(mechanism, rows)
    sides = [
        [_side(sort, heads, level, up, rows[0], features) for heads in (False, True)]
        for sort, level in kinds
    ]
    return [
        _Group(
            # Sorts take turns in the order of the study.
            tuple(f"{number:06}" for number in range(first, people, len(kinds))),
            rng.random(len(range(first, people, len(kinds)))) < 0.5,
            level,
            *sides[first],
        )
        for first, (_, level) in enumerate(kinds)
    ]


def _moving_most(mechanism: Any, rows: tuple[int, int]) -> NDArray[np.bool_]:
    """Which rows of a long recording go up with the coin; the others go down.

    Of all ways to go from bound to bound, one that moves what is measured of a signal far in L2:
    a few coordinates that move much are told apart more easily than many that move little.
    """
    short, long = rows
    if not mechanism.measures:
        return np.ones(long, dtype=np.bool_)
    seen = short if mechanism.length == "shortest" else long
    facts = PublicFacts(1, 1, seen, 1)
    nothing = mechanism.analyse(np.zeros((1, seen, 1)), facts) / mechanism.step(facts)
    rows_alone = mechanism.analyse(np.eye(seen)[:, None, :, None], facts) / mechanism.step(facts)
    moved = (rows_alone - nothing)[:, 0, :, 0]
    change = np.where(np.random.default_rng(0).random((256, seen)) < 0.5, -1.0, 1.0)
    # The first of equals is taken: all rows together, where it makes no difference.
    change[0] = 1.0
    for _ in range(32):
        change = np.where(change @ moved @ moved.T < 0, -1.0, 1.0)
    best = change[np.linalg.norm(change @ moved, axis=1).argmax()]
    return np.asarray(np.resize(best, long) > 0)


def _side(
    sort: _Sort, heads: bool, unit: Unit, up: NDArray[np.bool_], short: int, features: int
) -> Values:
    """The data of a canary whose coin fell so."""
    recordings = slice(None) if unit == PERSON else slice(0, 1)
    rows = {"record": slice(0, 1), "chunk": slice(0, unit.length)}.get(unit.name, slice(None))
    columns = slice(0, 1) if unit.name == "chunk" else slice(None)
    values = np.full((_RECORDINGS, len(up), features), 0.25)
    values[recordings, rows, columns] = np.where(up == heads, sort.heads, sort.tails)[rows, None]
    if sort.missing and not heads:
        values[0, 0, 0] = np.nan
    if not sort.short or unit.name in ("record", "chunk"):
        # Lengths are unequal where no coin decides them, too.
        values[1, short:] = np.nan
    elif not heads:
        values[recordings, short:] = np.nan
    return values


def _table(groups: Sequence[_Group]) -> FeatureTable:
    """The canaries in order, and before them a person with one recording less."""
    count = groups[0].tails.shape[2]
    # Bounds other than 0 and 1, so that scaling is on trial too.
    features = tuple(Feature(f"canary_{j}", "", "made up", -2.0, 6.0 + j) for j in range(count))
    names = np.array(["000000 bystander", *[name for group in groups for name in group.names]])
    bystander = np.full_like(groups[0].tails, 0.5)
    bystander[1:] = np.nan
    sides = [np.where(g.coins[:, None, None, None], g.heads, g.tails) for g in groups]
    values = np.concatenate([bystander[None], *sides])
    there = ~np.isnan(values).all(axis=3)
    # A first row of missing values is a row; the bystander's second recording is none.
    there[1:, :, 0] = True
    person, recording, row = np.nonzero(there)
    columns = {
        "person": names[person],
        "recording": recording.astype(str),
        "task": recording.astype(str),
        "stimulus": np.full(len(person), ""),
        "time_ms": row * _STEP_MS,
    }
    shown = values[person, recording, row]
    data = pl.DataFrame(
        columns | {f.name: f.lower + f.span * shown[:, j] for j, f in enumerate(features)}
    ).sort("person", "recording", "time_ms")
    people = data.select(pl.col("person").unique(maintain_order=True))
    return FeatureTable(
        data,
        features,
        people,
        step_ms=_STEP_MS,
        window_ms=_WINDOW_MS,
        planned_rows=values.shape[2],
        simulated=True,
    )


def _watched(mechanism: MeanMechanism) -> tuple[MeanMechanism, list[Groups]]:
    """A copy of the mechanism, and the groups that it draws, which nobody else gets to see.

    What is promised holds against those who know the groups, too.
    """
    drawn: list[Groups] = []

    def partition(self: MeanMechanism, table: FeatureTable, noise: Randomness) -> Groups:
        drawn.append(type(mechanism).partition(self, table, noise))
        return drawn[-1]

    watched: MeanMechanism = override(mechanism, {"partition": partition})
    return watched, drawn


def _under_their_names(released: FeatureTable, table: FeatureTable, groups: Groups) -> FeatureTable:
    """Each group under the name of the canary that is in it."""
    present = table.recordings.select(pl.col("person").unique(maintain_order=True))
    everybody = present.join(table.people, on="person", how="left", maintain_order="left")
    named = everybody.with_columns(groups.people["person"].gather(groups.member).alias("group"))
    named = named.filter(pl.col(PLACE) == 0).select("group", pl.col("person").alias("canary"))
    data = released.data.join(named, left_on="person", right_on="group", how="left")
    return replace(released, data=data.with_columns(pl.col("canary").alias("person")))


def _in_teams(table: FeatureTable, groups: Sequence[_Group]) -> FeatureTable:
    """A table with others in everybody's team: those of the games."""
    _, *others = with_others(np.full_like(groups[0].tails, 0.5))
    names = table.people["person"].to_list()
    lowers = np.array([f.lower for f in table.features])
    spans = np.array([f.span for f in table.features])
    own = [pl.col("person").alias(TEAM), pl.lit(0, pl.Int64).alias(PLACE)]
    parts, teams = [table.data], [table.people.with_columns(own)]
    recordings, rows, _ = groups[0].tails.shape
    for number, values in enumerate(others, start=1):
        flat = (values * spans + lowers).reshape(-1, len(spans))
        keys = pl.DataFrame({"recording": np.repeat(np.arange(recordings), rows).astype(str)})
        one = keys.select(
            "recording",
            pl.col("recording").alias("task"),
            pl.lit("").alias("stimulus"),
            pl.Series("time_ms", np.tile(np.arange(rows) * _STEP_MS, recordings)),
            *[pl.Series(name, flat[:, j]) for j, name in enumerate(table.names)],
        )
        mine = pl.DataFrame({"person": [f"{name} other {number}" for name in names], TEAM: names})
        mine = mine.with_columns(pl.lit(number, pl.Int64).alias(PLACE))
        parts.append(mine.select("person").join(one, how="cross").select(table.data.columns))
        teams.append(mine)
    return replace(table, data=pl.concat(parts), people=pl.concat(teams))


def _filled(values: Values) -> Values:
    """As a mechanism that holds takes them: gaps at the midpoint, values within bounds."""
    return np.clip(np.nan_to_num(values, nan=0.5), 0.0, 1.0)


def _records(released: FeatureTable, group: _Group, length: int) -> tuple[Values, NDArray[np.intp]]:
    """People × recordings × rows × features in spans, NaN for nothing; and rows of each person."""
    place = pl.DataFrame({"person": group.names, "place": np.arange(len(group.names))})
    number = pl.int_range(pl.len()).over("person", "recording").alias("row")
    data = released.data.with_columns(number).join(place, on="person", how="inner")
    rows = np.bincount(data["place"].to_numpy(), minlength=len(group.names))
    data = data.filter(pl.col("row") < length)
    # Recordings may be numbered anew; tasks keep their names.
    spot = (data["place"].to_numpy(), data["task"].cast(pl.Int64).to_numpy(), data["row"])
    values = np.full((len(group.names), _RECORDINGS, length, len(released.features)), np.nan)
    lowers = np.array([f.lower for f in released.features])
    spans = np.array([f.span for f in released.features])
    values[spot] = (data.select(released.names).to_numpy() - lowers) / spans
    return values, rows
