"""Rows drawn after real ones: a game against deniability as printed, and mutants of `seeded`.

Of many rows that are alike, one has a value that no other row has. If k rows might have given each
released row, as is printed, no attacker picks the right one with a probability above 1/k. An
attacker who sees that value in a release knows whose it is. The mutants are wrong in the test of
`seeded`, in its coin, and in the model that it draws from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.override import sound_of
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.binning import Codes
from eyelid.mechanisms.synthetic.chain import ChainMarginals
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import ALPHA, GameResult, of_guesses, play
from eyelid.verification.mutant import (
    Mutant,
    Row,
    by_fuzz,
    by_game,
    less_noise,
    planted,
)

Integers = NDArray[np.int64]

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
    return of_guesses(
        mechanism,
        "identification",
        1 / mechanism.k,
        right=seen,
        runs=_RELEASES,
        alpha=ALPHA,
        neighbours="a value that one row alone has",
    )


def seeded_mutants(variants: Sequence[Any]) -> Iterator[Mutant]:
    """Mutants of the rows, with the first variant that shows them, and of the model."""
    first, several = variants[0], variants[-1]
    yield from planted(first, _OF_THE_TEST)
    yield Mutant("rows counted, not people", several, {"counted": _rows_counted}, by_game)
    one_row = {"wanted": lambda self, *of: sound_of(replace(self, records=1)).wanted(*of)}
    yield Mutant("a person's rows not in the test's ε", several, one_row, _by_plenty)
    no_coin = {"wanted": lambda self, *of: replace(sound_of(self).wanted(*of), heads=1 << 30)}
    yield Mutant("no rows without a seed", first, no_coin, _by_plenty)
    model = ChainMarginals(**ChainMarginals.games[0])
    yield from planted(model, _OF_THE_MODEL[:2])
    of_rows = {"whole": lambda self, facts: sound_of(self).whole(facts) * self.records}
    yield Mutant("a row counted as a person", replace(model, records=3), of_rows, by_game)
    yield from planted(model, _OF_THE_MODEL[2:])


def _by_plenty(mutant: Any, sound: Any, runs: int, noise: Randomness) -> bool:
    """Whether a test that is not the one for the ε is refuted where it has just people enough."""
    plenty = replace(next(sound.neighbour_pairs(PERSON)).facts, people=_PLENTY)
    return play(mutant, PERSON, runs, noise, lambda _: sound.cost(plenty, PERSON)).refuted


def _rows_counted(
    self: Any, candidates: Codes, seed: Any, codes: Codes, owner: Any, chain: Any
) -> Any:
    counted: Integers = sound_of(self).counted(
        candidates, seed, codes, np.arange(len(owner)), chain
    )
    return counted


def _by_the_data(self: ChainMarginals, values: Values) -> Any:
    finite = np.where(np.isfinite(values), values, 0.5)
    low, high = finite.min(), finite.max()
    return sound_of(self).coded((values - low) / max(high - low, 1e-9))


_OF_THE_TEST: tuple[Row, ...] = (
    (
        "no noise in the test",
        {"passes": lambda self, counts, test, noise: counts >= test.k},
        by_game,
    ),
    (
        "half the noise in the test",
        {
            "passes": lambda self, counts, test, noise: replace(test, scale=test.scale // 2).passes(
                counts, noise
            )
        },
        by_game,
    ),
    (
        "no test, or another one until it passes",
        {"passes": lambda self, counts, test, noise: np.ones(counts.shape, dtype=bool)},
        by_game,
    ),
)
_OF_THE_MODEL: tuple[Row, ...] = (
    ("scale × 0.85", less_noise(0.85), by_game),
    (
        "noise for one table",
        {
            "whole": lambda self, facts: sound_of(self).whole(
                replace(facts, recordings=1, features=1)
            )
        },
        by_game,
    ),
    ("bins between the extremes of the data", {"coded": _by_the_data}, by_fuzz),
)
