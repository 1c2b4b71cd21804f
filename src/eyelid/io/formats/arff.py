"""ARFF files of gaze: of GazeCom and sp_tool, and of the 360° recordings of Agtzidis et al.

Time is in µs, x and y in px from the top left; comments ``%@METADATA width_px 1280`` state the
screen. Attributes with a list of values, and those of hand labellers, are labels.

A file with ``x_head`` and ``y_head`` holds places on a 360° picture, ``width_px`` wide for a whole
turn. They become unit vectors with x to the right, y up and z ahead, where ahead is the middle of
the picture: where the head points in the world, and where gaze points in the head.
``angle_deg_head`` is positive to the left; ``head_roll_deg``, clockwise seen from behind, is its
negative.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.geometry import Floats, direction, in_head
from eyelid.gaze.study import Screen
from eyelid.io.columns import number
from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.tables import read_table

NAME = "ARFF"

_METADATA = re.compile(r"%\s*@METADATA\s+(\w+)\s+(\d{1,9}(?:\.\d*)?)\s*", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"@ATTRIBUTE\s+('[^']+'|\"[^\"]+\"|\S+)\s+(.+)", re.IGNORECASE)
_MEASURED = ("time", "x", "y", "confidence")
_HEAD = ("x_head", "y_head", "angle_deg_head")
_VECTORS = ("gaze_x", "gaze_y", "gaze_z", "head_x", "head_y", "head_z", "head_roll_deg")
_SIDES = ("width", "height")
_LABEL = re.compile(r"label|eye_movement", re.IGNORECASE)
_NUMBERS = ("integer", "numeric", "real")
# What the hand labelling tool of GazeCom writes.
_CODES = {
    text: name
    for code, name in (
        (0, "unknown"),
        (1, "fixation"),
        (2, "saccade"),
        (3, "sp"),
        (4, "noise"),
        (10, "pso"),
        (11, "blink"),
    )
    for text in (str(code), f"{code}.0")
}


def recognises(head: Head) -> bool:
    """Whether the first line that is no comment names a relation."""
    lines = (line.strip() for line in head.lines)
    first = next((line for line in lines if line and not line.startswith("%")), "")
    return re.match(r"@RELATION\b", first, re.IGNORECASE) is not None


def read(head: Head, said: Layout) -> Part:
    """The samples with their labels; directions where the file is about a 360° picture."""
    header, data = _parts(head)
    kinds = _attributes(head, header)
    found = {name.lower(): name for name in kinds}
    absent = [role for role in ("time", "x", "y") if role not in found and role not in said.columns]
    if absent:
        raise InputError(
            f"{head.path} has no attribute {absent[0]}: name it with `map='{absent[0]}=ATTRIBUTE'`"
        )
    labels = {
        "label_" + re.sub(r"\W", "_", name.lower()): name
        for name, kind in kinds.items()
        if name.lower() not in (*_MEASURED, *_HEAD)
        and (kind.startswith("{") or _LABEL.search(name))
    }
    stated = {
        match[1].lower(): float(match[2])
        for line in header
        if (match := _METADATA.fullmatch(line.strip()))
    }
    layout = Layout(
        format=NAME,
        columns={role: found[role] for role in _MEASURED if role in found} | labels,
        units="px",
        xy_origin="top-left",
        time_unit="us",
        screen=_screen(stated),
        comment="%",
        separator=",",
        header=True,
        label_values={role: _CODES for role, name in labels.items() if kinds[name] in _NUMBERS},
    )
    if set(_HEAD) & set(found):
        layout = _of_sphere(head, layout, found, stated)
    part = read_table(_as_table(head, list(kinds), data), layout.under(said))
    used = {*_MEASURED, *_HEAD, *labels.values(), *said.columns.values()}
    left_out = [name for name in kinds if name not in used and name.lower() not in used]
    if left_out:
        note = f"attributes that are no gaze and no label were left out: {', '.join(left_out)}"
        part = replace(part, notes=(*part.notes, note))
    return part


def _parts(head: Head) -> tuple[list[str], str]:
    """The lines before the data, and the data as they stand."""
    found = re.search(r"(?mi)^[ \t]*@DATA[ \t]*\r?$\n?", head.text())
    if found is None:
        raise InputError(f"{head.path} has no line @DATA: it may be truncated; get a whole copy")
    header, data = found.string[: found.start()], found.string[found.end() :]
    if re.match(r"(?:\s|%[^\n]*\n)*\{", data):
        raise InputError(
            f"{head.path} is a sparse ARFF file: write it with one value for each attribute "
            "(in Weka, the filter SparseToNonSparse)"
        )
    return header.splitlines(), data


def _attributes(head: Head, header: list[str]) -> dict[str, str]:
    """The kind of each attribute, such as ``integer`` or ``{a,b}``, by its name."""
    found = [match for line in header if (match := _ATTRIBUTE.fullmatch(line.strip()))]
    kinds = {match[1].strip("'\""): match[2].strip().lower() for match in found}
    if len({name.lower() for name in kinds}) < len(found):
        raise InputError(f"{head.path} has two attributes of the same name: rename one")
    return kinds


def _screen(stated: dict[str, float]) -> Screen | None:
    """The screen as far as it is stated; zero means that nobody knows.

    >>> _screen({"width_px": 1280.0, "height_px": 720.0, "distance_mm": 450.0, "width_mm": 0.0})
    Screen(width_px=1280, height_px=720, width_m=None, height_m=None, distance_m=0.45)
    """
    width_px, height_px = (round(stated.get(f"{side}_px", 0)) or None for side in _SIDES)
    metres = (stated.get(f"{name}_mm", 0) / 1000 or None for name in (*_SIDES, "distance"))
    screen = Screen(width_px, height_px, *metres)
    return None if screen == Screen() else screen


def _as_table(head: Head, names: list[str], data: str) -> Head:
    """The data as a table with a header, missing values empty."""
    header = ",".join('"' + name.replace('"', "") + '"' for name in names)
    data = re.sub(r"(?<=,)[ \t]+|(?<![ \t])[ \t]+(?=,)", "", data.replace("'", '"'))
    data = re.sub(r"(?m)(^|,)\?(?=,|[ \t]*\r?$)", r"\1", data)
    return Head(head.path, f"{header}\n{data.lstrip()}".encode(), whole=True)


def _of_sphere(
    head: Head, layout: Layout, found: dict[str, str], stated: dict[str, float]
) -> Layout:
    """The layout of places on a 360° picture, which become directions."""
    absent = [name for name in ("x", "y", *_HEAD) if name not in found]
    if absent:
        raise InputError(f"{head.path} has no attribute {absent[0]}, which directions need")
    size = stated.get("width_px"), stated.get("height_px")
    if not size[0] or not size[1]:
        raise InputError(
            f"{head.path} does not state the size of its 360° picture: add the lines "
            "%@METADATA width_px … and %@METADATA height_px …"
        )
    others = {role: name for role, name in layout.columns.items() if role not in ("x", "y")}
    places = tuple(found[name] for name in ("x", "y", *_HEAD))
    return replace(
        layout,
        columns=others | {name: name for name in _VECTORS},
        units=None,
        xy_origin=None,
        screen=None,
        extra=places,
        made=_VECTORS,
        prepare=partial(_with_vectors, places=places, size=(size[0], size[1])),
    )


def _with_vectors(
    raw: pl.DataFrame, places: tuple[str, ...], size: tuple[float, float]
) -> pl.DataFrame:
    """The table with directions of the head in the world, and of gaze in the head."""
    x, y, x_head, y_head, angle_deg = raw.select(map(number, places)).to_numpy().T

    def turned(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        return direction((x / size[0] - 0.5) * 360, (0.5 - y / size[1]) * 180)

    with np.errstate(over="ignore", invalid="ignore"):
        head = turned(x_head, y_head)
        values = (*in_head(turned(x, y), head, -angle_deg), *head, -angle_deg)
    return raw.with_columns(
        pl.Series(name, np.where(np.isfinite(value), value, np.nan)).fill_nan(None)
        for name, value in zip(_VECTORS, values, strict=True)
    )
