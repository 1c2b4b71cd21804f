"""Whole datasets: the test of plausible deniability, and k-same.

Records are made up: 52 features of 16 bins by a chain with random odds, 100 of each of 200 people;
candidates keep the first features of one of them, and draw the others.
"""

from __future__ import annotations

import bisect
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.case import Case, remark
from benchmarks.crowd import crowd
from benchmarks.family import processor_seconds
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.synthetic.binning import Codes
from eyelid.mechanisms.synthetic.chain import Chain
from eyelid.mechanisms.synthetic.deniability import plausible_people
from eyelid.privacy.noise import randomness

CANDIDATES, SEEDS, FEATURES, BINS = 100_000, 20_000, 52, 16
RECORDS_EACH = 100
PEER_CANDIDATES, PEER_BLOCK = 100, 20
CHECKED = 20
MOST_SECONDS, MOST_MB = 60.0, 100.0
PEOPLE, TASKS, WINDOWS, K = 1000, 3, 2400, 8
MOST_SECONDS_KSAME = 5.0

Integers = NDArray[np.int64]
T = TypeVar("T")


def cases() -> Iterator[Case]:
    """The test with few and with many buckets, and where all lie on an edge; k-same."""
    remark(f"anonymity: {CANDIDATES:,} candidates, {SEEDS:,} records, {FEATURES} features")
    cuts = np.sort(np.random.default_rng(0).integers(0, 1 << 30, (FEATURES, BINS, BINS - 1)))
    odds = np.diff(cuts, axis=-1, prepend=0, append=1 << 30)
    even = np.full((FEATURES, BINS, BINS), (1 << 30) // BINS)
    yield _tested("keeping 1 to 3 features, γ = 2", Trial.of(odds, (1, 3), 2.0))
    yield _tested("keeping up to 52 features, γ = 1000", Trial.of(odds, (0, FEATURES), 1000.0))
    yield _tested("keeping 1 or 2, γ = 32, on edges of buckets", Trial.of(even, (1, 2), 32.0))
    yield _ksame()


@dataclass(frozen=True, eq=False)
class Trial:
    """Candidates to be tested, and what they were made of."""

    candidates: Codes
    made_of: Integers
    seeds: Codes
    owner: Integers
    weights: Integers
    kept: tuple[int, int]
    gamma: float

    @classmethod
    def of(cls, weights: Integers, kept: tuple[int, int], gamma: float) -> Trial:
        """Simulated records of a chain, and candidates of these."""
        rng, chain = np.random.default_rng(1), Chain(weights)
        nothing = np.zeros((SEEDS, FEATURES), dtype=np.uint8)
        seeds = chain.drawn(nothing, np.zeros(SEEDS, dtype=np.intp), randomness(2))
        made_of = rng.integers(0, SEEDS, CANDIDATES)
        how_many = rng.integers(kept[0], kept[1] + 1, CANDIDATES)
        candidates = chain.drawn(seeds[made_of], how_many, randomness(3))
        owner = np.arange(SEEDS) // RECORDS_EACH
        return cls(candidates, made_of, seeds, owner, weights, kept, gamma)

    def people(self) -> Integers:
        """Ours."""
        return plausible_people(
            self.candidates,
            self.made_of,
            self.seeds,
            self.owner,
            self.weights,
            self.kept,
            self.gamma,
        )

    def plain_people(self, candidates: int) -> Integers:
        """As one would write it: every candidate against every record, in logarithms, by blocks."""
        (low, high), found = self.kept, []
        for first in range(0, candidates, PEER_BLOCK):
            rows = self.candidates[first : first + PEER_BLOCK]
            same = rows[:, None, :high] == self.seeds[None, :, :high]
            shared = np.logical_and.accumulate(same, axis=2).sum(axis=2)
            before = np.concatenate([np.zeros_like(rows[:, :1]), rows[:, :-1]], axis=1)
            odds = self.weights[np.arange(FEATURES), before, rows] / self.weights[0, 0].sum()
            tails = np.zeros((len(rows), FEATURES + 1))
            tails[:, :-1] = np.cumsum(np.log(odds)[:, ::-1], axis=1)[:, ::-1]
            logs = np.full((len(rows), high + 1), -np.inf)
            logs[:, low:] = np.logaddexp.accumulate(tails[:, low : high + 1], axis=1)
            logs -= np.log(high - low + 1)
            bucket = np.floor(-np.take_along_axis(logs, shared, axis=1) / np.log(self.gamma))
            row = np.arange(len(rows))
            own = bucket[row, self.made_of[first : first + PEER_BLOCK]]
            alike = bucket == own[:, None]
            people = np.logical_or.reduceat(alike, np.arange(0, SEEDS, RECORDS_EACH), axis=1)
            found.append(people.sum(axis=1))
        return np.concatenate(found)

    def exact_people(self, number: int) -> int:
        """The same of one candidate in fractions."""
        candidate, (low, high) = self.candidates[number], self.kept
        total, base = int(self.weights[0, 0].sum()), Fraction(repr(self.gamma))

        def bucket(shared: int) -> int | None:
            chance = Fraction(0)
            for kept in range(low, min(shared, high) + 1):
                product = Fraction(1, high - low + 1)
                for j in range(kept, FEATURES):
                    before = candidate[j - 1] if j else 0
                    product *= Fraction(int(self.weights[j, before, candidate[j]]), total)
                chance += product
            if not chance:
                return None
            return bisect.bisect_right(range(2000), 1, key=lambda i: chance * base**i) - 1

        same = np.logical_and.accumulate(self.seeds[:, :high] == candidate[:high], axis=1)
        shared = same.sum(axis=1)
        buckets = {m: bucket(m) for m in set(shared.tolist())}
        own = buckets[int(shared[self.made_of[number]])]
        alike = [m for m, found in buckets.items() if found == own]
        return len(set(self.owner[np.isin(shared, alike)].tolist()))


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    """What comes of it, and its processor time."""
    found: list[T] = []
    seconds = processor_seconds(lambda: found.append(action()))
    return found[0], seconds


def _tested(name: str, trial: Trial) -> Case:
    people, ours = _timed(trial.people)
    peer, plain = _timed(lambda: trial.plain_people(PEER_CANDIDATES))
    tracemalloc.start()
    trial.people()
    peak_mb = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    exact = np.array([trial.exact_people(number) for number in range(CHECKED)])
    wrong = int(np.count_nonzero(people[:CHECKED] != exact))
    return Case(
        f"plausible deniability of {CANDIDATES:,} candidates, {name}",
        "s CPU",
        ours,
        "every candidate against every record, numpy float64, "
        f"{PEER_CANDIDATES} of them and extrapolated",
        plain * CANDIDATES / PEER_CANDIDATES,
        f"under {MOST_SECONDS:g} s and {MOST_MB:g} MB, none of {CHECKED} unlike exact fractions",
        ours < MOST_SECONDS and peak_mb < MOST_MB and wrong == 0,
        {
            "peak_mb": peak_mb,
            "unlike_fractions": wrong,
            "peer_unlike_fractions": int(np.count_nonzero(peer[:CHECKED] != exact)),
            "peer_unlike_ours": int(np.count_nonzero(peer != people[:PEER_CANDIDATES])),
            "median_people": int(np.median(people)),
        },
    )


def _ksame() -> Case:
    names = [f"f{j}" for j in range(FEATURES)]
    table, mechanism = crowd(PEOPLE, TASKS, WINDOWS, names), KSame(k=K)
    member = mechanism.partition(table, randomness(5))
    persons = table.recordings["person"].unique(maintain_order=True)
    group = pl.DataFrame({"person": persons, "group": member})

    def plain() -> pl.DataFrame:
        return (
            table.data.join(group, on="person", maintain_order="left")
            .with_columns(pl.int_range(pl.len()).over("person", "recording").alias("row"))
            .group_by("group", "task", "row")
            .agg(pl.col(table.names).mean())
        )

    released, ours = _timed(lambda: mechanism.apply(table, randomness(5)))
    theirs, plain_seconds = _timed(plain)
    means = released.data.select(table.names).to_numpy()
    same = theirs.sort("group", "task", "row").select(table.names).to_numpy()
    return Case(
        f"k-same of {PEOPLE:,} people × {TASKS} tasks × {WINDOWS} windows × {FEATURES} features",
        "s CPU",
        ours,
        "polars group_by and mean, without clipping or filling gaps",
        plain_seconds,
        f"under {MOST_SECONDS_KSAME:g} s",
        ours < MOST_SECONDS_KSAME,
        {"largest_difference": float(np.abs(means - same).max())},
    )
