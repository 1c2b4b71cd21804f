"""What a study of so many people can say at an ε, from public facts alone, before any data.

Errors and widths are in standard deviations between people, of a measure whose range is a norm's
mean ± k of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

from eyelid.errors import InputError
from eyelid.mechanisms.differential import default_delta
from eyelid.mechanisms.statistics.spread import NoiseOfOne
from eyelid.privacy.gaussian import gaussian_sigma

LEAST_K, MOST_K = 0.8, 5.0
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Plan:
    """How numbers of people are to be released, and how far off they will be.

    Attributes:
        mechanism: ``summary-box`` or ``summary-gaussian``.
        k: how many standard deviations a range goes to both sides of the norm.
        noise: on each mean.
        bias: of clipping, if the norm is one standard deviation off.
        people: N.
    """

    mechanism: str
    k: float
    noise: NoiseOfOne
    bias: float
    people: int

    @property
    def error(self) -> float:
        """Noise and bias together."""
        return math.hypot(self.noise.sd, self.bias)

    def width(self, level: float = CONFIDENCE) -> float:
        """The width of a mean's interval that sampling and noise will give, from end to end."""
        return width_of(self.noise, 1 / math.sqrt(self.people), level)


def box_noise(people: int, numbers: int, epsilon: float, k: float) -> NoiseOfOne:
    """The noise of a mean under a box of so many numbers."""
    return NoiseOfOne(2 * k / (people * epsilon), numbers)


def gaussian_noise_of(
    people: int, numbers: int, epsilon: float, delta: float, k: float
) -> NoiseOfOne:
    """The noise of a mean under one Gaussian noise for so many numbers."""
    return NoiseOfOne(2 * math.sqrt(numbers) * k / people * gaussian_sigma(epsilon, delta))


def clipping_bias(k: float, shift: float = 1.0, spread: float = 1.0) -> float:
    """How far off the mean of clipped numbers is, if the norm is off.

    Args:
        k: of the range, in the norm's standard deviations.
        shift: of people's mean from the norm's, in the same.
        spread: of people, over the norm's.

    >>> round(clipping_bias(3.0), 3), round(clipping_bias(1.35), 2)
    (0.008, 0.24)
    """
    from scipy.special import ndtr

    def mean_above(limit: float) -> float:
        """E(x − limit)₊ of a normal number around ``shift``."""
        z = (shift - limit) / spread
        return float(spread * (z * ndtr(z) + math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)))

    # E(−k − x)₊ follows from E(x + k)₊ by parity of positive parts.
    below = mean_above(-k) - (shift + k)
    return abs(below - mean_above(k))


def best_k(spread: float) -> float:
    """How many standard deviations of a norm a range reaches to both sides.

    The least of squared noise and squared bias by clipping, should the norm be one standard
    deviation off.

    Args:
        spread: standard deviation of the noise in a mean, as a share of the range.

    >>> [best_k(box_noise(people, 3, 1.0, 0.5).sd) for people in (45, 535)]
    [1.8, 2.95]
    """
    # In steps that read well where they are printed.
    steps = [step / 100 for step in range(100, 405, 5)]
    return min(steps, key=lambda k: math.hypot(2 * k * spread, clipping_bias(k)))


@functools.lru_cache(maxsize=1024)
def plan(
    people: int,
    numbers: int,
    epsilon: float,
    delta: float | None = None,
    k: float | None = None,
    moments: int = 0,
) -> Plan:
    """The mechanism and the range that are foreseen to be nearest.

    Args:
        people: N.
        numbers: d, all that share ε, second moments and counts too.
        epsilon: of these numbers.
        delta: where Gaussian noise is allowed; None for the default δ.
        k: of the range; chosen where None is given.
        moments: how many of the numbers are no means, and keep to the box.

    >>> found = plan(20, 3, 1.0)
    >>> found.mechanism, round(found.k, 2), round(found.error, 2)
    ('summary-box', 1.34, 0.43)
    """
    check(people, numbers, epsilon)
    delta = default_delta(people) if delta is None else delta

    def box(k: float) -> Plan:
        noise = box_noise(people, numbers, epsilon, k)
        return Plan("summary-box", k, noise, clipping_bias(k), people)

    def gaussian(k: float) -> Plan:
        noise = gaussian_noise_of(people, numbers, epsilon, delta, k)
        return Plan("summary-gaussian", k, noise, clipping_bias(k), people)

    kinds = [box] if moments or delta == 0 else [box, gaussian]
    if k is not None:
        return min((kind(k) for kind in kinds), key=lambda found: found.error)
    return min((_best(kind) for kind in kinds), key=lambda found: found.error)


def _best(planned: Callable[[float], Plan]) -> Plan:
    """With the k of the least error."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda k: planned(k).error,
        bounds=(LEAST_K, MOST_K),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return planned(float(found.x))


@functools.lru_cache(maxsize=1024)
def width_of(noise: NoiseOfOne, sampling_sd: float, level: float = CONFIDENCE) -> float:
    """From end to end of the interval that sampling and noise give.

    Args:
        noise: of the number.
        sampling_sd: of the number without noise.
        level: of confidence.
    """
    from scipy.optimize import brentq

    most = 60 * (noise.sd + sampling_sd)
    wanted = 1 - (1 - level) / 2

    def missing(x: float) -> float:
        return float(noise.below(x, sampling_sd)) - wanted

    return 2 * float(brentq(missing, 0.0, most, xtol=1e-6 * most))


def check(people: int, numbers: int, epsilon: float) -> None:
    """Refuse what nothing can be planned for."""
    if people < 2:
        raise InputError(f"results are about at least 2 people, got {people}")
    if numbers < 1:
        raise InputError(f"a plan needs at least one number, got {numbers}")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"epsilon must be positive and finite, got {epsilon:g}")
