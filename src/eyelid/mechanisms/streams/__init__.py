"""Filters for gaze that is still coming in, and the same for recordings."""

from eyelid.mechanisms.streams import kaleido

__all__ = ["kaleido"]
