"""BIDS datasets of eye tracking, both ways."""

from eyelid.io.bids.reading import DESCRIPTION, is_ours, read_folder, recognises_folder

__all__ = ["DESCRIPTION", "is_ours", "read_folder", "recognises_folder"]
