"""Games against synthetic participants: a person, and others who stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values
from eyelid.privacy.unit import Unit

# What all others' values are, in games against everything and against one round, and times
# that there may be more rows than count.
_OTHERS = (0.5, 0.5, 0.5, np.nan)
_OTHERS_IN_ROUND = (0.25, np.nan)
_MORE_ROWS = 4


@dataclass(frozen=True)
class GameFacts(PublicFacts):
    """Public facts of a game.

    Attributes:
        there: how many others have a row where a person may be.
    """

    there: int = 0


def worst_pairs(records: int, features: int, unit: Unit) -> Iterator[NeighbourPair]:
    """From bound to bound and longer, outside them, absent, one feature or another.

    Args:
        records: rows of each person and task that count.
        features: that are made up.
        unit: where neighbours differ.
    """
    low = np.zeros((1, records, features))
    first, last = low.copy(), low.copy()
    first[..., 0] = last[..., -1] = 1.0
    more = np.full((1, _MORE_ROWS * records, features), np.nan)
    few = np.concatenate([low, more], axis=1)
    both = np.concatenate([low, low])
    ends = (
        ("few rows at one bound, many at the other", few, np.ones_like(few)),
        ("far outside the bounds", low - 1e4, low + 1e4),
        ("missing against present", both * np.nan, both + 1),
        ("one feature or another", first, last),
    )
    for name, one, other in ends:
        facts = PublicFacts(1 + len(_OTHERS), len(one), records, features, window=1)
        yield NeighbourPair(name, facts, unit, one, other)


def in_game(values: Values) -> FeatureTable:
    """One with these values (tasks, rows, features), and others who stay the same.

    Rows without any value are not there, but for everybody's first.
    """
    everybody = np.stack([values, *[np.full_like(values, fixed) for fixed in _OTHERS]])
    there = np.asarray(~np.isnan(everybody).all(axis=-1))
    there[:, 0, 0] = True
    features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(values.shape[-1])]
    table = table_from_arrays(everybody, features)
    return replace(table, data=table.data.filter(there.ravel()))


def pairs_of_rows(unit: Unit) -> Iterator[NeighbourPair]:
    """All at one bound against all at the other; far outside; not there at all.

    Args:
        unit: where neighbours differ.
    """
    facts = PublicFacts(1 + len(_OTHERS_IN_ROUND), 1, 2, 2, window=1)
    ends = (
        ("from one bound to the other", 0.0, 1.0),
        ("far outside the bounds", -1e4, 1e4),
        ("missing against present", np.nan, 1.0),
    )
    for name, low, high in ends:
        one = np.full((1, facts.length, facts.features), low)
        yield NeighbourPair(name, facts, unit, one, np.full_like(one, high))
    # Where signs count: features go together or against each other, and stay or go to and fro.
    together = np.array([[[0.0, 0.0], [1.0, 1.0]]])
    against = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    steady = np.ones_like(against)
    yield NeighbourPair("together or against each other", facts, unit, together, against)
    yield NeighbourPair("steady or to and fro", facts, unit, steady, against)


def with_others(values: Values) -> Values:
    """A person with these values, and the others of a game."""
    return np.stack([values, *[np.full_like(values, fixed) for fixed in _OTHERS_IN_ROUND]])
