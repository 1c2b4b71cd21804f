"""Which sidecars speak about a file: those beside it, and those of the folders above it."""

from __future__ import annotations

from pathlib import Path

from eyelid.io.bids.entities import Name, name_of
from eyelid.io.bids.sidecars import Json, read_json


class Sidecars:
    """The sidecars of a dataset, each read once.

    A sidecar speaks about all files in its folder and below whose names have its entities. Where
    two speak about the same thing, the nearer one, or the one with more entities, is right.
    """

    def __init__(self, root: Path) -> None:
        """Of the dataset in the folder ``root``."""
        self._root = root
        self._folders: dict[Path, list[tuple[Name, Path]]] = {}
        self._contents: dict[Path, Json] = {}

    def of(self, path: Path, suffix: str) -> Json:
        """All that sidecars with this suffix say about a file."""
        entities = set(name_of(path).entities)
        merged: Json = {}
        for folder in reversed([up for up in path.parents if up.is_relative_to(self._root)]):
            for name, sidecar in self._in(folder):
                if name.suffix == suffix and set(name.entities) <= entities:
                    merged |= self._content(sidecar)
        return merged

    def _in(self, folder: Path) -> list[tuple[Name, Path]]:
        if folder not in self._folders:
            found = [(name_of(file), file) for file in sorted(folder.glob("*.json"))]
            self._folders[folder] = sorted(found, key=lambda each: len(each[0].entities))
        return self._folders[folder]

    def _content(self, sidecar: Path) -> Json:
        if sidecar not in self._contents:
            self._contents[sidecar] = read_json(sidecar)
        return self._contents[sidecar]
