"""Released results of a study, with their certificate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from eyelid.display import Displayed, facts, pandas_frame
from eyelid.mechanisms.certificate import Certificate
from eyelid.reporting.statistics.tables import rows_of, shown_columns
from eyelid.spelling import Table, on_terminal, plural

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_ROWS = 30


@dataclass(frozen=True, eq=False, repr=False)
class Results(Displayed):
    """Private results with their certificate.

    Attributes:
        frame: one row a result: measure, task, group, statistic, estimate, low, high (95%),
            noise_sd, people, unit, p, note.
        certificate: what holds.
        path: where it was written, if it was.
        notes: what the owner of the data should know.
    """

    frame: pl.DataFrame
    certificate: Certificate
    path: Path | None = None
    notes: tuple[str, ...] = ()

    def to_pandas(self) -> pd.DataFrame:
        """The results as a frame of pandas, which has to be installed."""
        return pandas_frame(self.frame)

    def in_short(self) -> Table:
        """How many there are, and what is promised."""
        promised = self.certificate.person_level
        return facts(
            {
                "results": plural(self.frame.height, "result"),
                "of": ", ".join(self.frame["measure"].unique(maintain_order=True)),
                "people": self.certificate.people,
                "one person": promised.numbers() if promised.holds else "no valid guarantee",
                "path": "" if self.path is None else self.path.name,
            },
            f"Results by {self.certificate.mechanism}",
        )

    def __repr__(self) -> str:
        """The facts, and the results below."""
        columns = shown_columns(self.frame)
        rows = [columns, *rows_of(self.frame, columns)]
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(n) for cell, n in zip(row, wide, strict=True)).rstrip()
            for row in rows[: _MOST_ROWS + 1]
        ]
        left = len(rows) - len(lines)
        more = [f"… and {plural(left, 'row')} more: `.frame`"] if left else []
        return "\n".join([super().__repr__(), "", *map(on_terminal, lines), *more])

    def _repr_html_(self) -> str:
        """The facts, and the results below."""
        return f"{super()._repr_html_()}{self.frame._repr_html_()}"

    def plot(self, ax: Axes | None = None) -> Axes | Figure:
        """The figure; of the first measure alone where axes are given.

        Args:
            ax: axes to draw on.
        """
        from eyelid.reporting.statistics.figure import draw_panel, draw_results, panels_of

        if ax is None:
            return draw_results(self.frame)
        draw_panel(ax, panels_of(self.frame)[0])
        return ax

    @cached_property
    def methods(self) -> str:
        """The paragraph about methods."""
        from eyelid.reporting.statistics.methods import methods

        return methods(self.certificate)
