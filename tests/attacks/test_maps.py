import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from eyelid.attacks.maps import map_error
from eyelid.errors import InputError

SEEN = np.array([[0.0, 2.0, 5.0], [1.0, 0.0, 3.0]])


@given(st.integers(0, 2**32 - 1), st.integers(-150, 150))
def test_correlation_is_scipy_s_at_any_scale(seed, exponent):
    rng = np.random.default_rng(seed)
    one, other = rng.poisson(2.0, (6, 8)) + rng.random((6, 8)), rng.random((6, 8))
    expected = pearsonr(one.ravel(), other.ravel()).statistic
    assert map_error(one, other * 10.0**exponent).correlation == pytest.approx(expected, abs=1e-9)


def test_squared_error_is_that_of_a_plain_loop():
    released = SEEN + np.array([[1.0, -1.0, 0.0], [0.0, 2.0, 0.0]])
    error = map_error(SEEN, released)
    loop = sum((a - b) ** 2 for a, b in zip(SEEN.flat, released.flat, strict=True)) / 6
    assert error.mse == pytest.approx(loop)
    assert error.nmse == pytest.approx(loop / np.var(SEEN))


def test_the_same_map_is_perfect():
    error = map_error(SEEN, SEEN)
    assert (error.mse, error.nmse) == (0.0, 0.0)
    assert error.correlation == pytest.approx(1.0)


def test_a_blank_map_at_the_right_mean_has_a_normalised_error_of_one():
    error = map_error(SEEN, np.full_like(SEEN, SEEN.mean()))
    assert error.nmse == pytest.approx(1.0)
    assert error.correlation is None


def test_nearly_constant_is_constant():
    """0.1 summed in two orders differs in the last digit: that is no signal."""
    assert map_error(SEEN, np.full_like(SEEN, 0.1) + 1e-17).correlation is None


@pytest.mark.parametrize(
    ("original", "released", "says"),
    [
        (SEEN, SEEN.T, "2 × 3 cells and the released one 3 × 2"),
        (SEEN, np.where(SEEN == 5, np.nan, SEEN), "released map has 1 cells that are no numbers"),
        (np.full((2, 2), 3.0), np.ones((2, 2)), "the original map is 3 in every cell"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "the original map has no cells"),
    ],
)
def test_maps_that_cannot_be_compared_are_refused(original, released, says):
    with pytest.raises(InputError, match=says):
        map_error(original, released)
