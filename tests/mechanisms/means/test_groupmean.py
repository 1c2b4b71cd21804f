"""Means over people: what they are, what they cost, what they hide, and what breaks them."""

from dataclasses import replace

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
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.privacy import PERSON, randomness
from eyelid.privacy.unit import RECORDING, Trust
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

FEATURES = (Feature("rate", "1/s", "", 0.0, 10.0), Feature("pupil", "mm", "", 1.5, 9.0))
INNERS = ["dct", "envelope", "gaussian", "laplace", "fpa", "cfpa:chunk=4:k=2"]


def build(inner="laplace", epsilon=1.0, **parameters):
    return mechanism_named("groupmean", epsilon=epsilon, inner=inner, **parameters)


def people_of(seed=0, people=6, recordings=2, rows=8):
    rng = np.random.default_rng(seed)
    values = rng.uniform([0.0, 1.5], [10.0, 9.0], (people, recordings, rows, 2))
    table = table_from_arrays(values, FEATURES)
    gender = pl.Series("gender", ["f", "m", "f", "f", "m", "f"][:people])
    return replace(table, people=table.people.with_columns(gender))


def slow_means(table, by=None, length=8):
    """Person by person and row by row, in floating point."""
    spread = {f.name: ((f.lower + f.upper) / 2, f.lower, f.upper) for f in table.features}
    attributes = {row["person"]: row for row in table.people.to_dicts()}
    tasks = sorted({task for task in table.data["task"]})
    found = {}
    for person in table.data["person"].unique(maintain_order=True):
        group = attributes[person][by] if by else "everybody"
        for task in tasks:
            rows = table.data.filter((pl.col("person") == person) & (pl.col("task") == task))
            for row in range(length):
                for name, (middle, low, high) in spread.items():
                    value = rows[name][row] if row < len(rows) else None
                    missing = value is None or np.isnan(value)
                    value = middle if missing else min(max(value, low), high)
                    found.setdefault((group, task, row, name), []).append(value)
    return {key: np.mean(values) for key, values in found.items()}


def read_off(table):
    return {
        (row["person"], row["task"], row["time_ms"] / 500.0, name): row[name]
        for row in table.data.to_dicts()
        for name in table.names
    }


@pytest.mark.parametrize("by", [None, "gender"])
def test_next_to_no_noise_gives_the_means_of_a_plain_loop(by):
    table = people_of()
    # One recording is missing, one short, one value unknown, one far outside.
    data = table.data.filter((pl.col("person") != "1") | (pl.col("task") != "1"))
    data = data.filter((pl.col("person") != "2") | (pl.col("time_ms") < 2000))
    far = pl.when((pl.col("person") == "0") & (pl.col("time_ms") == 0)).then(1e9)
    unknown = pl.when((pl.col("person") == "3") & (pl.col("time_ms") == 500)).then(np.nan)
    data = data.with_columns(far.otherwise("rate").alias("rate"))
    data = data.with_columns(unknown.otherwise("pupil").alias("pupil"))
    table = replace(table, data=data)
    released = build(epsilon=1e7, length=8, by=by).apply(table, randomness(1))
    expected = slow_means(table, by)
    shown = read_off(released)
    assert shown.keys() == expected.keys()
    assert max(abs(shown[key] - expected[key]) for key in expected) < 1e-3


def test_a_mean_says_how_many_people_it_is_of_and_whose_it_is_not():
    released = build(by="gender").apply(people_of(), randomness(1))
    assert released.people.to_dicts() == [
        {"person": "f", "gender": "f", "people": 4},
        {"person": "m", "gender": "m", "people": 2},
    ]
    assert released.data["person"].unique().sort().to_list() == ["f", "m"]
    assert "stimulus" in released.data.columns
    assert set(released.data["stimulus"]) == {""}


def test_recordings_stand_side_by_side_by_task_and_order_whatever_they_are_called():
    table = people_of(people=3, recordings=3, rows=2)
    task = pl.when(pl.col("recording") == "1").then(pl.lit("b")).otherwise(pl.lit("a"))
    name = pl.concat_str("person", "recording", separator="-")
    table = replace(
        table, data=table.data.with_columns(task.alias("task"), name.alias("recording"))
    )
    slots = slots_of(table)
    assert slots.names["task"].to_list() == ["a", "a", "b"]
    assert slots.slot.tolist() == [0, 2, 1] * 3
    released = build(epsilon=1e7, per_task=2).apply(table, randomness(1))
    assert released.recordings["recording"].to_list() == ["1", "2", "3", "4"]
    first = table.data.filter(pl.col("recording").str.ends_with("-0"))["rate"].to_numpy()
    means = released.data.filter(pl.col("recording") == "1")["rate"].to_numpy()
    assert np.allclose(means, first.reshape(3, 2).mean(axis=0), atol=1e-3)


def test_who_lacks_which_recording_does_not_show():
    whole = people_of()
    less = replace(
        whole, data=whole.data.filter((pl.col("person") != "4") | (pl.col("task") != "0"))
    )
    mechanism = build()
    assert mechanism.facts(whole) == mechanism.facts(less)
    assert mechanism.unprotected(whole) == mechanism.unprotected(less)
    one, other = (mechanism.apply(table, randomness(3)) for table in (whole, less))
    assert one.recordings.equals(other.recordings)
    assert not any("which recordings" in said for said in mechanism.unprotected(less))


@pytest.mark.parametrize("inner", INNERS)
def test_it_costs_what_one_person_costs_inside_and_trusts_somebody(inner):
    facts = PublicFacts(people=20, recordings=3, length=60, features=4)
    mechanism = build(inner, epsilon=2.0)
    for unit in (PERSON, RECORDING):
        alone = mechanism.core.cost(facts, unit)
        assert mechanism.cost(facts, unit) == replace(alone, trust=Trust.CENTRAL)
    assert alone.trust is Trust.LOCAL


@pytest.mark.parametrize("inner", [name for name in INNERS if name != "envelope"])
def test_the_expected_error_falls_as_the_number_of_people(inner):
    mechanism = build(inner, epsilon=2.0, delta=1e-6 if inner in ("dct", "gaussian") else None)
    few, many = (PublicFacts(people, 3, 60, 4) for people in (10, 100))
    assert mechanism.expected_rmse_of_span(few) == pytest.approx(
        10 * mechanism.expected_rmse_of_span(many)
    )
    assert mechanism.expected_rmse_of_span(few) == pytest.approx(
        mechanism.core.expected_rmse_of_span(few) / 10
    )


@pytest.mark.parametrize("inner", INNERS)
def test_the_expected_error_is_the_error(inner):
    # 60 groups of 4, 5760 values that need not be independent: 15% is five standard errors.
    rng = np.random.default_rng(2)
    table = table_from_arrays(
        rng.uniform(0, 1, (240, 2, 24, 2)),
        (Feature("a", "", "", 0.0, 1.0), Feature("b", "", "", 0.0, 1.0)),
    )
    table = replace(table, people=table.people.with_columns(pl.Series("g", np.arange(240) // 4)))
    mechanism = build(inner, epsilon=20.0, by="g", clipped=False)
    released = mechanism.apply(table, randomness(5)).data.select("a", "b").to_numpy()
    without = mechanism.exact(table, mechanism.groups(table)).data.select("a", "b").to_numpy()
    measured = float(np.sqrt(np.mean((released - without) ** 2)))
    expected = mechanism.expected_rmse_of_span(mechanism.facts(table))
    # Shrinking is part of the envelope's error, and no part of its noise.
    assert measured < 1.15 * expected
    assert measured > (0.3 if inner == "envelope" else 0.85) * expected


def test_the_smallest_group_decides_what_is_expected():
    table = people_of()
    mechanism = build(by="gender")
    facts = mechanism.facts(table)
    assert (facts.people, facts.smallest) == (6, 2)
    assert mechanism.expected_rmse_of_span(facts) == pytest.approx(
        3 * build().expected_rmse_of_span(build().facts(table))
    )


def test_envelopes_know_how_many_are_averaged():
    mechanism, facts = build("envelope", epsilon=4.0), PublicFacts(20, 1, 8, 2)
    assert mechanism.core_for(7, facts).averaged == 7
    assert build("dct").core_for(7, facts) == build("dct").core


ONE_NUMBER_OF_SIXTEEN = PublicFacts(people=16, recordings=1, length=1, features=1)


def test_the_default_is_three_times_noisier_than_laplace_for_one_number_of_sixteen_people():
    mechanism = mechanism_named("groupmean", epsilon=1.0)
    expected = mechanism.expected_rmse_of_span(ONE_NUMBER_OF_SIXTEEN)
    assert expected == pytest.approx(
        build("laplace").expected_rmse_of_span(ONE_NUMBER_OF_SIXTEEN), rel=1e-3
    )
    assert expected < build("dct").expected_rmse_of_span(ONE_NUMBER_OF_SIXTEEN) / 2.5


@given(
    st.builds(
        PublicFacts,
        people=st.integers(2, 5000),
        recordings=st.integers(1, 4),
        length=st.integers(1, 60),
        features=st.integers(1, 12),
        window=st.sampled_from([1, 60]),
    ),
    st.floats(0.05, 10.0),
    st.sampled_from([None, 0.0, 1e-5]),
)
def test_the_default_is_never_noisier_than_what_could_be_set(facts, epsilon, delta):
    mechanism = mechanism_named("groupmean", epsilon=epsilon, delta=delta)
    kinds = {"dct": True, "gaussian": True, "laplace": False, "dct:law=spherical": False}
    allowed = [name for name, has in kinds.items() if delta is None or has == bool(delta)]
    others = [
        build(name, epsilon, **({"delta": delta} if delta else {})).expected_rmse_of_span(facts)
        for name in allowed
    ]
    assert mechanism.expected_rmse_of_span(facts) <= 1.011 * min(others)
    assert mechanism.decided(facts).inner in allowed
    # A certificate that names the choice promises what the choice promised.
    assert mechanism.cost(facts, PERSON) == mechanism.decided(facts).cost(facts, PERSON)


@pytest.mark.parametrize("features", [1, 3, 40])
def test_a_request_without_delta_gets_none(features):
    facts = PublicFacts(people=30, recordings=1, length=1, features=features)
    pure = mechanism_named("groupmean", epsilon=1.0, delta=0.0).cost(facts, PERSON)
    assert (pure.kind, pure.epsilon, pure.delta) == ("pure-dp", 1.0, 0.0)
    asked = mechanism_named("groupmean", epsilon=1.0, delta=1e-5).cost(facts, PERSON)
    assert (asked.kind, asked.delta) == ("approx-dp", 1e-5)


def test_what_is_inside_follows_from_public_facts_and_nothing_else():
    mechanism = mechanism_named("groupmean", epsilon=1.0, length=8)
    one, other = people_of(seed=1), people_of(seed=2)
    other = replace(other, data=other.data.with_columns(pl.lit(9.0).alias("rate")))
    assert (
        mechanism.settled(one)
        == mechanism.settled(other)
        == mechanism.decided(mechanism.facts(one))
    )
    assert mechanism.settled(one).inner != "auto"
    assert mechanism.apply(one, randomness(3)).data.equals(
        mechanism.settled(one).apply(one, randomness(3)).data
    )


def test_what_is_set_inside_stays():
    table = people_of()
    for inner in INNERS:
        assert build(inner).settled(table).inner == inner


@pytest.mark.parametrize("unit", ["recording", "record"])
def test_the_default_offers_smaller_units(unit):
    mechanism = mechanism_named("groupmean", epsilon=1.0, unit=unit)
    guarantee = mechanism.cost(
        PublicFacts(people=6, recordings=2, length=8, features=2), mechanism.unit
    )
    assert (str(guarantee.unit), guarantee.epsilon) == (unit, 1.0)
    with pytest.raises(EyelidError, match="inner=cfpa:chunk"):
        mechanism_named("groupmean", epsilon=1.0, unit="chunk")


hostile = st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 10.0])


@given(
    st.sampled_from(INNERS),
    st.lists(hostile, min_size=16, max_size=16),
    st.integers(0, 5),
    st.booleans(),
    st.integers(0, 9),
)
def test_one_person_moves_whole_tables_no_farther_than_is_declared(inner, values, who, gone, seed):
    table = people_of(seed=seed, rows=4)
    mechanism = build(inner, length=4)
    new = np.array(values).reshape(8, 2)
    mine = pl.col("person") == str(who)
    rows = table.data.with_row_index("i")
    here = rows.filter(mine)["i"].to_numpy()
    flat = table.data.select(table.names).to_numpy().copy()
    flat[here] = new
    data = table.data.with_columns(pl.Series("rate", flat[:, 0]), pl.Series("pupil", flat[:, 1]))
    if gone:
        data = data.filter(~(mine & (pl.col("task") == "1")))
    other = replace(table, data=data)
    facts = mechanism.facts(table)
    assert mechanism.facts(other) == facts
    one, two = (mechanism.sums(t, mechanism.groups(t), facts) for t in (table, other))
    distance = mechanism.distance((one - two).reshape(1, -1))[0]
    assert distance <= mechanism.sensitivity(facts, PERSON) * (1 + 1e-12)


def test_sums_do_not_depend_on_how_people_are_cut_into_blocks(monkeypatch):
    table = people_of()
    mechanism = build()
    facts, groups = mechanism.facts(table), mechanism.groups(table)
    together = mechanism.sums(table, groups, facts)
    monkeypatch.setattr("eyelid.mechanisms.groups.slots._BLOCK_VALUES", 1)
    assert np.array_equal(together, mechanism.sums(table, groups, facts))


@pytest.mark.parametrize("number", range(4))
def test_games_fuzz_and_noise_hold(number):
    mechanism = list(find("groupmean").set_for_games())[number]
    # α = 1e-6 for games; residuals refute a sound mechanism once in a million.
    assert not play(mechanism, mechanism.unit, 5_000, randomness(number)).refuted
    assert 0.95 < fuzz(mechanism, mechanism.unit, 1024).reached <= 1
    assert not examine(mechanism, randomness(number)).refuted


@pytest.mark.parametrize(
    "fault",
    [f for f in mutants_of(find("groupmean")) if f.name != "scale × 0.85"],
    ids=lambda f: f.name,
)
def test_planted_faults_are_caught(fault):
    assert fault.caught(8_000 if "sold" in fault.name else 2_000, randomness(4))


def test_groups_and_their_sizes_are_named_as_unprotected():
    said = build(by="gender").unprotected(people_of())
    assert any("who is in which group by gender, and how many are (f: 4, m: 2)" in s for s in said)


def test_a_group_of_one_person_is_refused_with_its_name_and_a_remedy():
    table = people_of(people=3)
    with pytest.raises(InputError, match=r"the group 'm' by gender is one person.*coarser"):
        build(by="gender").apply(table, randomness(1))
    build().apply(table, randomness(1))


def test_two_attributes_make_groups_of_both():
    table = people_of()
    old = pl.Series("old", [True, True, False, False, True, True])
    table = replace(table, people=table.people.with_columns(old))
    groups = build(by="gender, old").groups(table)
    assert groups.people["person"].to_list() == ["f, false", "f, true", "m, true"]
    assert groups.sizes.tolist() == [2, 2, 2]
    assert groups.member.tolist() == [1, 2, 0, 0, 2, 1]


def test_means_stay_within_the_bounds_unless_asked():
    table = people_of()
    clipped = build(epsilon=0.1).apply(table, randomness(1)).data
    free = build(epsilon=0.1, clipped=False).apply(table, randomness(1)).data
    assert clipped["rate"].is_between(0, 10).all()
    assert not free["rate"].is_between(0, 10).all()
    assert np.array_equal(np.clip(free["pupil"], 1.5, 9.0), clipped["pupil"])


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"inner": "nonsense"}, "nonsense"),
        ({"inner": "groupmean"}, "cannot be inside"),
        ({"inner": "laplace:epsilon=3"}, "epsilon is set for the mean itself"),
        ({"inner": "cfpa:chunk"}, "NAME:KEY=VALUE"),
        ({"inner": "cfpa:chunk=0"}, "chunk must be at least 1"),
        ({"inner": "cfpa:size=3"}, "size"),
        ({"inner": "fpa:k=private"}, "private k"),
        ({"inner": "laplace", "delta": 1e-6}, "delta"),
        ({"inner": "dct", "unit": "record"}, "does not offer the unit 'record'"),
        ({"inner": "laplace", "length": 0}, "length must be at least 1"),
    ],
)
def test_what_cannot_be_inside_is_refused_with_a_reason(parameters, text):
    with pytest.raises(EyelidError, match=text):
        mechanism_named("groupmean", epsilon=1.0, **parameters)


@pytest.mark.parametrize(
    ("by", "text"),
    [("shoe", "shoe"), ("gender", "person '2' has no gender"), ("people", "another")],
)
def test_groups_must_be_public_attributes_that_everybody_has(by, text):
    table = people_of()
    gender = pl.Series("gender", ["f", "m", "", "f", "m", "f"])
    people = table.people.with_columns(gender, pl.Series("people", range(6)))
    with pytest.raises(InputError, match=text):
        build(by=by).groups(replace(table, people=people))


def test_groups_without_a_study_are_not_guessed():
    with pytest.raises(InputError, match="not known without a study"):
        build(by="gender").expected_rmse_of_span(PublicFacts(20, 3, 60, 4))


def test_more_than_can_be_added_up_is_refused_before_anything_is():
    with pytest.raises(InputError, match="more than there are numbers for"):
        build("gaussian", epsilon=1e4).sampler(PublicFacts(10**7, 1, 1, 1))


def test_chunks_inside_keep_their_length_as_a_unit():
    mechanism = mechanism_named("groupmean", epsilon=1.0, inner="cfpa:chunk=16", unit="chunk")
    assert str(mechanism.unit) == "chunk:16"
    facts = PublicFacts(20, 3, 64, 2)
    assert mechanism.cost(facts, PERSON).epsilon == 3 * 4 * 2


def test_noise_before_windows_can_be_inside():
    study = eyelid.simulate(people=4, minutes=1.5, rate_hz=60.0, seed=2)
    mechanism = build("prewindow:only=linear", epsilon=1e5)
    taken = mechanism.summarise(study)
    released = mechanism.apply(taken, randomness(1))
    truth = eyelid.window_features(study)
    length = released.recordings["rows"][0]
    for task in ("comic", "textbook"):
        rows = truth.data.filter(pl.col("task") == task)
        number = pl.int_range(pl.len()).over("person", "recording")
        means = rows.filter(number < length).group_by("time_ms", maintain_order=True)
        expected = means.agg(pl.col("fixation_rate").mean())["fixation_rate"].to_numpy()
        shown = released.data.filter(pl.col("task") == task)["fixation_rate"].to_numpy()
        assert np.abs(shown - expected).max() < 0.1


def test_real_readers_by_gender(real_windows):
    mechanism = build("dct", epsilon=4.0, by="gender")
    facts = mechanism.facts(real_windows)
    assert (facts.people, facts.recordings, facts.smallest) == (20, 3, 10)
    released = mechanism.apply(real_windows, randomness(1))
    assert released.people["people"].to_list() == [10, 10]
    assert len(released.recordings) == 6
    exact = mechanism.exact(real_windows, mechanism.groups(real_windows))
    spans = np.array([f.span for f in real_windows.features])
    off = (
        released.data.select(real_windows.names) - exact.data.select(real_windows.names)
    ).to_numpy() / spans
    # Clipping only takes away.
    assert np.sqrt(np.mean(off**2)) < mechanism.expected_rmse_of_span(facts)
