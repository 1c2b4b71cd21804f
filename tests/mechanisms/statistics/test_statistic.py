from fractions import Fraction

import pytest

from eyelid.errors import InputError
from eyelid.mechanisms.statistics.statistic import Statistic, Term, parse


def test_a_term_without_an_entry_is_about_all_of_them():
    (asked,) = parse("mean, sd")
    assert [(s.name, s.columns) for s in asked.statistics(2, 1)] == [
        ("mean", (0,)),
        ("mean", (1,)),
        ("sd", (0,)),
        ("sd", (1,)),
    ]
    assert parse("clipped")[0].statistics(3, 1) == (Statistic("clipped"),)


def test_superiority_is_about_every_pair_of_groups():
    (asked,) = parse("superiority:2")
    assert [s.groups for s in asked.statistics(2, 3)] == [(0, 1), (0, 2), (1, 2)]


def test_shares_are_as_written_or_equal():
    assert [part.share for part in parse("mean;tau:1:2;median:1")] == [Fraction(1, 3)] * 3
    assert [part.share for part in parse("mean@0.7;tau:1:2@0.3")] == [
        Fraction(7, 10),
        Fraction(3, 10),
    ]
    assert Term.parse("histogram:3:12").cells == 12


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no statistic"),
        ("meen", "mean"),
        ("tau:1", "needs 2 of the entries"),
        ("tau", "needs two entries, such as tau:1:2"),
        ("tau:1:1", "relates an entry to itself"),
        ("mean:0", "counted from 1"),
        ("mean:1:2", "too many entries"),
        ("mean:x", "'mean:x' names an entry by 'x': entries are named by their numbers"),
        ("tau:fixations:score", "counted from 1 .* such as tau:1:2"),
        ("quantile:1", "needs a level"),
        ("mean:1.5", "'1.5' in 'mean:1.5' must be a whole number"),
        ("quantile:1:2", "between 0 and 1, got 2"),
        ("quantile:1:0.1234567891", "at most four digits, such as 0.1235"),
        ("histogram:1:1", "2 to 1000 cells, got 1"),
        ("median", "is of one entry"),
        ("mean,median:1", "median is a part of its own"),
        ("mean,superiority:1", "superiority is a part of its own.* such as 'mean;superiority'"),
        ("mean@0.5", "add up to 1"),
        ("mean@1;sd", "add up to 1"),
        ("mean@-1;sd", "positive"),
        ("mean@0.5;sd@0.6", "add up to 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        parse(text)


def test_entries_that_are_not_there_and_doubles_are_refused():
    with pytest.raises(InputError, match="entry 5, there are 2"):
        parse("mean:5")[0].statistics(2, 1)
    with pytest.raises(InputError, match="once in a part"):
        parse("mean,mean:1")[0].statistics(2, 1)
    with pytest.raises(InputError, match="which attribute"):
        parse("superiority:1")[0].statistics(2, 1)
