"""Parquet files that become large or take long: known by their headers before they are read."""

import random

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.io import (
    files as unpacking,
)
from eyelid.io import (
    parquet,
    read,
    write,
)
from eyelid.io.parquet_outline import outline_of
from eyelid.io.pieces import in_pieces

pytestmark = pytest.mark.usefixtures("tried_elsewhere")

ROWS = 20_000
SAID = {"units": "px"}


def study_with(folder, make_table, **columns):
    """A study folder whose file of rows was made by another person."""
    write(make_table().study(), folder)
    rows = pl.read_parquet(folder / "data.parquet")
    rows.with_columns(**columns).write_parquet(folder / "data.parquet")
    return folder


def table(rows=ROWS):
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "person": pl.repeat("P1", rows, eager=True),
            "note": [f"remark {number % 1000}" for number in range(rows)],
            "time_ms": np.arange(rows) * 1.0,
            "x": rng.uniform(size=rows),
            "seen": [True, None] * (rows // 2),
            "small": np.zeros(rows, np.int8),
        }
    )


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "uncompressed"])
@pytest.mark.parametrize("more", [{}, {"row_group_size": 777}, {"data_page_size": 1000}])
def test_an_outline_counts_what_is_in_memory_and_little_more(tmp_path, compression, more):
    rows = table()
    rows.write_parquet(tmp_path / "a.parquet", compression=compression, **more)
    found = outline_of(tmp_path / "a.parquet")
    assert (found.columns, found.nested, found.prefixed) == (tuple(rows.columns), (), False)
    assert rows.estimated_size() <= found.size <= 6 * ROWS * 30
    numbers = outline_of(tmp_path / "a.parquet", ["time_ms", "x"])
    assert 2 * 8 * ROWS <= numbers.size <= 3 * 8 * ROWS
    parquet.check_size(tmp_path / "a.parquet")


def test_files_without_rows_or_columns_have_no_size(tmp_path):
    for rows in (table().clear(), pl.DataFrame()):
        rows.write_parquet(tmp_path / "a.parquet")
        assert outline_of(tmp_path / "a.parquet").size == 0


@pytest.mark.parametrize(
    "nested",
    [
        pl.lit([0] * 1000, dtype=pl.List(pl.Int64)),
        pl.struct(a=pl.lit(1), b=pl.lit("c")),
        pl.lit([1.0, 2.0], dtype=pl.Array(pl.Float64, 2)),
    ],
    ids=["list", "record", "array"],
)
def test_a_study_with_lists_of_zeros_is_refused(tmp_path, make_table, nested):
    folder = study_with(tmp_path / "study", make_table, label_a=nested)
    for reading in (read, in_pieces):
        with pytest.raises(InputError, match="lists or records in its column 'label_a'"):
            reading(folder)


def test_every_zero_of_a_list_is_counted(tmp_path):
    zeros = pl.Series("label_a", [pl.repeat(0, 1_000_000, dtype=pl.Int64, eager=True)])
    zeros.to_frame().write_parquet(tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 16
    assert outline_of(tmp_path / "a.parquet").size >= 8_000_000


def test_a_study_of_labels_of_megabytes_is_refused_before_it_fills_the_memory(
    tmp_path, make_table, monkeypatch
):
    numbers = pl.int_range(pl.len()).cast(pl.String)
    long = pl.concat_str([numbers, pl.lit("z" * 20_000)])
    folder = study_with(tmp_path / "study", make_table, label_a=long)
    assert (folder / "data.parquet").stat().st_size < 1 << 16
    monkeypatch.setattr(parquet, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(unpacking, "_ALWAYS", 1 << 20)
    for reading in (read, in_pieces):
        with pytest.raises(InputError, match="becomes larger than"):
            reading(folder)


def test_a_text_counts_as_often_as_it_is_copied(tmp_path):
    """A name of 128 MiB in 6 kB took 700 MB."""
    pl.DataFrame({"person": ["a" * (1 << 20)]}).write_parquet(tmp_path / "a.parquet")
    assert outline_of(tmp_path / "a.parquet").size >= 8 << 20


def test_a_text_that_stands_once_and_is_gone_through_in_every_row_is_refused(tmp_path, monkeypatch):
    pl.select(label_a=pl.repeat("z" * 10_000, 1000)).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(parquet, "_TEXT_ALWAYS", 1 << 20)
    monkeypatch.setattr(parquet, "_TEXT_TIMES", 1000)
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 16
    with pytest.raises(InputError, match="repeats long texts"):
        parquet.check_size(tmp_path / "a.parquet")


def varint(number):
    number <<= 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@pytest.mark.parametrize("claimed", [ROWS + 1, 2 * ROWS, 1_000_000])
def test_a_footer_that_claims_other_rows_than_its_pages_have_is_refused(tmp_path, claimed):
    """A loop over the rows that it claims would take long."""
    assert len(varint(claimed)) == len(varint(ROWS))
    table().write_parquet(tmp_path / "P1.parquet")
    content = (tmp_path / "P1.parquet").read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    forged = content[footer:].replace(varint(ROWS), varint(claimed))
    assert forged != content[footer:]
    (tmp_path / "P1.parquet").write_bytes(content[:footer] + forged)
    for check in (parquet.check_size, parquet.check_sound):
        with pytest.raises(InputError, match="no whole Parquet file"):
            check(tmp_path / "P1.parquet")


def test_pages_without_end_are_refused(tmp_path, monkeypatch):
    table().write_parquet(tmp_path / "a.parquet", row_group_size=100)
    monkeypatch.setattr("eyelid.io.parquet_outline._PAGES_ALWAYS", 10)
    monkeypatch.setattr("eyelid.io.parquet_outline._BYTES_A_PAGE", 1 << 20)
    with pytest.raises(InputError, match="more pages than any writer makes"):
        parquet.check_size(tmp_path / "a.parquet")


def test_damage_anywhere_is_an_outline_or_one_line(tmp_path):
    table(200).write_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    dice = random.Random(1)
    reasons = []
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(dice.choice([1, 1, 3])):
            at = len(whole) - 1 - dice.randrange(min(len(whole), dice.choice([50, 1500, 10**6])))
            damaged[at] = dice.randrange(256)
        (tmp_path / "b.parquet").write_bytes(damaged[: dice.choice([None, None, len(whole) // 2])])
        try:
            outline_of(tmp_path / "b.parquet")
        except ValueError as error:
            reasons.append(str(error))
    assert len(reasons) > 50
    assert not any("\n" in reason for reason in reasons)


def test_a_recording_with_a_list_that_nobody_reads_is_read(tmp_path):
    rows = table(20).with_columns(y=pl.col("x"), extra=pl.lit([1, 2], dtype=pl.List(pl.Int64)))
    rows.write_parquet(tmp_path / "P1.parquet")
    assert read(tmp_path / "P1.parquet", SAID).data.height == 20


def test_a_study_whose_texts_begin_alike_is_tried_out_first(tmp_path, make_table, monkeypatch):
    """How long such texts become stands in no header."""
    folder = study_with(tmp_path / "study", make_table)
    tried = []
    monkeypatch.setattr(parquet, "check_sound", tried.append)
    read(folder)
    assert not tried
    monkeypatch.setattr("eyelid.io.parquet_outline._PREFIXED", 8)
    read(folder)
    assert tried == [folder / "data.parquet"]
