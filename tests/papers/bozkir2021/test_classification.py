"""Tables 1 to 9 on a few made-up people: every number, what is said of it, and the controls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.papers.bozkir2021.classification import TABLES_OF_READERS, tables
from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.recognition import Effort, Question, Subject, chance_of, value_of
from eyelid.papers.bozkir2021.sources import PRIVACY

EFFORT = Effort(
    ("FPA", "CFPA-32"), (0.48,), repeats=2, repeats_kept=1, runs_for_k=1, thinner=1, seed=1
)


# With vote, and people per window.
WANTED = [table for table in TABLES_OF_READERS if table.number in (1, 2, 3, 8)]


@pytest.fixture(scope="module")
def exhibits(make_source):
    return {exhibit.name: exhibit for exhibit in tables(make_source(), EFFORT, WANTED)}


def test_tables_have_printed_ours_and_honest_numbers(exhibits):
    assert list(exhibits)[:4] == ["Table 1", "Table 2", "Table 3", "Table 8"]
    for number in (1, 2, 3, 8):
        table = exhibits[f"Table {number}"]
        # Each method in both readings, the second one run once.
        assert table.rows == ["FPA", f"FPA, {KEPT}", "CFPA-32", f"CFPA-32, {KEPT}"]
        assert len(table.cells) == 4 * 4
        assert "2 noisy runs as printed and 1 with a mean without noise" in table.protocol
        assert "each k chosen by 1 more (100 in the paper)" in table.protocol
        for cell in table.cells:
            assert 0 <= cell.printed <= 1
            assert 0 <= cell.by_protocol.mean <= 1
            assert (cell.by_protocol.spread is None) == cell.row.endswith(KEPT)
            assert 0 <= cell.leak_free.low <= cell.leak_free.mean <= cell.leak_free.high <= 1
    assert [round(exhibits[f"Table {n}"].chance, 3) for n in (1, 2, 3)] == [0.333, 0.5, 0.25]


def test_noise_of_whole_signals_is_taken_for_people_and_that_is_said(exhibits):
    table = exhibits["Table 3"]
    nearest = next(c for c in table.cells if (c.row, c.column) == ("FPA", "ε = 0.48, k-NN"))
    assert nearest.by_protocol.mean == 1
    assert nearest.leak_free.mean < 0.6
    assert "In 2 of 2 rows of whole signals" in table.says
    assert "most in FPA: 1.00; zero: 1.00" in table.says
    assert "it is the noise, which runs through both halves of a recording" in table.says


def test_noise_of_chunks_is_never_said_to_run_through_both_halves(exhibits):
    for name in ("Table 3", "Table 8"):
        said = exhibits[name].says
        assert "of 2 rows of whole signals" in said
        assert "CFPA" not in said.partition("signals are zero")[2].partition("it is the noise")[0]


def test_who_looks_at_means_names_people_if_the_mean_gets_no_noise(exhibits):
    table = exhibits["By means, made up"]
    assert table.at(f"CFPA-32, {KEPT}", "ε = 0.48, means, trusted").leak_free.mean == 1
    assert table.at("no noise", "ε = 0.48, means, trusted").leak_free.mean == 1
    assert table.at("CFPA-32", "ε = 0.48, means, trusted").leak_free.mean < 0.6
    assert table.chance == 0.25
    assert "not told from guessing, if the mean gets noise; 1.00 (0.40–1.00)" in table.says
    assert "Means over recordings name up to 1.00." in exhibits["Table 3"].says
    assert "Means over recordings" not in exhibits["Table 1"].says


def test_the_controls_show_nothing_but_noise_and_no_noise(exhibits):
    controls = exhibits["Controls, made up"]
    assert controls.rows == [
        "no noise",
        "FPA, nothing but noise",
        f"FPA, {KEPT}, nothing but noise",
        "CFPA-32, nothing but noise",
        f"CFPA-32, {KEPT}, nothing but noise",
    ]
    cells = {(cell.row, cell.column): cell for cell in controls.cells}
    assert cells["FPA, nothing but noise", "Table 3, k-NN"].by_protocol.mean == 1
    assert cells["FPA, nothing but noise", "Table 3, k-NN"].leak_free is None
    # People have a level of their own: without noise they are found in other tasks.
    assert cells["no noise", "Table 3, k-NN"].leak_free.mean > 0.5


def test_one_task_leaves_no_document_to_tell_and_numbers_are_the_same_again(make_source):
    effort = replace(EFFORT, methods=("FPA",), repeats=1)
    document, _, person, *_ = TABLES_OF_READERS
    found = {e.name: e for e in tables(make_source(tasks=1), effort, (document, person))}
    assert "one document only" in found["Table 1"].not_run
    assert not found["Table 1"].cells
    assert all(cell.leak_free is None for cell in found["Table 3"].cells)
    assert found["Table 3"].leak_free_protocol == ""
    assert "By means, made up" not in found
    again = tables(make_source(tasks=1), effort, (person,))
    assert again[0].cells == found["Table 3"].cells


def test_guessing_always_says_what_is_commonest(make_source):
    table = make_source().table
    unequal = replace(
        table, people=table.people.with_columns(gender=pl.Series(["f", "f", "f", "m"]))
    )
    label = pl.Series(["private"] * 120 + ["public"] * 360)
    unequal = replace(unequal, data=unequal.data.with_columns(label.alias(PRIVACY)))
    subject = Subject.of(unequal, ("task", "gender", PRIVACY), 4, 2)
    asked = ("person", "task", "gender", PRIVACY)
    assert [chance_of(subject, one) for one in asked] == [0.25, pytest.approx(1 / 3), 0.75, 0.75]


def test_limits_are_over_people_and_spreads_over_runs():
    asked = Question("person", "knn", True, True)
    runs = [{asked: np.array([1.0] + [0.0] * 19)}, {asked: np.array([1.0] + [0.0] * 19)}]
    value = value_of(runs, asked)
    # Clopper and Pearson for 1 of 20, as in THEORY.
    assert (value.mean, value.spread) == (0.05, 0.0)
    assert (round(value.low, 4), round(value.high, 3)) == (0.0013, 0.249)
    assert value_of(runs, asked._replace(model="svm")) is None
