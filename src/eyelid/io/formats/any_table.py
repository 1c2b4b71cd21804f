"""Any csv, tsv or parquet table, by the usual names of its columns and by the user's map.

A row is a sample or a fixation. Where the user says which columns are features, with their public
bounds in a file (`eyelid.io.feature_tables`), a row is a trial, a sentence, a word or whatever was
measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from eyelid.errors import InputError
from eyelid.io.feature_tables import read_feature_table
from eyelid.io.files import Head
from eyelid.io.layout import DIRECTION, KEYS, MEASURES, PERSON_COLUMNS, Layout, plain_name
from eyelid.io.part import Part
from eyelid.io.raw_tables import (
    cells,
    header_of,
    is_parquet,
    separator_of,
)
from eyelid.io.tables import (
    read_table,
    with_unread_remarks,
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
    if is_parquet(head):
        return True
    return bool(head.lines) and len(cells(head.lines[0], separator_of(head.lines[:50]))) > 1


def read(head: Head, said: Layout) -> Part:
    """The table, by its usual names where the map says nothing."""
    names = _names(head, said)
    layout = usual_layout(names).under(said)
    return with_unread_remarks(read_table(head, layout), names, layout)


def read_features(head: Head, said: Layout) -> Part:
    """A table of the features that the user names, with keys by their usual names otherwise."""
    if not recognises(head):
        raise InputError(f"{head.path} is no table: features come from csv, tsv or Parquet")
    taken = {*said.feature_columns.values(), *said.attributes, *said.columns.values()}
    usual = usual_layout(_names(head, said)).columns
    keys = {role: name for role, name in usual.items() if role in KEYS and name not in taken}
    return read_feature_table(head, replace(said, columns={**keys, **said.columns}))


def _names(head: Head, said: Layout) -> list[str]:
    return header_of(head, said.separator) if said.header is not False else []


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
    spellings: dict[str, Iterable[str]] = dict(_USUAL)
    for side, letters in _SIDES.items():
        for measure in ("x", "y", "pupil"):
            after = [name + side_name for name in _USUAL[measure] for side_name in letters]
            before = [side_name + name for name in _USUAL[measure] for side_name in letters]
            spellings[f"{measure}_{side}"] = after + before
    columns = columns_called(spellings, plain)
    for name in names:
        known = name in (*KEYS, *MEASURES) and (whole or name not in direction)
        if re.fullmatch(r"label_\w+", name) or known:
            columns[name] = name
    units = None
    if any(re.search(r"pix|\[px\]|_px", columns.get(x, "")) for x in ("x", "x_left", "x_right")):
        units = "px"
    return Layout(columns=columns, units=units)


def columns_called(known: Mapping[str, Iterable[str]], names: Mapping[str, str]) -> dict[str, str]:
    """The column of each role that has one: the first of its known names that there is.

    Args:
        known: what each role is called.
        names: columns by what they are called.

    >>> columns_called({"x": ("gaze x", "x"), "y": ("y",)}, {"x": "X [px]"})
    {'x': 'X [px]'}
    """
    found = {role: next((n for n in spelt if n in names), None) for role, spelt in known.items()}
    return {role: names[name] for role, name in found.items() if name is not None}
