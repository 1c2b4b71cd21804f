"""The tutorials run, and show what is written down in them."""

import json
import re
import tempfile
from functools import partial

import pytest
from docs.notebooks import NOTEBOOKS, executed, written
from matplotlib.figure import Figure

from eyelid.attacks.utility import utility
from eyelid.engine.cores import alone
from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return json.loads(request.param.read_text("utf-8"))


def shown(notebook):
    """Of each cell the kinds of what it shows; words and figures change with the noise."""
    return [
        [
            (output["output_type"], *sorted(output.get("data", ())))
            for output in cell.get("outputs", ())
        ]
        for cell in notebook["cells"]
    ]


@pytest.fixture
def quicker(monkeypatch):
    """The same people for less long, one model, no compiler: what a cell does is the same.

    Pages of audits are not shown here, and have no pictures; those that are shown are coarse.
    """
    drawn = Figure.savefig

    def without_svg(figure, file, **options):
        if options.get("format") == "svg":
            file.write('<svg width="1" height="1"></svg>')
        else:
            drawn(figure, file, **options | {"dpi": 25})

    short = {"minutes": 0.6}
    monkeypatch.setattr(
        "eyelid.simulate", lambda **asked: simulate(**{"rate_hz": 30.0} | asked | short)
    )
    monkeypatch.setattr(
        "eyelid.releases.audits.attack.TableAttack.tried", lambda attack, target: None
    )
    for place in ("eyelid.releases.audits.records", "eyelid.attacks.outcome"):
        monkeypatch.setattr(f"{place}.utility", partial(utility, models=["knn"]))
    monkeypatch.setattr("eyelid.mechanisms.streams.filter_run.compiled", lambda kernel: None)
    monkeypatch.setattr(Figure, "savefig", without_svg)


def test_a_tutorial_runs_and_shows_what_it_did(notebook, quicker, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with alone():  # Starting processes takes longer than what they would do.
        assert shown(executed(notebook)) == shown(notebook)


def test_nothing_in_it_is_of_the_machine_it_ran_on(notebook):
    text = written(notebook)
    assert not re.search(r"/(tmp|home|root|Users|private|usr)/", text)
    assert all(cell.get("execution_count") is None for cell in notebook["cells"])


def test_there_is_one_for_each_kind_of_user():
    assert [path.stem for path in NOTEBOOKS] == [
        *("from_pandas", "researcher", "ux_analyst", "vr_engineer"),
    ]


def test_a_cell_that_fails_is_seen():
    cell = {"cell_type": "code", "source": ["import eyelid\n", "eyelid.read('no/such/place')"]}
    with pytest.raises(InputError, match="does not exist"):
        executed({"cells": [cell]})
