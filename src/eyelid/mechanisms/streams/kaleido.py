"""Kaleido: repeat a noisy point until gaze has moved away from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import parameter, register
from eyelid.mechanisms.streams.filter import WHOLE, Filter, Kernel
from eyelid.mechanisms.streams.halving import halving


@register
@dataclass(frozen=True, kw_only=True)
class Kaleido(Filter):
    """A noisy place for every fixation, found by noisy tests.

    Takes: gaze samples; each is clamped to the public scene and put on a public grid. Lost samples
    repeat the last output and keep their slot.

    Protects: any w samples in a row, each moved by at most radius, with pure ε-DP. Time stamps and
    which samples are lost are released as they are. A person's total is R·⌈T/w⌉·ε·max(1, D/radius).

    Why: a test every ``skip`` samples, whatever came of the last one, so that a window has at most
    n = ⌈w/skip⌉, by index alone. Given the outputs so far the last one is fixed, so a sample that
    moves by radius moves its distance by at most radius: Laplace noise of scale radius/(ε/2n) makes
    a test cost ε/2n, and those of a window ε/2. A publication takes half of what the publications of
    the last w−1 samples have left of ε/2, so that s ≤ ε/2 implies s + (ε/2 − s)/2 ≤ ε/2; planar
    Laplace noise of scale radius/εᵢ makes it cost εᵢ. Losses grow in proportion to the distance.

    Paper: Li, Chowdhury, Fawaz & Kim (2021). The radius comes from the public scene, not from the
    region that is looked at; the noise of a test has the radius in it; budgets are whole numbers.
    """

    name: ClassVar[str] = "kaleido"
    paper: ClassVar[str] = (
        "Li, Chowdhury, Fawaz & Kim (2021), Kaleido: real-time privacy control for eye-tracking "
        "systems; Kellaris, Papadopoulos, Xiao & Papadias (2014); Andrés et al. (2013)"
    )

    skip: int | None = parameter("samples from test to test (default: a fifth of w)", default=None)
    threshold: float | None = parameter(
        "how far gaze must have moved to be published anew (default: radius)", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.skip is None:
            object.__setattr__(self, "skip", max(1, math.ceil(self.window / 5)))
        if self.threshold is None:
            object.__setattr__(self, "threshold", float(self.radius))
        if not 1 <= self.samples_between_tests <= self.window:
            raise InputError(f"skip must be between 1 and w = {self.window}, got {self.skip}")
        if not (math.isfinite(self.least_distance) and self.least_distance >= 0):
            raise InputError(f"threshold must be at least 0, got {self.threshold}")

    @property
    def samples_between_tests(self) -> int:
        """``skip``, once it is set."""
        return int(self.skip or 1)

    @property
    def least_distance(self) -> float:
        """``threshold``, once it is set."""
        return float(self.threshold or 0.0)

    @property
    def tests_in_window(self) -> int:
        """The most tests that any w samples in a row can have."""
        return math.ceil(self.window / self.samples_between_tests)

    @property
    def test_parts(self) -> int:
        """Half of ε, over the tests of a window."""
        return WHOLE // 2 // self.tests_in_window

    @property
    def publish_parts(self) -> int:
        """The other half."""
        return WHOLE // 2

    def settings(self) -> list[float]:
        """Samples between tests, and the threshold in steps."""
        return [
            float(self.samples_between_tests),
            float(math.floor(self.least_distance / self.step)),
        ]

    def kernel(self) -> Kernel:
        """Half of what is left."""
        return halving
