"""Which sidecars speak about a file: those beside it, and those of the folders above it."""

from __future__ import annotations

from collections import ChainMap, Counter
from pathlib import Path

from eyelid.io.bids.entities import Name, name_of
from eyelid.io.bids.sidecars import Json, Said, read_json

Entity = tuple[str, str]


class Sidecars:
    """The sidecars of a dataset, each read once.

    A sidecar speaks about all files in its folder and below whose names have its entities. Where
    two speak about the same thing, the nearer one, or the one with more entities, is right.
    """

    def __init__(self, root: Path) -> None:
        """Of the dataset in the folder ``root``."""
        self._root = root
        self._folders: dict[Path, _Folder] = {}
        self._contents: dict[Path, Json] = {}

    def of(self, path: Path, suffix: str) -> Said:
        """All that sidecars with this suffix say about a file.

        Nothing is copied: one large sidecar may speak about many files.
        """
        name = name_of(path)
        found: list[Json] = []
        for folder in reversed([up for up in path.parents if up.is_relative_to(self._root)]):
            if folder not in self._folders:
                self._folders[folder] = _Folder(folder)
            found += map(self._content, self._folders[folder].about(name, suffix))
        return ChainMap(*reversed(found))

    def _content(self, sidecar: Path) -> Json:
        if sidecar not in self._contents:
            self._contents[sidecar] = read_json(sidecar)
        return self._contents[sidecar]


class _Folder:
    """The sidecars in a folder, found by their rarest entity: each file may have one of its own."""

    def __init__(self, folder: Path) -> None:
        found = [(name_of(file), file) for file in sorted(folder.glob("*.json"))]
        found.sort(key=lambda each: len(each[0].entities))
        often = Counter(entity for name, _ in found for entity in name.entities)
        self._by_rarest: dict[Entity | None, list[tuple[int, Name, Path]]] = {}
        for place, (name, file) in enumerate(found):
            rarest = min(name.entities, key=lambda entity: often[entity], default=None)
            self._by_rarest.setdefault(rarest, []).append((place, name, file))

    def about(self, name: Name, suffix: str) -> list[Path]:
        """Those that speak about a file, the ones with more entities last."""
        entities = set(name.entities)
        found = [
            (place, file)
            for entity in (None, *entities)
            for place, other, file in self._by_rarest.get(entity, ())
            if other.suffix == suffix and entities.issuperset(other.entities)
        ]
        return [file for _, file in sorted(found)]
