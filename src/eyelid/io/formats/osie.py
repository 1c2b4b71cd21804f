"""OSIE (Xu et al. 2014): fixations of 15 people on 700 images, ``data/eye/fixations.mat``.

One cell an image, with ``img`` and ``subjects``; one cell a person in that, with ``fix_x``,
``fix_y`` in px and ``fix_duration`` in ms. Any MATLAB file of that shape is read; the screen is
known only of OSIE itself, by its people, the names of its images, and gaze that fits on it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study
from eyelid.io.files import (
    Head,
    head_of,
)
from eyelid.io.formats import matlab
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.recordings import (
    joined,
    named,
)

NAME = "OSIE"

_FILE = Path("data", "eye", "fixations.mat")
_FIELDS = ("fix_x", "fix_y", "fix_duration")
_SAME_SHAPE = "fixations by image, in a MATLAB file"
_SCREEN = Screen(800, 600)
_PEOPLE, _IMAGE = 15, re.compile(r"1\d{3}")
# A few fixations are beyond the border of an image.
_MOST_OFF_SCREEN = 0.05
_OWN = Layout(units="px", xy_origin="top-left")
_NO_SCREEN = (
    "this file is like OSIE's and not OSIE's, so its screen is not known: say it with "
    "`map='screen=WIDTHxHEIGHT'`"
)
_NO_TIMES = (
    "the times of saccades are not known: a fixation's time is the sum of the durations before it"
)


def recognises(head: Head) -> bool:
    """Whether this is a MATLAB file of fixations."""
    return "fixations" in matlab.names(head)


def read(head: Head, said: Layout) -> Part:
    """The fixations of everybody on every image."""
    try:
        scanpaths = [
            (f"s{number}", PureWindowsPath(image["img"]).stem, _one(person))
            for image in map(_one, matlab.variable(head, "fixations"))
            for number, person in enumerate(image["subjects"], start=1)
        ]
        arrays = [[person[field].ravel() for field in _FIELDS] for _, _, person in scanpaths]
    except (AttributeError, IndexError, KeyError, TypeError):
        raise InputError(
            f"{head.path} has fixations of another shape than OSIE's: img and subjects with "
            f"{', '.join(_FIELDS)}"
        ) from None
    lengths = np.array([[len(values) for values in each] for each in arrays]).reshape(-1, 3)
    uneven = np.flatnonzero(lengths.min(axis=1) != lengths.max(axis=1))
    if len(uneven):
        person, image, _ = scanpaths[uneven[0]]
        raise InputError(
            f"{head.path}: {person} on {image!r} has {lengths[uneven[0]].tolist()} values of "
            f"{', '.join(_FIELDS)}: they must be equally many"
        )
    if not lengths.sum():
        raise InputError(f"{head.path} has no fixations in it")
    x, y, duration_ms = (np.concatenate(columns) for columns in zip(*arrays, strict=True))
    if not (duration_ms > 0).all() or not np.isfinite(duration_ms).all():
        raise InputError(f"{head.path} has fixations without a duration")
    keys = pl.DataFrame(
        {
            "person": [person for person, _, _ in scanpaths],
            "recording": [image for _, image, _ in scanpaths],
        }
    )[np.repeat(np.arange(len(lengths)), lengths[:, 0])]
    before_ms = pl.col("duration_ms").cum_sum() - pl.col("duration_ms")
    data = keys.with_columns(
        pl.col("recording").alias("stimulus"),
        pl.Series("duration_ms", duration_ms),
        pl.Series("x", x).fill_nan(None),
        pl.Series("y", y).fill_nan(None),
    ).with_columns(before_ms.over("person", "recording").alias("time_ms"))
    is_osie = _is_osie(keys, x, y)
    own = (replace(_OWN, screen=_SCREEN) if is_osie else _OWN).under(said)
    return Part(
        format=NAME if is_osie else _SAME_SHAPE,
        data=data,
        kind="fixations",
        units=own.units,
        xy_origin=own.xy_origin,
        screen=own.screen,
        notes=(_NO_TIMES,) if own.screen is not None else (_NO_TIMES, _NO_SCREEN),
    )


def _is_osie(keys: pl.DataFrame, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether these are fixations of the dataset itself, or of a part of it."""
    if keys["person"].n_unique() != _PEOPLE:
        return False
    if not all(_IMAGE.fullmatch(image) for image in keys["recording"].unique()):
        return False
    off = (x < 0) | (x > 800) | (y < 0) | (y > 600)
    return bool(off.mean() <= _MOST_OFF_SCREEN)


def _one(value: Any) -> Any:
    """The structure itself, whether it stands alone or in a cell."""
    return value[0] if isinstance(value, list) else value


def recognises_folder(path: Path) -> bool:
    """Whether this is the folder of the dataset."""
    return (path / _FILE).is_file() and recognises(head_of(path / _FILE))


def read_folder(path: Path, said: Layout) -> Study:
    """The dataset as one study."""
    file = path / _FILE
    return joined([named(file, read(head_of(file), said), said, alone=True)], said)
