"""What follows from noisy cells and public facts, in a release and in its audit; its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.gaze.maps.gaze_map import GazeMap, presented
from eyelid.gaze.maps.grid import Floats
from eyelid.io.csv_cells import csv_text
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.mechanism import Values
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.rank1 import advantage_bound
from eyelid.releases.kinds.maps.plan import MapDesign
from eyelid.reporting.consent import for_participants
from eyelid.reporting.maps import pictures
from eyelid.reporting.maps.area_pictures import draw_tables
from eyelid.reporting.maps.page import guarantee_legend
from eyelid.reporting.maps.reliability import (
    Reliability,
    difference_sentence,
    places_sentence,
    reliability,
    tables_sentence,
    worst,
)
from eyelid.reporting.rendering import rendered


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


@dataclass(frozen=True, eq=False)
class Presented:
    """What was measured, for people.

    Attributes:
        maps: of each group its layers.
        tables: over areas of interest; None without them.
        trusted: what hotspots can be trusted; None without maps.
        arrays: what map.npz has.
        facts: what the certificate tells of them.
        says: what can be trusted, in sentences.
    """

    maps: tuple[GazeMap, ...]
    tables: pl.DataFrame | None
    trusted: Reliability | None
    arrays: Arrays
    facts: dict[str, Any]
    says: tuple[str, ...]


def presented_of(
    design: MapDesign, measured: Sequence[Measured], areas: Values | None
) -> Presented:
    """What follows from noisy cells of maps, and from noisy tables over areas.

    Args:
        design: of the release.
        measured: of the people of each map.
        areas: layers × cells; None without tables.
    """
    maps, trusted, tables = tuple(maps_of(design, measured)), trusted_of(design, measured), None
    if design.tables is not None and areas is not None:
        mechanism, names = design.tables.mechanism, [area.name for area in design.tables.areas]
        tables = mechanism.presented(areas, design.tables.facts, design.layers, names)
    return Presented(
        maps=maps,
        tables=tables,
        trusted=trusted,
        arrays=arrays_of(maps, [each.cells for each in measured], design),
        facts=design.described | released_facts(design, measured, trusted),
        says=sentences(design, maps, trusted, tables),
    )


def maps_of(design: MapDesign, measured: Sequence[Measured]) -> list[GazeMap]:
    """Noisy cells as maps: of each group its layers."""
    jobs = [
        (observers, each, layer)
        for observers, each in zip(design.observers, measured, strict=True)
        for layer in range(len(design.layers))
    ]
    return [
        presented(
            each.cells[layer],
            observers.facts.grid,
            design.view.sigma_px,
            each.cell_sd,
            observers.name or design.layers[layer],
            observers.facts.people,
            laplace=each.mechanism.kind is Kind.PURE,
        )
        for observers, each, layer in track(jobs, "spreading out", len(jobs))
    ]


def trusted_of(design: MapDesign, measured: Sequence[Measured]) -> Reliability | None:
    """What hotspots can be trusted on each of the maps; None without maps."""
    return worst(
        [
            reliability(each.mechanism, observers.facts, design.view.sigma_px, each.cells)
            for each, observers in zip(measured, design.observers, strict=True)
        ]
    )


def released_facts(
    design: MapDesign, measured: Sequence[Measured], trusted: Reliability | None
) -> dict[str, Any]:
    """What a certificate tells beside public facts, of what is released."""
    if trusted is None:
        return {}
    chosen = [
        each.mechanism.parameters() for each in measured if each.mechanism != design.mechanism
    ]
    return {
        "cell_sd": [each.cell_sd for each in measured],
        # A private choice is part of what is released.
        "settled": chosen or None,
        "reliability": trusted.to_dict(),
    }


def sentences(
    design: MapDesign,
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
            if design.by:
                said.append(difference_sentence(*maps))
    if tables is not None:
        assert design.tables is not None
        mechanism, facts = design.tables.mechanism, design.tables.facts
        said.append(tables_sentence(mechanism, facts, tables, beside_map=bool(maps)))
    return tuple(said)


Arrays = dict[str, NDArray[Any]]


def arrays_of(maps: Sequence[GazeMap], cells: Sequence[Floats], design: MapDesign) -> Arrays:
    """What map.npz has; empty without maps.

    ``map`` sums to 1 in each layer, or is 0 where nothing rose above the noise; ``measured`` and
    its ``standard_error`` are densities a px before that; ``cells`` is what was measured.
    """
    if not maps:
        return {}
    grid = design.observers[0].facts.grid
    return {
        "map": np.stack([each.values for each in maps]).astype(np.float32),
        "measured": np.stack([_there(each.measured) for each in maps]).astype(np.float32),
        "standard_error": np.stack([_there(each.error) for each in maps]).astype(np.float32),
        "cells": np.concatenate(cells),
        "layers": np.array([each.name for each in maps], dtype=np.str_),
        "grid": np.array([grid.columns, grid.rows]),
        "size": np.array(design.view.size),
        "sigma_px": np.array(design.view.sigma_px),
    }


def _there(values: Floats | None) -> Floats:
    assert values is not None, "released maps have errors"
    return values


def write_maps(folder: Path, design: MapDesign, found: Presented, certificate: Certificate) -> None:
    """Maps and tables with their pictures, into a folder that is made.

    Args:
        folder: that leaves the house.
        design: of the release.
        found: what is released.
        certificate: of it, for the legend of pictures.
    """
    legend = guarantee_legend(certificate.person_level, certificate.people)
    if found.maps:
        np.savez_compressed(folder / "map.npz", **found.arrays)  # type: ignore[arg-type]
        sentence = "" if found.trusted is None else found.trusted.sentence
        for name, figure in _drawn(design, found.maps, legend, sentence).items():
            pictures.save(figure, folder / name)
    if found.tables is not None:
        text = csv_text(found.tables)
        (folder / "areas.csv").write_text(text, encoding="utf-8", newline="")
        pictures.save(_drawn_tables(design, found.tables, legend), folder / "areas.png")


def _drawn(
    design: MapDesign, maps: Sequence[GazeMap], legend: str, sentence: str
) -> dict[str, Any]:
    """The pictures, by the names of their files."""
    at: dict[str, Any] = {"degree_px": design.view.degree_px}
    shown = design.view.pictures
    if len(maps) == 1:
        (one,) = maps
        return {
            "heatmap.png": pictures.draw_heatmap(one, legend, **at),
            "overlay.png": pictures.draw_overlay(one, shown[0], legend, **at),
            "reliable.png": pictures.draw_reliable(one, shown[0], legend, **at, sentence=sentence),
        }
    # Groups and stretches of time have one picture for all of them.
    below = shown * len(maps) if len(shown) == 1 else shown
    title = _title(design)
    drawn = {
        "heatmap.png": pictures.draw_layers(maps, legend, **at, title=title),
        "overlay.png": pictures.draw_layers(maps, legend, below, **at, title=title),
        "reliable.png": pictures.draw_layers(
            maps, legend, below, **at, title=title, reliable_only=True, sentence=sentence
        ),
    }
    if design.by:
        first, second = maps
        drawn["difference.png"] = pictures.draw_difference(
            first, second, shown[0], legend, **at, title=title
        )
    return drawn


def _drawn_tables(design: MapDesign, tables: pl.DataFrame, legend: str) -> Any:
    """Every table, and the areas on each picture."""
    assert design.tables is not None
    return draw_tables(
        tables,
        legend,
        areas=design.tables.areas,
        pictures=design.view.pictures,
        title=_title(design) or "areas of interest",
    )


def _title(design: MapDesign) -> str:
    """The only stimulus; several have their names at their maps."""
    named = design.view.stimuli or ()
    return named[0] if len(named) == 1 else ""


def map_card(
    design: MapDesign, certificate: Certificate, says: Sequence[str], *, simulated: bool
) -> str:
    """The text of DATACARD.md: of the data it tells what was released, and nothing else."""
    used = [each for each in (design.mechanism, design.tables and design.tables.mechanism) if each]
    return rendered(
        "mapcard.md.j2",
        design=design,
        view=design.view,
        grid=design.observers[0].facts.grid if design.observers else None,
        certificate=certificate,
        legend=guarantee_legend(certificate.person_level, certificate.people),
        says=says,
        for_participants=for_participants(certificate),
        simulated=simulated,
        advantage=advantage_bound(certificate.person_level),
        advantage_in_all=advantage_bound(certificate.total),
        mechanisms=used,
        notes=[each.note.summary for each in used],
        papers=list(dict.fromkeys(each.paper for each in used)),
    )
