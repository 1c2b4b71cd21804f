"""A released heatmap and its original, checked to belong together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from eyelid.attacks.target import HeatmapTarget
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_points import GazePoints, layers_of
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.placement import Placement
from eyelid.gaze.study import Study, check
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.csv_cells import csv_text, from_spreadsheets
from eyelid.io.files import arrays_in, text_table
from eyelid.io.intake import called, read_scrubbed
from eyelid.io.origin import origin_so_far
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
    people_choice,
)
from eyelid.io.release_folder import arrays_digest
from eyelid.mechanisms import mechanism as find_mechanism
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.releases.accounting import points_digest, read_certificate
from eyelid.releases.audits import earlier_digests
from eyelid.releases.audits.accounts import counted
from eyelid.releases.audits.consistency import among_promises
from eyelid.releases.audits.map_consistency import map_inconsistencies, unknown_files
from eyelid.releases.kinds.maps.measurement import seen
from eyelid.releases.kinds.maps.plan import AreaDesign, MapDesign, Observers
from eyelid.releases.kinds.maps.presentation import Arrays
from eyelid.releases.kinds.maps.settings import groups_of
from eyelid.releases.kinds.maps.view import View
from eyelid.reporting.release import Release
from eyelid.version import build

_TEXT, _NUMBERS = ("table", "layer", "area", "to_area"), ("value", "standard_error", "measured")
# Tables of earlier versions have none.
_INTERVAL: dict[str, type[pl.DataType]] = dict.fromkeys(("lower", "upper"), pl.Float64)
_COLUMNS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(_TEXT, pl.String),
    "rank": pl.Int64,
    **dict.fromkeys(_NUMBERS, pl.Float64),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class MapTarget(HeatmapTarget):
    """A heatmap, what it was made of, and what is known about that.

    Attributes:
        design: how it was made, by the certificate and the original.
        points: everybody's.
        looks_of: the people of each map.
        mechanisms: of each map's people, with what it chose.
        arrays: of map.npz; empty without maps.
        tables: of areas; None without them.
        chosen: how the people of the original were chosen, as a study remembers it.
    """

    design: MapDesign
    points: GazePoints
    gaze_points_of: tuple[GazePoints, ...]
    mechanisms: tuple[MapMechanism, ...]
    arrays: Arrays
    tables: pl.DataFrame | None
    chosen: tuple[str, ...] = ()

    def cells(self, number: int) -> Floats:
        """What was released of the people of one map: layers × rows × columns."""
        layers = len(self.design.layers)
        return np.asarray(self.arrays["cells"][number * layers : (number + 1) * layers])

    @property
    def table_cells(self) -> Floats:
        """What was released of areas: layers × cells, in the order of the mechanism."""
        assert self.tables is not None
        assert self.design.tables is not None
        mechanism, facts = self.design.tables.mechanism, self.design.tables.facts
        # Rows by their places: what names they have is another matter.
        numbers = np.arange(facts.recordings * facts.length, dtype=np.float64)
        names = [area.name for area in self.design.tables.areas]
        layers = self.design.layers
        placed = mechanism.presented(numbers.reshape(facts.recordings, -1), facts, layers, names)
        cells = np.empty(numbers.size)
        cells[placed["measured"].to_numpy().astype(np.intp)] = self.tables["measured"].to_numpy()
        return cells.reshape(facts.recordings, -1)


def map_target(
    original: Study | FeatureTable | Path | str,
    released: Path | str | Release,
    *,
    map: Map = None,
    ledger: Path | str | None = None,
    people: Whom = None,
) -> MapTarget:
    """Read both, and refuse what does not belong together.

    Args:
        original: a study of samples or fixations, or recordings.
        released: the folder of the heatmap, or the release.
        map: what you say about the columns of recordings.
        ledger: the file that counted the release, if it is not the original's own.
        people: whom of the original it is about, as for the heatmap.
    """
    if isinstance(original, FeatureTable):
        raise InputError("a heatmap is made of gaze, and the original is a table of features")
    folder: Path | None
    certificate: Certificate | None
    if isinstance(released, Release):
        folder, certificate = released.path, released.certificate
    else:
        folder = Path(released)
        certificate = read_certificate(folder)
    if certificate is None or certificate.map is None:
        raise InputError(
            f"{folder} has no certificate of a heatmap: is it one of 'eyelid heatmap'?"
        )
    if folder is not None:
        arrays, text = _lying_in(folder)
    else:
        assert isinstance(released, Release)
        arrays = released.heatmaps.arrays
        text = "" if released.areas is None else csv_text(released.areas)
    if certificate.output_sha256 != arrays_digest(arrays, text):
        raise InputError(
            "the released map is not that of the certificate (its hash differs): someone changed "
            "or swapped it; release again"
        )
    named = "the certificate" if folder is None else str(folder / "certificate.json")
    study, origin = original, None
    if not isinstance(study, Study):
        path = Path(study)
        study = read_scrubbed(path, map)
        origin = origin_so_far(study, path, ledger)
    if study.released:
        raise InputError(
            f"{called(original)} is a release, and no original: give what the heatmap was made "
            "of first"
        )
    whom = people_choice(people)
    study = replace(chosen_of(check(study), whom), origin=origin or study.origin)
    with _as_eyelid_writes_them(named):
        design, mechanisms = _made_again(study, certificate, certificate.map)
        points, *of_groups = _seen(study, design)
    count = len(design.people)
    if count != certificate.people:
        raise InputError(
            f"the certificate is for {certificate.people} people and the original has {count}: it "
            "is the certificate of something else"
        )
    _check_arrays(design, arrays)
    tables = _tables_of(text, design)
    account = counted(
        certificate,
        study.origin,
        design.people,
        partial(points_digest, points),
        partial(earlier_digests.points_digest, points),
    )
    target = MapTarget(
        kind=ReleaseKind.TABLES if design.mechanism is None else ReleaseKind.MAPS,
        path=folder,
        certificate=certificate,
        design=design,
        points=points,
        gaze_points_of=tuple(of_groups),
        mechanisms=mechanisms,
        chosen=study.chosen,
        arrays=arrays,
        tables=tables,
        total=account.total,
        notes=(*account.unknown, _not_drawn_again(design), *_of_another_version(certificate)),
    )
    strange = [f"{name} does not belong into {folder}" for name in unknown_files(target)]
    with _as_eyelid_writes_them(named):
        wrong = (
            *among_promises(certificate, account),
            *map_inconsistencies(target, simulated=study.simulated),
        )
    return replace(target, inconsistencies=wrong, remarks=(*study.notes, *strange))


@contextmanager
def _as_eyelid_writes_them(named: str) -> Iterator[None]:
    """Refuse a certificate with text where numbers belong, and the like."""
    try:
        yield
    except EyelidError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(
            f"{named} does not say how the map was made ({error}): it is not as eyelid writes them"
        ) from None


def _not_drawn_again(design: MapDesign) -> str:
    checked = ["map.npz"] * (design.mechanism is not None) + ["areas.csv"] * (
        design.tables is not None
    )
    what = f"{' and '.join(checked)}, which {'are' if len(checked) > 1 else 'is'} what was checked"
    return f"the pictures were not compared with {what}"


def _of_another_version(certificate: Certificate) -> Iterator[str]:
    if certificate.version != build():
        yield "another version of eyelid wrote the certificate: what it says was not compared"


def _lying_in(folder: Path) -> tuple[Arrays, str]:
    """Maps and tables of areas that lie in a folder."""
    arrays: Arrays = {}
    text = ""
    try:
        if (folder / "map.npz").is_file():
            arrays = arrays_in(folder / "map.npz")
        if (folder / "areas.csv").is_file():
            text = (folder / "areas.csv").read_text(encoding="utf-8")
    except (OSError, ValueError, InputError) as error:
        raise InputError(f"what was released in {folder} cannot be read: {error}") from None
    return arrays, text


def _tables_of(text: str, design: MapDesign) -> pl.DataFrame | None:
    """The tables of areas, where the certificate tells of some."""
    if design.tables is None:
        return None
    facts = design.tables.facts
    try:
        found = from_spreadsheets(text_table(text.encode(), schema_overrides=_COLUMNS | _INTERVAL))
        missing = [name for name in _COLUMNS if name not in found.columns]
        wrong = f"it has no column '{missing[0]}'" if missing else None
        numbers = [name for name in ("measured", *_INTERVAL) if name in found.columns]
        if not missing and found.select(pl.any_horizontal(pl.col(numbers).is_null().any())).item():
            wrong = "it has rows without a measured value"
        elif len(found) != facts.recordings * facts.length:
            wrong = f"it has {len(found)} rows, not {facts.recordings * facts.length}"
    except pl.exceptions.PolarsError as error:
        wrong = str(error).splitlines()[0]
    if wrong:
        raise InputError(
            f"areas.csv does not hold the tables that the certificate tells of: {wrong}; release "
            "again"
        )
    return found


def _made_again(
    study: Study, certificate: Certificate, facts: dict[str, Any]
) -> tuple[MapDesign, tuple[MapMechanism, ...]]:
    """The design of the release, by what the certificate says, and the mechanism of each map."""
    stimuli = facts["stimuli"]
    view = View(
        stimuli=None if stimuli is None else tuple(stimuli),
        pictures=(None,) * max(1, len(stimuli or ())),
        width_px=facts["width_px"],
        height_px=facts["height_px"],
        placement=Placement(**facts["placement"]),
        sigma_px=float(facts["sigma_px"]),
        degree_px=None,
    )
    weight, edges = facts["weight"], facts["stretches_ms"]
    by = (facts["groups"] or {}).get("by")
    groups = groups_of(study, by, list(facts["groups"]["people"])) if by else {}
    everybody = tuple(
        [name for members in groups.values() for name in members] or study.people["person"]
    )
    names = layers_of(view.stimuli, edges)
    layers = len(names)
    mechanism: MapMechanism | None = None
    observers: tuple[Observers, ...] = ()
    mechanisms: tuple[MapMechanism, ...] = ()
    tables = _tables(facts["areas"], len(everybody), layers)
    if facts["grid"] is not None:
        mechanism = _map_mechanism(certificate.mechanism, certificate.parameters)
        grid = Grid(view.width_px, view.height_px, *facts["grid"])
        sizes = {name: len(members) for name, members in groups.items()} or {"": len(everybody)}
        observers = tuple(
            Observers(name, MapFacts.of(size, layers, grid)) for name, size in sizes.items()
        )
        chosen = facts["settled"] or [certificate.parameters] * len(observers)
        if len(chosen) != len(observers):
            raise ValueError(f"it tells {len(chosen)} choices for {len(observers)} maps")
        mechanisms = tuple(_map_mechanism(mechanism.name, settings) for settings in chosen)
    design = MapDesign(
        view=view,
        people=everybody,
        layers=names,
        mechanism=mechanism,
        observers=observers,
        tables=tables,
        weight=weight,
        stretches_ms=None if edges is None else tuple(edges),
        by=by,
    )
    return design, mechanisms


def _seen(study: Study, design: MapDesign) -> list[GazePoints]:
    """Everybody's looks, and those of the people of each map."""
    points = seen(study, design.view, design.weight, design.stretches_ms, design.people)
    if not design.by:
        return [points, *[points] * len(design.observers)]
    groups = groups_of(study, design.by, [one.name for one in design.observers])
    return [
        points,
        *(
            seen(study, design.view, design.weight, people=groups[one.name])
            for one in design.observers
        ),
    ]


def _tables(content: dict[str, Any] | None, people: int, layers: int) -> AreaDesign | None:
    """The design of tables of areas, where the certificate tells of some."""
    if content is None:
        return None
    made = find_mechanism(content["mechanism"], **content["parameters"])
    if made.release is not ReleaseKind.TABLES:
        raise InputError(f"the certificate says that {made.name} made tables of areas")
    tables = cast(AoiTables, made)
    areas = tuple(Area(area["name"], np.asarray(area["polygon"])) for area in content["areas"])
    return AreaDesign(tables, areas, tables.facts_of(people, layers, len(areas)))


def _map_mechanism(name: str, parameters: dict[str, Any]) -> MapMechanism:
    try:
        made = find_mechanism(name, **parameters)
    except EyelidError as error:
        raise InputError(f"the mechanism of the certificate cannot be run: {error}") from None
    if made.release is not ReleaseKind.MAPS:
        raise InputError(f"the certificate says that {made.name} made a map, and it makes none")
    return cast(MapMechanism, made)


def _check_arrays(design: MapDesign, arrays: Arrays) -> None:
    """Refuse maps and cells of another form than the certificate tells."""
    if design.mechanism is None:
        return
    count, grid = len(design.observers) * len(design.layers), design.observers[0].facts.grid
    wanted: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {
        "cells": (np.dtype(np.float64), (count, grid.rows, grid.columns)),
        "map": (np.dtype(np.float32), (count, design.view.height_px, design.view.width_px)),
    }
    for name, form in wanted.items():
        values = np.asarray(arrays.get(name))
        found = values.dtype, values.shape
        if found != form:
            raise InputError(
                f"'{name}' of map.npz is {_form(*found)}, and the certificate says {_form(*form)}: "
                "it is the certificate of something else"
            )


def _form(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    return f"{' × '.join(map(str, shape)) or 'nothing'} of {dtype}"
