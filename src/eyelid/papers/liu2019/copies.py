"""Whom 50 000 copies of five people protect, and what noise for the people there are leaves."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np

from eyelid.attacks.maps import centre_bias, map_error
from eyelid.engine.parallel import parallel
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.papers.liu2019.heatmaps import AT, CROWD, DELTA, EPSILONS, STEP, built, heat_of
from eyelid.papers.liu2019.observers import FEW, TIMES, Observers
from eyelid.papers.page import shown
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.privacy.noise import randomness
from eyelid.reporting.maps.figures import experiment

COPIES = f"Theorem 3.4 for N = {CROWD:,}"
"""The row of those who are copied."""

SOUND_COPIES = f"map-gaussian for N = {CROWD:,}"
"""The same with the noise of a sound mechanism, which is far less."""

ALLOWED = "the most that (ε, δ) allows"
"""The row of what a promise for a person would keep to."""
_SHOWN_ALIKE = ("map-gaussian-paper", "map-grid")


def without_copies(observers: Observers, repeats: int, seed: int) -> Exhibit:
    """Figure 3 of the people there are."""
    draws = max(2, repeats)
    everybody = len(observers.pictures[0].people)
    groups = tuple(dict.fromkeys((FEW, everybody)))

    def measured(item: tuple[int, int]) -> dict[tuple[str, float], float]:
        people, number = item
        table = experiment(
            observers.pictures[number].of_people(0, people).counts,
            *observers.size,
            people,
            observers.sigma_px,
            epsilons=EPSILONS,
            draws=draws,
            mechanisms=_SHOWN_ALIKE,
            delta=DELTA,
            noise=randomness(np.random.default_rng([seed, people, number])),
        )
        columns = table.select("mechanism", "epsilon", "correlation_mean").iter_rows()
        return {(name, epsilon): found for name, epsilon, found in columns}

    items = [(people, number) for people in groups for number in range(len(observers.pictures))]
    done = dict(zip(items, parallel(measured, items, "drawing noise"), strict=True))
    cells, best = [], {}
    for people in groups:
        mine = [found for (of, _), found in done.items() if of == people]
        blob = [_blob(looks.of_people(0, people), observers) for looks in observers.pictures]
        for epsilon in EPSILONS:
            theirs, ours = (
                Value.of_runs([found[name, epsilon] for found in mine]) for name in _SHOWN_ALIKE
            )
            column = f"ε = {epsilon:g}"
            cells.append(Cell(f"{people} observers", column, as_printed=theirs, honest=ours))
            best[people, epsilon] = theirs.mean, ours.mean, fmean(blob)
        for epsilon in EPSILONS:
            blobs = f"{people} observers: a public blob in the middle"
            cells.append(Cell(blobs, f"ε = {epsilon:g}", honest=Value.of_runs(blob)))
    theirs_at, ours_at, blob_at = best[everybody, 1.5]
    beaten = [f"{epsilon:g}" for epsilon in EPSILONS if best[everybody, epsilon][1] > blob_at]
    return Exhibit(
        name="Figure 3, without the copies",
        title="correlation when N is the number of people there are",
        says=(
            f"With noise for the {everybody} people there are, Theorem 3.4 leaves a correlation of "
            f"{shown(theirs_at, 2)} at ε = 1.5, and shares in coarse cells (map-grid) "
            f"{shown(ours_at, 2)}. A blob in the middle of the picture, which costs nothing, has "
            f"{shown(blob_at, 2)}: "
            + (
                f"on average map-grid tells more than that at ε = {', '.join(beaten)}."
                if beaten
                else "at these ε no private map of so few people tells more than that."
            )
        ),
        protocol=(
            "Theorem 3.4 with N as it is, δ as for 50 000, m = 1; less one standard error, "
            "without what is below 0, as map-grid is shown."
        ),
        honest_protocol=(
            f"map-grid, a guarantee for each person, at the same ε and δ. Means over "
            f"{len(observers.pictures)} pictures of {draws} draws each, ± over pictures."
        ),
        cells=tuple(cells),
    )


def _blob(looks: GazePoints, observers: Observers) -> float:
    truth = heat_of(gaze_map(looks).values, observers)
    return map_error(truth, centre_bias(*observers.size)[::STEP, ::STEP]).correlation or 0.0


def whom_copies_protect(observers: Observers) -> Exhibit:
    """Who was in it: told by the likelihood ratio, when one copy is replaced and when a person."""
    from scipy.special import ndtr

    looks = observers.pictures[0]
    grid = Grid.of_pixels(*observers.size)
    counts = looks.counts(grid)

    def apart(values: Floats) -> list[float]:
        """Between each of the five and each of the others who might have been there instead."""
        dense = np.zeros((counts.people, counts.cells))
        dense[counts.person, counts.cell] = values
        return [
            float(np.linalg.norm(dense[one] - dense[other]))
            for one in range(FEW)
            for other in range(FEW, counts.people)
        ]

    def right(copies: int, people: int, noise: float, away: list[float]) -> Value:
        return Value.of_runs([float(ndtr(copies * each / people / noise / 2)) for each in away])

    cells = []
    for epsilon in EPSILONS:
        mechanism, sound = built("map-gaussian-paper", epsilon), built("map-gaussian", epsilon)
        assert isinstance(sound, CappedMap)
        facts, few_facts = (sound.facts_of(n, 1, *observers.size) for n in (CROWD, FEW))
        capped, limited = apart(np.minimum(counts.count, 1.0)), apart(sound.limited(counts, facts))
        column = f"ε = {epsilon:g}"
        for row, noise, away in (
            (COPIES, mechanism.cell_sd(mechanism.facts_of(CROWD, 1, *observers.size)), capped),
            (SOUND_COPIES, sound.cell_sd(facts), limited),
        ):
            one_copy, person = (right(copies, CROWD, noise, away) for copies in (1, TIMES))
            cells.append(Cell(row, column, as_printed=one_copy, honest=person))
        most = 0.5 + (math.expm1(epsilon) + 2 * DELTA) / (2 * (math.exp(epsilon) + 1))
        few = right(1, FEW, sound.cell_sd(few_facts), limited)
        cells += [
            Cell(f"map-gaussian for N = {FEW}", column, honest=few),
            Cell(ALLOWED, column, honest=Value(most)),
        ]
    at = {cell.row: cell for cell in cells if cell.column == AT}
    copy_told, person_told = at[COPIES].ours
    _, sound_told = at[SOUND_COPIES].ours
    (allowed,) = at[ALLOWED].numbers
    return Exhibit(
        name="Whom the copies protect",
        title="right answers to: which of two people was one of the five?",
        says=(
            f"{CROWD:,} copies of {FEW} people are {FEW} people. If one copy is replaced, as the "
            f"accounting has it, the noisy map at ε = 1.5 tells it in {100 * copy_told:.1f} % of "
            f"cases; if one of the five who were recorded is, all {TIMES:,} copies change and it "
            f"tells in {100 * person_told:.1f} %, where {100 * allowed:.0f} % are allowed. With "
            f"the smaller noise of map-gaussian for {CROWD:,} it is {100 * sound_told:.1f} %: a "
            "sound mechanism protects those whom it counts, and copies are not counted as one. "
            "The figures show what 50 000 people would get, and nothing that could be published "
            "of five."
        ),
        protocol="One of 50 000 copies is another person's.",
        honest_protocol=(
            "One of the five is another person, and so are all copies; and, below, noise for the "
            "five there are. By the likelihood ratio of the noisy map, exactly; ± over pairs of "
            "people."
        ),
        cells=tuple(cells),
        chance=0.5,
        digits=3,
    )
