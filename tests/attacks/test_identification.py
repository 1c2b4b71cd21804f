"""People are re-identified where there is something to recognise, and only there."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from proofs.watermark import with_low_noise

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.identification import (
    ALPHA,
    Finding,
    beyond_chance,
    identify,
    null_control,
    strongest,
    with_bounds,
)
from eyelid.attacks.protocols import POSITIVE, PROTOCOLS, Material, find_protocol
from eyelid.attacks.statistics import rate_of_decisions
from eyelid.errors import InputError
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness

QUICK = find_attackers(["knn", "lda", "means"])


def released_by(table, seed=3, **how):
    mechanism, noise = mechanism_named(**how), randomness(seed)
    return Material(table, mechanism.apply(table, noise), lambda t: mechanism.apply(t, noise))


def a_finding(right, people, protocol="raw→release"):
    shares = np.zeros(people)
    shares[:right] = 1.0
    return Finding(
        protocol,
        "a person",
        rate_of_decisions(shares, 1 / people),
        None,
        0.5,
        (),
        ((right, people),),
        shares,
        shares,
    )


def test_raw_people_are_named_far_above_chance(simulated_table):
    found = identify(Material(simulated_table), QUICK, [POSITIVE])
    assert strongest(found).rate.rate > 0.6
    assert strongest(found).rate.chance == pytest.approx(1 / 6)
    for finding in found:
        assert finding.rate.low <= finding.rate.rate <= finding.rate.high
        assert finding.cmc[0] == pytest.approx(finding.rate.rate, abs=0.03)
        assert finding.cmc[-1] == 1.0
        assert finding.cmc == tuple(sorted(finding.cmc))


def test_a_person_level_release_gives_nobody_away_beyond_chance(simulated_table):
    material = released_by(simulated_table, name="laplace", epsilon=0.1)
    found = identify(material, QUICK)
    assert {f.protocol for f in found} == {p.name for p in PROTOCOLS}
    assert all(f.rate.low <= 1 / 6 for f in found if f.honest)


def test_averaging_beats_noise_that_hides_single_rows(simulated_table):
    material = released_by(simulated_table, name="gaussian", epsilon=256.0, unit="record")
    found = identify(material, find_attackers(["tree", "means"]), [find_protocol("raw->release")])
    tree, means = (f.rate.rate for f in found)
    assert means > tree


def test_noise_that_runs_through_recordings_is_named_by_the_papers_protocol_alone(make_table):
    """Identical zero signals: whoever is recognised is not a person (THEORY: 1.00)."""
    table = make_table(people=20, recordings=3, rows=60)
    zeros = replace(
        table, data=table.data.with_columns(pl.lit(0.0).alias(name) for name in table.names)
    )
    rng = np.random.default_rng(1)
    material = Material(zeros, with_low_noise(zeros, rng), lambda t: with_low_noise(t, rng))
    found = identify(material, find_attackers(["knn"]))
    rates = {f.protocol: f for f in found}
    assert rates["paper-halves"].rate.rate == 1.0
    assert not rates["paper-halves"].honest
    # Four standard errors of 60 guesses at 1/20.
    assert all(f.rate.rate < 0.05 + 4 * 0.028 for f in found if f.honest)
    (null,) = null_control(material, find_attackers(["knn"]))
    assert null.rate.low <= 0.05


def test_the_null_control_of_raw_data_is_chance(simulated_table):
    null = null_control(Material(simulated_table), QUICK)
    assert all(f.rate.low <= 1 / 6 for f in null)
    assert beyond_chance(null) == []


def test_protocols_that_need_the_mechanism_are_left_out_without_it(simulated_table):
    released = mechanism_named("laplace", epsilon=1.0).apply(simulated_table, randomness(1))
    found = identify(Material(simulated_table, released), find_attackers(["means"]))
    assert {f.protocol for f in found} == {"raw→release", "release→raw", "paper-halves"}


def test_findings_do_not_depend_on_which_thread_is_first(simulated_table, two_cores):
    material = released_by(simulated_table, name="gaussian", epsilon=64.0, unit="record")
    once = identify(material, find_attackers(["forest", "knn"]), seed=5)
    again = identify(material, find_attackers(["forest", "knn"]), seed=5)
    assert [f.rate for f in once] == [f.rate for f in again]


def test_a_protocol_nobody_knows_is_named_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'raw→release'"):
        find_protocol("raw→relase")


def test_a_rate_beyond_its_bound_refutes_and_one_below_does_not():
    bounds = {"raw_to_release": 0.125, "release_to_raw": None}
    found = with_bounds(
        [a_finding(20, 20), a_finding(1, 20), a_finding(20, 20, "paper-halves")], bounds
    )
    assert [f.refutes for f in found] == [True, False, False]
    assert [f.bound for f in found] == [0.125, 0.125, None]


def test_the_best_attacker_does_not_drown_among_many_weak_ones():
    bounds = {"raw_to_release": 0.125}
    weak = [a_finding(1, 20) for _ in range(29)]
    best = a_finding(8, 20, "white-box, same recordings")
    assert with_bounds([*weak, best], bounds)[-1].refutes


def test_decisions_that_share_one_release_count_for_less():
    """All of 4 right from one release at ε → 0 has a chance of 1/24, not of 1/256."""
    bounds = {"raw_to_release": 0.25, "release_to_raw": 0.25}
    one, together = with_bounds([a_finding(4, 4), a_finding(4, 4, "release→raw")], bounds)
    assert one.beyond(0.25) == pytest.approx(1 / 256)
    assert together.beyond(0.25) == pytest.approx(1 / 24)


class Cheat:
    """Goes by what it should not see: owners, or the order of records."""

    name = "cheat"

    def __init__(self, by):
        self.by = by

    def learn(self, known, seed):
        def recognise(shown):
            assert len(shown.owner) == 1
            guess = shown.owner if self.by == "owner" else np.arange(len(shown.owner))
            return np.eye(len(shown.people))[guess % len(shown.people)]

        return recognise


@pytest.mark.parametrize("by", ["owner", "order"])
def test_attackers_from_outside_see_one_record_without_its_owner(simulated_table, by):
    (found,) = identify(Material(simulated_table), [Cheat(by)], [POSITIVE])
    assert found.rate.rate == pytest.approx(1 / 6)


class Odd:
    name = "odd"

    def __init__(self, scores):
        self.scores = scores

    def learn(self, known, seed):
        return lambda shown: self.scores


@pytest.mark.parametrize(
    ("scores", "text"),
    [(np.zeros((1, 5)), "of the form \\(1, 5\\)"), (np.full((1, 6), np.nan), "is no number")],
)
def test_scores_that_are_none_are_refused(simulated_table, scores, text):
    with pytest.raises(InputError, match=text):
        identify(Material(simulated_table), [Odd(scores)], [POSITIVE])


def test_people_of_whom_nothing_is_known_do_not_count(simulated_table):
    """Two have one document only: they cannot be recognised, and are not in the rate."""
    rows = simulated_table.data.filter(
        ~pl.col("person").is_in(["P01", "P02"]) | (pl.col("task") == "comic")
    )
    (found,) = identify(Material(replace(simulated_table, data=rows)), QUICK[:1], [POSITIVE])
    assert found.rate.people == 4
    assert np.isnan(found.shares).sum() == 2


def test_release_to_raw_has_a_bound_of_its_own():
    bounds = {"raw_to_release": 0.125, "release_to_raw": 0.9}
    (found,) = with_bounds([a_finding(18, 20, "release→raw")], bounds)
    assert found.bound == 0.9
    assert not found.refutes


def test_many_comparisons_make_a_single_high_rate_less_telling():
    """8 of 20 at a bound of 1/8: p = 0.0025 alone, not among thirty."""
    bounds = {"raw_to_release": 0.125}
    (alone,) = with_bounds([a_finding(8, 20)], bounds)
    among = with_bounds([a_finding(8, 20), *[a_finding(1, 20) for _ in range(29)]], bounds)
    assert alone.refutes
    assert alone.p_value < ALPHA
    assert not among[0].refutes
    assert among[0].rate.low > 0.125


def test_people_who_lack_a_task_are_judged_by_what_they_have(simulated_table):
    rows = simulated_table.data.filter((pl.col("person") != "P01") | (pl.col("task") != "textbook"))
    found = identify(Material(replace(simulated_table, data=rows)), QUICK, [POSITIVE])
    assert all(np.isfinite(f.rate.rate) for f in found)
    assert strongest(found).rate.rate > 0.5
