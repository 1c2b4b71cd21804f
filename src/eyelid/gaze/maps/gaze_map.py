"""Gaze maps: how much people looked at each px of a picture, on average; raw, or private."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.maps.grid import Floats, Grid, counted
from eyelid.gaze.maps.looks import Looks, Weight, looks_in_blocks
from eyelid.gaze.maps.noise_peaks import noise_peak
from eyelid.gaze.maps.placement import Placement
from eyelid.gaze.maps.spread import spread, spread_error
from eyelid.gaze.study import Study

RELIABLE_ERRORS = 2.0
_WHOLE_PICTURE = Placement()


@dataclass(frozen=True, eq=False)
class GazeMap:
    """A map of one picture or stretch of time.

    Attributes:
        values: height × width, at least 0. Of counts, the weight of looks a px, mean over
            observers; of a heatmap, density a px.
        name: of the picture or stretch of time; empty if there is one only.
        people: how many observers.
        sigma_px: the point spread; None where counts are not spread out.
        error: standard error of ``measured`` at each px; None where nothing is private.
        measured: density before it was cut off at nothing: linear in what was measured, and
            negative here and there.
        sure_errors: farther from nothing than so many standard errors, at least two of them, noise
            alone is on at most 1 map of 20, wherever on it; None where that is not known.
    """

    values: Floats
    name: str
    people: int
    sigma_px: float | None = None
    error: Floats | None = None
    measured: Floats | None = None
    sure_errors: float | None = None

    @property
    def reliable(self) -> NDArray[np.bool_]:
        """Where there is more than two standard errors; everywhere in a map without noise."""
        return self.above(RELIABLE_ERRORS) > 0

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Where noise alone hardly ever reaches; nowhere if it is not known how far it does."""
        if self.sure_errors is None and self.error is not None:
            return np.zeros(self.values.shape, dtype=np.bool_)
        return self.above(self.sure_errors or RELIABLE_ERRORS) > 0

    def above(self, errors: float) -> Floats:
        """By how much it is above so many standard errors; without noise it is by 1 everywhere."""
        if self.error is None or self.measured is None:
            return np.ones(self.values.shape)
        return np.asarray(self.measured - errors * self.error)


def standing_out(gaze_map: GazeMap) -> tuple[int, int]:
    """How many places of a map stand out clearly, and how many more may be noise.

    A place is connected. Certain ones reach ``sure_errors``, the others two standard errors.
    """
    from scipy.ndimage import label

    touching = np.ones((3, 3))
    perhaps, places = label(gaze_map.reliable, touching)
    _, certain = label(gaze_map.certain, touching)
    return int(certain), int(places - np.unique(perhaps[gaze_map.certain]).size)


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
    source: Study | Looks,
    *,
    stimulus: str | None = None,
    size: tuple[int, int] | None = None,
    placement: Placement = _WHOLE_PICTURE,
    weight: Weight = "count",
    cap: float | None = None,
) -> GazeMap:
    """The mean over observers of how much each looked at each px: G of Liu et al. (2019).

    NOT private: whoever knows the others' maps subtracts them and has the last one's. For a map to
    share, use `eyelid heatmap` or a mechanism that holds.

    Args:
        source: a study of samples or fixations, or looks.
        stimulus: which one, or which layer of the looks; by default the only one.
        size: width and height of the picture in px; by default the screen's. Looks know theirs.
        placement: of the picture on the screen, for a study.
        weight: ``count`` or ``duration``, for a study; see `looks_of`.
        cap: the most that one observer counts at one px; by default there is none.

    >>> from eyelid.gaze.maps.looks import looks_from_arrays
    >>> touches = looks_from_arrays(["a", "a", "b"], [0, 0, 1], [0, 0, 0], size=(2, 1))
    >>> gaze_map(touches).values.tolist(), gaze_map(touches, cap=1).values.tolist()
    ([[1.0, 0.5]], [[0.5, 0.5]])
    """
    if isinstance(source, Looks):
        if stimulus is None and len(source.layers) > 1:
            raise InputError(
                f"the looks are at {len(source.layers)} pictures or stretches of time: name one of "
                f"{', '.join(source.layers[:5])}{', …' if len(source.layers) > 5 else ''}"
            )
        return mean_map([source if stimulus is None else source.of_layer(stimulus)], cap=cap)
    width_px, height_px = size or _screen_size(source, placement)
    blocks = looks_in_blocks(
        source,
        width_px=width_px,
        height_px=height_px,
        stimuli=None if stimulus is None else [stimulus],
        placement=placement,
        weight=weight,
    )
    return mean_map(blocks, cap=cap)


def mean_map(blocks: Iterable[Looks], *, cap: float | None = None) -> GazeMap:
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
    for looks in blocks:
        (name,) = looks.layers
        pixels = Grid.of_pixels(looks.width_px, looks.height_px)
        people += len(looks.people)
        total = np.zeros((pixels.rows, pixels.columns)) if total is None else total
        if total.shape != (pixels.rows, pixels.columns):
            raise InputError("all looks of a map must be at a picture of the same size")
        if cap is None:
            total += counted(pixels, looks.x_px, looks.y_px, looks.weight)
            continue
        counts = looks.counts(pixels)
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
    return GazeMap(values, name, people, sigma_px, error, measured, sure_errors)


def _screen_size(study: Study, placement: Placement) -> tuple[int, int]:
    screen = study.screen
    if screen is None or not (screen.width_px and screen.height_px):
        raise InputError(
            "the size of the picture is not known: give its width and height in px (size)"
        )
    if placement != _WHOLE_PICTURE:
        raise InputError("a picture that is placed on the screen needs its own size: give it")
    return screen.width_px, screen.height_px
