"""Files of others: their beginning, by which a format is recognised, and all of them up to a limit.

A small packed file must not fill the memory. Recordings become some ten times as large. A file that
becomes a hundred times as large, and is not small even then, is refused: those who trust it can
unpack it, and files that are not packed have no limit.
"""

from __future__ import annotations

import codecs
import gzip
import math
import re
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.lib import format as npy
from numpy.typing import NDArray

from eyelid.engine.files import opened
from eyelid.errors import InputError, cannot_read

_TIMES = 100
_ALWAYS = 1 << 24
_AT_ONCE = 1 << 20
_CELLS_ALWAYS, _BYTES_A_CELL = 1 << 30, 16
# How gzip, zlib and zstd begin.
_LIKE_PACKED = re.compile(rb"\x1f\x8b|x[\x01\x5e\x9c\xda]|\x28\xb5\x2f\xfd")


def most_bytes(packed: int) -> int:
    """So many bytes a packed file may become.

    Args:
        packed: its size.

    >>> most_bytes(10) == 2**24, most_bytes(10**9) == 10**11
    (True, True)
    """
    return max(_ALWAYS, _TIMES * packed)


def too_large(path: Path, most: int) -> InputError:
    """The error for a file that becomes larger than that.

    Args:
        path: of the file.
        most: bytes that it may become.
    """
    return InputError(
        f"{path} becomes larger than {most / 2**20:,.0f} MiB when it is unpacked, many times its "
        "size: if you trust it, unpack it first and give the result"
    )


def text_table(content: bytes, **options: Any) -> pl.DataFrame:
    """A table of text, as polars reads it, but never unpacked: text is what it was taken for.

    Polars unpacks whatever begins like a packed file, without a limit, be it the text ``x^2``.

    Args:
        content: of a csv file, or of part of one.
        options: of `polars.read_csv`.
    """
    if _LIKE_PACKED.match(content):
        content = codecs.BOM_UTF8 + content
    return pl.read_csv(content, **options)


def check_cells(content: bytes, separator: str = ",") -> None:
    """Fail where a table of text has few cells and many empty ones: short rows under a long header.

    Args:
        content: of a csv file.
        separator: of its columns.
    """
    header = text_table(content, separator=separator, n_rows=0, infer_schema=False)
    most = max(_CELLS_ALWAYS, most_bytes(len(content)))
    if header.width * (content.count(b"\n") + 1) * _BYTES_A_CELL > most:
        raise ValueError(
            f"its {header.width:,} columns are mostly empty, and would take more than "
            f"{most / 2**20:,.0f} MiB"
        )


def gunzipped(path: Path) -> bytes:
    """The content of a gzipped file.

    Args:
        path: of the file.
    """
    most = most_bytes(path.stat().st_size)
    parts: list[bytes] = []
    size = 0
    with opened(path) as file, gzip.open(file) as unpacked:
        while part := unpacked.read(_AT_ONCE):
            parts.append(part)
            size += len(part)
            if size > most:
                raise too_large(path, most)
    return b"".join(parts)


def arrays_in(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file, by name; refused unless they are plain numbers or text.

    Args:
        path: of the file.
    """
    damaged = (OSError, ValueError, EOFError, OverflowError, RuntimeError, MemoryError)
    with cannot_read(path, *damaged, zipfile.BadZipFile, zlib.error):
        most = most_bytes(path.stat().st_size)
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > most:
                raise too_large(path, most)
            found = {}
            for member in members:
                with archive.open(member) as content:
                    found[member.filename.removesuffix(".npy")] = array_of(content)
            return found


def array_of(content: Any) -> NDArray[Any]:
    """One array of an npz file, of as many bytes as its header says.

    Args:
        content: of the member, open.
    """
    version = npy.read_magic(content)
    header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, kind = header(content)
    if kind.hasobject:
        raise ValueError("it holds objects, which eyelid never reads")
    values = content.read()
    if math.prod(shape) * kind.itemsize != len(values):
        raise ValueError("an array is not as large as it says")
    flat = np.frombuffer(values, kind, math.prod(shape))
    return flat.reshape(shape, order="F" if by_columns else "C").copy()


_LOOKED_AT = 1 << 16
_GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Head:
    """The first bytes of a file, as text where they are text.

    Attributes:
        path: the file.
        raw: its first 64 KiB, unpacked if the file is gzipped.
        whole: whether that is all of it.
        gzipped: whether the file is.
    """

    path: Path
    raw: bytes
    whole: bool
    gzipped: bool = False

    @cached_property
    def encoding(self) -> str:
        """How the bytes are text: by their mark, as UTF-8 if they are that, else as Windows'."""
        for mark, name in _MARKS:
            if self.raw.startswith(mark):
                return name
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            # The last character may be cut in two.
            decoder.decode(self.raw, final=self.whole)
        except UnicodeDecodeError:
            return "cp1252"
        return "utf-8"

    @property
    def binary(self) -> bool:
        """Whether this is no text."""
        return b"\0" in self.raw and not self.encoding.startswith("utf-16")

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are there whole; none of a binary file."""
        if self.binary:
            return []
        lines = self.raw.decode(self.encoding, errors="replace").splitlines()
        return lines if self.whole else lines[:-1]

    def text(self) -> str:
        """The whole file as text."""
        try:
            return self.content().decode(self.encoding)
        except UnicodeDecodeError:
            # Bytes that say nothing in Windows' alphabet are in no name of a column or number.
            return self.content().decode("latin-1")

    def content(self) -> bytes:
        """All bytes of the file, unpacked if it is gzipped."""
        if self.whole:
            return self.raw
        with cannot_read(self.path, OSError, ValueError, EOFError, zlib.error):
            if self.gzipped:
                return gunzipped(self.path)
            with opened(self.path) as file:
                return file.read()


def head_of(path: Path) -> Head:
    """Look at the beginning of a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     _ = (Path(home) / "a.csv").write_text("time,x")
    ...     head_of(Path(home) / "a.csv").lines
    ['time,x']
    """
    try:
        with opened(path) as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            if packed:
                with gzip.open(file) as unpacked:
                    raw = unpacked.read(_LOOKED_AT + 1)
            else:
                raw = file.read(_LOOKED_AT + 1)
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise InputError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    return Head(path, raw[:_LOOKED_AT], len(raw) <= _LOOKED_AT, packed)
