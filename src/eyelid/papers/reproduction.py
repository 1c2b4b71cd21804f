"""What a paper prints beside what comes out here: under its own protocol, and under an honest one.

A module a paper fills `Reproduction`; the page, the files and the command are the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Value:
    """A number that was measured here.

    Attributes:
        mean: over noisy runs.
        spread: standard deviation of single runs; None where there was one, or no noise.
        low: lower 95 % limit, over people unless the exhibit says otherwise; None where none can
            be given.
        high: upper one.
    """

    mean: float
    spread: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of_runs(cls, runs: Sequence[float]) -> Value:
        """From the same number of several noisy runs.

        >>> Value.of_runs([0.5, 0.7]).mean
        0.6
        """
        return cls(fmean(runs), stdev(runs) if len(runs) > 1 else None)


@dataclass(frozen=True)
class Cell:
    """One number of a paper beside ours.

    Attributes:
        row: which row of the table or curve of the figure it is.
        column: which column, or place on the axis.
        printed: the paper's number; None where it prints none.
        as_printed: ours under the paper's protocol; None where it was not run.
        honest: ours under an honest one; None where there is no such thing.
    """

    row: str
    column: str
    printed: float | None = None
    as_printed: Value | None = None
    honest: Value | None = None

    @property
    def ours(self) -> tuple[float, float]:
        """As printed and honest, where both are there."""
        assert self.as_printed is not None, f"{self.row}, {self.column} was not run as printed"
        assert self.honest is not None, f"{self.row}, {self.column} has no honest number"
        return self.as_printed.mean, self.honest.mean

    @property
    def numbers(self) -> list[float]:
        """Those of the three that are there, as far as they are numbers."""
        ours = [value.mean for value in (self.as_printed, self.honest) if value is not None]
        there = ours if self.printed is None else [self.printed, *ours]
        return [number for number in there if math.isfinite(number)]


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table, a figure, or the numbers of a theorem.

    Attributes:
        name: as the paper calls it: ``Table 3``.
        title: what it shows.
        says: one sentence on what is different, and why; plain, true of these very numbers.
        protocol: how the paper measures.
        honest_protocol: how one should; empty where there is no difference to make.
        cells: its numbers.
        chance: what guessing gives; None where nothing is guessed.
        pictures: name of file (without ending) to a picture as SVG.
        not_run: why it was not done; empty if it was.
        digits: of its numbers, behind the point.
    """

    name: str
    title: str
    says: str = ""
    protocol: str = ""
    honest_protocol: str = ""
    cells: tuple[Cell, ...] = ()
    chance: float | None = None
    pictures: dict[str, Markup] = field(default_factory=dict)
    not_run: str = ""
    digits: int = 2

    @property
    def rows(self) -> list[str]:
        """Names of rows, in order."""
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        """Names of columns, in order."""
        return list(dict.fromkeys(cell.column for cell in self.cells))

    def at(self, row: str, column: str) -> Cell:
        """The cell of a row and a column."""
        return next(cell for cell in self.cells if (cell.row, cell.column) == (row, column))

    @property
    def most_telling(self) -> Cell:
        """Of the cells that have most of the three numbers, the one where they are most apart.

        >>> cells = (Cell("a", "x", 0.5, Value(0.5)), Cell("b", "x", 0.5, Value(0.1)))
        >>> Exhibit("Table 1", "", cells=cells).most_telling.row
        'b'
        """

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
        simulated: whether they are made up: then no number can be the paper's.
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
        seed: of noise and of made-up people.
        from_folder: whether a folder of datasets was named.
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

    @property
    def command(self) -> str:
        """What does this again; where the datasets are is everybody's own matter."""
        words = [f"eyelid reproduce {self.paper}"]
        words += ["--data DIR"] * self.from_folder
        words += [f"--repeats {self.repeats}", f"--seed {self.seed}"]
        words += ["--fast"] * self.fast + ["--full"] * self.full
        return " ".join(words)


def to_dict(done: Reproduction) -> dict[str, Any]:
    """As in reproduction.json: pictures are files of their own, infinities are null."""

    def number(one: float | None) -> float | None:
        return one if one is not None and math.isfinite(one) else None

    def value(one: Value | None) -> dict[str, Any] | None:
        return None if one is None else {name: number(each) for name, each in vars(one).items()}

    return {
        "schema": "eyelid/reproduction/1",
        "paper": done.paper,
        "citation": done.citation,
        "data": vars(done.data) | {"missing": list(done.data.missing)},
        "repeats": done.repeats,
        "fast": done.fast,
        "full": done.full,
        "seed": done.seed,
        "command": done.command,
        "findings": list(done.findings),
        "seconds": round(done.seconds, 1),
        "exhibits": [
            {
                "name": one.name,
                "title": one.title,
                "says": one.says,
                "protocol": one.protocol,
                "honest_protocol": one.honest_protocol,
                "chance": one.chance,
                "not_run": one.not_run,
                "cells": [
                    {
                        "row": cell.row,
                        "column": cell.column,
                        "printed": number(cell.printed),
                        "as_printed": value(cell.as_printed),
                        "honest": value(cell.honest),
                    }
                    for cell in one.cells
                ],
            }
            for one in done.exhibits
        ],
    }
