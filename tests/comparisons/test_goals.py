"""Goals as people write them, and what is wrong with some."""

import pytest

from eyelid.comparisons.facts import Facts
from eyelid.comparisons.goals import goals_of
from eyelid.errors import InputError

FACTS = Facts(20, 3, 600, ("comic", "newspaper"), ("fixation_rate",), ("gender", "Years at work"))


def only(text):
    return goals_of([text], FACTS).asked[0]


@pytest.mark.parametrize(
    ("text", "name", "sign", "limit"),
    [
        ("rank1<=2x", "rank1", "<=", 0.1),
        ("rank1 <= 0.1", "rank1", "<=", 0.1),
        ("rank1≤10%", "rank1", "<=", 0.1),
        ("RANK1 < 3×", "rank1", "<", 0.15),
        ("rank1<=1x", "rank1", "<=", 0.05),
        ("task>=0.7", "task", ">=", 0.7),
        ("task ≥ 70%", "task", ">=", 0.7),
        ("gender<=0.6", "gender", "<=", 0.6),
        ("Years at work <= 0.6", "Years at work", "<=", 0.6),
        ("error<=0.1", "error", "<=", 0.1),
        ("ε=<4", "epsilon", "<=", 4.0),
        ("epsilon=4", "epsilon", "=", 4.0),
        ("delta<=1e-6", "delta", "<=", 1e-6),
        ("k>3", "k", ">", 3.0),
    ],
)
def test_a_goal_is_read_as_it_is_written(text, name, sign, limit):
    goal = only(text)
    assert (goal.name, goal.sign) == (name, sign)
    assert goal.limit == pytest.approx(limit)


def test_units_and_kinds_are_words():
    assert only("unit = chunk:32").word == "chunk:32"
    assert only("kind=pure-dp").word == "pure-dp"


def test_a_figure_meets_a_goal_by_its_sign():
    assert only("rank1<=2x").met(0.1)
    assert not only("rank1<2x").met(0.1)
    assert only("task>=0.7").met(0.7)
    # As a mean of twenty tenths is.
    assert only("rank1<=2x").met(0.10000000000000002)
    assert not only("rank1<=2x").met(0.1001)
    assert not only("k>3").met(3)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "no goal is given"),
        (["privacy"], "'privacy' is no goal"),
        (["gendr<=0.6"], "unknown goal 'gendr': did you mean 'gender'"),
        (["rank1<=few"], "'few' is no number"),
        (["task>=2x"], "only rank1 is given in times chance"),
        (["epsilon<=1", "epsilon>=2"], "epsilon<=1 and epsilon>=2 contradict each other"),
        (["unit=person", "unit=record"], "unit=person and unit=record contradict each other"),
        (["epsilon=1", "epsilon<=0.5"], "epsilon=1 and epsilon<=0.5 contradict each other"),
        (["rank1<=2x", "rank1<=10%"], "rank1<=2x and rank1<=10% are both about rank1"),
        (["task>=0.7", "task>=0.7"], "are both about task"),
        (["rank1<=0.5x"], "below guessing, which is right for 1 of 20"),
        (["rank1<=0.01"], "below guessing"),
        (["rank1<=30x"], "a share of 1.5"),
        (["rank1>=2x"], "wrong way round"),
        (["task>=1.2"], "a share of 1.2"),
        (["task<=0.7"], "wrong way round"),
        (["task=0.7"], "never exactly so, write task>=0.7"),
        (["gender<=0.4"], "a coin has a balanced accuracy of 0.5"),
        (["gender>=0.6"], "wrong way round"),
        (["error<=0"], "positive and finite"),
        (["epsilon<=-1"], "positive and finite"),
        (["epsilon<=nan"], "positive and finite"),
        (["delta<=1"], "below 1"),
        (["k>=30"], "needs at least 30 people, and there are 20"),
        (["k>=2.5"], "a whole number"),
        (["k>=nan"], "a whole number"),
        (["k>=inf"], "a whole number"),
        (["rank1<=10x%"], "'10x%' is no number"),
        (["rank1<=10%%"], "'10%%' is no number"),
        (["rank1<=1 0"], "'1 0' is no number"),
        (["epsilon<=400%"], "epsilon is no share"),
        (["k>=400%"], "k is no share"),
        (["unit=house"], "unknown unit 'house'"),
        (["unit>=person"], "is a word"),
        (["unit=chunk:x"], "chunk:LENGTH"),
        (["kind=good"], "unknown kind 'good'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(texts, said):
    with pytest.raises(InputError) as refused:
        goals_of(texts, FACTS)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_task_is_recognised_among_several_only():
    with pytest.raises(InputError, match="there is no task to recognise, this study has one"):
        goals_of(["task>=0.5"], Facts(20, 3, 600, ("comic",), ("fixation_rate",), ()))


def test_a_choice_is_paid_for_out_of_the_epsilon_asked_for():
    left = goals_of(["epsilon<=4", "task>=0.7"], FACTS).after(1.5)
    assert [(goal.name, goal.limit) for goal in left.asked] == [("epsilon", 2.5), ("task", 0.7)]
    assert left.asked[0].text == "epsilon<=4 less 1.5 for the choice"
    with pytest.raises(InputError, match=r"`tuning_epsilon=4` leaves nothing of epsilon<=4"):
        goals_of(["epsilon<=4"], FACTS).after(4.0)


def test_among_fewer_people_guessing_counts_as_before():
    goals = goals_of(["rank1<=2x", "task>=0.7"], FACTS).among(8, 20)
    assert [goal.limit for goal in goals.asked] == pytest.approx([2 / 8, 0.7])
