"""Read whatever a person points at."""

from __future__ import annotations

from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.study import Study, check
from eyelid.io import study_folder


def read(path: Path | str) -> Study:
    """The study at ``path``.

    Args:
        path: a study folder.

    >>> read("no/such/place")
    Traceback (most recent call last):
    eyelid.errors.InputError: no/such/place does not exist: give a study folder
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist: give a study folder")
    if not study_folder.recognises(path):
        raise InputError(
            f"{path} is not a study folder (it has no study.json): "
            "make one with 'eyelid simulate', or from your own table as docs/study-folder.md shows"
        )
    return check(study_folder.read_study(path))
