import math

import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.privacy import (
    PERSON,
    RECORDING,
    Guarantee,
    Kind,
    Neighbours,
    Trust,
    gaussian_epsilon,
    gaussian_mu,
    parallel,
    sequential,
)
from eyelid.privacy.composition import repeated_delta, replace_one, share_of_total


def pure(epsilon, **more):
    facts = {"neighbours": Neighbours.REPLACE_ONE, "trust": Trust.LOCAL, "delta": 0.0}
    return Guarantee(Kind.PURE, PERSON, epsilon=epsilon, **facts | more)


def gaussian(mu, delta=1e-6, slack=0.0):
    return Guarantee(
        Kind.APPROXIMATE,
        PERSON,
        Neighbours.REPLACE_ONE,
        Trust.LOCAL,
        epsilon=gaussian_epsilon(mu, delta, slack),
        delta=delta,
        mu=mu,
        slack=slack,
    )


def approximate(epsilon, delta):
    return Guarantee(
        Kind.APPROXIMATE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=epsilon, delta=delta
    )


@given(st.lists(st.floats(0.01, 5), min_size=1, max_size=6))
def test_pure_epsilons_add_up(epsilons):
    total = sequential([pure(e) for e in epsilons])
    assert total.kind is Kind.PURE
    assert total.delta == 0
    assert total.epsilon == pytest.approx(math.fsum(epsilons))


@given(st.lists(st.floats(0.05, 2), min_size=2, max_size=5))
def test_gaussians_compose_in_mu(mus):
    total = sequential([gaussian(mu) for mu in mus])
    assert total.mu == pytest.approx(math.sqrt(sum(mu**2 for mu in mus)))
    assert total.epsilon == pytest.approx(gaussian_epsilon(total.mu, 1e-6), rel=1e-9)


@pytest.mark.parametrize("order", [1, -1], ids=["laplace first", "gaussian first"])
def test_a_mixture_goes_through_the_privacy_loss_distribution(order):
    parts = ([pure(0.5)] * 4 + [gaussian(0.2)] * 3)[::order]
    total = sequential(parts)
    added = 4 * 0.5 + gaussian_epsilon(0.2 * math.sqrt(3), 1e-6)
    worst_alone = gaussian_epsilon(0.2 * math.sqrt(3), 1e-6)
    assert total.kind is Kind.APPROXIMATE
    assert worst_alone < total.epsilon <= added


def test_a_mixture_agrees_with_dp_accounting():
    """Pure ε is at worst randomised response, and the Gaussian is itself: an exact mixture."""
    from scipy.optimize import brentq

    from eyelid.privacy import gaussian_delta

    weight = math.exp(0.7) / (1 + math.exp(0.7))

    def delta(epsilon):
        # Randomised response shifts the Gaussian's loss by ±0.7.
        return weight * gaussian_delta_at(epsilon - 0.7) + (1 - weight) * gaussian_delta_at(
            epsilon + 0.7
        )

    def gaussian_delta_at(epsilon):
        return gaussian_delta(epsilon, 0.5)

    oracle = brentq(lambda e: delta(e) - 1e-6, 0.5, 10)
    assert sequential([gaussian(0.5), pure(0.7)]).epsilon == pytest.approx(oracle, abs=0.01)


def test_deltas_alone_above_the_wanted_one_are_summed_and_stated():
    total = sequential([approximate(1.0, 1e-6), approximate(1.0, 1e-6)], delta=1e-6)
    assert total.delta == pytest.approx(2e-6)
    assert total.epsilon == pytest.approx(2.0, abs=1e-6)


@given(
    st.lists(
        st.one_of(
            st.floats(0.1, 2).map(pure),
            st.floats(0.1, 1.5).map(gaussian),
            st.floats(0.1, 2).map(lambda e: approximate(e, 1e-8)),
        ),
        min_size=2,
        max_size=4,
    )
)
def test_the_total_never_falls_when_something_is_added(parts):
    fewer = sequential(parts[:-1], delta=1e-5)
    more = sequential(parts, delta=1e-5)
    # The privacy-loss distributions are discretised in steps of 1e-3.
    assert more.epsilon >= fewer.epsilon - 5e-3 * len(parts)


def test_disjoint_people_cost_the_worst_of_them_not_the_sum():
    assert parallel([pure(1.0), pure(3.0), pure(2.0)]).epsilon == 3.0


def test_disjoint_people_keep_the_worst_of_every_number():
    total = parallel([pure(5.0), approximate(1.0, 1e-2)])
    assert (total.kind, total.epsilon, total.delta) == (Kind.APPROXIMATE, 5.0, 1e-2)
    same = parallel([gaussian(0.3), gaussian(0.7)])
    assert same.mu == 0.7
    assert parallel([gaussian(3.0), pure(2.0)]).mu is None
    mixed = parallel([gaussian(0.7), pure(9.0)])
    assert (mixed.epsilon, mixed.delta, mixed.mu) == (9.0, 1e-6, None)


def test_something_that_does_not_hold_makes_the_total_unbounded():
    total = sequential([pure(1.0), pure(1.0).broken("seeded")])
    assert total.kind is Kind.NONE
    assert not total.holds
    assert total.epsilon is None
    assert total.reasons == ("seeded",)
    assert not parallel([pure(1.0), pure(1.0).broken("seeded")]).holds


def test_k_anonymity_never_adds_to_an_epsilon():
    k = Guarantee(Kind.K_ANONYMITY, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, k=5)
    total = sequential([pure(1.0), k])
    assert not total.holds
    assert "not differential privacy" in total.reasons[0]


def test_an_infinite_or_unstated_epsilon_is_never_taken_for_nothing():
    assert sequential([pure(math.inf), pure(1.0)]).epsilon == math.inf
    assert sequential([pure(None), pure(1.0)]).epsilon == math.inf


def test_units_do_not_mix():
    other = Guarantee(Kind.PURE, RECORDING, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=1.0)
    with pytest.raises(InputError, match="different units"):
        sequential([pure(1.0), other])


def test_add_remove_counts_twice_beside_replace_one():
    other = pure(1.0, neighbours=Neighbours.ADD_REMOVE)
    assert sequential([pure(1.0), other]).epsilon == pytest.approx(3.0)
    assert replace_one(other).neighbours is Neighbours.REPLACE_ONE


def test_a_gaussian_calibrated_for_three_recordings_is_one_for_the_person():
    mu = gaussian_mu(1.0, 1e-6) / math.sqrt(3)
    assert sequential([gaussian(mu)] * 3).epsilon == pytest.approx(1.0, rel=1e-6)


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
