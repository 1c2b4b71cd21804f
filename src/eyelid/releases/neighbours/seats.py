"""Whether the sizes of groups show who is in them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.means.ksame_dp import KSameDP
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy.noise import SystemRandomness
from eyelid.releases.neighbours.studies import SmallStudy

DRAWS = 300
"""Partitions that are drawn of a study."""
# How seldom a fair partition may be called unfair.
_CHANCE = 1e-8


def unfair_seats(law: Mechanism, study: SmallStudy) -> Iterator[str]:
    """Participants who are in the larger groups more or less often than others, in words.

    The sizes of groups are public, so they must not tell who is in which: where a participant with
    a rare attribute always has a seat in a larger group, its size shows them.

    Args:
        law: that draws groups; of any other there is nothing to say.
        study: whose participants are dealt out.
    """
    if not isinstance(law, KSame | KSameDP):
        return
    from scipy.stats import binomtest

    table, noise = FeatureTable.of(study.study()), SystemRandomness()
    larger = np.zeros(len(study.participants), dtype=np.int64)
    for _ in range(DRAWS):
        found = law.partition(table, noise)
        member = found.member if isinstance(found, Groups) else found
        sizes = np.bincount(member)
        larger += sizes[member] > sizes.min()
    expected = float(larger.mean()) / DRAWS
    for participant, often in zip(study.participants, larger.tolist(), strict=True):
        if binomtest(often, DRAWS, expected).pvalue < _CHANCE:
            about = ", ".join(f"{key} {value}" for key, value in participant.attributes.items())
            yield (
                f"people.csv: a participant ({about}) is in one of the larger groups "
                f"{often / DRAWS:.0%} of the times, others {expected:.0%}"
            )
