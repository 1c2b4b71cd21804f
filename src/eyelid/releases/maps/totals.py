"""Everybody's sums, piece by piece: limited and made whole numbers where their rows are read.

Only sums of whole numbers travel. They are exact, so that neither the order in which they are added
nor who made them matters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from eyelid.engine.engines import Shared, advancing, shared
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.io.files import arrays_in
from eyelid.io.pieces import Piece, StudyInPieces
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.noisy_map import NoisyMap
from eyelid.mechanisms.noisy import Integers
from eyelid.releases.maps.plan import AreaPlan, MapPlan, Observers
from eyelid.releases.maps.sight import Sight


@dataclass(frozen=True, eq=False)
class _Sheet:
    """What is added up.

    Attributes:
        sight: how to see where people looked.
        law: of the maps; None without maps.
        observers: of each map.
        tables: over areas; None without them.
        run: keeps what was added up of a piece; None where nothing is kept.
    """

    sight: Sight
    law: NoisyMap | None
    observers: tuple[Observers, ...]
    tables: AreaPlan | None
    run: Run | None

    @property
    def name(self) -> str:
        """Of everything that sums depend on besides the looks."""
        laws = [self.law, None if self.tables is None else self.tables.mechanism]
        told = json.dumps([None if law is None else law.parameters() for law in laws])
        return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class _Part:
    """What some people add to a vector of sums: all of it, or where there is something.

    Attributes:
        where: places of the values; None for all of them.
        values: to add.
    """

    where: Integers | None
    values: Integers

    @classmethod
    def of(cls, summed: Integers) -> _Part:
        """Whatever is smaller."""
        where = np.flatnonzero(summed)
        return cls(None, summed) if 2 * where.size > summed.size else cls(where, summed[where])

    def add_to(self, total: Integers) -> None:
        """In place."""
        total[slice(None) if self.where is None else self.where] += self.values


def totals(
    cut: StudyInPieces,
    plan: MapPlan,
    sight: Sight,
    law: NoisyMap | None,
    run: Run | None,
    advance: Advance,
) -> tuple[list[Integers], Integers | None]:
    """The sums of each map's people, and those of tables where there are any.

    Args:
        cut: the study.
        plan: of the maps and tables.
        sight: how to see where people looked.
        law: of the maps, with what it chose; None without maps.
        run: where sums of pieces are kept until it ends; None where nothing is written.
        advance: of the bar of the whole run, by recordings.
    """
    maps = plan.observers if law is not None else ()
    # One piece is as quickly added up again.
    kept = run if len(cut.pieces) > 1 else None
    sheet = _Sheet(sight, law, maps, plan.tables, kept)
    lengths = [each.shape.recordings * each.shape.length for each in maps]
    if plan.tables is not None:
        lengths.append(plan.tables.shape.recordings * plan.tables.shape.length)
    found = _added_up(_summed, sheet, cut, lengths, advance)
    return found[: len(maps)], found[-1] if plan.tables is not None else None


def cuts(
    cut: StudyInPieces, plan: MapPlan, sight: Sight, law: CappedMap, advance: Advance
) -> Integers:
    """What each cap that a mechanism may choose cuts off everybody (candidates, cells).

    Args:
        cut: the study.
        plan: of the one map.
        sight: how to see where people looked.
        law: that is to choose.
        advance: of the bar of the whole run, by recordings.
    """
    (only,) = plan.observers
    sheet = _Sheet(sight, law, plan.observers, None, None)
    cells = only.shape.recordings * only.shape.length
    count = len(law.candidates())
    (found,) = _added_up(_cut, sheet, cut, [count * cells], advance)
    return found.reshape(count, cells)


def _added_up(
    work: Callable[[Shared[_Sheet], Piece], list[tuple[int, _Part]]],
    sheet: _Sheet,
    cut: StudyInPieces,
    lengths: Sequence[int],
    advance: Advance,
) -> list[Integers]:
    """Sums of so many numbers each, added as they arrive: no more than a few are there at once."""
    found = [np.zeros(length, dtype=np.int64) for length in lengths]
    weights = [piece.recordings for piece in cut.pieces]
    with shared(sheet) as handle:
        mine = partial(work, handle)
        for _, parts in advancing(mine, cut.pieces, weights, advance, "adding up"):
            for number, part in parts:
                part.add_to(found[number])
    return found


def _cut(handle: Shared[_Sheet], piece: Piece) -> list[tuple[int, _Part]]:
    sheet = handle.get()
    law, (only,) = sheet.law, sheet.observers
    assert isinstance(law, CappedMap)
    return [
        (number, _Part.of(law.cuts(looks.counts(only.shape.grid), only.shape).reshape(-1)))
        for number, looks in sheet.sight.looks(piece)
    ]


def _summed(handle: Shared[_Sheet], piece: Piece) -> list[tuple[int, _Part]]:
    """What the people of a piece add, unless it was added up before the run was stopped."""
    sheet = handle.get()
    if sheet.run is None:
        return _of_people(sheet, piece)
    path = sheet.run.scratch / f"sums-{sheet.name}-{piece.number:06d}"
    if not path.exists():
        sheet.run.put(path, partial(_write, _of_people(sheet, piece)))
    return _read(path)


def _of_people(sheet: _Sheet, piece: Piece) -> list[tuple[int, _Part]]:
    found = []
    for number, looks in sheet.sight.looks(piece):
        if sheet.law is not None:
            shape = sheet.observers[number].shape
            found.append((number, _Part.of(sheet.law.part(looks.counts(shape.grid), shape))))
        if sheet.tables is not None:
            law, areas = sheet.tables.mechanism, sheet.tables.areas
            summed = law.part(law.tables_of(looks, areas), sheet.tables.shape)
            found.append((len(sheet.observers), _Part.of(summed)))
    return found


def _write(parts: list[tuple[int, _Part]], draft: Path) -> None:
    arrays = {}
    for number, part in parts:
        arrays[f"values{number}"] = part.values
        if part.where is not None:
            arrays[f"where{number}"] = part.where
    with draft.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _read(path: Path) -> list[tuple[int, _Part]]:
    found = arrays_in(path)
    numbers = sorted(int(name[len("values") :]) for name in found if name.startswith("values"))
    return [
        (number, _Part(found.get(f"where{number}"), found[f"values{number}"])) for number in numbers
    ]
