"""A released heatmap and its original, checked to belong together."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.errors import EyelidError, InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_map import presented
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.placement import Placement
from eyelid.gaze.study import Study, check
from eyelid.io.column_map import Map
from eyelid.io.intake import read_scrubbed
from eyelid.io.origin import origin_so_far
from eyelid.mechanisms import mechanism
from eyelid.mechanisms.aoi_tables import AoiTables
from eyelid.mechanisms.maps.map_mechanism import MapMechanism, MapShape
from eyelid.privacy.composition import parallel
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.unit import PERSON
from eyelid.releases.agreement import among_promises, claims_more, told
from eyelid.releases.certificate import Certificate, read_certificate
from eyelid.releases.fingerprint import arrays_digest, looks_digest
from eyelid.releases.maps.files import Arrays
from eyelid.releases.maps.plan import AreaPlan, MapPlan, Observers, groups_of, seen, together
from eyelid.releases.maps.view import View
from eyelid.releases.subject import beyond, counted
from eyelid.version import __version__

_FILES = (
    "map.npz",
    "heatmap.png",
    "overlay.png",
    "reliable.png",
    "difference.png",
    "areas.csv",
    "areas.png",
    "certificate.json",
    "DATACARD.md",
    "audit.json",
    "report.html",
)


@dataclass(frozen=True, eq=False)
class MapSubject:
    """A heatmap, what it was made of, and what is known about that.

    Attributes:
        path: the released folder.
        certificate: what it claims.
        plan: how it was made, by the certificate and the original.
        laws: of each map's people the mechanism, with what it chose.
        arrays: of map.npz; empty without maps.
        tables: of areas; None without them.
        total: what has been spent on these people so far; None if not known.
        disagreements: what of the certificate cannot be true.
        notes: what could not be checked.
        remarks: what whoever read the recordings said, which may name files.
    """

    path: Path
    certificate: Certificate
    plan: MapPlan
    laws: tuple[MapMechanism, ...]
    arrays: Arrays
    tables: pl.DataFrame | None
    total: Guarantee | None = None
    disagreements: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def cells(self, number: int) -> Floats:
        """What was released of the people of one map: layers × rows × columns."""
        layers = len(self.plan.looks.layers)
        return np.asarray(self.arrays["cells"][number * layers : (number + 1) * layers])

    @property
    def table_cells(self) -> Floats:
        """What was released of areas: layers × cells, in the order of the mechanism."""
        assert self.tables is not None
        assert self.plan.tables is not None
        layers, names = self.plan.looks.layers, self.plan.tables.mechanism.names
        order = [
            pl.col(column).fill_null("").replace_strict(list(known), range(len(known)))
            for column, known in (("layer", layers), ("table", names))
        ]
        return self.tables.sort(order, maintain_order=True)["measured"].to_numpy()


def map_subject(
    original: Study | Path | str,
    released: Path | str,
    *,
    map: Map = None,
    ledger: Path | str | None = None,
) -> MapSubject:
    """Read both, and refuse what does not belong together.

    Args:
        original: a study of samples or fixations, or recordings.
        released: the folder of the heatmap.
        map: what you say about the columns of recordings.
        ledger: the file that counted the release, if it is not the original's own.
    """
    folder = Path(released)
    certificate = read_certificate(folder)
    if certificate is None or certificate.map is None:
        raise InputError(
            f"{folder} has no certificate of a heatmap: is it one of 'eyelid heatmap'?"
        )
    arrays, tables = _released(folder, certificate)
    study, origin = original, None
    if not isinstance(study, Study):
        path = Path(study)
        study = read_scrubbed(path, map)
        origin = origin_so_far(study, path, ledger)
    if study.released:
        raise InputError(
            "the first argument is a release: give the original first, then the heatmap"
        )
    study = replace(check(study), origin=origin or study.origin)
    try:
        plan, laws = _made_again(study, certificate, certificate.map)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"{folder / 'certificate.json'} does not say how the map was made ({error}): it is not "
            "as eyelid writes them"
        ) from None
    people = len(plan.people)
    if people != certificate.people:
        raise InputError(
            f"the certificate is for {certificate.people} people and the original has {people}: it "
            "is the certificate of something else"
        )
    _check_shapes(plan, arrays)
    debit, total, unknown = counted(
        certificate, study.origin, plan.people, lambda: looks_digest(plan.looks)
    )
    subject = MapSubject(
        path=folder,
        certificate=certificate,
        plan=plan,
        laws=laws,
        arrays=arrays,
        tables=tables,
        total=total,
        notes=(
            *unknown,
            *beyond(folder, _FILES),
            _not_drawn_again(arrays, tables),
        ),
        remarks=study.notes,
    )
    wrong = [*among_promises(certificate, debit)]
    if certificate.person_level.holds:
        wrong += _with_mechanism(subject)
    return replace(subject, disagreements=tuple(wrong))


def _not_drawn_again(arrays: Arrays, tables: pl.DataFrame | None) -> str:
    checked = ["map.npz"] * bool(arrays) + ["areas.csv"] * (tables is not None)
    what = f"{' and '.join(checked)}, which {'are' if len(checked) > 1 else 'is'} what was checked"
    return f"the pictures were not compared with {what}"


def _released(folder: Path, certificate: Certificate) -> tuple[Arrays, pl.DataFrame | None]:
    """What lies in the folder; refused unless it is what the certificate is of."""
    arrays: Arrays = {}
    text = ""
    try:
        if (folder / "map.npz").is_file():
            # Opened here, or a file that is none would stay open.
            with (folder / "map.npz").open("rb") as file, np.load(file) as found:
                arrays = {name: found[name] for name in found.files}
        if (folder / "areas.csv").is_file():
            text = (folder / "areas.csv").read_text(encoding="utf-8")
    except (OSError, ValueError, EOFError, KeyError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(f"what was released in {folder} cannot be read: {error}") from None
    if certificate.output_sha256 != arrays_digest(arrays, text):
        raise InputError(
            "the released map is not that of the certificate (its hash differs): somebody changed "
            "or swapped it; release again"
        )
    schema = {"layer": pl.String, "area": pl.String, "to_area": pl.String}
    return arrays, pl.read_csv(text.encode(), schema_overrides=schema) if text else None


def _made_again(
    study: Study, certificate: Certificate, facts: dict[str, Any]
) -> tuple[MapPlan, tuple[MapMechanism, ...]]:
    """The plan of the release, by what the certificate says, and the mechanism of each map."""
    stimuli = facts["stimuli"]
    view = View(
        stimuli=None if stimuli is None else tuple(stimuli),
        pictures=(None,) * max(1, len(stimuli or ())),
        width_px=facts["width_px"],
        height_px=facts["height_px"],
        placement=Placement(**facts["placement"]),
        sigma_px=facts["sigma_px"],
        degree_px=None,
    )
    weight, edges = facts["weight"], facts["stretches_ms"]
    by = (facts["groups"] or {}).get("by")
    groups = groups_of(study, by, list(facts["groups"]["people"])) if by else {}
    everybody = [name for members in groups.values() for name in members] or None
    looks = seen(study, view, weight, edges, everybody)
    layers = len(looks.layers)
    law: MapMechanism | None = None
    observers: tuple[Observers, ...] = ()
    laws: tuple[MapMechanism, ...] = ()
    tables = _tables(certificate, facts["areas"], len(looks.people), layers)
    costs = [] if tables is None else [tables.mechanism.cost(tables.shape, PERSON)]
    if facts["grid"] is not None:
        law = _map_law(certificate.mechanism, certificate.parameters)
        grid = Grid(view.width_px, view.height_px, *facts["grid"])
        members = groups or {"": list(looks.people)}
        observers = tuple(
            Observers(
                name,
                seen(study, view, weight, people=names) if groups else looks,
                MapShape.of(len(names), layers, grid),
            )
            for name, names in members.items()
        )
        chosen = facts.get("settled") or [certificate.parameters] * len(observers)
        laws = tuple(_map_law(law.name, parameters) for parameters in chosen)
        each = [law.cost(one.shape, PERSON) for one in observers]
        costs.append(each[0] if len(each) == 1 else parallel(each))
    plan = MapPlan(
        view=view,
        looks=looks,
        mechanism=law,
        observers=observers,
        tables=tables,
        guarantee=together(costs),
        weight=weight,
        stretches_ms=None if edges is None else tuple(edges),
        by=by,
    )
    return plan, laws


def _tables(
    certificate: Certificate, told: dict[str, Any] | None, people: int, layers: int
) -> AreaPlan | None:
    if told is None:
        return None
    law = mechanism(told["mechanism"], **told["parameters"])
    if not isinstance(law, AoiTables):
        raise InputError(f"the certificate says that {law.name} made tables of areas")
    areas = tuple(Area(area["name"], np.asarray(area["polygon"])) for area in told["areas"])
    return AreaPlan(law, areas, law.shape_of(people, layers, len(areas)))


def _map_law(name: str, parameters: dict[str, Any]) -> MapMechanism:
    try:
        law = mechanism(name, **parameters)
    except EyelidError as error:
        raise InputError(f"the mechanism of the certificate cannot be run: {error}") from None
    if not isinstance(law, MapMechanism):
        raise InputError(f"the certificate says that {law.name} made a map, and it makes none")
    return law


def _check_shapes(plan: MapPlan, arrays: Arrays) -> None:
    """Refuse arrays of another form than the certificate tells."""
    if plan.mechanism is None:
        return
    count, grid = len(plan.observers) * len(plan.looks.layers), plan.observers[0].shape.grid
    wanted = {
        "cells": (count, grid.rows, grid.columns),
        "map": (count, plan.view.height_px, plan.view.width_px),
    }
    for name, shape in wanted.items():
        found = arrays[name].shape if name in arrays else None
        if found != shape:
            raise InputError(
                f"'{name}' of map.npz has the shape {found}, and the certificate says {shape}: it "
                "is the certificate of something else"
            )


def _with_mechanism(subject: MapSubject) -> Iterator[str]:
    """What the mechanism of the certificate would have said and shown otherwise."""
    certificate, plan = subject.certificate, subject.plan
    for stated in (certificate.person_level, certificate.guarantee):
        if claims_more(stated, plan.guarantee):
            yield (
                f"the certificate promises a person {stated.numbers()}, and the mechanism that it "
                f"names gives {told(plan.guarantee)}"
            )
    if certificate.version == __version__:
        # Another version may say the same in other words.
        if certificate.noise.get("sampler") != plan.sampler():
            yield "the certificate describes another noise than its mechanism adds"
        if not set(plan.unprotected) <= set(certificate.unprotected):
            yield "the certificate leaves out what its mechanism does not protect"
    for number, (law, observers) in enumerate(zip(subject.laws, plan.observers, strict=True)):
        layers = len(plan.looks.layers)
        for layer, cells in enumerate(subject.cells(number)):
            shown = presented(
                cells, observers.shape.grid, plan.view.sigma_px, law.cell_sd(observers.shape), "", 1
            )
            released = subject.arrays["map"][number * layers + layer]
            # Kept in single precision.
            if not np.allclose(released, shown.values, rtol=1e-3, atol=1e-6 * shown.values.max()):
                yield "a released map is not what its noisy cells give"
                return
