"""Synthetic rows and people, compared with the people they were made of.

There is no person's record to re-identify. What is asked: how far synthetic data are like
people; whether any row is a copy; and, by running the mechanism again with a person in it or
another person in their place, whether that can be told. Only the last one is about what a guarantee
promises. Of rows it is told by the synthetic ones, which finds less than could be found; of people
by all that was measured of them, which is the most that can be (`membership_by_answers`). Distances
to the nearest row of the original are a check of sanity: they are small wherever people are alike,
and large ones prove nothing.

Was it this person, or another person in their place? By all noisy answers about everybody.
Synthetic participants are drawn from noisy sums over people and from nothing else. So an attacker
who sees these sums can do all that those can who see synthetic participants. The attacker here sees
them, knows everybody else's data and both people's who may have the one place left, and takes what
is likelier. With two known datasets nobody can do better: the advantage is the total variation
between the laws of the answers, which the guarantee bounds for all neighbours. It is that of these
people; a person who is more unlike all others may be told better, up to the bound.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import polars as pl

from eyelid.attacks.membership import Membership, told_apart
from eyelid.attacks.records import values_of
from eyelid.attacks.similarity import Likeness, likeness, marginals, share_error
from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.features.omission import without_blanks
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.recordings import MADE_UP
from eyelid.mechanisms.synthetic.sequences import Sequences
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import randomness

# Rows of the original and of the release between which distances are taken.
_MOST_ROWS, _MOST_MADE = 6000, 2000
_BLOCK_ROWS = 100_000
# How often the mechanism is run again; not where that would take minutes.
_TRIALS, _MOST_VALUES = 100, 4_000_000
# As shares of the range: a copy, but for rounding; and how far rows are moved to see what chance
# would give.
_SAME, _ELSEWHERE = 1e-9, 1e-6
# Standard errors that copies must be above what chance gives.
_CERTAIN = 5.0
# Decisions, and those of the control; of its ε, which leaves hardly any noise.
_DECISIONS, _FEWEST_DECISIONS, _OF_CONTROL = 400, 100, 40
_CLEAR = 1000.0
# Bins of people's rows that are gone through in all, twice for each decision; the fewest people.
_MOST_CODES, _FEWEST_PEOPLE = 2_500_000_000, 8


@dataclass(frozen=True, eq=False)
class SyntheticFindings:
    """What synthetic rows or people were found to be like.

    Attributes:
        rows: how many there are.
        people: synthetic participants; None where rows are nobody's, one by one.
        marginals: one row a feature and task: ``name``, ``task``, ``wasserstein`` (mean distance in
            spans that values must be moved to be distributed as people's are), ``uniform`` (the
            same of values evenly spread between the bounds, which can be guessed without data),
            ``total_variation`` over public bins, ``share_error`` and ``share_size``
            (`eyelid.attacks.similarity`). No row where people or synthetic data have no value.
        likeness: what else synthetic participants have in common with people; None for rows.
        expected_share_error: what the mechanism says of it beforehand; None where it says nothing.
        copies: synthetic rows that are rows of the original.
        chance_copies: how many there would be by chance: of rows moved a little.
        nearest_of_span: median distance from a synthetic row to the nearest of the original.
        people_apart_of_span: the same from a person's row to the nearest of another person.
        membership: how well it was told who of two people was in it; None where it was not tried.
        attacker: by what.
        among: people of whom the mechanism was run again.
        positive: the same with hardly any noise, which shows what the attack can do; None where it
            is not the strongest there is, so that finding little shows little.
        not_tried: why not.
    """

    rows: int
    people: int | None
    marginals: pl.DataFrame
    likeness: Likeness | None
    expected_share_error: float | None
    copies: int
    chance_copies: int
    nearest_of_span: float
    people_apart_of_span: float
    membership: Membership | None
    attacker: str = ""
    among: int = 0
    positive: Membership | None = None
    not_tried: str = ""

    @property
    def features(self) -> pl.DataFrame:
        """The figures of features, over tasks."""
        means = pl.col("wasserstein", "uniform", "total_variation").mean()
        root = pl.col("share_error").pow(2).mean().sqrt()
        return self.marginals.group_by("name", maintain_order=True).agg(means, root)

    @property
    def wasserstein(self) -> float:
        """The mean over features of the distance from the original."""
        return _mean(self.marginals["wasserstein"])

    @property
    def uniform(self) -> float:
        """The mean over features of values spread evenly over the bounds, which takes no data."""
        return _mean(self.marginals["uniform"])

    @property
    def share_error(self) -> float:
        """Root mean square over features and tasks."""
        return share_error(self.marginals)

    @property
    def share_size(self) -> float:
        """How far shares of tasks are from a quarter, beside which errors are read."""
        return share_error(self.marginals, "share_size")

    @property
    def median_share_error(self) -> float:
        """The median: a few features that hardly vary do not count for it."""
        off = self.marginals["share_error"].to_numpy()
        off = off[np.isfinite(off)]
        return float(np.median(off)) if off.size else float("nan")

    @property
    def attack(self) -> str:
        """What the attacker knew and saw, and whether others can do better."""
        if self.positive is not None:
            return (
                "knows all others' data and both people’s, and sees all noisy answers: no one "
                "who sees the release can do better with these people"
            )
        return "knows both people’s data and sees the release: stronger attackers may exist"

    @property
    def copied(self) -> bool:
        """Whether people's own rows are in it, and not by chance."""
        return self.copies > self.chance_copies + _CERTAIN * math.sqrt(self.chance_copies)


def _mean(figures: pl.Series) -> float:
    """Over what there is; not a number for nothing."""
    return float(figures.to_numpy().mean()) if len(figures) else float("nan")


@dataclass(frozen=True)
class ShownHistograms:
    """What rows drawn from histograms without noise show of single people.

    Attributes:
        filled: bins, of all features and tasks, with values of a person.
        alone: those of them that one person alone fills.
        shown: those of these that the release has values in: an attacker who sees one sees this
            person's.
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
        released: synthetic rows, by task.
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


def names_nobody(released: FeatureTable) -> bool:
    """Whether a release has nobody's own rows, by what it calls its people."""
    names = released.people["person"].cast(pl.String).to_list()
    return bool(names) and all(re.fullmatch(rf"{MADE_UP}\d*", name) for name in names)


def audit_synthetic(
    original: FeatureTable,
    released: FeatureTable,
    mechanism: FeatureMechanism | None = None,
    person_level: Guarantee | None = None,
    seed: int = 0,
) -> SyntheticFindings:
    """Compare synthetic data with people, and run the mechanism again if it is known.

    Args:
        original: everybody's recordings, with the features of the release.
        released: one synthetic participant of rows that have nothing to do with each other, or
            many.
        mechanism: the mechanism; None where it is not known.
        person_level: what is claimed; None for nothing.
        seed: of the attacker and the mechanism's noise.
    """
    # The row of a recording that was left out is no row to be like.
    seen = without_blanks(original)
    every = -(-len(seen.data) // _MOST_ROWS)
    kept = replace(seen, data=seen.data.gather_every(every))
    some = released.data.gather_every(-(-len(released.data) // _MOST_MADE))
    owner = kept.data["person"].rank("dense").to_numpy()
    nearest, apart = _nearest(values_of(original, kept.data), values_of(original, some), owner)
    found = marginals(seen, released)
    people = len(released.people) if released.people["person"].to_list() != [MADE_UP] else None
    copies, by_chance = _copies(seen, released)
    asked = _membership(original, mechanism, person_level, seed)
    # Which features there should be is another question.
    made = None
    if mechanism is not None and mechanism.release is ReleaseKind.SYNTHETIC:
        made = replace(cast(Synthetic, mechanism), carry=len(original.names))
    return SyntheticFindings(
        rows=len(released.data),
        people=people,
        marginals=found,
        likeness=None if people is None else likeness(seen, released),
        expected_share_error=None
        if made is None
        else made.expected_share_error(made.facts(original)),
        copies=copies,
        chance_copies=by_chance,
        nearest_of_span=float(np.median(nearest)),
        people_apart_of_span=float(np.median(apart)),
        **asked,
    )


def _copies(original: FeatureTable, released: FeatureTable) -> tuple[int, int]:
    """Synthetic rows that are a person's, of all there are; and how many would be by chance.

    Rows that are the same have the same weighted sum: only those whose sums agree are compared.
    Rows that lie at the bounds in everything are nobody's.
    """
    weights = np.random.default_rng(0).uniform(1.0, 2.0, len(original.names))
    sums = np.concatenate([values_of(original, part) @ weights for part in _blocks(original)])
    order = np.argsort(sums)
    sums = sums[order]
    reach = _SAME * float(weights.sum())
    found = np.zeros(2, dtype=np.int64)
    for part in _blocks(released):
        rows = values_of(original, part)
        inside = ((rows > _SAME) & (rows < 1 - _SAME)).any(axis=1)
        for number, moved in enumerate((0.0, _ELSEWHERE)):
            mine = (rows + moved)[inside]
            at = mine @ weights
            first, last = (np.searchsorted(sums, at + end) for end in (-reach, reach))
            many = last - first
            which = np.repeat(np.arange(len(mine)), many)
            step = np.arange(len(which)) - np.repeat(np.cumsum(many) - many, many)
            theirs = values_of(original, original.data[order[first[which] + step]])
            same = (np.abs(theirs - mine[which]) <= _SAME).all(axis=1)
            found[number] += len(np.unique(which[same]))
    return int(found[0]), int(found[1])


def _blocks(table: FeatureTable) -> list[pl.DataFrame]:
    return list(table.data.iter_slices(_BLOCK_ROWS))


def _nearest(raw: Values, made: Values, owner: Values) -> tuple[Values, Values]:
    """Distances of synthetic rows to the nearest row, and of people's rows to other people's."""
    from scipy.spatial.distance import cdist

    root = np.sqrt(raw.shape[1])
    some = np.linspace(0, len(raw) - 1, min(len(raw), 500)).astype(np.intp)
    between = cdist(raw[some], raw)
    between[owner[some][:, None] == owner] = np.inf
    return cdist(made, raw).min(axis=1) / root, between.min(axis=1) / root


def _membership(
    original: FeatureTable,
    mechanism: FeatureMechanism | None,
    person_level: Guarantee | None,
    seed: int,
) -> dict[str, Any]:
    """How well it is told who of two people was in it; or why that was not tried.

    Of synthetic participants all that was measured is at hand, and the attack is the strongest
    there is.
    """
    if mechanism is None:
        return _untried("the mechanism is not known here, and could not be run again")
    rng = np.random.default_rng([seed, *b"who was in it"])
    if mechanism.release is ReleaseKind.SYNTHETIC:
        membership = membership_by_answers(original, cast(Synthetic, mechanism), person_level, rng)
        return {**vars(membership), "attacker": "likelihood of all noisy answers"}
    if len(original.data) * len(original.features) > _MOST_VALUES:
        return _untried("the original is so large that running the mechanism again would take long")
    return _run_again(original, mechanism, person_level, rng)


def _untried(why: str) -> dict[str, Any]:
    return {"membership": None, "not_tried": why}


def _run_again(
    original: FeatureTable,
    mechanism: FeatureMechanism,
    person_level: Guarantee | None,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Run again without one or the other of two people, and say which by the synthetic data.

    The attacker knows both, and all others stay the same: what is compared are neighbouring
    datasets, as the guarantee has it.
    """
    people = original.recordings["person"].unique(maintain_order=True).to_list()
    noise = randomness(rng)
    own = {name: rows for (name,), rows in original.data.group_by("person")}
    target = rng.permutation(np.arange(_TRIALS) % len(people))
    other = (target + rng.integers(1, len(people), _TRIALS)) % len(people)
    coins, scores = rng.random(_TRIALS) < 0.5, np.empty(_TRIALS)
    for trial in track(range(_TRIALS), "running it again", total=_TRIALS):
        pair = [people[target[trial]], people[other[trial]]]
        absent = pair[1] if coins[trial] else pair[0]
        others = replace(original, data=original.data.filter(pl.col("person") != absent))
        try:
            made = mechanism.apply(others, noise)
        except InputError as error:
            return _untried(f"without one of its people the mechanism does not run ({error})")
        evidence = _near(original, made, [own[name] for name in pair])
        scores[trial] = evidence[0] - evidence[1]
    found = told_apart(scores, coins, target, person_level)
    return {"membership": found, "attacker": "nearest rows", "among": len(people)}


def _near(original: FeatureTable, made: FeatureTable, people: list[pl.DataFrame]) -> list[float]:
    """How near people's rows are to the nearest synthetic ones."""
    from scipy.spatial.distance import cdist

    rows = values_of(original, made.data)
    found = []
    for own in people:
        some = own[np.linspace(0, len(own) - 1, min(len(own), 50)).astype(np.intp)]
        found.append(-float(cdist(values_of(original, some), rows).min(axis=1).mean()))
    return found


@dataclass(frozen=True, eq=False)
class MembershipByAnswers:
    """What came of it.

    Attributes:
        membership: under the noise of the release.
        positive: under hardly any (ε = 1000): what the attack can do.
        among: people who were measured; all there are, unless that would take long.
    """

    membership: Membership
    positive: Membership
    among: int


def membership_by_answers(
    original: FeatureTable,
    mechanism: Synthetic,
    person_level: Guarantee | None,
    rng: np.random.Generator,
) -> MembershipByAnswers:
    """Measure again and again, with a person or with another person in their place.

    Where people are very many, some are measured, under the noise and in the bins of all. Among few
    people noise decides more of what is asked, which tells less: so there are fewer decisions
    first, and fewer people then.

    Args:
        original: everybody's recordings, with the features of the release.
        mechanism: the mechanism.
        person_level: what is claimed; None for nothing.
        rng: of who is asked for, and of the noise.
    """
    # Which features there are was settled by the release.
    settled = replace(mechanism, carry=len(original.names))
    _, everybody = settled.sequences(original)
    twice = 2 * everybody.codes.size // everybody.people
    enough = max(_FEWEST_PEOPLE, _MOST_CODES // (_FEWEST_DECISIONS * twice))
    some = everybody
    if enough < everybody.people:
        some = everybody.of(np.sort(rng.choice(everybody.people, enough, replace=False)))
    decisions = max(_FEWEST_DECISIONS, _MOST_CODES // (twice * some.people))
    clear = replace(settled, epsilon=_CLEAR)
    return MembershipByAnswers(
        membership=_decided(original, settled, some, person_level, min(_DECISIONS, decisions), rng),
        positive=_decided(original, clear, some, None, _OF_CONTROL, rng),
        among=some.people,
    )


def _decided(
    original: FeatureTable,
    mechanism: Synthetic,
    people: Sequences,
    claim: Guarantee | None,
    decisions: int,
    rng: np.random.Generator,
) -> Membership:
    """Each person in turn: runs with them, and as many with another person in their place."""
    measurement = mechanism.measurement(mechanism.facts(original))
    _, tree = mechanism.tree(original.names)
    noise, count = randomness(rng), people.people
    targets = rng.permutation(count)[: decisions // 2]
    others = (targets + rng.integers(1, count, len(targets))) % count
    runs = max(1, decisions // (2 * len(targets)))
    scores = np.empty((len(targets), 2, runs))
    pairs = list(zip(targets, others, strict=True))
    for number, (who, other) in enumerate(track(pairs, "measuring again", total=len(pairs))):
        place = np.arange(count)
        place[who] = other
        # The public group belongs to the place.
        replaced = replace(people.of(place), group=people.group)
        for coin, (truth, instead) in enumerate(((replaced, people), (people, replaced))):
            answers = measurement.measured(truth, tree, noise, (runs,))
            ratio = _log_ratio(measurement, answers, truth, instead, who)
            scores[number, coin] = ratio if truth is people else -ratio
    target, coins, _ = np.indices(scores.shape)
    return told_apart(scores.ravel(), coins.ravel() == 1, targets[target.ravel()], claim)


def _log_ratio(
    measurement: Measurement, answers: Answers, truth: Sequences, instead: Sequences, who: int
) -> Values:
    """How much likelier answers are of the truth than of what differs from it in one person."""
    # All others count the same; a person of the last group says how many groups there are.
    few = np.unique([who, int(np.argmax(truth.group))])
    true, other = (people.of(few) for people in (truth, instead))
    found = np.zeros(len(answers.levels))
    for (mechanism, rest), (_, own), (_, theirs) in zip(
        *(measurement.residuals(answers, people) for people in (truth, true, other)), strict=True
    ):
        noise = noise_of(mechanism, measurement.facts)
        found += (noise.log_mass(rest) - noise.log_mass(rest + theirs - own)).sum(axis=-1)
    return found
