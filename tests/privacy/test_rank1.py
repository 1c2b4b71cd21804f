import pytest

from eyelid.privacy import PERSON, Guarantee, Kind, Neighbours, Trust, rank1_bounds


def guarantee(**facts):
    given = {"kind": Kind.PURE, "trust": Trust.LOCAL, "epsilon": 1.0} | facts
    return Guarantee(unit=PERSON, neighbours=Neighbours.REPLACE_ONE, **given)


@pytest.mark.parametrize(
    ("epsilon", "bound"), [(0.5, 0.080), (1, 0.125), (2, 0.280), (3, 0.514), (5, 0.887)]
)
def test_golden_bounds_of_pure_dp(epsilon, bound):
    found = rank1_bounds(guarantee(epsilon=float(epsilon)), 20)
    assert found["raw_to_release"] == pytest.approx(bound, abs=5e-4)


def test_golden_bound_of_gaussian_dp():
    found = rank1_bounds(guarantee(kind=Kind.GAUSSIAN, epsilon=None, mu=1.0), 20)
    assert found["raw_to_release"] == pytest.approx(0.170, abs=5e-4)


def test_an_attacker_who_sees_everybody_has_twice_the_epsilon_and_only_pure_dp_bounds_it():
    found = rank1_bounds(guarantee(epsilon=1.0), 20)
    assert found["release_to_raw"] == rank1_bounds(guarantee(epsilon=2.0), 20)["raw_to_release"]
    gaussian = guarantee(kind=Kind.APPROXIMATE, epsilon=1.0, delta=1e-6, mu=0.2)
    assert rank1_bounds(gaussian, 20)["release_to_raw"] is None


def test_no_bound_is_printed_where_none_holds():
    nothing = {"raw_to_release": None, "release_to_raw": None}
    assert rank1_bounds(guarantee().broken("seeded"), 20) == nothing
    assert rank1_bounds(guarantee(trust=Trust.CENTRAL), 20) == nothing
    assert rank1_bounds(guarantee(kind=Kind.NONE, epsilon=None), 20) == nothing


def test_k_anonymity_bounds_by_one_over_k():
    found = rank1_bounds(guarantee(kind=Kind.K_ANONYMITY, epsilon=None, k=4), 20)
    assert found["raw_to_release"] == 0.25


def test_bounds_are_probabilities_even_for_huge_epsilon_and_one_person():
    assert rank1_bounds(guarantee(epsilon=1e6), 20)["raw_to_release"] == 1.0
    assert rank1_bounds(guarantee(epsilon=0.1), 1)["raw_to_release"] == 1.0


def test_the_best_attacker_on_laplace_noise_stays_below_the_bound():
    """Two-sided check by simulation: N people at the corners, maximum likelihood."""
    import numpy as np

    people, epsilon, runs = 20, 2.0, 20_000
    rng = np.random.default_rng(3)
    # One-hot records differ by 2 in L1 between any two people.
    noisy = rng.laplace(0, 2 / epsilon, size=(runs, people))
    truth = rng.integers(people, size=runs)
    noisy[np.arange(runs), truth] += 1
    distance = np.abs(noisy[:, None, :] - np.eye(people)).sum(axis=2)
    rate = (distance.argmin(axis=1) == truth).mean()
    bound = rank1_bounds(guarantee(epsilon=epsilon), people)["raw_to_release"]
    assert 1 / people < rate <= bound
