"""Identification as in David-John et al. 2022 (figure 1): learned from a release, shown raw data.

Names were kept, or somebody told the attacker who is in which group. The first half of every
recording is released, the second halves are shown. Scores are averaged over everything that is
shown of a person: one decision each. The halves are of the same recordings, so whatever a recording
has of its own helps; `eyelid.attacks.identification` splits by task instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.identification import decided
from eyelid.attacks.records import records_of
from eyelid.attacks.scores import named
from eyelid.gaze.table import FeatureTable


def named_by_halves(
    released: FeatureTable, shown: FeatureTable, attackers: Sequence[Attacker], seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """For each attacker and each person, the chance that they are named; ties are drawn by lot.

    Args:
        released: first halves, under people's names.
        shown: raw second halves of the same people.
        attackers: who learns and names.
        seed: of their choices.
    """
    people = shown.data["person"].unique(maintain_order=True).to_list()
    known, seen = records_of(released, people), records_of(shown, people)
    found = {}
    for attacker in attackers:
        (scores,) = decided(attacker, known, [seen], seed)
        totals = np.zeros((len(people), len(people)))
        np.add.at(totals, scores.owner, scores.averaged)
        found[attacker.name] = named(totals, np.arange(len(people)))
    return found
