"""What the paper was run on: MPIIDPEye and MPIIPrivacEye, or simulated readers for the first.

Where a copy of MPIIDPEye has the authors' feature files they are used, as in the paper; else the 52
window features are computed here, from raw recordings (`eyelid.papers.readers`).

MPIIPrivacEye has not been seen by those who wrote this. Its folder, its file names and that the
first 52 columns are eye-movement features are confirmed (`eyelid.io.formats.mpiiprivaceye`), and so
are 17 people, three recordings, and one row a second. That the 52 stand in the order of MPIIDPEye's
is taken from both datasets being of the same authors and described alike. Where the ground truth
stands is not known: it is the one column after the 52nd that takes exactly two values over all
files, the last one if there are several.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import polars.selectors as cs

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.io.files import text_table
from eyelid.io.formats.mpiidpeye import numbered_files
from eyelid.papers.bozkir2021.experiment import paper_features, without_minima
from eyelid.papers.readers import bounded_by_data, reading_features

READERS, DAILY_LIFE = "MPIIDPEye", "MPIIPrivacEye"
PRIVACY = "label_privacy"

_PEOPLE, _MINUTES, _FAST_MINUTES, _RATE_HZ = 20, 10.0, 5.0, 30.0
_FILE = re.compile(r"(P(\d+))_(R(\d+))_data\.csv")
_FEATURES = 52
_STEP_MS, _WINDOW_MS = 1000.0, 30_000.0


@dataclass(frozen=True, eq=False)
class Source:
    """One dataset, or what stands in its place.

    Attributes:
        name: of the dataset, or of the simulator.
        table: the paper's 48 features.
        windows: all 52, where they were computed here; None where they are the authors' own.
        says: who they are, in words.
        unlike: why numbers can differ from the paper's, besides noise; empty if nothing is known.
        public_bounds: whether bounds of features are public; else they are the data's own.
        every: one of so many windows is looked at in the paper.
        every_of_person: the same where people are named.
    """

    name: str
    table: FeatureTable
    says: str
    unlike: str = ""
    windows: FeatureTable | None = None
    public_bounds: bool = True
    every: int = 10
    every_of_person: int = 5

    @property
    def simulated(self) -> bool:
        """Whether these participants are simulated."""
        return self.table.simulated

    @property
    def people(self) -> int:
        """How many."""
        return self.table.recordings["person"].n_unique()


def readers(folder: Path | None, fast: bool, seed: int) -> Source:
    """The people of MPIIDPEye, or as many simulated ones who read the same for about as long.

    Args:
        folder: of the dataset; None for the simulator.
        fast: whether simulated participants read half as long.
        seed: of simulated participants.
    """
    if folder is None:
        minutes = _FAST_MINUTES if fast else _MINUTES
        study = simulate(people=_PEOPLE, minutes=minutes, rate_hz=_RATE_HZ, seed=seed)
        windows = replace(window_features(study), simulated=True)
        table = paper_features(windows)
        says = f"simulated participants, {_size(table)}"
        return Source("simulator", table, says, "Participants are simulated.", windows)
    found = reading_features(folder)
    if found.authors:
        table = without_minima(found.table)
        return Source(READERS, table, _size(table), found.says, public_bounds=False)
    table = paper_features(found.table)
    return Source(READERS, table, _size(table), found.says, found.table)


def in_daily_life(folder: Path) -> Source:
    """The people of MPIIPrivacEye."""
    study = read(folder)
    table = FeatureTable.of(study)
    if len(table.names) != _FEATURES:
        raise InputError(
            f"{folder} has {len(table.names)} features, not {_FEATURES}: is it {DAILY_LIFE}?"
        )
    named = dict(zip(table.names, (f.name for f in window_feature_set()), strict=True))
    data = table.data.rename(named)
    label = _ground_truth(folder, data)
    if label is not None:
        data = data.with_columns(label)
    data = data.with_columns(
        task="recording", time_ms=pl.int_range(pl.len()).over("person", "recording") * _STEP_MS
    )
    # The features of the end of a recording may be missing: it is left out, as in the paper.
    known = pl.any_horizontal(pl.col(list(named.values())).is_finite().fill_null(False))
    data = data.filter(known.reverse().cum_max().reverse().over("person", "recording"))
    table = replace(
        table,
        data=data,
        features=tuple(
            bounded_by_data(data, Feature(name, "", name, 0.0, 1.0)) for name in named.values()
        ),
        step_ms=_STEP_MS,
        window_ms=_WINDOW_MS,
    )
    table = without_minima(table)
    return Source(
        DAILY_LIFE, table, _size(table), public_bounds=False, every=20, every_of_person=10
    )


def _size(table: FeatureTable) -> str:
    recordings = table.recordings
    rows = recordings["rows"].to_numpy()
    return (
        f"{recordings['person'].n_unique()} people, {len(rows)} recordings of {rows.min()} to "
        f"{rows.max()} windows, {len(table.names)} features"
    )


def _ground_truth(folder: Path, data: pl.DataFrame) -> pl.Series | None:
    """The column with two values, a value a row of the data; None where there is no such thing."""
    home = folder / "Features_and_Ground_Truth"
    files = numbered_files(home if home.is_dir() else folder, _FILE)
    parts = [_after_the_features(file) for file in track(files, "looking for the ground truth")]
    # Numbers in one file and words in another are no ground truth.
    everywhere = set.intersection(*(set(part.schema.items()) for part in parts))
    order = [name for name, kind in parts[0].schema.items() if (name, kind) in everywhere]
    joined = pl.concat([part.select(order) for part in parts])
    several = [name for name in order if joined[name].drop_nulls().n_unique() == 2]
    if not several:
        return None
    found = joined[several[-1]]
    if len(found) != len(data):
        raise InputError(
            f"{folder} has {len(found)} lines with a ground truth and {len(data)} with features: "
            "unpack the dataset again"
        )
    return found.cast(pl.String).alias(PRIVACY)


def _after_the_features(file: Path) -> pl.DataFrame:
    """The columns of a file beyond the features that take at most two values in it."""
    content = file.read_bytes()
    separator = ";" if b";" in content.partition(b"\n")[0] else ","
    table = text_table(content, has_header=False, separator=separator, infer_schema_length=None)
    few = [c for c in table.columns[_FEATURES:] if table[c].drop_nulls().n_unique() <= 2]
    return table.select(few).with_columns(cs.numeric().cast(pl.Float64))
