"""Figures in words: how sure, what was not tried, what stands against a promise."""

from dataclasses import replace

import pytest

from eyelid.attacks.outcome import Outcome
from eyelid.privacy.unit import Trust
from eyelid.reporting.comparisons.comparison import ABOVE, WITHIN_CHANCE
from eyelid.reporting.comparisons.row import Row
from eyelid.reporting.comparisons.words import (
    ONE_DRAW,
    SAME_ANSWER,
    attackers_in_words,
    use_in_words,
)


@pytest.mark.parametrize(
    ("epsilon", "named", "told"),
    [(1.0, 0.05, ""), (0.01, 0.1, WITHIN_CHANCE), (1.0, 0.2, WITHIN_CHANCE), (1.0, 0.9, ABOVE)],
)
def test_more_named_than_allowed_is_chance_until_it_cannot_be(by_hand, epsilon, named, told):
    row = by_hand.row("dct", by_hand.promise(epsilon / 4), named, 0.4)
    done = by_hand.comparison(row)
    assert done.against_promise(row) == told
    assert any("please report it: dct" in note for note in done.notes) == (told == ABOVE)
    assert done.records()[1]["above_bound"] == (told or None)


def test_one_draw_that_serves_everybody_has_no_limits_and_two_have(by_hand):
    means = by_hand.row("groupmean", by_hand.promise(1.0, trust=Trust.CENTRAL), None, 0.6)
    once = by_hand.comparison(means)
    assert use_in_words(once, means) == f"60% ({ONE_DRAW})"
    assert once.records()[1]["used"] == {
        "rate": pytest.approx(0.599),
        "low": None,
        "high": None,
    }
    assert not once.useful(means)
    assert any("--repeats 3" in note for note in once.notes)
    again = replace(means, runs=(by_hand.outcome(None, 0.6), by_hand.outcome(None, 0.62)))
    twice = by_hand.comparison(again)
    assert ONE_DRAW not in use_in_words(twice, again)
    assert not any("--repeats 3" in note for note in twice.notes)
    # Noise of one's own is drawn for everybody.
    own = by_hand.row("dct", by_hand.promise(1.0), 0.05, 0.6)
    assert by_hand.comparison(own).useful(own)


def test_always_the_same_answer_is_said(by_hand):
    promise = by_hand.promise(1.0)
    row = Row(None, promise, (Outcome(used=(1 / 3,) * 20, used_chance=1 / 3),))
    done = by_hand.comparison(row)
    assert use_in_words(done, row) == f"33% ({SAME_ANSWER})"
    assert not done.useful(row)


def test_why_use_was_not_tried_is_said(by_hand):
    row = Row(None, by_hand.among(8), (Outcome(not_used="all are in one group"),))
    assert use_in_words(by_hand.comparison(row), row) == "not tried: all are in one group"
    assert by_hand.comparison(row).records()[1]["not_used"] == "all are in one group"


def test_names_of_attackers_in_the_table_are_explained_and_no_others(by_hand):
    told = attackers_in_words(by_hand.comparison())
    assert [words.partition(":")[0] for words in told] == ["means", "raw→release"]
