"""The public facts of a study, and synthetic studies with the same ones."""

import pytest

from eyelid.comparisons.facts import Facts
from eyelid.errors import InputError
from eyelid.gaze.features import event_features
from eyelid.gaze.simulator import simulate


def test_a_made_up_study_has_the_same_public_facts(simulated_table):
    facts = Facts.of(simulated_table.only("fixation_rate", "pupil_mean_mean"))
    made = facts.simulated(seed=4, attributes=["gender", "expertise"])
    again = Facts.of(made)
    for name in ("people", "recordings", "length", "tasks", "features", "step_ms", "window_ms"):
        assert getattr(again, name) == getattr(facts, name), name
    # Not what any person's recording has, but what was planned.
    assert made.recordings["rows"].unique().to_list() == [simulated_table.planned_rows]
    assert made.people.columns == ["person", "gender", "expertise"]
    assert made.people["gender"].to_list() == made.people["expertise"].to_list()
    assert made.simulated


def test_other_tasks_have_stand_ins_and_that_is_said():
    facts = Facts(5, 4, 10, ("driving", "waiting"), ("fixation_rate",), (), 500.0, 30_000.0, False)
    assert facts.tasks_made_up == ("comic", "newspaper", "comic", "newspaper")
    told = " ".join(facts.in_words(["expertise"]))
    assert "your 2 tasks are others" in told
    assert "gender stands for it" in told
    assert "do not all have the same recordings" in told


def test_more_tasks_than_there_are_stand_ins_are_not_told_as_if_they_were_recognised():
    facts = Facts(5, 9, 10, tuple("abcdefghi"), ("fixation_rate",), (), 500.0, 30_000.0)
    assert facts.tasks_are_too_many
    assert "so few tasks are easier to recognise" in " ".join(facts.in_words())


@pytest.mark.parametrize("kind", ["fixations", "saccades"])
def test_events_are_made_up_as_well_as_windows(kind):
    table = event_features(simulate(people=3, tasks=("comic", "image"), minutes=0.3, seed=2), kind)
    facts = Facts.of(table)
    assert facts.rows_are == kind
    made = facts.simulated(seed=1)
    assert made.names == table.names
    assert made.recordings["rows"].unique().to_list() == [facts.length]


def test_what_is_not_of_eyelid_cannot_be_made_up(make_table):
    facts = Facts.of(make_table())
    assert "'pupil' is none of them" in facts.simulable
    # What candidates follow from is told all the same.
    assert facts.in_words()[0].startswith(f"{facts.people} people, ")
    with pytest.raises(InputError, match="'pupil' is none of them"):
        facts.simulated(seed=1)
    rows = Facts(5, 1, 10, (), ("fixation_rate", "fixation_duration"), ())
    assert "together they are no set of them" in rows.simulable
