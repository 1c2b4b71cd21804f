"""Mutants of records under noise, and of means over people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.residuals import examine
from eyelid.attacks.twins import sound_of, twin
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.distribution import exact
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.noisy import Integers, noise_of
from eyelid.mechanisms.records.spherical import SphericalLaplace
from eyelid.privacy.noise import DiscreteLaplace, Randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import attack_digits
from eyelid.verification.mutant import (
    COARSE,
    KEEN,
    NO_NOISE,
    SEEDED_ANEW,
    Changes,
    Mutant,
    by_fuzz,
    by_game,
    by_short_fuzz,
    less_noise,
    mutants,
    reused_noise,
    sold_as_person,
)
from eyelid.verification.outputs import compare


def _by_residuals(mutant: Any, sound: Any, _: int, noise: Randomness) -> bool:
    return examine(mutant, noise, declared=sound).refuted


def _by_outputs(mutant: Any, sound: Any, _runs: int, _noise: Randomness) -> bool:
    return compare(mutant, declared=sound).refuted


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
    yield from mutants(sound, _by_residuals, _STALE | _MISCOUNTED)
    yield from mutants(sound, _by_outputs, _BARE)
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


def _shared_by_people(self: Any, integers: Integers, shape: Shape, noise: Randomness) -> Any:
    half = noise_of(self, shape).draw(((len(integers) + 1) // 2, *integers.shape[1:]), noise)
    both: Integers = np.concatenate([half, half])[: len(integers)]
    return integers + both


def _only_first_rows(self: Any, integers: Integers, shape: Shape, noise: Randomness) -> Any:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    draws[..., -1:, :] = 0
    return integers + draws


def _mask_again(self: Any, values: Values, shape: Shape, noise: Randomness) -> Any:
    private = sound_of(self).randomise(values, shape, noise)
    return np.where(np.isnan(values), np.nan, private)


def _mean_recordings(self: Any, table: FeatureTable) -> Any:
    shape: Shape = sound_of(self).shape(table)
    return replace(shape, recordings=max(1, len(table.recordings) // shape.people))


# What a game about one person and few values cannot see.
_STALE: dict[str, Changes] = {
    "noise reused over rows": reused_noise(-2),
    "noise reused over features": reused_noise(-1),
    "noise shared by two people": {"perturb": _shared_by_people},
    "generator seeded anew": SEEDED_ANEW,
    "low bits without noise": COARSE,
    "rows without noise": {"perturb": _only_first_rows},
}
# Where everybody's record is released, and no mean.
_MISCOUNTED: dict[str, Changes] = {
    "missing values published": {"randomise": _mask_again},
    "mean number of recordings": {"shape": _mean_recordings},
}
# What is measured may be private, and something else be shown.
_BARE: dict[str, Changes] = {
    "input shown, not what is private": {"apply": lambda self, table, _: self.present(table)},
    "no noise": NO_NOISE,
}


# Noise on values.


def additive_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of every record, and textbook noise in floating point instead of on a grid."""
    yield from record_mutants(variants)
    yield Mutant("float noise", variants[0], {"randomise": _in_floats}, _by_digits)


def _in_floats(self: Any, values: Values, shape: Shape, _: Randomness) -> Any:
    rng = np.random.default_rng()
    pure = isinstance(self.noise(shape), DiscreteLaplace)
    draw: Callable[..., Values] = rng.laplace if pure else rng.normal
    clipped: Values = self.clip(values)
    return clipped + draw(0.0, self.scale_in_spans(shape), values.shape)


def bin_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of noise on values, and windows that overlap."""
    yield from additive_mutants(variants)
    overlapping = replace(variants[0], window_s=1.0, step_s=0.5)
    windows = {"scale_in_spans": _of_windows}
    yield Mutant("windows counted, not bins", overlapping, windows, by_game)
    yield Mutant("events in all their windows", overlapping, {"query": _windowed_first}, by_game)


def _of_windows(self: Any, shape: Shape) -> Any:
    windows = max(1, shape.length - self.bins_of_window + 1)
    return float(sound_of(self).scale_in_spans(replace(shape, length=windows)))


def _windowed_first(self: Any, values: Values, shape: Shape) -> Any:
    total = np.cumsum(sound_of(self).query(values, shape), axis=-2)
    total[..., self.bins_of_window :, :] -= total[..., : -self.bins_of_window, :].copy()
    return total


# Noise on Fourier coefficients.


def fourier_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of every record, of complex coefficients, and of a private choice of k."""
    yield from record_mutants(variants)
    *_, longest, choosing = variants
    yield Mutant("noise on real parts only", longest, {"perturb": _real_only}, by_game)
    yield Mutant("missing √n", longest, {"perturb": _without_root_n}, by_game)
    yield Mutant("choice of k not paid for", choosing, _UNPAID, by_game)
    yield Mutant("choice of k without noise", choosing, _ALWAYS_BEST, by_game)
    on_top = {"candidates": _with_all_of_it}
    yield Mutant("choice of k on top of ε", choosing, on_top, by_short_fuzz)
    yield Mutant("choice of k with 4 × its share", choosing, KEEN, by_short_fuzz)


def _real_only(self: Any, integers: Integers, shape: Shape, noise: Randomness) -> Any:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    each = draws.reshape(*draws.shape[:-2], self.pieces(shape), -1, draws.shape[-1])
    each[..., self.kept(shape) :, :] = 0
    return integers + draws


def _without_root_n(self: Any, integers: Integers, shape: Shape, noise: Randomness) -> Any:
    law = noise_of(self, shape)
    smaller = type(law)(int(law.scale / self.piece(shape) ** 0.5))
    return integers + smaller.draw(integers.shape, noise)


def _noise_is_free(self: Any, shape: Shape) -> Any:
    return np.zeros(len(self.candidates(shape)), dtype=np.int64)


def _all_twice(self: Any) -> Any:
    return exact(self.epsilon), exact(self.epsilon)


def _the_cheapest(self: Any, costs: Integers, shape: Shape, noise: Randomness) -> Any:
    return np.asarray(costs.argmin(axis=-1))


def _with_all_of_it(self: Any, shape: Shape) -> Any:
    return [replace(each, epsilon=self.epsilon) for each in sound_of(self).candidates(shape)]


# What noise costs is public, and no fault if it is left out: then a game sees every choice.
_UNPAID: Changes = {"costs_of_noise": _noise_is_free, "shares": _all_twice}
_ALWAYS_BEST: Changes = {"costs_of_noise": _noise_is_free, "choose": _the_cheapest}


# Noise on cosines.


def _no_limit(self: Any, steps: Values, shape: Shape) -> Any:
    return steps


_NO_LIMIT: Changes = {"limit": _no_limit}
# Values that are not clipped would still be limited as coefficients.
_UNCLIPPED: Changes = {"clip": _no_clip, "limit": _no_limit}


def cosine_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of every record, where coefficients are limited as well."""
    yield _less_than_needed(variants[0])
    yield from _common_mutants(variants, _UNCLIPPED)


def dct_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of every record, of the norm that is limited, and of spherical noise."""
    first, last = variants[0], variants[-2]
    yield _less_than_needed(first)
    yield Mutant("missing clip of the norm", first, _NO_LIMIT, by_game)
    yield Mutant("recordings clipped each alone", first, {"limit": _limit_recordings}, by_game)
    yield Mutant("norm that grows by rounding", first, {"query": _rounded}, by_fuzz)
    longest = {"limit": _limit_by_longest}
    yield Mutant("scaled by the longest of all", first, longest, by_short_fuzz)
    yield Mutant("spherical scale × 0.85", last, {"perturb": _less_spherical}, by_game)
    laplace = {"noise": lambda self, shape: DiscreteLaplace(sound_of(self).noise(shape).scale)}
    yield Mutant("Laplace of the spherical scale", last, laplace, by_game)
    yield from _common_mutants(variants, _UNCLIPPED)


def envelope_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of every record, and of the spectrum that coefficients are clipped to."""
    first, last = variants[0], variants[-2]
    yield _less_than_needed(first)
    yield Mutant("missing clip of coefficients", first, _NO_LIMIT, by_game)
    one_recording = {"step": _one_recording}
    yield Mutant("spectrum of one recording only", first, one_recording, by_game)
    yield Mutant("coefficients clipped, not values", last, {"clip": _no_clip}, by_game)
    yield from _common_mutants(variants, _UNCLIPPED)


def _limit_by_longest(self: Any, steps: Values, shape: Shape) -> Any:
    longest = np.linalg.norm(steps.reshape(len(steps), -1), axis=1).max()
    most = self.radius_steps(shape)
    return np.asarray(steps * (most / max(longest, most)))


def _limit_recordings(self: Any, steps: Values, shape: Shape) -> Any:
    norms = np.linalg.norm(steps, axis=(-2, -1), keepdims=True)
    most = self.radius_steps(shape)
    return np.asarray(steps * np.minimum(1.0, most / np.maximum(norms, 1.0)))


def _rounded(self: Any, values: Values, shape: Shape) -> Any:
    steps = self.analyse(self.clip(values), shape) / self.step(shape)
    return np.rint(self.limit(steps, shape)).astype(np.int64)


def _less_spherical(self: Any, integers: Integers, shape: Shape, noise: Randomness) -> Any:
    dimension = self.coordinates(shape, self.unit)
    law = SphericalLaplace(int(0.85 * noise_of(self, shape).scale), dimension)
    return integers + law.draw(integers.shape, noise)


def _one_recording(self: Any, shape: Shape) -> Any:
    return sound_of(self).step(replace(shape, recordings=1))


# Means over people.


def mean_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of means: inside, in the sum, in its number of people, and of less than a person."""
    yield from _common_means(variants[0])
    plain = next(each for each in variants if each.core.family == "additive")
    yield Mutant("missing clip", plain, _inside(plain, {"clip": _no_clip}), by_game)
    yield Mutant("absent people left out of N", plain, {"total": _of_those_present}, by_fuzz)
    by_others = {"total": _filled_by_others}
    yield Mutant("gaps filled with the others' mean", plain, by_others, by_fuzz)
    for smaller in variants:
        if smaller.unit != PERSON:
            yield sold_as_person(smaller)


def random_mean_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of random groups: who is in them, how many are, and what of them goes into a sum."""
    sound = variants[0]
    yield from _common_means(sound)
    for name, changes in _INSIDE.items():
        yield Mutant(name, sound, _inside(sound, changes), by_game)
    yield Mutant("each task at the whole ε", sound, {"perturbed": _task_by_task}, by_game)
    yield Mutant("group sizes from the data", sound, {"partition": _sizes_of_present}, by_game)
    by_others = {"total": _filled_by_others}
    yield Mutant("gaps filled with the others' mean", sound, by_others, by_fuzz)
    yield Mutant("groups of people who are alike", sound, {"partition": _alike}, _by_residuals)
    yield Mutant("other groups for each task", sound, {"sums": _regrouped}, _by_residuals)


def _common_means(sound: Any) -> Iterator[Mutant]:
    yield Mutant("scale × 0.85", sound, less_noise(0.85), by_game)
    yield Mutant("noise of the mean on the sum", sound, less_noise(1 / 3), by_game)
    yield from mutants(sound, _by_residuals, _STALE)
    yield from mutants(sound, _by_outputs, _BARE)
    yield Mutant("exact means shown", sound, {"apply": _exact_means}, _by_outputs)
    name = "divided by everybody, not by the group"
    yield Mutant(name, sound, {"divided": _by_all}, _by_residuals)


def _inside(sound: Any, changes: Changes) -> Changes:
    """The mechanism inside with some methods replaced."""
    changed = twin(sound.core, changes)
    return {"core": property(lambda _: changed)}


def _whole_ball(self: Any, shape: Shape) -> Any:
    return math.floor(self.most_steps(shape))


_INSIDE: dict[str, Changes] = {
    "missing clip": _UNCLIPPED,
    "missing clip of the norm": _NO_LIMIT,
    "each task clipped alone": {"limit": _limit_recordings},
    "sensitivity B, not 2B": {"radius_steps": _whole_ball},
}


def _exact_means(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    return self.exact(table, self.partition(table, noise))


def _by_all(self: Any, totals: Integers, sizes: Integers, shape: Shape) -> Any:
    return sound_of(self).divided(totals, np.full_like(sizes, sizes.sum()), shape)


def _of_those_present(self: Any, values: Values, shape: Shape) -> Any:
    there = ~np.isnan(values).all(axis=(-3, -2, -1), keepdims=True)
    total = (self.integers(values, shape) * there).sum(axis=-4)
    share = values.shape[-4] / np.maximum(there.sum(axis=-4), 1)
    return np.asarray(np.rint(total * share), dtype=np.int64)


def _filled_by_others(self: Any, values: Values, shape: Shape) -> Any:
    mean = np.nanmean(np.clip(values, 0.0, 1.0), axis=-4, keepdims=True)
    return sound_of(self).total(np.where(np.isnan(values), mean, values), shape)


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


def _regrouped(self: Any, table: FeatureTable, groups: Groups, shape: Shape) -> Any:
    again = replace(groups, member=np.roll(groups.member, 1))
    totals: Integers = sound_of(self).sums(table, groups, shape)
    totals[:, 1:] = sound_of(self).sums(table, again, shape)[:, 1:]
    return totals
