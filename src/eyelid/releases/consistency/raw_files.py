"""Small studies as people have them: text tables that no eyelid wrote, and a map of their columns.

What is decided as files are read (which rows are a recording, which columns there are) must not
follow from one participant's rows either, so neighbours are compared from here on, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from eyelid.gaze.study import Study
from eyelid.io.csv_cells import csv_text
from eyelid.io.layout import MAP_NAME
from eyelid.io.reading import read


def write_table(study: Study, folder: Path) -> None:
    """One table of everybody, which does not say what a recording is: tasks alone tell.

    Times stay as they are, but that a task which is done again goes on after the first time.

    Args:
        study: of samples.
        folder: a new one.
    """
    folder.mkdir()
    rows = study.data.drop("recording")
    task = ["person", "task", "stimulus"]
    step = pl.col("time_ms").diff().over(task)
    again = (step <= 0).fill_null(False)
    back = pl.when(again).then(1.0 - step).otherwise(0.0).cum_sum().over(task)
    text = csv_text(rows.with_columns(pl.col("time_ms") + back))
    (folder / "gaze.csv").write_text(text, encoding="utf-8")
    _write_map(study, folder)


def write_files(study: Study, folder: Path) -> None:
    """A table for each participant, called after them.

    Args:
        study: of samples.
        folder: a new one.
    """
    folder.mkdir()
    for (name,), rows in study.data.group_by("person", maintain_order=True):
        text = csv_text(rows.drop("person"))
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    _write_map(study, folder, 'file = "{person}"')


def as_read(folder: Path, replaced: str) -> Iterator[tuple[str, str]]:
    """What becomes of everybody's files but one participant's, by place.

    Noise hides what others' values are; here they are compared themselves.

    Args:
        folder: as written here.
        replaced: the participant whose data are another's in a neighbour.
    """
    study = read(folder)
    others = study.data.filter(pl.col("person") != replaced)
    yield "as read: columns", str(dict(study.data.schema))
    yield "as read: rows of others", hashlib.sha256(csv_text(others).encode()).hexdigest()
    for name in ("kind", "units", "xy_origin", "pupil_unit", "screen", "rate_hz"):
        yield f"as read: {name}", str(getattr(study, name))


def _write_map(study: Study, folder: Path, *lines: str) -> None:
    """What the tables do not say, and everybody knows."""
    facts = {name: getattr(study, name) for name in ("units", "xy_origin", "pupil_unit")}
    said = [f'{name} = "{value}"' for name, value in facts.items() if value is not None]
    screen = {} if study.screen is None else vars(study.screen)
    sizes = [f"{name} = {size}" for name, size in screen.items() if size is not None]
    text = [*said, *lines, "", *(["[screen]", *sizes] if sizes else []), ""]
    (folder / MAP_NAME).write_text("\n".join(text), encoding="utf-8")
