"""How each family of mechanisms is tried: one table, by the family that a mechanism declares.

A subclass belongs to the family of its base unless it declares another, so a new mechanism is
played against, fuzzed and looked at as its base is, and gets the mutants of its base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eyelid.attacks.residuals import ResidualResult, examine
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Unit
from eyelid.verification.canaries import CanaryRun, play_canaries
from eyelid.verification.dwell import compare_dwell, dwell_mutants, examine_dwell, fuzz_dwell
from eyelid.verification.fixations import examine_fixations, fuzz_fixations
from eyelid.verification.game import GameResult, play
from eyelid.verification.gaze_mutants import gaze_group_mutants, gaze_mutants
from eyelid.verification.group_mutants import group_mutants
from eyelid.verification.groups import play_anonymity, play_groups, same_for_everybody
from eyelid.verification.mutant import Mutant
from eyelid.verification.outputs import OutputResult, compare
from eyelid.verification.record_mutants import (
    additive_mutants,
    bin_mutants,
    cosine_mutants,
    dct_mutants,
    envelope_mutants,
    fourier_mutants,
    mean_mutants,
    random_mean_mutants,
    record_mutants,
)
from eyelid.verification.rows import play_deniability, seeded_mutants
from eyelid.verification.sensitivity import FuzzResult, fuzz
from eyelid.verification.statistics import (
    box_mutants,
    compare_statistics,
    examine_statistics,
    fuzz_statistics,
    joint_mutants,
)
from eyelid.verification.stream_mutants import filter_mutants, fixation_mutants
from eyelid.verification.streams import StreamResult, examine_stream
from eyelid.verification.sums import (
    compare_sum,
    examine_sum,
    map_mutants,
    sum_mutants,
    table_mutants,
)
from eyelid.verification.synthetic import (
    compare_made_up,
    examine_rounds,
    fuzz_rounds,
    synthetic_mutants,
)
from eyelid.verification.synthetic_gaze import (
    compare_gaze,
    examine_gaze,
    fuzz_gaze,
    play_gaze_canaries,
    play_gaze_groups,
    same_for_members,
)


def _play(mechanism: Any, unit: Unit, runs: int, noise: Randomness) -> list[GameResult]:
    return [play(mechanism, unit, runs, noise)]


def _no_mutants(_: Sequence[Any]) -> Iterable[Mutant]:
    return ()


@dataclass(frozen=True)
class Family:
    """What is tried with the mechanisms of a family.

    Attributes:
        play: games against the claim about a unit.
        sizes: parameters that are smaller in games than in releases, which is then said.
        fuzz: the search for neighbours beyond what is declared, with so many pairs.
        residuals: the look at the noise; None where there is nothing to look at.
        outputs: whether what is shown is what was made private.
        canaries: guesses at the coins of many people from one run.
        streams: the look from outside.
        mutants: of the mechanism as it is set for games.
    """

    play: Callable[[Any, Unit, int, Randomness], list[GameResult]] = _play
    sizes: tuple[str, ...] = ()
    fuzz: Callable[[Any, int, Randomness], FuzzResult] | None = None
    residuals: Callable[[Any, Randomness], ResidualResult | None] | None = None
    outputs: Callable[[Any], OutputResult] | None = None
    canaries: Callable[[Any, Randomness], CanaryRun] | None = None
    streams: Callable[[Any, Randomness], StreamResult] | None = None
    mutants: Callable[[Sequence[Any]], Iterable[Mutant]] = _no_mutants


def _of_records(mechanism: Any, noise: Randomness) -> ResidualResult | None:
    # Where a mechanism chooses what it measures, the rest has no noise to look at.
    return None if mechanism.chooses or mechanism.undecided else examine(mechanism, noise)


_DIFFERENTIAL = Family()
_NOISY = Family(fuzz=lambda mechanism, pairs, _: fuzz(mechanism, mechanism.unit, pairs))
_RECORDS = replace(_NOISY, residuals=_of_records, outputs=compare, mutants=record_mutants)
_SUMS = replace(_NOISY, residuals=examine_sum, outputs=compare_sum, mutants=sum_mutants)
_ANONYMITY = Family(play=lambda mechanism, _unit, _runs, noise: play_anonymity(mechanism, noise))

_STATISTICS = Family(
    fuzz=lambda mechanism, pairs, _: fuzz_statistics(mechanism, pairs),
    residuals=examine_statistics,
    outputs=compare_statistics,
    mutants=box_mutants,
)

FAMILIES: dict[str, Family] = {
    "differential": _DIFFERENTIAL,
    "noisy": _NOISY,
    "records": _RECORDS,
    "additive": replace(_RECORDS, mutants=additive_mutants),
    "bins": replace(_RECORDS, mutants=bin_mutants),
    "fourier": replace(_RECORDS, mutants=fourier_mutants),
    "cosine": replace(_RECORDS, mutants=cosine_mutants),
    "dct": replace(_RECORDS, mutants=dct_mutants),
    "envelope": replace(_RECORDS, mutants=envelope_mutants),
    "means": replace(_RECORDS, mutants=mean_mutants),
    "random-means": replace(_RECORDS, mutants=random_mean_mutants),
    "sums": _SUMS,
    "maps": replace(_SUMS, mutants=map_mutants),
    "tables": replace(_SUMS, mutants=table_mutants),
    "statistics": _STATISTICS,
    "joint-statistics": replace(_STATISTICS, mutants=joint_mutants),
    "anonymity": _ANONYMITY,
    "groups": replace(
        _ANONYMITY,
        play=lambda mechanism, _unit, _runs, noise: play_groups(mechanism, noise),
        outputs=same_for_everybody,
        mutants=group_mutants,
    ),
    "deniability": replace(
        _ANONYMITY,
        play=lambda mechanism, _unit, _runs, noise: [play_deniability(mechanism, noise)],
    ),
    "seeded": replace(_DIFFERENTIAL, mutants=seeded_mutants),
    "synthetic": Family(
        sizes=("carry", "bins", "records"),
        fuzz=lambda mechanism, pairs, _: fuzz_rounds(mechanism, pairs),
        residuals=examine_rounds,
        outputs=compare_made_up,
        canaries=play_canaries,
        mutants=synthetic_mutants,
    ),
    "synthetic-gaze": Family(
        fuzz=lambda mechanism, pairs, _: fuzz_gaze(mechanism, pairs // 8),
        residuals=examine_gaze,
        outputs=compare_gaze,
        canaries=play_gaze_canaries,
        mutants=gaze_mutants,
    ),
    "gaze-groups": replace(
        _ANONYMITY,
        play=lambda mechanism, _unit, _runs, noise: play_gaze_groups(mechanism, noise),
        outputs=same_for_members,
        mutants=gaze_group_mutants,
    ),
    "filters": Family(streams=examine_stream, mutants=filter_mutants),
    "fixations": Family(
        fuzz=lambda mechanism, pairs, noise: fuzz_fixations(mechanism, pairs // 16, noise),
        streams=examine_fixations,
        mutants=fixation_mutants,
    ),
    "dwell": Family(
        fuzz=lambda mechanism, pairs, _: fuzz_dwell(mechanism, pairs),
        residuals=examine_dwell,
        outputs=compare_dwell,
        mutants=dwell_mutants,
    ),
}


def mutants_of(kind: type[Mechanism]) -> Iterator[Mutant]:
    """Every mutant that makes sense for this mechanism."""
    variants = list(kind.set_for_games())
    if kind.family in FAMILIES and variants:
        yield from FAMILIES[kind.family].mutants(variants)
