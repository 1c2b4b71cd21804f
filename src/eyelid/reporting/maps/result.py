"""Released maps, and tables over areas of interest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl
from numpy.typing import NDArray

from eyelid.display import Framed, facts
from eyelid.errors import InputError, unknown
from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.reporting.maps.reliability import Reliability
from eyelid.spelling import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedMaps(Framed):
    """Private maps, and tables over areas.

    Attributes:
        maps: one a picture or stretch of time; of two groups the first group's, then the second's.
        areas: tables over areas of interest; None without them.
        reliability: what hotspots can be trusted; None without maps.
        says: what can be trusted of maps and tables, in sentences.
        arrays: what map.npz has.
    """

    maps: tuple[GazeMap, ...]
    areas: pl.DataFrame | None = None
    reliability: Reliability | None = None
    says: tuple[str, ...] = ()
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def frame(self) -> pl.DataFrame:
        """The tables over areas; without them each map's px, one a row."""
        if self.areas is not None:
            return self.areas
        return pl.concat(each.frame for each in self.maps)

    def plot(self, ax: Axes | None = None, *, of: str | None = None, caption: bool = False) -> Axes:
        """One of the maps.

        Args:
            ax: where to draw; fresh axes by default, in the sizes of a paper.
            of: the map's name; the first by default.
            caption: whether to write below what is shown.
        """
        named = {each.name: each for each in self.maps}
        if not named:
            raise InputError("only tables of areas were released, and no map: see .areas")
        name = next(iter(named)) if of is None else of
        if name not in named:
            raise unknown("map", name, named)
        return named[name].plot(ax, caption=caption)

    def in_short(self) -> Table:
        """What there is."""
        wide = self.maps[0].values.shape if self.maps else None
        return facts(
            {
                "maps": ", ".join(each.name or "one" for each in self.maps[:6]),
                "size": wide and f"{wide[1]} × {wide[0]} px",
                "areas": None if self.areas is None else f"{self.areas.height} rows",
                "to trust": " ".join(self.says),
            },
            "Released maps",
        )
