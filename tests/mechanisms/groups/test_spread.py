from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.groups.spread import (
    PublicSpread,
    drawn_around,
    measured_on,
    published_to_simulated,
)
from eyelid.privacy import randomness
from eyelid.verification.groups import spread_of_means_alone

RATE = Feature("saccade_rate", "1/s", "", 0.0, 20.0)
SHARE = Feature("small_saccade_ratio", "1", "", 0.0, 1.0)
OWN = Feature("heart_rate", "1/min", "", 30.0, 220.0)


def groups(people: int, value: float = 4.0, rows: int = 30, tasks: int = 2) -> FeatureTable:
    """One group of so many people whose mean is the same everywhere, and a feature of no norm."""
    values = np.empty((1, tasks, rows, 3))
    values[...] = value, 0.4, 70.0
    table = table_from_arrays(values, [RATE, SHARE, OWN])
    weights = pl.DataFrame({"person": table.people["person"], "people": [people]})
    return replace(table, people=weights, step_ms=500.0, window_ms=2000.0)


def drawn_values(table: FeatureTable, seed: int = 1, times: float = 1.0) -> np.ndarray:
    """People × recordings × rows × features of what is drawn."""
    shown = drawn_around(table, randomness(seed), times)
    people, recordings = len(shown.people), shown.data["recording"].n_unique()
    return shown.data.select(table.names).to_numpy().reshape(people, recordings, -1, 3)


def test_a_synthetic_participant_for_each_member_whose_mean_is_the_groups():
    values = drawn_values(groups(7))
    assert values.shape == (7, 2, 30, 3)
    np.testing.assert_allclose(values[..., 0].mean(axis=0), 4.0, rtol=1e-12)
    np.testing.assert_allclose(values[..., 1].mean(axis=0), 0.4, rtol=1e-12)


def test_people_differ_by_the_published_norm_less_what_a_mean_has():
    # By the norm of any task saccade rates are 3.64 ± 1 a second.
    for people in (2, 400):
        drawn = [drawn_values(groups(people, rows=1), seed) for seed in range(4000 // people)]
        share = np.concatenate([each[:, :, 0, 0].ravel() for each in drawn]) / 4.0 - 1.0
        wanted = 1 / 3.64 * np.sqrt(1 - 1 / people)
        # Of 8,000 draws in pairs the standard deviation is known within some 2%.
        assert share.std() == pytest.approx(wanted, rel=0.06)


def test_what_a_person_has_lasts_over_recordings_and_half_the_spread_is_asked_for():
    values = drawn_values(groups(400, rows=1))[:, :, 0, 0]
    assert np.corrcoef(values[:, 0], values[:, 1])[0, 1] > 0.3
    narrow = drawn_values(groups(400, rows=1), times=0.5)[:, :, 0, 0]
    assert narrow.std() == pytest.approx(values.std() / 2, rel=0.15)


def test_a_feature_without_norm_and_a_constant_stay_what_they_are():
    values = drawn_values(groups(5))
    assert (values[..., 2] == 70.0).all()
    assert (drawn_values(groups(5, value=0.0))[..., 0] == 0.0).all()


def test_values_stay_inside_their_bounds_at_either_end():
    for value in (0.01, 19.9):
        values = drawn_values(groups(6, value=value))
        assert values[..., 0].min() >= 0.0
        assert values[..., 0].max() <= 20.0
        assert ((values[..., 1] >= 0) & (values[..., 1] <= 1)).all()


def test_two_values_are_drawn_around_their_means_and_gaps_stay_gaps():
    table = groups(4, rows=8)
    data = table.data.with_columns(
        pl.when(pl.int_range(pl.len()) % 3 == 0)
        .then(None)
        .otherwise(pl.int_range(pl.len()) % 2)
        .cast(pl.Float64)
        .alias(SHARE.name)
    )
    shown = drawn_around(replace(table, data=data), randomness(1))
    empty = data[SHARE.name].is_null().to_list()
    assert shown.data[SHARE.name].is_null().to_list() == empty * 4
    # At both ends there is nowhere to go.
    assert set(shown.data[SHARE.name].drop_nulls()) == {0.0, 1.0}


def test_rows_move_as_overlapping_windows_do():
    table = groups(200, rows=60, tasks=1)
    rng = np.random.default_rng(3)
    moving = pl.Series(RATE.name, 4.0 + 0.05 * rng.standard_normal(60))
    table = replace(table, data=table.data.with_columns(moving))
    values = drawn_values(table)[:, 0, :, 0] / moving.to_numpy() - 1
    inside = values - values.mean(axis=1, keepdims=True)

    def at(lag: int) -> float:
        return float((inside[:, lag:] * inside[:, :-lag]).mean() / np.square(inside).mean())

    # Windows of four rows: three quarters in common with the next, nothing with the fifth.
    assert at(1) == pytest.approx(0.75, abs=0.08)
    assert abs(at(5)) < 0.1
    # Means over 200 people move √200 times less than one of them.
    assert inside.std() == pytest.approx(0.05 / 4 * np.sqrt(200), rel=0.25)


def test_moves_that_all_groups_share_are_no_persons_own():
    page = np.sin(np.arange(40.0)) * 0.3 + 4.0
    values = np.empty((3, 1, 40, 1))
    values[..., 0] = page
    table = table_from_arrays(values, [RATE])
    table = replace(table, people=table.people.with_columns(people=pl.lit(50)))
    shown = drawn_around(table, randomness(2)).data[RATE.name].to_numpy().reshape(150, 40)
    # What is left is what people have, the same in every row of a recording.
    np.testing.assert_allclose(np.ptp(shown / page, axis=1), 0.0, atol=1e-9)


def test_spread_is_refused_where_nothing_is_publicly_known_of_it():
    own = table_from_arrays(np.full((4, 1, 3, 1), 70.0), [OWN])
    mechanism = mechanism_named("ksame", k=2, spread="public")
    with pytest.raises(
        InputError, match=r"no norm is published .*heart_rate.*leave spread out.*eyelid norms"
    ):
        mechanism.check(own)


def test_spread_comes_from_nowhere_else():
    with pytest.raises(InputError, match="never taken from the people"):
        mechanism_named("ksame", k=2, spread="data")


def test_a_release_with_one_row_a_person_is_drawn_too():
    values = np.random.default_rng(1).uniform(2, 6, (9, 1, 1, 1))
    table = table_from_arrays(values, [RATE])
    shown = mechanism_named("ksame", k=4, spread="public").apply(table, randomness(1))
    assert len(shown.data) == 9
    assert shown.data["saccade_rate"].n_unique() == 9
    assert shown.data["saccade_rate"].mean() == pytest.approx(values.mean(), rel=1e-9)


def test_what_people_do_does_not_show_in_the_spread():
    assert spread_of_means_alone(mechanism_named("ksame", k=3, spread="public"))


def test_published_spread_comes_before_simulated_one():
    spread = PublicSpread.of(["saccade_rate", "wb1_nonzero", "heart_rate"])
    assert spread.published.tolist() == [True, False, False]
    assert spread.unknown == ["heart_rate"]
    total = np.sqrt(np.diag(spread.lasting @ spread.lasting.T + spread.passing @ spread.passing.T))
    assert total[0] == pytest.approx(1 / 3.64, rel=1e-6)
    assert total[2] == 0
    assert published_to_simulated() > 1


def test_the_file_is_made_of_simulated_people_alone():
    rng = np.random.default_rng(5)
    own = rng.normal(0, 0.2, (300, 1, 1, 1))
    once = rng.normal(0, 0.1, (300, 4, 1, 1))
    values = 4.0 * (1 + own + once) * np.ones((1, 1, 3, 1))
    table = table_from_arrays(values, [RATE])
    tasks = [f"t{number % 4}" for number in range(1200) for _ in range(3)]
    found = measured_on(replace(table, data=table.data.with_columns(task=pl.Series(tasks))))
    assert found["between"][0] == pytest.approx(np.hypot(0.2, 0.1), rel=0.1)
    assert found["lasts"][0] == pytest.approx(0.8, abs=0.06)


def people_with(change=lambda values: values, tasks=3, rows=12) -> FeatureTable:
    """Seven people, changed."""
    rng = np.random.default_rng(1)
    values = np.empty((7, tasks, rows, 3))
    values[..., 0] = rng.uniform(2, 6, values.shape[:3])
    values[..., 1] = rng.uniform(0.2, 0.8, values.shape[:3])
    values[..., 2] = rng.uniform(60, 90, values.shape[:3])
    return table_from_arrays(change(values), [RATE, SHARE, OWN])


def two_valued(values):
    values[..., 0] = np.where(values[..., 0] > 4, 20.0, 0.0)
    values[..., 1] = values[..., 1] > 0.5
    return values


def far_beyond(values):
    values[..., 0] = np.random.default_rng(2).standard_cauchy(values.shape[:3]) * 1e6
    values[0, 0, 0, 1] = np.inf
    return values


def nobody_has(values):
    values[..., 0] = np.nan
    return values


@pytest.mark.parametrize(
    "table",
    [
        people_with(two_valued),
        people_with(far_beyond),
        people_with(nobody_has),
        people_with(lambda values: np.full_like(values, 0.5)),
        people_with(rows=1),
        people_with(tasks=1),
        people_with(tasks=9, rows=2),
    ],
    ids=["two values", "beyond", "nobody has it", "constant", "one row", "one task", "many tasks"],
)
@pytest.mark.parametrize("resample", [None, 1])
def test_any_measures_give_as_many_synthetic_participants_inside_their_bounds(table, resample):
    mechanism = mechanism_named("ksame", k=3, spread="public", resample=resample)
    mechanism.check(table)
    shown = mechanism.apply(table, randomness(1))
    assert len(shown.people) == 7
    assert len(shown.data) == len(mechanism.taken(table).data)
    for feature in shown.features:
        values = shown.data[feature.name].drop_nulls().to_numpy()
        assert np.isfinite(values).all()
        assert ((values >= feature.lower) & (values <= feature.upper)).all()
        own = np.clip(table.data[feature.name].to_numpy(), feature.lower, feature.upper)
        assert values.size or np.isnan(own).all()
