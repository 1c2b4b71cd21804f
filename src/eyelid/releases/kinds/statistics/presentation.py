"""What follows from what was measured and public facts: results, their files, their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import polars as pl

from eyelid.gaze.measures.measure import WINDOWS, Measure
from eyelid.io.csv_cells import csv_text
from eyelid.io.release_folder import MEASURED, RESULTS
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.statistics.estimate import Estimate
from eyelid.mechanisms.statistics.estimates import estimates
from eyelid.mechanisms.statistics.parts import each_result
from eyelid.mechanisms.statistics.statistic import Statistic
from eyelid.privacy.rank1 import advantage_bound
from eyelid.releases.kinds.statistics.plan import StatisticsDesign, rows_of
from eyelid.reporting.consent import for_participants
from eyelid.reporting.rendering import rendered
from eyelid.reporting.statistics.figure import draw_results, save
from eyelid.reporting.statistics.methods import methods, paragraph
from eyelid.reporting.statistics.tables import (
    COLUMNS,
    SHARES,
    caption,
    in_latex,
    in_markdown_table,
)
from eyelid.spelling import json_text

PICTURES = ("results.svg", "results.pdf", "results.png")


def write_results(
    folder: Path,
    design: StatisticsDesign,
    shown: Sequence[Integers],
    results: pl.DataFrame,
    certificate: Certificate,
) -> dict[str, str]:
    """Draw the figure into a folder that is made.

    Args:
        folder: that leaves the house.
        design: of the release.
        shown: what was measured.
        results: that follow from it.
        certificate: of the release.

    Returns:
        texts to put beside it, by the names of their files.
    """
    drawn = draw_results(results)
    for name in PICTURES:
        save(drawn, folder / name)
    return texts_of(design, shown, results, certificate)


def texts_of(
    design: StatisticsDesign,
    shown: Sequence[Integers],
    results: pl.DataFrame,
    certificate: Certificate,
) -> dict[str, str]:
    """Everything of a folder that is read, but the certificate, by the names of files.

    Args:
        design: of the release.
        shown: what was measured.
        results: that follow from it.
        certificate: of the release.
    """
    promised = certificate.person_level
    numbers = promised.numbers() if promised.holds else "no guarantee at all"
    below = caption(results, certificate.people, numbers)
    return {
        RESULTS: csv_text(results),
        "results.md": in_markdown_table(results, below),
        "results.tex": in_latex(results, below),
        "methods.md": methods(certificate),
        MEASURED: json_text({"parts": [part.tolist() for part in shown]}),
        "DATACARD.md": rendered(
            "resultcard.md.j2",
            certificate=certificate,
            results=results.rows(named=True),
            entries=(certificate.results or {})["entries"],
            simulated=design.simulated,
            mechanism=design.mechanism,
            proof_note=design.mechanism.note.summary,
            paper=design.mechanism.paper,
            advantage=advantage_bound(promised),
            advantage_in_all=advantage_bound(certificate.total),
            for_participants=for_participants(certificate),
            paragraph=paragraph(certificate),
        ),
    }


def _of_windows(design: StatisticsDesign, statistic: Statistic) -> str:
    """Which windows numbers are of, for a note; nothing where they are of none."""
    measures = [design.asked.panel.columns[column].measure for column in statistic.columns]
    seconds = {m.window_s for m in measures if isinstance(m, Measure) and m.rows == WINDOWS}
    said = " and ".join(f"{each:g}" for each in sorted(seconds))
    return f"of windows of {said} s, which shorter recordings do not have" if seconds else ""


def results_of(design: StatisticsDesign, shown: Sequence[Integers]) -> pl.DataFrame:
    """The table of all results: estimates and intervals, of what was measured and public facts.

    Args:
        design: of the release.
        shown: whole numbers of each part.
    """
    parts = design.mechanism.parts_for(design.facts)
    found = estimates(parts, design.entries, design.shares, shown)
    found = [
        replace(each, note="; ".join(filter(None, (each.note, _of_windows(design, statistic)))))
        for each, (_, statistic) in zip(found, each_result(parts), strict=True)
    ]
    names = [field.name for field in fields(Estimate) if field.name in COLUMNS]
    rows = [
        (*row, *(getattr(result, name) for name in names), *(result.shares or [None] * len(SHARES)))
        for row, result in zip(rows_of(design), found, strict=True)
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")
