"""Small files of others that become large, or take long: refused in a line, soon."""

import gzip
import io
import json
import os
import re
import signal
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.io import (
    files as unpacking,
)
from eyelid.io import (
    parquet,
    read,
    write,
)
from eyelid.io.file_leaks import leaks_of_file
from eyelid.io.files import (
    Head,
    arrays_in,
    gunzipped,
)
from eyelid.io.leaks import PATTERNS
from eyelid.io.lint import lint

pytestmark = pytest.mark.usefixtures("tried_elsewhere")

RECORDING = b"person,time_ms,x,y\nP1,0,1,2\nP1,1,1,2\n"
SAID = {"units": "px"}


@pytest.fixture
def small_limits(monkeypatch):
    """As if memory were short."""
    monkeypatch.setattr(unpacking, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(parquet, "_ALWAYS", 1 << 20)


def bomb(size, begin=b""):
    return gzip.compress(begin + b"0" * size)


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(tmp_path, small_limits):
    (tmp_path / "P1.csv.gz").write_bytes(bomb(1 << 23, RECORDING))
    with pytest.raises(InputError, match="becomes larger than 1 MiB when it is unpacked"):
        read(tmp_path / "P1.csv.gz", SAID)
    # Its header gives the time of packing away.
    found = lint(tmp_path / "P1.csv.gz", SAID)
    assert "becomes larger than 1 MiB" in found[-1].value


def test_a_gzip_bomb_of_many_members_is_refused(tmp_path, small_limits):
    (tmp_path / "a.gz").write_bytes(bomb(1 << 19) * 4)
    with pytest.raises(InputError, match="becomes larger"):
        gunzipped(tmp_path / "a.gz")


def test_a_gzip_bomb_stops_at_its_limit(tmp_path, monkeypatch):
    (tmp_path / "a.gz").write_bytes(bomb(1 << 26))
    monkeypatch.setattr(unpacking, "_ALWAYS", 1 << 22)
    unpacked = []
    plain = gzip.GzipFile.read

    def counting(file, size=-1):
        unpacked.append(size)
        return plain(file, size)

    monkeypatch.setattr(gzip.GzipFile, "read", counting)
    with pytest.raises(InputError, match="becomes larger"):
        gunzipped(tmp_path / "a.gz")
    assert 0 < sum(unpacked) < 1 << 23


def test_what_becomes_a_hundred_times_as_large_is_read(tmp_path, small_limits):
    rows = RECORDING + b"".join(b"P1,%d,1,2\n" % time for time in range(2, 100_000))
    (tmp_path / "P1.csv.gz").write_bytes(gzip.compress(rows))
    assert len(rows) > 1 << 20
    assert len(read(tmp_path / "P1.csv.gz", SAID).data) == 100_000


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def npy(array, shape=None):
    packed = io.BytesIO()
    np.save(packed, array)
    content = packed.getvalue()
    return content if shape is None else content.replace(b"(3,)", shape.ljust(4))


def test_an_npz_bomb_is_refused_before_it_is_unpacked(tmp_path, small_limits):
    npz(tmp_path / "map.npz", cells=npy(np.zeros(1 << 20)))
    with pytest.raises(InputError, match="becomes larger than 1 MiB"):
        arrays_in(tmp_path / "map.npz")


@pytest.mark.parametrize("shape", [b"(10**15,)", b"(999999999999,)", b"(4,)", b"(-1,)", b"(2,)"])
def test_an_array_that_says_that_it_is_larger_is_refused(tmp_path, shape):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + b", }"
    header = header.ljust(117) + b"\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(24)
    npz(tmp_path / "map.npz", cells=content)
    with pytest.raises(InputError, match="cannot read"):
        arrays_in(tmp_path / "map.npz")


def test_an_array_of_objects_is_refused(tmp_path):
    np.savez(tmp_path / "map.npz", cells=np.array([{}, []], dtype=object))
    with pytest.raises(InputError, match="objects"):
        arrays_in(tmp_path / "map.npz")


def test_arrays_come_back(tmp_path):
    made = {"a": np.arange(6.0).reshape(2, 3).T, "b": np.array("text"), "c": np.zeros((0, 4), int)}
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **made)
        found = arrays_in(tmp_path / "a.npz")
        assert list(found) == list(made)
        for name, array in made.items():
            assert found[name].dtype == array.dtype
            assert np.array_equal(found[name], array)
            assert found[name].flags.writeable


def test_a_parquet_of_a_billion_equal_rows_is_refused(tmp_path, small_limits):
    rows = pl.select(
        person=pl.repeat("P1", 1 << 18), time_ms=pl.int_range(1 << 18), x=0.0, y=pl.lit(0.0)
    )
    rows.select("person", pl.repeat(0.0, 1 << 18).alias("time_ms"), "x", "y").write_parquet(
        tmp_path / "P1.parquet"
    )
    with pytest.raises(InputError, match="becomes larger"):
        read(tmp_path / "P1.parquet", SAID)


def test_a_study_of_a_billion_equal_rows_is_refused(tmp_path, make_table, monkeypatch):
    write(make_table().study(), tmp_path / "study")
    monkeypatch.setattr(unpacking, "_ALWAYS", 1)
    monkeypatch.setattr(unpacking, "_TIMES", 0)
    monkeypatch.setattr(parquet, "_ALWAYS", 1 << 10)
    with pytest.raises(InputError, match="becomes larger"):
        read(tmp_path / "study")


@pytest.fixture
def long_name(tmp_path, monkeypatch):
    """A name of 128 MiB in a few kB, and limits that it exceeds."""
    pl.DataFrame({"person": ["a" * (1 << 27)]}).write_parquet(tmp_path / "P1.parquet")
    assert (tmp_path / "P1.parquet").stat().st_size < 1 << 16
    monkeypatch.setattr(parquet, "_ALWAYS", 1)
    monkeypatch.setattr(unpacking, "_ALWAYS", 1)
    monkeypatch.setattr(parquet, "_LIBRARY", 1 << 30)
    return tmp_path / "P1.parquet"


def test_a_parquet_that_fills_the_memory_fills_that_of_its_trial(long_name, tried_elsewhere):
    reason = parquet._reason(long_name, long_name.stat().st_size, 0)
    assert "too large for the memory" in reason


def test_a_parquet_that_would_fill_the_memory_is_not_even_tried(long_name, monkeypatch):
    """Without memory the library waited for ever, in lint too."""
    monkeypatch.setattr(parquet, "_reason", None)
    with pytest.raises(InputError, match="becomes larger than"):
        parquet.check_sound(long_name)
    monkeypatch.setattr("eyelid.io.file_leaks.check_sound", lambda path: None)
    monkeypatch.setattr("eyelid.io.text_columns.MOST_VALUES", None)
    (found,) = leaks_of_file(long_name, long_name)
    assert "becomes larger than" in found.value


# One line of 200 kB each: looked at a letter at a time, a million times.
LINES = {
    "letters": "a" * 200_000,
    "brackets": "(" * 200_000,
    "square": "[" * 200_000,
    "addresses": "a@" * 100_000,
    "dots": "a@a" + "." * 200_000,
    "digits": "1" * 200_000,
    "months": "Jan " * 50_000,
    "days of months": "3-Mar-" * 35_000,
    "months and days": "mar 3, " * 30_000,
    "days": "1er de " * 30_000,
    "years of months": "2021 mar" * 25_000,
    "browsers": "Mozilla/" * 25_000,
    "accents": "é" * 200_000,
    "backslashes": "\\\\" * 100_000,
    "words": "A1" * 100_000,
}


@pytest.fixture
def cpu_limit():
    """So many seconds of this process's own time, however busy the machine is."""

    @contextmanager
    def limited(seconds):
        def stop(*_):
            raise TimeoutError

        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    return limited


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_200_kb_does_not_hang_lint(tmp_path, line, cpu_limit):
    (tmp_path / "P1.csv").write_text(f"# {LINES[line]}\n// {LINES[line]}\n{LINES[line]}: 1\n")
    with cpu_limit(10):
        leaks_of_file(tmp_path / "P1.csv", tmp_path)


def test_a_cell_of_50_kb_does_not_hang_the_advice_about_its_table(tmp_path, cpu_limit):
    (tmp_path / "P1.csv").write_text("t,speed\n0," + "9" * 50_000 + "x\n")
    with cpu_limit(10), pytest.raises(InputError, match="if a row is a trial"):
        read(tmp_path / "P1.csv", {"time": "t"})


def test_fields_above_a_long_list_are_not_written_into_each_of_its_rows(tmp_path, cpu_limit):
    """A JSON of 3 MB filled 12 GB."""
    samples = [{"t": number, "x": 1, "y": 2} for number in range(20_000)]
    above = {f"field {number}": 0 for number in range(3000)}
    (tmp_path / "P1.json").write_text(json.dumps(above | {"who": "a", "samples": samples}))
    with cpu_limit(10):
        study = read(
            tmp_path / "P1.json", {"time": "t", "time_unit": "ms", "units": "px", "person": "who"}
        )
    assert study.data.height == 20_000
    assert study.data["person"].unique().to_list() == ["a"]


class Counted(str):
    """A text that knows how much of it was gone through to count lines."""

    gone_through = 0

    def count(self, what, start=0, end=None):
        found = super().count(what, start, len(self) if end is None else end)
        Counted.gone_through += (len(self) if end is None else end) - start
        return found


def test_many_remarks_are_numbered_in_one_pass(tmp_path, monkeypatch):
    text = Counted("#\n" * 2000 + "# ann@example.org\n")
    (tmp_path / "P1.txt").write_text(text)
    monkeypatch.setattr(Head, "text", lambda head: text)
    found = leaks_of_file(tmp_path / "P1.txt", tmp_path)
    assert [(leak.where, leak.value) for leak in found] == [
        ("P1.txt, line 2001", "ann@example.org")
    ]
    assert 0 < Counted.gone_through <= len(text)


@given(st.text("ab1.@-+_ ", max_size=40))
def test_addresses_are_found_as_without_a_limit(text):
    before = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*[a-zA-Z]")
    found = PATTERNS["an e-mail address"].findall(text)
    assert found == before.findall(text)


def test_an_address_behind_a_long_word_is_found():
    text = "x" * 5000 + "ann@example.org"
    assert PATTERNS["an e-mail address"].findall(text)[0].endswith("ann@example.org")


def test_a_table_of_a_hundred_thousand_columns_is_refused_and_looked_at(tmp_path, cpu_limit):
    (tmp_path / "P1.csv").write_text("," * 30_000 + "ann@example.org\n")
    with cpu_limit(10):
        found = leaks_of_file(tmp_path / "P1.csv", tmp_path)
        assert [leak.value for leak in found] == ["ann@example.org"]
        (tmp_path / "P1.csv").write_text("x,y,time_ms" + ",a" * 20_000 + "\n")
        with pytest.raises(InputError, match="has 20,003 columns, more than 10,000"):
            read(tmp_path / "P1.csv", SAID)


def test_json_that_is_folded_too_deep_hides_nothing_and_ends_in_a_line(tmp_path, eyelid):
    deep = "[" * 100_000 + '"ann@example.org"'
    (tmp_path / "notes.json").write_text(deep)
    (found,) = leaks_of_file(tmp_path / "notes.json", tmp_path)
    assert found.value == "ann@example.org"
    for name in ("study.json", "certificate.json"):
        folder = tmp_path / name.removesuffix(".json")
        folder.mkdir()
        (folder / name).write_text(deep)
        (folder / "P1.csv").write_bytes(RECORDING)
        for command in ("inspect", "lint"):
            done = eyelid(command, folder, "--map", "units=px")
            assert done.code in (0, 1, 2), done.err
            assert done.err.count("\n") <= 1


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path, make_table):
    write(make_table().study(), tmp_path / "study")
    for name in ("people.csv", "data.parquet"):
        kept = (tmp_path / "study" / name).rename(tmp_path / name)
        os.mkfifo(tmp_path / "study" / name)
        with pytest.raises(InputError, match="it is no file"):
            read(tmp_path / "study")
        (tmp_path / "study" / name).unlink()
        kept.rename(tmp_path / "study" / name)


def test_a_pattern_for_messages_cannot_look_for_ever(tmp_path, cpu_limit):
    (tmp_path / "P1.asc").write_text(
        "** CONVERTED FROM a.edf using edfapi\nMSG\t100 " + "a" * 50_000 + "!\n"
        "START\t100 \tLEFT\tSAMPLES\tEVENTS\n"
        "SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2\n"
        "101\t 64.3\t 41.5\t 28.0\t...\n102\t 64.3\t 41.5\t 28.0\t...\nEND\t103 \tSAMPLES\n"
    )
    (tmp_path / "map.toml").write_text('[columns]\nstimulus = "msg:(a+)+$"\n')
    with cpu_limit(10):
        assert read(tmp_path).notes


@pytest.mark.parametrize(
    "begins", [b"x^2", b"x\x01", b"x\x9c", b"x\xda", b"\x1f\x8b", b"(\xb5/\xfd"]
)
@pytest.mark.parametrize("header", [True, False])
def test_text_that_begins_like_a_packed_file_is_text(begins, header):
    content = begins + b",b\n1,2\n"
    found = unpacking.text_table(content, has_header=header, encoding="utf8-lossy")
    assert found.shape == ((1, 2) if header else (2, 2))
    first = found.columns[0] if header else found[0, 0]
    assert first == begins.decode(errors="replace")


def test_a_packed_list_of_people_fills_no_memory(tmp_path, make_table):
    """Polars would unpack it, however large it becomes."""
    write(make_table(2, 1, 3).study(), tmp_path / "study")
    people = (tmp_path / "study" / "people.csv").read_bytes()
    for pack in (zlib.compress, gzip.compress):
        (tmp_path / "study" / "people.csv").write_bytes(pack(people))
        with pytest.raises(InputError):
            read(tmp_path / "study")


def test_nobody_else_reads_csv_of_others():
    """One place, so that nothing is unpacked on the way."""
    home = Path(unpacking.__file__).parents[1]
    callers = {
        str(path.relative_to(home))
        for path in home.rglob("*.py")
        if "read_csv(" in path.read_text() or "scan_csv(" in path.read_text()
    }
    # What eyelid itself ships or wrote.
    own = {
        "releases/consistency/folder.py",
        "papers/bozkir2021/utility.py",
        "mechanisms/groups/spread.py",
    }
    assert callers - own == {"io/files.py"}
