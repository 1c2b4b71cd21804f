"""MPIIPrivacEye (Steil et al. 2019): eye-movement features of 17 people in daily life.

Confirmed, from the dataset's page and from the reader that Bozkir et al. (2021) published with
their mechanisms: ``Features_and_Ground_Truth/P1_R1_data.csv``, one file a person (P1 to P20, of
whom three are missing) and recording (R1 to R3), tables without a header whose first 52 columns
are eye-movement features.

Not confirmed, and so not read: what the columns after the 52nd are, which feature is which, and
how much time lies between two rows. Not run on the original.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

from eyelid.gaze.study import Feature, Study
from eyelid.io.files import Head
from eyelid.io.formats.mpiidpeye import numbered_files, study_of_files
from eyelid.io.layout import Layout
from eyelid.io.part import Part
from eyelid.io.tables import read_table

NAME = "MPIIPrivacEye"

_FOLDER = "Features_and_Ground_Truth"
_FILE = re.compile(r"(P(\d+))_(R(\d+))_data\.csv")
_FEATURES = tuple(
    Feature(f"feature_{n}", "", f"eye-movement feature {n} of 52", -math.inf, math.inf)
    for n in range(1, 53)
)
_LAYOUT = Layout(
    format=NAME,
    columns={feature.name: str(n) for n, feature in enumerate(_FEATURES, start=1)},
    kind="features",
    header=False,
    # Rows are counted, a millisecond each.
    rate_hz=1000.0,
    features=_FEATURES,
)
_NO_TIME = "the time between rows is not known: time_ms is their place in order"


def read(head: Head, said: Layout) -> Part:
    """The features of one recording."""
    part = read_table(head, _LAYOUT.under(said))
    found = _FILE.fullmatch(head.path.name)
    names = {"person": found[1], "recording": found[3]} if found else {}
    return replace(part, rate_hz=None, names=names, notes=(_NO_TIME,))


def recognises_folder(path: Path) -> bool:
    """Whether this is the folder of the dataset, or that of its features."""
    return _home(path).name == _FOLDER and bool(_files(path))


def _home(path: Path) -> Path:
    return path / _FOLDER if (path / _FOLDER).is_dir() else path


def _files(path: Path) -> list[Path]:
    return numbered_files(_home(path), _FILE)


def read_folder(path: Path, said: Layout) -> Study:
    """The features of everybody as one study."""
    return study_of_files(_files(path), read, said)
