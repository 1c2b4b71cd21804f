"""Attackers that know samples, taught by synthetic recordings and tested on recordings of people.

No synthetic participant stands for a participant, but names are in an order: the first synthetic
one might be made after the first person, of all or of a group. So the synthetic ones are put in
the places of people, in order, attackers learn who is who from all synthetic recordings, and are
shown everybody's real ones. Whatever they find beyond chance, something of single people has come
into single synthetic participants: their speeds, their pupil, how far their gaze is off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import Attacker
from eyelid.attacks.attackers.lda import Lda
from eyelid.attacks.attackers.means import Means
from eyelid.attacks.identification import decided
from eyelid.attacks.records import ROWS_PER_PERSON, Records, records_of
from eyelid.attacks.samples.convolutions import NAME as CONVOLUTIONS
from eyelid.attacks.samples.convolutions import Convolutions
from eyelid.attacks.samples.evidence import FEATURES, FUSED
from eyelid.attacks.samples.offset import NAME as OFFSET
from eyelid.attacks.samples.offset import Pages, offsets
from eyelid.attacks.samples.signals import Grid, signal_records, signal_table
from eyelid.attacks.scores import named, relative
from eyelid.attacks.statistics import Rate, rate_of_shares
from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable

Floats = NDArray[np.float64]
Groups = NDArray[np.intp]

_ORDERS = 2000
_WINDOW_S, _SHORTEST_S = 30.0, 5.0
CERTAIN = 0.01
"""Chance, over all attackers, below which recordings are not those of people who do not exist."""


@dataclass(frozen=True)
class SampleAttack:
    """What one attacker on samples finds of people in synthetic recordings.

    Attributes:
        attacker: by name.
        named: real people of whom the synthetic participant in their place is named, of all.
        within: the same, of those of their group: it is to be one in the group's size.
        found: real people whose group is found; None where there is one group alone.
        control: people who are recognised in half of their real recordings by what the same
            attacker learned from the other half; None where it had too little.
        p_value: of synthetic participants that are so much like the people in their places, if
            their order within groups were any other; over all attackers.
    """

    attacker: str
    named: Rate
    within: Rate
    found: Rate | None
    control: Rate | None
    p_value: float

    @property
    def refutes(self) -> bool:
        """Whether single people are in single synthetic participants."""
        return self.p_value < CERTAIN


@dataclass(frozen=True, eq=False)
class Placed:
    """Synthetic recordings, and whose places they are in.

    Attributes:
        made: synthetic recordings.
        people: names of people, in the order of the synthetic participants in their places.
        groups: of each of them, in the same order.
    """

    made: Study
    people: Sequence[str]
    groups: Groups


def sample_attacks(
    raw: Study, releases: Sequence[Placed], seed: int = 0
) -> tuple[list[SampleAttack], list[str]]:
    """Teach every attacker by synthetic recordings, and show it everybody's real ones.

    Args:
        raw: real recordings; others than those of the placed people are left out.
        releases: one, or several with other groups.
        seed: of the attackers' choices.

    Returns:
        what each found, and what could not be tried and why.
    """
    tried = [_scores(each.made, raw, each.people, seed) for each in releases]
    missing = list(dict.fromkeys(note for _, notes in tried for note in notes))
    control = _control(raw, list(releases[0].people), seed)
    every = list(dict.fromkeys(name for scores, _ in tried for name in scores))
    attacks = []
    for attacker in every:
        mine = [
            (each, scores[attacker])
            for each, (scores, _) in zip(releases, tried, strict=True)
            if attacker in scores
        ]
        attacks.append(_attack(attacker, mine, control.get(attacker), len(every), seed))
    return attacks, missing


def _attack(
    attacker: str,
    tried: Sequence[tuple[Placed, Floats]],
    control: Floats | None,
    attackers: int,
    seed: int,
) -> SampleAttack:
    people = len(tried[0][0].people)
    place = {name: number for number, name in enumerate(sorted(tried[0][0].people))}
    named_all, within, found = np.zeros((3, people))
    rng = np.random.default_rng([seed, *b"orders"])
    score, others = 0.0, np.zeros(_ORDERS)
    for each, scores in tried:
        who = np.array([place[name] for name in each.people])
        own = np.arange(people)
        same = each.groups[:, None] == each.groups
        named_all[who] += named(scores, own)
        within[who] += named(np.where(same, scores, scores.min() - 1.0), own)
        found[who] += _groups_found(scores, each.groups)
        here, anew = _orders(scores, each.groups, rng)
        score, others = score + here, others + anew
    # Rounding must not decide among orders that are alike.
    as_high = (others >= score - 1e-9 * max(1.0, abs(score))).sum()
    several = any(len(np.unique(each.groups)) > 1 for each, _ in tried)
    sizes = [np.bincount(each.groups)[each.groups] for each, _ in tried]
    in_group = float(np.mean([(1.0 / size).mean() for size in sizes]))
    in_groups = float(np.mean([1.0 / len(np.unique(each.groups)) for each, _ in tried]))
    return SampleAttack(
        attacker,
        rate_of_shares(named_all / len(tried), 1 / people),
        rate_of_shares(within / len(tried), in_group),
        rate_of_shares(found / len(tried), in_groups) if several else None,
        None if control is None else rate_of_shares(named(control, np.arange(people)), 1 / people),
        min(1.0, attackers * float(1 + as_high) / (1 + _ORDERS)),
    )


def _groups_found(scores: Floats, groups: Groups) -> Floats:
    """For each person the chance that their group is found, by the mean over its participants."""
    each, number = np.unique(groups, return_inverse=True)
    by_group = np.stack([scores[:, groups == group].mean(axis=1) for group in each], axis=1)
    return named(by_group, number)


def _orders(scores: Floats, groups: Groups, rng: np.random.Generator) -> tuple[float, Floats]:
    """How much people are like those in their places, and in other orders within groups."""
    score, others = 0.0, np.zeros(_ORDERS)
    for group in np.unique(groups):
        mine = np.flatnonzero(groups == group)
        if len(mine) < 2:
            continue
        own = relative(scores[np.ix_(mine, mine)])
        score += float(own.diagonal().sum())
        order = rng.permuted(np.tile(np.arange(len(mine)), (_ORDERS, 1)), axis=1)
        others += own[np.arange(len(mine)), order].sum(axis=1)
    return score, others


def _control(raw: Study, people: list[str], seed: int) -> dict[str, Floats]:
    """Attackers taught by people's own recordings: by some of them, or by first halves."""
    keys = raw.data.select("person", "recording").unique(maintain_order=True)
    if keys.group_by("person").len()["len"].min() == 1:
        time_ms = pl.col("time_ms")
        middle = (time_ms.min() + time_ms.max()).over("person", "recording") / 2
        known = raw.data.select(known=time_ms < middle)["known"]
    else:
        number = pl.int_range(pl.len()).over("person")
        keys = keys.with_columns(known=number % 2 == 0)
        known = raw.data.join(keys, on=["person", "recording"], how="left", maintain_order="left")[
            "known"
        ]
    first, second = (
        replace(raw, data=raw.data.filter(where), events=None) for where in (known, ~known)
    )
    return _scores(first, second, people, seed)[0]


def _scores(
    made: Study, raw: Study, people: Sequence[str], seed: int
) -> tuple[dict[str, Floats], list[str]]:
    """By attacker, people × those in their places; and which attackers have too little to see."""
    names = made.people["person"].to_list()[: len(people)]
    if set(names) != set(people):
        raw = _renamed(raw, dict(zip(people, names, strict=True)))
    else:
        names = list(people)
    found: dict[str, Floats] = {}
    missing = []
    for attacker, sources in {
        CONVOLUTIONS: _signals,
        OFFSET: _offsets,
        FEATURES: _features,
    }.items():
        try:
            learner, known, shown = sources(made, raw, names)
            found[attacker] = _by_person(learner, known, shown, seed)
        except InputError as error:
            missing.append(f"synthetic recordings were not attacked by {attacker}: {error}")
    if len(found) > 1:
        found[FUSED] = np.sum([relative(each) for each in found.values()], axis=0)
    return found, missing


def _by_person(attacker: Attacker, known: Records, shown: Records, seed: int) -> Floats:
    """Scores in units of their spread, summed over recordings; nothing for people without any."""
    (scores,) = decided(attacker, known, [shown], seed)
    # Nobody could be named who has no synthetic recordings; who it is has no better score then.
    finite = np.where(np.isfinite(scores.averaged), scores.averaged, np.nan)
    lowest = np.nanmin(finite, axis=1, keepdims=True)
    each = relative(np.where(np.isnan(finite), lowest, finite))
    total = np.zeros((len(shown.people), len(shown.people)))
    np.add.at(total, scores.owner, each)
    return total


def _renamed(study: Study, names: Mapping[str, str]) -> Study:
    """The recordings of some people under other names."""
    mine, new = pl.col("person").is_in(list(names)), pl.col("person").replace_strict(dict(names))
    return replace(
        study,
        data=study.data.filter(mine).with_columns(new),
        people=study.people.filter(mine).with_columns(new),
        events=None,
    )


def _signals(made: Study, raw: Study, names: Sequence[str]) -> tuple[Attacker, Records, Records]:
    grids = [Grid.of(raw, made), Grid.of(made, raw)]
    # The slower of the two: what is between its samples nobody knows.
    grid = max(grids, key=lambda each: each.step_ms)
    known, shown = (signal_records(signal_table(each, grid), names) for each in (made, raw))
    return Convolutions(by_source=True), known, shown


def _offsets(made: Study, raw: Study, names: Sequence[str]) -> tuple[Attacker, Records, Records]:
    known, shown = (offsets(each, Pages.of(each)) for each in (made, raw))
    return Means(), *_centred(replace(known, features=shown.features), shown, names)


def fitting_windows_s(*studies: Study) -> float:
    """Windows of features as usual, or a third of recordings that are too short for these.

    Args:
        studies: all that are summarised alike.
    """
    lasting = (pl.col("time_ms").max() - pl.col("time_ms").min()) / 1000.0
    usual = [
        study.data.group_by("person", "recording").agg(lasting.alias("s"))["s"].median()
        for study in studies
    ]
    shortest = min(float(each) for each in usual if isinstance(each, float))
    return _WINDOW_S if shortest >= 2 * _WINDOW_S else max(_SHORTEST_S, shortest / 3)


def _features(made: Study, raw: Study, names: Sequence[str]) -> tuple[Attacker, Records, Records]:
    window_s = fitting_windows_s(made, raw)
    known, shown = (window_features(each, window_s) for each in (made, raw))
    both = [name for name in shown.names if name in known.names]
    return Lda(), *_centred(known.only(*both), shown.only(*both), names)


def _centred(
    known: FeatureTable, shown: FeatureTable, names: Sequence[str]
) -> tuple[Records, Records]:
    """Rows less what is usual in the task of their own source: synthetic gaze is no raw gaze."""
    own = [records_of(each, names) for each in (known, shown)]
    first, second = (
        replace(each.without(each.usual), usual={}).condensed(ROWS_PER_PERSON) for each in own
    )
    return first, second
