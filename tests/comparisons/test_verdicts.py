"""Verdicts on goals, by hand."""

from dataclasses import replace

import pytest
from scipy import stats

from eyelid.attacks.outcome import Outcome
from eyelid.comparisons.candidates import Candidate, candidates
from eyelid.comparisons.facts import Facts
from eyelid.comparisons.goals import goals_of
from eyelid.comparisons.verdicts import judged
from eyelid.privacy.unit import Unit

FACTS = Facts(20, 3, 600, ("a", "b"), ("fixation_rate",), ("gender",))


@pytest.fixture
def candidate(make_table) -> Candidate:
    """By name and ε, of 20 people."""
    table = make_table(people=20)

    def find(name, *goals):
        return candidates(table, goals_of(goals or ["error<=1"], Facts.of(table)), [name])[0][0]

    return find


def outcome(named=0.1, used=0.6, gender=0.7, error=0.2):
    return Outcome(
        named={
            "weak": (0.0,) * 20,
            "strong": (1.0,) * int(20 * named) + (0.0,) * int(20 * (1 - named)),
        },
        chance=0.05,
        used=(used - 0.1, used + 0.1) * 10,
        attributes={"gender": (gender, gender - 0.2, gender + 0.2)},
        error_of_span=error,
    )


def verdict(candidate, goal, *runs):
    return judged(candidate, runs or [outcome()], goals_of([goal], FACTS)).verdicts[0]


def test_the_strongest_attacker_over_all_studies_decides(candidate):
    mechanism = candidate("gaussian")
    one = verdict(mechanism, "rank1<=3x", outcome(named=0.1), outcome(named=0.2))
    assert one.met
    assert one.value == pytest.approx(0.15)
    assert not one.clearly
    missed = verdict(mechanism, "rank1<=2x", outcome(named=0.5))
    assert not missed.met
    # From 10% to everybody is 90%; it is 40% above.
    assert missed.off == pytest.approx(0.4 / 0.9)


def test_a_guarantee_that_implies_a_goal_is_told(candidate):
    groups = candidate("ksame", "k>=10")
    assert groups.k == 10
    # More were named than on average over groups: the guarantee stands all the same.
    told = verdict(groups, "rank1<=2x", outcome(named=0.15))
    assert told.guaranteed
    assert told.met
    assert told.off == 0
    assert told.says == (
        "guaranteed: at most 10%, if this is their only release and nobody of a group tells of "
        "themselves"
    )
    assert not verdict(candidate("gaussian", "epsilon<=16"), "rank1<=2x").says
    # No bound is known for Gaussian noise against a person who compares everybody.
    strong = verdict(candidate("gaussian", "epsilon=0.5"), "rank1<=2x", outcome(named=0.15))
    assert not strong.guaranteed
    assert not strong.met
    assert strong.says.endswith("of those who are judged one at a time")


def test_bounds_are_of_everybody_also_where_a_part_is_asked(candidate):
    pure = candidate("laplace", "epsilon=0.5")
    # e/(e + 19) with 2ε = 1: 12.5% of 20 people, 2.5 times guessing.
    part = goals_of(["rank1<=2.4x"], FACTS).among(8, 20)
    assert not judged(pure, [outcome()], part).verdicts[0].guaranteed
    part = goals_of(["rank1<=2.6x"], FACTS).among(8, 20)
    assert judged(pure, [outcome()], part).verdicts[0].guaranteed


def test_where_nobodys_record_is_nobody_is_named_and_that_is_said(candidate):
    means = candidate("groupmean", "epsilon=1")
    nobody = Outcome(chance=0.05, used=(0.5,) * 20, error_of_span=0.3)
    told = verdict(means, "rank1<=2x", nobody)
    assert told.met
    assert told.value is None
    # μ of ε = 1, δ = 1e-6 is nearer than tanh(1/2).
    assert told.says.startswith(
        "no record under a person's name is released; advantage in telling who took part: "
    )
    assert verdict(means, "gender<=0.6", nobody).met


def test_what_nobodys_record_guarantees_is_what_its_epsilon_implies(candidate):
    """By hand: e/(e + 19) = 12.5% of 20 people at ε = 1, and (1 + tanh(1/2))/2 = 73.1%."""
    nobody = Outcome(chance=0.05, used=(0.5,) * 20, error_of_span=0.3)
    strong, weak = (candidate("groupmean", f"epsilon={e}", "kind=pure-dp") for e in (1, 250_000))
    for goal, implied in (
        ("rank1<=2.4x", False),
        ("rank1<=2.6x", True),
        ("gender<=0.73", False),
        ("gender<=0.74", True),
    ):
        told = verdict(strong, goal, nobody)
        assert (told.met, told.clearly, told.guaranteed) == (True, implied, implied)
        # A person who knows all others takes them off, and has the last one.
        told = verdict(weak, goal, nobody)
        assert (told.met, told.clearly, told.guaranteed) == (True, False, False)
        assert told.says.endswith("the last one is inferred with at most 100%")


def test_noisy_means_of_small_groups_are_judged_by_who_is_named(candidate):
    small = candidate("ksame-dp", "k=2", "epsilon=16")
    assert not small.nobodys
    assert verdict(small, "rank1<=2x", outcome(named=0.5)).value == 0.5


def test_limits_over_more_studies_are_closer(candidate):
    mechanism = candidate("gaussian")
    alone = verdict(mechanism, "gender<=0.8")
    four = verdict(mechanism, "gender<=0.8", *[outcome()] * 4)
    assert (alone.value, alone.low, alone.high) == pytest.approx((0.7, 0.5, 0.9))
    assert (four.value, four.low, four.high) == pytest.approx((0.7, 0.6, 0.8))
    assert four.clearly
    assert not alone.clearly


def test_use_is_off_by_its_part_of_the_way_from_guessing(candidate):
    mechanism = candidate("gaussian")
    # Two tasks: guessing gives 0.5, so 0.6 is half of the way to 0.7.
    assert verdict(mechanism, "task>=0.7").off == pytest.approx(0.5)
    assert verdict(mechanism, "task>=0.7", outcome(used=0.4)).off == 1.0
    assert verdict(mechanism, "task>=0.55").clearly


def test_errors_are_off_by_the_part_that_is_too_much(candidate):
    mechanism = candidate("gaussian")
    assert verdict(mechanism, "error<=0.05").off == pytest.approx(0.75)
    mixed = verdict(mechanism, "error<=0.2", *(outcome(error=e) for e in (0.1, 0.12, 0.25)))
    assert mixed.met
    assert not mixed.clearly
    expected = stats.t.interval(0.95, 2, 0.47 / 3, stats.sem([0.1, 0.12, 0.25]))
    assert (mixed.low, mixed.high) == pytest.approx((max(0, expected[0]), expected[1]))
    # One study has no limits, and shows nothing clearly.
    alone = verdict(mechanism, "error<=0.5")
    assert (alone.met, alone.clearly, alone.low, alone.high) == (True, False, None, None)
    assert verdict(mechanism, "error<=0.5", *(outcome(error=e) for e in (0.1, 0.12, 0.11))).clearly


def test_what_was_not_measured_is_not_met(candidate):
    mechanism = candidate("gaussian")
    nothing = Outcome(chance=0.05)
    for goal in ("rank1<=2x", "task>=0.6", "gender<=0.6", "error<=1"):
        told = verdict(mechanism, goal, nothing)
        assert not told.met
        assert told.off == 1.0
        assert told.says.startswith("not measured")


def test_promises_are_judged_without_a_run(candidate):
    mechanism = candidate("gaussian", "epsilon=4")
    assert verdict(mechanism, "epsilon<=4").guaranteed
    assert verdict(mechanism, "epsilon<=1").off == pytest.approx(0.75)
    assert verdict(mechanism, "k>=4").off == 1.0
    assert not verdict(mechanism, "kind=pure-dp").met
    assert verdict(mechanism, "unit=record").met


def test_epsilon_of_a_unit_too_small_is_the_persons(candidate):
    whole = candidate("gaussian", "epsilon=4")
    one, person = whole.promise.guarantee, whole.promise.person_level
    promise = replace(
        whole.promise,
        guarantee=replace(one, unit=Unit.parse("record")),
        person_level=replace(person, epsilon=99.0),
    )
    rows = replace(whole, promise=promise)

    def told(*goals):
        return [v.value for v in judged(rows, [outcome()], goals_of(goals, FACTS)).verdicts]

    assert told("unit=record", "epsilon<=4")[1] == 4.0
    assert told("unit=person", "epsilon<=4")[1] == 99.0
    assert told("epsilon<=4") == [99.0]
