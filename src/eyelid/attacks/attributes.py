"""What recordings give away of a person: gender, age, whatever stands beside their name.

The attacker has other people's raw recordings with their attributes, and is shown everything of one
person. Three attackers: the neighbours of windows, least squares with an RBF kernel on windows, and
least squares on people's means, which outlasts noise of single rows.

People are left out in pairs, and both are judged by what was learned without either. Were only one
left out, what is missing would tell: the kind that is rarer by one, the mean that moved. A release
that is the same for everybody would be "inferred" from that.

All three attackers are linear in the labels they learn from: a score is a weighted sum of other
people's labels, with weights that do not depend on labels. So a permutation of labels is learned
anew by one matrix product, and the p-values are exact where an attribute has nothing to do with the
recordings. (Permuting labels against scores that were learned once would not be: people who are
alike are right or wrong together, and chance would look rarer than it is.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.classifiers import (
    NEIGHBOURS,
    Classes,
    Codes,
    Values,
    classes_of,
    rbf,
    standardised,
)
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.attacks.records import Records, aligned, records_of
from eyelid.attacks.statistics import Rate, clopper_pearson, holm, rate_of_decisions
from eyelid.engine.engines import spread_with
from eyelid.errors import unknown
from eyelid.gaze.table import FeatureTable

# With fewer people of a kind nothing can be learned and nothing can be tested.
FEWEST = 3
PERMUTATIONS = 2000
# About so many stretches of neighbouring windows, averaged, of all people together.
ROWS = 450
# With more people than this they are left out in groups.
_MOST_GROUPS = 20
# The penalty of least squares, as C = 1 of a support vector machine. Not tuned.
_RIDGE = 1.0

ATTACKERS = ("knn", "rbf", "means")


@dataclass(frozen=True)
class Inference:
    """How well one attribute is inferred.

    Attributes:
        attribute: the column of people; of a quantity also where it was split.
        asks: what was to be told apart.
        protocol: ``raw→release``, or the control ``raw→raw``.
        attacker: ``knn``, ``rbf`` or ``means``.
        auc: how often a person of the first kind scores above a person of the second. Its limits
            are wide: they count as many people as the rarer kind has.
        balanced_accuracy: share of people told right, both kinds counting the same.
        p_value: of so high an AUC if the attribute had nothing to do with the recordings, after
            Holm's correction over all attributes and attackers of the protocol.
        bound: on the balanced accuracy, by the guarantee; None where there is none.
    """

    attribute: str
    asks: str
    protocol: str
    attacker: str
    auc: Rate
    balanced_accuracy: Rate
    p_value: float
    bound: float | None = None


@dataclass(frozen=True)
class LeftOut:
    """A column that was not attacked, and why."""

    attribute: str
    reason: str


@dataclass(frozen=True, eq=False)
class _Question:
    """Who is of a kind and who is not, among those of whom it is known."""

    attribute: str
    asks: str
    person: NDArray[np.intp]
    positive: NDArray[np.bool_]


def infer_attributes(
    material: Material,
    columns: Sequence[str] | None = None,
    bound: float | None = None,
    seed: int = 0,
    control: bool = True,
) -> tuple[list[Inference], list[LeftOut]]:
    """Attack every column of people.

    Args:
        material: the original, and the release if there is one.
        columns: which; by default all.
        bound: on the balanced accuracy for a release, from its guarantee for a whole person.
        seed: of the permutations.
        control: whether the original is attacked too, where there is a release.

    Returns:
        What was inferred, and what was left out.
    """
    people = material.original.people
    possible = [name for name in people.columns if name != "person"]
    for name in columns or ():
        if name not in possible:
            raise unknown("attribute", name, possible)
    known = pl.DataFrame({"person": list(material.people)}).join(people, on="person", how="left")
    questions: list[_Question] = []
    left_out: list[LeftOut] = []
    shown_openly = () if material.released is None else material.released.people.columns
    for name in possible if columns is None else columns:
        if name in shown_openly:
            left_out.append(LeftOut(name, "it is released as it is, and needs no inference"))
            continue
        possible_questions, why = _questions(classes_of(known[name]))
        questions += possible_questions
        left_out += [LeftOut(name, why)] if why else []
    if not questions:
        return [], left_out
    shown = {POSITIVE.name: material.original} if control or material.released is None else {}
    if material.released is not None:
        shown["raw→release"] = aligned(material.original, material.released)[1]
    known_rows = _rows(material.original, material)
    known_rows = known_rows.without(known_rows.usual)
    found: list[Inference] = []
    for protocol, table in shown.items():
        shown_rows = _rows(table, material).without(known_rows.usual)
        weights: dict[bytes, _Weights] = {}
        asked: list[Inference] = []
        for question in questions:
            group = question.person.tobytes()
            if group not in weights:
                weights[group] = _weights(known_rows, shown_rows, question.person)
            asked += _inferences(question, protocol, weights[group], seed)
        p_values = holm([one.p_value for one in asked])
        allowed = None if protocol == POSITIVE.name else bound
        found += [
            replace(one, p_value=float(p), bound=allowed)
            for one, p in zip(asked, p_values, strict=True)
        ]
    return found, left_out


def _questions(classes: Classes) -> tuple[list[_Question], str]:
    """What can be asked about a column, each kind against the others; or why nothing can."""
    known = np.flatnonzero(classes.codes >= 0)
    codes = classes.codes[known]
    if not len(known):
        return [], "no value is known"
    if len(np.unique(codes)) < 2:
        return [], "everybody has the same value"
    counts = np.bincount(codes, minlength=len(classes.values))
    kinds = [kind for kind, count in enumerate(counts) if FEWEST <= count <= len(codes) - FEWEST]
    if not kinds:
        return [], f"fewer than {FEWEST} people are of a kind, or not of it"
    if len(classes.values) == 2:
        kinds = kinds[-1:]
    # What the kinds are called is not said: it may be a diagnosis, or a person's name.
    several = f" of {len(classes.values)}" if len(classes.values) > 2 else ""
    asks = {
        kind: f"kind {kind + 1}{several} or not" if several else "which of two" for kind in kinds
    }
    return [_Question(classes.name, asks[kind], known, codes == kind) for kind in kinds], ""


def _rows(table: FeatureTable, material: Material) -> Records:
    """Means of neighbouring windows."""
    everything = records_of(table, material.people)
    return everything.condensed(max(1, ROWS // len(everything.owner)))


@dataclass(frozen=True, eq=False)
class _Weights:
    """How much each person's label counts.

    Attributes:
        group: of each person; whole groups are left out.
        known: group × group × person: who is known when two groups are left out.
        by_attacker: shown person × other group left out × known person.
    """

    group: Codes
    known: NDArray[np.bool_]
    by_attacker: dict[str, Values]


def _weights(known: Records, shown: Records, person: Codes) -> _Weights:
    """The weights of all attackers.

    Args:
        known: rows of everybody; those of people who are left out are not used.
        shown: rows of everybody.
        person: who takes part, in the order of the axes.
    """
    count = len(person)
    place = np.full(len(known.people), -1, dtype=np.intp)
    place[person] = np.arange(count)
    ours, theirs = place[known.person], place[shown.person]
    group = np.arange(count) % _MOST_GROUPS
    groups = int(group.max()) + 1
    left_out = np.arange(groups)[:, None] == group
    stays = ~(left_out[:, None] | left_out[None, :])
    alone = np.bincount(group) == 1
    pairs = [(a, b) for a in range(groups) for b in range(a, groups) if a != b or not alone[a]]
    rows = _Rows(known.values, ours, shown.values, theirs, stays)
    found = {name: np.zeros((count, groups, count)) for name in ATTACKERS}
    for (a, b), learned in zip(
        pairs, spread_with(_without_pair, rows, pairs, "inferring"), strict=True
    ):
        for name, weights in learned.items():
            found[name][left_out[a], b] = weights[left_out[a]]
            found[name][left_out[b], a] = weights[left_out[b]]
    return _Weights(group, stays, found)


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is learned from and what is shown, for any person left out.

    Attributes:
        known: rows of everybody.
        ours: for each of them, whose it is; −1 for who does not take part.
        shown: rows of everybody.
        theirs: for each of them, whose it is.
        stays: group × group × person: who is known when two groups are left out.
    """

    known: Values
    ours: Codes
    shown: Values
    theirs: Codes
    stays: NDArray[np.bool_]


def _without_pair(rows: _Rows, pair: tuple[int, int]) -> dict[str, Values]:
    """What is learned without two groups of people, about them."""
    stays = rows.stays[pair]
    known = (rows.ours >= 0) & stays[rows.ours]
    shown = (rows.theirs >= 0) & ~stays[rows.theirs]
    return _lesson(
        rows.known[known], rows.ours[known], rows.shown[shown], rows.theirs[shown], len(stays)
    )


def _lesson(
    known: Values, owner: Codes, shown: Values, whose: Codes, people: int
) -> dict[str, Values]:
    """The weights of the known people for the shown ones, by attacker: people × people."""
    from scipy.linalg import solve
    from sklearn.neighbors import NearestNeighbors

    known, shown = standardised(known, shown)
    belongs = np.eye(people)[owner]
    near = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(known))).fit(known)
    nearest = near.kneighbors(shown, return_distance=False)
    gamma = 1 / known.shape[1]
    kernel = rbf(known, known, gamma)
    kernel.flat[:: len(kernel) + 1] += _RIDGE
    smoothed = solve(kernel, rbf(known, shown, gamma), assume_a="pos", overwrite_a=True)
    learned = np.unique(owner)
    ours, yours = standardised(
        _person_means(known, owner, people)[learned], _person_means(shown, whose, people)
    )
    product = ours @ ours.T * gamma + _RIDGE * np.eye(len(learned))
    of_means = np.zeros((people, people))
    of_means[:, learned] = solve(product, ours @ yours.T * gamma, assume_a="pos").T
    return {
        "knn": _person_means(belongs[nearest].mean(axis=1), whose, people),
        "rbf": _person_means(smoothed.T @ belongs, whose, people),
        "means": of_means,
    }


def _person_means(values: Values, owner: Codes, people: int) -> Values:
    """The mean row of each person; zeros for who has none."""
    belongs = np.eye(people)[owner]
    return np.asarray(belongs.T @ values / np.maximum(belongs.sum(axis=0), 1)[:, None])


def _inferences(
    question: _Question, protocol: str, weights: _Weights, seed: int
) -> list[Inference]:
    """How each attacker fares, beside how they would if labels were handed out by lot."""
    positive = question.positive
    rng = np.random.default_rng(seed)
    lots = rng.permuted(np.repeat(positive[:, None], PERMUTATIONS, axis=1), axis=0)
    labels = np.column_stack([positive, lots])
    rarer = min(positive.sum(), (~positive).sum())
    found = []
    for name in ATTACKERS:
        scores = _scores(weights, name, labels)
        aucs = _aucs(scores, weights.group, labels)
        found.append(
            Inference(
                question.attribute,
                question.asks,
                protocol,
                name,
                rate_of_decisions(np.full(rarer, aucs[0]), 0.5),
                _balanced_accuracy(scores[:, :, 0], weights.group, positive),
                float((aucs >= aucs[0] - 1e-12).mean()),
            )
        )
    return found


def _scores(weights: _Weights, attacker: str, labels: NDArray[np.bool_]) -> Values:
    """Person × other group left out × labelling; both kinds count the same in what was learned.

    Scores that differ by rounding alone are made equal.
    """
    matrix = weights.by_attacker[attacker]
    scores = np.zeros((*matrix.shape[:2], labels.shape[1]))
    for kind, sign in ((labels, 1.0), (~labels, -1.0)):
        count = np.maximum(weights.known.astype(np.float64) @ kind, 1.0)
        scores += sign * (matrix @ kind) / count[weights.group]
    step = 1e-9 * max(np.abs(matrix).max(), 1e-300)
    return np.asarray(np.rint(scores / step) * step)


def _aucs(scores: Values, group: Codes, labels: NDArray[np.bool_]) -> Values:
    """How often a person of the kind scores above one who is not; ties count half.

    Args:
        scores: person × other group left out × labelling.
        group: of each person.
        labels: person × labelling, all with equally many of the kind.
    """
    count = int(labels[:, 0].sum())
    order = np.argsort(~labels, axis=0, kind="stable")
    others, column = order[count:], np.arange(labels.shape[1])
    found = np.zeros(labels.shape[1])
    for mine in order[:count]:
        apart = scores[mine, group[others], column] - scores[others, group[mine], column]
        found += (np.sign(apart).mean(axis=0) + 1) / 2
    return found / count


def _balanced_accuracy(scores: Values, group: Codes, positive: NDArray[np.bool_]) -> Rate:
    """The mean over both kinds, with limits that hold for both at once (Clopper–Pearson).

    A person is told by the sign of their score; everybody of the other kind is left out with them
    in turn, so that what was learned from has as many of either kind for any person asked about.
    """
    right = (np.sign(scores[:, group]) * np.where(positive, 1, -1)[:, None] + 1) / 2
    other = positive[:, None] != positive
    shares = (right * other).sum(axis=1) / other.sum(axis=1)
    kinds = [shares[positive], shares[~positive]]
    limits = [clopper_pearson(kind.sum(), len(kind), alpha=0.025) for kind in kinds]
    low, high = (float(np.mean([kind[side] for kind in limits])) for side in (0, 1))
    return Rate(float(np.mean([kind.mean() for kind in kinds])), low, high, 0.5, len(positive))
