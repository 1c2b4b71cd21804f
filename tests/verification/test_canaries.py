"""Coins of many people guessed from one run: none too many where it is sound, all where it is not.

Coins, records and noise are fixed by seeds.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.override import override
from eyelid.errors import InputError
from eyelid.mechanisms.synthetic.rounds import Round
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy import randomness
from eyelid.releases.audits.kinds import canary_audit
from eyelid.verification.canaries import (
    canaries,
    coins_behind,
    play_canaries,
    scores,
    set_for_canaries,
    watched,
)

LAW = next(iter(Synthetic.set_for_games()))


def each_row_a_person(self, facts):
    made = Synthetic.measurement(self, facts)
    rounds = {
        name: mechanism for name, mechanism in vars(made).items() if isinstance(mechanism, Round)
    }
    whole = {"each": lambda self, facts, terms: self.whole(facts)}
    return replace(made, **{name: override(mechanism, whole) for name, mechanism in rounds.items()})


def test_everybody_has_the_record_of_their_coin():
    made = canaries(64, seed=1)
    key = ["person", "task", "time_ms"]
    for coin, side, other in ((True, made.heads, made.tails), (False, made.tails, made.heads)):
        people = side.people["person"].filter(pl.Series(made.coins == coin)).implode()
        mine = made.table.data.filter(pl.col("person").is_in(people))
        assert mine.equals(side.data.filter(pl.col("person").is_in(people)))
        assert mine.join(other.data, on=[*key, "canary_0"], how="semi").is_empty()
    assert made.table.recordings["person"].n_unique() == 64


def test_records_of_a_canary_lie_in_different_quarters():
    made = canaries(64, seed=1)
    first = [
        side.data.unique(["person", "task"], maintain_order=True)
        for side in (made.tails, made.heads)
    ]
    tails, heads = (np.cbrt(side.select(made.tails.names).to_numpy()) for side in first)
    away = np.abs(tails - heads)
    assert np.minimum(away, 1 - away).min() > 0.25 - 1e-9


def test_next_to_no_noise_tells_every_coin():
    mechanism = set_for_canaries(replace(LAW, epsilon=1e6))
    made = canaries(200, seed=2)
    spied, seen = watched(mechanism)
    spied.apply(made.table, randomness(2))
    assert ((scores(mechanism, seen[0], made) > 0) == made.coins).all()


@pytest.mark.parametrize(("coins", "numbers"), [(5, 9), (9, 5)])
def test_coins_are_guessed_by_the_plain_formula(coins, numbers):
    """The mean of coins of variance 1 given what they add up to: cov(c, y)·cov(y)⁻¹·y."""
    rng = np.random.default_rng(4)
    apart, surprise = rng.normal(size=(coins, numbers)), rng.normal(size=numbers)
    together = apart / 2
    covariance = together.T @ together + np.identity(numbers)
    wanted = together @ np.linalg.inv(covariance) @ surprise
    np.testing.assert_allclose(coins_behind(apart, surprise), wanted, rtol=1e-10)


def test_the_ε_of_a_row_sold_as_a_person_s_is_caught_through_the_whole_pipeline():
    mechanism = replace(LAW, epsilon=2.0, delta=1e-6)
    found = canary_audit(
        override(mechanism, {"measurement": each_row_a_person}), people=500, seed=1
    )
    assert found.refuted
    assert found.person.claimed == 2.0


def test_values_of_people_in_the_release_are_caught():
    def apply(self, table, noise):
        made = Synthetic.apply(self, table, noise)
        rows = np.resize(np.arange(len(table.data)), len(made.data))
        return replace(made, data=made.data.with_columns(table.data[rows].select(made.names)))

    mechanism = override(replace(LAW, epsilon=1.0, rows=16), {"apply": apply})
    found = canary_audit(mechanism, people=100, seed=1)
    assert found.refuted
    assert found.person.right == found.person.guesses


def test_a_run_says_what_the_mechanism_was_set_to_for_it():
    found = play_canaries(LAW, randomness(1), people=64, seed=1)
    assert found.settings == "carry=48, bins=64, records=8, pairs=public"


def test_too_few_canaries_are_an_error():
    with pytest.raises(InputError, match="5 canaries tell nothing: take at least 64"):
        play_canaries(LAW, randomness(1), people=5)
