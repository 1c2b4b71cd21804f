"""How the columns of a table become those of a study: a format's own map, or a person's."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.files import content_of
from eyelid.gaze.study import EYES, Feature, Kind, Screen

MAP_NAME = "map.toml"
"""A column map of this name in a folder of recordings needs no ``--map``."""

# Far more than any map has; the time to read one grows with the square of its dots in a row.
_MOST_DOTS = 200

KEYS = ("person", "recording", "task", "stimulus")
DIRECTION = ("gaze_x", "gaze_y", "gaze_z")
MEASURES = ("x", "y", "pupil", "confidence", *DIRECTION)
HEAD_DIRECTION = ("head_x", "head_y", "head_z")
HEAD = (*HEAD_DIRECTION, "head_roll_deg")
ROLES = (
    *KEYS,
    "time",
    "duration",
    "eye",
    *MEASURES,
    *(f"{measure}_{eye}" for eye in EYES[:2] for measure in MEASURES),
    *HEAD,
)
"""What a column can be, besides ``label_…``."""

PERSON_COLUMNS = (
    *("person", "personid", "participant", "participantid", "participantname", "subject"),
    *("subjectid", "subjectname", "user", "userid", "worker", "workerid", "name"),
)
"""What the column of people is called, as `plain_name` has it; the first that is there counts."""

EACH_STIMULUS = "each-stimulus"
"""What ``task`` is in a map where each stimulus is a task of its own."""
EACH_SCREEN = "each"
"""What ``screen`` is in a map where each file has a screen of its own."""

MS_PER = {"s": 1000.0, "ms": 1.0, "us": 1e-3, "ns": 1e-6}


@dataclass(frozen=True, eq=False)
class Layout:
    """What is known about a table; None and empty where nothing is.

    Attributes:
        format: the name of the format, for people.
        columns: from a role (see `ROLES`, or ``label_…``) to the name of a column, or to its
            number, from 1, in a table without a header.
        kind: what a row is.
        units: of x and y.
        xy_origin: where x and y are zero.
        pupil_unit: of the pupil.
        time_unit: of the time and the duration: ``s``, ``ms``, ``us`` or ``ns``.
        rate_hz: nominal rate; gives the time of samples that have none.
        screen: as far as it is known.
        header: whether the table has one.
        skip_lines: lines before the header.
        comment: what lines to be left out begin with.
        separator: between columns; found out when None.
        decimal: ``.`` or ``,``; found out when None.
        lost: values of x or y that mean that the eye was lost.
        repeats: what to do about repeated time stamps: keep the ``first`` row, or ``spread`` them
            over the interval.
        backwards: ``sort`` rows whose time runs backwards.
        file: a pattern for file names, such as ``{person}_{task}``.
        names: a csv with a column ``file`` and columns person, recording, task and stimulus.
        people: a csv with a column ``person`` and attributes.
        glob: which files of a folder to read.
        extra: columns that ``prepare`` needs besides.
        prepare: what a format does to the table as read, before columns get their roles.
        made: columns that ``prepare`` makes, and the file does not have.
        label_values: what the values of a label mean, per ``label_…``.
        features: of a table of features; ``columns`` says which column holds each.
        feature_columns: which column holds each feature that the user named in a file.
        features_file: that file.
        planned_rows: rows of a recording of a table of features, by the study's design.
        attributes: columns of a table that hold attributes of people.
        each_stimulus: whether each stimulus is a task of its own.
        each_screen: whether each file has a screen of its own, and the study none.
        without: what is left out of all files, though some have measured it.
    """

    format: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    kind: Kind | None = None
    units: str | None = None
    xy_origin: str | None = None
    pupil_unit: str | None = None
    time_unit: str | None = None
    rate_hz: float | None = None
    screen: Screen | None = None
    header: bool | None = None
    skip_lines: int | None = None
    comment: str | None = None
    separator: str | None = None
    decimal: str | None = None
    lost: tuple[float, ...] = ()
    repeats: str | None = None
    backwards: str | None = None
    file: str | None = None
    names: Path | None = None
    people: Path | None = None
    glob: str | None = None
    extra: tuple[str, ...] = ()
    prepare: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    made: tuple[str, ...] = ()
    label_values: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    features: tuple[Feature, ...] = ()
    feature_columns: Mapping[str, str] = field(default_factory=dict)
    features_file: Path | None = None
    planned_rows: int | None = None
    attributes: tuple[str, ...] = ()
    each_stimulus: bool | None = None
    each_screen: bool | None = None
    without: tuple[str, ...] = ()

    @property
    def read_columns(self) -> set[str]:
        """Columns of the file that have a role in a study."""
        return {*self.columns.values(), *self.extra, *self.attributes}

    def under(self, other: Layout) -> Layout:
        """This layout, where the other one does not say otherwise.

        >>> own = Layout(columns={"x": "gx", "y": "gy"}, units="px")
        >>> both = own.under(Layout(columns={"x": "left"}, time_unit="s"))
        >>> both.columns, both.units, both.time_unit
        ({'x': 'left', 'y': 'gy'}, 'px', 's')
        """
        said = {
            item.name: value
            for item in fields(other)
            if (value := getattr(other, item.name)) is not None and value != () and value != {}
        }
        said["columns"] = {**self.columns, **other.columns}
        said["format"] = self.format or other.format
        if self.screen and other.screen:
            known = {k: v for k, v in vars(other.screen).items() if v is not None}
            said["screen"] = replace(self.screen, **known)
        return replace(self, **said)


NOTHING_SAID = Layout()


def plain_name(column: str) -> str:
    """The name of a column in lower case, without punctuation.

    >>> plain_name("Participant_ID")
    'participantid'
    """
    return re.sub(r"[^a-z0-9]", "", column.lower())


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file says, which others may have written.

    Args:
        path: of the file.
    """
    text = content_of(path).decode()
    if any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
        raise ValueError(f"a line has more than {_MOST_DOTS} dots")
    return tomllib.loads(text)
