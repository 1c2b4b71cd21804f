"""Exponential-DP that holds: Laplace noise of twice the scale that is needed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyelid
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import Shape, find, mechanism
from eyelid.privacy import PERSON, RECORDING, Unit, randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play


def build(**parameters):
    return mechanism("exponential", **{"epsilon": 1.0} | parameters)


def test_the_scale_is_twice_length_times_span_over_epsilon():
    """2·t_max·d/ε for one feature of one recording, t_max = 1200, in spans."""
    shape = Shape(20, 3, 1200, 4)
    law = build(epsilon=10.0, unit="chunk:1200")
    scale = law.noise(shape).scale * law.step(shape)
    assert scale == pytest.approx(2 * 1200 / 10, rel=1e-6)
    assert law.expected_rmse_of_span(shape) == pytest.approx(math.sqrt(2) * scale, rel=1e-6)
    assert law.cost(shape, PERSON).epsilon == 10.0 * 4 * 3
    assert law.cost(shape, RECORDING).epsilon == 10.0 * 4


@given(
    st.floats(1e-2, 1e3),
    st.integers(1, 6),
    st.integers(1, 2000),
    st.integers(1, 50),
    st.sampled_from(["person", "recording", "chunk:10"]),
)
def test_half_of_what_is_claimed_is_lost(epsilon, r, n, f, asked):
    shape = Shape(10, r, n, f)
    law = build(epsilon=epsilon, unit=asked)
    steps = 2 ** law.grid_bits(shape)
    for unit in (PERSON, RECORDING, Unit("chunk", 10)):
        loss = shape.values_of(unit) * steps / law.noise(shape).scale
        assert loss == pytest.approx(law.cost(shape, unit).epsilon / 2, rel=1e-3)
        assert loss <= law.cost(shape, unit).epsilon / 2 * (1 + 1e-12)


def test_the_game_finds_half_of_the_claim_and_no_more():
    """False alarms: 1e-6 a game; the seed is fixed."""
    law = build(**find("exponential").games[0])
    result = play(law, PERSON, 20_000, randomness(7))
    assert 0.6 * result.claimed / 2 < result.lower_bound <= result.claimed / 2


def test_planted_faults_are_caught():
    planted = {fault.name: fault for fault in mutants_of(find("exponential"))}
    runs = {"scale × 0.425": 50_000, "missing clip": 5_000, "chunk ε sold as person": 20_000}
    assert [name for name, n in runs.items() if not planted[name].caught(n, randomness(3))] == []


def test_a_release_states_the_person_s_total(make_table):
    done = eyelid.release(make_table(), mechanism="exponential", epsilon=1.0, unit="chunk:10")
    assert done.certificate.person_level.epsilon == 1.0 * 2 * 3
    assert "6 times one chunk:10" in done.certificate.how


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"unit": "chunk"}, "unit 'chunk' is not one: write it as chunk:LENGTH"),
        ({"unit": "chunk:0"}, "numbers must be positive"),
        ({"unit": "record"}, "exponential does not offer the unit 'record'"),
        ({"length": 0}, "length must be at least 1, got 0"),
        ({"k": 3}, "k"),
    ],
)
def test_what_cannot_be_is_said(parameters, message):
    with pytest.raises(EyelidError, match=message):
        build(**parameters)


def test_missing_values_sit_in_the_middle_and_bounds_are_needed():
    values = np.array([np.nan, -5.0, 99.0, 1.0]).reshape(1, 1, 4, 1)
    law = build(epsilon=1e6, unit="chunk:4")
    table = table_from_arrays(values, [Feature("rate", "", "", 0.0, 4.0)])
    released = law.apply(table, randomness(1)).data["rate"]
    np.testing.assert_allclose(released, [2, 0, 4, 1], atol=0.01)
    boundless = table_from_arrays(values, [Feature("rate", "", "", 0.0, math.inf)])
    with pytest.raises(InputError, match="rate has no public bounds"):
        law.apply(boundless, randomness(1))
