"""Run times are shares of FPA's; how long anything takes is no matter of a test."""

from __future__ import annotations

import math

import pytest

from eyelid.papers.bozkir2021.complexity import run_times


def test_operations_are_counted_and_everything_is_a_share_of_fpa(make_source):
    found = run_times(make_source(rows=40), ("FPA", "CFPA-8", "DCFPA-16"), repeats=1)
    assert found.timed
    cells = {(cell.row, cell.column): cell.leak_free.mean for cell in found.cells}
    assert {cells["FPA", column] for column in found.columns} == {1.0}
    operations = "operations, n·log₂ c"
    assert cells["CFPA-8", operations] == pytest.approx(3 / math.log2(40))
    assert cells["DCFPA-16", operations] == pytest.approx(4 / math.log2(40))
    assert all(share > 0 for share in cells.values())
    assert "CFPA-8 takes 0.56 of FPA's time" in found.says
