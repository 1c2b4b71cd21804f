"""Planted faults of maps over people: broken twins that ``verify`` must catch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eyelid.gaze.maps.counts import PersonCounts
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapShape
from eyelid.mechanisms.maps.noisy_map import NoisyMap
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.noisy import Integers
from eyelid.privacy.noise import Randomness
from eyelid.verification.fault import Fault, fuzz_fault, game_fault
from eyelid.verification.sum_faults import output_fault, residual_fault, sound, sum_faults

_FEW_PAIRS = 1_024


def map_faults(variants: list[NoisyMap]) -> Iterator[Fault]:
    """What can go wrong with a map: its limits, its noise, its number of people, its choices."""
    first = variants[0]
    yield from sum_faults(first)
    yield game_fault("missing limit", first, {"limited": _as_counted})
    # In L1 it makes a difference only where every cell is full.
    yield fuzz_fault("negative counts kept", variants[1], {"query": _with_negatives}, _FEW_PAIRS)
    yield game_fault("one person's part, not two", first, {"reach": _of_one})
    yield game_fault("each picture limited alone", first, {"limited": _each_layer})
    yield fuzz_fault("scaled by the fullest of all", first, {"limited": _by_fullest}, _FEW_PAIRS)
    for variant in variants:
        if isinstance(variant, CappedMap) and variant.chooses:
            yield fuzz_fault(
                "choice of the cap on top of ε", variant, {"candidates": _on_top}, _FEW_PAIRS
            )
            yield residual_fault("chosen with all of ε again", variant, {"settled": _with_all})
            yield output_fault("no noise after the choice", variant, {"measure": _exact_choice})
            yield fuzz_fault(
                "choice of the cap at 4 × its share", variant, {"costs": _keen}, _FEW_PAIRS
            )


def _as_counted(self: NoisyMap, counts: PersonCounts, shape: MapShape) -> Values:
    return np.minimum(counts.count, 1e6)


def _with_negatives(self: NoisyMap, values: Values, shape: Shape) -> Integers:
    sign = np.where(np.nan_to_num(values) < 0, -1, 1)
    whole: Integers = sound(self).query(np.abs(values), shape)
    return whole * sign


def _each_layer(self: NoisyMap, counts: PersonCounts, shape: MapShape) -> Values:
    layer = counts.cell // shape.length
    person = counts.person * shape.recordings + layer
    order = np.argsort(person, kind="stable")
    apart = PersonCounts(
        counts.people * shape.recordings,
        counts.cells,
        person[order],
        counts.cell[order],
        counts.count[order],
    )
    limited = np.empty(counts.count.size)
    limited[order] = sound(self).limited(apart, shape)
    return limited


def _of_one(self: NoisyMap, shape: MapShape) -> float:
    return float(sound(self).reach(shape)) / math.sqrt(2)


def _on_top(self: CappedMap) -> tuple[CappedMap, ...]:
    found = sound(self).candidates()
    return tuple(replace(each, epsilon=self.epsilon) for each in found)


def _keen(self: CappedMap, values: Values, shape: Shape) -> Integers:
    costs: Integers = sound(self).costs(values, shape)
    return 4 * costs


def _by_fullest(self: NoisyMap, counts: PersonCounts, shape: MapShape) -> Values:
    limited: Values = sound(self).limited(counts, shape)
    fullest = counts.per_person(limited)
    share = float(fullest[fullest > 0].min(initial=1.0)) / max(1e-9, float(fullest.max()))
    return limited * share


def _with_all(
    self: CappedMap, counts: PersonCounts, shape: MapShape, noise: Randomness
) -> CappedMap:
    chosen: CappedMap = sound(self).settled(counts, shape, noise)
    return replace(chosen, epsilon=5 * self.epsilon)


def _exact_choice(
    self: CappedMap, counts: PersonCounts, shape: MapShape, noise: Randomness
) -> Values:
    law = self.settled(counts, shape, noise)
    return law.divided(law.total(counts, shape), shape)
