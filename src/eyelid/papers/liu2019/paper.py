"""Liu et al. 2019, Differential privacy for eye-tracking data: heatmaps under noise."""

from __future__ import annotations

import time
from pathlib import Path

from eyelid.papers.liu2019.copies import (
    ALLOWED,
    COPIES,
    SOUND_COPIES,
    whom_copies_protect,
    without_copies,
)
from eyelid.papers.liu2019.heatmaps import (
    AT,
    GAUSSIAN,
    SAMPLED,
    Maps,
    figure2_heatmaps,
    figure3,
    rows_of,
)
from eyelid.papers.liu2019.observers import find_observers
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
    """Figures 2 and 3 and the theorems' numbers, as printed and as they hold.

    Args:
        data: a folder that holds OSIE, or OSIE itself; None for made-up people.
        repeats: draws of the noise; the paper has 100.
        fast: fewer pictures.
        seed: of noise and of made-up people.
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
            sigma,
            tables,
            no_free_privacy(observers.few, seed),
            surfaces(),
            slice_of_300(),
            figure2_heatmaps(maps),
            correlation,
            error,
            copies,
            people,
        ),
        findings=_findings(sigma, tables, correlation, copies, people),
        seconds=time.perf_counter() - start,
    )


def _findings(
    sigma: Exhibit, tables: Exhibit, correlation: Exhibit, copies: Exhibit, people: Exhibit
) -> tuple[str, ...]:
    """What a reader takes home, in the numbers of this run."""
    gaussian, limited, *_ = sigma.cells
    theorem, enough = gaussian.ours
    (least,) = limited.numbers
    worst = max(max(cell.numbers) for cell in tables.cells)
    (theirs,), (ours,) = (correlation.at(row, AT).numbers for row, _ in rows_of(GAUSSIAN, SAMPLED))
    _, told = copies.at(COPIES, AT).ours
    _, sound_told = copies.at(SOUND_COPIES, AT).ours
    (allowed,) = copies.at(ALLOWED, AT).numbers
    there = people.rows[-2]
    few_theirs, few_ours = people.at(there, AT).ours
    (blob,) = people.at(people.rows[-1], AT).numbers
    return (
        f"The noise of the paper's example is printed as {gaussian.printed:g}. Its theorem gives "
        f"{theorem:.5f}; {enough:.5f} is enough for the same promise, and "
        f"{least:.6f} if a person counts for at most {SAMPLES} looks.",
        f"Theorem 3.4 is false for tables of few cells, where δ is up to {worst:.1f} times what it "
        "promises. For whole pictures it holds at the paper's levels, with more noise than needed.",
        f"With 50 000 observers made of five, the paper's Gaussian heatmap of {SAMPLED} at {AT} "
        f"has a correlation of {shown(theirs, 2)} with the true one; for as many copies a sound "
        f"mechanism with a limit of looks has {shown(ours, 2)}.",
        f"But 50 000 copies are five people: which of two was one of the five is told in "
        f"{100 * told:.1f} % of cases by the paper's map and in {100 * sound_told:.1f} % by the "
        f"sound one, where {100 * allowed:.0f} % are allowed. Neither could be published of five.",
        f"Noise for the {there} there are, at {AT}, leaves a correlation of "
        f"{shown(few_theirs, 2)} by Theorem 3.4 and {shown(few_ours, 2)} by map-grid; a public "
        f"blob in the middle of the picture has {shown(blob, 2)}.",
    )
