"""The mechanisms of the literature: no second truth, and no page that says otherwise."""

import re
from pathlib import Path

import pytest

from eyelid.mechanisms import catalogue
from eyelid.mechanisms.literature import (
    DENIABILITY,
    DIFFERENTIAL,
    K_ANONYMITY,
    LITERATURE,
    POSTER,
    facts,
    published_as,
)

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "mechanisms.md").read_text("utf-8")


def ids(row):
    return row.name


def answer(value):
    return "untried" if value is None else "yes" if value else "no"


def names(found):
    return ", ".join(f"`{kind.name}`" for kind in found) or "–"


def printed_line(row):
    said = row.family
    answers = [said.reidentification, said.duplicate, said.synthetic, said.noisy]
    cells = [row.name, row.source, row.guarantee, row.data, row.input, row.adaptation]
    return " | ".join([*cells, *map(answer, answers), said.utility or "–"])


def true_line(row):
    cells = [row.name, answer(row.holds), row.unit, row.why]
    return " | ".join([*cells, names(row.as_printed), names(row.that_hold)])


def utility_line(row):
    measured = f"{row.measured} ([figures]({row.measured_in}))" if row.measured else "–"
    return " | ".join([row.name, row.family.utility or "–", row.printed or "–", measured])


@pytest.mark.parametrize("row", LITERATURE, ids=ids)
@pytest.mark.parametrize("line", [printed_line, true_line, utility_line])
def test_the_page_shows_each_row_as_it_is(row, line):
    wanted = f"| {line(row)} |"
    assert wanted in PAGE.splitlines(), f"docs/mechanisms.md should have\n{wanted}"


def test_the_page_has_a_paragraph_for_each_row_that_names_what_eyelid_has():
    parts = re.split(r"^### (.+)\n", PAGE, flags=re.MULTILINE)[1:]
    told = dict(zip(parts[::2], parts[1::2], strict=True))
    assert list(told) == [row.name for row in LITERATURE]
    for row in LITERATURE:
        for kind in row.as_printed + row.that_hold:
            assert f"`{kind.name}`" in told[row.name], row.name


def test_the_page_names_no_mechanism_that_there_is_not():
    known = {*catalogue(), *(alias for kind in catalogue().values() for alias in kind.aliases)}
    for name in re.findall(r"`([a-z]+(?:-[a-z0-9]+)*)`", PAGE):
        assert name in known, name


def test_every_mechanism_that_does_not_hold_is_in_the_table_once():
    broken = [kind.name for kind in catalogue().values() if not kind.claims_to_hold]
    faithful = [name for row in LITERATURE for name in row.faithful_names]
    known = catalogue()
    assert sorted(name for name in faithful if not known[name].claims_to_hold) == sorted(broken)
    assert len(faithful) == len({*faithful})


def test_names_are_those_of_the_catalogue():
    for row in LITERATURE:
        assert {*row.faithful_names, *row.sound_names} <= {*catalogue()}, row.name


def test_what_is_printed_of_streams_holds_where_it_promises_something():
    held = [row.name for row in LITERATURE if row.holds]
    assert held == ["Kalεido", "w-event privacy", "Square-root counting"]


@pytest.mark.parametrize("row", LITERATURE, ids=ids)
def test_what_is_offered_in_its_place_holds(row):
    assert all(kind.claims_to_hold for kind in row.that_hold)
    assert row.that_hold or row.holds is not False


def test_whether_it_holds_is_asked_of_the_mechanism_itself(monkeypatch):
    (row,) = published_as("lpa-paper")
    assert row.holds is False
    monkeypatch.setattr(catalogue()["lpa-paper"], "claims_to_hold", True)
    assert row.holds is True


def test_a_mechanism_that_is_not_there_has_no_name_and_no_verdict(monkeypatch):
    (row,) = published_as("cfpa")
    without = {name: kind for name, kind in catalogue().items() if name != "cfpa-paper"}
    monkeypatch.setattr("eyelid.mechanisms.literature.catalogue", lambda: without)
    assert (facts(row)["as_printed"], facts(row)["holds"]) == ([], None)
    assert facts(row)["that_hold"] == ["cfpa"]


def test_the_families_say_what_the_poster_says():
    assert POSTER == (K_ANONYMITY, DENIABILITY, DIFFERENTIAL)
    assert [family.utility for family in POSTER] == ["least", "middle", "most"]
    outputs = [(family.duplicate, family.synthetic, family.noisy) for family in POSTER]
    assert outputs == [(True, False, False), (False, True, False), (False, False, True)]
    assert all(family.reidentification for family in POSTER)


def test_the_rows_of_table_1_are_all_there():
    table_1 = ["Kalεido", "Gaussian maps", "Exponential-DP", "DCFPA", "k-same-select sequence"]
    found = [row.name for row in LITERATURE]
    assert [name for name in found if name in table_1] == table_1
    assert found[-1] == "Task-based Marginals"


@pytest.mark.parametrize("row", [row for row in LITERATURE if row.measured], ids=ids)
def test_figures_stand_in_the_page_that_they_are_from(row):
    page = (DOCS / row.measured_in).read_text("utf-8")
    figures = re.findall(r"\d+\.\d+", row.measured)
    assert figures
    assert all(figure in page for figure in figures)
