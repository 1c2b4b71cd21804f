"""Where people looked, piece by piece: all that a map ever takes of their rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.engines import Shared, advancing, shared
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_points import GazePoints, Weight, gaze_points_of
from eyelid.gaze.study import Study
from eyelid.io.files import arrays_in
from eyelid.io.pieces import Piece, StudyInPieces, each_piece
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.maps.noisy_sum import NoisyMap
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy.noise import Randomness
from eyelid.releases.accounting import NO_POINTS, digest_of_points, point_digests
from eyelid.releases.kinds.maps.plan import AreaDesign, MapDesign, Observers
from eyelid.releases.kinds.maps.presentation import Measured
from eyelid.releases.kinds.maps.settings import MS, group_of, map_mechanism
from eyelid.releases.kinds.maps.view import View


@dataclass(frozen=True, eq=False)
class Sight:
    """What the reader of a piece needs to know.

    Attributes:
        head: everything about the study but its rows.
        view: what was looked at, without pictures.
        weight: what a gaze point counts.
        stretches_ms: where stretches of time begin, and where the last one ends.
        by: the attribute that groups are made by.
        groups: their names; one without a name for everybody.
        known: digests of where people looked, by name, if others are to be refused.
    """

    head: Study
    view: View
    weight: Weight
    stretches_ms: tuple[float, ...] | None
    by: str | None
    groups: tuple[str, ...]
    known: Mapping[str, bytes] | None = None

    @classmethod
    def of(cls, head: Study, design: MapDesign, known: Mapping[str, bytes] | None = None) -> Sight:
        """As the design says."""
        groups = tuple(each.name for each in design.observers) if design.by else ("",)
        view = replace(design.view, pictures=())
        return cls(head, view, design.weight, design.stretches_ms, design.by, groups, known)

    def points(self, piece: Piece) -> Iterator[tuple[int, GazePoints]]:
        """Gaze points of each group's people who are in the piece, with the group's number."""
        study = piece.read(self.head)
        for number, name in enumerate(self.groups):
            people = study.people
            if self.by is not None:
                people = people.filter(group_of(self.by) == name)
            if not people.is_empty():
                yield number, self._of(study, people["person"])

    def all_points(self, study: Study) -> list[GazePoints]:
        """Gaze points of everybody of each group, who are all in memory."""
        people = study.people
        if self.by is None:
            return [self._of(study, people["person"])]
        return [
            self._of(study, people.filter(group_of(self.by) == name)["person"])
            for name in self.groups
        ]

    def _of(self, study: Study, people: pl.Series) -> GazePoints:
        points = seen(
            study, self.view, self.weight, self.stretches_ms, people.to_list(), self.view.stimuli
        )
        if self.known is not None:
            planned = [self.known.get(name, NO_POINTS) for name in points.people]
            if point_digests(points) != planned:
                raise InputError(
                    "the recordings changed after they were looked at, and what is promised may "
                    "not be true of them: make the heatmap again when nobody writes them"
                )
        return points


@dataclass(frozen=True, eq=False)
class Survey:
    """What there is to see.

    Attributes:
        points: how many are on the picture.
        outside: and how many beside it.
        without: people who have none on it.
        most: of one person.
        layers: whether anyone looked at each of them.
        digests: of those of each person who has rows, by name.
        digest: of all of them.
    """

    points: int
    outside: int
    without: int
    most: int
    layers: NDArray[np.bool_]
    digests: dict[str, bytes]
    digest: bytes


@dataclass(frozen=True, eq=False)
class _Looked:
    """Gaze points of some people, by their names."""

    people: tuple[str, ...]
    digests: list[bytes]
    points: NDArray[np.int64]
    outside: int
    layers: NDArray[np.bool_]


def surveyed(cut: StudyInPieces, design: MapDesign, advance: Advance) -> Survey:
    """Look at everybody, piece by piece.

    Args:
        cut: the study.
        design: of the map.
        advance: of the bar of the whole run, by recordings.
    """
    digests: dict[str, bytes] = {}
    points = outside = most = present = 0
    layers = np.zeros(len(design.layers), dtype=np.bool_)
    with shared(Sight.of(cut.head, design)) as handle:
        for parts in each_piece(partial(_surveyed, handle), cut, advance, "looking"):
            for part in parts:
                digests.update(zip(part.people, part.digests, strict=True))
                points += int(part.points.sum())
                most = max(most, int(part.points.max()))
                present += int(np.count_nonzero(part.points))
                outside += part.outside
                layers |= part.layers
    everybody = [digests.get(name, NO_POINTS) for name in design.people]
    digest = digest_of_points(design.people, design.layers, design.view.size, everybody)
    return Survey(points, outside, len(design.people) - present, most, layers, digests, digest)


def _surveyed(handle: Shared[Sight], piece: Piece) -> list[_Looked]:
    return [
        _Looked(
            points.people,
            point_digests(points),
            np.bincount(points.person, minlength=len(points.people)),
            points.outside,
            np.bincount(points.layer, minlength=len(points.layers)) > 0,
        )
        for _, points in handle.get().points(piece)
    ]


def seen(
    study: Study,
    view: View,
    weight: Weight,
    stretches_ms: Sequence[float] | None = None,
    people: Sequence[str] | None = None,
    known: Sequence[str] | None = None,
) -> GazePoints:
    """Where people looked on the picture. Durations weigh in seconds, and so do caps of them."""
    points = gaze_points_of(
        study,
        width_px=view.width_px,
        height_px=view.height_px,
        stimuli=view.stimuli,
        placement=view.placement,
        weight=weight,
        stretches_ms=stretches_ms,
        people=people,
        known=known,
    )
    return replace(points, weight=points.weight / MS) if weight == "duration" else points


@dataclass(frozen=True, eq=False)
class _Sheet:
    """What is added up.

    Attributes:
        sight: how to see where people looked.
        mechanism: of the maps; None without maps.
        observers: of each map.
        tables: over areas; None without them.
        run: keeps what was added up of a piece; None where nothing is kept.
    """

    sight: Sight
    mechanism: NoisyMap | None
    observers: tuple[Observers, ...]
    tables: AreaDesign | None
    run: Run | None

    @property
    def name(self) -> str:
        """A name of everything that sums depend on besides the gaze points."""
        mechanisms = [self.mechanism, None if self.tables is None else self.tables.mechanism]
        facts = json.dumps(
            [None if mechanism is None else mechanism.parameters() for mechanism in mechanisms]
        )
        return hashlib.sha256(facts.encode()).hexdigest()[:16]


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
    design: MapDesign,
    sight: Sight,
    mechanism: NoisyMap | None,
    run: Run | None,
    advance: Advance,
) -> tuple[list[Integers], Integers | None]:
    """The sums of each map's people, and those of tables where there are any.

    Args:
        cut: the study.
        design: of the maps and tables.
        sight: how to see where people looked.
        mechanism: of the maps, with what it chose; None without maps.
        run: where sums of pieces are kept until it ends; None where nothing is written.
        advance: of the bar of the whole run, by recordings.
    """
    maps = design.observers if mechanism is not None else ()
    # One piece is as quickly added up again.
    kept = run if len(cut.pieces) > 1 else None
    sheet = _Sheet(sight, mechanism, maps, design.tables, kept)
    lengths = [each.facts.recordings * each.facts.length for each in maps]
    if design.tables is not None:
        lengths.append(design.tables.facts.recordings * design.tables.facts.length)
    found = _added_up(_summed, sheet, cut, lengths, advance)
    return found[: len(maps)], found[-1] if design.tables is not None else None


def cuts(
    cut: StudyInPieces, design: MapDesign, sight: Sight, mechanism: CappedMap, advance: Advance
) -> Integers:
    """What each cap that a mechanism may choose cuts off everybody (candidates, cells).

    Args:
        cut: the study.
        design: of the one map.
        sight: how to see where people looked.
        mechanism: that is to choose.
        advance: of the bar of the whole run, by recordings.
    """
    (only,) = design.observers
    sheet = _Sheet(sight, mechanism, design.observers, None, None)
    cells = only.facts.recordings * only.facts.length
    count = len(mechanism.candidates())
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
    mechanism, (only,) = cast(CappedMap, sheet.mechanism), sheet.observers
    return [
        (number, _Part.of(mechanism.cuts(points.counts(only.facts.grid), only.facts).reshape(-1)))
        for number, points in sheet.sight.points(piece)
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
    for number, points in sheet.sight.points(piece):
        if sheet.mechanism is not None:
            facts = sheet.observers[number].facts
            found.append((number, _Part.of(sheet.mechanism.part(points.counts(facts.grid), facts))))
        if sheet.tables is not None:
            mechanism, areas = sheet.tables.mechanism, sheet.tables.areas
            summed = mechanism.part(mechanism.tables_of(points, areas), sheet.tables.facts)
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


@dataclass(frozen=True, eq=False)
class Cells:
    """All that anything after it knows of people.

    Attributes:
        maps: what was measured of the people of each.
        tables: layers × cells; None without tables.
    """

    maps: tuple[Measured, ...]
    tables: Values | None


def passes(design: MapDesign) -> int:
    """How often everybody's rows are read for it."""
    return 2 if _choosing(design.mechanism) is not None else 1


def _summing(mechanism: MapMechanism | None) -> NoisyMap | None:
    """The mechanism, where it declares that sums over people are enough."""
    by_sums = mechanism is not None and mechanism.execution is Execution.BY_SUMS
    return cast(NoisyMap, mechanism) if by_sums else None


def _choosing(mechanism: MapMechanism | None) -> CappedMap | None:
    """The mechanism, where it declares that it chooses a cap by sums over people."""
    summing = _summing(mechanism)
    return cast(CappedMap, mechanism) if summing is not None and summing.chooses else None


def measured(
    cut: StudyInPieces,
    design: MapDesign,
    known: Mapping[str, bytes],
    noise: Randomness,
    run: Run | None,
    advance: Advance,
) -> Cells:
    """Measure, unless the run did before it was stopped: what was drawn is not drawn again.

    Args:
        cut: the study.
        design: of the maps and tables, which are paid for.
        known: digests of where people looked, by name: anything else is refused.
        noise: where it comes from.
        run: that makes them; None where nothing is written.
        advance: of the bar of the whole run, by recordings.
    """
    sight = Sight.of(cut.head, design, known)
    if run is None:
        return _drawn(cut, design, sight, noise, None, advance)
    # Not in the scratch, which is gone before the output is in its place.
    path = run.drawn / "measured"
    if not path.exists():
        run.put(path, partial(_write_cells, _drawn(cut, design, sight, noise, run, advance)))
    return _read_cells(path, design)


def _drawn(
    cut: StudyInPieces,
    design: MapDesign,
    sight: Sight,
    noise: Randomness,
    run: Run | None,
    advance: Advance,
) -> Cells:
    """Noise on the sums, once; one after the other, so that a seed gives the same always."""
    chosen = design.mechanism
    choosing = _choosing(chosen)
    if choosing is not None:
        lost = cuts(cut, design, sight, choosing, advance)
        chosen = choosing.settled_by(lost, design.observers[0].facts, noise)
    summing = _summing(chosen)
    maps: list[Integers] = []
    areas: Integers | None = None
    if summing is not None or design.tables is not None:
        maps, areas = totals(cut, design, sight, summing, run, advance)
    if summing is not None:
        means = [
            summing.noisy_mean(total, each.facts, noise)
            for total, each in zip(maps, design.observers, strict=True)
        ]
        found = _with_errors([summing] * len(means), means, design)
    else:
        found = [] if chosen is None else _of_the_literature(cut, design, sight, chosen, noise)
    if design.tables is None or areas is None:
        return Cells(tuple(found), None)
    mechanism, facts = design.tables.mechanism, design.tables.facts
    return Cells(tuple(found), mechanism.noisy_mean(areas, facts, noise))


def _of_the_literature(
    cut: StudyInPieces, design: MapDesign, sight: Sight, mechanism: MapMechanism, noise: Randomness
) -> list[Measured]:
    """What takes everybody's own counts at once: all of their looks must fit into memory."""
    everybody = sight.all_points(cut.whole())
    mechanisms, means = [], []
    for each, points in zip(design.observers, everybody, strict=True):
        counts = points.counts(each.facts.grid)
        mechanisms.append(mechanism.settled(counts, each.facts, noise))
        means.append(mechanisms[-1].measure(counts, each.facts, noise))
    return _with_errors(mechanisms, means, design)


def _write_cells(cells: Cells, draft: Path) -> None:
    arrays = {f"map{number}": each.cells for number, each in enumerate(cells.maps)}
    if cells.tables is not None:
        arrays["tables"] = cells.tables
    mechanisms = json.dumps([each.mechanism.parameters() for each in cells.maps])
    with draft.open("wb") as file:
        np.savez(file, mechanisms=np.array(mechanisms), **arrays)  # type: ignore[arg-type]


def _read_cells(path: Path, design: MapDesign) -> Cells:
    found = arrays_in(path)
    maps = [found[f"map{number}"] for number in range(len(design.observers))]
    settings = json.loads(str(found["mechanisms"]))
    mechanisms = [_mechanism(design, parameters) for parameters in settings]
    return Cells(tuple(_with_errors(mechanisms, maps, design)), found.get("tables"))


def _with_errors(
    mechanisms: Sequence[MapMechanism], cells: Sequence[Values], design: MapDesign
) -> list[Measured]:
    return [
        Measured(mechanism, found, mechanism.cell_sd(each.facts))
        for mechanism, found, each in zip(mechanisms, cells, design.observers, strict=True)
    ]


def _mechanism(design: MapDesign, parameters: dict[str, float | int | str]) -> MapMechanism:
    assert design.mechanism is not None
    if parameters == design.mechanism.parameters():
        return design.mechanism
    return map_mechanism(design.mechanism.name, **parameters)
