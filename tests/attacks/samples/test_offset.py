from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.samples.offset import Pages, offsets
from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate


@pytest.fixture(scope="module")
def study():
    return simulate(people=8, tasks=("comic", "textbook"), minutes=3, seed=4, offset_deg=0)


def moved(study, far):
    """Everybody's gaze moved by an offset of their own."""
    people = study.people["person"].to_list()
    table = pl.DataFrame({"person": people, "right": far[:, 0], "down": far[:, 1]})
    data = study.data.join(table, on="person", how="left", maintain_order="left")
    data = data.with_columns(pl.col("x") + pl.col("right"), pl.col("y") + pl.col("down"))
    return replace(study, data=data.drop("right", "down"))


def test_planted_offsets_are_found(study):
    far = np.random.default_rng(0).normal(0, 1.0, (8, 2))
    found = offsets(moved(study, far), Pages.of(moved(study, far))).data
    by_task = found.with_columns(
        pl.col("across", "down") - pl.col("across", "down").mean().over("task")
    )
    measured = by_task.group_by("person", maintain_order=True).agg(pl.col("across", "down").mean())
    true = far - far.mean(axis=0)
    apart = measured.select("across", "down").to_numpy() - true
    assert np.sqrt((apart**2).mean()) < 0.25 * np.sqrt((true**2).mean())


def test_a_recording_is_never_laid_on_maps_of_its_own_person(study):
    one = study.data.filter(pl.col("person") == "P01")
    alone = replace(study, data=one)
    with pytest.raises(InputError, match="no two people"):
        offsets(alone, Pages.of(alone))


def test_a_release_is_laid_on_the_maps_of_raw_recordings(study):
    pages = Pages.of(study)
    before = offsets(study, pages).data
    right = moved(study, np.tile([1.0, 0.0], (8, 1)))
    after = offsets(right, pages).data
    np.testing.assert_allclose((after["across"] - before["across"]).median(), 1.0, atol=0.15)
    np.testing.assert_allclose((after["down"] - before["down"]).median(), 0.0, atol=0.15)
