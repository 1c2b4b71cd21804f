"""Random groups of at least k people, drawn without a look at the gaze."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.privacy.noise import Randomness

Members = NDArray[np.intp]
"""The group of each person, in order."""


def group_sizes(people: int, k: int) -> list[int]:
    """Sizes of as many groups of at least k as there can be, as even as possible.

    >>> group_sizes(20, 8), group_sizes(11, 3)
    ([10, 10], [4, 4, 3])
    """
    check_k(k)
    if people < k:
        raise InputError(
            f"k={k} needs at least {k} people, this study has {people}: choose k ≤ {people}"
        )
    groups = people // k
    return [people // groups + (group < people % groups) for group in range(groups)]


def groups_in_words(people: int, k: int) -> str:
    """How many groups of at least k there are, and of how many people.

    >>> groups_in_words(20, 4), groups_in_words(23, 4), groups_in_words(5, 4)
    ('5 groups of 4', '5 groups of 4 or 5', '1 group of 5')
    """
    sizes = group_sizes(people, k)
    of = " or ".join(str(size) for size in sorted(set(sizes)))
    return f"{len(sizes)} group{'s' * (len(sizes) > 1)} of {of}"


def everything_of_the_last(size: int) -> str:
    """What an exact mean of so many people shows, in words."""
    return (
        "everything of a member to those who have the recordings of the others: the mean of a "
        f"group of {size} less those of {size - 1} gives the last one's values exactly, and nobody "
        "need be a member or be asked for that"
    )


def spread_in_words(names: str, people: int, k: int) -> str:
    """What dealing people out by attributes shows, which are named with commas between.

    >>> spread_in_words("site", people=20, k=4)
    'that people who share site are spread over the groups: two groups differ by at most 1 of them'
    """
    listed = _listed(names)
    later = " or ".join(listed[1:])
    alone = f" (of {later} by itself groups may differ by more)" if later else ""
    return (
        f"that people who share {' and '.join(listed)} are spread over the groups: two groups "
        f"differ by at most {most_apart(people, k)} of them{alone}"
    )


def most_apart(people: int, k: int) -> int:
    """By how many people of the same attributes two groups differ at most, where these are dealt.

    One of the dealing, and one of the extra seats where groups are not all of one size.

    >>> most_apart(20, 4), most_apart(21, 4)
    (1, 2)
    """
    return len(set(group_sizes(people, k)))


def check_k(k: int) -> None:
    """Refuse groups of one or none: a mean over one person is their own record."""
    if k < 2:
        raise InputError(
            f"k must be at least 2, got {k}: nobody is hidden in a group of fewer than two people"
        )


def random_groups(
    people: int, k: int, noise: Randomness, strata: Sequence[Sequence[object]] = ()
) -> Members:
    """Everybody's group: at least k in each, sizes as even as possible, groups in random order.

    Where the groups are not all of one size, the extra seats are given away first, to people drawn
    from all, in groups drawn from all: whatever a person's attributes are, they are in a
    larger group as often as any other person. Only the others are dealt out by attributes.

    Args:
        people: N.
        k: the fewest people of a group.
        noise: where the choice comes from.
        strata: attributes of everybody, the most important first. People who share the values of
            all of them are dealt out one a group, and so are those who share the first, or the
            first two: two groups differ by at most one of them, and by at most two together with
            the extra seats. Of a later attribute by itself this is not true. Values that are too
            rare for every group come last, and go to as many groups as there are people.
    """
    groups = len(group_sizes(people, k))
    order = np.argsort(noise.words(people))
    seated, rest = np.split(order, [people % groups])
    dealt = np.empty(people, dtype=np.intp)
    # Before any person's attributes are looked at: else the sizes of groups would tell of them.
    dealt[seated] = np.argsort(noise.words(groups))[: seated.size]
    for values in reversed(strata):
        rank = _ranks([values[person] for person in rest], groups, noise)
        rest = rest[np.argsort(rank, kind="stable")]
    # The rest fills up all groups alike, whatever its order.
    dealt[rest] = np.argsort(noise.words(groups))[np.arange(rest.size) % groups]
    return dealt


def groups_and_a_rest(people: int, k: int, noise: Randomness) -> Members:
    """Everybody's group: k in each, in random order, and in the last one those left over."""
    member: Members = np.empty(people, dtype=np.intp)
    member[np.argsort(noise.words(people))] = np.arange(people) // k
    return member


def _ranks(values: Sequence[object], groups: int, noise: Randomness) -> NDArray[np.intp]:
    """The place of each person's value in the dealing: frequent ones first, else random."""
    _, code, often = np.unique(
        [str(value) for value in values], return_inverse=True, return_counts=True
    )
    rank = np.lexsort((noise.words(often.size), often < groups))
    place = np.empty(often.size, dtype=np.intp)
    place[rank] = np.arange(often.size)
    found: NDArray[np.intp] = place[code]
    return found


def group_names(groups: int) -> list[str]:
    """Names for so many groups, which sort in their order.

    >>> group_names(2), group_names(10)[0]
    (['group1', 'group2'], 'group01')
    """
    digits = len(str(groups))
    return [f"group{number:0{digits}d}" for number in range(1, groups + 1)]


def fewest_values(values: Sequence[object], groups: int) -> int:
    """How many different values every group is sure to have when people are dealt out by them.

    The one who gets an extra seat is not dealt out, and may be any person: what counts is the worst
    case. Frequent values are sure while as many people as groups are dealt; of the people of all
    others, each group has an even share, of different values.

    >>> fewest_values("fffmmx", 2), fewest_values("fffmm", 2)
    (2, 1)
    """
    _, often = np.unique([str(value) for value in values], return_counts=True)
    frequent, rare = np.sort(often[often >= groups]), int(often[often < groups].sum())
    extra, worst = len(values) % groups, groups + often.size
    # The worst takes some frequent values below the number of groups, the cheapest ones first, and
    # the rest of the extra seats from those that are then rare.
    spent = np.concatenate([[0], np.cumsum(frequent - groups + 1)])
    for taken, cost in enumerate(spent[spent <= extra].tolist()):
        left = max(0, rare + taken * (groups - 1) - (extra - cost))
        worst = min(worst, frequent.size - taken + left // groups)
    return worst


def attributes_to_balance(
    table: FeatureTable, names: str | None, within: Sequence[str] | None = None
) -> list[list[str]]:
    """Attributes of the people of a table, refused where they make no difference.

    Args:
        table: whose people.
        names: of the attributes, with commas between.
        within: an attribute of everybody that they are dealt out by before these.
    """
    found = []
    alike: Sequence[object] = within or [""] * table.recordings["person"].n_unique()
    for name in _listed(names or ""):
        values = attribute_of_everybody(table, name)
        finer = list(zip(alike, values, strict=True))
        if len(set(finer)) == len(set(alike)):
            whom = "everybody" if len(set(alike)) == 1 else "all who share what comes before it"
            raise InputError(f"{name} is the same for {whom}, nothing to balance: leave it out")
        alike = finer
        found.append(values)
    return found


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def attribute_of_everybody(table: FeatureTable, name: str) -> list[str]:
    """An attribute of the people of a table, in the order of their recordings; all must have it."""
    attributes = [column for column in table.people.columns if column != "person"]
    if name not in attributes:
        raise unknown("attribute of people", name, attributes)
    present = table.recordings.select(pl.col("person").unique(maintain_order=True))
    text = pl.col(name).cast(pl.String).str.strip_chars().replace("", None)
    each = present.join(
        table.people.select("person", text), on="person", how="left", maintain_order="left"
    )
    lacking = each.filter(pl.col(name).is_null())["person"].to_list()
    if lacking:
        raise InputError(
            f"person '{lacking[0]}' has no {name} ({len(lacking)} lack it): fill it in, or leave "
            f"{name} out"
        )
    found: list[str] = each[name].to_list()
    return found
