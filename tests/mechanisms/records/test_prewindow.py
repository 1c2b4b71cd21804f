"""Noise before windows: the features that bins give, what they cost, how far off they are."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.fft import dct, idct

import eyelid
from eyelid.errors import InputError, Refused
from eyelid.gaze.features.bins import bin_streams, stream_set
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import PublicFacts, mechanism_named
from eyelid.mechanisms.records.formulas import FORMULAS
from eyelid.privacy import PERSON, RECORDING, randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

NEVER = [name for name in (f.name for f in window_feature_set()) if name not in FORMULAS]


def build(**parameters):
    return mechanism_named("prewindow", **{"epsilon": 4.0, "delta": 1e-5} | parameters)


def without_noise(mechanism, study):
    return mechanism.present(mechanism.summarise(study))


def in_spans(table, truth):
    """Differences from window features, NaN where these are undefined."""
    return {
        f.name: (table.data[f.name].to_numpy() - truth.data[f.name].cast(float).to_numpy()) / f.span
        for f in table.features
    }


def test_where_caps_do_not_bite_windows_of_bins_are_the_windows(simulated, simulated_table):
    made = without_noise(build(max_events=20, max_blinks=20), simulated)
    keys = ["person", "recording", "task", "stimulus", "time_ms"]
    assert made.data.select(keys).equals(simulated_table.data.select(keys))
    assert (made.step_ms, made.window_ms) == (500.0, 30_000.0)
    theirs = {f.name: f for f in simulated_table.features}
    assert all(theirs[f.name] == f for f in made.features)
    assert len(made.features) == 30
    for name, off in in_spans(made, simulated_table).items():
        defined = ~np.isnan(off)
        assert np.abs(off[defined]).max() < 1e-11, name
        assert defined.mean() > 0.9, name
    # Counts are exact in binary, and so are rates up to the division.
    counts = made.data["fixation_rate"].to_numpy() * 30
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-12)


def test_the_default_caps_leave_features_nearly_as_they_are(simulated, simulated_table):
    off = in_spans(without_noise(build(), simulated), simulated_table)
    assert max(math.sqrt(np.nanmean(d**2)) for d in off.values()) < 0.006
    assert max(np.abs(off["saccade_rate"])) > 0, "a person makes more than three in a bin"


def test_undefined_windows_have_a_value_within_the_bounds(simulated, simulated_table):
    made = without_noise(build(), simulated)
    undefined = simulated_table.data["blink_duration_mean"].is_null()
    assert undefined.any()
    assert made.data.filter(undefined)["blink_duration_mean"].unique().to_list() == [285.0]
    assert made.data.filter(undefined)["blink_duration_var"].unique().to_list() == [0.0]


def test_noise_of_any_size_gives_numbers_within_the_bounds(simulated):
    mechanism = build(epsilon=0.1, only="defined", others="dct")
    released = mechanism.apply(mechanism.summarise(simulated), randomness(3))
    for feature in released.features:
        column = released.data[feature.name]
        assert column.is_finite().all()
        made = FORMULAS.get(feature.name)
        if made and not made.linear:
            assert column.is_between(feature.lower, feature.upper).all(), feature.name


def test_a_huge_epsilon_is_next_to_no_noise(simulated):
    mechanism = build(epsilon=1e9, only="linear")
    bins = mechanism.summarise(simulated)
    released, clean = mechanism.apply(bins, randomness(3)), mechanism.present(bins)
    rows = released.recordings["rows"][0]
    clean = clean.data.filter(pl.col("time_ms") < 500.0 * rows)
    for feature in released.features:
        off = released.data[feature.name].to_numpy() - clean[feature.name].to_numpy()
        assert np.abs(off).max() < 0.01 * feature.span


def test_only_what_is_needed_is_measured():
    assert build(only="linear").streams() == (
        "fixations",
        "saccades",
        "small_saccades",
        "large_saccades",
        "positive_saccades",
        "negative_saccades",
        "blinks",
    )
    assert len(build().streams()) == 22
    assert build(only="blink_duration_var").streams() == (
        "blinks",
        "blink_duration_sum",
        "blink_duration_squares",
    )
    each = [build(only=only).facts_of(20, 3, 1200) for only in ("fixation_rate", "linear")]
    errors = [
        build(only=only).expected_rmse_of_span(facts)
        for only, facts in zip(("fixation_rate", "linear"), each, strict=True)
    ]
    assert errors[0] < errors[1] / 2


def test_length_is_in_windows_and_what_is_measured_in_bins(simulated):
    mechanism = build(length=100, only="linear")
    bins = mechanism.summarise(simulated)
    assert (
        mechanism.facts(bins)
        == mechanism.facts_of(6, 3, 100)
        == PublicFacts(6, 3, 159, 7, window=1)
    )
    assert mechanism.released(mechanism.facts(bins)) == PublicFacts(6, 3, 100, 8, window=1)
    released = mechanism.apply(bins, randomness(1))
    assert released.recordings["rows"].to_list() == [100] * 18
    assert released.data["time_ms"].max() == 99 * 500.0
    assert "(100 rows, known beforehand)" in " ".join(mechanism.unprotected(bins))


def test_longer_recordings_than_there_are_come_padded(simulated):
    mechanism = build(length="longest", only="linear")
    bins = mechanism.summarise(simulated)
    released = mechanism.apply(bins, randomness(1))
    longest = bins.recordings["rows"].to_numpy().max() - 59
    assert released.recordings["rows"].unique().to_list() == [longest]
    assert released.data.null_count().to_numpy().sum() == 0


def test_a_person_pays_for_bins_of_all_streams_and_recordings():
    mechanism = build()
    facts = mechanism.facts_of(people=20, recordings=3, length=1200)
    values = 3 * 1259 * 22
    sigma_spans = mechanism.noise(facts).scale * mechanism.step(facts)
    cost = mechanism.cost(facts, PERSON)
    assert cost.mu == pytest.approx(math.sqrt(values) / sigma_spans, rel=1e-9)
    assert (cost.epsilon, cost.delta) == (4.0, 1e-5)
    per_recording = build(unit=RECORDING)
    assert per_recording.cost(facts, PERSON).mu == pytest.approx(
        per_recording.cost(facts, RECORDING).mu * math.sqrt(3)
    )


def test_sixty_bins_in_a_window_are_sqrt_sixty_better_than_noise_on_windows():
    # Five fixations in half a second are the bound of the rate: the spans are the same.
    mechanism = build(only="fixation_rate", max_events=5)
    facts = mechanism.facts_of(people=20, recordings=3, length=1200)
    white = mechanism_named("gaussian", epsilon=4.0, delta=1e-5)
    assert mechanism.expected_rmse_of_span(facts) == pytest.approx(
        white.expected_rmse_of_span(facts) / math.sqrt(60), rel=1e-6
    )


@pytest.mark.parametrize("others", ["leave", "dct"])
def test_the_error_is_what_was_expected(others):
    # 500 people of 3 windows' length without overlap, 8 features or more: 1% off in a standard
    # error at most, and 5% are five of them.
    mechanism = build(only="linear", others=others, window_s=2.0)
    streams = [s for s in stream_set() if s.name in mechanism.streams()]
    whole = [f for f in window_feature_set(window_s=2.0) if f.name in mechanism.measured_whole()]
    features = [*streams, *whole]
    middle = [(f.lower + f.upper) / 2 for f in features]
    table = table_from_arrays(np.broadcast_to(middle, (500, 1, 15, len(features))), features)
    facts = mechanism.facts(table)
    assert facts == mechanism.facts_of(people=500, recordings=1, length=12)
    released, clean = mechanism.apply(table, randomness(5)), mechanism.present(table)
    assert len(released.features) == mechanism.released(facts).features
    spans = np.array([f.span for f in released.features])
    off = (released.data.select(released.names) - clean.data.select(released.names)).to_numpy()
    off = (off / spans).reshape(500, 12, -1)
    assert math.sqrt((off**2).mean()) == pytest.approx(
        mechanism.expected_rmse_of_span(facts), rel=0.05
    )
    means = math.sqrt((off.mean(axis=1) ** 2).mean())
    assert means == pytest.approx(mechanism.expected_mean_rmse_of_span(facts), rel=0.05)


def test_without_linear_features_the_error_is_that_of_full_bins():
    mechanism = build(only="saccade_amplitude_mean", window_s=2.0)
    facts = mechanism.facts_of(people=400, recordings=1, length=1)
    streams = [s for s in stream_set() if s.name in mechanism.streams()]
    # Full bins of saccades of the middle amplitude.
    table = table_from_arrays(np.broadcast_to([3.0, 0.0], (400, 1, 4, 2)), streams)
    quiet = replace(mechanism, epsilon=1e6)
    released = quiet.apply(table, randomness(5)).data["saccade_amplitude_mean"].to_numpy()
    # 400 draws: a standard error is 3.5%.
    assert (released / (40.0 - 0.4)).std() == pytest.approx(
        quiet.expected_rmse_of_span(facts), rel=0.18
    )


def test_other_features_are_smoothed_as_by_dct(simulated, simulated_table):
    mechanism = build(others="dct", length="shortest")
    bins = mechanism.summarise(simulated)
    assert bins.names == [*mechanism.streams(), *NEVER]
    windows = bins.recordings["rows"].min() - 59
    assert bins.data.filter(pl.col("time_ms") == 0)["wb1_max"].null_count() == 0
    cut = replace(bins, data=bins.data.filter(pl.col("time_ms") < 500.0 * (windows + 59)))
    made = mechanism.present(cut)
    assert made.names == simulated_table.names
    raw = cut.data["wb1_max"].to_numpy().reshape(18, -1)[:, :windows]
    spectrum = dct(raw, norm="ortho", axis=1)
    spectrum[:, math.ceil(2 * windows / 60) :] = 0
    np.testing.assert_allclose(
        made.data["wb1_max"].to_numpy().reshape(18, -1), idct(spectrum, norm="ortho", axis=1)
    )


def test_everything_else_can_be_left_to_dct():
    mechanism = build(only="linear", others="dct")
    assert len(mechanism.measured_whole()) == 44
    assert mechanism.facts_of(20, 3, 1200).features == 7 + 44
    assert len(mechanism.measured_whole(pupil=False)) == 40


def test_a_study_without_pupils_has_no_features_of_them():
    study = eyelid.simulate(people=2, tasks=("comic",), minutes=0.6, seed=1)
    blind = replace(study, data=study.data.drop("pupil"))
    mechanism = build()
    table = mechanism.apply(mechanism.summarise(blind), randomness(1))
    assert len(table.names) == 26
    assert mechanism.released(mechanism.facts(mechanism.summarise(blind))).features == 26
    with pytest.raises(InputError, match="no pupil"):
        build(only="pupil_mean_mean").summarise(blind)


def test_features_are_refused(simulated_table):
    for source in (simulated_table, simulated_table.study()):
        with pytest.raises(InputError, match="these are features: give the recordings"):
            build().summarise(source)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"only": "fixation_rat"}, "unknown feature 'fixation_rat'"),
        ({"only": "saccade_amplitude_max"}, "no function of sums over bins"),
        ({"only": ""}, "unknown feature ''"),
        ({"others": "keep"}, "others must be leave or dct"),
        ({"max_events": 0}, "max_events must be at least 1"),
        ({"max_blinks": -1}, "max_blinks must be at least 1"),
        ({"window_s": 30.2}, "does not have whole bins"),
        ({"step_s": 0.0}, "does not have whole bins"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(parameters, message):
    with pytest.raises(InputError, match=message):
        build(**parameters)


def test_a_bin_is_no_unit():
    with pytest.raises(Refused, match="does not offer the unit 'record'"):
        build(unit="record")


def test_a_release_of_recordings_says_what_holds(simulated, tmp_path):
    eyelid.write(simulated, tmp_path / "study")
    done = eyelid.release(
        tmp_path / "study", tmp_path / "out", mechanism="prewindow", epsilon=4.0, length=50
    )
    certificate = done.certificate
    assert certificate.guarantee.holds
    assert certificate.person_level.epsilon == 4.0
    assert list(certificate.bounds.values) == list(build().streams())
    assert certificate.bounds.values["blinks"] == (0.0, 1.0)
    assert certificate.how == (
        "calibrated to the person: 3 recordings × 109 bins × 22 streams together"
    )
    back = eyelid.read(tmp_path / "out")
    assert back.kind == "features"
    assert len(back.data) == 18 * 50
    assert [f.name for f in back.features] == list(build().wanted())
    assert back.data.null_count().to_numpy().sum() == 0


def test_means_over_people_take_it_inside(simulated, simulated_table):
    mechanism = mechanism_named(
        "groupmean", epsilon=1e7, inner="prewindow:only=fixation_rate", length=60
    )
    means = mechanism.apply(mechanism.summarise(simulated), randomness(1))
    expected = (
        simulated_table.data.filter(pl.col("time_ms") < 60 * 500.0)
        .group_by("task", "time_ms")
        .agg(pl.col("fixation_rate").mean())
        .sort("task", "time_ms")["fixation_rate"]
    )
    off = means.data.sort("task", "time_ms")["fixation_rate"].to_numpy() - expected.to_numpy()
    assert np.abs(off).max() < 0.03, "caps drop a fixation here and there"


@pytest.mark.parametrize("unit", [PERSON, RECORDING])
def test_the_game_certifies_the_claim_and_no_more(unit):
    # Refutes a true claim once in a million games.
    mechanism = build(window_s=1.0, step_s=1.0, unit=unit)
    result = play(mechanism, unit, runs=20_000, noise=randomness(2))
    assert not result.refuted
    assert result.lower_bound > 0.8 * result.claimed


def test_the_sensitivity_is_reached_and_not_exceeded():
    for mechanism in (build(), build(window_s=1.0)):
        assert 0.95 < fuzz(mechanism, PERSON, 512).reached <= 1.0


@pytest.mark.parametrize("name", ["windows counted, not bins", "events in all their windows"])
def test_planted_faults_are_caught(name):
    planted = {fault.name: fault for fault in mutants_of(type(build()))}
    assert planted[name].caught(20_000, randomness(4))


def test_in_real_recordings_caps_bite_seldom_and_change_little(real_readers, real_windows):
    mechanism = build()
    bins = mechanism.summarise(real_readers)
    kinds = ["fixations", "saccades", "blinks"]
    every = bin_streams(real_readers, kinds, max_events=99, max_blinks=99)
    lost = {kind: 1 - bins.data[kind].sum() / every.data[kind].sum() for kind in kinds}
    assert lost["fixations"] == 0.0
    assert lost["saccades"] < 0.005
    # Blinks are found 0.7 times a second here, far more often than people blink.
    assert 0.1 < lost["blinks"] < 0.2
    differences = in_spans(mechanism.present(bins), real_windows)
    off = {name: math.sqrt(np.nanmean(each**2)) for name, each in differences.items()}
    blinks = {name: error for name, error in off.items() if name.startswith("blink")}
    assert max(blinks.values()) < 0.09
    assert max(error for name, error in off.items() if name not in blinks) < 0.005
    assert sum(error < 1e-11 for error in off.values()) >= 11, "nothing of fixations is touched"
