"""Read whatever a person points at."""

from __future__ import annotations

from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study, check
from eyelid.io import study_folder
from eyelid.privacy.ledger import Ledger

# What a ledger of somebody's choice calls people who have no origin: all of them the same.
UNNAMED = "unnamed"


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
            "make one with 'eyelid simulate' or write one with eyelid.write"
        )
    return check(study_folder.read_study(path))


def origin_of(study: Study, path: Path | str, ledger: Path | str | None = None) -> Origin:
    """The origin that whatever is made of the study at ``path`` inherits.

    A folder that somebody made by hand gets one now, written into its study.json, with a ledger
    beside it: later studies and releases then find the same one.

    Args:
        study: as read.
        path: where it was read.
        ledger: count in this file instead of the study's own.
    """
    if ledger is not None:
        known = study.origin.id if study.origin else UNNAMED
        return Origin(known, Ledger.create(ledger).path.absolute())
    if study.origin is not None:
        return study.origin
    origin = study_folder.new_origin(Path(path))
    Ledger.create(study_folder.ledger_beside(Path(path)))
    study_folder.adopt(Path(path), origin)
    return origin
