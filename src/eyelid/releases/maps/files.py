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
from eyelid.io.csv_cells import csv_text
from eyelid.releases.certificate import Certificate
from eyelid.releases.maps import pictures
from eyelid.releases.maps.area_pictures import draw_tables
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
    *,
    sentence: str,
) -> None:
    """Everything that leaves the house, into a folder that is made."""
    legend = pictures.guarantee_legend(certificate.person_level, certificate.people)
    if maps:
        np.savez_compressed(folder / "map.npz", **arrays)  # type: ignore[arg-type]
        for name, figure in _drawn(plan, maps, legend, sentence).items():
            pictures.save(figure, folder / name)
    if tables is not None:
        (folder / "areas.csv").write_text(csv_text(tables), encoding="utf-8", newline="")
        pictures.save(_drawn_tables(plan, tables, legend), folder / "areas.png")
    (folder / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
    (folder / "DATACARD.md").write_text(card, encoding="utf-8")


def _drawn(plan: MapPlan, maps: Sequence[GazeMap], legend: str, sentence: str) -> dict[str, Any]:
    """The pictures, by the names of their files."""
    at: dict[str, Any] = {"degree_px": plan.view.degree_px}
    shown = plan.view.pictures
    if len(maps) == 1:
        (one,) = maps
        return {
            "heatmap.png": pictures.draw_heatmap(one, legend, **at),
            "overlay.png": pictures.draw_overlay(one, shown[0], legend, **at),
            "reliable.png": pictures.draw_reliable(one, shown[0], legend, **at, sentence=sentence),
        }
    # Groups and stretches of time have one picture for all of them.
    below = shown * len(maps) if len(shown) == 1 else shown
    title = _title(plan)
    drawn = {
        "heatmap.png": pictures.draw_layers(maps, legend, **at, title=title),
        "overlay.png": pictures.draw_layers(maps, legend, below, **at, title=title),
        "reliable.png": pictures.draw_layers(
            maps, legend, below, **at, title=title, reliable_only=True, sentence=sentence
        ),
    }
    if plan.by:
        first, second = maps
        drawn["difference.png"] = pictures.draw_difference(
            first, second, shown[0], legend, **at, title=title
        )
    return drawn


def _drawn_tables(plan: MapPlan, tables: pl.DataFrame, legend: str) -> Any:
    """Every table, and the areas on each picture."""
    assert plan.tables is not None
    return draw_tables(
        tables,
        legend,
        areas=plan.tables.areas,
        pictures=plan.view.pictures,
        title=_title(plan) or "areas of interest",
    )


def _title(plan: MapPlan) -> str:
    """The only stimulus; several have their names at their maps."""
    named = plan.view.stimuli or ()
    return named[0] if len(named) == 1 else ""
