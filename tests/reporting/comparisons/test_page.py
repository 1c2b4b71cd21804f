"""The page says what the figures say."""

import re
from dataclasses import replace

import pytest
from tests.reporting.test_rendering import Rules

from eyelid.privacy.unit import Trust
from eyelid.reporting.comparisons.page import best_by_promise, comparison_page, findings
from eyelid.reporting.comparisons.row import Row
from eyelid.reporting.comparisons.setting import Setting


@pytest.fixture
def rows(by_hand):
    row, promise = by_hand.row, by_hand.promise
    return {
        "useless": row("dct", promise(1.0), 0.05, 0.33, epsilon=1.0),
        "useful": row(
            "groupmean", promise(1.0, trust=Trust.CENTRAL), None, 0.6, epsilon=1.0, runs=3
        ),
        "record": row("gaussian", promise(16.0, person=7779.0), 0.35, 0.57, epsilon=16.0),
        "groups": row("ksame", by_hand.among(4), 0.1, 0.77, k=4, runs=3),
    }


def test_what_a_promise_to_a_person_costs_is_said_as_it_is(by_hand, rows):
    told = " ".join(findings(by_hand.comparison(rows["useless"], rows["record"])))
    assert "none is shown to be better than guessing" in told
    assert "costs all of the use" in told
    told = " ".join(findings(by_hand.comparison(rows["useless"], rows["useful"])))
    assert "groupmean, ε = 1 is the most useful" in told
    assert "above guessing by 99% limits, 30 points below the raw data" in told
    none = " ".join(findings(by_hand.comparison(rows["record"])))
    assert "None of these hides a whole person at an ε of at most 10" in none


def test_guessing_is_told_of_what_was_measured_on_raw_data(by_hand, rows):
    done = by_hand.comparison(rows["useless"])
    assert re.search(r"; guessing gives [\d.]+% and 33%\.", findings(done)[0])
    unnamed = replace(done, raw=Row(None, runs=(by_hand.outcome(None, 0.9, error=0.0),)))
    assert "guessing gives 33%." in findings(unnamed)[0]


def test_one_draw_that_serves_everybody_is_no_finding(by_hand, rows):
    once = [replace(rows[name], runs=rows[name].runs[:1]) for name in ("useful", "groups")]
    done = by_hand.comparison(rows["useless"], *once)
    told = " ".join(findings(done))
    assert "is the most useful" not in told
    assert "above guessing" not in told
    assert "one draw that serves everybody, which cannot tell" in told
    assert [one.name for one in best_by_promise(done)] == [""] * 3


def test_weaker_promises_are_told_with_what_they_come_to(by_hand, rows):
    told = " ".join(findings(by_hand.comparison(*rows.values())))
    assert "For a person that comes to ε over 1,000" in told
    assert "one among 4, of this release alone, and not differential privacy" in told
    assert "in 1 release: gaussian, ε = 16" in told


def test_what_was_not_attacked_is_neither_nobodys_record_nor_safe(by_hand, rows):
    """Own records that nobody could be re-identified in for want of an attack, and means."""
    untried = by_hand.row("laplace", by_hand.promise(1.0), None, 0.7, epsilon=1.0)
    told = " ".join(findings(by_hand.comparison(untried)))
    assert "naming was not measured" in told
    assert "nobody’s record" not in told
    assert "re-identified clearly" not in told
    assert "re-identified clearly" not in " ".join(findings(by_hand.comparison(rows["useful"])))


def test_the_best_is_chosen_among_equal_promises_and_the_strongest_comes_first(by_hand, rows):
    better = by_hand.row("laplace", by_hand.promise(1.0), 0.05, 0.4, epsilon=1.0)
    done = by_hand.comparison(rows["groups"], rows["record"], rows["useless"], better)
    assert [(one.total, one.name, one.of) for one in best_by_promise(done)] == [
        ("ε = 1", "laplace, ε = 1", 2),
        ("ε over 1,000 (no practical protection)", "gaussian, ε = 16", 1),
        ("k = 4, means of groups", "ksame, k = 4", 1),
    ]


def test_the_page_is_whole_and_asks_nothing_of_the_network(by_hand, rows):
    why = "60 rows need 951 <people>"
    page = comparison_page(by_hand.comparison(*rows.values(), Row(Setting("seeded"), skipped=why)))
    assert Rules(page).broken == []
    for words in (
        "What it shows",
        "ε over 1,000 (no practical protection)",
        "no individual records are released",
        "60 rows need 951 &lt;people&gt;",
        "run again without those who are tested",
        "no certificate covers these figures",
        "eyelid compare IN",
        "≤\xa025%",
    ):
        assert words in page
    assert not re.search(r'(src|href)="(?!#)|url\((?!#)|@import', page)


def test_a_page_without_a_target_speaks_of_errors(by_hand):
    row = by_hand.row("dct", by_hand.promise(1.0), 0.05, None, epsilon=1.0, error=210.0)
    page = comparison_page(by_hand.comparison(row, target=None))
    assert "a value is off by 210 of a feature" in page
    assert "recognised</th>" not in page
