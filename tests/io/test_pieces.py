"""Studies in pieces: whole people, the same from memory, from a file and from a folder of parts."""

import json
from functools import partial

import polars as pl
import pytest

from eyelid.engine.runs import running
from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.pieces import in_pieces
from eyelid.io.study_parts import (
    join_events,
    part_path,
    write_manifest,
    write_part,
    write_study_part,
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """About two people each."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 14_000)


@pytest.fixture(scope="module")
def study():
    return simulate(people=5, tasks=("comic", "textbook"), minutes=0.1, seed=3)


@pytest.fixture
def one_file(study, tmp_path):
    write(study, tmp_path / "one")
    return tmp_path / "one"


@pytest.fixture
def in_parts(study, one_file, tmp_path):
    out = tmp_path / "parts"
    cut = in_pieces(one_file)
    with running(out, "key") as run:
        of = len(cut.pieces)
        facts = [
            write_study_part(run, each.number, of, partial(each.read, cut.head, events=True))
            for each in cut.pieces
        ]
        join_events(run, of)
        write_manifest(run, cut.head, facts, out)
    return out


def told(cut):
    return [(each.number, each.people, each.recordings, each.rows) for each in cut.pieces]


def test_pieces_are_whole_people_and_the_same_wherever_the_study_is(study, one_file, in_parts):
    cuts = [in_pieces(study), in_pieces(one_file), in_pieces(in_parts)]
    assert 2 < len(cuts[0].pieces) < 5
    assert told(cuts[0]) == told(cuts[1]) == told(cuts[2])
    assert [name for each in cuts[0].pieces for name in each.people] == cuts[0].people
    for cut in cuts:
        assert cut.head.data.is_empty()
        assert cut.recordings.equals(cuts[0].recordings)
        assert cut.whole().data.equals(study.data)
        assert cut.rows == len(study.data)
        second = cut.pieces[1].read(cut.head, events=True)
        assert second.people["person"].to_list() == list(second.data["person"].unique().sort())
        mine = study.events.filter(pl.col("person").is_in(cut.pieces[1].people))
        assert second.events.equals(mine)


def test_a_folder_of_parts_is_read_like_any_other_study(study, one_file, in_parts):
    found = read(in_parts)
    assert found.data.equals(study.data)
    assert found.events.equals(study.events)
    assert found.people.equals(read(one_file).people)
    assert not [path for path in in_parts.rglob("*") if path.name.startswith(".")]


def test_a_study_of_one_piece_has_one_file_and_no_list(study, tmp_path, monkeypatch):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1 << 21)
    cut = in_pieces(study)
    with running(tmp_path / "out", "key") as run:
        facts = [write_part(run, 0, 1, lambda: cut.pieces[0].read(cut.head).data)]
        write_manifest(run, cut.head, facts)
    assert (tmp_path / "out" / "data.parquet").is_file()
    assert "parts" not in json.loads((tmp_path / "out" / "study.json").read_text())


def test_corrupt_and_truncated_parts_are_all_named(in_parts):
    first, second = (part_path(in_parts, number, 3) for number in (0, 1))
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    second.write_bytes(second.read_bytes()[:-9])
    with pytest.raises(InputError, match="cannot read 2 of 3 parts") as error:
        in_pieces(in_parts)
    assert first.name in str(error.value)
    assert second.name in str(error.value)
    with pytest.raises(InputError, match=f"{first.name}: its content is not what was written"):
        read(in_parts)


def test_parts_that_are_gone_or_nobodys_are_named(in_parts, one_file):
    part = part_path(in_parts, 1, 3)
    part.rename(part.with_name("copy.parquet"))
    for look in (in_pieces, read):
        with pytest.raises(InputError, match=r"lacks 1 of its 3 parts, part-000001"):
            look(in_parts)
    part.write_bytes(part.with_name("copy.parquet").read_bytes())
    for look in (in_pieces, read):
        with pytest.raises(InputError, match=r"copy\.parquet is no part that study\.json lists"):
            look(in_parts)


def test_somebody_elses_folder_of_parquet_files_is_read_too(study, one_file):
    file = one_file / "data.parquet"
    data = pl.read_parquet(file)
    file.unlink()
    file.mkdir()
    # A person's rows in two files, one after the other.
    data.head(700).write_parquet(file / "a.parquet")
    data.tail(-700).write_parquet(file / "b.parquet")
    assert in_pieces(one_file).whole().data.equals(study.data)
    assert told(in_pieces(one_file)) == told(in_pieces(study))
    data.tail(-700).drop("x").write_parquet(file / "b.parquet")
    with pytest.raises(InputError, match="have different columns"):
        in_pieces(one_file)


def test_rows_in_an_order_of_their_own_are_put_in_order(study, one_file):
    pl.read_parquet(one_file / "data.parquet").reverse().write_parquet(one_file / "data.parquet")
    cut = in_pieces(one_file)
    assert (
        cut.whole()
        .data.sort("person", "recording", "time_ms")
        .equals(study.data.sort("person", "recording", "time_ms"))
    )


def test_people_who_are_one_by_two_names_are_refused_before_anything_is_read(one_file):
    file = one_file / "data.parquet"
    data = pl.read_parquet(file)
    data.with_columns(pl.col("person").replace({"P02": "p01"})).write_parquet(file)
    with pytest.raises(InputError, match="differ only in how their names are written"):
        in_pieces(one_file)
