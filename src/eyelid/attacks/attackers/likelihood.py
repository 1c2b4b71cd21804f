"""The best attacker there is against noise: the likelihood of what was released.

It knows everybody's raw recordings, the very ones that were released, the mechanism and the law of
its noise. It reads off what was measured of a person, in whatever coordinates, and asks under whose
data this noise would have been likeliest. Nobody who judges one person's release at a time names
more people. One decision a person, from all of their recordings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import last_where_impossible
from eyelid.attacks.identification import Finding, finding_of
from eyelid.attacks.measurements import legible, steps_of
from eyelid.attacks.protocols import SAME_RECORDINGS
from eyelid.attacks.records import Records, records_of
from eyelid.attacks.scores import Scores
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy.noise import DiscreteGaussian, DiscreteNoise

NAME = "likelihood"

# A few seconds of comparing, and about a quarter of a gigabyte for the values of everybody.
_MOST_COMPARISONS = 1 << 30
_MOST_VALUES = 1 << 24

Values = NDArray[np.float64]


def likelihood_finding(
    mechanism: RecordMechanism,
    original: FeatureTable,
    released: FeatureTable,
    people: Sequence[str],
) -> Finding:
    """How many people the best attacker names; see `likelihood_scores`."""
    scores = likelihood_scores(mechanism, original, released, people)
    return finding_of(SAME_RECORDINGS, NAME, [scores])


def likelihood_scores(
    mechanism: RecordMechanism,
    original: FeatureTable,
    released: FeatureTable,
    people: Sequence[str],
) -> Scores:
    """The log-likelihood of each person's release under each person's data.

    Recordings are matched by task and by their order within it. A person who lacks a recording of
    that kind cannot be its owner and comes last: which recordings people have is not protected, and
    no bound holds where it tells them apart.

    With very many people only some coordinates are looked at, evenly spread (`how_many_compared`);
    fewer people may then be re-identified than could be.

    Args:
        mechanism: as it was run; what it measured must be `legible`.
        original: everything that it was run on, with the bounds that it clipped to.
        released: what it gave.
        people: everybody who could be meant.

    Returns:
        One record a person, its score the sum over their recordings. No votes.
    """
    facts = mechanism.facts(original)
    known, shown = records_of(original, people), records_of(released, people)
    if len(odd := shown.rows[shown.rows != facts.length]):
        raise InputError(
            f"the release has a recording of {odd[0]} rows where {mechanism.name} would have made "
            f"{facts.length}: is this the original that it was made from?"
        )
    if shown.values.shape[1] != facts.features:
        raise InputError(
            f"the release has {shown.values.shape[1]} features and the original {facts.features}: "
            "is this the original that it was made from?"
        )
    readable = legible(mechanism, facts)
    if not len(readable):
        raise InputError(f"what {mechanism.name} measured cannot be read off its release")
    some = how_many_compared(facts, len(people), len(readable))
    kept = readable[np.linspace(0, len(readable) - 1, some).astype(np.intp)]
    steps = steps_of(mechanism.measured, shown, facts, kept).reshape(len(shown.owner), -1)
    data = steps_of(mechanism.query, known, facts, kept).reshape(len(known.owner), -1)
    distribution = noise_of(mechanism, facts)
    totals = np.zeros((len(people), len(people)))
    kinds_known, kinds_shown = _kinds(known), _kinds(shown)
    for kind, which in kinds_shown.items():
        whose = kinds_known.get(kind, np.array([], dtype=np.intp))
        found = np.full((len(which), len(people)), -np.inf)
        found[:, known.owner[whose]] = _log_likelihoods(distribution, steps[which], data[whose])
        totals[shown.owner[which]] += found
    owner = np.unique(shown.owner)
    return Scores(last_where_impossible(totals[owner]), None, owner)


def how_many_compared(facts: PublicFacts, people: int, coordinates: int) -> int:
    """How many coordinates of every signal are looked at: all, unless people are very many.

    >>> facts = PublicFacts(20, 3, 600, 52)
    >>> how_many_compared(facts, 20, 600), how_many_compared(facts, 300, 600)
    (600, 76)
    """
    values = people * facts.features * facts.recordings
    most = min(_MOST_VALUES // values, _MOST_COMPARISONS // (values * people))
    return max(1, min(coordinates, most))


def _kinds(records: Records) -> dict[tuple[str, int], NDArray[np.intp]]:
    """For each task, and each place within a person's recordings of it, the records."""
    found: dict[tuple[str, int], list[int]] = {}
    seen: dict[tuple[int, str], int] = {}
    for index, (owner, task) in enumerate(zip(records.owner.tolist(), records.tasks, strict=True)):
        seen[owner, task] = order = seen.get((owner, task), -1) + 1
        found.setdefault((task, order), []).append(index)
    return {kind: np.array(which, dtype=np.intp) for kind, which in found.items()}


def _log_likelihoods(distribution: DiscreteNoise, steps: Values, data: Values) -> Values:
    """Shown × candidates, up to what is the same for all candidates of a shown one."""
    if isinstance(distribution, DiscreteGaussian):
        # −(y − x)²/2σ² without y²: one product of matrices.
        scaled = data / distribution.scale
        return np.asarray((steps / distribution.scale) @ scaled.T - 0.5 * (scaled**2).sum(axis=1))
    found = np.empty((len(steps), len(data)))
    for candidate, one in enumerate(data):
        found[:, candidate] = distribution.log_mass(steps - one).sum(axis=1)
    return found
