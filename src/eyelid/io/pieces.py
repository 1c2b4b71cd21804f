"""Studies larger than memory: whole people at a time, read when they are needed.

A study in pieces knows everything about itself but its rows: who there is, which recordings, how
many rows each. Pieces are cut by these numbers alone, so that they are the same whoever works on
them. On disk a large study has a folder of parts in the place of one ``data.parquet``; study.json
lists them, and is there only when they all are.
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
from eyelid.engine.remote import RemotePlace, nearby
from eyelid.errors import InputError
from eyelid.gaze.study import INDEX_COLUMNS, RECORDING_KEY, Study, check, check_people
from eyelid.io import study_folder
from eyelid.io.digests import digest_of_columns, digest_of_release, person_digests
from eyelid.io.parquet import check_size, scan
from eyelid.io.release_folder import as_certified
from eyelid.io.remote import File, here, original
from eyelid.io.study_folder import data_files, read_head, typed

R = TypeVar("R")

PIECE_VALUES = 1 << 21
"""Numbers in a piece, unless one person has more: some 16 MiB, and a second or two of work."""

_KEYS = INDEX_COLUMNS[:-1]
# Rows of a file whose keys are looked at together.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Slice:
    """Some rows of a file.

    Attributes:
        file: a Parquet file, here or elsewhere.
        first: the number of the first row.
        rows: how many.
        sha256: of the whole file, where study.json has it.
    """

    file: File
    first: int
    rows: int
    sha256: str | None = None

    def read(self, column: str | None = None) -> pl.DataFrame:
        """The rows; what is fetched must be what was looked at.

        Args:
            column: this one alone; empty names where there is none.
        """
        try:
            with nearby(self.file) as near:
                if isinstance(self.file, RemotePlace):
                    study_folder.check_content(near, self.sha256)
                rows = scan(near).slice(self.first, self.rows)
                if column is not None:
                    there = column in rows.collect_schema()
                    rows = rows.select(column if there else pl.repeat("", pl.len()).alias(column))
                return rows.collect()
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            told = str(error).strip().splitlines() or [type(error).__name__]
            raise InputError(f"cannot read {self.file}: {told[0]}") from None


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
        stimuli: names of everything that was shown, sorted; a recording may have several.
        shown: person and stimulus, once each.
        everybody: all people of the study, where some were chosen; None where ``head`` has them.
    """

    head: Study
    recordings: pl.DataFrame
    pieces: tuple[Piece, ...]
    stimuli: tuple[str, ...]
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
    looks = [each for each in found if not isinstance(each, str)]
    columns = {tuple(look.schema.items()): look.file for look in looks if look.tracks.height}
    if len(columns) > 1:
        one, other = list(columns.values())[:2]
        raise InputError(f"{one} and {other.name} have different columns: write them alike")
    tracks = pl.concat([look.tracks for look in looks])
    if tracks.is_empty():
        raise InputError("the study is empty: it has no rows")
    if not _stand_together(tracks):
        # Somebody else's file, in an order of its own.
        return _of_memory(as_certified(study_folder.read_study(folder), folder))
    head = read_head(folder, typed(pl.DataFrame(schema=dict(next(iter(columns))))))
    check_people(tracks["person"].unique(maintain_order=True), head.people)
    offsets = np.cumsum([0, *(look.rows for look in looks)])
    width = len(head.data.columns)

    def slices(first: int, rows: int) -> tuple[Slice, ...]:
        low, high = np.searchsorted(offsets, [first, first + rows - 1], side="right").tolist()
        return tuple(
            Slice(
                look.file,
                max(first - start, 0),
                min(first + rows, end) - max(first, start),
                look.sha256,
            )
            for look, start, end in zip(
                looks[low - 1 : high],
                offsets[low - 1 : high].tolist(),
                offsets[low : high + 1].tolist(),
                strict=True,
            )
            if start < end
        )

    recordings = _recordings(tracks)
    events = study_folder.events_file(folder.absolute())
    pieces = [
        Piece(number, people, count, rows, slices=slices(first, rows), events=events)
        for number, (people, count, first, rows) in enumerate(_cut(recordings, width))
    ]
    cut = StudyInPieces(head, recordings, tuple(pieces), _stimuli(tracks), _shown(tracks))
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
    events: File | None = None,
    like: pl.DataFrame | None = None,
) -> StudyInPieces:
    """A study in pieces whose people are anywhere on disk.

    Args:
        excerpt: everything about it but most of its rows.
        recordings: person, recording, task, stimulus and ``rows`` of each, in order.
        slices: where the rows of each person are.
        events: the file that has all of them.
        like: as for a `Piece`.
    """
    head = replace(excerpt, data=excerpt.data.clear(), events=None)
    pieces = [
        Piece(
            number,
            people,
            count,
            rows,
            slices=tuple(_joined([each for person in people for each in slices[person]])),
            events=events,
            like=like,
        )
        for number, (people, count, _, rows) in enumerate(_cut(recordings, head.data.width))
    ]
    return StudyInPieces(
        head, recordings, tuple(pieces), _stimuli(excerpt.data), _shown(excerpt.data)
    )


def reordered(cut: StudyInPieces, people: Sequence[str]) -> StudyInPieces:
    """A study on disk, cut anew with its people in another order.

    Args:
        cut: the study.
        people: everybody who has rows, in the order that is wanted.
    """
    if cut.people == list(people):
        return cut
    slices: dict[str, Sequence[Slice]] = {
        person: _within(piece.slices, first, rows)
        for person, (piece, first, rows, _) in _homes(cut).items()
    }
    places = {person: place for place, person in enumerate(people)}
    place = pl.col("person").replace_strict(places, return_dtype=pl.Int64)
    recordings = cut.recordings.sort(place, maintain_order=True)
    events, like = cut.pieces[0].events, cut.pieces[0].like
    assert not isinstance(events, pl.DataFrame)
    made = of_slices(cut.head, recordings, slices, events, like)
    return replace(made, stimuli=cut.stimuli, shown=cut.shown, everybody=cut.everybody)


def cut_evenly(cut: StudyInPieces, rows: int) -> StudyInPieces:
    """The same people in the same order, without events, cut as if recordings had so many rows.

    Pieces are cut by numbers of rows, which are private; what is released is cut by what is known
    of everybody without a look at these.

    Args:
        cut: a study.
        rows: of each recording, as far as anybody may know.
    """
    public = cut.recordings.with_columns(pl.lit(rows, dtype=pl.Int64).alias("rows"))
    wanted = [people for people, *_ in _cut(public, cut.head.data.width)]
    if wanted == [piece.people for piece in cut.pieces]:
        return cut
    return replace(cut, pieces=_anew(cut, wanted))


def of_people(cut: StudyInPieces, people: Sequence[str]) -> StudyInPieces:
    """The study of some of its people alone, in its order.

    Args:
        cut: a study, on disk or in memory.
        people: who is left, each with rows.
    """
    mine = pl.col("person").is_in(people)
    recordings = cut.recordings.filter(mine)
    wanted = [names for names, *_ in _cut(recordings, cut.head.data.width)]
    everybody = cut.head.people if cut.everybody is None else cut.everybody
    shown = cut.shown.filter(mine)
    events = cut.pieces[0].events
    if isinstance(events, pl.DataFrame):
        events = pl.concat([e.events for e in cut.pieces if isinstance(e.events, pl.DataFrame)])
    pieces = tuple(
        replace(
            piece, events=_of(piece.people, events) if isinstance(events, pl.DataFrame) else events
        )
        for piece in _anew(cut, wanted)
    )
    return StudyInPieces(
        replace(cut.head, people=cut.head.people.filter(mine)),
        recordings,
        pieces,
        tuple(sorted(name for name in shown["stimulus"].unique() if name)),
        shown,
        everybody,
    )


def _anew(cut: StudyInPieces, wanted: Sequence[tuple[str, ...]]) -> tuple[Piece, ...]:
    """Pieces of other people than a study is cut into, without events."""
    homes = _homes(cut)
    pieces = []
    for number, people in enumerate(wanted):
        slices: list[Slice] = []
        held: list[pl.DataFrame] = []
        for person in people:
            piece, first, rows_there, _ = homes[person]
            if piece.held is None:
                slices += _within(piece.slices, first, rows_there)
            else:
                held.append(piece.held.slice(first, rows_there))
        pieces.append(
            Piece(
                number,
                people,
                recordings=sum(homes[person][3] for person in people),
                rows=sum(homes[person][2] for person in people),
                slices=tuple(_joined(slices)),
                held=pl.concat(held) if held else None,
                like=cut.pieces[0].like,
            )
        )
    return tuple(pieces)


def _homes(cut: StudyInPieces) -> dict[str, tuple[Piece, int, int, int]]:
    """Of everybody: the piece, the first row in it, how many rows, how many recordings."""
    counts = cut.recordings.group_by("person").agg(pl.col("rows").sum(), pl.len())
    found = {person: (rows, recordings) for person, rows, recordings in counts.iter_rows()}
    homes = {}
    for piece in cut.pieces:
        first = 0
        for person in piece.people:
            homes[person] = (piece, first, *found[person])
            first += found[person][0]
    return homes


def _within(slices: Sequence[Slice], first: int, rows: int) -> list[Slice]:
    """Some of the rows that slices have together."""
    found = []
    start = 0
    for each in slices:
        begin, end = max(first, start), min(first + rows, start + each.rows)
        if begin < end:
            found.append(replace(each, first=each.first + begin - start, rows=end - begin))
        start += each.rows
    return found


def _joined(slices: Sequence[Slice]) -> Iterator[Slice]:
    """The same rows; slices that follow each other in a file are one."""
    last: Slice | None = None
    for each in slices:
        if last is not None and (each.file, each.first) == (last.file, last.first + last.rows):
            last = replace(last, rows=last.rows + each.rows)
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last


def with_columns_of(model: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the columns of another table, in its order and types.

    What is not there is null; an eye that is not known is an empty name.
    """
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit("" if name == "eye" else None))
        .cast(dtype)
        .alias(name)
        for name, dtype in model.schema.items()
    )


def _of_memory(study: Study) -> StudyInPieces:
    """A study that is there already, in the same pieces as if it were on disk."""
    study = check(study)
    tracks = _tracks(study.data)
    recordings = _recordings(tracks)
    head = replace(study, data=study.data.clear(), events=None)
    pieces = [
        Piece(
            number,
            people,
            count,
            rows,
            held=study.data.slice(first, rows),
            events=_of(people, study.events),
        )
        for number, (people, count, first, rows) in enumerate(
            _cut(recordings, len(study.data.columns))
        )
    ]
    return StudyInPieces(head, recordings, tuple(pieces), _stimuli(tracks), _shown(tracks))


def _of(people: Sequence[str], events: pl.DataFrame | None) -> pl.DataFrame | None:
    return None if events is None else events.filter(pl.col("person").is_in(people))


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
        first_line = str(error).strip().splitlines() or [type(error).__name__]
        return f"{file.name}: {first_line[0]}"


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


def _stand_together(tracks: pl.DataFrame) -> bool:
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


def _stimuli(tracks: pl.DataFrame) -> tuple[str, ...]:
    if "stimulus" not in tracks.columns:
        return ()
    return tuple(sorted(name for name in tracks["stimulus"].drop_nulls().unique() if name))


def _recordings(tracks: pl.DataFrame) -> pl.DataFrame:
    """One row a recording, whatever eyes it has."""
    keys = [name for name in _KEYS if name in tracks.columns]
    rest = [pl.col(name).first() for name in keys if name not in RECORDING_KEY]
    return (
        tracks.group_by(RECORDING_KEY, maintain_order=True)
        .agg(*rest, pl.col("rows").sum())
        .select(*keys, "rows")
    )
