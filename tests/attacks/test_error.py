"""How far a release is from its original, against a plain loop."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.error import error_of
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness

RATE = Feature("rate", "1/s", "", 0.0, 10.0)
SHIFT = Feature("shift", "deg", "", -5.0, 5.0)


def plain(original, released):
    """Bozkir et al. 2021, equations 4 to 6, value by value."""
    squares, nmses, utilities = {}, {}, {}
    recordings = original.data.select("person", "recording").unique().rows()
    for feature in original.features:
        squared, nmse, utility = [], [], []
        for person, recording in recordings:
            x, noisy = (
                t.data.filter(person=person, recording=recording)[feature.name].to_list()
                for t in (original, released)
            )
            both = [
                (a, b) for a, b in zip(x, noisy, strict=False) if a is not None and b is not None
            ]
            if not both:
                continue
            squared += [(a - b) ** 2 for a, b in both]
            mean = math.fsum(a for a, _ in both) / len(both)
            noisy_mean = math.fsum(b for _, b in both) / len(both)
            if mean == 0 or noisy_mean == 0:
                continue
            found = sum((a - b) ** 2 / (mean * noisy_mean) for a, b in both) / len(both)
            nmse.append(abs(found))
            if found:
                utility.append(1 / abs(found))
        squares[feature.name] = math.sqrt(sum(squared) / len(squared)) / feature.span
        nmses[feature.name] = sum(nmse) / len(nmse)
        utilities[feature.name] = sum(utility) / len(utility)
    return squares, nmses, utilities


def tables(seed, rows=6, noise=0.5):
    rng = np.random.default_rng(seed)
    values = rng.uniform([1.0, -5.0], [9.0, 5.0], size=(3, 2, rows, 2))
    noisy = values + rng.normal(0, noise, values.shape)
    return table_from_arrays(values, [RATE, SHIFT]), table_from_arrays(noisy, [RATE, SHIFT])


@given(st.integers(0, 10_000))
def test_every_figure_is_that_of_a_plain_loop(seed):
    original, released = tables(seed)
    found = error_of(original, released)
    squares, nmses, utilities = plain(original, released)
    for row in found.features.iter_rows(named=True):
        assert row["rmse_of_span"] == pytest.approx(squares[row["name"]])
        assert row["nmse"] == pytest.approx(nmses[row["name"]])
        assert row["utility"] == pytest.approx(utilities[row["name"]])
    assert found.rmse_of_span == pytest.approx(math.hypot(*squares.values()) / math.sqrt(2))
    assert found.nmse == pytest.approx(sum(nmses.values()) / 2)
    assert found.utility == pytest.approx(sum(utilities.values()) / 2)


def test_correlations_are_those_of_numpy():
    original, released = tables(1)
    found = error_of(original, released).features
    for name in ("rate", "shift"):
        x, noisy = original.data[name], released.data[name]
        row = found.row(by_predicate=pl.col("name") == name, named=True)
        assert row["row_correlation"] == pytest.approx(np.corrcoef(x, noisy)[0, 1])
        means = [
            t.data.group_by("person", "recording", maintain_order=True).agg(pl.col(name).mean())
            for t in (original, released)
        ]
        expected = np.corrcoef(means[0][name], means[1][name])[0, 1]
        assert row["recording_correlation"] == pytest.approx(expected)


def test_missing_values_are_compared_with_nothing():
    original, released = tables(2)
    gone = pl.int_range(pl.len()) % 4 == 0
    with_gaps = replace(
        original, data=original.data.with_columns(pl.when(~gone).then("rate").alias("rate"))
    )
    found, (squares, nmses, _) = error_of(with_gaps, released), plain(with_gaps, released)
    assert found.features["rmse_of_span"][0] == pytest.approx(squares["rate"])
    assert found.features["nmse"][0] == pytest.approx(nmses["rate"])
    assert found.features["compared"].to_list() == [1.0, 1.0]
    other_way = error_of(original, replace(released, data=with_gaps.data))
    assert other_way.features["compared"][0] == pytest.approx(0.75)


def test_nothing_is_nan_where_features_are_constant_or_missing():
    values = np.ones((2, 2, 4, 3))
    values[..., 1], values[..., 2] = 0.0, np.nan
    features = [RATE, SHIFT, Feature("never", "1", "", 0.0, 1.0)]
    original = table_from_arrays(values, features)
    released = table_from_arrays(values + 1.0, features)
    found = error_of(original, released)
    assert found.left_out == ("never",)
    # (1 − 2)² / (1 · 2); the shift of mean zero has none.
    assert found.nmse == pytest.approx(0.5)
    assert found.utility == pytest.approx(2.0)
    assert found.signals_without_nmse == 4
    assert found.rmse_of_span == pytest.approx(0.1)
    assert found.features["row_correlation"].to_list() == [None, None, None]
    assert not found.features.select(pl.any_horizontal(pl.col(pl.Float64).is_nan().any())).item()


def test_a_mean_of_zero_but_for_rounding_is_zero():
    values = np.tile(np.array([0.1, 0.2, -0.3]), (2, 2, 1))[..., None]
    found = error_of(table_from_arrays(values, [SHIFT]), table_from_arrays(values + 1.0, [SHIFT]))
    assert values.mean() != 0
    assert found.nmse is None
    assert found.utility is None
    assert found.signals_without_nmse == 4


def test_means_of_opposite_sign_give_the_size_of_a_negative_nmse():
    ones, minus = (table_from_arrays(np.full((1, 1, 4, 1), v), [SHIFT]) for v in (1.0, -1.0))
    assert error_of(ones, minus).nmse == pytest.approx(4.0)


def test_an_exact_release_has_no_error_and_no_utility_to_name():
    original, _ = tables(3)
    found = error_of(original, original)
    assert (found.rmse_of_span, found.nmse, found.utility) == (0.0, 0.0, None)
    assert found.signals_without_error == 12
    assert found.features["row_correlation"].to_list() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("size", [1e-6, 3.0, 7.5])
def test_an_error_that_is_mere_rounding_is_none(size):
    """A constant that went through a transform and back comes out 1e-16 off: 1/NMSE of 1e30."""
    rng = np.random.default_rng(1)
    values = rng.uniform(1.0, 9.0, size=(4, 2, 8, 2))
    values[..., 1] = size
    noisy = values + rng.normal(0, 0.5, values.shape)
    noisy[..., 1] = size + 1e-15
    other = Feature("other", "1/s", "", 0.0, 10.0)
    original, released = (table_from_arrays(v, [RATE, other]) for v in (values, noisy))
    assert not original.data["other"].equals(released.data["other"])
    found = error_of(original, released)
    assert found.signals_without_error == 8
    assert found.features["utility"][1] is None
    assert found.features["nmse"][1] == 0.0
    alone = error_of(original.only("rate"), released.only("rate"))
    assert found.utility == alone.utility
    assert alone.signals_without_error == 0


def test_noise_far_above_rounding_counts_however_small_it_is():
    ones = table_from_arrays(np.ones((2, 2, 5, 1)), [RATE])
    near = table_from_arrays(np.full((2, 2, 5, 1), 1 + 1e-9), [RATE])
    found = error_of(ones, near)
    assert found.signals_without_error == 0
    assert found.utility == pytest.approx(1e18, rel=1e-6)


def test_without_bounds_rounding_is_judged_by_the_signal():
    wide = [Feature("rate", "1/s", "", -np.inf, np.inf)]
    ones, twos = (table_from_arrays(np.full((2, 2, 5, 1), v), wide) for v in (1.0, 2.0))
    assert error_of(ones, twos).signals_without_error == 0
    assert error_of(ones, twos).utility == pytest.approx(2.0)


def test_nothing_in_common_is_said():
    original, _ = tables(4)
    values = np.full((3, 2, 6, 2), np.nan)
    with pytest.raises(InputError, match="no value in common"):
        error_of(original, table_from_arrays(values, [RATE, SHIFT]))


def test_the_error_of_a_release_is_what_was_expected(simulated_table):
    mechanism = mechanism_named("gaussian", epsilon=50.0)
    released = mechanism.apply(simulated_table, randomness(5))
    expected = mechanism.expected_rmse_of_span(mechanism.facts(simulated_table))
    found = error_of(simulated_table, released)
    assert found.rmse_of_span == pytest.approx(expected, rel=0.05)
    assert found.to_dict().keys() >= {"rmse_of_span", "nmse", "utility"}


def test_utility_falls_with_the_square_of_the_noise_on_real_people(real_windows):
    few = real_windows.people["person"][:2].to_list()
    table = replace(real_windows, data=real_windows.data.filter(pl.col("person").is_in(few)))
    rng = np.random.default_rng(7)
    names = ["fixation_rate", "pupil_mean_mean"]
    narrow = replace(table, features=tuple(f for f in table.features if f.name in names))
    noise = {name: rng.normal(0, 0.01, len(table.data)) for name in names}

    def noisy(times):
        columns = [pl.col(n) + pl.Series(times * noise[n]) for n in names]
        return error_of(narrow, replace(narrow, data=narrow.data.with_columns(columns)))

    assert noisy(1).utility / noisy(3).utility == pytest.approx(9.0, rel=0.02)
