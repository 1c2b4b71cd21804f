"""The best attacker there is against added noise: the likelihood of what was released.

It knows everybody's raw recordings, the very ones that were released, the mechanism and the law of
its noise, and asks under whose data this noise would have been likeliest. Nobody who judges one
person's release at a time names more people. One decision a person, from all of their recordings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelid.audits.attackers.attacker import last_where_impossible
from eyelid.audits.identification import Finding, finding_of
from eyelid.audits.protocols import SAME_RECORDINGS
from eyelid.audits.records import Records, records_of
from eyelid.audits.scores import Scores
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.additive import AdditiveMechanism
from eyelid.mechanisms.measuring import noise_of
from eyelid.mechanisms.mechanism import Shape
from eyelid.privacy.noise import DiscreteGaussian, DiscreteNoise

NAME = "likelihood"

# A few seconds of comparing, and about a quarter of a gigabyte for the values of everybody.
_MOST_COMPARISONS = 1 << 30
_MOST_VALUES = 1 << 24

Values = NDArray[np.float64]


def likelihood_finding(
    mechanism: AdditiveMechanism,
    original: FeatureTable,
    released: FeatureTable,
    people: Sequence[str],
) -> Finding:
    """How many people the best attacker names; see `likelihood_scores`."""
    scores = likelihood_scores(mechanism, original, released, people)
    return finding_of(SAME_RECORDINGS, NAME, [scores])


def likelihood_scores(
    mechanism: AdditiveMechanism,
    original: FeatureTable,
    released: FeatureTable,
    people: Sequence[str],
) -> Scores:
    """The log-likelihood of each person's release under each person's data.

    Recordings are matched by task and by their order within it. Whoever lacks a recording of that
    kind cannot be its owner and comes last: which recordings people have is not protected, and no
    bound holds where it tells them apart.

    With very many people only some rows are looked at, evenly spread (`rows_compared`); fewer
    people may then be named than could be.

    Args:
        mechanism: as it was run.
        original: everything that it was run on, with the bounds that it clipped to.
        released: what it gave.
        people: everybody who could be meant.

    Returns:
        One record a person, its score the sum over their recordings. No votes.
    """
    shape = mechanism.shape(original)
    known, shown = records_of(original, people), records_of(released, people)
    if len(odd := shown.rows[shown.rows != shape.length]):
        raise InputError(
            f"the release has a recording of {odd[0]} rows where {mechanism.name} would have made "
            f"{shape.length}: is this the original that it was made from?"
        )
    if shown.values.shape[1] != shape.features:
        raise InputError(
            f"the release has {shown.values.shape[1]} features and the original {shape.features}: "
            "is this the original that it was made from?"
        )
    law = noise_of(mechanism, shape)
    kept = np.linspace(0, shape.length - 1, rows_compared(shape, len(people))).astype(np.intp)
    totals = np.zeros((len(people), len(people)))
    kinds_known, kinds_shown = _kinds(known), _kinds(shown)
    for kind, which in kinds_shown.items():
        whose = kinds_known.get(kind, np.array([], dtype=np.intp))
        steps = _dense(shown, which, kept) * 2.0 ** mechanism.grid_bits(shape)
        data = mechanism.query(_dense(known, whose, kept), shape)
        found = np.full((len(which), len(people)), -np.inf)
        found[:, known.owner[whose]] = _log_likelihoods(law, steps, data)
        totals[shown.owner[which]] += found
    owner = np.unique(shown.owner)
    return Scores(last_where_impossible(totals[owner]), None, owner)


def rows_compared(shape: Shape, people: int) -> int:
    """How many rows of every recording are looked at: all, unless people are very many.

    >>> rows_compared(Shape(20, 3, 600, 52), 20), rows_compared(Shape(300, 3, 600, 52), 300)
    (600, 76)
    """
    values = people * shape.features
    most = min(_MOST_VALUES // values, _MOST_COMPARISONS // (values * people * shape.recordings))
    return max(1, min(shape.length, most))


def _kinds(records: Records) -> dict[tuple[str, int], NDArray[np.intp]]:
    """For each task, and each place within a person's recordings of it, the records."""
    found: dict[tuple[str, int], list[int]] = {}
    seen: dict[tuple[int, str], int] = {}
    for index, (owner, task) in enumerate(zip(records.owner.tolist(), records.tasks, strict=True)):
        seen[owner, task] = order = seen.get((owner, task), -1) + 1
        found.setdefault((task, order), []).append(index)
    return {kind: np.array(which, dtype=np.intp) for kind, which in found.items()}


def _dense(records: Records, which: NDArray[np.intp], kept: NDArray[np.intp]) -> Values:
    """Some rows of some records, one line a record; what is beyond its end is at the midpoint."""
    rows = records.rows
    first = (np.cumsum(rows) - rows)[which]
    index = np.minimum(kept, rows[which][:, None] - 1) + first[:, None]
    values = records.values[index]
    values[kept >= rows[which][:, None]] = 0.5
    return np.asarray(values.reshape(len(which), -1))


def _log_likelihoods(law: DiscreteNoise, steps: Values, data: NDArray[np.int64]) -> Values:
    """Shown × candidates, up to what is the same for all candidates of a shown one."""
    if isinstance(law, DiscreteGaussian):
        # −(y − x)²/2σ² without y²: one product of matrices.
        scaled = data / law.scale
        return np.asarray((steps / law.scale) @ scaled.T - 0.5 * (scaled**2).sum(axis=1))
    found = np.empty((len(steps), len(data)))
    for candidate, one in enumerate(data):
        found[:, candidate] = law.log_mass(steps - one).sum(axis=1)
    return found
