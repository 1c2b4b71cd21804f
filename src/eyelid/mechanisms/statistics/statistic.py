"""What is asked of people's numbers, and how it is written.

``mean,sd;median:1`` are two parts with ε/2 each: the means and spreads of all entries, and the
median of the first. Entries are counted from 1; a share of ε stands behind ``@``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from eyelid.errors import InputError, unknown

_COLUMNS = {
    "mean": 1,
    "sd": 1,
    "higher": 1,
    "clipped": 1,
    "signed-rank": 1,
    "superiority": 1,
    "tau": 2,
    "median": 1,
    "quantile": 1,
    "histogram": 1,
    "slope": 2,
}
ALONE = ("median", "quantile", "histogram", "slope")
"""What is a part of its own."""
BETWEEN = "superiority"
"""What compares groups."""
_MOST_CELLS = 1000
_FINEST_LEVEL = 10_000


@dataclass(frozen=True)
class Statistic:
    """One number, or one choice, about some entries.

    Attributes:
        name: what it is.
        columns: which entries, from 0; none where it is about all of them at once.
        groups: which two groups it compares, from 0.
        level: of a quantile, between 0 and 1.
        cells: of a histogram.
    """

    name: str
    columns: tuple[int, ...] = ()
    groups: tuple[int, int] | None = None
    level: Fraction = Fraction(1, 2)
    cells: int = 0


@dataclass(frozen=True)
class Term:
    """A statistic as it was written: of one entry, or of all.

    Attributes:
        name: of the statistic.
        columns: from 0; none for all entries.
        level: of a quantile.
        cells: of a histogram.
    """

    name: str
    columns: tuple[int, ...] = ()
    level: Fraction = Fraction(1, 2)
    cells: int = 0

    @classmethod
    def parse(cls, text: str) -> Term:
        """``tau:1:2``, ``quantile:1:0.25``, ``histogram:3:12``, or the name alone.

        >>> Term.parse("quantile:2:0.9")
        Term(name='quantile', columns=(1,), level=Fraction(9, 10), cells=0)
        """
        name, *rest = (piece.strip() for piece in text.split(":"))
        if name not in _COLUMNS:
            raise unknown("statistic", name, _COLUMNS)
        wanted = _COLUMNS[name]
        extra = rest[wanted:]
        level, cells = Fraction(1, 2), 10 if name == "histogram" else 0
        if extra and name == "quantile" and len(extra) == 1:
            level = _number(text, extra[0])
        elif extra and name == "histogram" and len(extra) == 1:
            cells = _whole(text, extra[0])
        elif extra:
            raise InputError(f"'{text}' names too many entries: {name} is about {wanted}")
        if name == "quantile" and not extra:
            raise InputError(f"'{text}' needs a level behind the entry, such as quantile:1:0.25")
        if not 0 < level < 1:
            raise InputError(f"a quantile lies between 0 and 1, got {float(level):g}")
        if level.denominator > _FINEST_LEVEL:
            raise InputError(
                f"the level of a quantile has at most four digits, such as {float(level):.4g}, got "
                f"'{text}'"
            )
        if name == "histogram" and not 2 <= cells <= _MOST_CELLS:
            raise InputError(f"a histogram has 2 to {_MOST_CELLS} cells, got {cells}")
        for piece in rest[:wanted]:
            if any(letter.isalpha() for letter in piece):
                raise InputError(
                    f"'{text}' names an entry by '{piece}': entries are named by their numbers, "
                    "counted from 1 in the order of measures (of each its tasks, then contrasts), "
                    f"such as {':'.join([name, *map(str, range(1, wanted + 1))])}"
                )
        columns = tuple(_whole(text, piece) - 1 for piece in rest[:wanted])
        if columns and (min(columns) < 0 or len(columns) < wanted):
            raise InputError(f"'{text}' needs {wanted} of the entries, counted from 1")
        if len(set(columns)) < len(columns):
            raise InputError(f"'{text}' relates an entry to itself: name two")
        if wanted == 2 and not columns:
            raise InputError(f"'{text}' needs two entries, such as {name}:1:2")
        return cls(name, columns, level, cells)

    def expanded(self, entries: int, groups: int) -> tuple[Statistic, ...]:
        """The statistics that it stands for."""
        if self.columns and max(self.columns) >= entries:
            raise InputError(
                f"{self.name} is asked of entry {max(self.columns) + 1}, there are {entries}"
            )
        if self.name == BETWEEN and groups < 2:
            raise InputError("superiority compares two groups of people: say by which attribute")
        if self.name == "clipped" and not self.columns:
            return (Statistic("clipped"),)
        columns = [self.columns] if self.columns else [(j,) for j in range(entries)]
        pairs = list(combinations(range(groups), 2)) if self.name == BETWEEN else [None]
        return tuple(
            Statistic(self.name, which, pair, self.level, self.cells)
            for which in columns
            for pair in pairs
        )


@dataclass(frozen=True)
class Asked:
    """Terms that share a draw of noise, and their share of ε.

    Attributes:
        terms: as they were written.
        share: of ε.
    """

    terms: tuple[Term, ...]
    share: Fraction

    @property
    def between(self) -> bool:
        """Whether groups are compared."""
        return self.terms[0].name == BETWEEN

    @property
    def alone(self) -> bool:
        """Whether it is one choice or histogram, not sums in a box."""
        return self.terms[0].name in ALONE

    def statistics(self, entries: int, groups: int) -> tuple[Statistic, ...]:
        """All of them, in order."""
        found = [s for term in self.terms for s in term.expanded(entries, groups)]
        for one in found:
            if found.count(one) > 1:
                raise InputError(f"{one.name} of an entry can be asked for once in a part")
        return tuple(found)


def parse(text: str) -> tuple[Asked, ...]:
    """Parts as they are written.

    >>> [float(part.share) for part in parse("mean,sd@0.8;median:1;tau:1:2")]
    [0.8, 0.1, 0.1]
    """
    written = [piece.strip() for piece in text.split(";")]
    found: list[tuple[tuple[Term, ...], Fraction | None]] = []
    for piece in written:
        listed, at, share = piece.partition("@")
        terms = tuple(Term.parse(item.strip()) for item in listed.split(",") if item.strip())
        if not terms:
            raise InputError(f"no statistic in '{text}': name one, such as mean")
        names = {term.name for term in terms}
        apart = sorted(names & {*ALONE, BETWEEN})
        if apart and (len(names) > 1 or (apart[0] in ALONE and len(terms) > 1)):
            raise InputError(
                f"{apart[0]} is a part of its own, with a share of ε: write ';' between it and "
                f"others, such as 'mean;{apart[0]}{'' if apart[0] == BETWEEN else ':1'}'"
            )
        if apart and apart[0] in ALONE and not terms[0].columns:
            raise InputError(f"{apart[0]} is of one entry: name it, such as {apart[0]}:1")
        found.append((terms, _number(piece, share) if at else None))
    given = [share for _, share in found if share is not None]
    left, open_ones = 1 - sum(given, Fraction(0)), len(found) - len(given)
    if any(share <= 0 for share in given) or left < 0 or (open_ones > 0) != (left > 0):
        raise InputError(f"the shares of ε in '{text}' must be positive and add up to 1")
    return tuple(
        Asked(terms, left / open_ones if share is None else share) for terms, share in found
    )


def _number(text: str, piece: str) -> Fraction:
    """A number as it is written."""
    try:
        return Fraction(piece.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(f"'{piece}' in '{text}' is no number") from None


def _whole(text: str, piece: str) -> int:
    """A whole number as it is written."""
    found = _number(text, piece)
    if found.denominator != 1:
        raise InputError(f"'{piece}' in '{text}' must be a whole number")
    return int(found)
