"""Files that name things with their facts, one a line of a csv or one a table of TOML."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eyelid.engine.files import content_of
from eyelid.errors import EyelidError, InputError, unknown
from eyelid.io.layout import read_toml


@dataclass(frozen=True)
class EntryFile:
    """What such a file is about.

    Attributes:
        things: what it names, as a plural; TOML may list them under this word or its singular.
        key: the fact that names a thing.
        known: all facts that it may give.
        header: the first line of a csv.
        wordy: a fact in words, which may hold commas.
        example: how a table of TOML goes on below its name.
        also: other words for facts.
    """

    things: str
    key: str
    known: Collection[str]
    header: str
    wordy: str
    example: str
    also: Mapping[str, str] = field(default_factory=dict)

    @property
    def thing(self) -> str:
        """One of what it names."""
        return self.things.removesuffix("s")

    def entries(self, path: Path) -> Iterator[Mapping[str, Any]]:
        """One mapping a thing, as the file has them.

        Args:
            path: of the file: csv, unless it ends in .toml.
        """
        for entry in self._entries(path):
            for key in entry:
                if key not in self.known:
                    raise unknown(f"entry of a {self.thing} in {path}", key, self.known)
            yield entry

    def _entries(self, path: Path) -> Iterator[Mapping[str, Any]]:
        try:
            if path.suffix.lower() == ".toml":
                yield from self._of_toml(read_toml(path), path)
                return
            text = content_of(path).decode("utf-8-sig")
        except EyelidError:
            raise
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"cannot read the {self.things} '{path}' ({reason}): give a csv whose first line "
                f"is '{self.header}', or a TOML file"
            ) from None
        lines = text.splitlines()
        separator = max(",;\t", key=lines[0].count) if lines else ","
        try:
            rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise InputError(f"cannot read the {self.things} '{path}': {error}") from None
        first = [cell.strip().lower() for cell in rows[0]] if rows else []
        names = [self.also.get(name, name) for name in first]
        if self.key not in names:
            raise InputError(f"{path} has no column {self.key}: its first line is '{self.header}'")
        for row in rows[1:]:
            if any(cell.strip() for cell in row):
                if len(row) > len(names):
                    raise InputError(
                        f"{path}: the line of '{row[0]}' has {len(row)} cells and the first line "
                        f"{len(names)}: write a {self.wordy} that holds commas in quotes"
                    )
                yield {name: cell.strip() for name, cell in zip(names, row, strict=False) if cell}

    def _of_toml(self, said: Mapping[str, Any], path: Path) -> Iterator[Mapping[str, Any]]:
        """Tables named after things, or a list ``[[things]]``."""
        for key, value in said.items():
            if isinstance(value, list) and key in (self.thing, self.things):
                entries = value
            elif isinstance(value, dict):
                entries = [{self.key: key} | value]
            else:
                entries = [None]
            for entry in entries:
                if not isinstance(entry, dict):
                    raise InputError(
                        f"{path}: {key} is no table; write [{key}] and below it {self.example}"
                    )
                yield entry


def number(value: object) -> float | None:
    """What a file gives as a number; None where it is none.

    >>> number("1e3"), number(True), number("few")
    (1000.0, None, None)
    """
    try:
        return None if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        return None
