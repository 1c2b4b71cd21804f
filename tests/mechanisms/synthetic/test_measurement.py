"""The rounds, one after the other's noise: what is asked is read off noisy answers alone."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from eyelid.mechanisms.differential import SCALE, Integers
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.rounds import Round
from eyelid.mechanisms.synthetic.sequences import Sequences, lags_of
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import Randomness, randomness

BINS = 8
SHAPE = PublicFacts(6, 2, 3, 3, window=1)
TREE = (-1, 0, 1)


def crowd(seed: int = 0, groups: int = 1, people: int = 6) -> Sequences:
    rng = np.random.default_rng(seed)
    size = (people, 2, 3, 1 + len(lags_of(1)), 3)
    lengths = rng.choice([0, 5, 40], (people, 2))
    codes = rng.integers(0, BINS + 1, size)
    codes[lengths == 0] = BINS
    return Sequences(codes.astype(np.uint8), lengths, BINS, np.arange(people) % groups)


def measurement(pairs: str = "private", epsilon: float = 4.0) -> Measurement:
    mechanism = Synthetic(epsilon=epsilon, delta=1e-5, bins=BINS, records=3, carry=3, pairs=pairs)
    return mechanism.measurement(SHAPE)


def excess(made: Measurement, answers: Answers, people: Sequences) -> list[np.ndarray]:
    """What was added to each round, judging by what it should have asked after those before."""
    facts = made.facts
    by_quarter = made.quarters(answers.levels)
    by_half = made.halves(answers.levels, answers.shares)
    added = [
        answers.levels - made.levels.total(people, facts),
        answers.shares - made.shares.total(people, facts, by_quarter),
        answers.signs - made.along(people, answers.parents, by_half),
    ]
    if made.choice is not None:
        added.append(answers.choice - made.choice.total(people, facts, by_half))
    return added


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("pairs", ["public", "private"])
def test_every_answer_has_gaussian_noise_of_one_scale_and_nothing_else(pairs, groups):
    """Kolmogorov-Smirnov; a right one would fail one time in a thousand, the seed is fixed."""
    from scipy.stats import kstest

    made, people = measurement(pairs), crowd(groups=groups)
    answers = made.measured(people, TREE, randomness(1), (40,))
    for added in excess(made, answers, people):
        assert kstest(added.ravel() / SCALE, "norm").pvalue > 0.001


def deaf(mechanism: Round, seed: int) -> Round:
    """The same, with answers that have nothing to do with any person."""

    class Deaf(type(mechanism)):  # type: ignore[misc]
        def perturb(self, integers: Integers, facts: PublicFacts, noise: Randomness) -> Integers:
            some = np.random.default_rng(seed).integers(-6, 12, integers.shape)
            return some * self.whole(facts)

    return Deaf(**{item.name: getattr(mechanism, item.name) for item in fields(mechanism)})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("before", ["levels", "shares", "choice"])
def test_what_is_asked_follows_answers_and_never_people(before, seed):
    """Whatever was answered, later rounds ask by it; one row would be 100 times their noise."""
    made, people = measurement(epsilon=1e8), crowd(seed, groups=2)
    made = replace(made, **{before: deaf(getattr(made, before), seed)})
    answers = made.measured(people, TREE, randomness(seed), (2,))
    rounds = [
        mechanism for mechanism in (made.levels, made.shares, made.signs, made.choice) if mechanism
    ]
    for mechanism, added in zip(rounds, excess(made, answers, people), strict=True):
        if mechanism is not getattr(made, before):
            assert mechanism.each(made.facts, 6) > 100 * SCALE
            assert np.abs(added).max() < 7 * SCALE


def test_answers_without_runs_have_no_axis_in_front():
    made = measurement()
    found = made.measured(crowd(groups=2), TREE, randomness(2))
    assert found.levels.shape == (3 * BINS // 2,)
    assert found.shares.shape == (2, made.shares.cells(made.facts))
    assert found.choice.shape == (3,)
    assert found.parents.shape == (3,)
    assert found.signs.shape == (made.signs.cells(made.facts),)


def test_what_is_asked_is_the_same_for_many_runs_and_for_each():
    made, people = measurement(), crowd(groups=2)
    found = made.measured(people, TREE, randomness(3), (5,))
    together = made.halves(found.levels, found.shares)
    along = made.along(people, found.parents, together)
    for run in range(5):
        levels, shares = found.levels[run], found.shares[run]
        assert (made.quarters(found.levels)[run] == made.quarters(levels)).all()
        assert (together[run] == made.halves(levels, shares)).all()
        assert (found.parents[run] == made.trees(found.choice[run])).all()
        assert (along[run] == made.along(people, found.parents[run], together[run])).all()


def test_the_private_tree_is_the_strongest_of_the_noisy_pairs():
    from scipy.sparse.csgraph import minimum_spanning_tree

    made = measurement()
    choice = np.random.default_rng(4).integers(-(10**6), 10**6, (20, 3))
    for strengths, parents in zip(np.abs(choice), made.trees(choice), strict=True):
        table = np.zeros((3, 3))
        table[np.triu_indices(3, 1)] = 2 * 10**6 - strengths
        ours = sum(table[min(c, p), max(c, p)] for c, p in enumerate(parents) if c)
        assert ours == minimum_spanning_tree(table).sum()


def test_with_a_public_tree_nothing_is_chosen():
    made = measurement("public")
    found = made.measured(crowd(), TREE, randomness(5), (4,))
    assert made.choice is None
    assert found.choice.shape == (4, 0)
    assert (found.parents == TREE).all()


def test_one_feature_has_no_pairs_to_choose_from():
    one = Synthetic(epsilon=4.0, delta=1e-5, bins=BINS, records=3, carry=1, pairs="private")
    made = one.measurement(SHAPE)
    assert made.choice is None
    assert sum(mechanism.share for mechanism in made.rounds) == pytest.approx(1.0)


@pytest.mark.parametrize("pairs", ["public", "private"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
def test_the_rounds_together_are_worth_epsilon_and_delta(pairs, epsilon):
    """By the formula of the Gaussian mechanism (Balle & Wang 2018), from the reaches themselves."""
    from scipy.stats import norm

    made = measurement(pairs, epsilon)
    mu = math.sqrt(
        sum(
            (mechanism.reach(made.facts) * mechanism.whole(made.facts) / SCALE) ** 2
            for mechanism in made.rounds
        )
    )
    tail = norm.logcdf(-mu / 2 - epsilon / mu)
    delta = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + tail)
    assert 0.999e-5 < delta <= 1e-5


def test_how_likely_answers_are_is_the_density_of_their_noise():
    made, people = measurement(), crowd()
    answers = made.measured(people, TREE, randomness(6), (7,))
    wanted = sum(
        -((added.reshape(7, -1) / SCALE) ** 2 / 2 + math.log(SCALE * math.sqrt(2 * math.pi))).sum(
            axis=1
        )
        for added in excess(made, answers, people)
    )
    assert made.log_mass(answers, people) == pytest.approx(wanted, rel=1e-9)


def test_answers_that_were_listed_are_the_same_again():
    made = measurement()
    answers = made.measured(crowd(), TREE, randomness(10), (3,))
    again = made.unlisted(answers.listed())
    for name in ("levels", "shares", "choice", "parents", "signs"):
        assert (getattr(again, name) == getattr(answers, name)).all()


def test_a_number_of_people_with_a_task_is_read_off_the_shares():
    made = measurement(epsilon=1e6)
    people = crowd(groups=2, people=30)
    # Nothing is missing but tasks.
    codes = np.where(people.codes == BINS, 3, people.codes)
    codes[people.lengths == 0] = BINS
    people = replace(people, codes=codes.astype(np.uint8))
    answers = made.measured(people, TREE, randomness(7))
    there = [(people.lengths[people.group == group] > 0).sum(axis=0) for group in range(2)]
    found = made.people_with(answers.shares)
    assert found == pytest.approx(np.broadcast_to(np.array(there)[..., None], found.shape), abs=0.1)


def test_distributions_are_those_of_each_group_and_task_without_noise():
    """By eighths of the whole; within an eighth a task is taken to be as all tasks are."""
    made = measurement(epsilon=1e8)
    people = crowd(seed=8, groups=2, people=40)
    answers = made.measured(people, TREE, randomness(9))
    found = made.distributions(answers.levels, answers.shares)
    quarter = made.quarters(answers.levels)
    assert found.sum(axis=-1) == pytest.approx(1.0)
    for group, task, feature in np.ndindex(2, 2, 3):
        mine = people.codes[people.group == group, task, :, 0, feature].ravel()
        parts = np.bincount(quarter[feature, mine], minlength=9)[:8]
        got = np.bincount(quarter[feature, :-1], weights=found[group, task, feature], minlength=8)
        assert got == pytest.approx(parts / parts.sum(), abs=0.06)
