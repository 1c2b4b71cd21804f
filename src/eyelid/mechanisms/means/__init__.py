"""Means over everybody or over groups, under noise, one mechanism a module."""

from eyelid.mechanisms.means import groupmean, ksame_dp

__all__ = ["groupmean", "ksame_dp"]
