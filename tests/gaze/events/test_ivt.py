from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.events.ivt import ivt
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Screen, Study

RATES_HZ = [30.0, 60.0, 120.0, 250.0, 500.0, 1000.0]


def share_found(these: pl.DataFrame, among: pl.DataFrame, overlap: float) -> float:
    """Share of events that one of the others overlaps, as a share of their union."""
    found = 0
    for key, rows in these.group_by("person", "recording"):
        other = among.filter(pl.col("person") == key[0], pl.col("recording") == key[1])
        onset, offset = (rows[name].to_numpy()[:, None] for name in ("onset_ms", "offset_ms"))
        begin, end = (other[name].to_numpy()[None, :] for name in ("onset_ms", "offset_ms"))
        shared = np.minimum(offset, end) - np.maximum(onset, begin)
        union = np.maximum(offset, end) - np.minimum(onset, begin)
        found += int((shared > overlap * union).any(axis=1).sum())
    return found / len(these)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize(
    ("name", "overlap", "least"), [("fixation", 0.5, 0.75), ("saccade", 0.0, 0.8)]
)
def test_finds_the_true_events_and_few_others(rate_hz, name, overlap, least):
    study = simulate(people=4, tasks=("comic", "textbook"), rate_hz=rate_hz, minutes=0.5, seed=5)
    found = detect_events(study).filter(pl.col("name") == name)
    true = study.events.filter(pl.col("name") == name)
    assert share_found(true, found, overlap) > least
    assert share_found(found, true, overlap) > 0.94


def test_agrees_with_a_human_coder_on_real_recordings(real_data: Path):
    from scipy.io import loadmat

    files = sorted((real_data / "lund2013" / "img").glob("*_RA.mat"))
    if not files:
        pytest.skip("lund2013 is not in EYELID_DATA")
    kappas = []
    for file in files:
        recorded = loadmat(file, squeeze_me=True, struct_as_record=False)["ETdata"]
        label = recorded.pos[:, 5]
        x, y = (np.where(recorded.pos[:, 3] == 0, np.nan, recorded.pos[:, i]) for i in (3, 4))
        time_ms = np.arange(len(x)) * 1000 / recorded.sampFreq
        keys = {"person": ["a"] * len(x), "recording": ["r"] * len(x)}
        study = Study(
            kind="samples",
            data=pl.DataFrame(keys | {"time_ms": time_ms, "x": x, "y": y}),
            people=pl.DataFrame({"person": ["a"]}),
            units="px",
            screen=Screen(*recorded.screenRes, *recorded.screenDim, recorded.viewDist),
        )
        ours = np.zeros(len(x))
        for name, onset_ms, offset_ms in detect_events(study)[
            ["name", "onset_ms", "offset_ms"]
        ].iter_rows():
            code = {"fixation": 1, "saccade": 2, "blink": 5}[name]
            ours[(time_ms >= onset_ms) & (time_ms <= offset_ms)] = code
        coded = np.isin(label, (1, 2))
        agreed = (ours[coded] == label[coded]).mean()
        chance = sum((ours[coded] == c).mean() * (label[coded] == c).mean() for c in (1, 2))
        kappas.append((agreed - chance) / (1 - chance))
    assert np.median(kappas) > 0.8


def test_constant_gaze_is_one_fixation():
    found = ivt(np.arange(600) * 10.0, np.ones(600), np.ones(600))
    assert [index.tolist() for index in found["fixation"]] == [[0], [599]]
    assert len(found["saccade"].onset) == 0


@pytest.mark.parametrize("seen", [0, 1])
def test_lost_gaze_has_no_events(seen):
    x = np.full(100, np.nan)
    x[:seen] = 1.0
    found = ivt(np.arange(100) * 10.0, x, x)
    assert all(len(spans.onset) == 0 for spans in found.values())


def test_a_saccade_between_two_samples_of_a_slow_tracker_has_its_amplitude():
    x = np.repeat([10.0, 15.0], 15)
    found = ivt(np.arange(30) * 1000 / 30, x, np.zeros(30))
    onset, offset = found["saccade"]
    assert x[offset] - x[onset] == 5.0


def test_a_spike_of_noise_is_no_saccade():
    x = np.zeros(120)
    x[60] = 3.0
    found = ivt(np.arange(120) * 1000 / 60, x, np.zeros(120), settle_ms=0.0)
    assert len(found["saccade"].onset) == 0
    assert len(found["fixation"].onset) == 1


@pytest.mark.parametrize(("gap", "fixations"), [(2, 1), (10, 2)])
def test_a_fixation_survives_a_short_loss_and_ends_at_a_long_one(gap, fixations):
    x = np.zeros(60)
    x[30 : 30 + gap] = np.nan
    assert len(ivt(np.arange(60) * 1000 / 60, x, x)["fixation"].onset) == fixations


def test_unknown_units_are_named():
    with pytest.raises(InputError, match="did you mean 'deg'"):
        ivt(np.arange(3.0), np.zeros(3), np.zeros(3), units="degs")


@given(
    x=hnp.arrays(float, st.integers(0, 80), elements=st.floats(-50, 50) | st.just(np.nan)),
    rate_hz=st.sampled_from(RATES_HZ),
)
def test_events_are_in_order_within_the_recording_and_never_overlap(x, rate_hz):
    time_ms = np.arange(len(x)) * 1000 / rate_hz
    found = ivt(time_ms, x, -x, min_fixation_ms=20.0)
    onset = np.concatenate([spans.onset for spans in found.values()])
    offset = np.concatenate([spans.offset for spans in found.values()])
    order = np.argsort(onset)
    assert np.all(onset < offset)
    assert np.all(offset[order][:-1] <= onset[order][1:])
    assert np.isfinite(x[onset]).all()
    assert np.isfinite(x[offset]).all()
