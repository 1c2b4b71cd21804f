"""Is released gaze nearer to the original than the noise of its filter makes it?

A publication is off by a distance of law Gamma(2, radius/εᵢ), and budgets say how large εᵢ can be.
So how likely it is, at most, to be that near is known exactly, for few publications as for many;
and the same across and up, each for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.state import ABSORBING, HALVING

Floats = NDArray[np.float64]
Samples = NDArray[np.int64]

ALARM = 1e-6
"""How likely, at most, honest gaze is taken for too near."""
ENOUGH = 15
"""So many publications show that a tenth of the noise is there only; one, that none is."""

# Both places are on the grid, which moves each of them by less than a step.
_ROUNDING_STEPS = 1.0


@dataclass(frozen=True)
class Nearness:
    """What distances from the original say about noise.

    Attributes:
        off: at the median, in steps.
        inside: publications that were not cut off at the edge of the scene.
        chance: that an honest release is as near as this, at most.
    """

    off: float
    inside: int
    chance: float


def nearness(law: Filter, gaze: Floats, released: Floats, since: Samples, looked: int) -> Nearness:
    """How near publications are to gaze, given the least noise that their budgets allow.

    Args:
        law: the filter; of its outputs points, not regions.
        gaze: publications × 2, on the grid and in the scene, in steps.
        released: the same for what was released.
        since: samples since the publication before, or since before the recording.
        looked: how many samples could have been published.
    """
    away = np.abs(released - gaze)
    distances = np.hypot(*away.T)
    cut_off = (released <= 0) | (released >= np.array(law.size_steps))
    scales = law.scale_parts / most_parts(law, since)
    edge = cut_off.any(axis=1)
    # What was cut off would have been farther away: nobody knows how far.
    chances = [np.where(edge, 1.0, nearer((distances + _ROUNDING_STEPS) / scales))]
    for axis in range(2):
        along = nearer_along((away[:, axis] + _ROUNDING_STEPS) / scales)
        chances.append(np.where(cut_off[:, axis], 1.0, along))
    # Whichever of them is too near is found.
    chance = len(chances) * min(chance_of(each, looked) for each in chances)
    return Nearness(
        off=float(np.median(distances)) if len(distances) else math.nan,
        inside=int((~edge).sum()),
        chance=min(1.0, chance),
    )


def nearer(distances: Floats) -> Floats:
    """How likely planar Laplace noise of scale 1 is no longer than this."""
    from scipy.special import gammainc

    return np.asarray(gammainc(2, distances))


def nearer_along(distances: Floats) -> Floats:
    """The same for one of its coordinates, whose density is |x|·K₁(|x|)/π."""
    from scipy.special import iti0k0, k0

    return np.asarray(np.clip(2 / np.pi * (iti0k0(distances)[1] - distances * k0(distances)), 0, 1))


def most_parts(law: Filter, since: Samples) -> Floats:
    """The most that publications can have spent, in parts of ε; some spent less.

    Args:
        law: the filter.
        since: samples since the publication before, or since before the recording.
    """
    parts = np.full(len(since), float(law.publish_parts))
    if law.rule == HALVING:
        return np.floor(parts / 2)
    if law.rule == ABSORBING:
        return np.asarray(parts * np.minimum(since, law.window))
    return parts


def chance_of(chances: Floats, looked: int) -> float:
    """How likely it is that so many are so small, or that one of them is: at most this.

    Each is, given those before it, at most t with probability at most t. Then κ·p^(κ−1) has mean
    at most 1, so has the product over publications, and so has its average over κ from 0 to 1,
    eˢ·n!·P(n + 1, S)/Sⁿ⁺¹ with S = −Σ log p and P the regularised gamma function. However long one
    goes on, a product like that exceeds c with probability at most 1/c (Ville 1939).

    Args:
        chances: of each publication, to be as near as it is or nearer.
        looked: how many there could have been.
    """
    from scipy.special import gammainc, gammaln

    if not len(chances):
        return 1.0
    count, total = len(chances), max(-float(np.log(np.maximum(chances, 1e-300)).sum()), 1e-9)
    with np.errstate(divide="ignore"):
        # Far below what is expected its last part is nothing, and so is the evidence.
        evidence = total - (count + 1) * math.log(total) + gammaln(count + 1)
        evidence += float(np.log(gammainc(count + 1, total)))
    together = math.exp(-max(evidence, 0.0))
    # All of them together or one alone may be too near.
    return min(1.0, 2 * min(together, looked * float(chances.min())))
