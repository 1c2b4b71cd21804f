"""How private recordings enter eyelid: read, counted by a ledger, and scrubbed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.layout import Layout
from eyelid.io.leaks import Finding
from eyelid.io.lint import leaks_of
from eyelid.io.origin import origin_of, origin_so_far
from eyelid.io.reading import read
from eyelid.io.scrub import T, names_to_replace, renamed, scrubbed
from eyelid.privacy.ledger import Ledger

Map = Layout | Mapping[str, Any] | str | Path | None


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


def under_pseudonyms(recorded: T) -> T:
    """The same under the pseudonyms that its ledger keeps, where names are no mere codes."""
    names = names_to_replace(recorded.people)
    if not names:
        return recorded
    origin = recorded.origin
    if origin is None or origin.ledger is None:
        raise InputError("pseudonyms are kept in a ledger: say where it is with --ledger FILE")
    return renamed(recorded, Ledger(origin.ledger).pseudonyms(origin.id, names))


def counted(study: Study, path: Path | str, ledger: Path | str | None = None) -> Study:
    """What was made of the recordings at ``path``, with their origin and their pseudonyms.

    Args:
        study: made of what `read_scrubbed` gave.
        path: where it was read.
        ledger: count in this file; refused when these people are counted elsewhere already.
    """
    own = origin_so_far(study, path)
    if ledger is not None and own is not None and own.ledger is not None and own.ledger.exists():
        raise InputError(f"this study is counted in {own.ledger}: leave out --ledger")
    study = replace(study, origin=origin_of(study, path, ledger))
    return study if study_folder.recognises(Path(path)) else under_pseudonyms(study)


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
    study = replace(scrubbed(study), origin=origin_of(study, path, ledger))
    if keep_names:
        return Intake(study, tuple(f for f in removed if not f.where.endswith(", person")))
    people_renamed = len(names_to_replace(study.people))
    return Intake(under_pseudonyms(study), tuple(removed), people_renamed)
