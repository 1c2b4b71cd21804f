"""Tables 1 to 9: how often documents, genders, people and private scenes are recognised.

Under the paper's protocol, and honestly, in both readings of the methods; by means over recordings;
and two controls. Nothing but noise: everybody's signals
are zero, and the noise is the one that these people would get. Whatever is recognised then is in
the noise: it runs through whole recordings, and its scale is another in every document. No noise:
what the same classifiers can do at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.pictures import accuracy_picture, file_name, labelled
from eyelid.papers.bozkir2021.printed import CLASSIFIERS, printed
from eyelid.papers.bozkir2021.recognition import (
    BY_MEANS,
    NO_NOISE,
    NOTHING,
    PERSON,
    Effort,
    Found,
    Question,
    Subject,
    chance_of,
    recognise,
    value_of,
)
from eyelid.papers.bozkir2021.sentences import (
    guessing,
    largest,
    limits,
    most,
    nearness,
    noise_alone,
    what_comes_out,
)
from eyelid.papers.bozkir2021.sources import PRIVACY, Source
from eyelid.papers.reproduction import Cell, Exhibit

TASK, GENDER = "task", "gender"


class Table(NamedTuple):
    """One of the paper's.

    Attributes:
        number: in the paper.
        target: what is recognised.
        voted: whether the windows of a recording vote.
        title: in words.
    """

    number: int
    target: str
    voted: bool
    title: str

    @property
    def name(self) -> str:
        """As the paper calls it."""
        return f"Table {self.number}"


TABLES_OF_READERS = (
    Table(1, TASK, True, "Document type, with majority vote"),
    Table(2, GENDER, True, "Gender, with majority vote"),
    Table(3, PERSON, True, "Person identification, with majority vote"),
    Table(6, TASK, False, "Document type, per window"),
    Table(7, GENDER, False, "Gender, per window"),
    Table(8, PERSON, False, "Person identification, per window"),
)
TABLES_OF_DAILY_LIFE = (
    Table(4, PRIVACY, False, "Privacy sensitivity of the scene, per window"),
    Table(5, PERSON, True, "Person identification, with majority vote"),
    Table(9, PERSON, False, "Person identification, per window"),
)


def tables(source: Source, effort: Effort, wanted: Sequence[Table]) -> list[Exhibit]:
    """The paper's tables of one dataset, and the controls.

    Args:
        source: the dataset.
        effort: how much of it is done.
        wanted: which tables.
    """
    targets = dict.fromkeys(table.target for table in wanted if table.target != PERSON)
    subject, found = recognise(source, effort, tuple(targets))
    means = _by_means(source, subject, found, effort)
    exhibits = [_table(table, source, subject, found, effort, means) for table in wanted]
    return [
        *exhibits,
        nearness(source, [exhibit for exhibit in exhibits if exhibit.cells]),
        *means,
        _controls(source, subject, found, effort, wanted),
    ]


def _protocols(table: Table, source: Source, effort: Effort) -> tuple[str, str]:
    every = source.every_of_person if table.target == PERSON else source.every
    windows = f"one window in {every * effort.thinner}"
    if effort.thinner > 1:
        windows += f" (one in {every} in the paper: neighbours share most of their gaze)"
    classifiers = (
        "k-NN with k = 11, ties by lot; SVM with RBF kernel, C = 1, γ = 1 / features in place of "
        "MATLAB's automatic scale, which is a rule of thumb over random subsamples; decision "
        "tree; random forest of 10 trees; standardised by what is learned from"
    )
    noise = (
        f"; {_times(effort.repeats, 'noisy run')} as printed and {effort.repeats_kept} with a "
        f"{KEPT}, each k chosen by {effort.runs_for_k} more (100 in the paper)"
    )
    if source.unlike:
        noise += f". {source.unlike}"
    if table.target == PERSON:
        return (
            f"learned from first halves of the release, tested on its second halves; {windows}; "
            f"{classifiers}{noise}",
            "learned from raw recordings, tested on the release of another task; the same "
            "classifiers, 95 % limits over people",
        )
    return (
        f"learned from the release of all other people, tested on the release of the one left "
        f"out; {windows}; {classifiers}{noise}",
        "learned from the release of all other people, tested on raw windows of the one left out; "
        "95 % limits over people",
    )


def _times(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _table(
    table: Table,
    source: Source,
    subject: Subject,
    found: Found,
    effort: Effort,
    means: Sequence[Exhibit],
) -> Exhibit:
    title = f"{table.title}, {source.name}"
    if table.target != PERSON and table.target not in subject.targets:
        return Exhibit(table.name, title, not_run=_why_not(table, source))
    paper = printed(table.number)
    cells = [
        Cell(
            row=method.row,
            column=f"ε = {epsilon:g}, {short}",
            printed=paper[method.name, epsilon, model],
            by_protocol=value_of(
                found[method.row, epsilon], Question(table.target, model, table.voted, False)
            ),
            leak_free=value_of(
                found[method.row, epsilon], Question(table.target, model, table.voted, True)
            ),
        )
        for method in effort.rows
        for epsilon in effort.epsilons
        for model, short in CLASSIFIERS.items()
    ]
    chance = chance_of(subject, table.target)
    protocol, leak_free = _protocols(table, source, effort)
    return Exhibit(
        name=table.name,
        title=title,
        says=" ".join(
            [
                *_says(table, source, cells, _nothing(table, found, effort), effort, chance),
                *(_more_by_means(means) if table.target == PERSON else []),
            ]
        ),
        protocol=protocol,
        leak_free_protocol=leak_free if any(cell.leak_free for cell in cells) else "",
        cells=tuple(cells),
        chance=chance,
        pictures={
            file_name(table.name): labelled(
                accuracy_picture(cells, effort.epsilons, title, chance), source
            )
        },
    )


def _why_not(table: Table, source: Source) -> str:
    if table.target == PRIVACY:
        return (
            f"no column after the 52 features of {source.name} takes exactly two values, so that "
            "the ground truth was not found"
        )
    what = "document" if table.target == TASK else "gender"
    return f"nothing is to be recognised: there is one {what} only, or none is known"


def _nothing(table: Table, found: Found, effort: Effort) -> dict[tuple[str, str], float]:
    """By row and classifier, what is recognised by the paper's protocol if all signals are zero."""
    shares = {}
    for method in effort.rows:
        for model, short in CLASSIFIERS.items():
            value = value_of(
                found[method.row, None], Question(table.target, model, table.voted, False)
            )
            shares[method.row, short] = value.mean if value else 0.0
    return shares


def _says(
    table: Table,
    source: Source,
    cells: Sequence[Cell],
    nothing: Mapping[tuple[str, str], float],
    effort: Effort,
    chance: float,
) -> list[str]:
    """What comes out, what of it is noise, and the most that is found honestly."""
    said = [] if source.simulated else [what_comes_out(cells)]
    smallest = effort.epsilons[0]
    if table.target == PERSON:
        # Chunks have noise of their own: none of it is in both halves.
        whole = [method.row for method in effort.rows if method.chunk is None]
        reason = "which runs through both halves of a recording"
        said.append(
            noise_alone(cells, nothing, whole, smallest, chance, "rows of whole signals", reason)
        )
    elif table.target == TASK:
        rows = [method.row for method in effort.rows]
        reason = "which with these features has another scale in every document"
        said.append(noise_alone(cells, nothing, rows, smallest, chance, "rows", reason))
    said.append(largest(cells, chance))
    return [one for one in said if one]


def _more_by_means(means: Sequence[Exhibit]) -> list[str]:
    """What the classifiers of single windows miss."""
    rates = [
        cell.leak_free.mean
        for exhibit in means
        for cell in exhibit.cells
        if cell.leak_free and cell.row != NO_NOISE
    ]
    return [f"Means over recordings name up to {max(rates):.2f}."] if rates else []


def _by_means(source: Source, subject: Subject, found: Found, effort: Effort) -> list[Exhibit]:
    """Who is named in another task by means over recordings; nothing where there is one task."""
    ends = tuple(dict.fromkeys((effort.epsilons[0], effort.epsilons[-1])))
    rows = [
        (method.row, [found[method.row, epsilon] for epsilon in ends]) for method in effort.rows
    ]
    rows.append((NO_NOISE, [found[NO_NOISE, None]] * len(ends)))
    cells = [
        Cell(row, f"ε = {epsilon:g}, {name}", leak_free=value)
        for row, runs in rows
        for epsilon, answers in zip(ends, runs, strict=True)
        for name in BY_MEANS
        if (value := value_of(answers, Question(PERSON, name, True, True)))
    ]
    if not cells:
        return []
    chance = chance_of(subject, PERSON)
    released = [cell for cell in cells if cell.row != NO_NOISE]

    def named(epsilon: float, noisy_mean: bool) -> str:
        found = most(released, epsilon, noisy_mean)
        return f"{limits(found.value)} by {found.who}{guessing(found.value, chance)}"

    said = [
        f"Across tasks at ε = {epsilon:g}, the largest of "
        f"{most(released, epsilon, True).rates} rates: {named(epsilon, True)}, if the mean gets "
        f"noise; {named(epsilon, False)}, if it gets none"
        for epsilon in ends
    ]
    plain = max(cell.leak_free.mean for cell in cells if cell.row == NO_NOISE and cell.leak_free)
    return [
        Exhibit(
            name=f"By means, {source.name}",
            title="Who is named by means over whole recordings, in both readings",
            says=f"{'. '.join(said)}. Without noise it is {plain:.2f}, chance {chance:.2f}.",
            leak_free_protocol="known by raw recordings, looked for in the release of another "
            "task by the nearest mean over all rows of a recording; whitened: by the whole "
            "covariance; trusted: by who knows that the mean has no noise; 95 % limits over people",
            cells=tuple(cells),
            chance=chance,
        )
    ]


def _controls(
    source: Source,
    subject: Subject,
    found: Found,
    effort: Effort,
    wanted: Sequence[Table],
) -> Exhibit:
    """Nothing but noise, and no noise at all."""
    asked = [
        (table, model)
        for table in wanted
        if table.target == PERSON or table.target in subject.targets
        for model in CLASSIFIERS
    ]
    cells = []
    for table, model in asked:
        column = f"{table.name}, {CLASSIFIERS[model]}"
        plain, leak_free = (
            value_of(found[NO_NOISE, None], Question(table.target, model, table.voted, way))
            for way in (False, True)
        )
        cells.append(Cell(NO_NOISE, column, None, plain, leak_free))
        for method in effort.rows:
            alone = Question(table.target, model, table.voted, False)
            cells.append(
                Cell(
                    f"{method.row}, {NOTHING}",
                    column,
                    printed(table.number)[method.name, effort.epsilons[0], model],
                    value_of(found[method.row, None], alone),
                )
            )
    return Exhibit(
        name=f"Controls, {source.name}",
        title="Null signals under the paper's protocol, and raw signals under both",
        says=_says_of_controls(cells, effort, wanted, chance_of(subject, PERSON)),
        protocol=f"as in the tables; everybody's signals are zero, the noise is that of ε = "
        f"{effort.epsilons[0]:g}, scaled by the data; beside it what is printed for real signals",
        leak_free_protocol="as in the tables, without noise: what the classifiers can do",
        cells=tuple(cells),
    )


def _says_of_controls(
    cells: Sequence[Cell], effort: Effort, wanted: Sequence[Table], chance: float
) -> str:
    person = next(table for table in wanted if table.target == PERSON)

    def best(row: str, leak_free: bool = False) -> float:
        values = [
            cell.leak_free if leak_free else cell.by_protocol
            for cell in cells
            if cell.row == row and cell.column.startswith(f"{person.name},")
        ]
        return max((value.mean for value in values if value), default=float("nan"))

    method, plain = effort.methods[0], best(NO_NOISE)
    printed_way, kept = (best(f"{row}, {NOTHING}") for row in (method, f"{method}, {KEPT}"))
    said = (
        f"By the paper's protocol people whose signals are all zero are named in {printed_way:.2f} "
        f"of recordings released by {method} ({kept:.2f} with a {KEPT}), real ones without noise "
        f"in {plain:.2f}"
    )
    across = best(NO_NOISE, leak_free=True)
    if not np.isnan(across):
        said += (
            f"; without noise the best of the four classifiers names {across:.2f} across tasks, of "
            f"which chance is {chance:.2f}"
        )
    return f"{said}."
