"""The controls: attacks that find nothing in a sound release find a generator that is not."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.mechanisms.gaze.test_synthetic_gaze import FORCED, crowd, facts

from eyelid.attacks.override import override, sound_of
from eyelid.attacks.synthetic_gaze import drawn_study, membership_in_gaze, resemblance
from eyelid.gaze.study import Study
from eyelid.mechanisms.gaze.synthetic_gaze import SyntheticGaze
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON

SOUND = SyntheticGaze(epsilon=1.0, **FORCED)


def exact(self, sums, facts, noise):
    return sums


def of_the_first(self, people, facts):
    return sound_of(self).asked_of_box(people.some(np.zeros(people.people, dtype=np.intp)), facts)


def attacked(made, nearest=None):
    known = facts(30)
    people = crowd(30, known, SOUND.bought(known).grid.cells)
    promised = SOUND.cost(known, PERSON)
    return membership_in_gaze(made, known, people, promised, nearest=nearest, trials=400)


def test_a_sound_mechanism_stays_below_its_bound():
    found = attacked(SOUND)
    assert not found.refutes
    assert 0 < found.advantage.rate < found.bound


def test_a_generator_fitted_without_noise_is_found():
    assert attacked(override(SOUND, {"noisy_numbers": exact, "noisy_places": exact})).refutes


def test_a_generator_fitted_to_one_person_is_found():
    made = override(SOUND, {"asked_of_box": of_the_first})
    assert attacked(made, nearest=0).refutes


@pytest.mark.parametrize(("of_one", "follows"), [(False, True), (True, False)])
def test_recordings_that_are_not_drawn_after_their_answers_are_found(of_one, follows):
    known = replace(facts(30), minutes=0.5)
    people = crowd(30, known, SOUND.bought(known).grid.cells)
    people.values[4, :, 0] = 600.0
    made = SyntheticGaze(epsilon=500.0, **FORCED)
    answers = made.measure(people, known, randomness(1))
    of = people.some(np.full(30, 4)) if of_one else people
    drawn_of = made.measure(of, known, randomness(1))
    like = Study("samples", people_of(), people_of(), rate_hz=60.0)
    released = drawn_study(made, known, drawn_of, 7, like)
    found, _ = resemblance(made, known, answers, released, people)
    assert found.follows == follows


def people_of():
    return pl.DataFrame({"person": ["a"]})
