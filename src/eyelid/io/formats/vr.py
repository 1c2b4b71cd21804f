"""Presets for VR datasets: ``--map et-dk2``, ``--map vr-eyetracking``, ``--map ehtask``.

None was run on the original data, which are not at hand. What is confirmed, and by what:

* **ET-DK2** (John et al. 2018; David-John et al. 2021): the readme on Zenodo (record 4642612)
  lists the columns of ``S####.csv`` and says what the ids and the longitudes are. A public logger
  that writes the same columns takes ``UNITY_TIMESTAMP`` from Unity's clock (s), points in the
  world (``GIW``: where gaze meets the image, ``HIW``: where the head's ray does) and the head's
  Euler angles (degrees) from Unity, whose axes are x right, y up, z ahead, pitch down. An image is
  a recording; ``label_gray`` says whether the gray screen before it was shown.
* **VR-EyeTracking** (Xu et al. 2018): the readme, as copied with the data, and several public
  readers: ``p001/001.txt``, lines ``frame,1,forward,x,y,eye,x,y``, where x and y are fractions of
  the panorama from its lower left. The rate is the video's and stands in no file: add
  ``--map rate_hz=30``. The head's roll is not recorded and is taken as none.
* **EHTask** (Hu et al. 2021): two public converters: ``User_01_Video_01_Task_1.txt``, numbers
  between spaces: time in ms, frame, head x and y, eye x and y, gaze x and y. Head and gaze are
  longitude and latitude in degrees; the eye's place is a fraction of a display of 1080 × 1200 px
  that is 110° high, from its lower left, as in the authors' own recorder. 100 Hz.

Left out: **VR-Saliency** (Sitzmann et al. 2018), of which only Python pickles are documented, which
can run code when they are opened, and not the columns of its raw csv; **OpenNEEDS** (Emery et al.
2021), of which no description of the files was found.

Each gives ``gaze_x/y/z``, the gaze in the head, and ``head_x/y/z``, where the head points.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from eyelid.gaze.geometry import Floats, direction, in_head
from eyelid.io.layout import Layout

_VECTORS = tuple(f"{what}_{axis}" for what in ("gaze", "head") for axis in "xyz")
_ROLL = "head_roll_deg"
_DISPLAY_PX, _DISPLAY_HEIGHT_DEG = (1080.0, 1200.0), 110.0

Vector = tuple[Floats, Floats, Floats]


def _array(table: pl.DataFrame, column: str) -> Floats:
    values = table[column].fill_null(np.nan).to_numpy()
    # What is out of this world is no measurement.
    return np.where(np.abs(values) < 1e9, values, np.nan)


def _unit(x: Floats, y: Floats, z: Floats) -> Vector:
    length = np.sqrt(x * x + y * y + z * z)
    # A vector without a length has no direction.
    x, y, z = (np.divide(v, length, np.full_like(v, np.nan), where=length > 0) for v in (x, y, z))
    return x, y, z


def _with(table: pl.DataFrame, gaze: Vector, head: Vector) -> pl.DataFrame:
    """The table with unit vectors, null where there are none."""
    vectors = zip(_VECTORS, (*gaze, *head), strict=True)
    return table.with_columns(pl.Series(name, values).fill_nan(None) for name, values in vectors)


def _from_world_points(table: pl.DataFrame) -> pl.DataFrame:
    """ET-DK2: from points and angles in Unity's world."""
    place = [
        _array(table, f"GIW_{axis}") - _array(table, f"HEAD_POS_{axis}") for axis in ("X", "Y", "Z")
    ]
    # Unity turns the head down and to the left by positive angles about x and z.
    pitch, yaw, roll = (_array(table, f"HEAD_EUL_{axis}") for axis in ("X", "Y", "Z"))
    head = direction(yaw, -pitch)
    roll_deg = (-roll + 180.0) % 360.0 - 180.0
    gaze = in_head(_unit(*place), head, roll_deg)
    return _with(table, gaze, head).with_columns(pl.Series(_ROLL, roll_deg).fill_nan(None))


def _from_panorama(table: pl.DataFrame) -> pl.DataFrame:
    """VR-EyeTracking: from places in a panorama, whose middle is straight ahead."""

    def towards(x: str, y: str) -> Vector:
        return direction(_array(table, x) * 360.0 - 180.0, _array(table, y) * 180.0 - 90.0)

    head = towards("4", "5")
    return _with(table, in_head(towards("7", "8"), head), head)


def _from_display(table: pl.DataFrame) -> pl.DataFrame:
    """EHTask: the eye from a place on the headset's display, the head from angles."""
    width, height = _DISPLAY_PX
    distance = height / 2 / np.tan(np.radians(_DISPLAY_HEIGHT_DEG / 2))
    right, up = (_array(table, "5") - 0.5) * width, (_array(table, "6") - 0.5) * height
    gaze = _unit(right, up, np.full_like(right, distance))
    return _with(table, gaze, direction(_array(table, "3"), _array(table, "4")))


_MADE = {name: name for name in _VECTORS}
# Columns without a role of their own, from which vectors are made.
_WORLD = [f"{name}_{axis}" for name in ("GIW", "HEAD_POS", "HEAD_EUL") for axis in "XYZ"]

PRESETS: dict[str, Layout] = {
    "et-dk2": Layout(
        format="ET-DK2",
        columns={
            "person": "SUB_ID",
            "recording": "IMG_INDEX",
            "stimulus": "IMG_INDEX",
            "time": "UNITY_TIMESTAMP",
            "x": "GIW_TEXTURE_X",
            "y": "GIW_TEXTURE_Y",
            "label_gray": "IS_GRAY",
            _ROLL: _ROLL,
            **_MADE,
            **{name: name for name in _WORLD},
        },
        units="fraction",
        xy_origin="bottom-left",
        time_unit="s",
        prepare=_from_world_points,
        made=(*_VECTORS, _ROLL),
    ),
    "vr-eyetracking": Layout(
        format="VR-EyeTracking",
        columns={"x": "7", "y": "8", "head_longitude": "4", "head_latitude": "5", **_MADE},
        units="fraction",
        xy_origin="bottom-left",
        header=False,
        separator=",",
        file="{person}/{stimulus}",
        prepare=_from_panorama,
        made=_VECTORS,
    ),
    "ehtask": Layout(
        format="EHTask",
        columns={
            "time": "1",
            "x": "5",
            "y": "6",
            "head_longitude": "3",
            "head_latitude": "4",
            **_MADE,
        },
        units="fraction",
        xy_origin="bottom-left",
        time_unit="ms",
        rate_hz=100.0,
        header=False,
        separator=" ",
        file="User_{person}_Video_{stimulus}_Task_{task}",
        prepare=_from_display,
        made=_VECTORS,
    ),
}
