"""Bozkir et al. 2021, Differential privacy for eye tracking with temporal correlations."""

from __future__ import annotations

from eyelid.papers.bozkir2021.reproducing import reproduce

__all__ = ["reproduce"]
