"""Synthetic participants whose rows are no signal: spreads, relations and likeness are kept."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.capacity import mean_error_sd, mean_off
from eyelid.mechanisms.synthetic.densities import Evidence, best_gaussian, nested, smooth
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import randomness

FEATURES = tuple(Feature(name, "ms", "", 0.0, 4000.0) for name in "abcd")
# Of people and of rows alike.
TOGETHER = np.array(
    [[1, 0.7, -0.5, 0], [0.7, 1, -0.3, 0], [-0.5, -0.3, 1, 0.2], [0, 0, 0.2, 1]], dtype=float
)
ALIKE = np.array([0.8, 0.6, 0.3, 0.7])


def trials(people: int = 580, rows: int = 12, seed: int = 1, tasks: int = 1) -> FeatureTable:
    """Times of trials: skewed, with heavy tails, far from the middle of their bounds."""
    rng = np.random.default_rng(seed)
    mixed = np.linalg.cholesky(TOGETHER).T
    own = rng.standard_normal((people, 1, 1, 4)) @ mixed
    row = rng.standard_normal((people, tasks, rows, 4)) @ mixed
    signal = np.sqrt(ALIKE) * own + np.sqrt(1 - ALIKE) * row
    sizes = np.array([0.3, 0.6, 0.15, 0.4])
    values = np.exp(np.log([250.0, 350.0, 220.0, 80.0]) + sizes * signal)
    values *= 1 + 0.4 * np.arange(tasks)[:, None, None]
    return table_from_arrays(np.clip(values, 0, 4000), FEATURES)


def figures(table: FeatureTable) -> tuple[np.ndarray, ...]:
    """Means and deviations of people's means, deviations of rows, shares between, correlations."""
    data = table.data.select("person", *table.names)
    people = data.group_by("person").mean().select(table.names).to_numpy()
    rows = data.select(table.names).to_numpy()
    within = data.with_columns(
        [pl.col(name) - pl.col(name).mean().over("person") for name in table.names]
    )
    inside = (within.select(table.names).to_numpy() ** 2).sum(axis=0) / (len(rows) - len(people))
    share = 1 - inside / rows.var(axis=0)
    pairs = np.corrcoef(rows, rowvar=False)[np.triu_indices(rows.shape[1], 1)]
    return people.mean(axis=0), people.std(axis=0), rows.std(axis=0), share, pairs


@pytest.mark.parametrize(("epsilon", "times"), [(4.0, 1.0), (2.0, 2.0)])
def test_a_table_of_trials_keeps_means_spreads_relations_and_people(epsilon, times):
    """The aims for 580 people, by the root mean square over four measures and two seeds."""
    table = trials()
    mean, between, spread, share, pairs = figures(table)
    off, wide, apart = [], [], []
    for seed in (1, 2):
        release = Synthetic(epsilon=epsilon).apply(table, randomness(seed))
        found = figures(release)
        off.append((found[0] - mean) / between)
        wide.append(found[2] / spread - 1)
        apart.append(found[3] - share)
        assert np.corrcoef(found[4], pairs)[0, 1] > 0.8
    assert np.sqrt(np.mean(np.square(off))) < 0.08 * times
    assert np.abs(wide).max() < 0.25 * times
    assert np.abs(apart).max() < 0.15 * times


def test_means_of_tasks_are_apart_as_they_are():
    table = trials(tasks=2)
    release = Synthetic(epsilon=8.0).apply(table, randomness(3))
    for one in (table, release):
        means = one.data.group_by("task").agg(pl.col("a", "b").mean()).sort("task")
        assert (means[1, 1] / means[0, 1], means[1, 2] / means[0, 2]) == pytest.approx(
            (1.4, 1.4), abs=0.12
        )


@pytest.mark.parametrize(("people", "tasks"), [(100, 1), (400, 1), (150, 3)])
def test_the_error_of_means_is_foreseen(people, tasks):
    """In standard deviations of rows, by six runs: not much farther off, nor much nearer."""
    table, mechanism = trials(people, tasks=tasks), Synthetic(epsilon=4.0)
    mean, _, rows, *_ = figures(table)
    errors = []
    for seed in range(6):
        release = mechanism.apply(table, randomness(seed))
        place = [table.names.index(name) for name in release.names]
        errors.append((figures(release)[0] - mean[place]) / rows[place])
    said = mean_error_sd(mechanism, mechanism.facts(table))
    assert 0.4 < np.sqrt(np.mean(np.square(errors))) / said < 1.3


def test_a_hundred_people_have_as_many_measures_as_keep_means_and_relations():
    facts = PublicFacts(100, 1, 32, 13, window=1)
    mechanism = Synthetic(epsilon=4.0)
    assert mechanism.carried(facts) == 3
    assert mean_error_sd(mechanism, facts) <= 0.2
    assert mechanism.noise_of_correlations(facts) <= 0.15
    assert mechanism.people_needed(replace(facts, features=3)) <= 100
    assert mechanism.people_needed(replace(facts, features=4)) > 100
    assert mechanism.carried(replace(facts, people=400)) == 8


def test_missing_values_go_missing_as_often():
    table = trials(400)
    rng = np.random.default_rng(2)
    gone = pl.Series(rng.random(len(table.data)) < 0.4)
    data = table.data.with_columns(b=pl.when(gone).then(None).otherwise(pl.col("b")))
    release = Synthetic(epsilon=4.0).apply(replace(table, data=data), randomness(1))
    shares = [release.data[name].null_count() / len(release.data) for name in release.names]
    assert shares == pytest.approx([0.0, 0.4, 0.0, 0.0], abs=0.08)
    assert release.data["b"].median() == pytest.approx(data["b"].median(), rel=0.15)


def test_whole_numbers_come_out_whole():
    table = trials(150)
    features = (*FEATURES[:3], replace(FEATURES[3], unit="count", lower=0.5, upper=400.5))
    table = replace(table, features=features)
    release = Synthetic(epsilon=4.0, whole="b").apply(table, randomness(1))
    for name, whole in (("a", False), ("b", True), ("d", True)):
        values = release.data[name].to_numpy()
        assert (values == np.rint(values)).all() == whole
    assert release.data["d"].min() >= 1
    with pytest.raises(InputError, match="unknown feature that is a whole number 'mood'"):
        Synthetic(epsilon=4.0, whole="mood").check(table)


def odd(kind: str) -> FeatureTable:
    table = trials(80, 4)
    value = {
        "constant": pl.lit(250.0),
        "two values": pl.when(pl.col("a") > 250).then(1.0).otherwise(0.0),
        "beyond its bounds": pl.col("a") * 1e6,
        "nothing": pl.lit(None, dtype=pl.Float64),
    }
    if kind == "one row":
        return trials(80, 1)
    return replace(table, data=table.data.with_columns(a=value[kind]))


@pytest.mark.parametrize(
    "kind", ["constant", "two values", "beyond its bounds", "nothing", "one row"]
)
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 1e4])
def test_odd_measures_stay_inside_their_bounds(kind, epsilon):
    table = odd(kind)
    release = Synthetic(epsilon=epsilon, carry=4).apply(table, randomness(1))
    assert len(release.people) == 80
    values = release.data.select(release.names).to_numpy()
    there = values[~np.isnan(values)]
    assert ((there >= 0) & (there <= 4000)).all()
    if kind == "constant" and epsilon > 1e3:
        assert release.data["a"].median() == pytest.approx(250, rel=0.15)


@pytest.mark.parametrize(
    ("values", "mean", "spread"),
    [
        (lambda rng, size: np.full(size, 40.0), 40.0, 1.0),
        (lambda rng, size: np.zeros(size), 0.0, 0.1),
        (lambda rng, size: np.full(size, 400.0), 100.0, 2.0),
        (lambda rng, size: rng.choice([0.0, 100.0], size), 50.0, 60.0),
        (lambda rng, size: np.clip(50 + 5 * rng.standard_cauchy(size), 0, 100), 50.0, 20.0),
    ],
    ids=["constant", "at a bound", "beyond it", "two values", "heavy tails"],
)
def test_odd_measures_come_out_where_they_are(values, mean, spread):
    rng = np.random.default_rng(1)
    shown = np.stack([values(rng, (200, 1, 3)), rng.normal(50, 10, (200, 1, 3))], axis=-1)
    table = table_from_arrays(shown, [Feature(name, "", "", 0.0, 100.0) for name in "xy"])
    release = Synthetic(epsilon=4.0).apply(table, randomness(1))
    assert release.data["x"].mean() == pytest.approx(mean, abs=max(0.15 * spread, 2.0))
    assert release.data["x"].std() < spread
    assert release.data["y"].mean() == pytest.approx(50, abs=3)


def test_what_never_changes_is_as_far_off_as_a_bin_is_wide():
    values = np.stack([np.full((200, 1, 5), 40.0), np.full((200, 1, 5), 7.0)], axis=-1)
    table = table_from_arrays(values, [Feature(name, "", "", 0.0, 100.0) for name in "xy"])
    mechanism = Synthetic(epsilon=4.0)
    said = mean_error_sd(mechanism, mechanism.facts(table))
    for seed in range(3):
        release = mechanism.apply(table, randomness(seed))
        for feature, true in zip(table.features, (40.0, 7.0), strict=True):
            rows = release.data[feature.name]
            off = mean_off(feature, 128, said, rows.mean(), rows.std())
            assert abs(rows.mean() - true) < 2 * off
            assert off < 0.04 * true


def test_people_with_one_row_are_made_up():
    release = Synthetic(epsilon=4.0).apply(trials(200, 1), randomness(1))
    assert release.data.group_by("person").len()["len"].median() <= 2


def test_more_tasks_than_rows_are_made_up():
    release = Synthetic(epsilon=4.0, carry=2).apply(trials(60, 1, tasks=6), randomness(1))
    assert release.data["task"].n_unique() == 6


def test_too_few_of_a_group_are_sent_to_results():
    table = trials(100)
    people = table.people.with_columns(lang=pl.Series([f"l{n % 10}" for n in range(100)]))
    with pytest.raises(InputError, match=r"10 in the smallest of 10 groups by lang.*summary, w"):
        Synthetic(epsilon=4.0, by="lang").check(replace(table, people=people))


# Distributions behind noisy counts.


def noisy(shares: np.ndarray, people: float, sd: float, seed: int) -> Evidence:
    sums = nested(len(shares), (32, 16, 8, 4, 2))
    counts = people * sums @ shares + sd * np.random.default_rng(seed).standard_normal(len(sums))
    return Evidence.of(sums, counts, sd, people)


def gaussian(mean: float, sd: float) -> np.ndarray:
    shares = np.exp(-(((np.arange(128) + 0.5 - mean) / sd) ** 2) / 2)
    return shares / shares.sum()


@pytest.mark.parametrize(("mean", "sd"), [(20.0, 3.0), (64.0, 20.0), (100.0, 8.0)])
def test_means_and_spreads_come_out_of_noise(mean, sd):
    true = gaussian(mean, sd)
    place = np.arange(128) + 0.5
    for seed in range(5):
        found = smooth(noisy(true, 600, 15, seed))
        assert found.sum() == pytest.approx(1)
        middle = found @ place
        assert middle == pytest.approx(mean, abs=0.35 * sd)
        assert 0.7 < math.sqrt(found @ (place - middle) ** 2) / sd < 1.45


def test_peaks_that_counts_clearly_tell_are_kept():
    true = (gaussian(20, 3) + gaussian(100, 3)) / 2
    found = smooth(noisy(true, 600, 2, 1))
    assert found[40:80].sum() < 0.05
    assert found[:40].sum() == pytest.approx(0.5, abs=0.05)


def test_counts_that_tell_nothing_make_no_peaks():
    found = smooth(noisy(gaussian(64, 20), 10, 500, 1))
    # One peak at most: up, then down.
    assert (np.diff(np.sign(np.diff(found))) > 0).sum() <= 1


def test_a_distribution_around_another_differs_as_counts_say():
    before = (gaussian(20, 3) + gaussian(100, 3)) / 2
    after = 0.2 * gaussian(20, 3) + 0.8 * gaussian(100, 3)
    found = smooth(noisy(after, 600, 5, 1), before)
    assert found[64:].sum() == pytest.approx(0.8, abs=0.05)


def test_the_gaussian_to_ask_by_is_that_of_the_counts():
    sums = nested(128, (32, 16, 8, 4, 2))
    true = gaussian(40, 10)
    found = best_gaussian((sums @ true * 500)[None], sums)[0]
    place = np.arange(128) + 0.5
    assert found @ place == pytest.approx(40, abs=2)


def test_a_little_noise_far_out_makes_no_tail():
    """Four percent of the people, which is less than noise may be, far from all others."""
    true = gaussian(40, 4)
    evidence = noisy(true, 400, 12, 1)
    for far in (0, 112):
        sums = nested(128, (32, 16, 8, 4, 2))
        there = np.zeros(128)
        there[far : far + 16] = 1.0
        pushed = replace(evidence, towards=evidence.towards + sums.T @ (sums @ there) / 12**2)
        found = smooth(pushed)
        assert found[70:].sum() + found[:10].sum() < 0.005


def test_a_tail_that_counts_clearly_tell_stays():
    true = 0.9 * gaussian(40, 4) + 0.1 * gaussian(80, 10)
    found = smooth(noisy(true, 2000, 5, 1))
    assert found[64:].sum() == pytest.approx(true[64:].sum(), rel=0.2)


def test_a_task_is_as_far_out_as_all_are():
    """Where hardly anyone is, the shape is that of everybody, whatever a task has."""
    before = gaussian(50, 10)
    found = smooth(noisy(gaussian(56, 12), 600, 5, 1), before)
    times = found / (before + 1e-9)
    assert times[90:] == pytest.approx(times[100], rel=0.01)
