"""What the printed ε is about, and what it costs for a person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eyelid.mechanisms import mechanism_named
from eyelid.papers.bozkir2021.person_level import error_for_a_person, what_epsilon_means
from eyelid.papers.reproduction import Outcome
from eyelid.papers.signals import longest_facts


def test_no_printed_epsilon_is_valid_and_totals_add_up(make_source):
    found = what_epsilon_means(make_source(), ("FPA", "CFPA-32"), (0.48, 48.0))
    totals = {(cell.row, cell.column): cell.leak_free.mean for cell in found.cells}
    # Three recordings, of which CFPA-32 cuts 40 rows in two.
    assert totals["FPA", "ε = 0.48"] == pytest.approx(3 * 0.48)
    assert totals["CFPA-32", "ε = 48"] == pytest.approx(3 * 2 * 48)
    assert found.says.startswith("None of 4 guarantees is valid")
    assert found.verdict.claim is Outcome.NO


def test_thousands_are_parted(make_source):
    found = what_epsilon_means(make_source(rows=400), ("FPA", "CFPA-32"), (48.0,))
    assert found.says.endswith("a person would lose ε = 144 by FPA; 1,872 by CFPA-32.")


def test_the_error_is_that_of_a_mechanism_whose_guarantee_is_valid(make_source):
    source = make_source(rows=24)
    found = error_for_a_person(source, ("FPA", "CFPA-8"), (0.48, 48.0))
    ours = mechanism_named("cfpa", epsilon=48.0, unit="person", chunk=8)
    cell = found.at("CFPA-8", "ε = 48")
    assert cell.leak_free.mean == pytest.approx(
        ours.expected_rmse_of_span(longest_facts(source.table))
    )
    assert ours.claims_to_hold
    # Nothing of another kind shares its row.
    assert all(cell.printed is None and cell.by_protocol is None for cell in found.cells)
    assert found.rows == ["LPA", "FPA", "CFPA-8"]


def test_without_public_bounds_no_error_is_promised(make_source):
    found = error_for_a_person(replace(make_source(), public_bounds=False), ("FPA",), (0.48,))
    assert "no public bounds" in found.not_run
    assert not found.cells
