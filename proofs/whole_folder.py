"""Random neighbours, released by every mechanism: the folder must not tell them apart.

Each case is compared with neighbours whose lengths, numbers of recordings, gaps, losses and values
are drawn, as far as the form of the mechanism allows them to differ. Mutants must be caught.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from eyelid.engine.engines import spread
from eyelid.mechanisms.mechanism import catalogue
from eyelid.releases.consistency.cases import cases_of
from eyelid.releases.consistency.comparison import compare_folders
from eyelid.releases.consistency.mutants import MUTANTS, Mutant
from eyelid.releases.consistency.studies import REPLACEMENTS, Replacement
from proofs.result import Effort, Result, progress

# Of every way to release: those that are always tried, and so many that are drawn for each seed.
_DRAWN = 2


def prove(effort: Effort) -> Result:
    """Every case with every neighbour, then every mutant."""
    kinds = [kind for kind in catalogue().values() if kind.claims_to_hold]
    cases = [case for kind in kinds for case in cases_of(kind)]
    ways = (*REPLACEMENTS, *(_drawn(seed) for seed in range(_DRAWN * effort.seeds)))
    compare = partial(compare_folders, replacements=ways)
    differing, pairs = [], 0
    for number, found in enumerate(spread(compare, cases, "comparing folders"), start=1):
        pairs += found.pairs
        if not found.same:
            differing.append([found.mechanism, found.settings, found.differs[0].what])
        if number % 10 == 0:
            progress(f"whole_folder: {number} of {len(cases)} ways to release, {pairs} neighbours")
    caught = list(spread(_caught, MUTANTS, "comparing folders of mutants"))
    missed = [each.name for each, seen in zip(MUTANTS, caught, strict=True) if not seen]
    figures = {
        "ways_to_release": len(cases),
        "neighbours": pairs,
        "differing": differing,
        "mutants": len(MUTANTS),
        "missed": missed,
    }
    target = "no folder tells neighbours apart but by released values, every mutant is caught"
    return Result(figures, target, not differing and not missed)


def _caught(mutant: Mutant) -> bool:
    return mutant.caught()


def _drawn(seed: int) -> Replacement:
    """A random way to replace a participant's data."""
    rng = np.random.default_rng(seed)
    times = float(rng.choice([0.01, 0.3, 0.8, 1.0, 1.3, 3.0, 9.0]))
    wide = float(rng.choice([0.0, 1.0, 100.0]))
    return Replacement(
        f"drawn by {seed}",
        rows=lambda rows: round(times * rows),
        recordings=int(rng.integers(0, 4)),
        low=-wide,
        high=1 + wide,
        lost=float(rng.choice([0.0, 0.2, 1.0])),
        gaps=float(rng.choice([0.0, 0.3])),
        seed=seed,
    )
