"""What is said of a table: what comes out, what of it is noise, and what is found leak-free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from eyelid.papers.bozkir2021.methods import KEPT, Method
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Value, Verdict

# Two shares that differ by less are called alike, and so are tables that do on average.
ALIKE = 0.1
AS_PRINTED = "mean with noise"


class Gap(NamedTuple):
    """How far ours by the paper's protocol is from what is printed, over the cells of a family.

    Attributes:
        mean: absolute difference.
        largest: absolute difference.
    """

    mean: float
    largest: float


def gaps(cells: Sequence[Cell]) -> dict[str, dict[str, Gap]]:
    """By family and reading (`AS_PRINTED`, `KEPT`).

    >>> cells = [Cell("FPA", "x", 0.5, Value(0.7)), Cell("FPA", "y", 0.5, Value(0.5))]
    >>> round(gaps(cells)["FPA"][AS_PRINTED].mean, 3)
    0.1
    """
    apart: dict[str, dict[str, list[float]]] = {}
    for cell in cells:
        if cell.printed is None or cell.by_protocol is None:
            continue
        method = Method.called(cell.row)
        reading = AS_PRINTED if method.noisy_mean else KEPT
        family = apart.setdefault(method.family, {})
        family.setdefault(reading, []).append(abs(cell.by_protocol.mean - cell.printed))
    return {
        family: {reading: Gap(fmean(each), max(each)) for reading, each in readings.items()}
        for family, readings in apart.items()
    }


def nearer(readings: Mapping[str, Gap]) -> tuple[str, Gap]:
    """The reading that comes nearer to what is printed."""
    return min(readings.items(), key=lambda one: one[1].mean)


def what_comes_out(cells: Sequence[Cell]) -> str:
    """Which families come near in their nearer reading, and which in neither."""
    sides: dict[bool, list[str]] = {True: [], False: []}
    found = gaps(cells)
    for family, readings in found.items():
        reading, gap = nearer(readings)
        sides[gap.mean <= ALIKE].append(f"{family} ({gap.mean:.2f} off, {reading})")
    said = []
    if sides[True]:
        said.append(f"Within {ALIKE:g} of the printed shares on average: {_listed(sides[True])}")
    if sides[False]:
        # A fast run has both readings of FPA alone.
        both = " in either reading" if all(len(each) > 1 for each in found.values()) else ""
        said.append(f"Not reproduced{both}: {_listed(sides[False])}")
    return f"{'. '.join(said)}." if said else ""


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def best(cells: Sequence[Cell], row: str, epsilon: float, kind: str) -> tuple[str, Value] | None:
    """The classifier that recognises most of a row at one ε; None where nothing was asked.

    Args:
        cells: of a table.
        row: a method in a reading.
        epsilon: as printed.
        kind: ``by_protocol`` or ``leak_free``.
    """
    start = f"ε = {epsilon:g}, "
    values = [
        (cell.column.removeprefix(start), getattr(cell, kind))
        for cell in cells
        if cell.row == row and cell.column.startswith(start) and getattr(cell, kind) is not None
    ]
    return max(values, key=lambda one: one[1].mean, default=None)


def best_printed(cells: Sequence[Cell], row: str, epsilon: float) -> float:
    """The most that the paper has of a row at one ε."""
    start = f"ε = {epsilon:g}, "
    return max(
        cell.printed
        for cell in cells
        if cell.row == row and cell.column.startswith(start) and cell.printed is not None
    )


def noise_alone(
    cells: Sequence[Cell],
    nothing: Mapping[tuple[str, str], float],
    rows: Sequence[str],
    epsilon: float,
    chance: float,
    what: str,
    reason: str,
) -> str:
    """How many rows are recognised as well if all signals are zero, in words; empty if none is.

    Args:
        cells: of a table.
        nothing: by row and classifier, what is recognised if all signals are zero.
        rows: of which it is asked.
        epsilon: as printed.
        chance: what guessing gives.
        what: these rows are.
        reason: how noise can be recognised.
    """
    shares: dict[str, tuple[float, float]] = {}
    for row in rows:
        found = best(cells, row, epsilon, "by_protocol")
        if found is None or found[1].mean <= chance + ALIKE:
            continue
        zero = nothing[row, found[0]]
        if zero > found[1].mean - ALIKE:
            shares[row] = (found[1].mean, zero)
    if not shares:
        return ""
    row = max(shares, key=lambda one: shares[one])
    share, zero = shares[row]
    return (
        f"In {len(shares)} of {len(rows)} {what} at ε = {epsilon:g} as much is recognised if all "
        f"signals are zero (most in {row}: {share:.2f}; zero: {zero:.2f}): it is the noise, "
        f"{reason}."
    )


def limits(value: Value) -> str:
    """A mean with its limits."""
    if value.low is None or value.high is None:
        return f"{value.mean:.2f}"
    return f"{value.mean:.2f} ({value.low:.2f}–{value.high:.2f})"


def guessing(value: Value, chance: float) -> str:
    """What must be added where a share cannot be told from guessing."""
    guessed = value.low is not None and value.low <= chance
    return ", not told from guessing" if guessed else ""


def largest(cells: Sequence[Cell], chance: float) -> str:
    """The largest leak-free rate of all, beside the paper's number."""
    asked = [(cell.leak_free, cell) for cell in cells if cell.leak_free]
    if not asked:
        return ""
    leak_free, cell = max(asked, key=lambda one: one[0].mean)
    beside = "" if cell.printed is None else f" (printed {cell.printed:.2f})"
    return (
        f"The largest of {len(asked)} leak-free rates is {limits(leak_free)}, {cell.row}, "
        f"{cell.column}{beside}{guessing(leak_free, chance)}; chance {chance:.2f}."
    )


class Most(NamedTuple):
    """The largest of some leak-free rates.

    Attributes:
        value: the rate.
        who: method and attacker.
        rates: of how many it is the largest.
    """

    value: Value
    who: str
    rates: int


def most(cells: Sequence[Cell], epsilon: float, noisy_mean: bool) -> Most:
    """The largest leak-free rate at one ε in one reading.

    Args:
        cells: of methods.
        epsilon: as printed.
        noisy_mean: the reading.
    """
    start = f"ε = {epsilon:g}, "
    asked = [
        (cell.leak_free, f"{method.name}, {cell.column.removeprefix(start)}")
        for cell in cells
        for method in (Method.called(cell.row),)
        if cell.leak_free and cell.column.startswith(start) and method.noisy_mean == noisy_mean
    ]
    return Most(*max(asked, key=lambda one: one[0].mean), len(asked))


def nearness(source: Source, tables: Sequence[Exhibit]) -> Exhibit:
    """The distances of ours, by the paper's protocol, from what is printed.

    Args:
        source: the dataset.
        tables: that were done of it.
    """
    name = f"Distance from the paper, {source.name}"
    title = "How far ours by the paper's protocol is from the printed tables, in both readings"
    if source.simulated:
        return Exhibit(name, title, not_run="simulated participants are not the paper's")
    cells, near, wins = [], [], dict[str, int]()
    for table in tables:
        for family, readings in gaps(table.cells).items():
            row = f"{table.name}, {family}"
            for reading, gap in readings.items():
                cells.append(Cell(row, f"{reading}, on average", by_protocol=Value(gap.mean)))
                cells.append(Cell(row, f"{reading}, at most", by_protocol=Value(gap.largest)))
            reading, gap = nearer(readings)
            wins[reading] = wins.get(reading, 0) + 1
            if gap.mean <= ALIKE:
                near.append(row)
    count = sum(wins.values())
    counted = ", ".join(f"{times} times a {reading}" for reading, times in wins.items())
    which = f" ({'; '.join(near)})" if near else ""
    return Exhibit(
        name=name,
        title=title,
        says=f"Of {count} families of numbers {len(near)} come within {ALIKE:g} on average in the "
        f"nearer reading{which}; {count - len(near)} are not reproduced. Nearer is {counted}.",
        setting="Absolute differences over all ε, chunks and classifiers; small ones say little "
        "where everything is near guessing.",
        quantity="difference of shares",
        cells=tuple(cells),
        verdict=Verdict(),
    )
