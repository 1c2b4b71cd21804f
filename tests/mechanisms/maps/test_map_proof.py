"""The proof of what heatmaps are worth, in small; `python -m proofs maps` is the whole."""

import pytest
from proofs.maps import OTHER, PAPER, compared, golden_values

from eyelid.gaze.simulator.scenes import simulated_scene


@pytest.mark.parametrize("value", list(golden_values()), ids=lambda value: value[0])
def test_the_mechanisms_say_the_theory_s_numbers(value):
    _, found, golden, unit = value
    assert found == pytest.approx(golden, abs=0.51 * unit)


@pytest.mark.parametrize(("people", "least"), [(20, 0.35), (100, 0.85)])
def test_hotspots_of_few_people_are_seen(people, least):
    """Means of 80 maps of eight scenes, which scatter by some 0.05 at 20 people and less at 100."""
    points = [simulated_scene(people, seed=number) for number in range(8)]
    found = compared(points, draws={"map-grid": 10}, names=("map-grid",))
    assert found["map-grid"].mean > least
    assert found[OTHER].mean < 0.35


@pytest.mark.parametrize("name", PAPER)
def test_the_paper_s_noise_leaves_nothing_to_see(name):
    """A map of noise has a correlation of 0 ± 0.09: of eight, four standard errors are 0.13."""
    points = [simulated_scene(100, seed=number) for number in range(8)]
    found = compared(points, draws={}, names=(name,))
    assert abs(found[name].mean) < 0.13
