"""Leaks besides the gaze, in whatever a person is about to share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import polars as pl

from eyelid.display import Framed, facts
from eyelid.errors import InputError
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.column_map import Map, understood
from eyelid.io.feature_tables import with_features
from eyelid.io.file_leaks import (
    EMPTY,
    LEAVES_OUT,
    LONGEST_REASON,
    UNSEEN,
    fewer,
    is_empty,
    leaks_of_file,
)
from eyelid.io.files import (
    head_of,
)
from eyelid.io.leaks import (
    LEAK,
    WARNING,
    Finding,
    leaks_in_name,
    short,
)
from eyelid.io.quasi_identifiers import warnings_of_files, warnings_of_study
from eyelid.io.reading import Place, place_of, read_place, read_readable
from eyelid.io.release_folder import (
    CERTIFICATE,
    MAP_FILES,
    RESULT_FILES,
    STANDARD_ERRORS,
    SYNTHETIC_GAZE_FILES,
    has_certificate,
    is_certified,
    is_heatmap,
    is_results,
    statement,
    strange_files,
)
from eyelid.io.remote import all_here
from eyelid.io.study_leaks import findings
from eyelid.spelling import Table, plural

_NOT_A_STUDY = "participants, tasks and times not looked at: no study could be read"
_NOT_IN_STUDY = "participants, tasks and times not looked at: no study could be made of it"
_NOT_OF_THESE_DATA = "a certificate that is not of these data"
_NO_RELEASE_HAS_IT = "what no release has"
_NOT_IN_RELEASES = "does not take releases: remove it before you share the folder"


class Findings(Framed, list[Finding]):
    """What gives people away: leaks, and warnings of what is to be judged."""

    @property
    def frame(self) -> pl.DataFrame:
        """One row a finding."""
        names = [item.name for item in fields(Finding)]
        rows = [asdict(finding) for finding in self]
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))

    def in_short(self) -> Table:
        """How many there are of each kind."""
        if not self:
            return Table("Nothing found besides the gaze, which itself identifies people", (), ())
        leaks = [finding for finding in self if finding.severity == LEAK]
        kinds = Counter(f"{finding.severity}: {finding.what}" for finding in self)
        counts = plural(len(leaks), "leak"), plural(len(self) - len(leaks), "warning")
        return facts(kinds.most_common(), " and ".join(counts))


def lint(path: Path | str, map: Map = None, *, features: Path | str | None = None) -> Findings:
    """What gives people away besides their gaze, in any input that eyelid reads.

    Looks at the names of files and folders, headers, remarks, messages, sidecars, the headers of
    gzipped files, text, JSON, columns of text and clocks, files of audits, which are made of raw
    data, and the study that all of it makes; in a release also for files that no release has. Files
    that cannot be looked into, such as archives, are findings. What singles participants out
    without a name, such as their attributes together, is a warning (`Finding.severity`). The
    findings show what they found: they are for the owner's eyes. An empty list is no promise that
    gaze itself is safe to share.

    Args:
        path: a study folder, a recording, a folder of recordings, or a release.
        map: what you say about its columns, as for `eyelid.read`.
        features: a file that names the measures of a table, as for `eyelid.convert`.
    """
    refuse_frame(path, "lint")
    return Findings(looked_at(path, map, features=features).findings)


@dataclass(frozen=True)
class Lint:
    """What was found in some data, and what they are.

    Attributes:
        findings: as of `lint`.
        release: whether they are a release, by a certificate that is of these data.
        convertible: whether ``convert`` reads them.
        unread: why no study could be read, or not of every file, so that files were only looked at
            by themselves.
        left_out: how many files no study could be made of, empty ones too.
    """

    findings: tuple[Finding, ...]
    release: bool
    convertible: bool = False
    unread: str = ""
    left_out: int = 0

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """What gives participants away."""
        return tuple(finding for finding in self.findings if finding.severity == LEAK)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What may single them out, and is to be judged by the owner."""
        return tuple(finding for finding in self.findings if finding.severity == WARNING)


def looked_at(path: Path | str, map: Map = None, *, features: Path | str | None = None) -> Lint:
    """The findings of `lint`, and whether the data are a release.

    Args:
        path: as for `lint`.
        map: as for `lint`.
        features: as for `lint`.
    """
    path = all_here(path)
    if _has_nobody(path):
        return Lint(tuple(leaks_of(path, None)), release=True)
    said = map if features is None else with_features(understood(map), features)
    try:
        study, left_out = _read(place_of(path, said))
    except InputError as error:
        # What is no recording to eyelid may be one to others.
        found = leaks_of(path, None) if path.exists() else []
        found += warnings_of_files(files_at(path), path) if path.exists() else []
        if all(finding.what.startswith((UNSEEN, EMPTY)) for finding in found):
            raise
        reason = _unread(path.name, _NOT_A_STUDY, str(error))
        return Lint((reason, *found), release=False, unread=str(error))
    # An empty file has no participants to look at; of any other nobody knows.
    unread = {file: reason for file, reason in left_out if not _is_empty_file(file)}
    beside = [
        _unread(file.relative_to(path).as_posix(), _NOT_IN_STUDY, why)
        for file, why in unread.items()
    ]
    return Lint(
        (*leaks_of(path, study, unread), *beside, *_warnings(path, study, unread)),
        release=is_certified(study),
        convertible=not study.released,
        unread=next(iter(unread.values()), ""),
        left_out=len(left_out),
    )


def _unread(where: str, what: str, reason: str) -> Finding:
    """The warning that nobody's data were looked at, and why."""
    return Finding(where, what, short(reason, LONGEST_REASON), "cannot read it either", WARNING)


def _read(place: Place) -> tuple[Study, list[tuple[Path, str]]]:
    """The study at a place, and the files that are not in it because they cannot be read."""
    if place.is_whole or not place.path.is_dir():
        return read_place(place), []
    return read_readable(place)


def _is_empty_file(file: Path) -> bool:
    """Whether a file has nothing in it; not where nobody can look."""
    try:
        return is_empty(head_of(file))
    except InputError:
        return False


def _warnings(path: Path, study: Study, unread: Iterable[Path]) -> list[Finding]:
    """What singles participants out in a study, and in the files beside it."""
    stated = statement(path) if is_certified(study) else None
    # Groups and synthetic participants are nobody to single out.
    if stated is not None and all(map(stated.has_named, study.people["person"])):
        return []
    found = list(warnings_of_study(study, path.name))
    if len(study.people.columns) == 1 and not study_folder.recognises(path):
        found += warnings_of_files(files_at(path), path, lists=True)
    known = {finding.where for finding in found}
    found += (each for each in warnings_of_files(unread, path) if each.where not in known)
    return fewer(found)


def leaks_of(path: Path, study: Study | None, unread: Collection[Path] = ()) -> list[Finding]:
    """What `lint` finds in what was read already, or could not be.

    Args:
        path: what was to be read.
        study: made of it; None where none could be.
        unread: files that are not in the study because they could not be read.
    """
    of_release: tuple[Path, ...] = ()
    if _is_release(path, study):
        known = (*SYNTHETIC_GAZE_FILES, STANDARD_ERRORS, *MAP_FILES, *RESULT_FILES)
        of_release = tuple(path / name for name in known)
    found = (
        leaks_of_file(file, path, ours=file in of_release, people=study is None or file in unread)
        for file in files_at(path)
    )
    return all_leaks(path, study, found)


def all_leaks(
    path: Path, study: Study | None, of_files: Iterable[Iterable[Finding]]
) -> list[Finding]:
    """What `lint` finds, with what was found in each file.

    Args:
        path: what was read.
        study: made of it, or an excerpt of that (`eyelid.io.study_leaks`).
        of_files: what `leaks_of_file` gives, in the order of `files_at`.
    """
    found = [] if study is None else list(findings(study, path.name))
    release = _is_release(path, study)
    if release and (stated := statement(path)) is not None:
        found = [
            finding
            for finding in found
            if finding.where != f"{path.name}, person" or not stated.has_named(finding.value)
        ]
        found += [
            Finding(name, _NO_RELEASE_HAS_IT, "", _NOT_IN_RELEASES) for name in strange_files(path)
        ]
    elif path.is_dir() and has_certificate(path):
        found.append(Finding(CERTIFICATE, _NOT_OF_THESE_DATA, "", LEAVES_OUT))
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_dir())
        names = [(path.name, path.resolve().name)]
        names += [(folder.relative_to(path).as_posix(), folder.name) for folder in inside]
        found += [
            Finding(f"{place}, its name", what, value, "names folders anew")
            for place, name in names
            for what, value in leaks_in_name(name)
        ]
    for each in of_files:
        found += each
    return fewer(found)


def files_at(path: Path) -> list[Path]:
    """The files that are looked at, hidden ones too, in order."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if not p.is_dir())


def _is_release(path: Path, study: Study | None) -> bool:
    """Whether this is a release, by a certificate that is of these data."""
    return _has_nobody(path) if study is None else path.is_dir() and is_certified(study)


def _has_nobody(path: Path) -> bool:
    """Whether this is a release without rows of people, by a certificate that is of its data."""
    return is_heatmap(path) or is_results(path)
