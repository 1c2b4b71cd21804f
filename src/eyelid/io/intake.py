"""How private recordings enter eyelid: read, counted by a ledger, and scrubbed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.leaks import LEAK, Finding, is_pseudonym
from eyelid.io.lint import all_leaks, files_at
from eyelid.io.many_files import Source, leaks_in_files, put_together, read_all
from eyelid.io.origin import (
    People,
    counting_ledger,
    enter,
    is_chosen,
    own_origin,
    refuse_to_pass_parts,
)
from eyelid.io.people_choice import (
    PeopleChoice,
    only,
)
from eyelid.io.pieces import Piece, StudyInPieces, each_piece, in_pieces, of_people, reordered
from eyelid.io.reading import Place, read, read_place
from eyelid.io.release_folder import is_certified
from eyelid.io.row_changes import (
    RowChanges,
    check_stimuli,
)
from eyelid.io.study_leaks import (
    ScrubPlan,
    T,
    excerpt_of_events,
    excerpt_of_recorded,
    findings,
    names_to_replace,
    planned,
    renamed,
    scrubbed,
)
from eyelid.privacy.ledger import Ledger

READING, LOOKING, WRITING = 0.4, 0.1, 0.5
"""What the steps of a conversion take of the whole."""


@dataclass(frozen=True, eq=False)
class Intake:
    """A study that may go on, in pieces, and what was taken out of it.

    Attributes:
        excerpt: as it may go on: without names, clocks and other leaks, with its origin; with an
            excerpt of its rows and events, or all of them.
        cut: as it was read, in the order of people's new names.
        removed: what was taken out.
        people_renamed: how many people got a pseudonym.
        plan: what is still to be taken out of each piece; None where that is done.
        pseudonyms: that the people of each piece still get.
        changes: what is done to people's rows when they are read.
    """

    excerpt: Study
    cut: StudyInPieces
    removed: tuple[Finding, ...] = ()
    people_renamed: int = 0
    plan: ScrubPlan | None = None
    pseudonyms: Mapping[str, str] = field(default_factory=dict)
    changes: RowChanges = field(default_factory=RowChanges)

    def without_rows(self) -> Intake:
        """What workers need besides a piece."""
        events = None if self.excerpt.events is None else self.excerpt.events.clear()
        bare = replace(self.excerpt, data=self.excerpt.data.clear(), events=events)
        return replace(self, excerpt=bare, cut=replace(self.cut, pieces=()), removed=())

    def read(self, piece: Piece) -> Study:
        """Some people of the study, as they may go on."""
        study = self.changes.of(piece.read(self.cut.head, events=True))
        if self.plan is not None:
            study = scrubbed(study, self.plan)
        return renamed(study, self.pseudonyms)


def read_scrubbed(path: Path | str, map: Map = None) -> Study:
    """What is at ``path``, without leaks but for the names of people.

    A study folder is taken as it is: its owner made it, and `eyelid convert` mends it.
    """
    path = Path(path)
    study = read(path, map)
    if study_folder.recognises(path):
        return study
    return scrubbed(study)


def under_pseudonyms(recorded: T, *, ours: bool) -> T:
    """Recordings under the pseudonyms that their ledger keeps, where names are no mere codes.

    Args:
        recorded: with its origin.
        ours: whether eyelid wrote it, so that what looks like a pseudonym is one.
    """
    return renamed(recorded, _pseudonyms(recorded, ours=ours))


def _pseudonyms(recorded: Study | FeatureTable, *, ours: bool) -> dict[str, str]:
    names = names_to_replace(recorded.people, ours=ours)
    if not names:
        return {}
    origin = recorded.origin
    if origin is None or origin.ledger is None:
        raise InputError("pseudonyms are kept in a ledger: say where it is with `ledger=…`")
    everybody = recorded.people["person"].to_list()
    book = Ledger.counting(origin.ledger, origin.id)
    return book.pseudonyms(origin.id, names, everybody)


def is_ours(study: Study, path: Path | str) -> bool:
    """Whether eyelid wrote what was read at ``path``: a study folder, or a copy with an origin."""
    return study_folder.recognises(Path(path)) or study.origin is not None


def counted(study: Study, path: Path | str, ledger: Path | str | None = None) -> Study:
    """What was made of the recordings at ``path``, with their origin and their pseudonyms.

    Args:
        study: made of what `read_scrubbed` gave.
        path: where it was read.
        ledger: count in this file; refused when these people are counted elsewhere already.
    """
    done = _with_origin(study, path, ledger)
    if study_folder.recognises(Path(path)):
        return done
    return under_pseudonyms(done, ours=is_ours(study, path))


def _with_origin(
    study: Study,
    path: Path | str,
    ledger: Path | str | None,
    same_people_as: People | None = None,
) -> Study:
    if study.released:
        # What is made of a release costs nobody anything; and nothing is written into a release.
        return study
    own = own_origin(study, path, ledger)
    book = counting_ledger(own)
    if own is not None and book is not None and ledger is not None and not is_chosen(own, ledger):
        raise InputError(f"this study is counted in {book.path}: leave out `ledger`")
    # Releases of what is made of the folder would not find its parts.
    refuse_to_pass_parts(study, path, ledger)
    entry = enter(study, path, ledger, same_people_as)
    return replace(study, origin=entry.origin, notes=(*study.notes, *entry.notes))


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is wanted of a study that is taken in.

    Attributes:
        check: fails unless such a study can be written; asked before any person is counted.
        ledger: where these people are counted; beside the input by default.
        same_people_as: what tells of people who are the same, as for `convert`.
        keep_names: leave the names of people as they are.
        skip_unreadable: leave out files that cannot be read.
        whom: the people who go on; the ledger gets to know everybody.
    """

    check: Callable[[Study], object]
    ledger: Path | str | None = None
    same_people_as: People | None = None
    keep_names: bool = False
    skip_unreadable: bool = False
    whom: PeopleChoice | None = None


def take_in(
    place: Place, cut: StudyInPieces | None, run: Run, advance: Advance, wanted: Wanted
) -> Intake:
    """Read, scrub and count whatever is at a place, a study folder too.

    Args:
        place: a study folder, a recording, or a folder of recordings.
        cut: the study folder in pieces, where it is one.
        run: whose scratch keeps what is read of a folder of recordings.
        advance: of a bar, by shares of the whole conversion.
        wanted: what is to become of it.
    """
    reading = _part_of(READING, advance)
    files = [] if len(place.files) < 2 else read_all(place, run, reading)
    with given_up_if_unfit(run):
        if files:
            source = put_together(place, files, run, wanted.skip_unreadable)
        elif cut is not None and cut.pieces[0].held is None and len(cut.pieces) > 1:
            source = _of_folder(cut, place, reading)
        else:
            source = Source(read_place(place, wanted.skip_unreadable))
            advance(READING, "reading")
        _check_raw(source.excerpt, place.path)
        found = _leaks(source, place.path, run, _part_of(LOOKING, advance))
        return _decided(source, place.path, all_leaks(place.path, source.excerpt, found), wanted)


@contextlib.contextmanager
def given_up_if_unfit(run: Run) -> Iterator[None]:
    """Leave nothing behind where the input is at fault: the same command would fail again."""
    try:
        yield
    except InputError:
        run.keep(False)
        raise


def _part_of(share: float, advance: Advance) -> Advance:
    return lambda by, what: advance(share * by, what)


def _of_folder(cut: StudyInPieces, place: Place, advance: Advance) -> Source:
    """A study folder, whose rows stay on disk."""
    changes = place.changes(cut.recordings)
    step = _part_of(1 / cut.recordings.height, advance)
    with shared(cut.head) as head:
        found = list(each_piece(partial(_excerpt, head, changes), cut, step, "reading"))
    events = [each.events for each in found if each.events is not None]
    excerpt = replace(
        found[0],
        data=pl.concat([each.data for each in found]),
        people=cut.head.people,
        events=excerpt_of_events(pl.concat(events)) if events else None,
    )
    return Source(check_stimuli(excerpt) if changes.each_stimulus else excerpt, cut, {}, changes)


def _excerpt(head: Shared[Study], changes: RowChanges, piece: Piece) -> Study:
    return excerpt_of_recorded(changes.of(piece.read(head.get(), events=True)))


def _check_raw(study: Study, path: Path) -> None:
    """Fail for a release, and for what calls itself one."""
    if not study.released:
        return
    if is_certified(study):
        raise InputError(
            f"{path} is a release already, by its certificate, which is of these data: there is "
            "nothing to convert; lint looks for leaks in it"
        )
    raise InputError(
        f"{path} says of itself that it is a release already, or made of one, and has no "
        "certificate.json to check that by: convert what it was made of (or, if it is raw "
        'data, set "released" to false)'
    )


def _decided(source: Source, path: Path, found: Sequence[Finding], wanted: Wanted) -> Intake:
    """What becomes of a study, decided by its excerpt."""
    study, whom = source.excerpt, wanted.whom
    # By the names that were read: afterwards they are pseudonyms.
    chosen = None if whom is None else whom.of(in_pieces(study))
    # What is only warned of stays, such as the recording of an empty file.
    removed = [finding for finding in found if finding.severity == LEAK]
    ours = is_ours(study, path)
    plan = planned(study)
    study = scrubbed(study, plan)
    wanted.check(study)
    left = [f for f in findings(study, path.name) if not f.where.endswith(", person")]
    if left:
        raise InputError(f"{left[0].where}: {left[0].what} could not be removed: please report it")
    if wanted.keep_names:
        taken = [name for name in study.people["person"] if is_pseudonym(name)]
        if taken and not ours:
            raise InputError(f"person '{taken[0]}' is called like a pseudonym: give another name")
        removed = [f for f in removed if not f.where.endswith(", person")]
    # Last: a ledger beside an input that is refused would be left behind, with everybody's names.
    study = _with_origin(study, path, wanted.ledger, wanted.same_people_as)
    names = {} if wanted.keep_names else _pseudonyms(study, ours=ours)
    study = renamed(study, names)
    cut = source.cut
    if whom is not None and chosen is not None:
        study = only(study, [names.get(name, name) for name in chosen], _remembered(whom, plan))
        names = {name: names[name] for name in chosen if name in names}
        cut = None if cut is None else of_people(cut, chosen)
    if cut is None:
        return Intake(study, in_pieces(study), tuple(removed), len(names))
    people = cut.people
    if names:
        people = sorted(people, key=lambda name: names.get(name, name))
    cut = reordered(cut, people)
    return Intake(study, cut, tuple(removed), len(names), plan, names, source.changes)


def _remembered(whom: PeopleChoice, plan: ScrubPlan) -> str:
    """What a study remembers of a choice, without what was taken out of the name of a stimulus."""
    if whom.stimulus is None:
        return whom.remembered
    known = plan.names["stimulus"].get(whom.stimulus, whom.stimulus)
    return replace(whom, stimulus=known).remembered


def _leaks(source: Source, path: Path, run: Run, advance: Advance) -> list[Sequence[Finding]]:
    """What each file gives away; what this very run has hidden there is no part of the input."""
    files = [file for file in files_at(path) if not file.absolute().is_relative_to(run.home)]
    others = [file for file in files if file not in source.leaks]
    ours = (path / study_folder.DATA, path / study_folder.EVENTS)
    sound = [file for file in others if file in ours or ours[0] in file.parents]
    if not study_folder.recognises(path):
        sound = []
    found = dict(zip(others, leaks_in_files(others, path, sound, advance), strict=True))
    return [source.leaks.get(file) or found.get(file, []) for file in files]


def called(source: object) -> str:
    """What a message calls a source by: its path, or that it is the one that was given.

    >>> called("private"), called(None)
    ('private', 'the first argument')
    """
    return str(source) if isinstance(source, str | Path) else "the first argument"
