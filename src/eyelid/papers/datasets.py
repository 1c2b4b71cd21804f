"""The papers' datasets: what is printed about them, where they are, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eyelid.errors import InputError


@dataclass(frozen=True)
class Dataset:
    """A dataset of a paper. Each paper has a module ``datasets`` with a tuple ``DATASETS`` of them.

    Attributes:
        name: as the paper prints it.
        printed: what the paper's table of datasets says about it, by the heads of its columns.
        reading: how eyelid comes by it, in words: ``read as published``.
        folder: the folder that is looked for; the name by default.
    """

    name: str
    printed: Mapping[str, str] = field(default_factory=dict)
    reading: str = "read as published"
    folder: str = ""

    def at_hand(self, data: Path | None) -> bool:
        """Whether it is in a folder of datasets."""
        return find_dataset(data, self.folder or self.name) is not None


def find_dataset(data: Path | None, name: str) -> Path | None:
    """The folder of a dataset, or None where it is not.

    Args:
        data: a folder that holds folders of datasets, or the dataset itself; None for nowhere.
        name: as it is published: ``OSIE``. Case does not matter.

    >>> find_dataset(None, "OSIE") is None
    True
    """
    if data is None:
        return None
    if not data.is_dir():
        raise InputError(
            f"{data} is no folder: give the one with the papers' datasets, or leave `data` out"
        )
    home = data.absolute()
    # What lies inside first: archives unpack to a folder in a folder of the same name.
    for place in (*sorted(home.iterdir()), home):
        if place.is_dir() and place.name.casefold() == name.casefold():
            return place
    return data if _is(data, name) else None


def find_datasets(data: Path | None, names: Sequence[str]) -> dict[str, Path]:
    """A paper's datasets that are there; a folder with none of them is an error."""
    found = {name: place for name in names if (place := find_dataset(data, name)) is not None}
    if data is not None and not found:
        raise InputError(
            f"{data} holds none of the datasets of this paper ({', '.join(names)}): name a folder "
            "that does with --data, or leave --data out and EYELID_DATA unset for simulated "
            "participants"
        )
    return found


def where_looked(name: str) -> str:
    """What is said of a dataset that was not at hand.

    >>> where_looked("OSIE")
    'OSIE: looked for as a folder OSIE in the one that --data or EYELID_DATA names'
    """
    return f"{name}: looked for as a folder {name} in the one that --data or EYELID_DATA names"


def _is(folder: Path, name: str) -> bool:
    """Whether a folder of another name is this dataset by its content."""
    from eyelid.io.formats import FOLDERS

    return any(
        module.recognises_folder(folder)
        for module in FOLDERS
        # Not every folder that is read is a dataset with a name.
        if getattr(module, "NAME", "").casefold() == name.casefold()
    )
