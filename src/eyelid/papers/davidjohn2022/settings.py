"""The mechanisms of the paper, those of ours beside them, and the axes they are drawn over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eyelid.attacks.groups import under_names
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism, feature_mechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.privacy.noise import randomness

# The paper's text names k = 8 alone.
KS = (2, 4, 6, 8, 10)
# The paper says that nobody is named any more at ε = 2, which is true of its network only: a
# smaller one is needed to compare mechanisms where that is so.
EPSILONS = (100.0, 50.0, 20.0, 10.0, 2.0, 0.5)
FEW_KS, FEW_EPSILONS = (2, 8), (100.0, 20.0, 2.0, 0.5)
# Of the model of `seeded`, for those who are in it.
_EPSILON_OF_MODEL = 4.0
# Rows that `seeded` makes up of each task.
_SEEDED_ROWS = 200


@dataclass(frozen=True)
class Kind:
    """A mechanism on an axis.

    Attributes:
        name: in the catalogue.
        title: as the paper calls it, or in words.
        axis: what is printed below the figure: ``k`` or ``ε``.
        named: whether somebody's own record, or that of a known group, is released: then people
            can be named.
    """

    name: str
    title: str
    axis: str
    named: bool = True


PUBLISHED = (
    Kind("ksame-paper", "k-same-select sequence", "k"),
    Kind("marginals-paper", "Marginals", "k"),
    Kind("exponential-paper", "Exponential-DP", "ε"),
)
# For each of them, what of ours stands beside it.
SOUND = {
    "ksame-paper": (Kind("ksame", "ksame", "k"),),
    "marginals-paper": (Kind("seeded", "seeded, deterministic", "k", named=False),),
    "exponential-paper": (
        Kind("exponential", "exponential", "ε"),
        Kind("ksame-dp", "ksame-dp with ε of a person", "ε", named=False),
    ),
}


@dataclass(frozen=True)
class Setting:
    """A mechanism at one place of its axis.

    Attributes:
        mechanism: its name in the catalogue.
        value: k, or the ε that the paper prints: of one feature of one recording. Of `ksame-dp` it
            is a person's.
    """

    mechanism: str
    value: float

    def law(self, table: FeatureTable) -> FeatureMechanism:
        """The mechanism, made for a table."""
        return feature_mechanism(self.mechanism, **self._parameters(table))

    def release(self, table: FeatureTable, seed: int) -> FeatureTable:
        """What anybody gets."""
        if self == RAW:
            return table
        return self.law(table).apply(table, randomness(seed))

    def under_names(self, table: FeatureTable, seed: int) -> FeatureTable:
        """What an attacker has who was told who is in which group: everybody's name on a record.

        The published mechanisms keep names; of `ksame` nobody gets this.
        """
        if self.mechanism != KSame.name:
            return self.release(table, seed)
        law = self.law(table)
        assert isinstance(law, KSame)
        member = law.partition(table, randomness(seed))
        return under_names(table, law.averaged(table, member), member)

    def _parameters(self, table: FeatureTable) -> dict[str, Any]:
        match self.mechanism:
            case "exponential-paper":
                # Printed is ε of one feature, ours is the sum.
                return {"epsilon": self.value * len(table.features)}
            case "exponential":
                # What the printed ε would be about: all of one feature of one recording.
                longest = table.recordings["rows"].to_numpy().max()
                return {"epsilon": self.value, "unit": f"chunk:{longest}"}
            case "ksame-dp":
                # Two groups: more would have more noise each.
                return {"epsilon": self.value, "k": table.recordings["person"].n_unique() // 2}
            case "seeded":
                return {
                    "k": int(self.value),
                    "epsilon": _EPSILON_OF_MODEL,
                    "test": "deterministic",
                    "rows": _SEEDED_ROWS,
                }
            case _:
                return {"k": int(self.value)}


RAW = Setting("raw", 0.0)


def place(axis: str, value: float) -> str:
    """A place on an axis, as tables have it.

    >>> place("k", 8), place("ε", 0.5)
    ('k = 8', 'ε = 0.5')
    """
    return f"{axis} = {value:g}"
