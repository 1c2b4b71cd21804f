"""One module per format: how to recognise it by its content, and how to read it.

A format is a module with ``NAME``, ``recognises(head) -> bool`` and ``read(head, said) -> Part``,
where ``said`` is what the user's column map says. A format that is a whole folder has
``recognises_folder(path) -> bool`` and ``read_folder(path, said) -> Study`` instead or besides.
"""

from __future__ import annotations

from types import ModuleType

from eyelid.io import bids, csv_folder
from eyelid.io.formats import (
    any_table,
    arff,
    coord,
    corpora,
    dataviewer,
    eyelink,
    gazepoint,
    json_cells,
    json_table,
    lund2013,
    matlab,
    mpiidpeye,
    mpiiprivaceye,
    osie,
    pupil_labs,
    reading_measures,
    smi,
    tobii,
)

FORMATS: tuple[ModuleType, ...] = (
    eyelink,
    tobii,
    pupil_labs,
    smi,
    gazepoint,
    arff,
    coord,
    dataviewer,
    corpora,
    reading_measures,
    mpiidpeye,
    osie,
    lund2013,
    matlab,
    json_table,
    json_cells,
    any_table,
)
"""The first one that recognises a file reads it, so the particular come before the general."""

FOLDERS: tuple[ModuleType, ...] = (bids, csv_folder, mpiidpeye, mpiiprivaceye, osie, lund2013)
