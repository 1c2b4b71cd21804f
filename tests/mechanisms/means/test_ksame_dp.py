"""Noisy means over random groups: who is in them, what they cost and hide, what breaks them."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyelid
from eyelid.attacks.means import audit_means
from eyelid.attacks.residuals import examine
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io.release_folder import output_digest
from eyelid.mechanisms import PublicFacts, find, mechanism_named
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.privacy import PERSON, gaussian_sigma, randomness
from eyelid.privacy.unit import Trust
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.kinds import canary_audit
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz

pytestmark = pytest.mark.usefixtures("quick_audits", "no_pictures")

FEATURES = (Feature("rate", "1/s", "", 0.0, 10.0), Feature("pupil", "mm", "", 1.5, 9.0))
LOWERS, SPANS = np.array([0.0, 1.5]), np.array([10.0, 7.5])


def build(k=3, epsilon=1.0, **parameters):
    return mechanism_named("ksame-dp", epsilon=epsilon, k=k, **parameters)


def people_of(people=11, recordings=2, rows=6, seed=0):
    values = np.random.default_rng(seed).random((people, recordings, rows, 2))
    table = table_from_arrays(LOWERS + SPANS * values, FEATURES)
    gender = pl.Series("gender", ["f", "m"] * people)[:people]
    return replace(table, people=table.people.with_columns(gender)), values


def members(mechanism, table, seed):
    """Who was in which group when a release was made with this seed."""
    return mechanism.partition(table, randomness(seed)).member


@pytest.mark.parametrize("inner", ["laplace", "dct:k=6"])
def test_next_to_no_noise_gives_the_means_of_the_same_groups_in_every_task(inner):
    table, values = people_of()
    mechanism = build(epsilon=1e7 if inner == "laplace" else 1e4, inner=inner)
    released = mechanism.apply(table, randomness(7))
    member = members(mechanism, table, 7)
    expected = [values[member == group].mean(axis=0) for group in range(3)]
    shown = (released.data.select(table.names).to_numpy() - LOWERS) / SPANS
    # At ε = 10⁴ noise on the sum of three is about 0.02 spans.
    assert np.abs(shown - np.concatenate(expected).reshape(-1, 2)).max() < 0.05
    assert released.data["task"].unique().sort().to_list() == ["0", "1"]


def test_one_made_up_person_a_group_says_how_many_they_are():
    table, _ = people_of(people=11)
    released = build(k=3).apply(table, randomness(2))
    assert released.people["person"].to_list() == ["group1", "group2", "group3"]
    assert sorted(released.people["people"]) == [3, 4, 4]
    assert released.people.columns == ["person", "people"]
    assert len(released.recordings) == 6
    # Which of them is the smallest is left to chance, too.
    smallest = {
        build(k=3).apply(table, randomness(seed)).people["people"].arg_min() for seed in range(20)
    }
    assert smallest == {0, 1, 2}


def test_who_lacks_a_recording_or_a_value_counts_with_the_midpoint():
    table, values = people_of()
    gone = (pl.col("person") == "4") & (pl.col("task") == "1")
    short = (pl.col("person") == "6") & (pl.col("time_ms") >= 1000)
    less = replace(table, data=table.data.filter(~gone & ~short))
    filled = values.copy()
    filled[4, 1], filled[6, :, 2:] = 0.5, 0.5
    mechanism = build(epsilon=1e7, inner="laplace", length=6)
    shown = mechanism.apply(less, randomness(3)).data.select(table.names).to_numpy()
    member = members(mechanism, table, 3)
    expected = np.stack([filled[member == group].mean(axis=0) for group in range(3)])
    assert np.abs((shown - LOWERS) / SPANS - expected.reshape(-1, 2)).max() < 1e-3
    assert mechanism.unprotected(table) == mechanism.unprotected(less)


def test_a_persons_whole_vector_over_all_tasks_is_clipped_at_once():
    _, values = people_of(people=3, recordings=3)
    facts = PublicFacts(3, 3, 6, 2)
    mechanism = build(inner="dct:k=6:radius=0.2")
    most = 0.2 * np.sqrt(3 * 6 * 2)
    found = (
        mechanism.rebuild(mechanism.integers(values, facts) * mechanism.step(facts), facts) - 0.5
    )
    for mine, own in zip(found, values - 0.5, strict=True):
        norm = np.linalg.norm(own)
        assert norm > most
        assert np.allclose(mine, own * (most / norm), atol=1e-6)


def test_noise_on_a_mean_is_that_of_the_diameter_over_the_size():
    # σ_AG(4, 1e-5) = 1.0812 for a sensitivity of one.
    mechanism = build(k=5, epsilon=4.0, delta=1e-5, inner="dct:k=6:radius=0.2", clipped=False)
    facts = PublicFacts(10, 3, 6, 2)
    diameter = 2 * 0.2 * np.sqrt(3 * 6 * 2)
    sigma = gaussian_sigma(4.0, 1e-5, diameter) / 5
    assert sigma == pytest.approx(1.0812 * diameter / 5, rel=1e-4)
    # Clipping at 0.2 may cost whoever is at a bound, half a span away, the other 0.3.
    assert mechanism.expected_rmse_of_span(facts) == pytest.approx(np.hypot(sigma, 0.3), rel=1e-4)
    table, _ = people_of(people=400, recordings=3)
    groups = mechanism.partition(table, randomness(1))
    noisy = mechanism.noisy_means(table, groups, randomness(2)).data.select(table.names).to_numpy()
    left = (noisy - mechanism.exact(table, groups).data.select(table.names).to_numpy()) / SPANS
    # 80 groups of 36 draws: 6% is four and a half standard errors.
    assert np.std(left) == pytest.approx(sigma, rel=0.06)


def test_it_costs_what_one_person_costs_and_k_adds_nothing():
    facts = PublicFacts(people=20, recordings=3, length=60, features=4)
    alone = mechanism_named("dct", epsilon=2.0).cost(facts, PERSON)
    for k in (2, 8, 20):
        said = build(k=k, epsilon=2.0).cost(facts, PERSON)
        assert said == replace(alone, trust=Trust.CENTRAL)
        assert said.k is None
    assert "adds nothing" in build(k=8).person_total(facts)


def test_the_error_falls_as_the_smallest_group_grows():
    facts = PublicFacts(people=100, recordings=3, length=60, features=4)
    few, many = (build(k=k).expected_rmse_of_span(facts) for k in (5, 50))
    assert few == pytest.approx(10 * many)
    # Nine groups of 11 and 12.
    assert build(k=11).smallest(facts) == 11
    quote = eyelid.cost("ksame-dp", people=100, recordings=3, features=4, length=60, epsilon=1, k=5)
    assert quote.expected.value == pytest.approx(few)


def test_the_figures_of_the_proof_note_are_true():
    facts = PublicFacts(people=1000, recordings=3, length=600, features=52)
    for k in (8, 100):
        mechanism = build(k=k, epsilon=4.0)
        assert f"{k * mechanism.expected_rmse_of_span(facts):.0f}/k spans" in str(mechanism.note)
        assert f"mean by {k * mechanism.expected_mean_rmse_of_span(facts):.0f}/k" in str(
            mechanism.note
        )
    # From hundreds on a recording's mean is relied on rather than a constant.
    assert [
        eyelid.cost(
            build(k=k, epsilon=4.0), people=1000, recordings=3, features=52, length=600
        ).expected.informative
        for k in (100, 200)
    ] == [False, True]


@given(st.integers(2, 30), st.integers(0, 30), st.integers(0, 2**32), st.booleans())
def test_groups_have_k_people_and_do_not_know_anybodys_gaze(k, more, seed, balanced):
    table, _ = people_of(people=k + more, recordings=1, rows=1)
    other, _ = people_of(people=k + more, recordings=2, rows=2, seed=1)
    mechanism = build(k=k, balance="gender" if balanced else None)
    groups = mechanism.partition(table, randomness(seed))
    assert np.bincount(groups.member).tolist() == groups.people["people"].to_list()
    assert groups.sizes.min() == mechanism.smallest(mechanism.facts(table)) >= k
    assert np.array_equal(groups.member, members(mechanism, other, seed))


hostile = st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 10.0])


@given(st.lists(hostile, min_size=24, max_size=24), st.integers(0, 10), st.booleans())
def test_one_person_moves_one_sum_no_farther_than_is_declared(values, who, gone):
    table, _ = people_of()
    mechanism = build(length=6, inner="dct:k=6:radius=0.3")
    mine = table.data["person"] == str(who)
    flat = table.data.select(table.names).to_numpy().copy()
    flat[mine.to_numpy()] = np.array(values).reshape(12, 2)
    data = table.data.with_columns(pl.Series("rate", flat[:, 0]), pl.Series("pupil", flat[:, 1]))
    if gone:
        data = data.filter(~(mine & (table.data["task"] == "1")))
    facts = mechanism.facts(table)
    one, two = (
        mechanism.sums(t, mechanism.partition(t, randomness(4)), facts)
        for t in (table, replace(table, data=data))
    )
    moved = mechanism.distance((one - two).reshape(3, -1))
    assert np.count_nonzero(moved) <= 1
    assert moved.max() <= mechanism.sensitivity(facts, PERSON) * (1 + 1e-12)


@pytest.mark.parametrize("number", range(2))
def test_games_fuzz_and_noise_hold(number):
    mechanism = list(find("ksame-dp").set_for_games())[number]
    # α = 1e-6 for games; residuals refute a sound mechanism once in a million.
    assert not play(mechanism, PERSON, 3_000, randomness(number)).refuted
    assert 0.95 < fuzz(mechanism, PERSON, 512).reached <= 1
    assert not examine(mechanism, randomness(number)).refuted


OWN = ("clip", "task", "2B", "sizes", "others' mean", "groups of", "exact")


@pytest.mark.parametrize(
    "fault",
    [f for f in mutants_of(find("ksame-dp")) if any(word in f.name for word in OWN)],
    ids=lambda f: f.name,
)
def test_planted_faults_are_caught(fault):
    # Those that any mean can have are planted in `groupmean`.
    assert fault.caught(6_000 if "each task" in fault.name else 2_000, randomness(4))


def test_what_is_not_protected_names_sizes_and_nobody():
    table, _ = people_of(people=11)
    said = build(k=3).unprotected(table)
    assert "how many people each group has (4, 4, 3), which follows from their number and k" in said
    assert not any("who is in" in one for one in said)
    told = build(k=3, balance="gender").unprotected(table)[-1]
    assert told == (
        "that people who share gender are spread over the groups: "
        "two groups differ by at most 2 of them"
    )


def test_balance_gives_every_group_its_share():
    table, _ = people_of(people=12)
    member = members(build(k=4, balance="gender"), table, 5)
    women = np.bincount(member, weights=table.people["gender"] == "f")
    assert women.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"k": 1}, "k must be at least 2, got 1: nobody is hidden in a group of fewer than two"),
        ({"k": 12}, "k=12 needs at least 12 people, this study has 11: choose k ≤ 11"),
        ({"balance": "shoe"}, "shoe"),
        ({"unit": "recording"}, "does not offer the unit 'recording'"),
        ({"inner": "ksame-dp"}, "cannot be inside"),
        ({"by": "gender"}, "by"),
    ],
)
def test_what_cannot_be_released_is_refused_before_anything_is_spent(parameters, text):
    table, _ = people_of()
    with pytest.raises(EyelidError, match=text):
        eyelid.release(table, mechanism="ksame-dp", epsilon=1.0, **{"k": 3} | parameters)


def test_k_must_be_given_and_fit_without_a_study():
    with pytest.raises(InputError, match="ksame-dp needs k"):
        mechanism_named("ksame-dp", epsilon=1.0)
    with pytest.raises(InputError, match="k=30 needs at least 30 people"):
        build(k=30).cost(PublicFacts(20, 3, 60, 4), PERSON)


def test_a_release_is_certified_told_and_audited():
    table, _ = people_of(people=12, rows=4)
    made = eyelid.release(table, mechanism="ksame-dp", epsilon=2.0, k=4)
    assert made.certificate.guarantee.holds
    assert made.certificate.guarantee.k is None
    assert "into 3 groups" in made.certificate.noise["sampler"]
    assert not audit(table, made).refuted
    mechanism = build(k=4, epsilon=2.0)
    bare = mechanism.exact(table, mechanism.partition(table, randomness(9)))
    bare = replace(bare, origin=None, released=True)
    forged = replace(made.certificate, output_sha256=output_digest(bare))
    found = audit(table, replace(made, held=bare, certificate=forged))
    assert any("next to no noise" in said for said in found.refuted)


def test_an_audit_draws_groups_of_its_own():
    table, values = people_of(people=12, rows=4)
    mechanism = build(k=4, epsilon=1e4, clipped=False)
    found = audit_means(mechanism, table, table, mechanism.apply(table, randomness(1)))
    assert found.redrawn
    assert found.sizes == [("group1", 4), ("group2", 4), ("group3", 4)]
    # Against any other groups the means would be off by how much people differ.
    assert found.error.rmse_of_span < 0.1 < values.std() / 2


def test_canaries_pass_unharmed_and_tell_when_noise_is_missing(monkeypatch):
    mechanism = build(k=8, inner="laplace")
    assert not canary_audit(mechanism, people=400, seed=1).refuted
    sound = MeanMechanism.perturb
    monkeypatch.setattr(
        MeanMechanism,
        "perturb",
        lambda self, sums, facts, noise: sums + (sound(self, sums, facts, noise) - sums) // 4,
    )
    assert canary_audit(mechanism, people=400, seed=1).refuted


def test_real_readers_in_groups_of_eight(real_windows):
    mechanism = build(k=8, epsilon=4.0)
    facts = mechanism.facts(real_windows)
    assert (facts.people, facts.recordings, facts.smallest) == (20, 3, 10)
    released = mechanism.apply(real_windows, randomness(1))
    assert released.people["people"].to_list() == [10, 10]
    # Honest: 20 people and so many features leave nothing to see.
    assert mechanism.expected_rmse_of_span(facts) > 1
    assert "almost no information" in eyelid.cost(mechanism, real_windows).to_dict()["says"]
