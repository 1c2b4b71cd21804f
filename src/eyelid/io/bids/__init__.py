"""BIDS datasets of eye tracking, both ways."""

from eyelid.io.bids.reading import DESCRIPTION, is_ours, read_folder, recognises_folder
from eyelid.io.bids.writing import write_bids

__all__ = ["DESCRIPTION", "is_ours", "read_folder", "recognises_folder", "write_bids"]
