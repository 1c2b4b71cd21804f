"""A paper asked for by name: how much of it is run, and what is written down about that."""

from pathlib import Path

import pytest

from eyelid.errors import InputError
from eyelid.papers.catalogue import PAPERS, reproduce
from eyelid.papers.liu2019 import paper as liu2019
from eyelid.papers.reproduction import Data, Reproduction


@pytest.fixture
def asked(monkeypatch):
    """What a paper was asked for, in place of the paper."""
    asked = []

    def paper(data, repeats, fast, seed):
        asked.append((data, repeats, fast, seed))
        return Reproduction("liu2019", "", Data("simulator", "", True), repeats, ())

    monkeypatch.setattr(liu2019, "reproduce", paper)
    return asked


@pytest.mark.parametrize(
    ("how", "repeats"),
    [
        ({}, 100),
        ({"fast": True}, 1),
        ({"fast": True, "repeats": 100}, 100),
        ({"repeats": 5}, 5),
    ],
    ids=["by default", "fast", "fast and said", "said"],
)
def test_runs_that_were_asked_for_count_even_if_fast(asked, how, repeats):
    done = reproduce("liu2019", **how)
    assert asked == [(None, repeats, how.get("fast", False), 0)]
    assert done.repeats == repeats


def test_how_it_was_run_is_written_down(asked):
    done = reproduce("liu2019", data=Path("somewhere"), fast=True, seed=4)
    assert (done.fast, done.full, done.seed, done.from_folder) == (True, False, 4, True)


def test_full_is_for_papers_that_leave_something_out():
    with pytest.raises(InputError, match="nothing of liu2019 is left out"):
        reproduce("liu2019", full=True)
    with pytest.raises(InputError, match="opposites"):
        reproduce(PAPERS[0], full=True, fast=True)
