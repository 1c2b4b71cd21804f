"""Games against k-anonymity: who is behind a record, what is one member's alone, who is together?

Made-up people whose recordings tell them apart, of unequal lengths, with gaps, and some without
some task, are released again and again. The attacks are those of an audit (`audits.anonymity`),
by somebody who has everybody's recordings.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.audits.anonymity import RecoveredGroups, padding, recover_partition
from eyelid.audits.claims.game import ALPHA, GameResult
from eyelid.audits.claims.outputs import OutputResult
from eyelid.audits.statistics import clopper_pearson
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.anonymising import AnonymisingMechanism
from eyelid.mechanisms.ksame import KSame
from eyelid.mechanisms.partition import group_sizes
from eyelid.privacy.noise import Randomness, randomness

RELEASES = 100
GUESSES = 20
"""Of every release, each with a member drawn anew as the one behind the record."""
_TASKS, _SHORTEST = 4, 6
# Rows of one task that only one person has values of.
_GAP = slice(2, 5)
# Tasks of the crowd that are not like the others.
_WITH_GAPS, _OF_SOME = 1, 3
_SEED = 0
# So many games are about one claim.
_ALPHA = ALPHA / 5


def play_anonymity(
    mechanism: AnonymisingMechanism, noise: Randomness, releases: int = RELEASES
) -> list[GameResult]:
    """Release the same people many times, and attack every release.

    The attacker names who is behind the record that has the fewest candidates, looks for steps that
    one member alone has made, and sees whether people who look alike, or do not, or were together
    before, are together more often than chance puts them together.

    Args:
        mechanism: with its parameters.
        noise: its randomness.
        releases: how many.
    """
    table = crowd(mechanism.k)
    named, recovered, alike, unlike, again = 0, 0, 0, 0, 0
    before = None
    for _ in range(releases):
        released = mechanism.apply(table, noise)
        found = recover_partition(table, released)
        named += _named(found, noise)
        recovered += padding(table, released, found).values > 0
        # Groups of one task, whatever becomes of the others.
        together = found.members[0].T @ found.members[0]
        alike += bool(together[0, 1])
        unlike += bool(together[0, -1])
        again += before is not None and np.array_equal(together, before)
        before = together
    people, (larger, smaller) = len(table.people), group_sizes(len(table.people), mechanism.k)
    pairs = math.comb(larger, 2) + math.comb(smaller, 2)
    chance = pairs / math.comb(people, 2)
    games = [
        ("identification", 1 / mechanism.k, named, GUESSES, "the record with fewest candidates"),
        ("recovery", 0.0, recovered, 1, "steps of one member alone"),
        ("together", chance, alike, 1, "two who look alike"),
        ("together", chance, unlike, 1, "two who look least alike"),
        ("together", 1 / math.comb(people, smaller), again, 1, "everybody as the time before"),
    ]
    return [
        GameResult(
            mechanism=mechanism.name,
            unit=str(mechanism.unit),
            calibrated_for=str(mechanism.unit),
            measure=measure,
            claimed=claimed,
            lower_bound=float(clopper_pearson(right, each * releases, _ALPHA)[0]),
            runs=each * releases,
            neighbours=how,
            holds=mechanism.claims_to_hold,
        )
        for measure, claimed, right, each, how in games
    ]


def _named(found: RecoveredGroups, noise: Randomness) -> int:
    """How many guesses are right about whoever is behind the record with the fewest candidates.

    A record under somebody's own name is that person's; any other is one of its candidates', each
    as likely as the others.
    """
    candidates = found.behind_all.sum(axis=1)
    record = int(np.where(candidates > 0, candidates, len(found.people) + 1).argmin())
    who = np.flatnonzero(found.behind_all[record])
    if not who.size:
        return 0
    drawn = (noise.words(2 * GUESSES) % np.uint64(who.size)).astype(np.intp).reshape(2, -1)
    guess, owner = who[drawn]
    if found.records[record] in found.people:
        owner = np.full(GUESSES, found.people.index(found.records[record]))
    return int((guess == owner).sum())


def same_for_everybody(mechanism: KSame) -> OutputResult:
    """Whether a release stays the same, to the last bit, whoever of a group is who.

    People get other names and stand in another order. Nothing of this may show, and nobody's
    recordings may move anybody to another group.

    Args:
        mechanism: to look at.
    """
    table = crowd(mechanism.k)
    member = mechanism.partition(table, randomness(_SEED))
    order = np.random.default_rng(_SEED).permutation(member.size)
    others = _reordered(table, order)
    shown, again = mechanism.averaged(table, member), mechanism.averaged(others, member[order])
    unmoved = np.array_equal(member, mechanism.partition(others, randomness(_SEED)))
    values = shown.data.select(shown.names).to_numpy()
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=values.size,
        same=unmoved and shown.data.equals(again.data) and shown.people.equals(again.people),
        inside=values.size,
        bare=0,
    )


def _reordered(table: FeatureTable, order: NDArray[np.intp]) -> FeatureTable:
    """The same people under new names, in another order."""
    names = table.people["person"].gather(order)
    new = pl.DataFrame({"person": names, "name": [f"new{i}" for i in range(len(names))]})
    data = new.join(table.data, on="person", how="left", maintain_order="left_right")
    return replace(
        table,
        data=data.with_columns(pl.col("name").alias("person")).drop("name"),
        people=new.select(pl.col("name").alias("person")),
    )


@functools.lru_cache(maxsize=8)
def crowd(k: int) -> FeatureTable:
    """2k + 1 people, each with a feature of their own that rises from row to row.

    Recordings end one row after the other. Of one task only the first person has values
    for a while; another one only some have. The first two look alike, and unlike the last.
    """
    people = 2 * k + 1
    rows = _SHORTEST + people
    # Unequal steps: no sum of some of them is another.
    rise = (np.arange(1, rows + 1) / rows) ** 1.5
    own = np.eye(people)[:, None, None, :] * rise[:, None]
    look = np.maximum(np.arange(people) - 1.0, 0.0) / people
    values = np.empty((people, _TASKS, rows, people + 1))
    values[..., :-1], values[..., -1] = own, look[:, None, None]
    values[1:, _WITH_GAPS, _GAP] = np.nan
    features = [Feature(f"own_{i}", "", "of one person", 0.0, 1.0) for i in range(people)]
    look_of_all = Feature("look", "", "by which people are alike", 0.0, 1.0)
    table = table_from_arrays(values, [*features, look_of_all])
    place = pl.int_range(pl.len())
    person = place // (rows * _TASKS)
    ended = place % rows >= _SHORTEST + person
    lacking = (place // rows % _TASKS == _OF_SOME) & (person % 3 == 0)
    return replace(table, data=table.data.filter(~(ended | lacking)))
