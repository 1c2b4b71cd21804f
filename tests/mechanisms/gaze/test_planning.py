from fractions import Fraction

import pytest

from eyelid.errors import InputError
from eyelid.gaze.generator.parameters import NAMES
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.planning import FEWEST_FOR_NUMBERS, Asked, bought, numbers_of
from eyelid.mechanisms.gaze.synthetic_gaze import SyntheticGaze

SLOTS = (("look", "a"), ("look", "b"), ("read", "c"))


def facts(people, names=NAMES, slots=SLOTS, **more):
    return GazeDesignFacts.of(people, slots, names, **more)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_of_twenty_people_everything_but_the_map_is_the_norms(epsilon):
    found = bought(facts(20), epsilon, Asked())
    assert (found.means, found.spreads, found.share) == ("norm", "norm", 1)
    assert found.only_places


def test_two_hundred_people_have_parameters_of_each_task_maps_and_spreads():
    found = bought(facts(200), 4.0, Asked())
    assert found.means in ("task", "some")
    assert found.spreads == "paid"
    assert 0 < found.share < 1
    assert found.mean_error < 0.5


def test_more_people_are_foreseen_to_be_nearer():
    errors = [bought(facts(n), 1.0, Asked()).mean_error for n in (150, 400, 2000, 10_000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.1


def test_numbers_are_counted_as_the_box_has_them():
    known = facts(200, NAMES[:5])
    assert [numbers_of(*each, known) for each in (("norm", "norm"), ("all", "norm"))] == [0, 5]
    assert [numbers_of(*each, known) for each in (("task", "norm"), ("task", "paid"))] == [10, 15]


def test_what_a_user_asks_for_is_what_is_measured():
    asked = Asked("all", "norm", "screen", Fraction(1, 4), 24)
    found = bought(facts(20), 1.0, asked)
    assert (found.means, found.spreads, found.places) == ("all", "norm", "screen")
    assert (found.share, found.cells) == (Fraction(1, 4), 24)


def test_without_a_known_screen_all_of_it_goes_to_parameters():
    known = facts(500, on_surface=False)
    assert bought(known, 1.0, Asked()).places == "norm"
    with pytest.raises(InputError, match="needs gaze on a known screen"):
        SyntheticGaze(epsilon=1.0, places="screen").bought(known)


def test_nothing_to_measure_is_refused():
    few = facts(int(FEWEST_FOR_NUMBERS) - 1, on_surface=False)
    with pytest.raises(InputError, match="nothing would be of these people"):
        SyntheticGaze(epsilon=1.0).bought(few)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"means": "both"}, "means must be one of auto, task, some, all, norm, got"),
        ({"share": 1.0}, "share must be above 0 and below 1, got 1"),
        ({"cells": 1}, "cells must be between 2 and 4096, got 1"),
        ({"means": "norm", "places": "norm"}, "nothing would be of these people"),
        ({"means": "norm", "spreads": "paid"}, "spreads are measured beside means"),
        ({"minutes": 0.0}, "minutes must be above 0, got 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, says):
    with pytest.raises(InputError, match=says):
        SyntheticGaze(epsilon=1.0, **wrong)
