"""Whose budget is spent: the origin that everything made of a study inherits."""

from __future__ import annotations

from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study
from eyelid.io import study_folder
from eyelid.privacy.ledger import Ledger

# What a ledger of somebody's choice calls people who have no origin: all of them the same.
UNNAMED = "unnamed"


def origin_of(study: Study, path: Path | str, ledger: Path | str | None = None) -> Origin:
    """The origin that whatever is made of the study at ``path`` inherits.

    A study folder that somebody made by hand gets one now, written into its study.json, with a
    ledger beside it. Recordings as a tracker wrote them are not touched: the ledger beside them
    knows them by their name. Later studies and releases then find the same one.

    Args:
        study: as read.
        path: where it was read.
        ledger: count in this file instead of the study's own.
    """
    if study.origin is not None:
        return study.origin if ledger is None else counted_in(study.origin, ledger)
    path = Path(path)
    place = Path(ledger).absolute() if ledger is not None else study_folder.ledger_beside(path)
    fresh = not place.exists()
    # The ledger settles the id: whoever comes at the same time gets the same one.
    origin = Origin(Ledger.create(place).origin_of_folder(path.absolute().name), place)
    if not study_folder.recognises(path):
        return origin
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


def origin_so_far(
    study: Study, path: Path | str, ledger: Path | str | None = None
) -> Origin | None:
    """The origin that the study at ``path`` has already; looking leaves no trace.

    Args:
        study: as read.
        path: where it was read.
        ledger: the file that may know it, instead of the one beside it.
    """
    path = Path(path)
    place = Path(ledger).absolute() if ledger is not None else study_folder.ledger_beside(path)
    if study.origin is not None or study_folder.recognises(path) or not place.exists():
        return study.origin
    name = Ledger(place).known_folder(path.absolute().name)
    return None if name is None else Origin(name, place)


def counted_in(own: Origin | None, ledger: Path | str) -> Origin:
    """The same people, counted in a file of somebody's choice."""
    book = Ledger.create(ledger)
    name = own.id if own else UNNAMED
    book.register(name)
    return Origin(name, book.path.absolute())
