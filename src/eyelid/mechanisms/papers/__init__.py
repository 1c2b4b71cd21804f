"""Mechanisms as their papers print them, to compare with. None of them holds; each says why."""

from eyelid.mechanisms.papers import exponential, fourier, ksame, lpa, maps, marginals

__all__ = ["exponential", "fourier", "ksame", "lpa", "maps", "marginals"]
