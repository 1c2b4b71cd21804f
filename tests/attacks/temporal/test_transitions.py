"""Chains: exact cells of a normal process, the long run, and the way back."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.special import ndtri, owens_t

from eyelid.attacks.temporal.leakage import (
    Transitions,
    autoregressive_transitions,
    backward_matrix,
    checked_matrix,
    estimated_transitions,
    leakage_supremum,
    stationary,
)
from eyelid.errors import InputError


def chains(most=6):
    """Transition matrices of a few states, some steps impossible."""

    def made(seed, states, zeros):
        rng = np.random.default_rng(seed)
        matrix = rng.dirichlet(np.full(states, 0.5), size=states)
        matrix *= rng.random((states, states)) >= zeros
        # A step to itself keeps every row possible, a ring all states in touch.
        matrix += 0.01 * np.eye(states) + 0.01 * np.roll(np.eye(states), 1, axis=1)
        return matrix / matrix.sum(axis=1, keepdims=True)

    return st.builds(made, st.integers(0, 2**20), st.integers(2, most), st.sampled_from([0, 0.5]))


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.3, 0.6])
def test_cells_are_those_of_two_normal_values(correlation):
    matrix = autoregressive_transitions(correlation, states=4).matrix
    edges = np.concatenate(([-9.0], ndtri([0.25, 0.5, 0.75]), [9.0]))
    rest = 1 - correlation**2

    def density(y, x):
        return np.exp(-(x * x - 2 * correlation * x * y + y * y) / (2 * rest))

    for i, j in ((0, 0), (0, 3), (1, 2)):
        cell, _ = dblquad(density, edges[i], edges[i + 1], edges[j], edges[j + 1], epsabs=1e-11)
        assert matrix[i, j] == pytest.approx(4 * cell / (2 * np.pi * np.sqrt(rest)), abs=1e-9)


@pytest.mark.parametrize("correlation", [-0.95, -0.2, 0.3, 0.9, 0.99, 0.9999])
def test_the_first_cell_is_the_bivariate_normal_distribution(correlation):
    # Owen 1956: Pr(X < h, Y < h) = Φ(h) − 2·T(h, √((1 − ρ)/(1 + ρ))).
    h = ndtri(1 / 8)
    both = 1 / 8 - 2 * owens_t(h, np.sqrt((1 - correlation) / (1 + correlation)))
    matrix = autoregressive_transitions(correlation).matrix
    assert matrix[0, 0] == pytest.approx(8 * both, abs=1e-12)


@pytest.mark.parametrize("correlation", [-0.999, -0.5, 0.0, 0.5, 0.983, 0.9999])
@pytest.mark.parametrize("states", [2, 8, 33])
def test_equally_likely_cells_stay_equally_likely_and_look_alike_backwards(correlation, states):
    matrix = autoregressive_transitions(correlation, states).matrix
    assert matrix.sum(axis=0) == pytest.approx(np.ones(states), abs=1e-12)
    assert np.allclose(matrix, matrix.T, rtol=1e-7, atol=1e-290)
    assert np.allclose(matrix, matrix[::-1, ::-1], rtol=1e-7, atol=1e-290)
    other = autoregressive_transitions(-correlation, states).matrix
    assert np.allclose(matrix, other[:, ::-1], rtol=1e-7, atol=1e-290)


def test_hardly_possible_steps_keep_their_digits():
    # From mpmath, 40 digits: 8·∫φ(x)·Φ((ρx − 1.1503…)/√(1 − ρ²)) over x below −1.1503….
    found = autoregressive_transitions(0.95).matrix[0, 7]
    assert found == pytest.approx(2.3403025687053414e-14, rel=1e-12)


@given(chains())
def test_the_long_run_stays_as_it_is(matrix):
    share = stationary(matrix)
    assert share @ matrix == pytest.approx(share, abs=1e-13)
    assert share.sum() == pytest.approx(1)
    # Another way: the eigenvector.
    values, vectors = np.linalg.eig(matrix.T)
    vector = np.real(vectors[:, np.argmax(np.real(values))])
    assert share == pytest.approx(vector / vector.sum(), abs=1e-9)


@given(chains())
def test_backwards_is_bayes_rule_and_twice_backwards_is_forwards(matrix):
    behind, share = backward_matrix(matrix), stationary(matrix)
    # Pr(now i, before j) both ways.
    assert share[:, None] * behind == pytest.approx((share[:, None] * matrix).T, abs=1e-13)
    assert backward_matrix(behind) == pytest.approx(matrix, abs=1e-12)


def test_parts_that_never_meet_are_seen_backwards_each_on_its_own():
    one, other = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    both = np.block([[one, np.zeros((2, 2))], [np.zeros((2, 2)), other]])
    expected = np.block(
        [[backward_matrix(one), np.zeros((2, 2))], [np.zeros((2, 2)), backward_matrix(other)]]
    )
    assert backward_matrix(both) == pytest.approx(expected)
    assert backward_matrix(np.eye(5)) == pytest.approx(np.eye(5))


def test_rare_meetings_are_not_lost_to_rounding():
    rare = 1e-18
    assert stationary([[1 - rare, rare], [2 * rare, 1 - 2 * rare]]) == pytest.approx([2 / 3, 1 / 3])


def test_a_state_left_for_ever_is_said():
    with pytest.raises(InputError, match=r"state 1 .* is left for ever.*give the backward matrix"):
        stationary([[0.5, 0.5], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[0.5, 0.5]], r"square, this has the shape \(1, 2\)"),
        ([], "square"),
        ([[1.5, -0.5], [0.0, 1.0]], "numbers of at least 0"),
        ([[np.nan, 1.0], [0.0, 1.0]], "numbers of at least 0"),
        ([[0.5, 0.5], [0.2, 0.2]], "row 2 of the transition matrix sums to 0.4"),
        (np.eye(257), "257 states: use at most 256"),
    ],
)
def test_what_is_no_chain_is_said(matrix, says):
    with pytest.raises(InputError, match=says):
        checked_matrix(matrix)
    with pytest.raises(InputError, match=says):
        Transitions(matrix, "made up", public=True)


def test_rounding_in_a_file_is_mended():
    assert checked_matrix([[0.3333333, 0.6666666], [0, 1]]).sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize("correlation", [1.0, -1.0, 2.0, np.nan])
def test_a_perfect_correlation_is_no_process_in_cells(correlation):
    with pytest.raises(InputError, match="identity matrix"):
        autoregressive_transitions(correlation)


def test_one_cell_is_no_chain(make_table):
    with pytest.raises(InputError, match="states must be between 2 and 256, got 1"):
        estimated_transitions(make_table(), "pupil", states=1)
    with pytest.raises(InputError, match="states must be between 2 and 256, got 1"):
        autoregressive_transitions(0.5, states=1)


def test_a_chosen_chain_is_public_and_an_estimated_one_is_not(make_table):
    assert autoregressive_transitions(0.5).public
    found = estimated_transitions(make_table(), "pupil")
    assert not found.public
    assert "private data" in found.source


def test_steps_are_counted_inside_recordings_and_between_known_values(make_table):
    table = make_table(people=1, recordings=2, rows=6)
    values = [0.0, 1.0, 0.0, 0.0, None, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    table = replace(table, data=table.data.with_columns(pupil=pl.Series(values)))
    # 0→0 once, 0→1 twice, 1→0 twice, 1→1 three times; half a step more each.
    expected = [[1.5 / 4, 2.5 / 4], [2.5 / 6, 3.5 / 6]]
    assert estimated_transitions(table, "pupil", states=2).matrix == pytest.approx(
        np.array(expected)
    )


def test_a_constant_feature_has_one_cell_and_an_empty_one_none(make_table):
    table = make_table()
    constant = replace(table, data=table.data.with_columns(pupil=pl.lit(2.0)))
    found = estimated_transitions(constant, "pupil").matrix
    assert found.tolist() == [[1.0]]
    assert leakage_supremum(found, 0.1) == 0.1
    empty = replace(table, data=table.data.with_columns(pupil=pl.lit(None, pl.Float64)))
    with pytest.raises(InputError, match="feature pupil has no values"):
        estimated_transitions(empty, "pupil")
    with pytest.raises(InputError, match="did you mean 'pupil'"):
        estimated_transitions(table, "pupl")
