"""How like recordings are to those of people: near ones are told from far ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.quality import (
    QUANTITIES,
    event_distances,
    gaze_quality,
    place_scores,
    resting_levels,
    spectrum_differences,
)
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study


@pytest.fixture(scope="module")
def people() -> Study:
    return simulate(people=12, tasks=("comic", "image"), minutes=1.0, seed=1)


@pytest.fixture(scope="module")
def others() -> Study:
    return simulate(people=12, tasks=("comic", "image"), minutes=1.0, seed=2)


def slower(study: Study) -> Study:
    """Everybody's eyes at two thirds of the speed."""
    return replace(study, data=study.data.with_columns(pl.col("time_ms") * 1.5), rate_hz=40.0)


def test_other_people_are_about_as_far_as_halves_of_the_same(people, others):
    found = event_distances(people, others)
    assert found["ratio"].max() < 3.0
    assert 0.5 < found["ratio"].median() < 1.5
    assert set(found["quantity"]) == set(QUANTITIES)


def test_people_are_at_no_distance_from_themselves(people):
    found = event_distances(people, people)
    assert found["distance"].max() == pytest.approx(0.0, abs=1e-9)


def test_slower_eyes_are_far(people, others):
    found = event_distances(people, slower(others)).filter(task="comic")
    ratio = dict(found.select("quantity", "ratio").iter_rows())
    assert ratio["fixation_ms"] > 3.0
    assert ratio["peak_speed_deg_s"] > 3.0
    assert ratio["saccade_amplitude_deg"] < 3.0


def test_an_unknown_task_has_no_distance(people):
    other = people.data.with_columns(task=pl.lit("film"))
    found = event_distances(people, replace(people, data=other))
    assert found["distance"].is_null().all()


def test_too_few_people_have_no_halves(people):
    few = replace(people, data=people.data.filter(pl.col("person").is_in(["P01", "P02", "P03"])))
    assert event_distances(few, people)["ratio"].is_null().all()


def test_louder_rest_is_so_many_decibels_louder(people):
    rng = np.random.default_rng(0)
    noisy = [
        pl.col(axis) + pl.Series(rng.normal(0.0, 0.06, len(people.data))) for axis in ("x", "y")
    ]
    found = spectrum_differences(people, replace(people, data=people.data.with_columns(noisy)))
    fast = found.filter(pl.col("hz") > 6.0)
    # As much noise again as the tracker's own.
    assert fast["difference_db"].min() > 1.5
    assert fast["difference_db"].max() < 4.5
    same = spectrum_differences(people, people)
    assert same["difference_db"].abs().max() == 0.0


def test_spectra_reach_from_a_hertz_to_a_third_of_the_rate(people):
    levels = resting_levels(people)
    assert levels["hz"].min() < 1.6
    assert 14.0 < levels["hz"].max() < 20.0 * 2.0 ** (1.0 / 3.0)


def test_maps_of_the_same_picture_foretell_where_others_look(people, others):
    scores = place_scores(people, others).filter(task="image").row(0, named=True)
    assert scores["cc"] > 0.7
    assert scores["nss"] > 0.5
    assert scores["auc"] > 0.65
    turned = others.data.with_columns(x=44.4 - pl.col("x"), y=26.0 - pl.col("y"))
    away = place_scores(people, replace(others, data=turned)).filter(task="image")
    assert away["cc"][0] < scores["cc"] - 0.2
    assert away["nss"][0] < scores["nss"]


def test_all_of_it_in_one_table(people, others):
    quality = gaze_quality(people, others)
    frame = quality.frame
    assert frame.columns == ["measure", "task", "of", "value", "halves"]
    assert set(frame["measure"]) == {"event", "spectrum", "map cc", "map nss", "map auc"}
    assert quality.farthest == quality.events["ratio"].max()
    assert "times as far as halves of people" in repr(quality)
