"""DCT: one joint clip and one noise for all of a person's signals together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.differential import Integers, exact, noise_of
from eyelid.mechanisms.mechanism import PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.cosine import CosineMechanism
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteNoise, Randomness
from eyelid.privacy.noise.continuous import SphericalLaplace
from eyelid.privacy.unit import PERSON, Neighbours, Unit

# The grid of spherical noise has one step in so many of its scale.
_SPHERICAL_SCALE = 2**32
# Smaller ones leave nothing but the midpoint.
_SMALLEST_RADIUS = 1e-6
# Norms and quotients in floating point are right to about 1e-14.
_FLOAT_MARGIN = 1e-12


@register
@dataclass(frozen=True)
class DCT(CosineMechanism):
    """One noise on the first K cosine coefficients of all signals of a unit, clipped jointly."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""One noise on the first K cosine coefficients of all signals of a unit, clipped
        jointly.""",
        takes="""a FeatureTable; missing values become the public midpoint, every value is clipped
        to its public bounds, every recording has one public length n. A signal is one feature of
        one recording, less the midpoint and over the range. The first K coefficients of its
        orthonormal DCT-II are kept (K public: ⌈2n/60⌉ for windows of 60 rows, up to where these let
        nothing through), the others are released as zero. All coefficients of the unit together are
        scaled down to the L2 norm B = radius·√(n·F·R), R the recordings of the unit, where they are
        beyond it.""",
        protects="""a person or a recording, replace-one, over all its features: with (ε, δ)-DP and
        its μ, which composes exactly, or, with ``law=spherical``, with pure ε-DP. Of a recording's
        loss a person has μ·√recordings, or ε × recordings.""",
        why="""two vectors in a ball of radius B are at most Δ₂ = 2B apart. In grid steps the radius
        is a whole number L with 2L ≤ μ·σ. Vectors are scaled to L less a margin for floating point,
        and truncated towards zero, which makes no norm larger. Discrete Gaussian noise of σ steps
        then gives μ, up to the slack that δ pays for. Spherical Laplace noise has a
        density ∝ exp(−‖z‖₂/t): with 2L ≤ ε·t no ratio of densities exceeds e^ε. Gaussian noise is
        the smaller one when K·F·R + 1 > (σ_AG·ε)².""",
        remarks=(
            """The radius is the root mean square distance from the midpoint, over all of a unit's
            values, up to which a unit is left as it is. None is farther away than 0.5, the default:
            it clips nobody, and the error is the noise, and what the coefficients that are left out
            would have shown. Public bounds are generous, and many features stay near one end of
            them: a smaller radius would pull these to the middle in everybody, and no mean over
            people would take that back. It is worth it where noise is what hurts: half the radius,
            half the noise.""",
        ),
        paper="""FPA of Rastogi & Nath 2010 and Bozkir et al. 2021, in real orthonormal coordinates,
        with public bounds, one clip for everything of a person, and noise by the L2 norm. The
        discrete Gaussian is that of Canonne, Kamath & Steinke 2020.""",
    )
    name: ClassVar[str] = "dct"
    family: ClassVar[str] = "dct"
    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations (FPA), made orthonormal and clipped jointly; Balle & Wang "
        "(2018); Canonne, Kamath & Steinke (2020)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "k": 2, "radius": 0.3},
        {"epsilon": 4.0, "delta": 1e-5},
        {"epsilon": 2.0, "k": 1, "law": "spherical"},
    )

    radius: float = parameter(
        "root mean square distance of a unit's values from the midpoint, in spans, beyond which "
        "they are clipped; 0.5 clips nothing",
        default=0.5,
    )
    law: str = parameter("the noise: gaussian, or spherical for pure ε", default="gaussian")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _SMALLEST_RADIUS <= self.radius <= 0.5:
            raise InputError(
                f"radius must be at least {_SMALLEST_RADIUS:g} and at most 0.5, where nothing is "
                f"clipped, got {self.radius:g}"
            )
        if self.law not in ("gaussian", "spherical"):
            raise InputError(f"law must be gaussian or spherical, got '{self.law}'")
        if self.law == "spherical" and self.delta is not None:
            raise InputError("spherical noise is pure: leave delta out, or choose law=gaussian")

    def coordinates(self, facts: PublicFacts, unit: Unit) -> int:
        """Whatever changes in a unit may rescale all that is clipped together."""
        return super().coordinates(facts, PERSON if self.unit == PERSON else unit)

    def noise(self, facts: PublicFacts) -> DiscreteNoise:
        """For all coordinates of the unit."""
        if self.law == "spherical":
            return SphericalLaplace(_SPHERICAL_SCALE, self.coordinates(facts, self.unit))
        return super().noise(facts)

    def loss(self, facts: PublicFacts) -> float:
        """ε or μ."""
        return self.epsilon if self.law == "spherical" else super().loss(facts)

    def radius_steps(self, facts: PublicFacts) -> int:
        """L: the clip in whole steps."""
        return math.floor(self.most_steps(facts) / 2)

    def step(self, facts: PublicFacts) -> float:
        """B / L."""
        values = self.blocks(facts, self.unit) * facts.length * facts.features
        return self.radius * math.sqrt(values) / self.radius_steps(facts)

    def limit(self, steps: Values, facts: PublicFacts) -> Values:
        """Everything of a unit together, scaled to lie in the ball."""
        axes = 3 if self.unit == PERSON else 2
        together = steps.reshape(*steps.shape[:-axes], -1)
        norms = np.sqrt((together**2).sum(axis=-1, keepdims=True))
        most = self.radius_steps(facts) * (1 - _FLOAT_MARGIN)
        return np.asarray((together * (most / np.maximum(norms, most))).reshape(steps.shape))

    def _balls(self, facts: PublicFacts, unit: Unit) -> int:
        """How many separately clipped vectors a unit can move."""
        return max(1, self.blocks(facts, unit) // self.blocks(facts, self.unit))

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """Δ₂: the diameter of the ball, for each of the recordings if these are clipped alone."""
        return 2 * self.radius_steps(facts) * math.sqrt(self._balls(facts, unit))

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """(ε, δ) and μ; of spherical noise ε alone, which adds up over recordings."""
        if self.law == "gaussian":
            return super().cost(facts, unit)
        return Guarantee(
            kind=Kind.PURE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=float(exact(self.epsilon) * self._balls(facts, unit)),
            delta=0.0,
        )

    def perturb(self, integers: Integers, facts: PublicFacts, noise: Randomness) -> Integers:
        """Noise for all recordings that a person may have, though some are not there."""
        *front, there, kept, features = integers.shape
        whole = (*front, facts.recordings, kept, features)
        return integers + noise_of(self, facts).draw(whole, noise)[..., :there, :, :]

    def bias_of_span(self, facts: PublicFacts) -> float:
        """A person as far from the midpoint as bounds allow is moved by what is beyond."""
        return 0.5 - self.radius

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """The error of the noise, and of clipping at its worst."""
        return math.hypot(super().expected_rmse_of_span(facts), self.bias_of_span(facts))

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """The error of a recording's mean, by noise and by clipping at its worst."""
        return math.hypot(super().expected_mean_rmse_of_span(facts), self.bias_of_span(facts))

    def errors(self, facts: PublicFacts) -> NDArray[np.float64]:
        """The noise's variance on each kept coefficient."""
        variance = noise_of(self, facts).variance * self.step(facts) ** 2
        return np.full(self.kept(facts), variance)

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        distribution = noise_of(self, facts)
        return (
            f"{distribution.label}, scale {distribution.scale} steps of {self.step(facts):.9g} "
            f"of the span, on the first {self.kept(facts)} cosine coefficients of signals of "
            f"{facts.length} values; "
            f"those of a {self.unit.name} have norm {self.radius_steps(facts)} steps at most"
        )
