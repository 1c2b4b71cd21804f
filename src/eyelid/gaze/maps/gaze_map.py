"""Gaze maps: how much people looked at each px of a picture, on average; raw, or private."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.display import Framed, facts
from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_points import GazePoints, Weight, gaze_points_in_blocks
from eyelid.gaze.maps.grid import Floats, Grid, counted
from eyelid.gaze.maps.noise_peaks import NOTHING, contrast_peak, noise_peak
from eyelid.gaze.maps.placement import Placement
from eyelid.gaze.maps.spread import shares, spread, spread_error
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Study
from eyelid.spelling import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RELIABLE_ERRORS = 2.0
_WHOLE_PICTURE = Placement()


@dataclass(frozen=True, eq=False)
class Contrast:
    """How far a map is above the average of its own page, which noise moves as well.

    Attributes:
        above: at each px what was measured, less what a page that is looked at evenly shows there.
        error: standard error of that: what a place and the average have in common is not in it.
        sure_errors: on a page that is looked at evenly, noise lifts a place higher than so many
            standard errors, at least two of them, on at most 1 map of 20, wherever on it.
    """

    above: Floats
    error: Floats
    sure_errors: float


@dataclass(frozen=True, eq=False, repr=False)
class GazeMap(Framed):
    """A map of one picture or stretch of time.

    Attributes:
        values: height × width, at least 0. Of counts, the weight of gaze points a px, mean over
            observers; of a heatmap, density a px.
        name: of the picture or stretch of time; empty if there is one only.
        people: how many observers.
        sigma_px: the point spread; None where counts are not spread out.
        error: standard error of ``measured`` at each px; None where nothing is private.
        measured: density before it was cut off at nothing: linear in what was measured, and
            negative here and there.
        sure_errors: farther from nothing than so many standard errors, at least two of them, noise
            alone is on at most 1 map of 20, wherever on it; None where that is not known.
        contrast: with the average of the page; None where a map is held against nothing, as the
            difference of two is.
    """

    values: Floats
    name: str
    people: int
    sigma_px: float | None = None
    error: Floats | None = None
    measured: Floats | None = None
    sure_errors: float | None = None
    contrast: Contrast | None = None

    @property
    def frame(self) -> pl.DataFrame:
        """One row a px, from the top left: ``map``, ``x_px``, ``y_px``, ``value``."""
        height, width = self.values.shape
        y_px, x_px = np.divmod(np.arange(height * width), width)
        values = {"x_px": x_px, "y_px": y_px, "value": self.values.reshape(-1)}
        return pl.DataFrame(values).select(pl.lit(self.name).alias("map"), pl.all())

    def in_short(self) -> Table:
        """Its size, and whether it is private."""
        height, width = self.values.shape
        return facts(
            {
                "of": self.name,
                "size": f"{width} × {height} px",
                "people": self.people,
                "point spread": self.sigma_px and f"{self.sigma_px:g} px",
                "noise": "none: NOT private"
                if self.error is None
                else f"yes; {self.reliable.mean():.0%} of it is above two standard errors",
            },
            "Heatmap" if self.sigma_px else "Gaze map",
        )

    def plot(self, ax: Axes | None = None, *, trusted: bool = True, caption: bool = False) -> Axes:
        """The map in colours; where it has noise, with a line around what can be trusted.

        Args:
            ax: where to draw; fresh axes by default, in the sizes of a paper.
            trusted: whether to draw the lines: solid around what clearly stands out, dashed around
                what may be noise.
            caption: whether to write below what is shown.
        """
        from eyelid.gaze.maps.picture import draw_map

        return draw_map(self, ax, trusted=trusted, caption=caption)

    @property
    def reliable(self) -> NDArray[np.bool_]:
        """Where there is more than two standard errors; everywhere in a map without noise."""
        return self.above(RELIABLE_ERRORS) > 0

    @property
    def perhaps(self) -> NDArray[np.bool_]:
        """Where it stands out by more than two standard errors, which noise alone does somewhere.

        See `standing_out_by`.
        """
        return self.standing_out_by(RELIABLE_ERRORS) > 0

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Where it stands out by more than noise alone hardly ever does; nowhere if unknown."""
        sure = self.certain_errors
        if sure is None:
            return np.zeros(self.values.shape, dtype=np.bool_)
        return self.standing_out_by(sure) > 0

    @property
    def certain_errors(self) -> float | None:
        """Standard errors that noise alone hardly ever rises by, anywhere; None if not known."""
        if self.contrast is not None:
            return self.contrast.sure_errors
        return RELIABLE_ERRORS if self.error is None else self.sure_errors

    def standing_out_by(self, errors: float) -> Floats:
        """Positive where a map stands out by so many standard errors, from what it is held against.

        That is the average of its page, and nothing at all of the difference of two maps. What
        stands out is above two standard errors of the noise as well.
        """
        if self.contrast is None:
            return self.above(errors)
        out = self.contrast.above - errors * self.contrast.error
        return np.asarray(np.minimum(out, self.above(RELIABLE_ERRORS)))

    def above(self, errors: float) -> Floats:
        """By how much it is above so many standard errors; without noise it is by 1 everywhere."""
        if self.error is None or self.measured is None:
            return np.ones(self.values.shape)
        return np.asarray(self.measured - errors * self.error)


def standing_out(gaze_map: GazeMap) -> tuple[int, int]:
    """How many places of a map stand out clearly, and how many more may be noise.

    A place is connected. All of them are two standard errors above the average of their page (of a
    difference: above nothing), and the clear ones ``certain_errors``.
    """
    from scipy.ndimage import label

    touching, sure = np.ones((3, 3)), gaze_map.certain
    perhaps, places = label(gaze_map.perhaps, touching)
    _, certain = label(sure, touching)
    return int(certain), int(places - np.unique(perhaps[sure]).size)


def difference_standing_out(first: GazeMap, second: GazeMap) -> tuple[int, int]:
    """In how many places two maps differ clearly, and in how many more perhaps by noise.

    Each place counts for the map that has more there.
    """
    more, less = difference(first, second), difference(second, first)
    certain, perhaps = zip(standing_out(more), standing_out(less), strict=True)
    return sum(certain), sum(perhaps)


def difference(first: GazeMap, second: GazeMap) -> GazeMap:
    """What was measured of one map less that of another: of different people, so errors add up.

    Its values are what is above nothing: where the first has more.
    """
    if first.values.shape != second.values.shape:
        (high, wide), (other_high, other_wide) = first.values.shape, second.values.shape
        raise InputError(
            f"the maps are {wide} × {high} and {other_wide} × {other_high} px: two maps are "
            "compared place by place, make both of one size"
        )
    one, other = (
        item.values if item.measured is None else item.measured for item in (first, second)
    )
    errors = [item.error for item in (first, second) if item.error is not None]
    sure = [item.sure_errors for item in (first, second) if item.sure_errors is not None]
    return GazeMap(
        values=np.maximum(one - other, 0.0),
        name=first.name,
        people=first.people + second.people,
        sigma_px=first.sigma_px,
        error=np.sqrt(np.sum(np.square(errors), axis=0)) if errors else np.zeros(one.shape),
        measured=one - other,
        # Noise of the same grid and point spread is correlated alike.
        sure_errors=max(sure, default=RELIABLE_ERRORS) if len(sure) == len(errors) else None,
    )


def gaze_map(
    source: Study | GazePoints,
    *,
    stimulus: str | None = None,
    size: tuple[int, int] | None = None,
    placement: Placement = _WHOLE_PICTURE,
    weight: Weight = "count",
    cap: float | None = None,
) -> GazeMap:
    """The mean over observers of how much each looked at each px: G of Liu et al. (2019).

    NOT private: an attacker who knows the others' maps subtracts them and has the last one's. For a
    map to share, use `eyelid heatmap` or a mechanism that holds.

    Args:
        source: a study of samples or fixations, or looks.
        stimulus: which one, or which layer of the gaze points; by default the only one.
        size: width and height of the picture in px; by default the screen's. Looks know theirs.
        placement: of the picture on the screen, for a study.
        weight: ``count`` or ``duration``, for a study; see `gaze_points_of`.
        cap: the most that one observer counts at one px; by default there is none.

    >>> from eyelid.gaze.maps.gaze_points import gaze_points_from_arrays
    >>> touches = gaze_points_from_arrays(["a", "a", "b"], [0, 0, 1], [0, 0, 0], size=(2, 1))
    >>> gaze_map(touches).values.tolist(), gaze_map(touches, cap=1).values.tolist()
    ([[1.0, 0.5]], [[0.5, 0.5]])
    """
    refuse_frame(source, "gaze_map", gaze=True)
    if isinstance(source, GazePoints):
        if stimulus is None and len(source.layers) > 1:
            raise InputError(
                f"the gaze points are at {len(source.layers)} pictures or stretches of time: name "
                f"one of {', '.join(source.layers[:5])}{', …' if len(source.layers) > 5 else ''}"
            )
        return mean_map([source if stimulus is None else source.of_layer(stimulus)], cap=cap)
    width_px, height_px = size or _screen_size(source, placement)
    blocks = gaze_points_in_blocks(
        source,
        width_px=width_px,
        height_px=height_px,
        stimuli=None if stimulus is None else [stimulus],
        placement=placement,
        weight=weight,
    )
    return mean_map(blocks, cap=cap)


def mean_map(blocks: Iterable[GazePoints], *, cap: float | None = None) -> GazeMap:
    """The gaze map of many people who come some at a time, each of them once; NOT private.

    What it needs does not grow with the number of blocks.

    Args:
        blocks: looks of disjoint people at one picture.
        cap: the most that one observer counts at one px; by default there is none.
    """
    if cap is not None and not cap > 0:
        raise InputError(f"the cap must be above 0, got {cap}")
    total: Floats | None = None
    people, name = 0, ""
    for points in blocks:
        (name,) = points.layers
        pixels = Grid.of_pixels(points.width_px, points.height_px)
        people += len(points.people)
        total = np.zeros((pixels.rows, pixels.columns)) if total is None else total
        if total.shape != (pixels.rows, pixels.columns):
            raise InputError("all gaze points of a map must be at a picture of the same size")
        if cap is None:
            total += counted(pixels, points.x_px, points.y_px, points.weight)
            continue
        counts = points.counts(pixels)
        np.add.at(total.reshape(-1), counts.cell, np.minimum(counts.count, cap))
    if total is None:
        raise InputError("a gaze map needs at least one observer, got none")
    return GazeMap(total / people, name, people)


def presented(
    cells: Floats,
    grid: Grid,
    sigma_px: float,
    cell_sd: float,
    name: str,
    people: int,
    *,
    laplace: bool = False,
) -> GazeMap:
    """The map made of what was measured in cells: further processing, which costs nothing.

    Spread out linearly; less one standard error, so that noise alone seldom shows; nothing where
    that is negative; then scaled to a total of 1. Where nothing at all is above its standard error
    the map is 0 throughout.

    Args:
        cells: rows × columns, noisy mean mass over people.
        grid: their grid.
        sigma_px: standard deviation of the point spread.
        cell_sd: standard deviation of the noise in each cell.
        name: of the picture or stretch of time.
        people: how many observers.
        laplace: the noise in cells is Laplace's, not Gaussian: single cells stand out more often.
    """
    measured = spread(cells, grid, sigma_px)
    error = spread_error(grid, sigma_px, cell_sd)
    values = np.maximum(measured - error, 0.0)
    total = float(values.sum())
    if total > 0:
        values /= total
    sure_errors = max(RELIABLE_ERRORS, noise_peak(grid, sigma_px, laplace=laplace))
    contrast = _contrast(cells, grid, sigma_px, cell_sd, measured, laplace=laplace)
    return GazeMap(values, name, people, sigma_px, error, measured, sure_errors, contrast)


def _contrast(
    cells: Floats, grid: Grid, sigma_px: float, cell_sd: float, measured: Floats, *, laplace: bool
) -> Contrast:
    """Measured density less that of a page whose cells all have the mean of what was measured.

    Both are linear in the cells: at a px with weights w of the n cells it is Σ(w − Σw/n)·cell, and
    its noise has the variance cell_sd²·(Σw² − (Σw)²/n).
    """
    down, across = shares(grid, sigma_px)
    even = np.outer(down.sum(axis=1), across.sum(axis=1))
    whole = np.outer(np.sum(down**2, axis=1), np.sum(across**2, axis=1))
    square = whole - even**2 / grid.cells
    # One cell is its own average, and so is what is spread out evenly over the page.
    tested = square > NOTHING * whole
    # Nobody looks less than not at all, whatever noise makes of the average.
    above = measured - max(0.0, float(cells.mean())) * even
    return Contrast(
        above=np.where(tested, above, 0.0),
        error=cell_sd * np.sqrt(np.where(tested, square, 0.0)),
        sure_errors=max(RELIABLE_ERRORS, contrast_peak(grid, sigma_px, laplace=laplace)),
    )


def _screen_size(study: Study, placement: Placement) -> tuple[int, int]:
    screen = study.screen
    if screen is None or not (screen.width_px and screen.height_px):
        raise InputError(
            "the size of the picture is not known: give its width and height in px (size)"
        )
    if placement != _WHOLE_PICTURE:
        raise InputError("a picture that is placed on the screen needs its own size: give it")
    return screen.width_px, screen.height_px
