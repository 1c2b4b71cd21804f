"""The ``.coord`` text of gaze on videos: one sample a line, after the size of the picture.

Comments begin with ``#``. A line ``gaze 1280 720`` states the picture in px, an optional line
``geometry distance 0.45 width 0.4 height 0.225`` its size in metres; then come time in µs, x, y
and confidence.
"""

from __future__ import annotations

import re

from eyelid.gaze.study import Screen
from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.tables import read_table

NAME = "coord"

_SIZE = re.compile(r"gaze\s+([1-9]\d{0,5})\s+([1-9]\d{0,5})\s*")
_ROLES = ("time", "x", "y", "confidence")


def recognises(head: Head) -> bool:
    """Whether the first line that is no comment states the picture."""
    first = next((line for line in head.lines if not _aside(line)), "")
    return _SIZE.fullmatch(first) is not None


def _aside(line: str) -> bool:
    return line.startswith("#") or not line.strip()


def read(head: Head, said: Layout) -> Part:
    """The samples; of two eyes, the mean that stands in the first columns."""
    begin = next(
        (n for n, line in enumerate(head.lines) if not _aside(line) and not line[0].isalpha()), None
    )
    if begin is None:
        raise NoRows(f"{head.path} has a header and no samples")
    width = len(head.lines[begin].split())
    layout = Layout(
        format=NAME,
        columns={role: str(n) for n, role in enumerate(_ROLES[:width], 1)},
        units="px",
        xy_origin="top-left",
        time_unit="us",
        screen=_screen(head.lines[:begin]),
        header=False,
        skip_lines=begin,
        comment="#",
        separator=" ",
    )
    return read_table(head, layout.under(said))


def _screen(lines: list[str]) -> Screen:
    """The screen as far as the lines before the samples state it.

    >>> _screen(["gaze 1280 720", "geometry distance 0.45 width 0.4"])
    Screen(width_px=1280, height_px=720, width_m=0.4, height_m=None, distance_m=0.45)
    """
    size = next(found for line in lines if (found := _SIZE.fullmatch(line)))
    geometry = " ".join(line for line in lines if line.startswith("geometry"))
    stated = re.findall(r"\b(distance|width|height)\s+(\d{1,6}(?:\.\d*)?)", geometry)
    metres = {f"{name}_m": float(value) for name, value in stated if float(value) > 0}
    return Screen(int(size[1]), int(size[2]), **metres)
