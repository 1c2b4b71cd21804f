"""What is said of tables follows from their numbers."""

from __future__ import annotations

import pytest

from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.sentences import (
    AS_PRINTED,
    best,
    best_printed,
    gaps,
    largest,
    most,
    nearness,
    noise_alone,
    what_comes_out,
)
from eyelid.papers.reproduction import Cell, Exhibit, Value

CELLS = (
    Cell("FPA", "ε = 0.48, k-NN", 0.50, Value(0.52), Value(0.05, None, 0.00, 0.25)),
    Cell("FPA", "ε = 0.48, RF", 0.90, Value(0.40), Value(0.30, None, 0.12, 0.54)),
    Cell(f"FPA, {KEPT}", "ε = 0.48, k-NN", 0.50, Value(0.50), Value(0.02, None, 0.00, 0.20)),
    Cell(f"FPA, {KEPT}", "ε = 0.48, RF", 0.90, Value(0.84), Value(0.77, None, 0.53, 0.93)),
    Cell("CFPA-32", "ε = 0.48, k-NN", 0.92, Value(0.06), Value(0.18, None, 0.05, 0.41)),
    Cell(f"CFPA-64, {KEPT}", "ε = 0.48, k-NN", 0.92, Value(0.12)),
)


def test_distances_are_by_family_and_reading():
    found = gaps(CELLS)
    assert found["FPA"][AS_PRINTED] == pytest.approx((0.26, 0.50))
    assert found["FPA"][KEPT] == pytest.approx((0.03, 0.06))
    assert found["CFPA"][AS_PRINTED] == pytest.approx((0.86, 0.86))
    assert found["CFPA"][KEPT] == pytest.approx((0.80, 0.80))


def test_what_does_not_come_out_is_said_to_be_not_reproduced():
    assert what_comes_out(CELLS) == (
        f"Within 0.1 of the printed shares on average: FPA (0.03 off, {KEPT}). "
        f"Not reproduced in either reading: CFPA (0.80 off, {KEPT})."
    )


def test_a_reading_that_was_not_run_is_not_said_to_fail():
    as_printed = [cell for cell in CELLS if KEPT not in cell.row]
    assert what_comes_out(as_printed) == (
        f"Not reproduced: FPA (0.26 off, {AS_PRINTED}) and CFPA (0.86 off, {AS_PRINTED})."
    )


def test_the_best_classifier_is_each_protocols_own():
    assert best(CELLS, "FPA", 0.48, "by_protocol") == ("k-NN", Value(0.52))
    classifier, value = best(CELLS, "FPA", 0.48, "leak_free")
    assert (classifier, value.mean) == ("RF", 0.30)
    assert best(CELLS, "FPA", 48.0, "leak_free") is None
    assert best_printed(CELLS, "FPA", 0.48) == 0.90


def test_only_rows_that_are_recognised_and_noise_are_called_noise():
    nothing = {("FPA", "k-NN"): 0.50, (f"FPA, {KEPT}", "RF"): 0.30, ("CFPA-32", "k-NN"): 0.06}
    rows = ["FPA", f"FPA, {KEPT}", "CFPA-32"]
    said = noise_alone(CELLS, nothing, rows, 0.48, 0.05, "rows", "which stays")
    assert said == (
        "In 1 of 3 rows at ε = 0.48 as much is recognised if all signals are zero (most in FPA: "
        "0.52; zero: 0.50): it is the noise, which stays."
    )
    assert noise_alone(CELLS, nothing, rows[1:], 0.48, 0.05, "rows", "which stays") == ""


def test_the_largest_rate_stands_beside_the_printed_one_and_says_when_it_is_guessing():
    assert largest(CELLS[4:], 0.05) == (
        "The largest of 1 leak-free rates is 0.18 (0.05–0.41), CFPA-32, ε = 0.48, k-NN (printed "
        "0.92), not told from guessing; chance 0.05."
    )
    assert "guessing" not in largest(CELLS, 0.05)
    assert largest(CELLS[5:], 0.05) == ""


def test_the_most_of_each_reading_is_its_own():
    assert most(CELLS, 0.48, noisy_mean=True)[1:] == ("FPA, RF", 3)
    assert most(CELLS, 0.48, noisy_mean=False)[1:] == ("FPA, RF", 2)


def test_the_nearer_reading_is_counted(make_source):
    found = nearness(make_source(), [Exhibit("Table 3", "", cells=CELLS)])
    assert found.says == (
        "Of 2 families of numbers 1 come within 0.1 on average in the nearer reading "
        f"(Table 3, FPA); 1 are not reproduced. Nearer is 2 times a {KEPT}."
    )
    assert found.at("Table 3, CFPA", f"{AS_PRINTED}, at most").by_protocol.mean == pytest.approx(
        0.86
    )
