"""`envelope`: coefficients within a public spectrum, noise in its shape, shrunk afterwards."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.fft import dct
from scipy.optimize import linprog, minimize

from eyelid.attacks.residuals import examine
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import PublicFacts, mechanism_named
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.records.envelope import Envelope
from eyelid.privacy import PERSON, RECORDING, gaussian_epsilon, randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

SHAPE = PublicFacts(people=20, recordings=3, length=100, features=4)
LONG = PublicFacts(people=20, recordings=3, length=1216, features=48)
OURS = ("coefficients", "spectrum", "missing clip")
VARIANTS = list(Envelope.set_for_games())
IDS = [f"{m.unit}-{m.variation}" for m in VARIANTS]


def build(**parameters):
    return mechanism_named("envelope", **{"epsilon": 1.0} | parameters)


def coefficients(values, k):
    return dct(values, type=2, norm="ortho", axis=-2)[..., :k, :]


@pytest.mark.parametrize("length", [2, 9, 60])
@pytest.mark.parametrize("variation", [0.1, 1.0, 3.0])
def test_no_signal_that_moves_so_much_leaves_the_spectrum(length, variation):
    rng = np.random.default_rng(1)
    mechanism = build(k=length, variation=variation)
    spectrum = mechanism.spectrum(PublicFacts(1, 1, length, 1))
    # One jump in each place, and random walks, cut where they have moved enough.
    jumps = np.tri(length)[:, :, None] * min(variation, 1.0)
    walks = np.cumsum(rng.normal(0, 0.3, (500, length, 1)) * rng.random((500, length, 1)) ** 9, 1)
    walks = np.clip(walks - walks[:, :1] + rng.random((500, 1, 1)), 0, 1)
    moved = np.abs(np.diff(walks, axis=1)).sum(axis=1, keepdims=True)
    walks = 0.5 + (walks - 0.5) * np.minimum(1, variation / np.maximum(moved, 1e-9))
    for signals in (jumps, walks):
        found = np.abs(coefficients(signals - 0.5, length))
        assert (found <= spectrum * (1 + 1e-12)).all()
    reached = np.abs(coefficients(jumps - 0.5, length)).max(axis=0) / spectrum
    assert reached.max() > 0.97


def test_the_spectrum_covers_every_mean_and_falls_as_one_over_i():
    spectrum = build().spectrum(LONG)[:, 0]
    assert spectrum.size == 41
    assert spectrum[0] == math.sqrt(1216) / 2
    assert spectrum[1:] * np.arange(1, 41) / math.sqrt(1216) == pytest.approx(
        math.sqrt(2) / math.pi, rel=1e-3
    )
    assert build(variation=100.0).spectrum(LONG)[:, 0] == pytest.approx(spectrum[0])


@pytest.mark.parametrize("variation", [0.02, 0.25, 1.0, 2.0, 5.0, 50.0])
def test_no_signal_is_longer_than_the_one_that_is_counted_on(variation):
    mechanism, facts = build(k=12, variation=variation), PublicFacts(1, 1, 40, 1)
    shares, longest = mechanism.shares(facts)
    spectrum = mechanism.spectrum(facts)[:, 0]
    # Largest Σx/s with 0 ≤ x ≤ b² and Σx ≤ n/4, by a solver that knows nothing of greed.
    found = linprog(
        -1 / shares[:, 0],
        A_ub=np.ones((1, 12)),
        b_ub=[10.0],
        bounds=list(zip([0] * 12, spectrum**2, strict=True)),
    )
    assert longest == pytest.approx(-found.fun, rel=1e-9)
    assert (shares[:, 0] == np.minimum(spectrum, shares.max())).all()


@pytest.mark.parametrize("variation", [0.1, 1.0, 3.0])
def test_no_other_shape_of_the_noise_is_much_better(variation):
    mechanism, facts = build(k=6, variation=variation), PublicFacts(1, 1, 30, 1)
    shares, longest = mechanism.shares(facts)
    energy = mechanism.spectrum(facts)[:, 0] ** 2

    def total(log_shares):
        each = np.exp(log_shares)
        order = np.argsort(each)
        room = np.clip(7.5 - (np.cumsum(energy[order]) - energy[order]), 0, energy[order])
        return (room / each[order]).sum() * each.sum()

    ours = total(np.log(shares[:, 0]))
    assert ours == pytest.approx(longest * shares.sum())
    rng = np.random.default_rng(2)
    tries = [np.log(shares[:, 0]) + rng.normal(0, s, 6) for s in (0, 0.1, 0.5) for _ in range(3)]
    best = min(minimize(total, start, method="Nelder-Mead").fun for start in tries)
    assert ours < 1.02 * best


@pytest.mark.parametrize("variation", [0.01, 0.3, 1.0, 4.0, 1e3])
def test_noise_is_never_more_than_that_of_dct_nor_of_the_plain_rule(variation):
    mechanism = build(variation=variation)
    noise = math.sqrt(float((mechanism.deviations(LONG) ** 2).sum()) / LONG.length)
    assert noise <= mechanism_named("dct", epsilon=1.0).expected_rmse_of_span(LONG) * (1 + 1e-9)
    plain = 2 * mechanism.spectrum(LONG).sum() * 3 * 48 / mechanism.mu(LONG)
    assert noise <= plain / math.sqrt(3 * 48 * LONG.length) * (1 + 1e-9)


def test_a_narrow_spectrum_leaves_the_plain_rule():
    # σᵢ² = 2bᵢ·T/μ², but for the mean, which has a little less room for itself.
    mechanism = build(variation=1e-4)
    spectrum = mechanism.spectrum(LONG)
    variance = 2 * spectrum * (2 * spectrum.sum() * 3 * 48) / mechanism.mu(LONG) ** 2
    np.testing.assert_allclose(mechanism.deviations(LONG) ** 2, variance, rtol=1e-3)


@settings(max_examples=60)
@given(
    st.floats(0.01, 200),
    st.floats(0.001, 30),
    st.integers(1, 4),
    st.integers(1, 12),
    st.integers(1, 5),
    st.sampled_from([PERSON, RECORDING]),
    st.integers(0, 2**31),
)
def test_integers_stay_within_the_spectrum_and_the_length(epsilon, variation, r, n, f, unit, seed):
    mechanism = build(epsilon=epsilon, variation=variation, k=min(n, 4), unit=unit, delta=1e-6)
    rng = np.random.default_rng(seed)
    values = rng.choice([-np.inf, -5, 0, 0.1, 0.5, 0.77, 1, np.inf, np.nan], size=(8, r, n, f))
    facts = PublicFacts(8, r, n, f)
    integers = mechanism.query(values, facts)
    assert (
        np.abs(integers * mechanism.step(facts)) <= mechanism.spectrum(facts) * (1 + 1e-15)
    ).all()
    signals = np.moveaxis(integers, -1, -2).reshape(-1, min(n, 4))
    of_one = (mechanism.most_steps(facts) / 2) ** 2 / (f * (r if unit == PERSON else 1))
    for signal in signals:
        assert sum(int(i) ** 2 for i in signal) <= of_one
    sigma = noise_of(mechanism, facts).scale
    assert mechanism.sensitivity(facts, unit) / sigma <= mechanism.mu(facts) * (1 + 1e-12)


def test_the_query_is_the_plain_one_clipped_and_truncated():
    mechanism, facts = build(k=5, variation=0.3), PublicFacts(4, 2, 15, 3)
    values = np.random.default_rng(3).random((4, 2, 15, 3))
    spectrum = mechanism.spectrum(facts)
    plain = coefficients(values - 0.5, 5)
    assert (np.abs(plain) > spectrum).any()
    clipped = np.clip(plain, -spectrum, spectrum) / mechanism.step(facts)
    off = (clipped - mechanism.query(values, facts)) * np.sign(plain)
    assert (off > -1e-3).all()
    assert (off < 1 + 1e-3).all()


def test_shrinking_is_undone_where_measurements_are_read():
    mechanism, facts = build(epsilon=3.0, k=4), PublicFacts(3, 2, 20, 2)
    measured = np.random.default_rng(4).integers(-(2**36), 2**36, (3, 2, 4, 2))
    shown = mechanism.rebuild(measured * mechanism.step(facts), facts)
    assert np.abs(mechanism.measured(shown, facts) - measured).max() < 2**36 * 1e-9
    np.testing.assert_allclose(
        coefficients(shown - 0.5, 4),
        measured * mechanism.step(facts) * mechanism.weights(facts),
        atol=1e-9,
    )


def test_weights_are_the_best_against_the_ends_of_the_spectrum():
    mechanism = build(epsilon=30.0)
    signal, noise = mechanism.spectrum(SHAPE)[:, 0], mechanism.deviations(SHAPE)[:, 0]
    for w in np.linspace(0, 1, 101):
        assert (mechanism.errors(SHAPE) <= w**2 * noise**2 + (1 - w) ** 2 * signal**2 + 1e-12).all()
    ours = mechanism.weights(SHAPE)[:, 0]
    exactly = ours**2 * noise**2 + (1 - ours) ** 2 * signal**2
    np.testing.assert_allclose(mechanism.errors(SHAPE), exactly, rtol=1e-9)


def measured_error(mechanism, values, runs=4000):
    """Root mean squares of what is released of one signal: of values, and of their mean."""
    facts = PublicFacts(runs, *values.shape)
    many = np.broadcast_to(values, (runs, *values.shape))
    error = mechanism.randomise(many, facts, randomness(5)) - values
    return np.sqrt((error**2).mean()), np.sqrt((error.mean(axis=2) ** 2).mean())


@pytest.mark.parametrize("epsilon", [1.0, 10.0, 100.0])
def test_a_mean_at_its_bound_has_the_expected_error_and_all_others_less(epsilon):
    mechanism = build(epsilon=epsilon, k=3, delta=1e-5)
    facts = PublicFacts(4000, 1, 20, 1)
    expected = mechanism.expected_mean_rmse_of_span(facts)
    # 4000 draws: a standard error of about 1%.
    for constant in (0.0, 1.0):
        _, mean = measured_error(mechanism, np.full((1, 20, 1), constant))
        assert mean == pytest.approx(expected, rel=0.06)
    rows = np.arange(20)
    for values in (np.full(20, 0.0), np.full(20, 0.4), rows / 19, np.cos(rows / 6) / 2 + 0.5):
        inside = coefficients(values[:, None] - 0.5, 20)
        inside[3:] = 0
        assert (np.abs(inside[:3]) <= mechanism.spectrum(facts) * (1 + 1e-9)).all()
        kept = dct(inside, type=3, norm="ortho", axis=-2) + 0.5
        value, mean = measured_error(mechanism, np.clip(kept, 0, 1)[None])
        assert value <= mechanism.expected_rmse_of_span(facts) * 1.06
        assert mean <= expected * 1.06


def test_without_noise_worth_the_name_the_expected_error_is_the_noise():
    mechanism = build(epsilon=2e3, k=3, delta=1e-5)
    facts = PublicFacts(4000, 1, 20, 1)
    noise = math.sqrt(float((mechanism.deviations(facts) ** 2).sum()) / 20)
    assert mechanism.expected_rmse_of_span(facts) == pytest.approx(noise, rel=0.01)


def test_when_nothing_can_be_told_the_expected_error_says_so():
    mechanism = build()
    assert mechanism.expected_rmse_of_span(LONG) == pytest.approx(0.5, abs=0.001)
    assert mechanism.expected_mean_rmse_of_span(LONG) == pytest.approx(0.5, abs=0.001)
    table = table_from_arrays(
        np.random.default_rng(6).random((3, 1, 60, 2)),
        [Feature(name, "", "", 0.0, 1.0) for name in ("a", "b")],
    )
    released = build(epsilon=0.01).apply(table, randomness(1)).data.select("a", "b").to_numpy()
    assert np.abs(released - 0.5).max() < 0.05


def test_a_mean_over_many_people_is_shrunk_less_and_costs_the_same():
    alone, many = build(), build(averaged=1000)
    assert (many.weights(LONG) > 100 * alone.weights(LONG)).all()
    assert many.expected_rmse_of_span(LONG) < 0.5 * alone.expected_rmse_of_span(LONG)
    assert many.cost(LONG, PERSON) == alone.cost(LONG, PERSON)
    np.testing.assert_array_equal(many.step(LONG), alone.step(LONG))
    values = np.random.default_rng(7).random((30, 2, 20, 3))
    mechanism, facts = (
        build(epsilon=1e3, averaged=30, k=4, variation=9.0),
        PublicFacts(30, 2, 20, 3),
    )
    summed = mechanism.query(values, facts).sum(axis=0)
    rebuilt = mechanism.rebuild(summed / 30 * mechanism.step(facts), facts)
    mean = dct(coefficients(values.mean(axis=0) - 0.5, 4), type=3, n=20, norm="ortho", axis=-2)
    np.testing.assert_allclose(rebuilt, mean + 0.5, atol=1e-3)


def test_a_person_loses_more_than_each_of_three_recordings():
    mechanism = build(unit=RECORDING, delta=1e-5)
    one, all_three = (mechanism.cost(SHAPE, unit) for unit in (RECORDING, PERSON))
    assert one.epsilon == 1.0
    assert all_three.mu == pytest.approx(math.sqrt(3) * one.mu, rel=1e-9)
    assert all_three.epsilon == pytest.approx(gaussian_epsilon(all_three.mu, 1e-5), rel=1e-3)
    whole = build(delta=1e-5)
    # Coefficients are clipped each alone: a recording of a protected person loses less.
    assert whole.cost(SHAPE, RECORDING).mu == pytest.approx(one.mu / math.sqrt(3), rel=1e-6)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"variation": 0.0}, "variation must be finite and at least 1e-06, got 0"),
        ({"variation": -1.0}, "got -1"),
        ({"variation": math.inf}, "got inf"),
        ({"variation": math.nan}, "got nan"),
        ({"averaged": 0}, "averaged must be at least 1, got 0"),
        ({"k": 0}, "k must be at least 1"),
    ],
)
def test_a_bad_setting_is_named(wrong, named):
    with pytest.raises(InputError, match=named):
        build(**wrong)


def test_more_coefficients_than_rows_is_an_error(make_table):
    with pytest.raises(InputError, match="set k to 10 or less"):
        build(k=11).apply(make_table(), randomness(1))


def test_an_epsilon_beyond_the_grid_is_an_error():
    with pytest.raises(InputError, match="finer than the grid"):
        build(epsilon=1e9).step(SHAPE)
    with pytest.raises(InputError, match="more noise than there are numbers for"):
        build(epsilon=1e-9, delta=1e-12).step(SHAPE)


def test_values_outside_are_clipped_and_missing_ones_sit_in_the_middle():
    feature = Feature("heart_rate", "1/min", "beats per minute", 30.0, 220.0)
    values = np.array([-1e9, 1e9, np.nan, -np.inf, np.inf, 60.0]).reshape(6, 1, 1, 1)
    table = table_from_arrays(values, [feature])
    released = build(epsilon=3e3).apply(table, randomness(1)).data["heart_rate"]
    np.testing.assert_allclose(released, [30, 220, 125, 30, 220, 60], atol=10)


def test_one_recording_is_the_same_as_a_person():
    facts = PublicFacts(5, 1, 50, 3)
    one, other = (build(unit=unit) for unit in (PERSON, RECORDING))
    assert one.expected_rmse_of_span(facts) == other.expected_rmse_of_span(facts)
    assert other.cost(facts, PERSON).epsilon == 1.0


def test_the_certificate_tells_what_was_done():
    told = build(k=3).sampler(SHAPE)
    assert "discrete Gaussian" in told
    assert "clipped to a public spectrum" in told
    assert "shrunk afterwards" in told
    assert build().numerics == "exact"


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_neighbours_reach_what_is_declared_and_never_more(variant):
    assert 0.95 < fuzz(variant, variant.unit, 2048, seed=3).reached <= 1


@pytest.mark.parametrize("variation", [0.3, 1.0, 2.0, 10.0])
@pytest.mark.parametrize("k", [2, 6])
def test_other_spectra_are_never_exceeded(variation, k):
    mechanism = replace(VARIANTS[0], variation=variation, k=k)
    assert 0.6 < fuzz(mechanism, PERSON, 1024, seed=4).reached <= 1


@pytest.mark.parametrize("variant", VARIANTS[1:3], ids=IDS[1:3])
def test_the_noise_is_fresh_and_whole(variant):
    assert not examine(variant, randomness(11)).refuted


def test_a_game_certifies_most_of_the_claim_and_refutes_none():
    # A true claim is refuted once in a million games.
    result = play(VARIANTS[0], PERSON, 20_000, randomness(12))
    assert 0.85 < result.lower_bound / result.claimed <= 1


@pytest.mark.parametrize(
    "fault",
    [f for f in mutants_of(Envelope) if any(word in f.name for word in OURS)],
    ids=lambda fault: fault.name,
)
def test_planted_faults_are_caught(fault):
    assert fault.caught(10_000, randomness(13))
