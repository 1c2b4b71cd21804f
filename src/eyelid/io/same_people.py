"""Whether the people of a new study are counted already: by its owner's word, or by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from eyelid.engine.atomic import check_apart
from eyelid.engine.remote import check_here, on_this_machine
from eyelid.errors import InputError
from eyelid.gaze.study import Origin
from eyelid.io.study_json import read_about
from eyelid.privacy.accounts import Alike, Doubt
from eyelid.privacy.ledger import Ledger
from eyelid.privacy.ledger_file import is_same_file
from eyelid.spelling import in_quotes, plural

LEDGER_SUFFIX = ".ledger"
# Folders beside a ledger that are looked at for the name of a study, and names that are shown.
_MOST_LOOKED_AT, _MOST_NAMED = 1000, 3
UNNAMED = "unnamed"
"""What a ledger calls people whom only Python knows: all of them the same."""


@dataclass(frozen=True)
class Entry:
    """People who have entered a ledger.

    Attributes:
        origin: what they are called there.
        notes: what their owner should know.
    """

    origin: Origin
    notes: tuple[str, ...] = ()


def ledger_here(ledger: Path | str) -> Path:
    """The file of a ledger; refused elsewhere, where nobody could lock it.

    A new one is refused in a study or release, which is passed on with all that lies in it: a
    ledger holds true names.
    """
    ledger = on_this_machine(ledger)
    check_here(ledger, "a ledger")
    if not ledger.exists():
        check_apart(ledger)
    return ledger.resolve()


def stated(other: Origin | Path, people: Sequence[str]) -> Entry:
    """The people of a new study, who are those of another, as its owner says.

    Args:
        other: what the other study calls its people, or the ledger that counts them.
        people: ids of the new study.

    Raises:
        InputError: no id is the same, so that nothing would add up, or a ledger has several people
            of such ids.
    """
    book, origin = _meant(other, people)
    shared = sum(each.shared for each in book.alike(people) if origin in each.origins)
    if not shared:
        raise InputError(
            f"none of these {plural(len(people), 'id')} is known to {book.path}: the same people "
            "must have the same ids to be counted together; write them with the ids of the other "
            "study"
        )
    book.register(origin, people)
    return Entry(Origin(origin, book.path), (registered(book, shared, len(people)),))


def _meant(other: Origin | Path, people: Sequence[str]) -> tuple[Ledger, str]:
    """The ledger that counts the people of another study, and what they are called there."""
    if isinstance(other, Path):
        book = Ledger(ledger_here(other))
        found = one_account(book, people)
        return book, "" if found is None else found.origin
    if other.ledger is None:
        raise InputError("the other study names no ledger: name the ledger that counts its people")
    book = Ledger.counting(other.ledger, other.id)
    book.check_knows(other.id)
    return book, other.id


def one_account(book: Ledger, people: Sequence[str]) -> Alike | None:
    """The account of a ledger that has some of these ids; None where there is none.

    Raises:
        InputError: several have.
    """
    found = [each for each in book.alike(people) if each.origin != UNNAMED]
    if len(found) > 1:
        raise InputError(
            f"{book.path} counts {len(found)} groups of people with these ids: join them first "
            "('eyelid budget IN --join STUDY'), or give the new study a ledger of its own"
        )
    return found[0] if found else None


def registered(book: Ledger, shared: int, people: int) -> str:
    """That a new study has people of a ledger, and how many of its ids are new there."""
    new = people - shared
    more = f"; {plural(new, 'id is', 'ids are')} new to it" if new > 0 else ""
    return (
        f"these are people of {book.path}, by {shared} of {plural(people, 'id')}, and are counted "
        f"together with them{more}"
    )


def noticed(
    entry: Entry, own: Ledger, people: Sequence[str], *folders: Path, within: Path | None = None
) -> Entry:
    """People, and a doubt where ledgers nearby know some of their ids for another study.

    The ledgers remember it, and give no total until the owner says whether they are the same.
    Looked for at every entry: studies grow, and are moved beside others.

    Args:
        entry: of the people, who are registered.
        own: the ledger that counts them.
        people: their ids.
        folders: where to look for ledgers.
        within: the recordings, which others may have made: links in there to ledgers elsewhere are
            not followed.
    """
    origin = entry.origin
    with own.transaction():
        unseen = own.is_unseen(origin.id)
        known = () if unseen else own.doubts(origin.id)
        # Pseudonyms are counted from one in every study: the same one is not the same person.
        names = own.true_names(origin.id, people)
    for book in _nearby(own, folders, within):
        same = is_same_file(book.path, own.path)
        for alike in book.alike(names, besides=origin.id if same else None):
            if own.is_apart(origin.id, alike.origins):
                continue
            own.doubt(origin.id, alike.origin, book.path, alike.shared)
            # A ledger that cannot be written is left as it is: this one has the doubt.
            with suppress(InputError):
                book.doubt(alike.origin, origin.id, own.path, alike.shared)
    if unseen:
        own.seen(origin.id)
    before = {doubt.other for doubt in known}
    fresh = [doubt for doubt in own.doubts(origin.id) if doubt.other not in before]
    return Entry(origin, (*entry.notes, *(in_doubt(doubt) for doubt in fresh)))


def in_doubt(doubt: Doubt) -> str:
    """What the owner of people with the same ids as others is asked."""
    place = quote(str(doubt.place))
    names = _named_beside(doubt.place, doubt.other)
    which = f" ({', '.join(names)})" if names else ""
    return (
        f"{doubt.place} counts another study with {plural(doubt.shared, 'id')} of these{which}: "
        "until you say whether they are the same people, no total is given; "
        f"{in_quotes(f'eyelid budget IN --join {place}')} counts them together, with `apart` in "
        "place of `join` as others"
    )


def _named_beside(place: Path, origin: str) -> list[str]:
    """The study folders beside a ledger that have an origin, by their names; a few of them."""
    names = []
    try:
        for folder in sorted(place.parent.iterdir())[:_MOST_LOOKED_AT]:
            if (folder / "study.json").is_file():
                with suppress(InputError):
                    if read_about(folder / "study.json").get("origin") == origin:
                        names.append(folder.name)
    except OSError:
        # They have a name for their owner all the same: that of the ledger.
        return []
    return names[:_MOST_NAMED]


def stays_within(file: Path, folder: Path) -> bool:
    """Whether a file that lies in a folder is there, and no link leads out of it."""
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        # A link to itself.
        return False


def _nearby(own: Ledger, folders: Iterable[Path], within: Path | None) -> list[Ledger]:
    """The ledgers in some folders, those that they point to, and this one; each once."""
    files = [own.path]
    for folder in dict.fromkeys(folders):
        with suppress(OSError):
            near = sorted(folder.glob(f"*{LEDGER_SUFFIX}"))
            if within is not None and folder.resolve().is_relative_to(within.resolve()):
                near = [file for file in near if stays_within(file, within)]
            files += [file for file in near if not is_same_file(file, own.path)]
    found: dict[str, Ledger] = {}
    for file in files:
        # Other programs have files of that name, too.
        with suppress(InputError):
            book = own if file is own.path else Ledger(file)
            with book.transaction():
                name, forwards = book.name, book.forwards()
            found.setdefault(name, book)
            for forward in forwards:
                with suppress(InputError):
                    further = Ledger(forward.place)
                    # Where another ledger is now, or one that a ledger of others names by guess.
                    if further.name == forward.ledger:
                        found.setdefault(further.name, further)
    return list(found.values())
