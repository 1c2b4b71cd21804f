"""Numbers with a bound, and uniform numbers known to as many digits as it takes."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eyelid.privacy.noise import randomness
from eyelid.privacy.noise.digits import Approximation, Digits

numbers = st.builds(
    Approximation, st.integers(-(2**70), 2**70), st.integers(0, 2**60), st.integers(0, 80)
)


def ends(number):
    unit = Fraction(1, 2**number.point)
    return (number.value - number.doubt) * unit, (number.value + number.doubt) * unit


@given(numbers, numbers)
def test_sums_and_products_of_what_may_be_are_within_the_bound(one, other):
    low, high = ends(one + other)
    least, most = ends(one * other)
    for mine in ends(one):
        for others in ends(other):
            assert low <= mine + others <= high
            assert least <= mine * others <= most


@given(numbers, st.integers(0, 90))
def test_roots_of_what_may_be_are_within_the_bound(number, point):
    assume(max(ends(number)) >= 0)
    low, high = ends(number.root(point))
    for end in ends(number):
        assert max(low, 0) ** 2 <= max(end, 0) <= high**2


@given(numbers)
def test_a_whole_number_is_given_only_where_all_that_may_be_rounds_to_it(number):
    wanted = {round_half_up(end) for end in ends(number)}
    assert number.rounded() == (wanted.pop() if len(wanted) == 1 else None)


def round_half_up(number):
    return (number + Fraction(1, 2)).__floor__()


@pytest.mark.parametrize("number", [0.0, -0.75, 1e200, 5e-324])
def test_floats_are_taken_as_they_are(number):
    assert ends(Approximation.of(number)) == (Fraction(number), Fraction(number))


@pytest.mark.parametrize("words", [1, 2, 5])
def test_more_digits_are_those_of_the_same_number(words):
    """Every bound holds the value that the next digits give, and narrows."""
    digits = Digits([2**63 + 12345, 1, 2**64 - 1, 987654321], randomness(words))
    before = []
    for _ in range(words):
        found = [digits.minus_logs(0, 1), digits.minus_logs(0, 4), *digits.turn(3)]
        before.append([ends(value) for value in found])
        digits.extend()
    with mpmath.workdps(400):
        numbers = [(mpmath.mpf(w) + 0.5) / mpmath.mpf(2) ** digits.bits for w in digits.leading]
        logs = [-mpmath.log(number) for number in numbers]
        exact = [logs[0], mpmath.fsum(logs)]
        exact += [mpmath.cospi(2 * numbers[3]), mpmath.sinpi(2 * numbers[3])]
        for bounds in before:
            for (low, high), value in zip(bounds, exact, strict=True):
                assert mpmath.mpf(low.numerator) / low.denominator <= value
                assert value <= mpmath.mpf(high.numerator) / high.denominator
    widths = [[high - low for low, high in bounds] for bounds in before]
    assert all(
        later < sooner for a, b in pairwise(widths) for sooner, later in zip(a, b, strict=True)
    )


def test_zeros_alone_are_drawn_on():
    digits = Digits([0, 5], randomness(1))
    assert digits.bits == 128
    assert digits.leading[0] > 0
    assert digits.leading[1] >> 64 == 5
