"""Tables 1 to 9: how often documents, genders, people and private scenes are recognised.

By the paper's protocol and by a leak-free one, in both readings of the methods; by means over
recordings; and beside the controls of `eyelid.papers.bozkir2021.controls`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from eyelid.papers.bozkir2021.controls import clean_data, null_signals
from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.pictures import accuracy_picture, file_name, labelled
from eyelid.papers.bozkir2021.printed import CLASSIFIERS, inferred, printed
from eyelid.papers.bozkir2021.protocols import OTHERS, PEOPLE
from eyelid.papers.bozkir2021.recognition import (
    BY_MEANS,
    NO_NOISE,
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
    ALIKE,
    gaps,
    guessing,
    largest,
    limits,
    most,
    nearer,
    nearness,
    noise_alone,
    what_comes_out,
)
from eyelid.papers.bozkir2021.sources import PRIVACY, Source
from eyelid.papers.bozkir2021.tables import GENDER, TASK, Table
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Verdict

_QUANTITY = "share recognised"
# Shares that differ by less are the same.
_SAME = 0.03


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
    known = [table for table in wanted if table.target in (PERSON, *subject.targets)]
    return [
        *exhibits,
        nearness(source, [exhibit for exhibit in exhibits if exhibit.cells]),
        *means,
        clean_data(source, subject, found, known, effort.epsilons[0]),
        null_signals(source, found, effort, known),
    ]


def printed_alone(dataset: str, table: Table, why: str) -> Exhibit:
    """A table as the paper prints it, of a dataset that is not at hand.

    Args:
        dataset: by name.
        table: which one.
        why: it was not run.
    """
    cells = [
        Cell(method, f"ε = {epsilon:g}, {CLASSIFIERS[model]}", value, inferred=how)
        for (method, epsilon, model), value in printed(table.number).items()
        for how in (inferred(table.number, method, value),)
    ]
    return Exhibit(
        name=table.name,
        title=f"{table.title}, {dataset}",
        protocol=PEOPLE if table.target == PERSON else OTHERS,
        quantity=_QUANTITY,
        cells=tuple(cells),
        not_run=why,
    )


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
            inferred=inferred(table.number, method.name, paper[method.name, epsilon, model]),
        )
        for method in effort.rows
        for epsilon in effort.epsilons
        for model, short in CLASSIFIERS.items()
    ]
    chance = chance_of(subject, table.target)
    least = effort.epsilons[0]
    return Exhibit(
        name=table.name,
        title=title,
        says=" ".join(
            [
                *_says(table, source, cells, _nothing(table, found, effort), effort, chance),
                *(_more_by_means(means) if table.target == PERSON else []),
            ]
        ),
        protocol=PEOPLE if table.target == PERSON else OTHERS,
        quantity=_QUANTITY,
        cells=tuple(cells),
        chance=chance,
        pictures={
            file_name(table.name): labelled(
                accuracy_picture(cells, effort.epsilons, title, chance), source
            )
        },
        verdict=Verdict(_reproduced(cells, chance), _claim(table, cells, means, least, chance)),
    )


def _come_out(cells: Sequence[Cell], chance: float) -> dict[str, bool]:
    """By family of methods, whether it comes near what is printed, in the nearer reading.

    Where printed shares are near guessing, so is everything: there, they must be twice as near as
    guessing is.
    """
    near = {}
    for family, readings in gaps(cells).items():
        printed = [
            abs(cell.printed - chance)
            for cell in cells
            if cell.row.partition("-")[0] == family and cell.printed is not None
        ]
        limit = max(min(ALIKE, fmean(printed) / 2), _SAME)
        near[family] = nearer(readings)[1].mean <= limit
    return near


def _reproduced(cells: Sequence[Cell], chance: float) -> Outcome:
    near = _come_out(cells, chance).values()
    if all(near):
        return Outcome.YES
    return Outcome.PARTLY if any(near) else Outcome.NO


def _as_guessing(cells: Sequence[Cell], chance: float) -> str:
    """Which families are near what is printed, and guessing is as well."""
    gap = {family: nearer(readings)[1].mean for family, readings in gaps(cells).items()}
    near = _come_out(cells, chance)
    none = [family for family, out in near.items() if not out and gap[family] <= ALIKE]
    if not none:
        return ""
    return (
        f"Guessing is nearly as near to the printed shares of {' and '.join(none)}, which is not "
        "called reproduced."
    )


def _claim(
    table: Table,
    cells: Sequence[Cell],
    means: Sequence[Exhibit],
    epsilon: float,
    chance: float,
) -> Outcome:
    """What the paper concludes from a table, by leak-free rates of methods as printed."""

    def told(what: Sequence[Cell], *families: str) -> bool:
        """Whether anything is told from guessing at the smallest ε."""
        return any(
            cell.leak_free.low > chance
            for cell in what
            if cell.leak_free and cell.leak_free.low is not None
            if cell.row.partition("-")[0] in families and KEPT not in cell.row
            if cell.column.startswith(f"ε = {epsilon:g},")
        )

    if not any(cell.leak_free for cell in cells):
        return Outcome.OPEN
    every = ("FPA", "CFPA", "DCFPA")
    if table.target in (TASK, PRIVACY):
        # Recognised at the smallest ε as well.
        return Outcome.YES if told(cells, *every) else Outcome.NO
    if table.target == GENDER:
        return Outcome.NO if told(cells, *every) else Outcome.YES
    seen = [*cells, *(cell for exhibit in means for cell in exhibit.cells)]
    # FPA shows who people are, and chunks hide it.
    parts = (told(seen, "FPA"), not told(seen, "CFPA", "DCFPA"))
    return Outcome.YES if all(parts) else Outcome.PARTLY if any(parts) else Outcome.NO


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
    """What comes out, what of it is noise, and the most that is found without a leak."""
    said = [] if source.simulated else [what_comes_out(cells), _as_guessing(cells, chance)]
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
    return [f"Means over recordings re-identify up to {max(rates):.2f}."] if rates else []


def _by_means(source: Source, subject: Subject, found: Found, effort: Effort) -> list[Exhibit]:
    """Who is re-identified in another task by means over recordings; nothing with one task."""
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

    def best(epsilon: float, noisy_mean: bool) -> str:
        found = most(released, epsilon, noisy_mean)
        return f"{limits(found.value)} by {found.who}{guessing(found.value, chance)}"

    said = [
        f"Across tasks at ε = {epsilon:g}, the largest of "
        f"{most(released, epsilon, True).rates} rates: {best(epsilon, True)}, if the mean gets "
        f"noise; {best(epsilon, False)}, if it gets none"
        for epsilon in ends
    ]
    plain = max(cell.leak_free.mean for cell in cells if cell.row == NO_NOISE and cell.leak_free)
    return [
        Exhibit(
            name=f"By means, {source.name}",
            title="Who is re-identified by means over whole recordings, in both readings",
            says=f"{'. '.join(said)}. Without noise it is {plain:.2f}, chance {chance:.2f}.",
            setting="Known by raw recordings, looked for in the release of another task by the "
            "nearest mean over all rows of a recording; whitened: by the whole covariance; "
            "trusted: by an attacker who takes means for free of noise; 95% limits over people.",
            quantity="share of people re-identified",
            cells=tuple(cells),
            chance=chance,
            verdict=Verdict(),
        )
    ]
