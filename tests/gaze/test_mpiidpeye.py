"""The window features on real people: uncalibrated pupil positions at 30 Hz."""

from __future__ import annotations

import pytest

from eyelid.gaze.windows import window_features
from eyelid.io import read


def test_real_people_are_recognised_and_their_documents_told(
    real_data, rank1_across_documents, document_accuracy
):
    folder = real_data / "MPIIDPEye"
    if not folder.exists():
        pytest.skip("MPIIDPEye is not in EYELID_DATA")
    table = window_features(read(folder))
    for feature in table.features:
        column = table.data[feature.name]
        assert column.drop_nulls().is_between(feature.lower, feature.upper).all()
        # A bound that many windows touch would hide what it bounds.
        assert (column == feature.upper).mean() < 0.05 or feature.name.endswith("ratio")
    assert rank1_across_documents(table) >= 0.65
    assert document_accuracy(table) >= 0.85
