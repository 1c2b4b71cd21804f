"""What a generator needs of a task, and how it is fitted without noise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.generator import PARAMETERS, Places, profiles_of
from eyelid.gaze.generator.parameters import parameter


def table_of(values: dict[str, list[float | None]]) -> pl.DataFrame:
    people = [f"P{n // 2}" for n in range(len(next(iter(values.values()))))]
    empty = {one.name: [None] * len(people) for one in PARAMETERS}
    return pl.DataFrame(
        {"person": people, "recording": "r", "task": "look", "stimulus": "", **empty, **values},
        schema_overrides=dict.fromkeys([one.name for one in PARAMETERS], pl.Float64),
    )


def test_means_and_spreads_are_on_the_scale_of_a_parameter():
    rng = np.random.default_rng(0)
    own = np.repeat(rng.normal(np.log(240.0), 0.2, 400), 2)
    logs = own + rng.normal(0.0, 0.1, 800)
    profile = profiles_of(table_of({"fixation_ms": np.exp(logs).tolist()}), {})["look"]
    assert abs(profile.means["fixation_ms"] - np.log(240.0)) < 0.03
    assert abs(profile.between["fixation_ms"] - 0.2) < 0.03
    assert abs(profile.within["fixation_ms"] - 0.1) < 0.03


def test_what_nobody_has_is_the_norms():
    profile = profiles_of(table_of({"fixation_ms": [200.0, 210.0, 250.0, 260.0]}), {})["look"]
    means, between, within = profile.table()
    for number, one in enumerate(PARAMETERS):
        if one.name != "fixation_ms":
            found = (means[number], between[number], within[number])
            assert found == (one.centre, one.between, one.within)


def test_values_outside_their_bounds_count_as_the_bound():
    least = parameter("blinks_per_min").lower
    profile = profiles_of(table_of({"blinks_per_min": [0.0, 0.0, 0.0, 0.0]}), {})["look"]
    assert profile.means["blinks_per_min"] == pytest.approx(np.log(least))


def test_noisy_places_are_places():
    places = Places(np.array([[-3.0, 1.0], [np.nan, 3.0]]))
    assert places.shares.tolist() == [[0.0, 0.25], [0.0, 0.75]]
    assert Places(np.full((2, 2), -1.0)).shares.tolist() == [[0.25, 0.25], [0.25, 0.25]]
    with pytest.raises(InputError, match="a grid of rows and columns"):
        Places(np.ones(3))


def test_every_norm_lies_within_its_public_bounds():
    for one in PARAMETERS:
        lower, upper = one.bounds
        reach = 2.0 * np.hypot(one.between, one.within)
        assert lower < one.centre < upper
        if one.scale == "log":
            assert lower < one.centre - reach
            assert upper > one.centre + reach
        assert one.source.startswith(("published: ", "ours: "))
