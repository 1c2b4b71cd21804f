"""What a Parquet file becomes in memory, by its footer and the headers of its pages.

Values that repeat take no room in a file: a few kilobytes may hold a billion of them. The library
trusts what a file says of itself, so this is counted before it reads one: every header of a page is
looked at, and no page is unpacked. The numbers must agree with each other.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from eyelid.engine.files import opened

_MARK = b"PAR1"
_DAMAGED = "it is no whole Parquet file: it may be truncated or damaged"
# Kinds of columns and pages, an encoding, and how often a value may be there, as numbered there.
_TEXT, _FIXED, _REPEATED, _PREFIXED = 6, 7, 2, 7
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_VALUE_BYTES, _VIEW_BYTES = 8, 16
# Reading, checking and naming people makes so many copies of a long text at once.
_TEXT_COPIES = 8
# No writer cuts smaller pages throughout; each takes its time.
_PAGES_ALWAYS, _BYTES_A_PAGE = 100_000, 100
_HEADER_BYTES, _MOST_NESTED = 1 << 10, 32
# Bytes of values whose kind tells it: truth values, one byte, eight bytes.
_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}

Wanted = Mapping[int, Any]
"""Numbers of the fields that are wanted of a record; of records in it, those of theirs."""

_SCHEMA: Wanted = {1: None, 2: None, 3: None, 4: None, 5: None}
_CHUNK: Wanted = {3: {5: None, 7: None, 9: None, 11: None}}
_FOOTER: Wanted = {2: _SCHEMA, 3: None, 4: {1: _CHUNK, 3: None}}
_PAGES: Wanted = {1: None, 2: None}
_PAGE: Wanted = {1: None, 2: None, 3: None, 5: _PAGES, 7: _PAGES, 8: {1: None, 4: None}}


@dataclass(frozen=True)
class Outline:
    """What a file holds.

    Attributes:
        columns: their names.
        nested: those of lists, records and the like.
        size: bytes that the columns asked for take in memory, at most.
        repeated: bytes of text that are gone through where every row had the longest, at most.
        prefixed: whether values repeat the beginnings of others, so that the size is not known.
    """

    columns: tuple[str, ...]
    nested: tuple[str, ...]
    size: int
    repeated: int
    prefixed: bool


def outline_of(path: Path, columns: Collection[str] | None = None) -> Outline:
    """What a file holds; fails where it is damaged.

    Args:
        path: of the file.
        columns: that will be read; without it, all.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            return _outline(file, size, columns)
        except (AttributeError, IndexError, KeyError, TypeError, struct.error):
            # A number where text should be, or the other way round, among others.
            raise ValueError(_DAMAGED) from None


def _outline(file: BinaryIO, size: int, columns: Collection[str] | None) -> Outline:
    footer = _footer(file, size)
    leaves = _leaves(footer[2])
    names = tuple(dict.fromkeys(leaf.column for leaf in leaves))
    nested = dict.fromkeys(leaf.column for leaf in leaves if leaf.nested)
    pages = _Pages(file, size)
    total, rows = 0, 0
    for group in footer.get(4, []):
        if len(group.get(1, [])) != len(leaves) or group[3] < 0:
            raise ValueError(_DAMAGED)
        rows += group[3]
        for leaf, chunk in zip(leaves, group.get(1, []), strict=True):
            if columns is None or leaf.column in columns:
                total += pages.size_of(leaf, chunk[3], group[3])
    if rows != footer[3] or (rows and not leaves):
        raise ValueError(_DAMAGED)
    return Outline(names, tuple(nested), total, pages.repeated, pages.prefixed)


def _footer(file: BinaryIO, size: int) -> dict[int, Any]:
    """The record at the end of the file."""
    if size < 12:
        raise ValueError(_DAMAGED)
    file.seek(size - 8)
    length, mark = struct.unpack("<I4s", file.read(8))
    if mark != _MARK or length > size - 12:
        raise ValueError(_DAMAGED)
    file.seek(size - 8 - length)
    return _Record(file.read(length)).fields(_FOOTER)


@dataclass(frozen=True)
class _Leaf:
    """Values of a column: one leaf, or several where it is nested."""

    column: str
    kind: int
    width: int
    nested: bool


def _leaves(elements: list[dict[int, Any]]) -> list[_Leaf]:
    """The leaves of a schema, in order."""
    found, at = [], 1
    for _ in range(elements[0].get(5, 0)):
        name, first = elements[at][4].decode("utf-8", "replace"), at
        waiting = 1
        while waiting:
            element = elements[at]
            children = element.get(5, 0)
            if children < 0:
                raise ValueError(_DAMAGED)
            at, waiting = at + 1, waiting - 1 + children
            if not children:
                nested = at - first > 1 or element.get(3) == _REPEATED
                width = element.get(2, 0) if element.get(1) == _FIXED else 0
                found.append(_Leaf(name, element[1], max(_VALUE_BYTES, width), nested))
    if at != len(elements):
        raise ValueError(_DAMAGED)
    return found


class _Pages:
    """The pages of a file, as far as their headers tell."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size
        self._left = _PAGES_ALWAYS + size // _BYTES_A_PAGE
        self.repeated, self.prefixed = 0, False

    def size_of(self, leaf: _Leaf, chunk: Mapping[int, Any], rows: int) -> int:
        """Bytes that some rows of a leaf take in memory."""
        start = chunk.get(11, chunk[9])
        stop = start + chunk[7]
        if not 0 <= start <= stop <= self._size:
            raise ValueError(_DAMAGED)
        total, values, texts = 0, 0, 0
        for page in self._headers(start, stop):
            about = page.get({_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}.get(page[1], 0))
            if about is None:
                continue
            count = about[1]
            if count < 0 or page[2] < 0:
                raise ValueError(_DAMAGED)
            if leaf.kind == _TEXT:
                total += count * _VIEW_BYTES + _TEXT_COPIES * page[2]
            else:
                total += max(count * leaf.width, page[2])
            if page[1] == _DICTIONARY:
                texts += page[2] if leaf.kind == _TEXT else 0
            else:
                values += count
                self.prefixed |= about[4 if page[1] == _DATA_2 else 2] == _PREFIXED
            if values >= chunk[5]:
                # What old writers left behind it is read by nobody.
                break
        if values != chunk[5] or (not leaf.nested and values != rows):
            raise ValueError(_DAMAGED)
        self.repeated += values * texts
        return total

    def _headers(self, start: int, stop: int) -> Iterator[dict[int, Any]]:
        """The headers of the pages between two places."""
        while start < stop:
            self._left -= 1
            if self._left < 0:
                raise ValueError("it is cut into more pages than any writer makes")
            page, length = self._header(start, stop)
            if page[3] < 0:
                raise ValueError(_DAMAGED)
            yield page
            start += length + page[3]

    def _header(self, start: int, stop: int) -> tuple[dict[int, Any], int]:
        size = _HEADER_BYTES
        while True:
            self._file.seek(start)
            content = self._file.read(min(size, stop - start))
            record = _Record(content)
            try:
                return record.fields(_PAGE), record.at
            except IndexError:
                # Values in it may be long.
                if size >= stop - start:
                    raise
                size *= 8


class _Record:
    """A record in Thrift's compact encoding, which footers and headers have."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def fields(self, wanted: Wanted, nested: int = 0) -> dict[int, Any]:
        """The values of the fields that are wanted, by their numbers."""
        found: dict[int, Any] = {}
        number = 0
        while True:
            byte = self._byte()
            kind = byte & 15
            if not kind:
                return found
            number = number + (byte >> 4) if byte >> 4 else self._number()
            if number in wanted:
                if number in found:
                    raise ValueError(_DAMAGED)
                found[number] = self._value(kind, wanted[number], nested)
            else:
                self._skip(kind, nested)

    def _value(self, kind: int, wanted: Wanted | None, nested: int) -> Any:
        if kind in (4, 5, 6) and wanted is None:
            return self._number()
        if kind == 8 and wanted is None:
            return self._bytes()
        if kind == 12 and wanted is not None:
            return self.fields(wanted, nested + 1)
        if kind == 9 and wanted is not None:
            count, inner = self._list()
            if inner != 12:
                raise ValueError(_DAMAGED)
            return [self.fields(wanted, nested + 1) for _ in range(count)]
        raise ValueError(_DAMAGED)

    def _skip(self, kind: int, nested: int) -> None:
        if nested > _MOST_NESTED:
            raise ValueError(_DAMAGED)
        if kind in _SIZES:
            self._pass(_SIZES[kind])
        elif kind in (4, 5, 6):
            self._varint()
        elif kind == 8:
            self._pass(self._varint())
        elif kind in (9, 10):
            count, inner = self._list()
            for _ in range(count):
                self._skip_inner(inner, nested)
        elif kind == 11:
            if count := self._varint():
                kinds = self._byte()
                for _ in range(count):
                    self._skip_inner(kinds >> 4, nested)
                    self._skip_inner(kinds & 15, nested)
        elif kind == 12:
            while byte := self._byte():
                if not byte >> 4:
                    self._varint()
                self._skip(byte & 15, nested + 1)
        else:
            raise ValueError(_DAMAGED)

    def _skip_inner(self, kind: int, nested: int) -> None:
        """Truth values take a byte where there are several."""
        self._skip(3 if kind in (1, 2) else kind, nested + 1)

    def _list(self) -> tuple[int, int]:
        """How many things, of which kind."""
        byte = self._byte()
        count = byte >> 4
        return self._varint() if count == 15 else count, byte & 15

    def _byte(self) -> int:
        value = self.content[self.at]
        self.at += 1
        return value

    def _varint(self) -> int:
        value = self.content[self.at]
        self.at += 1
        if value < 128:
            return value
        value &= 127
        for shift in range(7, 70, 7):
            byte = self.content[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError(_DAMAGED)

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _bytes(self) -> bytes:
        length = self._varint()
        start = self.at
        self._pass(length)
        return self.content[start : self.at]

    def _pass(self, count: int) -> None:
        if count > len(self.content) - self.at:
            raise IndexError
        self.at += count
