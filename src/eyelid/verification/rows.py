"""Rows drawn after real ones: a game against deniability as printed, and mutants of `seeded`.

Of many rows that are alike, one has a value that no other row has. If k rows might have given each
released row, as is printed, nobody names the right one with a probability above 1/k. Whoever sees
that value in a release knows whose it is. The mutants are wrong in the test of `seeded`, in its
coin, and in the model that it draws from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.statistics import clopper_pearson
from eyelid.attacks.twins import sound_of
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.synthetic.binning import Codes
from eyelid.mechanisms.synthetic.marginals import ChainMarginals
from eyelid.mechanisms.synthetic.threshold import Threshold
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import ALPHA, GameResult, play
from eyelid.verification.mutant import (
    Changes,
    Mutant,
    by_fuzz,
    by_game,
    less_noise,
    mutants,
)

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

_RELEASES = 100
_PEOPLE, _ROWS = 4, 25
_COMMON, _RARE = 0.2, 0.9
# The claim is the same for any number of people that suffices.
_PLENTY = 10_000


def play_deniability(mechanism: Any, noise: Randomness) -> GameResult:
    """Release rows of which one is rare many times, and see whether it shows.

    Args:
        mechanism: with its parameters.
        noise: its randomness.
    """
    values = np.full((_PEOPLE, 1, _ROWS, 1), _COMMON)
    values[0, 0, 0] = _RARE
    table = table_from_arrays(values, [Feature("feature", "", "", 0.0, 1.0)])
    middle = (_COMMON + _RARE) / 2
    seen = sum(
        float(mechanism.apply(table, noise).data["feature"].to_numpy().max()) > middle
        for _ in range(_RELEASES)
    )
    return GameResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        calibrated_for=str(mechanism.unit),
        measure="identification",
        claimed=1 / mechanism.k,
        lower_bound=float(clopper_pearson(seen, _RELEASES, ALPHA)[0]),
        runs=_RELEASES,
        neighbours="a value that one row alone has",
        holds=mechanism.claims_to_hold,
    )


def seeded_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Those of the rows, with the first variant that shows them, and those of the model."""
    first, several = variants[0], variants[-1]
    yield from mutants(first, by_game, _TESTED)
    yield Mutant("rows counted, not people", several, {"counted": _rows_counted}, by_game)
    one_row = {"wanted": _for_one_row}
    yield Mutant("a person's rows not in the test's ε", several, one_row, _by_plenty)
    yield Mutant("no rows without a seed", first, {"wanted": _no_coin}, _by_plenty)
    model = ChainMarginals(**ChainMarginals.games[0])
    yield Mutant("scale × 0.85", model, less_noise(0.85), by_game)
    yield Mutant("noise for one table", model, {"whole": _of_one_table}, by_game)
    of_rows = {"whole": lambda self, shape: sound_of(self).whole(shape) * self.records}
    yield Mutant("a row counted as a person", replace(model, records=3), of_rows, by_game)
    yield Mutant("bins between the extremes of the data", model, {"coded": _by_the_data}, by_fuzz)


def _by_plenty(mutant: Any, sound: Any, runs: int, noise: Randomness) -> bool:
    """Whether a test that is not the one for the ε is refuted where it has just people enough."""
    plenty = replace(next(sound.neighbour_pairs(PERSON)).shape, people=_PLENTY)
    return play(mutant, PERSON, runs, noise, lambda _: sound.cost(plenty, PERSON)).refuted


def _half_the_noise(self: Any, counts: Integers, test: Threshold, noise: Randomness) -> Any:
    return replace(test, scale=test.scale // 2).passes(counts, noise)


_TESTED: dict[str, Changes] = {
    "no noise in the test": {"passes": lambda self, counts, test, noise: counts >= test.k},
    "half the noise in the test": {"passes": _half_the_noise},
    "no test, or another one until it passes": {
        "passes": lambda self, counts, test, noise: np.ones(counts.shape, dtype=bool)
    },
}


def _rows_counted(
    self: Any, candidates: Codes, seed: Any, codes: Codes, owner: Any, chain: Any
) -> Any:
    counted: Integers = sound_of(self).counted(
        candidates, seed, codes, np.arange(len(owner)), chain
    )
    return counted


def _for_one_row(self: Any, people: int, rows: int) -> Any:
    return sound_of(replace(self, records=1)).wanted(people, rows)


def _no_coin(self: Any, people: int, rows: int) -> Any:
    return replace(sound_of(self).wanted(people, rows), heads=1 << 30)


def _of_one_table(self: ChainMarginals, shape: Shape) -> Any:
    return int(sound_of(self).whole(replace(shape, recordings=1, features=1)))


def _by_the_data(self: ChainMarginals, values: Values) -> Any:
    finite = np.where(np.isfinite(values), values, 0.5)
    low, high = finite.min(), finite.max()
    return sound_of(self).coded((values - low) / max(high - low, 1e-9))
