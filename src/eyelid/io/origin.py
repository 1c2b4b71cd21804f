"""Whose budget is spent: the origin that everything made of a study inherits."""

from __future__ import annotations

from pathlib import Path

from eyelid.engine.remote import check_here
from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study
from eyelid.io import study_folder
from eyelid.io.remote import here, is_remote
from eyelid.privacy.ledger import Ledger

# What a ledger of somebody's choice calls people who have no origin: all of them the same.
UNNAMED = "unnamed"
# One for all recordings in a folder; their own names may tell who they are of.
RECORDINGS_LEDGER = "recordings" + study_folder.LEDGER_SUFFIX


def origin_so_far(
    study: Study, path: Path | str, ledger: Path | str | None = None
) -> Origin | None:
    """The origin that the study at ``path`` has already; looking leaves no trace.

    Args:
        study: as read.
        path: where it was read.
        ledger: the file that may know it, instead of the study's own.
    """
    path = here(path).resolve()
    if ledger is None:
        if study.origin is not None or study_folder.recognises(path):
            return study.origin
        return _known_beside(path)
    place = _ledger_here(ledger)
    if not place.exists():
        return None
    book = Ledger(place)
    if study.origin is not None:
        return Origin(study.origin.id, place) if book.knows(study.origin.id) else None
    home = book.known_folder(path.name)
    return None if home is None else Origin(home, place)


def _known_beside(path: Path) -> Origin | None:
    """Who recordings are to the ledger beside them, or beside a folder that they are part of."""
    for part in (path, *path.parents):
        place = part.with_name(RECORDINGS_LEDGER) if part.name else part
        if part.name and place.is_file():
            home = Ledger(place).known_folder(part.name)
            if home is not None:
                return Origin(home, place)
    return None


def origin_of(study: Study, path: Path | str, ledger: Path | str | None = None) -> Origin:
    """The origin that whatever is made of the study at ``path`` inherits.

    A study folder that somebody made by hand gets one now, written into its study.json, with a
    ledger beside it. Recordings as a tracker wrote them are not touched: the ledger beside them
    knows them by their name. Later studies and releases then find the same one.

    Args:
        study: as read.
        path: where it was read.
        ledger: count in this file instead of the study's own. If these people are counted somewhere
            else already, both files remember that they do not know all.
    """
    path = here(path).resolve()
    own = origin_so_far(study, path)
    if own is not None and (ledger is None or own.ledger == _ledger_here(ledger)):
        return own
    made_by_hand = study_folder.recognises(path)
    if ledger is not None:
        place = _ledger_here(ledger)
    elif made_by_hand:
        place = study_folder.ledger_beside(path)
    else:
        study_folder.check_takes_ledger(path)
        place = path.with_name(RECORDINGS_LEDGER)
    fresh = not place.exists()
    book = Ledger.create(place)
    if own is not None and own.ledger is not None and own.ledger.exists():
        Ledger(own.ledger).mark_incomplete(own.id)
    if study.origin is not None:
        return _counted_as(study.origin.id, book)
    # The ledger settles the id: whoever comes at the same time gets the same one.
    origin = Origin(book.origin_of_folder(path.name), place)
    if own is not None or (path.is_dir() and any(path.rglob(RECORDINGS_LEDGER))):
        # Counted elsewhere, as they are or in parts.
        book.mark_incomplete(origin.id)
    if made_by_hand and not is_remote(path):
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
    book = Ledger.create(_ledger_here(ledger))
    place = own.ledger if own is not None else None
    if own is not None and place is not None and place != book.path and place.exists():
        Ledger(place).mark_incomplete(own.id)
    return _counted_as(own.id if own else UNNAMED, book)


def _ledger_here(ledger: Path | str) -> Path:
    """A ledger of somebody's choice; refused elsewhere, where nobody could lock it."""
    check_here(ledger, "a ledger")
    return Path(ledger).resolve()


def _counted_as(name: str, book: Ledger) -> Origin:
    if not book.knows(name):
        book.register(name)
        if name != UNNAMED:
            # They come from somewhere, where something may have been counted.
            book.mark_incomplete(name)
    return Origin(name, book.path)
