"""Gaze maps: counting, blurring, exact noise, very many observers, and the choice of the cap.

The picture is that of the paper, 1680 × 1050 px. Points are made up: four hotspots of 60 px, a
fifth of them anywhere. Observers are five of OSIE, over and over as in the paper, or five simulated
ones where EYELID_DATA is not set.

``python -m benchmarks.maps OBSERVERS BLOCK`` counts so many, a block at a time, in a fresh process
and prints its figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Case, best_cpu_seconds, remark
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import mean_map
from eyelid.gaze.maps.gaze_points import GazePoints, gaze_points_from_arrays, gaze_points_of
from eyelid.gaze.maps.grid import Grid, counted
from eyelid.gaze.maps.spread import point_spread
from eyelid.io import read
from eyelid.papers.liu2019.caps import best_cap
from eyelid.papers.liu2019.complexity import algorithm_1
from eyelid.privacy.noise import gaussian_noise

WIDTH_PX, HEIGHT_PX = 1680, 1050
POINTS = 10_000_000
SIGMA_PX = 40.0
REPETITIONS = 9
OBSERVERS, FEW_OBSERVERS = 50_000, 5_000
REAL_OBSERVERS, BLOCK = 5, 500
LARGEST_COUNTS = (10, 100, 1000)
MOST_GROWTH = 1.5

Floats = NDArray[np.float64]


def scene(points: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Places where people might look."""
    spots = np.array([[400.0, 300.0], [1250.0, 280.0], [700.0, 700.0], [1300.0, 800.0]])
    places = spots[rng.integers(0, len(spots), points)] + rng.normal(0.0, 60.0, (points, 2))
    anywhere = rng.random(points) < 0.2
    places[anywhere] = rng.random((np.count_nonzero(anywhere), 2)) * [WIDTH_PX, HEIGHT_PX]
    return np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])


def cases() -> Iterator[Case]:
    """Each part of a heatmap beside what a script would use."""
    remark(f"maps: {POINTS:,} points, {WIDTH_PX} × {HEIGHT_PX} px")
    yield from _counting()
    yield _blur()
    yield _noise()
    yield _many_observers()
    yield from _caps()


def _counting() -> Iterator[Case]:
    x, y = scene(POINTS, np.random.default_rng(0))
    pixels = Grid.of_pixels(WIDTH_PX, HEIGHT_PX)
    cell = pixels.cell_of(x, y)
    cell = cell[cell >= 0]
    # In turn, so that a busy moment of the machine is nobody's disadvantage.
    rounds = [
        (
            best_cpu_seconds(lambda: counted(pixels, x, y), 1),
            best_cpu_seconds(lambda: np.bincount(cell, minlength=pixels.cells), 1),
        )
        for _ in range(REPETITIONS)
    ]
    ours, bincount = (min(seconds) for seconds in zip(*rounds, strict=True))
    size = ((0, HEIGHT_PX), (0, WIDTH_PX))
    histogram = best_cpu_seconds(
        lambda: np.histogram2d(y, x, bins=(HEIGHT_PX, WIDTH_PX), range=size), 2
    )
    name = "gaze map from points"
    yield Case(
        name,
        "s CPU",
        ours,
        "numpy.bincount of ready-made cells",
        bincount,
        "within 2 times of bincount",
        ours <= 2 * bincount,
        {"points_per_second": POINTS / ours},
    )
    yield Case(
        name,
        "s CPU",
        ours,
        "numpy.histogram2d",
        histogram,
        "at least 3 times faster",
        histogram >= 3 * ours,
    )


def _blur() -> Case:
    from scipy.ndimage import gaussian_filter

    pixels = Grid.of_pixels(WIDTH_PX, HEIGHT_PX)
    counts = counted(pixels, *scene(POINTS // 100, np.random.default_rng(1)))
    ours = best_cpu_seconds(lambda: point_spread(counts, SIGMA_PX), REPETITIONS)
    theirs = best_cpu_seconds(lambda: gaussian_filter(counts, SIGMA_PX, mode="constant"), 3)
    exact = gaussian_filter(counts, SIGMA_PX, mode="constant", truncate=8.0)
    return Case(
        f"heatmap, point spread {SIGMA_PX:g} px",
        "s CPU",
        ours,
        "scipy.ndimage.gaussian_filter",
        theirs,
        "at least 3 times faster",
        theirs >= 3 * ours,
        {
            "difference_of_peak": float(
                np.abs(point_spread(counts, SIGMA_PX) - exact).max() / exact.max()
            )
        },
    )


def _noise() -> Case:
    rng = np.random.default_rng(2)
    size = WIDTH_PX * HEIGHT_PX
    return Case(
        "exact Gaussian noise for the whole map",
        "s CPU",
        best_cpu_seconds(lambda: gaussian_noise(1 + 2.0**-32, size), 3),
        "numpy normal (floating point, not private)",
        best_cpu_seconds(lambda: rng.normal(0.0, 1.0, size), 3),
    )


def _many_observers() -> Case:
    many, few = _fresh(OBSERVERS, BLOCK), _fresh(FEW_OBSERVERS, BLOCK)
    return Case(
        f"gaze map of {OBSERVERS:,} observers, cap 1, peak of memory",
        "MB",
        many["peak_mb"],
        "the same with everybody's looks at once",
        _fresh(OBSERVERS, OBSERVERS)["peak_mb"],
        f"at most {MOST_GROWTH:g} times that of a tenth of the people",
        many["peak_mb"] <= MOST_GROWTH * few["peak_mb"],
        {"tenth_mb": few["peak_mb"], "seconds": many["seconds"]},
    )


def _fresh(observers: int, block: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.maps", str(observers), str(block)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def five_observers() -> GazePoints:
    """Looks at one picture: of OSIE, or made up."""
    data = os.environ.get("EYELID_DATA")
    folder = Path(data) / "OSIE" if data else None
    if folder is not None and folder.is_dir():
        osie = read(folder)
        people = osie.people["person"].to_list()[:REAL_OBSERVERS]
        image = osie.data["stimulus"][0]
        return gaze_points_of(osie, stimuli=[image], people=people, width_px=800, height_px=600)
    people = [f"p{number % REAL_OBSERVERS}" for number in range(30 * REAL_OBSERVERS)]
    x, y = scene(len(people), np.random.default_rng(3))
    return gaze_points_from_arrays(people, x, y, size=(WIDTH_PX, HEIGHT_PX))


def replicated(looks: GazePoints, observers: int, block: int) -> Iterator[GazePoints]:
    """The same people over and over, so many at a time."""
    own = len(looks.people)
    for first in range(0, observers, block):
        copies = min(block, observers - first) // own
        person = np.arange(copies)[:, None] * own + looks.person
        yield replace(
            looks,
            people=tuple(str(first + number) for number in range(copies * own)),
            person=person.ravel(),
            **{
                name: np.tile(getattr(looks, name), copies)
                for name in ("layer", "x_px", "y_px", "weight")
            },
        )


def figures(observers: int, block: int) -> dict[str, float]:
    """Seconds, and the most memory that arrays took at a time while people were counted."""
    five = five_observers()
    start = time.perf_counter()
    mean_map(replicated(five, observers, block), cap=1)
    seconds = time.perf_counter() - start
    # Not by the process's peak: what was read before would hide it.
    tracemalloc.start()
    mean_map(replicated(five, observers, block), cap=1)
    return {"seconds": seconds, "peak_mb": tracemalloc.get_traced_memory()[1] / 1e6}


def _caps() -> Iterator[Case]:
    rng = np.random.default_rng(4)
    people, cells, sigma_star = 20, 100 * 100, 0.01
    looked = rng.random((people, cells)) < 0.1
    seconds: dict[int, float] = {}
    for largest in LARGEST_COUNTS:
        maps = looked * rng.integers(1, largest + 1, looked.shape).astype(np.float64)
        counts = PersonCounts.of_dense(maps)
        ours = best_cpu_seconds(lambda counts=counts: best_cap(counts, sigma_star), REPETITIONS)
        loop = best_cpu_seconds(lambda maps=maps: algorithm_1(maps, sigma_star), 1)
        seconds[largest] = ours
        last = largest == LARGEST_COUNTS[-1]
        yield Case(
            f"choice of the cap, counts up to {largest}",
            "s CPU",
            ours,
            "Algorithm 1 as printed (numpy, one cap after the other)",
            loop,
            f"at most twice the time at {LARGEST_COUNTS[0]}" if last else None,
            ours <= 2 * seconds[LARGEST_COUNTS[0]] if last else None,
        )


if __name__ == "__main__":
    print(json.dumps(figures(int(sys.argv[1]), int(sys.argv[2]))))
