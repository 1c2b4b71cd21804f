"""People in groups by public attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import PublicFacts

EVERYBODY = "everybody"
_FEWEST_PEOPLE = 2


@dataclass(frozen=True)
class GroupedFacts(PublicFacts):
    """Public facts of people in groups.

    Attributes:
        smallest: people in the smallest group.
        groups: how many there are.
    """

    smallest: int = 1
    groups: int = 1


@dataclass(frozen=True, eq=False)
class Groups:
    """Who is in which group.

    Attributes:
        people: one row a group: its name as ``person``, what its members have in common, and how
            many ``people`` it has.
        member: of everybody in the table, in its order, which group.
    """

    people: pl.DataFrame
    member: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """People of each group."""
        return self.people["people"].to_numpy().astype(np.int64)


def grouped(facts: PublicFacts, by: str | None) -> GroupedFacts:
    """The public facts with those of the groups by public attributes, which a study must tell."""
    if isinstance(facts, GroupedFacts):
        return facts
    if by:
        raise InputError(
            f"how many people share their {by} is not known without a study: give one, or leave "
            "out by"
        )
    return GroupedFacts(**vars(facts), smallest=facts.people)


def groups_by(table: FeatureTable, by: str | None) -> Groups:
    """The groups by public attributes, and who is in which.

    Args:
        table: features of people.
        by: attributes, with commas between; everybody is together without any.
    """
    present = table.recordings.select(pl.col("person").unique(maintain_order=True))
    return groups_among(present, table.people, by)


def groups_among(present: pl.DataFrame, people: pl.DataFrame, by: str | None) -> Groups:
    """The groups of some people by public attributes.

    Args:
        present: whom it is about, as ``person``, in order.
        people: their attributes.
        by: attributes, with commas between; everybody is together without any.
    """
    columns = list(dict.fromkeys(n.strip() for n in (by or "").split(",") if n.strip()))
    if by and not columns:
        raise InputError(f"by names no attribute of people, got '{by}': leave it out")
    attributes = [name for name in people.columns if name != "person"]
    for name in columns:
        if name not in attributes:
            raise unknown("attribute of people to group by", name, attributes)
        if name == "people":
            raise InputError("people is how many a group has: give that attribute another name")
    text = [pl.col(name).cast(pl.String).str.strip_chars().replace("", None) for name in columns]
    each = present.join(
        people.select("person", *text), on="person", how="left", maintain_order="left"
    )
    for name in columns:
        lacking = each.filter(pl.col(name).is_null())["person"].to_list()
        if lacking:
            raise InputError(
                f"person '{lacking[0]}' has no {name} ({len(lacking)} lack it): fill it in, or "
                "group by something that everybody has"
            )
    label = pl.concat_str(columns, separator=", ") if columns else pl.lit(EVERYBODY)
    # A literal has one row, people have many.
    each = each.with_columns(label.alias("person")).select("person", *columns)
    count = pl.len().cast(pl.Int64).alias("people")
    groups = each.group_by("person", *columns).agg(count).sort("person")
    if groups["person"].n_unique() < len(groups):
        raise InputError(f"two groups by {by} have the same name: rename a value")
    alone = groups.filter(pl.col("people") < _FEWEST_PEOPLE)["person"].to_list()
    if columns and alone:
        raise InputError(
            f"the group '{alone[0]}' by {by} is one person ({len(alone)} such groups), "
            "and all that is told of it is about them alone: group by something coarser, such as "
            "decades of age"
        )
    member = each["person"].replace_strict(groups["person"], np.arange(len(groups)))
    return Groups(groups, member.to_numpy().astype(np.intp))


def plain(facts: PublicFacts) -> PublicFacts:
    """The facts about people and their recordings, without those about groups."""
    return PublicFacts(facts.people, facts.recordings, facts.length, facts.features, facts.window)
