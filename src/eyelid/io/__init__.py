"""Reading and writing recordings: one module per format."""

from eyelid.io.reading import read
from eyelid.io.study_folder import write

__all__ = ["read", "write"]
