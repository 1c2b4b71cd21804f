"""Releases whose noise cannot be read off: sound ones come through, quiet ones do not."""

import numpy as np
import pytest

from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness
from eyelid.verification.rerun import quieter_than_again

FEATURES = [Feature(f"f{j}", "", "", -1.0, 4.0) for j in range(3)]


def people(count=40, rows=40, seed=0):
    values = np.random.default_rng(seed).random((count, 2, rows, 3)) * 5.0 - 1.0
    return table_from_arrays(values, FEATURES)


CASES = [
    pytest.param("groupmean", {"inner": "dct"}, id="means"),
    pytest.param("groupmean", {"inner": "laplace", "clipped": False}, id="means, not clipped"),
    pytest.param("dct", {"law": "spherical"}, id="spherical noise"),
    pytest.param("fpa", {"k": "private"}, id="a private k"),
]


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_a_sound_release_is_as_far_off_as_others(name, parameters):
    table = people()
    mechanism = mechanism_named(name, epsilon=20.0, **parameters)
    for seed in range(5):
        assert (
            quieter_than_again(mechanism, table, mechanism.apply(table, randomness(seed))) is None
        )


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_one_made_for_a_much_larger_epsilon_is_not(name, parameters):
    table = people()
    mechanism = mechanism_named(name, epsilon=20.0, **parameters)
    quiet = mechanism_named(name, epsilon=1000.0, **parameters)
    # The fresh releases have noise of their own: with a private k one look in twenty misses it.
    looks = (
        quieter_than_again(mechanism, table, quiet.apply(table, randomness(s))) for s in range(5)
    )
    assert any("times as far from fresh ones" in (found or "") for found in looks)


def test_single_numbers_tell_nothing():
    """One mean of one value: whatever it is, a sound mechanism may have given it."""
    table = people(rows=1)
    mechanism = mechanism_named("groupmean", epsilon=1.0, inner="gaussian", clipped=False)
    exact = mechanism.exact(table, mechanism.groups(table))
    single = [
        quieter_than_again(mechanism, table, mechanism.apply(table, randomness(s)))
        for s in range(20)
    ]
    assert single == [None] * 20
    assert exact.data.shape == mechanism.apply(table, randomness(1)).data.shape
