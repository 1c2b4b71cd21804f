"""Random groups of at least k people, drawn without a look at anybody's gaze."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.privacy.noise import Randomness

Members = NDArray[np.intp]
"""Of everybody, in order, which group."""


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


def groups_told(people: int, k: int) -> str:
    """How many groups of at least k there are, and of how many people.

    >>> groups_told(20, 4), groups_told(23, 4), groups_told(5, 4)
    ('5 groups of 4', '5 groups of 4 or 5', '1 group of 5')
    """
    sizes = group_sizes(people, k)
    of = " or ".join(str(size) for size in sorted(set(sizes)))
    return f"{len(sizes)} group{'s' * (len(sizes) > 1)} of {of}"


def everything_of_the_last(size: int) -> str:
    """What an exact mean of so many people shows, in words."""
    return (
        "everything of a member to whoever has the recordings of the others: the mean of a group "
        f"of {size} less those of {size - 1} gives the last one's values exactly, and nobody need "
        "be a member or be asked for that"
    )


def spread_told(names: str) -> str:
    """What dealing people out by attributes shows, which are named with commas between.

    >>> spread_told("gender")
    'that people who share gender are spread over the groups as evenly as they can be'
    """
    listed = _listed(names)
    text = f"that people who share {' and '.join(listed)} are spread over the groups as evenly as"
    later = " or ".join(listed[1:])
    alone = f" (of {later} by itself groups may differ by more)" if later else ""
    return f"{text} they can be{alone}"


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

    Args:
        people: N.
        k: the fewest people of a group.
        noise: where the choice comes from.
        strata: attributes of everybody, the most important first. People who share the values of
            all of them are dealt out one a group, and so are those who share the first, or the
            first two: no group has two more of them than another. Of a later attribute by itself
            this is not true. Values that are too rare for every group come last, and go to as
            many groups as there are people.
    """
    groups = len(group_sizes(people, k))
    order = np.argsort(noise.words(people))
    for values in reversed(strata):
        order = order[np.argsort(_ranks(values, groups, noise)[order], kind="stable")]
    dealt = np.empty(people, dtype=np.intp)
    # Whoever is dealt to first gets one more; nobody must know who that is.
    dealt[order] = np.argsort(noise.words(groups))[np.arange(people) % groups]
    return dealt


def _ranks(values: Sequence[object], groups: int, noise: Randomness) -> NDArray[np.intp]:
    """Of everybody, the place of their value in the dealing: frequent ones first, else random."""
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
    """Of how many different values every group can be sure when people are dealt out by them.

    >>> fewest_values(["f", "f", "f", "m", "m", "x"], 2)
    2
    """
    _, often = np.unique([str(value) for value in values], return_counts=True)
    frequent = int((often >= groups).sum())
    return frequent + int(often[often < groups].sum()) // groups


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
