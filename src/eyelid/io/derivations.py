"""What is made of studies of any size, such as features: people piece by piece, by any engine.

What is the same for everybody, units and features, is settled by columns and study.json before
any person's rows are read. A part that was written is not computed again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from eyelid.engine.atomic import check_new
from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import one_bar
from eyelid.engine.runs import Run, running
from eyelid.errors import InputError, unknown
from eyelid.gaze.events import DEFAULT_METHOD, check_settings
from eyelid.gaze.features.catalogue import EVENT_KINDS
from eyelid.gaze.features.omission import Omissions, blank_recordings
from eyelid.gaze.features.per_event import HOW_TO_FIT as event_help
from eyelid.gaze.features.per_event import event_outline, events_and_omissions
from eyelid.gaze.features.per_event import least_s as events_least_s
from eyelid.gaze.features.quantities import check_nothing_to_detect, usual_kind
from eyelid.gaze.features.windows import (
    STEP_S,
    WINDOW_S,
    how_to_fit,
    window_outline,
    windows_and_omissions,
)
from eyelid.gaze.features.windows import least_s as windows_least_s
from eyelid.gaze.sampling import slowest_step_ms, too_slow
from eyelid.gaze.study import INDEX_COLUMNS, RECORDING_KEY, Derivation, Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.column_map import Map, understood, with_said_facts
from eyelid.io.intake import counted, read_scrubbed
from eyelid.io.parquet import scan
from eyelid.io.people_choice import (
    PeopleChoice,
    Whom,
    chosen_in,
    chosen_of,
    people_choice,
)
from eyelid.io.pieces import Piece, StudyInPieces, each_piece, in_pieces
from eyelid.io.reading import check_not_a_part
from eyelid.io.study_parts import (
    input_key,
    kept_from_first,
    part_path,
    write_manifest,
    write_part,
)
from eyelid.privacy.ledger import Ledger
from eyelid.version import __version__

WINDOWS = "windows"

# In place of a detector, where fixations were given and nothing was detected.
_REPORTED = "reported fixations"


class UnfitInput(InputError):
    """Recordings that cannot be worked on: going on with the same ones would end the same way."""


@dataclass(frozen=True, eq=False)
class DerivedFeatures:
    """What `derive_features` wrote.

    Attributes:
        rows: what a row is: ``windows``, ``fixations``, ``saccades``, or just ``rows``.
        table: without rows: features, step, planned length.
        recordings: one row each, with its keys and number of ``rows``, 0 where it is left out.
        doubt: what to think of before relying on them, if there is something.
        omitted: recordings that are left out, with one row without a value each; private.
        least_s: what a recording had to last.
        of_fixations: whether they were made of a report of fixations, and not of samples.
        empty: features that nobody has, as raw data tell.
        several_stimuli: whether a recording shows more than one, as raw data tell.
    """

    rows: str
    table: FeatureTable
    recordings: pl.DataFrame
    doubt: str | None = None
    omitted: Omissions = field(default_factory=Omissions)
    least_s: float = 0.0
    of_fixations: bool = False
    empty: tuple[str, ...] = ()
    several_stimuli: bool = False

    @property
    def left_out(self) -> str:
        """How many recordings are left out and why, in a sentence; empty where none is."""
        return self.omitted.in_words(self.least_s)

    @property
    def features(self) -> tuple[Feature, ...]:
        """What was computed, in order."""
        return self.table.features

    @property
    def people(self) -> int:
        """How many there are."""
        return self.recordings["person"].n_unique()

    @property
    def count(self) -> int:
        """How many rows were made of recordings."""
        return int(self.recordings["rows"].sum())


def derive_features(
    source: Path | str,
    out: Path,
    kind: str | None = None,
    only: Sequence[str] | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    *,
    map: Map = None,
    ledger: Path | str | None = None,
    min_seconds: float | None = None,
    people: Whom = None,
) -> DerivedFeatures:
    """Summarise every recording as features, or choose of those that there are, and write them.

    Args:
        source: a study folder, a recording, or a folder of recordings.
        out: a new folder.
        kind: what a row is: ``windows``, ``fixations`` or ``saccades``; without it, windows of
            samples and single fixations of fixations, see `usual_kind`.
        only: keep these features.
        settings: of `eyelid.gaze.features.window_features` or `event_features`.
        map: what you say about columns, as for `eyelid.read`.
        ledger: count in this file instead of the study's own.
        min_seconds: leave out shorter recordings; by default those without a whole window, or of
            less than a second where a row is an event.
        people: whom it is about, as for `people_choice`; everybody by default.
    """
    check_new(out)
    if kind is not None and kind not in (WINDOWS, *EVENT_KINDS):
        raise unknown("kind of features", kind, [WINDOWS, *EVENT_KINDS])
    settings = dict(settings)
    outline = partial(_outline, source, kind, only, settings, min_seconds)
    cut = entered(source, map, ledger, outline, people_choice(people))
    cut = replace(cut, head=replace(cut.head, min_seconds=min_seconds))
    table = outline(cut.head)
    of = len(cut.pieces)
    make = partial(_table_of, kind, only, settings)
    least = _least_s(cut.head, kind, settings)
    with begun(source, map, out, cut, "features", kind, only, settings, min_seconds) as run:
        with shared(cut.head) as head:
            work = partial(_features_of_piece, run, head, of, make)
            parts = each_part(run, work, cut, "summarising")
        paths = [part_path(run.output, number, of) for number in range(of)]
        recordings = pl.concat([_recordings(path, table.names) for path in paths])
        if cut.head.kind == "features":
            write_manifest(run, replace(table.study(), derived=cut.head.derived), parts, out)
            return DerivedFeatures(WINDOWS if table.window_ms else "rows", table, recordings)
        rows = _rows(kind, settings, cut.head)
        seen = [_seen(run, cut.head, make, piece) for piece in cut.pieces]
        omitted = sum((each.omitted for each in seen), Omissions())
        with unfit_explained():
            how = event_help if rows in EVENT_KINDS else how_to_fit(cut.head, omitted)
            omitted.check_some(least, how)
        empty = _empty(paths, table.names)
        derived = _derivation(cut.head, rows, settings, least)
        write_manifest(run, replace(table.study(), derived=derived), parts, out)
    slowest_ms = max((each.slowest_ms for each in seen if each.slowest_ms), default=None)
    of_fixations = cut.head.kind == "fixations"
    return DerivedFeatures(
        rows,
        table,
        recordings,
        None if of_fixations else too_slow(slowest_ms),
        omitted,
        least,
        of_fixations,
        empty,
        _several_stimuli(cut),
    )


def _several_stimuli(cut: StudyInPieces) -> bool:
    """Whether a person saw more stimuli than they have recordings."""
    shown = cut.shown.group_by("person").agg(pl.len().alias("stimuli"))
    recordings = cut.recordings.group_by("person").agg(pl.len().alias("recordings"))
    both = shown.join(recordings, on="person")
    return bool((both["stimuli"] > both["recordings"]).any())


def _empty(parts: Sequence[Path], names: Sequence[str]) -> tuple[str, ...]:
    """The columns without any value, of parts that were written."""
    known = scan(*parts).select(pl.col(names).is_not_null().any()).collect().row(0)
    return tuple(name for name, any_there in zip(names, known, strict=True) if not any_there)


def _rows(kind: str | None, settings: Mapping[str, Any], study: Study) -> str:
    """What a row is, as was said or as is usual."""
    windows = {"window_s", "step_s"} & set(settings)
    return kind or (WINDOWS if windows else usual_kind(study))


def _least_s(head: Study, kind: str | None, settings: Mapping[str, Any]) -> float:
    """Seconds that a recording has to last to be summarised."""
    if _rows(kind, settings, head) in EVENT_KINDS:
        return events_least_s(head)
    return windows_least_s(head, settings.get("window_s", WINDOW_S))


def _derivation(head: Study, kind: str, settings: Mapping[str, Any], least_s: float) -> Derivation:
    """What study.json says of how the features were made."""
    rest = dict(settings)
    method = rest.pop("method", _REPORTED if head.kind == "fixations" else DEFAULT_METHOD)
    window_s, step_s = rest.pop("window_s", WINDOW_S), rest.pop("step_s", STEP_S)
    if kind in EVENT_KINDS:
        return Derivation(kind, method, rest, least_s, version=__version__)
    return Derivation(kind, method, rest, least_s, window_s, step_s, __version__)


def entered(
    source: Path | str,
    map: Map,
    ledger: Path | str | None,
    check: Callable[[Study], object],
    people: PeopleChoice | None = None,
) -> StudyInPieces:
    """What is at a place, counted and in pieces, once it has turned out to be what is needed.

    The ledger gets to know everybody, also those who are not chosen.
    """
    if study_folder.recognises(Path(source)):
        check_not_a_part(Path(source))
        cut = in_pieces(Path(source))
        said = with_said_facts(cut.head, understood(map), str(source))
        cut = replace(cut, head=said)
        check(cut.head)
        chosen = chosen_in(cut, people)
        known = counted(cut.head, source, ledger)
        cut = replace(
            chosen,
            head=replace(chosen.head, origin=known.origin, notes=known.notes),
        )
    else:
        study = read_scrubbed(source, map)
        check(study)
        # Chosen by the names that were read: afterwards they are pseudonyms.
        chosen_study = chosen_of(study, people)
        study = counted(replace(chosen_study, people=study.people), source, ledger)
        mine = pl.col("person").is_in(study.data["person"].unique().to_list())
        cut = in_pieces(replace(study, people=study.people.filter(mine)) if people else study)
    origin = cut.head.origin
    if origin is not None and origin.ledger is not None:
        Ledger.counting(origin.ledger, origin.id).check_knows(origin.id)
    # What there was of events is not needed, and would be sent around.
    return replace(cut, pieces=tuple(replace(piece, events=None) for piece in cut.pieces))


@contextlib.contextmanager
def begun(
    source: Path | str, map: Map, out: Path, cut: StudyInPieces, *settings: Any
) -> Iterator[Run]:
    """A run that depends on what is at a place and said of it, how it is cut, and settings."""
    said = [str(understood(map)), cut.head.people.write_csv(), cut.people]
    rows = [piece.rows for piece in cut.pieces]
    key = input_key(source, __version__, said, rows, settings)
    with running(out, key) as run:
        try:
            yield run
        except UnfitInput:
            run.keep(False)
            raise


def each_part(
    run: Run, work: Callable[[Piece], dict[str, Any]], cut: StudyInPieces, what: str
) -> list[dict[str, Any]]:
    """What study.json says of each part, written by any free worker."""
    with one_bar(cut.recordings.height, "recordings") as advance:
        made = each_piece(work, cut, advance, what)
        return list(kept_from_first(run, made, len(cut.pieces)))


def _features_of_piece(
    run: Run,
    head: Shared[Study],
    of: int,
    make: Callable[[Study], tuple[FeatureTable, Omissions]],
    piece: Piece,
) -> dict[str, Any]:
    """Write the features of a piece and, before them, what of its recordings was left out."""

    def rows() -> pl.DataFrame:
        with unfit_explained():
            study = piece.read(head.get())
            table, omitted = make(study)
        seen = json.dumps(asdict(_Seen(_slowest_used_ms(study, table), omitted)))
        run.put(_seen_path(run, piece.number), lambda draft: draft.write_text(seen))
        return table.data

    return write_part(run, piece.number, of, rows)


@contextlib.contextmanager
def unfit_explained() -> Iterator[None]:
    """Tell what is wrong with recordings from what goes wrong with the run."""
    try:
        yield
    except InputError as error:
        raise UnfitInput(str(error)) from None


def _outline(
    source: Path | str,
    kind: str | None,
    only: Sequence[str] | None,
    settings: dict[str, Any],
    min_seconds: float | None,
    study: Study,
) -> FeatureTable:
    """The table that will be made, but for its rows; fails where it cannot be made."""
    study = replace(study, min_seconds=min_seconds)
    if study.kind == "features":
        if only is None or kind is not None or settings or min_seconds is not None:
            raise InputError(f"{source} has features already: choose of them with `only=…`")
        if study.released:
            raise InputError(f"{source} is a release already: choose features before a release")
        table = FeatureTable.outline(study)
    else:
        others = dict(settings)
        windows = {name: others.pop(name) for name in ("window_s", "step_s") if name in others}
        method = others.pop("method", DEFAULT_METHOD)
        check_settings(method, others)
        if study.kind == "fixations":
            check_nothing_to_detect(method, others)
        kind = _rows(kind, settings, study)
        if kind in EVENT_KINDS:
            table = event_outline(study, kind)
        else:
            table = window_outline(study, **windows)
    return table if only is None else table.only(*only)


def _table_of(
    kind: str | None, only: Sequence[str] | None, settings: dict[str, Any], study: Study
) -> tuple[FeatureTable, Omissions]:
    """The table of some people, and what of their recordings is left out."""
    omitted = Omissions()
    if study.kind == "features":
        table = FeatureTable.of(study)
    elif (rows := _rows(kind, settings, study)) in EVENT_KINDS:
        table, omitted = events_and_omissions(study, rows, **settings)
    else:
        table, omitted = windows_and_omissions(study, **settings)
    return (table if only is None else table.only(*only)), omitted


@dataclass(frozen=True)
class _Seen:
    """What was seen of a piece: how slowly it was sampled, and what is left out of it."""

    slowest_ms: float | None
    omitted: Omissions


def _slowest_used_ms(study: Study, table: FeatureTable) -> float | None:
    """The usual step of the slowest recording that was summarised."""
    blank = blank_recordings(table)
    used = study.data.join(blank, on=RECORDING_KEY, how="anti") if blank.height else study.data
    return slowest_step_ms(replace(study, data=used))


def _seen_path(run: Run, number: int) -> Path:
    return run.scratch / f"seen-{number:06d}.json"


def _seen(
    run: Run,
    head: Study,
    make: Callable[[Study], tuple[FeatureTable, Omissions]],
    piece: Piece,
) -> _Seen:
    """What was seen of a piece, as it was noted unless the scratch is gone already."""
    try:
        noted = json.loads(_seen_path(run, piece.number).read_text())
    except FileNotFoundError:
        study = piece.read(head)
        table, omitted = make(study)
        return _Seen(_slowest_used_ms(study, table), omitted)
    return _Seen(noted["slowest_ms"], Omissions(**noted["omitted"]))


def _recordings(part: Path, features: Sequence[str]) -> pl.DataFrame:
    """One row a recording of a part that was written, with its number of ``rows``.

    The row that stands for a recording without any value does not count.
    """
    lazy = scan(part)
    there = lazy.collect_schema().names()
    rest = [name for name in INDEX_COLUMNS[:-1] if name in there and name not in RECORDING_KEY]
    each = lazy.group_by(RECORDING_KEY, maintain_order=True)
    value = pl.any_horizontal(pl.col(name).is_not_null() for name in features)
    rows = pl.when(value.any()).then(pl.len()).otherwise(0).cast(pl.Int64).alias("rows")
    return each.agg(*[pl.col(name).first() for name in rest], rows).collect()
