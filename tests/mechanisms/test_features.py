"""What mechanisms for features declare about themselves."""

from dataclasses import replace

import pytest

from eyelid.mechanisms import catalogue
from eyelid.mechanisms.mechanism import Shape, mechanism, register
from eyelid.mechanisms.records.laplace import Laplace

OF_FEATURES = {n: kind for n, kind in catalogue().items() if kind.release.of_features}
SHAPE = Shape(people=20, recordings=2, length=8, features=2)


def test_a_mechanism_that_cannot_say_what_is_left_to_see_is_not_registered():
    # A data card needs it, which is made after the charge.
    class Mute(Laplace):
        """Has an error, and no words for it."""

        note = replace(Laplace.note, summary="Has an error, and no words for it.")
        name = "mute"
        aliases = ()
        predictable = False

    with pytest.raises(TypeError, match="mute has no worth of its own"):
        register(Mute)
    assert "mute" not in catalogue()


@pytest.mark.parametrize("name", OF_FEATURES)
def test_every_mechanism_says_how_far_off_it_is_or_what_is_left_to_see(name):
    OF_FEATURES[name].check_declared()


def test_what_a_mechanism_does_not_say_is_an_error():
    with pytest.raises(TypeError, match="ksame depends on how much people are alike"):
        mechanism("ksame", k=3).expected_rmse_of_span(SHAPE)
    with pytest.raises(TypeError, match="ksame depends on how much people are alike"):
        mechanism("ksame", k=3).expected_mean_rmse_of_span(SHAPE)
    with pytest.raises(TypeError, match="what laplace is worth follows from its expected error"):
        mechanism("laplace", epsilon=1.0).worth(SHAPE)
