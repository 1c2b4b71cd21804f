from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.attackers.likelihood import (
    how_many_compared,
    likelihood_finding,
    likelihood_scores,
)
from eyelid.attacks.scores import named
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.privacy import randomness
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import PERSON

LAWS = [("laplace", 20.0), ("gaussian", 6.0)]
EVERY_LAW = [*LAWS, ("fpa", 20.0), ("exponential", 20.0)]
each_law = pytest.mark.parametrize(("name", "epsilon"), LAWS)


def people_of(table):
    return tuple(table.data["person"].unique(maintain_order=True))


@each_law
def test_scores_are_those_of_a_plain_loop(name, epsilon, make_table):
    table = make_table(people=3, recordings=2, rows=4)
    # Outside the bounds and missing: the mechanism clips and fills, and so must the attacker.
    values = table.data["pupil"].to_list()
    values[0], values[5] = 40.0, None
    table = replace(table, data=table.data.with_columns(pl.Series("pupil", values)))
    mechanism = mechanism_named(name, epsilon=epsilon)
    released = mechanism.apply(table, randomness(1))
    scores = likelihood_scores(mechanism, table, released, people_of(table))
    facts = mechanism.facts(table)
    noise, step = noise_of(mechanism, facts), 2.0 ** mechanism.grid_bits(facts)

    def of(tab, person):
        rows = tab.data.filter(pl.col("person") == person)
        return [[row[f.name] for f in tab.features] for row in rows.iter_rows(named=True)]

    for record, owner in enumerate(people_of(table)):
        expected = []
        for candidate in people_of(table):
            total = 0.0
            for seen, raw in zip(of(released, owner), of(table, candidate), strict=True):
                for y, x, f in zip(seen, raw, table.features, strict=True):
                    unit = 0.5 if x is None else min(max((x - f.lower) / f.span, 0.0), 1.0)
                    away = (y - f.lower) / f.span * step - round(unit * step)
                    total += float(noise.log_mass(np.array([away]))[0])
            expected.append(total)
        ours = scores.averaged[record]
        assert np.allclose(ours - ours[0], np.array(expected) - expected[0], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        pytest.param("fpa", {"k": 3}, id="fpa"),
        # Five rows are two chunks and a half: the last is cut, and not read.
        pytest.param("cfpa", {"chunk": 2, "k": 2}, id="cfpa"),
        pytest.param("dcfpa", {"chunk": 5, "k": 2}, id="dcfpa"),
        pytest.param("exponential", {}, id="exponential"),
    ],
)
def test_what_was_measured_is_compared_whatever_the_coordinates(name, parameters, make_table):
    """The reference reads one signal at a time, with a Fourier sum written out."""
    table = make_table(people=3, recordings=2, rows=5)
    mechanism = mechanism_named(name, epsilon=30.0, **parameters)
    released = mechanism.apply(table, randomness(1))
    scores = likelihood_scores(mechanism, table, released, people_of(table))
    facts = mechanism.facts(table)
    noise, step = noise_of(mechanism, facts), mechanism.step(facts)

    def coordinates(signal):
        if name == "exponential":
            return np.array(signal)
        size = parameters.get("chunk", len(signal))
        found = []
        for first in range(0, len(signal) - size + 1, size):
            chunk = np.array(signal[first : first + size])
            if name == "dcfpa":
                chunk = np.concatenate((chunk[:1], chunk[1:] - chunk[:-1]))
            for frequency in range(parameters["k"]):
                wave = np.exp(-2j * np.pi * frequency * np.arange(size) / size)
                found.append((chunk * wave).sum().real)
                if 0 < 2 * frequency < size:
                    found.append((chunk * wave).sum().imag)
        return np.array(found)

    def measured(tab, person):
        rows = tab.data.filter(pl.col("person") == person)
        return np.concatenate(
            [
                coordinates(((one[f.name] - f.lower) / f.span).to_list()) / step
                for one in rows.partition_by("recording", maintain_order=True)
                for f in tab.features
            ]
        )

    for record, owner in enumerate(people_of(table)):
        expected = [
            noise.log_mass(measured(released, owner) - np.rint(measured(table, one))).sum()
            for one in people_of(table)
        ]
        ours = scores.averaged[record]
        assert np.allclose(ours - ours[0], np.array(expected) - expected[0], atol=1e-5)


def test_a_mechanism_that_chooses_its_coordinates_is_not_read(make_table):
    mechanism = mechanism_named("fpa", epsilon=1.0, k="private")
    table = make_table()
    with pytest.raises(InputError, match="what fpa measured cannot be read off its release"):
        likelihood_scores(mechanism, table, mechanism.apply(table, randomness(0)), people_of(table))


def worst_case(people: int):
    """Everybody at a corner of their own: one value at the upper bound, all others at the lower."""
    values = np.zeros((people, 1, 1, people))
    values[np.arange(people), 0, 0, np.arange(people)] = 1.0
    return table_from_arrays(values, [Feature(f"f{n}", "", "", 0.0, 1.0) for n in range(people)])


@pytest.mark.parametrize(
    ("name", "epsilon"), [*EVERY_LAW, *((name, 0.3 * epsilon) for name, epsilon in EVERY_LAW[:2])]
)
def test_the_best_attacker_stays_below_the_bound(name, epsilon):
    """200 releases of 8 people: four standard errors of 1600 decisions, once in 30 000 runs."""
    mechanism = mechanism_named(name, epsilon=epsilon)
    table = worst_case(8)
    people = people_of(table)
    right = []
    for seed in range(200):
        scores = likelihood_scores(
            mechanism, table, mechanism.apply(table, randomness(seed)), people
        )
        right.append(named(scores.averaged, scores.owner).mean())
    bound = rank1_bounds(mechanism.cost(mechanism.facts(table), PERSON), 8)["raw_to_release"]
    assert np.mean(right) > 1.15 / 8
    assert np.mean(right) <= bound + 4 * np.sqrt(bound * (1 - bound) / 1600)


def test_gaussian_noise_on_two_people_gives_the_rate_of_theory():
    """Two people at distance d: Φ(d/2σ) of the decisions are right. Four standard errors."""
    from scipy.special import ndtr

    table = worst_case(2)
    mechanism = mechanism_named("gaussian", epsilon=3.0)
    facts = mechanism.facts(table)
    sigma_spans = noise_of(mechanism, facts).scale / 2.0 ** mechanism.grid_bits(facts)
    right = []
    for seed in range(300):
        scores = likelihood_scores(
            mechanism, table, mechanism.apply(table, randomness(seed)), people_of(table)
        )
        right.append(named(scores.averaged, scores.owner).mean())
    expected = float(ndtr(np.sqrt(2) / (2 * sigma_spans)))
    assert abs(np.mean(right) - expected) < 4 * np.sqrt(expected * (1 - expected) / 600)


@pytest.mark.parametrize(
    ("name", "epsilon"), [*LAWS, ("fpa", 20.0), ("cfpa", 40.0), ("dcfpa", 100.0), ("dct", 6.0)]
)
def test_everybody_is_named_from_a_weak_release(name, epsilon, simulated_table):
    mechanism = mechanism_named(name, epsilon=1000.0 * epsilon)
    released = mechanism.apply(simulated_table, randomness(3))
    finding = likelihood_finding(mechanism, simulated_table, released, people_of(simulated_table))
    assert (finding.attacker, finding.protocol) == ("likelihood", "white-box, same recordings")
    assert finding.votes is None
    assert finding.rate.rate == 1.0


def test_who_lacks_a_recording_cannot_be_its_owner(make_table):
    table = make_table(people=4, recordings=3)
    without = table.data.filter((pl.col("person") != "1") | (pl.col("recording") != "2"))
    table = replace(table, data=without)
    mechanism = mechanism_named("laplace", epsilon=0.01)
    scores = likelihood_scores(
        mechanism, table, mechanism.apply(table, randomness(0)), people_of(table)
    )
    assert np.isfinite(scores.averaged).all()
    others = scores.owner != 1
    assert np.all(scores.averaged[others].argmin(axis=1) == 1)


def test_unequal_lengths_are_cut_and_padded_as_the_mechanism_does(make_table):
    table = make_table(people=4, recordings=2, rows=6)
    row = pl.int_range(pl.len()).over("person", "recording")
    table = replace(table, data=table.data.filter((pl.col("person") != "0") | (row < 3)))
    for length in ("shortest", "longest", 5):
        mechanism = mechanism_named("laplace", epsilon=1e6, length=length)
        released = mechanism.apply(table, randomness(0))
        scores = likelihood_scores(mechanism, table, released, people_of(table))
        assert named(scores.averaged, scores.owner).tolist() == [1.0] * 4


def test_another_original_is_refused_in_plain_words(make_table):
    mechanism = mechanism_named("laplace", epsilon=1.0)
    released = mechanism.apply(make_table(rows=8), randomness(0))
    with pytest.raises(InputError, match=r"a recording of 8 rows where laplace would have made 10"):
        likelihood_scores(mechanism, make_table(), released, ("0", "1"))


def test_many_people_are_compared_by_fewer_rows(monkeypatch, make_table):
    from eyelid.attacks.attackers import likelihood

    table = make_table(people=4, recordings=1, rows=10)
    mechanism = mechanism_named("laplace", epsilon=1e6)
    released = mechanism.apply(table, randomness(0))
    monkeypatch.setattr(likelihood, "_MOST_COMPARISONS", 4 * 4 * 2 * 3)
    assert how_many_compared(PublicFacts(4, 1, 10, 2), 4, 10) == 3
    scores = likelihood_scores(mechanism, table, released, people_of(table))
    assert named(scores.averaged, scores.owner).tolist() == [1.0] * 4
