"""What a paper prints beside what comes out here: by its own protocol, and by a leak-free one.

A package a paper fills `Reproduction`; the page, the files and the command are the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from markupsafe import Markup

    from eyelid.papers.datasets import Dataset

SCHEMA = "eyelid/reproduction/2"
LEAK_FREE = "ours, leak-free"
"""What the third line of a table is called, unless its exhibit says it better."""


@dataclass(frozen=True)
class Value:
    """A number that was measured here.

    Attributes:
        mean: over noisy runs.
        spread: standard deviation of single runs; None where there was one, or no noise.
        low: lower 95% limit, over people unless the exhibit says otherwise; None where none can
            be given.
        high: upper one.
        runs: how many noisy runs; None where nothing is drawn.
    """

    mean: float
    spread: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int | None = None

    @classmethod
    def of_runs(cls, runs: Sequence[float]) -> Value:
        """From the same number of several noisy runs.

        >>> Value.of_runs([0.5, 0.7]).mean
        0.6
        """
        return cls(fmean(runs), stdev(runs) if len(runs) > 1 else None, runs=len(runs))


@dataclass(frozen=True)
class Cell:
    """One number of a paper beside ours: the same quantity in the same unit, three times.

    Attributes:
        row: which row of the table or curve of the figure it is.
        column: which column, or place on the axis.
        printed: the paper's number; None where it prints none.
        by_protocol: ours by the paper's protocol; None where it was not run.
        leak_free: ours by a leak-free protocol, or what is exactly true; None where there is no
            such thing.
        inferred: how the paper's number was come by where it does not stand in the text: ``read
            off Figure 3``. Pages mark such a number. Empty where it is printed.
    """

    row: str
    column: str
    printed: float | None = None
    by_protocol: Value | None = None
    leak_free: Value | None = None
    inferred: str = ""

    @property
    def ours(self) -> tuple[float, float]:
        """By the paper's protocol and leak-free, where both are there."""
        assert self.by_protocol is not None, f"{self.row}, {self.column} was not run as printed"
        assert self.leak_free is not None, f"{self.row}, {self.column} has no leak-free number"
        return self.by_protocol.mean, self.leak_free.mean

    @property
    def numbers(self) -> list[float]:
        """The printed and measured values that are there, as far as they are numbers."""
        ours = [value.mean for value in (self.by_protocol, self.leak_free) if value is not None]
        there = ours if self.printed is None else [self.printed, *ours]
        return [number for number in there if math.isfinite(number)]


class Outcome(Enum):
    """How far something comes out."""

    YES = "yes"
    PARTLY = "in part"
    NO = "no"
    OPEN = "open"


_REPRODUCED = {
    Outcome.YES: "reproduced",
    Outcome.PARTLY: "reproduced in part",
    Outcome.NO: "not reproduced",
    Outcome.OPEN: "no number printed",
}
_CLAIM = {
    Outcome.YES: "claim confirmed",
    Outcome.PARTLY: "claim confirmed in part",
    Outcome.NO: "claim not confirmed",
    Outcome.OPEN: "claim not tested",
}


class Answer(NamedTuple):
    """One answer of a verdict for people, and what it is."""

    words: str
    outcome: Outcome = Outcome.OPEN


@dataclass(frozen=True)
class Verdict:
    """What an exhibit comes to, in two answers that are often different.

    Attributes:
        reproduced: do the printed numbers come out by the paper's protocol? None where there are
            none that could: the exhibit is about a sentence of the paper, or is not in it.
        claim: does what the paper concludes from them stand, by a leak-free protocol or exactly?
            None where nothing is concluded.

    >>> [answer.words for answer in Verdict(Outcome.YES, Outcome.NO).answers]
    ['reproduced', 'claim not confirmed']
    >>> [answer.words for answer in Verdict(claim=Outcome.YES).answers]
    ['claim confirmed']
    >>> [answer.words for answer in Verdict().answers]
    ['not in the paper']
    """

    reproduced: Outcome | None = None
    claim: Outcome | None = None

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Both, as far as there are any."""
        found = []
        if self.reproduced is not None:
            found.append(Answer(_REPRODUCED[self.reproduced], self.reproduced))
        if self.claim is not None:
            found.append(Answer(_CLAIM[self.claim], self.claim))
        return tuple(found) or (Answer("not in the paper"),)


@dataclass(frozen=True)
class Protocol:
    """How one kind of number is measured: it stands once on a page, and exhibits name it.

    Attributes:
        name: what exhibits call it: ``document type``.
        printed: what the paper says about it.
        inferred: what the paper leaves open and was chosen here, one sentence each; pages mark
            them.
        leak_free: what the leak-free protocol does instead; empty where there is none.
    """

    name: str
    printed: str
    inferred: tuple[str, ...] = ()
    leak_free: str = ""


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table, a figure, or the numbers of a theorem.

    Attributes:
        name: as the paper calls it: ``Table 3``.
        title: what it shows.
        says: one sentence on what is different, and why; plain, true of these very numbers.
        protocol: the name of a protocol of the page; empty where the setting says it all.
        cells: its numbers.
        chance: what guessing gives; None where nothing is guessed.
        pictures: name of file (without ending) to a picture as SVG.
        not_run: why it was not done; empty if it was. Its cells may have printed numbers all the
            same.
        digits: of its numbers, behind the point.
        verdict: what it comes to; None for what was not run.
        setting: what is particular to this exhibit, in a sentence; empty if nothing is.
        quantity: what every number of it is, with the unit; empty where rows say it.
        leak_free_words: what its third line is, in words.
        measured: whether people's data went into it; False for numbers of theory alone, which are
            the same on simulated people.
        data: whose data its numbers are of, where not the run's; empty for the run's.
        timed: whether its numbers are times by the clock, which no seed fixes.
        headline: row and column of the number to name first; None for the most telling.
    """

    name: str
    title: str
    says: str = ""
    protocol: str = ""
    cells: tuple[Cell, ...] = ()
    chance: float | None = None
    pictures: dict[str, Markup] = field(default_factory=dict)
    not_run: str = ""
    digits: int = 2
    verdict: Verdict | None = None
    setting: str = ""
    quantity: str = ""
    leak_free_words: str = LEAK_FREE
    measured: bool = True
    data: str = ""
    timed: bool = False
    headline: tuple[str, str] | None = None

    @property
    def rows(self) -> list[str]:
        """Names of rows, in order."""
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        """Names of columns, in order."""
        return list(dict.fromkeys(cell.column for cell in self.cells))

    @property
    def has_printed(self) -> bool:
        """Whether any number of it stands in the paper."""
        return any(cell.printed is not None and not cell.inferred for cell in self.cells)

    @property
    def inferences(self) -> list[str]:
        """How its inferred numbers were come by, each way once."""
        return list(dict.fromkeys(cell.inferred for cell in self.cells if cell.inferred))

    def at(self, row: str, column: str) -> Cell:
        """The cell of a row and a column."""
        return next(cell for cell in self.cells if (cell.row, cell.column) == (row, column))

    @property
    def most_telling(self) -> Cell:
        """The headline; else, of cells with most of the three numbers, where they are most apart.

        >>> cells = (Cell("a", "x", 0.5, Value(0.5)), Cell("b", "x", 0.5, Value(0.1)))
        >>> Exhibit("Table 1", "", cells=cells).most_telling.row
        'b'
        """
        if self.headline is not None:
            return self.at(*self.headline)

        def apart(cell: Cell) -> tuple[int, float]:
            numbers = cell.numbers
            return len(numbers), max(numbers) - min(numbers) if numbers else 0.0

        return max(self.cells, key=apart)


@dataclass(frozen=True)
class Data:
    """What a reproduction was run on.

    Attributes:
        name: of the dataset, or of the simulator.
        says: how many people and what of them, in words.
        simulated: whether participants are simulated: then no number can be the paper's.
        missing: datasets of the paper that were not at hand, each with where it would be looked
            for.
    """

    name: str
    says: str
    simulated: bool
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A paper done again.

    Attributes:
        paper: as the command has it: ``bozkir2021``.
        citation: authors, year, title, place.
        data: what it was run on.
        repeats: noisy runs.
        exhibits: its tables and figures.
        findings: what it comes to, a few sentences that a reader takes home.
        seconds: how long it took.
        fast: less of everything, to see how it goes.
        full: as many windows as the paper has.
        seed: of noise and of simulated participants.
        from_folder: whether a folder of datasets was named.
        protocols: how everything is measured, each stated once.
        datasets: those of the paper, with what it prints about them.
    """

    paper: str
    citation: str
    data: Data
    repeats: int
    exhibits: tuple[Exhibit, ...]
    findings: tuple[str, ...] = ()
    seconds: float = 0.0
    fast: bool = False
    full: bool = False
    seed: int = 0
    from_folder: bool = False
    protocols: tuple[Protocol, ...] = ()
    datasets: tuple[Dataset, ...] = ()

    def __post_init__(self) -> None:
        known = {one.name for one in self.protocols}
        for exhibit in self.exhibits:
            if exhibit.protocol and exhibit.protocol not in known:
                raise ValueError(
                    f"{exhibit.name} names no protocol of its page: {exhibit.protocol}"
                )

    @property
    def command(self) -> str:
        """What does this again; where the datasets are is everybody's own matter."""
        words = [f"eyelid reproduce {self.paper}"]
        words += ["--data DIR"] * self.from_folder
        words += [f"--repeats {self.repeats}", f"--seed {self.seed}"]
        words += ["--fast"] * self.fast + ["--full"] * self.full
        return " ".join(words)

    @property
    def recorded(self) -> tuple[str, ...]:
        """Datasets of single exhibits, also where the participants of the others are simulated."""
        own = (one.data for one in self.exhibits if one.measured and not one.not_run)
        return tuple(dict.fromkeys(name for name in own if name))

    def answers_on(self, exhibit: Exhibit) -> tuple[Answer, ...]:
        """The verdict on an exhibit of this run; simulated participants allow none."""
        if exhibit.not_run:
            return (Answer("not run"),)
        if self.data.simulated and exhibit.measured and not exhibit.data:
            return (Answer("simulated: not comparable"),)
        if exhibit.verdict is None:
            return ()
        first, *rest = exhibit.verdict.answers
        if exhibit.verdict.reproduced is Outcome.OPEN and exhibit.has_printed:
            # What an approximation, or a single run, gives is not held against what is printed.
            first = Answer("printed numbers not compared")
        return (first, *rest)


def to_dict(done: Reproduction) -> dict[str, Any]:
    """As in reproduction.json: the same for the same seed, but for exhibits that are timed.

    Pictures are files of their own, infinities are null, and how long it took is left out.
    """

    def number(one: float | None) -> float | None:
        return one if one is not None and math.isfinite(one) else None

    def value(one: Value | None) -> dict[str, Any] | None:
        return None if one is None else {name: number(each) for name, each in vars(one).items()}

    return {
        "schema": SCHEMA,
        "paper": done.paper,
        "citation": done.citation,
        "data": vars(done.data) | {"missing": list(done.data.missing)},
        "repeats": done.repeats,
        "fast": done.fast,
        "full": done.full,
        "seed": done.seed,
        "command": done.command,
        "findings": list(done.findings),
        "protocols": [vars(one) | {"inferred": list(one.inferred)} for one in done.protocols],
        "exhibits": [
            {
                "name": one.name,
                "title": one.title,
                "says": one.says,
                "verdict": [answer.words for answer in done.answers_on(one)],
                "quantity": one.quantity,
                "protocol": one.protocol,
                "setting": one.setting,
                "leak_free_words": one.leak_free_words,
                "chance": one.chance,
                "not_run": one.not_run,
                "timed": one.timed,
                "cells": [
                    {
                        "row": cell.row,
                        "column": cell.column,
                        "printed": number(cell.printed),
                        "inferred": cell.inferred,
                        "by_protocol": value(cell.by_protocol),
                        "leak_free": value(cell.leak_free),
                    }
                    for cell in one.cells
                ],
            }
            for one in done.exhibits
        ],
    }
