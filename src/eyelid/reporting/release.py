"""What was released, with its certificate: the same value for every kind of release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from eyelid.display import Framed, facts
from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.reporting.maps.page import guarantee_legend
from eyelid.reporting.maps.result import ReleasedMaps
from eyelid.reporting.sentences import in_all
from eyelid.reporting.statistics.results import Results
from eyelid.spelling import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Data = FeatureTable | Study | ReleasedMaps | Results


@dataclass(frozen=True, eq=False, repr=False)
class Release(Framed):
    """Private data with its certificate.

    Attributes:
        certificate: what holds.
        worth: what is left to see in it, in a sentence or a few.
        rows: how much there is of it, in a few words: rows or samples, what became of those of the
            people, and the groups; for the owner's eyes.
        path: where it was written, if it was.
        notes: what readers of the recordings, and those who share the release, should know.
        held: what was released, where it was not written, and always of maps and results.
        standard_errors: of means, the standard deviation of the noise on each, in the unit of its
            feature; the error due to noise alone, and not how far other people's mean would be.
        for_owner: about the raw data: for their owner alone.
    """

    certificate: Certificate
    worth: str
    rows: str
    path: Path | None = None
    notes: tuple[str, ...] = ()
    held: Data | None = None
    standard_errors: pl.DataFrame | None = None
    for_owner: tuple[str, ...] = ()

    @cached_property
    def data(self) -> Data:
        """What was released: features, samples of gaze, or maps; read when first asked for."""
        if self.held is not None:
            return self.held
        assert self.path is not None, "what is not held was written"
        if self.certificate.described.kind in (ReleaseKind.SAMPLES, ReleaseKind.SYNTHETIC_GAZE):
            return read(self.path)
        return FeatureTable.of(study_folder.read_study(self.path))

    @property
    def table(self) -> FeatureTable:
        """The released features."""
        if isinstance(self.data, FeatureTable):
            return self.data
        raise InputError(f"this release has no table of features: see {_door(self.data)}")

    @property
    def study(self) -> Study:
        """The released samples of gaze."""
        if isinstance(self.data, Study):
            return self.data
        raise InputError(f"this release has no samples of gaze: see {_door(self.data)}")

    @property
    def heatmaps(self) -> ReleasedMaps:
        """The released maps, and tables over areas."""
        if isinstance(self.data, ReleasedMaps):
            return self.data
        raise InputError(f"this release has no maps: see {_door(self.data)}")

    @property
    def results(self) -> Results:
        """The released results of a study."""
        if isinstance(self.data, Results):
            return self.data
        raise InputError(f"this release has no results: see {_door(self.data)}")

    @property
    def maps(self) -> tuple[GazeMap, ...]:
        """The released maps, one a picture or stretch of time."""
        return self.heatmaps.maps

    @property
    def areas(self) -> pl.DataFrame | None:
        """The released tables over areas of interest; None without them."""
        return self.heatmaps.areas

    @property
    def protects(self) -> str:
        """Whom maps protect, as their pictures say."""
        return guarantee_legend(self.certificate.person_level, self.certificate.people)

    @property
    def frame(self) -> pl.DataFrame:
        """The released rows."""
        return self.data.frame

    def plot(self, ax: Axes | None = None, *, of: str | None = None, caption: bool = False) -> Axes:
        """What was released: a feature of every record over time, gaze, or a heatmap.

        Args:
            ax: where to draw; fresh axes by default, in the sizes of a paper.
            of: a feature by its name, a person whose gaze, or a map by its name; the first by
                default.
            caption: whether to write below what a person is promised.
        """
        from eyelid.reporting.release_picture import draw_release

        return draw_release(self, ax, of=of, caption=caption)

    def in_short(self) -> Table:
        """What was released, and what is promised."""
        certificate = self.certificate
        promised, person = certificate.guarantee, certificate.person_level
        broken = "" if promised.holds else "no valid guarantee"
        return facts(
            [
                ("data", f"{_door(self.data)}: {self.rows}"),
                ("people", certificate.people),
                (f"one {promised.unit}", broken or promised.numbers()),
                ("one person", "" if promised.unit == person.unit else person.numbers()),
                ("in all", in_all(certificate)),
                ("utility", self.worth),
                ("path", "" if self.path is None else self.path.name),
            ],
            f"Release by {certificate.mechanism}",
        )


def _door(data: Data) -> str:
    """Where what was released is found."""
    doors = {
        FeatureTable: ".table",
        Study: ".study",
        ReleasedMaps: ".heatmaps",
        Results: ".results",
    }
    return doors[type(data)]
