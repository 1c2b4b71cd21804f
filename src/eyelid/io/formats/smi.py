"""SMI: samples as text from iView X, the IDF Converter and BeGaze, and BeGaze's lists of events.

Samples have time in µs and gaze in px of the calibration area, where ``0.00 0.00`` means that the
eye was lost. Lines that begin with ``##`` state the rate and the geometry.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import EVENT_COLUMNS, Screen
from eyelid.io.columns import (
    events_of_kinds,
    number,
    without,
)
from eyelid.io.files import Head
from eyelid.io.formats.any_table import columns_called
from eyelid.io.layout import Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import (
    cells,
    header_of,
)
from eyelid.io.tables import (
    named_in,
    read_table,
    with_everybody,
    without_gaze_remarks,
)

NAME = "SMI"

_HEADER = re.compile(r"(?m)^Time\tType\t.*$")
_MESSAGE = re.compile(r"(?m)^[^\t\n]*\tMSG\t.*\n?")
_ENDINGS = ("bmp", "jpg", "jpeg", "png", "gif", "tif", "tiff", "avi", "mpg", "mpeg", "mp4", "wmv")
_PICTURE = r"(?i)([^\\/:\s][^\\/:]*)\.(?:" + "|".join(_ENDINGS) + r")\s*$"
_SIDES = {"left": "L", "right": "R"}
_PUPILS = ("Mapped Diameter [mm]", "Pupil Diameter [mm]", "Dia X [mm]", "Dia X [px]")
_EVENT_INFO = ("L Event Info", "R Event Info", "Info")
_EVENTS = ("fixation", "saccade", "blink")
_STIMULUS = "stimulus of the sample"

_START, _END = "Event Start Trial Time [ms]", "Event End Trial Time [ms]"
_LASTED = "duration of the event"
_FIXATIONS = ("fixation", "visual intake")
_LISTED = {
    "person": ("Participant",),
    "recording": ("Trial", "Stimulus"),
    "stimulus": ("Stimulus",),
    "label_trial": ("Trial",),
    "label_aoi": ("AOI Name",),
    "label__category": ("Category",),
    "eye": ("Eye L/R",),
    "x": ("Fixation Position X [px]", "Visual Intake Position X [px]"),
    "y": ("Fixation Position Y [px]", "Visual Intake Position Y [px]"),
    "pupil": (
        "Fixation Average Pupil Diameter [mm]",
        "Visual Intake Average Pupil Diameter [mm]",
    ),
}


def recognises(head: Head) -> bool:
    """Whether a header of samples comes after nothing but remarks, or there is one of events."""
    first = next((line for line in head.lines if line.strip() and not line.startswith("##")), "")
    return _HEADER.match(first) is not None or {_START, _END} <= set(header_of(head))


def read(head: Head, said: Layout) -> Part:
    """Samples of both eyes, or a list of fixations."""
    names = header_of(head)
    return _list_of_events(head, said, names) if _START in names else _samples(head, said)


def _samples(head: Head, said: Layout) -> Part:
    text = head.text()
    header = _HEADER.search(text)
    if header is None:
        raise InputError(f"{head.path} has no line of column names that begins with Time and Type")
    names = cells(header[0], "\t")
    stated = {
        name.strip("# "): value.strip()
        for line in text[: header.start()].splitlines()
        for name, colon, value in [line.partition(":")]
        if colon
    }
    body = re.sub(r"(?m)^[ \t\r]*\n", "", text[header.end() :].lstrip("\r\n"))
    shown = _shown(body)
    info = next((name for name in _EVENT_INFO if name in names), None)
    columns = _of_eyes(names) | {"time": "Time", "stimulus": _STIMULUS}
    columns |= {"label_trial": "Trial"} if "Trial" in names else {}
    columns |= {"label__event": info} if info is not None else {}
    pupil = columns.get("pupil_left") or columns.get("pupil_right")
    layout = Layout(
        format=NAME,
        columns=columns,
        units="px",
        xy_origin="top-left",
        pupil_unit=pupil[-3:-1] if pupil else None,
        time_unit="us",
        rate_hz=next(iter(_positive(stated.get("Sample Rate", ""))), None),
        screen=_screen(stated),
        separator="\t",
        header=True,
        extra=("Type", "Stimulus") if "Stimulus" in names else ("Type",),
        made=(_STIMULUS,),
    ).under(said)
    if not {"x", "x_left", "x_right"} & set(layout.columns):
        raise InputError(
            f"{head.path} has no gaze position: convert the recording again with the point of "
            "regard (POR)"
        )

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        raw = raw.with_columns(_stimulus(raw, shown)).filter(pl.col("Type") == "SMP")
        for side in _SIDES:
            x, y, size = (layout.columns.get(f"{role}_{side}", "") for role in ("x", "y", "pupil"))
            raw = without(raw, (x, y), (pl.col(x) == 0) & (pl.col(y) == 0)) if x and y else raw
            raw = without(raw, (size,), pl.col(size) <= 0)
        return raw

    table = f"{header[0].rstrip()}\n{_MESSAGE.sub('', body)}".encode()
    whose = {"person": stated["Subject"]} if stated.get("Subject") else {}
    bare = Head(head.path, table, whole=True)
    part = read_table(bare, replace(layout, prepare=prepared), names=whose)
    return replace(
        part,
        data=part.data.drop("label__event", strict=False),
        events=events_of_kinds(part.data, _EVENTS),
    )


def _of_eyes(names: list[str]) -> dict[str, str]:
    """The columns of gaze and pupil of each eye, pupils in mm before px."""
    pupil = next((p for p in _PUPILS if any(f"{letter} {p}" in names for letter in "LR")), "")
    roles = {"x": "POR X [px]", "y": "POR Y [px]", "pupil": pupil}
    return {
        f"{role}_{side}": f"{letter} {name}"
        for side, letter in _SIDES.items()
        for role, name in roles.items()
        if f"{letter} {name}" in names
    }


def _positive(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"\d{1,9}(?:\.\d+)?", text) if float(n) > 0]


def _screen(stated: dict[str, str]) -> Screen | None:
    r"""The screen as far as the remarks state it.

    >>> _screen({"Calibration Area": "1024\t768", "Head Distance [mm]": "800"})
    Screen(width_px=1024, height_px=768, width_m=None, height_m=None, distance_m=0.8)
    """
    size_px = _positive(stated.get("Calibration Area", ""))
    size_mm = _positive(stated.get("Stimulus Dimension [mm]", ""))
    distance_mm = _positive(stated.get("Head Distance [mm]", ""))
    screen = Screen(distance_m=distance_mm[0] / 1000 if distance_mm else None)
    if len(size_px) == 2:
        screen = replace(screen, width_px=round(size_px[0]), height_px=round(size_px[1]))
    if len(size_mm) == 2:
        screen = replace(screen, width_m=size_mm[0] / 1000, height_m=size_mm[1] / 1000)
    return None if screen == Screen() else screen


def _shown(body: str) -> list[tuple[int, str]]:
    r"""After how many rows a message names a picture, and which.

    >>> _shown("1\tSMP\t1\n2\tMSG\t1\t# Message: c:\\faces\\ann.bmp\n3\tSMP\t1\n")
    [(1, 'ann')]
    """
    shown, rows, at = [], 0, 0
    for message in _MESSAGE.finditer(body):
        rows += body.count("\n", at, message.start())
        at = message.end()
        name = re.split(r"[\\/:\t]", message[0].rstrip())[-1]
        picture, _, ending = name.rpartition(".")
        if picture and ending.lower() in _ENDINGS:
            shown.append((rows, picture.strip()))
    return shown


def _stimulus(raw: pl.DataFrame, shown: list[tuple[int, str]]) -> pl.Expr:
    """The picture of each row: of the last message that named one, else the row's own."""
    rows = np.array([row for row, _ in shown], dtype=np.int64)
    last = np.searchsorted(rows, np.arange(len(raw)), side="right")
    pictures = pl.Series([None, *(picture for _, picture in shown)], dtype=pl.String)
    found = [pl.lit(pictures.gather(last))]
    if "Stimulus" in raw.columns:
        own = pl.col("Stimulus")
        found += [own.str.extract(_PICTURE), own]
    return pl.coalesce(*found, pl.lit("")).alias(_STIMULUS)


def _list_of_events(head: Head, said: Layout, names: list[str]) -> Part:
    """One row a fixation, of glasses called a visual intake; other kinds become events."""
    columns = {"time": _START, "duration": _LASTED}
    columns |= columns_called(_LISTED, dict(zip(names, names, strict=True)))
    layout = Layout(
        format=NAME,
        columns=columns,
        kind="fixations",
        units="px" if "x" in columns else None,
        xy_origin="top-left" if "x" in columns else None,
        pupil_unit="mm" if "pupil" in columns else None,
        time_unit="ms",
        extra=(_END,),
        made=(_LASTED,),
    ).under(said)
    start = pl.col(layout.columns["time"])

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        return raw.with_columns((number(_END) - start).alias(_LASTED))

    part = read_table(head, replace(layout, prepare=prepared))
    if "label__category" not in part.data.columns:
        return part
    kind = pl.col("label__category").str.strip_chars().str.to_lowercase()
    fixations = part.data.filter(kind.is_in(_FIXATIONS))
    everybody = named_in(part.data)
    if fixations.is_empty():
        raise NoRows(
            f"{head.path} lists no event of the category Fixation or Visual Intake", everybody
        )
    others = part.data.filter(~kind.is_in(_FIXATIONS)).with_columns(
        kind.alias("name"),
        pl.col("time_ms").alias("onset_ms"),
        (pl.col("time_ms") + pl.col("duration_ms")).alias("offset_ms"),
    )
    data = with_everybody(fixations, everybody)
    events = others.select(name for name in EVENT_COLUMNS if name in others.columns)
    return replace(
        part,
        data=data.drop("label__category"),
        notes=(*part.notes, *without_gaze_remarks(head, len(data) - len(fixations))),
        events=None if events.is_empty() else events,
    )
