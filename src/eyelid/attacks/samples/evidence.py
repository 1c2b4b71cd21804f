"""All that samples say about who it is, part by part and together, under every protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import Attacker
from eyelid.attacks.attackers.lda import Lda
from eyelid.attacks.attackers.means import Means
from eyelid.attacks.identification import Finding, decided, finding_of
from eyelid.attacks.protocols import POSITIVE, Material, Protocol, Source, Split
from eyelid.attacks.records import Records
from eyelid.attacks.samples.convolutions import NAME as CONVOLUTIONS
from eyelid.attacks.samples.convolutions import Convolutions
from eyelid.attacks.samples.offset import NAME as OFFSET
from eyelid.attacks.samples.offset import Pages, offsets
from eyelid.attacks.samples.signals import Grid, SignalMaterial, signal_table
from eyelid.attacks.scores import Scores, relative
from eyelid.attacks.streams.features import MOVED, moving_columns
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable

FUSED = "fused samples"
FEATURES = "features of windows"
SAMPLE_ATTACKERS = (CONVOLUTIONS, OFFSET, FUSED)
"""As reports and the command line call them."""
# Of more people it takes longer than an audit should.
MOST_PEOPLE = 60
# How strongly weights of parts are held at one: known records are few. Settled on simulated people
# of two seeds, between this and ten times as much.
_HELD = 0.1

Values = NDArray[np.float64]
Key = tuple[str, str, int]


@dataclass(frozen=True, eq=False)
class Gaze:
    """Samples before and after a release.

    Attributes:
        original: raw gaze.
        released: what was released of it; None when nothing was.
        again: makes another release of the same gaze; None when the mechanism is not known.
    """

    original: Study
    released: Study | None = None
    again: Callable[[], Study] | None = None

    def some(self, seed: int) -> Gaze:
        """The gaze of as many people as can be attacked."""
        people = self.original.data["person"].unique(maintain_order=True)
        if len(people) <= MOST_PEOPLE:
            return self
        whom, again = some_people(people, seed), self.again
        return Gaze(
            _only(self.original, whom),
            None if self.released is None else _only(self.released, whom),
            None if again is None else lambda: _only(again(), whom),
        )

    @property
    def still_shown(self) -> Study:
        """The original, without movement of head or hands that was not released."""
        if self.released is None:
            return self.original
        moving = [name for part in MOVED for name in moving_columns(self.original, part)]
        gone = set(moving) - set(self.released.data.columns)
        return replace(self.original, data=self.original.data.drop(gone))

    def seen(self, look: Callable[[Study], FeatureTable]) -> _Seen:
        """Tables of raw and released gaze, and of another release."""
        again = self.again
        return _Seen(
            look(self.original),
            None if self.released is None else look(self.released),
            None if again is None else lambda table: look(again()),
        )


@dataclass(frozen=True, eq=False)
class _Seen:
    original: FeatureTable
    released: FeatureTable | None
    again: Callable[[FeatureTable], FeatureTable] | None

    def material(self, kind: type[Material] = Material) -> Material:
        return kind(self.original, self.released, self.again)


@dataclass(frozen=True, eq=False)
class Part:
    """One thing that samples say, and who learns from it.

    Attributes:
        name: as reports call it.
        material: what there is to attack.
        attacker: who learns.
        alone: whether it is reported by itself, too.
    """

    name: str
    material: Material
    attacker: Attacker
    alone: bool = True


def some_people(people: Iterable[str], seed: int) -> list[str]:
    """As many people as can be attacked, drawn at random, in their order.

    Args:
        people: all of them.
        seed: of whom.
    """
    everybody = list(people)
    if len(everybody) <= MOST_PEOPLE:
        return everybody
    rng = np.random.default_rng([seed, *b"people of samples"])
    drawn = rng.choice(len(everybody), MOST_PEOPLE, replace=False)
    return [everybody[place] for place in sorted(drawn.tolist())]


def parts_of(gaze: Gaze, features: Material | None) -> tuple[list[Part], list[str]]:
    """What samples say, as far as there is any; and what they do not, and why.

    Args:
        gaze: before and after the release.
        features: of windows, of the same recordings.
    """
    parts, missing = [], []
    try:
        grid = Grid.of(gaze.original, *([] if gaze.released is None else [gaze.released]))
        seen = gaze.seen(partial(signal_table, grid=grid))
        parts.append(Part(CONVOLUTIONS, seen.material(SignalMaterial), Convolutions()))
    except InputError as error:
        missing.append(f"samples were not attacked by {CONVOLUTIONS}: {error}")
    try:
        pages = Pages.of(gaze.original)
        seen = gaze.seen(partial(offsets, pages=pages))
        parts.append(Part(OFFSET, seen.material(), Means()))
    except InputError as error:
        missing.append(f"samples were not attacked by {OFFSET}: {error}")
    if features is not None and parts:
        parts.append(Part(FEATURES, features, Lda(), alone=False))
    return _parted_alike(parts, missing)


def _parted_alike(parts: Sequence[Part], missing: list[str]) -> tuple[list[Part], list[str]]:
    """The parts that know and show the same as the first one; and why others are left out."""
    kept: list[Part] = []
    names: list[str] = []
    for part in parts:
        try:
            own = [split.name for split in part.material.splits(POSITIVE)]
            if kept and own != names:
                raise InputError("its recordings are parted otherwise than those of the others")
        except InputError as error:
            missing.append(f"samples were not attacked by {part.name}: {error}")
            continue
        kept, names = [*kept, part], own
    return kept, missing


def sample_findings(
    parts: Sequence[Part], protocols: Sequence[Protocol], seed: int = 0
) -> list[Finding]:
    """How each part fares alone, and all of them fused.

    Each record's scores are put in units of their own spread. How much each part counts is learned
    from what the attacker knows alone: from known tasks that are recognised from the other known
    ones; where there are not two of them, all count alike.

    Args:
        parts: what samples say.
        protocols: how to attack; impossible ones are left out.
        seed: of the attackers' choices.
    """
    possible = [
        protocol
        for protocol in protocols
        if protocol.honest and all(part.material.possible(protocol) for part in parts)
    ]
    scored: dict[tuple[str, str], list[Scores]] = {}
    chances: dict[str, list[float]] = {}
    for known in dict.fromkeys(protocol.known for protocol in possible):
        there = [protocol for protocol in possible if protocol.known == known]
        for splits in _splits(parts, there[0]):
            lessons = [_Lesson.of(*pair, known, seed) for pair in zip(parts, splits, strict=True)]
            weights = _weights(lessons, seed)
            for protocol in there:
                each = [lesson.answers(protocol.shown, seed) for lesson in lessons]
                for part, (_, scores) in zip(parts, each, strict=True):
                    if part.alone:
                        scored.setdefault((protocol.name, part.name), []).append(scores)
                if len(parts) > 1:
                    fused = _fused(lessons, each, weights)
                    scored.setdefault((protocol.name, FUSED), []).append(fused)
                people = [len(np.unique(lesson.known.owner)) for lesson in lessons]
                chances.setdefault(protocol.name, []).append(1 / max(people))
    return [
        finding_of(protocol, name, scored[protocol.name, name], fmean(chances[protocol.name]))
        for protocol in possible
        for name in [*(part.name for part in parts if part.alone), FUSED]
        if any(len(scores.owner) for scores in scored.get((protocol.name, name), ()))
    ]


@dataclass(frozen=True, eq=False)
class _Lesson:
    """What one attacker learned from one source, and how it recognises."""

    part: Part
    split: Split
    known: Records
    keys: list[Key]

    @classmethod
    def of(cls, part: Part, split: Split, source: Source, seed: int) -> _Lesson:
        keys = _keys(part.material, source, split.known)
        return cls(part, split, part.material.known(source, split), keys)

    @property
    def people(self) -> tuple[str, ...]:
        return self.part.material.people

    def answers(self, source: Source, seed: int) -> tuple[list[Key], Scores]:
        """Scores of what is shown, and of which recordings they are."""
        material = self.part.material
        shown = material.shown(source, self.split)
        keys = _keys(material, source, self.split.shown)
        could = np.isin(shown.owner, self.known.owner)
        (scores,) = decided(self.part.attacker, self.known, [shown], seed)
        return [key for key, kept in zip(keys, could, strict=True) if kept], scores

    def rehearsal(self, task: str, seed: int) -> tuple[list[Key], Scores]:
        """Scores of a known task by what is known besides."""
        mine = np.array([other == task for other in self.known.tasks])
        taught, asked = self.known.only(~mine), self.known.only(mine)
        (scores,) = decided(self.part.attacker, taught, [asked], seed)
        could = mine & np.isin(self.known.owner, taught.owner)
        return [key for key, kept in zip(self.keys, could, strict=True) if kept], scores


def _splits(parts: Sequence[Part], protocol: Protocol) -> list[tuple[Split, ...]]:
    """How every part is parted alike; nothing where they cannot be."""
    each = [part.material.splits(protocol) for part in parts]
    names = {tuple(split.name for split in splits) for splits in each}
    if len(names) > 1:
        raise InputError("samples and features are not parted alike")
    return list(zip(*each, strict=True))


def _keys(material: Material, source: Source, where: pl.Expr) -> list[Key]:
    """Person, recording and which copy of it, of every record in order."""
    found: list[Key] = []
    for copy, table in enumerate(material.tables(source) or ()):
        rows = table.data.filter(pl.col("person").is_in(list(material.people))).filter(where)
        heads = rows.select("person", "recording").unique(maintain_order=True)
        found += [(person, recording, copy) for person, recording in heads.iter_rows()]
    return found


def _together(
    lessons: Sequence[_Lesson], answers: Sequence[tuple[list[Key], Scores]]
) -> tuple[Values, NDArray[np.intp]]:
    """Records × parts × people in units of their spread, zero where a part has none; and owners."""
    people = lessons[0].people
    place = {name: number for number, name in enumerate(people)}
    keys = list(dict.fromkeys(key for found, _ in answers for key in found if key[0] in place))
    number = {key: row for row, key in enumerate(keys)}
    stacked = np.zeros((len(keys), len(lessons), len(people)))
    for part, (lesson, (found, scores)) in enumerate(zip(lessons, answers, strict=True)):
        own = [index for index, name in enumerate(lesson.people) if name in place]
        columns = [place[lesson.people[index]] for index in own]
        scaled = relative(scores.averaged)
        for row, key in enumerate(found):
            if key in number:
                stacked[number[key], part, columns] = scaled[row, own]
    return stacked, np.array([place[key[0]] for key in keys], dtype=np.intp)


def _fused(
    lessons: Sequence[_Lesson], answers: Sequence[tuple[list[Key], Scores]], weights: Values
) -> Scores:
    stacked, owner = _together(lessons, answers)
    return Scores(np.einsum("rpn,p->rn", stacked, weights), None, owner)


def _weights(lessons: Sequence[_Lesson], seed: int) -> Values:
    """How much each part counts: what would have recognised known tasks from other known ones."""
    tasks = sorted(set.intersection(*[set(lesson.known.tasks) for lesson in lessons]))
    equal = np.ones(len(lessons))
    if len(lessons) < 2 or len(tasks) < 2:
        return equal
    tried = []
    for task in tasks:
        tried.append(_together(lessons, [lesson.rehearsal(task, seed) for lesson in lessons]))
    stacked = np.concatenate([one for one, _ in tried])
    owner = np.concatenate([owners for _, owners in tried])
    return learned_weights(stacked, owner) if len(owner) else equal


def learned_weights(stacked: Values, owner: NDArray[np.intp]) -> Values:
    """Weights of parts by a logistic model of who it is, held near one, never below zero.

    Args:
        stacked: records × parts × people.
        owner: of the records.

    >>> rng = np.random.default_rng(0)
    >>> owner = np.arange(30) % 5
    >>> good = np.eye(5)[owner] * 3
    >>> weights = learned_weights(np.stack([good, rng.normal(size=(30, 5))], axis=1), owner)
    >>> bool(weights[0] > 2 * weights[1])
    True
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    rows = np.arange(len(owner))

    def loss(weights: Values) -> tuple[float, Values]:
        total = np.einsum("rpn,p->rn", stacked, weights)
        log = total - logsumexp(total, axis=1, keepdims=True)
        slope = np.einsum("rpn,rn->p", stacked, np.exp(log)) - stacked[rows, :, owner].sum(axis=0)
        away = weights - 1.0
        return float(-log[rows, owner].sum() + _HELD * away @ away), slope + 2 * _HELD * away

    start = np.ones(stacked.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start))
    return np.asarray(found.x)


def _only(study: Study, people: Sequence[str]) -> Study:
    kept = pl.col("person").is_in(list(people))
    return replace(study, data=study.data.filter(kept), people=study.people.filter(kept))
