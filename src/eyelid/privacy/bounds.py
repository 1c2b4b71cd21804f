"""Public bounds: where they come from decides whether a guarantee holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError

# Noise of many spans must still be a number.
_LARGEST = 1e200


class BoundsSource(StrEnum):
    """Who said so.

    ``public``: the definition of the quantity; ``file``: a person who states that the numbers were
    fixed without looking at the data; ``data``: read off the private data, as the papers do.
    """

    PUBLIC = "public"
    FILE = "file"
    DATA = "data"


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bounds of named quantities, and their source.

    >>> Bounds({"rate": (0.0, 10.0)}).spans()
    array([10.])
    """

    values: dict[str, tuple[float, float]]
    source: BoundsSource = BoundsSource.PUBLIC

    def __post_init__(self) -> None:
        for name, (lower, upper) in self.values.items():
            if not (math.isfinite(lower) and math.isfinite(upper)):
                raise InputError(
                    f"feature {name} has no public bounds ({lower:g} to {upper:g}): "
                    "give them with `bounds=…`"
                )
            if max(abs(lower), abs(upper)) > _LARGEST:
                raise InputError(
                    f"bounds of {name} are {lower:g} to {upper:g}: use a larger unit, so that they "
                    f"stay within ±{_LARGEST:g}"
                )
            if not lower < upper:
                raise InputError(
                    f"bounds of {name} are {lower:g} to {upper:g}: the lower one must be smaller"
                )

    def lowers(self) -> NDArray[np.float64]:
        """The lower bounds, in order."""
        return np.array([lower for lower, _ in self.values.values()])

    def uppers(self) -> NDArray[np.float64]:
        """The upper bounds, in order."""
        return np.array([upper for _, upper in self.values.values()])

    def spans(self) -> NDArray[np.float64]:
        """Upper minus lower, in order."""
        return self.uppers() - self.lowers()
