"""Pairs of neighbouring features, counted over people under noise."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.chain import ChainMarginals
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz


def counted_plainly(codes: np.ndarray, there: np.ndarray, bins: int, each: int) -> np.ndarray:
    people, tasks, records, features = codes.shape
    found = np.zeros((tasks, bins**2, features), dtype=np.int64)
    for i in range(people):
        for task in range(tasks):
            for r in range(records):
                for j in range(features):
                    if there[i, task, r]:
                        before = codes[i, task, r, j - 1] if j else 0
                        found[task, int(before) * bins + codes[i, task, r, j], j] += each
    return found


def test_sums_are_those_of_a_plain_count() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (5, 2, 4, 3)).astype(np.uint8)
    there = rng.random((5, 2, 4)) < 0.7
    mechanism = ChainMarginals(epsilon=1.0, bins=3, records=4)
    facts = PublicFacts(5, 2, 4, 3)
    each = mechanism.whole(facts) // 4
    assert (mechanism.total(codes, there, facts) == counted_plainly(codes, there, 3, each)).all()


@pytest.mark.parametrize(("bins", "records"), [(2, 1), (5, 3)])
def test_nobody_moves_the_sums_by_more_than_declared_and_somebody_does_so_far(
    bins: int, records: int
) -> None:
    found = fuzz(ChainMarginals(epsilon=1.0, bins=bins, records=records), PERSON, 2048)
    assert 0.99 < found.reached <= 1.0
    assert not found.refuted


def test_the_claim_survives_its_game_and_is_nearly_reached() -> None:
    """A true claim is refuted with probability 1e-6."""
    mechanism = ChainMarginals(**ChainMarginals.games[0])
    found = play(mechanism, PERSON, 20_000, randomness(2))
    assert 0.8 * found.claimed < found.lower_bound <= found.claimed


def test_noise_has_the_scale_that_is_told() -> None:
    mechanism, facts = ChainMarginals(epsilon=2.0, delta=1e-6, bins=8), PublicFacts(500, 1, 1, 8)
    noise = mechanism.tables(
        mechanism.perturb(np.zeros((1, 64, 8), dtype=np.int64), facts, randomness(1)), facts
    )
    assert noise.shape == (1, 8, 8, 8)
    # 512 draws: a standard deviation is right to 3% or so; six times that.
    assert noise.std() == pytest.approx(mechanism.noise_of_person(facts), rel=0.2)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"bins": 1}, "bins must be 2"), ({"records": 0}, "records must"), ({"delta": 0.0}, "delta")],
)
def test_nonsense_is_refused(parameters: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ChainMarginals(epsilon=1.0, **parameters)  # type: ignore[arg-type]


def test_more_records_than_may_count_are_refused() -> None:
    mechanism = ChainMarginals(epsilon=1.0, bins=2, records=1)
    with pytest.raises(InputError, match="only 1 may count"):
        mechanism.query(np.zeros((1, 2, 2)), PublicFacts(1, 1, 1, 2))
