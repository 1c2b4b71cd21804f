"""The files of a released heatmap: noisy cells, public facts, and what follows from both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.gaze.maps.grid import Floats
from eyelid.releases.certificate import Certificate
from eyelid.releases.maps import pictures as pictures
from eyelid.releases.maps.plan import MapPlan

Arrays = dict[str, NDArray[Any]]


def arrays_of(maps: Sequence[GazeMap], cells: Sequence[Floats], plan: MapPlan) -> Arrays:
    """What map.npz has; empty without maps.

    ``map`` sums to 1 in each layer, or is 0 where nothing rose above the noise; ``measured`` and
    its ``standard_error`` are densities a px before that; ``cells`` is what was measured.
    """
    if not maps:
        return {}
    grid = plan.observers[0].shape.grid
    return {
        "map": np.stack([each.values for each in maps]).astype(np.float32),
        "measured": np.stack([_there(each.measured) for each in maps]).astype(np.float32),
        "standard_error": np.stack([_there(each.error) for each in maps]).astype(np.float32),
        "cells": np.concatenate(cells),
        "layers": np.array([each.name for each in maps], dtype=np.str_),
        "grid": np.array([grid.columns, grid.rows]),
        "size": np.array(plan.view.size),
        "sigma_px": np.array(plan.view.sigma_px),
    }


def _there(values: Floats | None) -> Floats:
    assert values is not None, "released maps have errors"
    return values


def write_maps(
    folder: Path,
    plan: MapPlan,
    maps: Sequence[GazeMap],
    arrays: Arrays,
    tables: pl.DataFrame | None,
    certificate: Certificate,
    card: str,
) -> None:
    """Everything that leaves the house, into a folder that is made."""
    legend = pictures.guarantee_legend(certificate.person_level, certificate.people)
    if maps:
        np.savez_compressed(folder / "map.npz", **arrays)  # type: ignore[arg-type]
        for name, figure in _drawn(plan, maps, legend).items():
            pictures.save(figure, folder / name)
    if tables is not None:
        tables.write_csv(folder / "areas.csv")
        pictures.save(_bars(tables, legend), folder / "areas.png")
    (folder / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
    (folder / "DATACARD.md").write_text(card, encoding="utf-8")


def _drawn(plan: MapPlan, maps: Sequence[GazeMap], legend: str) -> dict[str, Any]:
    """The pictures, by the names of their files."""
    degree_px = plan.view.degree_px
    shown = plan.view.pictures
    if len(maps) == 1:
        (one,) = maps
        return {
            "heatmap.png": pictures.draw_heatmap(one, legend, degree_px=degree_px),
            "overlay.png": pictures.draw_overlay(one, shown[0], legend, degree_px=degree_px),
            "reliable.png": pictures.draw_reliable(one, shown[0], legend, degree_px=degree_px),
        }
    # Groups and stretches of time have one picture for all of them.
    below = shown * len(maps) if len(shown) == 1 else shown
    drawn = {
        "heatmap.png": pictures.draw_layers(maps, legend),
        "overlay.png": pictures.draw_layers(maps, legend, below),
        "reliable.png": pictures.draw_layers(maps, legend, below, reliable_only=True),
    }
    if plan.by:
        first, second = maps
        drawn["difference.png"] = pictures.draw_difference(
            first, second, legend, degree_px=degree_px
        )
    return drawn


def _bars(tables: pl.DataFrame, legend: str) -> Any:
    """Dwell as bars, or the first table there is; of the first layer."""
    first = tables.row(0, named=True)
    wanted = "dwell" if "dwell" in tables["table"] else first["table"]
    rows = tables.filter(
        (pl.col("table") == wanted) & (pl.col("layer").eq_missing(pl.lit(first["layer"])))
    )
    names = rows.select(
        pl.concat_str("area", "to_area", separator=" → ", ignore_nulls=True)
        + pl.when(pl.col("rank").is_not_null())
        .then(pl.format(", visited as no. {}", "rank"))
        .otherwise(pl.lit(""))
    ).to_series()
    units = {"dwell": "share of gaze", "order": "share of people"}
    return pictures.draw_areas(
        names.to_list(),
        rows["measured"].to_list(),
        rows["standard_error"].to_list(),
        legend,
        unit=units.get(wanted, f"{wanted} a person"),
        title=f"{wanted} {first['layer'] or ''}".strip(),
    )
