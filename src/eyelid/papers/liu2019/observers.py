"""Whose gaze the maps are of: participants of OSIE on the paper's screen, or simulated ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from eyelid.gaze.maps.gaze_points import GazePoints, gaze_points_from_arrays, gaze_points_of
from eyelid.gaze.maps.grid import Floats
from eyelid.gaze.maps.placement import default_sigma_px
from eyelid.gaze.simulator.scenes import simulated_scene
from eyelid.io import read
from eyelid.papers.datasets import find_datasets, where_looked
from eyelid.papers.liu2019.datasets import OSIE
from eyelid.papers.reproduction import Data

FEW, TIMES = 5, 10_000
"""The paper makes 50,000 observers of five."""

SCATTER = 0.15
"""How far simulated samples of a fixation lie apart, in point spreads (about a degree)."""

# The paper's gaze maps, and the pictures of OSIE.
_SIZE_PX, _OSIE_PX = (1680, 1050), (800, 600)
_PEOPLE, _FIXATION_MS = 15, 250.0
_OWN = (
    "the paper's own gaze maps of five observers on a portrait: of a dataset that it cites, which "
    "eyelid does not read"
)


@dataclass(frozen=True, eq=False)
class Observers:
    """Some participants on some pictures, all of one size.

    Attributes:
        pictures: fixations of everybody on each picture.
        durations_ms: of the fixations on the first picture.
        data: where they come from.
    """

    pictures: tuple[GazePoints, ...]
    durations_ms: Floats
    data: Data

    @property
    def few(self) -> GazePoints:
        """Five of them on the first picture, as the paper has."""
        return self.pictures[0].of_people(0, FEW)

    def samples(self, rate_hz: float, seed: int) -> GazePoints:
        """Simulated gaze samples of the five: as many as fixations lasted, scattered a little.

        The paper has samples, of which there are many more than fixations; how many it does not
        say.
        """
        rng, few = np.random.default_rng(seed), self.few
        many = np.maximum(1, np.rint(self.durations_ms[: few.person.size] * rate_hz / 1000))
        which = np.repeat(np.arange(few.person.size), many.astype(int))
        x_px, y_px = (
            axis[which] + rng.normal(0.0, SCATTER * self.sigma_px, which.size)
            for axis in (few.x_px, few.y_px)
        )
        names = [few.people[person] for person in few.person[which]]
        return gaze_points_from_arrays(names, x_px, y_px, size=self.size, everybody=few.people)

    @property
    def simulated(self) -> str:
        """What pictures say behind their titles where participants are simulated; else nothing."""
        return ", simulated people" * self.data.simulated

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of every picture, in px."""
        return self.pictures[0].width_px, self.pictures[0].height_px

    @property
    def sigma_px(self) -> float:
        """Standard deviation of the point spread that makes a heatmap of a gaze map."""
        return default_sigma_px(self.size[0])


def find_observers(data: Path | None, pictures: int, seed: int) -> Observers:
    """Participants of OSIE on pictures from all over the set; without it, simulated ones."""
    folder = find_datasets(data, [OSIE]).get(OSIE)
    width_px, height_px = _SIZE_PX
    if folder is None:
        scenes = tuple(
            simulated_scene(
                _PEOPLE,
                width_px=width_px,
                height_px=height_px,
                hotspot_sd_px=default_sigma_px(width_px),
                seed=seed + number,
            )
            for number in range(pictures)
        )
        words = (
            f"{_PEOPLE} simulated participants on {pictures} simulated pictures of {width_px} × "
            f"{height_px} px, 30 fixations each"
        )
        lasting = np.full(scenes[0].person.size, _FIXATION_MS)
        return Observers(
            scenes, lasting, Data("simulator", words, True, (where_looked(OSIE), _OWN))
        )
    study = read(folder)
    names = sorted(study.data["stimulus"].unique())
    chosen = [names[place] for place in np.linspace(0, len(names) - 1, pictures).astype(int)]
    points = gaze_points_of(study, stimuli=chosen, width_px=_OSIE_PX[0], height_px=_OSIE_PX[1])
    lasting = gaze_points_of(
        study,
        stimuli=chosen[:1],
        width_px=_OSIE_PX[0],
        height_px=_OSIE_PX[1],
        weight="duration",
    ).weight
    words = (
        f"fixations of {len(points.people)} participants on {pictures} of {len(names)} pictures "
        f"(Xu et al. 2014), shown as high as a screen of {width_px} × {height_px} px and in its "
        "middle"
    )
    pictures_of = tuple(_on_screen(points.of_layer(name)) for name in chosen)
    return Observers(pictures_of, lasting, Data(OSIE, words, False, (_OWN,)))


def _on_screen(points: GazePoints) -> GazePoints:
    """Gaze points where a picture fills the height of the paper's screen, in its middle."""
    width_px, height_px = _SIZE_PX
    scale = height_px / points.height_px
    left_px = (width_px - scale * points.width_px) / 2
    return replace(
        points,
        width_px=width_px,
        height_px=height_px,
        x_px=left_px + scale * points.x_px,
        y_px=scale * points.y_px,
    )
