"""Read whatever a person points at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study, check
from eyelid.io import study_folder


def read(path: Path | str) -> Study:
    """The study at ``path``.

    Args:
        path: a study folder.

    >>> read("no/such/place")
    Traceback (most recent call last):
    eyelid.errors.InputError: no/such/place does not exist: give a study folder
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist: give a study folder")
    if not study_folder.recognises(path):
        raise InputError(
            f"{path} is not a study folder (it has no study.json): "
            "make one with 'eyelid simulate' or write one with eyelid.write"
        )
    study = check(study_folder.read_study(path))
    if study.origin is None:
        # Somebody wrote the folder by hand: its ledger stands beside it under a fixed name, so
        # that everything derived from it finds the same one.
        ledger = path.absolute().with_name(path.absolute().name + study_folder.LEDGER_SUFFIX)
        study = replace(study, origin=Origin(study_folder.UNNAMED_ORIGIN, ledger))
    return study
