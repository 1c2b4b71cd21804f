"""Two controls: nothing but noise, and no noise at all.

Nothing but noise: everybody's signals are zero, and the noise is the one that these people would
get. Whatever is recognised then is in the noise: it runs through whole recordings, and its scale is
another in every document. No noise: what the same classifiers can do on clean data, against which
the paper's "without any essential loss" must be measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.printed import CLASSIFIERS
from eyelid.papers.bozkir2021.protocols import OTHERS, PEOPLE
from eyelid.papers.bozkir2021.recognition import (
    NO_NOISE,
    NOTHING,
    PERSON,
    Effort,
    Found,
    Question,
    Subject,
    chance_of,
    value_of,
)
from eyelid.papers.bozkir2021.sources import PRIVACY, Source
from eyelid.papers.bozkir2021.tables import GENDER, TASK, Table
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Verdict

# What the paper quotes of clean data, from works whose classifier is an SVM.
_QUOTED = {
    GENDER: (0.7, "“accuracies are ≈ 0.7 in previous work”, whose classifier is an SVM"),
    PRIVACY: (0.6, "“marginally higher than 0.60” in previous work, whose classifier is an SVM"),
}


def null_signals(source: Source, found: Found, effort: Effort, wanted: Sequence[Table]) -> Exhibit:
    """What is recognised by the paper's protocol where all signals are zero.

    Args:
        source: the dataset.
        found: all answers.
        effort: how much was done.
        wanted: the tables whose targets are known.
    """
    cells = []
    for table in wanted:
        for model, short in CLASSIFIERS.items():
            asked = Question(table.target, model, table.voted, False)
            for method in effort.rows:
                value = value_of(found[method.row, None], asked)
                cells.append(
                    Cell(f"{method.row}, {NOTHING}", f"{table.name}, {short}", by_protocol=value)
                )
    first = effort.methods[0]
    people = next((table for table in wanted if table.target == PERSON), None)
    said = ""
    if people is not None:
        shares = [_best(cells, f"{row}, {NOTHING}", people) for row in (first, f"{first}, {KEPT}")]
        said = (
            "People whose signals are all zero are re-identified in "
            f"{shares[0]:.2f} of recordings released by {first} ({shares[1]:.2f} with a {KEPT}): "
            "what is recognised is the noise."
        )
    return Exhibit(
        name=f"Controls, {source.name}",
        title="Signals of zero under the paper's protocol",
        says=said,
        setting=f"Everybody's signals are zero; the noise is that of ε = {effort.epsilons[0]:g}, "
        "scaled by the real data. Otherwise as in the tables, by the paper's protocol.",
        quantity="share recognised",
        cells=tuple(cells),
        verdict=Verdict(),
    )


def _best(cells: Sequence[Cell], row: str, table: Table) -> float:
    values = [
        cell.by_protocol.mean
        for cell in cells
        if cell.row == row and cell.column.startswith(f"{table.name},") and cell.by_protocol
    ]
    return max(values, default=math.nan)


def clean_data(
    source: Source, subject: Subject, found: Found, wanted: Sequence[Table], least: float
) -> Exhibit:
    """What the four classifiers recognise without any noise, and what of it a release leaves.

    Args:
        source: the dataset.
        subject: who is recognised.
        found: all answers.
        wanted: the tables whose targets are known.
        least: the smallest ε.
    """
    cells = []
    for table in wanted:
        for model, short in CLASSIFIERS.items():
            asked = Question(table.target, model, table.voted, False)
            leak_free = asked._replace(leak_free=True) if table.target == PERSON else None
            printed, how = _quoted(table, model)
            cells.append(
                Cell(
                    f"{table.title} ({table.name})",
                    short,
                    printed,
                    value_of(found[NO_NOISE, None], asked),
                    leak_free and value_of(found[NO_NOISE, None], leak_free),
                    how,
                )
            )
    documents = next((table for table in wanted if table.target == TASK and table.voted), None)
    said, claim = "", None
    if documents is not None:
        clean = max(
            cell.by_protocol.mean
            for cell in cells
            if cell.row.endswith(f"({documents.name})") and cell.by_protocol
        )
        left = _left(found, documents, least)
        chance = chance_of(subject, TASK)
        claim = Outcome.YES if left > clean - 0.1 else Outcome.NO
        said = (
            f"Clean windows tell documents at {clean:.2f}. Learned from a release at ε = "
            f"{least:g}, clean windows are told at {left:.2f} at best; guessing gives {chance:.2f}."
        )
    return Exhibit(
        name=f"Clean data, {source.name}",
        title="What the paper's classifiers recognise without noise",
        says=said,
        setting="Signals as they are, without noise. Otherwise as in the tables; for documents, "
        "genders and scenes both protocols are then the same.",
        protocol=PEOPLE if wanted and wanted[0].target == PERSON else OTHERS,
        quantity="share recognised",
        cells=tuple(cells),
        verdict=Verdict(_near(cells), claim),
    )


def _near(cells: Sequence[Cell]) -> Outcome:
    """Whether quoted numbers come out within a tenth."""
    apart = [
        abs(cell.printed - cell.by_protocol.mean)
        for cell in cells
        if cell.printed is not None and cell.by_protocol is not None
    ]
    if not apart:
        return Outcome.OPEN
    return Outcome.YES if max(apart) <= 0.1 else Outcome.NO


def _quoted(table: Table, model: str) -> tuple[float | None, str]:
    known = _QUOTED.get(table.target)
    votes = table.voted or table.target == PRIVACY
    return known if known is not None and model == "svm" and votes else (None, "")


def _left(found: Found, table: Table, epsilon: float) -> float:
    """The best leak-free rate at one ε, over methods as printed and classifiers."""
    values = [
        value.mean
        for (row, level), runs in found.items()
        for model in CLASSIFIERS
        if level == epsilon and KEPT not in row
        if (value := value_of(runs, Question(table.target, model, table.voted, True)))
    ]
    return max(values, default=math.nan)


def quoted_alone(dataset: str, wanted: Sequence[Table], why: str) -> Exhibit:
    """What the paper quotes of clean data, where the dataset is not at hand.

    Args:
        dataset: by name.
        wanted: its tables.
        why: it was not run.
    """
    cells = [
        Cell(f"{table.title} ({table.name})", CLASSIFIERS["svm"], printed, inferred=how)
        for table in wanted
        for printed, how in (_quoted(table, "svm"),)
        if printed is not None
    ]
    return Exhibit(
        name=f"Clean data, {dataset}",
        title="What the paper's classifiers recognise without noise",
        quantity="share recognised",
        cells=tuple(cells),
        not_run=why,
    )
