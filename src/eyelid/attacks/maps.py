"""Maps of gaze over people, attacked: who is in one, who is left when all others are taken off?

Attackers have the noisy cells that a map was made of, which say more than the map itself. They know
every public rule: the grid, and how much of a person counts. Tables over areas of interest are
cells as well, and are attacked alike.

How much of a heatmap or gaze map is left: Pearson correlation and squared error.
Liu et al. (2019) report both. They warn, and so do we, that a map can score well cell by cell and
still look wrong: look at it too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.attacks.membership import Membership, told_apart
from eyelid.attacks.residuals import SIGMAS, repeated, without_noise
from eyelid.attacks.subtraction import Subtraction
from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Floats
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.maps.noisy_sum import NoisySum
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import DiscreteLaplace, randomness

Law = NoisySum | MapMechanism

FEWEST_PEOPLE = 3
# A sound map is found wanting less than once in a million tries.
_LEAST_CHANCE = 1e-7
# An error this much smaller is a noticeable one.
_CLEARLY = 0.9


CENTRE_VARIANCE = (0.22, 0.22 * 0.45)
"""Variances of gaze across and down any picture, over (half its width)² (Clarke & Tatler 2014)."""


@dataclass(frozen=True)
class MapNoise:
    """What is left of noisy cells when the true ones are taken off.

    Attributes:
        cells: how many.
        spread: standard deviation of the noise, over that which the mechanism declares.
        objection: why that is not fresh noise as declared, in words; None if it may well be.
        too_much: whether there is more of it than can be: then the cells may be of other looks.
    """

    cells: int
    spread: float
    objection: str | None
    too_much: bool = False


@dataclass(frozen=True, eq=False)
class MapAttacks:
    """What attacks on the noisy cells of some people's maps came to.

    Attributes:
        membership: how well people were told from others in their place, by one who knows everybody
            else; None with too few people, or of a mechanism that claims nothing.
        positive: the same without noise: what the attack can do at all.
        null: the same where the map does not depend on who is in it.
        subtraction: what an attacker who knows all others learns of the last one; None where people
            were drawn at random, and nobody knows which: it is not tried.
        noise: what the noise turned out to be; None of a mechanism that claims none.
    """

    membership: Membership | None
    positive: Membership | None
    null: Membership | None
    subtraction: Subtraction | None
    noise: MapNoise | None


@dataclass(frozen=True)
class MapUse:
    """How much of a noise-free heatmap is left in a released one, beside what needs no data.

    Attributes:
        name: of the group, picture or stretch of time; empty if there is one map only.
        released: of the released map.
        blob: of a public blob in the middle of the picture, where people look anyway.
    """

    name: str
    released: MapError
    blob: MapError

    @property
    def worse_than_blank(self) -> bool:
        """Whether an evenly grey picture is nearer the truth."""
        return self.released.nmse > 1

    @property
    def beats_blob(self) -> bool:
        """Whether the release tells more than what can be drawn without data."""
        return (self.released.correlation or 0.0) > (self.blob.correlation or 0.0)


@dataclass(frozen=True)
class TableUse:
    """How far a released table of areas is from the one without noise, beside saying nothing.

    Attributes:
        name: of the table.
        rmse: root mean square error over its numbers.
        nothing_rmse: that of what can be guessed without data: 0 everywhere, or all that may count
            spread evenly, whichever is nearer the truth.
    """

    name: str
    rmse: float
    nothing_rmse: float

    @property
    def beats_nothing(self) -> bool:
        """Whether it is clearly nearer the truth than saying nothing."""
        return self.rmse < _CLEARLY * self.nothing_rmse


def attack_map(
    mechanism: Law,
    counts: PersonCounts,
    facts: Any,
    cells: Floats,
    person_level: Guarantee | None = None,
    seed: int = 0,
) -> MapAttacks:
    """Attack noisy cells with everything there is.

    Args:
        mechanism: as it was run; what it had to choose chosen.
        counts: everybody's gaze points, as it took them.
        facts: its public facts.
        cells: what it released: layers × rows × columns, or layers × cells of tables.
        person_level: what is claimed; None for nothing.
        seed: of the attackers and the mechanism's noise.
    """
    games: dict[str, Membership] = {}
    # Noise whose law is known is added to sums.
    summed = cast(NoisySum, mechanism) if mechanism.execution is Execution.BY_SUMS else None
    if summed is not None and counts.people >= FEWEST_PEOPLE:
        games = map_membership(summed, counts, facts, person_level, seed=seed)
    return MapAttacks(
        membership=games.get("membership"),
        positive=games.get("positive"),
        null=games.get("null"),
        subtraction=None
        if mechanism.draws_people
        else map_subtraction(mechanism, counts, facts, cells),
        noise=None if summed is None else map_noise(summed, counts, facts, cells),
    )


def map_subtraction(mechanism: Law, counts: PersonCounts, facts: Any, cells: Floats) -> Subtraction:
    """Leave each person out in turn, and get them back from the map and the others.

    Everybody must be in it: what is left of a map of some alone says nothing of this attack.

    The span is the most that a person can have in a cell; of counts without a cap it is one gaze
    point.
    """
    if counts.people < 2:
        raise InputError(f"a map of {counts.people} person has no others to subtract")
    if mechanism.draws_people:
        raise InputError(f"{mechanism.name} draws people at random: nobody knows whom to subtract")
    each, published = mechanism.in_spans(counts, facts, cells)
    summed = np.bincount(counts.cell, weights=each, minlength=counts.cells)
    error = published - summed
    # Σ(x − mean)² over people and cells, most of which are empty.
    square = float((each**2).sum()) - float((summed**2).sum()) / counts.people
    blind = math.sqrt(max(0.0, square) / (counts.people * counts.cells))
    return Subtraction(
        people=counts.people,
        rmse_of_span=float(np.sqrt(np.mean(error**2))),
        largest_of_span=float(np.abs(error).max()),
        blind_rmse_of_span=blind * counts.people / (counts.people - 1),
    )


def map_membership(
    mechanism: NoisySum,
    counts: PersonCounts,
    facts: Any,
    person_level: Guarantee | None = None,
    trials: int = 1000,
    seed: int = 0,
) -> dict[str, Membership]:
    """Membership inference: is a person in the map, or another in their place?

    The mechanism is run again in every trial. The attacker takes all others off, has the gaze
    points of both, and asks which of them what is left is likelier to be. This is the attacker that
    the guarantee speaks of.

    Args:
        mechanism: as it was run.
        counts: everybody's looks.
        facts: its public facts.
        person_level: what is claimed; None for nothing.
        trials: how often.
        seed: of targets, coins and noise.

    Returns:
        ``membership``; ``positive``, the same without noise; ``null``, where a third person is in
        the map whatever the coin says.
    """
    if counts.people < FEWEST_PEOPLE:
        raise InputError(f"{counts.people} people are too few: give at least {FEWEST_PEOPLE}")
    rng = np.random.default_rng([seed, *b"was somebody in this map"])
    source, noise = randomness(rng), noise_of(mechanism, facts)
    steps = mechanism.integers(counts, facts)
    ends = np.searchsorted(counts.person, np.arange(counts.people + 1))
    target = np.arange(trials) % counts.people
    coins = rng.random(trials) < 0.5
    scores = {name: np.empty(trials) for name in ("membership", "positive", "null")}
    for trial, who in enumerate(target):
        three = [
            who,
            *((who + rng.choice(counts.people - 1, 2, replace=False) + 1) % counts.people),
        ]
        # Elsewhere all three are alike.
        here = [slice(ends[one], ends[one + 1]) for one in three]
        cells = np.unique(np.concatenate([counts.cell[one] for one in here]))
        mine, theirs, third = (np.zeros(cells.size, dtype=np.int64) for _ in here)
        for vector, one in zip((mine, theirs, third), here, strict=True):
            vector[np.searchsorted(cells, counts.cell[one])] = steps[one]
        inside = mine if coins[trial] else theirs
        seen = {
            "membership": mechanism.perturb(inside, facts, source),
            "positive": inside,
            "null": mechanism.perturb(third, facts, source),
        }
        for name, published in seen.items():
            chance = noise.log_mass(published - mine) - noise.log_mass(published - theirs)
            scores[name][trial] = chance.sum()
    return {
        name: told_apart(found, coins, target, person_level if name == "membership" else None)
        for name, found in scores.items()
    }


def map_noise(mechanism: NoisySum, counts: PersonCounts, facts: Any, cells: Floats) -> MapNoise:
    """Whether noisy cells, less the true ones, are fresh noise of the declared law.

    Over all cells Σz²/σ² of Gaussian noise is χ², Σ|z|/b of Laplace noise Gamma: so few cells as a
    coarse grid has are enough to see that there is too little.
    """
    from scipy.stats import chi2, gamma

    noise = noise_of(mechanism, facts)
    left = mechanism.undivided(np.ravel(cells), facts) - mechanism.total(counts, facts)
    if not np.isfinite(left).all():
        objection = "there are released cells that no release has (missing or infinite ones)"
        return MapNoise(left.size, math.nan, objection)
    found = MapNoise(left.size, float(np.sqrt(np.mean(left**2) / noise.variance)), None)
    pure = isinstance(noise, DiscreteLaplace)
    law_of_sum = gamma(left.size) if pure else chi2(left.size)
    amount = np.abs(left / noise.scale).sum() if pure else ((left / noise.scale) ** 2).sum()
    bare = without_noise(left, noise.scale)
    if bare:
        objection = f"{bare} released cells are the original's, next to no noise added"
    elif law_of_sum.cdf(amount) < _LEAST_CHANCE:
        objection = (
            f"released cells have {found.spread:.2g} times the noise that the mechanism adds"
        )
    elif repeated(np.rint(left), noise.scale, pure) > SIGMAS:
        objection = "the same noise was added more than once"
    elif law_of_sum.sf(amount) < _LEAST_CHANCE:
        objection = "released cells are farther from the original than noise can put them"
        return replace(found, objection=objection, too_much=True)
    else:
        return found
    return replace(found, objection=objection)


def map_use(name: str, noise_free: Floats, released: Floats) -> MapUse:
    """A released map beside its noise-free one, both as shares of gaze, and beside a public blob.

    Args:
        name: of the layer.
        noise_free: the heatmap of everybody's gaze points; it is brought to a sum of 1.
        released: as large; it has a sum of 1, or is empty.
    """
    total = float(noise_free.sum())
    if not total > 0:
        raise InputError(f"nobody looked at {name or 'the picture'}: there is nothing to compare")
    blob = centre_bias(noise_free.shape[1], noise_free.shape[0])
    return MapUse(
        name,
        map_error(noise_free / total, released),
        map_error(noise_free / total, blob),
    )


def table_use(name: str, noise_free: Floats, released: Floats, total: float) -> TableUse:
    """A released table of areas beside the one without noise.

    Args:
        name: of the table.
        noise_free: its numbers, means over the same people.
        released: the same numbers as released.
        total: the most that a person can have in all of it.

    >>> table_use("dwell", np.array([0.2, 0.8]), np.array([0.5, 0.5]), 1.0).beats_nothing
    False
    """
    rmse, *nothing = (
        float(np.sqrt(np.mean((said - noise_free) ** 2)))
        for said in (released, 0.0, total / noise_free.size)
    )
    return TableUse(name, rmse, min(nothing))


@dataclass(frozen=True)
class MapError:
    """A released map beside its original.

    Attributes:
        correlation: Pearson's, over cells; None where the release is the same everywhere, so that
            there is nothing to correlate.
        mse: mean squared difference, in squared units of the map.
        nmse: the same over the original's variance: 1 is what a blank map at the right mean gives.
    """

    correlation: float | None
    mse: float
    nmse: float


def map_error(original: ArrayLike, released: ArrayLike) -> MapError:
    """Correlation and squared error of a released map, cell by cell.

    >>> error = map_error([[0.0, 1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0, 4.0]])
    >>> error.correlation, error.mse, error.nmse
    (1.0, 1.0, 0.8)
    """
    ours, theirs = _checked(original, "original"), _checked(released, "released")
    if ours.shape != theirs.shape:
        raise InputError(
            f"the original map has {_size(ours)} cells and the released one {_size(theirs)}: "
            "bring both to one grid first"
        )
    if _constant(ours):
        raise InputError(
            f"the original map is {ours.flat[0]:g} in every cell, so there is nothing in it to "
            "keep: choose a map with gaze on it"
        )
    mse = float(np.mean((ours - theirs) ** 2))
    return MapError(
        correlation=None if _constant(theirs) else _pearson(ours, theirs),
        mse=mse,
        nmse=mse / float(ours.var()),
    )


def centre_bias(width_px: int, height_px: int) -> NDArray[np.float64]:
    """Where people look on any picture, as shares of gaze: what a map must beat to tell anything.

    A Gaussian about as wide as Clarke & Tatler (2014) recommend for scenes: in half widths of the
    picture, a variance of 0.22 across and 0.45 times that down.

    >>> blob = centre_bias(8, 6)
    >>> round(float(blob.sum()), 6), blob.argmax()
    (1.0, np.int64(19))
    """
    x, y = (
        (np.arange(length) + 0.5 - length / 2) * (2 / width_px) for length in (width_px, height_px)
    )
    across, down = CENTRE_VARIANCE
    blob = np.exp(-0.5 * (x**2 / across + y[:, None] ** 2 / down))
    return np.asarray(blob / blob.sum())


def _pearson(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    # Each scaled to its largest difference, so that no square overflows or vanishes.
    first, second = (values.ravel() - values.mean() for values in (one, other))
    first, second = first / np.abs(first).max(), second / np.abs(second).max()
    ratio = float(first @ second) / float(np.linalg.norm(first) * np.linalg.norm(second))
    return min(1.0, max(-1.0, ratio))


def _constant(values: NDArray[np.float64]) -> bool:
    """Whether all cells are the same but for rounding."""
    return float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


def _checked(values: ArrayLike, which: str) -> NDArray[np.float64]:
    cells = np.asarray(values, dtype=np.float64)
    if cells.size == 0:
        raise InputError(f"the {which} map has no cells")
    bad = int(np.count_nonzero(~np.isfinite(cells)))
    if bad:
        raise InputError(
            f"the {which} map has {bad} cells that are no numbers: a cell that nobody looked at "
            "is 0, not missing"
        )
    return cells


def _size(values: NDArray[np.float64]) -> str:
    return " × ".join(str(length) for length in values.shape)
