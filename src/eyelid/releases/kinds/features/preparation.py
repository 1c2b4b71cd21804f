"""What a release takes: looked at, checked and summarised piece by piece, before it is paid for.

What a run keeps of it lies in its scratch as JSON and Parquet: whatever lies there runs no code.
The rows and people of a table go into files of a name that no other table has, and the JSON that
names them comes last. So the parts of two tables never get mixed, whenever a run is stopped.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.features.omission import Blanks
from eyelid.gaze.study import Feature, Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.column_map import Map, understood, with_said_facts
from eyelid.io.intake import read_scrubbed
from eyelid.io.parquet import rows_of
from eyelid.io.people_choice import (
    Whom,
    chosen_in,
)
from eyelid.io.pieces import (
    Piece,
    StudyInPieces,
    each_piece,
    in_pieces,
)
from eyelid.io.reading import check_not_a_part
from eyelid.io.release_folder import (
    digest_of_people,
    names_of,
    person_digests,
)
from eyelid.io.study_parts import Slice
from eyelid.releases.accounting import input_rows
from eyelid.releases.kinds.features.plan import (
    NOTHING,
    NOTHING_LONG_ENOUGH,
    Range,
    Ranges,
    check_numbers,
    check_type,
    ranges_of,
    ranges_together,
)


@dataclass(frozen=True, eq=False)
class Outline(FeatureTable):
    """What is known of a table whose rows are elsewhere; ``data`` has its columns, and no row.

    Attributes:
        known: what `recordings` of the table with its rows would be.
        known_blank: likewise of `blank`.
    """

    known: pl.DataFrame = field(kw_only=True)
    known_blank: NDArray[np.bool_] = field(kw_only=True)

    @cached_property
    def recordings(self) -> pl.DataFrame:
        """As known; of what a mechanism puts in the place of the rows, its own."""
        return self.known if self.data.is_empty() else super().recordings

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        """As known; of what a mechanism puts in the place of the rows, its own."""
        return self.known_blank if self.data.is_empty() else super().blank


@dataclass(frozen=True, eq=False)
class PieceFacts:
    """What is known of a piece, as it is taken or as it is released, besides its rows.

    Attributes:
        table: what the mechanism takes or gives of it, without rows and people.
        recordings: of that table.
        blank: which of them have no value.
        digests: of what is taken or released of each person, by name.
        held: the rows, where they were made here and are nowhere else.
        ranges: of the features that are taken.
        file: what study.json says about the file that is released.
    """

    table: FeatureTable
    recordings: pl.DataFrame
    blank: NDArray[np.bool_]
    digests: dict[str, bytes]
    held: pl.DataFrame | None = None
    ranges: Ranges = field(default_factory=dict)
    file: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, table: FeatureTable, rows: pl.DataFrame, **more: Any) -> PieceFacts:
        """The facts of a table with its rows.

        Args:
            table: of the piece.
            rows: those of its columns that digests are of.
            more: what else is known.
        """
        digests = dict(zip(names_of(rows), person_digests(rows), strict=True))
        return cls(without_rows(table), table.recordings, table.blank, digests, **more)


def without_rows(table: FeatureTable) -> FeatureTable:
    """Everything about a table but its rows and people."""
    return replace(table, data=table.data.clear(), people=table.people.clear())


def outline_of(pieces: Sequence[PieceFacts], people: pl.DataFrame, **changes: Any) -> Outline:
    """The outline of a table, from what is known of its pieces.

    Args:
        pieces: in order.
        people: of all of them.
        changes: what is to be said of the whole in another way than of the first piece.
    """
    first = replace(pieces[0].table, people=people, **changes)
    return Outline(
        **{item.name: getattr(first, item.name) for item in fields(FeatureTable)},
        known=pl.concat([piece.recordings for piece in pieces]),
        known_blank=np.concatenate([piece.blank for piece in pieces]),
    )


_PLAIN = ("step_ms", "window_ms", "planned_rows", "simulated", "released")
_TOKEN_BYTES = 8


def is_kept(run: Run, name: str) -> bool:
    """Whether the scratch has a table of that name.

    Args:
        run: whose scratch.
        name: of the table.
    """
    return _about(run, name).exists()


def keep_table(
    run: Run, name: str, table: FeatureTable, more: Mapping[str, Any] | None = None
) -> None:
    """Put a table into the scratch, unless one of that name is there.

    Args:
        run: whose scratch.
        name: of the table.
        table: with its rows and people, or without.
        more: what else to keep with it, as json can tell it.
    """
    token = secrets.token_hex(_TOKEN_BYTES)
    for which, frame in (("rows", table.data), ("people", table.people)):
        run.put(_frame(run, name, token, which), frame.write_parquet)
    origin = table.origin
    about = {
        "token": token,
        "features": [asdict(feature) for feature in table.features],
        "origin": None if origin is None else [origin.id, _text(origin.ledger)],
        "more": dict(more or {}),
        "chosen": list(table.chosen),
    } | {field: getattr(table, field) for field in _PLAIN}
    text = json.dumps(about, default=_number)
    run.put(_about(run, name), lambda draft: draft.write_text(text, encoding="utf-8"))


def kept_table(run: Run, name: str) -> tuple[FeatureTable, dict[str, Any]]:
    """The table of that name in the scratch, and what was kept with it.

    Args:
        run: whose scratch.
        name: of the table.
    """
    path = _about(run, name)
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        token = bytes.fromhex(about["token"]).hex()
        rows, people = (rows_of(_frame(run, name, token, which)) for which in ("rows", "people"))
        origin = about["origin"]
        table = FeatureTable(
            data=rows,
            people=people,
            features=tuple(Feature(**feature) for feature in about["features"]),
            origin=None if origin is None else Origin(origin[0], _path(origin[1])),
            chosen=tuple(about["chosen"]),
            **{field: about[field] for field in _PLAIN},
        )
        return table, dict(about["more"])
    except EyelidError:
        raise
    except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise _unreadable(run, path, error) from None
    except pl.exceptions.PolarsError as error:
        raise _unreadable(run, path, error) from None


def _unreadable(run: Run, path: Path, error: Exception) -> InputError:
    why = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return InputError(
        f"cannot read {path} ({why}): remove {run.home} to give the run up (what was counted for "
        "it stays counted)"
    )


def _about(run: Run, name: str) -> Path:
    return run.scratch / f"{name}.json"


def _frame(run: Run, name: str, token: str, which: str) -> Path:
    return run.scratch / f"{name}.{token}.{which}.parquet"


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _number(value: Any) -> Any:
    """A number of numpy's as Python's own, which json knows."""
    return value.item()


Summarise = Callable[[Study], FeatureTable]


@dataclass(frozen=True, eq=False)
class TableInPieces:
    """Features of people, piece by piece.

    Attributes:
        outline: of the table that they all are.
        cut: the same as a study in pieces.
        ranges: of each feature over everybody.
        digests: of what is taken of each person, by name.
    """

    outline: Outline
    cut: StudyInPieces
    ranges: Ranges
    digests: dict[str, bytes]

    @property
    def blanks(self) -> Blanks:
        """Recordings of which there is no value; private."""
        return Blanks.of(self.outline)

    def digest(self) -> bytes:
        """SHA-256 of the whole table, equal to its `input_digest`."""
        return digest_of_people(list(self.digests), list(self.digests.values()))

    def table(self) -> FeatureTable:
        """All of it, in memory."""
        return FeatureTable.of(self.cut.whole())


def opened(
    source: Study | FeatureTable | Path | str,
    map: Map = None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> StudyInPieces:
    """A study folder stays on disk; recordings are read, and scrubbed.

    Args:
        source: a study folder or recordings, a study, or a table.
        map: what you say about the columns of recordings, or facts that a study folder lacks.
        people: whom it is about, as for `people_choice`; everybody by default.
        min_seconds: leave out shorter recordings where samples are summarised.
    """
    cut = chosen_in(_opened(source, map), people)
    check_min_seconds(min_seconds, cut.head.kind)
    return (
        cut
        if min_seconds is None
        else replace(cut, head=replace(cut.head, min_seconds=min_seconds))
    )


def check_min_seconds(min_seconds: float | None, kind: str) -> None:
    """Refuse a shortest length where nothing is summarised that it could leave out.

    Args:
        min_seconds: what a recording has to last.
        kind: of the study's rows.
    """
    if min_seconds is not None and kind != "samples":
        raise InputError(
            f"min_seconds is for gaze samples, and this is a study of {kind}: leave it out"
        )


def _opened(source: Study | FeatureTable | Path | str, map: Map) -> StudyInPieces:
    if isinstance(source, str | Path):
        path = Path(source)
        if not study_folder.recognises(path):
            return in_pieces(read_scrubbed(path, map))
        check_not_a_part(path)
        cut = in_pieces(path)
        return replace(cut, head=with_said_facts(cut.head, understood(map), str(path)))
    check_type(source)
    return in_pieces(source.study() if isinstance(source, FeatureTable) else source)


def prepare(
    cut: StudyInPieces, summarise: Summarise, run: Run | None, advance: Advance
) -> TableInPieces:
    """Look at everything once, and summarise what has to be.

    Args:
        cut: a study.
        summarise: what the mechanism takes of a piece; of one that was summarised, itself.
        run: whose scratch keeps what is summarised; None to keep it in memory.
        advance: of the bar of the whole run.
    """
    with shared(cut.head) as head:
        look = partial(_looked_at, head, summarise, run)
        found = list(each_piece(look, cut, advance, "looking at recordings"))
    if len({facts.table.features for facts in found}) > 1:
        raise InputError("people have different features: release them apart")
    outline = outline_of(found, cut.head.people)
    ranges = ranges_together([facts.ranges for facts in found])
    if not any(each.seen for each in ranges.values()):
        raise InputError(NOTHING_LONG_ENOUGH if cut.head.kind == "samples" else NOTHING)
    if cut.head.kind != "features":
        pieces = [_made(*each, run) for each in zip(cut.pieces, found, strict=True)]
        cut = replace(
            cut, head=outline.study(), recordings=outline.recordings, pieces=tuple(pieces)
        )
    digests = {name: digest for facts in found for name, digest in facts.digests.items()}
    return TableInPieces(outline, cut, ranges, digests)


def _looked_at(
    handle: Shared[Study], summarise: Summarise, run: Run | None, piece: Piece
) -> PieceFacts:
    """The facts of a piece, or what is known of it from before a stop."""
    known = f"facts-{piece.number:06d}"
    if run is not None and is_kept(run, known):
        return _known(run, known)
    head = handle.get()
    table = summarise(piece.read(head))
    check_numbers(table.data, table.names)
    held = None
    if head.kind != "features":
        if run is None:
            held = table.data
        else:
            run.put(_summarised(run, piece), table.data.write_parquet)
    facts = PieceFacts.of(table, input_rows(table), ranges=ranges_of(table), held=held)
    if run is not None:
        more = {
            "ranges": {name: astuple(each) for name, each in facts.ranges.items()},
            "digests": {name: digest.hex() for name, digest in facts.digests.items()},
            "recordings": facts.recordings.to_dict(as_series=False),
            "blank": facts.blank.tolist(),
        }
        keep_table(run, known, facts.table, more)
    return facts


def _known(run: Run, name: str) -> PieceFacts:
    """What was known of a piece before the run was stopped."""
    table, more = kept_table(run, name)
    keys = {key: kind for key, kind in table.data.schema.items() if key in more["recordings"]}
    return PieceFacts(
        table=table,
        recordings=pl.DataFrame(more["recordings"], schema=keys | {"rows": pl.Int64}),
        ranges={feature: Range(*ends) for feature, ends in more["ranges"].items()},
        digests={person: bytes.fromhex(digest) for person, digest in more["digests"].items()},
        blank=np.array(more["blank"], dtype=bool),
    )


def _summarised(run: Run, piece: Piece) -> Path:
    return run.scratch / f"summary-{piece.number:06d}.parquet"


def _made(piece: Piece, facts: PieceFacts, run: Run | None) -> Piece:
    """The piece as it was summarised."""
    rows = int(facts.recordings["rows"].sum())
    made = replace(piece, rows=rows, recordings=len(facts.recordings), events=None)
    if run is None:
        return replace(made, held=facts.held, slices=())
    return replace(made, held=None, slices=(Slice(_summarised(run, piece), 0, rows),))


def read_again(piece: Piece, head: Study, digests: Sequence[bytes]) -> FeatureTable:
    """The features of a piece, refused unless they are those that were looked at.

    Args:
        piece: of what was taken.
        head: of the same.
        digests: of what was looked at of each person.
    """
    table = FeatureTable.of(piece.read(head))
    rows = input_rows(table)
    if names_of(rows) != list(piece.people) or person_digests(rows) != list(digests):
        raise InputError(
            "the data changed after they were looked at, and what is promised may not be true of "
            "them: release again when nobody writes them"
        )
    return table
