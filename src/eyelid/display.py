"""How results show themselves: a few lines as text, a small table in a notebook, and as a frame.

What a class says of itself is one `Table`: what it is as the title, and rows of what and value.
"""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from eyelid.errors import InputError
from eyelid.spelling import Table, on_page, on_terminal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_WIDE, _LINES, _MOST_ROWS = 100, 3, 8
_LONGEST = 1000


class Displayed(ABC):
    """A value that says in a few lines what it is."""

    @abstractmethod
    def in_short(self) -> Table:
        """What it is, and its few most important facts."""

    def __repr__(self) -> str:
        title, _, rows = self.in_short()
        facts = [
            (shortened(str(what), _WIDE // 3), str(value)) for what, value in rows[:_MOST_ROWS]
        ]
        wide = max((len(what) for what, _ in facts), default=0)
        lines = [
            textwrap.fill(
                on_terminal(value, _LONGEST),
                _WIDE,
                initial_indent=f"  {what:{wide}}  ",
                subsequent_indent=" " * (wide + 4),
                max_lines=_LINES,
                placeholder=" …",
            )
            for what, value in facts
        ]
        return "\n".join([on_terminal(title, _WIDE), *lines])

    def _repr_html_(self) -> str:
        """A small table, for notebooks."""
        title, _, rows = self.in_short()
        cells = "".join(
            f'<tr><th scope="row" style="text-align:left">{_html(what)}</th>'
            f'<td style="text-align:left">{_html(value)}</td></tr>'
            for what, value in rows[:_MOST_ROWS]
        )
        caption = f'<caption style="text-align:left"><b>{_html(title)}</b></caption>'
        return f"<table>{caption}<tbody>{cells}</tbody></table>"


class Framed(Displayed):
    """A value that also has a table, as a frame of polars or pandas."""

    @property
    @abstractmethod
    def frame(self) -> pl.DataFrame:
        """Its table."""

    def to_pandas(self) -> pd.DataFrame:
        """Its table as a frame of pandas, which has to be installed."""
        return pandas_frame(self.frame)


def shortened(text: str, most: int) -> str:
    """A text of at most so many letters.

    >>> shortened("a few words", 6)
    'a few…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _html(text: object) -> str:
    return escape(on_page(str(text)))


def facts(pairs: Mapping[str, Any] | Iterable[tuple[str, Any]], title: str) -> Table:
    """What a value says of itself: a title and facts, of which empty ones are left out.

    Args:
        pairs: what, and its value.
        title: what the value is.

    >>> facts({"people": 3, "stimuli": ""}, "Study of samples").rows
    [('people', 3)]
    """
    items = pairs.items() if isinstance(pairs, Mapping) else pairs
    rows = [(what, value) for what, value in items if value is not None and value != ""]
    return Table(title, ("what", "value"), rows)


def pandas_frame(frame: pl.DataFrame) -> pd.DataFrame:
    """A frame of pandas with the same columns; a missing value is what pandas has for it.

    Args:
        frame: of polars.
    """
    try:
        import pandas as pd
    except ImportError:
        raise InputError(
            "to_pandas() needs pandas: install it ('pip install pandas'), or use .frame, which is "
            "a frame of polars"
        ) from None
    # Polars' own way needs pyarrow besides, which eyelid does not.
    columns = {
        name: frame[name].to_list()
        if frame[name].dtype.is_nested() or not frame[name].dtype.is_numeric()
        else frame[name].to_numpy()
        for name in frame.columns
    }
    return pd.DataFrame(columns, columns=frame.columns)
