"""Are the figures of released results those of their numbers, and nothing besides?

Each is drawn again. Drawn by the same programs it is the same to the last byte. Other versions of
matplotlib draw otherwise: then nothing may stand in them that is not seen, such as comments, and
the owner is told that no more was checked.
"""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eyelid.engine.files import content_of
from eyelid.errors import EyelidError
from eyelid.releases.kinds.statistics.presentation import PICTURES
from eyelid.reporting.statistics.figure import draw_results, save

_PNG = b"\x89PNG\r\n\x1a\n"
_COMMENT = re.compile(rb"<!--(.*?)-->", re.DOTALL)


@dataclass(frozen=True)
class Figures:
    """What became of the figures of a folder.

    Attributes:
        changed: what is not as eyelid draws it, in words.
        unchecked: what could not be checked, in words.
    """

    changed: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()


def figures_of(folder: Path, results: pl.DataFrame) -> Figures:
    """Draw the figures of results again, and compare those that are there.

    Args:
        folder: of the release.
        results: the table of all results.
    """
    there = [name for name in PICTURES if (folder / name).exists()]
    with tempfile.TemporaryDirectory(prefix="eyelid-") as home:
        figure = draw_results(results)
        wanted = {}
        # All of them, as they are drawn: each settles the next one's layout.
        for name in PICTURES:
            save(figure, Path(home) / name)
            wanted[name] = (Path(home) / name).read_bytes()
    found = {name: _content(folder / name) for name in there}
    other = [name for name in there if found[name] != wanted[name]]
    # One that is the same shows that the same programs drew them.
    same_programs = len(other) < len(there)
    changed = [
        f"{name} is not the figure of these results: it was changed"
        for name in other
        if same_programs or not _HIDES_NOTHING[Path(name).suffix](found[name], wanted[name])
    ]
    unchecked = [name for name in other if not same_programs]
    note = (
        f"{', '.join(unchecked)}: drawn by other programs than are here, or changed, so that it "
        "was not checked whether these figures are those of the results; draw them again, or leave "
        "them out"
    )
    return Figures(tuple(changed), (note,) if unchecked and not changed else ())


def _content(file: Path) -> bytes:
    try:
        return content_of(file)
    except (OSError, EyelidError):
        return b""


def _same_comments(found: bytes, wanted: bytes) -> bool:
    """Whether an SVG has no other comments than another one: nobody sees them in a figure."""
    ours, theirs = ({each.strip() for each in _COMMENT.findall(svg)} for svg in (wanted, found))
    return theirs <= ours


def _same_chunks(found: bytes, wanted: bytes) -> bool:
    """Whether a PNG has the same kinds of chunks, and nothing behind the last."""
    return list(_chunks(found)) == list(_chunks(wanted))


def _chunks(png: bytes) -> Iterator[bytes]:
    """Kinds of chunks, those of pixels once; what is none by itself."""
    if not png.startswith(_PNG):
        yield png[:8]
    place, last = len(_PNG), b""
    while place + 8 <= len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        if kind != last:
            yield kind
        place, last = place + length + 12, kind
    if place != len(png):
        yield b"more"


def _any(found: bytes, wanted: bytes) -> bool:
    """A PDF is compared as a whole, and nothing in it."""
    return True


_HIDES_NOTHING: dict[str, Callable[[bytes, bytes], bool]] = {
    ".svg": _same_comments,
    ".png": _same_chunks,
    ".pdf": _any,
}
