"""The fuzz: sensitivities, people who mix, choices that are not in the total."""

import numpy as np
import pytest

from eyelid.attacks.override import override
from eyelid.mechanisms import catalogue, find, mechanism_named
from eyelid.mechanisms.differential import NoisyMechanism
from eyelid.mechanisms.records.fpa import FPA
from eyelid.privacy import PERSON, RECORDING, randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.sensitivity import fuzz

SOUND = [
    name
    for name, kind in catalogue().items()
    if kind.claims_to_hold and issubclass(kind, NoisyMechanism)
]
CHOOSING = ["fpa", "cfpa", "dcfpa"]


@pytest.mark.parametrize("name", SOUND)
def test_sound_mechanisms_keep_people_apart_and_inside_what_they_declare(name):
    for mechanism in find(name).set_for_games():
        found = fuzz(mechanism, mechanism.unit, pairs=600)
        assert not found.refuted
        assert found.mixed == 0
        assert found.reached > 0.5


@pytest.mark.parametrize("name", SOUND)
def test_what_is_taken_from_others_is_caught(name):
    """Filled or scaled by others: within the declared sensitivity, and still not their own."""
    wanted = {"gaps filled with people's mean", "scaled by the longest of all"}
    wanted |= {"gaps filled with the others' mean", "scaled by the fullest of all"}
    faults = [fault for fault in mutants_of(find(name)) if fault.name in wanted]
    assert len(faults) == 1 + (name == "dct")
    assert all(fault.caught(1_000, randomness(1)) for fault in faults)


def test_scaling_by_others_is_no_matter_of_sensitivity():
    """Why the fuzz looks for it by itself."""
    mechanism = next(iter(find("dct").set_for_games()))

    def limit(self, steps, facts):
        longest = np.linalg.norm(steps.reshape(len(steps), -1), axis=1).max()
        most = self.radius_steps(facts)
        return steps * (most / max(longest, most))

    found = fuzz(override(mechanism, {"limit": limit}), mechanism.unit, pairs=600)
    assert found.reached <= 1
    assert found.mixed > 0


@pytest.mark.parametrize("name", CHOOSING)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("unit", ["person", "recording"])
def test_choice_and_noise_fit_into_one_epsilon(name, share, unit):
    parameters = find(name).private_game | {"choice_share": share, "unit": unit}
    mechanism = mechanism_named(name, **parameters)
    for attacked in {mechanism.unit, PERSON}:
        found = fuzz(mechanism, attacked, pairs=300)
        assert 0.8 < found.chosen <= 1
        assert not found.refuted


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_choice_on_top_is_found_with_how_much_it_is(share):
    def candidates(self, facts):
        return [type(self)(**vars(each) | {"epsilon": 3.0}) for each in FPA.candidates(self, facts)]

    mechanism = mechanism_named("fpa", **FPA.private_game | {"choice_share": share})
    found = fuzz(override(mechanism, {"candidates": candidates}), PERSON, pairs=300)
    assert found.refuted
    assert 1 + share / 2 < found.chosen <= 1 + share


def test_where_nothing_is_chosen_nothing_is_said_about_it():
    assert (
        fuzz(mechanism_named("fpa", epsilon=1.0, unit="recording"), RECORDING, pairs=10).chosen == 0
    )
