"""What holds of every attacker."""

from dataclasses import replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from eyelid.attacks import attackers as package
from eyelid.attacks.attackers import ATTACKERS, Attacker, default_attackers, find_attackers
from eyelid.attacks.records import Records
from eyelid.attacks.scores import equal_error_rate, named, ranks
from eyelid.errors import InputError

each = pytest.mark.parametrize("attacker", ATTACKERS, ids=lambda a: a.name)


@each
def test_people_far_apart_are_all_named(attacker, make_records):
    scores = attacker.learn(make_records(seed=1), 0)(make_records(seed=2))
    assert scores.averaged.shape == (12, 6)
    assert named(scores.averaged, scores.owner).mean() == 1.0
    if scores.votes is not None:
        assert np.allclose(scores.votes.sum(axis=1), 1.0)
        assert named(scores.votes, scores.owner).mean() == 1.0


@each
def test_people_who_are_alike_are_named_by_chance(attacker, make_records):
    """200 people, chance 1/20 each: above 0.11 once in 3000 runs, by the binomial law."""
    right = []
    for seed in range(10):
        known = make_records(20, 1, 10, apart=0.0, seed=seed)
        shown = make_records(20, 1, 10, apart=0.0, seed=100 + seed)
        scores = attacker.learn(known, seed)(shown)
        right.append(named(scores.averaged, scores.owner))
    assert np.concatenate(right).mean() <= 0.11


@each
def test_what_a_task_does_to_everybody_is_taken_off(attacker, make_records):
    """Ten spans on top of everything in the shown task change nothing when they are usual."""
    known, shown = make_records(apart=1.5, seed=1), make_records(apart=1.5, seed=2)
    usual = {"task 0": np.zeros(5), "task 1": np.zeros(5), "new": np.full(5, 10.0)}
    known = replace(known, usual=usual)
    moved = replace(shown, values=shown.values + 10.0, tasks=("new",) * 12)
    plain, other = (attacker.learn(known, 0)(records) for records in (shown, moved))
    assert np.allclose(plain.averaged, other.averaged)
    surprised = attacker.learn(replace(known, usual={}), 0)(moved)
    assert not np.allclose(plain.averaged, surprised.averaged)


@each
def test_each_record_is_judged_alone(attacker, make_records):
    """The bounds beside the rates hold only for attackers who do."""
    recognise = attacker.learn(make_records(seed=1, apart=1.0), 0)
    together = make_records(seed=2, apart=1.0, records=1)
    row = together.record == 4
    alone = Records(
        together.values[row], np.zeros(20, np.intp), together.owner[4:5], ("task 0",),
        together.people,
    )  # fmt: skip
    assert np.allclose(recognise(together).averaged[4], recognise(alone).averaged[0])


@each
def test_the_same_seed_gives_the_same_scores(attacker, make_records):
    known, shown = make_records(apart=0.5, seed=1), make_records(apart=0.5, seed=2)
    first, again = (attacker.learn(known, 7)(shown).averaged for _ in range(2))
    assert np.array_equal(first, again)


@each
def test_somebody_never_learned_comes_last_and_spoils_nothing(attacker, make_records):
    known = make_records(seed=1)
    kept = known.person != 2
    ids = np.unique(known.record[kept], return_inverse=True)[1]
    known = Records(
        known.values[kept],
        ids,
        known.owner[known.owner != 2],
        tuple(t for t, o in zip(known.tasks, known.owner, strict=True) if o != 2),
        known.people,
    )
    scores = attacker.learn(known, 0)(make_records(seed=2))
    assert np.isfinite(scores.averaged).all()
    stranger = scores.owner == 2
    assert np.all(ranks(scores.averaged, scores.owner)[stranger] == 6)
    assert named(scores.averaged, scores.owner)[~stranger].mean() == 1.0
    assert 0 <= equal_error_rate(scores.averaged, scores.owner) <= 0.5


@each
@pytest.mark.parametrize("people", [1, 2, 3])
def test_few_people_with_one_row_each_are_no_trouble(attacker, people, make_records):
    scores = attacker.learn(make_records(people, 1, 1), 0)(make_records(people, 1, 1, seed=9))
    assert np.isfinite(scores.averaged).all()


@each
def test_only_one_person_is_known(attacker, make_records):
    known, shown = make_records(people=1), make_records(people=3, seed=2)
    scores = attacker.learn(replace(known, people=shown.people), 0)(shown)
    assert np.all(scores.averaged.argmax(axis=1) == 0)


@each
def test_constant_features_tell_nobody_apart(attacker, make_records):
    known = make_records(3, 2, 8)
    flat = replace(known, values=np.full_like(known.values, 0.25))
    scores = attacker.learn(flat, 0)(flat)
    # Whoever is re-identified, it is the same one for every record.
    assert named(scores.averaged, scores.owner).mean() == pytest.approx(1 / 3)


@each
def test_attackers_have_what_the_interface_asks_for(attacker):
    assert isinstance(attacker, Attacker)
    assert find_attackers([attacker.name]) == [attacker]


def test_an_unknown_name_brings_the_nearest():
    with pytest.raises(InputError, match="unknown attacker 'forrest': did you mean 'forest'"):
        find_attackers(["lda", "forrest"])


def test_slow_attackers_are_left_out_of_large_studies():
    assert default_attackers(20) == list(ATTACKERS)
    assert {a.name for a in ATTACKERS} - {a.name for a in default_attackers(101)} == {"svm"}


class Guesser:
    name = "guesser"

    def learn(self, known, seed):
        pytest.fail("it is only to be found, not to attack")


NOT_AN_ATTACKER = 7


def announced(monkeypatch, value):
    entry = EntryPoint("guesser", value, package.GROUP)
    monkeypatch.setattr(package, "entry_points", lambda group: [entry])


@pytest.fixture
def this_module(monkeypatch):
    """This file under a name that an entry point can import."""
    import sys
    import types

    module = types.ModuleType("a_plug_in")
    module.Guesser, module.seven, module.ready = Guesser, NOT_AN_ATTACKER, Guesser()
    monkeypatch.setitem(sys.modules, "a_plug_in", module)


@pytest.mark.parametrize("thing", ["Guesser", "ready"])
def test_attackers_of_other_packages_are_found(monkeypatch, this_module, thing):
    announced(monkeypatch, f"a_plug_in:{thing}")
    assert find_attackers(["guesser"])[0].name == "guesser"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("a_plug_in:seven", "is no attacker: it needs 'name' and 'learn"),
        ("a_plug_in:nothing", "cannot be loaded .AttributeError"),
        ("nowhere_to_be_found:x", "cannot be loaded .ModuleNotFoundError"),
    ],
)
def test_a_broken_plug_in_is_named_in_one_line(monkeypatch, this_module, value, says):
    announced(monkeypatch, value)
    with pytest.raises(InputError, match=says) as raised:
        find_attackers(["guesser"])
    assert value in str(raised.value)
    assert "\n" not in str(raised.value)
