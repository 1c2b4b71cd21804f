"""What a mechanism's release tells about one moment, from public facts."""

from dataclasses import replace

import numpy as np
import pytest

from eyelid.attacks.temporal import (
    autoregressive_covariance,
    autoregressive_transitions,
    gaussian_belief,
    independent_steps,
    leakage,
    release_summary,
)
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.privacy.unit import RECORD, RECORDING

SHAPE = PublicFacts(people=20, recordings=3, length=100, features=4)


@pytest.mark.parametrize(
    ("name", "parameters", "what", "count"),
    [
        ("laplace", {"unit": "person"}, "row", 100),
        ("laplace", {"unit": "record"}, "row", 100),
        ("exponential", {"unit": "chunk:100"}, "row", 100),
        ("cfpa", {"unit": "chunk"}, "chunk of 32 rows", 4),
        ("cfpa", {"unit": "person", "k": "private"}, "chunk of 32 rows", 4),
        ("dcfpa", {"unit": "recording", "chunk": 50}, "chunk of 50 rows", 2),
    ],
)
def test_rows_and_chunks_share_what_a_recording_costs(name, parameters, what, count):
    mechanism = mechanism_named(name, epsilon=2.0, **parameters)
    steps = independent_steps(mechanism, SHAPE)
    assert (steps.what, steps.count) == (what, count)
    assert steps.count * steps.epsilon == pytest.approx(mechanism.cost(SHAPE, RECORDING).epsilon)


@pytest.mark.parametrize("name", ["gaussian", "fpa", "dct", "groupmean", "prewindow"])
def test_no_leakage_is_stated_where_steps_have_no_pure_epsilon_of_their_own(name):
    assert independent_steps(mechanism_named(name, epsilon=1.0), SHAPE) is None


def test_the_epsilon_of_a_row_is_the_one_of_its_certificate():
    mechanism = mechanism_named("laplace", epsilon=0.5, unit="record")
    assert (
        independent_steps(mechanism, SHAPE).epsilon == mechanism.cost(SHAPE, RECORD).epsilon == 0.5
    )


def test_a_gaussian_belief_follows_the_formula_of_the_theory():
    """μ′ as THEORY writes it, one value after the other."""
    mechanism, correlation, n = mechanism_named("gaussian", epsilon=2.0, delta=1e-5), 0.9, 30
    facts = replace(SHAPE, length=n)
    found = gaussian_belief(mechanism, facts, correlation)
    sigma = noise_of(mechanism, facts).scale * mechanism.step(facts)
    prior = autoregressive_covariance(correlation, n, 1 / 12)
    expected = []
    for i in range(n):
        v = prior[:, i] / prior[i, i]
        rest = prior - np.outer(prior[:, i], prior[i]) / prior[i, i] + sigma**2 * np.eye(n)
        expected.append(np.sqrt(v @ np.linalg.solve(rest, v)))
    assert found.mu_dependent == pytest.approx(max(expected), rel=1e-6)
    assert found.mu_alone == pytest.approx(1 / sigma, rel=1e-6)
    # A value is one of 4·30·3 that a person's μ covers.
    assert found.mu_alone == pytest.approx(mechanism.mu(facts) / np.sqrt(360), rel=1e-6)
    assert found.delta == 1e-5
    assert found.epsilon_dependent > found.epsilon_alone > 0


def test_independent_rows_tell_nothing_about_each_other():
    found = gaussian_belief(mechanism_named("gaussian", epsilon=2.0), SHAPE, 0.0)
    assert found.mu_dependent == pytest.approx(found.mu_alone, rel=1e-6)


@pytest.mark.parametrize("name", ["dct", "envelope"])
def test_cosines_tell_about_a_value_what_their_rows_say(name):
    """The same formula, with the cosines written out and the noise of each."""
    mechanism, correlation, n = mechanism_named(name, epsilon=8.0, delta=1e-5, k=6), 0.95, 40
    facts = replace(SHAPE, length=n)
    found = gaussian_belief(mechanism, facts, correlation)
    row, order = np.arange(n), np.arange(6)[:, None]
    query = np.sqrt(2 / n) * np.cos(np.pi * (2 * row + 1) * order / (2 * n))
    query[0] /= np.sqrt(2)
    sigma = (
        np.ravel(np.broadcast_to(mechanism.step(facts), (6, 1))) * noise_of(mechanism, facts).scale
    )
    noise = np.diag(sigma**2)
    prior = autoregressive_covariance(correlation, n, 1 / 12)
    expected = []
    for i in range(n):
        v = query @ prior[:, i] / prior[i, i]
        rest = query @ (prior - np.outer(prior[:, i], prior[i]) / prior[i, i]) @ query.T + noise
        expected.append(np.sqrt(v @ np.linalg.solve(rest, v)))
    assert found.mu_dependent == pytest.approx(max(expected), rel=1e-4)
    alone = np.sqrt(((query / sigma[:, None]) ** 2).sum(axis=0))
    assert found.mu_alone == pytest.approx(alone.max(), rel=1e-4)


@pytest.mark.parametrize("name", ["laplace", "fpa", "cfpa", "exponential", "groupmean"])
def test_other_noise_has_no_gaussian_belief(name):
    assert gaussian_belief(mechanism_named(name, epsilon=1.0), SHAPE, 0.9) is None


def test_recordings_too_long_to_compute_it_have_none():
    mechanism = mechanism_named("gaussian", epsilon=1.0)
    assert gaussian_belief(mechanism, replace(SHAPE, length=5000), 0.9) is None


def test_a_release_of_overlapping_windows_leaks_nearly_all_of_a_recording(simulated_table):
    mechanism = mechanism_named("laplace", epsilon=1.0)
    facts = mechanism.facts(simulated_table)
    found = release_summary(simulated_table, mechanism, facts)
    whole = mechanism.cost(facts, RECORDING).epsilon
    assert 0.99 * whole < found.worst <= whole * (1 + 1e-9)
    assert found.step == "row"
    said = found.to_dict()
    assert said["gaussian_prior"] is None
    assert said["leakage"]["step"] == "row"
    weaker = leakage(
        autoregressive_transitions(0.6).matrix, whole / facts.length, steps=facts.length
    )
    assert said["leakage"]["others"][1]["worst"] == pytest.approx(weaker["total"].max())


def test_rows_that_do_not_overlap_are_believed_to_be_correlated_all_the_same(make_table):
    table = make_table()
    found = release_summary(
        table, mechanism := mechanism_named("laplace", epsilon=1.0), mechanism.facts(table)
    )
    assert found.transitions.source == "AR(1) process with correlation 0.9"
    assert found.transitions.public


def test_gaussian_releases_state_a_belief_instead_of_leakage(make_table):
    table = make_table()
    found = release_summary(
        table, mechanism := mechanism_named("gaussian", epsilon=1.0), mechanism.facts(table)
    )
    assert found.leakage is None
    said = found.to_dict()
    assert said["leakage"] is None
    assert said["gaussian_prior"]["epsilon_dependent"] > said["gaussian_prior"]["epsilon_alone"]


def test_of_the_data_no_more_than_two_digits_are_told(simulated_table):
    mechanism = mechanism_named("laplace", epsilon=1.0)
    said = release_summary(simulated_table, mechanism, mechanism.facts(simulated_table)).to_dict()
    for task in said["correlation"]:
        for name in ("raw", "difference", "by_chance"):
            assert task[name] == float(f"{task[name]:.2g}")
