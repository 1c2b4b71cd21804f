"""One release measured: groups name one among k, means nobody, errors are what they are."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.outcome import Outcome, Questions, Trial, measured_raw, named_by_rows
from eyelid.attacks.protocols import Material
from eyelid.attacks.statistics import above
from eyelid.engine.cores import alone
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import Trust
from eyelid.releases.audits.kinds import attacked_as, measured

QUESTIONS = Questions(attackers=("means",))
PEOPLE = 8


@pytest.fixture(scope="module", autouse=True)
def _one_core():
    with alone():
        yield


@pytest.fixture(scope="module")
def unlike():
    """People who are told apart by anything, in three tasks that are told apart as well."""
    rng = np.random.default_rng(2)
    features = [Feature(name, "1", name, 0.0, 1.0) for name in ("who", "what")]
    values = rng.normal(0.5, 0.01, (PEOPLE, 3, 6, 2))
    values[..., 0] += np.linspace(-0.4, 0.4, PEOPLE)[:, None, None]
    values[..., 1] += np.array([-0.3, 0.0, 0.3])[:, None]
    return table_from_arrays(np.clip(values, 0, 1), features)


def test_people_who_are_unlike_are_all_named_in_raw_data(unlike):
    found = measured_raw(unlike, QUESTIONS)
    assert np.mean(found.named["means, raw→raw"]) == 1.0
    assert np.mean(found.used) > 0.9
    assert (found.chance, found.error_of_span) == (1 / PEOPLE, 0.0)


@pytest.mark.parametrize("k", [2, 4])
def test_groups_never_name_more_than_one_among_k(unlike, k):
    """Everybody is told apart raw; over 6 partitions, p below 0.001 would be a broken promise."""
    mechanism = mechanism_named("ksame", k=k)
    runs = [measured(Trial(mechanism, unlike, unlike, QUESTIONS, seed)) for seed in range(6)]
    for attacker in runs[0].named:
        shares = np.concatenate([run.named[attacker] for run in runs])
        assert above(shares, 1 / k) > 0.001, attacker
    # A person who has the very recordings does as well as may be: they find the group.
    assert np.mean([run.named["intersection, has the very recordings"] for run in runs]) > 0.75 / k


@pytest.mark.parametrize("name", ["laplace", "lpa-paper"])
def test_whoever_has_the_very_recordings_names_those_who_are_hardly_hidden(unlike, name):
    """By the law of the noise, or by rows where it cannot be read off."""
    found = measured(Trial(mechanism_named(name, epsilon=1e5), unlike, unlike, QUESTIONS, seed=1))
    mine = {who: np.mean(shares) for who, shares in found.named.items() if "the very" in who}
    assert max(mine.values()) == 1.0
    assert ("likelihood, has the very recordings" in mine) == (name == "laplace")


def test_the_very_recordings_name_also_where_nothing_else_is_known(unlike):
    """One row each: it cannot be parted into what is known and what is shown."""
    alone = replace(unlike, data=unlike.data.group_by("person", maintain_order=True).first())
    naming = replace(QUESTIONS, target=None)
    found = measured(Trial(mechanism_named("laplace", epsilon=1e5), alone, alone, naming, seed=1))
    assert list(found.named) == ["likelihood, has the very recordings"]
    assert np.mean(found.named["likelihood, has the very recordings"]) == 1.0


def test_rows_are_matched_by_task_and_nothing_else(unlike):
    """Against a plain reference: the least sum of squares over all recordings of a task."""
    mechanism = mechanism_named("laplace", epsilon=60.0)
    noisy = mechanism.apply(unlike, randomness(np.random.default_rng(4)))
    found = named_by_rows(Material(unlike, noisy))["rows, has the very recordings"]
    raw, shown = (
        table.data.select(table.names).to_numpy().reshape(PEOPLE, 3, 6, 2)
        for table in (unlike, noisy)
    )
    weight = 1 / ((shown - raw.mean(axis=0)) ** 2).mean(axis=(0, 2))
    off = [[(((one - other) ** 2) * weight[:, None]).sum() for other in raw] for one in shown]
    assert found == tuple((np.argmin(off, axis=1) == np.arange(PEOPLE)).astype(float))
    assert 0 < np.mean(found) < 1


def test_everybody_alike_is_named_by_guessing_alone(unlike):
    """Planted: the same values for all leave nothing but order and names to be found."""
    same = unlike.data.with_columns(pl.lit(0.5).alias(name) for name in unlike.names)
    alike = replace(unlike, data=same)
    found = measured(
        Trial(mechanism_named("laplace", epsilon=1e5), alike, alike, QUESTIONS, seed=1)
    )
    assert found.named["likelihood, has the very recordings"] == (1 / PEOPLE,) * PEOPLE


@pytest.mark.parametrize(("name", "asked"), [("ksame-dp", {"k": 4}), ("groupmean", {"by": "kind"})])
def test_noisy_means_of_groups_are_attacked_under_their_members_names(unlike, name, asked):
    """Almost without noise a group is found, and one of its four members is guessed."""
    halves = unlike.people.with_columns(kind=pl.Series(["a"] * 4 + ["b"] * 4))
    grouped = replace(unlike, people=halves)
    mechanism = mechanism_named(name, epsilon=1e6, inner="laplace", **asked)
    # Which groups are drawn decides how well they are told apart: one draw alone says little.
    runs = [
        measured(Trial(mechanism, grouped, grouped, QUESTIONS, seed=seed)) for seed in range(1, 5)
    ]
    best = [max(np.mean(shares) for shares in found.named.values()) for found in runs]
    assert np.mean(best) > 1.5 / PEOPLE
    assert max(best) <= 0.25 + 1e-9
    assert np.mean([np.mean(found.used) for found in runs]) > 0.7


def test_attributes_whose_names_begin_alike_are_told_apart(unlike):
    """One of them is what people differ in, the other has nothing to do with it."""
    halves, turns = ["a"] * 4 + ["b"] * 4, ["a", "b"] * 4
    told = unlike.people.with_columns(kind=pl.Series(halves), kind2=pl.Series(turns))
    table = replace(unlike, people=told)
    for asked in (("kind", "kind2"), ("kind2", "kind")):
        found = measured_raw(table, replace(QUESTIONS, target=None, attributes=asked)).attributes
        assert found["kind"][0] > 0.9
        assert found["kind2"][0] < 0.8


def test_noise_is_off_by_as_much_as_was_foreseen(unlike):
    mechanism = mechanism_named("laplace", epsilon=50.0)
    found = measured(Trial(mechanism, unlike, unlike, QUESTIONS, seed=3))
    assert found.error_of_span == pytest.approx(
        mechanism.expected_rmse_of_span(mechanism.facts(unlike)), rel=0.2
    )


def test_means_name_nobody_and_teach_all_the_same(unlike):
    mechanism = mechanism_named("groupmean", epsilon=1e4, inner="dct")
    found = measured(Trial(mechanism, unlike, unlike, QUESTIONS, seed=1))
    assert found.named == {}
    assert np.mean(found.used) > 0.9
    assert found.error_of_span < 0.05
    squares = [value**2 for value, _ in found.errors.values()]
    assert found.error_of_span == pytest.approx(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("mechanism", ["ksame-paper", "marginals-paper", "groupmean"])
def test_whoever_is_tested_had_no_part_in_what_others_have_taught(unlike, mechanism, monkeypatch):
    """Rows in others' names would tell of them as well: the mechanism runs without them."""
    built = mechanism_named(
        mechanism, **{"ksame-paper": {"k": 2}, "groupmean": {"epsilon": 1.0}}.get(mechanism, {})
    )
    seen = []
    apply = type(built).apply

    def watched(self, table, noise):
        seen.append(table.data["person"].n_unique())
        return apply(self, table, noise)

    monkeypatch.setattr(type(built), "apply", watched)
    measured(Trial(built, unlike, unlike, QUESTIONS, seed=1))
    assert sum(PEOPLE - people for people in seen) == PEOPLE


def test_too_few_to_leave_somebody_out_leaves_use_unmeasured(unlike):
    found = measured(
        Trial(mechanism_named("ksame-paper", k=PEOPLE), unlike, unlike, QUESTIONS, seed=1)
    )
    assert found.used is None
    assert found.named


def test_one_group_of_all_says_why_nothing_can_be_learned(unlike):
    found = measured(Trial(mechanism_named("ksame", k=PEOPLE), unlike, unlike, QUESTIONS))
    assert (found.used, found.not_used) == (
        None,
        "all are in one group: nobody is left to learn from",
    )


def test_a_seed_makes_a_run_and_another_makes_another(unlike):
    mechanism = mechanism_named("laplace", epsilon=50.0)
    one, same, other = (
        measured(Trial(mechanism, unlike, unlike, QUESTIONS, seed)) for seed in (1, 1, 2)
    )
    assert one == same
    assert one.error_of_span != other.error_of_span


def test_an_outcome_comes_back_from_a_file_as_it_was(unlike):
    found = measured(Trial(mechanism_named("ksame", k=2), unlike, unlike, QUESTIONS, seed=1))
    assert Outcome.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_a_mechanism_says_what_was_released_before_any_name_does():
    features = [Feature("rate", "", "", 0.0, 1.0)]
    table = table_from_arrays(np.zeros((2, 1, 3, 1)), features)
    people = replace(table, people=pl.DataFrame({"person": ["synthetic01", "synthetic02"]}))
    assert attacked_as(None, Trust.LOCAL, people) is ReleaseKind.SYNTHETIC
    laplace, synthetic = (mechanism_named(name, epsilon=1.0) for name in ("laplace", "synthetic"))
    assert attacked_as(laplace, Trust.LOCAL, people) is ReleaseKind.RECORDS
    assert attacked_as(synthetic, Trust.CENTRAL, table) is ReleaseKind.SYNTHETIC
