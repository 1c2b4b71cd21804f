"""Whose budget is spent: the origin that everything made of a study inherits."""

from __future__ import annotations

from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study
from eyelid.io import study_folder
from eyelid.privacy.ledger import Ledger

# What a ledger of somebody's choice calls people who have no origin: all of them the same.
UNNAMED = "unnamed"
# One for all recordings in a folder; their own names may tell who they are of.
RECORDINGS_LEDGER = "recordings" + study_folder.LEDGER_SUFFIX


def ledger_place(path: Path | str) -> Path:
    """Where the people of a study folder, or of recordings, are counted by default."""
    path = Path(path).resolve()
    if study_folder.recognises(path):
        return study_folder.ledger_beside(path)
    return path.with_name(RECORDINGS_LEDGER)


def origin_so_far(
    study: Study, path: Path | str, ledger: Path | str | None = None
) -> Origin | None:
    """The origin that the study at ``path`` has already; looking leaves no trace.

    Args:
        study: as read.
        path: where it was read.
        ledger: the file that may know it, instead of the study's own.
    """
    if ledger is None and study.origin is not None:
        return study.origin
    place = ledger_place(path) if ledger is None else Path(ledger).absolute()
    if not place.exists() or (ledger is None and study_folder.recognises(Path(path))):
        return None
    book = Ledger(place)
    if study.origin is not None:
        return Origin(study.origin.id, place) if book.knows(study.origin.id) else None
    home = book.known_folder(Path(path).resolve().name)
    return None if home is None else Origin(home, place)


def origin_of(study: Study, path: Path | str, ledger: Path | str | None = None) -> Origin:
    """The origin that whatever is made of the study at ``path`` inherits.

    A study folder that somebody made by hand gets one now, written into its study.json, with a
    ledger beside it. Recordings as a tracker wrote them are not touched: the ledger beside them
    knows them by their name. Later studies and releases then find the same one.

    Args:
        study: as read.
        path: where it was read.
        ledger: count in this file instead of the study's own. If these people are counted somewhere
            else already, the file remembers that it does not know all.
    """
    own = origin_so_far(study, path)
    if own is not None and (ledger is None or own.ledger == Path(ledger).absolute()):
        return own
    path = Path(path)
    place = ledger_place(path) if ledger is None else Path(ledger).absolute()
    fresh = not place.exists()
    book = Ledger.create(place)
    if study.origin is not None:
        return _counted_as(study.origin.id, book)
    known = book.known_folder(path.resolve().name)
    # The ledger settles the id: whoever comes at the same time gets the same one.
    origin = Origin(book.origin_of_folder(path.resolve().name), place)
    if own is not None and known != own.id:
        book.mark_incomplete(origin.id)
    if study_folder.recognises(path):
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


def counted_in(own: Origin | None, ledger: Path | str) -> Origin:
    """The same people, counted in a file of somebody's choice."""
    return _counted_as(own.id if own else UNNAMED, Ledger.create(ledger))


def _counted_as(name: str, book: Ledger) -> Origin:
    if not book.knows(name):
        book.register(name)
        if name != UNNAMED:
            # They come from somewhere, where something may have been counted.
            book.mark_incomplete(name)
    return Origin(name, book.path.absolute())
