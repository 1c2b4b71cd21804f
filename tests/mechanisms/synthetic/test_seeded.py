"""Rows that begin as a person's and are released if many could have begun them."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.chain import Chain, whole_odds
from eyelid.mechanisms.synthetic.deniability import Threshold, fewest_people
from eyelid.mechanisms.synthetic.records import TaskRecords, records_of_tasks
from eyelid.mechanisms.synthetic.seeded import Seeded
from eyelid.privacy.composition import repeated_delta
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import play
from eyelid.verification.rows import seeded_mutants

FEATURES = [Feature(name, "1", "", 0.0, 1.0) for name in ("a", "b", "c")]


def crowd(people: int = 400, rows: int = 6, seed: int = 1) -> FeatureTable:
    """Two tasks that differ, features that go together, people who differ a little."""
    rng = np.random.default_rng(seed)
    task = np.array([0.3, 0.7])[None, :, None]
    first = task + rng.normal(0, 0.05, (people, 1, 1)) + rng.normal(0, 0.05, (people, 2, rows))
    values = np.stack([first, 1 - first, first / 2], axis=-1)
    return table_from_arrays(values + rng.normal(0, 0.03, values.shape), FEATURES)


class WithTest(Seeded):
    """With a test that a person chose, whatever the number of people."""

    chosen: Threshold

    def threshold(self, facts: PublicFacts) -> Threshold:
        return self.chosen


def with_test(mechanism: Seeded, test: Threshold) -> WithTest:
    made = WithTest(**{item.name: getattr(mechanism, item.name) for item in fields(mechanism)})
    object.__setattr__(made, "chosen", test)
    return made


def excess(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """The smallest δ for which these two distributions are (ε, δ)-close."""
    return float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum())


def random_dataset(rng: np.random.Generator) -> tuple[WithTest, Chain, TaskRecords, TaskRecords]:
    """Some parameters, a model, and two datasets that differ in one person."""
    bins, features, records = (int(rng.integers(low, 4)) for low in (2, 1, 1))
    low = int(rng.integers(0, features + 1))
    gamma = float(rng.choice([1.01, 1.2, 2.0, 4.0]))
    keep = f"{low}-{int(rng.integers(max(low, 1), features + 1))}"
    people = int(rng.integers(2, 25))
    test = fewest_people(
        float(rng.choice([0.5, 1.0, 3.0])),
        float(rng.choice([0.01, 0.1, 0.3])),
        records * gamma,
        people,
    )
    mechanism = Seeded(epsilon=1.0, gamma=gamma, keep_features=keep, records=records, bins=bins)
    crowded = rng.dirichlet(np.full(bins, 0.3))
    codes = rng.choice(bins, size=(people, records, features), p=crowded).astype(np.uint8)
    there = np.arange(records) < rng.integers(0, records + 1, (people, 1))
    replaced, present = codes.copy(), there.copy()
    replaced[0] = rng.choice(bins, size=features)
    present[0] = np.arange(records) < rng.integers(0, records + 1)
    odds = rng.dirichlet(np.full(bins, 0.5), size=(features, bins))
    none = np.zeros(0)
    return (
        with_test(mechanism, test),
        Chain(whole_odds(odds, Chain.BITS)),
        TaskRecords("", none, there, codes),
        TaskRecords("", none, present, replaced),
    )


def test_one_row_keeps_its_promise_exactly_whatever_the_people_are() -> None:
    """No sampling: the law of a row and of whether it had a seed, for datasets that differ."""
    rng = np.random.default_rng(4)
    nearest = 0.0
    for _ in range(150):
        mechanism, chain, one, other = random_dataset(rng)
        test, facts = mechanism.chosen, PublicFacts(50, 1, 1, one.codes.shape[-1])
        distributions = [mechanism.row_distribution(seeds, chain, facts) for seeds in (one, other)]
        for distribution in distributions:
            assert distribution.sum() == pytest.approx(1.0)
        for p, q in (distributions, distributions[::-1]):
            nearest = max(nearest, excess(p, q, test.epsilon_each) / test.delta_each)
    assert nearest <= 1.0


def test_the_exact_check_sees_a_test_with_too_little_noise() -> None:
    """The same datasets, and half the noise: what is promised is exceeded."""
    rng = np.random.default_rng(4)
    exceeded = 0
    for _ in range(150):
        mechanism, chain, one, other = random_dataset(rng)
        test, facts = mechanism.chosen, PublicFacts(50, 1, 1, one.codes.shape[-1])
        weaker = with_test(mechanism, replace(test, scale=test.scale // 4))
        p, q = (weaker.row_distribution(seeds, chain, facts) for seeds in (one, other))
        exceeded += max(excess(p, q, test.epsilon_each), excess(q, p, test.epsilon_each)) > (
            test.delta_each
        )
    assert exceeded > 0


def test_rows_have_the_law_that_the_games_are_scored_by() -> None:
    """Chi-square over every outcome, at p = 1e-6 with a fixed seed."""
    from scipy.stats import chisquare

    mechanism = Seeded(**Seeded.games[1])
    pair = next(mechanism.neighbour_pairs(PERSON))
    outputs = mechanism.play(pair.other, pair.facts, 20_000, randomness(7)).reshape(-1, 3)
    found = np.bincount((outputs @ [1, 2, 4]).astype(int), minlength=8)
    seeds = mechanism._game_seeds(pair.other, pair.facts)
    distribution = mechanism.row_distribution(seeds, mechanism._game_chain(), pair.facts)
    possible = distribution.ravel() > 0
    assert found[~possible].sum() == 0
    expected = distribution.ravel()[possible] * len(outputs)
    assert chisquare(found[possible], expected).pvalue > 1e-6


@pytest.mark.parametrize(
    "mechanism", list(Seeded.set_for_games()), ids=["one", "two rows", "three"]
)
def test_the_promise_survives_its_games(mechanism: Seeded) -> None:
    """A true claim is refuted with probability 1e-6."""
    found = play(mechanism, PERSON, 20_000, randomness(3))
    assert 0.3 * found.claimed < found.lower_bound <= found.claimed


def test_planted_faults_are_caught() -> None:
    variants = [v for v in Seeded.set_for_games() if isinstance(v, Seeded)]
    missed = [f.name for f in seeded_mutants(variants) if not f.caught(30_000, randomness(5))]
    assert missed == []


def test_a_release_is_one_made_up_person_and_tells_what_the_loss_covers() -> None:
    done = eyelid.release(crowd(), mechanism="seeded", epsilon=4.0, rows=3)
    data = done.table.data
    assert data["person"].unique().to_list() == ["synthetic"]
    assert data.group_by("task").len()["len"].to_list() == [3, 3]
    assert data.schema["label_seeded"] == pl.Boolean
    assert data.select(pl.col("a", "b", "c").is_between(0, 1).all()).row(0) == (True,) * 3
    assert done.certificate.person_level.epsilon == 4.0
    assert done.certificate.guarantee.kind is Kind.APPROXIMATE


def test_tasks_and_how_features_go_together_survive_where_there_are_people_enough() -> None:
    table = Seeded(epsilon=8.0, rows=60, test="deterministic", k=5).apply(
        crowd(1500), randomness(2)
    )
    means = table.data.group_by("task").agg(pl.col("a").mean()).sort("task")["a"]
    assert means[0] == pytest.approx(0.3, abs=0.05)
    assert means[1] == pytest.approx(0.7, abs=0.05)
    first = table.data.filter(pl.col("task") == "0")
    assert abs(float(first["a"].mean()) + float(first["b"].mean()) - 1.0) < 0.06  # type: ignore[arg-type]


def test_a_deterministic_test_has_no_epsilon_and_tells_nothing_of_the_seeds() -> None:
    done = eyelid.release(
        crowd(60), mechanism="seeded", epsilon=2.0, test="deterministic", k=5, rows=4
    )
    promised = done.certificate.person_level
    assert promised.kind is Kind.DENIABILITY
    assert (promised.k, promised.gamma, promised.epsilon) == (5, 2.0, None)
    assert "label_seeded" not in done.table.data.columns


def test_every_row_with_a_seed_could_have_been_given_by_k_people() -> None:
    """The deterministic test against a plain count of the people who share what was kept."""
    mechanism = Seeded(epsilon=2.0, test="deterministic", k=6, rows=1, keep_features=2, bins=4)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (30, 1, 3)).astype(np.uint8)
    seeds = TaskRecords("", np.zeros(0), np.ones((30, 1), dtype=bool), codes)
    chain = Chain(whole_odds(rng.random((3, 4, 4)), Chain.BITS))
    rows, seeded = mechanism.made_up(seeds, chain, 400, PublicFacts(60, 1, 1, 3), randomness(1))
    assert seeded.any()
    assert not seeded.all()
    for row in rows[seeded]:
        assert (codes[:, 0, :2] == row[:2]).all(axis=1).sum() >= 6


def test_nobody_is_both_a_seed_and_in_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[bytes]] = {}
    chains, made_up = Seeded.chains, Seeded.made_up

    def spied_chains(self: Seeded, tasks: list[TaskRecords], *more: Any) -> list[Chain]:
        seen["model"] = {row.tobytes() for task in tasks for row in task.values[:, 0]}
        return chains(self, tasks, *more)

    def spied_made_up(self: Seeded, seeds: TaskRecords, *more: Any) -> Any:
        seen.setdefault("seeds", set()).update(row.tobytes() for row in seeds.values[:, 0])
        return made_up(self, seeds, *more)

    monkeypatch.setattr(Seeded, "chains", spied_chains)
    monkeypatch.setattr(Seeded, "made_up", spied_made_up)
    Seeded(epsilon=4.0, rows=2).apply(crowd(300, rows=1), randomness(1))
    assert len(seen["model"]) == len(seen["seeds"]) == 300
    assert not seen["model"] & seen["seeds"]


def test_no_more_rows_of_a_person_are_used_than_counted() -> None:
    table = crowd(5, rows=6)
    tasks = records_of_tasks(table, 4, randomness(1))
    assert [task.there.sum(axis=1).tolist() for task in tasks] == [[4] * 5] * 2
    own = table.data.filter((pl.col("person") == "3") & (pl.col("task") == "1"))["a"].to_list()
    assert set(tasks[1].values[3, :, 0].tolist()) <= set(own)
    # Others of the same people are chosen another time.
    again = records_of_tasks(table, 4, randomness(2))
    assert not np.array_equal(tasks[0].values, again[0].values)


def test_people_without_a_task_give_no_rows_of_it() -> None:
    table = crowd(40)
    gone = (pl.col("person").cast(pl.Int64) < 39) & (pl.col("task") == "1")
    fewer = replace(table, data=table.data.filter(~gone))
    done = Seeded(epsilon=2.0, test="deterministic", k=3, rows=10).apply(fewer, randomness(1))
    assert done.data.group_by("task").len()["len"].to_list() == [10, 10]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"gamma": 1.0}, "gamma must be more than 1"),
        ({"gamma": 0.5}, "gamma must be more than 1"),
        ({"gamma": math.nan}, "gamma must be more than 1"),
        ({"k": 1}, "k must be at least 2"),
        ({"keep_features": "3-1"}, "range such as"),
        ({"keep_features": "some"}, "range such as"),
        ({"keep_features": 0}, "range such as"),
        ({"gamma": 1.0000001}, "gamma must be more than 1"),
        ({"gamma": 1e308}, "gamma must be"),
        ({"k": 2.5}, "whole number"),
        ({"rows": 1.5}, "whole number"),
        ({"test": "deterministic", "k": 3, "records": 2}, "one row of a person"),
        ({"test": "often"}, "test must be"),
        ({"test": "deterministic"}, "needs k"),
        ({"share": 1.0}, "share"),
        ({"rows": 0}, "rows"),
        ({"bins": 1}, "bins"),
        ({"records": 0}, "records"),
        ({"epsilon": 0.0}, "epsilon must be positive"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_nonsense_is_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Seeded(**{"epsilon": 1.0} | parameters)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rows": 1000}, "need k = .* release fewer rows"),
        ({"rows": 2, "k": 3}, "too small for epsilon"),
        ({"test": "deterministic", "k": 500}, "choose k ≤ 200"),
        ({"rows": 1, "k": 500}, "choose k ≤ 200"),
        ({"rows": 1, "share": 0.0001}, "nobody for the model"),
        ({"rows": 1, "share": 0.9999}, "nobody for rows"),
        ({"keep_features": 4, "rows": 1}, "more than the 3 features"),
        ({"order": "z", "rows": 1}, "feature 'z'"),
        ({"order": "a,a", "rows": 1}, "twice"),
    ],
)
def test_what_the_people_do_not_suffice_for_is_refused_before_anything_is_paid(
    parameters: dict[str, Any], words: str
) -> None:
    mechanism = Seeded(epsilon=4.0, **parameters)
    with pytest.raises(InputError, match=words):
        mechanism.check(crowd())


def test_the_order_says_what_is_kept_first() -> None:
    mechanism = Seeded(epsilon=4.0, order="c, a", test="deterministic", k=2, rows=1)
    assert mechanism._columns(crowd(20)) == [2, 0, 1]


def test_more_rows_need_more_people() -> None:
    needed = [
        Seeded(epsilon=4.0, rows=rows).threshold(PublicFacts(10**5, 3, rows, 8)).k
        for rows in (1, 10, 100)
    ]
    assert needed == sorted(needed)
    assert needed[0] < 60
    assert needed[-1] > 200


@pytest.mark.parametrize("records", [1, 5])
@pytest.mark.parametrize("tasks", [1, 4])
def test_the_test_is_the_one_for_the_loss_that_is_told(records: int, tasks: int) -> None:
    """Everything anew, from the theorem: a row's loss, its δ, the coin, and all rows together."""
    mechanism = Seeded(epsilon=3.0, delta=1e-5, gamma=1.7, records=records, rows=6, share=0.3)
    facts = PublicFacts(9_000, tasks, 6, 4)
    test, seeds = mechanism.threshold(facts), mechanism.seeds(9_000)
    assert seeds == 6_300
    noise = 2**20 / test.scale
    weight = records * 1.7
    each = noise + math.log(1 + weight / test.others)
    passing = math.exp(-noise * (test.k - test.others)) / (1 + math.exp(-1 / test.scale))
    assert test.epsilon_each == pytest.approx(each, rel=1e-12)
    assert test.delta_each == pytest.approx(passing / seeds, rel=1e-9)
    added = test.coin_chance / (seeds * (1 - test.coin_chance))
    assert math.exp(noise) + added <= math.exp(each) * (1 + 1e-9)
    rows = 6 * tasks
    spent = rows * passing / seeds + repeated_delta(each, rows, 3.0)
    assert spent <= 1e-5
    # And of that nothing is left lying about.
    assert repeated_delta(each * 1.05, rows, 3.0) > 0.5e-5 or rows == 1
    model = mechanism.marginals(9_000)
    assert (model.epsilon, model.delta, model.records) == (3.0, 1e-5, records)


def test_a_whole_mechanism_s_own_test_keeps_its_promise_exactly() -> None:
    """Everybody has twenty rows, one of them there; a person has all twenty there, or none."""
    mechanism = Seeded(**Seeded.games[2])
    for pair in mechanism.neighbour_pairs(PERSON):
        distributions = [
            mechanism.row_distribution(
                mechanism._game_seeds(side, pair.facts), mechanism._game_chain(), pair.facts
            )
            for side in (pair.one, pair.other)
        ]
        for p, q in (distributions, distributions[::-1]):
            assert excess(p, q, mechanism.epsilon) <= 1e-3


def test_an_enormous_loss_is_no_fault() -> None:
    assert Seeded(epsilon=800.0, rows=1).threshold(PublicFacts(100, 1, 1, 3)).k >= 2


def test_the_docs_say_how_many_people_a_row_needs(request: pytest.FixtureRequest) -> None:
    text = (request.config.rootpath / "docs" / "anonymity.md").read_text(encoding="utf-8")
    for rows in (3, 30, 300, 3000):
        needed = [
            Seeded(epsilon=epsilon, delta=1e-6, rows=rows)
            .threshold(PublicFacts(20_000, 1, rows, 6))
            .k
            for epsilon in (1.0, 2.0, 4.0, 8.0)
        ]
        assert f"| {rows} | {' | '.join(str(k) for k in needed)} |" in text
