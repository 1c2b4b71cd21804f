"""Names in others' files reach terminal, Markdown, pages and spreadsheets as text, and no more."""

import csv
import io
import json
import re
import tomllib
import unicodedata
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.written import write_bids, write_csv

from eyelid.gaze.study import Feature, Screen, Study
from eyelid.gaze.table import table_from_arrays
from eyelid.io import read, write
from eyelid.io.areas import read_areas
from eyelid.io.csv_cells import (
    as_csv_cell,
    csv_text,
    for_spreadsheets,
    from_spreadsheets,
    is_formula,
    of_csv_cell,
)
from eyelid.io.study_folder import people_of
from eyelid.spelling import (
    in_json,
    in_markdown,
    in_toml,
    on_page,
    on_terminal,
)

NAMES = [
    "ann\x1b[2J\x1b[1;1Hnothing found: safe to share",
    "bob\nFORGED nothing found besides the gaze",
    "cyd\r\n\r\n## FORGED section\n\nAll is private.",
    "[bold red]dan[/bold red] [link=file:///etc/passwd]x[/link]",
    "[/]eve",
    '<script>alert(1)</script><img src=x onerror="alert(1)">',
    '=HYPERLINK("http://evil","FORGED")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd",
    "@SUM(1+1)",
    "\u202egro.elpmaxe@nna\u2066",
    "\x9b2Jfay\x07\x7f",
    "`gus` **safe** [x](javascript:alert(1)) ![](http://evil)",
    "# FAKED",
    "hal\u2028FORGED\u2029",
    "$\\frac{1}{$ {{ 7 * 7 }} {% raw %}",
    "'=1+1",
    "../../ian; rm -rf ~ #",
    "--help",
    "\ufeffjo\u200b\u00ad",
]


def hidden(text, but="\n"):
    """The characters that nobody sees, or that move something."""
    kinds = ("Cc", "Cs", "Zl", "Zp")
    turns = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "R", "AL"} - {"R", "AL"}
    return {
        letter
        for letter in text
        if letter not in but
        and (
            unicodedata.category(letter) in kinds
            or unicodedata.bidirectional(letter) in turns
            or letter in "\ufeff\u200b\u00ad\u200e\u200f"
        )
    }


class Page(HTMLParser):
    """What a page has of what could run or be fetched."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "iframe", "object", "form", "base", "link"):
            self.found.append((tag, attributes))
        for name, value in attributes:
            fetched = name in ("src", "href", "xlink:href") and not re.match(
                "#|data:image/png", value
            )
            if name.startswith("on") or fetched:
                self.found.append((name, value))


OWN_PAGES = ("https://doi.org/", "https://")


def check_output(done, code=(0, 1, 2, 3)):
    assert done.code in code, done.err
    for text in (done.out, done.err):
        assert not hidden(text)
        assert not re.search(r"(?m)^\s*(#+ )?FORGED", text)


def check_folder(folder):
    """Everything that was written for people to read."""
    for path in folder.rglob("*"):
        if path.suffix in (".json", ".toml"):
            # A terminal shows these, too: `cat certificate.json`.
            assert not hidden(path.read_text("utf-8")), path.name
        if path.suffix == ".md":
            check_markdown(path.read_text("utf-8"))
        elif path.suffix in (".csv", ".tsv"):
            check_cells(path.read_text("utf-8"), "\t" if path.suffix == ".tsv" else ",")
        elif path.suffix == ".html":
            check_page(path.read_text("utf-8"))
        elif path.suffix == ".json":
            json.loads(path.read_text("utf-8"))


def check_markdown(text):
    assert not hidden(text)
    assert not re.search(r"(?m)^\s*FORGED|^(>\s*|[-*]\s+)*#+ (FORGED|FAKED)", text)
    assert not re.search(r"(?<!\\)<[a-zA-Z/!]|(?<!\\)\[[^]]*\]\(|(?<!\\)\*\*safe", text)


def check_cells(text, separator):
    for row in csv.reader(io.StringIO(text), delimiter=separator):
        for cell in row:
            assert not is_formula(cell) or cell.startswith("'"), cell


def check_page(text):
    found = Page(text).found
    assert not [each for each in found if not str(each[1]).startswith(OWN_PAGES)], found
    assert not hidden(text, but="\n\t")
    assert "{{" not in text.replace("{{ 7 * 7 }}", "")


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    """A study of features in which every name is hostile."""
    home = tmp_path_factory.mktemp("hostile")
    count = len(NAMES)
    names = [f"{name}" for name in NAMES[:3]]
    bounded = [Feature(name, NAMES[5], NAMES[2], 0.0, 1.0) for name in names]
    rng = np.random.default_rng(3)
    table = table_from_arrays(rng.uniform(0, 1, (count, 2, 6, 3)), bounded)
    to_name = {str(number): name for number, name in enumerate(NAMES)}
    data = table.data.with_columns(
        pl.col("person").replace_strict(to_name),
        pl.col("recording").replace_strict({"0": NAMES[1], "1": NAMES[6]}),
        pl.col("task").replace_strict({"0": NAMES[2], "1": NAMES[9]}),
        pl.lit(NAMES[3]).alias("stimulus"),
    )
    people = pl.DataFrame(
        {
            "person": NAMES,
            NAMES[9]: [NAMES[number % 2 + 5] for number in range(count)],
            NAMES[13]: [NAMES[number % 3] for number in range(count)],
            "group": ["a" if number % 2 else NAMES[12] for number in range(count)],
        }
    )
    write(table.study().derive(data=data, people=people), home / "features")
    return home / "features"


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Gaze in which every name is hostile, with events."""
    home = tmp_path_factory.mktemp("hostile")
    rows = []
    rng = np.random.default_rng(4)
    for person in NAMES[:9]:
        for take in (NAMES[1], NAMES[7]):
            place = np.cumsum(rng.normal(0, 8, (400, 2)), axis=0) % 900
            rows.append(
                pl.DataFrame(
                    {
                        "time_ms": np.arange(400) * (1000 / 60),
                        "x": place[:, 0],
                        "y": place[:, 1],
                    }
                ).with_columns(
                    person=pl.lit(person),
                    recording=pl.lit(take),
                    task=pl.lit(NAMES[2]),
                    stimulus=pl.lit(NAMES[6]),
                    label_event=pl.lit(NAMES[8]),
                )
            )
    keys = ["person", "recording", "task", "stimulus"]
    data = pl.concat(rows).select(*keys, pl.exclude(keys))
    people = pl.DataFrame({"person": NAMES[:9], NAMES[9]: NAMES[:9]})
    study = Study(
        "samples", data, people, "px", 60.0, Screen(1000, 1000, 0.5, 0.3, 0.6), "top-left"
    )
    write(study, home / "samples")
    return home / "samples"


def test_inspect_and_lint_show_names_and_obey_none(eyelid, features, samples, tmp_path):
    for source in (features, samples):
        for command in ("inspect", "lint"):
            check_output(eyelid(command, source))
            done = eyelid(command, source, "--json")
            check_output(done)
            json.loads(done.out)
    few = read(samples)
    few = few.derive(data=few.data.filter(pl.col("person").is_in(NAMES[:2])), people=few.people[:2])
    write(few.derive(origin=None), tmp_path / "few")
    check_output(eyelid("inspect", tmp_path / "few", "--pictures", tmp_path / "pictures"), (0,))


@pytest.mark.parametrize("to", ["study", "bids", "csv"])
def test_convert_writes_names_that_are_text(eyelid, samples, tmp_path, to):
    out = tmp_path / "out"
    check_output(eyelid("convert", samples, out, "--to", to, "--keep-names"), (0,))
    check_folder(out)


@pytest.mark.parametrize("write_to", [write, write_csv, write_bids])
def test_a_study_of_hostile_names_comes_back_from_what_spreadsheets_open(
    samples, tmp_path, write_to
):
    before = read(samples)
    write_to(before, tmp_path / "out")
    check_folder(tmp_path)
    again = read(tmp_path / "out")
    assert again.people.sort("person").equals(before.people.sort("person"))
    keys = ["person", "recording", "task", "stimulus", "label_event", "time_ms"]
    assert again.data.select(keys).sort(keys).equals(before.data.select(keys).sort(keys))


def test_recordings_of_hostile_names_are_told_and_converted(eyelid, tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        plain = name.replace("/", "")
        table = f'person,time_ms,x,y,"{NAMES[3]}","{NAMES[1]}"\n'
        rows = "".join(f'"{number}",{t},{t},1,"{NAMES[6]!r}",a\n' for t in range(3))
        (folder / f"{plain}.csv").write_text(table.replace('\n"', '"', 0) + rows, "utf-8")
    said = ("--map", "units=px")
    for command in ("inspect", "lint"):
        check_output(eyelid(command, folder, *said))
        json.loads(eyelid(command, folder, *said, "--json").out or "{}")
    check_output(eyelid("convert", folder, tmp_path / "out", *said))


def test_a_file_that_cannot_be_read_is_named_in_one_plain_line(eyelid, tmp_path):
    for name in NAMES:
        path = tmp_path / name.replace("/", "")
        path.write_text(f"{NAMES[0]},{NAMES[1]}\n{NAMES[2]},x\n", "utf-8")
        for command in ("inspect", "lint", "budget"):
            done = eyelid(command, path)
            check_output(done)
            assert done.err.count("\n") <= 1


@pytest.fixture(scope="module")
def derived(tmp_path_factory):
    return tmp_path_factory.mktemp("derived")


def test_events_and_features_of_hostile_names(eyelid, samples, derived):
    for command in ("events", "features"):
        window = ["--window", "5"] * (command == "features")
        check_output(eyelid(command, samples, derived / command, *window), (0,))
    check_folder(derived)


LAWS = {
    "laplace": ["--epsilon", "4", "--set", f"keep=group,{NAMES[9]}"],
    "ksame": ["--set", "k=4"],
    "groupmean": ["--epsilon", "4", "--set", "by=group"],
    "synthetic": ["--epsilon", "80", "--set", "carry=1"],
}


@pytest.mark.parametrize("mechanism", LAWS)
def test_cost_and_release_of_hostile_names(eyelid, features, tmp_path, mechanism):
    words = ["--mechanism", mechanism, *LAWS[mechanism]]
    check_output(eyelid("cost", features, *words))
    done = eyelid("release", features, tmp_path / "out", *words)
    check_output(done, (0, 2, 3))
    assert done.code == 0 or mechanism == "synthetic", done.err
    check_folder(tmp_path)


def test_a_limit_and_what_was_spent_on_hostile_names(eyelid, features):
    for words in ([], ["--limit-epsilon", "9"], ["--json"], ["--no-limit"]):
        check_output(eyelid("budget", features, *words), (0,))


@pytest.mark.usefixtures("plain_pictures", "quick_map_audits")
def test_a_heatmap_of_a_hostile_stimulus(eyelid, samples, tmp_path):
    areas = [{"name": name, "rectangle": [n, 0, 1, 900]} for n, name in enumerate(NAMES[:10])]
    (tmp_path / "areas.json").write_text(json.dumps({"areas": areas}))
    words = ["--stimulus", NAMES[6], "--epsilon", "4"]
    words += ["--areas", tmp_path / "areas.json"]
    check_output(eyelid("heatmap", samples, tmp_path / "out", *words), (0,))
    check_folder(tmp_path)
    assert {area.name for area in read_areas(tmp_path / "areas.json")} == set(NAMES[:10])
    check_output(eyelid("audit", samples, tmp_path / "out"))
    check_folder(tmp_path)


@pytest.mark.usefixtures("quick_audits")
def test_audits_of_hostile_names(eyelid, features, tmp_path):
    words = ["--mechanism", "laplace", *LAWS["laplace"]]
    assert eyelid("release", features, tmp_path / "out", *words).code == 0
    both = eyelid("audit", features, tmp_path / "out", "--attackers", "means")
    check_output(both, (0, 1))
    check_folder(tmp_path)
    # Also a mark that turns text around is an escape in all of them.
    assert "\u202e" in "".join(NAMES)
    check_folder(features)
    written = {path.name for folder in (features, tmp_path) for path in folder.rglob("*.json")}
    assert {"study.json", "certificate.json", "audit.json"} <= written


def test_pages_with_pictures_of_hostile_names(eyelid, features, tmp_path):
    words = ["--attackers", "means", "--report", tmp_path / "risk.html"]
    check_output(eyelid("audit", features, *words), (0,))
    words = ["--mechanisms", "laplace,ksame", "--epsilons", "4", "--sweep", "k=4", "--fast"]
    check_output(eyelid("compare", features, *words, "--report", tmp_path / "c.html"), (0,))
    check_folder(tmp_path)


letters = st.one_of(
    st.sampled_from(list("=+-@'`*_[](){}<>#|\\!~$;:/ \t\r\n\x00\x1b\x7f\x9b\u202e\u2028\ufeff")),
    st.characters(),
    st.sampled_from(NAMES),
)
texts = st.lists(letters, max_size=12).map("".join)


@given(texts)
def test_any_text_is_one_visible_line_on_a_terminal(text):
    assert not hidden(on_terminal(text), but="")
    assert len(on_terminal(text, 5)) <= 5 * 10
    assert not hidden(on_page(text), but="\n\t")
    assert on_terminal(on_terminal(text)) == on_terminal(text)


@given(texts)
def test_any_json_keeps_its_meaning(text):
    packed = in_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(packed) == [text]
    assert not hidden(packed, but="")


@given(texts)
def test_any_text_in_markdown_stays_in_its_line(text):
    shown = in_markdown(text)
    check_markdown(f"- {shown}\n")
    assert "`" not in shown
    assert not re.match(r"\s*(#|>|[-+*]\s|\d+[.)](\s|$)|---|===|~~~)", shown)


@given(texts)
def test_any_text_comes_back_from_a_cell_that_nothing_computes(text):
    cell = as_csv_cell(text)
    assert of_csv_cell(cell) == text
    assert cell[:1] not in ("=", "@")
    assert not is_formula(cell) or cell.startswith("'")


plain_texts = st.text(
    st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), max_size=9
)


@given(st.lists(st.one_of(plain_texts, st.sampled_from(NAMES)), min_size=1, max_size=6))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_table_of_people_comes_back(names):
    texts = pl.DataFrame(
        {"person": names, "note": names}, schema=dict.fromkeys(("person", "note"), pl.String)
    )
    assert from_spreadsheets(for_spreadsheets(texts)).equals(texts)
    people = pl.DataFrame({"person": names, "age": [-1.5] * len(names)})
    text = csv_text(people.with_columns(pl.lit("=1").alias("@x")))
    again = people_of(text.encode())
    assert again.columns == ["person", "age", "@x"]
    assert again["age"].to_list() == [-1.5] * len(names)


def test_what_is_hidden_is_all_that_unicode_hides():
    for code in (*range(0x3000), *range(0xD7F0, 0x10000), *range(0xE0000, 0xE0200)):
        letter = chr(code)
        if hidden(letter, but=""):
            assert on_terminal(letter) != letter, hex(code)


def test_numbers_are_no_formulas():
    for text in ("-1.5", "+3", "-1e-06", "-inf", "-", "0", "", "1", "-.5", "+49"):
        assert as_csv_cell(text) == text
    table = pl.DataFrame({"x": [-1.5, 2.0]})
    assert csv_text(table) == "x\n-1.5\n2.0\n"


@given(st.text())
def test_any_text_comes_back_from_toml(text):
    packed = in_toml(text.encode("utf-8", "replace").decode())
    assert not hidden(packed, but="")
    assert tomllib.loads(f"a = {packed}")["a"] == text.encode("utf-8", "replace").decode()
