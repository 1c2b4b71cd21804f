"""Maps of where people looked: is any participant exposed, and what does it still show?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eyelid.attacks.maps import (
    MapAttacks,
    MapUse,
    TableUse,
    attack_map,
    map_use,
    table_use,
)
from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.spread import point_spread
from eyelid.releases.audits.attack import Attack, AuditPlan
from eyelid.releases.audits.map_target import MapTarget
from eyelid.reporting.audits.maps import MapsAudit, map_report

AREAS = "tables of areas"


class MapsAttack(Attack):
    """Maps of where people looked, and tables of areas."""

    def audit(self, target: MapTarget, plan: AuditPlan) -> MapsAudit:
        """Is any participant exposed, and what does it still show?"""
        uses, without = _uses(target)
        return MapsAudit(
            target=target,
            attacks=dict(_attacks(target, plan.seed)),
            uses=uses,
            tables=tuple(_table_uses(target)),
            not_compared=without,
            grouped=bool(target.design.by),
            seed=plan.seed,
        )

    def page(self, audit: MapsAudit) -> str:
        """The report, for the owner of the data."""
        return map_report(audit)


def _attacks(target: MapTarget, seed: int) -> Iterator[tuple[str, MapAttacks]]:
    """On each map's people, and on tables."""
    design, promised = target.design, target.certificate.person_level
    for number, (mechanism, observers) in enumerate(
        zip(target.mechanisms, design.observers, strict=True)
    ):
        counts = target.gaze_points_of[number].counts(observers.facts.grid)
        cells = target.cells(number)
        yield (
            observers.name,
            attack_map(mechanism, counts, observers.facts, cells, promised, seed),
        )
    if design.tables is not None and target.tables is not None:
        counts = design.tables.mechanism.tables_of(target.points, design.tables.areas)
        yield (
            AREAS,
            attack_map(
                design.tables.mechanism,
                counts,
                design.tables.facts,
                target.table_cells,
                promised,
                seed,
            ),
        )


def _uses(target: MapTarget) -> tuple[tuple[MapUse, ...], tuple[str, ...]]:
    """Every released map beside the heatmap of the same people without noise."""
    design, uses, without = target.design, [], []
    layers = design.layers
    for number, observers in enumerate(design.observers):
        for layer, name in enumerate(layers):
            released = target.arrays["map"][number * len(layers) + layer].astype(float)
            raw = gaze_map(target.gaze_points_of[number].of_layer(name)).values
            try:
                truth = point_spread(raw, design.view.sigma_px)
                uses.append(map_use(observers.name or name, truth, released))
            except InputError as error:
                without.append(str(error))
    return tuple(uses), tuple(without)


def _table_uses(target: MapTarget) -> Iterator[TableUse]:
    """Every released table beside that of the same people, and the same visits, without noise."""
    design = target.design.tables
    if design is None or target.tables is None:
        return
    points, mechanism = target.points, design.mechanism
    counts = mechanism.tables_of(points, design.areas)
    summed = np.bincount(counts.cell, weights=counts.count, minlength=counts.cells)
    means = (summed / counts.people).reshape(len(points.layers), -1)
    truth = mechanism.presented(
        means, design.facts, points.layers, [area.name for area in design.areas]
    )
    for limits in mechanism.limits(design.facts):
        noise_free, released = (
            table.filter(table["table"] == limits.table)["value"].to_numpy()
            for table in (truth, target.tables)
        )
        yield table_use(limits.table, noise_free, released, limits.total)
