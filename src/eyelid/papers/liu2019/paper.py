"""Liu et al. 2019, Differential privacy for eye-tracking data: heatmaps under noise."""

from __future__ import annotations

import time
from pathlib import Path

from eyelid.papers.liu2019.complexity import chosen_caps, expected_errors, run_times
from eyelid.papers.liu2019.copies import (
    ALLOWED,
    COPIES,
    ROWS,
    SOUND_COPIES,
    whom_copies_protect,
    without_copies,
)
from eyelid.papers.liu2019.figures import figure2_heatmaps, figure2_simulated, figure3, row_of
from eyelid.papers.liu2019.heatmaps import AT, DENSE, GAUSSIAN, SAMPLED, Maps
from eyelid.papers.liu2019.observers import find_observers
from eyelid.papers.liu2019.protocols import PROTOCOLS
from eyelid.papers.liu2019.theorems import (
    SAMPLES,
    example,
    few_cells,
    no_free_privacy,
    slice_of_300,
    surfaces,
)
from eyelid.papers.page import shown
from eyelid.papers.reproduction import Exhibit, Reproduction

CITATION = (
    "Liu, Xia, Duchowski, Bailey, Holmqvist & Jain (2019): Differential privacy for eye-tracking "
    "data. ACM Symposium on Eye Tracking Research & Applications"
)

_PICTURES, _FEW_PICTURES = 10, 2


def reproduce(data: Path | None, repeats: int, fast: bool, seed: int = 0) -> Reproduction:
    """Figures 2 and 3 and the theorems' numbers, by the paper's protocol and exactly.

    Args:
        data: a folder that holds OSIE, or OSIE itself; None for simulated participants.
        repeats: draws of the noise; the paper has 100.
        fast: fewer pictures.
        seed: of noise and of simulated participants.
    """
    start = time.perf_counter()
    observers = find_observers(data, _FEW_PICTURES if fast else _PICTURES, seed)
    maps = Maps.drawn(observers, repeats, seed)
    sigma, tables = example(), few_cells()
    correlation, error = figure3(maps)
    copies, people = whom_copies_protect(observers), without_copies(observers, repeats, seed)
    return Reproduction(
        paper="liu2019",
        citation=CITATION,
        data=observers.data,
        repeats=repeats,
        exhibits=(
            no_free_privacy(observers.few, seed),
            sigma,
            tables,
            surfaces(),
            slice_of_300(),
            figure2_heatmaps(maps),
            figure2_simulated(repeats, seed),
            correlation,
            error,
            copies,
            people,
            expected_errors(maps, seed),
            chosen_caps(maps),
            run_times(seed),
        ),
        findings=_findings(
            sigma, tables, correlation, copies, people, len(observers.pictures[0].people)
        ),
        seconds=time.perf_counter() - start,
        protocols=PROTOCOLS,
    )


def _findings(
    sigma: Exhibit,
    tables: Exhibit,
    correlation: Exhibit,
    copies: Exhibit,
    people: Exhibit,
    everybody: int,
) -> tuple[str, ...]:
    """What a reader takes home, in the numbers of this run."""
    gaussian, limited, *_ = sigma.cells
    theorem, enough = gaussian.ours
    (least,) = limited.numbers
    worst = max(max(cell.numbers) / (cell.printed or 1.0) for cell in tables.cells)
    theirs, ours = correlation.at(row_of(GAUSSIAN, SAMPLED), AT).ours
    dense, _ = correlation.at(row_of(GAUSSIAN, DENSE), AT).ours
    _, paper_share = copies.at(COPIES, AT).ours
    (sound_told,) = copies.at(SOUND_COPIES, AT).numbers
    (allowed,) = copies.at(ALLOWED, AT).numbers
    few_theirs, coarse, few_ours, blob = (people.at(row(everybody), AT).numbers[0] for row in ROWS)
    return (
        f"The noise of the paper's example is printed as {gaussian.printed:g}. Its theorem gives "
        f"{theorem:.5f}; {enough:.5f} is enough for the same guarantee, and {least:.6f} if an "
        f"observer counts for at most {SAMPLES} gaze points.",
        f"For whole pictures Theorem 3.4 is valid at the paper's levels, with more noise than "
        f"needed. It is false for tables of few cells, where δ is up to {worst:.1f} times what it "
        "promises. Theorem 3.5 is right.",
        f"With 50,000 observers made of five, the Gaussian heatmap at {AT} has a correlation of "
        f"{shown(theirs, 2)} with the original for {SAMPLED}, and {shown(dense, 2)} for {DENSE}; "
        "the Laplacian one shows nothing, as the paper says. With a limit on gaze points it is "
        f"{shown(ours, 2)} for either.",
        f"50,000 copies are five people: which of two was one of the five is told in "
        f"{100 * paper_share:.1f}% of cases by the paper's map and in {100 * sound_told:.1f}% by "
        f"map-gaussian for as many copies, where {100 * allowed:.0f}% are allowed.",
        f"Noise for the {everybody} people there are, at {AT}, leaves a correlation of "
        f"{shown(few_theirs, 2)} by Theorem 3.4 on pixels, {shown(coarse, 2)} down-sampled and "
        f"{shown(few_ours, 2)} by map-grid; a public blob in the middle of the picture has "
        f"{shown(blob, 2)}.",
    )
