"""What follows from noisy cells and public facts: the same in a release and in its audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from eyelid.engine.progress import track
from eyelid.gaze.maps.gaze_map import GazeMap, presented
from eyelid.gaze.maps.grid import Floats
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.maps.noisy_sum import LaplaceSum
from eyelid.releases.maps.plan import MapPlan
from eyelid.releases.maps.reliability import (
    Reliability,
    difference_sentence,
    places_sentence,
    reliability,
    tables_sentence,
    worst,
)


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of the people of one map: all that anything after it knows of them.

    Attributes:
        mechanism: with what it chose.
        cells: layers × rows × columns, noisy.
        cell_sd: of the noise in each of them.
    """

    mechanism: MapMechanism
    cells: Floats
    cell_sd: float


def maps_of(plan: MapPlan, measured: Sequence[Measured]) -> list[GazeMap]:
    """Noisy cells as maps: of each group its layers."""
    jobs = [
        (observers, each, layer)
        for observers, each in zip(plan.observers, measured, strict=True)
        for layer in range(len(plan.layers))
    ]
    return [
        presented(
            each.cells[layer],
            observers.shape.grid,
            plan.view.sigma_px,
            each.cell_sd,
            observers.name or plan.layers[layer],
            observers.shape.people,
            laplace=isinstance(each.mechanism, LaplaceSum),
        )
        for observers, each, layer in track(jobs, "spreading out", len(jobs))
    ]


def trusted_of(plan: MapPlan, measured: Sequence[Measured]) -> Reliability | None:
    """What hotspots can be trusted on each of the maps; None without maps."""
    return worst(
        [
            reliability(each.mechanism, observers.shape, plan.view.sigma_px, each.cells)
            for each, observers in zip(measured, plan.observers, strict=True)
        ]
    )


def released_facts(
    plan: MapPlan, measured: Sequence[Measured], trusted: Reliability | None
) -> dict[str, Any]:
    """What a certificate tells beside public facts, of what is released."""
    if trusted is None:
        return {}
    chosen = [each.mechanism.parameters() for each in measured if each.mechanism != plan.mechanism]
    return {
        "cell_sd": [each.cell_sd for each in measured],
        # A private choice is part of what is released.
        "settled": chosen or None,
        "reliability": trusted.to_dict(),
    }


def sentences(
    plan: MapPlan,
    maps: Sequence[GazeMap],
    trusted: Reliability | None,
    tables: pl.DataFrame | None,
) -> tuple[str, ...]:
    """What can be trusted, by the noise that is known and what is released."""
    said = []
    if trusted is not None:
        said.append(trusted.sentence)
        if trusted.noisy:
            said.append(places_sentence(maps))
            if plan.by:
                said.append(difference_sentence(*maps))
    if tables is not None:
        assert plan.tables is not None
        law, shape = plan.tables.mechanism, plan.tables.shape
        said.append(tables_sentence(law, shape, tables, beside_map=bool(maps)))
    return tuple(said)
