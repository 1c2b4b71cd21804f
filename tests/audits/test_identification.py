from dataclasses import replace

import polars as pl
import pytest

from eyelid.audits.identification import identify, recognise_task, strongest
from eyelid.errors import InputError
from eyelid.mechanisms import mechanism
from eyelid.privacy import randomness


def test_raw_people_are_named_far_above_chance(simulated_table):
    rates = identify(simulated_table, simulated_table)
    assert strongest(rates).rate > 0.5
    assert all(rate.low <= rate.rate <= rate.high for rate in rates.values())
    assert strongest(rates).chance == pytest.approx(1 / 6)


def test_a_person_level_release_gives_nobody_away_beyond_chance(simulated_table):
    released = mechanism("laplace", epsilon=0.1).apply(simulated_table, randomness(3))
    assert strongest(identify(simulated_table, released)).low <= 1 / 6
    assert recognise_task(simulated_table, released).low <= 0.4


def test_averaging_beats_noise_that_hides_single_rows(simulated_table):
    law = mechanism("gaussian", epsilon=256.0, unit="record")
    released = law.apply(simulated_table, randomness(3))
    rates = identify(simulated_table, released)
    assert rates["means"].rate > rates["forest"].rate


def test_identical_people_are_named_at_chance(simulated_table):
    """The null control: everybody has the first person's features."""
    first = simulated_table.data.filter(pl.col("person") == "P01")
    people = simulated_table.people["person"]
    copies = pl.concat([first.with_columns(pl.lit(p).alias("person")) for p in people])
    same = replace(simulated_table, data=copies)
    assert strongest(identify(same, same)).rate <= 1 / 6 + 1e-9


def test_raw_documents_are_recognised(simulated_table):
    assert recognise_task(simulated_table, simulated_table).rate > 0.7


def test_one_task_is_not_enough(simulated_table):
    one = replace(simulated_table, data=simulated_table.data.filter(pl.col("task") == "comic"))
    with pytest.raises(InputError, match="at least 2 tasks"):
        identify(one, one)
