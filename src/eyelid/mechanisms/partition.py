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


def check_k(k: int) -> None:
    """Refuse groups of one or none: a mean over one person is their own record."""
    if k < 2:
        raise InputError(
            f"k must be at least 2, got {k}: a group of one is that person's own record"
        )


def random_groups(
    people: int, k: int, noise: Randomness, strata: Sequence[Sequence[object]] = ()
) -> Members:
    """Everybody's group: at least k in each, sizes as even as possible, groups in random order.

    Args:
        people: N.
        k: the fewest people of a group.
        noise: where the choice comes from.
        strata: attributes of everybody, the most important first. People who share their values
            are dealt out one a group, so that each group has its share of every value; values that
            are too rare for every group come last, and go to as many groups as there are people.
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


def attributes_of_everybody(table: FeatureTable, names: str | None) -> list[list[str]]:
    """Attributes of the people of a table, named one after the other with commas between."""
    listed = [name.strip() for name in (names or "").split(",") if name.strip()]
    return [attribute_of_everybody(table, name) for name in listed]


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
