"""What the paper says of utilities, counted on curves of which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.papers.bozkir2021.utility import READINGS, Point, Reading
from eyelid.papers.bozkir2021.utility_claims import claims_about_utility, levels
from eyelid.papers.reproduction import Outcome

METHODS = ("LPA", "FPA", "CFPA-32", "CFPA-64", "DCFPA-32", "DCFPA-64")
FIRST, KEPT = Reading(), Reading(noisy_mean=False)


def curves(*utilities: float, runs: int = 2):
    """One utility a method, in every task and run; ten times as much at the larger ε."""
    return {
        Point(method, task, epsilon): np.full(runs, utility * factor)
        for method, utility in zip(METHODS, utilities, strict=True)
        for task in ("a", "b")
        for epsilon, factor in ((0.48, 1.0), (48.0, 10.0))
    }


AS_CLAIMED = curves(1, 2, 10, 11, 30, 20)
REVERSED = curves(10, 30, 9, 3, 1, 2)


def test_claims_that_are_true_are_confirmed(make_source):
    found = claims_about_utility(make_source(), dict.fromkeys(READINGS, AS_CLAIMED), AS_CLAIMED)
    assert len(found.rows) == 5
    assert {cell.by_protocol.mean for cell in found.cells} == {1.0}
    assert {cell.printed for cell in found.cells} == {1.0}
    assert all(cell.inferred for cell in found.cells)
    assert found.verdict.claim is Outcome.YES
    assert found.says.count("confirmed in every reading") == 5
    assert "DCFPA > CFPA > FPA > LPA as printed" in found.says


def test_claims_that_are_false_are_not_confirmed_whatever_was_published(make_source):
    found = claims_about_utility(make_source(), dict.fromkeys(READINGS, REVERSED), AS_CLAIMED)
    assert {cell.by_protocol.mean for cell in found.cells} == {0.0}
    assert {cell.printed for cell in found.cells} == {1.0}
    assert found.verdict.claim is Outcome.NO
    assert found.says.count("not confirmed in any reading") == 5
    assert "FPA > LPA > CFPA > DCFPA as printed" in found.says
    assert "DCFPA > CFPA > FPA > LPA in the published numbers" in found.says


def test_readings_that_disagree_are_told_apart(make_source):
    readings = dict.fromkeys(READINGS, REVERSED) | {KEPT: AS_CLAIMED}
    found = claims_about_utility(make_source(), readings, {})
    assert found.says.count("not confirmed as printed, confirmed in others") == 5
    assert all(cell.printed is None for cell in found.cells)


def test_a_run_that_differs_shows_in_the_spread(make_source):
    mixed = {point: np.array([AS_CLAIMED[point][0], REVERSED[point][0]]) for point in AS_CLAIMED}
    found = claims_about_utility(make_source(), dict.fromkeys(READINGS, mixed), {})
    for cell in found.cells:
        assert cell.by_protocol.mean == 0.5
        assert cell.by_protocol.spread == pytest.approx(np.sqrt(0.5))


def test_levels_are_powers_of_ten_and_the_nearest_reading_is_named(make_source):
    published = {point: utility / 1e9 for point, utility in AS_CLAIMED.items()}
    near = {point: utility * 100 for point, utility in published.items()}
    found = levels(make_source(), dict.fromkeys(READINGS, AS_CLAIMED) | {KEPT: near}, published)
    assert found.at(FIRST.words, "FPA, most").by_protocol.mean == pytest.approx(9)
    assert found.at(KEPT.words, "DCFPA, least").by_protocol.mean == pytest.approx(2)
    assert f"up to 10^9.0 away; in the nearest reading ({KEPT.words}) up to 10^2.0" in found.says


def test_there_are_no_levels_without_published_numbers(make_source):
    found = levels(make_source(), dict.fromkeys(READINGS, AS_CLAIMED), {})
    assert "not at hand" in found.not_run
    assert not found.cells
