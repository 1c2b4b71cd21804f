"""The papers that can be done again, by the names that the command has for them."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from eyelid.errors import InputError, unknown
from eyelid.papers.datasets import Dataset
from eyelid.papers.reproduction import Reproduction

PAPERS = ("bozkir2021", "davidjohn2022", "liu2019")


# Those of which the default leaves something out that takes hours.
_LONGER = ("bozkir2021", "davidjohn2022")
# As many as the papers have where that takes minutes.
_RUNS = {"bozkir2021": 3, "davidjohn2022": 3, "liu2019": 100}
_FEW_RUNS = 1


def reproduce(
    paper: str,
    *,
    data: Path | None = None,
    repeats: int | None = None,
    fast: bool = False,
    full: bool = False,
    seed: int = 0,
) -> Reproduction:
    """A paper's tables and figures beside ours.

    Args:
        paper: one of `PAPERS`.
        data: a folder that holds the paper's datasets, or one of them; None for simulated
            participants.
        repeats: noisy runs; the papers have 100. None for 100 of liu2019 and 3 of the others, or 1
            if fast.
        fast: less of everything, to see how it goes.
        full: all windows that the paper has, everywhere; takes hours.
        seed: of noise and of simulated participants.
    """
    datasets = datasets_of(paper)
    if repeats is None:
        repeats = _FEW_RUNS if fast else _RUNS[paper]
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats}")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, got {seed}")
    if full and fast:
        raise InputError("fast and full are opposites: choose one")
    if full and paper not in _LONGER:
        raise InputError(f"nothing of {paper} is left out by default: leave out full")
    more = {"full": True} if full else {}
    # Each brings much along: only the one that is asked for is loaded.
    found = import_module(f"eyelid.papers.{paper}.paper").reproduce(
        data, repeats, fast, seed, **more
    )
    assert isinstance(found, Reproduction)
    return replace(
        found,
        fast=fast,
        full=full,
        seed=seed,
        from_folder=data is not None,
        datasets=datasets,
    )


def datasets_of(paper: str) -> tuple[Dataset, ...]:
    """The datasets of a paper, in its order, with what it prints about them.

    >>> [dataset.name for dataset in datasets_of("liu2019")]
    ['five observers on a portrait', 'OSIE']
    """
    if paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    found: tuple[Dataset, ...] = import_module(f"eyelid.papers.{paper}.datasets").DATASETS
    return found
