"""What is counted of people: against plain loops over raw values, and never beyond its reach."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.mechanisms.differential import SCALE
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic import sequences as blocking
from eyelid.mechanisms.synthetic.person_rounds import Alike, Nested, widths
from eyelid.mechanisms.synthetic.rounds import (
    AllPairs,
    Levels,
    Round,
    Shares,
    Signs,
    whole_waves,
)
from eyelid.mechanisms.synthetic.sequences import (
    LENGTH_BINS,
    Sequences,
    lags_of,
    length_bin,
    length_edges,
)
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON

BINS = 8
ABOUT: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-5, "bins": BINS}
TREE = (-1, 0, 0, 1)


def rounds(features: int) -> list[Round]:
    """One of each kind."""
    return [
        Levels(**ABOUT),
        Shares(**ABOUT),
        Shares(**ABOUT, with_lengths=False),
        Signs(**ABOUT, parents=TREE[:features]),
        AllPairs(**ABOUT),
        Nested(**ABOUT | {"bins": BINS}),
        Alike(**ABOUT),
        Shares(**ABOUT, pieces=3),
    ]


def somebody(rng: np.random.Generator, facts: PublicFacts) -> tuple[np.ndarray, np.ndarray]:
    """Codes and lengths of a person who is as they like: still, wild, there or not."""
    size = (facts.recordings, facts.length, 1 + len(lags_of(facts.window)), facts.features)
    kind = rng.integers(4)
    codes = np.full(size, rng.integers(BINS + 1)) if kind == 0 else rng.integers(0, BINS + 1, size)
    if kind == 1:
        codes = np.where(rng.random(size) < 0.5, 0, BINS - 1)
    if kind == 2:
        # Every row the same, each feature at an end.
        codes = np.broadcast_to(rng.choice([0, BINS - 1], facts.features), size).copy()
    lengths = rng.choice([0, 1, 2, 7, 1200, 10**7], facts.recordings)
    codes[lengths == 0] = BINS
    return codes, lengths


def of_people(people: list[tuple[np.ndarray, np.ndarray]], groups: int = 1) -> Sequences:
    codes, lengths = (np.array(part) for part in zip(*people, strict=True))
    return Sequences(codes.astype(np.uint8), lengths, BINS, np.arange(len(people)) % groups)


def any_lookup(
    mechanism: Round,
    rng: np.random.Generator,
    facts: PublicFacts,
    groups: int = 1,
    runs: tuple[int, ...] = (),
) -> np.ndarray | None:
    """Whatever the noisy answers before may have suggested, also about what is missing."""
    last = (facts.features, BINS + 1)
    if isinstance(mechanism, Levels):
        return None
    if isinstance(mechanism, Shares):
        return rng.integers(0, mechanism.pieces + 1, (*runs, *last))
    return rng.integers(-1, 2, (*runs, groups, facts.recordings, *last))


def looped(
    mechanism: Round,
    sequences: Sequences,
    person: int,
    facts: PublicFacts,
    lookup: np.ndarray | None,
) -> list[int]:
    """What one person counts, one row after the other."""
    codes, lengths = sequences.codes[person], sequences.lengths[person]
    tasks, rows, features = facts.recordings, facts.length, facts.features
    whole = mechanism.whole(facts)
    if isinstance(mechanism, Levels):
        table = np.zeros((features, BINS + 1), dtype=object)
        for task, row, feature in np.ndindex(tasks, rows, features):
            table[feature, codes[task, row, 0, feature]] += whole // (tasks * rows)
        if isinstance(mechanism, Nested):
            return [
                sum(table[feature, first : first + width])
                for feature in range(features)
                for width in widths(BINS)
                for first in range(0, BINS, width)
            ]
        return table[:, :BINS].ravel().tolist()
    if isinstance(mechanism, Shares):
        pieces = mechanism.pieces
        quarters = np.zeros((tasks, features, pieces + 1), dtype=object)
        for task, row, feature in np.ndindex(tasks, rows, features):
            code = codes[task, row, 0, feature]
            even = int(code) * pieces // BINS
            quarter = even if lookup is None else lookup[feature, code]
            quarters[task, feature, quarter] += whole // rows
        found = quarters[..., :pieces].ravel().tolist()
        if mechanism.with_lengths:
            for length in lengths:
                # Three bins for each doubling, the last one open.
                inside = [
                    0 < 2 ** (k / 3) <= length + 1e-6 and length < 2 ** ((k + 1) / 3) - 1e-6
                    for k in range(LENGTH_BINS)
                ]
                inside[-1] |= bool(length >= 2 ** (LENGTH_BINS / 3))
                found += [whole * one for one in inside]
        return found
    group = sequences.group[person]

    def sign(task: int, row: int, lag: int, feature: int) -> int:
        code = int(codes[task, row, lag, feature])
        if lookup is None:
            return 0 if code == BINS else (1 if code >= BINS / 2 else -1)
        return int(lookup[group, task, feature, code])

    def mean(one: tuple[int, int], other: tuple[int, int]) -> int:
        total = sum(
            sign(task, row, *one) * sign(task, row, *other)
            for task in range(tasks)
            for row in range(rows)
        )
        return total * (whole // (tasks * rows))

    if isinstance(mechanism, AllPairs):
        return [mean((0, i), (0, j)) for i in range(features) for j in range(i + 1, features)]
    if isinstance(mechanism, Alike):
        sums = [
            sum(sign(task, row, 0, f) for task in range(tasks) for row in range(rows))
            for f in range(features)
        ]
        return [one**2 * (whole // (tasks * rows) ** 2) for one in sums]
    assert isinstance(mechanism, Signs)
    found = [mean((0, child), (0, mechanism.parents[child])) for child in range(1, features)]
    for lag in range(1, codes.shape[2]):
        found += [mean((0, feature), (lag, feature)) for feature in range(features)]
    for feature in range(features if tasks > 1 else 0):
        sums = [sum(sign(task, row, 0, feature) for row in range(rows)) for task in range(tasks)]
        across = sum(sums[task] * sums[task - 1] for task in range(tasks))
        found.append(across * (whole // (tasks * rows * rows)))
    for k in (1, 2):
        wave = [round(256 * math.cos(math.pi * k * (row + 0.5) / rows)) for row in range(rows)]
        if not any(wave):
            wave = [1] * rows
        for feature in range(features):
            total = sum(
                sign(task, row, 0, feature) * wave[row]
                for task in range(tasks)
                for row in range(rows)
            )
            found.append(total * (whole // (tasks * sum(map(abs, wave)))))
    return found


@pytest.mark.parametrize("even", [True, False], ids=["even lookup", "any lookup"])
@pytest.mark.parametrize(("tasks", "rows", "features"), [(1, 1, 1), (2, 3, 4), (3, 5, 2)])
def test_counts_are_those_of_a_plain_loop(tasks, rows, features, even):
    rng = np.random.default_rng(tasks)
    facts = PublicFacts(4, tasks, rows, features, window=8)
    people = of_people([somebody(rng, facts) for _ in range(4)], groups=2)
    for mechanism in rounds(features):
        lookup = None if even else any_lookup(mechanism, rng, facts, groups=2)
        found = mechanism.counted(people, facts, lookup)
        assert found.shape == (4, mechanism.cells(facts))
        for person in range(4):
            assert found[person].tolist() == looped(mechanism, people, person, facts, lookup)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 5), st.integers(1, 4))
def test_nobody_who_is_replaced_moves_a_round_beyond_its_reach(seed, tasks, rows, features):
    """Whatever both do, and whatever noisy answers suggested to look up."""
    rng = np.random.default_rng(seed)
    facts = PublicFacts(2, tasks, rows, features, window=1)
    for mechanism in rounds(features):
        lookup = any_lookup(mechanism, rng, facts)
        pair = of_people([somebody(rng, facts), somebody(rng, facts)])
        one, other = mechanism.counted(pair, facts, lookup).astype(object)
        moved = math.sqrt(sum((one - other) ** 2))
        assert moved <= mechanism.sensitivity(facts, PERSON) * (1 + 1e-12)


def still(facts: PublicFacts, codes: object, length: int) -> tuple[np.ndarray, np.ndarray]:
    """A person whose rows are all the same; codes by task, lag or feature."""
    size = (facts.recordings, facts.length, 1 + len(lags_of(facts.window)), facts.features)
    return np.broadcast_to(codes, size), np.full(facts.recordings, length)


def test_somebody_reaches_all_of_it_in_levels_and_shares():
    facts = PublicFacts(2, 3, 7, 4, window=1)
    pair = of_people([still(facts, 0, 1), still(facts, BINS - 1, 1200)])
    for mechanism in [*rounds(4)[:3], Nested(**ABOUT)]:
        one, other = mechanism.counted(pair, facts)
        reached = np.linalg.norm(one - other) / mechanism.sensitivity(facts, PERSON)
        assert 0.9999 < reached <= 1


def test_somebody_reaches_all_of_it_in_all_pairs():
    """Four signs with as many pairs that agree as a balanced row allows."""
    facts = PublicFacts(2, 3, 7, 4, window=1)
    pair = of_people([still(facts, 7, 5), still(facts, [0, 0, 7, 7], 5)])
    mechanism = AllPairs(**ABOUT)
    one, other = mechanism.counted(pair, facts)
    reached = np.linalg.norm(one - other) / mechanism.sensitivity(facts, PERSON)
    assert 0.9999 < reached <= 1


def test_somebody_reaches_all_of_it_in_the_likeness_of_rows():
    """Whose rows are all the same, beside one who is high in every second row."""
    facts = PublicFacts(2, 1, 2, 4, window=1)
    size = (1, 2, 1 + len(lags_of(facts.window)), 4)
    mixed = np.broadcast_to(np.array([0, 7])[:, None, None], size), np.array([2])
    mechanism = Alike(**ABOUT)
    one, other = mechanism.counted(of_people([still(facts, 7, 5), mixed]), facts)
    reached = np.linalg.norm(one - other) / mechanism.sensitivity(facts, PERSON)
    assert 0.9999 < reached <= 1


def test_nested_tables_are_as_wide_as_they_are_said_to_be():
    assert widths(128) == [32, 16, 8, 4, 2]
    facts = PublicFacts(2, 1, 1, 1, window=1)
    mechanism = Nested(epsilon=2.0, delta=1e-5, bins=128)
    assert mechanism.cells(facts) == 4 + 8 + 16 + 32 + 64
    assert mechanism.reach(facts) == pytest.approx(math.sqrt(10))


def test_somebody_reaches_most_of_it_in_the_signs():
    """All but the waves, which go with neither: √(23/31) of the whole, with two tasks."""
    facts = PublicFacts(2, 2, 6, 4, window=16)
    up = still(facts, 7, 5)
    # Against the parent, against itself later, and the other way round in the other task.
    size = (2, 6, 5, 4)
    depth = np.array([0, 1, 1, 0])
    high = (depth + (np.arange(5) > 0)[:, None] + np.arange(2)[:, None, None, None]) % 2
    down = np.broadcast_to(high * 7, size), np.full(2, 5)
    mechanism = Signs(**ABOUT, parents=TREE)
    one, other = mechanism.counted(of_people([up, down]), facts)
    reached = np.linalg.norm(one - other) / mechanism.sensitivity(facts, PERSON)
    pairs, lags, tasks, waves = mechanism.numbers(facts)
    assert reached == pytest.approx(
        math.sqrt((pairs + lags + tasks) / (pairs + lags + tasks + waves)), rel=1e-4
    )
    assert reached > 0.8


@pytest.mark.parametrize("mechanism", rounds(3), ids=lambda mechanism: mechanism.name)
def test_runs_in_front_give_the_same_as_one_by_one(mechanism):
    rng = np.random.default_rng(7)
    facts = PublicFacts(5, 2, 3, 3, window=1)
    people = of_people([somebody(rng, facts) for _ in range(5)], groups=2)
    lookups = any_lookup(mechanism, rng, facts, groups=2, runs=(2, 3))
    if lookups is None:
        assert (mechanism.total(people, facts, None) == mechanism.total(people, facts)).all()
        return
    together = mechanism.total(people, facts, lookups)
    for run in np.ndindex(2, 3):
        assert (together[run] == mechanism.total(people, facts, lookups[run])).all()


@pytest.mark.parametrize("mechanism", rounds(3), ids=lambda mechanism: mechanism.name)
def test_sums_do_not_depend_on_blocks_or_on_the_order_of_people(mechanism, monkeypatch):
    rng = np.random.default_rng(8)
    facts = PublicFacts(7, 2, 3, 3, window=1)
    people = of_people([somebody(rng, facts) for _ in range(7)], groups=3)
    lookup = any_lookup(mechanism, rng, facts, groups=3)
    at_once = mechanism.total(people, facts, lookup)
    assert at_once.dtype == np.int64
    order = rng.permutation(7)
    shuffled = Sequences(people.codes[order], people.lengths[order], BINS, people.group[order])
    monkeypatch.setattr(blocking, "_BLOCK_PEOPLE", 2)
    assert (mechanism.total(people, facts, lookup) == at_once).all()
    assert (mechanism.total(shuffled, facts, lookup) == at_once).all()


def test_a_group_has_the_shares_of_its_own_people():
    rng = np.random.default_rng(9)
    facts = PublicFacts(6, 2, 3, 3, window=1)
    people = of_people([somebody(rng, facts) for _ in range(6)], groups=3)
    mechanism = Shares(**ABOUT)
    total, each = mechanism.total(people, facts), mechanism.counted(people, facts)
    for group in range(3):
        assert (total[group] == each[group::3].sum(axis=0)).all()


@pytest.mark.parametrize("mechanism", rounds(4), ids=lambda mechanism: mechanism.name)
def test_the_reach_of_a_person_is_the_share_of_mu_in_steps_of_noise(mechanism):
    """Never above: and no more below than whole numbers need."""
    facts = PublicFacts(100, 3, 32, 4)
    part = replace(mechanism, share=0.25, elsewhere=1000)
    lost = 1 - part.sensitivity(facts, PERSON) / SCALE / part.mu(facts)
    assert 0 <= lost < 1e-6
    assert part.mu(facts) == pytest.approx(mechanism.mu(facts) / 2, rel=1e-6)
    assert part.noise_of_person(facts) == pytest.approx(
        2 * mechanism.noise_of_person(facts), rel=1e-6
    )


def test_noise_in_people_is_what_is_added():
    """Standard deviation of 20 000 draws, within five standard errors."""
    mechanism = Shares(**ABOUT)
    facts = PublicFacts(10, 1, 4, 2)
    drawn = mechanism.perturb(np.zeros(20_000, dtype=np.int64), facts, randomness(1))
    found = mechanism.in_people(drawn, facts).std() / mechanism.noise_of_person(facts)
    assert abs(found - 1) < 5 / math.sqrt(40_000)


def test_lengths_are_in_one_bin_each_and_bins_follow_each_other():
    edges = length_edges()
    assert (np.diff(edges) >= 0).all()
    assert edges[-1] > 2_000_000
    rows = np.unique(np.concatenate([np.arange(1, 2000), edges[:-1], edges[1:-1] - 1]))
    found = length_bin(rows[rows > 0])
    assert (edges[found] <= rows[rows > 0]).all()
    assert (rows[rows > 0] < edges[found + 1]).all()
    assert length_bin(np.array([0, 10**12])).tolist() == [-1, LENGTH_BINS - 1]


@pytest.mark.parametrize("rows", [1, 2, 3, 32, 1000])
def test_waves_are_cosines_in_whole_numbers_and_never_nothing(rows):
    waves = whole_waves(rows)
    assert (np.abs(waves).sum(axis=1) > 0).all()
    if rows > 2:
        middle = (np.arange(rows) + 0.5) / rows
        for k, wave in enumerate(waves, start=1):
            assert np.abs(wave / 256 - np.cos(np.pi * k * middle)).max() <= 0.5 / 256 + 1e-12


@pytest.mark.parametrize("mechanism", rounds(4), ids=lambda mechanism: mechanism.name)
def test_what_there_are_no_numbers_for_is_refused_before_anything_is_counted(mechanism):
    facts = PublicFacts(100, 3, 32, 4)
    with pytest.raises(InputError, match="more than there are numbers for: choose a smaller ε"):
        mechanism.sampler(replace(facts, people=2**40))
    with pytest.raises(InputError, match=r"with 100000000000 records .* or fewer records"):
        mechanism.sampler(replace(facts, length=10**11))
