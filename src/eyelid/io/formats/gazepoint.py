"""Gazepoint: the exports ``…_all_gaze.csv`` and ``…_fixations.csv`` of Gazepoint Analysis.

Places are shares of the screen from the top left, times are seconds since a medium was shown. In
an export of all gaze the rows of a fixation share its number, and the last one has its duration.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import polars as pl

from eyelid.errors import InputError
from eyelid.io.columns import (
    number,
    with_numbered_events,
    without,
)
from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import (
    cells,
    header_of,
)
from eyelid.io.tables import read_table

NAME = "Gazepoint"

# Columns of x, y and their validity, for both eyes together and for each.
_PLACES = {
    "": ("BPOGX", "BPOGY", "BPOGV"),
    "_left": ("LPOGX", "LPOGY", "LPOGV"),
    "_right": ("RPOGX", "RPOGY", "RPOGV"),
}
# Columns of the pupils and their validity, in mm before px.
_PUPILS = {
    "mm": {"_left": ("LPMM", "LPMMV"), "_right": ("RPMM", "RPMMV")},
    "px": {"_left": ("LPD", "LPV"), "_right": ("RPD", "RPV")},
}
# Columns that come along as labels, and are taken out again when they have become events.
_MARKS = {"fixation": "FPOGID", "blink": "BKID"}
_RECORDING, _START, _LASTED, _PUPIL = "recording", "start", "duration", "mean pupil"


def recognises(head: Head) -> bool:
    """Whether the header has Gazepoint's time, and numbers its fixations or has a best gaze."""
    names = header_of(head)
    return _clock(names) is not None and bool({"FPOGID", "BPOGX"} & set(names))


def _clock(names: list[str]) -> str | None:
    """The column of time, whose name may hold the date."""
    return next((name for name in names if re.fullmatch(r"TIME(\(.*\))?", name)), None)


def read(head: Head, said: Layout) -> Part:
    """Samples; fixations where the export has only those, or no place of gaze."""
    names = header_of(head)
    columns = {"recording": _RECORDING}
    columns |= {"stimulus": "MEDIA_NAME"} if "MEDIA_NAME" in names else {}
    columns |= {"label_aoi": "AOI"} if "AOI" in names else {}
    layout = Layout(format=NAME, columns=columns, time_unit="s", separator=",", made=(_RECORDING,))
    read_rows = _fixations if _only_fixations(head, names) else _samples
    part = read_rows(head, layout, said, names)
    if "recording" not in said.columns and part.data["recording"].n_unique() == 1:
        # Then the file's name says more.
        events = None if part.events is None else part.events.drop("recording")
        part = replace(part, data=part.data.drop("recording"), events=events)
    return part


def _only_fixations(head: Head, names: list[str]) -> bool:
    """Whether there is no gaze between fixations: each row is another's, or no place is given."""
    if not any(set(columns[:2]) <= set(names) for columns in _PLACES.values()):
        return True
    if "FPOGID" not in names:
        return False
    at = names.index("FPOGID")
    rows = [cells(line, ",") for line in head.lines[1:]]
    numbers = [row[at] for row in rows if len(row) > at]
    return len(numbers) > 1 and all(one != other for one, other in pairwise(numbers))


def _by_clock(head: Head, raw: pl.DataFrame, clock: str) -> pl.DataFrame:
    """The table with its recordings: another one begins where time begins again."""
    restarts = (number(clock).diff() < 0).fill_null(False).cum_sum() + 1
    stem = head.path.name.partition(".")[0]
    return raw.with_columns(pl.format("{}-{}", pl.lit(stem), restarts).alias(_RECORDING))


def _samples(head: Head, layout: Layout, said: Layout, names: list[str]) -> Part:
    places = {
        suffix: columns for suffix, columns in _PLACES.items() if set(columns[:2]) <= set(names)
    }
    unit, pupils = next(
        (
            (unit, seen)
            for unit, eyes in _PUPILS.items()
            if (seen := {eye: columns for eye, columns in eyes.items() if columns[0] in names})
        ),
        (None, {}),
    )
    columns = {"time": _clock(names) or ""}
    for suffix, (x, y, _) in places.items():
        columns |= {f"x{suffix}": x, f"y{suffix}": y}
    together = bool(pupils) and set(places) == {""}
    columns |= {f"pupil{suffix}": column for suffix, (column, _) in pupils.items()}
    columns |= {"pupil": _PUPIL} if together else {}
    marks = {f"label__{name}": column for name, column in _MARKS.items() if column in names}
    columns |= marks
    flags = [columns[-1] for columns in (*places.values(), *pupils.values())] + ["FPOGV"]
    layout = replace(
        layout,
        columns={**layout.columns, **columns},
        units="fraction",
        xy_origin="top-left",
        pupil_unit=unit,
        extra=tuple(name for name in flags if name in names),
        made=(*layout.made, _PUPIL),
    ).under(said)

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        raw = _by_clock(head, raw, layout.columns["time"])
        valid = [*places.values(), *pupils.values(), ("FPOGID", "FPOGV")]
        for *own, flag in valid:
            if flag in raw.columns:
                raw = without(raw, own, number(flag) == 0)
        raw = without(raw, ["BKID"], number("BKID") == 0)
        if together:
            mean = pl.mean_horizontal(pl.col(column) for column, _ in pupils.values())
            raw = raw.with_columns(mean.alias(_PUPIL))
        return raw

    part = with_numbered_events(read_table(head, replace(layout, prepare=prepared)), marks)
    note = "the export has gaze of both eyes together: their pupils were averaged"
    return replace(part, notes=(*part.notes, note)) if together else part


def _fixations(head: Head, layout: Layout, said: Layout, names: list[str]) -> Part:
    if "FPOGID" not in names:
        raise InputError(f"{head.path} has no place of gaze and does not number fixations (FPOGID)")
    clock = _clock(names) or ""
    placed = {"FPOGX", "FPOGY"} <= set(names)
    columns = {"time": _START, "duration": _LASTED}
    columns |= {"x": "FPOGX", "y": "FPOGY"} if placed else {}
    known = ("FPOGID", "FPOGS", "FPOGD", "FPOGV", clock)
    layout = replace(
        layout,
        columns={**layout.columns, **columns},
        kind="fixations",
        units="fraction" if placed else None,
        xy_origin="top-left" if placed else None,
        extra=tuple(name for name in known if name in names),
        made=(*layout.made, _START, _LASTED),
    )

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        raw = _by_clock(head, raw, clock)
        if "FPOGV" in names:
            raw = raw.filter((number("FPOGV") != 0).fill_null(True))
        time = number(clock)
        start = number("FPOGS").first() if "FPOGS" in names else time.first()
        lasted = number("FPOGD").last() if "FPOGD" in names else time.last() - time.first()
        run = pl.struct(_RECORDING, "FPOGID").rle_id().alias("run")
        hits = [pl.col("AOI").drop_nulls().first()] if "AOI" in raw.columns else []
        raw = (
            raw.with_columns(run)
            .group_by("run", maintain_order=True)
            .agg(
                pl.exclude("run", "AOI").last(),
                *hits,
                start.alias(_START),
                lasted.alias(_LASTED),
            )
        )
        if raw.is_empty():
            raise NoRows(f"{head.path} has no valid fixation")
        return raw

    return read_table(head, replace(layout, prepare=prepared).under(said))
