"""Is the noise of a sum over people everywhere, fresh and whole, and is nothing else shown?

The same questions that `residuals` and `outputs` ask of tables of features: known counts are
measured twice, what is left without them must be draws of the declared law, and what is shown must
be the noisy sums over the public number of people, to the last bit.
"""

from __future__ import annotations

import numpy as np

from eyelid.audits.claims.outputs import OutputResult
from eyelid.audits.claims.residuals import ResidualResult, judged
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.aoi_tables import AoiTables
from eyelid.mechanisms.maps.map_mechanism import MapShape
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.noisy_sum import NoisySum
from eyelid.privacy.noise import Randomness, randomness

_PEOPLE, _LOOKS = 50, 20
_LAYERS, _SIDE = 4, 96
_TABLES, _AREAS = 600, 12
_SEED = 0
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
    declared = declared or mechanism
    counts, shape = known_to(declared)
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
    declared = declared or mechanism
    counts, shape = known_to(declared)
    shown = mechanism.measure(counts, shape, randomness(_SEED))
    total = declared.total(counts, shape)
    wanted = declared.divided(mechanism.perturb(total, shape, randomness(_SEED)), shape)
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


def known_to(mechanism: NoisySum) -> tuple[PersonCounts, Shape]:
    """People with different numbers of looks, some without any, in a shape that it takes."""
    shape: Shape = MapShape.of(_PEOPLE, _LAYERS, Grid(_SIDE, _SIDE, _SIDE, _SIDE))
    if isinstance(mechanism, AoiTables):
        shape = mechanism.shape_of(_PEOPLE, _TABLES, _AREAS)
    rng = np.random.default_rng(_SEED)
    person = np.repeat(np.arange(_PEOPLE), rng.integers(0, _LOOKS, size=_PEOPLE))
    cells = shape.recordings * shape.length
    place = rng.integers(0, cells, size=person.size)
    return PersonCounts.added_up(_PEOPLE, cells, person, place), shape
