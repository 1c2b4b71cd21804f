"""Any csv, tsv or parquet table, by the usual names of its columns and by somebody's map."""

from __future__ import annotations

import re

from eyelid.io.files import Head
from eyelid.io.layout import DIRECTION, KEYS, MEASURES, PERSON_COLUMNS, Layout, plain_name
from eyelid.io.part import Part
from eyelid.io.raw_tables import (
    header_of,
    is_parquet,
)
from eyelid.io.tables import (
    read_table,
    with_unread_told,
)

NAME = "table"

# What people call these columns, in lower case without punctuation.
_USUAL = {
    "person": PERSON_COLUMNS,
    "recording": ("recording", "recordingid", "recordingname", "session"),
    "task": ("task", "condition"),
    "stimulus": ("stimulus", "stimulusname", "image", "page", "screenid", "mediafile"),
    "time": (
        *("time", "timems", "timestamp", "timestampms", "times", "timesec", "timeus", "timens"),
        *("timestampus", "timestampns", "timestamps", "timestampsec"),
    ),
    "duration": ("duration", "durationms", "fixduration", "fixationduration"),
    "eye": ("eye",),
    "x": ("x", "gazex", "xpix", "xpx", "posx", "fixx"),
    "y": ("y", "gazey", "ypix", "ypx", "posy", "fixy"),
    "pupil": ("pupil", "pupildiameter", "pupilsize", "diameter"),
    "confidence": ("confidence",),
}
_SIDES = {"left": ("left", "l"), "right": ("right", "r")}


def recognises(head: Head) -> bool:
    """Whether this is a table at all."""
    return is_parquet(head) or (bool(head.lines) and len(_first_cells(head)) > 1)


def _first_cells(head: Head) -> list[str]:
    from eyelid.io.raw_tables import (
        cells,
        separator_of,
    )

    return cells(head.lines[0], separator_of(head.lines[:50]))


def read(head: Head, said: Layout) -> Part:
    """The table, by its usual names where the map says nothing."""
    names = header_of(head, said.separator) if said.header is not False else []
    layout = usual_layout(names).under(said)
    return with_unread_told(read_table(head, layout), names, layout)


def usual_layout(names: list[str]) -> Layout:
    """The roles that columns have by their names alone.

    >>> sorted(usual_layout(["participant", "time_ms", "x_left", "y_left"]).columns)
    ['person', 'time', 'x_left', 'y_left']
    """
    # The parts of a direction are no places on a screen, nor are two of them a direction.
    direction = set(DIRECTION) & set(names)
    whole = len(direction) == len(DIRECTION)
    others = [name for name in names if not whole or name not in direction]
    plain = {plain_name(name): name for name in reversed(others)}
    columns: dict[str, str] = {}
    for role, usual in _USUAL.items():
        column = next((plain[name] for name in usual if name in plain), None)
        if column is not None:
            columns[role] = column
    for side, spellings in _SIDES.items():
        for measure in ("x", "y", "pupil"):
            usual = _USUAL[measure]
            spelt = [u + s for u in usual for s in spellings] + [
                s + u for u in usual for s in spellings
            ]
            column = next((plain[name] for name in spelt if name in plain), None)
            if column is not None:
                columns[f"{measure}_{side}"] = column
    for name in names:
        known = name in (*KEYS, *MEASURES) and (whole or name not in direction)
        if re.fullmatch(r"label_\w+", name) or known:
            columns[name] = name
    units = None
    if any(re.search(r"pix|\[px\]|_px", columns.get(x, "")) for x in ("x", "x_left", "x_right")):
        units = "px"
    return Layout(columns=columns, units=units)
