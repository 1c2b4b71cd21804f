"""Which reading of the methods comes nearer to the printed tables, and whether it comes near."""

from __future__ import annotations

from collections.abc import Sequence

from eyelid.papers.bozkir2021.sentences import ALIKE, gaps, nearer
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Cell, Exhibit, Value


def nearness(source: Source, tables: Sequence[Exhibit]) -> Exhibit:
    """The distances of ours, by the paper's protocol, from what is printed.

    Args:
        source: the dataset.
        tables: that were done of it.
    """
    name = f"Distance from the paper, {source.name}"
    title = "How far ours by the paper's protocol is from the printed tables, in both readings"
    if source.simulated:
        return Exhibit(name, title, not_run="people are made up: theirs cannot be the paper's")
    cells, near, wins = [], [], dict[str, int]()
    for table in tables:
        for family, readings in gaps(table.cells).items():
            row = f"{table.name}, {family}"
            for reading, gap in readings.items():
                cells.append(Cell(row, f"{reading}, on average", as_printed=Value(gap.mean)))
                cells.append(Cell(row, f"{reading}, at most", as_printed=Value(gap.largest)))
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
        protocol="absolute differences over all ε, chunks and classifiers; small ones say little "
        "where everything is near guessing",
        cells=tuple(cells),
    )
