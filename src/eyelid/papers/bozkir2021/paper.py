"""The whole paper: Figures 3 to 12, Tables 1 to 9, what its ε means, and its open questions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from eyelid.papers.bozkir2021.classification import printed_alone, tables
from eyelid.papers.bozkir2021.complexity import run_times
from eyelid.papers.bozkir2021.controls import quoted_alone
from eyelid.papers.bozkir2021.correlation import correlations
from eyelid.papers.bozkir2021.datasets import DATASETS
from eyelid.papers.bozkir2021.decorrelation import LENGTHS, decorrelation
from eyelid.papers.bozkir2021.dependence import dependence
from eyelid.papers.bozkir2021.findings import findings
from eyelid.papers.bozkir2021.person_level import error_for_a_person, what_epsilon_means
from eyelid.papers.bozkir2021.printed import EPSILONS, METHODS
from eyelid.papers.bozkir2021.protocols import protocols
from eyelid.papers.bozkir2021.recognition import Effort
from eyelid.papers.bozkir2021.sources import DAILY_LIFE, READERS, Source, in_daily_life, readers
from eyelid.papers.bozkir2021.tables import TABLES_OF_DAILY_LIFE, TABLES_OF_READERS
from eyelid.papers.bozkir2021.utility import (
    FIGURES,
    figures,
    published_alone,
    published_utility,
    utility_curves,
)
from eyelid.papers.bozkir2021.utility_claims import claims_about_utility, levels
from eyelid.papers.bozkir2021.wordbooks import wordbook_ranges
from eyelid.papers.datasets import find_datasets, where_looked
from eyelid.papers.reproduction import Data, Exhibit, Reproduction

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
# What R1, R2 and R3 of the published numbers are called here.
_TASKS = {READERS: ("comic", "newspaper", "textbook"), DAILY_LIFE: ("R1", "R2", "R3")}

# The paper looks at one window in 10, 5 s apart; six times fewer, 30 s apart, share no gaze.
_THINNER, _FAST_THINNER = 6, 12
# The paper has 100 noisy runs for everything: at least so many choose each k.
_RUNS_FOR_K, _FAST_RUNS = 10, 2
# The second reading is run once where the first is run so often.
_RUNS_A_KEPT_ONE = 3
_FAST_METHODS, _FAST_EPSILONS = ("FPA", "CFPA-32", "DCFPA-32"), (EPSILONS[0], EPSILONS[-1])
_FAST_LENGTHS = (32, 128)
_TIMINGS = 3


def reproduce(
    data: Path | None, repeats: int, fast: bool, seed: int = 0, full: bool = False
) -> Reproduction:
    """The paper's figures and tables, beside ours.

    Args:
        data: a folder with MPIIDPEye, MPIIPrivacEye and the published numbers (``bozkir2021``), or
            one of the two datasets; None for simulated readers.
        repeats: noisy runs; one if fast. Those with a mean without noise are a third of them, and
            as many more choose each k, at least ten (two if fast).
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
        thinner=1 if full else _FAST_THINNER if fast else _THINNER,
        seed=seed,
        kept=_FAST_METHODS[:1] if fast else METHODS,
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
        exhibits += _absent(READERS, published)
    if DAILY_LIFE in found:
        sources.append(in_daily_life(found[DAILY_LIFE]))
        own = of_source(sources[-1], DAILY_LIFE, effort, published)
        exhibits += own
        said += findings(own, simulated=False)
    else:
        exhibits += _absent(DAILY_LIFE, published)
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
        protocols=protocols(effort, " ".join(s.unlike for s in sources if s.unlike)),
        datasets=DATASETS,
    )


def of_source(
    source: Source, dataset: str, effort: Effort, published: Path | None = None
) -> list[Exhibit]:
    """Everything that the paper shows of one dataset.

    Args:
        source: that dataset, or simulated participants in its place.
        dataset: whose figures and tables these are.
        effort: how much is done.
        published: the folder with the published numbers; None where it is not at hand.
    """
    correlation, *names = _FIGURES[dataset]
    beside = published_utility(published, dataset, _TASKS[dataset], effort.epsilons)
    chunks = sorted({int(name.partition("-")[2]) for name in effort.methods if "-" in name})
    curves = utility_curves(source, effort.epsilons, chunks, effort.runs_for_k, effort.seed)
    words = None if source.windows is None else wordbook_ranges(source.name, source.windows)
    fast = effort.methods != METHODS
    return [
        correlations(source, _FEATURE[dataset], correlation),
        *figures(source, curves, beside, names),
        claims_about_utility(source, curves, beside),
        levels(source, curves, beside),
        what_epsilon_means(source, effort.methods, effort.epsilons),
        error_for_a_person(source, effort.methods, effort.epsilons),
        *tables(source, effort, _TABLES[dataset]),
        dependence(source, effort.methods),
        decorrelation(source, _FAST_LENGTHS if fast else LENGTHS),
        run_times(source, effort.methods, 1 if fast else _TIMINGS),
        *([] if words is None else [words]),
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


def _absent(dataset: str, published: Path | None) -> list[Exhibit]:
    """What is printed, or was published, of a dataset that is not at hand."""
    correlation, *names = _FIGURES[dataset]
    why = where_looked(dataset)
    beside = published_utility(published, dataset, _TASKS[dataset], EPSILONS)
    return [
        Exhibit(correlation, f"Correlation over time, {dataset}", not_run=why),
        *(
            published_alone(
                dataset,
                name,
                what,
                {point: utility for point, utility in beside.items() if point.family in families},
                why,
            )
            for name, (what, families) in zip(names, FIGURES, strict=True)
        ),
        *(printed_alone(dataset, table, why) for table in _TABLES[dataset]),
        quoted_alone(dataset, _TABLES[dataset], why),
    ]
