"""Liu et al. 2019 done again: golden numbers of theory, oracles for the rest, and real people."""

import math

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.grid import Grid
from eyelid.papers.liu2019 import copies, heatmaps, observers, theorems
from eyelid.papers.liu2019.copies import ALLOWED, COPIES, SOUND_COPIES
from eyelid.papers.liu2019.heatmaps import (
    AT,
    FIXATIONS,
    GAUSSIAN,
    LAPLACIAN,
    SAMPLED,
    Maps,
    rows_of,
)
from eyelid.papers.liu2019.observers import FEW, TIMES, find_observers


@pytest.fixture(scope="module")
def made_up():
    """Made-up people on small pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observers, "_SCENE_PX", (210, 132))
        return find_observers(None, 2, 0)


@pytest.fixture(scope="module")
def maps(made_up):
    return Maps.drawn(made_up, 20, 0)


def test_the_example_has_the_golden_numbers():
    found = theorems.example()
    gaussian, limited, laplacian, limited_laplacian = found.cells
    assert gaussian.printed == 0.0986
    assert gaussian.as_printed.mean == pytest.approx(0.09917, abs=5e-6)
    assert gaussian.honest.mean == pytest.approx(0.08538, abs=5e-6)
    assert limited.honest.mean == pytest.approx(0.000498, abs=5e-7)
    assert laplacian.as_printed.mean == pytest.approx(33.26, abs=5e-3)
    assert limited_laplacian.honest.mean == pytest.approx(math.sqrt(2) * 60 / (1.5 * 50_000))
    assert "0.0986 with ε/4" in found.says
    # The paper names the wrong theorem, and we say so.
    assert "'based on Theorem 3.5'" in found.says


@pytest.mark.parametrize(
    ("row", "cells", "times"),
    [
        ("okay privacy (ε = 3)", "4 cells", 3.60),
        ("okay privacy (ε = 3)", "16 cells", 1.58),
        ("good privacy (ε = 1)", "1 cell", 2.03),
        ("good privacy (ε = 1)", "2 cells", 1.32),
    ],
)
def test_few_cells_lose_more_than_they_promise(row, cells, times):
    found = theorems.few_cells()
    assert found.at(row, cells).honest.mean == pytest.approx(times, abs=0.01)
    assert found.at(row, "1,024 cells").honest.mean < 1
    assert "up to 2 cells at level good and up to 16 cells at level okay" in found.says


def test_nothing_without_noise_protects_anybody(made_up):
    found = theorems.no_free_privacy(made_up.few, seed=1)
    free, *drawn = found.cells
    assert free.honest.mean == 1
    with_replacement = 1 - (1 - 1 / 200) ** np.array([100, 200])
    for cell, truth in zip(drawn, [0.5, 1.0, *with_replacement], strict=True):
        # Limits of 95 % at a fixed seed.
        assert cell.honest.low <= truth <= cell.honest.high
    assert drawn[-1].as_printed.mean == pytest.approx(0.632, abs=5e-4)
    # Formulas are printed there, no numbers.
    assert all(cell.printed is None for cell in drawn)


def test_figure_2_has_the_observers_that_the_paper_names():
    good, okay = theorems.slice_of_300().cells
    for cell, epsilon in ((good, 1), (okay, 3)):
        people = cell.as_printed.mean
        inside = epsilon / 2 + math.log(300**2 * people**1.5)
        # Between points of a curve that is nearly straight.
        assert 300 * math.sqrt(inside) / (people * epsilon) == pytest.approx(1.5, rel=0.005)
        assert cell.as_printed.mean == pytest.approx(cell.printed, rel=0.05)
        assert cell.honest.mean < cell.as_printed.mean


def test_the_surfaces_are_the_theorem_and_what_is_enough():
    found = theorems.surfaces()
    cell = found.at("good privacy (ε = 1), 1,000 observers", "300 × 300 px")
    theorem = 300 / 1000 * math.sqrt(0.5 + math.log(300**2 * 1000**1.5))
    assert cell.as_printed.mean == pytest.approx(theorem)
    ratios = [one / other for one, other in (cell.ours for cell in found.cells)]
    assert f"{min(ratios):.2f} to {max(ratios):.2f}" in found.says


@pytest.mark.parametrize("kind", [FIXATIONS, SAMPLED])
def test_heatmaps_as_printed_are_what_a_plain_loop_gives(maps, kind):
    """Twenty draws each: the means differ by less than 25 % but once in a million."""
    looks, sigma_px = maps.looks[kind], maps.observers.sigma_px
    width_px, height_px = maps.observers.size
    pixels, people = width_px * height_px, FEW * TIMES
    noise = math.sqrt(pixels * (0.75 + math.log(pixels * people**1.5))) / (people * 1.5)
    rng = np.random.default_rng(3)

    def heat(values):
        return gaussian_filter(values, sigma_px, mode="constant", truncate=7)

    truth = heat(gaze_map(looks).values)
    capped = np.zeros((height_px, width_px))
    for person in range(FEW):
        capped += np.minimum(gaze_map(looks.of_people(person, person + 1)).values, 1) / FEW
    maps_drawn = [
        heat(capped + noise * rng.standard_normal((height_px, width_px))) for _ in range(20)
    ]
    errors = [np.mean((drawn - truth) ** 2) / truth.var() for drawn in maps_drawn]
    _, found = maps.likeness(kind, GAUSSIAN, GAUSSIAN.paper, 1.5)
    assert found.mean == pytest.approx(np.mean(errors), rel=0.25)


def test_figure_3_says_what_it_shows(maps):
    correlation, error = heatmaps.figure3(maps)

    def at(exhibit, noise, kind):
        return [exhibit.at(row, AT).as_printed.mean for row, _ in rows_of(noise, kind)]

    theirs, ours = at(correlation, GAUSSIAN, SAMPLED)
    assert f"{theirs:.2f}" in correlation.says
    assert ours > theirs
    for kind in (FIXATIONS, SAMPLED):
        gaussian, laplacian = at(error, GAUSSIAN, kind), at(error, LAPLACIAN, kind)
        assert gaussian[0] < laplacian[0]
        assert gaussian[1] < laplacian[1] < laplacian[0]
    assert len(correlation.pictures) == len(error.pictures) == 1


def test_no_number_of_copies_is_called_honest_and_each_exhibit_warns(maps):
    for exhibit in (*heatmaps.figure3(maps), heatmaps.figure2_heatmaps(maps)):
        assert all(cell.honest is None for cell in exhibit.cells)
        assert "No number of these could be published of the 5 people" in exhibit.says
        assert all("simulated people" in str(picture) for picture in exhibit.pictures.values())


def test_copies_protect_nobody_who_was_recorded(made_up):
    found = copies.whom_copies_protect(made_up)
    one_copy, person = found.at(COPIES, AT).ours
    assert one_copy < 0.51
    assert person > found.at(ALLOWED, AT).honest.mean == pytest.approx(0.5 + 0.5 * math.tanh(0.75))
    assert f"{100 * person:.1f} %" in found.says


def test_a_sound_mechanism_for_copies_protects_copies_and_no_person(made_up):
    found = copies.whom_copies_protect(made_up)
    for column in found.columns:
        allowed = found.at(ALLOWED, column).honest.mean
        one_copy, person = found.at(SOUND_COPIES, column).ours
        assert one_copy < allowed < person
        assert person >= found.at(COPIES, column).honest.mean


def test_who_was_in_it_is_told_as_often_as_in_play(made_up):
    """Noise for five, played a thousand times a pair: 5 standard errors are 0.011."""
    looks = made_up.pictures[0]
    counts = np.minimum(looks.counts(Grid.of_pixels(*made_up.size)).dense, 1.0)
    sound = heatmaps.built("map-gaussian", 5.0)
    sigma = sound.cell_sd(sound.facts_of(FEW, 1, *made_up.size))
    rng = np.random.default_rng(5)
    right = []
    for one in range(FEW):
        for other in range(FEW, len(looks.people)):
            differs = np.flatnonzero(counts[one] != counts[other])
            apart = (counts[one] - counts[other])[differs] / FEW
            seen = apart + sigma * rng.standard_normal((1000, differs.size))
            right.append(np.mean(seen @ apart > apart @ apart / 2))
    found = copies.whom_copies_protect(made_up)
    honest = found.at(f"map-gaussian for N = {FEW}", "ε = 5").honest.mean
    assert honest == pytest.approx(np.mean(right), abs=0.011)


def test_so_few_people_get_little_and_the_blob_stands_beside_it(made_up):
    found = copies.without_copies(made_up, repeats=1, seed=0)
    assert found.rows[0] == "5 observers"
    assert found.rows[2] == "15 observers"
    theirs, ours = found.at("15 observers", "ε = 5").ours
    assert ours > theirs
    blob = found.at(found.rows[-1], AT).honest.mean
    assert f"{blob:.2f}" in found.says


def test_made_up_samples_are_as_many_as_fixations_last(made_up):
    samples = made_up.samples(0)
    assert len(samples.people) == FEW
    # 250 ms at 60 Hz, less those that leave the picture.
    assert samples.person.size + samples.outside == 15 * made_up.few.person.size


def test_real_people_show_the_papers_order(real_data):
    if not (real_data / "OSIE").exists():
        pytest.skip("OSIE is not in EYELID_DATA")
    people = find_observers(real_data, 1, 0)
    assert not people.data.simulated
    assert "15 people" in people.data.says
    maps = Maps.drawn(people, 2, 0)
    theirs, _ = maps.likeness(SAMPLED, GAUSSIAN, GAUSSIAN.paper, 1.5)
    worse, _ = maps.likeness(SAMPLED, LAPLACIAN, LAPLACIAN.paper, 1.5)
    ours, _ = maps.likeness(SAMPLED, GAUSSIAN, GAUSSIAN.ours, 1.5)
    assert worse.mean < 0.3 < theirs.mean < 0.9 < ours.mean
