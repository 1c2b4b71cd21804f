"""Tables 1 to 9: how often documents, genders, people and private scenes are recognised.

Under the paper's protocol, and honestly; and two controls. Nothing but noise: everybody's signals
are zero, and the noise is the one that these people would get. Whatever is recognised then is in
the noise: it runs through whole recordings, and its scale is another in every document. No noise:
what the same classifiers can do at all.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eyelid.audits.statistics import Rate, rate_of_decisions, rate_of_shares
from eyelid.engine.processes import Shared, shared, spread
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.papers.task_noise import TaskNoise
from eyelid.papers.bozkir2021.methods import Chosen, Method, best_k, noisy, without_signals
from eyelid.papers.bozkir2021.pictures import accuracy_picture, file_name
from eyelid.papers.bozkir2021.printed import CLASSIFIERS, FEATURES, METHODS, printed
from eyelid.papers.bozkir2021.recognition import (
    PERSON,
    Answers,
    Question,
    Shares,
    Subject,
    across_tasks,
    of_halves,
    of_others,
)
from eyelid.papers.bozkir2021.sources import PRIVACY, Source
from eyelid.papers.reproduction import Cell, Exhibit, Value

TASK, GENDER = "task", "gender"
NOTHING, NO_NOISE = "nothing but noise", "no noise"
# Two shares that differ by less are called alike.
_ALIKE = 0.1
_IN_THE_NOISE = {
    PERSON: "is the same in both halves of a recording",
    TASK: "has another scale in every document",
}


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


@dataclass(frozen=True)
class Effort:
    """How much is done.

    Attributes:
        methods: of `METHODS`.
        epsilons: of the paper's, ascending.
        repeats: noisy runs.
        runs_for_k: noisy runs by which each k is chosen.
        thinner: how many times fewer windows than in the paper are looked at.
        seed: of everything that is drawn.
    """

    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    repeats: int
    runs_for_k: int
    thinner: int
    seed: int


Found = dict[tuple[str, float | None], list[Answers]]
"""By method and ε (None for nothing but noise; no noise has both), the answers of every run."""


def recognise(source: Source, effort: Effort, targets: Sequence[str]) -> tuple[Subject, Found]:
    """Release again and again, and ask everything of every release.

    Args:
        source: the dataset.
        effort: how much of it.
        targets: what is asked, besides who it is.
    """
    subject = Subject.of(
        source.table,
        targets,
        source.every * effort.thinner,
        source.every_of_person * effort.thinner,
    )
    found: Found = {}
    with shared(subject) as handle:
        choices = [
            (method, task) for method in effort.methods for task in range(len(subject.signals))
        ]
        choose = functools.partial(_choose, handle, effort)
        chosen = dict(zip(choices, spread(choose, choices, "choosing k"), strict=True))
        jobs = [
            _Job(method, run, tuple(chosen[method, task] for task in range(len(subject.signals))))
            for run in range(effort.repeats)
            for method in effort.methods
        ]
        attack = functools.partial(_attack, handle, effort)
        for job, answers in zip(jobs, spread(attack, jobs, "recognising"), strict=True):
            for epsilon, each in answers.items():
                found.setdefault((job.method, epsilon), []).append(each)
    found[NO_NOISE, None] = [_of_raw(subject, effort.seed)]
    return subject, found


class _Job(NamedTuple):
    method: str
    run: int
    chosen: tuple[Chosen, ...]
    """Of every task."""


def _choose(subject: Shared[Subject], effort: Effort, choice: tuple[str, int]) -> Chosen:
    method, task = choice
    shares = [epsilon / FEATURES for epsilon in effort.epsilons]
    seed = [effort.seed, METHODS.index(method), task]
    signals = subject.get().signals[task]
    return best_k(Method.called(method), signals, shares, effort.runs_for_k, seed)


def _attack(subject: Shared[Subject], effort: Effort, job: _Job) -> dict[float | None, Answers]:
    """One run of a method: every ε, and nothing but its noise at the smallest."""
    who = subject.get()
    tasks = [Method.called(job.method).noise_of(signals) for signals in who.signals]

    def released(tasks: Sequence[TaskNoise], place: int) -> Values:
        share = effort.epsilons[place] / FEATURES
        start = [effort.seed, METHODS.index(job.method), job.run, place]
        return who.flat(
            [
                noisy(task, chosen[place], share, [*start, number])
                for number, (task, chosen) in enumerate(zip(tasks, job.chosen, strict=True))
            ]
        )

    releases = [released(tasks, place) for place in range(len(effort.epsilons))]
    seed = effort.seed + job.run
    across = across_tasks(who, releases, seed)
    found: dict[float | None, Answers] = {
        epsilon: of_others(who, release, seed) | of_halves(who, release, seed) | far
        for epsilon, release, far in zip(effort.epsilons, releases, across, strict=True)
    }
    silent = released([without_signals(task) for task in tasks], 0)
    others = of_others(who, silent, seed) | of_halves(who, silent, seed)
    found[None] = {asked: shares for asked, shares in others.items() if not asked.honest}
    return found


def _of_raw(subject: Subject, seed: int) -> Answers:
    """What is recognised in recordings as they are."""
    raw = subject.raw
    (across,) = across_tasks(subject, [raw], seed)
    return of_others(subject, raw, seed) | of_halves(subject, raw, seed) | across


def tables(source: Source, effort: Effort, wanted: Sequence[Table]) -> list[Exhibit]:
    """The paper's tables of one dataset, and the controls.

    Args:
        source: the dataset.
        effort: how much of it is done.
        wanted: which tables.
    """
    targets = dict.fromkeys(table.target for table in wanted if table.target != PERSON)
    subject, found = recognise(source, effort, tuple(targets))
    exhibits = [_table(table, source, subject, found, effort) for table in wanted]
    return [*exhibits, _controls(source, subject, found, effort, wanted)]


def chance_of(subject: Subject, target: str) -> float:
    """What guessing gives: one of the people, or always the commonest class.

    Of recordings, where the class is the same all through each; else of windows.
    """
    if target == PERSON:
        return 1 / (int(subject.owner.max()) + 1)
    codes = subject.targets[target]
    pairs = np.unique(np.column_stack([subject.record, codes])[codes >= 0], axis=0)
    once = len(np.unique(pairs[:, 0])) == len(pairs)
    counted = np.bincount(pairs[:, 1] if once else codes[codes >= 0])
    return float(counted.max() / counted.sum())


def value_of(runs: Sequence[Answers], asked: Question) -> Value | None:
    """The mean over runs, with limits over people where the protocol is honest."""
    found = [answers[asked] for answers in runs if asked in answers]
    if not found:
        return None
    mean = Value.of_runs([float(np.nanmean(shares)) for shares in found])
    if not asked.honest:
        return mean
    rate = _over_people(np.mean(found, axis=0), asked)
    return Value(mean.mean, mean.spread, rate.low, rate.high)


def _over_people(shares: Shares, asked: Question) -> Rate:
    known = shares[~np.isnan(shares)]
    decisions = asked.voted and asked.target == PERSON
    return rate_of_decisions(known, 0.0) if decisions else rate_of_shares(known, 0.0)


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
    if table.target == PERSON:
        return (
            f"learned from first halves of the release, tested on its second halves; {windows}; "
            f"{classifiers}",
            "learned from raw recordings, tested on the release of another task; the same "
            "classifiers, 95 % limits over people",
        )
    return (
        f"learned from the release of all other people, tested on the release of the one left "
        f"out; {windows}; {classifiers}",
        "learned from the release of all other people, tested on raw windows of the one left out; "
        "95 % limits over people",
    )


def _table(table: Table, source: Source, subject: Subject, found: Found, effort: Effort) -> Exhibit:
    title = f"{table.title}, {source.name}"
    if table.target != PERSON and table.target not in subject.targets:
        return Exhibit(table.name, title, not_run=_why_not(table, source))
    paper = printed(table.number)
    cells = [
        Cell(
            row=method,
            column=f"ε = {epsilon:g}, {short}",
            printed=paper[method, epsilon, model],
            as_printed=value_of(
                found[method, epsilon], Question(table.target, model, table.voted, False)
            ),
            honest=value_of(
                found[method, epsilon], Question(table.target, model, table.voted, True)
            ),
        )
        for method in effort.methods
        for epsilon in effort.epsilons
        for model, short in CLASSIFIERS.items()
    ]
    chance = chance_of(subject, table.target)
    protocol, honest = _protocols(table, source, effort)
    return Exhibit(
        name=table.name,
        title=title,
        says=f"{_says(table, found, effort, chance)}{_most(cells)}"
        + (f" {source.unlike}" if source.unlike else ""),
        protocol=protocol,
        honest_protocol=honest if any(cell.honest for cell in cells) else "",
        cells=tuple(cells),
        chance=chance,
        pictures={file_name(table.name): accuracy_picture(cells, effort.epsilons, title, chance)},
    )


def _why_not(table: Table, source: Source) -> str:
    if table.target == PRIVACY:
        return (
            f"no column after the 52 features of {source.name} takes exactly two values, so that "
            "the ground truth was not found"
        )
    what = "document" if table.target == TASK else "gender"
    return f"nothing is to be recognised: there is one {what} only, or none is known"


class _Best(NamedTuple):
    """The classifier that recognises most of what a method released at one ε."""

    model: str
    as_printed: float
    honest: Value | None
    nothing: float
    printed: float


def _best(table: Table, found: Found, method: str, epsilon: float) -> _Best:
    def mean(key: float | None, model: str) -> float:
        value = value_of(found[method, key], Question(table.target, model, table.voted, False))
        return value.mean if value else 0.0

    model = max(CLASSIFIERS, key=lambda one: mean(epsilon, one))
    return _Best(
        model,
        mean(epsilon, model),
        value_of(found[method, epsilon], Question(table.target, model, table.voted, True)),
        mean(None, model),
        printed(table.number)[method, epsilon, model],
    )


def _says(table: Table, found: Found, effort: Effort, chance: float) -> str:
    """What the best classifier makes of whole-signal and of chunked noise at the smallest ε."""
    smallest, parts = effort.epsilons[0], []
    methods = _one_of_each(effort.methods)
    shown = [_best(table, found, method, smallest) for method in methods]
    for method, best in zip(methods, shown, strict=True):
        said = (
            f"{method} at ε = {smallest:g}: {best.as_printed:.2f} by the paper's protocol "
            f"({CLASSIFIERS[best.model]}; printed {best.printed:.2f}), {best.nothing:.2f} if all "
            "signals are zero"
        )
        if best.honest is not None:
            said += f", {best.honest.mean:.2f} honestly"
            if best.honest.low is not None and best.honest.high is not None:
                said += f" ({best.honest.low:.2f}–{best.honest.high:.2f})"
        parts.append(said)
    told = [best for best in shown if best.as_printed > chance + _ALIKE]
    noise = all(best.nothing > best.as_printed - _ALIKE for best in told)
    if told and noise and table.target in _IN_THE_NOISE:
        parts.append(f"what is recognised is the noise, which {_IN_THE_NOISE[table.target]}")
    return "; ".join(parts) + f" (chance {chance:.2f})."


def _most(cells: Sequence[Cell]) -> str:
    """Where an honest protocol finds most, and what the paper's says of it."""
    asked = [(cell.honest.mean, cell) for cell in cells if cell.honest]
    if not asked:
        return ""
    mean, cell = max(asked, key=lambda one: one[0])
    assert cell.honest is not None
    assert cell.as_printed is not None
    limits = "" if cell.honest.low is None else f" ({cell.honest.low:.2f}–{cell.honest.high:.2f})"
    return (
        f" Honestly most is recognised in {cell.row} at {cell.column}: {mean:.2f}{limits}, where "
        f"the paper's protocol has {cell.as_printed.mean:.2f}."
    )


def _one_of_each(methods: Sequence[str]) -> list[str]:
    """The first method of every family.

    >>> _one_of_each(["FPA", "CFPA-32", "CFPA-64"])
    ['FPA', 'CFPA-32']
    """
    return list({method.partition("-")[0]: method for method in reversed(methods)}.values())[::-1]


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
        plain, honest = (
            value_of(found[NO_NOISE, None], Question(table.target, model, table.voted, way))
            for way in (False, True)
        )
        cells.append(Cell(NO_NOISE, column, None, plain, honest))
        for method in effort.methods:
            alone = Question(table.target, model, table.voted, False)
            cells.append(
                Cell(
                    f"{method}, {NOTHING}",
                    column,
                    printed(table.number)[method, effort.epsilons[0], model],
                    value_of(found[method, None], alone),
                )
            )
    return Exhibit(
        name=f"Controls, {source.name}",
        title="Null signals under the paper's protocol, and raw signals under both",
        says=_says_of_controls(cells, effort, wanted, chance_of(subject, PERSON)),
        protocol=f"as in the tables; everybody's signals are zero, the noise is that of ε = "
        f"{effort.epsilons[0]:g}, scaled by the data; beside it what is printed for real signals",
        honest_protocol="as in the tables, without noise: what the classifiers can do",
        cells=tuple(cells),
    )


def _says_of_controls(
    cells: Sequence[Cell], effort: Effort, wanted: Sequence[Table], chance: float
) -> str:
    person = next(table for table in wanted if table.target == PERSON)

    def best(row: str, honest: bool = False) -> float:
        values = [
            cell.honest if honest else cell.as_printed
            for cell in cells
            if cell.row == row and cell.column.startswith(f"{person.name},")
        ]
        return max((value.mean for value in values if value), default=float("nan"))

    method, plain = effort.methods[0], best(NO_NOISE)
    said = (
        f"People whose signals are all zero are named in {best(f'{method}, {NOTHING}'):.2f} of "
        f"recordings released by {method}, real ones without noise in {plain:.2f}, both by the "
        "paper's protocol"
    )
    across = best(NO_NOISE, honest=True)
    if not np.isnan(across):
        said += (
            f"; without noise the honest attack names {across:.2f}, of which chance is {chance:.2f}"
        )
    return f"{said}."
