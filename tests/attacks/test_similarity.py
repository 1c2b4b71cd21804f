"""Synthetic participants beside people: what they have in common, by hand and by scipy."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from eyelid.attacks.similarity import likeness, marginals, share_error, share_errors
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays

FEATURES = [Feature(name, "", "", 0.0, 1.0) for name in "abc"]
EVENLY = (np.arange(1000) + 0.5) / 1000


def people(seed, trend=0.0, memory=0.9, together=0.8, rows=60, count=10):
    """Two tasks; b follows a, c is constant; values remember themselves and rise."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(count, 2, rows, 2))
    for row in range(1, rows):
        noise[:, :, row] = memory * noise[:, :, row - 1] + np.sqrt(1 - memory**2) * noise[:, :, row]
    a = noise[..., 0] + trend * np.linspace(0, 1, rows)
    b = together * a + np.sqrt(1 - together**2) * noise[..., 1]
    values = np.stack([0.5 + 0.1 * a, 0.5 + 0.1 * b, np.full(a.shape, 0.3)], axis=-1)
    return table_from_arrays(np.clip(values, 0, 1), FEATURES)


def test_the_same_people_are_alike_in_everything():
    table = people(0)
    found = likeness(table, table)
    off = (found.pair_difference, found.memory_difference, found.trend_difference)
    assert (*off, found.length_distance) == (0, 0, 0, 0)
    assert share_error(share_errors(table, table)) == 0
    assert marginals(table, table)["wasserstein"].max() == 0


def test_pairs_and_memory_are_rank_correlations_within_tasks_as_scipy_has_them():
    table = people(1)
    found = likeness(table, people(2))
    by_task = [table.data.filter(pl.col("task") == task) for task in "01"]
    pairs = np.mean([spearmanr(rows["a"], rows["b"]).statistic for rows in by_task])
    assert found.pairs[0, 0, 1] == pytest.approx(pairs, abs=1e-9)
    # A feature that never varies goes together with nothing.
    assert np.isnan(found.pairs[:, 2]).all()
    assert found.lags == (1, 4, 16)
    real = dict(zip(found.lags, found.memory[0, :, 0], strict=True))
    assert real[1] == pytest.approx(0.9, abs=0.05)
    assert real[16] == pytest.approx(0.9**16, abs=0.2)


def test_what_was_lost_is_seen():
    table = people(3, trend=3.0)
    found = likeness(table, people(4, memory=0.0, together=0.0, rows=30))
    assert found.pair_difference > 0.9 * found.pair_size
    assert found.memories[0][1] > 0.8 > 0.2 > abs(found.memories[0][2])
    assert found.trend_difference > 0.7 * found.trend_size
    assert found.lengths.tolist() == [[60, 60], [30, 30]]
    assert found.length_distance == pytest.approx(0.5)


def test_shares_are_compared_at_the_quartiles_of_the_release_people_counting_alike():
    # Of one person 4 rows, of the other 12: the shares of both count the same.
    data = pl.DataFrame(
        {
            "person": ["x"] * 4 + ["y"] * 12,
            "recording": "1",
            "time_ms": [*map(float, range(4)), *map(float, range(12))],
            "a": [0.1] * 4 + [0.9] * 12,
        }
    )
    table = replace(
        people(0), data=data, features=tuple(FEATURES[:1]), people=pl.DataFrame({"person": ["x"]})
    )
    made = data.with_columns(a=pl.Series(np.linspace(0, 1, 16)))
    (error,) = share_errors(table, replace(table, data=made))["share_error"]
    # Everybody's rows in bins equal in the cube root, each a thousand points evenly over its bin.
    points = {
        person: (np.minimum(np.cbrt(rows) * 64, 63).astype(int)[:, None] + EVENLY).ravel()
        for person, rows in (("x", np.linspace(0, 0.2, 4)), ("y", np.linspace(4 / 15, 1, 12)))
    }
    weights = np.repeat([0.5, 0.5], [points["x"].size, points["y"].size])
    weights /= np.repeat([points["x"].size, points["y"].size], [4000, 12000])
    every = np.concatenate([points["x"], points["y"]])
    order = np.argsort(every)
    cuts = every[order][np.searchsorted(np.cumsum(weights[order]), (0.25, 0.5, 0.75))]
    ours = [np.floor(np.cbrt(a) * 64) + EVENLY for a in (0.1, 0.9)]
    below = np.mean([[(one <= cut).mean() for cut in cuts] for one in ours], axis=0)
    parts = np.diff(below, prepend=0, append=1)
    assert error == pytest.approx(np.sqrt(np.mean((parts - 0.25) ** 2)), abs=2e-3)


def test_one_value_and_the_bin_around_it_are_the_same():
    table = people(0).only("c")
    spread = np.random.default_rng(0).uniform((42 / 64) ** 3, (43 / 64) ** 3, len(table.data))
    made = replace(table, data=table.data.with_columns(c=pl.Series(spread)))
    assert share_error(share_errors(table, made)) == pytest.approx(0, abs=1e-12)


def test_values_in_bins_that_the_release_leaves_empty_count():
    table = people(0).only("c")
    elsewhere = pl.when(pl.int_range(pl.len()) % 2 == 0).then(0.9).otherwise(0.95)
    made = replace(table, data=table.data.with_columns(c=elsewhere))
    # All of it lies below the first quartile: 1 instead of a quarter, 0 instead of three.
    expected = np.sqrt((0.75**2 + 3 * 0.25**2) / 4)
    assert share_error(share_errors(table, made)) == pytest.approx(expected)
    # The release is the same in both tasks, so that it is off by all there is.
    assert share_error(share_errors(table, made), "share_size") == pytest.approx(expected)


def test_missing_values_and_tasks_of_one_side_are_left_out():
    table = people(5)
    holes = table.data.with_columns(
        a=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col("a")),
        b=pl.when(pl.col("task") == "0").then(None).otherwise(pl.col("b")),
    )
    other = table.data.with_columns(task=pl.col("task").replace("1", "2"))
    found = likeness(replace(table, data=holes), replace(table, data=other))
    assert found.tasks == ("0",)
    # Of task 0 people have a alone, and c, which never varies.
    assert np.isnan(found.pair_difference)
    assert 0.8 < found.memory[0, 0, 0] < 1
    assert np.isfinite(share_error(share_errors(table, replace(table, data=other))))
    with pytest.raises(InputError, match="no task in common"):
        none = other.with_columns(task=pl.lit("z"))
        likeness(table, replace(table, data=none))
