from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from eyelid.io import pieces
from eyelid.mechanisms.differential import NoisyMechanism
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.privacy.noise import SystemRandomness
from eyelid.releases.consistency.comparison import coupled, small_pieces

SHAPE = PublicFacts(people=2, recordings=1, length=3, features=1)
DATA = np.full((2, 1, 3, 1), 10**15)


def drawn():
    return Laplace(epsilon=1.0).perturb(DATA, SHAPE, SystemRandomness())


def test_inside_words_repeat_and_data_are_left_out():
    with coupled():
        one = drawn()
    with coupled():
        other = drawn()
    assert (one == other).all()
    assert np.abs(one).max() < DATA.max() / 100
    assert (drawn() != drawn()).any()
    assert drawn().min() > DATA.max() / 2


def test_a_release_in_another_thread_keeps_its_noise():
    """Verification must not take the noise away from a release beside it."""
    with coupled(), ThreadPoolExecutor(1) as elsewhere:
        one, other = (elsewhere.submit(drawn).result() for _ in range(2))
    assert (one != other).any()
    assert one.min() > DATA.max() / 2


def test_everything_is_as_before_when_a_block_ends_badly():
    true = NoisyMechanism.perturb, SystemRandomness.words, pieces.PIECE_VALUES
    with pytest.raises(RuntimeError), small_pieces(7), coupled():
        assert pieces.PIECE_VALUES == 7
        raise RuntimeError
    assert (NoisyMechanism.perturb, SystemRandomness.words, pieces.PIECE_VALUES) == true
