"""What was measured is read off a release exactly, or not at all."""

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.measurements import legible, steps_of
from eyelid.attacks.records import records_of
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.privacy import randomness

SHAPE = PublicFacts(people=20, recordings=3, length=70, features=2)


@pytest.mark.parametrize(
    ("name", "parameters", "count"),
    [
        ("laplace", {}, 70),
        ("gaussian", {}, 70),
        ("exponential", {}, 70),
        # ⌈70/60⌉ + 1 coefficients: the mean, and two real and imaginary parts.
        ("fpa", {}, 5),
        # Two whole chunks of three coordinates; six rows are over.
        ("cfpa", {}, 6),
        ("dcfpa", {}, 6),
        ("cfpa", {"chunk": 35}, 6),
        # ⌈2 · 70/60⌉ cosines.
        ("dct", {}, 3),
        ("envelope", {}, 3),
        ("dct", {"law": "spherical"}, 0),
        ("groupmean", {}, 0),
        ("fpa", {"k": "private"}, 0),
        ("cfpa", {"k": "private"}, 0),
    ],
)
@pytest.mark.parametrize("epsilon", [0.1, 10.0, 500.0])
def test_whole_pieces_are_legible(name, parameters, count, epsilon):
    assert len(legible(mechanism_named(name, epsilon=epsilon, **parameters), SHAPE)) == count


@pytest.mark.parametrize("name", ["laplace", "fpa", "cfpa"])
def test_what_is_read_off_differs_from_the_truth_by_whole_steps(name, make_table):
    table = make_table(people=5, recordings=2, rows=40)
    # A person lacks a recording, and one is short.
    row = pl.int_range(pl.len()).over("person", "recording")
    kept = ((pl.col("person") != "1") | (pl.col("recording") != "0")) & (
        (pl.col("person") != "2") | (row < 33)
    )
    table = type(table)(table.data.filter(kept), table.features, table.people, step_ms=500.0)
    mechanism = mechanism_named(name, epsilon=2.0, length=40)
    facts = mechanism.facts(table)
    people = [str(number) for number in range(5)]
    where = legible(mechanism, facts)
    read = [
        steps_of(reading, records_of(one, people), facts, where)
        for reading, one in (
            (mechanism.query, table),
            (mechanism.measured, mechanism.apply(table, randomness(1))),
        )
    ]
    noise = read[1] - read[0]
    assert noise.shape == (9, len(where), 2)
    assert np.abs(noise - np.rint(noise)).max() < 0.05
    assert (np.abs(noise) > 0).all()


def test_blocks_of_people_change_nothing(monkeypatch, make_table):
    from eyelid.attacks import measurements

    table, mechanism = (
        make_table(people=7, recordings=2, rows=10),
        mechanism_named("fpa", epsilon=1.0),
    )
    facts = mechanism.facts(table)
    records = records_of(table, [str(number) for number in range(7)])
    whole = steps_of(mechanism.query, records, facts, np.arange(3))
    monkeypatch.setattr(measurements, "_BLOCK_VALUES", 1)
    assert np.array_equal(steps_of(mechanism.query, records, facts, np.arange(3)), whole)
