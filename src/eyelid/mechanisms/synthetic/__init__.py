"""Synthetic participants and rows, drawn from what was measured under noise."""

from eyelid.mechanisms.synthetic import seeded, synthetic

__all__ = ["seeded", "synthetic"]
