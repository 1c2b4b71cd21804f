"""Is the noise of a sum over people everywhere, fresh and whole, and is nothing else shown?

The same questions that `residuals` and `outputs` ask of tables of features: known counts are
measured twice, what is left without them must be draws of the declared law, and what is shown must
be the noisy sums over the public number of people, to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from eyelid.attacks.residuals import ResidualResult, judged
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapShape
from eyelid.mechanisms.maps.noisy_sum import NoisySum
from eyelid.mechanisms.mechanism import Shape
from eyelid.privacy.noise import Randomness, randomness
from eyelid.verification.outputs import OutputResult

# More people than are summed up at once.
_PEOPLE, _LOOKS = 5_000, 4
_LAYERS, _CELLS = 4, 10_000
_SEED = 0
# What no count can be, and must be taken for one all the same.
_HOSTILE = (np.nan, np.inf, -np.inf, -5.0, 1e300)
# Of the noise's scale: about as rare as this number says.
_NEXT_TO_NOTHING = 1e-6


def examine_sum(
    mechanism: NoisySum, noise: Randomness, declared: NoisySum | None = None
) -> ResidualResult:
    """Measure known counts twice and look at the noise.

    Args:
        mechanism: to examine.
        noise: its randomness.
        declared: whose law and grid the noise should have; the mechanism itself by default.
    """
    mechanism, declared = _with_one_choice(mechanism), _with_one_choice(declared or mechanism)
    counts, shape = known_to(declared)
    declared = declared.settled(counts, shape, noise)
    truth = declared.total(counts, shape)
    left = []
    for _ in range(2):
        means = mechanism.measure(counts, shape, noise).reshape(-1)
        steps = declared.undivided(means, shape) - truth
        left.append(np.rint(steps).reshape(shape.recordings, -1))
    # Layers are the positions whose spread is looked at.
    return judged(mechanism, np.concatenate(left, axis=1).T, declared.noise(shape))


def compare_sum(mechanism: NoisySum, declared: NoisySum | None = None) -> OutputResult:
    """Look whether what is shown is the noisy sum divided, and nowhere the sum itself.

    Args:
        mechanism: to look at.
        declared: how sums should be shown; the mechanism itself by default.
    """
    mechanism, declared = _with_one_choice(mechanism), _with_one_choice(declared or mechanism)
    counts, shape = known_to(declared)
    shown = mechanism.measure(counts, shape, randomness(_SEED))
    same_noise = randomness(_SEED)
    settled = mechanism.settled(counts, shape, same_noise)
    declared = declared.settled(counts, shape, randomness(_SEED))
    total = declared.total(counts, shape)
    wanted = declared.divided(settled.perturb(total, shape, same_noise), shape)
    bare = declared.divided(total, shape)
    apart = declared.undivided((shown - bare).reshape(-1), shape)
    still = np.abs(apart) <= _NEXT_TO_NOTHING * declared.noise(shape).scale
    return OutputResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        values=shown.size,
        same=bool(np.array_equal(shown, wanted)),
        inside=shown.size,
        # So many are this near by chance.
        bare=max(0, int(still.sum()) - 6),
    )


def _with_one_choice(mechanism: NoisySum) -> NoisySum:
    """Where a cap is chosen, there is one to choose: so that its noise is known."""
    if isinstance(mechanism, CappedMap) and mechanism.chooses:
        return replace(mechanism, samples=1)
    return mechanism


def known_to(mechanism: NoisySum) -> tuple[PersonCounts, Shape]:
    """People with different numbers of looks, some without any, in a shape that it takes."""
    side = math.isqrt(_CELLS)
    shape: Shape = MapShape.of(_PEOPLE, _LAYERS, Grid(side, side, side, side))
    if isinstance(mechanism, AoiTables):
        # So many draws of each layer that their spread is next to Gaussian.
        areas = side if "transitions" in mechanism.names else _CELLS
        shape = mechanism.shape_of(_PEOPLE, _LAYERS, areas)
    rng = np.random.default_rng(_SEED)
    person = np.repeat(np.arange(_PEOPLE), rng.integers(0, _LOOKS, size=_PEOPLE))
    cells = shape.recordings * shape.length
    place = rng.integers(0, cells, size=person.size)
    counts = PersonCounts.added_up(_PEOPLE, cells, person, place)
    counts.count[: len(_HOSTILE)] = _HOSTILE
    return counts, shape
