"""Who and what is at risk: for the owner of an original, before anything is released.

Both tables say something about single people or about everybody together that is as private as the
recordings themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.identification import Finding, beyond_chance, strongest
from eyelid.attacks.protocols import splits_of
from eyelid.attacks.scores import named
from eyelid.attacks.statistics import holm
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# The first of these words in a feature's name says what it is about.
GROUPS = {
    "pupil": "pupil",
    "blink": "blink",
    "wb": "wordbook",
    "saccade": "saccade",
    "fixation": "fixation",
}
OFTEN = 0.5
# What is left of equal values by rounding, as a share of their size.
_ROUNDING = 1e-9


def people_at_risk(findings: Sequence[Finding], people: Sequence[str]) -> pl.DataFrame:
    """How often the strongest attacker re-identifies each person, most often first.

    One attacker for everybody: the best one for each person, chosen afterwards, would name some by
    luck. With few recordings a person luck plays its part all the same.

    Args:
        findings: of attackers on the original; dishonest protocols do not count.
        people: everybody, in the order of the findings' shares.

    Returns:
        person, named (share of right decisions), place (mean place in the attacker's list, 1 being
        named), risk in words and attacker.
    """
    honest = [finding for finding in findings if finding.honest]
    if not honest:
        raise InputError("no attack ran under a leak-free protocol: run one, such as raw→raw")
    worst = strongest(honest)
    if len(worst.shares) != len(people):
        raise InputError(f"the findings are about {len(worst.shares)} people, not {len(people)}")
    share = pl.col("named")
    risk = (
        pl.when(share.is_null())
        .then(pl.lit("not attacked"))
        .when(pl.lit(worst.attacker not in beyond_chance([worst])))
        .then(pl.lit("no more than chance"))
        .when(share > 1 - _ROUNDING)
        .then(pl.lit("re-identified every time"))
        .when(share >= OFTEN)
        .then(pl.lit("re-identified often"))
        .when(share > worst.rate.chance + _ROUNDING)
        .then(pl.lit("re-identified sometimes"))
        .otherwise(pl.lit("re-identified no more than by chance"))
    )
    figures = {"person": list(people), "named": worst.shares, "place": worst.places}
    return (
        pl.DataFrame(figures)
        .with_columns(pl.col("named", "place").fill_nan(None))
        .with_columns(risk.alias("risk"), pl.lit(worst.attacker).alias("attacker"))
        .sort("named", "place", descending=[True, False], nulls_last=True, maintain_order=True)
    )


def features_at_risk(table: FeatureTable) -> pl.DataFrame:
    """How well each feature alone tells people apart from one recording to the next.

    Looked at are the means of recordings, or of halves where people have a single one (those share
    a session, and tell more than recordings of two days would). From them what a task does to
    everybody is taken off. ``between_people`` is the share of the variance that is left which lies
    between people (the intraclass correlation; below zero counts as zero), ``p_value`` that of the
    F-test of no difference between people, ``p_adjusted`` the same after Holm's correction over
    features. ``rank1`` is how often people are named by the nearest of everybody's known means, of
    this one feature and nothing else. That attacker has everybody's recordings of a task, or what
    it does to everybody could not be taken off; the attackers of `identify` judge one at a time.

    Paper: Shrout & Fleiss 1979, Intraclass correlations, case 3; for unequal numbers of recordings
    Henderson 1953, method 3.

    Args:
        table: raw features.

    Returns:
        One row a feature, the most telling first; figures of constant ones are null.

    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> values = np.random.default_rng(1).normal(size=(5, 3, 10, 2))
    >>> values[..., 1] += np.arange(5)[:, None, None]
    >>> features = [Feature(name, "1", "", -9.0, 9.0) for name in ("noise", "pupil")]
    >>> features_at_risk(table_from_arrays(values, features))["name"].to_list()
    ['pupil', 'noise']
    """
    means, splits = _means(table)
    people = means["person"].unique(maintain_order=True).to_list()
    if len(people) < 2:
        raise InputError("there is one person: re-identification takes two")
    values = means.select(table.names).to_numpy()
    person = means["person"].replace_strict(people, range(len(people))).to_numpy()
    task = (means["task"].rank("dense") - 1).to_numpy()
    figures = _between_people(values, person, task)
    known = np.isfinite(figures["p_value"])
    adjusted = np.full(len(known), np.nan)
    adjusted[known] = holm(figures["p_value"][known].tolist())
    alike = values - _group_means(values, task)[task]
    parts = [[means.select(e.fill_null(False)).to_series().to_numpy() for e in s] for s in splits]
    # Of what is constant, rounding is all that could re-identify a person.
    rank1 = np.where(known, _rank1(alike, person, parts), np.nan)
    figures |= {"p_adjusted": adjusted, "rank1": rank1}
    names = {"name": table.names, "group": [group_of(name) for name in table.names]}
    return (
        pl.DataFrame(names | figures)
        .with_columns(pl.col(pl.Float64).fill_nan(None))
        .sort("between_people", "rank1", descending=True, nulls_last=True, maintain_order=True)
    )


def group_of(feature: str) -> str:
    """What a feature is about: fixation, saccade, pupil, blink, wordbook or other.

    >>> group_of("small_saccade_rate"), group_of("wb2_max"), group_of("saccade_fixation_ratio")
    ('saccade', 'wordbook', 'saccade')
    """
    return next((group for word, group in GROUPS.items() if word in feature), "other")


def _means(table: FeatureTable) -> tuple[pl.DataFrame, list[tuple[pl.Expr, pl.Expr]]]:
    """One row a recording, or a half of one, and which of the rows are known and shown in turn.

    The columns are person, task and the mean of each feature, NaN where nothing is known. Without
    tasks everybody did the same; second halves are a task of their own.
    """
    splits = splits_of(table)
    data, keys, task = table.data, ["person", "recording"], pl.lit("")
    parts = [(split.known, split.shown) for split in splits]
    if splits[0].across == "tasks":
        task = pl.col("task").first().fill_null("")
    elif splits[0].across == "halves":
        known, shown = parts[0]
        data = data.with_columns(shown.alias("later")).filter(pl.col("later") | known)
        keys, task = [*keys, "later"], pl.col("later").first().cast(pl.String)
        parts = [(~pl.col("later"), pl.col("later"))]
    mean = pl.col(table.names).cast(pl.Float64).fill_nan(None).mean().fill_null(np.nan)
    return data.group_by(keys, maintain_order=True).agg(task.alias("task"), mean), parts


def _between_people(
    values: Floats, person: NDArray[np.intp], task: NDArray[np.intp]
) -> dict[str, Floats]:
    """Share of variance and p-value of each column, over the rows in which it is known."""
    width = values.shape[1]
    figures = {name: np.full(width, np.nan) for name in ("between_people", "p_value")}
    # Features that miss the same recordings are worked out together.
    patterns, which = np.unique(np.isfinite(values), axis=1, return_inverse=True)
    for number, rows in enumerate(patterns.T):
        columns = np.flatnonzero(which == number)
        found = _variance_analysis(values[np.ix_(rows, columns)], person[rows], task[rows])
        for name, column_values in zip(figures, found, strict=True):
            figures[name][columns] = column_values
    return figures


def _variance_analysis(
    values: Floats, person: NDArray[np.intp], task: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Intraclass correlation and p-value: people and tasks against tasks alone."""
    from scipy.special import fdtrc

    nothing = np.full(values.shape[1], np.nan)
    if not len(values):
        return nothing, nothing
    tasks, people = _indicators(task), _indicators(person)
    of_tasks, of_both = _basis(tasks), _basis(np.hstack([tasks, people]))
    between_df = of_both.shape[1] - of_tasks.shape[1]
    within_df = len(values) - of_both.shape[1]
    if between_df < 1 or within_df < 1:
        return nothing, nothing
    centred = values - values.mean(axis=0)
    explained = ((of_both.T @ centred) ** 2).sum(axis=0) - ((of_tasks.T @ centred) ** 2).sum(axis=0)
    within = np.maximum((centred**2).sum(axis=0) - ((of_both.T @ centred) ** 2).sum(axis=0), 0.0)
    between_square, within_square = explained / between_df, within / within_df
    # How many recordings a person has, as far as they tell people apart.
    recordings = (len(person) - ((of_tasks.T @ people) ** 2).sum()) / between_df
    variance = np.maximum((between_square - within_square) / recordings, 0.0)

    size = np.abs(values).max(axis=0)
    varies = np.abs(centred).max(axis=0) > _ROUNDING * size
    total = np.where(varies, variance + within_square, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(within_square > 0, between_square / within_square, np.inf)
    p_value = fdtrc(between_df, within_df, np.maximum(ratio, 0.0))
    return np.where(varies, variance / total, np.nan), np.where(varies, p_value, np.nan)


def _indicators(codes: NDArray[np.intp]) -> Floats:
    """One column a code: 1 where it holds."""
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)


def _basis(design: Floats) -> Floats:
    """An orthonormal basis of what the columns span."""
    left, singular, _ = np.linalg.svd(design, full_matrices=False)
    return np.asarray(left[:, singular > 1e-9 * singular[0]])


def _rank1(values: Floats, person: NDArray[np.intp], parts: Sequence[Sequence[Mask]]) -> Floats:
    """How often the nearest known mean of each column is the right person's, over people."""
    people = int(person.max()) + 1
    right = np.zeros((people, values.shape[1]))
    for known, shown in parts:
        means = np.full((people, values.shape[1]), np.nan)
        found = _group_means(values[known], person[known])
        means[: len(found)] = found
        owner = person[shown]
        for column in range(values.shape[1]):
            distance = np.abs(values[shown, column][:, None] - means[:, column])
            # Who has no mean is at no distance; a record without one could be any person's.
            scores = -np.where(np.isfinite(distance), distance, np.inf)
            np.add.at(right[:, column], owner, named(scores, owner))
    times = np.bincount(np.concatenate([person[shown] for _, shown in parts]), minlength=people)
    return np.asarray((right[times > 0] / times[times > 0, None]).mean(axis=0))


def _group_means(values: Floats, group: NDArray[np.intp]) -> Floats:
    """Groups × columns: means of what is known, NaN where nothing is."""
    totals = np.zeros((2, int(group.max()) + 1, values.shape[1]))
    known = np.isfinite(values)
    np.add.at(totals[0], group, np.where(known, values, 0.0))
    np.add.at(totals[1], group, known)
    means = np.full(totals[0].shape, np.nan)
    np.divide(totals[0], totals[1], out=means, where=totals[1] > 0)
    return means
