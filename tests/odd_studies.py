"""Studies as people really have them: each with one thing that is not as it should be.

Every function writes the files of one study into a folder and returns what has to be said of them
on the command line. The people are simulated; what is odd is how they were recorded and kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from scipy.io import savemat

from eyelid.gaze.simulator import simulate

PEOPLE, SECONDS = 6, 12.0
WINDOW = ("--window", "4", "--step", "1")
KEYS = "time_ms", "x", "y", "pupil"


@dataclass(frozen=True)
class Odd:
    """How a study is taken through eyelid.

    Attributes:
        source: the file or folder that is given.
        said: options of every command that reads it.
        features: options of `features`; None where the study has features already.
        table: of what is said only when it is converted.
    """

    source: Path
    said: tuple[str, ...] = ()
    features: tuple[str, ...] | None = WINDOW
    table: tuple[str, ...] = field(default=())


@cache
def _gaze() -> pl.DataFrame:
    """Six people, two tasks each, in degrees."""
    study = simulate(
        people=PEOPLE, tasks=("comic", "newspaper"), rate_hz=60, minutes=SECONDS / 60, seed=14
    )
    return study.data.select("person", "task", *KEYS)


def _recordings() -> dict[tuple[str, str], pl.DataFrame]:
    parts = _gaze().partition_by("person", "task", as_dict=True, include_key=False)
    return {(str(person), str(task)): rows for (person, task), rows in parts.items()}


def _csv(folder: Path, name: str, rows: pl.DataFrame) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows.write_csv(folder / name)


def unequal_recordings(folder: Path) -> Odd:
    """Some people came twice, some three times; files are numbered, not named after tasks."""
    for number, ((person, _), rows) in enumerate(_recordings().items()):
        _csv(folder, f"{person}_{number % 2 + 1}.csv", rows)
    _csv(folder, "P02_3.csv", next(iter(_recordings().values())))
    return Odd(folder, ("--map", "file={person}_{recording},units=deg"))


def one_short_file(folder: Path) -> Odd:
    """One recording broke off after a second, one of another person after three samples."""
    lengths = {0: 60, 5: 3}
    for number, ((person, task), rows) in enumerate(_recordings().items()):
        _csv(folder, f"{person}_{task}.csv", rows.head(lengths.get(number, rows.height)))
    return Odd(folder, ("--map", "file={person}_{task},units=deg"))


def no_usable_recording(folder: Path) -> Odd:
    """All recordings of one person broke off at once, one of them before the first sample."""
    lengths = {("P03", "comic"): 20, ("P03", "newspaper"): 0}
    for (person, task), rows in _recordings().items():
        kept = lengths.get((person, task), rows.height)
        _csv(folder, f"{person}_{task}.csv", rows.head(kept))
    return Odd(folder, ("--map", "file={person}_{task},units=deg"))


def missing_feature(folder: Path) -> Odd:
    """A webcam: nobody's pupil was measured, and no blink was seen."""
    for (person, task), rows in _recordings().items():
        seen = rows.filter(pl.col("x").is_not_null()).drop("pupil")
        _csv(folder, f"{person}_{task}.csv", seen)
    return Odd(folder, ("--map", "file={person}_{task},units=deg"))


def foreign_mat(folder: Path) -> Odd:
    """The layout of OSIE, of other people, with images of another size."""
    rng = np.random.default_rng(14)
    images = np.empty((8, 1), dtype=object)
    for image in range(8):
        subjects = np.empty((PEOPLE, 1), dtype=object)
        for person in range(PEOPLE):
            count = int(rng.integers(8, 15))
            x, y = rng.normal(512, 200, count), rng.normal(384, 150, count)
            durations = rng.gamma(4.0, 60.0 + 5 * person, count).round()
            subjects[person, 0] = {"fix_x": x, "fix_y": y, "fix_duration": durations}
        images[image, 0] = {"img": f"{image}.jpg", "subjects": subjects}
    folder.mkdir(parents=True)
    savemat(folder / "fixations.mat", {"fixations": images})
    said = "screen=1024x768,screen_m=0.4x0.3,distance_m=0.6"
    return Odd(folder / "fixations.mat", ("--map", said), ("--kind", "fixations"))


def json_samples(folder: Path) -> Odd:
    """A browser kept everything in JSON, the samples in a list inside."""
    folder.mkdir(parents=True)
    for (person, task), rows in _recordings().items():
        samples = rows.drop("pupil").rename({"time_ms": "t"}).to_dicts()
        text = json.dumps({"trial": {"task": task, "samples": samples}})
        (folder / f"{person}_{task}.json").write_text(text)
    return Odd(folder, ("--map", "file={person}_{task},time=t,time_unit=ms,units=deg"))


def fixation_report(folder: Path) -> Odd:
    """What most public reading data are: a row for each fixation, people with unequal trials."""
    rng = np.random.default_rng(15)
    rows = []
    for person in range(PEOPLE):
        for trial in range(3 + person % 2):
            x = 100.0
            for _ in range(int(rng.integers(15, 25))):
                x = x + rng.normal(60 + 4 * person, 20) if x < 900 else 100.0
                spent = int(rng.gamma(6.0, 35.0 + 3 * person))
                rows.append((f"reader{person}", trial + 1, round(x, 1), 300.0, spent))
    names = "RECORDING_SESSION_LABEL", "TRIAL_INDEX", "CURRENT_FIX_X", "CURRENT_FIX_Y"
    table = pl.DataFrame(rows, schema=[*names, "CURRENT_FIX_DURATION"], orient="row")
    _csv(folder, "report.csv", table)
    said = "screen=1024x768,screen_m=0.4x0.3,distance_m=0.6"
    return Odd(folder / "report.csv", ("--map", said), ("--kind", "fixations"))


def ids_in_file_names(folder: Path) -> Odd:
    """Workers of a crowd-sourcing site: their ids are the names of the files."""
    people = sorted({person for person, _ in _recordings()})
    names = {person: f"A{3 * place}KQ7ZXW{place}B2LMD" for place, person in enumerate(people)}
    for (person, task), rows in _recordings().items():
        _csv(folder, f"{names[person]}_{task}.csv", rows)
    return Odd(folder, ("--map", "file={person}_{task},units=deg"))


def trial_measures(folder: Path) -> Odd:
    """No gaze at all: a table of measures by trial, with empty cells, and what they may be."""
    rng = np.random.default_rng(16)
    rows = [
        (
            f"reader{person}",
            f"t{trial}",
            "easy" if trial % 2 else "hard",
            round(float(rng.normal(220 + 8 * person, 15)), 1),
            None if (person + trial) % 5 == 0 else round(float(rng.beta(2, 9)), 3),
        )
        for person in range(PEOPLE)
        for trial in range(6)
    ]
    names = ["Subject", "trial", "text, kind", "fix dur (ms)", "skip"]
    _csv(folder, "trials.csv", pl.DataFrame(rows, schema=names, orient="row"))
    (folder / "features.csv").write_text(
        "name,column,unit,lower,upper,definition\n"
        'fixation_duration,"fix dur (ms)",ms,80,600,mean duration of a fixation\n'
        "skip,skip,,0,1,share of words that were not fixated\n"
    )
    said = 'person=Subject,recording=trial,task="text, kind"'
    table = ("--map", said, "--features", str(folder / "features.csv"))
    return Odd(folder / "trials.csv", (), None, table)


ODD_STUDIES: tuple[Callable[[Path], Odd], ...] = (
    unequal_recordings,
    one_short_file,
    no_usable_recording,
    missing_feature,
    foreign_mat,
    json_samples,
    fixation_report,
    ids_in_file_names,
    trial_measures,
)
