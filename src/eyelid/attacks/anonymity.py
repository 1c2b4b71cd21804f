"""Attacks on releases of groups: who is behind a pseudonym, and what is one member's alone?

The attacker has raw recordings, the very ones that were released. Recordings of the original and of
the release are compared where they lie side by side: of the same task, and of the same place in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.statistics import Rate, rate_of_decisions
from eyelid.attacks.subtraction import Subtraction, subtraction
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.mechanisms.mechanism import Values

# More rows, evenly spread, tell an attacker little more.
_MOST_ROWS = 400
# Equations for each unknown weight; more of them, and thousands of people would take minutes.
_MOST_EQUATIONS, _FEWEST_EQUATIONS = 3, 4096
# As shares of the range: far above the rounding of sums and grids, far below anything that people
# do.
EXACT = 1e-7
# Looking for weights without negative ones takes minutes with more people than these.
_MOST_PEOPLE = 500
# Of the largest weight: one that is so near to it, or to nothing, is taken for that.
_CLEARLY = 0.1
# Distances that differ by less are the same.
_ALIKE = 1e-9


def intersection(
    original: FeatureTable,
    released: FeatureTable,
    found: RecoveredGroups | None = None,
) -> Rate:
    """The intersection attack: whose released records are nearest, over all tasks together?

    For each person and each task, released records are compared with the person's own recording;
    distances add up over the tasks that a pseudonym links. The nearest pseudonym is chosen. Where
    several are equally near, one of them is chosen at random: each counts as one in so many.

    Where people kept their names, choosing a person's own is right. Otherwise a record is that of a
    group, found by `recover_partition`, and any of its members may be the one behind it: naming the
    right group is right for one of them.

    Args:
        original: the recordings that were released; the attacker has them.
        released: what was made of them.
        found: who is behind which record, where it is known already.
    """
    sides = Sides(original, released)
    total = np.zeros((sides.people, sides.records))
    many = np.zeros_like(total)
    for slot in sides.slots:
        whose, which, raw, shown = sides.both(slot)
        every = max(1, raw.shape[1] // _MOST_ROWS)
        apart, there = _distances(raw[:, ::every], shown[:, ::every])
        place = np.ix_(whose, which)
        total[place] += apart
        many[place] += there
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(many > 0, total / many, np.inf)
    nearest = apart <= apart.min(axis=1, keepdims=True) * (1 + _ALIKE) + _ALIKE**2
    return _rate(nearest, original, released, found)


def exact_intersection(
    original: FeatureTable,
    released: FeatureTable,
    found: RecoveredGroups | None = None,
) -> Rate:
    """Rate of intersection by an attacker who has everybody's recordings, and so the groups.

    For each person, the pseudonyms are kept that the person is behind in every task.

    Args:
        original: the recordings that were released; the attacker has all of them.
        released: what was made of them.
        found: who is behind which record, where it is known already.
    """
    found = found or recover_partition(original, released)
    return _rate(found.behind_all.T, original, released, found)


def _rate(
    named: NDArray[np.bool_],
    original: FeatureTable,
    released: FeatureTable,
    found: RecoveredGroups | None = None,
) -> Rate:
    """How often one of the named records, chosen at random, is the right one."""
    people, records = people_of(original), people_of(released)
    if set(records) <= set(people):
        right = np.array(people)[:, None] == np.array(records)
        chance = 1 / len(people)
    else:
        # Of a group's equal records, each is as much one member's as another's.
        behind = (found or recover_partition(original, released)).behind_all.T
        sizes = np.maximum(behind.sum(axis=0), 1)
        right = behind / sizes
        chance = float((right.sum(axis=1) / len(records)).mean())
    shares = (named * right).sum(axis=1) / np.maximum(named.sum(axis=1), 1)
    return rate_of_decisions(np.asarray(shares, dtype=np.float64), chance)


@dataclass(frozen=True, eq=False)
class RecoveredGroups:
    """Who is behind which released record, as an attacker who has all raw data finds it.

    Attributes:
        people: names of the original.
        records: names of the release.
        tasks: of each place that recordings are compared at.
        weights: (places, records, people): how much of a person is in a record; NaN where the
            record is not there.
        residual_of_span: (places, records): root mean square of what they do not explain.
        determined: whether no other weights explain as much.
    """

    people: tuple[str, ...]
    records: tuple[str, ...]
    tasks: tuple[str, ...]
    weights: Values
    residual_of_span: Values
    determined: bool = True

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """(places, records, people): who is in the mean of a record."""
        return self.weighing(self.weights)

    @staticmethod
    def weighing(weights: Values) -> NDArray[np.bool_]:
        """Whose weights, along the last axis, are those of members."""
        weights = np.nan_to_num(weights)
        return np.asarray((weights > weights.max(axis=-1, keepdims=True) / 2) & (weights > 0))

    @property
    def there(self) -> NDArray[np.bool_]:
        """(places, records): whether there is such a record."""
        return np.asarray(~np.isnan(self.residual_of_span))

    @cached_property
    def behind_all(self) -> NDArray[np.bool_]:
        """(records, people): who is in all recordings of a record."""
        inside = self.members | ~self.there[:, :, None]
        return np.asarray(inside.all(axis=0) & np.asarray(self.there.any(axis=0))[:, None])

    @property
    def fewest(self) -> int:
        """People behind the record that has fewest, each task looked at alone."""
        return int(self.members.sum(axis=2)[self.there].min())

    @property
    def exact(self) -> bool:
        """Whether every record is a mean of people, but for rounding."""
        return bool(np.nanmax(self.residual_of_span) < EXACT)

    @property
    def one_partition(self) -> bool:
        """Whether everybody is in the same group in all that is linked."""
        there = self.there[:, :, None]
        return bool(((self.members == self.behind_all) | ~there).all())


def recover_partition(original: FeatureTable, released: FeatureTable) -> RecoveredGroups:
    """Who is in which group, by least squares on everybody's raw signals.

    Args:
        original: everybody's recordings.
        released: means over groups of them, one record a group or one a person.
    """
    sides = Sides(original, released)
    places = list(sides.slots)
    weights = np.full((len(places), sides.records, sides.people), np.nan)
    residual = np.full(weights.shape[:2], np.nan)
    determined = True
    for place, slot in enumerate(places):
        whose, which, raw, shown = sides.common(slot)
        if raw.shape[1] < max(len(whose), 1):
            continue
        alike, again = np.unique(shown, axis=0, return_inverse=True)
        found, one_answer = _weights(raw, alike)
        determined &= one_answer
        left = np.sqrt(np.mean((alike - found @ raw) ** 2, axis=1))
        again = again.reshape(-1)
        weights[place, which] = 0.0
        weights[place][np.ix_(which, whose)] = found[again]
        residual[place, which] = left[again]
        empty = np.setdiff1d(sides.both(slot)[1], which)
        if len(empty) == 1 and one_answer:
            # The person in no other record of this task is in the one that is left.
            inside = RecoveredGroups.weighing(weights[place, which]).any(axis=0)
            rest = np.setdiff1d(sides.both(slot)[0], np.flatnonzero(inside))
            weights[place, empty] = 0.0
            weights[place][np.ix_(empty, rest)] = 1 / max(len(rest), 1)
            residual[place, empty] = 0.0
    if np.isnan(residual).all():
        raise InputError(
            "original and release have no task in which enough values can be compared: give the "
            "recordings that were released"
        )
    return RecoveredGroups(
        people=tuple(people_of(original)),
        records=tuple(people_of(released)),
        tasks=tuple(slot[0] for slot in places),
        weights=weights,
        residual_of_span=residual,
        # Of records that are empty everywhere it may be open whose they are.
        determined=determined and not np.isnan(residual).all(axis=0).any(),
    )


def known_partition(
    original: FeatureTable, released: FeatureTable, member: NDArray[np.intp]
) -> RecoveredGroups:
    """Rate of an attacker who was told who is in which group.

    Args:
        original: everybody's recordings.
        released: one record a group, in the order of groups.
        member: of everybody, in order, which group.
    """
    sides = Sides(original, released)
    inside = np.arange(sides.records)[:, None] == member
    weights = np.full((len(sides.slots), *inside.shape), np.nan)
    residual = np.full(weights.shape[:2], np.nan)
    for place, slot in enumerate(sides.slots):
        which = sides.both(slot)[1]
        weights[place, which] = (inside / inside.sum(axis=1, keepdims=True))[which]
        residual[place, which] = 0.0
    return RecoveredGroups(
        people=tuple(people_of(original)),
        records=tuple(people_of(released)),
        tasks=tuple(slot[0] for slot in sides.slots),
        weights=weights,
        residual_of_span=residual,
    )


def mean_off_of_span(
    original: FeatureTable, released: FeatureTable, sizes: NDArray[np.int64]
) -> float | None:
    """Largest distance of the mean over groups from that over all people, as a share of the range.

    They are the same, whatever the groups, wherever no value is missing. None where nothing
    can be compared.

    Args:
        original: everybody's recordings.
        released: one record a group.
        sizes: how many people each stands for, in order.
    """
    sides, found = Sides(original, released), []
    for slot in sides.slots:
        whose, which, raw, shown = sides.both(slot)
        if (len(whose), len(which)) == (sides.people, sides.records):
            everybody = np.clip(raw, 0.0, 1.0).mean(axis=0)
            groups = np.average(shown, axis=0, weights=sizes[which])
            off = np.abs(groups - everybody)
            found.append(off[np.isfinite(off)])
    compared = np.concatenate(found) if found else np.empty(0)
    return float(compared.max()) if compared.size else None


def _weights(raw: Values, shown: Values) -> tuple[Values, bool]:
    """How much of each person is in each record: as in a mean, nothing or the same, if that fits.

    Plain least squares have one answer, and are quick; where that is no mean, weights are asked for
    of which none is negative. Whether there is one answer only is told besides: people who are
    alike, or have the least of everything, can stand for each other.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    base, triangle = np.linalg.qr(raw.T)
    sizes = np.abs(np.diag(triangle))
    rests, found = shown @ base, np.zeros((len(shown), len(raw)))
    one_answer = bool(sizes.min() > EXACT * sizes.max())
    if one_answer:
        found = solve_triangular(triangle, rests.T).T
    part = found / np.maximum(found.max(axis=1, keepdims=True), EXACT)
    off = np.minimum(np.abs(part), np.abs(part - 1)).max(axis=1)
    unclear = np.flatnonzero((off > _CLEARLY) | (found.max(axis=1) <= 0))
    if len(raw) <= _MOST_PEOPLE:
        for record in unclear:
            found[record] = nnls(triangle, rests[record])[0]
    return np.asarray(found), one_answer


def filled_in(
    original: FeatureTable, released: FeatureTable, found: RecoveredGroups | None = None
) -> int:
    """How many released values stand where a member of the group has none.

    Such a value is a mean of some members only, or was filled in. From means over all and over some
    of a group, where values hardly change from row to row, one member can compute the others'
    values.

    Args:
        original: the recordings that were released, to see who has values where.
        released: what was made of them.
        found: who is behind which record, where it is known already.
    """
    found = found or recover_partition(original, released)
    sides, many = Sides(original, released), 0
    for slot in sides.slots:
        whose, which, raw, shown = sides.both(slot)
        for record, values in zip(which, shown, strict=True):
            inside = found.behind_all[record, whose]
            lacking = ~np.isfinite(raw[inside]).all(axis=0)
            many += int((np.isfinite(values) & lacking).sum())
    return many


def collusion(
    original: FeatureTable,
    released: FeatureTable,
    person: str,
    found: RecoveredGroups | None = None,
) -> Subtraction:
    """What all other members of a person's group learn of them: k·mean minus their own values.

    Args:
        original: the recordings that were released.
        released: what was made of them.
        person: the one who is left.
        found: who is behind which record, where it is known already.
    """
    people = people_of(original)
    if person not in people:
        raise unknown("person", person, people)
    found = found or recover_partition(original, released)
    sides, target = Sides(original, released), people.index(person)
    best: Subtraction | None = None
    for place, slot in enumerate(sides.slots):
        whose, which, raw, shown = sides.both(slot)
        for record in np.flatnonzero(found.members[place, which, target])[:1]:
            group = np.clip(raw[found.members[place, which[record], whose]], 0.0, 1.0)
            # What others lack does not help the members.
            known = np.isfinite(group).all(axis=0) & np.isfinite(shown[record])
            if len(group) > 1 and known.any():
                one = subtraction(shown[record][known], group[:, known])
                if best is None or one.largest_of_span > best.largest_of_span:
                    best = one
    if best is None:
        raise InputError(f"person '{person}' shares no value with others of the release")
    return best


Slot = tuple[str, int]
"""A task, and a place in it."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Original and release side by side, as shares of the range above the lower bounds."""

    original: FeatureTable
    released: FeatureTable
    _tables: list[_Placed] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.original.names != self.released.names:
            raise InputError("original and release have different features: give the same ones")
        tables = [_Placed.of(self.original), _Placed.of(self.released)]
        object.__setattr__(self, "_tables", tables)
        if not self.slots:
            raise InputError(
                "original and release have no task in common: give the recordings that were "
                "released"
            )

    @property
    def people(self) -> int:
        """How many people the original has."""
        return len(people_of(self.original))

    @property
    def records(self) -> int:
        """People of the release, made up or not."""
        return len(people_of(self.released))

    @property
    def slots(self) -> list[Slot]:
        """Where both have recordings."""
        raw, shown = self._tables
        return sorted(set(raw.slots) & set(shown.slots))

    def both(self, slot: Slot) -> tuple[NDArray[np.intp], NDArray[np.intp], Values, Values]:
        """Whose and which; their values (recordings, rows, features), NaN for what is missing."""
        (whose, raw), (which, shown) = (table.at(slot) for table in self._tables)
        rows = min(raw.shape[1], shown.shape[1])
        return whose, which, raw[:, :rows], shown[:, :rows]

    def common(self, slot: Slot) -> tuple[NDArray[np.intp], NDArray[np.intp], Values, Values]:
        """Whose and which; their values (recordings, values) wherever nobody lacks one.

        Where a person's value is missing, a mechanism fills in or leaves the cell empty; those
        outside bounds it clips. Recordings and records without any value are left out: nobody who
        has none is in a record that has some, unless something was filled in.
        """
        whose, which, raw, shown = self.both(slot)
        seen, there = (np.isfinite(side).any(axis=(1, 2)) for side in (raw, shown))
        whose, raw, which, shown = whose[seen], raw[seen], which[there], shown[there]
        raw = np.clip(raw, 0.0, 1.0)
        usable = np.isfinite(raw).all(axis=0) & np.isfinite(shown).all(axis=0)
        places = np.flatnonzero(usable)
        most = max(_MOST_EQUATIONS * len(whose), _FEWEST_EQUATIONS)
        if places.size > most:
            places = places[np.linspace(0, places.size - 1, most).astype(np.intp)]
        raw, shown = (
            side.reshape(len(side), math.prod(side.shape[1:]))[:, places] for side in (raw, shown)
        )
        return whose, which, raw, shown


@dataclass(frozen=True, eq=False)
class _Placed:
    """A table with the place of each recording.

    Attributes:
        values: rows × features, as shares of the range above the lower bounds.
        slots: by task and place, which recordings.
        owner: whose each recording is.
        start: its first row.
        rows: how many.
    """

    values: Values
    slots: dict[Slot, NDArray[np.intp]]
    owner: NDArray[np.intp]
    start: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, table: FeatureTable) -> _Placed:
        placed = slots_of(table)
        tasks = placed.names["task"].to_list()
        keys = [(task, number - tasks.index(task)) for number, task in enumerate(tasks)]
        lowers = np.array([f.lower for f in table.features])
        spans = np.array([f.span for f in table.features])
        values = table.data.select(pl.col(table.names).cast(pl.Float64)).to_numpy()
        rows = table.recordings["rows"].to_numpy().astype(np.int64)
        return cls(
            values=(values - lowers) / spans,
            slots={key: np.flatnonzero(placed.slot == place) for place, key in enumerate(keys)},
            owner=placed.owner,
            start=np.cumsum(rows) - rows,
            rows=rows,
        )

    def at(self, slot: Slot) -> tuple[NDArray[np.intp], Values]:
        """Whose, and their values as far as the longest goes."""
        mine = self.slots[slot]
        rows = self.rows[mine]
        row = np.arange(int(rows.max()))
        there = row < rows[:, None]
        values = self.values[np.where(there, self.start[mine, None] + row, 0)]
        values[~there] = np.nan
        return self.owner[mine], values


def people_of(table: FeatureTable) -> list[str]:
    """Names, in the order of the recordings."""
    return table.recordings["person"].unique(maintain_order=True).to_list()


def _distances(raw: Values, shown: Values) -> tuple[Values, Values]:
    """(raw, shown): sums of squared distances over what both have, and how many values that is.

    Features count alike: each in units of its spread in the attacker's own recordings.
    """
    raw, shown = (np.where(np.isfinite(side), side, np.nan) for side in (raw, shown))
    known = np.isfinite(raw).any(axis=(0, 1))
    raw, shown = raw[..., known], shown[..., known]
    middle, spread = np.nanmean(raw, axis=(0, 1)), np.nanstd(raw, axis=(0, 1))
    # What hardly differs says nothing.
    scale = np.where(spread > EXACT, spread, np.inf)
    flat = [((side - middle) / scale).reshape(len(side), -1) for side in (raw, shown)]
    there = [np.isfinite(side).astype(np.float64) for side in flat]
    one, other = (np.nan_to_num(side) for side in flat)
    apart = one**2 @ there[1].T + there[0] @ (other**2).T - 2 * one @ other.T
    return np.maximum(apart, 0.0), there[0] @ there[1].T
