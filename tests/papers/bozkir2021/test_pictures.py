"""Pictures of made-up people say so themselves."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from eyelid.papers.bozkir2021.methods import KEPT
from eyelid.papers.bozkir2021.pictures import accuracy_picture, labelled
from eyelid.papers.reproduction import Cell, Value

CELLS = [
    Cell(row, f"ε = {epsilon:g}, RF", 0.5, Value(0.25), Value(value))
    for row, value in (("FPA", 0.125), (f"FPA, {KEPT}", 0.75))
    for epsilon in (0.48, 48.0)
]


def test_a_label_is_put_below_where_people_are_made_up(make_source):
    source = make_source()
    picture = accuracy_picture(CELLS, (0.48, 48.0), "People", 0.05)
    assert labelled(picture, source) == picture
    made_up = replace(source, table=replace(source.table, simulated=True))
    root = ElementTree.fromstring(labelled(picture, made_up))
    *_, label = root.iter("{http://www.w3.org/2000/svg}text")
    assert label.text == "simulated participants"
    _, _, _, height = (float(size) for size in root.get("viewBox").split())
    before = ElementTree.fromstring(picture).get("viewBox").split()
    assert float(before[3]) < float(label.get("y")) < height


def test_both_readings_are_drawn_and_told():
    alt = ElementTree.fromstring(accuracy_picture(CELLS, (0.48, 48.0), "People", 0.05)).get(
        "aria-label"
    )
    assert "FPA leak-free 0.12, 0.12" in alt
    assert f"FPA leak-free, {KEPT} 0.75, 0.75" in alt


def test_the_legend_names_lines_that_the_last_panel_does_not_have():
    chunks = [Cell("CFPA-32", cell.column, 0.5, cell.by_protocol) for cell in CELLS[:2]]
    picture = str(accuracy_picture([*CELLS, *chunks], (0.48, 48.0), "People", 0.05))
    for label in (f"leak-free, {KEPT}", "printed", "guessing"):
        assert f">{label}<" in picture
