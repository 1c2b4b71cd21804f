"""David-John et al. 2022 done again, from recordings to exhibits."""

from __future__ import annotations

import time
from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.papers.datasets import find_datasets, where_looked
from eyelid.papers.davidjohn2022.claims import (
    at_equal_identification,
    intersections,
    order_said,
    poster,
    run_times,
)
from eyelid.papers.davidjohn2022.figures import at_chance, figure_1, figure_1_of_events, figure_2
from eyelid.papers.davidjohn2022.results import Order, Results, measured, order, order_as_printed
from eyelid.papers.davidjohn2022.trials import PUBLISHED, SOUND, Tables, place, tried
from eyelid.papers.davidjohn2022.vr import DATASETS, VrDataset, read_events, tried_on_events
from eyelid.papers.reproduction import Data, Exhibit, Reproduction

READERS = "MPIIDPEye"
CITATION = (
    "David-John, Butler & Jain (2022): For your eyes only: privacy-preserving eye-tracking "
    "datasets. ACM Symposium on Eye Tracking Research & Applications, with its poster"
)
_PEOPLE, _FEW_PEOPLE = 20, 12
_MINUTES, _FEW_MINUTES = 5.0, 3.0
# Groups that are drawn to be intersected: that is quick, and varies much.
_PARTITIONS, _FEW_PARTITIONS = 20, 5


def reproduce(data: Path | None, repeats: int, fast: bool, seed: int = 0) -> Reproduction:
    """Figures 1 and 2, the claims of 1/k and of the ordering, run times and the poster's table.

    Args:
        data: a folder that holds MPIIDPEye or the other datasets, or one of them itself; None for
            made-up people.
        repeats: noisy runs, each with groups of its own.
        fast: fewer k and ε, and fewer made-up people.
        seed: of noise, groups and made-up people.
    """
    began = time.perf_counter()
    found = find_datasets(data, [READERS, *(dataset.name for dataset in DATASETS)])
    table = _readers(found.get(READERS), fast, seed)
    kinds = [kind for own in PUBLISHED for kind in (own, *SOUND[own.name])]
    results = measured(Tables.of(table), tried, kinds, repeats, fast, seed)
    orders = order_as_printed(results), order(results)
    claim = intersections(results, _FEW_PARTITIONS if fast else _PARTITIONS, seed)
    exhibits = (
        *(figure_1(results, kind) for kind in PUBLISHED),
        *(_of_dataset(one, found.get(one.name), repeats, fast, seed) for one in DATASETS),
        *(figure_2(results, kind) for kind in PUBLISHED),
        claim,
        at_equal_identification(results, *orders),
        run_times(results),
        poster(*orders),
    )
    return Reproduction(
        paper="davidjohn2022",
        citation=CITATION,
        data=_data(table, found),
        repeats=repeats,
        exhibits=exhibits,
        findings=_findings(results, *orders, claim),
        seconds=time.perf_counter() - began,
    )


def _readers(folder: Path | None, fast: bool, seed: int) -> FeatureTable:
    if folder is not None:
        return window_features(read(folder))
    people, minutes = (_FEW_PEOPLE, _FEW_MINUTES) if fast else (_PEOPLE, _MINUTES)
    return window_features(simulate(people=people, minutes=minutes, seed=seed))


def _of_dataset(
    dataset: VrDataset, folder: Path | None, repeats: int, fast: bool, seed: int
) -> Exhibit:
    """Who is named in one of the other datasets, or why that was not tried."""
    name, title = f"Figure 1, {dataset.name}", "People named by fixations and saccades"
    if folder is None:
        return Exhibit(name, title, not_run=dataset.missing())
    try:
        events = read_events(dataset, folder, seed)
    except InputError as error:
        return Exhibit(name, title, not_run=f"{folder}: {error}")
    results = measured(events, tried_on_events, PUBLISHED, repeats, fast, seed)
    return figure_1_of_events(results, name, title, dataset.printed)


def _data(table: FeatureTable, found: dict[str, Path]) -> Data:
    people, tasks = table.recordings["person"].n_unique(), table.recordings["task"].n_unique()
    others = [name for name in found if name != READERS]
    what = "made-up readers" if table.simulated else READERS
    return Data(
        name=" and ".join([what, *others]),
        says=(
            f"{people} {'made-up ' * table.simulated}people reading {tasks} documents each, "
            f"{len(table.data):,} windows of {len(table.features)} features"
        ),
        simulated=table.simulated,
        missing=(
            *([] if READERS in found else [where_looked(READERS)]),
            *(one.missing() for one in DATASETS if one.name not in found),
        ),
    )


def _findings(
    results: Results, by_protocol: Order | None, leak_free: Order | None, claim: Exhibit
) -> tuple[str, ...]:
    """What a reader takes home.

    Args:
        results: of the readers.
        by_protocol: mechanisms at equal identification as the paper measures it.
        leak_free: the same honestly.
        claim: that of 1/k.
    """
    told = [claim.says]
    if by_protocol is not None and leak_free is not None:
        told.insert(0, order_said(results, by_protocol, leak_free))
    for kind in PUBLISHED:
        if results.settings(kind):
            setting = at_chance(results, kind)
            attacker, value = results.strongest(setting)
            told.append(
                f"{kind.title} at {place(kind.axis, setting.value)}: the strongest of three "
                f"attackers, {attacker}, names {value.mean:.2f} across documents; guessing gives "
                f"{results.chance_named:.2f}."
            )
    return tuple(sentence for sentence in told if sentence)
