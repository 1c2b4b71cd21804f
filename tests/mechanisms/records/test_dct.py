"""`dct`: one clip and one noise for all of a unit's cosine coefficients."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.attacks.residuals import examine
from eyelid.errors import InputError, Refused
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import PublicFacts, mechanism_named
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.records.cosine import first_cosines, from_first_cosines
from eyelid.mechanisms.records.dct import DCT
from eyelid.privacy import PERSON, RECORD, RECORDING, gaussian_epsilon, gaussian_sigma, randomness
from eyelid.privacy.guarantee import Kind
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

SHAPE = PublicFacts(people=20, recordings=3, length=100, features=4)
OURS = ("norm", "spherical", "recordings clipped", "missing clip")
VARIANTS = list(DCT.set_for_games())
IDS = [f"{m.unit}-{m.law}-{m.radius}" for m in VARIANTS]


def build(**parameters):
    return mechanism_named("dct", **{"epsilon": 1.0} | parameters)


def cosine_matrix(length):
    """The orthonormal DCT-II as a textbook writes it: coefficients × rows."""
    row, i = np.arange(length), np.arange(length)[:, None]
    matrix = np.sqrt(2 / length) * np.cos(np.pi * i * (2 * row + 1) / (2 * length))
    matrix[0] = 1 / np.sqrt(length)
    return matrix


@pytest.mark.parametrize(("length", "k"), [(1, 1), (2, 1), (7, 7), (8, 3), (60, 2)])
def test_coefficients_are_those_of_the_textbook(length, k):
    values = np.random.default_rng(1).random((2, 3, length, 4))
    expected = np.einsum("ir,...rf->...if", cosine_matrix(length)[:k], values)
    np.testing.assert_allclose(first_cosines(values, k), expected, atol=1e-12)
    back = np.einsum("ir,...if->...rf", cosine_matrix(length)[:k], expected)
    np.testing.assert_allclose(from_first_cosines(expected, length), back, atol=1e-12)


def test_noise_energy_is_the_golden_one():
    facts = PublicFacts(1, 1, 128, 1)
    both = [build(k=127, delta=1e-5), build(k=127, law="spherical")]
    squared = 4 * 0.5**2 * 128
    gaussian, spherical = (float(mechanism.errors(facts).sum()) / squared for mechanism in both)
    assert gaussian == pytest.approx(1767.5, abs=0.1)
    assert spherical == pytest.approx(16256, abs=0.1)
    # Independent Laplace noise by the L1 norm √K·Δ₂ has 32258 = 2K².
    assert 2 * 127**2 == 32258
    assert spherical / 32258 == pytest.approx(0.504, abs=0.001)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("k", [1, 2, 5, 20, 60, 100])
def test_gaussian_noise_is_smaller_from_where_theory_says(epsilon, k):
    facts = PublicFacts(1, 1, 100, 1)
    gaussian = build(epsilon=epsilon, k=k, delta=1e-5).expected_rmse_of_span(facts)
    spherical = build(epsilon=epsilon, k=k, law="spherical").expected_rmse_of_span(facts)
    assert (gaussian < spherical) == (k + 1 > (gaussian_sigma(epsilon, 1e-5) * epsilon) ** 2)


def test_the_public_number_of_coefficients_follows_the_window():
    assert build().kept(PublicFacts(1, 1, 1216, 1)) == 41
    assert build(window=30).kept(PublicFacts(1, 1, 1216, 1)) == 82
    assert build(window=1).kept(PublicFacts(1, 1, 7, 1)) == 7
    assert build().kept(PublicFacts(1, 1, 1, 1)) == 1


def test_the_query_is_the_plain_one_truncated():
    rng = np.random.default_rng(2)
    mechanism = build(k=3, radius=0.2)
    facts = PublicFacts(5, 2, 9, 4)
    values = rng.random((5, 2, 9, 4))
    plain = np.einsum("ir,...rf->...if", cosine_matrix(9)[:3], values - 0.5)
    norm = np.sqrt((plain**2).sum(axis=(1, 2, 3), keepdims=True))
    ball = 0.2 * math.sqrt(2 * 9 * 4)
    plain *= np.minimum(1, ball / norm)
    assert (norm > ball).any()
    assert (norm < ball).any()
    off = plain / mechanism.step(facts) - mechanism.query(values, facts)
    # Truncated towards zero, to what floating point can tell.
    assert (off * np.sign(plain) > -1e-3).all()
    assert (off * np.sign(plain) < 1 + 1e-3 + np.abs(plain) / mechanism.step(facts) * 1e-11).all()


@settings(max_examples=60)
@given(
    st.floats(0.01, 200),
    st.floats(0.01, 0.5),
    st.integers(1, 4),
    st.integers(1, 12),
    st.integers(1, 5),
    st.sampled_from(VARIANTS),
    st.integers(0, 2**31),
)
def test_no_norm_exceeds_the_clip_in_exact_integers(epsilon, radius, r, n, f, variant, seed):
    mechanism = replace(variant, epsilon=epsilon, radius=radius, k=min(n, 3))
    rng = np.random.default_rng(seed)
    values = rng.choice([-np.inf, -5, 0, 0.1, 0.5, 0.77, 1, np.inf, np.nan], size=(8, r, n, f))
    facts = PublicFacts(8, r, n, f)
    integers = mechanism.query(values, facts)
    units = integers.reshape(8, -1) if mechanism.unit == PERSON else integers.reshape(8 * r, -1)
    for vector in units:
        assert sum(int(i) ** 2 for i in vector) <= mechanism.radius_steps(facts) ** 2
    most = Fraction(mechanism.loss(facts)) * noise_of(mechanism, facts).scale
    assert 2 * mechanism.radius_steps(facts) <= most
    assert 2 * mechanism.radius_steps(facts) >= float(most) * 0.99


def test_half_a_span_clips_nobody():
    mechanism = build(k=10, epsilon=50.0)
    facts = PublicFacts(3, 3, 10, 4)
    values = np.random.default_rng(3).integers(0, 2, (3, 3, 10, 4)).astype(float)
    found = mechanism.query(values, facts) * mechanism.step(facts)
    plain = first_cosines(values - 0.5, 10)
    np.testing.assert_allclose(found, plain, atol=2 * mechanism.step(facts) + 1e-9)


def test_clipping_keeps_the_direction():
    wide, tight = build(k=4), build(k=4, radius=0.1)
    facts = PublicFacts(1, 3, 10, 2)
    values = np.random.default_rng(4).random((3, 10, 2))
    one, other = (
        mechanism.query(values, facts).ravel().astype(float) for mechanism in (wide, tight)
    )
    assert one @ other / np.linalg.norm(one) / np.linalg.norm(other) == pytest.approx(1, abs=1e-9)
    assert np.linalg.norm(other) * tight.step(facts) == pytest.approx(0.1 * math.sqrt(60))


def test_a_person_is_clipped_as_a_whole_and_a_recording_alone():
    values = np.full((2, 10, 1), 0.7)
    wilder = values.copy()
    wilder[1] = 1.0
    facts = PublicFacts(1, 2, 10, 1)
    for unit, same in ((PERSON, False), (RECORDING, True)):
        mechanism = build(k=1, radius=0.2, unit=unit)
        one, other = (mechanism.query(v, facts)[0] for v in (values, wilder))
        assert np.array_equal(one, other) == same


@pytest.mark.parametrize("law", ["gaussian", "spherical"])
@pytest.mark.parametrize("unit", [PERSON, RECORDING])
def test_expected_error_is_what_is_measured(law, unit, make_table):
    table = make_table(people=400, recordings=2, rows=20)
    chosen = build(law=law, unit=unit, epsilon=20.0, k=3)
    facts = chosen.facts(table)
    spans = np.array([f.span for f in table.features])
    noisy, plain = (
        build(law=law, unit=unit, epsilon=epsilon, k=3)
        .apply(table, randomness(1))
        .data.select(table.names)
        .to_numpy()
        for epsilon in (20.0, 2000.0)
    )
    error = ((noisy - plain) / spans).reshape(-1, 20, 2)
    expected = chosen.expected_rmse_of_span(facts)
    # 4800 coefficients: standard errors of about 1% (2% where recordings share a radius).
    assert np.sqrt((error**2).mean()) == pytest.approx(expected, rel=0.06)
    means = chosen.expected_mean_rmse_of_span(facts)
    assert np.sqrt((error.mean(axis=1) ** 2).mean()) == pytest.approx(means, rel=0.1)


def test_the_mean_over_rows_is_as_good_as_with_noise_on_every_value():
    facts = PublicFacts(20, 3, 1216, 48)
    plain = mechanism_named("gaussian", epsilon=1.0)
    assert build().expected_mean_rmse_of_span(facts) == pytest.approx(
        plain.expected_mean_rmse_of_span(facts), rel=1e-6
    )
    ratio = plain.expected_rmse_of_span(facts) / build().expected_rmse_of_span(facts)
    assert ratio == pytest.approx(math.sqrt(1216 / 41), rel=1e-6)


def test_half_the_radius_is_half_the_noise_and_a_worst_clip_besides():
    whole, half = (build(radius=r).expected_rmse_of_span(SHAPE) for r in (0.5, 0.25))
    assert half == pytest.approx(math.hypot(whole / 2, 0.25), rel=1e-9)


def test_no_radius_buys_an_error_that_is_not_there():
    """Everybody is at one end of the bounds, where clipping hurts most."""
    values = np.ones((30, 2, 40, 3))
    features = [Feature(f"f{j}", "", "", 0.0, 1.0) for j in range(3)]
    table = table_from_arrays(values, features)
    for name, inside in (("dct", {"radius": 0.01}), ("groupmean", {"inner": "dct:radius=0.01"})):
        mechanism = mechanism_named(name, epsilon=4.0, **inside)
        shown = (
            mechanism.apply(table, randomness(1)).data.select([f.name for f in features]).to_numpy()
        )
        expected = mechanism.expected_rmse_of_span(mechanism.facts(table))
        assert np.sqrt(((shown - 1.0) ** 2).mean()) <= expected * 1.05


def test_a_person_loses_more_than_each_of_three_recordings():
    gaussian = build(unit=RECORDING, delta=1e-5)
    one, all_three = (gaussian.cost(SHAPE, unit) for unit in (RECORDING, PERSON))
    assert one.epsilon == 1.0
    assert all_three.mu == pytest.approx(math.sqrt(3) * one.mu, rel=1e-9)
    assert all_three.epsilon == pytest.approx(gaussian_epsilon(all_three.mu, 1e-5), rel=1e-3)
    spherical = build(unit=RECORDING, law="spherical", epsilon=0.1)
    assert spherical.cost(SHAPE, PERSON).epsilon == 0.3
    assert "3 times one recording" in spherical.person_total(SHAPE)


def test_what_holds_for_a_person_holds_for_a_recording():
    # Its change may rescale all the others, so that it is no less.
    gaussian = build(delta=1e-5)
    assert gaussian.cost(SHAPE, RECORDING).mu == gaussian.cost(SHAPE, PERSON).mu
    assert gaussian.cost(SHAPE, RECORDING).slack == gaussian.cost(SHAPE, PERSON).slack
    spherical = build(law="spherical")
    assert spherical.cost(SHAPE, RECORDING).epsilon == spherical.cost(SHAPE, PERSON).epsilon == 1


def test_what_the_noise_gives_is_what_is_claimed():
    spherical, gaussian = build(law="spherical"), build()
    assert spherical.cost(SHAPE, PERSON).kind is Kind.PURE
    assert spherical.cost(SHAPE, PERSON).delta == 0
    assert spherical.numerics == gaussian.numerics == "exact"
    assert gaussian.cost(SHAPE, PERSON).kind is Kind.APPROXIMATE
    assert "spherical Laplace" in spherical.sampler(SHAPE)
    assert "first 4 cosine coefficients" in gaussian.sampler(SHAPE)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"k": "paper"}, "k must be a number or public, got 'paper'"),
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"radius": 0.0}, "radius must be at least 1e-06 and at most 0.5"),
        ({"radius": -1.0}, "got -1"),
        ({"radius": 0.6}, "got 0.6"),
        ({"radius": math.nan}, "got nan"),
        ({"law": "laplace"}, "law must be gaussian or spherical, got 'laplace'"),
        ({"law": "spherical", "delta": 1e-5}, "leave delta out"),
        ({"delta": 0.0}, "delta must be above 0"),
    ],
)
def test_a_bad_setting_is_named(wrong, named):
    with pytest.raises(InputError, match=named):
        build(**wrong)


def test_more_coefficients_than_rows_is_an_error(make_table):
    with pytest.raises(InputError, match="k = 11 is more than the 10 rows of a recording"):
        build(k=11).apply(make_table(), randomness(1))


@pytest.mark.parametrize("law", [{"delta": 1e-12}, {"law": "spherical"}], ids=str)
def test_an_epsilon_beyond_the_grid_is_an_error(law):
    with pytest.raises(InputError, match="finer than the grid"):
        build(epsilon=1e9, **law).step(SHAPE)
    with pytest.raises(InputError, match="more noise than there are numbers for"):
        build(epsilon=1e-9, **law).step(SHAPE)


def test_other_units_are_refused():
    with pytest.raises(Refused, match="choose one of person, recording"):
        build(unit=RECORD)
    with pytest.raises(Refused, match="not offered"):
        build().cost(SHAPE, RECORD)


@pytest.mark.parametrize("law", ["gaussian", "spherical"])
def test_values_outside_are_clipped_and_missing_ones_sit_in_the_middle(law):
    feature = Feature("heart_rate", "1/min", "beats per minute", 30.0, 220.0)
    values = np.array([-1e9, 1e9, np.nan, -np.inf, np.inf, 60.0]).reshape(6, 1, 1, 1)
    table = table_from_arrays(values, [feature])
    released = build(law=law, epsilon=3e3, k=1).apply(table, randomness(1)).data["heart_rate"]
    np.testing.assert_allclose(released, [30, 220, 125, 30, 220, 60], atol=10)


def test_only_slow_movement_is_left():
    rows = np.arange(120)
    slow, fast = np.cos(2 * np.pi * rows / 120), np.cos(2 * np.pi * rows / 4)
    values = (0.5 + 0.2 * slow + 0.2 * fast).reshape(1, 1, 120, 1)
    table = table_from_arrays(values, [Feature("yaw", "deg", "head turn", 0.0, 1.0)])
    windows = replace(table, window_ms=60 * table.step_ms)
    for mechanism, taken in ((build(epsilon=1e4), windows), (build(epsilon=1e4, window=60), table)):
        assert "4 of 120 coefficients are kept" in mechanism.cut_off(mechanism.facts(taken))
        released = mechanism.apply(taken, randomness(1)).data["yaw"].to_numpy()
        assert np.abs(released - 0.5 - 0.2 * slow).max() < 0.1


def test_rows_that_are_no_windows_keep_all_that_moves():
    values = np.random.default_rng(1).random((1, 1, 120, 1))
    table = table_from_arrays(values, [Feature("yaw", "deg", "head turn", 0.0, 1.0)])
    mechanism = build(epsilon=1e5 / 40)
    assert mechanism.kept(mechanism.facts(table)) == 120
    assert mechanism.cut_off(mechanism.facts(table)) == ""


@pytest.mark.parametrize("law", ["gaussian", "spherical"])
def test_units_of_measurement_do_not_matter(law, make_table):
    table = make_table(people=3)
    scaled = replace(
        table,
        data=table.data.with_columns(pl.col("pupil") * 1000),
        features=[
            replace(f, lower=f.lower * 1000, upper=f.upper * 1000) if f.name == "pupil" else f
            for f in table.features
        ],
    )
    one, other = (build(law=law).apply(t, randomness(5)).data["pupil"] for t in (table, scaled))
    np.testing.assert_allclose(other, one * 1000, rtol=1e-6, atol=1e-3)


def test_the_order_of_features_and_the_direction_of_time_do_not_matter():
    mechanism, facts = build(k=5, radius=0.2), PublicFacts(4, 2, 12, 3)
    values = np.random.default_rng(6).random((4, 2, 12, 3))
    found = mechanism.query(values, facts)
    assert (np.abs(mechanism.query(values[..., ::-1], facts)[..., ::-1] - found) <= 1).all()
    signs = np.array([1, -1, 1, -1, 1])[:, None]
    assert (np.abs(mechanism.query(values[:, :, ::-1], facts) * signs - found) <= 1).all()


@pytest.mark.parametrize("law", ["gaussian", "spherical"])
def test_people_with_fewer_recordings_are_measured_like_all(law, make_table):
    table = make_table(people=6)
    # The last one has a single recording, of fewer rows; nobody has all three in the end.
    some = (pl.col("recording") == "0") | (pl.col("person") == "0")
    fewer = replace(table, data=table.data.filter(some))
    chosen = build(law=law, length=10)
    released = chosen.apply(fewer, randomness(7))
    assert released.data.height == (3 + 5) * 10
    assert np.isfinite(released.data.select(table.names).to_numpy()).all()
    alone = np.full((1, 1, 10, 2), 0.3)
    facts = PublicFacts(1, 3, 10, 2)
    assert chosen.randomise(alone, facts, randomness(8)).shape == alone.shape


def test_one_recording_is_the_same_as_a_person():
    facts = PublicFacts(5, 1, 50, 3)
    one, other = (build(unit=unit) for unit in (PERSON, RECORDING))
    assert one.expected_rmse_of_span(facts) == other.expected_rmse_of_span(facts)
    assert other.cost(facts, PERSON).epsilon == 1.0


def test_integers_can_be_summed_and_rebuilt():
    mechanism, facts = build(k=4, epsilon=5.0), PublicFacts(6, 2, 20, 3)
    values = np.random.default_rng(9).random((6, 2, 20, 3))
    summed = mechanism.query(values, facts).sum(axis=0)
    rebuilt = mechanism.rebuild(summed / 6 * mechanism.step(facts), facts)
    mean = from_first_cosines(first_cosines(values.mean(axis=0), 4), 20)
    np.testing.assert_allclose(rebuilt, mean, atol=1e-6)
    noisy = mechanism.perturb(summed, facts, randomness(1))
    assert noisy.shape == summed.shape


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_neighbours_reach_what_is_declared_and_never_more(variant):
    result = fuzz(variant, variant.unit, 2048, seed=3)
    assert 0.95 < result.reached <= 1


@pytest.mark.parametrize("variant", VARIANTS[::5], ids=IDS[::5])
def test_the_noise_is_fresh_and_whole(variant):
    assert not examine(variant, randomness(11)).refuted


@pytest.mark.parametrize("variant", VARIANTS[::4], ids=IDS[::4])
def test_a_game_certifies_most_of_the_claim_and_refutes_none(variant):
    # A true claim is refuted once in a million games.
    result = play(variant, variant.unit, 20_000, randomness(12))
    assert 0.85 < result.lower_bound / result.claimed <= 1


@pytest.mark.parametrize(
    "fault",
    [f for f in mutants_of(DCT) if any(word in f.name for word in OURS)],
    ids=lambda fault: fault.name,
)
def test_planted_faults_are_caught(fault):
    assert fault.caught(40_000 if "×" in fault.name else 10_000, randomness(13))


def test_the_public_coefficients_hold_what_real_signals_have(real_windows):
    mechanism = build(epsilon=1e4)
    facts = mechanism.facts(real_windows)
    spans = np.array([f.span for f in real_windows.features])
    lowers = np.array([f.lower for f in real_windows.features])
    for _, person in list(real_windows.data.group_by("person", maintain_order=True))[:4]:
        recordings = person.partition_by("recording", maintain_order=True)
        rows = [r.select(real_windows.names).to_numpy()[: facts.length] for r in recordings]
        values = mechanism.clip((np.stack(rows) - lowers) / spans)
        rebuilt = mechanism.rebuild(mechanism.query(values, facts) * mechanism.step(facts), facts)
        # Nobody is clipped, and what is left out is small against the span.
        assert np.sqrt(((rebuilt - values) ** 2).mean()) < 0.03
        assert np.abs(rebuilt.mean(axis=1) - values.mean(axis=1)).max() < 1e-6
