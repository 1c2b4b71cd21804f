import numpy as np
import pytest

from eyelid.audits.claims.anonymity import (
    crowd,
    play_anonymity,
    same_for_everybody,
)
from eyelid.audits.claims.anonymity_faults import _ATTACKED, anonymity_faults
from eyelid.audits.claims.deniability import play_deniability
from eyelid.audits.claims.twins import twin
from eyelid.audits.verify import verify
from eyelid.mechanisms import mechanism
from eyelid.mechanisms.slots import slots_of
from eyelid.privacy import randomness

SOUND = mechanism("ksame", k=4)
# Which game sees which fault; all others may let it pass.
SEEN_BY = {
    "groups drawn anew for every task": "identification",
    "leftovers in a group of their own": "identification",
    "groups of people who look alike": "together",
    "groups of people who look different": "together",
    "generator seeded anew": "together",
    "padding by the last row": "recovery",
    "gaps filled with the last value": "recovery",
    "means over those who have a value": "recovery",
    "recordings that only some members have": "identification",
}


def test_the_sound_mechanism_survives_every_game():
    for asked in ({"k": 4}, {"k": 2, "copies": True}):
        for game in play_anonymity(mechanism("ksame", **asked), randomness(1), releases=30):
            assert not game.refuted, game


def test_as_printed_it_is_refuted_by_names_and_by_ends():
    games = play_anonymity(mechanism("ksame-paper", k=4), randomness(1), releases=10)
    refuted = {game.measure for game in games if game.refuted}
    assert refuted == {"identification", "recovery"}
    assert not any(game.holds for game in games)
    identification = games[0]
    assert (identification.claimed, identification.runs) == (0.25, 200)


@pytest.mark.parametrize("name", SEEN_BY)
def test_every_fault_is_seen_by_the_game_that_should_see_it(name):
    broken = twin(SOUND, _ATTACKED[name])
    games = play_anonymity(broken, randomness(7), releases=24)
    assert SEEN_BY[name] in {game.measure for game in games if game.refuted}


def test_all_planted_faults_are_these_and_names_and_orders_are_caught():
    faults = {fault.name: fault for fault in anonymity_faults(SOUND)}
    telling = set(faults) - set(SEEN_BY)
    assert telling == {
        "groups named after a member",
        "copies in the order of people",
        "longest recordings in the first group",
    }
    assert all(faults[name].caught(0, randomness(1)) for name in telling)
    assert not same_for_everybody(SOUND).refuted
    assert not same_for_everybody(mechanism("ksame", k=3, copies=True)).refuted


def test_the_crowd_has_whatever_goes_wrong_in_real_studies():
    table = crowd(4)
    rows = table.recordings["rows"].to_numpy()
    assert table.recordings["person"].n_unique() == 9, "4 does not divide the number of people"
    assert len(set(rows)) == 9, "recordings are of unequal length"
    assert (np.bincount(slots_of(table).slot) == [9, 9, 9, 6]).all(), "some lack a task"
    assert np.isnan(table.data["look"].to_numpy()).any(), "there are gaps"


def test_plausible_deniability_as_printed_shows_a_rare_value():
    game = play_deniability(mechanism("marginals-paper"), randomness(1))
    assert game.refuted
    assert not game.holds


def test_verify_tells_the_games_as_the_contract_says():
    found = verify(["ksame-paper", "marginals-paper"], runs=1_000, noise=randomness(1))
    assert found.passed, "what does not claim to hold may be refuted"
    told = found.to_dict()["mechanisms"]
    wanted = {"name", "unit", "claimed", "lower_bound", "runs", "holds", "refuted"}
    assert all(wanted <= set(game) for game in told)
    first = {game["name"]: game for game in reversed(told)}
    assert first["ksame-paper"]["measure"] == "identification"
    assert first["ksame-paper"]["refuted"]
