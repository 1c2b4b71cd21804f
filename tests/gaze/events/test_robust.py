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
from eyelid.gaze.events.robust import robust
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import RECORDING_KEY
from eyelid.io import read

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


def kappa(one: np.ndarray, other: np.ndarray) -> float:
    both, p, q = np.mean(one == other), one.mean(), other.mean()
    chance = p * q + (1 - p) * (1 - q)
    return float((both - chance) / (1 - chance))


@pytest.mark.parametrize(("name", "least"), [("fixation", 0.65), ("saccade", 0.75)])
def test_agrees_with_human_coders_on_images(real_data: Path, name, least):
    if not (real_data / "lund2013" / "img").is_dir():
        pytest.skip("lund2013 is not in EYELID_DATA")
    study = read(real_data / "lund2013" / "img")
    inside = []
    events = detect_events(study).filter(pl.col("name") == name)
    for (person, recording), rows in study.data.group_by(RECORDING_KEY, maintain_order=True):
        own = events.filter(person=person, recording=recording)
        begun, over = (own[edge].to_numpy() for edge in ("onset_ms", "offset_ms"))
        time_ms = rows["time_ms"].to_numpy()
        number = np.searchsorted(begun, time_ms, side="right")
        inside.append(number > np.searchsorted(over, time_ms, side="left"))
    for coder in ("label_ra", "label_mn"):
        said = study.data[coder].fill_null("").to_numpy()
        assert kappa(np.concatenate(inside), said == name) > least


@pytest.mark.parametrize(("rate_hz", "swings"), [(500.0, False), (60.0, True)])
def test_the_swing_after_a_saccade_is_part_of_no_event_where_it_is_seen(rate_hz, swings):
    time_ms = np.arange(0.0, 1000.0, 1000 / rate_hz)
    x = np.interp(time_ms, [500, 530, 540, 550, 560], [0.0, 9.0, 9.0, 8.4, 8.6])
    found = robust(time_ms, x, np.zeros(len(x)))
    (saccade,), (fixation,) = found["saccade"].offset, found["fixation"].onset[1:]
    assert time_ms[saccade] == pytest.approx(530.0, abs=1000 / rate_hz + 5)
    assert (fixation == saccade) is np.bool_(swings)
    if not swings:
        assert time_ms[fixation] > 540.0


def test_constant_gaze_is_one_fixation():
    found = robust(np.arange(600) * 10.0, np.ones(600), np.ones(600))
    assert [index.tolist() for index in found["fixation"]] == [[0], [599]]
    assert len(found["saccade"].onset) == 0


@pytest.mark.parametrize("seen", [0, 1])
def test_lost_gaze_has_no_events(seen):
    x = np.full(100, np.nan)
    x[:seen] = 1.0
    found = robust(np.arange(100) * 10.0, x, x)
    assert all(len(spans.onset) == 0 for spans in found.values())


def test_a_saccade_between_two_samples_of_a_slow_tracker_has_its_amplitude():
    x = np.repeat([10.0, 15.0], 15)
    found = robust(np.arange(30) * 1000 / 30, x, np.zeros(30))
    onset, offset = found["saccade"]
    assert x[offset] - x[onset] == 5.0


def test_a_spike_of_noise_is_no_saccade():
    x = np.zeros(120)
    x[60] = 3.0
    found = robust(np.arange(120) * 1000 / 60, x, np.zeros(120), settle_ms=0.0)
    assert len(found["saccade"].onset) == 0
    assert len(found["fixation"].onset) == 1


@pytest.mark.parametrize(("gap", "fixations"), [(2, 1), (10, 2)])
def test_a_fixation_survives_a_short_loss_and_ends_at_a_long_one(gap, fixations):
    x = np.zeros(60)
    x[30 : 30 + gap] = np.nan
    assert len(robust(np.arange(60) * 1000 / 60, x, x)["fixation"].onset) == fixations


def test_unknown_units_are_named():
    with pytest.raises(InputError, match="did you mean 'deg'"):
        robust(np.arange(3.0), np.zeros(3), np.zeros(3), units="degs")


@given(
    x=hnp.arrays(float, st.integers(0, 80), elements=st.floats(-50, 50) | st.just(np.nan)),
    rate_hz=st.sampled_from(RATES_HZ),
)
def test_events_are_in_order_within_the_recording_and_never_overlap(x, rate_hz):
    time_ms = np.arange(len(x)) * 1000 / rate_hz
    found = robust(time_ms, x, -x, min_fixation_ms=20.0)
    onset = np.concatenate([spans.onset for spans in found.values()])
    offset = np.concatenate([spans.offset for spans in found.values()])
    order = np.argsort(onset)
    assert np.all(onset < offset)
    assert np.all(offset[order][:-1] <= onset[order][1:])
    assert np.isfinite(x[onset]).all()
    assert np.isfinite(x[offset]).all()
