"""Planted faults of tables of areas of interest: broken twins that ``verify`` must catch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eyelid.gaze.maps.counts import PersonCounts
from eyelid.mechanisms.maps.aoi_tables import AoiTables, AreaShape, Limits
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.noisy import Integers, noise_of
from eyelid.privacy.noise import Randomness
from eyelid.verification.fault import Fault, fuzz_fault, game_fault
from eyelid.verification.sum_faults import sum_faults

_FEW_PAIRS = 1_024


def aoi_faults(variants: list[AoiTables]) -> Iterator[Fault]:
    """What can go wrong with tables: their limits, their noise, their shares of ε.

    Args:
        variants: as set for games: visits alone first, all tables last.
    """
    visits, *_, everything = variants
    yield from sum_faults(visits)
    yield game_fault("visits without a limit", visits, {"limited": _as_counted})
    yield game_fault("each table given the whole of ε", everything, {"reach": _one_table})
    yield game_fault("counted as somebody more or less", visits, {"limits_of": _add_remove})
    yield game_fault("noise on dwell only", everything, {"perturb": _dwell_only})
    yield fuzz_fault(
        "a limit for cells, none for tables", everything, {"limited": _cells_only}, _FEW_PAIRS
    )
    yield fuzz_fault("each layer limited alone", everything, {"limited": _each_layer}, _FEW_PAIRS)
    yield fuzz_fault("scaled by the fullest of all", visits, {"limited": _by_fullest}, _FEW_PAIRS)
    yield fuzz_fault("negative counts kept", visits, {"query": _with_negatives})


def _reach(self: AoiTables, counts: PersonCounts, shape: AreaShape) -> Values:
    """Of each entry the reach of its table."""
    limits = self.limits(shape)
    reach = np.repeat([float(each.reach) for each in limits], [each.cells for each in limits])
    return np.asarray(reach[counts.cell % shape.length])


def _as_counted(self: AoiTables, counts: PersonCounts, shape: AreaShape) -> Values:
    return np.minimum(counts.count, 1e6) / _reach(self, counts, shape)


def _cells_only(self: AoiTables, counts: PersonCounts, shape: AreaShape) -> Values:
    limits = self.limits(shape)
    most = np.repeat([float(each.most) for each in limits], [each.cells for each in limits])
    capped = np.minimum(counts.count, most[counts.cell % shape.length])
    return np.asarray(capped / _reach(self, counts, shape))


def _each_layer(self: AoiTables, counts: PersonCounts, shape: AreaShape) -> Values:
    """Those of a person in another layer are taken for somebody else's."""
    layers = shape.recordings
    apart = replace(
        counts,
        people=counts.people * layers,
        person=counts.person * layers + counts.cell // shape.length,
    )
    return AoiTables.limited(self, apart, shape)


def _by_fullest(self: AoiTables, counts: PersonCounts, shape: AreaShape) -> Values:
    most = float(self.visits)
    capped = np.minimum(counts.count, most)
    fullest = counts.per_person(capped).max(initial=most)
    return np.asarray(capped * (most / fullest) / _reach(self, counts, shape))


def _one_table(self: AoiTables, shape: AreaShape) -> float:
    return 1.0


def _add_remove(self: AoiTables, layers: int, areas: int) -> list[Limits]:
    return [replace(each, reach=each.total) for each in AoiTables.limits_of(self, layers, areas)]


def _dwell_only(
    self: AoiTables, integers: Integers, shape: AreaShape, noise: Randomness
) -> Integers:
    draws = noise_of(self, shape).draw(integers.shape, noise)
    draws[..., np.arange(integers.shape[-1]) % shape.length > shape.areas] = 0
    return integers + draws


def _with_negatives(self: AoiTables, values: Values, shape: Shape) -> Integers:
    sign = np.where(np.nan_to_num(values) < 0, -1, 1)
    return np.asarray(AoiTables.query(self, np.abs(values), shape) * sign)
