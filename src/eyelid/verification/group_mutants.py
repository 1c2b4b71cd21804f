"""Mutants of k-anonymity: groups that are too small, change, or follow gaze; ends that tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.override import sound_of
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.averages import copied
from eyelid.mechanisms.groups.partition import (
    Members,
    attribute_of_everybody,
    group_sizes,
    groups_and_a_rest,
    random_groups,
)
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.mechanisms.groups.spread import drawn_around
from eyelid.privacy.noise import Randomness, randomness
from eyelid.verification.groups import play_groups, same_for_everybody
from eyelid.verification.mutant import Changes, Mutant, by_output, mutants

# What is wrong in every release is seen in few. Always in the larger group, where 5 of 9 belong, is
# beyond chance after 28; too few values, in 2 releases of 7, are missed once in 700,000.
_FEW_RELEASES = 40


def group_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Groups that are too small, change, or follow gaze; ends, gaps and names that tell.

    Copies, spread, values of a sensitive attribute, lengths and resampling are broken where they
    are asked for.
    """
    for sound in variants:
        if sound.spread:
            yield from mutants(sound, _by_other_names, _SPREAD)
        elif sound.resample:
            yield from mutants(sound, _by_games, _RESAMPLED)
        elif sound.diverse:
            yield from mutants(sound, _by_games, _VALUES)
        elif sound.copies:
            yield from mutants(sound, _by_games, _COPIES)
            yield from mutants(sound, _by_other_names, _TELLING_COPIES)
        else:
            yield from mutants(sound, _by_games, _PLAIN)
            yield from mutants(sound, _by_other_names, _TELLING)


def _by_games(mutant: Any, _sound: Any, _runs: int, noise: Randomness) -> bool:
    return any(game.refuted for game in play_groups(mutant, noise, _FEW_RELEASES))


_by_other_names = by_output(lambda mutant, _: same_for_everybody(mutant))


def _anew_for_every_task(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """All people under one invented name, with the means of another group in each task."""
    people = table.people["person"]
    names = pl.DataFrame(
        {"person": people, "name": [f"p{place}" for place in np.argsort(noise.words(len(people)))]}
    )
    released = []
    for task in table.data["task"].unique(maintain_order=True):
        of_task = replace(table, data=table.data.filter(pl.col("task") == task))
        member = self.partition(of_task, noise)
        means = sound_of(self).averaged(of_task, member)
        groups = means.people["person"].gather(member)
        present = of_task.recordings["person"].unique(maintain_order=True)
        whose = pl.DataFrame({"person": present, "group": groups}).join(names, on="person")
        copies = whose.select("name", pl.col("group").alias("person")).join(
            means.data, on="person", maintain_order="left_right"
        )
        released.append(copies.with_columns(pl.col("name").alias("person")).drop("name"))
    data = pl.concat(released).with_columns(pl.col("task").alias("recording"))
    return replace(table, data=data, people=names.select(pl.col("name").alias("person")))


def _as_printed(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    return groups_and_a_rest(int(slots_of(table).owner[-1]) + 1, self.k, noise)


def _by_contrast(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Those who are farthest: dealt out in the order of what they are like."""
    member = _by_look(self, table, noise)
    order = np.argsort(member, kind="stable")
    return _dealt(order, np.arange(member.size) % (member.max() + 1))


def _by_look(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Those who are nearest in the mean of their features."""
    look = table.data.group_by("person", maintain_order=True).agg(pl.col(table.names[-1]).mean())
    sizes = group_sizes(len(look), self.k)
    order = np.argsort(look[table.names[-1]].to_numpy())
    return _dealt(order, np.repeat(np.arange(len(sizes)), sizes))


def _dealt(order: NDArray[np.intp], groups: NDArray[np.intp]) -> Members:
    """Who is in which group, where people in some order are given groups one after the other."""
    return groups[np.argsort(order)]


def _from_one_seed(self: Any, table: FeatureTable, _: Randomness) -> Any:
    return sound_of(self).partition(table, randomness(0))


def _by_length(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """At random, but for who has most rows: always in the first group."""
    member = sound_of(self).partition(table, noise)
    rows = table.recordings.group_by("person", maintain_order=True).agg(pl.col("rows").sum())
    longest, first = int(rows["rows"].to_numpy().argmax()), int(np.flatnonzero(member == 0)[0])
    member[[longest, first]] = member[[first, longest]]
    return member


def _padded(self: Any, table: FeatureTable, member: Members) -> Any:
    slots, rows = slots_of(table), table.recordings["rows"].to_numpy()
    longest = np.zeros(len(slots.names), dtype=np.int64)
    np.maximum.at(longest, slots.slot, rows)
    return sound_of(self).averaged(_going_on(table, longest[slots.slot]), member)


def _filled_up(self: Any, table: FeatureTable, member: Members) -> Any:
    rows = np.maximum(table.recordings["rows"].to_numpy(), int(self.length))
    return sound_of(self).averaged(_going_on(table, rows), member)


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


def _at_rest_in_gaps(self: Any, table: FeatureTable, member: Members) -> Any:
    known = pl.col(table.names).fill_nan(None).forward_fill().backward_fill()
    data = table.data.with_columns(known.over("person", "recording"))
    return sound_of(self).averaged(replace(table, data=data), member)


def _changed(
    change: Callable[[Any, FeatureTable, FeatureTable, Members], FeatureTable],
) -> Changes:
    """Means that are made as they should be, and then changed."""

    def averaged(self: Any, table: FeatureTable, member: Members) -> FeatureTable:
        return change(self, sound_of(self).averaged(table, member), table, member)

    return {"averaged": averaged}


def _over_those_present(
    self: Any, sound: FeatureTable, table: FeatureTable, member: Members
) -> FeatureTable:
    return replace(
        sound,
        data=_means(self, table, member).join(
            sound.data.select("person", "recording", "time_ms"),
            on=["person", "recording", "time_ms"],
            how="semi",
            maintain_order="left",
        ),
    )


def _over_k_present(
    self: Any, sound: FeatureTable, table: FeatureTable, member: Members
) -> FeatureTable:
    """Means over the members who have a value wherever k of them do."""
    keys = ["person", "recording", "time_ms"]
    some, many = _means(self, table, member), _means(self, table, member, pl.Expr.count)
    enough = some.with_columns(
        pl.when(many[name] >= self.k).then(pl.col(name)).alias(name) for name in table.names
    )
    rows = enough.join(sound.data.select(keys), on=keys, how="semi", maintain_order="left")
    return replace(sound, data=rows)


def _filled(self: Any, sound: FeatureTable, table: FeatureTable, member: Members) -> FeatureTable:
    """Empty cells at the midpoint of the bounds."""
    middle = [pl.col(f.name).fill_null((f.lower + f.upper) / 2) for f in table.features]
    return replace(sound, data=sound.data.with_columns(middle))


def _recordings_of_some(
    self: Any, sound: FeatureTable, table: FeatureTable, member: Members
) -> FeatureTable:
    return replace(sound, data=_means(self, table, member).drop_nulls())


def _means(
    self: Any,
    table: FeatureTable,
    member: Members,
    of: Callable[[pl.Expr], pl.Expr] = pl.Expr.mean,
) -> Any:
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


def _named_after_members(
    self: Any, sound: FeatureTable, table: FeatureTable, member: Members
) -> FeatureTable:
    """Each group under the name of its first member."""
    people = table.recordings["person"].unique(maintain_order=True)
    _, first = np.unique(member, return_index=True)
    new = dict(zip(sound.people["person"], people.gather(first), strict=True))
    rename = pl.col("person").replace(new)
    return replace(
        sound, data=sound.data.with_columns(rename), people=sound.people.with_columns(rename)
    )


def _in_order_of_people(
    self: Any, sound: FeatureTable, table: FeatureTable, member: Members
) -> FeatureTable:
    """Copies in the order in which people were recorded, not group by group."""
    people = sound.people[np.argsort(np.argsort(member, kind="stable"))]
    return replace(sound, data=_of(people, sound), people=people)


def _with_attributes(
    self: Any, sound: FeatureTable, table: FeatureTable, member: Members
) -> FeatureTable:
    """Each copy with the attributes of one member."""
    own = table.people[np.argsort(member, kind="stable")].drop("person")
    return replace(sound, people=sound.people.hstack(own))


def _k_copies(self: Any, sound: FeatureTable, table: FeatureTable, member: Members) -> FeatureTable:
    """As many copies of each group as the smallest one has members."""
    people = sound.people.filter(pl.Series(_place_of(np.sort(member)) < self.k))
    return replace(sound, data=_of(people, sound), people=people)


def _with_own_gaps(
    self: Any, sound: FeatureTable, table: FeatureTable, member: Members
) -> FeatureTable:
    """Each copy without the values that one member lacks."""
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


def _rows_of_group(self: Any, table: FeatureTable, member: Members) -> Any:
    return sound_of(replace(self, length="group")).averaged(table, member)


def _not_resampled(self: Any, table: FeatureTable, member: Members) -> Any:
    return sound_of(replace(self, resample=None)).averaged(table, member)


def _to_the_longest(self: Any, table: FeatureTable, member: Members) -> Any:
    """Resampled to as many rows as the longest has: of all others some are taken twice."""
    longest = int(table.recordings["rows"].to_numpy().max())
    return sound_of(replace(self, resample=longest)).averaged(table, member)


def _whatever_the_value(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    return random_groups(len(table.people), self.k, noise)


def _from_the_first_on(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Dealt out value by value, each from the first group on, which gets all rare ones."""
    values = attribute_of_everybody(table, str(self.diverse))
    _, value = np.unique(values, return_inverse=True)
    order = np.lexsort((noise.words(value.size), value))
    return _dealt(order, _place_of(value[order]) % len(group_sizes(value.size, self.k)))


def _as_members_differ(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Around each mean as much spread as the members of that group have."""
    member = self.partition(table, noise)
    means = sound_of(self).averaged(table, member)
    drawn = []
    for group, name in enumerate(means.people["person"]):
        own = pl.col("person") == name
        of_one = replace(means, data=means.data.filter(own), people=means.people.filter(own))
        drawn.append(drawn_around(of_one, noise, _apart(table, member == group)))
    data, people = (pl.concat([getattr(one, what) for one in drawn]) for what in ("data", "people"))
    return replace(means, data=data, people=people)


def _as_everybody_differs(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """As much spread as the people of the study have, instead of what is published."""
    member = self.partition(table, noise)
    means = sound_of(self).averaged(table, member)
    return drawn_around(means, noise, _apart(table, np.ones(member.size, bool)))


def _as_features_hang_together(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Spread by a relation between features of the study's rows, instead of a public one."""
    means = sound_of(self).averaged(table, self.partition(table, noise))
    values = table.data.select(table.names[:2]).to_numpy()
    related = float(np.corrcoef(values.T)[0, 1])
    return drawn_around(means, noise, 1.0 + related / 2)


def _apart(table: FeatureTable, whose: NDArray[np.bool_]) -> float:
    """How much some people's means of one feature differ, as a multiple of about what is public."""
    people = table.data.group_by("person", maintain_order=True).agg(pl.col(table.names[0]).mean())
    return 1.0 + float(people[table.names[0]].to_numpy()[whose].std())


def _members_themselves(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Members in the place of draws, under names that say no more than the group."""
    member = self.partition(table, noise)
    shown = sound_of(self).apply(table, noise)
    order = np.argsort(member, kind="stable")
    names = dict(zip(table.people["person"].gather(order), shown.people["person"], strict=True))
    return replace(
        shown, data=table.data.with_columns(pl.col("person").replace(names)), people=shown.people
    )


def _equal_copies(means: FeatureTable) -> FeatureTable:
    """A copy of the mean for each member."""
    data, people = copied(means.data, means.people)
    return replace(means, data=data, people=people)


def _rare_last(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Everybody dealt out by attributes, rare ones last, where the extra seats are left."""
    values = np.array(attribute_of_everybody(table, str(self.balance)))
    _, value, often = np.unique(values, return_inverse=True, return_counts=True)
    order = np.lexsort((noise.words(value.size), value, -often[value]))
    groups = len(group_sizes(value.size, self.k))
    return _dealt(order, np.argsort(noise.words(groups))[np.arange(value.size) % groups])


def _left_over(self: Any, table: FeatureTable, noise: Randomness) -> Any:
    """Dealt out as they should be, and then k in each group, the others in one more."""
    member = sound_of(self).partition(table, noise)
    order = np.argsort(member, kind="stable")
    member[order[_place_of(member[order]) >= self.k]] = member.max() + 1
    return member


def _place_of(sorted_: Members) -> Members:
    """For each of some sorted numbers, how many equal ones are before it."""
    return np.arange(sorted_.size) - np.searchsorted(sorted_, sorted_)


_PLAIN: dict[str, Changes] = {
    "groups drawn anew for every task": {"apply": _anew_for_every_task},
    "leftovers in a group of their own": {"partition": _as_printed},
    "groups of people who look alike": {"partition": _by_look},
    "groups of people who look different": {"partition": _by_contrast},
    "generator seeded anew": {"partition": _from_one_seed},
    "padding by the last row": {"averaged": _padded},
    "gaps filled with the last value": {"averaged": _at_rest_in_gaps},
    "means over those who have a value": _changed(_over_those_present),
    "means over those who have a value, if k do": _changed(_over_k_present),
    "missing values filled with the midpoint": _changed(_filled),
    "recordings that only some members have": _changed(_recordings_of_some),
}
_TELLING: dict[str, Changes] = {
    "groups named after a member": _changed(_named_after_members),
    "longest recordings in the first group": {"partition": _by_length},
}
_COPIES: dict[str, Changes] = {
    "as many copies of every group": _changed(_k_copies),
    "copies with their members' gaps": _changed(_with_own_gaps),
    "rows of the group, not of the shortest": {"averaged": _rows_of_group},
    "rare people dealt last, into the larger group": {"partition": _rare_last},
}
_TELLING_COPIES: dict[str, Changes] = {
    "copies in the order of people": _changed(_in_order_of_people),
    "copies with their members' attributes": _changed(_with_attributes),
}
_SPREAD: dict[str, Changes] = {
    "spread of the group's own members": {"apply": _as_members_differ},
    "spread of everybody in the study": {"apply": _as_everybody_differs},
    "relations of everybody in the study": {"apply": _as_features_hang_together},
    "members in the place of draws": {"apply": _members_themselves},
    "means without the spread": {"drawn_around": lambda self, means, _: _equal_copies(means)},
}
_RESAMPLED: dict[str, Changes] = {
    "cut instead of resampled": {"averaged": _not_resampled},
    "rows taken twice, up to the longest": {"averaged": _to_the_longest},
}
_VALUES: dict[str, Changes] = {
    "groups of too few values": {"partition": _whatever_the_value},
    "each value dealt from the first group on": {"partition": _from_the_first_on},
    "leftovers of values in a group of their own": {"partition": _left_over},
    "filled up to the length asked for": {"averaged": _filled_up},
}
