"""Attacks on what a folder shows besides its values: each told neighbours apart once."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import pieces, study_folder
from eyelid.mechanisms import mechanism
from eyelid.releases.release import release

FEATURES = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(4)]


def shown(path):
    """Everything in a released folder that is no value: counts of rows and people of each part."""
    about = json.loads((path / "study.json").read_text())
    parts = [(part["file"], part["people"], part["rows"]) for part in about.get("parts", [])]
    return parts, study_folder.read_study(path).data["person"].value_counts(sort=True).rows()


def windows(rows, people=30):
    """People with one recording of so many rows each; nobody said how many were planned."""
    table = table_from_arrays(np.full((people, 1, max(rows), 4), 0.5), FEATURES)
    kept = pl.DataFrame({"person": [str(p) for p in range(people)], "kept": rows})
    place = pl.int_range(pl.len()).over("person")
    data = table.data.join(kept, on="person", maintain_order="left")
    data = data.filter(place < pl.col("kept")).drop("kept")
    return replace(table, data=data, planned_rows=None)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "dct"])
def test_parts_do_not_show_whose_recording_is_longer(tmp_path, monkeypatch, name):
    monkeypatch.setattr(pieces, "PIECE_VALUES", 30_000)
    seen = []
    for number, rows in enumerate((541, 596)):
        out = tmp_path / str(number)
        study = windows([rows, *[541] * 29])
        release(study, out, mechanism=name, epsilon=0.1, length=400)
        seen.append(shown(out))
    assert seen[0] == seen[1]
    assert len(seen[0][0]) > 1


def test_parts_are_the_same_from_disk_and_from_memory(tmp_path, monkeypatch):
    study = windows([300 + 40 * (person % 3) for person in range(12)], people=12)
    study_folder.write(study.study(), tmp_path / "study")
    monkeypatch.setattr(pieces, "PIECE_VALUES", 12_000)
    for name, source in (("disk", tmp_path / "study"), ("memory", study)):
        release(source, tmp_path / name, mechanism="laplace", epsilon=1e6, seed=1)
    one, other = (study_folder.read_study(tmp_path / name).data for name in ("disk", "memory"))
    assert one.equals(other)
    # So little noise that everybody's own values are seen, in everybody's own rows.
    first = one.filter(pl.col("time_ms") < 300 * 500.0)
    assert np.allclose(first.select(study.names).to_numpy(), 0.5, atol=0.1)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "dct", "fpa", "groupmean", "ksame-dp"])
def test_default_length_does_not_show_who_broke_off(tmp_path, name):
    settings = {"k": 4} if name == "ksame-dp" else {}
    seen = []
    for rows in (43, 5):
        out = tmp_path / str(rows)
        found = release(windows([rows, *[43] * 7], 8), out, mechanism=name, epsilon=1.0, **settings)
        seen.append((shown(out), found.certificate.unprotected))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ["groupmean", "ksame-dp"])
@pytest.mark.parametrize("recordings", [1, 2])
def test_slots_do_not_show_who_has_most_recordings(tmp_path, name, recordings):
    settings = {"k": 4, "per_task": recordings}
    if name == "groupmean":
        settings.pop("k")
    seen = []
    for most in (2, 5):
        table = table_from_arrays(np.full((8, most, 6, 4), 0.5), FEATURES)
        others = (pl.col("person") != "0") & (pl.col("recording").cast(pl.Int64) > 1)
        data = table.data.filter(~others).with_columns(pl.lit("read").alias("task"))
        out = tmp_path / str(most)
        found = release(replace(table, data=data), out, mechanism=name, epsilon=1.0, **settings)
        told = found.certificate.unprotected, found.certificate.to_dict()["noise"]
        seen.append((shown(out), told))
    assert seen[0] == seen[1]


def test_recordings_beyond_the_slots_do_not_count():
    table = table_from_arrays(np.full((4, 3, 5, 4), 0.25), FEATURES)
    data = table.data.with_columns(
        pl.lit("read").alias("task"),
        pl.when(pl.col("recording") == "2")
        .then(1.0)
        .otherwise(pl.col("feature_0"))
        .alias("feature_0"),
    )
    law = mechanism("groupmean", epsilon=1e6, per_task=2, inner="laplace")
    table = replace(table, data=data)
    assert law.shape(table).recordings == 2
    means = law.exact(table, law.groups(table)).data
    assert means["recording"].unique(maintain_order=True).to_list() == ["1", "2"]
    assert means["feature_0"].to_list() == pytest.approx([0.25] * 10)


def test_the_owner_hears_what_a_default_length_leaves_out():
    notes = release(windows([43] * 8, 8), mechanism="laplace", epsilon=1.0).notes
    assert any("600 rows" in note and "43 to 43" in note for note in notes)
    assert not release(windows([43] * 8, 8), mechanism="laplace", epsilon=1.0, length=43).notes


def test_a_planned_length_goes_from_samples_to_windows(tmp_path):
    from eyelid.gaze.simulator import simulate

    study = simulate(people=2, tasks=("comic",), minutes=1.0, seed=1)
    assert isinstance(study, Study)
    assert study.planned_ms == 48_000.0
    study_folder.write(study, tmp_path / "study")
    kept = study_folder.read_study(tmp_path / "study")
    table = FeatureTable.of(release(kept, mechanism="laplace", epsilon=1.0).table.study())
    assert table.recordings["rows"].to_list() == [37, 37]
