"""Mechanisms as their papers print them, to compare with. None of them holds; each says why."""

from eyelid.mechanisms.papers import exponential, fourier, lpa, maps

__all__ = ["exponential", "fourier", "lpa", "maps"]
