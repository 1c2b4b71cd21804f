"""All measures of how like one set of recordings is to another, in one value."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from eyelid.display import Framed
from eyelid.gaze.quality.events import QUANTITIES, event_distances
from eyelid.gaze.quality.places import place_scores
from eyelid.gaze.quality.rest import spectrum_differences
from eyelid.gaze.study import Study
from eyelid.spelling import Table


@dataclass(frozen=True, eq=False, repr=False)
class GazeQuality(Framed):
    """Other recordings beside those of the original people.

    Attributes:
        events: distances of event distributions, see `event_distances`.
        rest: differences of spectra, see `spectrum_differences`.
        places: scores of maps, see `place_scores`.
    """

    events: pl.DataFrame
    rest: pl.DataFrame
    places: pl.DataFrame

    @property
    def farthest(self) -> float | None:
        """The largest distance of an event distribution, in distances of two halves of people."""
        ratio: float | None = self.events["ratio"].max()  # type: ignore[assignment]
        return ratio

    @property
    def loudest_db(self) -> float | None:
        """The largest difference of spectra in any band, in decibels."""
        difference: float | None = self.rest["difference_db"].abs().max()  # type: ignore[assignment]
        return difference

    @property
    def frame(self) -> pl.DataFrame:
        """One row a figure: measure, task, of what, value, and the scale that people give it."""
        text, number = pl.String, pl.Float64
        rest = self.rest.group_by("task", maintain_order=True).agg(
            pl.col("difference_db").abs().max()
        )
        rows = [
            *(
                ("event", row["task"], row["quantity"], row["distance"], row["halves"])
                for row in self.events.iter_rows(named=True)
            ),
            *(
                ("spectrum", row["task"], "largest difference in dB", row["difference_db"], None)
                for row in rest.iter_rows(named=True)
            ),
            *(
                (f"map {name}", row["task"], row["stimulus"], row[name], row[f"halves_{name}"])
                for row in self.places.iter_rows(named=True)
                for name in ("cc", "nss", "auc")
            ),
        ]
        schema = {"measure": text, "task": text, "of": text, "value": number, "halves": number}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def in_short(self) -> Table:
        """The worst of each kind of figure."""

        def told(value: float | None, unit: str) -> str:
            return "none" if value is None else f"{value:.2f} {unit}"

        worst = self.events.drop_nulls("ratio").sort("ratio", descending=True).head(1)
        of = f" ({QUANTITIES[worst['quantity'][0]]})" if len(worst) else ""
        rows = [
            ("events, farthest", told(self.farthest, "times as far as halves of people") + of),
            ("spectra, farthest", told(self.loudest_db, "dB")),
        ]
        if len(self.places):
            mean = self.places.select(pl.col("cc", "halves_cc").mean()).row(0)
            rows.append(("maps, correlation", f"{mean[0]:.2f} (halves of people {mean[1]:.2f})"))
        return Table("Quality of gaze", ("what", "value"), rows)


def gaze_quality(original: Study, other: Study, *, seed: int = 0) -> GazeQuality:
    """How like other recordings are to those of the original people, in numbers.

    It looks at the original people's data and protects none of them: results are for their owner.

    Args:
        original: of samples.
        other: of samples, with tasks and stimuli of the same names.
        seed: of the halves of people that are compared.

    >>> from eyelid.gaze.simulator import simulate
    >>> some, others = (simulate(6, ("image",), minutes=0.5, seed=seed) for seed in (1, 2))
    >>> gaze_quality(some, others).farthest < 4
    True
    """
    return GazeQuality(
        event_distances(original, other, seed=seed),
        spectrum_differences(original, other),
        place_scores(original, other, seed=seed),
    )
