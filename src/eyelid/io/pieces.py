"""Studies larger than memory: whole people at a time, read when they are needed.

A study in pieces knows everything about itself but its rows: who there is, which recordings, how
many rows each. Pieces are cut by these numbers alone, so that they are the same whichever worker
works on them. On disk a large study has a folder of parts in the place of one ``data.parquet``;
study.json lists them, and is there only when they all are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from eyelid.engine.engines import Shared, advancing, current, in_order, shared, spread
from eyelid.engine.progress import Advance
from eyelid.engine.remote import nearby
from eyelid.errors import InputError, first_line
from eyelid.gaze.study import INDEX_COLUMNS, RECORDING_KEY, Study, check, check_people, check_shown
from eyelid.io import study_folder
from eyelid.io.parquet import check_size, scan
from eyelid.io.release_folder import (
    as_certified,
    digest_of_columns,
    digest_of_release,
    person_digests,
)
from eyelid.io.remote import File, here, original
from eyelid.io.study_folder import data_files, read_head, typed
from eyelid.io.study_parts import Rows, Slice, some, together, with_columns_of

R = TypeVar("R")

PIECE_VALUES = 1 << 21
"""Numbers in a piece, unless one person has more: some 16 MiB, and a second or two of work."""

_KEYS = INDEX_COLUMNS[:-1]
# Rows of a file whose keys are looked at together.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Piece:
    """Some people of a study, one after the other.

    Attributes:
        number: of the piece, from 0.
        people: their names, in order.
        recordings: how many they have.
        rows: how many these have.
        slices: where the rows are on disk.
        held: the rows themselves, where they are not on disk.
        events: of the whole study, or the file that has them; None where there are none.
        like: a table without rows, whose columns all rows get where the files differ.
    """

    number: int
    people: tuple[str, ...]
    recordings: int
    rows: int
    slices: tuple[Slice, ...] = ()
    held: pl.DataFrame | None = None
    events: pl.DataFrame | File | None = None
    like: pl.DataFrame | None = None

    @property
    def where(self) -> Rows:
        """The rows themselves, or where they are."""
        return self.slices if self.held is None else self.held

    def read(self, head: Study, *, events: bool = False) -> Study:
        """A study of these people alone.

        Args:
            head: everything about the whole study but its rows.
            events: with their events too, where there are some.
        """
        data = self.held
        if data is None:
            data = self._rows()
        mine = head.people.filter(pl.col("person").is_in(self.people))
        found = self._events() if events else None
        return check(replace(head, data=data, people=mine, events=found))

    def _rows(self) -> pl.DataFrame:
        slices = (each.read() for each in self.slices)
        if self.like is None:
            return typed(pl.concat(slices))
        return pl.concat(with_columns_of(self.like, rows) for rows in slices)

    def _events(self) -> pl.DataFrame | None:
        if self.events is None:
            return None
        if isinstance(self.events, pl.DataFrame):
            return self.events.filter(pl.col("person").is_in(self.people))
        with nearby(self.events) as near:
            check_size(near)
            lazy = scan(near)
            name = pl.col("person")
            if lazy.collect_schema()["person"] != pl.String:
                # Only of text are stretches of a large file passed over unread.
                name = name.cast(pl.String)
            return lazy.filter(name.is_in(self.people)).collect()


@dataclass(frozen=True, eq=False)
class StudyInPieces:
    """A study whose rows are read when they are needed.

    Attributes:
        head: everything about it but its rows and events; ``data`` has the columns, and no row.
        recordings: person, recording, task, stimulus and ``rows`` of each recording, in order.
        pieces: whole people, in order.
        shown: person and stimulus, once each; a recording may have several.
        everybody: all people of the study, where some were chosen; None where ``head`` has them.
    """

    head: Study
    recordings: pl.DataFrame
    pieces: tuple[Piece, ...]
    shown: pl.DataFrame
    everybody: pl.DataFrame | None = None

    @property
    def entering(self) -> Study:
        """The head with all people: a ledger has to know those who were not chosen, too."""
        return self.head if self.everybody is None else replace(self.head, people=self.everybody)

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def stimuli(self) -> tuple[str, ...]:
        """Names of everything that was shown, sorted."""
        return tuple(sorted(self.shown["stimulus"].unique()))

    @property
    def people(self) -> list[str]:
        """Everybody who has rows, in order."""
        return self.recordings["person"].unique(maintain_order=True).to_list()

    def whole(self) -> Study:
        """All of it, in memory."""
        data = pl.concat([piece.read(self.head).data for piece in self.pieces])
        return replace(self.head, data=data)


def in_pieces(source: Study | Path | str) -> StudyInPieces:
    """A study in pieces, from a study folder or from memory.

    Args:
        source: a study folder, whose rows stay on disk, or a study.

    >>> from eyelid.gaze.simulator import simulate
    >>> cut = in_pieces(simulate(people=2, minutes=0.1, seed=1))
    >>> len(cut.pieces), cut.recordings.height, cut.head.data.height
    (1, 6, 0)
    """
    if isinstance(source, Study):
        return _of_memory(source)
    folder = here(source)
    # Whoever works elsewhere has another current folder.
    files = data_files(folder.absolute())
    study_folder.check_parts(folder)
    if isinstance(files[0][0], Path):
        current().check_reads(files[0][0])
    found = list(spread(_looked_at, files, "looking at parts"))
    bad = [each for each in found if isinstance(each, str)]
    if bad:
        raise InputError(
            f"cannot read {len(bad)} of {len(found)} parts of {original(folder)}: {'; '.join(bad)}"
        )
    files_read = [each for each in found if not isinstance(each, str)]
    columns = {tuple(look.schema.items()): look.file for look in files_read if look.tracks.height}
    if len(columns) > 1:
        one, other = list(columns.values())[:2]
        raise InputError(f"{one} and {other.name} have different columns: write them alike")
    tracks = pl.concat([look.tracks for look in files_read])
    if tracks.is_empty():
        raise InputError("the study is empty: it has no rows")
    if not _standtogether(tracks):
        # A file of other origin, in an order of its own.
        return _of_memory(as_certified(study_folder.read_study(folder), folder))
    head = read_head(folder, typed(pl.DataFrame(schema=dict(next(iter(columns))))))
    check_people(tracks["person"].unique(maintain_order=True), head.people)
    check_shown(tracks)
    slices = tuple(Slice(look.file, 0, look.rows, look.sha256) for look in files_read)
    events = study_folder.events_file(folder.absolute())
    cut = _study(head, _recordings(tracks), _shown(tracks), slices, events)
    return replace(cut, head=as_certified(head, folder, partial(_shows, cut)))


def _shows(cut: StudyInPieces, digest: str) -> bool:
    """Whether a digest is that of a study on disk, without having it in memory."""
    head = cut.head
    with shared(head) as known:
        found = spread(partial(_digests, known), cut.pieces, "checking the certificate")
        digests = [each for some in found for each in some]
    if digest == digest_of_release(head.people, cut.people, digests):
        return True

    def column(name: str) -> Iterator[pl.Series]:
        return (_column(piece, name, head.data.schema[name]) for piece in cut.pieces)

    return digest == digest_of_columns(head.people, head.data.columns, column)


def _digests(head: Shared[Study], piece: Piece) -> list[bytes]:
    return person_digests(piece.read(head.get()).data)


def _column(piece: Piece, name: str, kind: pl.DataType) -> pl.Series:
    """A column of a piece, alone in memory; empty names where its files have none."""
    parts = [each.read(name) for each in piece.slices]
    return pl.concat([part[name] for part in parts]).cast(kind)


def of_slices(
    excerpt: Study,
    recordings: pl.DataFrame,
    slices: Mapping[str, Sequence[Slice]],
    events: File | None,
) -> StudyInPieces:
    """A study in pieces whose people are anywhere on disk, in files with columns of their own.

    Args:
        excerpt: everything about it but most of its rows; all rows get its columns.
        recordings: person, recording, task, stimulus and ``rows`` of each, in order.
        slices: where the rows of each person are.
        events: the file that has all of them.
    """
    people = recordings["person"].unique(maintain_order=True)
    rows = together([tuple(slices[person]) for person in people])
    head = replace(excerpt, data=excerpt.data.clear(), events=None)
    return _study(head, recordings, _shown(excerpt.data), rows, events, head.data)


def reordered(cut: StudyInPieces, people: Sequence[str]) -> StudyInPieces:
    """A study cut anew with its people in another order.

    Args:
        cut: the study.
        people: everybody who has rows, in the order that is wanted.
    """
    if cut.people == list(people):
        return cut
    places = {person: place for place, person in enumerate(people)}
    place = pl.col("person").replace_strict(places, return_dtype=pl.Int64)
    recordings = cut.recordings.sort(place, maintain_order=True)
    return replace(cut, recordings=recordings, pieces=_anew(cut, recordings, _events(cut)))


def cut_evenly(cut: StudyInPieces, rows: int) -> StudyInPieces:
    """A study's people in their order, without events, cut as if recordings had so many rows.

    Pieces are cut by numbers of rows, which are private; what is released is cut by what is known
    of everybody without a look at these.

    Args:
        cut: a study.
        rows: of each recording, as far as it is public.
    """
    public = cut.recordings.with_columns(pl.lit(rows, dtype=pl.Int64).alias("rows"))
    wanted = [people for people, *_ in _cut(public, cut.head.data.width)]
    if wanted == [piece.people for piece in cut.pieces]:
        return cut
    return replace(cut, pieces=_anew(cut, public))


def of_people(cut: StudyInPieces, people: Sequence[str]) -> StudyInPieces:
    """The study of some of its people alone, in its order.

    Args:
        cut: a study, on disk or in memory.
        people: who is left, each with rows.
    """
    mine = pl.col("person").is_in(people)
    recordings = cut.recordings.filter(mine)
    return StudyInPieces(
        replace(cut.head, people=cut.head.people.filter(mine)),
        recordings,
        _anew(cut, recordings, _events(cut)),
        cut.shown.filter(mine),
        cut.head.people if cut.everybody is None else cut.everybody,
    )


def _anew(
    cut: StudyInPieces, recordings: pl.DataFrame, events: pl.DataFrame | File | None = None
) -> tuple[Piece, ...]:
    """Pieces of the people of some recordings, cut as if these had as many rows as they say."""
    counts = cut.recordings.group_by("person").agg(pl.col("rows").sum(), pl.len())
    had = {person: (rows, recordings) for person, rows, recordings in counts.iter_rows()}
    homes: dict[str, Rows] = {}
    for piece in cut.pieces:
        first = 0
        for person in piece.people:
            homes[person] = some(piece.where, first, had[person][0])
            first += had[person][0]
    return tuple(
        _piece(
            Piece(
                number,
                people,
                recordings=sum(had[person][1] for person in people),
                rows=sum(had[person][0] for person in people),
                like=cut.pieces[0].like,
            ),
            together([homes[person] for person in people]),
            events,
        )
        for number, (people, *_) in enumerate(_cut(recordings, cut.head.data.width))
    )


def _events(cut: StudyInPieces) -> pl.DataFrame | File | None:
    """The events of everybody, or where they are."""
    each = [piece.events for piece in cut.pieces]
    frames = [events for events in each if isinstance(events, pl.DataFrame)]
    return pl.concat(frames) if frames else each[0]


def _of_memory(study: Study) -> StudyInPieces:
    """A study that is there already, in the same pieces as if it were on disk."""
    study = check(study)
    tracks = _tracks(study.data)
    head = replace(study, data=study.data.clear(), events=None)
    return _study(head, _recordings(tracks), _shown(tracks), study.data, study.events)


def _study(
    head: Study,
    recordings: pl.DataFrame,
    shown: pl.DataFrame,
    rows: Rows,
    events: pl.DataFrame | File | None,
    like: pl.DataFrame | None = None,
) -> StudyInPieces:
    """A study whose rows stand in the order of its recordings."""
    pieces = tuple(
        _piece(Piece(number, people, count, many, like=like), some(rows, first, many), events)
        for number, (people, count, first, many) in enumerate(_cut(recordings, head.data.width))
    )
    return StudyInPieces(head, recordings, pieces, shown)


def _piece(piece: Piece, rows: Rows, events: pl.DataFrame | File | None) -> Piece:
    """A piece with its rows and, of events that are here, its own."""
    if isinstance(events, pl.DataFrame):
        events = events.filter(pl.col("person").is_in(piece.people))
    if isinstance(rows, pl.DataFrame):
        return replace(piece, held=rows, events=events)
    return replace(piece, slices=rows, events=events)


def each_piece(
    work: Callable[[Piece], R], cut: StudyInPieces, advance: Advance, what: str
) -> Iterator[R]:
    """What the engine of the moment makes of each piece, in their order.

    Args:
        work: a function of a module, or a `functools.partial` of one with small or shared things.
        cut: the study.
        advance: of the bar of the whole run, by recordings.
        what: is being done, for the bar.
    """
    weights = [piece.recordings for piece in cut.pieces]
    return in_order(advancing(work, cut.pieces, weights, advance, what))


def _cut(recordings: pl.DataFrame, width: int) -> Iterator[tuple[tuple[str, ...], int, int, int]]:
    """People, number of recordings, first row and number of rows of each piece."""
    people = recordings.group_by("person", maintain_order=True).agg(pl.len(), pl.col("rows").sum())
    most = max(1, PIECE_VALUES // width)
    names: list[str] = []
    count = first = rows = 0
    for name, had, more in people.iter_rows():
        if names and rows + more > most:
            yield tuple(names), count, first, rows
            names, count, first, rows = [], 0, first + rows, 0
        names.append(name)
        count, rows = count + had, rows + more
    yield tuple(names), count, first, rows


@dataclass(frozen=True, eq=False)
class _Look:
    """What is in a file, besides what was measured."""

    file: File
    sha256: str | None
    rows: int
    schema: dict[str, pl.DataType]
    tracks: pl.DataFrame


def _looked_at(listed: tuple[File, str | None]) -> _Look | str:
    """Whose rows a file has; or why it cannot be read."""
    file, sha256 = listed
    try:
        with nearby(file) as near:
            study_folder.check_content(near, sha256)
            check_size(near)
            return _look(file, sha256, scan(near))
    except Exception as error:
        return f"{file.name}: {first_line(error)}"


def _look(file: File, sha256: str | None, lazy: pl.LazyFrame) -> _Look:
    schema = dict(lazy.collect_schema())
    absent = [name for name in (*RECORDING_KEY, "time_ms") if name not in schema]
    if absent:
        raise InputError(f"it has no column {', '.join(absent)}")
    rows = lazy.select(pl.len()).collect().item()
    keys = [name for name in (*_KEYS, "eye") if name in schema]
    parts = [
        _tracks(typed(lazy.select(keys).slice(first, _AT_ONCE).collect()))
        for first in range(0, rows, _AT_ONCE)
    ]
    empty = _tracks(typed(pl.DataFrame(schema={name: schema[name] for name in keys})))
    return _Look(file, sha256, rows, schema, pl.concat(parts) if parts else empty)


def _tracks(data: pl.DataFrame) -> pl.DataFrame:
    """One row for each run of rows with the same keys, with its number of ``rows``."""
    keys = [name for name in (*_KEYS, "eye") if name in data.columns]
    changed = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
    first = data.select(pl.arg_where(changed | (pl.int_range(pl.len()) == 0))).to_series()
    rows = np.diff(first.to_numpy().astype(np.int64), append=data.height)
    return data.select(keys)[first].with_columns(pl.Series("rows", rows))


def recordings_of(data: pl.DataFrame) -> pl.DataFrame:
    """Person, recording, task, stimulus and ``rows`` of each recording, in order."""
    return _recordings(_tracks(data))


def _standtogether(tracks: pl.DataFrame) -> bool:
    """Whether rows of a person, and those of a recording, stand together."""
    people = tracks["person"].rle_id().max()
    recordings = tracks.select(pl.struct(RECORDING_KEY).rle_id().max()).item()
    return (people, recordings) == (
        tracks["person"].n_unique() - 1,
        tracks.select(RECORDING_KEY).n_unique() - 1,
    )


def _shown(tracks: pl.DataFrame) -> pl.DataFrame:
    """Person and stimulus, once each."""
    if "stimulus" not in tracks.columns:
        return pl.DataFrame(schema={"person": pl.String, "stimulus": pl.String})
    named = tracks.filter(pl.col("stimulus").fill_null("") != "")
    return named.select("person", "stimulus").unique(maintain_order=True)


def _recordings(tracks: pl.DataFrame) -> pl.DataFrame:
    """One row a recording, whatever eyes it has."""
    keys = [name for name in _KEYS if name in tracks.columns]
    rest = [pl.col(name).first() for name in keys if name not in RECORDING_KEY]
    return (
        tracks.group_by(RECORDING_KEY, maintain_order=True)
        .agg(*rest, pl.col("rows").sum())
        .select(*keys, "rows")
    )
