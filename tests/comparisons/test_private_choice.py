"""A choice by votes costs a person ε, and shows nothing else: fuzz, game, planted faults."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eyelid.comparisons.private_choice import FEWEST_IN_BLOCK, PrivateChoice
from eyelid.errors import InputError
from eyelid.privacy.noise import randomness
from eyelid.verification.game import ALPHA, _lower_bound

POISON = -1


class ByData(PrivateChoice):
    """Fault: blocks are made of people who are alike."""

    def parted(self, people, noise):
        order = sorted(people, key=lambda person: person[1])
        return [order[b * 8 : (b + 1) * 8] for b in range(self.blocks)]


class Twice(PrivateChoice):
    """Fault: everybody is in two blocks."""

    def parted(self, people, noise):
        blocks = super().parted(people, noise)
        return [one + other for one, other in zip(blocks, blocks[1:] + blocks[:1], strict=True)]


class NotHalved(PrivateChoice):
    """Fault: weights are exp(ε·votes)."""

    def many(self, votes, runs, noise):
        return PrivateChoice(2 * self.epsilon, self.candidates, self.people).many(
            votes, runs, noise
        )


def vote(block):
    """Any function of a block's data: a candidate, or none where a person makes the run fail."""
    if any(value == POISON for _, value in block):
        return None
    told = hashlib.sha256(str(sorted(block)).encode()).digest()
    return told[0] % 5


def moved(mechanism, values, who, value, seed):
    """How votes change when one person's data are replaced, the coins being the same."""
    counts = []
    for changed in (values, [*values[:who], value, *values[who + 1 :]]):
        people = list(enumerate(changed))
        blocks = mechanism.parted(people, randomness(seed))
        counts.append(mechanism.votes(blocks, vote))
    return counts[1] - counts[0]


def too_far(change):
    """One count up by one and one down by one, at most."""
    return np.abs(change).max() > 1 or (change > 0).sum() > 1 or (change < 0).sum() > 1


studies = st.lists(st.integers(POISON, 6), min_size=16, max_size=50)


@given(studies, st.integers(0, 15), st.integers(POISON, 6), st.integers(0, 9))
@example([3] * 40, 0, POISON, 1)
@example([POISON] * 16, 5, 2, 1)
def test_a_replaced_person_moves_one_vote(values, who, value, seed):
    mechanism = PrivateChoice(1.0, 5, len(values))
    assert not too_far(moved(mechanism, values, who, value, seed))


@pytest.mark.parametrize("fault", [ByData, Twice])
def test_the_fuzz_finds_people_who_move_more(fault):
    rng = np.random.default_rng(1)
    mechanism = fault(1.0, 5, 40)
    tried = (
        moved(mechanism, rng.integers(0, 7, 40).tolist(), int(rng.integers(40)), 6, 1)
        for _ in range(200)
    )
    assert any(too_far(change) for change in tried)


@given(st.integers(16, 90), st.integers(0, 99))
def test_everybody_is_in_one_block_of_enough(people, seed):
    mechanism = PrivateChoice(1.0, 3, people)
    blocks = mechanism.parted([str(n) for n in range(people)], randomness(seed))
    assert sorted(name for block in blocks for name in block) == sorted(map(str, range(people)))
    sizes = {len(block) for block in blocks}
    assert min(sizes) >= FEWEST_IN_BLOCK
    assert max(sizes) - min(sizes) <= 1


def certified(mechanism, claimed):
    """What 100 000 draws a side prove of the loss between the worst neighbours; error rate 1e-6."""
    runs = 200_000
    one, other = np.array([0, 8, 0]), np.array([1, 7, 0])
    drawn = [
        mechanism.many(votes, runs, randomness(seed)) for seed, votes in enumerate((one, other))
    ]
    null, alternative = ((choices == 0).astype(float) for choices in drawn)
    claim = replace(mechanism.guarantee, epsilon=claimed)
    return max(
        _lower_bound(null, alternative, claim, ALPHA / 2),
        _lower_bound(-alternative, -null, claim, ALPHA / 2),
    )


def test_the_choice_costs_what_it_says_and_not_much_less():
    assert 0.7 < certified(PrivateChoice(1.0, 3, 64), 1.0) <= 1.0


def test_the_game_finds_a_weight_that_is_not_halved():
    assert certified(NotHalved(0.5, 3, 64), 0.5) > 0.5


def test_chances_are_those_of_the_exponential_mechanism():
    """Chi-square over 50 000 draws; false alarms 1e-6, the seed is fixed."""
    from scipy.special import softmax
    from scipy.stats import chisquare

    votes = np.array([3, 1, 0, 4])
    drawn = PrivateChoice(1.5, 4, 64).many(votes, 50_000, randomness(2))
    wanted = softmax(1.5 * votes / 2) * drawn.size
    assert chisquare(np.bincount(drawn, minlength=4), wanted).pvalue > 1e-6


def test_how_sure_a_choice_can_be_is_known_before():
    """Against plain enumeration of the weights of a unanimous vote."""
    mechanism = PrivateChoice(2.0, 6, 40)
    weights = np.exp(2.0 * np.array([5, 0, 0, 0, 0, 0]) / 2)
    assert mechanism.blocks == 5
    assert mechanism.sure == pytest.approx(weights[0] / weights.sum())
    at = replace(mechanism, epsilon=mechanism.epsilon_needed)
    assert at.sure == pytest.approx(0.5)
    at.check()
    enough = PrivateChoice(0.3, 6, PrivateChoice(0.3, 6, 20).people_needed)
    enough.check()
    with pytest.raises(InputError):
        replace(enough, people=enough.people - FEWEST_IN_BLOCK).check()


def test_hardly_more_than_a_lot_is_refused():
    with pytest.raises(InputError, match=r"takes `tuning_epsilon=1\.61`, or 32 people"):
        PrivateChoice(1.0, 6, 20).check()
    with pytest.raises(InputError, match="5 people make 0 blocks"):
        PrivateChoice(9.0, 6, 5).check()
    with pytest.raises(InputError, match="epsilon must be positive"):
        PrivateChoice(-1.0, 6, 20)


def test_any_epsilon_stays_within_integers():
    votes = np.array([0, 1000])
    assert PrivateChoice(1e12, 2, 8000).chosen(votes, randomness(1)) == 1
