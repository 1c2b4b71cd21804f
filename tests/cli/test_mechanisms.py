"""``eyelid mechanisms``: the catalogue, and the literature beside it."""

import json
import re
import sys

import pytest

from eyelid.mechanisms import catalogue
from eyelid.mechanisms.literature import LITERATURE


def test_what_is_valid_is_listed_and_the_rest_is_asked_for(eyelid):
    valid, published = eyelid("mechanisms").out, eyelid("mechanisms", "--literature").out
    for name, kind in catalogue().items():
        found = [bool(re.search(rf"^ {name} ", part, re.MULTILINE)) for part in (valid, published)]
        # The literature has tables of its own, with names of its own.
        assert found[0] == kind.claims_to_hold, name
        assert found[1] or kind.claims_to_hold, name
        if kind.claims_to_hold:
            assert kind.note.summary.split()[-1] in valid
    assert "Published for eye tracking" in published
    assert "Published" not in valid


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_the_tables_fit_the_terminal_and_cut_no_word(eyelid, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = re.sub(r"\x1b\[[0-9;]*m", "", eyelid("mechanisms", "--literature").out)
    lines = out[out.index("Published for eye tracking") :].splitlines()
    tables = [line for line in lines if line.startswith((" ", "─"))]
    assert max(map(len, tables)) <= columns
    assert not any("…" in line for line in tables)
    for row in LITERATURE:
        for kind in row.as_printed + row.that_hold:
            assert any(kind.name in line for line in tables)


def test_a_mechanism_shows_its_row_of_the_literature(eyelid):
    out = " ".join(eyelid("mechanisms", "ksame").out.split())
    assert "k-same-select sequence, David-John et al. 2022" in out
    assert "holds as printed no: groups are redrawn for each task" in out
    assert "utility lost, as ranked least" in out
    assert "ksame (k-anonymity, person)" in out


def test_figures_are_shown_with_the_page_that_has_them(eyelid):
    assert "(docs/heatmaps.md)" in eyelid("mechanisms", "map-grid").out


def test_a_mechanism_that_nobody_published_for_eyes_has_no_row(eyelid):
    out = eyelid("mechanisms", "gaussian").out
    assert "Cite: Balle" in out
    assert "published" not in out


@pytest.mark.parametrize(
    ("name", "hint"), [("ksame", "ksame --set k=… IN"), ("laplace", "laplace --epsilon 1 IN")]
)
def test_the_hint_asks_for_what_the_mechanism_needs(eyelid, name, hint):
    assert f"eyelid cost --mechanism {hint}" in eyelid("mechanisms", name).out


@pytest.mark.parametrize(
    ("name", "offered"), [("laplace", 1), ("lpa-paper", 1), ("map-grid", 0), ("groupmean", 0)]
)
def test_attributes_are_offered_with_records_of_people_only(eyelid, name, offered):
    assert eyelid("mechanisms", name).out.count("keep=COLUMN") == offered


def test_the_literature_as_json(eyelid):
    found = json.loads(eyelid("mechanisms", "--json").out)
    assert [row["name"] for row in found["literature"]] == [row.name for row in LITERATURE]
    holds = {each["name"]: each["holds"] for each in found["mechanisms"]}
    for row in found["literature"]:
        assert row["holds"] == (
            all(map(holds.get, row["as_printed"])) if row["as_printed"] else None
        )
        assert all(map(holds.get, row["that_hold"]))


def test_one_mechanism_as_json_has_its_own_rows(eyelid):
    found = json.loads(eyelid("mechanisms", "lpa", "--json").out)
    assert [row["name"] for row in found["literature"]] == ["LPA"]
    assert [each["name"] for each in found["mechanisms"]] == ["laplace"]
