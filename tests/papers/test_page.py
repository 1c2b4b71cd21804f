"""The page of a reproduction: everything on it, told apart, escaped, and in the files beside it."""

import json
import math
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.papers.page import page, shown, write_reproduction
from eyelid.papers.reproduction import Cell, Data, Exhibit, Reproduction, Value, to_dict
from eyelid.reporting.drawing import svg


@pytest.fixture(scope="module")
def done():
    """Two tables, a picture and something that was not run."""
    table = tuple(
        Cell(row, column, printed, Value(ours, 0.02), Value(honest, None, 0.01, 0.25))
        for row, column, printed, ours, honest in (
            ("FPA <b>", "ε = 1", 1.0, 0.97, 0.05),
            ("FPA <b>", "ε = 10", 0.8, 0.4, 0.79),
            ("CFPA", "ε = 1", 0.5, 0.51, 0.5),
        )
    )
    numbers = (
        Cell("σ", "noise", 0.0986, Value(0.0992), Value(0.0854)),
        Cell("loss", "noise", honest=Value(math.inf)),
    )
    picture = svg(lambda axis: axis.plot([0, 1]), "a line that rises", 1.0)
    return Reproduction(
        "liu2019",
        "Somebody & others (2019): A title",
        Data("simulator", "5 made-up people", simulated=True, missing=("OSIE: in a folder",)),
        3,
        (
            Exhibit(
                "Table 3", "who is who", "So.", "halves", "others", table, 0.05, {"one": picture}
            ),
            Exhibit("Theorem 1", "noise", cells=numbers, digits=4),
            Exhibit("Figure 9", "in VR", not_run="nobody has the data"),
        ),
        ("First of all.",),
        12.3,
    )


class Text(HTMLParser):
    """What a person reads, and every address that a browser would fetch."""

    def __init__(self):
        super().__init__()
        self.said, self.fetched, self.labels = [], [], []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.fetched += [found[key] for key in ("src", "href", "xlink:href") if key in found]
        self.labels += [found["aria-label"]] if tag == "svg" else []

    def handle_data(self, data):
        self.said.append(data)


def read(done):
    text = Text()
    text.feed(page(done))
    return text


def test_the_page_has_every_number_of_all_three(done):
    said = [word.strip() for word in read(done).said]
    for number in ("1.00", "0.97", "0.05", "0.80", "0.40", "0.79", "0.0986", "0.0992", "0.0854"):
        assert number in said
    assert "0.01 to 0.25" in said
    assert "± 0.02" in said
    assert "∞" in said
    assert "Guessing gives 0.05." in said


def test_what_others_wrote_is_text_and_no_markup(done):
    assert "FPA &lt;b&gt;" in page(done)
    assert "<b>" not in page(done)


def test_the_page_needs_nothing_from_elsewhere(done):
    assert all(address.startswith(("#", "data:")) for address in read(done).fetched)


def test_pictures_are_told_to_those_who_cannot_see_them(done):
    assert read(done).labels == ["a line that rises"]


def test_made_up_people_are_announced_and_real_ones_are_not(done):
    real = replace(done, data=replace(done.data, simulated=False))
    assert "Simulated data" in "".join(read(done).said)
    assert "Simulated data" not in "".join(read(real).said)


def test_what_was_not_run_is_listed_with_the_reason_and_where_it_was_looked_for(done):
    said = "".join(read(done).said)
    assert "nobody has the data" in said
    assert "OSIE: in a folder" in said


@pytest.mark.parametrize(
    ("printed", "value", "arrow"),
    [
        (0.8, Value(0.4, 0.02), "▼"),
        (0.4, Value(0.8), "▲"),
        (0.8, Value(0.75, 0.02), ""),
        (0.8, Value(0.4, 0.5), ""),
        (0.8, Value(0.4, low=0.1, high=0.9), ""),
        (0.8, Value(0.4, low=0.1, high=0.7), "▼"),
        (None, Value(0.4), ""),
        (0.8, Value(math.nan), ""),
    ],
    ids=[
        *("below", "above", "near", "within the spread", "within the limits"),
        *("outside the limits", "nothing printed", "no number"),
    ],
)
def test_numbers_far_from_what_is_printed_have_an_arrow(done, printed, value, arrow):
    one = Exhibit("Table 1", "", cells=(Cell("row", "column", printed, value),))
    text = page(replace(done, exhibits=(one,)))
    assert text.count('title="far from what is printed"') == bool(arrow)
    assert not arrow or f'printed">{arrow}' in text


@pytest.mark.parametrize(
    ("how", "command"),
    [
        ({}, "eyelid reproduce liu2019 --repeats 3 --seed 0"),
        (
            {"fast": True, "seed": 7, "from_folder": True},
            "eyelid reproduce liu2019 --data DIR --repeats 3 --seed 7 --fast",
        ),
        ({"full": True}, "eyelid reproduce liu2019 --repeats 3 --seed 0 --full"),
    ],
)
def test_the_command_that_does_it_again_is_on_the_page_and_in_the_file(done, how, command):
    one = replace(done, **how)
    text = "".join(read(one).said)
    assert command in text
    assert ("A fast run" in text) == one.fast
    told = to_dict(one)
    assert told["command"] == command
    assert (told["fast"], told["full"], told["seed"]) == (one.fast, one.full, one.seed)


def test_every_row_of_the_numbers_says_whose_data_they_are_of(done, tmp_path):
    real = replace(done, data=replace(done.data, name="OSIE", simulated=False))
    for name, one, data in (("a", done, "simulated (simulator)"), ("b", real, "OSIE")):
        write_reproduction(one, tmp_path / name)
        assert set(pl.read_csv(tmp_path / name / "numbers.csv")["data"]) == {data}


def test_the_files_say_the_same(done, tmp_path):
    write_reproduction(done, tmp_path / "out")
    out = tmp_path / "out"
    assert (out / "report.html").read_text() == page(done)
    assert json.loads((out / "reproduction.json").read_text()) == to_dict(done)
    rows = pl.read_csv(out / "numbers.csv")
    assert rows.height == 5
    first = rows.row(0, named=True)
    assert (first["exhibit"], first["row"], first["column"]) == ("Table 3", "FPA <b>", "ε = 1")
    assert (first["printed"], first["as_printed_mean"], first["honest_high"]) == (1.0, 0.97, 0.25)
    assert ElementTree.parse(out / "one.svg").getroot().tag.endswith("svg")


def test_infinities_are_null_in_json(done):
    last = to_dict(done)["exhibits"][1]["cells"][1]
    assert last["honest"]["mean"] is None


def test_stopped_while_it_writes_it_leaves_nothing(done, tmp_path, monkeypatch):
    def stop(*words):
        raise KeyboardInterrupt

    monkeypatch.setattr("eyelid.papers.page._write_numbers", stop)
    with pytest.raises(KeyboardInterrupt):
        write_reproduction(done, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(done, tmp_path):
    with pytest.raises(InputError, match="exists already"):
        write_reproduction(done, tmp_path)


def test_the_most_telling_number_is_where_the_three_are_most_apart(done):
    assert done.exhibits[0].most_telling.row == "FPA <b>"
    assert done.exhibits[0].most_telling.column == "ε = 1"
    # Fewer numbers tell less, however far apart.
    assert done.exhibits[1].most_telling.row == "σ"


@given(st.floats(-1e12, 1e12, allow_subnormal=False), st.integers(0, 6))
def test_a_shown_number_is_the_number_to_its_digits(value, digits):
    told = float(shown(value, digits).replace("−", "-").replace(",", ""))
    assert abs(told - value) <= max(0.5 * 10.0**-digits, 0.0051 * abs(value)) * (1 + 1e-9)
    assert (told == 0) == (value == 0)
