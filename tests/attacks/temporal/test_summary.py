"""What a report says about time."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr

from eyelid.attacks.temporal import (
    autoregressive_transitions,
    estimated_transitions,
    overlap_transitions,
    release_summary,
    temporal_correlations,
    temporal_summary,
)
from eyelid.attacks.temporal.summary import NOT_PUBLIC
from eyelid.errors import InputError
from eyelid.mechanisms import mechanism_named


def test_without_a_release_there_is_correlation_alone(make_table):
    table = make_table()
    found = temporal_summary(table)
    assert found.correlations.equals(temporal_correlations(table))
    assert found.leakage is found.worst is found.supremum is found.transitions is None
    assert found.to_dict()["leakage"] is None


def test_a_study_of_features_or_of_recordings_is_taken_like_its_table(simulated, simulated_table):
    mechanism = mechanism_named("laplace", epsilon=1.0)
    facts = mechanism.facts(simulated_table)
    asked = (
        lambda source: temporal_correlations(source, longest_delta_t=3).to_dicts(),
        lambda source: temporal_summary(source, longest_delta_t=3).to_dict(),
        lambda source: release_summary(source, mechanism, facts).to_dict(),
        lambda source: overlap_transitions(source).matrix.tolist(),
        lambda source: estimated_transitions(source, "blink_rate").matrix.tolist(),
    )
    for ask in asked:
        assert ask(simulated_table.study()) == ask(simulated_table)
    assert asked[0](simulated) == asked[0](simulated_table)


def test_the_leakage_of_a_release_stands_beside_the_sum_of_its_epsilons(make_table):
    found = temporal_summary(make_table(), 0.1, autoregressive_transitions(0.6), steps=200)
    said = found.to_dict()["leakage"]
    assert said["worst"] == pytest.approx(0.724627, abs=1e-6)
    assert said["supremum"] == pytest.approx(0.724627, abs=1e-6)
    assert said["sum_of_epsilons"] == pytest.approx(20)
    assert said["public"] is True
    assert said["steps"] == 200
    json.dumps(found.to_dict(), allow_nan=False)


def test_steps_may_have_their_own_epsilons(make_table):
    found = temporal_summary(make_table(), [0.1, 0.3], autoregressive_transitions(0.6))
    assert len(found.leakage) == 2
    assert found.to_dict()["leakage"]["epsilon"] == 0.3
    assert found.worst <= found.supremum


def test_a_matrix_from_the_data_is_marked_wherever_it_is_used(make_table):
    table = make_table()
    private = temporal_summary(table, 0.1, estimated_transitions(table, "pupil"), steps=5)
    public = temporal_summary(table, 0.1, autoregressive_transitions(0.5), steps=5)
    assert NOT_PUBLIC in private.notes
    assert NOT_PUBLIC not in public.notes
    assert private.to_dict()["leakage"]["public"] is False
    assert NOT_PUBLIC in private.to_dict()["notes"]


def test_overlapping_windows_imply_a_public_chain(simulated_table):
    table = replace(simulated_table, step_ms=500.0, window_ms=30_000.0)
    chain = overlap_transitions(table)
    assert chain.public
    assert chain.matrix == pytest.approx(autoregressive_transitions(59 / 60).matrix, abs=1e-12)
    assert np.array_equal(temporal_summary(table, 0.1, steps=3).transitions.matrix, chain.matrix)


@pytest.mark.parametrize("window_ms", [None, 500.0])
def test_rows_that_share_nothing_need_a_chain(make_table, window_ms):
    with pytest.raises(InputError, match="no overlapping windows: give the transitions"):
        temporal_summary(replace(make_table(), window_ms=window_ms), 0.1, steps=3)


def test_chance_is_what_independent_values_give(make_table):
    """10 000 coefficients of 12 people, but all with the same fifth row: within 10%."""
    table = make_table(people=12, recordings=1, rows=5005, seed=8)
    found = temporal_summary(table, longest_delta_t=None).tasks.row(0, named=True)
    assert found["raw"] == pytest.approx(found["by_chance"], rel=0.1)
    rng = np.random.default_rng(2)
    sizes = [abs(pearsonr(*rng.normal(size=(2, 12))).statistic) for _ in range(4000)]
    # The standard error is 0.003.
    assert found["by_chance"] == pytest.approx(np.mean(sizes), abs=0.015)
