"""Figures 2 and 3 of Liu et al. 2019: the numbers behind them, and what they say."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.text import Text
from scipy.ndimage import gaussian_filter
from scipy.optimize import brentq
from scipy.stats import norm

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import presented
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms import mechanism_named
from eyelid.privacy.noise import randomness
from eyelid.reporting.maps.figures import (
    CURVES,
    experiment,
    figure2,
    figure3,
    observers_for,
    paper_noise,
    replicated,
    sparse_noise,
)
from eyelid.reporting.maps.pictures import save

WIDE, HIGH, SIGMA = 120, 80, 5.0
DELTA = 1e-6


def counts_of(people: int, points: int = 20, seed: int = 1):
    """Looks around two hotspots, as counts on whatever grid is wanted."""
    rng = np.random.default_rng(seed)
    middles = np.array([(35.0, 30.0), (85.0, 50.0)])
    places = middles[rng.integers(0, 2, people * points)] + rng.normal(0, 6, (people * points, 2))
    x, y = np.clip(places, 0, (WIDE - 0.5, HIGH - 0.5)).T.copy()
    person = np.repeat(np.arange(people), points)

    def at(grid: Grid) -> PersonCounts:
        return PersonCounts.added_up(people, grid.cells, person, grid.cell_of(x, y))

    return at


def words(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


@pytest.mark.parametrize(("epsilon", "people"), [(1.0, 900), (3.0, 300)])
def test_noise_of_the_paper_is_1_5_at_about_as_many_observers_as_it_says(epsilon, people):
    everybody = np.geomspace(10, 1e5, 400)
    sigma = paper_noise(np.full(400, 9e4), everybody, epsilon, everybody**-1.5)
    assert observers_for(1.5, everybody, sigma) == pytest.approx(people, rel=0.06)


def test_noise_of_the_paper_for_its_portrait_is_as_printed():
    printed = 0.0986
    there = paper_noise(np.array(1680.0 * 1050), np.array(50_000.0), 1.5, 50_000**-1.5)
    assert float(there) == pytest.approx(printed, rel=0.01)


@pytest.mark.parametrize(("cap", "samples", "side"), [(1, 30, 300), (3, 10, 300), (1, 30, 4)])
@pytest.mark.parametrize("people", [20, 5000])
def test_both_formulas_are_those_of_the_mechanisms(cap, samples, side, people):
    given = {"epsilon": 1.0, "delta": DELTA, "cap": cap}
    cells, everybody = np.array(float(side**2)), np.array(float(people))
    for name, expected, more in (
        ("map-gaussian-paper", paper_noise(cells, everybody, 1.0, DELTA, cap), {}),
        (
            "map-gaussian",
            sparse_noise(cells, everybody, 1.0, DELTA, cap, samples),
            {"samples": samples},
        ),
    ):
        mechanism = mechanism_named(name, **given, **more)
        sd = mechanism.cell_sd(mechanism.facts_of(people, 1, side, side))
        assert sd == pytest.approx(float(expected), rel=1e-4)


def test_our_noise_gives_the_delta_it_is_drawn_for():
    people, epsilon = 400, 1.0
    sigma = float(sparse_noise(np.array(9e4), np.array(float(people)), epsilon, DELTA))
    move = math.sqrt(2 * 30) / people

    def delta(spread: float) -> float:
        away, tilt = move / (2 * spread), epsilon * spread / move
        return norm.cdf(away - tilt) - math.exp(epsilon) * norm.cdf(-away - tilt)

    assert brentq(lambda s: delta(s) - DELTA, move / 10, move * 100) == pytest.approx(sigma)


def _observers(epsilon: float) -> float:
    """How many bring the paper's noise down to 1.5 on 300 × 300 px."""

    def above(people: float) -> float:
        return math.sqrt(9e4 * (epsilon / 2 + math.log(9e4 / DELTA))) / (people * epsilon) - 1.5

    return brentq(above, 10, 1e5)


def test_figure_2_marks_the_data_at_hand_and_the_papers_example():
    figure = figure2(50, 1680, 1050, DELTA)
    said = words(figure)
    assert "50 people and 1,680 × 1,050 px" in said
    # Where the formula gives 1.5, found by another way.
    assert {str(round(_observers(epsilon))) for epsilon in (1.0, 3.0)} <= set(said.split())
    assert "public facts alone" in said
    assert "Liu et al. (2019)" in said
    assert "map-grid, the default for few people, is not in this figure" in said
    assert f"δ = {DELTA:g} everywhere, as in this release" in said
    stars = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "*"]
    assert len(stars) == 4
    assert all(star.get_ydata()[0] == 50 for star in stars)
    assert stars[0].get_xdata()[0] == pytest.approx(math.sqrt(1680 * 1050))


@pytest.mark.parametrize("size", [(2, 1, 1), (1_000_000, 20_000, 20_000)])
def test_figure_2_is_drawn_for_data_beyond_its_axes(size, tmp_path: Path):
    save(figure2(*size, DELTA), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_replicating_people_changes_no_mean():
    few = counts_of(5)(Grid(WIDE, HIGH, 12, 8))
    many = replicated(few, 40)
    assert many.people == 200
    assert (np.diff(many.person) >= 0).all()
    assert many.dense.mean(axis=0) == pytest.approx(few.dense.mean(axis=0))


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return experiment(
        counts_of(40),
        WIDE,
        HIGH,
        40,
        SIGMA,
        epsilons=(0.5, 2.0, 8.0),
        draws=30,
        delta=DELTA,
        noise=randomness(7),
    )


def test_an_experiment_has_a_row_for_every_mechanism_and_epsilon(rows):
    assert rows.columns == [
        "mechanism",
        "epsilon",
        "correlation_mean",
        "correlation_sd",
        "mse_mean",
        "mse_sd",
    ]
    assert rows.select("mechanism", "epsilon").rows() == [
        (name, epsilon) for name in CURVES for epsilon in (0.5, 2.0, 8.0)
    ]
    assert rows.null_count().sum_horizontal()[0] == 0


def test_more_epsilon_leaves_more_to_see_and_ours_leaves_more_than_the_papers(rows):
    def mean(name: str, epsilon: float, what: str = "correlation_mean") -> float:
        here = (pl.col("mechanism") == name) & (pl.col("epsilon") == epsilon)
        return rows.filter(here)[what].item()

    assert mean("map-grid", 0.5) < mean("map-grid", 2.0) < mean("map-grid", 8.0)
    assert mean("map-grid", 8.0) > 0.9
    # Over 30 draws a mean near nothing is known to a few hundredths.
    assert abs(mean("map-laplace-paper", 0.5)) < 0.15
    for mechanism in ("gaussian", "laplace"):
        assert mean(f"map-{mechanism}", 8.0) > mean(f"map-{mechanism}-paper", 8.0) + 0.1
        assert mean(f"map-{mechanism}", 8.0, "mse_mean") < mean(
            f"map-{mechanism}-paper", 8.0, "mse_mean"
        )


def test_sharing_draws_between_epsilons_is_the_same_as_running_the_mechanism():
    """Against plain runs: mechanism, presentation, scipy's blur. Both means of 60 draws.

    The difference of two means has a standard error of sd·√(2/60); four of them are crossed once
    in 16 000 runs, and the seed is fixed.
    """
    at, people, draws, sigma = counts_of(40), 40, 60, 9.0
    pixels = Grid.of_pixels(WIDE, HIGH)
    summed = at(pixels).dense.sum(axis=0).reshape(HIGH, WIDE)
    truth = gaussian_filter(summed, sigma, mode="constant", truncate=8.0)
    for name, epsilon in (
        ("map-grid", 0.5),
        ("map-gaussian", 8.0),
        ("map-laplace", 20.0),
        ("map-gaussian-paper", 120.0),
        ("map-laplace-paper", 2000.0),
    ):
        row = experiment(
            at,
            WIDE,
            HIGH,
            people,
            sigma,
            epsilons=(epsilon,),
            draws=draws,
            mechanisms=(name,),
            delta=1e-3,
            noise=randomness(3),
        )
        more = {} if "laplace" in name else {"delta": 1e-3}
        mechanism = mechanism_named(name, epsilon=epsilon, **more)
        facts = mechanism.facts_of(people, 1, WIDE, HIGH, sigma)
        noise = randomness(11)
        plain = []
        for _ in range(draws):
            cells = mechanism.measure(at(facts.grid), facts, noise)[0]
            shown = presented(cells, facts.grid, sigma, mechanism.cell_sd(facts), "", people).values
            mse = np.mean((shown - truth / truth.sum()) ** 2)
            plain.append((np.corrcoef(shown.ravel(), truth.ravel())[0, 1], mse))
        # Where noise and signal are alike, both are seen.
        assert 0.2 < np.mean(plain, axis=0)[0] < 0.97, name
        for what, found in zip(("correlation", "mse"), np.transpose(plain), strict=True):
            error = float(np.std(found)) * math.sqrt(2 / draws)
            assert row[f"{what}_mean"].item() == pytest.approx(found.mean(), abs=4 * error), name
            assert row[f"{what}_sd"].item() == pytest.approx(found.std(), rel=0.5), name


def test_without_a_generator_the_noise_is_the_operating_systems():
    here = {"epsilons": (2.0,), "draws": 2, "mechanisms": ("map-grid",), "delta": DELTA}
    one, other = (experiment(counts_of(20), WIDE, HIGH, 20, SIGMA, **here) for _ in range(2))
    assert not one.equals(other)


def test_people_who_never_looked_leave_nothing_to_compare():
    def nobody(grid: Grid) -> PersonCounts:
        return PersonCounts.of_dense(np.zeros((3, grid.cells)))

    with pytest.raises(InputError, match="nothing in it to keep"):
        experiment(nobody, 20, 10, 3, 2.0, draws=2, mechanisms=("map-grid",), delta=DELTA)


def test_one_draw_has_no_standard_deviation():
    with pytest.raises(InputError, match=r"draws must be at least 2 .* got 1"):
        experiment(counts_of(5), WIDE, HIGH, 5, SIGMA, draws=1, delta=DELTA)


def test_figure_3_warns_that_it_was_made_from_private_data(rows, tmp_path: Path):
    figure = figure3(rows, 40, DELTA, 30)
    said = words(figure)
    assert "NO PRIVACY GUARANTEE" in said
    assert "do not publish it" in said
    assert "both maps normalised to sum 1" in said
    assert f"40 observers, δ = {DELTA:g} as in this release" in said
    assert "the paper" not in said
    assert "Gaussian of Liu et al. (2019)" in said
    assert all(curve.words in said for curve in CURVES.values())
    save(figure, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
