"""Planted faults: broken twins of a mechanism that ``verify`` must catch, or it proves nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.residuals import examine
from eyelid.attacks.twins import twin
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.mechanisms.maps.noisy_map import NoisyMap
from eyelid.mechanisms.means.ksame_dp import KSameDP
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.mechanism import Mechanism, Shape, Values
from eyelid.mechanisms.noisy import noise_of
from eyelid.mechanisms.records.additive import AdditiveMechanism
from eyelid.mechanisms.records.cosine import CosineMechanism
from eyelid.mechanisms.records.dct import DCT
from eyelid.mechanisms.records.envelope import Envelope
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.mechanisms.records.perturbation import FourierMechanism
from eyelid.mechanisms.records.prewindow import Prewindow
from eyelid.mechanisms.records.pure import exact
from eyelid.mechanisms.records.spherical import SphericalLaplace
from eyelid.mechanisms.streams.continual import Dwell
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.synthetic.seeded import Seeded
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import DiscreteLaplace, Randomness, randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.anonymity_faults import anonymity_faults
from eyelid.verification.aoi_faults import aoi_faults
from eyelid.verification.dwell_faults import dwell_faults
from eyelid.verification.fault import Fault, fuzz_fault, game_fault, less_noise, sold_as_person
from eyelid.verification.fixation_faults import fixation_faults
from eyelid.verification.map_faults import map_faults
from eyelid.verification.outputs import compare, no_noise
from eyelid.verification.precision import attack
from eyelid.verification.seeded_faults import seeded_faults
from eyelid.verification.stream_faults import stream_faults
from eyelid.verification.streams import scheduled
from eyelid.verification.synthetic_faults import synthetic_faults

Integers = NDArray[np.int64]

# What is wrong in every pair is seen in few.
_FEW_PAIRS = 1_024


def faults_of(kind: type[Mechanism]) -> Iterator[Fault]:
    """Every planted fault that makes sense for this mechanism."""
    for groups in kind.set_for_games():
        if isinstance(groups, KSame):
            yield from anonymity_faults(groups)
    variants = [v for v in kind.set_for_games() if isinstance(v, DifferentialMechanism)]
    if not variants:
        return
    mechanism = variants[0]
    if isinstance(mechanism, NoisyMap):
        yield from map_faults([v for v in variants if isinstance(v, NoisyMap)])
        return
    if isinstance(mechanism, AoiTables):
        yield from aoi_faults([v for v in variants if isinstance(v, AoiTables)])
        return
    if isinstance(mechanism, Seeded):
        yield from seeded_faults([v for v in variants if isinstance(v, Seeded)])
        return
    if scheduled(mechanism):
        yield from stream_faults([v for v in variants if isinstance(v, Filter)])
        return
    if isinstance(mechanism, Synthetic):
        yield from synthetic_faults([v for v in variants if isinstance(v, Synthetic)])
        return
    if isinstance(mechanism, Fixations):
        yield from fixation_faults([v for v in variants if isinstance(v, Fixations)])
        return
    if isinstance(mechanism, Dwell):
        yield from dwell_faults(mechanism)
        return
    if not isinstance(mechanism, MeasuringMechanism):
        return
    if isinstance(mechanism, MeanMechanism):
        yield from _group_faults([v for v in variants if isinstance(v, MeanMechanism)])
        return
    # Some lose less than they claim; what is planted is too little for the claim.
    too_little = 0.85 / getattr(mechanism, "times", 1)
    yield game_fault(f"scale × {too_little:g}", mechanism, {"perturb": less_noise(too_little)})
    unclipped: dict[str, Any] = {"clip": _no_clip}
    if isinstance(mechanism, CosineMechanism):
        yield from _cosine_faults(variants)
        # Values that are not clipped would still be limited as coefficients.
        unclipped["limit"] = _no_limit
    yield game_fault("missing clip", mechanism, unclipped)
    for name, changes in _STALE.items():
        yield _residual_fault(name, mechanism, changes)
    for name, changes in _BARE.items():
        yield _output_fault(name, mechanism, changes)
    yield fuzz_fault(
        "gaps filled with people's mean", mechanism, {"clip": _filled_by_people}, _FEW_PAIRS
    )
    for smaller in variants[: len(mechanism.game_units or mechanism.units)]:
        if smaller.unit != PERSON:
            yield sold_as_person(smaller)
    if isinstance(mechanism, AdditiveMechanism):
        yield _float_noise(mechanism)
    if isinstance(mechanism, Prewindow):
        overlapping = replace(mechanism, window_s=1.0, step_s=0.5)
        yield game_fault("windows counted, not bins", overlapping, {"scale_in_spans": _of_windows})
        yield game_fault("events in all their windows", overlapping, {"query": _windowed_first})
    if isinstance(mechanism, FourierMechanism):
        *_, longest, choosing = variants
        assert isinstance(choosing, FourierMechanism)
        yield game_fault("noise on real parts only", longest, {"perturb": _real_only})
        yield game_fault("missing √n", longest, {"perturb": _without_root_n})
        yield game_fault("choice of k not paid for", choosing, _UNPAID)
        yield game_fault("choice of k without noise", choosing, _ALWAYS_BEST)
        yield fuzz_fault(
            "choice of k on top of ε", choosing, {"candidates": _with_all_of_it}, _FEW_PAIRS
        )
        yield fuzz_fault(
            "choice of k with 4 × its share", choosing, {"costs": _four_times}, _FEW_PAIRS
        )


def _cosine_faults(variants: list[DifferentialMechanism]) -> Iterator[Fault]:
    """Those of `dct` and `envelope`: what limits coefficients, and the noise made for it."""
    first, last = variants[0], variants[-2]
    if isinstance(first, DCT):
        yield game_fault("missing clip of the norm", first, {"limit": _no_limit})
        yield game_fault("recordings clipped each alone", first, {"limit": _limit_recordings})
        yield fuzz_fault("norm that grows by rounding", first, {"query": _rounded})
        yield fuzz_fault(
            "scaled by the longest of all", first, {"limit": _limit_by_longest}, _FEW_PAIRS
        )
        yield game_fault("spherical scale × 0.85", last, {"perturb": _less_spherical})
        yield game_fault("Laplace of the spherical scale", last, {"noise": _not_spherical})
    if isinstance(first, Envelope):
        yield game_fault("missing clip of coefficients", first, {"limit": _no_limit})
        yield game_fault("spectrum of one recording only", first, {"step": _one_recording})
        yield game_fault("coefficients clipped, not values", last, {"clip": _no_clip})


def _group_faults(variants: list[MeanMechanism]) -> Iterator[Fault]:
    """Those of means over people, with faults inside, in the sum and in its number of people."""
    first = variants[0]
    yield game_fault("scale × 0.85", first, {"perturb": less_noise(0.85)})
    yield game_fault("noise of the mean on the sum", first, {"perturb": less_noise(1 / 3)})
    for name, changes in _STALE.items():
        # What is not about the noise has its own form here, below.
        if "perturb" in changes:
            yield _residual_fault(name, first, changes)
    for name, changes in (_BARE | _EXACT).items():
        yield _output_fault(name, first, changes)
    yield _residual_fault("divided by everybody, not by the group", first, {"divided": _by_all})
    if isinstance(first, KSameDP):
        yield from _random_group_faults(first)
        return
    plain = next(v for v in variants if isinstance(v.core, AdditiveMechanism))
    yield game_fault("missing clip", plain, {"core": _inside(plain.core, {"clip": _no_clip})})
    yield fuzz_fault("absent people left out of N", plain, {"total": _of_those_present})
    yield fuzz_fault("gaps filled with the others' mean", plain, {"total": _filled_by_others})
    for smaller in variants:
        if smaller.unit != PERSON:
            yield sold_as_person(smaller)


def _random_group_faults(law: KSameDP) -> Iterator[Fault]:
    """Those of random groups: who is in them, how many are, and what of them goes into a sum."""
    inside: dict[str, dict[str, Any]] = {
        "missing clip": {"clip": _no_clip, "limit": _no_limit},
        "missing clip of the norm": {"limit": _no_limit},
        "each task clipped alone": {"limit": _limit_recordings},
        "sensitivity B, not 2B": {"radius_steps": _whole_ball},
    }
    for name, changes in inside.items():
        yield game_fault(name, law, {"core": _inside(law.core, changes)})
    yield game_fault("each task at the whole ε", law, {"perturbed": _task_by_task})
    yield game_fault("group sizes from the data", law, {"partition": _sizes_of_those_present})
    yield fuzz_fault("gaps filled with the others' mean", law, {"total": _filled_by_others})
    yield _residual_fault("groups of people who are alike", law, {"partition": _alike})
    yield _residual_fault("other groups for each task", law, {"sums": _regrouped})


def _inside(core: MeasuringMechanism, changes: dict[str, Any]) -> property:
    """A mechanism inside with some methods replaced."""
    changed = twin(core, changes)
    return property(lambda _: changed)


def _whole_ball(self: DCT, shape: Shape) -> int:
    return math.floor(self.most_steps(shape))


def _task_by_task(self: KSameDP, table: FeatureTable, noise: Randomness) -> FeatureTable:
    parts = [
        KSameDP.perturbed(self, replace(table, data=rows), noise).data.with_columns(
            pl.lit(str(number)).alias("recording")
        )
        for number, rows in enumerate(table.data.partition_by("task"), start=1)
    ]
    data = pl.concat(parts).sort("person", "recording", "time_ms")
    return replace(table, data=data, people=data.select(pl.col("person").unique()))


def _sizes_of_those_present(self: KSameDP, table: FeatureTable, noise: Randomness) -> Groups:
    groups = KSameDP.partition(self, table, noise)
    somebody = pl.any_horizontal(pl.col(table.names).is_not_nan()).any().alias("there")
    there = table.data.group_by("person", maintain_order=True).agg(somebody)["there"]
    present = np.bincount(groups.member, weights=there).astype(np.int64)
    return replace(groups, people=groups.people.with_columns(pl.Series("people", present)))


def _alike(self: KSameDP, table: FeatureTable, noise: Randomness) -> Groups:
    groups = KSameDP.partition(self, table, noise)
    values = pl.mean_horizontal(pl.col(table.names).fill_nan(None)).mean().alias("value")
    value = table.data.group_by("person", maintain_order=True).agg(values)["value"]
    member = np.empty_like(groups.member)
    member[np.argsort(value.to_numpy())] = np.sort(groups.member)
    return replace(groups, member=member)


def _regrouped(self: KSameDP, table: FeatureTable, groups: Groups, shape: Shape) -> Integers:
    again = replace(groups, member=np.roll(groups.member, 1))
    totals = KSameDP.sums(self, table, groups, shape)
    totals[:, 1:] = KSameDP.sums(self, table, again, shape)[:, 1:]
    return totals


def _by_all(self: MeanMechanism, totals: Integers, sizes: Integers, shape: Shape) -> Values:
    return MeanMechanism.divided(self, totals, np.full_like(sizes, sizes.sum()), shape)


def _of_those_present(self: MeanMechanism, values: Values, shape: Shape) -> Integers:
    there = ~np.isnan(values).all(axis=(-3, -2, -1), keepdims=True)
    total = (self.integers(values, shape) * there).sum(axis=-4)
    share = values.shape[-4] / np.maximum(there.sum(axis=-4), 1)
    return np.asarray(np.rint(total * share), dtype=np.int64)


def _filled_by_others(self: MeanMechanism, values: Values, shape: Shape) -> Integers:
    mean = np.nanmean(np.clip(values, 0.0, 1.0), axis=-4, keepdims=True)
    return MeanMechanism.total(self, np.where(np.isnan(values), mean, values), shape)


def _real_only(
    self: FourierMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    each = draws.reshape(*draws.shape[:-2], self.pieces(shape), -1, draws.shape[-1])
    each[..., self.kept(shape) :, :] = 0
    return integers + draws


def _without_root_n(
    self: FourierMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    law = noise_of(self, shape)
    smaller = type(law)(int(law.scale / self.piece(shape) ** 0.5))
    return integers + smaller.draw(integers.shape, noise)


def _noise_is_free(self: FourierMechanism, shape: Shape) -> Integers:
    return np.zeros(len(self.candidates(shape)), dtype=np.int64)


def _all_twice(self: FourierMechanism) -> tuple[Fraction, Fraction]:
    return exact(self.epsilon), exact(self.epsilon)


def _the_cheapest(
    self: FourierMechanism, costs: Integers, shape: Shape, noise: Randomness
) -> NDArray[np.intp]:
    return np.asarray(costs.argmin(axis=-1))


# What noise costs is public, and no fault if it is left out: then a game sees every choice.
_UNPAID = {"costs_of_noise": _noise_is_free, "shares": _all_twice}
_ALWAYS_BEST = {"costs_of_noise": _noise_is_free, "choose": _the_cheapest}


def _with_all_of_it(self: FourierMechanism, shape: Shape) -> list[FourierMechanism]:
    fair = FourierMechanism.candidates(self, shape)
    return [replace(each, epsilon=self.epsilon) for each in fair]


def _four_times(self: FourierMechanism, values: Values, shape: Shape) -> Integers:
    return np.asarray(4 * FourierMechanism.costs(self, values, shape))


def _filled_by_people(self: MeasuringMechanism, values: Values) -> Values:
    there = ~np.isnan(values)
    total = np.where(there, np.clip(values, 0.0, 1.0), 0.5).sum(axis=0)
    filled: Values = np.clip(np.where(there, values, total / len(values)), 0.0, 1.0)
    return filled


def _no_clip(self: MeasuringMechanism, values: Values) -> Values:
    return np.where(np.isnan(values), 0.5, values)


def _no_limit(self: CosineMechanism, steps: Values, shape: Shape) -> Values:
    return steps


def _limit_by_longest(self: DCT, steps: Values, shape: Shape) -> Values:
    longest = np.linalg.norm(steps.reshape(len(steps), -1), axis=1).max()
    most = self.radius_steps(shape)
    return np.asarray(steps * (most / max(longest, most)))


def _limit_recordings(self: DCT, steps: Values, shape: Shape) -> Values:
    norms = np.linalg.norm(steps, axis=(-2, -1), keepdims=True)
    most = self.radius_steps(shape)
    return np.asarray(steps * np.minimum(1.0, most / np.maximum(norms, 1.0)))


def _rounded(self: DCT, values: Values, shape: Shape) -> Integers:
    steps = self.analyse(self.clip(values), shape) / self.step(shape)
    return np.rint(self.limit(steps, shape)).astype(np.int64)


def _less_spherical(self: DCT, integers: Integers, shape: Shape, noise: Randomness) -> Integers:
    dimension = self.coordinates(shape, self.unit)
    law = SphericalLaplace(int(0.85 * noise_of(self, shape).scale), dimension)
    return integers + law.draw(integers.shape, noise)


def _not_spherical(self: DCT, shape: Shape) -> DiscreteLaplace:
    return DiscreteLaplace(DCT.noise(self, shape).scale)


def _one_recording(self: Envelope, shape: Shape) -> Values:
    return Envelope.step(self, replace(shape, recordings=1))


def _of_windows(self: Prewindow, shape: Shape) -> float:
    windows = max(1, shape.length - self.bins_of_window + 1)
    return Prewindow.scale_in_spans(self, replace(shape, length=windows))


def _windowed_first(self: Prewindow, values: Values, shape: Shape) -> Integers:
    bins = Prewindow.query(self, values, shape)
    total = np.cumsum(bins, axis=-2)
    total[..., self.bins_of_window :, :] -= total[..., : -self.bins_of_window, :].copy()
    return total


def _float_noise(mechanism: AdditiveMechanism) -> Fault:
    """Textbook noise in floating point instead of integers on a grid."""

    def randomise(self: AdditiveMechanism, values: Values, shape: Shape, _: Randomness) -> Values:
        rng = np.random.default_rng()
        pure = isinstance(self.noise(shape), DiscreteLaplace)
        draw: Callable[..., NDArray[np.float64]] = rng.laplace if pure else rng.normal
        return self.clip(values) + draw(0.0, self.scale_in_spans(shape), values.shape)

    def caught(runs: int, noise: Randomness) -> bool:
        broken = twin(mechanism, {"randomise": randomise})
        pair = next(mechanism.neighbour_pairs(mechanism.unit))
        return attack(broken, pair, runs, noise).refuted

    return Fault("float noise", mechanism.name, caught)


def _residual_fault(name: str, mechanism: MeasuringMechanism, changes: dict[str, Any]) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        return examine(twin(mechanism, changes), noise, declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


def _output_fault(name: str, mechanism: MeasuringMechanism, changes: dict[str, Any]) -> Fault:
    def caught(_runs: int, _noise: Randomness) -> bool:
        return compare(twin(mechanism, changes), declared=mechanism).refuted

    return Fault(name, mechanism.name, caught)


def _as_it_came(self: MeasuringMechanism, table: FeatureTable, _: Randomness) -> FeatureTable:
    return self.present(table)


def _exact_means(self: MeanMechanism, table: FeatureTable, noise: Randomness) -> FeatureTable:
    return self.exact(table, self.partition(table, noise))


# What is measured may be private, and something else be shown.
_BARE: dict[str, dict[str, Any]] = {
    "input shown, not what is private": {"apply": _as_it_came},
    "no noise": {"perturb": no_noise},
}
_EXACT: dict[str, dict[str, Any]] = {"exact means shown": {"apply": _exact_means}}


def _same_for_rows(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    one_row = (*integers.shape[:-2], 1, integers.shape[-1])
    return integers + noise_of(self, shape).draw(one_row, noise)


def _same_for_features(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    return integers + noise_of(self, shape).draw((*integers.shape[:-1], 1), noise)


def _shared_by_people(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    half = noise_of(self, shape).draw(((len(integers) + 1) // 2, *integers.shape[1:]), noise)
    both: Integers = np.concatenate([half, half])[: len(integers)]
    return integers + both


def _from_one_seed(
    self: MeasuringMechanism, integers: Integers, shape: Shape, _: Randomness
) -> Integers:
    return integers + noise_of(self, shape).draw(integers.shape, randomness(0))


def _coarse(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    return integers + np.left_shift(np.right_shift(draws, 10), 10)


def _only_first_rows(
    self: MeasuringMechanism, integers: Integers, shape: Shape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    draws[..., -1:, :] = 0
    return integers + draws


def _mask_again(
    self: MeasuringMechanism, values: Values, shape: Shape, noise: Randomness
) -> Values:
    private = MeasuringMechanism.randomise(self, values, shape, noise)
    return np.where(np.isnan(values), np.nan, private)


def _mean_recordings(self: MeasuringMechanism, table: FeatureTable) -> Shape:
    shape = MeasuringMechanism.shape(self, table)
    return replace(shape, recordings=max(1, len(table.recordings) // shape.people))


# Faults that a game about one person and few values cannot see.
_STALE: dict[str, dict[str, Any]] = {
    "noise reused over rows": {"perturb": _same_for_rows},
    "noise reused over features": {"perturb": _same_for_features},
    "noise shared by two people": {"perturb": _shared_by_people},
    "generator seeded anew": {"perturb": _from_one_seed},
    "low bits without noise": {"perturb": _coarse},
    "rows without noise": {"perturb": _only_first_rows},
    "missing values published": {"randomise": _mask_again},
    "mean number of recordings": {"shape": _mean_recordings},
}
