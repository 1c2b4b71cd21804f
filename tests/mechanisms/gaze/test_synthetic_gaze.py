import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.gaze.generator.parameters import parameter
from eyelid.mechanisms.gaze.facts import GazeDesignFacts, GazeForm
from eyelid.mechanisms.gaze.people import PeopleGaze, averaged, shares_of
from eyelid.mechanisms.gaze.portrait import as_shares, movements_of
from eyelid.mechanisms.gaze.synthetic_gaze import SyntheticGaze
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON

NAMES = ("fixation_ms", "rightward_share")
SLOTS = (("look", "a"), ("look", "b"), ("read", "c"))
FORCED = {"means": "task", "spreads": "paid", "places": "stimulus", "share": 0.25, "cells": 6}


def facts(people, **more):
    form = GazeForm("fraction", "top-left")
    return GazeDesignFacts.of(people, SLOTS, NAMES, rate_hz=60.0, minutes=0.1, form=form, **more)


def crowd(people, known, cells, seed=0):
    rng = np.random.default_rng(seed)
    values = np.empty((people, len(known.tasks), len(NAMES)))
    for number, name in enumerate(NAMES):
        one = parameter(name)
        drawn = one.centre + 0.5 * one.between * (1 + rng.standard_normal(values.shape[:2]))
        values[..., number] = one.natural(drawn)
    return PeopleGaze(values, rng.random((people, len(SLOTS), cells)) ** 4)


def test_epsilon_is_the_sum_of_both_parts_and_never_more():
    made = SyntheticGaze(epsilon=0.3, **FORCED)
    box, maps = made.box(facts(50)), made.maps(facts(50))
    assert (box.epsilon, maps.epsilon) == (0.225, 0.075)
    assert box.epsilon + maps.epsilon <= made.cost(facts(50), PERSON).epsilon == 0.3


def test_shares_of_a_person_add_up_to_one_over_all_maps_however_much_they_looked():
    looks = np.zeros((2, 3, 4))
    looks[0] = [[3, 1, 0, 0], [0, 0, 0, 8], [1e9, 0, 0, np.inf]]
    shares = shares_of(looks, (0, 1, 2)).dense
    assert shares[0].sum() == pytest.approx(1.0)
    assert shares[0].reshape(3, 4).sum(axis=1) == pytest.approx(1 / 3)
    assert shares[1].sum() == 0


def test_without_noise_portraits_are_the_people():
    known = facts(4000)
    made = SyntheticGaze(epsilon=2000.0, **FORCED)
    people = crowd(4000, known, made.bought(known).grid.cells)
    (portrait,) = made.portraits(made.measure(people, known, randomness(1)), known)
    for task in range(2):
        for number, name in enumerate(NAMES):
            one = parameter(name)
            truth = one.scaled(people.values[:, task, number]).mean()
            assert portrait.means[task][name] == pytest.approx(truth, abs=0.05 * one.between)
    one = parameter("fixation_ms")
    spread = one.scaled(averaged(people.values, known.parameters)[:, 0]).std()
    within = one.within**2 / 3
    assert portrait.between["fixation_ms"] == pytest.approx(
        max(spread**2 - within, (one.between / 4) ** 2) ** 0.5, rel=0.1
    )
    wanted = people.looks / people.looks.sum(axis=2, keepdims=True)
    for slot, shares in enumerate(portrait.places):
        assert shares.ravel() == pytest.approx(wanted[:, slot].mean(axis=0), abs=1e-3)
        assert shares.sum() == pytest.approx(1.0)


def test_what_is_not_bought_is_the_norms():
    known = facts(20)
    made = SyntheticGaze(epsilon=1.0)
    people = crowd(20, known, made.bought(known).grid.cells)
    (portrait,) = made.portraits(made.measure(people, known, randomness(1)), known)
    for name in NAMES:
        assert portrait.means[0][name] == parameter(name).centre
        assert portrait.between[name] == pytest.approx(1.25 * parameter(name).between)


def test_people_without_any_gaze_count_with_the_middle_and_nobody_is_left_out():
    known = facts(3)
    made = SyntheticGaze(epsilon=50.0, **FORCED)
    people = crowd(3, known, made.bought(known).grid.cells)
    people.values[1:] = np.nan
    people.looks[1:] = 0.0
    places = made.places_of(people, known)
    assert np.isnan(places[1:]).all()
    part = made.box_part(known)
    middle = part.query(places, np.zeros(3, dtype=np.int64)) / 2**30
    assert np.allclose(middle[:4] - np.clip(places[0, :4], 0, 1), 1.0)


def test_recordings_are_as_planned_and_seeded_ones_are_the_same():
    known = facts(5)
    made = SyntheticGaze(epsilon=1.0, **FORCED)
    people = crowd(5, known, made.bought(known).grid.cells)
    data, events = made.apply(people, known, randomness(3))
    again, _ = made.apply(people, known, randomness(3))
    other, _ = made.apply(people, known, randomness(4))
    assert data.equals(again)
    assert not data.equals(other)
    rows = data.group_by("person", "recording").len()["len"]
    assert set(rows) == {360}
    assert rows.len() == 15
    assert set(events["name"]) <= {"fixation", "saccade", "blink"}
    assert data["person"].unique().sort().to_list() == [f"synthetic{n}" for n in range(1, 6)]


def test_another_number_of_people_than_is_public_is_refused():
    known = facts(5)
    made = SyntheticGaze(epsilon=1.0, **FORCED)
    with pytest.raises(InputError, match="4 people do not fit what is public: 5 people"):
        made.measure(crowd(4, known, 6), known, randomness(1))


def test_noisy_shares_become_the_nearest_distribution():
    noisy = np.array([[0.5, -0.4], [0.3, 0.9]])
    found = as_shares(noisy)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert found[0, 1] == 0


def test_movements_are_said_by_task_or_guessed_by_its_name():
    assert movements_of("auto", ["textbook", "free look", "visual search"]) == (
        "reading",
        "scene",
        "search",
    )
    assert movements_of("scene", ["textbook"]) == ("scene",)
    with pytest.raises(InputError, match="tasks are textbook"):
        movements_of("other:scene", ["textbook"])


def test_errors_that_are_stated_are_not_below_those_of_the_noise():
    """In deviations between people: ranges are as wide as single recordings need."""
    known, made = facts(200), SyntheticGaze(epsilon=1.0, means="all", places="norm", spreads="norm")
    plan, part = made.bought(known), made.box_part(known)
    people = crowd(200, known, 1)
    asked = made.asked_of_box(people, known)
    drawn = made.noisy_numbers(np.broadcast_to(asked, (20_000, asked.size)), known, randomness(1))
    for number, name in enumerate(NAMES):
        places = np.array([part.mean_of(each) for each in drawn[:, number].tolist()])
        noise = places.std() * made.ranges(known)[number].width / parameter(name).between
        assert plan.error_of(name) > 0.97 * noise
