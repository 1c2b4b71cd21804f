"""Means over groups that chance has put together, without noise; and how groups are made."""

from eyelid.mechanisms.groups import ksame

__all__ = ["ksame"]
