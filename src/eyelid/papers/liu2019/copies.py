"""Whom 50,000 copies of five people protect, and what noise for the people there are leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

import numpy as np

from eyelid.attacks.maps import centre_bias, map_error
from eyelid.engine.cores import parallel
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.spread import shares, spread_error
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.papers.liu2019.heatmaps import AT, CROWD, DELTA, EPSILONS, built, heat_of
from eyelid.papers.liu2019.observers import FEW, TIMES, Observers
from eyelid.papers.liu2019.protocols import HEATMAPS, PEOPLE
from eyelid.papers.page import shown
from eyelid.papers.reproduction import Cell, Exhibit, Value, Verdict
from eyelid.privacy.noise import gaussian_noise, randomness
from eyelid.reporting.maps.figures import experiment

COPIES = f"Theorem 3.4 for n = {CROWD:,}"
"""The row of those who are copied."""

SOUND_COPIES = f"map-gaussian for n = {CROWD:,}"
"""The row of copies under the noise of a mechanism with a valid guarantee, which is far less."""

SOUND_COPY = f"{SOUND_COPIES}, one copy replaced"
"""The row of what that mechanism hides, as its guarantee has it."""

ALLOWED = "the most that (ε, δ) allows"
"""The row of what a guarantee for a person would keep to."""

PAPER, OURS = "map-gaussian-paper", "map-grid"
COLUMNS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""How many cells across: the grids to which gaze maps are down-sampled."""

# Heatmaps are compared at every few px, far denser than the point spread.
_STEP = 4
_MOST_DRAWS = 10


def on_pixels(people: int) -> str:
    """The row of Theorem 3.4 for so many observers, on pixels."""
    return f"{people} observers, Theorem 3.4 on pixels"


def down_sampled(people: int) -> str:
    """The row of Theorem 3.4 for so many observers, on the coarser grid that does best."""
    return f"{people} observers, Theorem 3.4 down-sampled"


def on_grid(people: int) -> str:
    """The row of map-grid for so many observers."""
    return f"{people} observers, map-grid"


def blob_for(people: int) -> str:
    """The row of a blob that costs nothing."""
    return f"{people} observers, a public blob in the middle"


ROWS = (on_pixels, down_sampled, on_grid, blob_for)
"""The rows of a group of observers, in order."""


def without_copies(observers: Observers, repeats: int, seed: int) -> Exhibit:
    """Figure 3 of the people there are."""
    draws = min(max(2, repeats), _MOST_DRAWS)
    everybody = len(observers.pictures[0].people)
    groups = tuple(dict.fromkeys((FEW, everybody)))

    def measured(item: tuple[int, int]) -> dict[tuple[str, float], float]:
        people, number = item
        points = observers.pictures[number].of_people(0, people)
        table = experiment(
            points.counts,
            *observers.size,
            people,
            observers.sigma_px,
            epsilons=EPSILONS,
            draws=draws,
            mechanisms=(PAPER, OURS),
            delta=DELTA,
            noise=randomness(np.random.default_rng([seed, people, number])),
        )
        columns = table.select("mechanism", "epsilon", "correlation_mean").iter_rows()
        found = {(name, epsilon): value for name, epsilon, value in columns}
        rng = np.random.default_rng([seed, people, number, 1])
        for across in COLUMNS:
            coarse = likeness_down_sampled(points, observers, across, draws, rng)
            found |= {(str(across), epsilon): value for epsilon, value in coarse.items()}
        return found | {("blob", 0.0): _blob(points, observers)}

    items = [(people, number) for people in groups for number in range(len(observers.pictures))]
    done = dict(zip(items, parallel(measured, items, "drawing noise"), strict=True))
    cells, best = [], {}
    for people in groups:
        mine = [found for (of, _), found in done.items() if of == people]
        blob = Value.of_runs([found["blob", 0.0] for found in mine])
        for epsilon in EPSILONS:
            theirs, ours = (_value(mine, name, epsilon) for name in (PAPER, OURS))
            coarse = max(
                (_value(mine, str(across), epsilon) for across in COLUMNS),
                key=lambda value: value.mean,
            )
            column = f"ε = {epsilon:g}"
            cells += [
                Cell(on_pixels(people), column, by_protocol=theirs),
                Cell(down_sampled(people), column, by_protocol=coarse),
                Cell(on_grid(people), column, leak_free=ours),
                Cell(blob_for(people), column, leak_free=blob),
            ]
            best[people, epsilon] = theirs.mean, coarse.mean, ours.mean, blob.mean
    theirs_at, coarse_at, ours_at, blob_at = best[everybody, 1.5]
    # Those of the last group, which is everybody.
    beaten = [f"{epsilon:g}" for epsilon in EPSILONS if _tells_more(mine, epsilon)]
    return Exhibit(
        name="Figure 3, without the copies",
        title="correlation when n is the number of people there are",
        says=(
            f"With noise for the {everybody} people there are, Theorem 3.4 leaves a correlation of "
            f"{shown(theirs_at, 2)} at {AT} on pixels and {shown(coarse_at, 2)} down-sampled as "
            f"the paper advises; shares in coarse cells (map-grid) leave {shown(ours_at, 2)}. A "
            "blob in the middle of the picture, which costs nothing, has "
            f"{shown(blob_at, 2)}: "
            + (
                f"map-grid clearly tells more than that at ε = {', '.join(beaten)}."
                if beaten
                else "at these ε map-grid does not clearly tell more than that."
            )
        ),
        protocol=PEOPLE.name,
        verdict=Verdict(),
        setting=f"Means over {len(observers.pictures)} pictures of {draws} draws each, ± over "
        "pictures.",
        quantity="correlation with the heatmap without noise",
        leak_free_words="ours, or public",
        cells=tuple(sorted(cells, key=lambda cell: _order(cell, groups))),
        headline=(on_grid(everybody), AT),
    )


def _tells_more(found: Sequence[dict[tuple[str, float], float]], epsilon: float) -> bool:
    """Whether map-grid beats the blob by more than two standard errors over pictures."""
    more = [one[OURS, epsilon] - one["blob", 0.0] for one in found]
    return fmean(more) > 2 * stdev(more) / math.sqrt(len(more))


def _order(cell: Cell, groups: Sequence[int]) -> int:
    rows = [row(people) for people in groups for row in ROWS]
    return rows.index(cell.row)


def _value(found: Sequence[dict[tuple[str, float], float]], name: str, epsilon: float) -> Value:
    return Value.of_runs([one[name, epsilon] for one in found])


def likeness_down_sampled(
    points: GazePoints, observers: Observers, across: int, draws: int, rng: np.random.Generator
) -> dict[float, float]:
    """Correlation of Theorem 3.4's map on a coarse grid with the heatmap, on average, by ε.

    Args:
        points: gaze points of the people there are.
        observers: whose, for the size of the picture and the point spread.
        across: cells across the picture.
        draws: of the noise.
        rng: where they come from.
    """
    width_px, height_px = observers.size
    grid = Grid(width_px, height_px, across, max(1, round(across * height_px / width_px)))
    people = len(points.people)
    counts = points.counts(grid)
    summed = np.bincount(counts.cell, np.minimum(counts.count, 1.0), counts.cells)
    down, right = (part[::_STEP] for part in shares(grid, observers.sigma_px))

    def seen(cells: Floats) -> Floats:
        return np.asarray(down @ cells.reshape(grid.rows, grid.columns) @ right.T)

    truth = heat_of(gaze_map(points).values, observers)[::_STEP, ::_STEP]
    signal = seen(summed / people)
    error = spread_error(grid, observers.sigma_px, 1.0)[::_STEP, ::_STEP]
    found: dict[float, list[float]] = {epsilon: [] for epsilon in EPSILONS}
    for _ in range(draws):
        noise = seen(gaussian_noise(1.0, (grid.cells,), rng)) - error
        for epsilon in EPSILONS:
            sd = built(PAPER, epsilon).cell_sd(MapFacts.of(people, 1, grid))
            heat = np.maximum(signal + sd * noise, 0.0)
            found[epsilon].append(map_error(truth, heat).correlation or 0.0)
    return {epsilon: fmean(values) for epsilon, values in found.items()}


def _blob(points: GazePoints, observers: Observers) -> float:
    truth = heat_of(gaze_map(points).values, observers)[::_STEP, ::_STEP]
    return map_error(truth, centre_bias(*observers.size)[::_STEP, ::_STEP]).correlation or 0.0


def whom_copies_protect(observers: Observers) -> Exhibit:
    """Who was in it: told by the likelihood ratio, when one copy is replaced and when a person."""
    from scipy.sparse import csr_array
    from scipy.special import ndtr

    counts = observers.pictures[0].counts(Grid.of_pixels(*observers.size))

    def apart(values: Floats) -> list[float]:
        """Between each of the five and each of the others who might have been there instead."""
        maps = csr_array((values, (counts.person, counts.cell)), (counts.people, counts.cells))
        products = (maps @ maps.T).toarray()
        own = np.diag(products)
        squares = own[:FEW, None] + own[FEW:] - 2 * products[:FEW, FEW:]
        return [float(length) for length in np.sqrt(np.maximum(squares, 0.0)).ravel()]

    def right(copies: int, people: int, sd: float, away: list[float]) -> Value:
        rates = [float(ndtr(copies * each / people / sd / 2)) for each in away]
        return Value(fmean(rates), float(np.std(rates, ddof=1)))

    cells = []
    for epsilon in EPSILONS:
        paper, sound = built(PAPER, epsilon), built("map-gaussian", epsilon)
        assert isinstance(sound, CappedMap)
        facts, few_facts = (sound.facts_of(n, 1, *observers.size) for n in (CROWD, FEW))
        capped, limited = apart(np.minimum(counts.count, 1.0)), apart(sound.limited(counts, facts))
        column = f"ε = {epsilon:g}"
        noise = paper.cell_sd(paper.facts_of(CROWD, 1, *observers.size))
        one_copy, person = (right(copies, CROWD, noise, capped) for copies in (1, TIMES))
        cells.append(Cell(COPIES, column, by_protocol=one_copy, leak_free=person))
        for row, copies in ((SOUND_COPY, 1), (SOUND_COPIES, TIMES)):
            told = right(copies, CROWD, sound.cell_sd(facts), limited)
            cells.append(Cell(row, column, leak_free=told))
        most = 0.5 + (math.expm1(epsilon) + 2 * DELTA) / (2 * (math.exp(epsilon) + 1))
        few = right(1, FEW, sound.cell_sd(few_facts), limited)
        cells += [
            Cell(f"map-gaussian for n = {FEW}", column, leak_free=few),
            Cell(ALLOWED, column, leak_free=Value(most)),
        ]
    at = {cell.row: cell for cell in cells if cell.column == AT}
    copy_told, person_told = at[COPIES].ours
    (sound_told,) = at[SOUND_COPIES].numbers
    (allowed,) = at[ALLOWED].numbers
    return Exhibit(
        name="Whom the copies protect",
        title="right answers to: which of two people was one of the five?",
        says=(
            f"The paper calls its {CROWD:,} observers simulated, and they are: copies of {FEW} "
            f"people. If one copy is replaced, as the accounting has it, the noisy map at {AT} "
            f"tells it in {100 * copy_told:.1f}% of cases. If one of the five is, all "
            f"{TIMES:,} copies change and it tells in {100 * person_told:.1f}%, where "
            f"{100 * allowed:.0f}% are allowed. With the smaller noise of map-gaussian for "
            f"{CROWD:,} it is {100 * sound_told:.1f}%: a mechanism protects those whom it counts. "
            f"The figures show what {CROWD:,} people would get, and nothing that could be "
            "published of five."
        ),
        protocol=HEATMAPS.name,
        verdict=Verdict(),
        setting="By the paper's protocol, and where a row says so, one copy is another person's. "
        "Else one of the five is another person, and so are all copies; in the row for n = "
        f"{FEW} the noise is for the five. By the likelihood ratio of the noisy map, exactly; ± "
        "over pairs of people.",
        quantity="share of right answers",
        leak_free_words="ours, exact",
        cells=tuple(cells),
        chance=0.5,
        digits=3,
        headline=(COPIES, AT),
    )
