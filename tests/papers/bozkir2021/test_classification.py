"""Tables 1 to 9 on a few simulated people: every number, what is said of it, and the controls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.papers.bozkir2021 import classification
from eyelid.papers.bozkir2021.classification import printed_alone, tables
from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.protocols import protocols
from eyelid.papers.bozkir2021.recognition import Effort, Question, Subject, chance_of, value_of
from eyelid.papers.bozkir2021.sources import PRIVACY
from eyelid.papers.bozkir2021.tables import TABLES_OF_DAILY_LIFE, TABLES_OF_READERS
from eyelid.papers.reproduction import Cell, Outcome, Value

EFFORT = Effort(
    ("FPA", "CFPA-32"), (0.48,), repeats=2, repeats_kept=1, runs_for_k=1, thinner=1, seed=1
)


# With vote, and people per window.
WANTED = [table for table in TABLES_OF_READERS if table.number in (1, 2, 3, 8)]


@pytest.fixture(scope="module")
def exhibits(make_source):
    return {exhibit.name: exhibit for exhibit in tables(make_source(), EFFORT, WANTED)}


def test_tables_have_printed_numbers_ours_and_leak_free_ones(exhibits):
    assert list(exhibits)[:4] == ["Table 1", "Table 2", "Table 3", "Table 8"]
    for number in (1, 2, 3, 8):
        table = exhibits[f"Table {number}"]
        # Each method in both readings, the second one run once.
        assert table.rows == ["FPA", f"FPA, {KEPT}", "CFPA-32", f"CFPA-32, {KEPT}"]
        assert len(table.cells) == 4 * 4
        assert table.protocol in [protocol.name for protocol in protocols(EFFORT)]
        for cell in table.cells:
            assert 0 <= cell.printed <= 1
            assert 0 <= cell.by_protocol.mean <= 1
            assert (cell.by_protocol.spread is None) == cell.row.endswith(KEPT)
            assert 0 <= cell.leak_free.low <= cell.leak_free.mean <= cell.leak_free.high <= 1
    assert [round(exhibits[f"Table {n}"].chance, 3) for n in (1, 2, 3)] == [0.333, 0.5, 0.25]


def test_what_is_not_printed_as_a_number_is_marked(exhibits):
    marks = {c.inferred for c in exhibits["Table 3"].cells if c.row.startswith("FPA")}
    assert marks == {"one 1 is printed for four classifiers"}
    assert not any(cell.inferred for cell in exhibits["Table 1"].cells)


def test_how_much_was_done_is_said_once(exhibits):
    said = " ".join(" ".join(p.inferred) for p in protocols(EFFORT, "Features are ours."))
    assert "2 noisy runs as printed and 1 with a mean without noise" in said
    assert "each k chosen by 1 more; the paper has 100" in said
    assert "k is one of 1, 2, 4, 8, … and n/2 + 1" in said
    assert "Real and imaginary part of a coefficient get independent noise" in said
    assert "mirrored half of the spectrum" in said
    assert said.count("Features are ours.") == 1
    # All windows are looked at: nothing is said of fewer.
    assert "fewer windows" not in said
    assert "6 times fewer" in str(protocols(replace(EFFORT, thinner=6)))


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


def test_who_looks_at_means_finds_people_if_the_mean_gets_no_noise(exhibits):
    table = exhibits["By means, made up"]
    assert table.at(f"CFPA-32, {KEPT}", "ε = 0.48, means, trusted").leak_free.mean == 1
    assert table.at("no noise", "ε = 0.48, means, trusted").leak_free.mean == 1
    assert table.at("CFPA-32", "ε = 0.48, means, trusted").leak_free.mean < 0.6
    assert table.chance == 0.25
    assert "not told from guessing, if the mean gets noise; 1.00 (0.40–1.00)" in table.says
    assert "Means over recordings re-identify up to 1.00." in exhibits["Table 3"].says
    assert "Means over recordings" not in exhibits["Table 1"].says


def test_the_controls_show_nothing_but_noise_and_no_noise(exhibits):
    controls = exhibits["Controls, made up"]
    assert controls.rows == [
        "FPA, nothing but noise",
        f"FPA, {KEPT}, nothing but noise",
        "CFPA-32, nothing but noise",
        f"CFPA-32, {KEPT}, nothing but noise",
    ]
    cells = {(cell.row, cell.column): cell for cell in controls.cells}
    assert cells["FPA, nothing but noise", "Table 3, k-NN"].by_protocol.mean == 1
    assert "re-identified in 1.00 of recordings released by FPA" in controls.says
    # What is printed is about real signals: it does not stand beside zeros.
    assert all(cell.leak_free is None and cell.printed is None for cell in controls.cells)


def test_clean_data_are_the_baseline_and_quoted_numbers_stand_beside(exhibits):
    clean = exhibits["Clean data, made up"]
    people = clean.at("Person identification, with majority vote (Table 3)", "k-NN")
    # People have a level of their own: without noise they are found in other tasks.
    assert people.leak_free.mean > 0.5
    quoted = [cell for cell in clean.cells if cell.printed is not None]
    assert [(cell.row, cell.column, cell.printed) for cell in quoted] == [
        ("Gender, with majority vote (Table 2)", "SVM", 0.7)
    ]
    assert "previous work" in quoted[0].inferred
    assert "Learned from a release at ε = 0.48" in clean.says


def test_a_table_of_an_absent_dataset_shows_what_is_printed():
    found = {t.number: printed_alone("MPIIPrivacEye", t, "absent") for t in TABLES_OF_DAILY_LIFE}
    assert found[4].at("CFPA-128", "ε = 48, RF").printed == 0.59
    assert found[9].at("FPA", "ε = 48, DT").printed == 0.94
    assert found[5].at("FPA", "ε = 24, SVM").inferred == "one 1 is printed for four classifiers"
    for exhibit in found.values():
        assert exhibit.not_run == "absent"
        assert len(exhibit.cells) == 7 * 5 * 4
        assert all(c.by_protocol is None and c.leak_free is None for c in exhibit.cells)


@pytest.mark.parametrize(
    ("low", "number", "wanted"),
    [
        # Documents are told, or not; genders are hidden, or not; people of chunks are hidden.
        (0.4, 1, Outcome.YES),
        (0.1, 1, Outcome.NO),
        (0.6, 2, Outcome.NO),
        (0.4, 2, Outcome.YES),
        (0.1, 3, Outcome.PARTLY),
    ],
)
def test_claims_are_judged_by_leak_free_rates_at_the_smallest_epsilon(low, number, wanted):
    table = next(table for table in TABLES_OF_READERS if table.number == number)
    chance = {1: 1 / 3, 2: 0.5, 3: 0.25}[number]
    cells = [
        Cell(row, f"ε = {epsilon:g}, RF", 0.5, Value(0.5), Value(0.7, None, one, 0.9))
        for row, epsilon, one in (
            ("FPA", 0.48, low),
            ("CFPA-32", 0.48, 0.0),
            # Neither a mean without noise nor a larger ε has a say.
            (f"CFPA-32, {KEPT}", 0.48, 0.65),
            ("FPA", 48.0, 0.65),
        )
    ]
    assert classification._claim(table, cells, [], 0.48, chance) is wanted


def test_one_task_leaves_no_document_to_tell_and_numbers_are_the_same_again(make_source):
    effort = replace(EFFORT, methods=("FPA",), repeats=1)
    document, _, person, *_ = TABLES_OF_READERS
    found = {e.name: e for e in tables(make_source(tasks=1), effort, (document, person))}
    assert "one document only" in found["Table 1"].not_run
    assert not found["Table 1"].cells
    assert all(cell.leak_free is None for cell in found["Table 3"].cells)
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


def test_numbers_near_guessing_must_come_nearer_than_guessing_does():
    def cells(printed: float, ours: float) -> list[Cell]:
        return [Cell("CFPA-32", f"ε = {epsilon:g}, RF", printed, Value(ours)) for epsilon in (1, 2)]

    # Printed 0.15 where guessing gives 0.05: ours, at 0.07, says no more than guessing.
    outcomes = [
        classification._reproduced(cells(printed, ours), 0.05)
        for printed, ours in ((0.15, 0.07), (0.15, 0.12), (0.90, 0.82), (0.90, 0.70))
    ]
    assert outcomes == [Outcome.NO, Outcome.YES, Outcome.YES, Outcome.NO]


def test_what_guessing_gets_as_near_is_told_not_to_count():
    def cells(printed, ours):
        return [Cell("FPA", f"ε = 0.48, {c}", printed, Value(ours)) for c in ("k-NN", "SVM")]

    said = classification._as_guessing(cells(0.38, 0.45), 0.5)
    assert said.startswith("Guessing is nearly as near to the printed shares of FPA,")
    assert classification._as_guessing(cells(0.87, 0.80), 0.33) == ""
    # What is far off is said to be not reproduced already.
    assert classification._as_guessing(cells(0.38, 0.80), 0.5) == ""
