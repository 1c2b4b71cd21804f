"""Correlation within and between chunks, of signals of which it is known."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.papers.bozkir2021.decorrelation import decorrelation, whole_chunks
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.reproduction import Outcome
from eyelid.papers.signals import signals_of


@pytest.fixture(scope="module")
def walks(table_of):
    """Sixty slow walks that forget: neighbouring rows have a correlation of 0.95."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=(60, 1, 128, 3))
    for row in range(1, 128):
        values[:, :, row] = 0.95 * values[:, :, row - 1] + np.sqrt(1 - 0.95**2) * values[:, :, row]
    return Source("made up", table_of(values), "")


def test_longer_chunks_of_what_forgets_are_less_correlated(walks):
    found = decorrelation(walks, (8, 32))
    cells = {(cell.row, cell.column): cell.leak_free.mean for cell in found.cells}
    for length in (8, 32):
        lags = np.arange(1, length)
        pairs = (length - lags) * 0.95**lags
        wanted = 2 * pairs.sum() / (length * (length - 1))
        # At least 240 chunks: within 0.1 of what an AR(1) process has.
        assert cells["values of a chunk", f"chunks of {length}"] == pytest.approx(wanted, abs=0.1)
    for what in ("values of a chunk", "means of neighbouring chunks"):
        assert cells[what, "chunks of 32"] < cells[what, "chunks of 8"]
    assert cells["differences of a chunk", "chunks of 32"] < 0.2
    assert found.verdict.claim is Outcome.YES
    assert "are less correlated with the next" in found.says


def test_no_chunk_is_followed_by_that_of_somebody_else(walks):
    task = next(signals_of(walks.table))
    whole, following = whole_chunks(task, 32)
    assert whole.shape == (60 * 4, 3, 32)
    assert whole[5, 1] == pytest.approx(task.values[1, 1, 32:64])
    assert set(range(240)) - set(following.tolist()) == set(range(3, 240, 4))


def test_chunks_longer_than_half_a_recording_are_left_out(walks):
    assert decorrelation(walks, (32, 128)).columns == ["chunks of 32"]
