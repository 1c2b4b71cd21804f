"""Whose budget is spent: the origin that everything made of a study inherits."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from eyelid.errors import InputError, Refused
from eyelid.gaze.study import Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.remote import here, is_remote
from eyelid.io.same_people import (
    LEDGER_SUFFIX,
    UNNAMED,
    Entry,
    ledger_here,
    noticed,
    one_account,
    registered,
    stated,
    stays_within,
)
from eyelid.privacy.accounts import Gap, Joined
from eyelid.privacy.ledger import Ledger
from eyelid.privacy.ledger_file import is_same_file

# One for all recordings in a folder; their own names may tell who they are of.
RECORDINGS_LEDGER = "recordings" + study_folder.LEDGER_SUFFIX
_IS_LEDGER = b"SQLite format 3\x00"
_NOT_TOGETHER = (
    "these people are counted already, and not together with the others: join both with 'eyelid "
    "budget IN --join OTHER'"
)

People = Study | FeatureTable | Path | str
"""What tells of some people: a study, its folder or recordings, or the ledger that counts them."""


def origin_so_far(
    study: Study, path: Path | str, ledger: Path | str | None = None
) -> Origin | None:
    """The origin that the study at ``path`` has already; looking leaves no trace.

    Args:
        study: as read.
        path: where it was read.
        ledger: the file that may know it, instead of the study's own. For a study that has an
            origin, one that does not know it is refused.
    """
    path = here(path).resolve()
    if study.origin is not None:
        return study.origin if ledger is None else counted_there(study.origin, ledger)
    if ledger is None:
        return None if study_folder.recognises(path) else _known_beside(path)
    place = ledger_here(ledger)
    home = Ledger(place).known_folder(path.name) if place.exists() else None
    return None if home is None else Origin(home, place)


def own_origin(study: Study, path: Path | str, ledger: Path | str | None) -> Origin | None:
    """The origin that a study has by itself, also where the user has chosen another ledger for it.

    Args:
        study: as read.
        path: where it was read.
        ledger: the chosen one. Of what stands beside the study it may be a copy, or what was lost.
    """
    if ledger is None:
        return origin_so_far(study, path)
    with suppress(InputError):
        return origin_so_far(study, path)
    return None


def _known_beside(path: Path) -> Origin | None:
    """Who recordings are to the ledger beside them, or beside a folder that they are part of."""
    for part in (path, *path.parents):
        place = part.with_name(RECORDINGS_LEDGER) if part.name else part
        if part.name and place.is_file():
            home = Ledger(place).known_folder(part.name)
            if home is not None:
                return Origin(home, place)
    return None


def counting_ledger(own: Origin | None) -> Ledger | None:
    """The ledger that counts an origin; None where there is none, or none that is theirs."""
    if own is None or own.ledger is None or not own.ledger.exists():
        return None
    with suppress(InputError):
        found = Ledger.counting(own.ledger, own.id)
        return found if found.knows(own.id) else None
    return None


def is_chosen(own: Origin, ledger: Path | str) -> bool:
    """Whether a chosen ledger is the one that a study names, or the one that counts it."""
    place, book = ledger_here(ledger), counting_ledger(own)
    named = own.ledger is not None and is_same_file(own.ledger, place)
    return named or (book is not None and is_same_file(book.path, place))


def counted_there(own: Origin, ledger: Path | str) -> Origin:
    """These people's origin, counted in a file of their owner's choice, which must know them.

    Args:
        own: what the study says.
        ledger: its own, or the one that was moved there.
    """
    place, book = ledger_here(ledger), counting_ledger(own)
    if is_chosen(own, ledger):
        return own
    if book is not None:
        raise InputError(f"these people are counted in {book.path}: leave out `ledger`")
    if not place.exists():
        raise InputError(
            f"these people have a ledger, and {place} is not there: bring theirs back, or say "
            "where it is with `ledger=…`; if it is lost for good, 'eyelid budget IN --lost' "
            "goes on without a total"
        )
    found = Ledger.counting(place, own.id)
    found.check_knows(own.id)
    return Origin(own.id, place)


def origin_of(study: Study, path: Path | str, ledger: Path | str | None = None) -> Origin:
    """The origin that whatever is made of the study at ``path`` inherits, as `enter` gives it."""
    return enter(study, path, ledger).origin


def enter(
    study: Study,
    path: Path | str,
    ledger: Path | str | None = None,
    same_people_as: People | None = None,
) -> Entry:
    """Have the ledger know the people of the study at ``path``, and what to call them.

    A study folder that was made by hand gets an origin now, written into its study.json, with a
    ledger beside it. Recordings as a tracker wrote them are not touched: the ledger beside them
    knows them by their name. Later studies and releases then find the same one.

    Args:
        study: as read.
        path: where it was read.
        ledger: count in this file. It must know a study that has an origin. The ids of other people
            tell whether it has counted them before, and they are counted together with those.
        same_people_as: what tells of people who are the same.
    """
    path = here(path).resolve()
    other = None if same_people_as is None else people_of(same_people_as)
    people = study.people["person"].to_list()
    own = own_origin(study, path, ledger)
    if own is not None and other is not None:
        check_same_people(own, other)
    if study.origin is not None:
        known = study.origin if ledger is None else counted_there(study.origin, ledger)
        return looked_around(Entry(known), people, path)
    if own is not None and (ledger is None or is_chosen(own, ledger)):
        return looked_around(Entry(own), people, path)
    made_by_hand = study_folder.recognises(path)
    entry = None if other is None else stated(other, people)
    place = _place(path, ledger, entry, made_by_hand)
    fresh = not place.exists()
    book = Ledger.create(place)
    counted = counting_ledger(own)
    if own is not None and counted is not None:
        counted.mark_incomplete(own.id)
    if entry is None and ledger is not None and book.known_folder(path.name) is None:
        entry = _among(book, people)
    # The ledger settles the id: whoever comes at the same time gets the same one.
    wanted = None if entry is None else entry.origin.id
    origin = Origin(book.origin_of_folder(path.name, wanted, people), place)
    if wanted is not None and origin.id not in book.account(wanted):
        raise InputError(_NOT_TOGETHER)
    if own is not None:
        # Counted elsewhere as they are; in parts is looked for below.
        book.mark_incomplete(origin.id)
    if made_by_hand and not is_remote(path):
        try:
            study_folder.adopt(path, origin)
        except InputError as error:
            if ledger is None:
                if fresh:
                    place.unlink(missing_ok=True)
                raise InputError(
                    f"{error}; to leave the folder alone, count with `ledger=…`"
                ) from None
    notes = () if entry is None else entry.notes
    if fresh and book.exposed:
        notes = (*notes, book.exposed)
    return looked_around(Entry(origin, notes), people, path)


def _place(path: Path, ledger: Path | str | None, entry: Entry | None, made_by_hand: bool) -> Path:
    """Where people are counted who have no origin yet."""
    if entry is not None and entry.origin.ledger is not None:
        if ledger is not None and not is_same_file(entry.origin.ledger, ledger_here(ledger)):
            raise InputError(
                f"the same people are counted in {entry.origin.ledger}: leave out `ledger`"
            )
        return entry.origin.ledger
    if ledger is not None:
        return ledger_here(ledger)
    if made_by_hand:
        return study_folder.ledger_beside(path)
    study_folder.check_takes_ledger(path)
    return path.with_name(RECORDINGS_LEDGER)


def _among(book: Ledger, people: Sequence[str]) -> Entry | None:
    """The people of a chosen ledger who have some of these ids; None where nobody has."""
    found = one_account(book, people)
    if found is None:
        return None
    book.register(found.origin, people)
    return Entry(Origin(found.origin, book.path), (registered(book, found.shared, len(people)),))


def looked_around(entry: Entry, people: Sequence[str], path: Path | None = None) -> Entry:
    """Look for other ledgers that know the ids of some people, as `noticed` says.

    Args:
        entry: of the people.
        people: their ids.
        path: where they were read; None for those whom only Python knows.
    """
    origin = entry.origin
    book = counting_ledger(origin)
    if book is None or origin.ledger is None:
        return entry
    folders = [origin.ledger.parent, book.path.parent]
    if path is None:
        return noticed(entry, book, people, *folders)
    folders += [path.parent, *(file.parent for file in _ledgers_inside(path))]
    entry = noticed(entry, book, people, *folders, within=path)
    parts = _parts(origin, people, path)
    doubted = {doubt.other for doubt in book.doubts(origin.id)} if parts else set[str]()
    for there, part in parts:
        # Of the same recordings under other ids nobody can say who was in both.
        if doubted.isdisjoint(there.account(part)):
            there.mark_incomplete(part)
            book.mark_incomplete(origin.id)
    return entry


def _ledgers_inside(path: Path) -> list[Path]:
    """The ledgers within a folder of recordings, which count parts of it; no links out of it."""
    if not path.is_dir():
        return []
    return [file for file in sorted(path.rglob(f"*{LEDGER_SUFFIX}")) if stays_within(file, path)]


def _parts(own: Origin | None, people: Sequence[str], path: Path) -> list[tuple[Ledger, str]]:
    """What ledgers within a folder of recordings count of it, or of its people, on their own.

    Args:
        own: of the folder. What is counted together with it, or was set apart, is left out.
        people: their ids.
        path: the folder.
    """
    inside = _ledgers_inside(path)
    if not inside:
        return []
    mine = counting_ledger(own)
    account: tuple[str, ...] = ()
    if own is not None and mine is not None:
        account, people = mine.account(own.id), mine.true_names(own.id, people)
    found: dict[tuple[str, str], tuple[Ledger, str]] = {}
    for file in inside:
        # Other programs have files of that name, too.
        with suppress(InputError):
            there = Ledger(file)
            parts = {one for name, one in there.homes().items() if (file.parent / name).exists()}
            parts |= {one for each in there.alike(people) for one in each.origins}
            for part in sorted(parts):
                book = Ledger.counting(file, part)
                if own is not None and mine is not None:
                    together = is_same_file(book.path, mine.path) and part in account
                    if together or mine.is_apart(own.id, book.account(part)):
                        continue
                found[book.name, part] = book, part
    return list(found.values())


def refuse_to_pass_parts(study: Study, path: Path | str, ledger: Path | str | None) -> None:
    """Refuse a folder of recordings while a part of it has a limit that it would not keep.

    Args:
        study: as read.
        path: where it was read.
        ledger: that is chosen for it.
    """
    path = here(path).resolve()
    people = study.people["person"].to_list()
    for book, part in _parts(own_origin(study, path, ledger), people, path):
        limit = book.allowance(part)
        if limit is None or (ledger is not None and is_same_file(book.path, ledger_here(ledger))):
            continue
        raise Refused(
            f"{book.path} counts a part of {path} under a limit of ε = {limit.epsilon:g}, which "
            f"would not be kept by the whole: count both together with 'eyelid budget {path} "
            f"--join {book.path}', which keeps the limit, or lift it with 'eyelid budget PART "
            "--no-limit'"
        )


def counted_in(own: Origin | None, ledger: Path | str, people: Sequence[str]) -> Entry:
    """People whom only Python knows, counted in a file of their owner's choice.

    Args:
        own: their origin, if they have one; then the file must know it.
        ledger: of choice.
        people: their ids, which tell whether the ledger has counted them before.
    """
    if own is not None:
        return looked_around(Entry(counted_there(own, ledger)), people)
    book = Ledger.create(ledger_here(ledger))
    known = _among(book, people)
    if known is not None:
        return known
    book.register(UNNAMED, people)
    own_book = Ledger.counting(book.path, UNNAMED)
    return noticed(Entry(Origin(UNNAMED, book.path)), own_book, people, book.path.parent)


def people_of(other: People) -> Origin | Path:
    """What tells of some people: their origin, or the ledger that counts them.

    Args:
        other: a study, its folder or recordings, or a ledger.
    """
    if isinstance(other, Study | FeatureTable):
        found = other.origin
    else:
        path = here(other).resolve()
        if _is_ledger(path):
            return path
        if study_folder.recognises(path):
            head = study_folder.read_head(path, pl.DataFrame())
            found = head.origin
            book = counting_ledger(found)
            if found is not None and book is not None:
                _note_people(book, found.id, head.people["person"].to_list())
        else:
            if not path.exists():
                raise InputError(f"{path} is not there: name a study or a ledger")
            found = _known_beside(path)
    if found is None:
        raise InputError(
            "no ledger counts the people of the other study yet: write or convert it first, or "
            "name the ledger that counts them"
        )
    return found


def _note_people(book: Ledger, origin: str, people: Sequence[str]) -> None:
    """Note whom a study has, which earlier versions have not; later ids may be other names."""
    if not book.people(origin):
        book.register(origin, people)


def _is_ledger(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_IS_LEDGER)) == _IS_LEDGER


def check_same_people(own: Origin, other: Origin | Path) -> None:
    """Fail unless people who are counted already are counted together with some others.

    Args:
        own: of the people.
        other: whom they are said to be.
    """
    book = counting_ledger(own)
    if book is not None:
        if isinstance(other, Origin):
            together = other.id in book.account(own.id)
        else:
            together = is_same_file(book.path, other)
        if together:
            return
    raise InputError(_NOT_TOGETHER)


def join_people(own: Origin, other: People, people: Sequence[str]) -> Joined:
    """Count two studies of the same people together, from now on and for what was released.

    Args:
        own: of one study.
        other: what tells of the people of the other.
        people: ids of the first.
    """
    book, there, origins = _both(own, other, people)
    return book.join(own.id, there, origins)


def set_people_apart(own: Origin, other: People, people: Sequence[str]) -> None:
    """Count two studies apart, whose people have the same ids and are not the same.

    Args:
        own: of one study.
        other: what tells of the people of the other.
        people: ids of the first.
    """
    book, there, origins = _both(own, other, people)
    account = book.account(own.id)
    # Whichever of an account a doubt names, it is of all.
    others = sorted({kin for origin in origins for kin in there.account(origin)})
    for origin in origins:
        there.set_apart(origin, account)
    book.set_apart(own.id, others)


def _both(own: Origin, other: People, people: Sequence[str]) -> tuple[Ledger, Ledger, list[str]]:
    """The ledger of some people, that of others, and the origins of these others there."""
    assert own.ledger is not None, "they are counted"
    book = Ledger.counting(own.ledger, own.id)
    _note_people(book, own.id, people)
    found = people_of(other)
    if isinstance(found, Origin):
        if found.ledger is None:
            raise InputError("the other study names no ledger: name the ledger that counts it")
        there = Ledger.counting(found.ledger, found.id)
        # People whose join was stopped are known, though nothing is counted of them.
        if not there.knows(found.id):
            there.check_knows(found.id)
        origins = [found.id]
    else:
        there = Ledger(found)
        same = is_same_file(there.path, book.path)
        alike = there.alike(book.people(own.id), besides=own.id if same else None)
        origins = [origin for each in alike for origin in each.origins]
        for forward in there.forwards() if not origins else ():
            raise InputError(f"the people of {found} are counted in {forward.place} already")
        if same and not origins:
            raise InputError("both are the same people to the ledger already")
    if not origins:
        raise InputError(
            f"no id of this study is known to {found}: the same people must have the same ids to "
            "be counted together, and others need nothing said"
        )
    same = is_same_file(there.path, book.path)
    if same and set(origins) <= set(book.account(own.id)):
        raise InputError("both are the same people to the ledger already")
    return book, there, origins


def begun_anew(
    own: Origin | None, ledger: Path | str | None, people: Sequence[str], path: Path | None = None
) -> Origin:
    """Go on after a ledger was lost: in a new one that knows that something is missing.

    Args:
        own: what the study says.
        ledger: where the new one is to be; where the lost one was by default, if that is beside
            the study. Who wrote its study.json does not choose other places to write at.
        people: their ids.
        path: of the study; None for one that only Python knows.

    Raises:
        InputError: nothing is lost.
    """
    if own is None:
        raise InputError("nothing was counted of these people yet, so no ledger is lost")
    there = counting_ledger(own)
    if there is not None:
        raise InputError(
            f"the ledger {there.path} is there and knows these people: leave out `lost`"
        )
    place = own.ledger if ledger is None else ledger_here(ledger)
    if place is None:
        raise InputError(
            "these data name their origin and not its ledger: say with `ledger=…` where the new "
            "one is to be"
        )
    if ledger is None and (path is None or place.parent != here(path).resolve().parent):
        raise InputError(
            f"the lost ledger was {place}, as the study says, which is not beside it: say with "
            "`ledger=…` where the new one is to be, there or elsewhere"
        )
    book = Ledger.create(ledger_here(place))
    if book.knows(own.id):
        raise InputError(f"the ledger {place} knows these people: give it with `ledger`")
    # In one step: a ledger that knows these people knows that it does not know all.
    book.register(own.id, people, Gap.LOST)
    return Origin(own.id, place)
