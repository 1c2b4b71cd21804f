"""A small study to compare on."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from eyelid.gaze.table import FeatureTable


@pytest.fixture(scope="session")
def small(simulated_table: FeatureTable) -> FeatureTable:
    """Six simulated people, five features, every twelfth window."""
    row = pl.int_range(pl.len()).over("person", "recording")
    data = simulated_table.data.filter(row % 12 == 0)
    return replace(simulated_table, data=data).only(*simulated_table.names[:5])
