"""A study in memory written as `eyelid convert` writes one, without a ledger and as it is."""

from __future__ import annotations

from pathlib import Path

from eyelid.engine.runs import running
from eyelid.gaze.study import Study, check
from eyelid.io.convert import TARGETS


def write_csv(study: Study, path: Path) -> None:
    """As a folder of csv files."""
    _write(study, path, "csv")


def write_bids(study: Study, path: Path) -> None:
    """As a BIDS dataset."""
    _write(study, path, "bids")


def _write(study: Study, path: Path, to: str) -> None:
    study, target = check(study), TARGETS[to]
    target.check(study)
    with running(Path(path), to) as run:
        about = target.begin(run, study)
        parts = [target.write(run, 0, 1, study, lambda: study, about)]
        target.end(run, study, parts, about, Path(path))
