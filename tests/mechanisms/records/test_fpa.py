"""FPA, CFPA and DCFPA that hold: what they cost, how far a piece can move them, what comes back."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyelid
from eyelid.attacks.residuals import examine
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import PublicFacts, find, mechanism_named
from eyelid.mechanisms.records.fourier import coordinates_of_first
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy import PERSON, RECORDING, Unit, randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

NAMES = ["fpa", "cfpa", "dcfpa"]
CHUNKED = ["cfpa", "dcfpa"]
SHAPE = PublicFacts(people=20, recordings=3, length=100, features=4)


def build(name, **parameters):
    if name == "fpa":
        parameters.pop("chunk", None)
    return mechanism_named(name, **{"epsilon": 1.0} | parameters)


def one_piece(name, n, **parameters):
    """The mechanism whose only piece is a signal of n values, and the shape of such a person."""
    return build(name, chunk=n, **parameters), PublicFacts(1, 1, n, 1)


def corners(n):
    return np.array(list(itertools.product([0.0, 1.0], repeat=n)))[:, None, :, None]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_coordinates_survive_being_rebuilt(name, k):
    mechanism = build(name, k=k, chunk=25)
    count = mechanism.coordinates(SHAPE, RECORDING) // SHAPE.features
    chosen = np.random.default_rng(1).normal(size=(2, 3, count, 4))
    again = mechanism.analyse(mechanism.rebuild(chosen, SHAPE), SHAPE)
    np.testing.assert_allclose(again, chosen, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [32, 45, 64, 100])
def test_all_coefficients_give_back_signals_of_any_length(name, length):
    mechanism = build(name, k=17, chunk=32) if name != "fpa" else build(name, k=length)
    values = np.random.default_rng(2).random((2, 3, length, 4))
    shape = replace(SHAPE, length=length)
    np.testing.assert_allclose(
        mechanism.rebuild(mechanism.analyse(values, shape), shape), values, atol=1e-9
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 10])
def test_no_corner_of_the_box_moves_the_integers_more_than_is_declared(name, n):
    """All 2^n: the L1 norm is convex, so neighbours at opposite corners are the worst."""
    for k in range(1, n + 1):
        mechanism, facts = one_piece(name, n, k=k)
        one = corners(n)
        moved = (
            np.abs(mechanism.query(one, facts) - mechanism.query(1 - one, facts))
            .sum(axis=(1, 2, 3))
            .max()
        )
        assert moved <= mechanism.sensitivity(facts, PERSON)
        assert moved <= mechanism.noise(facts).scale
        if k == 1:
            assert moved == pytest.approx(mechanism.noise(facts).scale, rel=1e-8)


@pytest.mark.parametrize("name", ["fpa", "cfpa"])
@pytest.mark.parametrize(("n", "k"), [(32, 2), (32, 17), (64, 10), (64, 33), (301, 7)])
def test_some_neighbours_come_near_what_is_declared(name, n, k):
    mechanism, facts = one_piece(name, n, k=k)
    change = mechanism._largest_change(facts)[None, :, None]
    steps = mechanism.query((1 + change) / 2, facts) - mechanism.query((1 - change) / 2, facts)
    assert 0.75 <= np.abs(steps).sum() / mechanism.sensitivity(facts, PERSON) <= 1


def test_the_bound_for_differences_is_the_smaller_of_two_and_both_are_right():
    smaller = []
    for n in range(1, 11):
        matrix = np.fft.fft(np.diff(np.eye(n), axis=0, prepend=0.0), axis=0)
        for k in range(1, n // 2 + 2):
            mechanism, facts = one_piece("dcfpa", n, k=k)
            of_norms = math.sqrt(n * k * (4 * n - 3))
            each = np.concatenate([matrix[:k].real, matrix[1:k].imag])
            of_each = np.abs(each).sum()
            assert mechanism.block_l1(facts) == pytest.approx(min(of_norms, of_each))
            change = 2 * corners(n)[:, 0, :, 0] - 1
            moved = np.abs(change @ each.T).sum(axis=1).max()
            assert moved <= mechanism.block_l1(facts) * (1 + 1e-12)
            smaller.append(of_each < of_norms)
    assert set(smaller) == {True, False}


@pytest.mark.parametrize("c", [4, 32, 128])
def test_differences_have_a_third_of_the_noise_at_one_coefficient_and_more_beyond(c):
    """With the norm's bound alone it would be (4c − 3)·(c+1)(2c+1)/(6c) at k = 1."""
    energies = {}
    for k, name in itertools.product((1, 2, 3), CHUNKED):
        mechanism, facts = one_piece(name, c, k=k)
        energies[name, k] = mechanism.expected_rmse_of_span(facts) ** 2
    ratio = {k: energies["dcfpa", k] / energies["cfpa", k] for k in (1, 2, 3)}
    assert ratio[1] == pytest.approx((c + 1) * (2 * c + 1) / (6 * c**2))
    assert min(ratio[2], ratio[3]) > 4
    if c == 32:
        assert ratio[1] == pytest.approx(0.349, abs=1e-3)
        assert ratio[2] == pytest.approx(5.48, abs=0.01)


def test_the_golden_noise_energy():
    """Paper scale with mirrored coefficients: (2k/ε²)(1 + 4(k − 1))·Δ₂² = 32384·Δ₂² at k = 64."""
    k, n = 64, 200
    mechanism, facts = one_piece("fpa", n, k=k)
    assert coordinates_of_first(k, n) == 127
    energy = n * mechanism.expected_rmse_of_span(facts) ** 2 / n
    assert energy == pytest.approx(2 * k * (1 + 4 * (k - 1)), rel=1e-6)
    assert energy == pytest.approx(32384, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_beyond_the_middle_are_measured_once(name):
    values = np.random.default_rng(3).random((1, 1, 16, 1))
    (half, facts), (whole, _) = one_piece(name, 16, k=9), one_piece(name, 16, k=16)
    assert whole.kept(facts) == half.kept(facts) == 9
    assert whole.coordinates(facts, PERSON) == 16
    np.testing.assert_array_equal(half.query(values, facts), whole.query(values, facts))
    assert whole.expected_rmse_of_span(facts) == half.expected_rmse_of_span(facts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parameters", [{}, {"k": 1}, {"k": 3}, {"k": 8}], ids=str)
def test_expected_errors_are_what_is_measured(name, parameters):
    """Standard error of the mean square below 2%; the last chunk of a signal is cut."""
    mechanism = build(name, epsilon=50.0, chunk=8, **parameters)
    values = np.full((1500, 2, 20, 2), 0.5)
    features = [Feature("a", "", "", 0.0, 1.0), Feature("b", "", "", -4.0, 6.0)]
    table = table_from_arrays(values * [1.0, 10.0] + [0.0, -4.0], features)
    facts = mechanism.facts(table)
    released = mechanism.apply(table, randomness(4)).data.select("a", "b").to_numpy()
    # What is cut off is not noise.
    kept = mechanism.rebuild(mechanism.analyse(values, facts), facts)
    error = (released - [0.0, -4.0]) / [1.0, 10.0] - kept.reshape(-1, 2)
    by_rows = error.reshape(1500, 2, 20, 2)
    found = np.sqrt((error**2).mean()), np.sqrt((by_rows.mean(axis=2) ** 2).mean())
    expected = mechanism.expected_rmse_of_span(facts), mechanism.expected_mean_rmse_of_span(facts)
    assert found == pytest.approx(expected, rel=0.05)


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_closed_form_of_errors_is_what_rebuilding_each_coefficient_gives(n, k):
    mechanism, facts = one_piece("fpa", n, k=min(k, n))
    generic = RecordMechanism.expected_rmse_of_span(mechanism, facts)
    assert mechanism.expected_rmse_of_span(facts) == pytest.approx(generic)
    generic = RecordMechanism.expected_mean_rmse_of_span(mechanism, facts)
    assert mechanism.expected_mean_rmse_of_span(facts) == pytest.approx(generic)


@pytest.mark.parametrize("k", ["private", 100_000])
def test_errors_of_very_long_signals_take_no_time(k):
    assert build("fpa", k=k).expected_rmse_of_span(PublicFacts(2, 1, 200_000, 1)) > 0


@pytest.mark.parametrize("name", CHUNKED)
@pytest.mark.parametrize(("length", "chunks"), [(96, 3), (97, 4), (32, 1)])
def test_a_chunk_s_epsilon_is_multiplied_for_a_person(name, length, chunks):
    facts = replace(SHAPE, length=length)
    mechanism = build(name, epsilon=0.1, unit="chunk")
    assert mechanism.unit == Unit("chunk", 32)
    assert mechanism.cost(facts, mechanism.unit).epsilon == 0.1
    person = float(Fraction("0.1") * chunks * 4 * 3)
    assert mechanism.cost(facts, PERSON).epsilon == person
    assert f"{chunks * 12} times one chunk:32" in mechanism.person_total(facts)
    assert mechanism.cost(facts, RECORDING).epsilon == float(Fraction("0.1") * chunks * 4)


def test_the_promise_for_a_chunk_is_for_chunks_as_they_are_cut():
    """Four values in a row that lie in two chunks may move the integers by √2 of what is declared.

    Every corner of the bounds is tried, so that these are the true figures.
    """
    mechanism = build("cfpa", chunk=4, k=2, unit="chunk")
    facts = PublicFacts(1, 1, 8, 1)
    moved = []
    for first in range(5):
        one = np.full((16, 1, 8, 1), 0.5)
        one[:, :, first : first + 4] = corners(4)
        steps = mechanism.query(one, facts) - mechanism.query(1 - one, facts)
        largest = np.abs(steps).reshape(16, -1).sum(axis=1).max()
        moved.append(largest / mechanism.sensitivity(facts, mechanism.unit))
    assert moved == pytest.approx([0.7071, 1.0607, 1.4142, 1.0607, 0.7071], abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_s_epsilon_is_multiplied_by_the_recordings(name):
    mechanism = build(name, unit="recording")
    assert mechanism.cost(SHAPE, RECORDING).epsilon == 1.0
    assert mechanism.cost(SHAPE, PERSON).epsilon == 3.0
    assert build(name, unit="person").cost(SHAPE, PERSON).epsilon == 1.0
    assert "calibrated to the person" in build(name).person_total(SHAPE)


@given(
    st.sampled_from(NAMES),
    st.floats(1e-2, 1e3),
    st.integers(1, 6),
    st.integers(1, 150),
    st.integers(1, 20),
    st.data(),
)
def test_integers_never_lose_more_than_is_claimed(name, epsilon, r, n, f, data):
    """The L1 norm by its own formula here, rounding as the worst case, the rest in fractions."""
    facts = PublicFacts(5, r, n, f)
    chunk = data.draw(st.integers(1, n))
    piece = n if name == "fpa" else chunk
    k = data.draw(st.integers(1, piece))
    units = ["person", "recording"] + ["chunk"] * (name != "fpa")
    mechanism = build(
        name, epsilon=epsilon, chunk=chunk, k=k, unit=data.draw(st.sampled_from(units))
    )
    kept = min(k, piece // 2 + 1)
    reach = math.sqrt(4 * piece - 3 if name == "dcfpa" else piece)
    l1 = math.sqrt(piece * kept) * reach
    if name == "dcfpa":
        matrix = np.fft.rfft(np.diff(np.eye(piece), axis=0, prepend=0.0), axis=0)[:kept]
        l1 = min(l1, float(np.abs(matrix.real).sum() + np.abs(matrix.imag).sum()))
    coordinates = 2 * kept - 1 - (piece % 2 == 0 and kept == piece // 2 + 1)
    pieces = math.ceil(n / piece)
    for unit, count in ((PERSON, pieces * f * r), (RECORDING, pieces * f)):
        moved = count * (Fraction(l1) / Fraction(mechanism.step(facts)) + coordinates)
        loss = moved / mechanism.noise(facts).scale
        claimed = Fraction(mechanism.cost(facts, unit).epsilon)
        assert loss <= claimed * (1 + Fraction(1, 10**14))
        assert loss >= claimed * Fraction(99, 100)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("fpa", "person"), ("fpa", "recording"), ("cfpa", "chunk"), ("dcfpa", "chunk")],
)
def test_the_distinguishing_game_does_not_refute_the_claim(name, unit):
    """False alarms: 1e-6 a game; the seed is fixed."""
    mechanism = mechanism_named(name, **find(name).games[-1], unit=unit)
    result = play(mechanism, mechanism.unit, 8_000 if name == "fpa" else 20_000, randomness(7))
    assert not result.refuted
    assert result.lower_bound > 0.6 * result.claimed
    assert not fuzz(mechanism, mechanism.unit, pairs=500).refuted
    assert not examine(mechanism, randomness(6)).refuted


@pytest.mark.parametrize("name", NAMES)
def test_planted_faults_are_caught(name):
    planted = {fault.name: fault for fault in mutants_of(find(name))}
    chosen = ["noise on real parts only", "missing √n", "recording ε sold as person"]
    chosen += ["chunk ε sold as person"] * (name != "fpa")
    assert {*chosen, "missing clip", "rows without noise"} <= set(planted)
    runs = {"missing √n": 20_000}
    missed = [n for n in chosen if not planted[n].caught(runs.get(n, 2_000), randomness(3))]
    assert missed == []


@pytest.mark.parametrize("name", NAMES)
def test_missing_and_outlying_values_are_put_inside_the_bounds(name):
    feature = Feature("rate", "", "", 10.0, 20.0)
    values = np.array([-1e9, 1e9, np.nan, -np.inf, np.inf, 12.0]).reshape(1, 1, 6, 1)
    mechanism = build(name, epsilon=1e7, k=4 if name == "fpa" else 2, chunk=3)
    released = mechanism.apply(table_from_arrays(values, [feature]), randomness(1)).data["rate"]
    np.testing.assert_allclose(released, [10, 20, 15, 10, 20, 12], atol=0.01)


def ragged():
    """People with recordings of 40, 30 and 50 rows, the third without her second task."""
    rng = np.random.default_rng(6)
    features = [Feature("rate", "1/s", "", 0.0, 10.0), Feature("pupil", "mm", "", 1.5, 9.0)]
    table = table_from_arrays(rng.uniform(2, 5, (3, 2, 50, 2)), features)
    rows = {"0": 40, "1": 30, "2": 50}
    person = pl.col("person")
    longest = person.replace_strict(rows, return_dtype=pl.Int64)
    kept = (pl.col("time_ms") < longest * 500) & ~((person == "2") & (pl.col("recording") == "1"))
    return replace(table, data=table.data.filter(kept), planned_rows=30)


def everything(name):
    """Parameters that keep all coefficients of these recordings."""
    return {"k": 30} if name == "fpa" else {"k": 16, "chunk": 30}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", ["shortest", "longest", 45])
def test_unequal_recordings_and_absent_tasks_are_released_at_one_length(name, length):
    table = ragged()
    done = eyelid.release(table, mechanism=name, epsilon=3e7, length=length, **everything(name))
    rows = {"shortest": 30, "longest": 50, 45: 45}[length]
    assert done.table.recordings.select("person", "recording").rows() == [
        ("0", "0"), ("0", "1"), ("1", "0"), ("1", "1"), ("2", "0")
    ]  # fmt: skip
    assert set(done.table.recordings["rows"]) == {rows}
    assert done.certificate.person_level.epsilon == 3e7
    keys = ["person", "recording", "time_ms"]
    both = done.table.data.join(table.data, on=keys)
    np.testing.assert_allclose(both["rate"], both["rate_right"], atol=0.02)
    padded = done.table.data.join(table.data, on=keys, how="anti")
    np.testing.assert_allclose(padded["rate"], 5.0, atol=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_gaps_and_an_empty_recording_show_as_the_midpoint_and_nothing_else(name):
    table = ragged()
    data = table.data.with_columns(
        pl.when((pl.col("person") == "0") & (pl.col("recording") == "0"))
        .then(None)
        .otherwise(pl.when(pl.col("time_ms") < 5000).then(float("nan")).otherwise(pl.col("rate")))
        .alias("rate")
    )
    holes = replace(table, data=data)
    done = eyelid.release(holes, mechanism=name, epsilon=3e7, **everything(name))
    released = done.table.data
    assert released.select(pl.col("rate", "pupil").is_finite().all()).row(0) == (True, True)
    empty = released.filter((pl.col("person") == "0") & (pl.col("recording") == "0"))["rate"]
    np.testing.assert_allclose(empty, 5.0, atol=0.02)
    np.testing.assert_allclose(released.filter(pl.col("time_ms") < 5000)["rate"], 5.0, atol=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_constant_features_and_one_recording_each_come_back(name):
    features = [Feature("still", "", "", 0.0, 4.0)]
    table = table_from_arrays(np.full((3, 1, 64, 1), 1.0), features)
    done = eyelid.release(table, mechanism=name, epsilon=1e6, k=1)
    assert done.table.data.height == 3 * 64
    if name != "dcfpa":
        np.testing.assert_allclose(done.table.data["still"], 1.0, atol=0.02)
    assert done.certificate.person_level.epsilon == 1e6


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("cfpa", {"chunk": 64}, "recordings of 30 rows are shorter than a chunk of 64"),
        ("dcfpa", {}, "recordings of 30 rows are shorter than a chunk of 32: set chunk to 30 or"),
        ("fpa", {"k": 31}, "k = 31 is more than the 30 values of a signal or chunk: choose k ≤ 30"),
        ("cfpa", {"k": 9, "chunk": 8}, "k = 9 is more than the 8 values"),
        ("fpa", {"k": 0}, "k must be at least 1, got 0"),
        ("fpa", {"k": "best"}, "k must be a number, public or private, got 'best'"),
        ("fpa", {"k": "2.5"}, "k must be a number, public or private, got '2.5'"),
        ("fpa", {"window": 0}, "window must be at least 1, got 0"),
        ("cfpa", {"chunk": 0}, "chunk must be at least 1, got 0"),
        ("cfpa", {"chunk": "many"}, "chunk must be a whole number, got 'many'"),
        ("cfpa", {"unit": "chunk:64"}, "unit 'chunk:64' and chunk = 32 differ: set chunk=64"),
        ("fpa", {"unit": "chunk:30"}, "fpa does not offer the unit 'chunk:30'"),
        ("fpa", {"unit": "record"}, "fpa does not offer the unit 'record'"),
        ("fpa", {"chunk": 8}, "chunk"),
        ("fpa", {"epsilon": 1e-10}, "more noise than there are numbers for: choose a larger one"),
        ("fpa", {"epsilon": 1e12}, "finer than the grid: choose a smaller one"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_paid(name, parameters, message):
    with pytest.raises(EyelidError, match=message):
        eyelid.release(ragged(), mechanism=name, **{"epsilon": 1.0} | parameters)


@pytest.mark.parametrize("name", NAMES)
def test_features_without_bounds_are_named(name):
    features = [Feature("speed", "", "", 0.0, math.inf)]
    table = table_from_arrays(np.ones((3, 1, 40, 1)), features)
    with pytest.raises(InputError, match="feature speed has no public bounds"):
        eyelid.release(table, mechanism=name, epsilon=1.0)


def test_a_moment_of_gaze_is_said_to_touch_several_chunks():
    table = replace(ragged(), window_ms=30_000.0)
    for chunk, touched in ((8, 9), (16, 5), (30, 3)):
        shown = build("cfpa", unit="chunk", chunk=chunk).unprotected(table)
        assert f"in at least about {touched} chunks of each of 2 features" in shown[-1]
        assert any(f"{chunk} values in a row that lie in two chunks" in line for line in shown)
    assert not any("chunk" in text for text in build("cfpa").unprotected(table))


def test_the_command_line_takes_chunks(eyelid, features_folder, tmp_path):
    told = eyelid("cost", features_folder, "--mechanism", "cfpa", "--epsilon", 1, "--unit", "chunk",
                  "--set", "chunk=4")  # fmt: skip
    assert told.code == 0
    assert "for one chunk:4" in told.out
    same = ["--mechanism", "cfpa", "--epsilon", 1, "--unit", "chunk:4", "--set", "chunk=4"]
    done = eyelid("release", features_folder, tmp_path / "out", *same)
    assert done.code == 0
    assert "One chunk:4: ε = 1" in done.out
    short = eyelid("release", features_folder, tmp_path / "no", "--mechanism", "cfpa",
                   "--epsilon", 1)  # fmt: skip
    assert short.code == 2
    assert "recordings of 10 rows are shorter than a chunk of 32" in short.err
    assert not (tmp_path / "no").exists()
