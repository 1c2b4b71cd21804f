"""Figures 3 to 6, against signals of which the correlation is known."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.papers.bozkir2021.correlation import correlations, independent
from eyelid.papers.bozkir2021.experiment import paper_features
from eyelid.papers.bozkir2021.sources import Source


@pytest.mark.parametrize("people", [5, 20])
def test_unrelated_numbers_have_this_mean_absolute_correlation(people):
    drawn = np.random.default_rng(1).normal(size=(2, 20_000, people))
    drawn -= drawn.mean(axis=2, keepdims=True)
    one, other = drawn / np.linalg.norm(drawn, axis=2, keepdims=True)
    # A standard error is below 0.002.
    assert independent(people) == pytest.approx(np.abs((one * other).sum(axis=1)).mean(), abs=0.01)


@pytest.fixture
def windows_of_bins(table_of) -> Source:
    """Sums over ten neighbouring bins that have nothing to do with each other."""
    bins = np.random.default_rng(4).normal(size=(60, 2, 70, 3))
    sums = np.lib.stride_tricks.sliding_window_view(bins, 10, axis=2).sum(axis=-1)
    return Source("made up", table_of(sums), "")


def test_differences_a_window_apart_are_correlated_at_minus_a_half(windows_of_bins):
    found = correlations(windows_of_bins, "large_saccade_ratio", "Figures 3 and 4")
    cells = {(cell.row, cell.column): cell.by_protocol.mean for cell in found.cells}
    back = [cells[f"differences, {task}", "Δt = one window, all features"] for task in "01"]
    # What enters, once, against what leaves: −1/2; of 3 features and 60 people within 0.25.
    assert back == pytest.approx([-0.5, -0.5], abs=0.25)
    assert cells["signals, 0", "Δt within a window"] > cells["differences, 0", "Δt within a window"]
    assert "but not independent" in found.says
    assert list(found.pictures) == ["figures-3-and-4"]


def test_signals_without_overlap_are_not_said_to_be_dependent(table_of):
    walks = np.random.default_rng(4).normal(size=(60, 1, 40, 3)).cumsum(axis=2)
    found = correlations(Source("made up", table_of(walks), ""), "blink_rate", "Figures 5 and 6")
    assert "less correlated" in found.says
    assert "not independent" not in found.says


def test_a_feature_that_is_not_there_is_an_error(windows_of_bins):
    with pytest.raises(InputError, match="pupil"):
        correlations(windows_of_bins, "pupil", "Figures 3 and 4")


def test_differences_of_real_readers_are_correlated_a_window_apart(real_windows):
    source = Source("MPIIDPEye", paper_features(real_windows), "")
    found = correlations(source, "large_saccade_ratio", "Figures 3 and 4")
    back = [c.by_protocol.mean for c in found.cells if c.row.startswith("diff") and "=" in c.column]
    assert len(back) == 3
    assert max(back) < -0.2
