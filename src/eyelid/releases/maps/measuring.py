"""The noisy cells of maps and tables: drawn once, and put down before anything is made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.io.files import arrays_in
from eyelid.io.pieces import StudyInPieces
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.maps.noisy_map import NoisyMap
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.noisy import Integers
from eyelid.privacy.noise import Randomness
from eyelid.releases.maps.derived import Measured
from eyelid.releases.maps.plan import MapPlan, map_mechanism
from eyelid.releases.maps.sight import Sight
from eyelid.releases.maps.totals import cuts, totals


@dataclass(frozen=True, eq=False)
class Cells:
    """All that anything after it knows of people.

    Attributes:
        maps: what was measured of the people of each.
        tables: layers × cells; None without tables.
    """

    maps: tuple[Measured, ...]
    tables: Values | None


def passes(plan: MapPlan) -> int:
    """How often everybody's rows are read for it."""
    law = plan.mechanism
    return 2 if isinstance(law, CappedMap) and law.chooses else 1


def measured(
    cut: StudyInPieces,
    plan: MapPlan,
    known: Mapping[str, bytes],
    noise: Randomness,
    run: Run | None,
    advance: Advance,
) -> Cells:
    """Measure, unless the run did before it was stopped: what was drawn is not drawn again.

    Args:
        cut: the study.
        plan: of the maps and tables, which are paid for.
        known: digests of where people looked, by name: anything else is refused.
        noise: where it comes from.
        run: that makes them; None where nothing is written.
        advance: of the bar of the whole run, by recordings.
    """
    sight = Sight.of(cut.head, plan, known)
    if run is None:
        return _drawn(cut, plan, sight, noise, None, advance)
    # Not in the scratch, which is gone before the output is in its place.
    path = run.drawn / "measured"
    if not path.exists():
        run.put(path, partial(_write, _drawn(cut, plan, sight, noise, run, advance)))
    return _read(path, plan)


def _drawn(
    cut: StudyInPieces,
    plan: MapPlan,
    sight: Sight,
    noise: Randomness,
    run: Run | None,
    advance: Advance,
) -> Cells:
    """Noise on the sums, once; one after the other, so that a seed gives the same always."""
    law = plan.mechanism
    if isinstance(law, CappedMap) and law.chooses:
        law = law.settled_by(cuts(cut, plan, sight, law, advance), plan.observers[0].shape, noise)
    summing = law if isinstance(law, NoisyMap) else None
    maps: list[Integers] = []
    areas: Integers | None = None
    if summing is not None or plan.tables is not None:
        maps, areas = totals(cut, plan, sight, summing, run, advance)
    if summing is not None:
        means = [
            summing.noisy_mean(total, each.shape, noise)
            for total, each in zip(maps, plan.observers, strict=True)
        ]
        found = _with_errors([summing] * len(means), means, plan)
    else:
        found = [] if law is None else _of_the_literature(cut, plan, sight, law, noise)
    if plan.tables is None or areas is None:
        return Cells(tuple(found), None)
    mechanism, shape = plan.tables.mechanism, plan.tables.shape
    return Cells(tuple(found), mechanism.noisy_mean(areas, shape, noise))


def _of_the_literature(
    cut: StudyInPieces, plan: MapPlan, sight: Sight, law: MapMechanism, noise: Randomness
) -> list[Measured]:
    """What takes everybody's own counts at once: all of their looks must fit into memory."""
    everybody = sight.all_looks(cut.whole())
    laws, means = [], []
    for each, looks in zip(plan.observers, everybody, strict=True):
        counts = looks.counts(each.shape.grid)
        laws.append(law.settled(counts, each.shape, noise))
        means.append(laws[-1].measure(counts, each.shape, noise))
    return _with_errors(laws, means, plan)


def _write(cells: Cells, draft: Path) -> None:
    arrays = {f"map{number}": each.cells for number, each in enumerate(cells.maps)}
    if cells.tables is not None:
        arrays["tables"] = cells.tables
    laws = json.dumps([each.mechanism.parameters() for each in cells.maps])
    with draft.open("wb") as file:
        np.savez(file, laws=np.array(laws), **arrays)  # type: ignore[arg-type]


def _read(path: Path, plan: MapPlan) -> Cells:
    found = arrays_in(path)
    maps = [found[f"map{number}"] for number in range(len(plan.observers))]
    laws = [_law(plan, parameters) for parameters in json.loads(str(found["laws"]))]
    return Cells(tuple(_with_errors(laws, maps, plan)), found.get("tables"))


def _with_errors(
    laws: Sequence[MapMechanism], cells: Sequence[Values], plan: MapPlan
) -> list[Measured]:
    return [
        Measured(law, found, law.cell_sd(each.shape))
        for law, found, each in zip(laws, cells, plan.observers, strict=True)
    ]


def _law(plan: MapPlan, parameters: dict[str, float | int | str]) -> MapMechanism:
    assert plan.mechanism is not None
    if parameters == plan.mechanism.parameters():
        return plan.mechanism
    return map_mechanism(plan.mechanism.name, **parameters)
