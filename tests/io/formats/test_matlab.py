"""MATLAB files, against scipy's reader and writer."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.io import loadmat, savemat

from eyelid.errors import InputError
from eyelid.io import (
    files as unpacking,
)
from eyelid.io import (
    read,
)
from eyelid.io.files import (
    Head,
    head_of,
)
from eyelid.io.formats import matlab

CELLS = np.empty((2, 1), dtype=object)
CELLS[0, 0], CELLS[1, 0] = np.array([[1.0, 2.0]]), "two"


def mat(variables: dict, compressed: bool = True) -> bytes:
    packed = io.BytesIO()
    savemat(packed, variables, do_compression=compressed)
    return packed.getvalue()


def head(content: bytes, tmp_path) -> Head:
    (tmp_path / "file.mat").write_bytes(content)
    return head_of(tmp_path / "file.mat")


@pytest.mark.parametrize("compressed", [True, False])
@given(
    numbers=st.sampled_from(["f8", "f4", "u2", "i1", "i4", "u8"]).flatmap(
        lambda kind: arrays(kind, array_shapes(max_dims=3, max_side=4))
    )
)
def test_arrays_are_what_scipy_says_they_are(compressed, numbers, tmp_path_factory):
    content = mat({"a": numbers, "b": 7}, compressed)
    found = matlab.variable(head(content, tmp_path_factory.mktemp("mat")), "a")
    expected = loadmat(io.BytesIO(content))["a"]
    np.testing.assert_array_equal(found, expected.astype(np.float64))


@pytest.mark.parametrize("compressed", [True, False])
def test_cells_text_and_structures_are_read(tmp_path, compressed):
    content = mat({"first": 1.0, "c": CELLS, "s": {"name": "å", "size": [3, 4]}}, compressed)
    file = head(content, tmp_path)
    assert matlab.names(file) == ["first", "c", "s"]
    one, two = matlab.variable(file, "c")
    assert one.tolist() == [[1.0, 2.0]]
    assert two == "two"
    [found] = matlab.variable(file, "s")
    assert found["name"] == "å"
    assert found["size"].tolist() == [[3.0, 4.0]]


def test_a_file_from_a_machine_that_counts_bytes_the_other_way_is_read(tmp_path):
    def element(kind: int, body: bytes) -> bytes:
        return struct.pack(">II", kind, len(body)) + body + bytes(-len(body) % 8)

    array = (
        element(6, struct.pack(">II", 6, 0))
        + element(5, struct.pack(">ii", 1, 2))
        + struct.pack(">HH4s", 1, 1, b"a")
        + element(9, struct.pack(">dd", 1.5, -2.5))
    )
    content = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + element(14, array)
    assert matlab.variable(head(content, tmp_path), "a").tolist() == [[1.5, -2.5]]


def test_a_7_3_file_is_refused_with_the_remedy(tmp_path, eyelid):
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n")
    done = eyelid("inspect", tmp_path / "new.mat")
    assert done.code == 2
    assert "-v7" in done.err
    assert done.err.count("\n") == 1


def test_a_file_of_something_else_says_what_it_holds(tmp_path):
    (tmp_path / "other.mat").write_bytes(mat({"speed": 1.0, "colour": "red"}))
    with pytest.raises(InputError, match="speed, colour"):
        read(tmp_path / "other.mat")


@pytest.mark.parametrize("compressed", [True, False])
def test_a_file_that_was_cut_short_anywhere_is_an_error(tmp_path, compressed):
    whole = mat({"a": CELLS}, compressed)
    for size in range(20, len(whole)):
        with pytest.raises(InputError):
            matlab.variable(head(whole[:size], tmp_path), "a")


def test_sizes_that_a_file_only_claims_take_no_memory(tmp_path):
    whole = mat({"a": CELLS}, compressed=False)
    claimed = whole.replace(struct.pack("<ii", 2, 1), struct.pack("<ii", 1 << 30, 1 << 30), 1)
    with pytest.raises(InputError, match="do not fit"):
        matlab.variable(head(claimed, tmp_path), "a")


def test_an_array_that_unpacks_without_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "_ALWAYS", 4096)
    with pytest.raises(InputError, match="becomes larger"):
        matlab.variable(head(mat({"a": np.zeros(100_000)}), tmp_path), "a")


@pytest.mark.parametrize(
    "hostile",
    [np.zeros(10_000, np.int8), np.array([np.empty(0)] * 2000 + [""], dtype=object)],
    ids=["bytes that become floats", "empty arrays"],
)
def test_an_array_that_grows_when_it_is_converted_is_refused(tmp_path, monkeypatch, hostile):
    content = mat({"a": hostile})
    monkeypatch.setattr(unpacking, "_ALWAYS", 1 << 16)
    monkeypatch.setattr(unpacking, "_TIMES", 1)
    small = head(content, tmp_path)
    assert len(zlib.decompress(content[136:])) < 1 << 17
    with pytest.raises(InputError, match="becomes larger"):
        matlab.variable(small, "a")


@pytest.mark.parametrize("compressed", [True, False])
@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data, compressed):
    survives(mat({"a": CELLS, "s": {"x": [1, 2]}}, compressed), data)
