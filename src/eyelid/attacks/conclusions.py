"""What a study concludes, from raw data and from a release: means, contrasts, relations.

**Task means**: over people, of each one's mean. **Contrasts**: between every two tasks, over the
people who did both, of each one's difference, with 95% limits over people. A release gives the
difference of its own means. **Relations**: correlations of features over rows of the same task.
**Effects**: those of tasks in a mixed model, by its own limits in each of both.

Beside each stands what needs no data: the middle of the bounds for a mean, no difference for a
contrast, no correlation for a relation.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.task_effects import TaskEffects, task_effects
from eyelid.gaze.table import FeatureTable

_FEWEST_PEOPLE, _FEWEST_ROWS = 3, 20
JUDGED = {
    "contrasts": "clear contrasts with the same sign",
    "sizes": "clear contrasts within the raw limits",
    "relations": "agreement of correlations",
}
"""By name, figures between 0 and 1 that releases can be compared by; raw data have 1."""
GUESSED = {"contrasts": 0.5, "sizes": 0.0, "relations": 0.0}
"""What needs no data: a coin for a sign, no difference, no correlation."""


@dataclass(frozen=True)
class Contrast:
    """The difference of a feature between two tasks.

    Attributes:
        feature: its name.
        unit: of the differences.
        tasks: the first less the second.
        raw: the mean difference over people.
        low: its lower 95% limit.
        high: its upper one.
        effect: the mean difference in standard deviations of people's differences.
        released: the difference of the release's means.
    """

    feature: str
    unit: str
    tasks: tuple[str, str]
    raw: float
    low: float
    high: float
    effect: float
    released: float

    @property
    def clear(self) -> bool:
        """Whether raw data tell its sign."""
        return self.low > 0 or self.high < 0

    @property
    def same_sign(self) -> bool:
        """Whether the release says that the same task has more."""
        return self.raw * self.released > 0

    @property
    def within(self) -> bool:
        """Whether the release's difference lies within the limits of the raw one."""
        return self.low <= self.released <= self.high


@dataclass(frozen=True)
class Relations:
    """How far correlations between features are off.

    Attributes:
        pairs: of features, that were compared.
        agreement: correlation of the two sets of correlations; None where one is constant.
        off: root mean square difference of release and raw data.
        guess: of no correlation at all and raw data.
    """

    pairs: int
    agreement: float | None
    off: float
    guess: float


@dataclass(frozen=True)
class Conclusions:
    """What a study would conclude from a release.

    Attributes:
        means: how many means of a feature in a task were compared.
        means_off: middle distance of the release's from the raw one, in standard deviations
            between people.
        guess_off: that of the middle of the bounds.
        contrasts: between tasks.
        relations: between features; None where there is too little to see any.
        effects: of tasks in a mixed model; None with one task, or too few people.
    """

    means: int
    means_off: float
    guess_off: float
    contrasts: tuple[Contrast, ...] = ()
    relations: Relations | None = None
    effects: TaskEffects | None = None

    @property
    def clear(self) -> tuple[Contrast, ...]:
        """Contrasts whose sign raw data tell, the strongest first."""
        found = [contrast for contrast in self.contrasts if contrast.clear]
        return tuple(sorted(found, key=lambda contrast: -abs(contrast.effect)))

    @property
    def same_sign(self) -> float | None:
        """The share of clear contrasts that have the same sign in the release; None without any."""
        return float(np.mean([one.same_sign for one in self.clear])) if self.clear else None

    @property
    def within(self) -> float | None:
        """The share of clear contrasts whose size in the release lies within the raw limits."""
        return float(np.mean([one.within for one in self.clear])) if self.clear else None

    @property
    def size(self) -> float | None:
        """The middle of how many times as large they are in the release."""
        if not self.clear:
            return None
        return float(np.median([one.released / one.raw for one in self.clear]))


def judged(found: Conclusions | None, by: str) -> float | None:
    """One figure of what is concluded, from 0 to 1; None where there is nothing to conclude.

    Args:
        found: beside raw data.
        by: of `JUDGED`.
    """
    if found is None:
        return None
    if by == "relations":
        agreement = None if found.relations is None else found.relations.agreement
        # Correlations that go the other way are of no more use than none.
        return None if agreement is None else min(1.0, max(0.0, agreement))
    return found.same_sign if by == "contrasts" else found.within


def conclusions(original: FeatureTable, released: FeatureTable) -> Conclusions | None:
    """What is concluded from a release, beside raw data; None without tasks in both, or people.

    Args:
        original: everybody's recordings.
        released: a release with features of the same names; a column ``people`` of its people says
            how many each stands for.
    """
    names = [name for name in original.names if name in released.names]
    if not names or any("task" not in table.data.columns for table in (original, released)):
        return None
    people, shown = _by_person(original, names), _of_tasks(released, names)
    tasks = sorted(set(people["task"]) & set(shown["task"]))
    people = people.filter(pl.col("task").is_in(tasks))
    if not tasks or people["person"].n_unique() < _FEWEST_PEOPLE:
        return None
    features = {feature.name: feature for feature in original.features}
    ours, theirs = (
        {task: rows for (task,), rows in table.group_by(["task"], maintain_order=True)}
        for table in (people, shown)
    )
    off, guess, contrasts = [], [], []
    for name in names:
        feature = features[name]
        middle = (feature.lower + feature.upper) / 2
        for task in tasks:
            own, other = ours[task][name].drop_nulls().to_numpy(), theirs[task][name][0]
            spread = own.std(ddof=1) if own.size >= _FEWEST_PEOPLE else 0.0
            if spread > 0 and other is not None:
                off.append(abs(other - own.mean()) / spread)
                guess.append(abs(middle - own.mean()) / spread)
        for one, two in itertools.combinations(tasks, 2):
            released_as = theirs[one][name][0], theirs[two][name][0]
            found = _contrast(ours[one], ours[two], name)
            if found is not None and None not in released_as:
                shown_as = float(released_as[0] - released_as[1])
                contrasts.append(Contrast(name, feature.unit, (one, two), *found, shown_as))
    if not off:
        return None
    return Conclusions(
        len(off),
        float(np.median(off)),
        float(np.median(guess)),
        tuple(contrasts),
        _relations(original, released, names),
        task_effects(original, released, names, tasks),
    )


def _known(names: list[str]) -> pl.Expr:
    return pl.col(names).cast(pl.Float64).fill_nan(None)


def _by_person(table: FeatureTable, names: list[str]) -> pl.DataFrame:
    """Everybody's mean in each task: bounds are public, and values beyond them are clipped."""
    clipped = [
        _known([f.name]).clip(f.lower, f.upper).mean() for f in table.features if f.name in names
    ]
    return table.data.group_by("person", "task", maintain_order=True).agg(clipped).sort("task")


def _of_tasks(table: FeatureTable, names: list[str]) -> pl.DataFrame:
    """The mean over the people of a release in each task, each counting for as many as it says."""
    means = table.data.group_by("person", "task", maintain_order=True).agg(_known(names).mean())
    weight = pl.lit(1.0).alias("people")
    if "people" in table.people.columns:
        means = means.join(table.people.select("person", "people"), on="person", how="left")
        weight = pl.col("people")
    total = [
        ((pl.col(n) * weight).sum() / weight.filter(pl.col(n).is_not_null()).sum()).alias(n)
        if "people" in table.people.columns
        else pl.col(n).mean()
        for n in names
    ]
    return means.group_by("task").agg(total).sort("task")


def _contrast(
    one: pl.DataFrame, two: pl.DataFrame, name: str
) -> tuple[float, float, float, float] | None:
    """The mean difference over people who did both, its limits, and its size in their spread."""
    from scipy.special import stdtrit

    both = one.select("person", name).join(two.select("person", name), on="person", suffix=" two")
    apart = (both[name] - both[f"{name} two"]).drop_nulls().to_numpy()
    spread = float(apart.std(ddof=1)) if apart.size >= _FEWEST_PEOPLE else 0.0
    if spread == 0:
        return None
    mean = float(apart.mean())
    wide = float(stdtrit(apart.size - 1, 0.975)) * spread / math.sqrt(apart.size)
    return mean, mean - wide, mean + wide, mean / spread


def _relations(
    original: FeatureTable, released: FeatureTable, names: list[str]
) -> Relations | None:
    """Correlations over rows of the same task, of features that vary in both."""
    ours, theirs = (_correlations(table, names) for table in (original, released))
    if ours is None or theirs is None:
        return None
    place = np.triu_indices(len(names), 1)
    raw, shown = ours[place], theirs[place]
    both = np.isfinite(raw) & np.isfinite(shown)
    if both.sum() < 1:
        return None
    raw, shown = raw[both], shown[both]
    varies = both.sum() > 2 and raw.std() > 0 and shown.std() > 0
    return Relations(
        pairs=int(both.sum()),
        agreement=float(np.corrcoef(raw, shown)[0, 1]) if varies else None,
        off=float(np.sqrt(np.mean((shown - raw) ** 2))),
        guess=float(np.sqrt(np.mean(raw**2))),
    )


def _correlations(table: FeatureTable, names: list[str]) -> NDArray[np.float64] | None:
    """Correlations of rows less the mean of their task; NaN where a feature does not vary."""
    rows = table.data.select((_known(names) - _known(names).mean()).over("task")).drop_nulls()
    if len(rows) < _FEWEST_ROWS:
        return None
    values = rows.to_numpy()
    size = np.sqrt((values**2).mean(axis=0))
    widths = {f.name: f.span for f in table.features}
    varies = size > 1e-9 * np.array([widths[name] for name in names])
    scaled = values / np.where(varies, size, 1.0)
    found = scaled.T @ scaled / len(values)
    found[~varies] = np.nan
    found[:, ~varies] = np.nan
    return np.asarray(found)
