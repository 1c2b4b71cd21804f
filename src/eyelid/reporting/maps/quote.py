"""What a price of a map or of tables of areas buys, as figures, a table and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.maps.aoi_tables import AoiTables, AreaFacts
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.reporting.maps.page import guarantee_legend
from eyelid.reporting.maps.reliability import Reliability, reliability, tables_sentence
from eyelid.reporting.quote import Offer, Quote
from eyelid.reporting.sentences import promise_lines
from eyelid.spelling import Table, plural


class _PictureOffer(Offer):
    """What maps and tables of areas have in common: pictures that share a budget."""

    def public(self) -> dict[str, Any]:
        """The public facts, as ``eyelid cost --json`` prints them."""
        return {"people": self.facts.people, "layers": self.facts.recordings}

    def figures(self) -> dict[str, Any] | None:
        """What is public of a map, as ``eyelid cost --json`` prints it; None of tables."""
        return None

    def to_dict(self, quote: Quote[Any]) -> dict[str, Any]:
        """What ``eyelid cost --json`` prints of maps, besides what all releases have."""
        return {
            "map": self.figures(),
            "advantage_bound": quote.advantage_bound,
            "says": self.says,
        }

    def size(self) -> Iterator[tuple[str, str]]:
        """How large a map is and what it is clipped to, row by row of the table."""
        yield from ()

    def rows(self, quote: Quote[Any]) -> Iterator[tuple[str, str]]:
        """The table of ``eyelid cost``, row by row."""
        layers = plural(self.facts.recordings, "map")
        yield "mechanism", self.mechanism.name
        yield "assumed", f"{plural(self.facts.people, 'person', 'people')}, {layers}"
        yield from self.size()
        yield "for one person, in total", quote.guarantee.numbers()
        yield "noise", self.mechanism.sampler(self.facts)
        bound = quote.advantage_bound
        words = "no bound known" if bound is None else f"at most {bound:.3g}"
        yield "advantage in membership inference", words

    def lines(self, quote: Quote[Any], *, assumed: bool) -> Iterator[str | Table]:
        """What ``eyelid cost`` prints below its table.

        Args:
            quote: that this is a part of.
            assumed: whether there is no study.
        """
        if quote.guarantee.holds:
            yield guarantee_legend(quote.guarantee, self.facts.people)
        else:
            yield from promise_lines(quote.guarantee)
        yield self.says


@dataclass(frozen=True)
class MapOffer(_PictureOffer):
    """Maps that could be released.

    Attributes:
        mechanism: with its parameters.
        facts: the public facts.
        sigma_px: of the point spread.
    """

    mechanism: MapMechanism
    facts: MapFacts
    sigma_px: float

    @property
    def grid(self) -> Grid:
        """The cells that are measured."""
        return self.facts.grid

    @property
    def reliability(self) -> Reliability | None:
        """What could be trusted of a map, as far as that can be said."""
        return reliability(self.mechanism, self.facts, self.sigma_px)

    @property
    def says(self) -> str:
        """What the maps would be worth, in words."""
        if self.reliability is None:
            return "What lies within two standard errors of the noise may be noise alone."
        return self.reliability.sentence

    def figures(self) -> dict[str, Any]:
        """What is public of a map, as ``eyelid cost --json`` prints it."""
        grid, trusted = self.grid, self.reliability
        return {
            "width_px": grid.width_px,
            "height_px": grid.height_px,
            "sigma_px": self.sigma_px,
            "grid": [grid.columns, grid.rows],
            "clip": self.mechanism.clip_at(self.facts),
            "cell_sd": self.mechanism.cell_sd(self.facts),
            "reliability": None if trusted is None else trusted.to_dict(),
        }

    def size(self) -> Iterator[tuple[str, str]]:
        """How large a map is and what it is clipped to, row by row of the table."""
        grid, clip = self.grid, self.mechanism.clip_at(self.facts)
        cell = " × ".join(f"{length:.0f}" for length in grid.cell_px)
        yield "picture", f"{grid.width_px} × {grid.height_px} px"
        yield "grid", f"{grid.columns} × {grid.rows} cells of {cell} px"
        yield "point spread", f"{self.sigma_px:.3g} px"
        if clip is not None:
            yield "a person's shares of gaze", f"clipped to a length of {clip:.3g}"


@dataclass(frozen=True)
class AreaOffer(_PictureOffer):
    """Tables over areas of interest that could be released.

    Attributes:
        mechanism: with its parameters.
        facts: the public facts.
    """

    mechanism: AoiTables
    facts: AreaFacts

    @property
    def says(self) -> str:
        """What the tables would be worth, in words."""
        return tables_sentence(self.mechanism, self.facts)
