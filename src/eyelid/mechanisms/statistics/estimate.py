"""One result, with its interval and test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """One result.

    Attributes:
        estimate: in the measure's own unit.
        low: end of the 95% interval, which covers sampling, noise and clipping; None where there
            is none.
        high: the other end.
        noise_sd: of the noise alone.
        people: over how many.
        unit: of all of them; ``1`` of shares and rank statistics.
        p: of a test that there is no effect, noise included; None where there is none.
        note: what to know of it.
        shares: of sampling, noise and clipping in the squared width, together 1; empty where there
            is no interval.
    """

    estimate: float | None
    low: float | None
    high: float | None
    noise_sd: float | None
    people: int
    unit: str
    p: float | None = None
    note: str = ""
    shares: tuple[float, ...] = ()
