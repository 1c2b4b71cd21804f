"""Mechanisms whose promise is a privacy loss ε about a unit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.errors import Refused
from eyelid.mechanisms.mechanism import Mechanism, NeighbourPair, PublicFacts, Values, parameter
from eyelid.privacy.gaussian import check_epsilon
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Unit


@dataclass(frozen=True)
class DifferentialMechanism(Mechanism):
    """Differential privacy of some unit, or what a paper takes for it.

    Attributes:
        epsilon: the total for one ``unit``, over everything in it.
    """

    family: ClassVar[str] = "differential"
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 1.0},)
    """Parameters for distinguishing games, where these have power (ε or μ between 0.5 and 4): first
    those under which neighbours reach the whole loss, then others."""
    playable: ClassVar[bool] = True

    epsilon: float = parameter("privacy loss for one unit, over everything in it")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_epsilon(self.epsilon)

    def parts(self) -> Iterator[DifferentialMechanism]:
        """Mechanisms that it is made of, whose promises its own rests on: `verify` tries each."""
        return iter(())

    @abstractmethod
    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """The worst neighbours known, for the distinguishing game."""

    @abstractmethod
    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Outputs of ``runs`` independent runs on the same data, one row a run."""

    @abstractmethod
    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """How much each output speaks for ``pair.other`` against ``pair.one``."""


@dataclass(frozen=True)
class CalibratedMechanism(DifferentialMechanism):
    """One that can be asked to protect one of several units.

    Attributes:
        unit: whose value the noise is calibrated for.
    """

    game_units: ClassVar[tuple[str, ...]] = ()
    """Units for the games, where those offered need a number; otherwise all that are offered."""

    unit: Unit = parameter("whose value is hidden", default=PERSON)  # noqa: RUF009

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit.name not in self.units:
            raise Refused(
                f"{self.name} does not offer the unit '{self.unit}': "
                f"choose one of {', '.join(self.units)}"
            )

    @classmethod
    def set_for_games(cls) -> Iterator[Mechanism]:
        """The mechanism as `verify` plays against it, at each of its units."""
        for parameters in cls.games:
            for name in cls.game_units or cls.units:
                yield cls(**parameters, unit=cls.unit_named(name, parameters))
