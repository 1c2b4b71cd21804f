"""Was it this person, or somebody else in their place? By all noisy answers about everybody.

Made-up people are drawn from noisy sums over people and from nothing else. So whoever sees these
sums can do whatever those can who see made-up people. The attacker here sees them, knows everybody
else's data and both people's who may have the one place left, and takes what is likelier. With two
known datasets nobody can do better: the advantage is the total variation between the laws of the
answers, which the guarantee bounds for all neighbours. It is that of these people; somebody who is
more unlike all others may be told better, up to the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eyelid.attacks.membership import Membership, told_apart
from eyelid.engine.progress import track
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.noisy import noise_of
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.sequences import Sequences
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import randomness

# Decisions, and those of the control; of its ε, which leaves hardly any noise.
_DECISIONS, _FEWEST_DECISIONS, _OF_CONTROL = 400, 100, 40
_CLEAR = 1000.0
# Bins of people's rows that are gone through in all, twice for each decision; the fewest people.
_MOST_CODES, _FEWEST_PEOPLE = 2_500_000_000, 8


@dataclass(frozen=True, eq=False)
class ToldByAnswers:
    """What came of it.

    Attributes:
        membership: under the noise of the release.
        positive: under hardly any (ε = 1000): what the attack can do.
        among: people who were measured; all there are, unless that would take long.
    """

    membership: Membership
    positive: Membership
    among: int


def told_by_answers(
    original: FeatureTable, law: Synthetic, person_level: Guarantee | None, rng: np.random.Generator
) -> ToldByAnswers:
    """Measure again and again, with somebody or with somebody else in their place.

    Where people are very many, some are measured, under the noise and in the bins of all. Among few
    people noise decides more of what is asked, which tells less: so there are fewer decisions
    first, and fewer people then.

    Args:
        original: everybody's recordings, with the features of the release.
        law: the mechanism.
        person_level: what is claimed; None for nothing.
        rng: of who is asked for, and of the noise.
    """
    # Which features there are was settled by the release.
    settled = replace(law, carry=len(original.names))
    _, everybody = settled.sequences(original)
    twice = 2 * everybody.codes.size // everybody.people
    enough = max(_FEWEST_PEOPLE, _MOST_CODES // (_FEWEST_DECISIONS * twice))
    some = everybody
    if enough < everybody.people:
        some = everybody.of(np.sort(rng.choice(everybody.people, enough, replace=False)))
    decisions = max(_FEWEST_DECISIONS, _MOST_CODES // (twice * some.people))
    clear = replace(settled, epsilon=_CLEAR)
    return ToldByAnswers(
        membership=_told(original, settled, some, person_level, min(_DECISIONS, decisions), rng),
        positive=_told(original, clear, some, None, _OF_CONTROL, rng),
        among=some.people,
    )


def _told(
    original: FeatureTable,
    law: Synthetic,
    people: Sequences,
    claim: Guarantee | None,
    decisions: int,
    rng: np.random.Generator,
) -> Membership:
    """Each person in turn: runs with them, and as many with somebody else in their place."""
    measurement = law.measurement(law.shape(original))
    _, tree = law.tree(original.names)
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
    # Everybody else counts the same; somebody of the last group says how many groups there are.
    few = np.unique([who, int(np.argmax(truth.group))])
    true, other = (people.of(few) for people in (truth, instead))
    found = np.zeros(len(answers.levels))
    for (law, rest), (_, own), (_, theirs) in zip(
        *(measurement.residuals(answers, people) for people in (truth, true, other)), strict=True
    ):
        noise = noise_of(law, measurement.facts)
        found += (noise.log_mass(rest) - noise.log_mass(rest + theirs - own)).sum(axis=-1)
    return found
