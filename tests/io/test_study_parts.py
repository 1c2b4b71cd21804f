"""Parts of a study's folder: each is made once, and runs know what they depend on."""

import polars as pl
import pytest

from eyelid.engine.runs import running
from eyelid.gaze.simulator import simulate
from eyelid.io import write
from eyelid.io.study_parts import (
    input_key,
    write_part,
)


@pytest.fixture
def study(tmp_path):
    write(simulate(people=2, tasks=("comic",), minutes=0.1, seed=3), tmp_path / "study")
    return tmp_path / "study"


def test_a_part_that_is_there_is_not_made_again(tmp_path):
    def never():
        raise AssertionError

    rows = pl.DataFrame({"person": ["a", "a", "b"], "x": [1.0, 2.0, 3.0]})
    with running(tmp_path / "out", "key") as run:
        first = write_part(run, 4, 9, lambda: rows)
        assert write_part(run, 4, 9, never) == first
    assert (first["people"], first["rows"]) == (2, 3)
    assert first["file"] == "data.parquet/part-000004.parquet"


def test_a_run_depends_on_its_files_and_settings(study):
    key = input_key(study, {"epsilon": 1.0})
    assert key == input_key(study, {"epsilon": 1.0})
    assert key != input_key(study, {"epsilon": 2.0})
    people = study / "people.csv"
    people.write_text(people.read_text() + "\n")
    assert key != input_key(study, {"epsilon": 1.0})
