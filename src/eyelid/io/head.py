"""The beginning of a file, by which its format is recognised."""

from __future__ import annotations

import codecs
import gzip
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eyelid.engine.foreign import opened
from eyelid.errors import InputError
from eyelid.io.unpacking import gunzipped

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
        try:
            if self.gzipped:
                return gunzipped(self.path)
            with opened(self.path) as file:
                return file.read()
        except (OSError, ValueError, EOFError, zlib.error) as error:
            raise InputError(f"cannot read {self.path}: {error}") from None


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
