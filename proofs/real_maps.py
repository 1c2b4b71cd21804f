"""Heatmaps of fifteen real people (OSIE): at ε = 1.5 little is left, and how little is told.

As `proofs.maps`, on real images of 800 × 600 px. Real gaze prefers the middle of any picture, so
that the controls matter: what a released map has in common with the truth of another image, and
what a public blob in the middle has in common with the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eyelid.attacks.maps import attack_map
from eyelid.gaze.maps.gaze_points import GazePoints, gaze_points_of
from eyelid.gaze.study import Study
from eyelid.io import read
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.privacy import PERSON
from eyelid.privacy.composition import sequential
from eyelid.privacy.noise import randomness
from proofs.maps import (
    ABOUT_NOTHING,
    DELTA,
    EPSILON,
    FEW,
    OTHER,
    PAPER,
    SIGMA_PX,
    TIMES,
    Spread,
    built,
    compared,
    correlation,
    heat_of,
    of_replicates,
    shown,
)
from proofs.result import Effort, Result, progress, real_recordings

IMAGES, DRAWS = 30, 20
WIDTH, HEIGHT = 800, 600
# About one degree in OSIE.
DEGREE_PX = 24.0
TOGETHER = (2, 5, 30)
EPSILONS = (5.0, 15.0)


def prove(effort: Effort) -> Result:
    """Better than the paper's nothing; subtraction finds nobody."""
    folder = real_recordings("OSIE")
    if isinstance(folder, Result):
        return folder
    study = read(folder)
    names = sorted(study.data["stimulus"].unique())
    chosen = [names[place] for place in np.linspace(0, len(names) - 1, IMAGES).astype(int)]
    points = gaze_points_of(study, stimuli=chosen, width_px=WIDTH, height_px=HEIGHT)
    images = [points.of_layer(name) for name in chosen]
    fine = {name: DRAWS for name in ("map-grid", "map-gaussian", "map-laplace", *PAPER)}
    found = compared(images, fine)
    progress("real_maps: all mechanisms done")
    grid = {"names": ("map-grid",), "draws": fine}
    more = {
        f"ε = {epsilon:g} an image": compared(images, epsilon=epsilon, **grid)["map-grid"]
        for epsilon in EPSILONS
    }
    more[f"a point spread of {DEGREE_PX:g} px"] = compared(images, sigma_px=DEGREE_PX, **grid)[
        "map-grid"
    ]
    mechanism = built("map-grid", delta=DELTA)
    alone = mechanism.cost(
        mechanism.facts_of(len(points.people), 1, WIDTH, HEIGHT, SIGMA_PX), PERSON
    )
    figures = {
        "people": len(points.people),
        "images": len(images),
        "correlation": {name: str(each) for name, each in found.items()},
        "map-grid besides": {name: str(each) for name, each in more.items()},
        f"map-grid, images that share ε = {EPSILON:g}": {
            f"{count}": str(sharing(study, chosen, count)) for count in TOGETHER
        },
        f"a person's total if each of {IMAGES} images costs ε = {EPSILON:g}": sequential(
            [alone] * IMAGES, 1e-5
        ).numbers(),
        f"correlation, {FEW} people {TIMES} times": of_replicates(images[0].of_people(0, FEW), 5),
        "subtraction": subtractions(images[0]),
    }
    papers = max(abs(found[name].mean) for name in PAPER)
    ours, control = found["map-grid"], found[OTHER]
    told = figures["subtraction"]
    passed = (
        papers < ABOUT_NOTHING
        and ours.mean > control.mean
        and told["map-noisefree"] == "exact"
        and told["map-grid"] == told["map-gaussian"] == told["map-laplace"] == "nothing"
    )
    target = (
        f"the paper's below {ABOUT_NOTHING:g} at 15 people, map-grid nearer to its own image "
        "than to another, subtraction exact on map-noisefree and no better than blind on ours"
    )
    return Result(figures, target, bool(passed))


def sharing(study: Study, images: Sequence[str], count: int, draws: int = 10) -> Spread:
    """Correlations of images of the same people when so many of them share one ε.

    All of them are tried, some at a time, as layers of one release.
    """
    mechanism, noise = built("map-grid", delta=DELTA), randomness(count)
    found = []
    for first in range(0, len(images), count):
        names = images[first : first + count]
        points = gaze_points_of(study, stimuli=names, width_px=WIDTH, height_px=HEIGHT)
        facts = mechanism.facts_of(len(points.people), len(names), WIDTH, HEIGHT, SIGMA_PX)
        counts = points.counts(facts.grid)
        truths = [heat_of(points.of_layer(name), SIGMA_PX) for name in names]
        for _ in range(draws):
            layers = mechanism.measure(counts, facts, noise)
            found += [
                correlation(truth, shown(mechanism, facts, cells, SIGMA_PX))
                for truth, cells in zip(truths, layers, strict=True)
            ]
    return Spread.of(found)


def subtractions(points: GazePoints) -> dict[str, str]:
    """Whether those who know all others get the last one back."""
    told = {}
    for name in ("map-noisefree", "map-grid", "map-gaussian", "map-laplace"):
        mechanism = built(name, delta=DELTA)
        facts: MapFacts = mechanism.facts_of(len(points.people), 1, WIDTH, HEIGHT, SIGMA_PX)
        counts = points.counts(facts.grid)
        cells = mechanism.measure(counts, facts, randomness(3))
        found = attack_map(mechanism, counts, facts, cells).subtraction
        told[name] = "exact" if found.exact else "something" if found.learned else "nothing"
    return told
