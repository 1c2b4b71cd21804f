"""Temporal leakage, against linear programmes, the attacker's own sums, and golden numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from eyelid.attacks.temporal.leakage import (
    LeakageFunction,
    autoregressive_transitions,
    backward_matrix,
    leakage,
    leakage_supremum,
    stationary,
)
from eyelid.errors import InputError

LOSSES = st.floats(1e-3, 8.0)


def some_chain(seed, states, zeros=0.0):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(states), size=states)
    matrix *= rng.random(matrix.shape) >= zeros
    matrix += 1e-3 * np.eye(states) + 1e-3 * np.roll(np.eye(states), 1, axis=1)
    return matrix / matrix.sum(axis=1, keepdims=True)


CHAINS = st.builds(
    some_chain, st.integers(0, 2**20), st.integers(2, 5), st.sampled_from([0.0, 0.5])
)


def by_subsets(matrix, loss):
    """Every pair of rows and every set of states."""
    grown, best = np.expm1(loss), 0.0
    sets = np.array(list(itertools.product([0.0, 1.0], repeat=len(matrix))))
    for q, d in itertools.permutations(matrix, 2):
        best = max(best, np.log((sets @ q * grown + 1) / (sets @ d * grown + 1)).max())
    return best


def by_linear_programmes(matrix, loss):
    """Cao et al.: the largest q·x/d·x over x whose entries differ at most by the factor e^loss."""
    states, best = len(matrix), 0.0
    limits = [
        np.eye(states)[j] - np.exp(loss) * np.eye(states)[k]
        for j, k in itertools.permutations(range(states), 2)
    ]
    for q, d in itertools.permutations(matrix, 2):
        # Charnes & Cooper 1962: fix d·x = 1.
        done = linprog(-q, A_ub=limits, b_ub=np.zeros(len(limits)), A_eq=[d], b_eq=[1.0])
        assert done.success
        best = max(best, np.log(-done.fun))
    return best


def plain_algorithm(matrix, loss):
    """The published one: drop states from {q > d} until all that are left beat the ratio."""
    grown, best = np.expm1(loss), 0.0
    for q, d in itertools.permutations(matrix, 2):
        kept = q > d
        while True:
            top, bottom = q[kept].sum() * grown + 1, d[kept].sum() * grown + 1
            still = kept & (q * bottom > d * top)
            if (still == kept).all():
                break
            kept = still
        best = max(best, np.log(top / bottom))
    return best


@given(CHAINS, LOSSES)
def test_the_leakage_function_is_the_best_of_all_sets(matrix, loss):
    assert LeakageFunction(matrix)(loss) == pytest.approx(by_subsets(matrix, loss), abs=1e-12)


@given(CHAINS, LOSSES)
def test_the_leakage_function_is_that_of_the_published_algorithm(matrix, loss):
    assert LeakageFunction(matrix)(loss) == pytest.approx(plain_algorithm(matrix, loss), abs=1e-12)


@settings(max_examples=15)
@given(CHAINS, st.floats(0.05, 3.0))
def test_the_leakage_function_solves_the_linear_programmes(matrix, loss):
    assert LeakageFunction(matrix)(loss) == pytest.approx(
        by_linear_programmes(matrix, loss), abs=1e-6
    )


def test_the_eight_states_of_the_golden_numbers_solve_them_too():
    matrix = autoregressive_transitions(0.6).matrix
    found = LeakageFunction(matrix)(0.4)
    assert found == pytest.approx(by_linear_programmes(matrix, 0.4), abs=1e-6)
    assert found == pytest.approx(by_subsets(matrix, 0.4), abs=1e-12)


@given(CHAINS, LOSSES, LOSSES)
def test_no_more_passes_on_than_there_is_and_more_passes_on_of_more(matrix, one, other):
    function = LeakageFunction(matrix)
    low, high = sorted((one, other))
    assert 0 <= function(low) <= function(high) + 1e-15
    assert function(high) <= high


def test_losses_whose_exponential_is_no_number_are_no_trouble():
    assert LeakageFunction(np.eye(3))(5000.0) == 5000.0
    function = LeakageFunction([[0.8, 0.2], [0.1, 0.9]])
    assert function(5000.0) == pytest.approx(np.log(8))
    assert LeakageFunction([[0.5, 0.5], [0.0, 1.0]])(5000.0) == pytest.approx(5000 + np.log(0.5))
    assert function(0.0) == 0.0


@pytest.mark.parametrize(
    ("correlation", "golden", "digits"), [(0.3, 0.2286, 0.228550), (0.6, 0.7246, 0.724627)]
)
def test_golden_suprema_of_an_autoregressive_process(correlation, golden, digits):
    matrix = autoregressive_transitions(correlation, states=8).matrix
    found = leakage_supremum(matrix, 0.1)
    # The printed 0.2286 is 0.228550 rounded up.
    assert found == pytest.approx(golden, abs=6e-5)
    assert found == pytest.approx(digits, abs=1e-6)
    long = leakage(matrix, 0.1, steps=400)["total"].to_numpy()
    assert long.max() == pytest.approx(found, abs=1e-9)


def test_independent_steps_leak_nothing_beyond_their_own_epsilon():
    matrix = np.tile([0.1, 0.2, 0.7], (3, 1))
    epsilons = [0.3, 0.1, 2.0]
    found = leakage(matrix, epsilons)
    for column in ("backward", "forward", "total"):
        assert found[column].to_list() == pytest.approx(epsilons)
    assert leakage_supremum(matrix, 0.1) == pytest.approx(0.1)


@pytest.mark.parametrize("states", [2, 8])
def test_steps_that_repeat_each_other_leak_all_there_is(states):
    found = leakage(np.eye(states), 0.1, steps=50)
    step = np.arange(1, 51)
    assert found["backward"].to_numpy() == pytest.approx(0.1 * step)
    assert found["forward"].to_numpy() == pytest.approx(0.1 * step[::-1])
    assert found["total"].to_numpy() == pytest.approx(np.full(50, 5.0))
    assert leakage_supremum(np.eye(states), 0.1) is None


@given(CHAINS, st.lists(st.floats(0.01, 2.0), min_size=1, max_size=8))
def test_total_leakage_lies_between_a_step_s_epsilon_and_the_sum_of_all(matrix, epsilons):
    found = leakage(matrix, epsilons)
    total = found["total"].to_numpy()
    assert (total >= np.array(epsilons) - 1e-12).all()
    assert (total <= sum(epsilons) + 1e-12).all()


@given(CHAINS, st.floats(0.01, 2.0))
def test_the_supremum_is_what_many_steps_come_to(matrix, epsilon):
    function = LeakageFunction(matrix)
    limit, loss = function.supremum(epsilon), 0.0
    for _ in range(3000):
        loss = function(loss) + epsilon
    if limit is None:
        # Past every bend it only grows.
        assert loss > 100 or function(loss) + epsilon > loss
    else:
        assert loss <= limit + 1e-9
        assert function(limit) + epsilon == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("stays", [0.8, 0.95])
def test_an_impossible_step_has_a_limit_only_while_epsilon_is_small(stays):
    # D = 0 and Q = stays: a = ln[Q(e^a − 1) + 1] + ε at ln[(1 − Q)/(e^−ε − Q)] if ε < −ln Q.
    function = LeakageFunction([[stays, 1 - stays], [0.0, 1.0]])
    most = -np.log(stays)
    epsilon = 0.9 * most
    expected = np.log((1 - stays) / (np.exp(-epsilon) - stays))
    assert function.supremum(epsilon) == pytest.approx(expected)
    assert function.supremum(1.0001 * most) is None


def test_a_large_epsilon_still_has_a_limit():
    function = LeakageFunction([[0.8, 0.2], [0.1, 0.9]])
    assert function.supremum(2000.0) == pytest.approx(2000 + np.log(8))
    assert function.supremum(1e-9) == pytest.approx(1e-9 / (1 - 0.7), rel=1e-6)


def responses(matrix, epsilon):
    """Randomised response over the states: exactly ε between any two of them."""
    states = len(matrix)
    kept = np.exp(epsilon) / (np.exp(epsilon) + states - 1)
    return np.where(np.eye(states) > 0, kept, (1 - kept) / (states - 1))


@settings(max_examples=25)
@given(CHAINS, st.floats(0.1, 1.5), st.integers(0, 3))
def test_no_attacker_who_knows_the_chain_learns_more_than_the_total(matrix, epsilon, asked):
    """The exact worst log-likelihood ratio about one of four steps, over all outputs."""
    states, steps = len(matrix), 4
    channel = responses(matrix, epsilon)
    share, behind = stationary(matrix), backward_matrix(matrix)
    assert share @ matrix == pytest.approx(share)

    def told(way, count):
        """Pr(outputs of the next so many steps | state now), a column an output sequence."""
        found = np.ones((states, 1))
        for _ in range(count):
            each = channel[:, :, None] * found[:, None, :]
            found = way @ each.reshape(states, -1)
        return found

    before, after = told(behind, asked), told(matrix, steps - 1 - asked)
    likelihood = np.einsum("sb,so,sa->sboa", before, channel, after).reshape(states, -1)
    worst = np.log(likelihood.max(axis=0) / likelihood.min(axis=0)).max()
    assert worst <= leakage(matrix, epsilon, steps=steps)["total"][asked] + 1e-9


def test_the_attacker_reaches_the_bound_where_two_states_allow_it():
    """Against two states randomised response is the worst mechanism: nothing is overstated."""
    matrix = np.array([[0.8, 0.2], [0.2, 0.8]])
    channel = responses(matrix, 0.5)
    before = matrix @ channel
    likelihood = np.einsum("sb,so->sbo", before, channel).reshape(2, -1)
    worst = np.log(likelihood.max(axis=0) / likelihood.min(axis=0)).max()
    assert leakage(matrix, 0.5, steps=2)["backward"][1] == pytest.approx(worst)


def test_a_planted_fault_is_caught_by_the_attacker():
    """Who takes the forward matrix for the backward one promises too much."""
    matrix = np.array([[0.85, 0.15, 0.0], [0.85, 0.0, 0.15], [0.85, 0.0, 0.15]])
    right, wrong = leakage(matrix, 1.0, steps=3), leakage(matrix, 1.0, matrix, steps=3)
    assert wrong["backward"].to_list() == pytest.approx(wrong["forward"].to_list()[::-1])
    channel, behind = responses(matrix, 1.0), backward_matrix(matrix)
    likelihood = (behind @ channel)[:, :, None] * channel[:, None, :]
    worst = np.log(likelihood.max(axis=0) / likelihood.min(axis=0)).max()
    assert wrong["backward"][1] + 0.5 < worst <= right["backward"][1] + 1e-12


def test_chunks_leak_by_the_matrix_from_row_to_row():
    """Two rows in one step: the chain of pairs leaks what the chain of rows does."""
    matrix = some_chain(5, 3)
    pairs = list(itertools.product(range(3), repeat=2))
    chunked = np.array(
        [[matrix[before[1], now[0]] * matrix[now[0], now[1]] for now in pairs] for before in pairs]
    )
    epsilons = [0.5, 1.0, 0.2]
    ours, theirs = leakage(matrix, epsilons), leakage(chunked, epsilons)
    assert theirs["total"].to_numpy() == pytest.approx(ours["total"].to_numpy())


def test_epsilons_may_change_from_step_to_step():
    matrix = autoregressive_transitions(0.6).matrix
    found = leakage(matrix, [0.1, 1.0, 0.1])
    function = LeakageFunction(matrix)
    second = function(0.1) + 1.0
    assert found["backward"].to_list() == pytest.approx([0.1, second, function(second) + 0.1])
    assert found["step"].to_list() == [1, 2, 3]
    assert found["epsilon"].to_list() == [0.1, 1.0, 0.1]


@pytest.mark.parametrize(
    ("epsilons", "options", "says"),
    [
        (0.1, {}, "needs their number, got steps=None"),
        (0.1, {"steps": 0}, "needs their number, got steps=0"),
        ([0.1, 0.2], {"steps": 3}, "2 epsilons for 3 steps"),
        ([], {}, r"got an array of the shape \(0,\)"),
        ([0.1, -1.0], {}, "epsilon must be positive and finite, got -1"),
        ([0.1, np.nan], {}, "epsilon must be positive and finite, got nan"),
        (np.inf, {"steps": 2}, "epsilon must be positive and finite, got inf"),
        ([0.1], {"backward": np.eye(3)}, "forward matrix has 2 states and the backward one 3"),
    ],
)
def test_what_cannot_be_computed_is_said(epsilons, options, says):
    with pytest.raises(InputError, match=says):
        leakage([[0.5, 0.5], [0.5, 0.5]], epsilons, **options)


def test_a_chain_without_a_way_back_needs_one():
    left = [[0.5, 0.5], [0.0, 1.0]]
    with pytest.raises(InputError, match="give the backward matrix"):
        leakage(left, 0.1, steps=2)
    assert leakage(left, 0.1, np.eye(2), steps=2)["backward"].to_list() == pytest.approx([0.1, 0.2])


def test_an_epsilon_of_nothing_has_no_supremum():
    with pytest.raises(InputError, match="epsilon must be positive and finite, got 0"):
        leakage_supremum(np.eye(2), 0.0)
