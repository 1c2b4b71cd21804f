"""MPIIDPEye (Steil et al. 2019): 20 people, each reading a comic, a newspaper and a textbook.

``Eye_Tracking_Data/Data_P1_R1.csv`` without a header: x and y of the pupil in the eye camera's
image (as Pupil Labs' ``norm_pos``: fractions of the image from its lower left), time in s,
confidence and the pupil's diameter in px. Nothing was calibrated, so x and y are no gaze.
``Ground_Truth.csv`` beside the folder has everybody's gender.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl

from eyelid.engine.progress import track
from eyelid.gaze.study import Study
from eyelid.io.file_names import read_listing
from eyelid.io.files import (
    Head,
    head_of,
)
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.recordings import (
    joined,
    named,
)
from eyelid.io.tables import read_table

NAME = "MPIIDPEye"

TASKS = {"R1": "comic", "R2": "newspaper", "R3": "textbook"}
_FOLDER, _PEOPLE = "Eye_Tracking_Data", "Ground_Truth.csv"
_FILE = re.compile(r"Data_(P(\d+))_(R([123]))\.csv")
_LOOKED_AT_LINES = 50


def _only_seen(table: pl.DataFrame) -> pl.DataFrame:
    """Without the zeros that stand where no pupil was found."""
    return table.with_columns(pl.when(pl.col("4") > 0).then(pl.col("1", "2", "5")))


_LAYOUT = Layout(
    format=NAME,
    columns={"x": "1", "y": "2", "time": "3", "confidence": "4", "pupil": "5"},
    units="normalised",
    xy_origin="bottom-left",
    pupil_unit="px",
    time_unit="s",
    rate_hz=30.0,
    header=False,
    separator=";",
    prepare=_only_seen,
)


def recognises(head: Head) -> bool:
    """Whether the lines are five numbers that can be such samples."""
    # The last line may be cut short, which is the reader's to tell.
    lines = head.lines[:-1] or head.lines
    rows = [line.split(";") for line in lines[:_LOOKED_AT_LINES]]
    return bool(rows) and all(len(row) == 5 and _plausible(row) for row in rows)


def _plausible(row: list[str]) -> bool:
    try:
        x, y, time_s, confidence, pupil_px = map(float, row)
    except ValueError:
        return False
    inside = -1 <= x <= 2 and -1 <= y <= 2
    return inside and 0 <= confidence <= 1 and time_s >= 0 and 0 <= pupil_px < 2000


def read(head: Head, said: Layout) -> Part:
    """One recording; its name says whose it is and what was read."""
    part = read_table(head, _LAYOUT.under(said))
    found = _FILE.fullmatch(head.path.name)
    if found is None:
        return part
    task = TASKS[found[3]]
    names = {"person": found[1], "recording": task, "task": task, "stimulus": task}
    return replace(part, names=names)


def recognises_folder(path: Path) -> bool:
    """Whether this is the folder of the dataset, or that of its recordings."""
    first = next(iter(_files(path)), None)
    return first is not None and recognises(head_of(first))


def _files(path: Path) -> list[Path]:
    return numbered_files(path / _FOLDER if (path / _FOLDER).is_dir() else path, _FILE)


def numbered_files(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """Files whose names give person, her number, recording and its number, in order of these."""
    found = [(match, file) for file in folder.glob("*") if (match := pattern.fullmatch(file.name))]
    return [file for _, file in sorted(found, key=lambda each: (int(each[0][2]), int(each[0][4])))]


def passed_over(files: list[Path]) -> tuple[str, ...]:
    """A note about recordings beside these files whose names say nothing."""
    beside = {file for folder in {file.parent for file in files} for file in folder.glob("*")}
    left = sorted(f.name for f in beside - set(files) if f.suffix == files[0].suffix)
    # The list of people may stand beside the recordings.
    left = [name for name in left if name != _PEOPLE]
    if not left:
        return ()
    return (f"{len(left)} files were passed over, whose names say nothing: {', '.join(left[:3])}",)


def read_folder(path: Path, said: Layout) -> Study:
    """The dataset as one study."""
    study = study_of_files(_files(path), read, said)
    study = study.derive(notes=(*study.notes, *passed_over(_files(path))))
    truth = next((p / _PEOPLE for p in (path, path.parent) if (p / _PEOPLE).is_file()), None)
    if truth is None or said.people is not None:
        return study
    known = read_listing(truth, "person").unique("person")
    attributes = known.select(
        pl.format("P{}", "person").alias("person"), pl.exclude("person").name.to_lowercase()
    )
    people = study.people.join(attributes, on="person", how="left", maintain_order="left")
    return study.derive(people=people)


def study_of_files(files: list[Path], read: Callable[[Head, Layout], Part], said: Layout) -> Study:
    """Files of one format, whose names say whose they are, as one study."""
    parts = [
        named(file, read(head_of(file), said), said, alone=False)
        for file in track(files, "reading", len(files))
    ]
    return joined(parts, said)
