"""Is the noise everywhere, fresh and whole? A released table, with its known input taken off.

A distinguishing game looks at one person at a time and few values. It cannot see noise that is used
twice, left out of some rows, or calibrated to something else than the public facts. Here a table
of many people with unequal recordings is released twice, and what is left of it without the input
must look like independent draws of the one law that the mechanism declares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.measurements import legible, steps_of
from eyelid.attacks.records import Records, records_of
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.means.mean_mechanism import PLACE, TEAM
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy.noise import (
    DiscreteBox,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteNoise,
    Randomness,
    randomness,
)

_PEOPLE, _RECORDINGS, _ROWS, _FEATURES = 10_000, 3, 6, 3
_LENGTH = 5
_LARGE_EPSILON = 1e3
_LOW_BITS = 8
# Refutes a sound mechanism less than once in a million tries.
SIGMAS = 6.0
ALPHA = 1e-8
# As a share of the noise scale: about as rare as this number says.
_NEXT_TO_NOTHING = 1e-6
_LONG_TAIL = 15.0


@dataclass(frozen=True)
class ResidualResult:
    """What was left after the known input was taken off.

    Attributes:
        mechanism: its name.
        unit: that it was set for.
        draws: how many values.
        missing: how many of them were no numbers.
        repeated: how many pairs were equal, beyond what chance allows, in standard deviations.
        spread: the largest deviation of a position's spread from the law's, in standard errors.
        low_bits_p: of a chi-square test that the lowest bits are uniform.
    """

    mechanism: str
    unit: str
    draws: int
    missing: int
    repeated: float
    spread: float
    low_bits_p: float

    @property
    def refuted(self) -> bool:
        """Whether this is not fresh, whole noise of the declared law."""
        return (
            self.missing > 0
            or self.repeated > SIGMAS
            or self.spread > SIGMAS
            or self.low_bits_p < ALPHA
        )


def examine(
    mechanism: RecordMechanism, noise: Randomness, declared: RecordMechanism | None = None
) -> ResidualResult:
    """Release a known table twice and look at the noise.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose law and grid the noise should have; the mechanism itself by default.
    """
    fewest = mechanism.fewest_rows
    # Whole chunks: of one that is cut, the coordinates cannot be told.
    length = fewest * math.ceil(_LENGTH / fewest)
    changes: dict[str, Any] = {"length": length}
    if mechanism.drawn:
        # A person in another group than chance has put them shows beside so little noise.
        changes["epsilon"] = _LARGE_EPSILON
    mechanism = replace(mechanism, **changes)
    declared = mechanism if declared is None else replace(declared, **changes)
    # Rows of the table are no windows.
    facts = PublicFacts(_PEOPLE, _RECORDINGS, length, _FEATURES, window=1)
    left = _left_of_means if mechanism.release.of_means else _left_of_people
    return judged(mechanism, left(mechanism, declared, facts, noise), declared.noise(facts))


def judged(
    mechanism: Mechanism, residuals: NDArray[np.float64], distribution: DiscreteNoise | DiscreteBox
) -> ResidualResult:
    """Whether residuals in steps, draws × positions, are fresh and whole noise of a law.

    Where it is not Gaussian its tails are at most those of Laplace noise, and it is at most as
    often repeated.
    """
    pure = not isinstance(distribution, DiscreteGaussian)
    missing = int((~np.isfinite(residuals)).sum())
    whole = np.nan_to_num(residuals, nan=0.0, posinf=0.0, neginf=0.0)
    return ResidualResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        draws=whole.size,
        missing=missing,
        repeated=repeated(whole, distribution.scale, pure),
        spread=_spread(whole, distribution.variance, pure),
        low_bits_p=low_bits(whole),
    )


def together(found: Sequence[ResidualResult]) -> ResidualResult:
    """The worst of several parts of one release.

    Args:
        found: of each part.
    """
    return replace(
        found[0],
        draws=sum(each.draws for each in found),
        missing=sum(each.missing for each in found),
        repeated=max(each.repeated for each in found),
        spread=max(each.spread for each in found),
        low_bits_p=min(each.low_bits_p for each in found),
    )


def _left_of_people(
    mechanism: RecordMechanism, declared: RecordMechanism, facts: PublicFacts, noise: Randomness
) -> NDArray[np.float64]:
    """Recordings × coordinates × features, of two releases."""
    known = _table()
    there = _there(known)
    truth = declared.query(_by_people(_expected(known, facts.length), there), facts)[there]
    left = []
    for _ in range(2):
        values = _released(mechanism, known, noise, (int(there.sum()), facts.length, _FEATURES))
        left.append(declared.measured(_by_people(values, there), facts)[there] - truth)
    return np.concatenate(left)


def _left_of_means(
    mechanism: Any, declared: Any, facts: PublicFacts, noise: Randomness
) -> NDArray[np.float64]:
    """Residuals of the sums behind means over groups, where these are what no gaze decides.

    Randomness is repeated to know random groups: those that the same people would get if nothing
    of them were recorded but that they took part.
    """
    known = _in_teams(_table())
    unseen = replace(known, data=known.data.unique("person", keep="first", maintain_order=True))
    nothing = [pl.lit(None, pl.Float64).alias(name) for name in known.names]
    unseen = replace(unseen, data=unseen.data.with_columns(nothing))
    each = declared.core_at(facts).query(
        _by_people(_expected(known, facts.length), _there(known)), facts
    )
    # Whatever draws its groups draws them as it would.
    of_teams, declared = (one if one.drawn else one.in_teams() for one in (mechanism, declared))
    of_teams = replace(of_teams, clipped=False)
    left = []
    for seed in noise.words(2):
        groups = declared.partition(unseen, randomness(int(seed)))
        sizes = groups.sizes
        truth = np.zeros((sizes.size, *each.shape[1:]), dtype=np.int64)
        np.add.at(truth, groups.member, each)
        wanted = (sizes.size, _RECORDINGS, facts.length, _FEATURES)
        values = _released(of_teams, known, randomness(int(seed)), wanted)
        sums = np.empty(truth.shape)
        for size in np.unique(sizes):
            same = sizes == size
            sums[same] = declared.core_for(int(size), facts).measured(values[same], facts) * size
        left.append(np.rint(sums - truth).reshape(-1, *truth.shape[2:]))
    return np.concatenate(left)


def _in_teams(table: FeatureTable) -> FeatureTable:
    """A table's people in teams of two, three and four."""
    sizes = np.resize([2, 3, 4], _PEOPLE // 3)
    sizes[-1] += _PEOPLE - sizes.sum()
    team = np.repeat(np.arange(sizes.size), sizes)
    place = np.arange(_PEOPLE) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    columns = [pl.Series(TEAM, team), pl.Series(PLACE, place)]
    return replace(table, people=table.people.with_columns(columns))


def _released(
    mechanism: RecordMechanism, known: FeatureTable, noise: Randomness, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """The released values in this shape; no numbers if there are more or fewer of them.

    They are those that leave the mechanism, unless it presents something else than it measures.
    """
    plain = mechanism.core.shows_measured
    released = (mechanism.apply if plain else mechanism.perturbed)(known, noise)
    values: NDArray[np.float64] = released.data.select(known.names).to_numpy()
    return values.reshape(shape) if values.size == math.prod(shape) else np.full(shape, np.nan)


def noise_objection(
    declared: RecordMechanism, original: FeatureTable, released: FeatureTable
) -> str | None:
    """What keeps the noise of a release from being what it is said to be; None if nothing does.

    A sound release is found wanting less than once in a million tries. What is not `legible` is not
    looked at.

    Args:
        declared: the mechanism that is said to have made it.
        original: everything that it was made of, with the bounds that values were clipped to.
        released: what was made of it.
    """
    facts = declared.facts(released)
    kept = legible(declared, facts)
    if not len(kept):
        return None
    if not np.isfinite(released.data.select(pl.col(released.names).cast(pl.Float64))).all():
        return "the release has values that no release has (missing or infinite ones)"
    known, shown = _side_by_side(original, released)
    left = steps_of(declared.measured, shown, facts, kept)
    left -= steps_of(declared.query, known, facts, kept)
    distribution = noise_of(declared, facts)
    pure = isinstance(distribution, DiscreteLaplace)
    bare = without_noise(left, distribution.scale)
    if bare:
        return f"{bare} released values are the original's, next to no noise added"
    if repeated(np.rint(left), distribution.scale, pure) > SIGMAS:
        return "the same noise was added more than once"
    sigma = math.sqrt(distribution.variance)

    def totals(of: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        people = np.bincount(shown.owner, weights=of.sum(axis=(1, 2)))
        return [of.sum(keepdims=True).ravel(), of.sum(axis=(0, 1)), of.sum(axis=(0, 2)), people]

    everything = (left, left**2, np.broadcast_to(1.0, left.shape))
    parts = ("the whole release", "a feature", "a row or coefficient", "a person's record")
    for what, sums, squares, counts in zip(parts, *map(totals, everything), strict=True):
        spread = squares / (counts * distribution.variance)
        if ((1 - spread) / np.sqrt((5.0 if pure else 2.0) / counts)).max() > SIGMAS:
            share = float(np.sqrt(spread.min()))
            return f"{what} has {share:.2g} times the noise that the mechanism adds"
        # The second term is for sums of few Laplace draws, whose tails are long.
        if (np.abs(sums) > sigma * (SIGMAS * np.sqrt(counts) + _LONG_TAIL)).any():
            return f"{what} is moved as a whole, which no noise does"
    return None


def _side_by_side(original: FeatureTable, released: FeatureTable) -> tuple[Records, Records]:
    """The recordings that both have, in the original's order."""
    key = ["person", "recording"]
    theirs = released.recordings.select(key)
    ours = original.recordings.select(key).join(theirs, on=key, how="semi", maintain_order="left")
    if ours.is_empty():
        raise InputError("the release has no recording of the original: are these the right two?")
    place = ours.with_row_index("place")
    people = ours["person"].unique(maintain_order=True).to_list()

    def records(table: FeatureTable) -> Records:
        data = table.data.join(place, on=key, how="inner", maintain_order="left")
        return records_of(replace(original, data=data.sort("place", maintain_order=True)), people)

    return records(original), records(released)


def _table() -> FeatureTable:
    """People with one to three recordings of four to six rows, some values missing."""
    rng = np.random.default_rng(0)
    values = rng.random((_PEOPLE, _RECORDINGS, _ROWS, _FEATURES))
    values[rng.random(values.shape) < 0.05] = np.nan
    features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(_FEATURES)]
    table = table_from_arrays(values, features, step_ms=1.0)
    number = pl.col("person").cast(pl.Int64)
    recording = pl.col("recording").cast(pl.Int64)
    kept = (recording <= number % _RECORDINGS) & (pl.col("time_ms") < _ROWS - number % 3)
    # The length is set by hand, so that some recordings are cut and others padded.
    return FeatureTable(table.data.filter(kept), table.features, table.people, step_ms=1.0)


def _expected(table: FeatureTable, length: int) -> NDArray[np.float64]:
    """The values of every recording at the common length, cut or padded with NaN."""
    rows = table.recordings["rows"].to_numpy()
    values = table.data.select(table.names).to_numpy()
    dense = np.full((rows.size, length, _FEATURES), np.nan)
    recording = np.repeat(np.arange(rows.size), rows)
    row = np.arange(len(values)) - np.repeat(np.cumsum(rows) - rows, rows)
    inside = row < length
    dense[recording[inside], row[inside]] = values[inside]
    return dense


def _there(table: FeatureTable) -> NDArray[np.bool_]:
    """Which of the recordings each person has, from the first on."""
    counts = table.recordings.group_by("person", maintain_order=True).len()["len"].to_numpy()
    return np.asarray(np.arange(_RECORDINGS) < counts[:, None])


def _by_people(recordings: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """People × recordings × rows × features, missing where there is no recording."""
    values = np.full((*there.shape, *recordings.shape[1:]), np.nan)
    values[there] = recordings
    return values


def without_noise(residuals: NDArray[np.float64], scale: int) -> int:
    """How many have next to no noise; 0 where chance allows as many."""
    bare = int((np.abs(residuals) <= _NEXT_TO_NOTHING * scale).sum())
    expected = _NEXT_TO_NOTHING * residuals.size
    return bare if bare > expected + SIGMAS * math.sqrt(expected) + SIGMAS else 0


def repeated(residuals: NDArray[np.float64], scale: int, pure: bool) -> float:
    """Equal pairs beyond those expected, in standard deviations of their number."""
    count = residuals.size
    _, times = np.unique(residuals, return_counts=True)
    pairs = float((times * (times - 1.0)).sum() / 2)
    chance = 1 / (4 * scale) if pure else 1 / (2 * math.sqrt(math.pi) * scale)
    expected = count * (count - 1) / 2 * chance
    return (pairs - expected) / math.sqrt(expected + 1)


def _spread(residuals: NDArray[np.float64], variance: float, pure: bool) -> float:
    """The worst position's mean square against the law's variance, in standard errors."""
    squares = (residuals**2).mean(axis=0) / variance
    # Var(z²) is 20t⁴ for Laplace (five times its squared variance), 2σ⁴ for Gaussian noise.
    error = math.sqrt((5.0 if pure else 2.0) / residuals.shape[0])
    return float(np.abs(squares - 1).max() / error)


def low_bits(residuals: NDArray[np.float64]) -> float:
    """The p-value of a chi-square test that the lowest bits are uniform."""
    from scipy.stats import chisquare

    # What is far beyond any noise has no low bits.
    whole = np.clip(np.rint(residuals), -(2.0**62), 2.0**62)
    bits = whole.astype(np.int64) & (2**_LOW_BITS - 1)
    return float(chisquare(np.bincount(bits.ravel(), minlength=2**_LOW_BITS)).pvalue)
