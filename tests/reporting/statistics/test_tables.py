"""Results in words: tables that nothing in a name breaks, and a figure that shows every result."""

import polars as pl
import pytest

from eyelid.reporting.statistics.figure import draw_results, panels_of, save
from eyelid.reporting.statistics.tables import (
    COLUMNS,
    caption,
    cells,
    in_latex,
    in_markdown_table,
    p_value,
    rounded,
    spoken,
)

ROWS = [
    ("fixation_duration", "comic", "f", "mean", 231.2, 215.0, 250.0, 4.0, 10, "ms", None, ""),
    ("fixation_duration", "comic", "m", "mean", 221.2, 205.0, 240.0, 4.0, 10, "ms", None, ""),
    ("hit:a|b", "home", "f", "share", 0.8, 0.6, 0.97, 0.05, 10, "1", None, ""),
    ("rate", "a - b", "f", "higher", 0.72, 0.5, 0.9, 0.05, 10, "1", 0.0003, ""),
    ("rate", "", "f", "median", 3.4, None, None, None, 10, "1/s", None, ""),
]


@pytest.fixture
def results():
    return pl.DataFrame([(*row, 0.7, 0.2, 0.1) for row in ROWS], schema=COLUMNS, orient="row")


def test_a_table_in_markdown_has_a_row_for_every_result(results):
    text = in_markdown_table(results, "of [nobody](x)")
    lines = text.splitlines()
    assert len([line for line in lines if line.startswith("|")]) == len(ROWS) + 2
    assert r"hit:a\|b" in text
    assert r"\[nobody]" in text
    assert "| 231 ms | 215 to 250 |" in text
    assert "< 0.001" in text


def test_a_table_in_latex_obeys_no_name(results):
    spoilt = results.with_columns(measure=pl.lit(r"a_b%\input{c}"))
    text = in_latex(spoilt, "ε = 1")
    assert r"a\_b\%\textbackslash{}input\{c\}" in text
    assert r"$\varepsilon$ = 1" in text
    assert text.count(r" \\") == len(ROWS) + 1


def test_what_is_off_stands_below_the_table_and_not_in_the_file_alone(results):
    flagged = results.with_columns(
        note=pl.when(pl.col("group") == "m")
        .then(pl.lit("a clipped mean: about 20% of people lie outside; spread by the norm"))
        .otherwise(pl.lit("spread between people by the norm"))
    )
    below = caption(flagged, 20, "ε = 1")
    said = "The mean of fixation_duration (comic, m) is a clipped mean: about 20% of people lie out"
    assert below.count(said) == 1
    assert "by the norm" not in below
    assert said in in_markdown_table(flagged, below)
    assert "is a clipped mean: about 20\\% of people" in in_latex(flagged, below)


def test_numbers_have_as_many_digits_as_their_interval(results):
    first, *_, last = [cells(row) for row in results.iter_rows(named=True)]
    assert first["estimate"] == "231 ms"
    assert (last["estimate"], last["95% interval"], last["noise SD"]) == ("3.4/s", "–", "–")
    assert rounded(-0.001, 1.0) == "0.0"
    assert p_value(0.0) == "< 0.001"


def test_every_result_is_drawn_on_the_axis_of_its_measure(results, tmp_path):
    assert [len(panel) for panel in panels_of(results)] == [2, 1, 1, 1]
    drawn = draw_results(results)
    assert len(drawn.axes) == 4
    labels = [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    assert labels == ["comic, f", "comic, m"]
    for kind in ("svg", "pdf", "png"):
        save(drawn, tmp_path / f"results.{kind}")
    again = tmp_path / "again.svg"
    save(draw_results(results), again)
    assert again.read_bytes() == (tmp_path / "results.svg").read_bytes()


def test_differences_have_an_axis_of_their_own(results):
    rows = [*ROWS[:2], ("fixation_duration", "a - b", "f", "mean", 9.0, -5.0, 20.0, *ROWS[0][7:])]
    frame = pl.DataFrame([(*row, 0.7, 0.2, 0.1) for row in rows], schema=COLUMNS, orient="row")
    assert [panel["task"].to_list() for panel in panels_of(frame)] == [
        ["comic", "comic"],
        ["a - b"],
    ]
    drawn = draw_results(frame)
    assert [axes.get_xlabel() for axes in drawn.axes] == [
        "fixation_duration, mean (ms)",
        "difference of fixation_duration, mean (ms)",
    ]
    assert drawn.axes[0].get_xlim()[0] > 100


def test_a_comparison_of_groups_is_labelled_by_both(results):
    row = ("mood", "", "f > m", "superiority", 0.6, 0.5, 0.7, *ROWS[0][7:])
    frame = pl.DataFrame([(*row, 0.7, 0.2, 0.1)], schema=COLUMNS, orient="row")
    (axes,) = draw_results(frame).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["f > m"]


def test_what_counts_half_is_said_where_results_are_read():
    assert spoken("higher") == "share of people higher (ties and missing people count half)"


def test_the_last_digits_of_a_layout_do_not_show(results, tmp_path):
    drawn, other = draw_results(results), draw_results(results)
    other.draw_without_rendering()
    other.set_layout_engine("none")
    for axes in other.axes:
        x, y, width, height = axes.get_position().bounds
        axes.set_position([x + 1e-9, y - 1e-9, width, height])
    for name, figure in (("one", drawn), ("other", other)):
        save(figure, tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
