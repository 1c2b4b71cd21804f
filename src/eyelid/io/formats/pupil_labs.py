"""Pupil Labs: ``gaze.csv`` of Neon and Invisible, and ``gaze_positions.csv`` of Pupil Player."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.gaze.geometry import direction
from eyelid.io.columns import (
    number,
    with_numbered_events,
    without,
)
from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.raw_tables import header_of
from eyelid.io.tables import read_table

NAME = "Pupil Labs"

_CLOUD = {"time": "timestamp [ns]", "x": "gaze x [px]", "y": "gaze y [px]"}
_PLAYER = {"x": "norm_pos_x", "y": "norm_pos_y", "confidence": "confidence"}
_CLOCKS = ("gaze_timestamp", "timestamp")
_ANGLES = ("azimuth [deg]", "elevation [deg]")
_VECTOR = ("gaze_x", "gaze_y", "gaze_z")
# Columns that come along as labels, and are taken out again when they have become events.
_MARKS = {"fixation": "fixation id", "blink": "blink id"}
_EYES = {"right": "0", "left": "1"}


def recognises(head: Head) -> bool:
    """Whether the header is one of Pupil Cloud's, or of Pupil Player's."""
    names = set(header_of(head))
    return set(_CLOUD.values()) <= names or _is_of_player(names)


def _is_of_player(names: set[str]) -> bool:
    # Positions of the pupil in the eye camera, another file, have their own name for time.
    frames = {"gaze_timestamp", "world_index"} <= names or {"timestamp", "base_data"} <= names
    return set(_PLAYER.values()) <= names and frames


def read(head: Head, said: Layout) -> Part:
    """Gaze in the image of the scene camera, and its directions where the file has them."""
    names = header_of(head)
    return _player(head, said, names) if _is_of_player(set(names)) else _cloud(head, said, names)


def _cloud(head: Head, said: Layout, names: list[str]) -> Part:
    """Gaze in px of the scene camera; not worn means lost."""
    angles = _ANGLES if set(_ANGLES) <= set(names) else ()
    marks = {f"label__{name}": column for name, column in _MARKS.items() if column in names}
    columns = _CLOUD | marks
    if "recording id" in names:
        columns["recording"] = "recording id"
    worn = ("worn",) if "worn" in names else ()
    vector = _VECTOR if angles else ()

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        if angles:
            raw = _with_directions(raw)
        if worn:
            own = (_CLOUD["x"], _CLOUD["y"], *vector)
            raw = without(raw, own, number("worn") == 0)
        return raw

    layout = Layout(
        format=NAME,
        columns=columns | {name: name for name in vector},
        units="px",
        xy_origin="top-left",
        time_unit="ns",
        extra=(*angles, *worn),
        made=vector,
        prepare=prepared,
    )
    return with_numbered_events(read_table(head, layout.under(said)), marks)


def _with_directions(raw: pl.DataFrame) -> pl.DataFrame:
    """The table with unit vectors of its angles, to the right and up."""
    azimuth_deg, elevation_deg = (raw.select(number(name)).to_series() for name in _ANGLES)
    with np.errstate(invalid="ignore"):
        vectors = direction(azimuth_deg.to_numpy(), elevation_deg.to_numpy())
    return raw.with_columns(
        pl.Series(name, values).fill_nan(None)
        for name, values in zip(_VECTOR, vectors, strict=True)
    )


def _player(head: Head, said: Layout, names: list[str]) -> Part:
    """Gaze as shares of the scene camera's image, and the directions of the eyes in it.

    The camera's y axis points down. Of one eye alone the file does not say which it is, so that
    its direction stands beside the gaze.
    """
    normals = {
        eye: [f"gaze_normal{camera}_{axis}" for axis in "xyz"] for eye, camera in _EYES.items()
    }
    normals = {eye: columns for eye, columns in normals.items() if set(columns) <= set(names)}
    made = {
        f"{name}{suffix}": f"direction {name}{suffix}"
        for suffix in ("", "_left", "_right")
        for name in _VECTOR
        if normals
    }

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        found = {
            f"_{eye}": (number(x), -number(y), number(z)) for eye, (x, y, z) in normals.items()
        }
        seen = [suffix for suffix, (x, _, _) in found.items() if raw.select(x.count()).item()]
        if len(seen) == 1:
            found = {"": found[seen[0]]}
        vectors = {
            f"{name}{suffix}": part
            for suffix, vector in found.items()
            for name, part in zip(_VECTOR, vector, strict=True)
        }
        nothing = pl.lit(None, pl.Float64)
        return raw.with_columns(
            vectors.get(role, nothing).alias(column) for role, column in made.items()
        )

    layout = Layout(
        format=NAME,
        columns=_PLAYER | made | {"time": next(name for name in _CLOCKS if name in names)},
        units="fraction",
        xy_origin="bottom-left",
        time_unit="s",
        extra=tuple(column for columns in normals.values() for column in columns),
        made=tuple(made.values()),
        prepare=prepared,
    )
    part = read_table(head, layout.under(said))
    return replace(part, data=_of_seen_eyes(part.data))


def _of_seen_eyes(data: pl.DataFrame) -> pl.DataFrame:
    """The rows of eyes that have a direction anywhere, and those of the gaze."""
    if not {"eye", *_VECTOR} <= set(data.columns):
        return data
    seen = pl.col("gaze_x").is_not_null().any()
    data = data.filter((pl.col("eye") == "cyclopean") | seen.over("eye"))
    alone = ["eye"] if data["eye"].n_unique() == 1 else []
    unseen = _VECTOR if data["gaze_x"].null_count() == len(data) else ()
    return data.drop(*alone, *unseen)
