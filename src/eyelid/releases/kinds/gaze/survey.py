"""Everybody's parameters and looks, piece by piece: all that is ever taken of people's gaze."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.gaze.events import lost_in
from eyelid.gaze.generator.field import Field
from eyelid.gaze.generator.measurement import measured
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.study import Recording, Study
from eyelid.io.pieces import Piece, StudyInPieces, each_piece
from eyelid.io.release_folder import digest_of_people
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.people import Floats, PeopleGaze, looks_of


@dataclass(frozen=True, eq=False)
class Survey:
    """What everybody's gaze comes to. Private.

    Attributes:
        gaze: everybody's parameters and looks.
        digest: a hash of all of them, by person.
        unseen: how many people have no value of any parameter.
        alone: stimuli that one person alone has recordings of.
    """

    gaze: PeopleGaze
    digest: bytes
    unseen: int
    alone: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Asked:
    head: Study
    facts: GazeDesignFacts
    grid: Grid | None


def surveyed(
    cut: StudyInPieces, facts: GazeDesignFacts, grid: Grid | None, advance: Advance
) -> Survey:
    """Look at everybody, piece by piece: memory follows the largest piece.

    Args:
        cut: the study.
        facts: what of it is public.
        grid: of each map; None where there are none.
        advance: of the bar of the whole run, by recordings.
    """
    names = cut.head.people["person"].to_list()
    place = {person: row for row, person in enumerate(names)}
    cells = 1 if grid is None else grid.cells
    values = np.full((len(names), len(facts.tasks), len(facts.measurable)), np.nan)
    looks = np.zeros((len(names), len(facts.slots), cells))
    with shared(_Asked(cut.head, facts, grid)) as handle:
        for people, own, seen in each_piece(partial(_of_piece, handle), cut, advance, "measuring"):
            rows = [place[person] for person in people]
            values[rows], looks[rows] = own, seen
    gaze = PeopleGaze(values, looks)
    # Lost signal has a share, and no blinks, of whatever else there is nothing.
    fixating = values[..., facts.measurable.index("fixation_ms")]
    unseen = int(np.isnan(fixating).all(axis=1).sum())
    often = cut.shown.filter(pl.col("stimulus") != "").group_by("stimulus").len()
    alone = tuple(sorted(often.filter(pl.col("len") == 1)["stimulus"].to_list()))
    return Survey(gaze, gaze_digest(names, facts, gaze), unseen, alone)


def _of_piece(handle: Shared[_Asked], piece: Piece) -> tuple[tuple[str, ...], Floats, Floats]:
    asked = handle.get()
    study = piece.read(asked.head)
    values = values_of(measured(study), piece.people, asked.facts)
    cells = 1 if asked.grid is None else asked.grid.cells
    looks = np.zeros((len(piece.people), len(asked.facts.slots), cells))
    if asked.grid is not None:
        _add_looks(looks, study, piece.people, asked.facts, asked.grid)
    return piece.people, values, looks


def values_of(rows: pl.DataFrame, people: tuple[str, ...], facts: GazeDesignFacts) -> Floats:
    """People × tasks × parameters: averages over the recordings of a task, on each scale.

    Args:
        rows: of `eyelid.gaze.generator.measured`.
        people: their names, in order.
        facts: what is public.
    """
    shape = (len(people), len(facts.tasks))
    found = np.full((*shape, len(facts.measurable)), np.nan)
    place = {person: row for row, person in enumerate(people)}
    task = {name: number for number, name in enumerate(facts.tasks)}
    who = np.array([place[person] for person in rows["person"]], dtype=np.intp)
    which = np.array([task[name] for name in rows["task"].fill_null("")], dtype=np.intp)
    where = who * len(facts.tasks) + which
    for number, one in enumerate(facts.parameters):
        values = rows[one.name].to_numpy().astype(np.float64)
        known = np.isfinite(values)
        count = np.bincount(where[known], minlength=found[..., 0].size)
        total = np.bincount(where[known], one.scaled(values[known]), minlength=count.size)
        means = np.divide(total, count, out=np.full(count.size, np.nan), where=count > 0)
        natural = one.natural(np.nan_to_num(means))
        found[..., number] = np.where(count > 0, natural, np.nan).reshape(shape)
    return found


def _add_looks(
    looks: Floats, study: Study, people: tuple[str, ...], facts: GazeDesignFacts, grid: Grid
) -> None:
    place = {person: row for row, person in enumerate(people)}
    slot = {each: number for number, each in enumerate(facts.slots)}
    field = Field(study.units or "deg", study.screen, study.xy_origin)
    for recording in study.recordings():
        across, down = on_screen(recording, field, study)
        number = slot[recording.task, recording.stimulus]
        looks[place[recording.person], number] += looks_of(grid, across, down)


def on_screen(recording: Recording, field: Field, study: Study) -> tuple[Floats, Floats]:
    """Where a person looked, as shares of the screen from its top left; NaN where it was lost.

    Args:
        recording: of the study.
        field: its screen.
        study: everything about it but its rows.
    """
    lost = lost_in(recording)
    x, y = (np.where(lost, np.nan, recording[axis]) for axis in "xy")
    centred, top = study.xy_origin == "centre", study.xy_origin == "top-left"
    if study.units == "deg":
        wide, high = (0.0, 0.0) if centred else field.half_deg
        return field.shares(x - wide, (y - high) * (-1.0 if top else 1.0))
    if study.units == "px":
        screen = study.screen
        assert screen is not None, "places need a screen"
        x, y = x / (screen.width_px or 1), y / (screen.height_px or 1)
    if centred:
        return x + 0.5, 0.5 - y
    return x, y if top else 1.0 - y


def gaze_digest(names: list[str], facts: GazeDesignFacts, gaze: PeopleGaze) -> bytes:
    """SHA-256 of everybody's numbers, and of what they are.

    Args:
        names: of the people.
        facts: what is public.
        gaze: everybody's numbers.
    """
    # There is more than one NaN.
    plain = np.where(np.isnan(gaze.values), np.nan, gaze.values + 0.0)
    own = [
        hashlib.sha256(values.tobytes() + looks.tobytes()).digest()
        for values, looks in zip(plain, gaze.looks, strict=True)
    ]
    found = hashlib.sha256(json.dumps([facts.slots, facts.measurable]).encode())
    found.update(digest_of_people(names, own))
    return found.digest()
