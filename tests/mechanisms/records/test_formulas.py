"""What windows are to bins: sums, functions of sums, and smoothed signals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.features.bins import stream_set
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.records.formulas import FORMULAS, cosines_kept, smoothed, windows_of_bins


def test_bins_give_all_but_maxima_and_most_of_the_wordbook():
    published = [f.name for f in window_feature_set()]
    never = [name for name in published if name not in FORMULAS]
    assert never[:2] == ["saccade_amplitude_max", "fixation_duration_max"]
    wordbook = ("nonzero", "max", "min", "range", "var")
    assert never[2:] == [f"wb{n}_{what}" for n in (1, 2, 3, 4) for what in wordbook]
    linear = [name for name, formula in FORMULAS.items() if formula.linear]
    assert sorted(published.index(name) for name in linear) == [0, 1, 2, 3, 4, 5, 27, 32]


@given(st.integers(1, 12), st.integers(1, 5), st.floats(0.0, 20.0))
def test_windows_are_sums_of_bins_whatever_their_noise(rows, per_window, scale):
    rng = np.random.default_rng(rows)
    streams = [s for s in stream_set() if s.name in ("fixations", "saccades")]
    values = rng.normal(0.0, scale, (2, 2, rows + per_window - 1, 2))
    names = ("fixation_rate", "saccade_fixation_ratio")
    table = table_from_arrays(values, streams)
    made = windows_of_bins(table, names, 0.5 * per_window, per_window).data
    sums = np.array(
        [
            [values[i, j, k : k + per_window].sum(axis=0) for k in range(rows)]
            for i in range(2)
            for j in range(2)
        ]
    ).reshape(-1, 2)
    np.testing.assert_allclose(made["fixation_rate"], sums[:, 0] / (0.5 * per_window), atol=1e-9)
    ratio = np.clip(sums[:, 1] / np.maximum(sums[:, 0], 1.0), 0.0, 3.0)
    np.testing.assert_allclose(made["saccade_fixation_ratio"], ratio, atol=1e-9)


def test_a_window_of_few_events_is_divided_by_one_at_least():
    streams = [s for s in stream_set() if s.name in ("blinks", "blink_duration_sum")]
    blinks, sums = [0.0, 0.2, -5.0, 2.0], [0.0, 10.0, 10.0, 10.0]
    table = table_from_arrays(np.stack([blinks, sums], axis=-1)[None, None], streams)
    made = windows_of_bins(table, ("blink_duration_mean",), 1.0, 1)
    assert made.data["blink_duration_mean"].to_list() == [285.0, 295.0, 295.0, 290.0]


def test_noise_beyond_the_bounds_is_cut_off_in_quotients_only():
    streams = [s for s in stream_set() if s.name in ("saccades", "small_saccades")]
    table = table_from_arrays(np.array([[[[90.0, -4.0], [-3.0, 70.0]]]]), streams)
    made = windows_of_bins(table, ("saccade_rate", "small_saccade_ratio"), 0.5, 1).data
    assert made["saccade_rate"].to_list() == [180.0, -6.0]
    assert made["small_saccade_ratio"].to_list() == [0.0, 1.0]


def test_smoothing_keeps_a_slow_wave_and_drops_a_fast_one():
    windows, per_window = 240, 60
    half_cycles = np.pi * (np.arange(windows) + 0.5) / windows
    kept = cosines_kept(windows, per_window)
    assert kept == 8
    slow, fast = np.cos((kept - 1) * half_cycles), np.cos(kept * half_cycles)
    both = np.concatenate([3 + slow + fast, fast])
    expected = np.concatenate([3 + slow, np.zeros(windows)])
    np.testing.assert_allclose(smoothed(both, 2, per_window), expected, atol=1e-12)


def test_other_tables_are_refused():
    table = table_from_arrays(np.zeros((1, 1, 3, 1)), [Feature("pulse", "1/min", "", 40.0, 200.0)])
    with pytest.raises(InputError, match="no streams of bins"):
        windows_of_bins(table, ("fixation_rate",), 1.0, 2)
