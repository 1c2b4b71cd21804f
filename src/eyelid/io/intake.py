"""How private recordings enter eyelid: read, counted by a ledger, and scrubbed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.leaks import Finding, is_pseudonym
from eyelid.io.lint import leaks_of
from eyelid.io.origin import origin_of, origin_so_far
from eyelid.io.reading import read
from eyelid.io.scrub import T, findings, names_to_replace, renamed, scrubbed
from eyelid.privacy.ledger import Ledger


@dataclass(frozen=True)
class Intake:
    """A study that may go on, and what was taken out of it.

    Attributes:
        study: without names, clocks and other leaks; with its origin.
        removed: what was taken out.
        people_renamed: how many people got a pseudonym.
    """

    study: Study
    removed: tuple[Finding, ...] = ()
    people_renamed: int = 0


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
    """The same under the pseudonyms that its ledger keeps, where names are no mere codes.

    Args:
        recorded: with its origin.
        ours: whether eyelid wrote it, so that what looks like a pseudonym is one.
    """
    names = names_to_replace(recorded.people, ours=ours)
    if not names:
        return recorded
    origin = recorded.origin
    if origin is None or origin.ledger is None:
        raise InputError("pseudonyms are kept in a ledger: say where it is with --ledger FILE")
    everybody = recorded.people["person"].to_list()
    return renamed(recorded, Ledger(origin.ledger).pseudonyms(origin.id, names, everybody))


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


def _with_origin(study: Study, path: Path | str, ledger: Path | str | None) -> Study:
    own = origin_so_far(study, path)
    place = own.ledger if own is not None else None
    counted_there = place is not None and place.exists()
    if ledger is not None and counted_there and place != Path(ledger).resolve():
        raise InputError(f"this study is counted in {place}: leave out --ledger")
    return replace(study, origin=origin_of(study, path, ledger))


def take_in(
    path: Path | str,
    map: Map = None,
    *,
    ledger: Path | str | None = None,
    units: str | None = None,
    keep_names: bool = False,
    skip_unreadable: bool = False,
) -> Intake:
    """Read, scrub and count whatever is at ``path``, a study folder too.

    Args:
        path: a study folder, a recording, or a folder of recordings.
        map: what you say about its columns, as for `eyelid.read`.
        ledger: where these people are counted; beside the input by default.
        units: ``deg`` to turn places on a screen into degrees.
        keep_names: leave the names of people as they are.
        skip_unreadable: leave out files that cannot be read.
    """
    study = read(path, map, units=units, skip_unreadable=skip_unreadable)
    if study.released:
        raise InputError(f"{path} is a release already: it is made to be shared as it is")
    removed = leaks_of(Path(path), study)
    ours = is_ours(study, path)
    study = _with_origin(scrubbed(study), path, ledger)
    left = [f for f in findings(study, Path(path).name) if not f.where.endswith(", person")]
    if left:
        raise InputError(f"{left[0].where}: {left[0].what} could not be removed: please report it")
    if keep_names:
        taken = [name for name in study.people["person"] if is_pseudonym(name)]
        if taken and not ours:
            raise InputError(f"person '{taken[0]}' is called like a pseudonym: give another name")
        return Intake(study, tuple(f for f in removed if not f.where.endswith(", person")))
    people_renamed = len(names_to_replace(study.people, ours=ours))
    return Intake(under_pseudonyms(study, ours=ours), tuple(removed), people_renamed)
