"""The papers that can be done again, by the names that the command has for them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from eyelid.errors import InputError, unknown
from eyelid.papers.reproduction import Reproduction

PAPERS = ("bozkir2021", "davidjohn2022", "liu2019")


def reproduce(
    paper: str, *, data: Path | None = None, repeats: int = 3, fast: bool = False, seed: int = 0
) -> Reproduction:
    """A paper's tables and figures beside ours.

    Args:
        paper: one of `PAPERS`.
        data: a folder that holds the paper's datasets, or one of them; None for made-up people.
        repeats: noisy runs; the papers have 100.
        fast: less of everything, to see how it goes.
        seed: of noise and of made-up people.
    """
    if paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats}")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, got {seed}")
    # Each brings much along: only the one that is asked for is loaded.
    found = import_module(f"eyelid.papers.{paper}").reproduce(data, repeats, fast, seed)
    assert isinstance(found, Reproduction)
    return found
