import numpy as np
import pytest
from scipy.stats import binomtest

from eyelid.audits.statistics import clopper_pearson


def test_one_of_twenty_is_anything_from_a_thousandth_to_a_quarter():
    low, high = clopper_pearson(1, 20)
    assert float(low) == pytest.approx(0.001, abs=5e-4)
    assert float(high) == pytest.approx(0.249, abs=5e-4)


@pytest.mark.parametrize(("k", "n"), [(0, 20), (20, 20), (3, 50), (500, 1000)])
def test_limits_agree_with_scipy(k, n):
    low, high = clopper_pearson(k, n, alpha=0.01)
    oracle = binomtest(k, n).proportion_ci(0.99, method="exact")
    assert (float(low), float(high)) == pytest.approx((oracle.low, oracle.high))


def test_limits_are_vectorised():
    low, high = clopper_pearson(np.array([0, 5]), 10)
    assert low.shape == high.shape == (2,)
