"""MATLAB files (``-v7`` and earlier): their variables, as far as recordings need them.

Numbers, text, cells and structures. Every length is held against the bytes that are there, so that
a damaged file is an error and not a crash or a gigabyte; scipy's reader trusts what the file says.

As a format of its own this is what is left of MATLAB files when no dataset's reader knows them.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from eyelid.errors import EyelidError, InputError
from eyelid.io.files import (
    Head,
    most_bytes,
    too_large,
)
from eyelid.io.layout import Layout

NAME = "MATLAB"

_MARK, _MARK_HDF5 = b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"
_HEADER_BYTES = 128
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_NUMBERS |= {12: "i8", 13: "u8"}
_CELL, _STRUCT, _CHAR = 1, 2, 4
_NUMERIC = range(6, 16)
_ENOUGH_FOR_A_NAME = 512
_BYTES_AN_ARRAY, _BYTES_A_LETTER = 200, 4
_MOST_VARIABLES, _MOST_NESTED = 1000, 20


def recognises(head: Head) -> bool:
    """Whether this is a MATLAB file at all."""
    return head.raw.startswith((_MARK, _MARK_HDF5))


def read(head: Head, said: Layout) -> NoReturn:
    """Say why nothing can be read from this file."""
    if head.raw.startswith(_MARK_HDF5):
        raise InputError(
            f"{head.path} is a MATLAB 7.3 file, which is HDF5: in MATLAB, load it and save it "
            "again with save(…, '-v7')"
        )
    found = names(head)
    if not found:
        raise InputError(f"{head.path} is a damaged MATLAB file: get a whole copy")
    raise InputError(
        f"{head.path} is a MATLAB file with {', '.join(found[:5])}, which is no dataset that "
        "eyelid knows: in MATLAB, write the samples with writetable"
    )


def names(head: Head) -> list[str]:
    """The names of the variables, as far as the file is whole."""
    found = []
    try:
        for name, _ in _variables(head, None):
            found.append(name)
    except ValueError:
        pass
    return [name for name in found if name.isidentifier()]


def variable(head: Head, name: str) -> Any:
    """The value of a variable.

    Returns:
        an array of floats, a text, a list of the values of a cell array, or a list of dictionaries
        for a structure; in the order of MATLAB, columns first.
    """
    try:
        room = _Room(head.path)
        return next(array.value(room) for found, array in _variables(head, room) if found == name)
    except EyelidError:
        raise
    except (ValueError, StopIteration) as error:
        what = str(error) or f"{name} is missing"
        raise InputError(f"{head.path} is damaged: {what}; get a whole copy") from None


class _Room:
    """Memory that a file may take: a hundred times as much as it takes on disk.

    Numbers are packed, and a byte of them becomes eight; an empty array takes more than its tag.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.most = self.left = most_bytes(path.stat().st_size)

    def take(self, size: int) -> None:
        """Fail where so many bytes are too many."""
        self.left -= size
        if self.left < 0:
            raise too_large(self._path, self.most)


class _Array:
    """One array in some bytes: its class, shape and name, and where its content is."""

    def __init__(self, data: bytes, order: str, at: int, end: int, nested: int = 0) -> None:
        if nested > _MOST_NESTED:
            raise ValueError("arrays are nested too deep")
        self.data, self.order, self.end, self.nested = data, order, end, nested
        self.kind, self.name, self.at = 0, "", at
        self.dims: tuple[int, ...] = (0,)
        if at == end:
            return
        _, start, stop = self._next()
        flags = self._numbers(6, start, stop)
        _, start, stop = self._next()
        self.dims = tuple(int(size) for size in self._numbers(5, start, stop))
        _, start, stop = self._next()
        self.name = data[start:stop].decode("latin-1")
        if not len(flags) or min(self.dims, default=-1) < 0:
            raise ValueError("an array has no shape")
        self.kind = int(flags[0]) & 0xFF

    def _next(self) -> tuple[int, int, int]:
        """The type of the next element, and where its content starts and ends."""
        kind, start, stop, self.at = _element(self.data, self.order, self.at, self.end)
        return kind, start, stop

    def _numbers(self, kind: int, start: int, stop: int) -> np.ndarray:
        if kind not in _NUMBERS:
            raise ValueError(f"numbers of the unknown type {kind}")
        dtype = np.dtype(self.order + _NUMBERS[kind])
        return np.frombuffer(self.data, dtype, (stop - start) // dtype.itemsize, start)

    def value(self, room: _Room) -> Any:
        """What the array holds."""
        count = math.prod(self.dims)
        room.take(_BYTES_AN_ARRAY)
        if self.kind in _NUMERIC:
            numbers = self._numbers(*self._next())
            if len(numbers) != count:
                raise ValueError(f"an array of {count} numbers holds {len(numbers)}")
            room.take(numbers.size * np.dtype(np.float64).itemsize)
            return numbers.astype(np.float64).reshape(self.dims, order="F")
        if self.kind == _CHAR:
            kind, start, stop = self._next()
            room.take(_BYTES_A_LETTER * (stop - start))
            wide = "utf-16-le" if self.order == "<" else "utf-16-be"
            return self.data[start:stop].decode(wide if kind in (4, 17) else "utf-8", "replace")
        if self.kind == _CELL:
            return self._inner(count, room)
        if self.kind == _STRUCT:
            length = self._numbers(*self._next())
            _, start, stop = self._next()
            if len(length) != 1 or not 0 < length[0] <= max(stop - start, 1):
                raise ValueError("a structure has no field names")
            room.take(_BYTES_AN_ARRAY * ((stop - start) // int(length[0]) + 1))
            fields = [
                self.data[at : at + int(length[0])].split(b"\0")[0].decode("latin-1")
                for at in range(start, stop, int(length[0]))
            ]
            values = self._inner(count * len(fields), room)
            width = len(fields)
            return [
                dict(zip(fields, values[at : at + width], strict=True))
                for at in range(0, len(values), max(width, 1))
            ]
        if self.kind == 0:
            return np.empty(0)
        raise ValueError(f"an array is of the unknown class {self.kind}")

    def _inner(self, count: int, room: _Room) -> list[Any]:
        # No array is smaller than its tag.
        if count > (self.end - self.at) // 8:
            raise ValueError(f"{count} arrays do not fit into {self.end - self.at} bytes")
        inner = []
        for _ in range(count):
            kind, start, stop = self._next()
            if kind != _MATRIX:
                raise ValueError(f"an array was expected, not an element of type {kind}")
            inner.append(_Array(self.data, self.order, start, stop, self.nested + 1).value(room))
        return inner


def _element(data: bytes, order: str, at: int, end: int) -> tuple[int, int, int, int]:
    """The type of an element, where its content starts and ends, and where the next one is."""
    if at + 8 > min(end, len(data)):
        raise ValueError("it ends in the middle of an array")
    kind, size = struct.unpack_from(order + "II", data, at)
    if kind >> 16:
        # Up to four bytes stand in the tag itself.
        return kind & 0xFFFF, at + 4, at + 4 + min(kind >> 16, 4), at + 8
    start, stop = at + 8, at + 8 + size
    if stop > end:
        raise ValueError("it ends in the middle of an array")
    # Compressed elements are not filled up to eight bytes.
    return kind, start, stop, min(stop + (-size % 8 if kind != _COMPRESSED else 0), end)


def _variables(head: Head, room: _Room | None) -> Iterator[tuple[str, _Array]]:
    """Name and array of each variable, unpacked as far as there is room; without it, the name."""
    if not head.raw.startswith(_MARK):
        return
    content = head.content()
    order = ">" if content[_HEADER_BYTES - 2 : _HEADER_BYTES] == b"MI" else "<"
    at = _HEADER_BYTES
    for _ in range(_MOST_VARIABLES):
        if at >= len(content):
            return
        kind, start, stop, at = _element(content, order, at, len(content))
        data = content
        if kind == _COMPRESSED:
            data = _unpacked(content[start:stop], room)
            # Where only the beginning is unpacked, the content ends with it.
            whole = len(data) if room is not None else 1 << 33
            kind, start, stop, _ = _element(data, order, 0, whole)
            stop = min(stop, len(data))
        if kind == _MATRIX:
            array = _Array(data, order, start, stop)
            yield array.name, array


def _unpacked(packed: bytes, room: _Room | None) -> bytes:
    try:
        most = _ENOUGH_FOR_A_NAME if room is None else room.left + 1
        data = zlib.decompressobj().decompress(packed, most)
        if room is not None:
            room.take(len(data))
        return data
    except zlib.error as error:
        raise ValueError(f"its compression is broken ({error})") from None
