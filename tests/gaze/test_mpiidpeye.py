"""The window features on real people: uncalibrated pupil positions at 30 Hz."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from eyelid.gaze.study import Study
from eyelid.gaze.windows import window_features

TASKS = {1: "comic", 2: "newspaper", 3: "textbook"}


def mpiidpeye(folder: Path) -> Study:
    people = [f"P{number}" for number in range(1, 21)]
    frames = []
    for person in people:
        for number, task in TASKS.items():
            columns = ["x", "y", "time_s", "confidence", "pupil"]
            samples = pl.read_csv(
                folder / "Eye_Tracking_Data" / f"Data_{person}_R{number}.csv",
                separator=";",
                has_header=False,
                new_columns=columns,
            )
            keys = {"person": person, "recording": task, "task": task, "stimulus": task}
            frames.append(
                samples.select(
                    *[pl.lit(value).alias(name) for name, value in keys.items()],
                    (pl.col("time_s") * 1000.0).alias("time_ms"),
                    *["x", "y", "pupil", "confidence"],
                )
            )
    return Study(
        kind="samples",
        data=pl.concat(frames),
        people=pl.DataFrame({"person": people}),
        units="normalised",
        rate_hz=30.0,
    )


def test_real_people_are_recognised_and_their_documents_told(
    real_data, rank1_across_documents, document_accuracy
):
    folder = real_data / "MPIIDPEye"
    if not folder.exists():
        pytest.skip("MPIIDPEye is not in EYELID_DATA")
    table = window_features(mpiidpeye(folder))
    for feature in table.features:
        column = table.data[feature.name]
        assert column.drop_nulls().is_between(feature.lower, feature.upper).all()
        # A bound that many windows touch would hide what it bounds.
        assert (column == feature.upper).mean() < 0.05 or feature.name.endswith("ratio")
    assert rank1_across_documents(table) >= 0.65
    assert document_accuracy(table) >= 0.85
