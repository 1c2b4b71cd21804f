"""How far gaze is off: what calibration leaves, found by laying a recording on everybody else's.

Where a tracker's error is a person's own and lasts it names them, and filters leave it in the mean.
Who looks at a page looks at the same words and pictures as others: the map of a recording's gaze is
moved until it fits the map of all other people who saw the same, and how far it was moved is the
offset, without any knowledge of areas. Maps of the raw recordings are laid on each other in rounds
first, or each would be blurred by the others' offsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.events import gaze_of, lost_in
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable

NAME = "calibration offset"

Floats = NDArray[np.float64]

# Cells of a map, across and down; offsets are found to about a tenth of a cell.
_CELLS = 128
# Nobody is farther off than this share of what everybody looked at.
_FARTHEST = 0.25
_ROUNDS = 10
_BLUR_CELLS = 1.0
_FEWEST_SAMPLES = 50


@dataclass(frozen=True, eq=False)
class _Looked:
    """Seen gaze of one recording, and what it was of."""

    person: str
    recording: str
    task: str
    stimulus: str
    x: Floats
    y: Floats

    @property
    def page(self) -> str:
        """What was looked at: the stimulus where it is named, or else the task."""
        return self.stimulus or self.task


@dataclass(frozen=True, eq=False)
class Pages:
    """Maps of what people looked at, one a person and page, laid on each other.

    Attributes:
        corner: where maps begin, across and down.
        cell: width and height of a cell, in units of gaze.
        maps: for each page, of each person who saw it.
    """

    corner: Floats
    cell: Floats
    maps: dict[str, dict[str, Floats]]

    @classmethod
    def of(cls, study: Study) -> Pages:
        """The pages of a raw study of samples.

        Args:
            study: of samples.
        """
        looked = list(_looked(study))
        if not looked:
            raise InputError("no recording has enough gaze to find how far it is off")
        ends = [
            np.quantile(np.concatenate([getattr(one, axis) for one in looked]), (0.01, 0.99))
            for axis in "xy"
        ]
        low, high = np.array(ends).T
        size = np.maximum(high - low, 1e-9)
        # Room on all sides, since maps are moved round and round.
        pages = cls(low - _FARTHEST * size, (1 + 2 * _FARTHEST) * size / _CELLS, {})
        for page in dict.fromkeys(one.page for one in looked):
            seen = [one for one in looked if one.page == page]
            pages.maps[page] = pages._laid([(one.person, pages._map(one)) for one in seen])
        return pages

    def offset(self, looked: _Looked) -> Floats | None:
        """How far gaze is off from others' on the same page; None where nobody else saw it."""
        others = [
            map for person, map in self.maps.get(looked.page, {}).items() if person != looked.person
        ]
        if not others:
            return None
        return _shift(self._map(looked), np.sum(others, axis=0)) * self.cell

    def _map(self, looked: _Looked) -> Floats:
        """Where gaze was, blurred a little; long looks count by their root."""
        from scipy.ndimage import gaussian_filter

        places = [
            (values - corner) / cell
            for values, corner, cell in zip(
                (looked.x, looked.y), self.corner, self.cell, strict=True
            )
        ]
        edges = np.arange(_CELLS + 1, dtype=np.float64)
        counts, _, _ = np.histogram2d(places[0], places[1], bins=(edges, edges))
        map = gaussian_filter(np.sqrt(counts), _BLUR_CELLS)
        return np.asarray(map / (np.linalg.norm(map) or 1.0))

    def _laid(self, maps: list[tuple[str, Floats]]) -> dict[str, Floats]:
        """The maps of one page by person, each moved onto the others in rounds."""
        moved = [map for _, map in maps]
        for _ in range(_ROUNDS if len(maps) > 1 else 0):
            total = np.sum(moved, axis=0)
            moved = [
                _moved(map, -_shift(map, total - now))
                for (_, map), now in zip(maps, moved, strict=True)
            ]
        found: dict[str, Floats] = {}
        for (person, _), map in zip(maps, moved, strict=True):
            found[person] = found.get(person, 0.0) + map
        return found


def offsets(study: Study, pages: Pages) -> FeatureTable:
    """How far gaze is off in each recording, as features: a row a recording.

    Args:
        study: of samples, raw or released.
        pages: of the raw study, of which each person's own are left out for them.
    """
    rows = []
    for looked in _looked(study):
        offset = pages.offset(looked)
        if offset is not None:
            keys = (looked.person, looked.recording, looked.task, looked.stimulus, 0.0)
            rows.append((*keys, *offset.tolist()))
    if not rows:
        raise InputError("no two people looked at the same: nothing says how far gaze is off")
    texts, numbers = ("person", "recording", "task", "stimulus"), ("time_ms", "across", "down")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    far = [float(size) for size in _FARTHEST * pages.cell * _CELLS]
    features = tuple(
        Feature(name, study.units or "deg", "how far gaze is off", -most, most)
        for name, most in zip(numbers[1:], far, strict=True)
    )
    data = pl.DataFrame(rows, schema=schema, orient="row")
    return FeatureTable(data, features, study.people, released=study.released)


def _looked(study: Study) -> Iterator[_Looked]:
    for one, _ in gaze_of(study):
        seen = ~lost_in(one)
        if seen.sum() >= _FEWEST_SAMPLES:
            x, y = one["x"][seen], one["y"][seen]
            yield _Looked(one.person, one.recording, one.task or "", one.stimulus or "", x, y)


def _shift(map: Floats, onto: Floats) -> Floats:
    """How far a map lies from another, in cells, to a part of one."""
    fitting = np.fft.irfft2(np.fft.rfft2(map) * np.conj(np.fft.rfft2(onto)), s=map.shape)
    far = int(_FARTHEST * _CELLS)
    near = np.r_[np.arange(far + 1), np.arange(-far, 0)]
    allowed = np.full(map.shape, -np.inf)
    allowed[np.ix_(near, near)] = fitting[np.ix_(near, near)]
    best = np.unravel_index(int(np.argmax(allowed)), map.shape)
    return np.array([_peak(fitting, best, axis) for axis in (0, 1)])


def _peak(fitting: Floats, best: tuple[np.intp, ...], axis: int) -> float:
    """Where a parabola through the best cell and its neighbours is highest, along an axis."""
    line = np.take(fitting, int(best[1 - axis]), axis=1 - axis)
    at, size = int(best[axis]), len(line)
    before, here, after = line[(at - 1) % size], line[at], line[(at + 1) % size]
    bend = before - 2 * here + after
    part = 0.5 * (before - after) / bend if bend < 0 else 0.0
    return float((at + size // 2) % size - size // 2 + np.clip(part, -0.5, 0.5))


def _moved(map: Floats, cells: Floats) -> Floats:
    from scipy.ndimage import shift

    return np.asarray(shift(map, cells, order=1))
