"""What people look at: pages of text and pictures, the same for everybody.

Places are degrees from the top left corner of a screen of 44 by 26 degrees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.simulator.people import Traits

LINE_DEG = 1.1


class Region(NamedTuple):
    """A column of text, or a picture with something to see in its middle."""

    kind: str
    left: float
    top: float
    width: float
    height: float
    fixations: float = 0.0
    """How many a picture gets in one visit; text is read to its end."""


def _text(left: float, top: float, width: float, lines: int) -> Region:
    return Region("text", left, top, width, lines * LINE_DEG)


def _picture(left: float, top: float, width: float, height: float, fixations: float) -> Region:
    return Region("picture", left, top, width, height, fixations)


PANELS = [
    region
    for top in (2.0, 14.0)
    for left in (3.0, 16.0, 29.0)
    for region in (
        _text(left + 1.0, top + 0.5, 5.5, 3),
        _picture(left, top + 3.5, 12.0, 7.0, 7.0),
        _text(left + 6.0, top + 7.5, 5.0, 2),
    )
]
SPLASH = [
    _picture(4.0, 2.0, 36.0, 16.0, 30.0),
    _text(12.0, 19.0, 14.0, 4),
    _picture(4.0, 2.0, 36.0, 16.0, 20.0),
]
COLUMNS = [_text(left, 7.0, 8.0, 9) for left in (4.0, 13.5, 23.0, 32.5)]
PHOTO = [
    _picture(4.0, 2.0, 17.5, 11.0, 14.0),
    _text(4.0, 14.0, 8.0, 7),
    _text(13.5, 14.0, 8.0, 7),
    _text(24.0, 6.0, 12.0, 6),
]
PROSE = [_text(11.0, 5.0, 22.0, 11)]
FIGURE = [
    _text(11.0, 3.0, 22.0, 4),
    _picture(13.0, 8.5, 18.0, 8.0, 16.0),
    _text(11.0, 18.0, 22.0, 3),
    _picture(13.0, 8.5, 18.0, 8.0, 8.0),
]
BOX = [_text(8.0, 6.0, 13.0, 7), _text(23.0, 6.0, 13.0, 7)]
SCENE = [
    _picture(left, top, 8.0, 7.0, 3.0)
    for left, top in ((18, 8), (6, 5), (27, 12), (18, 8), (31, 3), (10, 16), (18, 8), (25, 17))
]


class Task(NamedTuple):
    """A document: its pages over and over, and how hard and how bright it is."""

    pages: list[list[Region]]
    fixation: float
    blinks: float
    pupil: float


TASKS = {
    "comic": Task([PANELS, PANELS, PHOTO, PANELS, SPLASH], 0.97, 1.1, 1.02),
    "newspaper": Task([COLUMNS, PHOTO, COLUMNS, BOX, PHOTO], 1.0, 1.0, 0.97),
    "textbook": Task([PROSE, FIGURE, BOX, PROSE, FIGURE], 1.06, 0.9, 1.0),
    "image": Task([SCENE], 1.15, 1.3, 1.0),
}


class Scanpath(NamedTuple):
    """Where the eye goes, one entry a fixation; pictures are looked at for longer than words."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    in_picture: NDArray[np.bool_]


def scanpath(task: Task, traits: Traits, count: int, rng: np.random.Generator) -> Scanpath:
    """The first fixations of a person going through a document from its start."""
    forward = 1.0 - 2.0 * traits.regression_share
    rounds = [region for page in task.pages for region in page]
    wanted = [_visit_length(region, traits, forward) for region in rounds]
    repeats = int(count / sum(wanted)) + 2
    mean = np.tile(wanted, repeats)
    visits = np.maximum(np.rint(rng.lognormal(np.log(mean), 0.2)).astype(np.intp), 1)
    region = np.resize(np.repeat(np.arange(len(visits)) % len(rounds), visits), count)

    left, top, width, height = (
        np.array([getattr(r, name) for r in rounds])[region]
        for name in ("left", "top", "width", "height")
    )
    in_picture = np.array([r.kind == "picture" for r in rounds])[region]
    begins = np.r_[True, region[1:] != region[:-1]]

    back = rng.random(count) < traits.regression_share
    # A gamma of shape 8 has the third of spread that forward saccades have (Rayner 1998).
    step = rng.gamma(8.0, traits.step_deg / 8.0, count)
    step = np.where(begins, 0.5, np.where(back, -0.7 * step, step))
    read = np.cumsum(step)
    start = np.maximum.accumulate(np.where(begins, np.arange(count), 0))
    read = np.maximum(read - read[start], 0.0)
    lines = np.maximum(height / LINE_DEG, 1.0).astype(np.intp)
    scatter = rng.normal(0.0, traits.landing_deg, (2, count))
    text_x = left + read % width + scatter[0]
    text_y = top + (np.floor(read / width) % lines + 0.5) * LINE_DEG + 0.5 * scatter[1]

    place = rng.normal(0.5, 0.22, (2, count)) % 1.0
    return Scanpath(
        np.where(in_picture, left + place[0] * width, text_x),
        np.where(in_picture, top + place[1] * height, text_y),
        in_picture,
    )


def _visit_length(region: Region, traits: Traits, forward: float) -> float:
    """How many fixations a visit takes on average."""
    if region.kind == "picture":
        return max(region.fixations * traits.picture_interest, 1.0)
    return region.width * region.height / LINE_DEG / (traits.step_deg * forward)
