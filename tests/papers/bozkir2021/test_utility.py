"""Figures 7 to 12: utility beside what was published, and the error at person level."""

from __future__ import annotations

import math

import pytest

from eyelid.errors import InputError
from eyelid.mechanisms import mechanism_named
from eyelid.papers.bozkir2021.utility import published_nmse, slope, utilities
from eyelid.papers.signals import longest_facts

FIGURES = ("Figure 7", "Figure 8", "Figure 9")
HEAD = "dataset,mechanism,chunk,epsilon,NMSE_R1,NMSE_R2,NMSE_R3\n"


@pytest.fixture
def published(tmp_path):
    (tmp_path / "nmse.csv").write_text(
        HEAD + "MPIIDPEye,FPA,0,0.01,10000,-100,1\nMPIIPrivacEye,FPA,0,0.01,5,5,5\n"
    )
    return published_nmse(tmp_path, "MPIIDPEye", ("0", "1", "2"))


def shown(source, published):
    return utilities(source, published, FIGURES, (0.48, 48.0), (8,), runs=2, seed=1)


@pytest.fixture(scope="module")
def alone(make_source):
    """Without the published numbers."""
    return shown(make_source(rows=24), None)


def test_published_numbers_stand_beside_ours_as_powers_of_ten(make_source, published):
    first, *_ = shown(make_source(rows=24), published)
    cells = {(cell.row, cell.column): cell for cell in first.cells}
    assert cells["FPA, 0", "ε = 0.48"].printed == pytest.approx(-4)
    assert cells["FPA, 1", "ε = 0.48"].printed == pytest.approx(-2)
    assert cells["FPA, 2, mean without noise", "ε = 0.48"].printed == pytest.approx(0)
    assert cells["FPA, 0", "ε = 48"].printed is None
    assert "not at hand" not in first.says


def test_without_them_that_is_said_and_all_rows_are_there(alone):
    assert [exhibit.name for exhibit in alone] == list(FIGURES)
    assert all("not at hand" in exhibit.says for exhibit in alone)
    # LPA keeps no mean: 3 tasks × (1 + 2), then 3 × 2.
    assert [len(exhibit.rows) for exhibit in alone] == [9, 6, 6]
    assert all(math.isfinite(cell.as_printed.mean) for e in alone for cell in e.cells)


def test_the_honest_error_is_that_of_a_mechanism_that_holds(alone, make_source):
    source = make_source(rows=24)
    _, chunked, _ = alone
    ours = mechanism_named("cfpa", epsilon=48.0, unit="person", chunk=8)
    cell = next(c for c in chunked.cells if (c.row, c.column) == ("CFPA-8, 1", "ε = 48"))
    expected = ours.expected_rmse_of_span(longest_facts(source.table))
    assert cell.honest.mean == pytest.approx(expected)
    assert ours.claims_to_hold


def test_slopes_are_those_of_a_power_law():
    assert slope({0.01: 3e4, 0.1: 3e2, 1.0: 3.0}) == pytest.approx(-2)
    assert slope({1.0: 3.0}) is None


def test_a_folder_without_the_numbers_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no nmse\.csv"):
        published_nmse(tmp_path, "MPIIDPEye", ("0",))
    assert published_nmse(None, "MPIIDPEye", ("0",)) is None
