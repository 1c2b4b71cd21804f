"""David-John et al. 2022 done again, from recordings to exhibits."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.papers.datasets import find_datasets, where_looked
from eyelid.papers.davidjohn2022.claims import (
    equal_identification,
    intersections,
    ordering,
    poster,
    run_times,
    table_2,
)
from eyelid.papers.davidjohn2022.figures import (
    figure_1,
    figure_1_of_events,
    figure_2,
    nothing,
    other_datasets,
)
from eyelid.papers.davidjohn2022.protocols import protocols
from eyelid.papers.davidjohn2022.results import Results, measured, order, order_by_protocol
from eyelid.papers.davidjohn2022.trials import PUBLISHED, Tables, all_kinds, tried
from eyelid.papers.davidjohn2022.vr import DATASETS, VrDataset, read_events, tried_on_events
from eyelid.papers.readers import READERS, ReadingFeatures, reading_features
from eyelid.papers.reproduction import Data, Exhibit, Reproduction

CITATION = (
    "David-John, Butler & Jain (2022): For your eyes only: privacy-preserving eye-tracking "
    "datasets. ACM Symposium on Eye Tracking Research & Applications, with its poster"
)
_PEOPLE, _FEW_PEOPLE = 20, 12
_MINUTES, _FEW_MINUTES = 5.0, 3.0
# Groups that are drawn to be intersected: that is quick, and varies much.
_PARTITIONS, _FEW_PARTITIONS = 20, 5
_INTENT = nothing(
    "Future work",
    "Intent prediction",
    'the paper names it as future work ("other classification-based applications, such as intent '
    'prediction"), and has document type alone; no data with intents are at hand here',
)


def reproduce(
    data: Path | None, repeats: int, fast: bool, seed: int = 0, full: bool = False
) -> Reproduction:
    """Table 2, Figures 1 and 2, the claims of 1/k and of the ordering, run times, the poster.

    Args:
        data: a folder that holds MPIIDPEye or the other datasets, or one of them itself; None for
            simulated participants.
        repeats: noisy runs, each with groups of its own.
        fast: fewer k and ε, the approximate SVM, fewer simulated participants.
        seed: of noise, groups and simulated participants.
        full: let the exact SVM learn from the paper's noise however strong it is.
    """
    began = time.perf_counter()
    found = find_datasets(data, [READERS, *(dataset.name for dataset in DATASETS)])
    read = _readers(found.get(READERS), fast, seed)
    results = measured(Tables.of(read.table, fast, full), tried, all_kinds(), repeats, fast, seed)
    results = replace(results, public_bounds=not read.authors)
    orders = order_by_protocol(results), order(results)
    claim = intersections(results, _FEW_PARTITIONS if fast else _PARTITIONS, seed)
    order_claim = ordering(results)
    others, not_read = _other_datasets(found, repeats, fast, seed)
    exhibits = (
        table_2(read.table),
        *(figure_1(results, kind) for kind in PUBLISHED),
        other_datasets(others),
        *(figure_1_of_events(one, name) for name, one in others.items()),
        *not_read,
        *(figure_2(results, kind) for kind in PUBLISHED),
        claim,
        order_claim,
        equal_identification(results, *orders),
        run_times(results),
        poster(*orders, results.machine),
        _INTENT,
    )
    said = [claim.says, order_claim.says]
    said += [one.says for one in exhibits if one.name.startswith("Figure 1, Exponential")]
    return Reproduction(
        paper="davidjohn2022",
        citation=CITATION,
        data=_data(read.table, found),
        repeats=repeats,
        exhibits=exhibits,
        findings=(read.says, *(sentence for sentence in said if sentence)),
        seconds=time.perf_counter() - began,
        protocols=protocols(fast, full),
    )


def _readers(folder: Path | None, fast: bool, seed: int) -> ReadingFeatures:
    if folder is not None:
        return reading_features(folder)
    people, minutes = (_FEW_PEOPLE, _FEW_MINUTES) if fast else (_PEOPLE, _MINUTES)
    table = window_features(simulate(people=people, minutes=minutes, seed=seed))
    return ReadingFeatures(table, False, "Participants are simulated, and so are their features.")


def _other_datasets(
    found: dict[str, Path], repeats: int, fast: bool, seed: int
) -> tuple[dict[str, Results], list[Exhibit]]:
    """What came of the further datasets at hand, and why some of them could not be tried."""
    done: dict[str, Results] = {}
    failed = []
    for dataset in DATASETS:
        if dataset.name in found:
            one = _of_dataset(dataset, found[dataset.name], repeats, fast, seed)
            if isinstance(one, Results):
                done[dataset.name] = one
            else:
                failed.append(one)
    return done, failed


def _of_dataset(
    dataset: VrDataset, folder: Path, repeats: int, fast: bool, seed: int
) -> Results | Exhibit:
    """Who is re-identified in one of the further datasets, or why that was not tried."""
    try:
        events = read_events(dataset, folder, seed)
    except InputError as error:
        title = "Re-identification by fixations and saccades"
        return nothing(f"Figure 1, {dataset.name}", title, f"{folder}: {error}")
    return measured(events, tried_on_events, PUBLISHED, repeats, fast, seed)


def _data(table: FeatureTable, found: dict[str, Path]) -> Data:
    people, tasks = table.recordings["person"].n_unique(), table.recordings["task"].n_unique()
    others = [name for name in found if name != READERS]
    what = "simulated participants" if table.simulated else READERS
    return Data(
        name=" and ".join([what, *others]),
        says=(
            f"{len(table.recordings)} recordings of {people} {'simulated ' * table.simulated}"
            f"participants reading {tasks} document{'s' * (tasks != 1)}, "
            f"{len(table.data):,} windows of {len(table.features)} features"
        ),
        simulated=table.simulated,
        missing=(
            *([] if READERS in found else [where_looked(READERS)]),
            *(one.missing() for one in DATASETS if one.name not in found),
        ),
    )
