"""Whether a folder is a release, by its certificate and its data; and which files a release has.

Anyone can write a certificate.json. A folder counts as a release only where its certificate can be
read and the hash in it is that of the data beside it. Whoever forges both can still lie: what is
said of a release is said as what its certificate says.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.foreign import content_of
from eyelid.errors import EyelidError
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.digests import arrays_digest, shows
from eyelid.io.remote import here
from eyelid.io.unpacking import arrays_in
from eyelid.privacy.guarantee import Guarantee

CERTIFICATE = "certificate.json"
SCHEMA = "eyelid/certificate/1"
RELEASED_FILES = ("study.json", "people.csv", "data.parquet", CERTIFICATE, "DATACARD.md")
"""Everything that lies in the folder of released features or samples."""
STANDARD_ERRORS = "standard_errors.csv"
"""What lies there besides, where means under noise were released."""
_MEANS = ("means", "random-means")
MAP_FILES = (
    *(CERTIFICATE, "DATACARD.md", "map.npz", "heatmap.png", "overlay.png", "reliable.png"),
    *("difference.png", "areas.csv", "areas.png"),
)
"""Everything that may lie in the folder of a released heatmap."""
NOT_OF_THESE_DATA = "certificate.json is not of these data: they are treated as raw data"
"""The remark on data beside a certificate that cannot be read or has another hash."""
UNPROVEN = (
    "it says of itself that it is a release, or made of one: there is no certificate.json to check "
    "that by"
)
"""The remark on data that are called released, without a certificate beside them."""
# Longer than any certificate; a list of thousands of releases is some MiB.
_MOST_BYTES = 1 << 26
# What eyelid itself calls groups, synthetic participants and the mean over everybody.
_OUR_NAMES = re.compile(r"group\d+|synthetic\d*|everybody")


@dataclass(frozen=True)
class Statement:
    """What a certificate states, as far as it concerns whoever reads the data.

    Attributes:
        output_sha256: the hash of what was released.
        groups: names of the public groups that it lists.
        heatmap: whether it is that of a heatmap.
    """

    output_sha256: str
    groups: frozenset[str] = frozenset()
    heatmap: bool = False

    def has_named(self, person: str) -> bool:
        """Whether a name is one that eyelid gives by itself, or that of a public group.

        >>> Statement("", frozenset({"female"})).has_named("female")
        True
        >>> Statement("").has_named("group02"), Statement("").has_named("anna")
        (True, False)
        """
        return person in self.groups or _OUR_NAMES.fullmatch(person) is not None


def has_certificate(folder: Path | str) -> bool:
    """Whether anything is called certificate.json there, whatever it is."""
    return os.path.lexists(here(folder) / CERTIFICATE)


def statement(folder: Path | str) -> Statement | None:
    """What the certificate in a folder states; None where there is none, or none of eyelid's.

    Args:
        folder: of a release, or of anything else.
    """
    told = _content(folder)
    try:
        if told["schema"] != SCHEMA or not isinstance(told["mechanism"]["name"], str):
            return None
        Guarantee.from_dict(told["guarantee"])
        groups = (told.get("released_as") or {}).get("groups") or {}
        digest = told["output_sha256"]
        if not isinstance(digest, str) or not isinstance(groups, dict):
            return None
        return Statement(digest, frozenset(groups), isinstance(told.get("map"), dict))
    except (EyelidError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        return None


def _content(folder: Path | str) -> Any:
    """The content of certificate.json; None where it cannot be read."""
    try:
        return json.loads(content_of(here(folder) / CERTIFICATE, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


def as_certified(
    study: Study, folder: Path | str, is_shown: Callable[[str], bool] | None = None
) -> Study:
    """The study, released or not as the certificate beside it shows, with a remark where it fails.

    This decides what is a release, for everything that is read.

    Args:
        study: as it was read, checked or not; what it says of itself is not believed beside a
            certificate that is not of these data.
        folder: where it was read.
        is_shown: whether a digest is that of the data, where ``study`` has not all rows.
    """
    if not has_certificate(folder):
        notes = (UNPROVEN,) if study.released else ()
        return replace(study, notes=(*study.notes, *notes))
    stated = statement(folder)
    # No hash covers events, which no release has.
    bare = study.events is None and study_folder.events_file(here(folder)) is None
    try:
        is_shown = is_shown or partial(shows, study)
        fits = stated is not None and bare and is_shown(stated.output_sha256)
    except (pl.exceptions.PolarsError, ValueError, TypeError, KeyError):
        # No release has such columns.
        fits = False
    if fits:
        return replace(study, released=True)
    return replace(study, released=False, notes=(*study.notes, NOT_OF_THESE_DATA))


def is_certified(study: Study) -> bool:
    """Whether a study is a release by more than its own word.

    Args:
        study: as it was read, or made here.
    """
    return study.released and UNPROVEN not in study.notes


def states_heatmap(folder: Path | str) -> bool:
    """Whether a folder has a certificate of a heatmap, of whichever data."""
    told = _content(folder)
    return isinstance(told, dict) and isinstance(told.get("map"), dict)


def _states_means(folder: Path | str) -> bool:
    """Whether a folder has a certificate of means under noise, of whichever data."""
    told = _content(folder)
    what = told.get("released_as") if isinstance(told, dict) else None
    return isinstance(what, dict) and what.get("kind") in _MEANS


def is_heatmap(folder: Path | str) -> bool:
    """Whether this is a folder that `eyelid heatmap` made, by its certificate and its data."""
    stated = statement(folder)
    if stated is None or not stated.heatmap:
        return False
    maps, tables = here(folder) / "map.npz", here(folder) / "areas.csv"
    try:
        arrays = arrays_in(maps) if maps.is_file() else {}
        text = tables.read_text(encoding="utf-8") if tables.is_file() else ""
    except (EyelidError, OSError, ValueError):
        return False
    return bool(arrays or text) and stated.output_sha256 == arrays_digest(arrays, text)


def strange_files(folder: Path) -> list[str]:
    """What lies in the folder of a release and no release has, hidden or not; folders end in /.

    Args:
        folder: of a release, on this machine.
    """
    heatmap = states_heatmap(folder)
    known = {*(MAP_FILES if heatmap else RELEASED_FILES)}
    if _states_means(folder):
        known.add(STANDARD_ERRORS)
    found = [item for item in folder.iterdir() if item.name not in known]
    parts = folder / study_folder.DATA
    if not heatmap and parts.is_dir():
        listed = {Path(str(file)) for file, _ in study_folder.data_files(folder)}
        found += [item for item in parts.rglob("*") if item not in listed and not item.is_dir()]
    return sorted(
        item.relative_to(folder).as_posix() + "/" * (item.is_dir() and not item.is_symlink())
        for item in found
    )
