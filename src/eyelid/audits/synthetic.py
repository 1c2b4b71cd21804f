"""Made-up rows, compared with the people they were made of.

Nobody's record is there, so nobody can be named. Three things are asked: how far the made-up rows
are distributed as people's are; whether any is a copy; and, by running the mechanism again with
somebody in it or somebody else in their place, whether that can be told. Only the last one is about
what a guarantee promises. Distances to the nearest row of the original are a check of sanity: they
are small wherever people are alike, and large ones prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.audits.membership import Membership, told_apart
from eyelid.audits.records import values_of
from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.seeded import MADE_UP
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import randomness

# Bins between the public bounds, for the total variation.
_BINS = 20
# Rows of the original that are looked at, evenly spread over everybody.
_MOST_ROWS = 6000
# How often the mechanism is run again; not where that would take minutes.
_TRIALS, _MOST_VALUES = 100, 4_000_000
# In spans: a copy, but for rounding.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class SyntheticAudit:
    """What made-up rows were found to be like.

    Attributes:
        rows: how many there are.
        features: one row a feature: name, ``wasserstein`` (mean distance in spans that values must
            be moved to be distributed as people's are, over tasks), ``uniform`` (the same of values
            evenly spread between the bounds, which anybody could write down) and
            ``total_variation`` over public bins.
        copies: made-up rows that are rows of the original.
        nearest_of_span: median distance from a made-up row to the nearest of the original.
        people_apart_of_span: the same from a person's row to the nearest of somebody else.
        membership: how well it was told who of two people was in it; None where it was not tried.
        not_tried: why not.
    """

    rows: int
    features: pl.DataFrame
    copies: int
    nearest_of_span: float
    people_apart_of_span: float
    membership: Membership | None
    not_tried: str = ""

    @property
    def wasserstein(self) -> float:
        """The mean over features."""
        return float(self.features["wasserstein"].to_numpy().mean())

    @property
    def uniform(self) -> float:
        """The same of what anybody could write down."""
        return float(self.features["uniform"].to_numpy().mean())


@dataclass(frozen=True)
class ShownHistograms:
    """What rows drawn from histograms without noise show of single people.

    Attributes:
        filled: bins, of all features and tasks, that somebody has values in.
        alone: those of them that one person alone fills.
        shown: those of these that the release has values in: whoever sees one sees this person's.
        people: who is alone in one that is shown.
        ends: of the ranges of features, those whose outermost bin one person alone fills.
        ends_shown: those of these that the release comes within a bin of.
    """

    filled: int
    alone: int
    shown: int
    people: int
    ends: int
    ends_shown: int


def shown_histograms(original: FeatureTable, released: FeatureTable, bins: int) -> ShownHistograms:
    """Count who is alone in a bin, where bins cover the range of everybody's own values.

    Args:
        original: everybody's recordings.
        released: made-up rows, by task.
        bins: of each feature.
    """
    task = pl.col("task").fill_null("") if "task" in original.data.columns else pl.lit("")
    filled = alone = shown = ends = ends_shown = 0
    exposed: set[str] = set()
    for name in original.names:
        value = pl.col(name).cast(pl.Float64)
        ours, theirs = (
            table.data.select("person", task.alias("task"), value.alias("value")).filter(
                pl.col("value").is_finite()
            )
            for table in (original, released)
        )
        lowest, highest = ours.select(pl.col("value").min(), high=pl.col("value").max()).row(0)
        if lowest is None or lowest == highest:
            continue
        bin_ = ((pl.col("value") - lowest) * (bins / (highest - lowest))).floor()
        ours, theirs = (
            rows.with_columns(bin_.clip(0, bins - 1).alias("bin")) for rows in (ours, theirs)
        )
        whose = ours.group_by("task", "bin").agg(
            pl.col("person").first(), people=pl.col("person").n_unique()
        )
        single = whose.filter(pl.col("people") == 1)
        there = single.join(theirs, on=["task", "bin"], how="semi")
        filled, alone, shown = filled + len(whose), alone + len(single), shown + len(there)
        exposed.update(there["person"])
        for end in (0, bins - 1):
            last = pl.col("bin") == end
            if ours.filter(last)["person"].n_unique() == 1:
                ends += 1
                ends_shown += not theirs.filter(last).is_empty()
    return ShownHistograms(filled, alone, shown, len(exposed), ends, ends_shown)


def is_made_up(released: FeatureTable) -> bool:
    """Whether a release has rows of nobody, by what it calls its people."""
    return released.people["person"].to_list() == [MADE_UP]


def audit_synthetic(
    original: FeatureTable,
    released: FeatureTable,
    law: FeatureMechanism | None = None,
    person_level: Guarantee | None = None,
    seed: int = 0,
) -> SyntheticAudit:
    """Compare made-up rows with people, and run the mechanism again if it is known.

    Args:
        original: everybody's recordings.
        released: one made-up person.
        law: the mechanism; None where it is not known.
        person_level: what is claimed; None for nothing.
        seed: of the attacker and the mechanism's noise.
    """
    every = -(-len(original.data) // _MOST_ROWS)
    kept = replace(original, data=original.data.gather_every(every))
    raw, made = values_of(original, kept.data), values_of(original, released.data)
    owner = kept.data["person"].rank("dense").to_numpy()
    nearest, apart = _nearest(raw, made, owner)
    membership, not_tried = _membership(original, law, person_level, seed)
    return SyntheticAudit(
        rows=len(made),
        features=_marginals(kept, released),
        copies=_copies(values_of(original, original.data), made),
        nearest_of_span=float(np.median(nearest)),
        people_apart_of_span=float(np.median(apart)),
        membership=membership,
        not_tried=not_tried,
    )


def _copies(raw: Values, made: Values) -> int:
    """Made-up rows that are somebody's: of all there are, however many."""
    from scipy.spatial import cKDTree

    most = _SAME * np.sqrt(raw.shape[1])
    found, _ = cKDTree(raw).query(made, distance_upper_bound=most)
    return int(np.isfinite(found).sum())


def _nearest(raw: Values, made: Values, owner: Values) -> tuple[Values, Values]:
    """Distances of made-up rows to the nearest row, and of people's rows to other people's."""
    from scipy.spatial.distance import cdist

    root = np.sqrt(raw.shape[1])
    nearest = np.concatenate([cdist(part, raw).min(axis=1) for part in _parts(made)])
    some = np.linspace(0, len(raw) - 1, min(len(raw), 500)).astype(np.intp)
    between = cdist(raw[some], raw)
    between[owner[some][:, None] == owner] = np.inf
    return nearest / root, between.min(axis=1) / root


def _parts(rows: Values) -> list[Values]:
    return np.array_split(rows, max(1, len(rows) // 1000))


def _marginals(original: FeatureTable, released: FeatureTable) -> pl.DataFrame:
    """How far each feature is distributed as people's is, tasks apart."""
    from scipy.stats import wasserstein_distance

    even = (np.arange(1000) + 0.5) / 1000
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    task = pl.col("task").fill_null("") if "task" in released.data.columns else pl.lit("")
    found = []
    for name in released.data.select(task.unique().sort()).to_series():
        raw, made = (
            np.clip(values_of(original, table.data.filter(task == name)), 0.0, 1.0)
            for table in (original, released)
        )
        if not len(raw):
            continue
        for feature, (ours, theirs) in enumerate(zip(raw.T, made.T, strict=True)):
            shares = [np.histogram(v, edges)[0] / len(v) for v in (ours, theirs)]
            found.append(
                {
                    "name": original.names[feature],
                    "wasserstein": wasserstein_distance(ours, theirs),
                    "uniform": wasserstein_distance(ours, even),
                    "total_variation": float(np.abs(shares[0] - shares[1]).sum() / 2),
                }
            )
    if not found:
        raise InputError("original and release have no task in common: are these the right two?")
    figures = pl.col("wasserstein", "uniform", "total_variation").mean()
    return pl.DataFrame(found).group_by("name", maintain_order=True).agg(figures)


def _membership(
    original: FeatureTable,
    law: FeatureMechanism | None,
    person_level: Guarantee | None,
    seed: int,
) -> tuple[Membership | None, str]:
    """Run again without one or the other of two people, and say which by the nearest rows.

    The attacker knows both, and everybody else stays the same: what is compared are neighbouring
    datasets, as the guarantee has it.
    """
    if law is None:
        return None, "the mechanism is not known here, and could not be run again"
    if len(original.data) * len(original.features) > _MOST_VALUES:
        return None, "the original is so large that running the mechanism again would take long"
    people = original.recordings["person"].unique(maintain_order=True).to_list()
    rng = np.random.default_rng([seed, *b"who was in it"])
    noise = randomness(rng)
    values, owner = values_of(original, original.data), original.data["person"].to_numpy()
    target = rng.permutation(np.arange(_TRIALS) % len(people))
    other = (target + rng.integers(1, len(people), _TRIALS)) % len(people)
    coins, scores = rng.random(_TRIALS) < 0.5, np.empty(_TRIALS)
    for trial in track(range(_TRIALS), "running it again", total=_TRIALS):
        pair = [people[target[trial]], people[other[trial]]]
        absent = pair[1] if coins[trial] else pair[0]
        others = replace(original, data=original.data.filter(pl.col("person") != absent))
        try:
            made = values_of(original, law.apply(others, noise).data)
        except InputError as error:
            return None, f"without one of its people the mechanism does not run ({error})"
        near = [_near(values[owner == name], made) for name in pair]
        scores[trial] = near[1] - near[0]
    return told_apart(scores, coins, target, person_level), ""


def _near(own: Values, made: Values) -> float:
    """How far somebody's rows are from the nearest made-up ones."""
    from scipy.spatial.distance import cdist

    some = np.linspace(0, len(own) - 1, min(len(own), 50)).astype(np.intp)
    return float(cdist(own[some], made).min(axis=1).mean())
