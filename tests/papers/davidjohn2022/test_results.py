"""The paper's ordering at equal identification, on results that are made up."""

import numpy as np
import pytest

from eyelid.papers.davidjohn2022.results import Results, order, order_as_printed, surely_more
from eyelid.papers.davidjohn2022.trials import Outcome, Setting

PEOPLE = 10


def results(table, runs=(0.0, 0.0), **points):
    """From (value, named, told) of each mechanism, the same for everybody; runs add to told."""
    outcomes = {}
    for name, places in points.items():
        for value, named, told in places:
            shares = np.full(PEOPLE, named)
            told_by_run = (told + run + np.linspace(-0.01, 0.01, PEOPLE) for run in runs)
            outcomes[Setting(name.replace("_", "-"), value)] = [
                Outcome(shares, {"lda": shares}, kept, {"svm": kept, "oblique-forest": kept}, 0.1)
                for kept in told_by_run
            ]
    return Results(table, outcomes, {}, "", (2, 4, 8), (20.0, 2.0))


@pytest.fixture
def usual(readers):
    return results(
        readers,
        ksame_paper=[(2.0, 0.4, 0.9), (4.0, 0.2, 0.8), (8.0, 0.1, 0.7)],
        marginals_paper=[(2.0, 0.05, 0.5), (8.0, 0.05, 0.5)],
        exponential_paper=[(20.0, 0.3, 0.8), (2.0, 0.08, 0.3)],
    )


def test_the_level_is_the_lowest_that_all_reach(usual):
    assert order(usual).level == order_as_printed(usual).level == pytest.approx(0.1)


def test_of_each_the_setting_nearest_to_the_level_and_not_above_is_taken(usual):
    chosen = {one.kind.name: one.setting.value for one in order(usual).chosen}
    assert chosen == {"ksame-paper": 8.0, "marginals-paper": 2.0, "exponential-paper": 2.0}


def test_the_published_order_comes_out_where_it_is_so(usual):
    assert order(usual).as_published()
    assert [one.told["svm"].mean for one in order(usual).ranked()] == pytest.approx([0.7, 0.5, 0.3])


def test_another_order_is_told_as_it_is(readers):
    found = order(
        results(
            readers,
            ksame_paper=[(8.0, 0.1, 0.4)],
            marginals_paper=[(8.0, 0.1, 0.5)],
            exponential_paper=[(2.0, 0.1, 0.3)],
        )
    )
    assert not found.as_published()
    assert found.ranked()[0].kind.name == "marginals-paper"


def test_one_of_ours_that_never_gets_as_low_is_said_to_be_above(readers):
    found = order(
        results(
            readers,
            ksame_paper=[(8.0, 0.1, 0.7)],
            ksame=[(2.0, 0.4, 0.9), (8.0, 0.2, 0.8)],
            marginals_paper=[(8.0, 0.1, 0.5)],
            exponential_paper=[(2.0, 0.1, 0.3)],
        )
    )
    assert (found.of("ksame").setting.value, found.of("ksame").reaches) == (8.0, False)


def test_without_all_three_there_is_no_order(readers):
    assert order(results(readers, ksame_paper=[(8.0, 0.1, 0.7)])) is None


def test_a_step_is_sure_when_people_agree_about_it(usual):
    more, less = Setting("ksame-paper", 8.0), Setting("marginals-paper", 8.0)
    assert surely_more(usual, more, less, "svm")
    assert not surely_more(usual, less, more, "svm")
    assert not surely_more(usual, more, more, "svm")


@pytest.mark.parametrize("runs", [(0.0,), (-0.1, 0.0, 0.1)], ids=["one run", "runs disagree"])
def test_a_step_is_not_sure_when_it_may_be_the_luck_of_a_draw(readers, runs):
    more, less = Setting("ksame-paper", 8.0), Setting("marginals-paper", 8.0)
    found = results(readers, runs, ksame_paper=[(8.0, 0.1, 0.7)])
    beside = results(readers, tuple(-run for run in runs), marginals_paper=[(8.0, 0.1, 0.5)])
    found.outcomes.update(beside.outcomes)
    assert not surely_more(found, more, less, "svm")
