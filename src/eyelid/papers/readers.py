"""The people of MPIIDPEye as features of windows: the authors' own, or computed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from eyelid.gaze.features import window_features
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.io.formats.mpiidpeye import FEATURE_FOLDER, feature_files, read_authors_features
from eyelid.io.layout import NOTHING_SAID

READERS = "MPIIDPEye"
_PEOPLE, _RECORDINGS = 20, 60


@dataclass(frozen=True, eq=False)
class ReadingFeatures:
    """Features of people who read.

    Attributes:
        table: one row a window.
        authors: whether the features are the authors' own. Then their bounds are those of the data:
            nothing that needs public bounds is private with them.
        says: whose features these are, in a sentence.
    """

    table: FeatureTable
    authors: bool
    says: str


def reading_features(folder: Path) -> ReadingFeatures:
    """The authors' own features where the folder has them, else windows of its raw recordings.

    Args:
        folder: of MPIIDPEye.
    """
    if feature_files(folder):
        table = FeatureTable.of(read_authors_features(folder, NOTHING_SAID))
        return ReadingFeatures(
            replace(table, features=tuple(bounded_by_data(table.data, f) for f in table.features)),
            authors=True,
            says=(
                f"Features are the authors' own, from {FEATURE_FOLDER}. Their Readme states no "
                "bounds: what needs bounds uses the extremes of the data, so no ε of ours is valid "
                f"on this page.{_incomplete(table)}"
            ),
        )
    table = window_features(read(folder))
    return ReadingFeatures(
        table,
        authors=False,
        says=(
            "Features are our own: 52 of each window, computed from the raw recordings as the "
            "dataset's Readme lists them. The authors' files were not at hand "
            f"({FEATURE_FOLDER}/Data_P1_R1_Pami_Features_52.csv and so on, used where the folder "
            "of the dataset has them), so numbers can differ from the paper's for that alone."
            f"{_incomplete(table)}"
        ),
    )


def _incomplete(table: FeatureTable) -> str:
    """That a copy lacks recordings, in a sentence; empty for a whole one."""
    people, recordings = table.recordings["person"].n_unique(), len(table.recordings)
    if (people, recordings) == (_PEOPLE, _RECORDINGS):
        return ""
    return (
        f" This copy has {recordings} recordings of {people} people, where the dataset has "
        f"{_RECORDINGS} of {_PEOPLE}: the paper's numbers are of all of them."
    )


def bounded_by_data(data: pl.DataFrame, feature: Feature) -> Feature:
    """A feature between the least and the largest value that there is of it.

    >>> there = pl.DataFrame({"rate": [2.0, 5.0, None]})
    >>> found = bounded_by_data(there, Feature("rate", "", "", 0.0, 0.0))
    >>> found.lower, found.upper
    (2.0, 5.0)
    """
    values = data[feature.name].drop_nulls().drop_nans()
    low, high = (float(end) for end in (values.min() or 0.0, values.max() or 0.0))  # type: ignore[arg-type]
    return replace(feature, lower=low, upper=high if high > low else low + 1.0)
