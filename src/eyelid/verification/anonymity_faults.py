"""Planted faults of k-anonymity: broken twins that ``verify`` must catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.twins import twin
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.partition import (
    Members,
    attribute_of_everybody,
    group_sizes,
    groups_and_a_rest,
    random_groups,
)
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.privacy.noise import Randomness, randomness
from eyelid.verification.anonymity import play_anonymity, same_for_everybody
from eyelid.verification.fault import Fault

Changes = dict[str, dict[str, Any]]
"""By the name of the fault, which methods are replaced."""

# What is wrong in every release is seen in few. Always in the larger group, where 5 of 9 belong, is
# beyond chance after 28; too few values, in 2 releases of 7, are missed once in 700,000.
_FEW_RELEASES = 40


def anonymity_faults(mechanism: KSame) -> Iterator[Fault]:
    """Groups that are too small, change, or follow gaze; ends, gaps and names that tell.

    Copies, values of a sensitive attribute and lengths are broken where they are asked for.
    """
    attacked, telling = _planted(mechanism)
    for name, changes in attacked.items():
        yield _attacked(name, mechanism, changes)
    for name, changes in telling.items():
        yield _looked_at(name, mechanism, changes)


def _attacked(name: str, mechanism: KSame, changes: dict[str, Any]) -> Fault:
    def caught(_: int, noise: Randomness) -> bool:
        games = play_anonymity(twin(mechanism, changes), noise, _FEW_RELEASES)
        return any(game.refuted for game in games)

    return Fault(name, mechanism.name, caught)


def _looked_at(name: str, mechanism: KSame, changes: dict[str, Any]) -> Fault:
    def caught(_runs: int, _noise: Randomness) -> bool:
        return same_for_everybody(twin(mechanism, changes)).refuted

    return Fault(name, mechanism.name, caught)


def _anew_for_every_task(self: KSame, table: FeatureTable, noise: Randomness) -> FeatureTable:
    """Everybody under one made-up name, with the means of another group in each task."""
    people = table.people["person"]
    names = pl.DataFrame(
        {"person": people, "name": [f"p{place}" for place in np.argsort(noise.words(len(people)))]}
    )
    released = []
    for task in table.data["task"].unique(maintain_order=True):
        of_task = replace(table, data=table.data.filter(pl.col("task") == task))
        member = self.partition(of_task, noise)
        means = KSame.averaged(self, of_task, member)
        groups = means.people["person"].gather(member)
        present = of_task.recordings["person"].unique(maintain_order=True)
        whose = pl.DataFrame({"person": present, "group": groups}).join(names, on="person")
        copies = whose.select("name", pl.col("group").alias("person")).join(
            means.data, on="person", maintain_order="left_right"
        )
        released.append(copies.with_columns(pl.col("name").alias("person")).drop("name"))
    data = pl.concat(released).with_columns(pl.col("task").alias("recording"))
    return replace(table, data=data, people=names.select(pl.col("name").alias("person")))


def _as_printed(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    return groups_and_a_rest(int(slots_of(table).owner[-1]) + 1, self.k, noise)


def _by_look(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    """Those who are nearest in the mean of their features."""
    return _in_order(self, table)


def _by_contrast(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    """Those who are farthest: dealt out in the order of what they are like."""
    member = _in_order(self, table)
    order = np.argsort(member, kind="stable")
    dealt = np.empty_like(member)
    dealt[order] = np.arange(member.size) % (member.max() + 1)
    return dealt


def _in_order(self: KSame, table: FeatureTable) -> Members:
    look = table.data.group_by("person", maintain_order=True).agg(pl.col(table.names[-1]).mean())
    sizes = group_sizes(len(look), self.k)
    member = np.empty(len(look), dtype=np.intp)
    member[np.argsort(look[table.names[-1]].to_numpy())] = np.repeat(np.arange(len(sizes)), sizes)
    return member


def _from_one_seed(self: KSame, table: FeatureTable, _: Randomness) -> Members:
    return KSame.partition(self, table, randomness(0))


def _by_length(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    """At random, but for who has most rows: always in the first group."""
    member = KSame.partition(self, table, noise)
    rows = table.recordings.group_by("person", maintain_order=True).agg(pl.col("rows").sum())
    longest, first = int(rows["rows"].to_numpy().argmax()), int(np.flatnonzero(member == 0)[0])
    member[[longest, first]] = member[[first, longest]]
    return member


def _padded(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    slots, rows = slots_of(table), table.recordings["rows"].to_numpy()
    longest = np.zeros(len(slots.names), dtype=np.int64)
    np.maximum.at(longest, slots.slot, rows)
    return KSame.averaged(self, _going_on(table, longest[slots.slot]), member)


def _filled_up(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    rows = np.maximum(table.recordings["rows"].to_numpy(), int(self.length))
    return KSame.averaged(self, _going_on(table, rows), member)


def _going_on(table: FeatureTable, wanted: NDArray[np.int64]) -> FeatureTable:
    """Recordings of so many rows, by repeating the last one."""
    rows = table.recordings["rows"].to_numpy()
    start = np.cumsum(rows) - rows
    taken = [
        first + np.minimum(np.arange(many), own - 1)
        for first, own, many in zip(start, rows, wanted, strict=True)
    ]
    number = np.concatenate([np.arange(each.size) for each in taken])
    data = table.data[np.concatenate(taken)].with_columns(pl.Series("time_ms", number * 1.0))
    return replace(table, data=data)


def _at_rest_in_gaps(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    known = pl.col(table.names).fill_nan(None).forward_fill().backward_fill()
    data = table.data.with_columns(known.over("person", "recording"))
    return KSame.averaged(self, replace(table, data=data), member)


def _over_those_present(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    sound = KSame.averaged(self, table, member)
    return replace(
        sound,
        data=_means(self, table, member).join(
            sound.data.select("person", "recording", "time_ms"),
            on=["person", "recording", "time_ms"],
            how="semi",
            maintain_order="left",
        ),
    )


def _over_k_present(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """Means over the members who have a value wherever k of them do."""
    sound, keys = KSame.averaged(self, table, member), ["person", "recording", "time_ms"]
    some, many = _means(self, table, member), _means(self, table, member, pl.Expr.count)
    enough = some.with_columns(
        pl.when(many[name] >= self.k).then(pl.col(name)).alias(name) for name in table.names
    )
    rows = enough.join(sound.data.select(keys), on=keys, how="semi", maintain_order="left")
    return replace(sound, data=rows)


def _filled(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """Empty cells at the midpoint of the bounds."""
    sound = KSame.averaged(self, table, member)
    middle = [pl.col(f.name).fill_null((f.lower + f.upper) / 2) for f in table.features]
    return replace(sound, data=sound.data.with_columns(middle))


def _recordings_of_some(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    sound = KSame.averaged(self, table, member)
    return replace(sound, data=_means(self, table, member).drop_nulls())


def _means(
    self: KSame,
    table: FeatureTable,
    member: Members,
    of: Callable[[pl.Expr], pl.Expr] = pl.Expr.mean,
) -> pl.DataFrame:
    """Means over those who are there, or another figure of them, in the form of a release."""
    slots = slots_of(table)
    group = [f"group{number + 1}" for number in member[slots.owner]]
    placed = slots.names[slots.slot].with_columns(
        pl.Series("person", group),
        table.recordings["person"].alias("who"),
        table.recordings["recording"].alias("which"),
    )
    values = pl.col(table.names).fill_nan(None)
    rows = table.data.select(
        pl.col("person").alias("who"), pl.col("recording").alias("which"), "time_ms", values
    ).join(placed, on=["who", "which"], maintain_order="left")
    keys = ["person", "recording", "task", "stimulus", "time_ms"]
    return rows.group_by(keys).agg(of(pl.col(table.names))).sort(keys)


def _named_after_members(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """Each group under the name of its first member."""
    sound = KSame.averaged(self, table, member)
    people = table.recordings["person"].unique(maintain_order=True)
    _, first = np.unique(member, return_index=True)
    new = dict(zip(sound.people["person"], people.gather(first), strict=True))
    rename = pl.col("person").replace(new)
    return replace(
        sound, data=sound.data.with_columns(rename), people=sound.people.with_columns(rename)
    )


def _in_order_of_people(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """Copies in the order in which people were recorded, not group by group."""
    sound = KSame.averaged(self, table, member)
    people = sound.people[np.argsort(np.argsort(member, kind="stable"))]
    return replace(sound, data=_of(people, sound), people=people)


def _with_attributes(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """Each copy with the attributes of one member."""
    sound = KSame.averaged(self, table, member)
    own = table.people[np.argsort(member, kind="stable")].drop("person")
    return replace(sound, people=sound.people.hstack(own))


def _k_copies(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """As many copies of each group as the smallest one has members."""
    sound = KSame.averaged(self, table, member)
    people = sound.people.filter(pl.Series(_place_of(np.sort(member)) < self.k))
    return replace(sound, data=_of(people, sound), people=people)


def _with_own_gaps(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """Each copy without the values that one member lacks."""
    sound = KSame.averaged(self, table, member)
    owner = table.people["person"][np.argsort(member, kind="stable")]
    keys = ["person", "task", "time_ms"]
    own = (
        pl.DataFrame({"copy": sound.people["person"], "person": owner})
        .join(table.data.select(*keys, *table.names), on="person")
        .with_columns(pl.col("copy").alias("person"))
    )
    both = sound.data.join(own, on=keys, how="left", suffix=" own", maintain_order="left")
    lacking = [
        pl.when(pl.col(f"{name} own").is_nan()).then(np.nan).otherwise(pl.col(name)).alias(name)
        for name in table.names
    ]
    return replace(sound, data=both.with_columns(lacking).select(sound.data.columns))


def _of(people: pl.DataFrame, table: FeatureTable) -> pl.DataFrame:
    """The rows of some people, in their order."""
    rows = people.select("person").join(table.data, on="person", maintain_order="left_right")
    return rows.select(table.data.columns)


def _rows_of_group(self: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    return KSame.averaged(replace(self, length="group"), table, member)


def _whatever_the_value(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    return random_groups(len(table.people), self.k, noise)


def _from_the_first_on(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    """Dealt out value by value, each from the first group on, which gets all rare ones."""
    values = attribute_of_everybody(table, str(self.diverse))
    _, value = np.unique(values, return_inverse=True)
    order = np.lexsort((noise.words(value.size), value))
    member = np.empty(value.size, dtype=np.intp)
    member[order] = _place_of(value[order]) % len(group_sizes(value.size, self.k))
    return member


def _rare_last(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    """Everybody dealt out by attributes, rare ones last, where the extra seats are left."""
    values = np.array(attribute_of_everybody(table, str(self.balance)))
    _, value, often = np.unique(values, return_inverse=True, return_counts=True)
    order = np.lexsort((noise.words(value.size), value, -often[value]))
    groups = len(group_sizes(value.size, self.k))
    member = np.empty(value.size, dtype=np.intp)
    member[order] = np.argsort(noise.words(groups))[np.arange(value.size) % groups]
    return member


def _left_over(self: KSame, table: FeatureTable, noise: Randomness) -> Members:
    """Dealt out as they should be, and then k in each group, the others in one more."""
    member = KSame.partition(self, table, noise)
    order = np.argsort(member, kind="stable")
    member[order[_place_of(member[order]) >= self.k]] = member.max() + 1
    return member


def _place_of(sorted_: Members) -> Members:
    """Of each of some sorted numbers, how many equal ones are before it."""
    return np.arange(sorted_.size) - np.searchsorted(sorted_, sorted_)


def _planted(mechanism: KSame) -> tuple[Changes, Changes]:
    """For one setting: what attacks on releases should see, and what shows who is who."""
    if mechanism.diverse:
        return _ATTACKED_VALUES, {}
    if mechanism.copies:
        return _ATTACKED_COPIES, _TELLING_COPIES
    return _ATTACKED, _TELLING


_ATTACKED: Changes = {
    "groups drawn anew for every task": {"apply": _anew_for_every_task},
    "leftovers in a group of their own": {"partition": _as_printed},
    "groups of people who look alike": {"partition": _by_look},
    "groups of people who look different": {"partition": _by_contrast},
    "generator seeded anew": {"partition": _from_one_seed},
    "padding by the last row": {"averaged": _padded},
    "gaps filled with the last value": {"averaged": _at_rest_in_gaps},
    "means over those who have a value": {"averaged": _over_those_present},
    "means over those who have a value, if k do": {"averaged": _over_k_present},
    "missing values filled with the midpoint": {"averaged": _filled},
    "recordings that only some members have": {"averaged": _recordings_of_some},
}
_TELLING: Changes = {
    "groups named after a member": {"averaged": _named_after_members},
    "longest recordings in the first group": {"partition": _by_length},
}
_ATTACKED_COPIES: Changes = {
    "as many copies of every group": {"averaged": _k_copies},
    "copies with their members' gaps": {"averaged": _with_own_gaps},
    "rows of the group, not of the shortest": {"averaged": _rows_of_group},
    "rare people dealt last, into the larger group": {"partition": _rare_last},
}
_TELLING_COPIES: Changes = {
    "copies in the order of people": {"averaged": _in_order_of_people},
    "copies with their members' attributes": {"averaged": _with_attributes},
}
_ATTACKED_VALUES: Changes = {
    "groups of too few values": {"partition": _whatever_the_value},
    "each value dealt from the first group on": {"partition": _from_the_first_on},
    "leftovers of values in a group of their own": {"partition": _left_over},
    "filled up to the length asked for": {"averaged": _filled_up},
}
