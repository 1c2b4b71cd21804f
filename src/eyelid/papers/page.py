"""A reproduction as files: a page to read, and the same numbers for machines."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from typing import Any

from eyelid.engine.atomic import new_folder
from eyelid.io.csv_cells import csv_text
from eyelid.papers.reproduction import LEAK_FREE, Cell, Exhibit, Reproduction, Value, to_dict
from eyelid.spelling import json_text

WORDS = {
    "printed": "printed",
    "by_protocol": "ours, paper’s protocol",
    "leak_free": LEAK_FREE,
}
"""Whose number it is, in words."""

# Nearer to the printed number than this share of it is as good as the same.
_NEAR = 0.1
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-4, 1e6
# From here on nobody wants digits behind the point.
_COUNTED = 1000.0
# A lower limit that is less than so much of the upper one is shown as 0.
_NOTHING = 1e-3
# In points: a picture beyond this is drawn for the whole width of a page.
_WIDE = 420.0


def write_reproduction(done: Reproduction, out: Path) -> None:
    """Write report.html, reproduction.json, numbers.csv and the pictures into a new folder."""
    with new_folder(out) as folder:
        (folder / "report.html").write_text(page(done), encoding="utf-8")
        text = json_text(to_dict(done))
        (folder / "reproduction.json").write_text(text, encoding="utf-8")
        _write_numbers(done, folder / "numbers.csv")
        for exhibit in done.exhibits:
            for name, picture in exhibit.pictures.items():
                (folder / f"{name}.svg").write_text(str(picture), encoding="utf-8")


def page(done: Reproduction) -> str:
    """The whole page, with nothing outside of it."""
    from eyelid.reporting.rendering import rendered
    from eyelid.version import build

    return rendered(
        "paper.html.j2",
        done=done,
        # What is printed stands there even where it could not be run.
        run=[one for one in done.exhibits if one.cells or not one.not_run],
        not_run=[one for one in done.exhibits if one.not_run and not one.cells],
        tables={one.name: _Table.of(one) for one in done.exhibits},
        shown=shown,
        wide=_wide,
        near=_NEAR,
        took=duration(done.seconds),
        cores=cpu_count(),
        named={one.name: number for number, one in enumerate(done.protocols, 1)},
        heads=list(dict.fromkeys(head for one in done.datasets for head in one.printed)),
        version=build(),
    )


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(8.4), duration(192.0), duration(7330.0)
    ('8 s', '3 min 12 s', '2 h 02 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {left:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def shown(value: float | None, digits: int) -> str:
    """A number with so many digits, as it stands in tables; a dash for none.

    >>> shown(0.9349, 2), shown(0.00082, 2), shown(1234.5, 2), shown(-8.944e-8, 3)
    ('0.93', '0.0008', '1,234', '−8.94e−08')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value and not _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        text = f"{value:.2e}"
    elif value and not float(f"{value:.{digits}f}"):
        # It would be 0, which it is not.
        text = f"{value:.1g}"
    else:
        text = f"{value:,.{digits if abs(value) < _COUNTED else 0}f}"
    return text.replace("-", "−")


def as_printed(value: float | None, digits: int) -> str:
    """A paper's number without digits that it does not print; a dash for none.

    >>> as_printed(0.0986, 6), as_printed(0.5, 2), as_printed(1.0, 3)
    ('0.0986', '0.50', '1.00')
    """
    if value is None:
        return shown(None, digits)
    own = len(f"{value:.10f}".rstrip("0").partition(".")[2])
    return shown(value, min(digits, max(own, 2)))


def _wide(picture: str) -> bool:
    """Whether a picture was drawn wider than a column."""
    found = re.search(r'viewBox="\S+ \S+ ([\d.]+)', picture)
    return found is not None and float(found[1]) > _WIDE


@dataclass(frozen=True)
class _Entry:
    """One number of a table.

    Attributes:
        text: the number.
        detail: its spread or limits, in small letters.
        far: an arrow if it lies far above or below the printed one.
        inferred: how it was come by, if the paper does not print it.
    """

    text: str
    detail: str = ""
    far: str = ""
    inferred: str = ""

    @classmethod
    def of(cls, whose: str, cell: Cell | None, exhibit: Exhibit) -> _Entry:
        found = None if cell is None else getattr(cell, whose)
        if cell is None or found is None:
            return cls("")
        digits = exhibit.digits
        if not isinstance(found, Value):
            return cls(as_printed(found, digits), inferred=cell.inferred)
        # One noisy run cannot tell by how much it is off, whatever its limits over people, nor can
        # this machine's clock.
        several = found.spread is not None or (found.low is not None and found.runs is None)
        tells = several or not exhibit.measured
        far = _far(cell.printed, found) if tells and not exhibit.timed else ""
        return cls(shown(found.mean, digits), _detail(found, digits), far)


@dataclass(frozen=True)
class _Line:
    """The numbers of one row by one of three: the paper, ours by its protocol, ours leak-free."""

    whose: str
    words: str
    entries: tuple[_Entry, ...]


@dataclass(frozen=True)
class _Table:
    """An exhibit as a person reads it.

    Attributes:
        heads: those of the three who have any number here, each with its words.
        rows: the name of each row, and its lines.
    """

    heads: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[_Line, ...]], ...]

    @classmethod
    def of(cls, exhibit: Exhibit) -> _Table:
        cells = {(cell.row, cell.column): cell for cell in exhibit.cells}
        columns = exhibit.columns
        words = WORDS | {"leak_free": exhibit.leak_free_words}

        def lines(row: str, whose: tuple[str, ...]) -> tuple[_Line, ...]:
            made = [
                _Line(one, words[one], tuple(entry(one, row, column) for column in columns))
                for one in whose
            ]
            # One column is laid out across, where every row needs all three.
            across = len(columns) == 1
            return tuple(line for line in made if across or any(e.text for e in line.entries))

        def entry(one: str, row: str, column: str) -> _Entry:
            return _Entry.of(one, cells.get((row, column)), exhibit)

        whose = tuple(
            one for one in WORDS if any(getattr(cell, one) is not None for cell in exhibit.cells)
        )
        heads = tuple((one, words[one]) for one in whose)
        return cls(heads, tuple((row, lines(row, whose)) for row in exhibit.rows))


def _detail(value: Value, digits: int) -> str:
    """Spread over runs, limits over people, or both."""
    parts = []
    if value.spread is not None:
        least = 10.0 ** -(digits + 1)
        small = 0 < value.spread < least
        parts.append(f"± {shown(value.spread, digits)}" if not small else f"± < {least:g}")
    if value.low is not None and value.high is not None:
        # Limits are no finer than what they are about.
        fine = abs(value.mean) < 10.0**-digits
        least = value.high * _NOTHING
        limits = (
            (limit if abs(limit) > least else 0.0) if fine else round(limit, digits)
            for limit in (value.low, value.high)
        )
        parts.append(" to ".join(shown(limit, digits) for limit in limits))
    return ", ".join(parts)


def _far(printed: float | None, value: Value) -> str:
    """An arrow where the printed number is farther off than a tenth of it, and not by chance.

    By chance: within the limits over people, or within the 95% limits of the mean over runs.
    """
    if printed is None or not math.isfinite(value.mean):
        return ""
    if value.low is not None and value.high is not None and value.low <= printed <= value.high:
        return ""
    away = value.mean - printed
    if abs(away) <= max(_NEAR * abs(printed), _limit_of_mean(value)):
        return ""
    return "▲" if away > 0 else "▼"


def _limit_of_mean(value: Value) -> float:
    """Half the width of the 95% interval of a mean over noisy runs; 0 where nothing is drawn."""
    if value.spread is None:
        return 0.0
    if value.runs is None:
        return 2 * value.spread
    from scipy.special import stdtrit

    return float(stdtrit(value.runs - 1, 0.975)) * value.spread / math.sqrt(value.runs)


def _write_numbers(done: Reproduction, path: Path) -> None:
    """One row a cell, each with whose data it is of: a row may be taken out of its file."""
    import polars as pl

    run_on = f"simulated ({done.data.name})" if done.data.simulated else done.data.name

    def data_of(exhibit: Exhibit) -> str:
        return exhibit.data or (run_on if exhibit.measured else "none: theory")

    def numbers(whose: str, value: Value | None) -> dict[str, float | None]:
        fields = ("mean", "spread", "low", "high")
        return {f"{whose}_{name}": getattr(value, name, None) for name in fields}

    rows: list[dict[str, Any]] = [
        {"exhibit": exhibit.name, "row": cell.row, "column": cell.column}
        | {"data": data_of(exhibit), "inferred": cell.inferred or None, "printed": cell.printed}
        | numbers("by_protocol", cell.by_protocol)
        | numbers("leak_free", cell.leak_free)
        for exhibit in done.exhibits
        for cell in exhibit.cells
    ]
    words = ("exhibit", "row", "column", "data", "inferred")
    schema = dict.fromkeys(words, pl.String) | dict.fromkeys(
        ("printed", *numbers("by_protocol", None), *numbers("leak_free", None)), pl.Float64
    )
    path.write_text(csv_text(pl.DataFrame(rows, schema=schema)), encoding="utf-8", newline="")
