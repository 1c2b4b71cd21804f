"""Two tables of one study together: what fixations say, and what saccades say."""

from __future__ import annotations

import polars as pl

from eyelid.attacks.attackers.attacker import Attacker
from eyelid.attacks.attackers.rbf_network import RbfNetwork
from eyelid.attacks.identification import Finding, decided, finding_of
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.attacks.scores import fused
from eyelid.errors import InputError
from eyelid.gaze.features.omission import blank_recordings, without
from eyelid.gaze.table import FeatureTable

NAME = "fused rbf-network"


def event_finding(
    fixations: FeatureTable,
    saccades: FeatureTable,
    attacker: Attacker | None = None,
    seed: int = 0,
) -> Finding:
    """How many people are named by their raw fixations and saccades, from other recordings.

    Paper: George & Routray 2016; David-John et al. 2022.

    Args:
        fixations: as `eyelid.gaze.features.event_features` makes them.
        saccades: likewise; recordings without any are left out of both.
        attacker: who scores either; by default the network of that paper.
        seed: of random choices.
    """
    attacker = attacker or RbfNetwork()
    if set(fixations.data["person"]) != set(saccades.data["person"]):
        raise InputError(
            "fixations and saccades are of different people: make both from the same study"
        )
    lost = pl.concat([blank_recordings(fixations), blank_recordings(saccades)]).unique()
    parts = [Material(without(events, lost)) for events in (fixations, saccades)]
    scores = []
    for split in parts[0].splits(POSITIVE):
        (one,), (other,) = (
            decided(attacker, part.known("raw", split), [part.shown("raw", split)], seed)
            for part in parts
        )
        scores.append(fused(one, other))
    return finding_of(POSITIVE, f"fused {attacker.name}", scores)
