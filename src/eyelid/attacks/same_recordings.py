"""Whoever has the very recordings that were released: whose is each released person?

A colleague with the raw files, a leak, or an earlier publication of the same data: the attacker
knows everybody's recordings and puts each released one beside everybody's of the same task, row by
row. All that is released under one name counts together, since it is linked. Three ways, of which a
comparison takes the one that names most:

* ``rows``: the nearest over all rows and features, each feature weighted by how far off it is from
  what is usual. Noise that is drawn anew for every row is averaged away so.
* ``means``: the same of recordings' means alone, for releases whose rows are in no order.
* ``likelihood``: the exact likelihood under the law of the noise, where what was measured can be
  read off the release. Nobody who judges one released person at a time names more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.alignment import aligned
from eyelid.attacks.attackers.attacker import last_where_impossible
from eyelid.attacks.attackers.likelihood import NAME, likelihood_scores
from eyelid.attacks.measurements import legible
from eyelid.attacks.protocols import Material
from eyelid.attacks.records import Records, records_of
from eyelid.attacks.scores import named
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.mechanisms.records.measuring import MeasuringMechanism

KNOWS = "has the very recordings"
# Of everybody together, about a quarter of a gigabyte; beyond it neighbouring rows are averaged.
_MOST_VALUES = 1 << 25
# In spans squared: what never differs decides nothing.
_LEAST = 1e-12

Shares = tuple[float, ...]
Values = NDArray[np.float64]


def named_by_rows(material: Material) -> dict[str, Shares]:
    """Of each released person, whether the nearest raw recordings are theirs.

    Args:
        material: the original, and a release in people's own names.
    """
    assert material.released is not None, "there is no release"
    original, released = aligned(material.original, material.released)
    people = material.people
    known, shown = records_of(original, people), records_of(released, people)
    most = max(1, _MOST_VALUES // max(1, len(known.owner) * known.values.shape[1]))
    known, shown = known.condensed(most), shown.condensed(most)
    slot = slots_of(original).slot
    totals = {name: np.zeros((len(people), len(people))) for name in ("rows", "means")}
    for place in np.unique(slot):
        which = np.flatnonzero(slot == place)
        whose = known.owner[which]
        ours, theirs = _side_by_side(known, which), _side_by_side(shown, which)
        # Mechanisms clip, and so does whoever knows them.
        ours = np.clip(ours, 0.0, 1.0)
        for name, raw, released_as in (
            ("rows", ours, theirs),
            ("means", ours.mean(axis=1, keepdims=True), theirs.mean(axis=1, keepdims=True)),
        ):
            # Who lacks such a recording is not its owner.
            found = np.full((len(which), len(people)), -np.inf)
            found[:, whose] = _nearness(raw, released_as)
            totals[name][whose] += found
    owner = np.unique(known.owner)
    return {
        f"{name}, {KNOWS}": _shares(last_where_impossible(total[owner]), owner, len(people))
        for name, total in totals.items()
    }


def named_by_likelihood(
    law: FeatureMechanism, taken: FeatureTable, released: FeatureTable
) -> dict[str, Shares]:
    """The same by the exact likelihood; nothing where it cannot be known.

    Args:
        law: as it was run.
        taken: what it was run on.
        released: what it gave.
    """
    if not isinstance(law, MeasuringMechanism) or not len(legible(law, law.shape(taken))):
        return {}
    people = tuple(released.data["person"].unique(maintain_order=True))
    scores = likelihood_scores(law, taken, released, people)
    return {f"{NAME}, {KNOWS}": _shares(scores.averaged, scores.owner, len(people))}


def _side_by_side(records: Records, which: NDArray[np.intp]) -> Values:
    """Some records at the length of the shortest of them: records × rows × features."""
    rows = records.rows
    first = (np.cumsum(rows) - rows)[which]
    return np.asarray(records.values[first[:, None] + np.arange(rows[which].min())])


def _nearness(raw: Values, shown: Values) -> Values:
    """Shown × raw: minus half of the squared distance, but for what all candidates share."""
    usual = raw.mean(axis=0)
    own, other = raw - usual, shown - usual
    weight = 1 / np.maximum(np.mean(other**2, axis=(0, 1)), _LEAST)
    flat = (own * np.sqrt(weight)).reshape(len(own), -1)
    product = (other * np.sqrt(weight)).reshape(len(other), -1) @ flat.T
    return np.asarray(product - 0.5 * (flat**2).sum(axis=1))


def _shares(scores: Values, owner: NDArray[np.intp], people: int) -> Shares:
    """Of each person whether they are named, ties by lot; who is not in it is not."""
    found = np.zeros(people)
    found[owner] = named(scores, owner)
    return tuple(found.tolist())
