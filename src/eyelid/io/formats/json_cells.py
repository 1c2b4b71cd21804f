"""Tables of trials with a list of samples in a cell of each, as jsPsych exports them to csv.

Cells that are lists of objects in JSON are unfolded like those of a JSON file: a row a sample, with
what the trial says of its person, task and so on.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import polars as pl

from eyelid.errors import InputError, first_line
from eyelid.io.files import (
    Head,
    check_cells,
    text_table,
)
from eyelid.io.formats import any_table
from eyelid.io.formats.json_table import read_trials, reason_of, text_of
from eyelid.io.layout import KEYS, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import (
    MISSING,
    check_width,
    header_of,
    separator_of,
)
from eyelid.io.tables import (
    has_gaze,
    named_in,
)
from eyelid.spelling import on_terminal

NAME = "table with JSON in its cells"

# How a cell begins that is a list of objects or of lists.
_LIST = r"^\s*\[\s*[\[{]"
_CELL = re.compile(r'(?:^|[,;\t|])"\s*\[\s*[\[{]', re.MULTILINE)
_GAZE_OF_JSPSYCH = "webgazer_data"
_JSPSYCH = {"trial_type", "trial_index", "time_elapsed"}


def recognises(head: Head) -> bool:
    """Whether this is csv with lists in its cells, or has the columns of jsPsych."""
    if not head.lines:
        return False
    names = set(_names(head, None))
    if _GAZE_OF_JSPSYCH in names or names >= _JSPSYCH:
        return True
    text = head.raw.decode(head.encoding, errors="replace")
    return len(names) > 1 and _CELL.search(text) is not None


def _names(head: Head, separator: str | None) -> list[str]:
    # Lists have separators of their own: the header alone tells.
    return header_of(head, separator or separator_of(head.lines[:1]))


def read(head: Head, said: Layout) -> Part:
    """The samples of all trials, unless the columns of the table itself are gaze."""
    names = _names(head, said.separator)
    usual = any_table.usual_layout(names).under(said)
    own = {role: name for role, name in usual.columns.items() if name in names}
    if said.header is False or has_gaze(replace(usual, columns=own)):
        return any_table.read(head, said)
    trials = _trials(head, said)
    if trials.is_empty():
        raise NoRows(f"{head.path} has a header and no rows")
    keys = {role: own[role] for role in KEYS if own.get(role) in trials.columns}
    lists = [name for name in trials.columns if trials[name].str.contains(_LIST).any()]
    if not lists and _GAZE_OF_JSPSYCH in names:
        raise NoRows(f"{head.path} has trials, but no gaze in them", named_in(trials, keys))
    if not lists:
        return any_table.read(head, said)
    rows = [
        {
            name: _parsed(head, name, number, cell) if name in lists else cell
            for name, cell in trial.items()
            if name not in lists or (cell is not None and re.match(_LIST, cell))
        }
        for number, trial in enumerate(trials.iter_rows(named=True), start=1)
    ]
    return read_trials(head, rows, said, NAME)


def _trials(head: Head, said: Layout) -> pl.DataFrame:
    """The table as it stands, all of it text."""
    separator = said.separator or separator_of(head.lines[:1])
    check_width(head.path, len(_names(head, separator)))
    source = text_of(head).encode()
    options = {"separator": separator, "null_values": MISSING}
    try:
        check_cells(source, separator)
        return text_table(source, infer_schema=False, **options)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InputError(f"cannot read {head.path} as a table: {first_line(error)}") from None


def _parsed(head: Head, column: str, row: int, cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{head.path}: row {row} of column '{on_terminal(column, 80)}' is no JSON: "
            f"{reason_of(error)}"
        ) from None
