"""Games against k-anonymity: who is behind a record, what is one member's alone, who is together?

Simulated participants whose recordings distinguish them, of unequal lengths, with gaps, and some
without some task, are released again and again. The attacks are those of an audit, by an attacker
who has everybody's recordings (`eyelid.attacks.anonymity`). What `ksame` promises of every group
(its size, its values of a sensitive attribute, its copies, its rows, its gaps) is looked up in
every release, and whether a person with a rare attribute is in the larger group as often as any
other person.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.anonymity import RecoveredGroups, filled_in, recover_partition
from eyelid.attacks.groups import padding
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.privacy.noise import Randomness, randomness
from eyelid.verification.game import ALPHA, GameResult, of_guesses
from eyelid.verification.outputs import OutputResult

RELEASES = 100
Game = tuple[str, float, int, str]
"""What is measured, what is claimed of it, tries in every release, and how they are made."""
GUESSES = 20
"""Guesses at each release, each with a member drawn anew as the one behind the record."""
_TASKS, _SHORTEST = 4, 6
# Rows of one task that only one person has values of.
_GAP = slice(2, 5)
# Tasks of the crowd that are not like the others.
_WITH_GAPS, _ONE_LACKING, _OF_SOME = 1, 2, 3
_SEED = 0

_FEWEST, _ALONE = "the record with fewest candidates", "steps of one member alone"
_ALIKE, _UNLIKE = "two who look alike", "two who look least alike"
_AGAIN = "everybody as the time before"
_SMALL, _ONE_SIDED = "fewer than k people in a group", "fewer than l values in a group"
_UNEQUAL, _LONG = "unlike, or not one for each member", "beyond the length that was asked for"
_FILLED = "a value where a member has none"
_IN_LARGER = "a person with a rare attribute in the larger group"
_IN_SMALLER = "a person with a rare attribute in the smaller group"
# The person of the crowd whose public attribute nobody else has.
_RARE = 2


def play_anonymity(mechanism: Any, noise: Randomness, releases: int = RELEASES) -> list[GameResult]:
    """Release the same people many times, and attack every release.

    The attacker names who is behind the record that has the fewest candidates, looks for steps that
    one member alone has made, and sees whether people who look alike, or do not, or were together
    before, are together more often than chance puts them together.

    Args:
        mechanism: with its parameters.
        noise: its randomness.
        releases: how many.
    """
    people = len(crowd(mechanism.k).people)
    return _play(mechanism, noise, releases, [people], [], lambda *_: {})


def play_groups(mechanism: Any, noise: Randomness, releases: int = RELEASES) -> list[GameResult]:
    """Attack as `play_anonymity` does, and look at every group, and where a rare participant is.

    Args:
        mechanism: with its parameters.
        noise: its randomness.
        releases: how many.
    """
    table = crowd(mechanism.k)
    people = len(table.people)
    larger = (people + 1) // 2 / people
    games = [
        ("size", 0.0, 1, _SMALL),
        ("copies", 0.0, 1, _UNEQUAL),
        ("rows", 0.0, 1, _LONG),
        ("gaps", 0.0, 1, _FILLED),
        ("seats", larger, 1, _IN_LARGER),
        ("seats", 1 - larger, 1, _IN_SMALLER),
    ]
    games += [("diversity", 0.0, 1, _ONE_SIDED)] if mechanism.diverse else []
    sharing = _sharing_attributes(mechanism, table)
    return _play(mechanism, noise, releases, sharing, games, functools.partial(_broken, mechanism))


def _play(
    mechanism: Any,
    noise: Randomness,
    releases: int,
    sharing: list[int],
    more: list[Game],
    broken: Callable[[FeatureTable, FeatureTable, RecoveredGroups], dict[str, bool]],
) -> list[GameResult]:
    """All games: those about everybody, who share attributes, and those about promises."""
    # What is compared with releases are the rows that go into them.
    own = crowd(mechanism.k)
    table = mechanism.taken(own)
    # Draws around means show less than these; what they are made of is looked at by itself.
    averaging = replace(mechanism, spread=None) if mechanism.spread else mechanism
    right: Counter[str] = Counter()
    before = None
    for _ in range(releases):
        released = averaging.apply(own, noise)
        found = recover_partition(table, released)
        # Groups of one task, whatever becomes of the others.
        together = found.members[0].T @ found.members[0]
        right[_FEWEST] += _named(found, noise)
        right[_ALONE] += padding(table, released, found).values > 0
        right[_ALIKE] += bool(together[0, 1])
        right[_UNLIKE] += bool(together[0, -1])
        right[_AGAIN] += before is not None and np.array_equal(together, before)
        before = together
        right.update(broken(table, released, found))
    chance = _together(sharing)
    games = [
        ("identification", 1 / mechanism.k, GUESSES, _FEWEST),
        ("recovery", 0.0, 1, _ALONE),
        ("together", chance, 1, _ALIKE),
        ("together", chance, 1, _UNLIKE),
        ("together", _again(sharing), 1, _AGAIN),
        *more,
    ]
    return [
        of_guesses(
            mechanism,
            measure,
            claimed,
            right=right[how],
            runs=each * releases,
            alpha=ALPHA / len(games),
            neighbours=f"{how}{_setting(mechanism)}",
        )
        for measure, claimed, each, how in games
    ]


def _together(sharing: list[int]) -> float:
    """How often the first two people are in one of two groups, one of which has an extra seat.

    One arbitrary person has the extra seat, in either group. Of all others, those who share all
    attributes are in the two groups half by half.
    """
    mine, people = sharing[0], sum(sharing)
    return (2 / 2 + (mine - 2) * _halved(mine - 1) + (people - mine) * _halved(mine)) / people


def _halved(people: int) -> float:
    """How often two of some people are together who are in two groups half by half."""
    if people < 2:
        return 0.0
    halves = (people // 2, people - people // 2)
    return sum(math.comb(half, 2) for half in halves) / math.comb(people, 2)


def _again(sharing: list[int]) -> float:
    """How often two groups of people are those of the time before, at most.

    The person with the extra seat is in the larger group. The halves of all others, in each of
    those who share all attributes, come in so many ways, and the extra seat is in one group or the
    other.
    """
    people, ways = sum(sharing), [math.comb(each, each // 2) for each in sharing]
    fewest = min(
        math.prod(ways) // own * math.comb(each - 1, (each - 1) // 2)
        for each, own in zip(sharing, ways, strict=True)
    )
    return (people + 1) // 2 / people / fewest


def _sharing_attributes(mechanism: Any, table: FeatureTable) -> list[int]:
    """How many people share all attributes that groups are drawn by, the first one's people first.

    Those who look alike, and least alike, are among them.
    """
    named = (mechanism.diverse, mechanism.balance)
    names = [name for each in named if each for name in each.split(",")]
    if not names:
        return [len(table.people)]
    sizes: list[int] = table.people.group_by(names, maintain_order=True).len()["len"].to_list()
    return sizes


def _setting(mechanism: Any) -> str:
    """Whatever is not set as it is by default, in words."""
    own = [f for f in fields(mechanism) if f.default not in (MISSING, getattr(mechanism, f.name))]
    return "".join(f", {item.name}={getattr(mechanism, item.name)}" for item in own)


def _broken(
    mechanism: Any, table: FeatureTable, released: FeatureTable, found: RecoveredGroups
) -> dict[str, bool]:
    """Which promises about groups a release breaks."""
    behind = found.behind_all
    own, shown = (
        each.recordings.group_by("person", maintain_order=True).agg(
            pl.col("rows").min().alias("fewest"), pl.col("rows").max().alias("most")
        )
        for each in (table, released)
    )
    shortest = own["fewest"].to_numpy()
    most = np.where(behind, shortest, np.inf).min(axis=1)
    if mechanism.length == "shortest":
        most[:] = shortest.min()
    elif isinstance(mechanism.length, int):
        most = np.minimum(most, mechanism.length)
    if mechanism.resample is not None:
        most[:] = mechanism.resample
    broken = {
        _SMALL: bool((behind.sum(axis=1) < mechanism.k).any()),
        _UNEQUAL: bool((_weights(released) != behind.sum(axis=1)).any()),
        _LONG: bool((shown["most"].to_numpy() > most).any()),
        _FILLED: filled_in(table, released, found) > 0,
    }
    size = behind.sum(axis=1)
    own = size[behind[:, _RARE]]
    if own.size and size.min() < size.max():
        broken[_IN_LARGER if own.max() == size.max() else _IN_SMALLER] = True
    if mechanism.diverse:
        values, wanted = table.people[mechanism.diverse].to_numpy(), mechanism.values_of_diverse
        broken[_ONE_SIDED] = any(len(set(values[group])) < wanted for group in behind)
    return broken


def _weights(released: FeatureTable) -> NDArray[np.int64]:
    """How many people a record stands for: what it says, or how many records are equal to it."""
    if "people" in released.people.columns:
        return released.people["people"].to_numpy()
    records = released.data.partition_by("person", maintain_order=True, include_key=False)
    contents = [record.hash_rows().to_numpy().tobytes() for record in records]
    often = Counter(contents)
    return np.array([often[one] for one in contents])


def _named(found: RecoveredGroups, noise: Randomness) -> int:
    """How many guesses are right about who is behind the record with the fewest candidates.

    A record under a person's own name is that person's; any other is one of its candidates', each
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


def same_for_everybody(mechanism: Any) -> OutputResult:
    """Whether a release stays the same, to the last bit, under any order of a group's members.

    People get other names and stand in another order. Nothing of this may show, and nobody's
    recordings may move any person to another group, attributes being the same.

    Args:
        mechanism: to look at.
    """
    table = crowd(mechanism.k)
    member = mechanism.partition(table, randomness(_SEED))
    order = np.random.default_rng(_SEED).permutation(member.size)
    others = _reordered(table, order)
    shown, again = mechanism.averaged(table, member), mechanism.averaged(others, member[order])
    attributes = table.people.with_columns(others.people["person"])
    moved = mechanism.partition(replace(others, people=attributes), randomness(_SEED)) != member
    values = shown.data.select(shown.names).to_numpy()
    drawn = mechanism.spread is None or spread_of_means_alone(mechanism)
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=values.size,
        same=drawn
        and not moved.any()
        and shown.data.equals(again.data)
        and shown.people.equals(again.people),
        inside=values.size,
        bare=0,
    )


def spread_of_means_alone(mechanism: Any) -> bool:
    """Whether what is drawn around means stays the same, to the last bit, whatever members do.

    In every cell the values of a group's members change places, so that its mean is the same and
    its members are others, and differ more or less. Nothing of this may show: the spread is to be
    known from elsewhere. And there must be one: where people differ, members get no equal copies.

    Args:
        mechanism: to look at, with its spread.
    """
    table = _covered(mechanism.k)
    member = mechanism.partition(table, randomness(_SEED))
    values = table.data.select(table.names).to_numpy()
    people = member.size
    cells = values.reshape(people, -1, values.shape[1])
    mixed = np.empty_like(cells)
    rng = np.random.default_rng(_SEED)
    for group in range(member.max() + 1):
        mine = cells[member == group]
        # Everybody's least, or largest, for one person: farther apart than anyone was.
        mine = np.sort(mine, axis=0) if group % 2 else rng.permuted(mine, axis=0)
        mixed[member == group] = mine
    others = replace(
        table,
        data=table.data.with_columns(
            pl.Series(name, mixed[:, :, j].ravel()) for j, name in enumerate(table.names)
        ),
    )
    shown, again = (mechanism.apply(each, randomness(_SEED)) for each in (table, others))
    copies = shown.data.partition_by("person", maintain_order=True, include_key=False)
    apart = len({copy.hash_rows().to_numpy().tobytes() for copy in copies}) == people
    return bool(apart and shown.data.equals(again.data) and shown.people.equals(again.people))


@functools.lru_cache(maxsize=8)
def _covered(k: int) -> FeatureTable:
    """2k + 1 people with all rows and values, of features whose spread is publicly known."""
    names = ("fixation_rate", "saccade_rate", "small_saccade_ratio")
    people, tasks, rows = 2 * k + 1, 2, 12
    rng = np.random.default_rng(k)
    own = rng.uniform(0.3, 0.6, (people, 1, 1, len(names)))
    values = own + rng.uniform(0.0, 0.2, (people, tasks, rows, len(names)))
    features = [Feature(name, "1", "", 0.0, 1.0) for name in names]
    return table_from_arrays(values, features)


def _reordered(table: FeatureTable, order: NDArray[np.intp]) -> FeatureTable:
    """A table's people under new names, in another order."""
    people = table.people[order]
    new = people.select("person", name=pl.format("new{}", pl.int_range(pl.len())))
    data = new.join(table.data, on="person", how="left", maintain_order="left_right")
    return replace(
        table,
        data=data.with_columns(pl.col("name").alias("person")).drop("name"),
        people=people.with_columns(new["name"].alias("person")),
    )


@functools.lru_cache(maxsize=8)
def crowd(k: int) -> FeatureTable:
    """2k + 1 people, each with a feature of their own that rises from row to row.

    Recordings end one row after the other. Of one task only the first person has values for a
    while, of another all but the second; a third one only some have. The first two look alike, and
    unlike the last; these three share their attributes. Of the ``sensitive`` one, three values are
    one person's alone, of the ``public`` one, one.
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
    values[1, _ONE_LACKING, _GAP] = np.nan
    features = [Feature(f"own_{i}", "", "of one person", 0.0, 1.0) for i in range(people)]
    look_of_all = Feature("look", "", "by which people are alike", 0.0, 1.0)
    table = table_from_arrays(values, [*features, look_of_all])
    place = pl.int_range(pl.len())
    person = place // (rows * _TASKS)
    ended = place % rows >= _SHORTEST + person
    lacking = (place // rows % _TASKS == _OF_SOME) & (person % 3 == 0)
    sensitive, public = np.full((2, people), "most", dtype="<U6")
    sensitive[2:-2] = ["one", "two", "three", *["some"] * people][: people - 4]
    public[2 : people // 2 + 2] = "others"
    public[_RARE] = "rare"
    attributes = table.people.with_columns(sensitive=pl.Series(sensitive), public=pl.Series(public))
    return replace(table, data=table.data.filter(~(ended | lacking)), people=attributes)
