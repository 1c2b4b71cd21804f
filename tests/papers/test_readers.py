"""Whose features of MPIIDPEye are used."""

import numpy as np
import pytest

from eyelid.papers.readers import reading_features

HEAD = "Eye_Movement_Features/Data_P{}_R{}_Pami_Features_52.csv"


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "Eye_Movement_Features").mkdir()
    for person in (1, 2):
        for recording in (1, 2, 3):
            rows = rng.normal(5.0, 2.0, (4, 52))
            text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in rows)
            (tmp_path / HEAD.format(person, recording)).write_text(text + "\n")
    return tmp_path


def test_the_authors_files_are_used_where_they_are(folder):
    found = reading_features(folder)
    assert found.authors
    assert "the authors' own" in found.says
    assert "6 recordings of 2 people, where the dataset has 60 of 20" in found.says
    values = found.table.data.select(found.table.names).to_numpy()
    assert (len(found.table.recordings), values.shape) == (6, (24, 52))
    lowest = np.array([f.lower for f in found.table.features])
    np.testing.assert_array_equal(values.min(axis=0), lowest)


def test_without_them_windows_are_computed_and_that_is_said(real_data):
    found = reading_features(real_data / "MPIIDPEye")
    assert not found.authors
    assert "our own" in found.says
    assert "This copy has" not in found.says
    assert len(found.table.data) == 77_132
