from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eyelid.gaze.features.statistics import Stretches


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    seed=st.integers(0, 2**32 - 1),
    far=st.sampled_from([0.0, 1e3, 1e7]),
)
def test_every_event_is_judged_by_its_own_values(counts, seed, far):
    owner = np.repeat(np.arange(len(counts)), counts)
    values = far + np.random.default_rng(seed).normal(size=len(owner))
    stretches = Stretches(owner, len(counts))
    skewness, kurtosis = stretches.skewness_and_kurtosis(values, 1e-9)
    for event, count in enumerate(counts):
        own = values[owner == event]
        if not count:
            assert np.isnan(stretches.mean(values)[event])
            assert np.isnan(stretches.median(values)[event])
            assert np.isnan(stretches.largest(values)[event])
            continue
        assert stretches.mean(values)[event] == pytest.approx(own.mean())
        assert stretches.median(values)[event] == np.median(own)
        assert stretches.extent(values)[event] == np.ptp(own)
        assert stretches.moment(values, 2)[event] == pytest.approx(own.var(), rel=1e-6)
        if count < 3:
            assert np.isnan(skewness[event])
        else:
            assert skewness[event] == pytest.approx(stats.skew(own), rel=1e-5, abs=1e-6)
            assert kurtosis[event] == pytest.approx(stats.kurtosis(own, fisher=False), rel=1e-5)
