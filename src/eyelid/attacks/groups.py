"""Means over groups of at least k people, attacked: who of a group is it, what do members learn?

Nobody's own record is in such a release, and no name. The audit has the original and finds out who
is in which group. Attackers then get more than anybody could know: the mean of every group under
the names of all its members, as if somebody had told them. k-anonymity promises that they name the
right one of a group with probability 1/k at most. Which group somebody is in it does not hide, nor
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
    PaddingFinding,
    RecoveredGroups,
    collusion,
    exact_intersection,
    intersection,
    known_partition,
    mean_amiss_of_span,
    padding,
    recover_partition,
)
from eyelid.attacks.attackers import Attacker
from eyelid.attacks.attackers.means import Means
from eyelid.attacks.classifiers import classes_of
from eyelid.attacks.identification import decided, identify
from eyelid.attacks.protocols import Material, find_protocol
from eyelid.attacks.records import empty_cells, records_of, values_of
from eyelid.attacks.scores import named
from eyelid.attacks.statistics import Rate, rate_of_decisions
from eyelid.attacks.subtraction import Subtraction
from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.features.omission import blank_recordings, without_blanks
from eyelid.gaze.study import RECORDING_KEY, ROW_KEY
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.averages import rows_that_end
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.partition import Members, group_sizes
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.privacy.noise import randomness

# What somebody who looks at one release can try; two of them are another attack.
PROTOCOLS = ("raw→release", "release→raw", "white-box")
# Other partitions of the same people that are tried.
PARTITIONS = 10
# How many releases of the same people are thought of, and how often their groups are drawn.
_MOST_RELEASES, _DRAWS = 3, 50
# In spans: what rounding does to a mean; less than a step of the grid that sums are on.
_ROUNDING = 1e-12
# The same of values that were not put on that grid.
_GRID = 2.0**-36


@dataclass(frozen=True, eq=False)
class Grouped:
    """Released groups beside their original.

    Attributes:
        law: how they were made.
        original: the raw features of everybody.
        means: one made-up person a group, in the order of groups.
        member: of everybody, in order, which group.
        found: how that was found out.
        fresh: whether these are groups of another run: who is in the released ones cannot be found.
    """

    law: KSame
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

        Whoever has no other can still be named: a group has all its members.
        """
        return without_blanks(self.original)

    def named(self) -> FeatureTable:
        """The means under the names of all members."""
        return under_names(self.original, self.means, self.member)

    def again(self, seed: int) -> Callable[[FeatureTable], FeatureTable]:
        """The same mechanism with other groups, under the names of their members.

        Recordings without a value take part in it, whether a table has them or not.
        """
        noise = randomness(np.random.default_rng([seed, *b"other groups"]))
        unseen = self.original.data.join(blank_recordings(self.original), on=RECORDING_KEY)

        def made(table: FeatureTable) -> FeatureTable:
            rows = unseen.join(table.recordings, on=RECORDING_KEY, how="anti")
            if len(rows):
                table = replace(table, data=pl.concat([table.data, rows]))
            member = self.law.partition(table, noise)
            return under_names(table, one_a_group(self.law, table, member), member)

        return made


@dataclass(frozen=True)
class Redrawn:
    """People named over many partitions.

    Attributes:
        protocol: by name.
        attacker: by name.
        rate: the mean over partitions, with limits over people.
        highest: the rate of the partition where most were named.
    """

    protocol: str
    attacker: str
    rate: Rate
    highest: float


@dataclass(frozen=True)
class Homogeneity:
    """What a group tells of an attribute to whoever knows who is in it.

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
    """What attacks on groups came to, besides naming people.

    Attributes:
        sizes: people of each group, the smallest first.
        collusion: what all members of a smallest group but one learn of the last one.
        homogeneity: what groups tell of attributes.
        intersection: people named by the nearest records over all linked tasks, by whoever has
            their raw recordings; ties by lot.
        exact_intersection: the same by whoever has everybody's, and computes the groups.
        padding: what the ends of recordings show of one member alone.
        redrawn: people named over many partitions; nothing where they cannot be drawn.
        partitions: how many.
        linkage: how often the nearest group is the right one: not protected.
        linker: the attacker who looked for it.
        released_again: chances of naming people after one release, two and three, each with groups
            of its own, for whoever knows the groups of all.
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
        """How far the mean over the others is missed by whoever takes the group's mean for it.

        One of k people moves their mean by 1/k of how far they are from the others.
        """
        return self.collusion.blind_rmse_of_span / self.collusion.people

    @property
    def member_rmse_of_span(self) -> float:
        """The same for a member, who takes themselves off first: rounding."""
        return self.collusion.rmse_of_span / (self.collusion.people - 1)


def found_groups(
    law: KSame | None, original: FeatureTable, released: FeatureTable
) -> tuple[Grouped | None, list[str]]:
    """Who is in which of the released groups, and what of them is not as it should be, in words.

    Where there are too few values to find that out, another run with groups of its own stands in
    for those who attack, and of the release is checked what can be without.

    Args:
        law: as it was run; None where nobody says.
        original: what was released from, with the bounds that values were clipped to.
        released: one made-up person a group, or copies of each.
    """
    means, amiss = folded(released)
    if means is None:
        return None, [amiss]
    try:
        found = recover_partition(original, means)
    except InputError:
        if law is None:
            raise InputError(
                "the release has too few values to find out who of "
                f"{original.recordings['person'].n_unique()} people is in which group, and no "
                "certificate says how it was made: give the folder with its certificate.json"
            ) from None
        return _fresh(law, original), list(_amiss_in_all(law, original, means, released))
    amiss = _no_partition(found)
    if amiss and law is not None and found.exact and not found.determined:
        # People who are alike can stand for each other: that refutes nothing.
        return _fresh(law, original), list(_amiss_in_all(law, original, means, released))
    if amiss:
        return None, [amiss]
    member = found.behind_all.argmax(axis=0)
    if law is None:
        # Whatever length was asked for, no group has more rows than the longest.
        longest = int(means.recordings["rows"].to_numpy().max())
        law = KSame(k=max(2, int(np.bincount(member).min())), length=longest)
    grouped = Grouped(law, original, means, member, found)
    return grouped, list(_not_as_promised(grouped, released))


def _no_partition(found: RecoveredGroups) -> str:
    """Why records are not those of one partition of people; nothing if they are."""
    if not found.exact:
        return "what is released are not the means over groups of these people"
    if not found.one_partition:
        return "the groups are not the same in all recordings, so that they intersect"
    if (found.behind_all.sum(axis=0) != 1).any():
        return "somebody is in several groups, or in none"
    return ""


def _fresh(law: KSame, original: FeatureTable) -> Grouped:
    """Another run of the same mechanism, of which it is known who is in which group."""
    member = law.partition(original, randomness(np.random.default_rng([*b"a run of our own"])))
    means = one_a_group(law, original, member)
    return Grouped(law, original, means, member, known_partition(original, means, member), True)


def _amiss_in_all(
    law: KSame, original: FeatureTable, means: FeatureTable, released: FeatureTable
) -> Iterator[str]:
    """What would be otherwise whoever is in which group."""
    everybody = original.recordings["person"].n_unique()
    stated = dict(means.people.select("person", "people").iter_rows())
    names = means.recordings["person"].unique(maintain_order=True)
    sizes = np.array([stated.get(name, 0) for name in names], dtype=np.int64)
    if sorted(sizes.tolist()) != sorted(group_sizes(everybody, law.k)):
        yield "the groups of the release have not the sizes that the mechanism gives them"
        return
    yield from _told_besides(released)
    if _impossible(law, original, means, sizes):
        yield "the groups have other recordings or rows than so many people can have in common"
    off = mean_amiss_of_span(original, means, sizes)
    if off is not None and off > _GRID:
        yield "the mean over all groups is not the mean over everybody"


def _impossible(
    law: KSame, original: FeatureTable, means: FeatureTable, sizes: NDArray[np.int64]
) -> bool:
    """Whether groups have recordings, or rows of them, that too few people have."""
    slots, shown = slots_of(original), means.recordings
    rows, lengths = rows_that_end(original), means.recordings["rows"].to_numpy()
    most = original.recordings["rows"].to_numpy().max()
    if isinstance(law.length, int):
        most = law.length
    elif law.length == "shortest":
        most = original.shortest
    if (lengths > most).any() or not set(shown["recording"]) <= set(slots.names["recording"]):
        return True
    group = shown["person"].rle_id().to_numpy()
    for slot, name in enumerate(slots.names["recording"]):
        have = np.sort(rows[slots.slot == slot])[::-1]
        here = (shown["recording"] == name).to_numpy()
        people = sizes[group[here]]
        all_of_it = have.size == sizes.sum()
        if people.sum() > have.size or (all_of_it and people.size < sizes.size):
            return True
        # As many people as the group has go on at least so long.
        if (lengths[here] > have[people - 1]).any():
            return True
    return False


def _told_besides(released: FeatureTable) -> Iterator[str]:
    """What a release tells of its groups that none tells."""
    extra = [name for name in released.people.columns if name not in ("person", "people")]
    if extra:
        yield f"the release tells more of its groups than their sizes ({extra[0]})"


def _not_as_promised(grouped: Grouped, released: FeatureTable) -> Iterator[str]:
    """What a release of these groups would have otherwise."""
    smallest = int(grouped.sizes.min())
    if smallest < grouped.law.k:
        yield (
            f"a group has {smallest} people, and the certificate promises at least {grouped.law.k}"
        )
    made = one_a_group(grouped.law, grouped.original, grouped.member)
    theirs = grouped.means
    if not made.data.select(*ROW_KEY).equals(theirs.data.select(*ROW_KEY)):
        yield "the groups have other recordings or rows than all of their members have"
        return
    values, shown = (values_of(grouped.original, table.data) for table in (made, theirs))
    empty, theirs_empty = (empty_cells(grouped.original, table.data) for table in (made, theirs))
    if not np.array_equal(empty, theirs_empty):
        yield "some released values are there though a member of their group has none, or missing"
    elif not np.allclose(values, shown, rtol=0.0, atol=_ROUNDING):
        yield "some released values are not the means over the people of their group"
    yield from _told_besides(released)
    if "people" in released.people.columns:
        stated = dict(released.people.select("person", "people").iter_rows())
        if stated != dict(made.people.select("person", "people").iter_rows()):
            yield "the release states other numbers of people than its groups have"


def in_groups(released: FeatureTable) -> bool:
    """Whether a release is of groups, or of copies of groups, by what it calls its people."""
    names = released.people["person"]
    return "people" in released.people.columns or bool(names.str.contains(r"^group\d+-\d+$").all())


def folded(released: FeatureTable) -> tuple[FeatureTable | None, str]:
    """One made-up person a group, where a release has copies; or what is wrong with them.

    >>> import numpy as np
    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> table = table_from_arrays(np.zeros((4, 1, 3, 1)), [Feature("rate", "", "", 0.0, 1.0)])
    >>> made = KSame(k=2, copies=True).averaged(table, np.array([0, 0, 1, 1]))
    >>> folded(made)[0].data["person"].unique().sort().to_list()
    ['group1', 'group2']
    """
    if "people" in released.people.columns:
        return released, ""
    group = pl.col("person").str.replace(r"-\d+$", "")
    data = released.data.with_columns(group).unique(maintain_order=True)
    people = released.people.group_by(group, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("people")
    )
    copied = data.join(people, on="person")["people"].sum()
    if data.select(*ROW_KEY).is_duplicated().any() or copied != len(released.data):
        return None, "the copies of a group differ, which tells its members apart"
    return replace(released, data=data, people=people), ""


def one_a_group(law: KSame, table: FeatureTable, member: Members) -> FeatureTable:
    """What is released of given groups, one made-up person each, whether copies were asked for."""
    return replace(law, copies=False).averaged(table, member)


def under_names(original: FeatureTable, means: FeatureTable, member: Members) -> FeatureTable:
    """The mean of every group under the names, and recordings, of all its members.

    Args:
        original: whose members' recordings.
        means: one made-up person a group, in the order of groups.
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
    """How often people are named from the groups of one release, two, and so on, all known."""
    noise = randomness(np.random.default_rng([seed, *b"released again"]))
    shared = np.zeros((_MOST_RELEASES, _DRAWS))
    for draw in range(_DRAWS):
        cell = grouped.member
        for releases in range(_MOST_RELEASES):
            if releases:
                again = grouped.law.partition(grouped.original, noise)
                cell = np.unique(np.column_stack([cell, again]), axis=0, return_inverse=True)[1]
            cell = cell.reshape(-1)
            shared[releases, draw] = len(np.unique(cell)) / cell.size
    yield from shared.mean(axis=1).tolist()


def homogeneity(original: FeatureTable, member: Members) -> Iterator[Homogeneity]:
    """What the groups tell of people's attributes, to whoever knows who is in which.

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
