"""The features on real people: uncalibrated pupil positions at 30 Hz."""

from __future__ import annotations

import pytest

from eyelid.gaze.features import event_features


def check_bounds(table):
    for feature in table.features:
        column = table.data[feature.name]
        assert column.drop_nulls().is_between(feature.lower, feature.upper).all()
        # A bound that many rows touch would hide what it bounds. It is for this test to give way,
        # though, not for the bound: a cap moved to fit these people would no longer be public.
        assert (column == feature.upper).mean() < 0.08 or feature.name.endswith("ratio")


def test_real_people_are_recognised(real_windows, rank1_across_documents):
    assert len(real_windows.names) == 52
    check_bounds(real_windows)
    # The proof called recognition asks for documents too, and repeats it with several forests.
    assert rank1_across_documents(real_windows) >= 0.65


@pytest.mark.parametrize("kind", ["fixations", "saccades"])
def test_the_events_of_real_people_stay_within_public_bounds(real_readers, kind):
    table = event_features(real_readers, kind)
    assert 1.0 < len(table.data) / (real_readers.data["time_ms"].len() / 30.0) < 4.0
    check_bounds(table)
