"""Mutants of records under noise, and of means over people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.override import override, sound_of
from eyelid.attacks.residuals import examine
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import Integers, exact, noise_of
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.privacy.noise import DiscreteLaplace, Randomness
from eyelid.privacy.noise.continuous import SphericalLaplace
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import attack_digits
from eyelid.verification.mutant import (
    COARSE,
    KEEN,
    NO_NOISE,
    ON_TOP,
    SEEDED_ANEW,
    Changes,
    Mutant,
    Row,
    by_fuzz,
    by_game,
    by_noise,
    by_output,
    by_short_fuzz,
    less_noise,
    planted,
    reused_noise,
    sold_as_person,
)
from eyelid.verification.outputs import compare

_by_residuals, _by_outputs = by_noise(examine), by_output(compare)


def _by_digits(mutant: Any, sound: Any, runs: int, noise: Randomness) -> bool:
    pair = next(sound.neighbour_pairs(sound.unit))
    return attack_digits(mutant, pair, runs, noise).refuted


# Every record under noise.


def record_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Too little noise, no clip, stale noise, other output, and the ε of less than a person."""
    yield _less_than_needed(variants[0])
    yield from _common_mutants(variants, {"clip": _no_clip})


def _less_than_needed(sound: Any) -> Mutant:
    # Some lose less than they claim; what is planted is too little for the claim.
    too_little = 0.85 / sound.times
    return Mutant(f"scale × {too_little:g}", sound, less_noise(too_little), by_game)


def _common_mutants(variants: Sequence[Any], unclipped: Changes) -> Iterator[Mutant]:
    sound = variants[0]
    yield Mutant("missing clip", sound, unclipped, by_game)
    yield from planted(sound, (*_STALE, *_OF_RECORDS, *_BARE))
    filled = {"clip": _filled_by_people}
    yield Mutant("gaps filled with people's mean", sound, filled, by_short_fuzz)
    for smaller in variants[: len(sound.game_units or sound.units)]:
        if smaller.unit != PERSON:
            yield sold_as_person(smaller)


def _no_clip(self: Any, values: Values) -> Any:
    return np.where(np.isnan(values), 0.5, values)


def _filled_by_people(self: Any, values: Values) -> Any:
    there = ~np.isnan(values)
    total = np.where(there, np.clip(values, 0.0, 1.0), 0.5).sum(axis=0)
    filled: Values = np.clip(np.where(there, values, total / len(values)), 0.0, 1.0)
    return filled


def _shared_by_people(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    half = noise_of(self, facts).draw(((len(integers) + 1) // 2, *integers.shape[1:]), noise)
    both: Integers = np.concatenate([half, half])[: len(integers)]
    return integers + both


def _only_first_rows(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    draws = noise_of(self, facts).draw(integers.shape, noise)
    draws[..., -1:, :] = 0
    return integers + draws


def _mask_again(self: Any, values: Values, facts: PublicFacts, noise: Randomness) -> Any:
    private = sound_of(self).randomise(values, facts, noise)
    return np.where(np.isnan(values), np.nan, private)


def _mean_recordings(self: Any, table: FeatureTable) -> Any:
    facts: PublicFacts = sound_of(self).facts(table)
    return replace(facts, recordings=max(1, len(table.recordings) // facts.people))


# What a game about one person and few values cannot see.
_STALE: tuple[Row, ...] = (
    ("noise reused over rows", reused_noise(-2), _by_residuals),
    ("noise reused over features", reused_noise(-1), _by_residuals),
    ("noise shared by two people", {"perturb": _shared_by_people}, _by_residuals),
    ("generator seeded anew", SEEDED_ANEW, _by_residuals),
    ("low bits without noise", COARSE, _by_residuals),
    ("rows without noise", {"perturb": _only_first_rows}, _by_residuals),
)
# Where everybody's record is released, and no mean.
_OF_RECORDS: tuple[Row, ...] = (
    ("missing values published", {"randomise": _mask_again}, _by_residuals),
    ("mean number of recordings", {"facts": _mean_recordings}, _by_residuals),
    (
        "input shown where people are taken part by part",
        {"apply_to_some": lambda self, people, *_: self.present(people)},
        _by_outputs,
    ),
)
# What is measured may be private, and something else be shown.
_BARE: tuple[Row, ...] = (
    (
        "input shown, not what is private",
        {"apply": lambda self, table, _: self.present(table)},
        _by_outputs,
    ),
    ("no noise", NO_NOISE, _by_outputs),
)


# Noise on values.


def additive_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of every record, and textbook noise in floating point instead of on a grid."""
    yield from record_mutants(variants)
    yield Mutant("float noise", variants[0], {"randomise": _in_floats}, _by_digits)


def _in_floats(self: Any, values: Values, facts: PublicFacts, _: Randomness) -> Any:
    rng = np.random.default_rng()
    pure = isinstance(self.noise(facts), DiscreteLaplace)
    draw: Callable[..., Values] = rng.laplace if pure else rng.normal
    clipped: Values = self.clip(values)
    return clipped + draw(0.0, self.scale_in_spans(facts), values.shape)


def bin_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of noise on values, and windows that overlap."""
    yield from additive_mutants(variants)
    overlapping = replace(variants[0], window_s=1.0, step_s=0.5)
    windows = {"scale_in_spans": _of_windows}
    yield Mutant("windows counted, not bins", overlapping, windows, by_game)
    yield Mutant("events in all their windows", overlapping, {"query": _windowed_first}, by_game)


def _of_windows(self: Any, facts: PublicFacts) -> Any:
    windows = max(1, facts.length - self.bins_of_window + 1)
    return float(sound_of(self).scale_in_spans(replace(facts, length=windows)))


def _windowed_first(self: Any, values: Values, facts: PublicFacts) -> Any:
    total = np.cumsum(sound_of(self).query(values, facts), axis=-2)
    total[..., self.bins_of_window :, :] -= total[..., : -self.bins_of_window, :].copy()
    return total


# Noise on Fourier coefficients.


def fourier_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of every record, of complex coefficients, and of a private choice of k."""
    yield from record_mutants(variants)
    yield from planted(variants[-2], _OF_COEFFICIENTS)
    yield from planted(variants[-1], _OF_CHOICES)


def _real_only(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    draws = noise_of(self, facts).draw(integers.shape, noise)
    each = draws.reshape(*draws.shape[:-2], self.pieces(facts), -1, draws.shape[-1])
    each[..., self.kept(facts) :, :] = 0
    return integers + draws


def _without_root_n(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    distribution = noise_of(self, facts)
    smaller = type(distribution)(int(distribution.scale / self.piece(facts) ** 0.5))
    return integers + smaller.draw(integers.shape, noise)


def _noise_is_free(self: Any, facts: PublicFacts) -> Any:
    return np.zeros(len(self.candidates(facts)), dtype=np.int64)


_OF_COEFFICIENTS: tuple[Row, ...] = (
    ("noise on real parts only", {"perturb": _real_only}, by_game),
    ("missing √n", {"perturb": _without_root_n}, by_game),
)
# What noise costs is public, and no fault if it is left out: then a game sees every choice.
_OF_CHOICES: tuple[Row, ...] = (
    (
        "choice of k not paid for",
        {"costs_of_noise": _noise_is_free, "shares": lambda self: (exact(self.epsilon),) * 2},
        by_game,
    ),
    (
        "choice of k without noise",
        {
            "costs_of_noise": _noise_is_free,
            "choose": lambda self, costs, facts, noise: costs.argmin(axis=-1),
        },
        by_game,
    ),
    ("choice of k on top of ε", ON_TOP, by_short_fuzz),
    ("choice of k with 4 × its share", KEEN, by_short_fuzz),
)


# Noise on cosines.


def _no_limit(self: Any, steps: Values, facts: PublicFacts) -> Any:
    return steps


_NO_LIMIT: Changes = {"limit": _no_limit}
# Values that are not clipped would still be limited as coefficients.
_UNCLIPPED: Changes = {"clip": _no_clip, "limit": _no_limit}


def cosine_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of every record, where coefficients are limited as well."""
    yield _less_than_needed(variants[0])
    yield from _common_mutants(variants, _UNCLIPPED)


def dct_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of every record, of the norm that is limited, and of spherical noise."""
    yield _less_than_needed(variants[0])
    yield from planted(variants[0], _OF_NORMS)
    yield from planted(variants[-2], _OF_SPHERES)
    yield from _common_mutants(variants, _UNCLIPPED)


def envelope_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of every record, and of the spectrum that coefficients are clipped to."""
    yield _less_than_needed(variants[0])
    yield from planted(variants[0], _OF_SPECTRA)
    yield Mutant("coefficients clipped, not values", variants[-2], {"clip": _no_clip}, by_game)
    yield from _common_mutants(variants, _UNCLIPPED)


def _limit_by_longest(self: Any, steps: Values, facts: PublicFacts) -> Any:
    longest = np.linalg.norm(steps.reshape(len(steps), -1), axis=1).max()
    most = self.radius_steps(facts)
    return np.asarray(steps * (most / max(longest, most)))


def _limit_recordings(self: Any, steps: Values, facts: PublicFacts) -> Any:
    norms = np.linalg.norm(steps, axis=(-2, -1), keepdims=True)
    most = self.radius_steps(facts)
    return np.asarray(steps * np.minimum(1.0, most / np.maximum(norms, 1.0)))


def _rounded(self: Any, values: Values, facts: PublicFacts) -> Any:
    steps = self.analyse(self.clip(values), facts) / self.step(facts)
    return np.rint(self.limit(steps, facts)).astype(np.int64)


def _less_spherical(self: Any, integers: Integers, facts: PublicFacts, noise: Randomness) -> Any:
    dimension = self.coordinates(facts, self.unit)
    distribution = SphericalLaplace(int(0.85 * noise_of(self, facts).scale), dimension)
    return integers + distribution.draw(integers.shape, noise)


_OF_NORMS: tuple[Row, ...] = (
    ("missing clip of the norm", _NO_LIMIT, by_game),
    ("recordings clipped each alone", {"limit": _limit_recordings}, by_game),
    ("norm that grows by rounding", {"query": _rounded}, by_fuzz),
    ("scaled by the longest of all", {"limit": _limit_by_longest}, by_short_fuzz),
)
_OF_SPHERES: tuple[Row, ...] = (
    ("spherical scale × 0.85", {"perturb": _less_spherical}, by_game),
    (
        "Laplace of the spherical scale",
        {"noise": lambda self, facts: DiscreteLaplace(sound_of(self).noise(facts).scale)},
        by_game,
    ),
)
_OF_SPECTRA: tuple[Row, ...] = (
    ("missing clip of coefficients", _NO_LIMIT, by_game),
    (
        "spectrum of one recording only",
        {"step": lambda self, facts: sound_of(self).step(replace(facts, recordings=1))},
        by_game,
    ),
)


# Means over people.


def mean_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of means: inside, in the sum, in its number of people, of less than a person."""
    yield from planted(variants[0], _OF_MEANS)
    plain = next(each for each in variants if each.core.family == "additive")
    yield Mutant("missing clip", plain, _inside(plain, {"clip": _no_clip}), by_game)
    yield Mutant("absent people left out of N", plain, {"total": _of_those_present}, by_fuzz)
    yield from planted(plain, [_GAPS])
    for smaller in variants:
        if smaller.unit != PERSON:
            yield sold_as_person(smaller)


def random_mean_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of random groups: who is in them, how many are, and what goes into a sum."""
    sound = variants[0]
    yield from planted(sound, _OF_MEANS)
    for name, changes in _INSIDE.items():
        yield Mutant(name, sound, _inside(sound, changes), by_game)
    yield from planted(sound, _OF_RANDOM_GROUPS)


def _inside(sound: Any, changes: Changes) -> Changes:
    """The mechanism inside with some methods replaced."""
    changed = override(sound.core, changes)
    return {"core": property(lambda _: changed)}


_INSIDE: dict[str, Changes] = {
    "missing clip": _UNCLIPPED,
    "missing clip of the norm": _NO_LIMIT,
    "each task clipped alone": {"limit": _limit_recordings},
    "sensitivity B, not 2B": {
        "radius_steps": lambda self, facts: math.floor(self.most_steps(facts))
    },
}


def _by_all(self: Any, totals: Integers, sizes: Integers, facts: PublicFacts) -> Any:
    return sound_of(self).divided(totals, np.full_like(sizes, sizes.sum()), facts)


def _of_those_present(self: Any, values: Values, facts: PublicFacts) -> Any:
    there = ~np.isnan(values).all(axis=(-3, -2, -1), keepdims=True)
    total = (self.integers(values, facts) * there).sum(axis=-4)
    share = values.shape[-4] / np.maximum(there.sum(axis=-4), 1)
    return np.asarray(np.rint(total * share), dtype=np.int64)


def _filled_by_others(self: Any, values: Values, facts: PublicFacts) -> Any:
    mean = np.nanmean(np.clip(values, 0.0, 1.0), axis=-4, keepdims=True)
    return sound_of(self).total(np.where(np.isnan(values), mean, values), facts)


def _task_by_task(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    parts = [
        sound_of(self)
        .perturbed(replace(table, data=rows), noise)
        .data.with_columns(pl.lit(str(number)).alias("recording"))
        for number, rows in enumerate(table.data.partition_by("task"), start=1)
    ]
    data = pl.concat(parts).sort("person", "recording", "time_ms")
    return replace(table, data=data, people=data.select(pl.col("person").unique()))


def _sizes_of_present(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    groups: Groups = sound_of(self).partition(table, noise)
    somebody = pl.any_horizontal(pl.col(table.names).is_not_nan()).any().alias("there")
    there = table.data.group_by("person", maintain_order=True).agg(somebody)["there"]
    present = np.bincount(groups.member, weights=there).astype(np.int64)
    return replace(groups, people=groups.people.with_columns(pl.Series("people", present)))


def _alike(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    groups: Groups = sound_of(self).partition(table, noise)
    values = pl.mean_horizontal(pl.col(table.names).fill_nan(None)).mean().alias("value")
    value = table.data.group_by("person", maintain_order=True).agg(values)["value"]
    member = np.empty_like(groups.member)
    member[np.argsort(value.to_numpy())] = np.sort(groups.member)
    return replace(groups, member=member)


def _regrouped(self: Any, table: FeatureTable, groups: Groups, facts: PublicFacts) -> Any:
    again = replace(groups, member=np.roll(groups.member, 1))
    totals: Integers = sound_of(self).sums(table, groups, facts)
    totals[:, 1:] = sound_of(self).sums(table, again, facts)[:, 1:]
    return totals


_OF_MEANS: tuple[Row, ...] = (
    ("scale × 0.85", less_noise(0.85), by_game),
    ("noise of the mean on the sum", less_noise(1 / 3), by_game),
    *_STALE,
    *_BARE,
    (
        "exact means shown",
        {"apply": lambda self, table, noise: self.exact(table, self.partition(table, noise))},
        _by_outputs,
    ),
    ("divided by everybody, not by the group", {"divided": _by_all}, _by_residuals),
)
_GAPS: Row = ("gaps filled with the others' mean", {"total": _filled_by_others}, by_fuzz)
_OF_RANDOM_GROUPS: tuple[Row, ...] = (
    ("each task at the whole ε", {"perturbed": _task_by_task}, by_game),
    ("group sizes from the data", {"partition": _sizes_of_present}, by_game),
    _GAPS,
    ("groups of people who are alike", {"partition": _alike}, _by_residuals),
    ("other groups for each task", {"sums": _regrouped}, _by_residuals),
)
