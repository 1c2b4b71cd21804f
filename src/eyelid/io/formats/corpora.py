"""Public corpora that are tables of samples, recognised by their exact header.

Rates, units, screens and file names are those of pymovements' public dataset definitions, except
where a comment says otherwise. They are facts about the corpus and stand in no file, so every part
carries a note, and the user's map outranks them.

pymovements has the origin of pixels in the middle of the screen for SB-SAT, EMTeC, HBN and Potsdam
Binge. Their positions lie around half the width and height of the screen, so they count from a
corner, and their trackers count from the top left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

import polars as pl

from eyelid.gaze.study import Screen
from eyelid.io.files import Head
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.raw_tables import (
    cells,
    header_of,
    separator_of,
)
from eyelid.io.tables import read_table

NAME = "public corpus"


@dataclass(frozen=True, eq=False)
class _Corpus:
    """A table that has been published.

    Attributes:
        header: its columns, separated by spaces.
        layout: what they mean.
        file: a regular expression for the names of its files. ``person`` is the person; all other
            groups together name the recording, and ``task`` and ``stimulus`` are kept.
        counted: whether time stamps must rise by one, where a header is so plain that it could be
            any reader's.
        note: what is to be known besides.
    """

    header: str
    layout: Layout
    file: str
    counted: bool = False
    note: str = ""


def _valid(table: pl.DataFrame) -> pl.DataFrame:
    """Positions of GazeBase where the tracker saw the eye: ``val`` is 0."""
    return table.with_columns(
        pl.when(pl.col("val").str.strip_chars() == "0").then(pl.col("x", "y"))
    )


def _page(table: pl.DataFrame) -> pl.DataFrame:
    """Pages of SB-SAT: a text and the number of its screen."""
    return table.with_columns(pl.col("book_name") + "_" + pl.col("screen_id"))


def _time_of_steps(table: pl.DataFrame) -> pl.DataFrame:
    """Time that counts samples at 120 Hz."""
    return table.with_columns(pl.col("time") * (1000.0 / 120.0))


_EYELINK = Layout(
    units="px",
    xy_origin="top-left",
    pupil_unit="arbitrary",
    time_unit="ms",
    rate_hz=1000.0,
)

_CORPORA = (
    _Corpus(
        "n x y val dP lab xT yT",
        replace(
            _EYELINK,
            format="GazeBase",
            # The left eye. Whether y counts upwards is not stated.
            columns={
                "time": "n",
                "x_left": "x",
                "y_left": "y",
                "pupil_left": "dP",
                "label_event": "lab",
                "label_target_x": "xT",
                "label_target_y": "yT",
            },
            units="deg",
            xy_origin=None,
            screen=Screen(1680, 1050, 0.474, 0.297, 0.55),
            extra=("val",),
            prepare=_valid,
        ),
        r"S_(?P<round>\d)(?P<person>\d{3})_(?P<session>S\d+)_(?P<task>\w+)",
    ),
    _Corpus(
        "n x y lx ly rx ry xT yT zT clx cly clz crx cry crz",
        Layout(
            format="GazeBaseVR",
            # A headset; pymovements' screen is that of GazeBase and is left out. Names have the
            # order of the tasks too, which it leaves out.
            columns={
                "time": "n",
                "x": "x",
                "y": "y",
                "x_left": "lx",
                "y_left": "ly",
                "x_right": "rx",
                "y_right": "ry",
                "label_target_x": "xT",
                "label_target_y": "yT",
                "label_target_z": "zT",
            },
            units="deg",
            xy_origin="centre",
            time_unit="ms",
            rate_hz=250.0,
        ),
        r"S_(?P<round>\d)(?P<person>\d{3})_(?P<session>S\d+)_(?P<order>\d+)_(?P<task>\w+)",
    ),
    _Corpus(
        "trialId pointId time x_left y_left x_right y_right",
        replace(
            _EYELINK,
            format="JuDo1000",
            columns={
                "recording": "trialId",
                "time": "time",
                "x_left": "x_left",
                "y_left": "y_left",
                "x_right": "x_right",
                "y_right": "y_right",
                "label_point": "pointId",
            },
            pupil_unit=None,
            screen=Screen(1280, 1024, 0.38, 0.302, 0.68),
        ),
        r"(?P<person>\d+)_(?P<session>\d+)",
    ),
    _Corpus(
        "time x y pupil_diameter",
        replace(
            _EYELINK,
            format="PoTeC",
            columns={"time": "time", "x": "x", "y": "y", "pupil": "pupil_diameter"},
            screen=Screen(1680, 1050, 0.475, 0.3, 0.65),
        ),
        r"reader(?P<person>\d+)_(?P<stimulus>\w+?)_raw_data",
        counted=True,
    ),
    _Corpus(
        "book_name screen_id time x_left y_left pupil_left",
        replace(
            _EYELINK,
            format="SB-SAT",
            columns={
                "recording": "book_name",
                "stimulus": "book_name",
                "time": "time",
                "x_left": "x_left",
                "y_left": "y_left",
                "pupil_left": "pupil_left",
            },
            screen=Screen(1024, 768, 0.445, 0.424, 0.7),
            extra=("screen_id",),
            prepare=_page,
        ),
        r"(?P<person>msd\d+)",
    ),
    _Corpus(
        "item_id TRIAL_ID Trial_Index_ model decoding_strategy time x y pupil_right",
        replace(
            _EYELINK,
            format="EMTeC",
            columns={
                "recording": "item_id",
                "stimulus": "item_id",
                "time": "time",
                "x_right": "x",
                "y_right": "y",
                "pupil_right": "pupil_right",
                "label_model": "model",
                "label_decoding_strategy": "decoding_strategy",
            },
            screen=Screen(1280, 1024, 0.382, 0.302, 0.6),
            # 2000 Hz with whole milliseconds: every stamp stands twice.
            rate_hz=2000.0,
            repeats="spread",
        ),
        r"ET_(?P<person>\d+)",
    ),
    _Corpus(
        "x_pix y_pix time",
        Layout(
            format="HBN",
            columns={"x": "x_pix", "y": "y_pix", "time": "time"},
            units="px",
            xy_origin="top-left",
            time_unit="ms",
            rate_hz=120.0,
            screen=Screen(800, 600, 0.338, 0.27, 0.635),
            prepare=_time_of_steps,
        ),
        r"(?P<person>NDAR[A-Za-z0-9]{8})_(?P<stimulus>\w+)",
        counted=True,
        note="its time counts samples",
    ),
    _Corpus(
        "trial_id block_id x_pix_eyelink y_pix_eyelink eyelink_timestamp "
        "x_pix_pupilcore_interpolated y_pix_pupilcore_interpolated pupil_size_eyelink "
        "target_distance pupil_size_pupilcore_interpolated pupil_confidence_interpolated "
        "time_to_prev_bac time_to_next_bac prev_bac next_bac",
        replace(
            _EYELINK,
            format="Potsdam Binge PVT",
            columns={
                "time": "eyelink_timestamp",
                "x_right": "x_pix_eyelink",
                "y_right": "y_pix_eyelink",
                "pupil_right": "pupil_size_eyelink",
                "x_left": "x_pix_pupilcore_interpolated",
                "y_left": "y_pix_pupilcore_interpolated",
                "confidence_left": "pupil_confidence_interpolated",
            },
            screen=Screen(1920, 1080, 0.5976, 0.33615),
        ),
        r"(?P<person>\d+)_(?P<session>\d+)_(?P<task>[A-Za-z]+)_(?P<trial>\d+)_(?P<block>\d+)",
        note="the right eye is the EyeLink's, the left one the Pupil Core's, at about 200 Hz and "
        "interpolated; its pupil (px) and the blood alcohol are left out",
    ),
)
_BY_HEADER = {tuple(corpus.header.split()): corpus for corpus in _CORPORA}
_LOOKED_AT_LINES = 50


def recognises(head: Head) -> bool:
    """Whether the header is that of a corpus."""
    corpus = _corpus(head)
    return corpus is not None and (not corpus.counted or _counts_by_one(head))


def _corpus(head: Head) -> _Corpus | None:
    return _BY_HEADER.get(tuple(header_of(head))) if head.lines else None


def _counts_by_one(head: Head) -> bool:
    """Whether time rises by one from line to line, as far as there are lines."""
    lines = head.lines[:_LOOKED_AT_LINES]
    separator = separator_of(lines)
    place = cells(lines[0], separator).index("time")
    try:
        # The last line may be cut short, which is the reader's to tell.
        times = [float(cells(line, separator)[place]) for line in lines[1:-1]]
    except (IndexError, ValueError):
        return False
    return all(after - before == 1 for before, after in pairwise(times))


def read(head: Head, said: Layout) -> Part:
    """The samples of one file, with what is known about its corpus."""
    corpus = _corpus(head)
    assert corpus is not None
    layout = corpus.layout.under(said)
    found = re.match(corpus.file + r"(\.|$)", head.path.name)
    groups = found.groupdict() if found else {}
    names = {key: value for key, value in groups.items() if key in ("person", "task", "stimulus")}
    recording = "_".join(value for key, value in groups.items() if key != "person")
    if recording and "recording" not in layout.columns:
        names["recording"] = recording
    part = read_table(head, layout, names=names)
    note = f"read as {part.format}: rate, units and screen are the corpus's, the file has none"
    notes = tuple(filter(None, (note, corpus.note and f"{part.format}: {corpus.note}")))
    if recording and "recording" in part.data.columns:
        # The trials of a file are told apart by a column, its session by its name.
        trial = pl.format(recording + "_{}", "recording").alias("recording")
        part = replace(part, data=part.data.with_columns(trial))
    return replace(part, notes=notes)
