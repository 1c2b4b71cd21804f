import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.io import (
    file_names as naming,
)
from eyelid.io import (
    files as unpacking,
)
from eyelid.io.file_names import (
    names_from_pattern,
    names_of_file,
)
from eyelid.io.layout import Layout


@pytest.mark.parametrize(
    ("pattern", "path", "names"),
    [
        ("{person}", "ann.csv", {"person": "ann"}),
        ("{person}_{task}", "a/b/ann_comic.tsv.gz", {"person": "ann", "task": "comic"}),
        ("{person}_*", "ann_comic.csv", {"person": "ann"}),
        ("{person}_{}_{recording}", "ann_x_2.csv", {"person": "ann", "recording": "2"}),
        ("{person}/{task}.csv", "study/ann/comic.csv", {"person": "ann", "task": "comic"}),
        ("{person}/*.csv", "study/ann/comic.csv", {"person": "ann"}),
        ("{person}_{task}.csv", "ann_comic.tsv", None),
        ("P{person}", "Q1.csv", None),
        ("{person}-{person}", "a-a.csv", {"person": "a"}),
        ("{person}-{person}", "a-b.csv", None),
        ("p(1)+{person}", "p(1)+ann.csv", {"person": "ann"}),
    ],
)
def test_a_pattern_finds_its_fields(pattern, path, names):
    assert names_from_pattern(pattern, Path(path)) == names


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("{task}_{person}", "free_view_p1"), ("{person}*", "ann12"), ("{person}_*", "ann_comic_2")],
)
def test_a_name_that_could_be_two_peoples_is_refused(pattern, name):
    with pytest.raises(InputError, match="in more than one way"):
        names_from_pattern(pattern, Path(f"{name}.csv"))


def in_regular_expressions(pattern, name):
    """What fits with the shortest fields, and with the longest."""
    parts, at, seen = [], 0, set()
    for match in re.finditer(r"\{(\w*)\}|\*", pattern):
        parts.append(re.escape(pattern[at : match.start()]))
        field = match[1]
        again = field in seen
        seen.add(field)
        made = f"(?P={field})" if again else f"(?P<{field}>[^/]+?)"
        parts.append(made if field else "[^/]*?")
        at = match.end()
    text = "".join(parts) + re.escape(pattern[at:])
    found = [re.fullmatch(each, name) for each in (text, text.replace("+?)", "+)"))]
    return [match and match.groupdict() for match in found]


@given(
    st.lists(st.sampled_from(["a", "b", "_", "*", "{}", "{person}", "{task}", "/"]), max_size=7),
    st.text("ab_/", max_size=9),
)
def test_a_name_fits_as_a_regular_expression_would_have_it(parts, name):
    pattern = "".join(parts)
    name = "/".join(Path(name.strip("/") or "a").parts[-pattern.count("/") - 1 :])
    shortest, longest = in_regular_expressions(pattern, name)
    if longest == shortest:
        assert names_from_pattern(pattern, Path(name)) == shortest
    else:
        with pytest.raises(InputError, match="in more than one way"):
            names_from_pattern(pattern, Path(name))


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("*a" * 24 + "b", "too many ways"),
        ("{person}" + "*a" * 20 + "b", "too many ways"),
        ("*a" * 500, "at most 50 parts"),
        ("{person}*{task}*{recording}*{person}{task}{recording}b", "too many ways"),
    ],
)
def test_a_pattern_made_to_try_for_ever_ends_in_a_line(pattern, complaint):
    with pytest.raises(InputError, match=complaint):
        names_from_pattern(pattern, Path("a" * 250 + ".csv"))


def test_an_unknown_field_is_named():
    with pytest.raises(InputError, match="unknown field of a file-name pattern 'persn'"):
        names_from_pattern("{persn}", Path("a.csv"))


def test_a_list_is_read_once_for_many_files(tmp_path, monkeypatch):
    listing = tmp_path / "names.csv"
    listing.write_text("file,person\n" + "".join(f"a/{n}.csv,P{n}\n" for n in range(50)))
    reads = []
    whole = naming.read_listing
    monkeypatch.setattr(
        naming, "read_listing", lambda path, key: reads.append(path) or whole(path, key)
    )
    layout = Layout(names=listing)
    for number in range(50):
        found = names_of_file(tmp_path / "a" / f"{number}.csv", layout, {})
        assert found == {"person": f"P{number}"}
    assert len(reads) == 1
    listing.write_text("file,person\na/1.csv,Q\n")
    assert names_of_file(tmp_path / "a" / "1.csv", layout, {}) == {"person": "Q"}
    assert len(reads) == 2


def test_a_column_of_the_very_name_is_taken_before_one_like_it(tmp_path):
    listing = tmp_path / "names.csv"
    listing.write_text("../file,file,person\nb.csv,a.csv,P1\n")
    found = names_of_file(tmp_path / "a.csv", Layout(names=listing), {})
    assert found == {"person": "P1"}


def test_a_list_of_short_rows_under_a_long_header_is_refused(tmp_path, monkeypatch):
    listing = tmp_path / "names.csv"
    listing.write_text("file,person" + "".join(f",c{n}" for n in range(500)) + "\na,P1" * 500)
    monkeypatch.setattr(unpacking, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(unpacking, "_CELLS_ALWAYS", 1 << 20)
    with pytest.raises(InputError, match="502 columns are mostly empty"):
        names_of_file(tmp_path / "a", Layout(names=listing), {})


def test_a_list_tells_what_names_do_not(tmp_path):
    listing = tmp_path / "names.csv"
    listing.write_text("file,person,task\nrec1.csv,7,comic\n")
    layout = Layout(names=listing)
    assert names_of_file(tmp_path / "rec1.csv", layout, {}) == {"person": "7", "task": "comic"}
    with pytest.raises(InputError, match=r"xrec1\.csv is not in the list"):
        names_of_file(tmp_path / "xrec1.csv", layout, {})
    with pytest.raises(InputError, match=r"rec2\.csv is not in the list"):
        names_of_file(tmp_path / "rec2.csv", layout, {})
