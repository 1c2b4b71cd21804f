"""Filters for gaze that is still coming in, and the same for recordings."""

from eyelid.mechanisms.streams import (
    ba,
    bd,
    continual,
    fixations,
    jitter,
    kaleido,
    kalman,
    pink,
    sample,
    spatial,
    temporal,
    uniform,
)

__all__ = [
    "ba",
    "bd",
    "continual",
    "fixations",
    "jitter",
    "kaleido",
    "kalman",
    "pink",
    "sample",
    "spatial",
    "temporal",
    "uniform",
]
