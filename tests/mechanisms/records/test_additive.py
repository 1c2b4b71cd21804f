"""Both plain mechanisms: what they cost, what they do, what they cannot be talked out of."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.override import override
from eyelid.attacks.residuals import examine
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import PublicFacts, mechanism_named
from eyelid.mechanisms.differential import default_delta
from eyelid.privacy import PERSON, RECORD, RECORDING, gaussian_epsilon, randomness
from eyelid.privacy.gaussian import epsilon_of_rho, gaussian_delta, rho_of_mu
from eyelid.verification import record_mutants
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

SHAPE = PublicFacts(people=20, recordings=3, length=100, features=4)
NAMES = ["laplace", "gaussian"]
UNITS = [PERSON, RECORDING, RECORD]


def build(name, **parameters):
    return mechanism_named(name, **{"epsilon": 1.0} | parameters)


def test_three_recordings_at_one_each_are_three_for_the_person():
    assert build("laplace", unit=RECORDING).cost(SHAPE, PERSON).epsilon == 3.0
    assert build("laplace", unit=PERSON).cost(SHAPE, PERSON).epsilon == 1.0
    assert build("laplace", unit=RECORD).cost(SHAPE, PERSON).epsilon == 300.0


def test_a_tenth_is_a_tenth():
    assert build("laplace", epsilon=0.1, unit=RECORDING).cost(SHAPE, PERSON).epsilon == 0.3


@given(
    st.floats(1e-3, 1e3),
    st.integers(1, 50),
    st.integers(1, 3000),
    st.integers(1, 60),
    st.sampled_from(UNITS),
    st.sampled_from(UNITS),
)
def test_laplace_never_claims_less_than_its_integers_lose(epsilon, r, n, f, asked, about):
    facts = PublicFacts(10, r, n, f)
    mechanism = build("laplace", epsilon=epsilon, unit=asked)
    steps = 2 ** mechanism.grid_bits(facts)
    loss = facts.values_of(about) * steps / mechanism.noise(facts).scale
    assert loss <= mechanism.cost(facts, about).epsilon * (1 + 1e-12)
    assert loss >= mechanism.cost(facts, about).epsilon * 0.999


@given(
    st.floats(1e-2, 60),
    st.floats(1e-9, 1e-3),
    st.integers(1, 20),
    st.integers(1, 2000),
    st.integers(1, 60),
    st.sampled_from(UNITS),
    st.sampled_from(UNITS),
)
def test_gaussian_never_claims_less_than_its_integers_lose(eps, delta, r, n, f, asked, about):
    facts = PublicFacts(10, r, n, f)
    mechanism = build("gaussian", epsilon=eps, delta=delta, unit=asked)
    sigma = mechanism.noise(facts).scale
    mu = math.sqrt(facts.values_of(about)) * 2.0 ** mechanism.grid_bits(facts) / sigma
    claim = mechanism.cost(facts, about)
    assert mu <= claim.mu * (1 + 1e-12)
    assert sigma >= 2**30
    if about == asked:
        slack = 0.0202 * facts.values_of(about) / float(sigma) ** 2
        paid = gaussian_delta(claim.epsilon, mu) + (1 + math.exp(claim.epsilon)) * slack
        exactly = epsilon_of_rho(rho_of_mu(mu), delta) <= eps
        assert paid <= claim.delta * (1 + 1e-9) or exactly
        assert claim.epsilon == eps
    else:
        assert claim.epsilon >= gaussian_epsilon(mu, delta) * (1 - 1e-9)


def test_the_default_delta_follows_the_number_of_people():
    assert build("gaussian").cost(SHAPE, PERSON).delta == 1e-6
    many = replace(SHAPE, people=100_000)
    assert build("gaussian").cost(many, PERSON).delta == pytest.approx(100_000**-1.5)
    assert default_delta(10) == 1e-6


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0])
def test_a_bad_delta_is_named(delta):
    with pytest.raises(InputError, match="delta must be"):
        build("gaussian", delta=delta)


def test_an_epsilon_beyond_the_grid_is_an_error():
    tiny = PublicFacts(2, 1, 1, 1)
    with pytest.raises(InputError, match="finer than the grid"):
        build("gaussian", epsilon=1e13).cost(tiny, PERSON)


@pytest.mark.parametrize("name", NAMES)
def test_expected_error_is_what_is_measured(name, make_table):
    table = make_table(people=200, rows=20)
    mechanism = build(name, epsilon=50.0)
    released = mechanism.apply(table, randomness(1))
    raw, noisy = (t.data.select(table.names).to_numpy() for t in (table, released))
    error = (noisy - raw) / np.array([f.span for f in table.features])
    expected = mechanism.expected_rmse_of_span(mechanism.facts(table))
    assert np.sqrt((error**2).mean()) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("name", NAMES)
def test_noise_is_unbiased_for_values_inside_the_bounds(name, make_table):
    table = make_table(people=400, rows=20)
    mechanism = build(name, epsilon=200.0)
    released = mechanism.apply(table, randomness(2)).data["pupil"].mean()
    error = mechanism.expected_rmse_of_span(mechanism.facts(table)) * 7.5 / math.sqrt(400 * 3 * 20)
    assert abs(released - table.data["pupil"].mean()) < 5 * error


@pytest.mark.parametrize("name", NAMES)
def test_values_outside_are_clipped_and_missing_ones_sit_in_the_middle(name):
    feature = Feature("rate", "", "", 10.0, 20.0)
    mechanism = build(name, epsilon=1e5, unit=RECORD)
    values = np.array([-1e9, 1e9, np.nan, -np.inf, np.inf, 12.0]).reshape(1, 1, 6, 1)
    released = mechanism.apply(table_from_arrays(values, [feature]), randomness(1)).data["rate"]
    np.testing.assert_allclose(released, [10, 20, 15, 10, 20, 12], atol=0.2)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_the_output_s_form_depends_on_missing_values(name, make_table):
    table = make_table()
    holes = pl.when(pl.col("person") == "1").then(None).otherwise(pl.col("pupil")).alias("pupil")
    gone = replace(table, data=table.data.with_columns(holes))
    mechanism = build(name)
    one, other = (
        mechanism.apply(table, randomness(1)).data,
        mechanism.apply(gone, randomness(1)).data,
    )
    assert other.null_count().row(0) == one.null_count().row(0) == (0,) * one.width
    assert not other["pupil"].is_nan().any()


@pytest.mark.parametrize(
    ("length", "rows"), [("shortest", 4), ("longest", 10), ("6", 6)], ids=lambda v: str(v)
)
def test_every_recording_gets_one_public_length_and_public_times(make_table, length, rows):
    table = make_table()
    short = table.data.filter((pl.col("person") != "2") | (pl.col("time_ms") < 4 * 500))
    ragged = replace(table, data=short.with_columns(pl.col("time_ms") + 17.5))
    mechanism = build("laplace", length=length)
    released = mechanism.apply(ragged, randomness(1))
    assert set(released.recordings["rows"]) == {rows}
    assert released.data["time_ms"].unique().sort().to_list() == [500.0 * i for i in range(rows)]
    assert mechanism.facts(ragged).length == rows


def test_padding_is_the_midpoint_under_noise(make_table):
    table = make_table(rows=2)
    mechanism = build("laplace", length=5, epsilon=1e6, unit=RECORD)
    released = mechanism.apply(table, randomness(1)).data
    padded = released.filter(pl.col("time_ms") >= 1000)["pupil"]
    np.testing.assert_allclose(padded, 5.25, atol=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_labels_and_rows_in_any_order_do_not_pass_through(name, make_table):
    table = make_table()
    extra = table.data.with_columns(pl.lit("secret").alias("label_mood"))
    mechanism = build(name, epsilon=1e6, unit=RECORD)
    shuffled = replace(table, data=extra.sample(fraction=1.0, shuffle=True, seed=1))
    released = mechanism.apply(shuffled, randomness(1)).data
    assert "label_mood" not in released.columns
    joined = released.join(table.data, on=["person", "recording", "time_ms"], suffix="_raw")
    assert len(joined) == len(table.data)
    np.testing.assert_allclose(joined["pupil"], joined["pupil_raw"], atol=0.05)


def test_people_with_fewer_recordings_are_released_with_what_they_have(make_table):
    table = make_table()
    fewer = table.data.filter((pl.col("person") != "0") | (pl.col("recording") == "1"))
    released = build("laplace").apply(replace(table, data=fewer), randomness(1))
    counts = released.data.group_by("person").agg(pl.col("recording").n_unique())
    assert dict(counts.rows())["0"] == 1
    assert build("laplace").facts(replace(table, data=fewer)).recordings == 3


@pytest.mark.parametrize("name", NAMES)
def test_blocks_do_not_change_what_is_released(name, make_table, monkeypatch):
    from eyelid.mechanisms.records import record_mechanism

    table = make_table(people=5)
    mechanism = build(name, epsilon=1e6, unit=RECORD)
    monkeypatch.setattr(record_mechanism, "_BLOCK_VALUES", 45)
    released = mechanism.apply(table, randomness(1))
    assert released.data.select("person", "recording", "time_ms").equals(
        table.data.select("person", "recording", "time_ms")
    )
    np.testing.assert_allclose(released.data["pupil"], table.data["pupil"], atol=0.05)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_lie_on_the_public_grid(name, make_table):
    table = make_table()
    mechanism = build(name)
    bits = mechanism.grid_bits(mechanism.facts(table))
    released = mechanism.apply(table, randomness(1))
    for feature in table.features:
        steps = np.rint((released.data[feature.name] - feature.lower) / feature.span * 2.0**bits)
        again = (steps * 2.0**-bits) * feature.span + feature.lower
        np.testing.assert_array_equal(again, released.data[feature.name])


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_no_neighbours_exceed_the_declared_sensitivity_and_some_reach_it(name, unit):
    result = fuzz(build(name, unit=unit), unit, pairs=2000, seed=9)
    assert not result.refuted
    assert result.reached >= 0.95


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_the_distinguishing_game_does_not_refute_the_claim(name, unit):
    """False alarms: 1e-6 a game; the seed is fixed."""
    mechanism = mechanism_named(name, **type(build(name)).games[0], unit=unit)
    result = play(mechanism, unit, 20_000, randomness(7))
    assert not result.refuted
    assert result.lower_bound > 0.6 * result.claimed


@pytest.mark.parametrize("name", NAMES)
def test_faults_of_every_kind_are_planted(name):
    assert {f.name for f in mutants_of(type(build(name)))} >= {
        "scale × 0.85",
        "missing clip",
        "float noise",
        "recording ε sold as person",
        "noise reused over rows",
        "noise shared by two people",
        "generator seeded anew",
        "missing values published",
    }


def test_every_planted_fault_of_gaussian_is_caught():
    """Those of laplace are planted, and caught, in the tests of `verify` itself."""
    planted = list(mutants_of(type(build("gaussian"))))
    # A little less noise and its low digits need many runs to be seen, the others few.
    runs = {"scale × 0.85": 50_000, "float noise": 20_000}
    found = {f.name: f.caught(runs.get(f.name, 2_000), randomness(3)) for f in planted}
    assert [name for name, caught in found.items() if not caught] == []


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_the_noise_of_a_whole_table_is_fresh_and_whole(name, unit):
    """False alarms: about 1e-6; the seed is fixed."""
    mechanism = mechanism_named(name, **type(build(name)).games[0], unit=unit)
    assert not examine(mechanism, randomness(6)).refuted


def test_the_game_catches_missing_values_that_are_published():
    mechanism = build("laplace")
    mask = {"randomise": record_mutants._mask_again}
    assert play(override(mechanism, mask), PERSON, 2_000, randomness(1)).refuted


def test_the_fuzz_catches_a_missing_clip():
    broken = override(build("laplace"), {"clip": lambda self, v: np.where(np.isfinite(v), v, 0.5)})
    assert fuzz(broken, PERSON, pairs=500).refuted
