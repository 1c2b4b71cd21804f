"""The tutorials run, and show what is written down in them."""

import json
import re
import tempfile

import pytest
from docs.notebooks import NOTEBOOKS, executed, written

from eyelid.engine.parallel import alone
from eyelid.errors import InputError


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


def test_a_tutorial_runs_and_shows_what_it_did(notebook, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with alone():  # Starting processes takes longer than what they would do.
        assert shown(executed(notebook)) == shown(notebook)


def test_nothing_in_it_is_of_the_machine_it_ran_on(notebook):
    text = written(notebook)
    assert not re.search(r"/(tmp|home|root|Users|private|usr)/", text)
    assert all(cell.get("execution_count") is None for cell in notebook["cells"])


def test_there_is_one_for_each_kind_of_user():
    assert [path.stem for path in NOTEBOOKS] == ["researcher", "ux_analyst", "vr_engineer"]


def test_a_cell_that_fails_is_seen():
    cell = {"cell_type": "code", "source": ["import eyelid\n", "eyelid.read('no/such/place')"]}
    with pytest.raises(InputError, match="does not exist"):
        executed({"cells": [cell]})
