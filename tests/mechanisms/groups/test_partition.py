import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.mechanisms.groups.partition import (
    attribute_of_everybody,
    fewest_values,
    group_sizes,
    most_apart,
    random_groups,
)
from eyelid.privacy import randomness


@given(people=st.integers(2, 60), k=st.integers(2, 60), seed=st.integers(0, 1000))
def test_every_group_has_k_people_and_sizes_are_even(people, k, seed):
    if people < k:
        with pytest.raises(InputError, match=f"k={k} needs at least {k} people, this study has"):
            random_groups(people, k, randomness(seed))
        return
    sizes = np.bincount(random_groups(people, k, randomness(seed)))
    assert sizes.sum() == people
    assert len(sizes) == people // k, "there are as many groups as there can be"
    assert sizes.min() >= k
    assert sizes.max() <= sizes.min() + 1
    assert sorted(sizes) == sorted(group_sizes(people, k))


def test_groups_of_one_are_refused():
    with pytest.raises(InputError, match="k must be at least 2, got 1"):
        group_sizes(20, 1)


def test_every_pair_is_together_equally_often_and_every_group_is_as_likely():
    # 15 pairs and 7 × 2 places, 4000 draws: each is beyond 5 σ with probability 6e-7, so that a
    # sound choice fails here with probability 2e-5 at most. The seed is fixed.
    draws, people, k = 4000, 7, 3
    noise = randomness(3)
    members = np.array([random_groups(people, k, noise) for _ in range(draws)])
    together = (members[:, :, None] == members[:, None, :]).mean(axis=0)
    wanted = (4 * 3 + 3 * 2) / (people * (people - 1))
    error = np.sqrt(wanted * (1 - wanted) / draws)
    assert np.abs(together[np.triu_indices(people, 1)] - wanted).max() < 5 * error
    # Neither a label nor the larger group tells who a person is.
    assert np.abs(members.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(draws)
    larger = (members == (members.sum(axis=1) > people / 2)[:, None]).mean(axis=0)
    assert np.abs(larger - 4 / 7).max() < 5 * 0.5 / np.sqrt(draws)


@given(
    values=st.lists(st.sampled_from("abcd"), min_size=6, max_size=40),
    k=st.integers(2, 6),
    seed=st.integers(0, 100),
)
def test_people_dealt_out_by_an_attribute_have_their_share_in_every_group(values, k, seed):
    member = random_groups(len(values), k, randomness(seed), [values])
    groups = member.max() + 1
    sure = fewest_values(values, groups)
    assert np.bincount(member).min() >= k
    for value in set(values):
        often = np.bincount(member[np.array(values) == value], minlength=groups)
        assert often.max() - often.min() <= most_apart(len(values), k)
    for group in range(groups):
        assert len({v for v, g in zip(values, member, strict=True) if g == group}) >= sure


class Scripted:
    """Randomness that gives one order after the other, and notes how many there were to choose."""

    def __init__(self, script):
        self.script, self.asked = script, []

    def words(self, count):
        self.asked.append(count)
        number = self.script[len(self.asked) - 1] if len(self.asked) <= len(self.script) else 0
        return np.array(list(itertools.permutations(range(count)))[number], dtype=np.uint64)


def all_partitions(values, k):
    """Every way that random orders can put people into groups, each as likely as the others.

    How many orders there are later on depends on the ones before, which weights make up for.
    """
    waiting = [((), Fraction(1))]
    while waiting:
        script, chance = waiting.pop()
        noise = Scripted(script)
        member = random_groups(len(values), k, noise, [values])
        if len(noise.asked) == len(script):
            yield member, chance
            continue
        ways = len(list(itertools.permutations(range(noise.asked[len(script)]))))
        waiting += [((*script, way), chance / ways) for way in range(ways)]


@pytest.mark.parametrize("values", ["aaaab", "aaabb", "aaabc", "aabbc", "aabcd"])
def test_rare_people_do_not_get_the_extra_seats(values):
    # Exact: all that randomness can do is tried.
    larger, fewest = [Fraction(0)] * 5, 5
    for member, chance in all_partitions(values, k=2):
        for person in np.flatnonzero(np.bincount(member)[member] == 3):
            larger[person] += chance
        fewest = min(
            fewest, *(len({values[i] for i in np.flatnonzero(member == g)}) for g in (0, 1))
        )
    assert larger == [Fraction(3, 5)] * 5
    assert fewest == fewest_values(values, 2), "what is sure, and no more"


@given(st.lists(st.sampled_from("abcde"), min_size=4, max_size=14), st.integers(2, 5))
def test_what_every_group_is_sure_of_is_what_the_worst_choice_of_extra_seats_leaves(values, groups):
    assume(len(values) >= 2 * groups)
    often = Counter(values)

    def sure(left):
        frequent = sum(many >= groups for many in left.values())
        return frequent + sum(many for many in left.values() if many < groups) // groups

    worst = min(
        sure(often - Counter(seated))
        for seated in itertools.combinations_with_replacement(sorted(often), len(values) % groups)
        if not Counter(seated) - often
    )
    assert fewest_values(values, groups) == worst


def test_the_first_attribute_comes_first_and_the_next_is_balanced_within_it():
    first = list("aabb" * 4)
    second = list("xyxy" * 4)
    member = random_groups(16, 4, randomness(1), [first, second])
    for group in range(4):
        mine = [(first[i], second[i]) for i in np.flatnonzero(member == group)]
        assert sorted(mine) == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def test_dealing_is_still_random():
    noise = randomness(2)
    seen = {tuple(random_groups(8, 4, noise, [list("ffffmmmm")])) for _ in range(40)}
    assert len(seen) > 20


def test_attributes_must_exist_and_be_known_of_everybody(make_table):
    table = make_table(people=4)
    with pytest.raises(InputError, match="unknown attribute of people 'gender'"):
        attribute_of_everybody(table, "gender")
    table.people.insert_column(1, pl.Series("gender", ["f", "m", " ", "f"]))
    with pytest.raises(InputError, match="person '2' has no gender"):
        attribute_of_everybody(table, "gender")
