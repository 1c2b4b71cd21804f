"""Fixation reports of SR Research's Data Viewer: a table with a row a fixation.

The columns of a report are chosen by its author. Needed are ``RECORDING_SESSION_LABEL``,
``TRIAL_INDEX`` and the place and duration of the current fixation; its start in the trial is often
left out. What was looked at (words, names of areas) is stimulus and is not kept, its number is.
"""

from __future__ import annotations

from dataclasses import replace

from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.raw_tables import header_of
from eyelid.io.tables import read_table

NAME = "EyeLink Data Viewer fixation report"

_NEEDED = {
    "person": "RECORDING_SESSION_LABEL",
    "recording": "TRIAL_INDEX",
    "x": "CURRENT_FIX_X",
    "y": "CURRENT_FIX_Y",
    "duration": "CURRENT_FIX_DURATION",
}
_OPTIONAL = {
    "time": "CURRENT_FIX_START",
    "eye": "EYE_USED",
    "pupil": "CURRENT_FIX_PUPIL",
    "label_interest_area": "CURRENT_FIX_INTEREST_AREA_ID",
}
_SESSIONS = (
    "every session label was taken for another person: if one person has several, say who is who "
    "with `map='person=COLUMN'`"
)
_NO_TIMES = (
    "the report has no CURRENT_FIX_START: a fixation's time is the sum of the durations before it "
    "in the trial"
)


def recognises(head: Head) -> bool:
    """Whether the header has what every fixation report needs."""
    return set(_NEEDED.values()) <= set(header_of(head))


def read(head: Head, said: Layout) -> Part:
    """The fixations of every session and trial."""
    header = header_of(head, said.separator)
    there = {role: column for role, column in _OPTIONAL.items() if column in header}
    layout = Layout(
        format=NAME,
        columns=_NEEDED | there,
        units="px",
        xy_origin="top-left",
        pupil_unit="arbitrary",
        time_unit="ms",
    ).under(said)
    part = read_table(head, layout)
    notes = () if "time" in layout.columns else (_NO_TIMES,)
    if "person" not in said.columns:
        notes = (_SESSIONS, *notes)
    return replace(part, notes=notes)
