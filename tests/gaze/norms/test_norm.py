"""A norm: its range, its units, and what it refuses."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.norms import Norm
from eyelid.gaze.norms.norm import converts, times
from eyelid.gaze.study import Feature


def norm(**said):
    facts = {"measure": "mood", "task": "any", "unit": "1", "mean": 10.0, "between": 2.0}
    return Norm(**facts | said)


def test_a_range_is_the_mean_and_k_standard_deviations():
    assert norm().range(1) == (8.0, 12.0)
    assert norm().range(2.5) == (5.0, 15.0)


def test_on_a_log_scale_a_range_is_a_factor():
    lower, upper = norm(mean=200.0, between=0.25, scale="log").range(2)
    assert lower == pytest.approx(200 * math.exp(-0.5))
    assert upper == pytest.approx(200 * math.exp(0.5))
    assert lower * upper == pytest.approx(200.0**2)


@given(st.floats(0.1, 8.0), st.floats(0.1, 8.0))
def test_wider_ranges_hold_narrower_ones(one, other):
    for scale, between in (("linear", 3.0), ("log", 0.3)):
        near, far = (
            norm(mean=20.0, between=between, scale=scale).range(k) for k in sorted((one, other))
        )
        assert far[0] <= near[0] <= near[1] <= far[1]


def test_a_range_stays_within_the_definition():
    assert norm(measure="skipping_rate", mean=0.3, between=0.2).range(4) == (0.0, 1.0)
    assert norm(measure="blink_rate", unit="1/min", mean=60.0, between=30.0).range(3) == (
        0.0,
        120.0,
    )


def test_a_feature_given_bounds_it_in_place_of_the_built_in_one():
    feature = Feature("skip", "%", "", 20.0, 60.0)
    found = norm(measure="skipping_rate", mean=0.4, between=0.3).range(2, feature)
    assert found == pytest.approx((0.2, 0.6))


def test_a_norm_beside_its_definition_is_an_error():
    with pytest.raises(InputError, match=r"reaches from 250 to 350 1, and .* between 0 and 1"):
        norm(measure="skipping_rate", mean=300.0, between=50.0).range(1)


@pytest.mark.parametrize("k", [0.0, -1.0, math.nan, math.inf])
def test_k_is_positive(k):
    with pytest.raises(InputError, match="k must be positive"):
        norm().range(k)


def test_units_convert_where_the_factor_is_exact():
    seconds = norm(unit="ms", mean=250.0, between=40.0, within=10.0).converted("s")
    assert (seconds.mean, seconds.between, seconds.within) == (0.25, 0.04, 0.01)
    assert norm(unit="1/min", mean=12.0).converted("1/s").mean == 0.2
    assert norm(unit="%", mean=30.0).converted("1").mean == 0.3


def test_the_spread_of_logarithms_has_no_unit():
    found = norm(unit="words/min", mean=240.0, between=0.2, within=0.1, scale="log")
    found = found.converted("words/s")
    assert (found.mean, found.between, found.within) == (4.0, 0.2, 0.1)


def test_what_does_not_convert_names_both_units():
    with pytest.raises(InputError, match=r"mood .* in 'deg' and 'px', which do not convert"):
        norm(unit="deg").converted("px")
    assert not converts("letters", "deg")
    assert converts("letters", "letters")


@given(st.floats(0.001, 1e6))
def test_there_and_back_is_the_same(value):
    for unit, other in (("ms", "s"), ("1/s", "1/min"), ("1", "%"), ("deg/s", "deg/ms")):
        back = times(times(value, unit, other, "x"), other, unit, "x")
        assert back == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"task": "reading"}, "unknown task of a norm of mood 'reading'"),
        ({"scale": "ln"}, "unknown scale of a norm of mood 'ln': did you mean 'linear'|'ln'"),
        ({"grade": "sure"}, "unknown grade of a norm of mood 'sure'"),
        ({"unit": ""}, "the norm of mood has no unit"),
        ({"mean": math.nan}, "mean of the norm of mood is nan"),
        ({"between": math.inf}, "between of the norm of mood is inf"),
        ({"between": 0.0}, "between of the norm of mood is 0: a standard deviation is positive"),
        ({"within": -1.0}, "within of the norm of mood is -1"),
        ({"mean": -2.0, "scale": "log"}, "a geometric mean is positive"),
    ],
)
def test_what_a_norm_cannot_be(said, words):
    with pytest.raises(InputError, match=words):
        norm(**said)
