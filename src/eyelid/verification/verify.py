"""Try to refute what the mechanisms claim, and the attempts themselves.

Every registered mechanism is played against at every unit it offers, and at the person level that
its certificate states beside it; its declared sensitivity is fuzzed; its digits are attacked; its
noise and its whole output are looked at; the samplers are tested. Where k-anonymity is claimed,
groups are attacked instead, and rows where plausible deniability is. Simulated participants are
made of canaries, too, whose coins are guessed. Filters are looked at from outside: what every
window of hostile streams spends, and their noise. Then each of these checks is run on planted
faults, which it must catch.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from eyelid.attacks.residuals import ResidualResult
from eyelid.engine.cores import in_turn, parallel
from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Mechanism, catalogue, find
from eyelid.privacy.noise import Randomness, SystemRandomness
from eyelid.privacy.unit import PERSON, Unit
from eyelid.verification.canaries import CanaryRun
from eyelid.verification.families import FAMILIES, mutants_of
from eyelid.verification.game import GameResult, attack_digits
from eyelid.verification.mutant import Mutant
from eyelid.verification.outputs import OutputResult
from eyelid.verification.samplers import SamplerResult, check_samplers, faulty_samplers
from eyelid.verification.sensitivity import FuzzResult
from eyelid.verification.streams import StreamResult

SCHEMA = "eyelid/verify/1"
DEFAULT_RUNS = 50_000
_FEWEST_RUNS = 1_000
_FUZZ_PAIRS = 4_096
_SAMPLER_DRAWS = 400_000
# In each report, families that come after all others, in this order.
_LAST = {
    "fuzz": ("synthetic", "fixations", "dwell"),
    "residuals": ("sums", "tables", "maps", "dwell", "synthetic"),
    "outputs": ("sums", "tables", "maps", "groups", "dwell", "synthetic"),
    "canaries": (),
    "streams": ("fixations",),
}

Claimed = tuple[Any, Unit, str]
"""A mechanism, what is to be attacked of it, and what sets it apart from others of its kind."""


_CLAIMED_MORE = (
    "{0.mechanism} claims {0.measure} {0.claimed:.4g} per {0.unit}, "
    "but {0.lower_bound:.4g} was certified ({0.neighbours})"
)
_REFUTED = operator.attrgetter("refuted")
# Of each report, which results are false claims, and in which words.
_FALSE: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("games", lambda game: game.refuted and game.holds, _CLAIMED_MORE),
    ("digits", lambda game: game.refuted and game.holds, _CLAIMED_MORE),
    (
        "fuzzes",
        lambda fuzz: fuzz.reached > 1,
        "{0.mechanism} exceeds its declared sensitivity per {0.unit}: {0.reached:.4g} times",
    ),
    (
        "fuzzes",
        lambda fuzz: fuzz.chosen > 1,
        "{0.mechanism} loses {0.chosen:.4g} times its ε per {0.unit}, its choice counted",
    ),
    (
        "fuzzes",
        lambda fuzz: fuzz.mixed > 0,
        "what {0.mechanism} measures of a person per {0.unit} depends on who else is there, or in "
        "which order",
    ),
    (
        "residuals",
        _REFUTED,
        "the noise of {0.mechanism} per {0.unit} is not fresh and whole: {0}",
    ),
    (
        "outputs",
        _REFUTED,
        "what {0.mechanism} shows per {0.unit} is not what it made private: {0}",
    ),
    (
        "canaries",
        _REFUTED,
        "{0.mechanism} claims ε {0.run.claimed:.4g} per {0.unit}, but {0.run.right} of "
        "{0.run.guesses} coins were guessed in one run",
    ),
    (
        "streams",
        _REFUTED,
        "{0.mechanism} does not keep to its budget or its noise per {0.unit}: {0}",
    ),
    (
        "samplers",
        _REFUTED,
        "the {0.sampler} sampler at scale {0.scale} is not what it says (p = {0.p_value:.2g})",
    ),
)


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
        canaries: guesses at the coins of many people from one run, of synthetic participants.
        streams: looks at filters from outside.
        claiming: the mechanisms that were asked for and claim to hold.
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
    claiming: tuple[str, ...] = ()

    @property
    def refuted(self) -> list[str]:
        """The claims that turned out false, in words."""
        return [
            sentence.format(result)
            for report, false, sentence in _FALSE
            for result in getattr(self, report)
            if false(result)
        ]

    @property
    def missed(self) -> list[str]:
        """The planted faults that were not caught, and who had none, in words."""
        return [*self.uncaught, *(f"no fault was planted in {name}" for name in self.untested)]

    @property
    def uncaught(self) -> list[str]:
        """The planted faults that were not caught, in words."""
        return [f"{p.name} in {p.mechanism}" for p in self.planted if not p.caught]

    @property
    def untested(self) -> list[str]:
        """Mechanisms that claim to hold and had no planted fault, whatever their games say."""
        played = {g.mechanism for g in self.games if g.holds}
        return sorted({*self.claiming, *played} - {p.mechanism for p in self.planted})

    @property
    def passed(self) -> bool:
        """Whether no claim fell and no planted fault got through."""
        return not self.refuted and not self.missed

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid verify --json`` prints it."""
        return {
            "schema": SCHEMA,
            "mechanisms": [_as_json(game) for game in self.games],
            "digits": [_as_json(game) for game in self.digits],
            "sensitivity": [_as_json(result) for result in self.fuzzes],
            "residuals": [_as_json(result) for result in self.residuals],
            "outputs": [_as_json(result) for result in self.outputs],
            "canaries": [
                {"name": c.mechanism, "unit": c.unit, "settings": c.settings}
                | asdict(c.run)
                | {"refuted": c.refuted}
                for c in self.canaries
            ],
            "streams": [_as_json(result) for result in self.streams],
            "samplers": [_as_json(result) for result in self.samplers],
            "planted": [asdict(fault) for fault in self.planted],
            "passed": self.passed,
        }


def _as_json(
    result: GameResult | FuzzResult | ResidualResult | OutputResult | StreamResult | SamplerResult,
) -> dict[str, Any]:
    """A result as JSON has it: first whom it is about, last whether it refutes a claim."""
    (_, name), *facts = asdict(result).items()
    # JSON has no infinity: a claim of none is null.
    finite = {key: None if value == math.inf else value for key, value in facts}
    return {"name": name, **finite, "refuted": result.refuted}


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
    # Repeatable numbers come in one order only; those of the system have none.
    spread = parallel if isinstance(noise, SystemRandomness) else in_turn

    def played(claim: Claimed) -> list[GameResult]:
        mechanism, unit, settings = claim
        games = FAMILIES[mechanism.family].play(mechanism, unit, runs, noise)
        return [replace(game, settings=settings if mechanism.playable else "") for game in games]

    def planted(mutant: Mutant) -> Planted:
        # Most show in few runs.
        caught = any(mutant.caught(some, noise) for some in sorted({_FEWEST_RUNS, runs}))
        return Planted(mutant.name, mutant.mechanism, caught)

    games = [game for some in spread(played, claims, "playing against the claims") for game in some]
    own = [claim for claim in claims if claim[1] == claim[0].unit]
    digits = [
        replace(
            attack_digits(mechanism, next(mechanism.neighbour_pairs(unit)), runs, noise),
            settings=settings,
        )
        for mechanism, unit, settings in own
        if mechanism.playable
    ]
    fuzzes = [
        replace(fuzz(mechanism, _FUZZ_PAIRS, noise), settings=settings)
        for fuzz, mechanism, settings in _checks(own, "fuzz")
    ]
    residuals = [look(mechanism, noise) for look, mechanism, _ in _checks(own, "residuals")]
    outputs = [compare(mechanism) for compare, mechanism, _ in _checks(own, "outputs")]
    canaries = [guess(mechanism, noise) for guess, mechanism, _ in _checks(own, "canaries")]
    streams = [
        replace(look(mechanism, noise), settings=settings)
        for look, mechanism, settings in _checks(own, "streams")
    ]
    samplers = tuple(check_samplers(_SAMPLER_DRAWS, noise))
    caught = list(spread(planted, _mutants(kinds), "planting faults"))
    caught += [
        Planted(fault, sampler, result.refuted)
        for sampler, fault, result in faulty_samplers(_SAMPLER_DRAWS, noise)
    ]
    return Verification(
        tuple(games),
        tuple(digits),
        tuple(fuzzes),
        tuple(result for result in residuals if result),
        tuple(outputs),
        samplers,
        tuple(caught),
        tuple(canaries),
        tuple(streams),
        tuple(kind.name for kind in kinds if kind.claims_to_hold),
    )


def _claims(kind: type[Mechanism]) -> list[Claimed]:
    """Each offered unit with the mechanism calibrated to it, and the person-level total."""
    claims: list[Claimed] = []
    variants: list[Any] = list(kind.set_for_games()) if kind.family else []
    for mechanism in variants:
        settings = _apart(mechanism, variants)
        claims.append((mechanism, mechanism.unit, settings))
        if not mechanism.playable:
            continue
        if mechanism.unit != PERSON:
            claims.append((mechanism, PERSON, settings))
        known = [one for one, *_ in claims]
        claims += [(part, part.unit, settings) for part in mechanism.parts() if part not in known]
    return claims


def _apart(mechanism: Mechanism, variants: Sequence[Mechanism]) -> str:
    """The parameters in which it differs from others of the same unit, and those of its size."""
    others = [each.parameters() for each in variants if each.unit == mechanism.unit]
    sizes = FAMILIES[mechanism.family].sizes
    differ = {
        key: value
        for key, value in mechanism.parameters().items()
        if key in sizes or any(other[key] != value for other in others)
    }
    return ", ".join(f"{key}={value}" for key, value in differ.items() if value is not None)


def _checks(
    claims: Sequence[Claimed], report: str
) -> Iterator[tuple[Callable[..., Any], Any, str]]:
    """What is run for a report, with which mechanism and its settings, in the order of reports."""
    last = _LAST[report]

    def place(claim: Claimed) -> int:
        family = claim[0].family
        return last.index(family) if family in last else -1

    for mechanism, _, settings in sorted(claims, key=place):
        check = getattr(FAMILIES[mechanism.family], report)
        if check:
            yield check, mechanism, settings


def _mutants(kinds: Sequence[type[Mechanism]]) -> list[Mutant]:
    return [mutant for kind in kinds if kind.claims_to_hold for mutant in mutants_of(kind)]
