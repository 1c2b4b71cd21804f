"""The Gaussian of Liu et al. 2019 (Theorem 3.4) on tables of few cells: it breaks its own δ.

σ = (m/(Nε))·√(r(ε/2 + ln(r/δ))) for r cells of at most m, of which one person moves all: the mean
moves by m·√r/N in L2, so that μ = ε/√(ε/2 + ln(r/δ)) says truly what is lost.
"""

import math

import numpy as np
import pytest

from eyelid.attacks.statistics import clopper_pearson
from eyelid.privacy.gaussian import gaussian_delta, gaussian_sigma

OKAY, GOOD = 3.0, 1.0


def paper_sigma(epsilon, delta, cells, people, most=1):
    return most / (people * epsilon) * math.sqrt(cells * (epsilon / 2 + math.log(cells / delta)))


def true_delta(epsilon, delta, cells, people):
    reach = math.sqrt(cells) / people
    return gaussian_delta(epsilon, reach / paper_sigma(epsilon, delta, cells, people))


@pytest.mark.parametrize(
    ("epsilon", "people", "cells", "times"),
    [
        (OKAY, 100, 2, 1.44),
        (OKAY, 1000, 4, 3.60),
        (OKAY, 1000, 16, 1.58),
        (GOOD, 1000, 1, 2.03),
        (GOOD, 1000, 2, 1.32),
    ],
)
def test_tables_of_few_cells_lose_more_than_their_delta(epsilon, people, cells, times):
    delta = people**-1.5
    assert true_delta(epsilon, delta, cells, people) / delta == pytest.approx(times, abs=0.01)


@pytest.mark.parametrize("epsilon", [GOOD, OKAY])
@pytest.mark.parametrize("people", [20, 100, 1000])
def test_maps_of_many_cells_do_not(epsilon, people):
    delta = people**-1.5
    for cells in (64, 1024, 1680 * 1050):
        assert true_delta(epsilon, delta, cells, people) < delta


def test_the_safer_default_delta_makes_it_worse():
    assert true_delta(OKAY, 1e-6, 16, 100) > 5e-6
    assert true_delta(GOOD, 1e-6, 16, 100) > 1.2e-6


def certified_delta(epsilon, people, cells, sigma, runs):
    """The δ that a game certifies: who saw every area against who saw none.

    Whoever watches the means calls 'all' where that is more than e^ε times as likely. (ε, δ) says
    P(called | all) ≤ e^ε·P(called | none) + δ. The limit of each rate fails once in two million
    games, so that a true δ is refuted at most once in a million.
    """
    rng = np.random.default_rng(11)
    parts = runs // 1_000_000

    def called(seen):
        count = 0
        for _ in range(parts):
            # Seven digits are enough, and half the work.
            noise = rng.standard_normal((1_000_000, cells), dtype=np.float32)
            means = seen / people + np.float32(sigma) * noise
            loss = (means.sum(axis=1) - cells / (2 * people)) / (people * sigma**2)
            count += int((loss > epsilon).sum())
        return count

    low, _ = clopper_pearson(called(1.0), runs, 1e-6)
    _, high = clopper_pearson(called(0.0), runs, 1e-6)
    return float(low - math.exp(epsilon) * high)


# By the rates that theory gives, so many runs certify a bound 8 standard errors above δ or more.
# The two areas of level okay above break it by less, and would need a hundred million.
@pytest.mark.parametrize(
    ("epsilon", "cells", "runs"), [(OKAY, 1, 20_000_000), (4.0, 2, 40_000_000)]
)
def test_a_game_of_a_hundred_people_certifies_the_break(epsilon, cells, runs):
    delta = 100**-1.5
    sigma = paper_sigma(epsilon, delta, cells, 100)
    assert certified_delta(epsilon, 100, cells, sigma, runs) > 1.3 * delta


def test_the_same_game_finds_nothing_in_the_analytic_gaussian():
    delta = 100**-1.5
    sigma = gaussian_sigma(OKAY, delta, 1 / 100)
    assert certified_delta(OKAY, 100, 1, sigma, 20_000_000) < delta
