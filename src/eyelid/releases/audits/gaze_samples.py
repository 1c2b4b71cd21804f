"""Synthetic recordings beside real ones, sample by sample: whose they are, and of what use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import polars as pl

from eyelid.attacks.gaze_use import GazeUse, gaze_use
from eyelid.attacks.samples.generated import Placed, SampleAttack, sample_attacks
from eyelid.attacks.synthetic_gaze import drawn_after, drawn_study
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io.pieces import StudyInPieces, of_people
from eyelid.mechanisms.gaze.calibration import given_to_generator
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.gaze_mechanism import GazeMechanism, entropy_of
from eyelid.mechanisms.gaze.ksame_gaze import KSameGaze
from eyelid.mechanisms.gaze.people import PeopleGaze
from eyelid.mechanisms.gaze.planning import NORM
from eyelid.mechanisms.gaze.portrait import Portrait, norm_means, norm_spreads
from eyelid.mechanisms.gaze.recordings import scaled_facts
from eyelid.privacy.noise import randomness
from eyelid.spelling import plural

MOST_PEOPLE = 40
"""More are neither attacked nor compared sample by sample: it would take hours."""
_MOST_MINUTES, _FEWEST_MINUTES = 3.0, 0.5
_MOST_SAMPLES = 6_000_000
# Of groups, since nobody knows those of the release.
_AGAIN = 3


@dataclass(frozen=True, eq=False)
class GazeSamples:
    """What samples of synthetic recordings tell of people, and what they are good for.

    Attributes:
        attacks: by those who know samples.
        use: beside people and a guess; None where there is nothing to compare.
        left_out: what was not tried, or of some people only, and why.
    """

    attacks: tuple[SampleAttack, ...] = ()
    use: GazeUse | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Some:
    """Some people and their synthetic counterparts, for so many minutes.

    Attributes:
        raw: their recordings.
        released: as many synthetic participants, those in their places.
        numbers: of the people among all.
        minutes: of each recording, at most.
    """

    raw: Study
    released: Study
    numbers: np.ndarray
    minutes: float


def gaze_samples(
    cut: StudyInPieces,
    released: Study,
    mechanism: GazeMechanism,
    facts: GazeDesignFacts,
    people: PeopleGaze,
    seed: int,
) -> GazeSamples:
    """Attack samples, and compare them with people's.

    Args:
        cut: the original.
        released: the synthetic recordings.
        mechanism: of the release.
        facts: what is public.
        people: everybody's numbers.
        seed: of who is looked at, of attackers, and of other releases.
    """
    some = _some(cut, released, facts, seed)
    names = some.raw.people["person"].to_list()
    said = []
    if len(names) < facts.people or some.minutes < facts.minutes:
        everybody = plural(facts.people, "person", "people")
        said.append(
            f"samples were looked at of {len(names)} of {everybody}, "
            f"{some.minutes:.2g} min of a recording at most: of more it would take too long"
        )
    attacks: list[SampleAttack] = []
    use = None
    try:
        placed = _placed(some, names, mechanism, facts, people, seed)
        attacks, missing = sample_attacks(some.raw, placed, seed)
        said += missing
    except InputError as error:
        said.append(f"samples of synthetic recordings were not attacked: {error}")
    try:
        guess = _guess(mechanism, facts, some, seed)
        maps = facts.on_surface and mechanism.bought(facts).places != NORM
        use = gaze_use(some.raw, some.released, guess, maps=maps, seed=seed)
        said += use.said
    except InputError as error:
        said.append(f"recordings were not compared with people's: {error}")
    return GazeSamples(tuple(attacks), use, tuple(said))


def _some(cut: StudyInPieces, released: Study, facts: GazeDesignFacts, seed: int) -> _Some:
    everybody = cut.head.people["person"].to_list()
    recorded = set(cut.people)
    numbers = np.array([n for n, name in enumerate(everybody) if name in recorded], dtype=np.intp)
    if len(numbers) > MOST_PEOPLE:
        rng = np.random.default_rng([seed, *b"people of samples"])
        numbers = np.sort(rng.choice(numbers, MOST_PEOPLE, replace=False))
    each_min = len(numbers) * len(facts.slots) * facts.rate_hz * 60.0
    minutes = max(_FEWEST_MINUTES, min(_MOST_MINUTES, _MOST_SAMPLES / each_min))
    raw = of_people(cut, [everybody[number] for number in numbers]).whole()
    every = released.people["person"].to_list()
    counterparts = pl.col("person").is_in([every[number] for number in numbers])
    made = replace(
        released,
        data=released.data.filter(counterparts),
        people=released.people.filter(counterparts),
        events=None,
    )
    return _Some(_begun(raw, minutes), _begun(made, minutes), numbers, minutes)


def _begun(study: Study, minutes: float) -> Study:
    """The first minutes of every recording."""
    since = pl.col("time_ms") - pl.col("time_ms").min().over("person", "recording")
    return replace(study, data=study.data.filter(since < minutes * 60_000.0), events=None)


def _placed(
    some: _Some,
    names: list[str],
    mechanism: GazeMechanism,
    facts: GazeDesignFacts,
    people: PeopleGaze,
    seed: int,
) -> list[Placed]:
    """The release with synthetic participants in people's places; of groups, other releases."""
    if not mechanism.drawn:
        return [Placed(some.released, names, np.zeros(len(names), dtype=np.intp))]
    groups = cast(KSameGaze, mechanism)
    few = _of(facts, len(names), some.minutes)
    if groups.k > few.people:
        raise InputError(f"k = {groups.k} is more than the {few.people} people who are looked at")
    noise, mine = randomness(seed), people.some(some.numbers)
    found = []
    for _ in range(_AGAIN):
        member = np.asarray(groups.partition(few.people, noise), dtype=np.intp)
        answers = groups.averaged(mine, few, member)
        made = drawn_study(groups, few, answers, entropy_of(noise), some.released)
        # Synthetic participants come group by group, and of a group in the order of its members.
        order = np.argsort(member, kind="stable")
        found.append(Placed(made, [names[number] for number in order], member[order]))
    return found


def _guess(mechanism: GazeMechanism, facts: GazeDesignFacts, some: _Some, seed: int) -> Study:
    """What the generator draws after norms and public facts alone."""
    few = _of(facts, some.numbers.size, some.minutes)
    norm = Portrait(few.people, tuple(norm_means(few)), norm_spreads(), (None,) * len(few.slots))
    portraits = given_to_generator((norm,), few, mechanism.movement)
    entropy = entropy_of(randomness(seed))
    return drawn_after(mechanism, few, portraits, entropy, some.released)


def _of(facts: GazeDesignFacts, people: int, minutes: float) -> GazeDesignFacts:
    """Public facts of some people and shorter recordings."""
    return scaled_facts(replace(facts, people=people), min(facts.minutes, minutes))
