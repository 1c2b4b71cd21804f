"""Filters for gaze that is still coming in, and the same for recordings."""

from eyelid.mechanisms.streams import ba, bd, dwell, fixations, kaleido, sample, uniform

__all__ = ["ba", "bd", "dwell", "fixations", "kaleido", "sample", "uniform"]
