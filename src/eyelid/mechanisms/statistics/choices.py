"""Parts that choose: one of public candidates, the cheaper the likelier (exponential mechanism)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms import exponential_mechanism
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.statistics import ranks
from eyelid.mechanisms.statistics.parts import Labels, Part
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.discrete import MAX_SCALE
from eyelid.spelling import plural

# Costs of candidates are counted so finely that rounding their scale up costs nothing.
_COST_STEPS = 2**12
_MOST_COST = 2**62 // _COST_STEPS
_AT_ONCE = 1 << 22
# Beyond it differences are no numbers.
_LARGEST = 1e250


@dataclass(frozen=True)
class ChoicePart(Part):
    """One of public candidates, by the exponential mechanism; what is asked are their costs.

    Attributes:
        candidates: how many there are.
    """

    candidates: int = 200

    def __post_init__(self) -> None:
        # A cost is at most the sensitivity times the number of people.
        if self.people * self.sensitivity > _MOST_COST or self.scale > MAX_SCALE:
            raise InputError(
                f"{self.statistics[0].name} of {self.people:,} people at ε = "
                f"{float(self.epsilon):g} is beyond what whole numbers hold: take a larger ε"
            )

    @property
    def shown(self) -> int:
        """Which candidate."""
        return 1

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """How far a person moves a cost."""

    @property
    def in_words(self) -> str:
        """The noise in words."""
        return (
            f"the exponential mechanism over {plural(self.candidates, 'public candidate')}, "
            f"ε {float(self.epsilon):.4g}"
        )

    @property
    def scale(self) -> int:
        """The scale of costs in steps: a chance is ∝ exp(−cost/scale), and costs move both ways."""
        return math.ceil(2 * self.sensitivity * _COST_STEPS / self.epsilon)

    def query(self, places: Values, labels: Labels) -> Integers:
        """What candidates cost, in steps."""
        return self.costs(self.chosen(places, labels)) * _COST_STEPS

    @abstractmethod
    def costs(self, places: Values) -> Integers:
        """What each candidate costs (…, candidates)."""

    def draw(self, query: Integers, noise: Randomness) -> Integers:
        """A candidate for each row of costs."""
        *front, width = query.shape
        flat = query.reshape(-1, width)
        rows = max(1, _AT_ONCE // width)
        drawn = [
            exponential_mechanism.choose(flat[start : start + rows], self.scale, noise)
            for start in range(0, len(flat), rows)
        ]
        return np.concatenate(drawn).astype(np.int64).reshape(*front, 1)

    def log_chance(self, shown: Integers, query: Integers) -> Values:
        """The log-chance of the candidate that is shown."""
        chances = exponential_mechanism.log_chances(query, self.scale)
        width = query.shape[-1]
        return np.asarray(
            np.take_along_axis(np.broadcast_to(chances, (*shown.shape[:-1], width)), shown, -1)
        )[..., 0]

    def lost(self, one: Integers, other: Integers) -> Values:
        """The largest ratio of chances."""
        chances = [exponential_mechanism.log_chances(each, self.scale) for each in (one, other)]
        return np.asarray(np.abs(chances[0] - chances[1]).max(axis=-1))


class QuantilePart(ChoicePart):
    """A point of a public grid, the cheaper the nearer the wanted share of people lies below it.

    A person without a number is as far below as above, and says nothing of where it is.
    """

    @property
    def sensitivity(self) -> int:
        """In parts of a person: the denominator of the level."""
        return self.statistics[0].level.denominator

    @property
    def grid(self) -> Values:
        """The candidates, in places."""
        return np.linspace(0.0, 1.0, self.candidates)

    def costs(self, places: Values) -> Integers:
        """How many people too many or too few lie below each point."""
        (column,) = self.statistics[0].columns
        level = self.statistics[0].level
        numbers = np.sort(places[..., column], axis=-1)
        present = (~np.isnan(numbers)).sum(axis=-1)[..., None]
        # Missing numbers are sorted to the end, beyond every point.
        flat = numbers.reshape(-1, numbers.shape[-1])
        sides: list[Integers] = []
        for side in ("left", "right"):
            counted = [np.searchsorted(row, self.grid, side=side) for row in flat]
            sides.append(np.array(counted, dtype=np.int64).reshape(*numbers.shape[:-1], -1))
        below, upto = (level.denominator * side for side in sides)
        wanted = level.numerator * present
        return np.asarray(np.maximum(0, np.maximum(below - wanted, wanted - upto)))


class SlopePart(ChoicePart):
    """The slope of one entry on another: Theil–Sen's median over pairs of people.

    Candidates are lines at even angles, where both ranges are of one length. What a line costs is
    how many more pairs are steeper than flatter, or the other way round.
    """

    @property
    def sensitivity(self) -> int:
        """A person is in N − 1 pairs, each of which turns from steeper to flatter."""
        return 2 * (self.people - 1)

    @property
    def angles(self) -> Values:
        """The candidates, between −π/2 and π/2."""
        found = (np.arange(self.candidates) + 0.5) * (math.pi / self.candidates) - math.pi / 2
        return np.asarray(found, dtype=np.float64)

    def costs(self, places: Values) -> Integers:
        """How many more pairs are steeper than flatter, or the other way round."""
        limited = np.clip(places, -_LARGEST, _LARGEST)
        x, y = (limited[..., column] for column in self.statistics[0].columns)
        found = np.empty((*x.shape[:-1], self.candidates), dtype=np.int64)
        for which in np.ndindex(*x.shape[:-1]):
            found[which] = np.abs(self._steeper(x[which], y[which]))
        return found

    def _steeper(self, x: Values, y: Values) -> Integers:
        """How many more pairs of people are steeper than each candidate than are flatter."""
        total = np.zeros(self.candidates, dtype=np.int64)
        for some in ranks.blocks(x, x.size):
            across, up = (each[None, :] - each[some, None] for each in (x, y))
            finite = ~np.isnan(across) & ~np.isnan(up) & (across != 0)
            angles = np.sort(np.arctan(up[finite] / across[finite]))
            upto = np.searchsorted(angles, self.angles, side="right")
            total += (angles.size - upto) - np.searchsorted(angles, self.angles, side="left")
        # Each pair was met twice, nobody with themselves.
        return np.asarray(total // 2)
