"""Whose a file is: by a pattern for its name, or by a list."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.io.head import head_of
from eyelid.io.layout import KEYS, Layout
from eyelid.io.tables import separator_of


def names_from_pattern(pattern: str, path: Path) -> dict[str, str] | None:
    """The fields of a pattern in a file's name, or None when the name does not match.

    ``{person}`` stands for some characters, ``*`` and ``{}`` for any. A pattern without a slash
    is about the file's name, one with slashes also about its folders; without an ending it fits
    any. A name that fits in several ways is refused: it could be two people's.

    >>> names_from_pattern("Data_P{person}_R{recording}", Path("a/Data_P3_R1.csv"))
    {'person': '3', 'recording': '1'}
    >>> names_from_pattern("{person}/{task}.tsv", Path("a/ann/comic.tsv"))
    {'person': 'ann', 'task': 'comic'}
    """
    depth = pattern.count("/") + 1
    name = "/".join(path.parts[-depth:])
    ending = "." in pattern.rsplit("/", 1)[-1]
    if not ending:
        name = name[: len(name) - len("".join(path.suffixes))]
    found = re.fullmatch(_compiled(pattern), name)
    if found is None:
        return None
    longest = re.fullmatch(_compiled(pattern).replace("+?)", "+)"), name)
    if longest is not None and longest.groupdict() != found.groupdict():
        first, other = (
            ", ".join(f"{k}={v}" for k, v in m.groupdict().items()) for m in (found, longest)
        )
        raise InputError(
            f"{path} fits the file-name pattern '{pattern}' in more than one way ({first}; or "
            f"{other}): write more of the name into the pattern, or give a list (--map names=FILE)"
        )
    return found.groupdict()


def _compiled(pattern: str) -> str:
    """A regular expression for a pattern."""
    parts, at, seen = [], 0, set()
    for match in re.finditer(r"\{(\w*)\}|\*", pattern):
        parts.append(re.escape(pattern[at : match.start()]))
        name = match[1]
        if not name:
            parts.append("[^/]*?")
        elif name in seen:
            parts.append(f"(?P={name})")
        else:
            if name not in KEYS and not name.startswith("label_"):
                raise unknown("field of a file-name pattern", name, [*KEYS, "label_…"])
            seen.add(name)
            parts.append(f"(?P<{name}>[^/]+?)")
        at = match.end()
    return "".join(parts) + re.escape(pattern[at:])


def names_of_file(path: Path, layout: Layout, own: dict[str, str]) -> dict[str, str]:
    """What is known about a file from its name, or from somebody's list.

    Args:
        path: the file.
        layout: with somebody's pattern or list.
        own: what follows from the name in the file's own format.
    """
    if layout.names is not None:
        return own | _listed(layout.names, path)
    if layout.file is None:
        return own
    found = names_from_pattern(layout.file, path)
    if found is None:
        raise InputError(f"{path} does not fit the file-name pattern '{layout.file}'")
    return own | found


def _listed(listing: Path, path: Path) -> dict[str, str]:
    rows = [
        row
        for row in read_listing(listing, "file").iter_rows(named=True)
        # Whole parts of the path: 1.csv is not the end of 11.csv.
        if row["file"] and path.parts[-len(Path(row["file"]).parts) :] == Path(row["file"]).parts
    ]
    if not rows:
        raise InputError(f"{path} is not in the list {listing}: add a row for it")
    if len(rows) > 1:
        raise InputError(f"{path} is in the list {listing} {len(rows)} times: keep one row for it")
    return {
        name: value
        for name, value in rows[0].items()
        if value is not None and (name in KEYS or name.startswith("label_"))
    }


def read_listing(path: Path, key: str) -> pl.DataFrame:
    """A csv or tsv that somebody wrote, all text, with the column ``key``."""
    head = head_of(path)
    separator = separator_of(head.lines[:50])
    try:
        table = pl.read_csv(head.text().encode(), separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InputError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    table = table.rename({name: name.strip() for name in table.columns})
    near = [name for name in table.columns if name.lower() in (key, f"{key}_id", _ALSO.get(key))]
    if not near:
        raise InputError(f"{path} has no column {key}: add one")
    return table.rename({near[0]: key})


_ALSO = {"person": "participant", "file": "filename"}
