import numpy as np
import polars as pl
import pytest

from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.mechanisms import mechanism_named
from eyelid.papers.bozkir2021.experiment import paper_features, utility_experiment
from eyelid.papers.signals import signals_of
from eyelid.privacy import randomness

RUNS = 4


@pytest.fixture(scope="module")
def made_up():
    """Six simulated readers, the features of the paper."""
    return paper_features(window_features(simulate(people=6, minutes=3.0, rate_hz=30.0, seed=2)))


@pytest.fixture(scope="module")
def readings(made_up):
    return {
        noisy: utility_experiment(made_up, chunks=(32, 64), runs=RUNS, noisy_mean=noisy)
        for noisy in (True, False)
    }


def slopes(found, column):
    """Of the log of a column over log ε, the median over tasks and chunks of a mechanism."""
    curves = found.group_by("mechanism", "chunk", "task", "epsilon_per_feature").agg(
        pl.col(column).mean()
    )
    each = {}
    for (name, *_), curve in curves.group_by("mechanism", "chunk", "task"):
        logs = curve.select(pl.col("epsilon_per_feature", column).log()).to_numpy()
        each.setdefault(name, []).append(np.polyfit(*logs.T, 1)[0])
    return {name: float(np.median(found)) for name, found in each.items()}


def test_the_paper_s_features_are_48(made_up):
    assert len(made_up.features) == 48


def test_there_is_a_figure_for_everything(readings, made_up):
    found = readings[True]
    tasks = made_up.recordings["task"].n_unique()
    assert len(found) == 6 * 5 * tasks * 48
    assert found["mechanism"].unique().sort().to_list() == ["CFPA", "DCFPA", "FPA", "LPA"]
    assert found.select(pl.col("nmse", "utility").is_not_null().mean()).row(0) > (0.9, 0.9)


def test_as_published_nmse_falls_with_the_square_of_epsilon_unless_differenced(readings):
    found = slopes(readings[False], "median_nmse")
    assert found["CFPA"] == pytest.approx(-2, abs=0.2)
    assert found["DCFPA"] == pytest.approx(-1, abs=0.2)
    assert found["LPA"] == pytest.approx(-1, abs=0.1)


def test_as_printed_nothing_that_drowns_falls_with_the_square(readings):
    """The noisy signal is proportional to 1/ε, and so is its mean."""
    small = readings[True].filter(pl.col("epsilon_per_feature") <= 0.1)
    for name, slope in slopes(small, "median_nmse").items():
        assert slope == pytest.approx(-1, abs=0.25), name


def test_differences_win_where_noise_is_largest_and_lose_where_it_is_smallest(readings):
    found = readings[False].filter(pl.col("chunk") == 32)
    mean = found.group_by("mechanism", "epsilon_per_feature").agg(pl.col("utility").mean())
    at = {(name, epsilon): value for name, epsilon, value in mean.iter_rows()}
    assert at["DCFPA", 0.01] > at["CFPA", 0.01]
    assert at["DCFPA", 1.0] < at["CFPA", 1.0]


def test_figures_agree_with_tables_that_are_released(wandering):
    """The experiment against `cfpa-paper` with one k; medians over 400 runs agree within 10%."""
    table = wandering(people=3, recordings=1, rows=48)
    mechanism = mechanism_named("cfpa-paper", epsilon=1.0, chunk=16, mean="kept", runs=50)
    signals, noisy = next(mechanism.randomised(list(signals_of(table)), 400, randomness(1)))
    squares = ((noisy - signals.values) ** 2).mean(axis=3)
    released = np.abs(squares / (noisy.mean(axis=3) * signals.values.mean(axis=2)))
    found = utility_experiment(
        table, epsilons_per_feature=(0.5,), chunks=(16,), runs=400, noisy_mean=False
    ).filter(pl.col("mechanism") == "CFPA")
    np.testing.assert_allclose(found["nmse"], released.mean(axis=(0, 1)), rtol=0.1)


def test_the_same_seed_gives_the_same_figures(wandering):
    one, other = (utility_experiment(wandering(), chunks=(32,), runs=2) for _ in range(2))
    assert one.equals(other)


def test_real_people_show_the_published_slopes(real_windows):
    table = paper_features(real_windows)
    comic = table.data.filter(pl.col("task") == "comic")
    from dataclasses import replace

    found = utility_experiment(replace(table, data=comic), chunks=(32,), runs=4, noisy_mean=False)
    slope = slopes(found, "median_nmse")
    assert slope["CFPA"] == pytest.approx(-2, abs=0.1)
    assert slope["DCFPA"] == pytest.approx(-1, abs=0.2)
