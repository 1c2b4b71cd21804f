"""Filters stand, and planted faults in them are seen: every one in `make proof`, some here."""

from dataclasses import replace

import pytest

from eyelid.attacks.override import override
from eyelid.mechanisms import find
from eyelid.privacy import PERSON
from eyelid.privacy.noise import randomness
from eyelid.verification import streams
from eyelid.verification.families import mutants_of
from eyelid.verification.game import attack_digits, play
from eyelid.verification.streams import examine_stream

NAMES = ("kaleido", "uniform", "sample", "bd", "ba")
# Of ε, what so few runs certify of the worst neighbours known; `bd` and `kaleido` can lose 3/4.
# Far below what any of ten seeds gave, of which the one below is the first.
CERTIFIED = {"kaleido": 0.2, "uniform": 0.4, "sample": 0.5, "bd": 0.35, "ba": 0.4}
RUNS = 4_000


@pytest.mark.parametrize("name", NAMES)
def test_filters_stand_and_games_come_near_their_claims(name):
    # A sound filter is refuted once in a million seeds; the seed is fixed.
    wide, narrow = find(name).set_for_games()
    game = play(wide, wide.unit, RUNS, randomness(7))
    assert CERTIFIED[name] * game.claimed < game.lower_bound <= game.claimed
    assert not play(narrow, PERSON, RUNS, randomness(7)).refuted
    assert not attack_digits(
        wide, next(wide.neighbour_pairs(wide.unit)), 1_000, randomness(7)
    ).refuted
    seen = examine_stream(wide, randomness(7))
    assert not seen.refuted
    # The budget is used, and the reach, but for what rounding takes.
    assert seen.window > 0.99
    assert seen.reached > 0.99


PLANTED = [
    ("kaleido", "test noise 1/ε, not radius/ε"),
    ("kaleido", "budget of one sample"),
    ("kaleido", "clock restarted at publications, seen by tests"),
    ("bd", "budget of a block of w samples"),
    ("bd", "noise of tests reused"),
    ("ba", "silence forgotten"),
    ("sample", "a window too short by one sample"),
    ("sample", "scale × 0.85"),
    ("uniform", "event ε sold as person"),
    ("uniform", "gaze outside the scene"),
    ("uniform", "noise reused over samples"),
    ("uniform", "generator seeded anew"),
    ("uniform", "places off the grid"),
    ("uniform", "worst window forgotten"),
]


@pytest.mark.parametrize(("name", "fault"), PLANTED, ids=lambda text: text.replace(" ", "-"))
def test_planted_faults_are_caught(name, fault):
    (planted,) = (each for each in mutants_of(find(name)) if each.name == fault)
    assert planted.caught(RUNS, randomness(7))


def test_a_filter_that_moves_neighbours_farther_apart_is_seen(monkeypatch):
    mechanism = next(find("bd").set_for_games())
    # A grid in which gaze counts twice.
    broken = override(mechanism, {"step": mechanism.step / 2, "reach_steps": mechanism.reach_steps})
    monkeypatch.setattr(streams, "_SAMPLES", 20)
    seen = examine_stream(broken, randomness(7), declared=replace(mechanism))
    assert seen.reached > 1.9
