import numpy as np
import pytest
from tests.mechanisms.gaze.test_synthetic_gaze import NAMES, crowd, facts

from eyelid.errors import InputError
from eyelid.gaze.generator.parameters import parameter
from eyelid.mechanisms.gaze.ksame_gaze import KSameGaze
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON


def test_groups_are_means_of_their_members_without_noise():
    known, made = facts(7), KSameGaze(k=3, cells=6)
    people = crowd(7, known, made.bought(known).grid.cells)
    member = made.partition(7, randomness(1))
    portraits = made.portraits(made.averaged(people, known, member), known)
    assert sorted(each.people for each in portraits) == [3, 4]
    for group, portrait in enumerate(portraits):
        mine = people.some(np.flatnonzero(member == group))
        for task in range(2):
            for number, name in enumerate(NAMES):
                truth = parameter(name).scaled(mine.values[:, task, number]).mean()
                assert portrait.means[task][name] == pytest.approx(truth, abs=1e-6)
        shares = mine.looks / mine.looks.sum(axis=2, keepdims=True)
        assert portrait.places[0].ravel() == pytest.approx(shares[:, 0].mean(axis=0), abs=1e-6)


def test_a_group_is_the_same_to_the_last_digit_in_any_order_of_members():
    known, made = facts(6), KSameGaze(k=3, cells=6)
    people = crowd(6, known, made.bought(known).grid.cells)
    member = np.array([0, 1, 0, 1, 0, 1])
    order = np.array([4, 5, 0, 1, 2, 3])
    one, other = (
        made.averaged(people, known, member),
        made.averaged(people.some(order), known, member),
    )
    for mine, theirs in zip(
        (*one.numbers, *one.places), (*other.numbers, *other.places), strict=True
    ):
        assert np.array_equal(mine, theirs)


def test_what_nobody_has_is_the_norms():
    known, made = facts(6), KSameGaze(k=3, cells=6)
    people = crowd(6, known, made.bought(known).grid.cells)
    people.values[:] = np.nan
    people.looks[:] = 0.0
    for portrait in made.portraits(made.measure(people, known, randomness(1)), known):
        assert portrait.means[0]["fixation_ms"] == pytest.approx(parameter("fixation_ms").centre)
        assert portrait.places == (None, None, None)


def group_of(known, made, people, member):
    return made.portraits(made.averaged(people, known, member), known)


def test_what_one_member_alone_has_goes_into_nothing():
    """As a mean with the norm of all others it would be that person's value, k times as near."""
    known, made = facts(6), KSameGaze(k=3, cells=6)
    member = np.array([0, 0, 0, 1, 1, 1])
    people = crowd(6, known, made.bought(known).grid.cells)
    people.values[1:, 1] = np.nan
    people.looks[1:, 1:] = 0.0
    before = group_of(known, made, people, member)
    people.values[0, 1] = [parameter(name).upper for name in NAMES]
    people.looks[0, 1:] = np.eye(people.looks.shape[2])[0] * 50
    after = group_of(known, made, people, member)
    for one, other in zip(before, after, strict=True):
        assert one.means == other.means
        for mine, theirs in zip(one.places, other.places, strict=True):
            assert np.array_equal(mine, theirs)
        # What all of them have of the other task stands there.
        assert one.means[1] == pytest.approx(one.means[0])


def test_a_map_that_not_all_members_have_is_that_of_the_task_or_of_all_else():
    known, made = facts(3), KSameGaze(k=3, cells=6)
    member, cells = np.zeros(3, dtype=int), made.bought(known).grid.cells
    people = crowd(3, known, cells)
    # Nobody but the first has seen one stimulus of a task, nobody but the others the other one.
    people.looks[1:, 0], people.looks[0, 1] = 0.0, 0.0
    (found,) = group_of(known, made, people, member)
    own = people.looks[:, 0] + people.looks[:, 1]
    whole = (own / own.sum(axis=1, keepdims=True)).mean(axis=0)
    assert found.places[0].ravel() == pytest.approx(whole, abs=1e-6)
    assert found.places[1].ravel() == pytest.approx(whole, abs=1e-6)
    # One has no gaze in the task at all: what everybody has of the other one.
    people.looks[2, :2] = 0.0
    (found,) = group_of(known, made, people, member)
    assert found.places[0].ravel() == pytest.approx(found.places[2].ravel())


def test_k_above_the_number_of_people_is_refused():
    with pytest.raises(InputError, match="k=8 needs at least 8 people, this study has 5"):
        KSameGaze(k=8).cost(facts(5), PERSON)
    with pytest.raises(InputError, match="k must be at least 2"):
        KSameGaze(k=1)


def test_it_is_k_anonymity_without_an_epsilon():
    found = KSameGaze(k=4).cost(facts(9), PERSON)
    assert (found.k, found.epsilon, found.kind.differential) == (4, None, False)
