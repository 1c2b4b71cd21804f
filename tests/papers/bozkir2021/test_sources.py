"""The datasets: simulated readers, and invented folders in the layout of the real ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.papers.bozkir2021 import sources
from eyelid.papers.bozkir2021.sources import PRIVACY, in_daily_life, readers


def write(home, person: int, recording: int, rows: int = 12, further: int = 3, two: bool = True):
    rng = np.random.default_rng([person, recording])
    values = np.column_stack(
        [rng.uniform(size=(rows, 52 + further)), np.arange(rows) % 2 ^ (person == 2)]
    )
    if not two:
        values = values[:, :-1]
    home.mkdir(parents=True, exist_ok=True)
    text = "".join(",".join(map(str, row)) + "\n" for row in values.tolist())
    (home / f"P{person}_R{recording}_data.csv").write_text(text)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "MPIIPrivacEye" / "Features_and_Ground_Truth"


@pytest.fixture
def folder(home):
    for person in (1, 2, 10):
        for recording in (1, 2):
            write(home, person, recording)
    return home.parent


def test_daily_life_has_the_48_features_a_second_apart_and_the_ground_truth(folder):
    source = in_daily_life(folder)
    table = source.table
    assert (source.people, len(table.names), table.step_ms) == (3, 48, 1000.0)
    assert "blink_rate" in table.names
    assert table.recordings["task"].unique(maintain_order=True).to_list() == ["R1", "R2"]
    own = table.data.filter(person="P2", recording="R2")
    assert own["time_ms"].to_list() == [1000.0 * row for row in range(12)]
    assert own[PRIVACY].to_list() == ["1.0", "0.0"] * 6
    assert table.data.filter(person="P10")[PRIVACY].to_list() == ["0.0", "1.0"] * 12
    # #27 of the scheme is the blink rate.
    expected = np.random.default_rng([2, 2]).uniform(size=(12, 55))[:, 27]
    assert own["blink_rate"].to_numpy() == pytest.approx(expected)
    assert (source.every, source.every_of_person) == (20, 10)
    assert not source.public_bounds


def test_an_end_without_features_is_left_out(folder, home):
    file = home / "P10_R1_data.csv"
    lines = file.read_text().splitlines()
    lines[-3:] = [",".join(["nan"] * 52 + line.split(",")[52:]) for line in lines[-3:]]
    file.write_text("\n".join(lines) + "\n")
    rows = in_daily_life(folder).table.recordings
    assert rows.filter(person="P10")["rows"].to_list() == [9, 12]


def test_without_a_column_of_two_values_there_is_no_ground_truth(home):
    for person in (1, 2):
        write(home, person, 1, two=False)
    assert PRIVACY not in in_daily_life(home.parent).table.data.columns


def test_of_several_columns_of_two_values_the_last_is_taken(home):
    for person in (1, 2):
        write(home, person, 1)
        file = home / f"P{person}_R1_data.csv"
        lines = [f"{line},{int(row > 5)}" for row, line in enumerate(file.read_text().splitlines())]
        file.write_text("\n".join(lines) + "\n")
    label = in_daily_life(home.parent).table.data.filter(person="P1")[PRIVACY]
    assert label.to_list() == ["0.0"] * 6 + ["1.0"] * 6


def test_too_few_columns_are_an_error(folder, home):
    (home / "P3_R1_data.csv").write_text("1,2,3\n")
    with pytest.raises(InputError, match="column"):
        in_daily_life(folder)


def test_simulated_readers_are_labelled_as_such(monkeypatch):
    monkeypatch.setattr(sources, "_PEOPLE", 2)
    monkeypatch.setattr(sources, "_FAST_MINUTES", 1.0)
    source = readers(None, fast=True, seed=1)
    assert source.simulated
    assert source.name == "simulator"
    assert len(source.table.names) == 48
    assert source.says.startswith("simulated participants, 2 people, 6 recordings")


def test_the_authors_files_are_used_as_they_are_and_have_no_public_bounds(tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "Eye_Movement_Features").mkdir()
    for person, recording in product((1, 2), (1, 2, 3)):
        rows = rng.normal(5.0, 2.0, (4, 52))
        text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in rows)
        name = f"Data_P{person}_R{recording}_Pami_Features_52.csv"
        (tmp_path / "Eye_Movement_Features" / name).write_text(text + "\n")
    source = readers(tmp_path, fast=True, seed=1)
    assert len(source.table.names) == 48
    assert not source.public_bounds
    assert source.windows is None
    assert "the authors' own" in source.unlike
    largest, extent = (source.table.data[f"wb1_{name}"] for name in ("max", "range"))
    assert not np.allclose(largest, extent)
