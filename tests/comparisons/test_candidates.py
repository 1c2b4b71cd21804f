"""What is tried follows from public facts and goals, and holds."""

from dataclasses import replace

import numpy as np
import pytest

from eyelid.comparisons.candidates import candidates, covers
from eyelid.comparisons.facts import Facts
from eyelid.comparisons.goals import goals_of
from eyelid.errors import InputError
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.unit import Unit


@pytest.fixture
def table(make_table):
    return make_table(people=12)


# A few of every kind that are quick to price.
SOME = ["dct", "gaussian", "groupmean", "ksame", "laplace"]


def found(table, *goals, mechanisms=SOME):
    return candidates(table, goals_of(goals, Facts.of(table)), mechanisms)[0]


def test_only_what_holds_is_ever_tried(table):
    every = found(table, "rank1<=2x", mechanisms=None)
    assert {"synthetic", "ksame", "groupmean"} <= {one.setting.mechanism for one in every}
    assert all(one.promise.guarantee.holds and one.promise.person_level.holds for one in every)
    assert not any("paper" in one.setting.mechanism for one in every)
    with pytest.raises(InputError, match="mechanism that holds and takes features 'fpa-paper'"):
        found(table, "rank1<=2x", mechanisms=["fpa-paper"])


@pytest.mark.parametrize(
    ("goals", "true"),
    [
        (["epsilon<=4"], lambda p: p.person_level.epsilon <= 4),
        (["epsilon=3"], lambda p: p.person_level.epsilon == 3),
        (["unit=person"], lambda p: str(p.guarantee.unit) == "person"),
        (["unit=recording", "epsilon<=2"], lambda p: p.guarantee.epsilon <= 2),
        (["kind=pure-dp"], lambda p: p.person_level.kind is Kind.PURE),
        (["kind=k-anonymity"], lambda p: p.person_level.kind is Kind.K_ANONYMITY),
        (["delta<=1e-9", "epsilon<=4"], lambda p: p.person_level.delta <= 1e-9),
        (["k>=4"], lambda p: p.person_level.k is None or p.person_level.k >= 4),
    ],
)
def test_every_candidate_promises_what_is_asked(table, goals, true):
    every = found(table, *goals)
    assert every
    assert all(true(one.promise) for one in every), [str(one.setting) for one in every]


def test_epsilon_is_of_the_unit_asked_for(table):
    rows = found(table, "unit=record", "epsilon<=16", mechanisms=["gaussian"])
    assert "gaussian, record, ε = 16" in [str(one.setting) for one in rows]
    # Without a unit it is the person's, whose rows are many.
    assert not any("record" in str(one.setting) for one in found(table, "epsilon<=16"))


def test_a_goal_for_names_brings_the_groups_that_guarantee_it(table):
    ks = [one.k for one in found(table, "rank1<=0.2", mechanisms=["ksame"])]
    assert 5 in ks
    assert max(ks) <= 6


def test_candidates_do_not_depend_on_anybodys_values(make_table):
    one, other = make_table(people=12, seed=1), make_table(people=12, seed=2)
    wild = other.data.with_columns(pupil=np.inf)
    tables = one, replace(other, data=wild)
    names = [[str(c.setting) for c in found(table, "rank1<=2x")] for table in tables]
    assert names[0] == names[1]


def test_what_cannot_be_run_is_told_with_its_reason(table):
    _, skipped = candidates(table, goals_of(["epsilon<=1"], Facts.of(table)), ["seeded"])
    assert "people who could have given each" in next(iter(skipped.values()))


@pytest.mark.parametrize(
    ("unit", "asked", "hides"),
    [
        ("person", "record", True),
        ("recording", "chunk", True),
        ("record", "recording", False),
        ("chunk:32", "record", False),
        ("chunk:32", "chunk", True),
        ("chunk:32", "chunk:64", False),
    ],
)
def test_a_unit_hides_its_parts(unit, asked, hides):
    assert covers(Unit.parse(unit), asked) is hides


def test_the_strongest_promise_to_a_person_comes_first(table):
    every = sorted(found(table, "rank1<=2x"), key=lambda one: one.strength)
    kinds = [
        "k" if one.k and not one.nobodys else one.promise.person_level.epsilon > 10 for one in every
    ]
    assert kinds == sorted(kinds, key=[False, "k", True].index)
    epsilons = [one.promise.person_level.epsilon for one in every if not one.k]
    assert epsilons == sorted(epsilons)
