"""Lund 2013 (Andersson et al. 2017): 500 Hz recordings whose samples two people labelled by hand.

MATLAB files ``TH34_img_Europe_labelled_RA.mat``: person, task (``img``, ``video``, and dots, whose
names have a trial instead), stimulus, and the coder. ``ETdata.pos`` has a row a sample: time in µs,
width and height of the pupil, x and y in px, and the label. The folder is one study in which a
recording has the labels of both coders.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study
from eyelid.io.files import (
    Head,
    head_of,
)
from eyelid.io.formats import matlab
from eyelid.io.formats.mpiidpeye import passed_over
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.recordings import (
    joined,
    named,
)

NAME = "Lund 2013"

Floats = NDArray[np.float64]

LABELS = {1: "fixation", 2: "saccade", 3: "pso", 4: "pursuit", 5: "blink", 6: "undefined"}
_FILES = "*_labelled_*.mat"
_FILE = re.compile(
    r"(?P<person>[A-Z]{2}\d+)_((?P<task>img|video)_(?P<stimulus>\w+)|(?P<trial>trial\d+))"
    r"_labelled_(?P<coder>[A-Z]+)\.mat"
)
_SAME_RATE = 0.1


def recognises(head: Head) -> bool:
    """Whether this is a MATLAB file with eye-tracking data in the way of Lund."""
    return "ETdata" in matlab.names(head)


def read(head: Head, said: Layout) -> Part:
    """The samples of one file, with the labels of its coder."""
    found = _structure(head)
    pos = found.get("pos")
    if not isinstance(pos, np.ndarray) or pos.ndim != 2 or pos.shape[1] != 6 or not len(pos):
        raise InputError(f"{head.path}: ETdata.pos must have 6 columns and a row a sample")
    stamps_us, width, height, x, y, codes = pos.T
    own = Layout(
        units="px",
        xy_origin="top-left",
        # What unit the sizes of pupils have is not stated.
        pupil_unit="arbitrary",
        screen=_screen(found),
        rate_hz=_number(found, "sampFreq"),
    ).under(said)
    time_ms, rate_hz, notes = _times(head, stamps_us, own.rate_hz)
    with np.errstate(all="ignore"):
        pupil = (width + height) / 2
    # Where the tracker saw nothing it wrote zeros.
    seen = ((x != 0) | (y != 0)) & (pupil != 0)
    names = _FILE.fullmatch(head.path.name)
    label = f"label_{names['coder'].lower()}" if names else "label_event"
    data = pl.DataFrame(
        {
            "time_ms": time_ms,
            "x": np.where(seen & np.isfinite(x), x, np.nan),
            "y": np.where(seen & np.isfinite(y), y, np.nan),
            "pupil": np.where((pupil > 0) & np.isfinite(pupil), pupil, np.nan),
            label: codes,
        }
    ).with_columns(
        pl.col("x", "y", "pupil").fill_nan(None),
        pl.col(label).replace_strict(LABELS, default=None, return_dtype=pl.String),
    )
    return Part(
        format=NAME,
        data=data,
        units=own.units,
        xy_origin=own.xy_origin,
        pupil_unit=own.pupil_unit,
        rate_hz=rate_hz,
        screen=own.screen,
        names=_names(names) if names else {},
        notes=notes,
    )


def _structure(head: Head) -> dict[str, Any]:
    found = matlab.variable(head, "ETdata")
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        return found[0]
    raise InputError(f"{head.path}: ETdata is no structure with pos, screenRes and so on")


def _number(found: dict[str, Any], field: str, place: int = 0) -> float | None:
    """A positive number of a structure, None where there is none."""
    values = found.get(field)
    if not isinstance(values, np.ndarray) or values.size <= place:
        return None
    number = float(values.ravel()[place])
    return number if 0 < number < 1e6 else None


def _screen(found: dict[str, Any]) -> Screen:
    width, height = (_number(found, "screenRes", place) for place in (0, 1))
    return Screen(
        width_px=round(width) if width else None,
        height_px=round(height) if height else None,
        width_m=_number(found, "screenDim", 0),
        height_m=_number(found, "screenDim", 1),
        distance_m=_number(found, "viewDist"),
    )


def _times(
    head: Head, stamps_us: Floats, stated_hz: float | None
) -> tuple[Floats, float, tuple[str, ...]]:
    """Time of every sample, rate, and what is to be known about them.

    Stamps win over the stated rate, which is wrong in some files. Samples without a stamp, which
    the coding tool added at the end of some files, follow at the same rate.
    """
    place = np.arange(len(stamps_us), dtype=np.float64)
    known = np.flatnonzero(np.isfinite(stamps_us) & (stamps_us > 0))
    if len(known) < 2:
        if stated_hz is None:
            raise InputError(
                f"{head.path} has neither time stamps nor a rate: give one with `map='rate_hz=500'`"
            )
        return place * (1000.0 / stated_hz), stated_hz, ()
    stamps_ms = stamps_us[known] / 1000.0
    back = np.flatnonzero(np.diff(stamps_ms) <= 0)
    if len(back):
        raise InputError(f"{head.path}: time runs backwards after sample {known[back[0]] + 1}")
    step_ms = float(np.median(np.diff(stamps_ms) / np.diff(known)))
    outside = np.minimum(place - known[0], 0) + np.maximum(place - known[-1], 0)
    time_ms = np.interp(place, known, stamps_ms) + outside * step_ms
    rate_hz = float(f"{1000.0 / step_ms:.4g}")
    if stated_hz is None or abs(rate_hz / stated_hz - 1) < _SAME_RATE:
        return time_ms, stated_hz or rate_hz, ()
    note = (
        f"{head.path.name} states {stated_hz:g} Hz, but its time stamps run at {rate_hz:g} Hz: "
        "they are kept"
    )
    return time_ms, rate_hz, (note,)


def _names(found: re.Match[str]) -> dict[str, str]:
    task, stimulus = found["task"] or "dots", found["stimulus"] or found["trial"]
    recording = f"{task}_{stimulus}"
    return {
        "person": found["person"],
        "recording": recording,
        "task": task,
        "stimulus": stimulus,
    }


def recognises_folder(path: Path) -> bool:
    """Whether this is the folder of the dataset, or one of its tasks."""
    first = next(iter(_files(path)), None)
    return first is not None and recognises(head_of(first))


def _files(path: Path) -> list[Path]:
    folders = [path, *(path / task for task in ("img", "video", "dots"))]
    found = [file for folder in folders for file in sorted(folder.glob(_FILES))]
    return [file for file in found if _FILE.fullmatch(file.name)]


def read_folder(path: Path, said: Layout) -> Study:
    """Every recording once, with the labels of all who coded it."""
    files = _files(path)
    coded: dict[tuple[Path, str], list[tuple[Path, Part]]] = defaultdict(list)
    for file in track(files, "reading", len(files)):
        stem = file.name.partition("_labelled_")[0]
        coded[file.parent, stem].append((file, read(head_of(file), said)))
    parts = []
    for (_, stem), each in coded.items():
        file, part = max(each, key=lambda found: len(found[1].data))
        parts.append(named(file, _with_all_labels(stem, part, each), said, alone=False))
    study = joined(parts, said)
    return study.derive(notes=(*study.notes, *passed_over(files)))


def _with_all_labels(stem: str, longest: Part, coded: list[tuple[Path, Part]]) -> Part:
    """The longest file's samples with the labels of every file of the same recording."""
    data, notes = longest.data, list(longest.notes)
    lengths = [len(part.data) for _, part in coded]
    for file, part in coded:
        own = part.data.select(pl.col("^label_.*$"))
        shared = part.data.drop(own.columns)
        theirs = data.select(shared.columns).head(len(shared))
        if not theirs.equals(shared):
            raise InputError(
                f"{file} has other samples than the other coder's file: is it of another recording?"
            )
        missing = data.height - own.height
        if missing:
            own = pl.concat([own, own.clear(missing)])
        data = data.with_columns(own)
    if min(lengths) < max(lengths):
        notes.append(
            f"{stem}: the coders' files have {' and '.join(map(str, lengths))} samples; the longer "
            "is kept, labels are missing at its end"
        )
    labels = sorted(name for name in data.columns if name.startswith("label_"))
    rest = [name for name in data.columns if name not in labels]
    return replace(longest, data=data.select(*rest, *labels), notes=tuple(notes))
