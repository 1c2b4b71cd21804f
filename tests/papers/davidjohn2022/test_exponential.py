"""Exponential-DP: as printed, and made to hold by Laplace noise of twice the scale needed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyelid
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import PublicFacts, find, mechanism_named
from eyelid.papers.davidjohn2022.exponential import worst_loss
from eyelid.papers.signals import signals_of
from eyelid.privacy import PERSON, RECORDING, Unit, randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play


@pytest.mark.parametrize(("epsilon", "golden"), [(0.1, 1.071), (1.0, 7.364), (10.0, 15.35)])
def test_the_worst_loss_is_the_theory_s(epsilon, golden):
    assert worst_loss(epsilon, 1200) == pytest.approx(golden, rel=5e-4)
    mechanism = mechanism_named("exponential-paper", epsilon=epsilon)
    reasons = mechanism.cost(PublicFacts(20, 3, 1200, 1), RECORDING).reasons
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
    mechanism = mechanism_named("exponential-paper", epsilon=2.0)
    facts = PublicFacts(people=20, recordings=3, length=100, features=2)
    assert mechanism.cost(facts, PERSON).epsilon == pytest.approx(worst_loss(1.0, 100) * 600)
    assert mechanism.cost(facts, RECORDING).epsilon == 2.0


def test_noise_follows_the_printed_lines(wandering):
    """Kolmogorov–Smirnov against noise drawn as printed; fails once in a million seeds."""
    from scipy.stats import ks_2samp

    table = wandering(people=4, recordings=1, rows=50)
    mechanism = mechanism_named("exponential-paper", epsilon=2.0)
    signals, noisy = next(mechanism.randomised(list(signals_of(table)), 400, randomness(1)))
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
    mechanism = mechanism_named("exponential-paper", epsilon=1.0)
    padded, _ = next(
        mechanism.randomised(list(signals_of(replace(table, data=data))), 1, randomness(3))
    )
    assert (padded.values[1, :, 3:] == padded.values[1, :, 3:4]).all()
    assert padded.lengths.tolist() == [10, 10]


def test_expected_error_is_that_of_a_range_of_one(make_table):
    from eyelid.gaze.study import Feature
    from eyelid.gaze.table import table_from_arrays

    values = np.random.default_rng(4).random((3, 1, 200, 1))
    values[0, 0, :2, 0] = 0.0, 1.0
    table = table_from_arrays(values, [Feature("share", "1", "", 0.0, 1.0)])
    mechanism = mechanism_named("exponential-paper", epsilon=1.0)
    signals, noisy = next(mechanism.randomised(list(signals_of(table)), 500, randomness(5)))
    off = noisy - signals.values
    facts = mechanism.facts(table)
    assert np.sqrt((off**2).mean()) == pytest.approx(
        mechanism.expected_rmse_of_span(facts), rel=0.01
    )
    means = np.sqrt((off.mean(axis=3) ** 2).mean())
    assert means == pytest.approx(mechanism.expected_mean_rmse_of_span(facts), rel=0.1)


def test_cost_and_catalogue_print_it(eyelid):
    shape = ["--people", "20", "--recordings", "3", "--features", "1", "--length", "1200"]
    told = eyelid("cost", "--mechanism", "exponential-paper", "--epsilon", 1, *shape)
    assert told.code == 0
    assert "one value alone can lose 7.364" in " ".join(told.out.split())
    assert "no guarantee" in told.out
    assert "Protects: nothing" in eyelid("mechanisms", "exponential-paper").out


def build(**parameters):
    return mechanism_named("exponential", **{"epsilon": 1.0} | parameters)


def test_the_scale_is_twice_length_times_span_over_epsilon():
    """2·t_max·d/ε for one feature of one recording, t_max = 1200, in spans."""
    facts = PublicFacts(20, 3, 1200, 4)
    mechanism = build(epsilon=10.0, unit="chunk:1200")
    scale = mechanism.noise(facts).scale * mechanism.step(facts)
    assert scale == pytest.approx(2 * 1200 / 10, rel=1e-6)
    assert mechanism.expected_rmse_of_span(facts) == pytest.approx(math.sqrt(2) * scale, rel=1e-6)
    assert mechanism.cost(facts, PERSON).epsilon == 10.0 * 4 * 3
    assert mechanism.cost(facts, RECORDING).epsilon == 10.0 * 4


@given(
    st.floats(1e-2, 1e3),
    st.integers(1, 6),
    st.integers(1, 2000),
    st.integers(1, 50),
    st.sampled_from(["person", "recording", "chunk:10"]),
)
def test_half_of_what_is_claimed_is_lost(epsilon, r, n, f, asked):
    facts = PublicFacts(10, r, n, f)
    mechanism = build(epsilon=epsilon, unit=asked)
    steps = 2 ** mechanism.grid_bits(facts)
    for unit in (PERSON, RECORDING, Unit("chunk", 10)):
        loss = facts.values_of(unit) * steps / mechanism.noise(facts).scale
        assert loss == pytest.approx(mechanism.cost(facts, unit).epsilon / 2, rel=1e-3)
        assert loss <= mechanism.cost(facts, unit).epsilon / 2 * (1 + 1e-12)


def test_the_game_finds_half_of_the_claim_and_no_more():
    """False alarms: 1e-6 a game; the seed is fixed."""
    mechanism = build(**find("exponential").games[0])
    result = play(mechanism, PERSON, 20_000, randomness(7))
    assert 0.6 * result.claimed / 2 < result.lower_bound <= result.claimed / 2


def test_planted_faults_are_caught():
    planted = {fault.name: fault for fault in mutants_of(find("exponential"))}
    runs = {"scale × 0.425": 50_000, "missing clip": 5_000, "chunk ε sold as person": 20_000}
    assert [name for name, n in runs.items() if not planted[name].caught(n, randomness(3))] == []


def test_a_release_states_the_person_s_total(make_table):
    done = eyelid.release(make_table(), mechanism="exponential", epsilon=1.0, unit="chunk:10")
    assert done.certificate.person_level.epsilon == 1.0 * 2 * 3
    assert "6 times one chunk:10" in done.certificate.how


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"unit": "chunk"}, "unit 'chunk' is not one: write it as chunk:LENGTH"),
        ({"unit": "chunk:0"}, "numbers must be positive"),
        ({"unit": "record"}, "exponential does not offer the unit 'record'"),
        ({"length": 0}, "length must be at least 1, got 0"),
        ({"k": 3}, "k"),
    ],
)
def test_what_cannot_be_is_said(parameters, message):
    with pytest.raises(EyelidError, match=message):
        build(**parameters)


def test_missing_values_sit_in_the_middle_and_bounds_are_needed():
    values = np.array([np.nan, -5.0, 99.0, 1.0]).reshape(1, 1, 4, 1)
    mechanism = build(epsilon=1e6, unit="chunk:4")
    table = table_from_arrays(values, [Feature("rate", "", "", 0.0, 4.0)])
    released = mechanism.apply(table, randomness(1)).data["rate"]
    np.testing.assert_allclose(released, [2, 0, 4, 1], atol=0.01)
    boundless = table_from_arrays(values, [Feature("rate", "", "", 0.0, math.inf)])
    with pytest.raises(InputError, match="rate has no public bounds"):
        mechanism.apply(boundless, randomness(1))
