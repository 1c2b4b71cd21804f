"""The spread of people, drawn anew around the means of groups: post-processing, of public facts.

A mean over n people has 1/n of the variance that they have, so that code which is trained on means
takes for certain what differs from person to person. What is missing is drawn: for each group as
many synthetic participants as it has members, less their mean, so that of every variance 1 − 1/n is
added and the mean of a group stays what it was, but for what the bounds cut off.

Three parts, all as shares of the mean, so that units and ranges play no part: what a person has in
all recordings, what they have in one, and what changes from row to row. **How much people differ**
is known from published norms (`eyelid.gaze.norms`), and otherwise from simulated participants,
whose spread is scaled by what norms are to theirs where both are known: simulated participants
differ less than real ones. **What goes together**, and how much of it lasts from one recording to
the next, is known from simulated participants alone; real ones need not be like them. **How rows
move** is read off the released means, which move √n times less than one person does.

No value of any person plays a part: anyone who has the means can do the same.
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.features.catalogue import most_used
from eyelid.gaze.norms import measure_of, norms
from eyelid.gaze.norms.norm import ANY, BY_THEMSELVES, LOG
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import uniforms
from eyelid.spelling import plural

PUBLIC = "public"
_FILE = "simulated_spread.csv"
# Of the mean: more would be mostly at the bounds.
_MOST = 1.0
_LISTED = 6
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class PublicSpread:
    """How much people differ in some features, as shares of the mean.

    Attributes:
        names: of the features.
        published: of which of them a norm is published.
        lasting: what a person has in all recordings, as a square root of its covariance.
        passing: what a person has in one recording, in the same form.
        known: of which features anything is known.
    """

    names: tuple[str, ...]
    published: NDArray[np.bool_]
    lasting: Values
    passing: Values
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, names: Sequence[str], times: float = 1.0) -> PublicSpread:
        """What is publicly known of some features.

        Args:
            names: of the features.
            times: all spreads are so many times larger: to see what depends on them.
        """
        simulated, published = _simulated(), _published()
        factor = published_to_simulated()
        size, lasts, place = np.zeros(len(names)), np.ones(len(names)), []
        for number, name in enumerate(names):
            place.append(simulated.places.get(name, -1))
            if place[-1] >= 0:
                size[number] = factor * simulated.between[place[-1]]
                lasts[number] = simulated.lasts[place[-1]]
            size[number] = published.get(measure_of(name) or name, size[number])
        size = np.minimum(size, _MOST) * times
        both = np.array(place)
        together = np.eye(len(names))
        inside = np.ix_(both >= 0, both >= 0)
        together[inside] = simulated.together[np.ix_(both[both >= 0], both[both >= 0])]
        return cls(
            tuple(names),
            np.array([(measure_of(name) or name) in published for name in names]),
            _root(together * np.outer(size * np.sqrt(lasts), size * np.sqrt(lasts))),
            _root(together * np.outer(size * np.sqrt(1 - lasts), size * np.sqrt(1 - lasts))),
            size > 0,
        )

    @property
    def unknown(self) -> list[str]:
        """Features whose spread is not publicly known, the most used first."""
        gone = [name for name, known in zip(self.names, self.known, strict=True) if not known]
        return most_used(gone, len(gone))


@dataclass(frozen=True, eq=False)
class _Simulated:
    """How simulated participants differ.

    Attributes:
        places: of features, by name.
        between: standard deviation of people's means of a recording, as a share of the task's.
        lasts: the share of that variance that a person has in all recordings.
        together: correlations of people's means.
    """

    places: dict[str, int]
    between: Values
    lasts: Values
    together: Values


def stored() -> pl.DataFrame:
    """The file of how simulated participants differ, as `measured_on` made it."""
    file = resources.files("eyelid.mechanisms.groups").joinpath(_FILE)
    return pl.read_csv(io.BytesIO(file.read_bytes()))


@functools.cache
def _simulated() -> _Simulated:
    table = stored()
    names = table["feature"].to_list()
    return _Simulated(
        {name: place for place, name in enumerate(names)},
        table["between"].to_numpy(),
        table["lasts"].to_numpy(),
        table.select(names).to_numpy(),
    )


@functools.cache
def _published() -> dict[str, float]:
    """By measure, the spread between people as a share of the mean.

    That of any task where there is one, else the middle one of all tasks on a screen or around.
    """
    found: dict[str, dict[bool, list[float]]] = {}
    for norm in norms():
        if norm.task in BY_THEMSELVES or norm.statistic != "mean":
            continue
        share = norm.between if norm.scale == LOG else norm.between / norm.mean
        of_one = found.setdefault(measure_of(norm.measure) or norm.measure, {})
        of_one.setdefault(norm.task == ANY, []).append(share)
    return {name: float(np.median(of.get(True) or of[False])) for name, of in found.items()}


@functools.cache
def published_to_simulated() -> float:
    """How many times more people differ by norms than simulated participants: the middle measure.

    >>> 1.5 < published_to_simulated() < 3.5
    True
    """
    simulated, published = _simulated(), _published()
    found = [
        published[name] / simulated.between[place]
        for name, place in simulated.places.items()
        if name in published
    ]
    return float(np.median(found))


def spread_of_features(table: FeatureTable, times: float = 1.0) -> PublicSpread:
    """What is publicly known of a table's features; refused where that is nothing.

    Args:
        table: whose features.
        times: all spreads are so many times larger.
    """
    spread = PublicSpread.of(table.names, times)
    if not spread.known.any():
        raise InputError(
            f"spread={PUBLIC}: no norm is published of any of these features "
            f"({', '.join(most_used(table.names))}{', …' if len(table.names) > 3 else ''}), and "
            "simulated participants do not have them: leave spread out, or call a measure that "
            "'eyelid norms' lists by its name there, in the same unit"
        )
    return spread


def spread_in_the_open(table: FeatureTable) -> list[str]:
    """What spread that is drawn hides, and where it is known from, in words."""
    spread = spread_of_features(table)
    published = [n for n, there in zip(spread.names, spread.published, strict=True) if there]
    simulated = len(spread.names) - len(published) - len(spread.unknown)
    sources = []
    if published:
        sources.append(f"published norms for {', '.join(most_used(published, len(published)))}")
    if simulated:
        sources.append(
            f"simulated participants for {plural(simulated, 'other feature')}, made as much wider "
            "as norms are than they"
        )
    shown = [
        "the means of groups: those over the synthetic participants of a group give them again, "
        "but for what the bounds cut off; the spread is drawn around them and protects nobody",
        f"spread and relations between synthetic participants are no finding: how much people "
        f"differ comes from {' and '.join(sources)}; what goes together comes from simulated "
        "participants, and how rows move from the means",
    ]
    if spread.unknown:
        listed = ", ".join(spread.unknown[:_LISTED])
        rest = len(spread.unknown) - _LISTED
        more = f" and {rest} more" if rest > 0 else ""
        shown.append(
            f"no spread is publicly known of {listed}{more}: all synthetic participants of a group "
            "have the mean itself"
        )
    return shown


def drawn_around(means: FeatureTable, noise: Randomness, times: float = 1.0) -> FeatureTable:
    """Synthetic participants around the means of groups, as many as each has members.

    Args:
        means: one released person a group, with its number of ``people``; nothing else is used.
        noise: of the draws.
        times: the public spread between people is so many times larger.
    """
    spread = spread_of_features(means, times)
    sizes = dict(means.people.select("person", "people").iter_rows())
    moving = _moving(means, sizes, spread.known)
    width = window_rows(means)
    rows = means.data.with_row_index("__row")
    places: list[NDArray[np.intp]] = []
    names: list[str] = []
    groups = rows.partition_by("person", maintain_order=True)
    values = np.empty((sum(sizes[g["person"][0]] * len(g) for g in groups), len(means.names)))
    filled = 0
    for group in track(groups, "drawing synthetic participants"):
        many = sizes[group["person"][0]]
        lasting = _apart(noise, (many, len(spread.names))) @ spread.lasting.T
        everybody = values[filled : (filled := filled + many * len(group))]
        drawn, begins = everybody.reshape(many, len(group), -1), 0
        for recording in group.partition_by("recording", maintain_order=True):
            offset = lasting + _apart(noise, (many, len(spread.names))) @ spread.passing.T
            own = moving[recording["recording"][0]]
            inside = _moved(noise, many, len(recording), width, own)
            mean = recording.select(pl.col(means.names).cast(pl.Float64)).to_numpy()
            own_rows = slice(begins, begins := begins + len(recording))
            drawn[:, own_rows] = _around(mean, offset[:, None] + inside, means.features)
        place = group["__row"].to_numpy().astype(np.intp)
        places += [place] * many
        names += [f"{group['person'][0]}-{number + 1}" for number in range(many)]
    whose = np.repeat(np.arange(len(names)), [place.size for place in places])
    data = means.data.drop(means.names)[np.concatenate(places)].with_columns(
        pl.Series("person", names)[whose],
        *(pl.Series(f, values[:, j]).fill_nan(None) for j, f in enumerate(means.names)),
    )
    people = pl.DataFrame({"person": names})
    return replace(means, data=data.select(means.data.columns), people=people)


def _shares(features: Sequence[Feature]) -> NDArray[np.bool_]:
    """Which features lie between 0 and 1, so that their odds move and not they."""
    return np.array([feature.lower == 0 and feature.upper == 1 for feature in features])


def _around(values: Values, offset: Values, features: Sequence[Feature]) -> Values:
    """Values with offsets, which are shares of them; of a share, of what moves its odds as much.

    Squares of roots that are moved stay positive, and are less skewed than what is multiplied by
    logarithms. Over the first axis their mean is the value again, but for what bounds cut off.
    """
    share = _shares(features)
    factor = np.square(np.maximum(1 + offset / 2, 0.0))
    factor /= np.maximum(factor.mean(axis=0), _NOTHING)
    found = np.where(share, values + values * (1 - values) * offset, values * factor)
    # What has no spread stays what it was, to the last digit.
    found = np.where(offset == 0, values, found)
    lower, upper = (np.array([getattr(f, side) for f in features]) for side in ("lower", "upper"))
    clipped: Values = np.clip(found, lower, upper)
    return clipped


def _moving(
    means: FeatureTable, sizes: dict[str, int], known: NDArray[np.bool_]
) -> dict[str, Values]:
    """How one person's rows move around the mean of each recording: as means do, √n times more.

    What groups have in common in the same row, a page that is turned, say, is no person's own: it
    is left out where there are several groups.
    """
    share = _shares(means.features)
    found: dict[str, Values] = {}
    for (name,), slot in means.data.group_by(["recording"], maintain_order=True):
        moves = [
            math.sqrt(sizes[recording["person"][0]]) * _moves(recording, means.names, share)
            for recording in slot.partition_by("person", maintain_order=True)
        ]
        if len(moves) > 1:
            shortest = min(len(each) for each in moves)
            stacked = np.stack([each[:shortest] for each in moves])
            common = stacked.mean(axis=0)
            moves = list((stacked - common) * math.sqrt(len(moves) / (len(moves) - 1)))
        together = np.concatenate(moves)
        covariance = together.T @ together / max(len(together), 1)
        # Only what also differs from person to person; and nothing that is mostly at its bounds.
        size = np.sqrt(np.diag(covariance))
        least = np.where(known, np.minimum(1.0, _MOST / np.maximum(size, _NOTHING)), 0.0)
        found[str(name)] = _root(covariance * np.outer(least, least))
    return found


def _moves(recording: pl.DataFrame, names: list[str], share: NDArray[np.bool_]) -> Values:
    """How rows of a recording lie around its mean, as shares of it; nothing where one is empty."""
    values = recording.select(pl.col(names).cast(pl.Float64).fill_null(np.nan)).to_numpy()
    there = np.isfinite(values)
    middle = np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    scale = np.where(share, middle * (1 - middle), np.abs(middle))
    some = there & (scale > _NOTHING)
    return np.asarray(np.where(some, (values - middle) / np.maximum(scale, _NOTHING), 0.0))


def _moved(noise: Randomness, many: int, rows: int, width: int, moving: Values) -> Values:
    """Draws that go from row to row as windows do which overlap: means over a window's rows."""
    fresh = _normal(noise, (many, rows + width - 1, len(moving)))
    sums = np.cumsum(np.concatenate([np.zeros((many, 1, len(moving))), fresh], axis=1), axis=1)
    smooth = (sums[:, width:] - sums[:, :-width]) / math.sqrt(width)
    return np.asarray((smooth - smooth.mean(axis=0)) @ moving.T)


def _apart(noise: Randomness, shape: tuple[int, int]) -> Values:
    """Normal draws less their mean over the first axis."""
    drawn = _normal(noise, shape)
    return np.asarray(drawn - drawn.mean(axis=0))


def _normal(noise: Randomness, shape: tuple[int, ...]) -> Values:
    from scipy.special import ndtri

    return np.asarray(ndtri(uniforms(noise, math.prod(shape))).reshape(shape))


def _root(covariance: Values) -> Values:
    """A matrix whose product with its transpose is the covariance, as far as it is one."""
    sizes, directions = np.linalg.eigh(covariance)
    return np.asarray(directions * np.sqrt(np.maximum(sizes, 0.0)))


def measured_on(table: FeatureTable) -> pl.DataFrame:
    """The file of how simulated participants differ, made of them.

    Args:
        table: window features of simulated participants, each task done once by everybody.
    """
    share = _shares(table.features)
    values = pl.col(table.names).cast(pl.Float64).fill_nan(None)
    means = table.data.group_by("person", "task", maintain_order=True).agg(values.mean())
    task, person = means["task"].to_numpy(), means["person"].to_numpy()
    of_person = means.select(pl.col(table.names).fill_null(0.0)).to_numpy()
    apart = np.empty_like(of_person)
    for name in np.unique(task):
        middle = of_person[task == name].mean(axis=0)
        scale = np.maximum(np.where(share, middle * (1 - middle), middle), 1e-12)
        apart[task == name] = (of_person[task == name] - middle) / scale
    people, tasks = len(np.unique(person)), len(np.unique(task))
    everywhere = np.stack([apart[person == name].mean(axis=0) for name in np.unique(person)])
    once = np.concatenate(
        [apart[person == n] - apart[person == n].mean(axis=0) for n in np.unique(person)]
    )
    passing = once.T @ once / ((people - 1) * (tasks - 1))
    total = everywhere.T @ everywhere / (people - 1) + passing * (1 - 1 / tasks)
    size = np.sqrt(np.diag(total))
    varies = size > 1e-9
    correlation = total / np.outer(np.where(varies, size, 1), np.where(varies, size, 1))
    np.fill_diagonal(correlation, 1.0)
    lasts = 1 - np.diag(passing) / np.where(varies, size, 1) ** 2
    return pl.DataFrame(
        {
            "feature": table.names,
            "between": np.round(size, 4),
            "lasts": np.round(np.clip(np.where(varies, lasts, 1.0), 0.0, 1.0), 2),
            **{name: np.round(correlation[:, j], 2) for j, name in enumerate(table.names)},
        }
    )
