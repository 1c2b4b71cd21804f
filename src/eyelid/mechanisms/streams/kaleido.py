"""Kaleido: repeat a noisy point until gaze has moved away from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.filter import NARROW_GAME, WIDE_GAME, Filter
from eyelid.mechanisms.streams.state import HALVING, WHOLE


@register
@dataclass(frozen=True, kw_only=True)
class Kaleido(Filter):
    """A noisy place for every fixation, found by noisy tests."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="A noisy place for every fixation, found by noisy tests.",
        takes="""gaze samples; each is clamped to the public scene and put on a public grid. Lost
        samples repeat the last output and keep their slot.""",
        protects="""any w samples in a row, each moved by at most radius, with pure ε-DP. Time
        stamps and which samples are lost are released as they are. A person's total is
        R·⌈T/w⌉·ε·max(1, D/radius).""",
        why="""a test every ``skip`` samples, whatever came of the last one, so that a window has at
        most n = ⌈w/skip⌉, by index alone. Given the outputs so far the last one is fixed, so a
        sample that moves by radius moves its distance by at most radius: Laplace noise of scale
        radius/(ε/2n) makes a test cost ε/2n, and those of a window ε/2. A publication takes half of
        what those of the last w−1 samples have left of ε/2, so that s ≤ ε/2 implies
        s + (ε/2 − s)/2 ≤ ε/2; planar Laplace noise of scale radius/εᵢ makes it cost εᵢ. Losses grow
        in proportion to the distance.""",
        paper="""Li, Chowdhury, Fawaz & Kim (2021). The radius comes from the public scene, not from
        the region that is looked at; the noise of a test has the radius in it; budgets are whole
        numbers. Where ``skip`` and ``threshold`` are not told they follow from w, radius and ε,
        which are public; that they follow so was chosen by measurement on simulated participants
        and
        published ones.""",
    )
    name: ClassVar[str] = "kaleido"
    paper: ClassVar[str] = (
        "Li, Chowdhury, Fawaz & Kim (2021), Kaleido: real-time privacy control for eye-tracking "
        "systems; Kellaris, Papadopoulos, Xiao & Papadias (2014); Andrés et al. (2013)"
    )

    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "epsilon": 4.0,
            "window": 2,
            "radius": 2.0,
            "scene": WIDE_GAME,
            "skip": 2,
            "threshold": 12.0,
        },
        {"epsilon": 2.0, "window": 2, "radius": 5.65, "scene": NARROW_GAME},
    )
    rule: ClassVar[float] = HALVING

    skips: ClassVar[bool] = True

    skip: int | None = parameter("samples from test to test (default: w/√ε)", default=None)
    threshold: float | None = parameter(
        "how far gaze must have moved to be published anew (default: radius·max(1, 4/ε))",
        default=None,
    )

    def __post_init__(self) -> None:
        skip = self.skip
        if skip is not None and (not isinstance(skip, int) or not 1 <= skip <= self.window):
            raise InputError(
                f"skip must be a whole number between 1 and w = {self.window}, got {skip}"
            )
        super().__post_init__()
        if not 0 <= self.least_distance <= self.place.diameter:
            raise InputError(
                f"threshold must be between 0 and the scene's diameter, "
                f"{self.place.diameter:g}, got {self.threshold}"
            )
        # As they are, so that a certificate says them.
        object.__setattr__(self, "skip", self.slot_samples)
        object.__setattr__(self, "threshold", self.least_distance)

    @property
    def slot_samples(self) -> int:
        """``skip``, or what was measured to be about the best: the more ε, the more tests."""
        if self.skip is not None:
            return self.skip
        return math.ceil(self.window / max(1, round(math.sqrt(self.epsilon))))

    @property
    def least_distance(self) -> float:
        """``threshold``, or half the error of a publication, but not less than the radius."""
        if self.threshold is not None:
            return self.threshold
        return min(self.radius * max(1.0, 4 / self.epsilon), self.place.diameter)

    @property
    def threshold_steps(self) -> int:
        """The least distance in grid steps."""
        return math.floor(self.least_distance / self.step)

    @property
    def test_parts(self) -> int:
        """Half of ε, over the tests that any w samples in a row can have."""
        return WHOLE // 2 // math.ceil(self.window / self.slot_samples)

    @property
    def publish_parts(self) -> int:
        """The other half."""
        return WHOLE // 2
