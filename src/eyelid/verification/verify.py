"""Try to refute what the mechanisms claim, and the attempts themselves.

Every registered mechanism is played against at every unit it offers, and at the person level that
its certificate states beside it; its declared sensitivity is fuzzed; its digits are attacked; its
noise and its whole output are looked at; the samplers are tested. Where k-anonymity is claimed,
groups are attacked instead, and rows where plausible deniability is. Made-up people are made of
canaries, too, whose coins are guessed. Filters are looked at from outside: what every window of
hostile streams spends, and their noise. Then each of these checks is run on planted faults, which
it must catch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from eyelid.attacks.residuals import ResidualResult, examine
from eyelid.engine.parallel import in_turn, parallel
from eyelid.errors import InputError
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.anonymising import AnonymisingMechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.maps.noisy_sum import NoisySum
from eyelid.mechanisms.mechanism import Mechanism, catalogue, find
from eyelid.mechanisms.noisy import NoisyMechanism
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.mechanisms.streams.continual import Dwell
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.noise import Randomness, SystemRandomness
from eyelid.privacy.unit import PERSON, Unit
from eyelid.verification.anonymity import play_anonymity, same_for_everybody
from eyelid.verification.canaries import CanaryRun, play_canaries
from eyelid.verification.deniability import play_deniability
from eyelid.verification.detector import examine_fixations
from eyelid.verification.dwell import compare_dwell, examine_dwell, fuzz_dwell
from eyelid.verification.fault import Fault
from eyelid.verification.faults import faults_of
from eyelid.verification.fixations import fuzz_fixations
from eyelid.verification.game import GameResult, play
from eyelid.verification.outputs import OutputResult, compare
from eyelid.verification.precision import attack
from eyelid.verification.samplers import SamplerResult, check_samplers, faulty_samplers
from eyelid.verification.sensitivity import FuzzResult, fuzz
from eyelid.verification.streams import StreamResult, examine_stream, scheduled
from eyelid.verification.sums import compare_sum, examine_sum
from eyelid.verification.synthesis import compare_made_up, examine_rounds, fuzz_rounds

SCHEMA = "eyelid/verify/1"
DEFAULT_RUNS = 50_000
_FEWEST_RUNS = 1_000
_FUZZ_PAIRS = 4_096
_SAMPLER_DRAWS = 400_000
# What of made-up people is played with is far smaller than what is released: to be told.
_SIZE = ("carry", "bins", "records")

# Claims that are tried on whole releases.
_BY_RELEASES = (Kind.K_ANONYMITY, Kind.DENIABILITY)

Claimed = tuple[DifferentialMechanism | FeatureMechanism, Unit, str]
"""A mechanism, what is to be attacked of it, and what sets it apart from others of its kind."""


@dataclass(frozen=True)
class Planted:
    """A planted fault and whether it was caught."""

    name: str
    mechanism: str
    caught: bool


@dataclass(frozen=True)
class Verification:
    """Everything that was tried.

    Attributes:
        games: distinguishing games about every claim of differential privacy, games of naming
            people about every claim of k-anonymity.
        digits: attacks on the low-order digits of the output.
        fuzzes: searches for neighbours beyond the declared sensitivity.
        residuals: looks at the noise in a whole released table.
        outputs: whether what is shown is what was made private.
        samplers: tests of the noise itself.
        planted: faults that the above and canaries must catch.
        canaries: guesses at the coins of many people from one run, where people are made up.
        streams: looks at filters from outside.
    """

    games: tuple[GameResult, ...]
    digits: tuple[GameResult, ...]
    fuzzes: tuple[FuzzResult, ...]
    residuals: tuple[ResidualResult, ...]
    outputs: tuple[OutputResult, ...]
    samplers: tuple[SamplerResult, ...]
    planted: tuple[Planted, ...]
    canaries: tuple[CanaryRun, ...] = ()
    streams: tuple[StreamResult, ...] = ()

    @property
    def refuted(self) -> list[str]:
        """The claims that turned out false, in words."""
        found = [
            f"{g.mechanism} claims {g.measure} {g.claimed:.4g} per {g.unit}, "
            f"but {g.lower_bound:.4g} was certified ({g.neighbours})"
            for g in (*self.games, *self.digits)
            if g.refuted and g.holds
        ]
        found += [
            f"{f.mechanism} exceeds its declared sensitivity per {f.unit}: {f.reached:.4g} times"
            for f in self.fuzzes
            if f.reached > 1
        ]
        found += [
            f"{f.mechanism} loses {f.chosen:.4g} times its ε per {f.unit}, its choice counted"
            for f in self.fuzzes
            if f.chosen > 1
        ]
        found += [
            f"what {f.mechanism} measures of somebody per {f.unit} depends on who else is there"
            for f in self.fuzzes
            if f.mixed
        ]
        found += [
            f"the noise of {r.mechanism} per {r.unit} is not fresh and whole: {r}"
            for r in self.residuals
            if r.refuted
        ]
        found += [
            f"what {o.mechanism} shows per {o.unit} is not what it made private: {o}"
            for o in self.outputs
            if o.refuted
        ]
        found += [
            f"{c.mechanism} claims ε {c.run.claimed:.4g} per {c.unit}, but {c.run.right} of "
            f"{c.run.guesses} coins were guessed in one run"
            for c in self.canaries
            if c.refuted
        ]
        found += [
            f"{s.mechanism} does not keep to its budget or its noise per {s.unit}: {s}"
            for s in self.streams
            if s.refuted
        ]
        found += [
            f"the {s.sampler} sampler at scale {s.scale} is not what it says (p = {s.p_value:.2g})"
            for s in self.samplers
            if s.refuted
        ]
        return found

    @property
    def missed(self) -> list[str]:
        """The planted faults that were not caught, in words."""
        missed = [f"{p.name} in {p.mechanism}" for p in self.planted if not p.caught]
        # A mechanism without planted faults was not tested, whatever its games say.
        tested = {p.mechanism for p in self.planted}
        untested = {g.mechanism for g in self.games if g.holds and g.mechanism not in tested}
        return missed + [f"no fault was planted in {name}" for name in sorted(untested)]

    @property
    def passed(self) -> bool:
        """Whether no claim fell and no planted fault got through."""
        return not self.refuted and not self.missed

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid verify --json`` prints it."""
        return {
            "schema": SCHEMA,
            "mechanisms": [_told(game) for game in self.games],
            "digits": [_told(game) for game in self.digits],
            "sensitivity": [_told(result) for result in self.fuzzes],
            "residuals": [_told(result) for result in self.residuals],
            "outputs": [_told(result) for result in self.outputs],
            "canaries": [
                {"name": c.mechanism, "unit": c.unit, "settings": c.settings}
                | asdict(c.run)
                | {"refuted": c.refuted}
                for c in self.canaries
            ],
            "streams": [_told(result) for result in self.streams],
            "samplers": [_told(result) for result in self.samplers],
            "planted": [asdict(fault) for fault in self.planted],
            "passed": self.passed,
        }


def _told(
    result: GameResult | FuzzResult | ResidualResult | OutputResult | StreamResult | SamplerResult,
) -> dict[str, Any]:
    """A result as JSON has it: first whom it is about, last whether it refutes a claim."""
    (_, name), *facts = asdict(result).items()
    # JSON has no infinity: a claim of none is null.
    told = {key: None if value == math.inf else value for key, value in facts}
    return {"name": name, **told, "refuted": result.refuted}


def verify(
    names: Sequence[str] = (), runs: int = DEFAULT_RUNS, noise: Randomness | None = None
) -> Verification:
    """Try to break mechanisms; a sound one survives, a planted fault must not.

    Args:
        names: mechanisms to test; all of the catalogue when empty.
        runs: test runs per side of each game. A claim that is true is refuted with probability
            1e-6; a loss of 1.25 times the claim is caught from about 50 000 runs.
        noise: the randomness of the mechanisms; the operating system's by default.
    """
    if runs < _FEWEST_RUNS:
        raise InputError(f"runs must be at least {_FEWEST_RUNS}, got {runs}")
    noise = noise or SystemRandomness()
    kinds = [find(name) for name in names] if names else list(catalogue().values())
    claims = [claim for kind in kinds for claim in _claims(kind)]

    def tried(claim: Claimed) -> list[GameResult]:
        mechanism, unit, settings = claim
        if isinstance(mechanism, AnonymisingMechanism):
            return play_anonymity(mechanism, noise)
        if isinstance(mechanism, DifferentialMechanism):
            return [replace(play(mechanism, unit, runs, noise), settings=settings)]
        return [play_deniability(mechanism, noise)]

    def planted_fault(fault: Fault) -> Planted:
        # Most show in few runs.
        caught = any(fault.caught(some, noise) for some in sorted({_FEWEST_RUNS, runs}))
        return Planted(fault.name, fault.mechanism, caught)

    # Repeatable numbers come in one order only; those of the system have none.
    spread = parallel if isinstance(noise, SystemRandomness) else in_turn
    played = spread(tried, claims, "playing against the claims")
    games = tuple(game for results in played for game in results)
    differential = [
        (m, settings)
        for m, unit, settings in claims
        if isinstance(m, DifferentialMechanism) and unit == m.unit
    ]
    own = [m for m, _ in differential]
    digits = [
        replace(attack(m, next(m.neighbour_pairs(m.unit)), runs, noise), settings=settings)
        for m, settings in differential
    ]
    measuring = [m for m in own if isinstance(m, MeasuringMechanism)]
    sums = [m for m in own if isinstance(m, NoisySum)]
    fuzzes = [
        replace(fuzz(m, m.unit, _FUZZ_PAIRS), settings=settings)
        for m, settings in differential
        if isinstance(m, NoisyMechanism)
    ]
    # Where a mechanism chooses what it measures, the rest has no noise to look at.
    residuals = [examine(m, noise) for m in measuring if not getattr(m, "chooses", False)]
    residuals += [examine_sum(m, noise) for m in sums]
    outputs = [compare(mechanism) for mechanism in measuring]
    outputs += [compare_sum(m) for m in sums]
    outputs += [same_for_everybody(m) for m, *_ in claims if isinstance(m, KSame)]
    made_up = [(m, settings) for m, settings in differential if isinstance(m, Synthetic)]
    fuzzes += [replace(fuzz_rounds(m, _FUZZ_PAIRS), settings=settings) for m, settings in made_up]
    fuzzes += [
        replace(fuzz_fixations(m, _FUZZ_PAIRS // 16, noise), settings=settings)
        for m, settings in differential
        if isinstance(m, Fixations)
    ]
    fuzzes += [fuzz_dwell(m, _FUZZ_PAIRS) for m in own if isinstance(m, Dwell)]
    residuals += [examine_dwell(m, noise) for m in own if isinstance(m, Dwell)]
    outputs += [compare_dwell(m) for m in own if isinstance(m, Dwell)]
    residuals += [examine_rounds(m, noise) for m, _ in made_up]
    outputs += [compare_made_up(m) for m, _ in made_up]
    canaries = [play_canaries(m, noise) for m, _ in made_up]
    streams = [
        replace(examine_stream(m, noise), settings=settings)
        for m, settings in differential
        if isinstance(m, Filter) and scheduled(m)
    ]
    streams += [
        replace(examine_fixations(m, noise), settings=settings)
        for m, settings in differential
        if isinstance(m, Fixations)
    ]
    samplers = tuple(check_samplers(_SAMPLER_DRAWS, noise))
    planted = list(spread(planted_fault, _faults(kinds), "planting faults"))
    planted += [
        Planted(fault, sampler, result.refuted)
        for sampler, fault, result in faulty_samplers(_SAMPLER_DRAWS, noise)
    ]
    return Verification(
        games,
        tuple(digits),
        tuple(fuzzes),
        tuple(residuals),
        tuple(outputs),
        samplers,
        tuple(planted),
        tuple(canaries),
        tuple(streams),
    )


def _claims(kind: type[Mechanism]) -> list[Claimed]:
    """Each offered unit with the mechanism calibrated to it, and the person-level total."""
    claims: list[Claimed] = []
    variants = list(kind.set_for_games())
    for mechanism in variants:
        settings = _apart(mechanism, variants)
        if isinstance(mechanism, FeatureMechanism) and mechanism.kind in _BY_RELEASES:
            claims.append((mechanism, mechanism.unit, settings))
        if not isinstance(mechanism, DifferentialMechanism):
            continue
        claims.append((mechanism, mechanism.unit, settings))
        if mechanism.unit != PERSON:
            claims.append((mechanism, PERSON, settings))
        known = [law for law, *_ in claims]
        claims += [(part, part.unit, settings) for part in mechanism.parts() if part not in known]
    return claims


def _apart(mechanism: Mechanism, variants: Sequence[Mechanism]) -> str:
    """The parameters in which it differs from others of the same unit, and those of its size."""
    others = [each.parameters() for each in variants if each.unit == mechanism.unit]
    own = mechanism.parameters()
    size = _SIZE if isinstance(mechanism, Synthetic) else ()
    differ = {
        key: value
        for key, value in own.items()
        if key in size or any(o[key] != value for o in others)
    }
    return ", ".join(f"{key}={value}" for key, value in differ.items() if value is not None)


def _faults(kinds: Sequence[type[Mechanism]]) -> list[Fault]:
    return [fault for kind in kinds if kind.claims_to_hold for fault in faults_of(kind)]
