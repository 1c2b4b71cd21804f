"""Means over groups of at least k people, attacked: who of a group is it, what do members learn?

Nobody's own record is in such a release, and no name. The audit has the original and finds out who
is in which group. Attackers then get more than they could know: the mean of every group under
the names of all its members, as if it were known. k-anonymity promises that they pick the
right one of a group with probability 1/k at most. Which group a person is in it does not hide, nor
anything from the members of a group together: how much that is, is measured here as well.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.anonymity import (
    EXACT,
    RecoveredGroups,
    Sides,
    collusion,
    exact_intersection,
    intersection,
    recover_partition,
)
from eyelid.attacks.attackers import Attacker
from eyelid.attacks.attackers.means import Means
from eyelid.attacks.classifiers import classes_of
from eyelid.attacks.identification import decided, identify
from eyelid.attacks.protocols import Material, find_protocol
from eyelid.attacks.records import records_of
from eyelid.attacks.scores import named
from eyelid.attacks.statistics import Rate, rate_of_decisions
from eyelid.attacks.subtraction import Subtraction
from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.features.omission import blank_recordings, without_blanks
from eyelid.gaze.study import RECORDING_KEY
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.partition import Members
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.privacy.noise import randomness

# What an attacker who looks at one release can try; two of them are another attack.
PROTOCOLS = ("raw→release", "release→raw", "white-box")
# Other partitions of the same people that are tried.
PARTITIONS = 10
# How many releases of the same people are thought of, and how often their groups are drawn.
_MOST_RELEASES, _DRAWS = 3, 50


@dataclass(frozen=True, eq=False)
class Grouped:
    """Released groups beside their original.

    Attributes:
        law: how they were made.
        original: the raw features of everybody.
        means: one released person a group, in the order of groups.
        member: of everybody, in order, which group.
        found: how that was found out.
        fresh: whether these are groups of another run: who is in the released ones cannot be found.
    """

    mechanism: KSame
    original: FeatureTable
    means: FeatureTable
    member: Members
    found: RecoveredGroups | None = None
    fresh: bool = False

    @property
    def sizes(self) -> NDArray[np.intp]:
        """People of each group."""
        return np.bincount(self.member)

    def groups_of(self, people: Sequence[str]) -> Members:
        """Which group each of these people is in."""
        everybody = self.original.recordings["person"].unique(maintain_order=True).to_list()
        group = dict(zip(everybody, self.member.tolist(), strict=True))
        return np.array([group[name] for name in people], dtype=np.intp)

    @cached_property
    def seen(self) -> FeatureTable:
        """The original without recordings of which it has no value: nobody could show them.

        A person without another can still be re-identified: a group has all its members.
        """
        return without_blanks(self.original)

    def named(self) -> FeatureTable:
        """The means under the names of all members."""
        return under_names(self.original, self.means, self.member)

    def shared(self, seed: int = 0) -> FeatureTable:
        """What is released of each person's group, under their name: of draws one for each.

        All members of a group are as likely to be behind a draw.

        Args:
            seed: of draws of our own.
        """
        if self.mechanism.spread is None:
            return self.named()
        noise = randomness(np.random.default_rng([seed, *b"a spread of our own"]))
        drawn = self.mechanism.drawn_around(self.means, noise)
        # Each member gets a group of their own, in the order in which draws were numbered.
        order = np.argsort(self.member, kind="stable")
        own = np.empty_like(self.member)
        own[order] = np.arange(order.size)
        return under_names(self.original, drawn, own)

    def again(self, seed: int) -> Callable[[FeatureTable], FeatureTable]:
        """Another run of the mechanism: other groups, under the names of their members.

        Recordings without a value take part in it, whether a table has them or not.
        """
        noise = randomness(np.random.default_rng([seed, *b"other groups"]))
        unseen = self.original.data.join(blank_recordings(self.original), on=RECORDING_KEY)

        def made(table: FeatureTable) -> FeatureTable:
            rows = unseen.join(table.recordings, on=RECORDING_KEY, how="anti")
            if len(rows):
                table = replace(table, data=pl.concat([table.data, rows]))
            member = self.mechanism.partition(table, noise)
            return under_names(table, one_a_group(self.mechanism, table, member), member)

        return made


@dataclass(frozen=True)
class PaddingFinding:
    """What the ends of means show of one member alone.

    Attributes:
        rows: released rows, of all groups and tasks, where one member alone still has values.
        people: whose increments were recovered exactly.
        values: increments that were recovered exactly.
        share: of all increments of all recordings, those that were.
        rmse_of_span: of the recovered increments where one member alone has values, whether exact
            or not; None where there are none.
    """

    rows: int
    people: int
    values: int
    share: float
    rmse_of_span: float | None


@dataclass(frozen=True)
class Redrawn:
    """People re-identified over many partitions.

    Attributes:
        protocol: by name.
        attacker: by name.
        rate: the mean over partitions, with limits over people.
        highest: the rate of the partition where most were re-identified.
    """

    protocol: str
    attacker: str
    rate: Rate
    highest: float


@dataclass(frozen=True)
class Homogeneity:
    """What a group reveals of an attribute to an attacker who knows who is in it.

    Attributes:
        attribute: the column of people; of a quantity also that it was split.
        fewest: different values in the group that has fewest.
        alike: share of people in whose group all have the same value.
        guessed: share of people who are told right by the commonest value of their group.
        chance: the same by the commonest value of all.
    """

    attribute: str
    fewest: int
    alike: float
    guessed: float
    chance: float


@dataclass(frozen=True, eq=False)
class GroupFindings:
    """What attacks on groups came to, besides re-identifying people.

    Attributes:
        sizes: people of each group, the smallest first.
        collusion: what all members of a smallest group but one learn of the last one.
        homogeneity: what groups tell of attributes.
        intersection: people re-identified by the nearest records over all linked tasks, by an
            attacker who has their raw recordings; ties by lot.
        exact_intersection: those found by an attacker who has all, and computes the groups.
        padding: what the ends of recordings show of one member alone.
        redrawn: people re-identified over many partitions; nothing where they cannot be drawn.
        partitions: how many.
        linkage: how often the nearest group is the right one: not protected.
        linker: the attacker who looked for it.
        released_again: chances of re-identifying people after one release, two and three, each with
            groups of its own, for an attacker who knows the groups of all.
    """

    sizes: tuple[int, ...]
    intersection: Rate
    exact_intersection: Rate
    padding: PaddingFinding
    collusion: Subtraction
    redrawn: tuple[Redrawn, ...] = ()
    partitions: int = 0
    linkage: Rate | None = None
    linker: str = ""
    homogeneity: tuple[Homogeneity, ...] = ()
    released_again: tuple[float, ...] = ()

    @property
    def outsider_rmse_of_span(self) -> float:
        """Error of the group's mean as a guess of the mean over the others.

        One of k people moves their mean by 1/k of how far they are from the others.
        """
        return self.collusion.blind_rmse_of_span / self.collusion.people

    @property
    def member_rmse_of_span(self) -> float:
        """Error left for a member, who takes themselves off the mean first: rounding."""
        return self.collusion.rmse_of_span / (self.collusion.people - 1)


def in_groups(released: FeatureTable) -> bool:
    """Whether a release is of groups, or of copies of groups, by what it calls its people."""
    names = released.people["person"]
    return "people" in released.people.columns or bool(names.str.contains(r"^group\d+-\d+$").all())


def one_a_group(mechanism: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """What is released of given groups, one row of people each, whether copies were asked for."""
    return mechanism.averaging.averaged(table, member)


def under_names(original: FeatureTable, means: FeatureTable, member: Members) -> FeatureTable:
    """The mean of every group under the names, and recordings, of all its members.

    Args:
        original: whose members' recordings.
        means: one released person a group, in the order of groups.
        member: of everybody, in order, which group.
    """
    slots, groups = slots_of(original), means.recordings["person"].unique(maintain_order=True)
    keys = original.recordings.drop("rows").with_columns(
        groups.gather(member[slots.owner]).alias("group"),
        slots.names["recording"].gather(slots.slot).alias("slot"),
    )
    rows = means.data.select("person", "recording", "time_ms", *means.names)
    data = keys.join(
        rows,
        left_on=["group", "slot"],
        right_on=["person", "recording"],
        how="inner",
        maintain_order="left_right",
    ).drop("group", "slot")
    present = original.people.filter(pl.col("person").is_in(data["person"].unique().to_list()))
    return replace(
        means,
        data=data,
        people=present.select("person"),
        features=original.features,
        window_ms=original.window_ms,
    )


def audit_groups(
    grouped: Grouped,
    attackers: Sequence[Attacker],
    protocols: Sequence[str] = PROTOCOLS,
    partitions: int = PARTITIONS,
    seed: int = 0,
) -> GroupFindings:
    """Everything about groups that does not name people from this release.

    Args:
        grouped: the release beside its original.
        attackers: of whom the one that judges whole recordings is tried on many partitions, and
            looks for groups; the first where there is none.
        protocols: how; those that need no other partition are tried on each. None where nothing
            can be known beforehand and shown.
        partitions: how many others are drawn.
        seed: of partitions and attackers.
    """
    quick = [one for one in attackers if one.name == Means.name]
    attacker = (quick or list(attackers))[0]
    found = grouped.found or recover_partition(grouped.original, grouped.means)
    return replace(
        audit_records(grouped.original, grouped.means, found),
        # Under the names of members: whose nearest record is their own group's.
        intersection=intersection(grouped.original, grouped.named()),
        redrawn=tuple(_redrawn(grouped, attacker, protocols, partitions, seed)),
        partitions=partitions if protocols else 0,
        linkage=_linkage(grouped, attacker, seed) if protocols else None,
        linker=attacker.name,
        homogeneity=tuple(homogeneity(grouped.original, grouped.member)),
        released_again=tuple(_two_and_more(grouped, seed)),
    )


def audit_records(
    original: FeatureTable, released: FeatureTable, found: RecoveredGroups | None = None
) -> GroupFindings:
    """The attacks on means over people, under their own names or those of groups.

    Args:
        original: the recordings that were released.
        released: what was made of them.
        found: who is behind which record, where it is known already.
    """
    found = found or recover_partition(original, released)
    groups = np.unique(found.members[found.there], axis=0)
    sizes = groups.sum(axis=1)
    exact = exact_intersection(original, released, found)
    return GroupFindings(
        sizes=tuple(sorted(sizes.tolist())),
        intersection=exact if in_groups(released) else intersection(original, released),
        exact_intersection=exact,
        padding=padding(original, released, found),
        collusion=_smallest_collusion(original, released, found, groups),
    )


def _smallest_collusion(
    original: FeatureTable,
    released: FeatureTable,
    found: RecoveredGroups,
    groups: NDArray[np.bool_],
) -> Subtraction:
    """What the others learn of a member of the smallest group that has values of all of them."""
    sizes = groups.sum(axis=1)
    # A person who is a group alone has nobody to collude.
    shared = [row for row in np.argsort(sizes, kind="stable") if sizes[row] > 1]
    for row in shared:
        with contextlib.suppress(InputError):
            return collusion(original, released, found.people[int(groups[row].argmax())], found)
    raise InputError("no group has several members with values: there is nobody to collude")


def _redrawn(
    grouped: Grouped, attacker: Attacker, protocols: Sequence[str], partitions: int, seed: int
) -> Iterator[Redrawn]:
    """One attacker on the groups of many partitions, each person's decisions averaged."""
    cheap = [find_protocol(name) for name in protocols if name != "white-box"]
    if not cheap:
        return
    again = grouped.again(seed)
    shares: dict[str, list[NDArray[np.float64]]] = {}
    for _ in track(range(partitions), "drawing other groups", total=partitions):
        material = Material(grouped.seen, again(grouped.seen))
        for finding in identify(material, [attacker], cheap, seed, over_all=PROTOCOLS):
            shares.setdefault(finding.protocol, []).append(finding.shares)
    for protocol, found in shares.items():
        each = np.array(found)
        known = each[:, ~np.isnan(each).any(axis=0)]
        yield Redrawn(
            protocol,
            attacker.name,
            rate_of_decisions(known.mean(axis=0), 1 / each.shape[1]),
            float(known.mean(axis=1).max()),
        )


def _linkage(grouped: Grouped, attacker: Attacker, seed: int) -> Rate | None:
    """How often a person's raw recording of something else is nearest to their own group."""
    groups = len(grouped.sizes)
    if groups < 2:
        return None
    released = grouped.named()
    material = Material(grouped.seen, released)
    everybody = material.people
    mine = grouped.groups_of(everybody)
    # One member stands for each group: all have the same records.
    stand_ins = tuple(everybody[first] for first in np.unique(mine, return_index=True)[1])
    right, count = np.zeros(len(everybody)), np.zeros(len(everybody))
    for split in material.honest_splits:
        known = records_of(released, stand_ins, split.known)
        raw = records_of(grouped.seen, everybody, split.shown)
        shown = replace(raw, owner=mine[raw.owner], people=stand_ins)
        could = np.isin(shown.owner, known.owner)
        if not could.any():
            continue
        (scores,) = decided(attacker, known, [shown], seed)
        np.add.at(right, raw.owner[could], named(scores.averaged, scores.owner))
        np.add.at(count, raw.owner[could], 1.0)
    tested = count > 0
    share = np.bincount(mine[tested], minlength=groups) / tested.sum()
    return rate_of_decisions(right[tested] / count[tested], float(share.max()))


def _two_and_more(grouped: Grouped, seed: int) -> Iterator[float]:
    """Re-identification rates from the groups of one release, two, and so on, all known."""
    noise = randomness(np.random.default_rng([seed, *b"released again"]))
    shared = np.zeros((_MOST_RELEASES, _DRAWS))
    for draw in range(_DRAWS):
        cell = grouped.member
        for releases in range(_MOST_RELEASES):
            if releases:
                again = grouped.mechanism.partition(grouped.original, noise)
                cell = np.unique(np.column_stack([cell, again]), axis=0, return_inverse=True)[1]
            cell = cell.reshape(-1)
            shared[releases, draw] = len(np.unique(cell)) / cell.size
    yield from shared.mean(axis=1).tolist()


def homogeneity(original: FeatureTable, member: Members) -> Iterator[Homogeneity]:
    """What the groups reveal of people's attributes, to an attacker who knows who is in which.

    Args:
        original: with the attributes.
        member: of everybody, in order, which group.
    """
    present = original.recordings.select(pl.col("person").unique(maintain_order=True))
    people = present.join(original.people, on="person", how="left", maintain_order="left")
    for name in people.columns[1:]:
        classes = classes_of(people[name])
        known = classes.codes >= 0
        if len(np.unique(classes.codes[known])) < 2:
            continue
        counts = np.zeros((member.max() + 1, len(classes.values)), dtype=np.intp)
        np.add.at(counts, (member[known], classes.codes[known]), 1)
        sizes, values = counts.sum(axis=1), (counts > 0).sum(axis=1)
        everybody = int(sizes.sum())
        yield Homogeneity(
            classes.name,
            int(values[sizes > 0].min()),
            float(sizes[values == 1].sum() / everybody),
            float(counts.max(axis=1).sum() / everybody),
            float(counts.sum(axis=0).max() / everybody),
        )


def padding(
    original: FeatureTable,
    released: FeatureTable,
    found: RecoveredGroups | None = None,
) -> PaddingFinding:
    """The padding attack: k times the step of a mean, where all members but one have come to rest.

    A member who has no values of their own any more, at the end or in a gap, cannot move a mean. If
    one alone is left, the step of the mean is 1/k of that person's step, or all of it where means
    are taken over those who have a value.

    Args:
        original: the recordings that were released, to see who has values where.
        released: what was made of them.
        found: who is behind which record, where it is known already.
    """
    found = found or recover_partition(original, released)
    sides = Sides(original, released)
    rows, steps, hits, errors = 0, 0, 0, []
    exposed: set[int] = set()
    for place, slot in enumerate(sides.slots):
        whose, which, raw, shown = sides.both(slot)
        moves, shown_moves = np.diff(raw, axis=1), np.diff(shown, axis=1)
        steps += int(np.isfinite(moves).sum())
        _, first = np.unique(found.members[place, which], axis=0, return_index=True)
        for record in first:
            inside = found.members[place, which[record], whose]
            if not inside.any():
                # Too few values of this task to tell who is behind it.
                continue
            mine, step = moves[inside], shown_moves[record]
            own = np.isfinite(mine)
            alone = (own.sum(axis=0) == 1) & np.isfinite(step)
            rows += int(alone.any(axis=1).sum())
            last = np.where(own, mine, 0.0).sum(axis=0)
            scaled = np.stack([step, step * inside.sum()])
            error = np.abs(scaled - last).min(axis=0)[alone]
            exact = (error < EXACT) & (last[alone] != 0)
            errors.append(error)
            hits += int(exact.sum())
            mover = np.flatnonzero(inside)[own.argmax(axis=0)[alone][exact]]
            exposed.update(whose[mover].tolist())
    all_errors = np.concatenate(errors) if errors else np.empty(0)
    return PaddingFinding(
        rows=rows,
        people=len(exposed),
        values=hits,
        share=hits / max(steps, 1),
        rmse_of_span=float(np.sqrt(np.mean(all_errors**2))) if all_errors.size else None,
    )
