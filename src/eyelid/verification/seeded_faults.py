"""Planted faults of `seeded`: in its test, its coin, and the model that it draws from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.twins import twin
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.synthetic.binning import Codes
from eyelid.mechanisms.synthetic.chain import Chain
from eyelid.mechanisms.synthetic.marginals import ChainMarginals
from eyelid.mechanisms.synthetic.seeded import Seeded
from eyelid.mechanisms.synthetic.threshold import Threshold
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.fault import Fault, fuzz_fault, game_fault, less_noise
from eyelid.verification.game import play

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

# The claim is the same for any number of people that suffices.
_PLENTY = 10_000


def seeded_faults(variants: list[Seeded]) -> Iterator[Fault]:
    """Those of the rows, with the first variant that shows them, and those of the model."""
    first, several = variants[0], variants[-1]
    yield game_fault("no noise in the test", first, {"passes": _without_noise})
    yield game_fault("half the noise in the test", first, {"passes": _half_the_noise})
    yield game_fault("no test, or another one until it passes", first, {"passes": _always})
    yield game_fault("rows counted, not people", several, {"counted": _rows_counted})
    yield _test_fault("a person's rows not in the test's ε", several, _for_one_row)
    yield _test_fault("no rows without a seed", first, _no_coin)
    yield from _model_faults(ChainMarginals(**ChainMarginals.games[0]))


def _model_faults(model: ChainMarginals) -> Iterator[Fault]:
    several = replace(model, records=3)
    yield game_fault("scale × 0.85", model, {"perturb": less_noise(0.85)})
    yield game_fault("noise for one table", model, {"whole": _of_one_table})
    yield game_fault("a row counted as a person", several, {"whole": _of_rows})
    yield fuzz_fault("bins between the extremes of the data", model, {"coded": _by_the_data})


def _without_noise(self: Seeded, counts: Integers, test: Threshold, noise: Randomness) -> Booleans:
    return np.asarray(counts >= test.k)


def _half_the_noise(self: Seeded, counts: Integers, test: Threshold, noise: Randomness) -> Booleans:
    return replace(test, scale=test.scale // 2).passes(counts, noise)


def _always(self: Seeded, counts: Integers, test: Threshold, noise: Randomness) -> Booleans:
    return np.ones(counts.shape, dtype=bool)


def _rows_counted(
    self: Seeded,
    candidates: Codes,
    seed: NDArray[np.integer[Any]],
    codes: Codes,
    owner: NDArray[np.integer[Any]],
    chain: Chain,
) -> Integers:
    return Seeded.counted(self, candidates, seed, codes, np.arange(len(owner)), chain)


def _test_fault(name: str, mechanism: Seeded, wanted: Callable[..., Threshold]) -> Fault:
    """A test that is not the one for the ε, played where it has just people enough."""

    def caught(runs: int, noise: Randomness) -> bool:
        broken = twin(mechanism, {"wanted": wanted})
        plenty = replace(next(mechanism.neighbour_pairs(PERSON)).shape, people=_PLENTY)
        return play(broken, PERSON, runs, noise, lambda _: mechanism.cost(plenty, PERSON)).refuted

    return Fault(name, mechanism.name, caught)


def _for_one_row(self: Seeded, people: int, rows: int) -> Threshold:
    return Seeded.wanted(replace(self, records=1), people, rows)


def _no_coin(self: Seeded, people: int, rows: int) -> Threshold:
    return replace(Seeded.wanted(self, people, rows), heads=1 << 30)


def _of_one_table(self: ChainMarginals, shape: Shape) -> int:
    return ChainMarginals.whole(self, replace(shape, recordings=1, features=1))


def _of_rows(self: ChainMarginals, shape: Shape) -> int:
    return ChainMarginals.whole(self, shape) * self.records


def _by_the_data(self: ChainMarginals, values: Values) -> Codes:
    finite = np.where(np.isfinite(values), values, 0.5)
    low, high = finite.min(), finite.max()
    return ChainMarginals.coded(self, (values - low) / max(high - low, 1e-9))
