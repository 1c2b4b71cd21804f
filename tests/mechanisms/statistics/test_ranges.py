import math

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.mechanisms.statistics.ranges import Entry, Range, places_of


def test_places_go_from_one_end_to_the_other_and_back():
    linear, log = Range(100, 300), Range(100, 400, "log")
    assert linear.place(np.array([100, 200, 400])).tolist() == [0.0, 0.5, 1.5]
    assert log.place(200) == pytest.approx(0.5)
    assert log.value(0.5) == pytest.approx(200)
    assert np.isnan(linear.place(math.nan))
    # Nothing above 0 has a logarithm: it lies below every range.
    assert log.place(np.array([0.0, -3.0])).tolist() == [-np.inf, -np.inf]


def test_a_norm_s_range_is_cut_to_what_the_definition_allows():
    found = Range.around(0.2, 0.1, 3, within=(0, 1))
    assert (found.lower, found.upper, found.source) == (0, pytest.approx(0.5), "norm")
    assert found.sd_in_places == pytest.approx(0.2)
    assert found.place_of_norm == pytest.approx(0.4)
    log = Range.around(200, 0.3, 2, "log")
    assert log.lower == pytest.approx(200 * math.exp(-0.6))
    assert log.place_of_norm == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((3, 3), "from a smaller to a larger number, got 3 to 3"),
        ((0, math.inf), "a range needs two numbers, got 0 to inf"),
        ((0, 3, "log"), "above 0, got 0"),
        ((0, 3, "square"), "linear or log, got 'square'"),
        ((0, 3, "linear", "guess"), "there is no source 'guess'"),
        ((0, 3, "linear", "norm", 1, -1), "must be positive, got -1"),
    ],
)
def test_a_range_that_is_none_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        Range(*arguments)


def test_a_norm_of_another_unit_is_refused():
    with pytest.raises(InputError, match="another unit"):
        Range.around(220, 30, 3, within=(0, 1))


def test_a_contrast_needs_two_tasks_and_a_range_around_nothing():
    with pytest.raises(InputError, match="'comic' twice"):
        Entry("rate", "comic", Range(-1, 1), contrast=("comic", "comic"))
    with pytest.raises(InputError, match="both sides of 0"):
        Entry("rate", "comic-text", Range(0, 1), contrast=("comic", "text"))


def test_numbers_become_places_entry_by_entry():
    entries = (Entry("a", "t", Range(0, 10)), Entry("b", "t", Range(1, 100, "log")))
    values = np.array([[5.0, 10.0], [np.nan, 1.0]])
    np.testing.assert_allclose(places_of(values, entries), [[0.5, 0.5], [np.nan, 0.0]])
    with pytest.raises(InputError, match="2 entries"):
        places_of(values[:, :1], entries)
