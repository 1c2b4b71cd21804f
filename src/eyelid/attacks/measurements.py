"""The whole numbers behind a release: what a mechanism measured, read off the values it gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.records import Records
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy.noise import DiscreteGaussian, DiscreteLaplace, randomness
from eyelid.privacy.unit import Trust

# As a share of the noise: nothing of any use.
_ROUNDING = 1e-6
# Held at once while coordinates are computed: a few megabytes.
_BLOCK_VALUES = 1 << 20

Values = NDArray[np.float64]
Reading = Callable[[Values, PublicFacts], NDArray[np.generic]]
"""`RecordMechanism.query` of raw values, or `RecordMechanism.measured` of released ones."""


def legible(mechanism: FeatureMechanism, facts: PublicFacts) -> NDArray[np.intp]:
    """Which coordinates of a recording can be read off its released values.

    All of most mechanisms; not those of a last chunk that was cut. None at all where what is shown
    is no longer what was rebuilt, where the mechanism chose coordinates by itself, or where their
    noise is not independent.

    >>> from eyelid.mechanisms import mechanism_named
    >>> cut = mechanism_named("cfpa", epsilon=1.0, chunk=2, k=2)
    >>> legible(cut, PublicFacts(1, 1, 5, 1)).tolist()
    [0, 1, 2, 3]
    """
    nothing = np.array([], dtype=np.intp)
    if not (mechanism.shows_measured and mechanism.trust is Trust.LOCAL):
        return nothing
    measuring = cast(RecordMechanism, mechanism)
    distribution = noise_of(measuring, facts)
    # A law made of these may have no independent draws.
    if type(distribution) not in (DiscreteLaplace, DiscreteGaussian):
        return nothing
    # A person is released with noise that is known, so that what was measured is known.
    values = np.random.default_rng(0).random((1, facts.length, facts.features))
    shown = measuring.randomise(values, facts, randomness(0))
    measured = measuring.perturb(measuring.query(values, facts), facts, randomness(0))
    off = np.abs(measuring.measured(shown, facts) - measured)
    return np.flatnonzero((off <= _ROUNDING * distribution.scale).all(axis=(0, 2)))


def steps_of(
    reading: Reading, records: Records, facts: PublicFacts, kept: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Some coordinates of every record, in steps: records × coordinates × features.

    Everything of a person is read at once, since a mechanism may clip it together. Recordings are
    cut at the common length; what is beyond the end of one is at the midpoint.
    """
    owners, owner = np.unique(records.owner, return_inverse=True)
    place = _places(owner)
    found = np.empty((len(owner), len(kept), facts.features))
    size = facts.recordings * facts.length * facts.features
    per_block = max(1, _BLOCK_VALUES // size)
    for first in range(0, len(owners), per_block):
        which = np.flatnonzero((owner >= first) & (owner < first + per_block))
        people = min(per_block, len(owners) - first)
        dense = np.full((people, facts.recordings, facts.length, facts.features), 0.5)
        spot = (owner[which] - first, place[which])
        dense[spot] = _cut(records, which, facts.length)
        found[which] = reading(dense, facts)[spot][:, kept]
    return found


def _places(owner: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each record, how many of its owner's come before it."""
    order = np.argsort(owner, kind="stable")
    mine = owner[order]
    place = np.empty_like(order)
    place[order] = np.arange(len(order)) - np.searchsorted(mine, mine)
    return place


def _cut(records: Records, which: NDArray[np.intp], length: int) -> Values:
    """Some records at the common length."""
    rows = records.rows
    row = np.arange(length)
    first = (np.cumsum(rows) - rows)[which]
    values = records.values[np.minimum(row, rows[which][:, None] - 1) + first[:, None]]
    values[row >= rows[which][:, None]] = 0.5
    return np.asarray(values)
