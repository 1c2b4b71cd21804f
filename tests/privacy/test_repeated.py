"""The same small loss, paid many times."""

from __future__ import annotations

import math

import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld

from eyelid.privacy.repeated import repeated_delta, share_of_total


@pytest.mark.parametrize(
    ("each", "times", "total"), [(0.1, 60, 2.0), (0.5, 7, 1.6), (0.02, 400, 1)]
)
def test_the_total_is_that_of_an_accountant(each: float, times: int, total: float) -> None:
    one = pld.from_privacy_parameters(
        common.DifferentialPrivacyParameters(each, 0.0), value_discretization_interval=1e-4
    )
    theirs = one.self_compose(times).get_delta_for_epsilon(total)
    ours = repeated_delta(each, times, total)
    # Theirs is rounded upwards.
    assert ours <= theirs * (1 + 1e-9)
    assert ours == pytest.approx(theirs, rel=0.05)


def test_two_coins_by_hand() -> None:
    # Both for one side: probability p², loss 2ε; δ at ε is p²·(1 − e^(ε − 2ε)).
    p = 1 / (1 + math.exp(-0.7))
    assert repeated_delta(0.7, 2, 0.7) == pytest.approx(p**2 * (1 - math.exp(-0.7)), rel=1e-9)


@pytest.mark.parametrize("times", [1, 2, 30, 1000])
def test_a_share_keeps_the_total_and_is_not_wasteful(times: int) -> None:
    share = share_of_total(3.0, 1e-6, times)
    assert repeated_delta(share, times, 3.0) <= 1e-6
    assert share >= 3.0 / times
    if times > 1:
        assert repeated_delta(share * 1.01, times, 3.0) > 1e-6
