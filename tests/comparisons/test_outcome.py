"""One release measured: groups name one among k, means nobody, errors are what they are."""

import json

import numpy as np
import pytest

from eyelid.audits.statistics import above
from eyelid.comparisons.outcome import Outcome, Questions, measured, measured_raw
from eyelid.engine.parallel import alone
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism

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
    law = mechanism("ksame", k=k)
    runs = [measured(law, unlike, unlike, QUESTIONS, seed) for seed in range(6)]
    for attacker in runs[0].named:
        shares = np.concatenate([run.named[attacker] for run in runs])
        assert above(shares, 1 / k) > 0.001, attacker
    # Whoever has the very recordings does as well as may be: they find the group.
    assert np.mean([run.named["intersection, has the very recordings"] for run in runs]) > 0.75 / k


def test_noise_is_off_by_as_much_as_was_foreseen(unlike):
    law = mechanism("laplace", epsilon=50.0)
    found = measured(law, unlike, unlike, QUESTIONS, seed=3)
    assert found.error_of_span == pytest.approx(
        law.expected_rmse_of_span(law.shape(unlike)), rel=0.2
    )


def test_means_name_nobody_and_teach_all_the_same(unlike):
    found = measured(mechanism("groupmean", epsilon=1e4), unlike, unlike, QUESTIONS, seed=1)
    assert found.named == {}
    assert np.mean(found.used) > 0.9
    assert found.error_of_span < 0.05


@pytest.mark.parametrize("law", ["ksame-paper", "marginals-paper", "groupmean"])
def test_whoever_is_tested_had_no_part_in_what_others_have_taught(unlike, law, monkeypatch):
    """Rows in others' names would tell of them as well: the mechanism runs without them."""
    built = mechanism(law, **{"ksame-paper": {"k": 2}, "groupmean": {"epsilon": 1.0}}.get(law, {}))
    seen = []
    apply = type(built).apply

    def watched(self, table, noise):
        seen.append(table.data["person"].n_unique())
        return apply(self, table, noise)

    monkeypatch.setattr(type(built), "apply", watched)
    measured(built, unlike, unlike, QUESTIONS, seed=1)
    assert sum(PEOPLE - people for people in seen) == PEOPLE


def test_too_few_to_leave_somebody_out_leaves_use_unmeasured(unlike):
    found = measured(mechanism("ksame-paper", k=PEOPLE), unlike, unlike, QUESTIONS, seed=1)
    assert found.used is None
    assert found.named


def test_a_seed_makes_a_run_and_another_makes_another(unlike):
    law = mechanism("laplace", epsilon=50.0)
    one, same, other = (measured(law, unlike, unlike, QUESTIONS, seed) for seed in (1, 1, 2))
    assert one == same
    assert one.error_of_span != other.error_of_span


def test_an_outcome_comes_back_from_a_file_as_it_was(unlike):
    found = measured(mechanism("ksame", k=2), unlike, unlike, QUESTIONS, seed=1)
    assert Outcome.from_dict(json.loads(json.dumps(found.to_dict()))) == found
