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
            "make one with 'eyelid simulate', or from your own table as docs/study-folder.md shows"
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
    path = Path(path)
    if study.origin is not None:
        if ledger is None:
            return study.origin
        book = Ledger.create(ledger)
        book.register(study.origin.id)
        return Origin(study.origin.id, book.path.absolute())
    place = Path(ledger).absolute() if ledger is not None else study_folder.ledger_beside(path)
    fresh = not place.exists()
    # The ledger settles the id: whoever comes at the same time gets the same one.
    origin = Origin(Ledger.create(place).origin_of_folder(path.absolute().name), place)
    try:
        study_folder.adopt(path, origin)
    except InputError as error:
        if ledger is None:
            if fresh:
                place.unlink(missing_ok=True)
            raise InputError(
                f"{error}; to leave the folder alone, count with --ledger FILE"
            ) from None
    return origin
