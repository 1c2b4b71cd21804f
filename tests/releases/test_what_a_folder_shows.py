"""Attacks on what a folder shows besides its values: each told neighbours apart once."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.study import Feature, Screen, Study
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.io import pieces, study_folder
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.certificate import NARROWEST_FORM
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
    mechanism = mechanism_named("groupmean", epsilon=1e6, per_task=2, inner="laplace")
    table = replace(table, data=data)
    assert mechanism.facts(table).recordings == 2
    means = mechanism.exact(table, mechanism.groups(table)).data
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


def two_eyes(other_eye):
    """Eight people whose left eye was always seen; the second one's right eye as often as said."""
    rows = []
    for person in range(8):
        for eye, samples in (("left", 200), ("right", other_eye if person == 1 else 200)):
            place = np.random.default_rng(person).uniform(0, 48, (2, samples))
            keys = {"person": f"P{person}", "recording": "1", "task": "t", "stimulus": ""}
            time_ms = np.arange(samples) * 10.0
            rows.append(
                pl.DataFrame({"time_ms": time_ms, "eye": eye, "x": place[0], "y": place[1]})
                .with_columns(pl.lit(value).alias(name) for name, value in keys.items())
                .select("person", "recording", "task", "stimulus", "time_ms", "eye", "x", "y")
            )
    people = pl.DataFrame({"person": [f"P{person}" for person in range(8)]})
    screen = Screen(64, 48)
    return Study(
        "samples", pl.concat(rows), people, "px", 100.0, screen=screen, xy_origin="top-left"
    )


def test_parts_do_not_show_how_long_an_eye_that_is_not_released_was_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_VALUES", 8100)
    seen = []
    for samples in (200, 5):
        out = tmp_path / str(samples)
        release(
            two_eyes(samples), out, mechanism="uniform", epsilon=1.0, window=6, radius=4.0,
            eye="left",
        )  # fmt: skip
        seen.append(shown(out))
    assert seen[0] == seen[1]
    assert len(seen[0][0]) > 1


def test_a_total_is_not_stated_for_a_form_that_an_earlier_release_does_not_hide(tmp_path):
    study_folder.write(windows([43] * 8, 8).study(), tmp_path / "study")
    release(tmp_path / "study", tmp_path / "one", mechanism="laplace", epsilon=0.05)
    release(tmp_path / "study", tmp_path / "two", mechanism="groupmean", epsilon=0.05)
    card = (tmp_path / "two" / "DATACARD.md").read_text(encoding="utf-8")
    totals = [line for line in card.splitlines() if "so far" in line or "shared of you" in line]
    assert totals
    assert all(NARROWEST_FORM in line for line in totals)
