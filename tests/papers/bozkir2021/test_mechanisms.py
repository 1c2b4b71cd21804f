"""What the printed mechanisms would lose with public scales: never told smaller than it is."""

import math

import pytest

from eyelid.mechanisms import PublicFacts, mechanism_named
from eyelid.privacy import PERSON

SHAPE = PublicFacts(people=20, recordings=3, length=64, features=4)


def test_a_mean_that_is_kept_loses_everything_whatever_the_scale():
    mechanism = mechanism_named("cfpa-paper", epsilon=1.0, mean="kept")
    assert math.isinf(mechanism.with_public_scale(SHAPE, PERSON)[0])
    assert mechanism.cost(SHAPE, PERSON).to_dict()["epsilon"] is None
    assert "means are released without noise" in mechanism.person_total(SHAPE)
    assert "but for the mean" in mechanism.sampler(SHAPE)


def test_mirror_images_count_twice():
    low, high = (mechanism_named("fpa-paper", epsilon=1.0, k=k) for k in (33, 64))
    assert low.with_public_scale(SHAPE, PERSON)[0] == pytest.approx(3.0)
    assert high.with_public_scale(SHAPE, PERSON)[0] == pytest.approx(3 * 1.4031, rel=1e-4)


def test_a_k_from_the_data_is_named_as_a_further_condition():
    mechanism = mechanism_named("fpa-paper", epsilon=1.0)
    assert "had each k been public too" in mechanism.person_total(SHAPE)
