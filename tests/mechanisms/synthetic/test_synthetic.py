"""A study of synthetic participants: near to what it was made from, and about nobody."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eyelid
from eyelid.errors import InputError, Refused
from eyelid.gaze.features import event_features
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.differential import SCALE
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.public_pairs import COMMON, WINDOWS
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.gaussian import discreteness_slack
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON, RECORDING, Trust

FEATURES = (
    Feature("a", "1/s", "", 0.0, 8.0),
    Feature("b", "1", "", -4.0, 4.0),
    Feature("c", "mm", "", 1.5, 9.0),
)
TASKS = ("read", "search")
# So little noise that what is left is what the model cannot say.
CLEAR = Synthetic(epsilon=1e5, delta=1e-6)


def crowd(people: int = 300, seed: int = 1, longest: int = 80) -> FeatureTable:
    """Two tasks that differ, features that go together, values that last, people who differ."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(0, 1, (people, 2, longest, 3))
    for row in range(1, longest):
        signal[:, :, row] = 0.8 * signal[:, :, row - 1] + 0.6 * signal[:, :, row]
    signal += rng.normal(0, 1, (people, 1, 1, 3))
    signal /= math.sqrt(2)
    signal[..., 1] = -0.8 * signal[..., 0] + 0.6 * signal[..., 1]
    values = np.empty_like(signal)
    values[..., 0] = np.exp(0.4 * signal[..., 0]) * np.array([1.0, 2.0])[:, None]
    values[..., 1] = signal[..., 1]
    values[..., 2] = 4.0 + 0.5 * signal[..., 2] + np.array([0.0, 1.0])[:, None]
    table = replace(table_from_arrays(values, FEATURES), window_ms=2000.0)
    short = rng.integers(longest * 3 // 5, longest + 1, (people, 2))
    there = np.arange(longest) < short[..., None]
    data = table.data.filter(there.ravel()).with_columns(
        pl.col("task").replace_strict({"0": TASKS[0], "1": TASKS[1]})
    )
    return replace(table, data=data)


def made(table: FeatureTable, mechanism: Synthetic = CLEAR, seed: int = 1) -> FeatureTable:
    return mechanism.apply(table, randomness(seed))


@pytest.fixture(scope="module")
def original() -> FeatureTable:
    return crowd()


@pytest.fixture(scope="module")
def clear(original: FeatureTable) -> FeatureTable:
    return made(original)


def person_shares(table: FeatureTable, cuts: np.ndarray, name: str, task: str) -> np.ndarray:
    """The share of rows in each of four parts, people weighted alike."""
    mine = table.data.filter(task=task).select("person", pl.col(name).alias("value"))
    parts = np.searchsorted(cuts, mine["value"].to_numpy())
    each = mine.select("person").with_columns(
        *[pl.Series(str(part), parts == part) for part in range(4)]
    )
    return each.group_by("person").mean().drop("person").mean().to_numpy()[0]


def share_error(release: FeatureTable, real: FeatureTable) -> float:
    """As `expected_share_error` has it."""
    squares = []
    for name in release.names:
        cuts = np.quantile(release.data[name].to_numpy(), [0.25, 0.5, 0.75])
        for task in TASKS:
            one, other = (person_shares(table, cuts, name, task) for table in (release, real))
            squares.append((one - other) ** 2)
    return float(np.sqrt(np.mean(squares)))


def within_tasks(table: FeatureTable) -> pl.DataFrame:
    """Ranks of values inside each task."""
    return table.data.with_columns(pl.col(table.names).rank().over("task"))


def after(table: FeatureTable, lag: int) -> np.ndarray:
    """Of each feature, the correlation of ranks so many rows later, in the same recording."""
    ranks = within_tasks(table)
    later = ranks.with_columns(pl.col(table.names).shift(-lag).over("person", "recording"))
    found = []
    for name in table.names:
        both = np.stack([ranks[name].to_numpy(), later[name].to_numpy()])
        found.append(np.corrcoef(both[:, ~np.isnan(both[1])])[0, 1])
    return np.array(found)


# How near it is, where noise is next to nothing.


def test_shares_of_tasks_are_near(clear, original):
    assert share_error(clear, original) < 0.03


def test_means_of_tasks_are_near(clear, original):
    for task in TASKS:
        one, other = (
            table.data.filter(task=task).select(table.names).mean().to_numpy()[0]
            for table in (clear, original)
        )
        spread = original.data.select(original.names).std().to_numpy()[0]
        assert (np.abs(one - other) / spread).max() < 0.15


def test_features_go_together_as_they_did(clear, original):
    one, other = (
        np.corrcoef(within_tasks(table).select(table.names).to_numpy(), rowvar=False)
        for table in (clear, original)
    )
    assert other[0, 1] < -0.7
    assert np.abs(one - other).max() < 0.1


@pytest.mark.parametrize("lag", [1, 4, 16])
def test_values_last_as_long_as_they_did(clear, original, lag):
    assert np.abs(after(clear, lag) - after(original, lag)).max() < 0.12


def test_people_are_alike_over_tasks_as_they_were(clear, original):
    found = []
    for table in (clear, original):
        ranks = within_tasks(table)
        means = ranks.group_by("person", "task").agg(pl.col(table.names).mean())
        first, second = (means.filter(task=task).sort("person") for task in TASKS)
        found.append([np.corrcoef(first[name], second[name])[0, 1] for name in table.names])
    assert np.abs(np.subtract(*found)).max() < 0.2


def test_lengths_are_near(clear, original):
    one, other = (table.recordings["rows"].to_numpy() for table in (clear, original))
    assert abs(one.mean() / other.mean() - 1) < 0.05
    assert one.min() >= 40
    assert one.max() <= 80


def test_with_public_groups_each_has_its_own_tasks():
    table = crowd(200)
    group = pl.Series("sight", ["good", "poor"] * 100)
    people = table.people.with_columns(group)
    up = pl.col("person").is_in(people.filter(sight="poor")["person"].implode())
    data = table.data.with_columns(pl.when(up).then(pl.col("c") + 2).otherwise(pl.col("c")))
    release = made(replace(table, data=data, people=people), replace(CLEAR, by="sight"))
    assert release.people.columns == ["person", "sight"]
    assert release.people["sight"].value_counts().sort("sight")["count"].to_list() == [100, 100]
    means = release.data.join(release.people, on="person").group_by("sight").agg(pl.mean("c"))
    good, poor = means.sort("sight")["c"]
    assert poor - good == pytest.approx(2.0, abs=0.3)


def test_features_that_are_mostly_nothing_go_together_no_more_than_they_did():
    """Four in five values are 0, whoever and whenever: their signs agree, and say nothing."""
    rng = np.random.default_rng(4)
    values = np.where(rng.random((400, 2, 40, 3)) < 0.8, 0.0, rng.uniform(1.5, 3.9))
    features = [Feature(name, "1", "", 0.0, 4.0) for name in "abc"]
    release = made(table_from_arrays(values, features))
    together = np.corrcoef(release.data.select(release.names).to_numpy(), rowvar=False)
    assert np.abs(together - np.eye(3)).max() < 0.1
    assert np.abs(after(release, 1)).max() < 0.1


def test_a_private_tree_finds_what_goes_together():
    table = crowd(200)
    # The public order of unknown features is that of the table: here c would stand between.
    far = replace(table, features=(FEATURES[0], FEATURES[2], FEATURES[1]))
    public, private = (
        within_tasks(made(far, replace(CLEAR, pairs=pairs))).select(pl.corr("a", "b")).item()
        for pairs in ("public", "private")
    )
    assert abs(public) < 0.4
    assert private < -0.7


# What is promised.


def test_the_promise_is_epsilon_and_delta_of_a_person():
    facts = PublicFacts(1000, 3, 32, 52)
    mechanism = Synthetic(epsilon=4.0, delta=1e-6)
    found = mechanism.cost(facts, PERSON)
    assert (found.kind, found.epsilon, found.delta) == (Kind.APPROXIMATE, 4.0, 1e-6)
    assert (found.unit, found.trust, found.holds) == (PERSON, Trust.CENTRAL, True)
    made = mechanism.measurement(facts)
    cells = sum(one.cells(made.facts) for one in made.rounds)
    assert found.slack == discreteness_slack(cells, SCALE)
    assert found.mu == pytest.approx(
        math.sqrt(sum((one.sensitivity(made.facts, PERSON) / SCALE) ** 2 for one in made.rounds)),
        rel=1e-6,
    )


def test_delta_is_the_default_for_so_many_people():
    assert Synthetic(epsilon=4.0).delta_for(100) == 1e-6
    assert Synthetic(epsilon=4.0).delta_for(10**6) == pytest.approx(1e-9)
    assert Synthetic(epsilon=4.0).cost(PublicFacts(10**6, 3, 32, 5), PERSON).delta == pytest.approx(
        1e-9
    )


@pytest.mark.parametrize(
    "mechanism", list(Synthetic.set_for_games()), ids=["public", "all", "private"]
)
def test_answers_tell_neighbours_apart_by_mu_at_the_most(mechanism):
    """Log-likelihood ratios have the variance m² and the mean ±m²/2, m ≤ μ: five standard errors.

    The games themselves are played by `verify`.
    """
    reached = []
    for pair in mechanism.neighbour_pairs(PERSON):
        mu = mechanism.cost(pair.facts, PERSON).mu
        for sign, side in ((-1, pair.one), (1, pair.other)):
            outputs = mechanism.play(side, pair.facts, 300, randomness(4))
            scores = mechanism.score(outputs, pair)
            size = scores.std()
            reached.append(size / mu)
            assert abs(scores.mean() - sign * size**2 / 2) < 5 * size * (1 + size) / math.sqrt(300)
    assert 0.75 < max(reached) < 1 + 5 / math.sqrt(600)


def changed_person(table: FeatureTable, rng: np.random.Generator) -> FeatureTable:
    """A person who is replaced by another one: any rows of any tasks, any values, or next to none.

    The names of tasks are public: nobody takes one away with them, or brings one.
    """
    rows = rng.integers(1, 40, 2)
    values = rng.choice([-1e9, 0.0, 0.5, 1.5, 4.0, 9.0, 1e9, np.nan], (int(rows.sum()), 3))
    task = np.repeat(TASKS, rows)
    if rng.random() < 0.3:
        task[:] = TASKS[0]
    other = pl.DataFrame(
        {
            "person": ["0"] * len(values),
            "recording": task,
            "task": task,
            "stimulus": [""] * len(values),
            "time_ms": np.arange(len(values)) * 500.0,
        }
        | {feature.name: values[:, j] for j, feature in enumerate(FEATURES)}
    )
    return replace(table, data=pl.concat([other, table.data.filter(pl.col("person") != "0")]))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["public", "private", "all"]))
def test_whoever_is_replaced_moves_no_round_beyond_its_share_of_mu(seed, pairs):
    """From tables to sums, each round asking what one noisy run of those before it suggested."""
    rng = np.random.default_rng(seed)
    table = crowd(5, seed=2, longest=9)
    mechanism = Synthetic(epsilon=2.0, delta=1e-5, carry=3, pairs=pairs)
    facts = mechanism.facts(table)
    made = mechanism.measurement(facts)
    sides = []
    for side in (table, changed_person(table, rng)):
        assert mechanism.facts(side) == facts
        tasks, sequences = mechanism.sequences(side)
        assert tasks == list(TASKS)
        sides.append(sequences)
    answers = made.measured(sides[0], (-1, 0, 1), randomness(seed), (1,))
    noises = [dict(made.residuals(answers, side)) for side in sides]
    squares = 0.0
    for one in made.rounds:
        moved = float(np.linalg.norm((noises[0][one] - noises[1][one]).astype(float)))
        assert moved <= one.sensitivity(made.facts, PERSON) * (1 + 1e-9)
        squares += (moved / SCALE) ** 2
    assert squares <= mechanism.cost(facts, PERSON).mu ** 2


# What is released is about nobody.

PUBLIC = Synthetic(epsilon=4.0, delta=1e-6)


@pytest.fixture(scope="module")
def telling() -> FeatureTable:
    """People whose names, times and labels would tell who they are."""
    table = crowd(150)
    name = "Ada " + pl.col("person")
    data = table.data.with_columns(
        person=name,
        recording="tape " + pl.col("recording"),
        stimulus=pl.lit("her garden"),
        time_ms=pl.col("time_ms") + 1.7e12 + 0.25,
        label_ill=pl.lit("yes"),
    )
    people = table.people.select(person=name, born=pl.lit(1815), sight=pl.lit("good"))
    return replace(table, data=data, people=people)


def test_nothing_of_anybody_is_in_a_release_but_made_up_values(telling):
    release = made(telling, PUBLIC)
    data = release.data
    assert data.columns == ["person", "recording", "task", "stimulus", "time_ms", *release.names]
    assert data["person"].unique().str.contains(r"^synthetic\d{3}$").all()
    assert set(data["recording"]) == {"1", "2"}
    assert set(data["task"]) == set(TASKS)
    assert set(data["stimulus"]) == {""}
    first = data.group_by("person", "recording").agg(
        pl.col("time_ms").min().alias("start"), pl.col("time_ms").diff().unique().drop_nulls()
    )
    assert (first["start"] == 0).all()
    assert set(first["time_ms"].explode().drop_nulls()) == {500.0}
    assert release.people.columns == ["person"]
    assert release.people["person"].to_list() == sorted(set(data["person"]))
    assert len(release.people) == 150
    real = {round(value, 9) for value in telling.data["c"]}
    assert not real & {round(value, 9) for value in data["c"]}


@pytest.mark.parametrize("epsilon", [0.01, 4.0])
def test_values_are_numbers_inside_their_bounds_whatever_is_missing(epsilon):
    table = crowd(40, longest=20)
    holes = pl.when(pl.col("time_ms") % 1500 == 0).then(float("nan")).otherwise(pl.col("a"))
    data = table.data.with_columns(
        a=holes, b=pl.lit(None, dtype=pl.Float64), c=pl.col("c").replace(table.data["c"][0], np.inf)
    )
    release = made(replace(table, data=data), Synthetic(epsilon=epsilon, carry=3))
    for feature in release.features:
        values = release.data[feature.name]
        assert values.is_finite().all()
        assert values.min() >= feature.lower
        assert values.max() <= feature.upper


def test_the_same_seed_gives_the_same_and_another_one_does_not(telling):
    one, same, other = (made(telling, PUBLIC, seed).data for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def renamed(table: FeatureTable) -> FeatureTable:
    code = pl.col("person").replace_strict(
        table.people["person"], [f"z{900 - n}" for n in range(len(table.people))]
    )
    return replace(
        table,
        data=table.data.with_columns(code.alias("person"), recording="x" + pl.col("recording")),
        people=table.people.with_columns(code.alias("person")),
    )


def turned_round(table: FeatureTable) -> FeatureTable:
    people = table.people.reverse()
    order = {name: place for place, name in enumerate(people["person"])}
    place = pl.col("person").replace_strict(order)
    return replace(table, data=table.data.sort(place, maintain_order=True), people=people)


def later(table: FeatureTable) -> FeatureTable:
    return replace(table, data=table.data.with_columns(pl.col("time_ms") + 12345.0))


def without_labels(table: FeatureTable) -> FeatureTable:
    data = table.data.drop("label_ill").with_columns(stimulus=pl.lit("elsewhere"))
    return replace(table, data=data, people=table.people.drop("born", "sight"))


@pytest.mark.parametrize("change", [renamed, turned_round, later, without_labels])
def test_names_order_times_and_labels_of_people_do_not_matter(telling, change):
    assert made(change(telling), PUBLIC).data.equals(made(telling, PUBLIC).data)


def test_rows_that_are_not_looked_at_do_not_matter():
    """Two rows of a task are looked at, and those some lags from them: 8 of 40 at the most."""
    rows = 40
    values = np.random.default_rng(3).uniform(2, 4, (60, 2, rows, 3))
    table = table_from_arrays(values, FEATURES)
    mechanism = Synthetic(epsilon=4.0, carry=3, records=2)
    seen = [10, 30] + [10 + lag for lag in (1, 4, 16)] + [31, 34, 14]
    others = np.setdiff1d(np.arange(rows), seen)
    changed = values.copy()
    changed[:, :, others] = 7.7
    one = made(table, mechanism).data
    assert one.equals(made(table_from_arrays(changed, FEATURES), mechanism).data)
    changed[:, :, 10] = 7.7
    assert not one.equals(made(table_from_arrays(changed, FEATURES), mechanism).data)


def test_features_that_are_left_out_and_values_beyond_bounds_do_not_matter():
    table = crowd(60, longest=20)
    mechanism = Synthetic(epsilon=4.0, carry=2)
    one = made(table, mechanism)
    assert one.names == ["a", "b"]
    beyond = pl.when(pl.col("b") > 0).then(pl.lit(4.0)).otherwise(pl.col("b"))
    far = pl.when(pl.col("b") > 0).then(pl.lit(4e9)).otherwise(pl.col("b"))
    sides = [
        replace(table, data=table.data.with_columns(b=b, c=c))
        for b, c in ((beyond, pl.col("c")), (far, pl.lit(3.0)))
    ]
    assert made(sides[0], mechanism).data.equals(made(sides[1], mechanism).data)


def test_with_public_rows_the_number_of_rows_is_public():
    mechanism = Synthetic(epsilon=4.0, carry=1, rows=7, made_up=11)
    for table in (crowd(60, longest=20), crowd(60, seed=9, longest=70)):
        release = made(table, mechanism)
        assert release.recordings["rows"].to_list() == [7] * 22


def test_people_who_are_made_up_are_as_many_as_asked_for_in_proportion_to_groups():
    table = crowd(60, longest=10)
    people = table.people.with_columns(sight=pl.Series(["good"] * 45 + ["poor"] * 15))
    release = made(replace(table, people=people), Synthetic(4.0, carry=1, by="sight", made_up=8))
    assert release.people["sight"].to_list() == ["good"] * 6 + ["poor"] * 2
    assert release.people["person"].to_list() == [f"synthetic{n}" for n in range(1, 9)]
    # One person is of one group, and the other has nobody.
    alone = made(replace(table, people=people), Synthetic(4.0, carry=1, by="sight", made_up=1))
    assert alone.people.rows() == [("synthetic1", "good")]


# How far off, and how many people it takes.


def test_the_expected_error_falls_with_people_and_epsilon_and_rises_with_features():
    facts = PublicFacts(500, 3, 32, 20)

    def error(epsilon: float = 4.0, features: int = 20, **others: int) -> float:
        mechanism = Synthetic(epsilon=epsilon, delta=1e-6, carry=features)
        return mechanism.expected_share_error(replace(facts, features=features, **others))

    rising = [error(people=people) for people in (10**6, 5000, 500, 50, 5)]
    assert rising == sorted(rising)
    # Shares of four parts cannot be off by more, and with everybody they are hardly off.
    assert rising[0] < 0.03
    assert rising[-1] < 0.44
    assert error(epsilon=8.0) < error() < error(epsilon=2.0)
    assert error(features=5) < error() < error(features=50)
    assert error(recordings=1) < error() < error(recordings=6)
    wide = Synthetic(epsilon=4.0, delta=1e-6, carry=20)
    noise = wide.noise_of_shares(facts)
    assert noise == pytest.approx(SCALE / wide.measurement(facts).shares.whole(facts) / 500)
    assert error() > noise


def test_the_measured_error_is_near_the_expected_one():
    """A factor of two, at 200 people and ε = 4."""
    table = crowd(200)
    mechanism = Synthetic(epsilon=4.0, delta=1e-6, carry=3)
    errors = [share_error(made(table, mechanism, seed), table) for seed in range(4)]
    found = math.sqrt(np.mean(np.square(errors)))
    assert 0.5 < found / mechanism.expected_share_error(mechanism.facts(table)) < 2


@given(
    st.integers(2, 3000), st.integers(1, 60), st.integers(1, 4), st.floats(0.1, 20),
    st.sampled_from(["public", "private"]),
)  # fmt: skip
@settings(max_examples=40)
def test_as_many_features_are_carried_as_the_error_allows(people, features, tasks, epsilon, pairs):
    mechanism = Synthetic(epsilon=epsilon, delta=1e-6, pairs=pairs, carry="all")
    facts = PublicFacts(people, tasks, 32, features)
    most = mechanism.features_within(facts)
    if most:
        assert mechanism.error_with_all(replace(facts, features=most)) <= 0.15
        assert mechanism.expected_share_error(facts) <= 0.15
        assert mechanism.carried(facts) == most
        assert replace(mechanism, carry="common").carried(facts) == min(most, 8)
        assert mechanism.people_needed(replace(facts, features=most)) <= people
    else:
        with pytest.raises(InputError, match="people are too few"):
            mechanism.carried(facts)
    if most < features:
        assert mechanism.error_with_all(replace(facts, features=most + 1)) > 0.15


@pytest.mark.parametrize("features", [1, 10, 52])
def test_as_many_people_as_are_needed_are_enough_and_one_fewer_is_not(features):
    mechanism = Synthetic(epsilon=4.0)
    facts = PublicFacts(100, 3, 32, features)
    needed = mechanism.people_needed(facts)
    for people, enough in ((needed, True), (needed - 1, False)):
        error = mechanism.error_with_all(replace(facts, people=people))
        assert (error <= mechanism.error) == enough


def test_it_says_what_is_dropped_and_why():
    table = crowd(80, longest=10)
    mechanism = Synthetic(epsilon=4.0, delta=1e-6)
    facts = mechanism.facts(table)
    carried = mechanism.carried(facts)
    assert carried < 3
    assert mechanism.dropped(table) == table.names[carried:]
    assert made(table, mechanism).names == table.names[:carried]
    told = mechanism.worth(facts)
    assert f"{carried} of 3 features" in told
    needed = mechanism.people_needed(facts)
    assert f"left out: all of them, with an error of 0.15, would need {needed:,} people" in told


def test_it_lists_what_is_public():
    table = crowd(60, longest=10)
    people = table.people.with_columns(sight=pl.Series(["good", "poor"] * 30))
    told = Synthetic(4.0, by="sight").unprotected(replace(table, people=people))
    assert "number of people (60)" in told[0]
    assert "names of the 2 tasks" in told[1]
    assert "everybody's sight" in told[2]
    assert "(good: 30, poor: 30)" in told[2]


# Odd input.


def test_twenty_people_are_refused_with_what_would_serve_them():
    table = crowd(20, longest=10)
    with pytest.raises(InputError, match=r"20 people are too few.*ksame.*groupmean.*unit") as why:
        made(table, Synthetic(epsilon=0.5))
    assert "\n" not in str(why.value)
    assert "20 people are too few" in Synthetic(epsilon=0.5).worth(
        Synthetic(epsilon=0.5).facts(table)
    )
    # Whoever wants them all the same has them.
    assert len(made(table, Synthetic(epsilon=0.5, carry=1)).people) == 20


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0"),
        ({"epsilon": -1.0}, "epsilon must be positive and finite, got -1"),
        ({"epsilon": math.inf}, "epsilon must be positive and finite, got inf"),
        ({"delta": 0.0}, "delta must be above 0"),
        ({"delta": 1.5}, r"delta must be in \[0, 1\), got 1.5"),
        ({"error": 0.0}, "error must be above 0 and below 0.35, .* got 0"),
        ({"error": 1.0}, "error must be above 0 and below 0.35, .* got 1"),
        ({"error": math.nan}, "error must be above 0 and below 0.35, .* got nan"),
        ({"carry": 0}, "carry must be a whole number of at least 1, got 0"),
        ({"made_up": -3}, "made_up must be a whole number of at least 1, got -3"),
        ({"rows": 0}, "rows must be a whole number of at least 1, got 0"),
        ({"records": 2.5}, "records must be a whole number of at least 1, got 2.5"),
        ({"pairs": "both"}, "pairs must be public, private or all, got 'both'"),
        ({"bins": 2}, "bins must be a power of two from 4 to 128, got 2"),
        ({"bins": 48}, "bins must be a power of two from 4 to 128, got 48"),
        ({"bins": 256}, "bins must be a power of two from 4 to 128, got 256"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_nonsense_is_refused_in_a_line(parameters, complaint):
    with pytest.raises(InputError, match=complaint):
        Synthetic(**{"epsilon": 4.0} | parameters)


def test_a_weaker_unit_is_not_offered():
    with pytest.raises(Refused, match="does not offer the unit 'recording'"):
        Synthetic(epsilon=4.0, unit=RECORDING)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"carry": 4}, "carry=4 is more than the 3 features there are"),
        ({"bins": 64, "carry": 1}, "64 bins for 60 people .*: choose bins ≤ 60, or leave it out"),
        ({"by": "age", "carry": 1}, "unknown attribute of people to group by 'age'"),
        ({"by": "same", "carry": 1}, "everybody has the same same.*leave out by"),
        ({"by": "own", "carry": 1}, "is one person .* coarser"),
        ({"records": 10**6, "carry": 1}, "with 1000000 records .* or fewer records"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_the_study_is_refused_before_anything_is_paid(parameters, complaint):
    table = crowd(60, longest=10)
    people = table.people.with_columns(same=pl.lit("yes"), own=pl.col("person"))
    with pytest.raises(InputError, match=complaint):
        Synthetic(**{"epsilon": 4.0} | parameters).check(replace(table, people=people))


def test_groups_need_a_study_to_be_counted():
    with pytest.raises(InputError, match="is not known without a study"):
        Synthetic(epsilon=4.0, by="sight").carried(PublicFacts(100, 3, 32, 4))


def narrow(table: FeatureTable) -> FeatureTable:
    """A feature without a span, and one that never changes."""
    features = (Feature("a", "1/s", "", 2.0, 2.0), *FEATURES[1:])
    return replace(table, features=features, data=table.data.with_columns(b=pl.lit(0.5)))


def nameless(table: FeatureTable) -> FeatureTable:
    return replace(table, data=table.data.drop("task"))


def half_nameless(table: FeatureTable) -> FeatureTable:
    task = pl.when(pl.col("task") == "read").then(None).otherwise(pl.lit(""))
    return replace(table, data=table.data.with_columns(task=task))


def lonely(table: FeatureTable) -> FeatureTable:
    """A task that one person has, and one that half of them lack."""
    mine = (pl.col("person") == "3") & (pl.col("task") == "read")
    even = pl.col("person").cast(pl.Int64) % 2 == 0
    task = pl.when(mine).then(pl.lit("alone")).otherwise(pl.col("task"))
    data = table.data.filter(~(even & (pl.col("task") == "search"))).with_columns(task=task)
    return replace(table, data=data)


def pieces(table: FeatureTable) -> FeatureTable:
    """Several recordings of one task, some of one row."""
    recording = (pl.col("time_ms") // 1500).cast(pl.Int64).cast(pl.String) + pl.col("recording")
    return replace(table, data=table.data.with_columns(recording=recording))


def single_rows(table: FeatureTable) -> FeatureTable:
    return replace(table, data=table.data.filter(pl.col("time_ms") == 0))


def irregular(table: FeatureTable) -> FeatureTable:
    return replace(table, step_ms=None, window_ms=None)


@pytest.mark.parametrize("pairs", ["public", "private", "all"])
@pytest.mark.parametrize(
    "odd", [narrow, nameless, half_nameless, lonely, pieces, single_rows, irregular]
)
def test_odd_tables_give_whole_people(odd, pairs):
    table = odd(crowd(60, longest=10))
    release = made(table, Synthetic(epsilon=4.0, carry=3, pairs=pairs, records=4))
    tasks = table.data["task"].fill_null("").unique() if "task" in table.data.columns else [""]
    assert len(release.people) == 60
    assert set(release.data["task"]) == set(tasks)
    assert len(release.recordings) == 60 * len(tasks)
    for feature in release.features:
        assert release.data[feature.name].is_between(feature.lower, feature.upper).all()


def test_a_feature_that_never_changes_does_not_change_where_noise_is_little():
    release = made(narrow(crowd(100, longest=10)))
    assert (release.data["a"] == 2.0).all()
    # In the bin of 0.5, which is where one of 16 begins.
    assert release.data["b"].quantile(0.05) > 0.49
    assert release.data["b"].quantile(0.95) < 0.98


def test_what_somebody_has_of_a_task_is_one_recording_however_many_it_was():
    table = crowd(100, longest=20)
    assert made(pieces(table)).data.equals(made(table).data)


@pytest.mark.parametrize("people", [1, 2, 3])
@pytest.mark.parametrize("carry", [1, 3])
def test_one_person_is_hidden_too(people, carry):
    release = made(crowd(people, longest=10), Synthetic(epsilon=1.0, carry=carry, pairs="private"))
    assert len(release.people) == people
    assert release.data.select(release.names).to_numpy().size > 0


def test_events_are_made_up_as_windows_are(simulated):
    table = event_features(simulated, "fixations")
    release = made(table, Synthetic(epsilon=4.0, carry=3))
    assert release.step_ms is None
    assert len(release.names) == 3
    assert set(release.data["task"]) == set(table.data["task"])
    assert len(release.people) == 6


def test_windows_of_simulated_people_are_made_up_in_the_public_order(simulated_table):
    mechanism = Synthetic(epsilon=4.0, carry=8)
    release = made(simulated_table, mechanism)
    common = [name for name, _ in COMMON if name in simulated_table.names]
    first = [*common, *(name for name, _ in WINDOWS if name not in common)][:8]
    assert [simulated_table.names[place] for place in mechanism.chosen(simulated_table)] == first
    # In the order of the table.
    assert release.names == [name for name in simulated_table.names if name in first]
    assert release.names != first


def test_a_feature_nobody_has_is_empty_and_not_invented():
    rng = np.random.default_rng(4)
    features = [Feature(name, "ms", "", 0.0, 10.0) for name in ("kept", "nobody", "few", "half")]
    values = rng.normal(5, 1, (300, 2, 6, 4))
    values[..., 1] = np.nan
    values[6:, ..., 2] = np.nan
    values[::2, ..., 3] = np.nan
    mechanism = Synthetic(epsilon=4.0, delta=1e-6, rows=6, pairs="public")
    release = made(table_from_arrays(values, features), mechanism)
    empty = {name for name in release.names if release.data[name].null_count()}
    assert empty == {"nobody", "few"}
    assert release.data["nobody"].null_count() == len(release.data)
    # Where rows are no signal, what half of them lack half of synthetic ones lack.
    release = made(table_from_arrays(values, features), replace(mechanism, pairs=None))
    shares = [release.data[name].null_count() / len(release.data) for name in release.names]
    assert shares == pytest.approx([0.0, 1.0, 1.0, 0.5], abs=0.1)


def test_where_noise_hides_whether_anyone_has_a_feature_none_is_emptied():
    values = np.random.default_rng(4).normal(5, 1, (20, 2, 6, 2))
    values[..., 1] = np.nan
    features = [Feature(name, "ms", "", 0.0, 10.0) for name in ("kept", "nobody")]
    mechanism = Synthetic(epsilon=0.5, carry=2, rows=6, pairs="public")
    table = table_from_arrays(values, features)
    assert not mechanism.tells_nobody(mechanism.facts(table))
    for seed in range(10):
        assert made(table, mechanism, seed).data.select("kept", "nobody").null_count().row(0) == (
            0,
            0,
        )
    assert "a feature that nobody has: the noise hides that" in mechanism.worth(
        mechanism.facts(table)
    )


@pytest.mark.parametrize("pairs", ["public", "all"])
@pytest.mark.parametrize(("mean", "sd"), [(2.7, 0.4), (5.0, 2.0), (0.6, 0.2)])
def test_means_are_no_farther_off_than_is_said_in_their_unit(mean, sd, pairs):
    # Twelve draws of four features each; the root mean square is of 48.
    rng = np.random.default_rng(7)
    own, row = rng.normal(0, 0.8, (200, 1, 1, 4)), rng.normal(0, 0.6, (200, 2, 6, 4))
    features = [Feature(name, "1/s", "", 0.0, 10.0) for name in "abcd"]
    table = table_from_arrays(np.clip(mean + sd * (own + row), 0, 10), features)
    mechanism = Synthetic(epsilon=4.0, delta=1e-6, rows=None, pairs=pairs)
    off = [
        made(table, mechanism, seed).data[name].mean() - table.data[name].mean()
        for seed in range(12)
        for name in table.names
    ]
    said = mechanism.mean_errors(table)
    assert list(said) == table.names
    found = math.sqrt(np.mean(np.square(off)))
    assert 0.04 * said["a"] < found < 1.2 * said["a"]
    fewer = replace(mechanism, carry=1).mean_errors(table)["a"]
    # Of one feature there are no pairs to measure.
    more = 1.0 if pairs == "public" else math.sqrt(1 - 0.15)
    assert fewer == pytest.approx(said["a"] / math.sqrt(5 / 2) * more, rel=0.05)


def test_each_feature_has_its_own_values_whatever_the_public_order():
    names = [name for name, _ in WINDOWS[2::-1]]
    features = [Feature(name, "1", "", 10.0 * j, 10.0 * j + 5) for j, name in enumerate(names)]
    values = np.random.default_rng(5).uniform(1, 2, (60, 2, 10, 3)) + 10 * np.arange(3)
    release = made(table_from_arrays(values, features))
    assert release.names == names
    for j, name in enumerate(names):
        assert release.data[name].mean() == pytest.approx(10 * j + 1.5, abs=0.4)


def test_it_is_found_by_name():
    assert isinstance(eyelid.mechanism("synthetic", epsilon=4.0), Synthetic)


def test_real_readers_are_too_few(real_windows):
    """Twenty of them: no useful study of synthetic participants exists at the level of a person."""
    with pytest.raises(InputError, match="20 people are too few"):
        Synthetic(epsilon=1.0).check(real_windows)


def test_gaps_in_one_feature_leave_the_others_as_they_are():
    """Values of y are missing at random, those of x never; 3 of 10 rows, then 6."""
    rng = np.random.default_rng(5)
    for gaps in (0.3, 0.6):
        high = rng.random((300, 2, 40, 2)) < np.array([0.15, 0.85])[:, None, None]
        values = np.where(high, 0.9, 0.1) + rng.uniform(-0.05, 0.05, high.shape)
        values[..., 1] = np.where(rng.random(high.shape[:-1]) < gaps, np.nan, values[..., 1])
        table = table_from_arrays(values, [Feature(name, "", "", 0.0, 1.0) for name in "xy"])
        made = Synthetic(epsilon=50.0, carry=2).apply(table, randomness(1))
        shares = made.data.group_by("task").agg((pl.col("x", "y") > 0.5).mean()).sort("task")
        assert shares["x"].to_list() == pytest.approx([0.15, 0.85], abs=0.04)
        # Of the fewer values there are, the less is known.
        assert shares["y"].to_list() == pytest.approx([0.15, 0.85], abs=0.07)


def test_a_person_listed_twice_is_refused():
    study = table_from_arrays(np.zeros((3, 1, 4, 1)), [Feature("x", "", "", 0.0, 1.0)]).study()
    twice = replace(study, people=pl.concat([study.people, study.people[:1]]))
    with pytest.raises(InputError, match="more than one row in people"):
        FeatureTable.of(twice)
