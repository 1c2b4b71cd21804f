"""The page of a reproduction: everything on it, told apart, escaped, and in the files beside it."""

import json
import math
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.papers.datasets import Dataset
from eyelid.papers.page import page, shown, write_reproduction
from eyelid.papers.reproduction import (
    Cell,
    Data,
    Exhibit,
    Outcome,
    Protocol,
    Reproduction,
    Value,
    Verdict,
    to_dict,
)
from eyelid.reporting.drawing import svg


@pytest.fixture(scope="module")
def done():
    """Two tables, a picture and something that was not run."""
    table = tuple(
        Cell(row, column, printed, Value(ours, 0.02), Value(leak_free, None, 0.01, 0.25))
        for row, column, printed, ours, leak_free in (
            ("FPA <b>", "ε = 1", 1.0, 0.97, 0.05),
            ("FPA <b>", "ε = 10", 0.8, 0.4, 0.79),
            ("CFPA", "ε = 1", 0.5, 0.51, 0.5),
        )
    )
    numbers = (
        Cell("σ", "noise", 0.0986, Value(0.0992), Value(0.0854)),
        Cell("loss", "noise", 2.5, leak_free=Value(math.inf), inferred="read off Figure 2"),
    )
    picture = svg(lambda axis: axis.plot([0, 1]), "a line that rises", 1.0)
    return Reproduction(
        "liu2019",
        "Somebody & others (2019): A title",
        Data("simulator", "5 people", simulated=True, missing=("OSIE: in a folder",)),
        3,
        (
            Exhibit(
                "Table 3",
                "who is who",
                "So.",
                protocol="halves",
                cells=table,
                chance=0.05,
                pictures={"one": picture},
                verdict=Verdict(Outcome.YES, Outcome.NO),
                quantity="share of people re-identified",
            ),
            Exhibit(
                "Theorem 1",
                "noise",
                cells=numbers,
                digits=4,
                verdict=Verdict(Outcome.PARTLY),
                measured=False,
                leak_free_words="ours, exact",
            ),
            Exhibit("Figure 9", "in VR", not_run="nobody has the data"),
        ),
        ("First of all.",),
        192.3,
        protocols=(
            Protocol("halves", "First halves train.", ("Halves of what is not said.",), "Others."),
        ),
        datasets=(Dataset("OpenEDS", {"# Ppts.": "44"}, "convert it first", "OpenNEEDS"),),
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


def test_simulated_people_are_announced_and_real_ones_are_not(done):
    real = replace(done, data=replace(done.data, simulated=False))
    assert "Simulated data" in "".join(read(done).said)
    assert "Simulated data" not in "".join(read(real).said)


def test_what_was_not_run_is_listed_with_the_reason_and_where_it_was_looked_for(done):
    said = "".join(read(done).said)
    assert "nobody has the data" in said
    assert "OSIE: in a folder" in said


def test_a_number_that_the_paper_does_not_print_is_marked_with_how_it_was_come_by(done):
    text = page(done)
    assert '<span class="inferred" title="read off Figure 2">2.50</span>' in text
    assert "read off Figure 2." in "".join(read(done).said)
    # The printed one is not.
    assert ">0.0986<" in text
    cells = to_dict(done)["exhibits"][1]["cells"]
    assert [cell["inferred"] for cell in cells] == ["", "read off Figure 2"]


def test_each_exhibit_has_its_verdict_in_the_list_and_where_it_stands(done):
    real = replace(done, data=replace(done.data, simulated=False))
    words = [word.strip() for word in read(real).said]
    for answer in ("reproduced", "claim not confirmed", "reproduced in part"):
        assert words.count(answer) == 2
    told = [one["verdict"] for one in to_dict(real)["exhibits"]]
    assert told == [["reproduced", "claim not confirmed"], ["reproduced in part"], ["not run"]]


def test_simulated_people_get_no_verdict_but_theory_does(done):
    told = [one["verdict"] for one in to_dict(done)["exhibits"]]
    assert told == [["simulated: not comparable"], ["reproduced in part"], ["not run"]]


def test_an_exhibit_of_other_data_has_its_verdict_where_participants_are_simulated(done):
    real = replace(done.exhibits[0], name="Table 4", data="EHTask")
    page = read(replace(done, exhibits=(*done.exhibits, real)))
    assert "simulated, but for EHTask." in " ".join(page.said)
    answers = replace(done, exhibits=(real,)).answers_on(real)
    assert [answer.words for answer in answers] == ["reproduced", "claim not confirmed"]


def test_a_protocol_stands_once_and_what_is_inferred_of_it_apart(done):
    twice = replace(done, exhibits=(done.exhibits[0], replace(done.exhibits[0], name="Table 4")))
    text = page(twice)
    assert text.count("First halves train.") == 1
    assert text.count('href="#protocol-1"') == 2
    assert text.count('id="protocol-1"') == 1
    assert '<dt class="inferred">Inferred here</dt><dd>Halves of what is not said.</dd>' in text


def test_a_protocol_that_no_page_states_is_refused(done):
    with pytest.raises(ValueError, match="quarters"):
        replace(done, exhibits=(Exhibit("Table 1", "", protocol="quarters"),))


def test_the_legend_names_every_line_of_the_tables(done):
    legend = page(done).partition("How to read the tables")[2].partition("</section>")[0]
    for line in ("printed", "by_protocol", "leak_free"):
        assert f'class="whose {line}"' in legend
    assert "Underlined with dots" in legend
    assert ">ours, exact<" in page(done)


def test_the_datasets_of_the_paper_stand_on_the_page(done):
    words = [word.strip() for word in read(done).said]
    assert {"OpenEDS", "# Ppts.", "44", "convert it first"} <= set(words)


def test_how_long_it_took_is_for_people_and_not_in_the_file(done):
    assert "took 3 min 12 s" in "".join(read(done).said)
    assert to_dict(done) == to_dict(replace(done, seconds=1.0))


def test_printed_numbers_stand_on_the_page_even_if_nothing_was_run(done):
    one = Exhibit("Table 5", "x", cells=(Cell("a", "b", 0.77),), not_run="nobody has the data")
    text = page(replace(done, exhibits=(one,)))
    assert ">0.77<" in text
    assert "Not run: nobody has the data." in text
    assert text.count("nobody has the data") == 1


@pytest.mark.parametrize(
    ("printed", "value", "arrow"),
    [
        (0.8, Value(0.4, 0.02, runs=3), "▼"),
        (0.4, Value(0.8, 0.02, runs=3), "▲"),
        (0.8, Value(0.4, runs=1), ""),
        (0.8, Value(0.75, 0.02, runs=3), ""),
        # The 95% limits of a mean of three are 2.48 spreads away.
        (0.8, Value(0.4, 0.165, runs=3), ""),
        (0.8, Value(0.4, 0.155, runs=3), "▼"),
        (0.8, Value(0.4, low=0.1, high=0.9), ""),
        (0.8, Value(0.4, low=0.1, high=0.7), "▼"),
        (0.8, Value(0.4, low=0.1, high=0.7, runs=1), ""),
        (None, Value(0.4), ""),
        (0.8, Value(math.nan), ""),
    ],
    ids=[
        *("below", "above", "one run", "near", "within the spread", "beyond it"),
        *("within the limits", "outside the limits", "limits of one run"),
        *("nothing printed", "no number"),
    ],
)
def test_numbers_far_from_what_is_printed_have_an_arrow(done, printed, value, arrow):
    one = Exhibit("Table 1", "", cells=(Cell("row", "column", printed, value),))
    text = page(replace(done, exhibits=(one,)))
    assert text.count('title="far from what is printed"') == bool(arrow)
    assert not arrow or f'printed">{arrow}' in text


def test_a_number_of_theory_needs_no_runs_for_its_arrow(done):
    one = Exhibit("Theorem", "", cells=(Cell("a", "b", 0.8, Value(0.4)),), measured=False)
    assert 'title="far from what is printed"' in page(replace(done, exhibits=(one,)))


def test_a_limit_of_next_to_nothing_is_zero(done):
    value = Value(0.004, low=1.75e-21, high=0.18)
    one = Exhibit("Table 1", "", cells=(Cell("row", "column", 0.38, value),))
    assert "0.00 to 0.18" in page(replace(done, exhibits=(one,)))


def test_a_clock_gets_no_arrow(done):
    one = Exhibit("Times", "", cells=(Cell("a", "b", 0.8, Value(0.4)),), measured=False, timed=True)
    assert 'title="far from what is printed"' not in page(replace(done, exhibits=(one,)))


def test_what_is_printed_and_was_not_compared_is_not_called_unprinted(done):
    open_verdict = Verdict(Outcome.OPEN, Outcome.OPEN)
    for inferred, words in (("", "printed numbers not compared"), ("so said", "no number printed")):
        cell = Cell("a", "b", 0.8, inferred=inferred)
        one = Exhibit("T", "", cells=(cell,), verdict=open_verdict, measured=False)
        first, second = replace(done, exhibits=(one,)).answers_on(one)
        assert (first.words, second.words) == (words, "claim not tested")


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
    other = replace(done.exhibits[0], name="Figure 2", data="simulated (scene)", measured=False)
    real = replace(real, exhibits=(*real.exhibits, other))
    for name, one, data in (
        ("a", done, {"Table 3": "simulated (simulator)", "Theorem 1": "none: theory"}),
        ("b", real, {"Table 3": "OSIE", "Theorem 1": "none: theory", "Figure 2": other.data}),
    ):
        write_reproduction(one, tmp_path / name)
        rows = pl.read_csv(tmp_path / name / "numbers.csv").select("exhibit", "data").unique()
        assert dict(rows.iter_rows()) == data


def test_the_files_say_the_same(done, tmp_path):
    write_reproduction(done, tmp_path / "out")
    out = tmp_path / "out"
    assert (out / "report.html").read_text() == page(done)
    assert json.loads((out / "reproduction.json").read_text()) == to_dict(done)
    rows = pl.read_csv(out / "numbers.csv")
    assert rows.height == 5
    first = rows.row(0, named=True)
    assert (first["exhibit"], first["row"], first["column"]) == ("Table 3", "FPA <b>", "ε = 1")
    assert (first["printed"], first["by_protocol_mean"], first["leak_free_high"]) == (
        1.0,
        0.97,
        0.25,
    )
    assert ElementTree.parse(out / "one.svg").getroot().tag.endswith("svg")


def test_infinities_are_null_in_json(done):
    last = to_dict(done)["exhibits"][1]["cells"][1]
    assert last["leak_free"]["mean"] is None


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
@example(0.5, 0)
def test_a_shown_number_is_the_number_to_its_digits(value, digits):
    told = float(shown(value, digits).replace("−", "-").replace(",", ""))
    assert abs(told - value) <= max(0.5 * 10.0**-digits, 0.0051 * abs(value)) * (1 + 1e-9)
    assert (told == 0) == (value == 0)
