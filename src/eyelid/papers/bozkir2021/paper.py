"""The whole paper: figures 3 to 12 and Tables 1 to 9 on what is at hand, and what its ε means."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from eyelid.papers.bozkir2021.classification import (
    TABLES_OF_DAILY_LIFE,
    TABLES_OF_READERS,
    tables,
)
from eyelid.papers.bozkir2021.correlation import correlations
from eyelid.papers.bozkir2021.findings import findings
from eyelid.papers.bozkir2021.methods import Method
from eyelid.papers.bozkir2021.printed import EPSILONS, METHODS
from eyelid.papers.bozkir2021.recognition import Effort
from eyelid.papers.bozkir2021.sources import DAILY_LIFE, READERS, Source, in_daily_life, readers
from eyelid.papers.bozkir2021.utility import published_nmse, utilities
from eyelid.papers.datasets import find_datasets, where_looked
from eyelid.papers.reproduction import Cell, Data, Exhibit, Reproduction, Value
from eyelid.papers.signals import longest_facts
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.unit import PERSON

PAPER = "bozkir2021"
CITATION = (
    "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking with "
    "temporal correlations, PLOS ONE 16(8)"
)
_FIGURES = {
    READERS: ("Figures 3 and 4", "Figure 7", "Figure 8", "Figure 9"),
    DAILY_LIFE: ("Figures 5 and 6", "Figure 10", "Figure 11", "Figure 12"),
}
_FEATURE = {READERS: "large_saccade_ratio", DAILY_LIFE: "blink_rate"}
_TABLES = {READERS: TABLES_OF_READERS, DAILY_LIFE: TABLES_OF_DAILY_LIFE}

# The paper looks at one window in 10, 5 s apart; six times fewer, 30 s apart, share no gaze.
_THINNER = 6
# The paper has 100 noisy runs for everything: at least so many choose each k.
_RUNS_FOR_K, _FAST_RUNS = 10, 3
# The second reading is run once where the first is run so often.
_RUNS_A_KEPT_ONE = 3
_FAST_METHODS, _FAST_EPSILONS = ("FPA", "CFPA-32", "DCFPA-32"), (EPSILONS[0], EPSILONS[-1])


def reproduce(
    data: Path | None, repeats: int, fast: bool, seed: int = 0, full: bool = False
) -> Reproduction:
    """The paper's figures and tables, beside ours.

    Args:
        data: a folder with MPIIDPEye, MPIIPrivacEye and the published numbers (``bozkir2021``), or
            one of the two datasets; None for made-up readers.
        repeats: noisy runs; one if fast. Those with a mean without noise are a third of them, and
            as many more choose each k, at least ten (three if fast).
        fast: three methods at the smallest and the largest ε, once.
        seed: of everything that is drawn.
        full: look at as many windows as the paper does.
    """
    start = time.monotonic()
    found = find_datasets(data, (READERS, DAILY_LIFE))
    effort = Effort(
        methods=_FAST_METHODS if fast else METHODS,
        epsilons=_FAST_EPSILONS if fast else EPSILONS,
        repeats=1 if fast else repeats,
        repeats_kept=1 if fast else max(1, repeats // _RUNS_A_KEPT_ONE),
        runs_for_k=_FAST_RUNS if fast else max(_RUNS_FOR_K, repeats),
        thinner=1 if full else _THINNER,
        seed=seed,
    )
    published = None if data is None else _published(data)
    exhibits: list[Exhibit] = []
    said: list[str] = []
    sources: list[Source] = []
    if READERS in found or data is None:
        sources.append(readers(found.get(READERS), fast, seed))
        own = of_source(sources[-1], READERS, effort, published)
        exhibits += own
        said += findings(own, sources[-1].simulated)
    else:
        exhibits += _not_run(READERS)
    if DAILY_LIFE in found:
        sources.append(in_daily_life(found[DAILY_LIFE]))
        own = of_source(sources[-1], DAILY_LIFE, effort, published)
        exhibits += own
        said += findings(own, simulated=False)
    else:
        exhibits += _not_run(DAILY_LIFE)
    return Reproduction(
        paper=PAPER,
        citation=CITATION,
        data=Data(
            name=" and ".join(source.name for source in sources),
            says="; ".join(source.says for source in sources),
            simulated=any(source.simulated for source in sources),
            missing=_missing(found, published),
        ),
        repeats=effort.repeats,
        exhibits=tuple(exhibits),
        findings=tuple(said),
        seconds=time.monotonic() - start,
    )


def of_source(
    source: Source, dataset: str, effort: Effort, published: Path | None = None
) -> list[Exhibit]:
    """Everything that the paper shows of one dataset.

    Args:
        source: that dataset, or made-up people in its place.
        dataset: whose figures and tables these are.
        effort: how much is done.
        published: the folder with the published numbers; None where it is not at hand.
    """
    correlation, *figures = _FIGURES[dataset]
    tasks = source.table.recordings["task"].unique(maintain_order=True).to_list()
    numbers = published_nmse(published, dataset, tasks)
    chunks = sorted({int(name.partition("-")[2]) for name in effort.methods if "-" in name})
    return [
        correlations(source, _FEATURE[dataset], correlation),
        *utilities(
            source, numbers, figures, effort.epsilons, chunks, effort.runs_for_k, effort.seed
        ),
        what_epsilon_means(source, effort.methods, effort.epsilons),
        *tables(source, effort, _TABLES[dataset]),
    ]


def _missing(found: Mapping[str, Path], published: Path | None) -> tuple[str, ...]:
    absent = [where_looked(name) for name in (READERS, DAILY_LIFE) if name not in found]
    if published is None:
        absent.append(f"published NMSE: looked for as {PAPER}/nmse.csv beside the datasets")
    return tuple(absent)


def _published(data: Path) -> Path | None:
    """The folder of the published numbers: beside the datasets, or beside the one named."""
    places = (data / PAPER, data.absolute().parent / PAPER)
    return next((place for place in places if place.is_dir()), None)


def _not_run(dataset: str) -> list[Exhibit]:
    correlation, *figures = _FIGURES[dataset]
    titles = {correlation: f"Correlation over time, {dataset}"}
    titles |= {figure: f"Utility over ε, {dataset}" for figure in figures}
    titles |= {table.name: f"{table.title}, {dataset}" for table in _TABLES[dataset]}
    return [Exhibit(name, title, not_run=where_looked(dataset)) for name, title in titles.items()]


def what_epsilon_means(
    source: Source, methods: Sequence[str], epsilons: Sequence[float]
) -> Exhibit:
    """For each method and ε, the person total that the formula has; none of them holds.

    Args:
        source: for the number of recordings, their length, the features.
        methods: of the paper's.
        epsilons: of the paper's.
    """
    facts = longest_facts(source.table)
    cells, held, words = [], 0, []
    for method in methods:
        for epsilon in epsilons:
            mechanism = Method.called(method).mechanism(epsilon, runs=1)
            total, _ = mechanism.with_public_scale(facts, PERSON)
            held += mechanism.cost(facts, PERSON).holds
            cells.append(Cell(method, f"ε = {epsilon:g}", epsilon, honest=Value(total)))
        words.append(f"{rounded_up(total)} by {method}")
    return Exhibit(
        name=f"What ε means, {source.name}",
        title="The printed ε, and the total for a person had scale and k been public",
        says=(
            f"{held or 'None'} of {len(cells)} guarantees hold, since scale and k come from the "
            f"data; at ε = {epsilons[-1]:g} a person would lose ε = {'; '.join(words)}."
        ),
        protocol=f"ε is the sum over {facts.features} features of one recording; of its chunks the "
        "largest is taken, and a person's recordings are not added up",
        honest_protocol="everything that is released of one person adds up: features, chunks and "
        "recordings",
        cells=tuple(cells),
    )
