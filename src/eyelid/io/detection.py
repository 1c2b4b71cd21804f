"""Events of studies of any size: people piece by piece, by whatever engine works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from eyelid.engine.atomic import check_new
from eyelid.engine.engines import Shared, shared
from eyelid.engine.runs import Run
from eyelid.gaze.events import DEFAULT_METHOD, check_settings, detect_events, gaze_units
from eyelid.gaze.study import Study
from eyelid.io.column_map import Map
from eyelid.io.derivations import begun, each_part, entered, unfit_explained
from eyelid.io.parquet import scan
from eyelid.io.pieces import Piece
from eyelid.io.study_folder import EVENTS
from eyelid.io.study_parts import join_events, write_manifest, write_study_part


@dataclass(frozen=True)
class Found:
    """Events of one kind.

    Attributes:
        name: of the kind.
        count: how many.
        median_ms: of their durations.
    """

    name: str
    count: int
    median_ms: float


@dataclass(frozen=True)
class DerivedEvents:
    """What `derive_events` wrote.

    Attributes:
        people: how many.
        recordings: how many.
        kinds: of events, in order of appearance.
    """

    people: int
    recordings: int
    kinds: tuple[Found, ...]

    @property
    def events(self) -> int:
        """How many there are."""
        return sum(kind.count for kind in self.kinds)


def derive_events(
    source: Path | str,
    out: Path,
    method: str = DEFAULT_METHOD,
    settings: Mapping[str, float | str] = MappingProxyType({}),
    *,
    map: Map = None,
    ledger: Path | str | None = None,
) -> DerivedEvents:
    """Detect the events of every recording, and write the study with them.

    Args:
        source: a study folder, a recording, or a folder of recordings.
        out: a new folder.
        method: the detector, see `eyelid.gaze.events.detect_events`.
        settings: of the detector.
        map: what you say about columns, as for `eyelid.read`.
        ledger: count in this file instead of the study's own.
    """
    check_new(out)
    check_settings(method, settings)
    cut = entered(source, map, ledger, gaze_units)
    of = len(cut.pieces)
    with begun(source, map, out, cut, "events", method, dict(settings)) as run:
        with shared(cut.head) as head:
            work = partial(_events_of_piece, run, head, of, method, dict(settings))
            parts = each_part(run, work, cut, "detecting")
        join_events(run, of)
        kinds = _kinds(run.output / EVENTS)
        write_manifest(run, cut.head, parts, out)
    return DerivedEvents(len(cut.people), cut.recordings.height, kinds)


def _events_of_piece(
    run: Run,
    head: Shared[Study],
    of: int,
    method: str,
    settings: dict[str, float | str],
    piece: Piece,
) -> dict[str, Any]:
    """Write the rows of a piece and, before them, its events."""

    def made() -> Study:
        with unfit_explained():
            study = piece.read(head.get())
            return replace(study, events=detect_events(study, method, None, **settings))

    return write_study_part(run, piece.number, of, made)


def _kinds(events: Path) -> tuple[Found, ...]:
    """How many events there are of each kind, and their median duration, exactly.

    Durations are counted before they are put in order: there are far fewer than events.
    """
    counts = (
        scan(events)
        .with_row_index("place")
        .group_by("name", "duration_ms")
        .agg(pl.len().alias("count"), pl.col("place").min())
        .collect(engine="streaming")
    )
    first = counts.group_by("name").agg(pl.col("place").min()).sort("place")
    return tuple(_found(name, counts.filter(pl.col("name") == name)) for name in first["name"])


def _found(name: str, counts: pl.DataFrame) -> Found:
    """The middle one of the durations, or the mean of the two in the middle."""
    ordered = counts.sort("duration_ms")
    until = ordered["count"].cast(pl.Int64).cum_sum()
    count = int(until[-1])
    low, high = (
        ordered["duration_ms"][until.search_sorted(place // 2 + 1)] for place in (count - 1, count)
    )
    return Found(name, count, (low + high) / 2)
