"""What is known of many spans at once, against pymovements and against one span at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.events.ivt import ivt
from eyelid.gaze.events.spans import Spans, covered, runs


@st.composite
def spans_of_values(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.normal(1000.0, 1.0, draw(st.integers(1, 60)))
    values[rng.random(len(values)) < 0.2] = np.nan
    ends = np.sort(rng.integers(0, len(values), (draw(st.integers(0, 10)), 2)), axis=1)
    return Spans(*ends.astype(np.intp).T), values


@given(spans_of_values())
def test_means_and_extents_are_those_of_each_span_alone(drawn):
    spans, values = drawn
    mean, extent = spans.mean(values), spans.extent(values)
    assert len(mean) == len(extent) == len(spans.onset)
    for number, (onset, offset) in enumerate(zip(*spans, strict=True)):
        known = values[onset : offset + 1]
        known = known[np.isfinite(known)]
        if len(known):
            assert mean[number] == pytest.approx(known.mean(), rel=1e-12)
            assert extent[number] == known.max() - known.min()
        else:
            assert np.isnan(mean[number])
            assert np.isnan(extent[number])


def test_location_and_dispersion_are_those_of_pymovements(made_up):
    import pymovements as pm

    time_ms, x, y = made_up(500.0)
    gaze = pm.Gaze(
        pl.DataFrame({"time": time_ms, "x": x, "y": y}),
        experiment=pm.Experiment(sampling_rate=500.0),
        time_column="time",
        time_unit="ms",
        position_columns=["x", "y"],
    )
    gaze.pos2vel()
    gaze.detect("ivt", velocity_threshold=40.0)
    gaze.compute_event_properties(["location", "dispersion"])
    theirs = gaze.events.frame
    fixations = ivt(time_ms, x, y, threshold_per_s=40.0)["fixation"]
    assert len(fixations.onset) == len(theirs) > 20
    for place, axis in enumerate((x, y)):
        assert fixations.mean(axis) == pytest.approx(
            theirs["location"].list.get(place).to_numpy(), rel=1e-12
        )
    dispersion = fixations.extent(x) + fixations.extent(y)
    assert dispersion == pytest.approx(theirs["dispersion"].to_numpy(), rel=1e-12)


@given(st.lists(st.booleans()))
def test_runs_cover_what_they_were_made_of(mask):
    assert covered(runs(np.array(mask, dtype=bool)), len(mask)).tolist() == mask
