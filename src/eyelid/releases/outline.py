"""A feature table without its rows: all that a plan, a certificate and a card need to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.table import FeatureTable


@dataclass(frozen=True, eq=False)
class Outline(FeatureTable):
    """What is known of a table whose rows are elsewhere; ``data`` has its columns, and no row.

    Attributes:
        known: what `recordings` of the table with its rows would be.
        known_blank: likewise of `blank`.
    """

    known: pl.DataFrame = field(kw_only=True)
    known_blank: NDArray[np.bool_] = field(kw_only=True)

    @cached_property
    def recordings(self) -> pl.DataFrame:
        """As known; of what a mechanism puts in the place of the rows, its own."""
        return self.known if self.data.is_empty() else super().recordings

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        """As known; of what a mechanism puts in the place of the rows, its own."""
        return self.known_blank if self.data.is_empty() else super().blank


def outline_of(
    part: FeatureTable,
    recordings: Sequence[pl.DataFrame],
    blank: Sequence[NDArray[np.bool_]],
) -> Outline:
    """The outline of a table, from any part of it.

    Args:
        part: with everything but some of the rows.
        recordings: of all parts, in order.
        blank: which of them have no value, likewise.
    """
    return Outline(
        data=part.data.clear(),
        features=part.features,
        people=part.people,
        step_ms=part.step_ms,
        window_ms=part.window_ms,
        planned_rows=part.planned_rows,
        origin=part.origin,
        simulated=part.simulated,
        released=part.released,
        chosen=part.chosen,
        known=pl.concat(recordings),
        known_blank=np.concatenate(blank),
    )
