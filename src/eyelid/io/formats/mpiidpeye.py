"""MPIIDPEye (Steil et al. 2019): 20 people, each reading a comic, a newspaper and a textbook.

``Eye_Tracking_Data/Data_P1_R1.csv`` without a header: x and y of the pupil in the eye camera's
image (as Pupil Labs' ``norm_pos``: fractions of the image from its lower left), time in s,
confidence and the pupil's diameter in px. Nothing was calibrated, so x and y are no gaze.
``Ground_Truth.csv`` beside the folder has everybody's gender.

``Eye_Movement_Features/Data_P1_R1_Pami_Features_52.csv``, which not every copy of the dataset has,
are the authors' own features of windows of 30 s, one every 0.5 s: 52 columns without a header, in
the order that the dataset's Readme lists (#0 to #51). Folder and file names, and that there is no
header, are those of the reader that Bozkir et al. (2021) published; the Readme states neither units
nor bounds. Not run on the original. A folder with recordings and features is read as recordings;
the folder of features, named itself, or one that has nothing else, as features.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl

from eyelid.engine.progress import track
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.gaze.study import Feature, Study
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

FEATURE_FOLDER = "Eye_Movement_Features"
_FEATURE_FILE = re.compile(r"Data_(P(\d+))_(R([123]))_Pami_Features_52\.csv")
_STEP_MS, _WINDOW_MS = 500.0, 30_000.0
_NO_BOUNDS = (
    "the features are the authors' own: their Readme states no units and no bounds, so a release "
    "needs public bounds of yours"
)
_FEATURES_BESIDE = (
    f"the authors' own features are in {FEATURE_FOLDER}: name that folder to read them"
)


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

_FEATURES = tuple(
    Feature(f.name, "", f"{f.definition}; the authors' column #{n}", -math.inf, math.inf)
    for n, f in enumerate(window_feature_set("normalised"))
)
_FEATURE_LAYOUT = Layout(
    format=NAME,
    columns={feature.name: str(n) for n, feature in enumerate(_FEATURES, start=1)},
    kind="features",
    header=False,
    rate_hz=1000.0 / _STEP_MS,
    features=_FEATURES,
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
    """Whether this is the folder of the dataset, of its recordings, or of the authors' features."""
    first = next(iter(_files(path)), None)
    return (first is not None and recognises(head_of(first))) or bool(feature_files(path))


def _files(path: Path) -> list[Path]:
    return numbered_files(path / _FOLDER if (path / _FOLDER).is_dir() else path, _FILE)


def feature_files(path: Path) -> list[Path]:
    """The authors' own features in the folder of the dataset or in their own; none if absent."""
    home = path / FEATURE_FOLDER
    return numbered_files(home if home.is_dir() else path, _FEATURE_FILE)


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
    """The dataset as one study: its recordings or, where there are none, the authors' features."""
    if not _files(path):
        return read_authors_features(path, said)
    study = study_of_files(_files(path), read, said)
    beside = (_FEATURES_BESIDE,) if feature_files(path) else ()
    study = study.derive(notes=(*study.notes, *passed_over(_files(path)), *beside))
    return _with_attributes(study, path, said)


def read_authors_features(path: Path, said: Layout) -> Study:
    """The authors' own features as one study, without bounds.

    Args:
        path: the folder of the dataset, or `FEATURE_FOLDER` in it.
        said: what the user says about columns and people.
    """
    study = study_of_files(feature_files(path), _read_features, said)
    study = study.derive(
        step_ms=_STEP_MS, window_ms=_WINDOW_MS, notes=(*study.notes, _NO_BOUNDS), rate_hz=None
    )
    return _with_attributes(study, path, said)


def _read_features(head: Head, said: Layout) -> Part:
    """The authors' features of one recording."""
    part = read_table(head, _FEATURE_LAYOUT.under(said))
    found = _FEATURE_FILE.fullmatch(head.path.name)
    assert found is not None, f"{head.path.name} was chosen by its name"
    task = TASKS[found[3]]
    names = {"person": found[1], "recording": task, "task": task, "stimulus": task}
    return replace(part, rate_hz=None, names=names)


def _with_attributes(study: Study, path: Path, said: Layout) -> Study:
    """The study with everybody's gender, where it is known and nobody says who people are."""
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
