"""Rows of figures: the strongest attacker, limits over people, regions, what is unequal."""

import json

import numpy as np
import pytest
from scipy import stats

from eyelid.attacks.outcome import Outcome
from eyelid.attacks.statistics import rate_of_decisions, rate_of_shares
from eyelid.reporting.comparisons.row import RAW, Row, is_constant, rate_of_runs, total_of


def test_the_strongest_attacker_counts_over_all_runs(by_hand):
    # Each is the stronger in one of two runs; b over both.
    runs = tuple(
        Outcome({"a": (a, a, 0.0, 0.0), "b": (b, b, b, b)}, 0.25) for a, b in ((1.0, 0.3), (0.2, 1))
    )
    row = Row(None, runs=runs)
    assert row.attacker == "b"
    assert row.named.rate == pytest.approx(0.65)
    assert row.named.people == 4


def test_people_who_could_not_be_shown_are_not_counted_as_named():
    """One with a single recording made everybody named in every release."""
    shares = (0.0, np.nan, 0.0, 1.0)
    row = Row(None, runs=(Outcome({"a": shares}, 0.25), Outcome({"a": shares}, 0.25)))
    assert row.named.rate == pytest.approx(1 / 3)
    assert row.named.people == 3
    with pytest.raises(ValueError, match="nothing was decided"):
        rate_of_decisions(np.array(shares), 0.25)


@pytest.mark.parametrize("named", [0.0, 0.05, 0.4, 1.0])
def test_limits_of_people_named_are_clopper_and_pearsons(by_hand, named):
    row = by_hand.row("laplace", by_hand.promise(1.0), named, 0.5)
    test = stats.binomtest(round(named * 20), 20)
    for rate, level in ((row.named, 0.95), (row.region(1 / 3)[0], 0.975)):
        exact = test.proportion_ci(level, "exact")
        assert (rate.low, rate.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_a_region_is_wider_than_its_limits_as_student_has_it(by_hand):
    """The bootstrap of a mean is near to Student's interval, at both levels."""
    shares = np.random.default_rng(1).normal(0.5, 0.1, 40)
    row = Row(None, runs=(Outcome(used=tuple(shares)),))
    wide = stats.sem(shares)
    for rate, level in ((row.used(0.5), 0.95), (row.region(0.5)[1], 0.975)):
        expected = stats.t.interval(level, 39, shares.mean(), wide)
        assert (rate.low, rate.high) == pytest.approx(expected, abs=0.15 * wide)


def test_a_region_holds_both_true_values_at_once_in_95_of_100_studies():
    """500 studies of 20 people; fewer than 460 have a chance below 0.1% at a coverage of 95%."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(500):
        skill = rng.random(20)
        # Whoever is easily named is easily recognised: the two hang together.
        named = tuple((skill < 0.3).astype(float))
        used = tuple(np.clip(0.6 - 0.3 * (skill - 0.5) + rng.normal(0, 0.05, 20), 0, 1))
        row = Row(None, runs=(Outcome({"means": named}, 0.05, used),))
        x, y = row.region(1 / 3)
        held += x.low <= 0.3 <= x.high and y.low <= 0.6 <= y.high
    assert held >= 460


def test_nobodys_record_is_told_from_an_attack_that_could_not_be_tried(by_hand):
    from eyelid.privacy.unit import Trust

    means = by_hand.row("groupmean", by_hand.promise(1.0, trust=Trust.CENTRAL), None, 0.5)
    untried = by_hand.row("laplace", by_hand.promise(1.0), None, 0.5)
    assert (means.nobodys, untried.nobodys) == (True, False)
    assert means.named is untried.named is None


def test_what_a_setting_makes_public_is_not_inferred(by_hand):
    means = by_hand.row("groupmean", by_hand.promise(1.0), None, 0.5, by="gender, age")
    assert [means.shows(name) for name in ("gender", "age", "gen")] == [True, True, False]
    assert (means.inferred("age"), means.inferred("gen")) == ((1.0, 1.0, 1.0), None)


def test_unequal_promises_are_said_and_equal_ones_not(by_hand):
    person, record = by_hand.promise(1.0), by_hand.promise(1.0, person=300.0)
    same = by_hand.comparison(
        by_hand.row("laplace", person, 0.1, 0.4), by_hand.row("dct", person, 0.1, 0.4)
    )
    assert same.unequal == ""
    other = by_hand.comparison(
        by_hand.row("laplace", person, 0.1, 0.4), by_hand.row("laplace", record, 0.1, 0.4)
    )
    assert "2 different promises to a person" in other.unequal
    assert other.unequal in other.notes
    assert [total_of(row.promise) for row in other.rows] == ["ε = 1", "ε = 300"]


def test_figures_of_real_people_carry_a_warning_and_of_made_up_ones_not(by_hand):
    assert any("no certificate covers" in note for note in by_hand.comparison().notes)
    simulated = by_hand.comparison(simulated=True)
    assert not any("no certificate covers" in note for note in simulated.notes)


def test_the_table_is_plain_values_with_the_raw_data_first(by_hand):
    skipped = Row(by_hand.row("seeded", by_hand.promise(1.0), 0.1, 0.4).setting, skipped="too few")
    done = by_hand.comparison(by_hand.row("ksame", by_hand.among(4), 0.25, 0.8, k=4), skipped)
    table = json.loads(done.to_json())["rows"]
    assert [line["setting"] for line in table] == [RAW, "ksame, k = 4", "seeded"]
    assert table[1]["rank1_bound"] == 0.25
    assert table[2]["skipped"] == "too few"
    assert table[2]["person_total"] is None
    assert done.frame["runs"].to_list() == [1, 1, 0]


PEOPLE = 20


def studies(rng, runs, shared, own=0.05):
    """Shares around 0.5: what people differ in, what a draw does to all, what it does to each."""
    who = rng.normal(0, 0.05, (1, PEOPLE))
    return 0.5 + who + rng.normal(0, shared, (runs, 1)) + rng.normal(0, own, (runs, PEOPLE))


def held(limits, runs=3, shared=0.1, times=400):
    """In how many of so many studies the limits hold the truth."""
    rng = np.random.default_rng(5)
    found = (limits(studies(rng, runs, shared)) for _ in range(times))
    return sum(rate.low <= 0.5 <= rate.high for rate in found)


def test_three_draws_that_serve_everybody_hold_the_truth_in_95_of_100_studies():
    """Of 400 fewer than 365 hold it with a chance below 0.1% at a coverage of 95%."""
    assert held(lambda shares: rate_of_runs(shares, 1 / 3, one_for_all=True)) >= 365
    # Over people alone, as if each had noise of their own, they do not.
    assert held(lambda shares: rate_of_shares(shares.mean(axis=0), 1 / 3), times=100) < 60


def test_noise_of_ones_own_leaves_limits_about_as_wide_as_over_people():
    rng = np.random.default_rng(2)
    wider = []
    for _ in range(30):
        shares = studies(rng, 5, 0.0)
        over_people = rate_of_shares(shares.mean(axis=0), 1 / 3)
        found = rate_of_runs(shares, 1 / 3)
        wider.append((found.high - found.low) / (over_people.high - over_people.low))
    assert np.median(wider) < 1.1


def test_where_people_are_alike_but_for_the_draw_limits_are_students():
    means = np.array([0.42, 0.5, 0.55])
    shares = means[:, None] + np.tile([-1e-6, 1e-6], PEOPLE // 2)
    expected = stats.t.interval(0.95, 2, means.mean(), stats.sem(means))
    found = rate_of_runs(shares, 1 / 3, one_for_all=True)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-4)


def test_always_the_same_answer_has_no_spread_and_everybody_right_has():
    third = np.full((2, PEOPLE), 1 / 3)
    assert is_constant(third, 1 / 3)
    same = rate_of_runs(third, 1 / 3)
    assert same.low == same.rate == same.high
    right = np.ones((1, PEOPLE))
    assert not is_constant(right, 1 / 3)
    assert rate_of_runs(right, 1 / 3).low == pytest.approx(0.025 ** (1 / PEOPLE))
