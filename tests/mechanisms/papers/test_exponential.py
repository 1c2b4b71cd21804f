import numpy as np
import pytest

from eyelid.mechanisms import Shape, mechanism
from eyelid.mechanisms.papers.exponential import worst_loss
from eyelid.mechanisms.papers.signals import signals_of
from eyelid.privacy import PERSON, RECORDING, randomness


@pytest.mark.parametrize(("epsilon", "golden"), [(0.1, 1.071), (1.0, 7.364), (10.0, 15.35)])
def test_the_worst_loss_is_the_theory_s(epsilon, golden):
    assert worst_loss(epsilon, 1200) == pytest.approx(golden, rel=5e-4)
    law = mechanism("exponential-paper", epsilon=epsilon)
    reasons = law.cost(Shape(20, 3, 1200, 1), RECORDING).reasons
    assert f"one value alone can lose {golden:g}" in reasons[0]


def plain_density(x, epsilon, t_max, span):
    """By the change of variables of the printed lines, step by step."""
    lam = epsilon / (2 * t_max * span)
    total = 0.0
    for r in (x, -x):
        y = np.exp(r * lam * t_max)
        total += 0.5 * lam * np.exp(-lam * y) * y * lam * t_max
    return total


@pytest.mark.parametrize("span", [0.01, 1.0, 100.0])
def test_the_worst_loss_is_that_of_the_printed_density(span):
    x = np.linspace(-30 * span, 30 * span, 200_001)
    with np.errstate(all="ignore"):
        ratio = np.log(plain_density(x, 2.0, 50, span) / plain_density(x - span, 2.0, 50, span))
    assert worst_loss(2.0, 50, span) == pytest.approx(
        np.nanmax(ratio[np.isfinite(ratio)]), rel=1e-3
    )


def test_it_changes_with_the_unit_of_measurement():
    assert worst_loss(1.0, 1200, 0.001) < worst_loss(1.0, 1200, 1000.0) / 3


def test_a_person_s_loss_adds_up_over_values():
    law = mechanism("exponential-paper", epsilon=2.0)
    shape = Shape(people=20, recordings=3, length=100, features=2)
    assert law.cost(shape, PERSON).epsilon == pytest.approx(worst_loss(1.0, 100) * 600)
    assert law.cost(shape, RECORDING).epsilon == 2.0


def test_noise_follows_the_printed_lines(wandering):
    """Kolmogorov–Smirnov against noise drawn as printed; fails once in a million seeds."""
    from scipy.stats import ks_2samp

    table = wandering(people=4, recordings=1, rows=50)
    law = mechanism("exponential-paper", epsilon=2.0)
    signals, noisy = next(law.randomised(list(signals_of(table)), 400, randomness(1)))
    rng = np.random.default_rng(2)
    for feature, name in enumerate(table.names):
        span = table.data[name].max() - table.data[name].min()
        lam = 1.0 / (2 * 50 * span)
        y = rng.exponential(1 / lam, size=80_000)
        printed = rng.choice([-1, 1], size=80_000) * np.log(y) / (lam * 50)
        ours = (noisy - signals.values)[:, :, feature].ravel()
        assert ks_2samp(ours, printed).pvalue > 1e-6


def test_recordings_go_on_with_their_last_row(wandering):
    from dataclasses import replace

    import polars as pl

    table = wandering(people=2, recordings=1, rows=10)
    number = pl.int_range(pl.len()).over("person")
    data = table.data.filter((pl.col("person") == "0") | (number < 4))
    law = mechanism("exponential-paper", epsilon=1.0)
    padded, _ = next(law.randomised(list(signals_of(replace(table, data=data))), 1, randomness(3)))
    assert (padded.values[1, :, 3:] == padded.values[1, :, 3:4]).all()
    assert padded.lengths.tolist() == [10, 10]


def test_expected_error_is_that_of_a_range_of_one(make_table):
    from eyelid.gaze.study import Feature
    from eyelid.gaze.table import table_from_arrays

    values = np.random.default_rng(4).random((3, 1, 200, 1))
    values[0, 0, :2, 0] = 0.0, 1.0
    table = table_from_arrays(values, [Feature("share", "1", "", 0.0, 1.0)])
    law = mechanism("exponential-paper", epsilon=1.0)
    signals, noisy = next(law.randomised(list(signals_of(table)), 500, randomness(5)))
    off = noisy - signals.values
    shape = law.shape(table)
    assert np.sqrt((off**2).mean()) == pytest.approx(law.expected_rmse_of_span(shape), rel=0.01)
    means = np.sqrt((off.mean(axis=3) ** 2).mean())
    assert means == pytest.approx(law.expected_mean_rmse_of_span(shape), rel=0.1)


def test_cost_and_catalogue_print_it(eyelid):
    shape = ["--people", "20", "--recordings", "3", "--features", "1", "--length", "1200"]
    told = eyelid("cost", "--mechanism", "exponential-paper", "--epsilon", 1, *shape)
    assert told.code == 0
    assert "one value alone can lose 7.364" in " ".join(told.out.split())
    assert "no guarantee" in told.out
    assert "Protects: nothing" in eyelid("mechanisms", "exponential-paper").out
