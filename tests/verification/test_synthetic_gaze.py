import pytest

from eyelid.mechanisms.gaze.ksame_gaze import KSameGaze
from eyelid.mechanisms.gaze.synthetic_gaze import SyntheticGaze
from eyelid.privacy.noise import randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.synthetic_gaze import (
    compare_gaze,
    examine_gaze,
    fuzz_gaze,
    play_gaze_canaries,
    play_gaze_groups,
    same_for_members,
)

VARIANTS = list(SyntheticGaze.set_for_games())
MUTANTS = [*mutants_of(SyntheticGaze), *mutants_of(KSameGaze)]
# By sampling error alone a game of so few runs would let some through.
RUNS = 20_000


@pytest.mark.parametrize("sound", VARIANTS, ids=lambda each: f"{each.means}-{each.places}")
def test_no_neighbours_lose_more_than_is_stated_and_some_lose_nearly_all(sound):
    found = fuzz_gaze(sound, 128)
    assert not found.refuted
    assert found.reached > 0.95


@pytest.mark.parametrize("sound", VARIANTS, ids=lambda each: f"{each.means}-{each.places}")
def test_a_game_over_the_whole_does_not_refute_it(sound):
    found = play(sound, sound.unit, RUNS, randomness(1))
    assert not found.refuted
    assert found.lower_bound > 0.5 * found.claimed


@pytest.mark.parametrize("sound", VARIANTS, ids=lambda each: f"{each.means}-{each.places}")
def test_noise_is_fresh_and_recordings_follow_from_it_alone(sound):
    assert not examine_gaze(sound, randomness(2)).refuted
    assert not compare_gaze(sound).refuted


def test_coins_of_a_thousand_canaries_are_guessed_no_better_than_is_claimed():
    found = play_gaze_canaries(VARIANTS[2], randomness(5))
    assert not found.refuted
    assert found.run.right > 0.55 * found.run.guesses


@pytest.mark.parametrize("sound", list(KSameGaze.set_for_games()), ids=lambda each: each.places)
def test_groups_are_large_enough_and_members_are_alike(sound):
    assert not any(game.refuted for game in play_gaze_groups(sound, randomness(3)))
    assert not same_for_members(sound).refuted


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: f"{each.mechanism}: {each.name}")
def test_every_mutant_is_caught(mutant):
    assert mutant.caught(RUNS, randomness(4))


def test_the_mutants_are_those_that_people_would_make():
    assert {each.name for each in MUTANTS} >= {
        "spread unpaid",
        "map unpaid",
        "parameters of one person",
        "offset copied from data",
        "length from data",
    }
