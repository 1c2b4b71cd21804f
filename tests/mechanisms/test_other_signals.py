"""Nothing here is about eyes alone: head motion and heart rate through the same mechanisms."""

from dataclasses import fields

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import catalogue
from eyelid.privacy import PERSON, randomness
from eyelid.privacy.unit import Trust

PEOPLE, RECORDINGS, ROWS = 6, 2, 32
ADD_NOISE = [
    name for name, kind in catalogue().items() if kind.takes == "features" and kind.predictable
]
HAVE_NO_EPSILON = {
    "ksame": {"k": 3},
    "ksame-paper": {"k": 3},
    "marginals-paper": {"k": 3},
    "seeded": {"epsilon": 5.0, "test": "deterministic", "k": 2},
}
# Those that can release every value as it is, but for the noise, and how they are told to.
KEEP_EVERYTHING = {
    "laplace": {},
    "gaussian": {},
    "exponential": {},
    "fpa": {"k": ROWS},
    "cfpa": {"chunk": 8, "k": 8},
    "dcfpa": {"chunk": 8, "k": 8},
    "dct": {"k": ROWS, "epsilon": 2e4},
}


def head_motion():
    """Turning heads: angular velocities ten times a second, slow in the long run."""
    rng = np.random.default_rng(21)
    features = [
        Feature(
            f"{axis}_velocity", "deg/s", f"angular velocity of the head in {axis}", -width, width
        )
        for axis, width in (("yaw", 400.0), ("pitch", 300.0), ("roll", 250.0))
    ]
    jumps = rng.normal(0.0, 12.0, (PEOPLE, RECORDINGS, ROWS, 3))
    return table_from_arrays(np.cumsum(jumps, axis=2), features, step_ms=100.0)


def heart_rate():
    """Beating hearts: one row a second, one value missing in twenty."""
    rng = np.random.default_rng(22)
    features = [
        Feature("heart_rate", "1/min", "beats per minute", 30.0, 220.0),
        Feature("rmssd", "ms", "root mean square of successive RR differences", 0.0, 300.0),
    ]
    resting = rng.uniform([55.0, 20.0], [85.0, 80.0], (PEOPLE, 1, 1, 2))
    values = resting + rng.normal(0.0, [3.0, 6.0], (PEOPLE, RECORDINGS, ROWS, 2))
    values[rng.random(values.shape) < 0.05] = np.nan
    return table_from_arrays(values, features, step_ms=1000.0)


TABLES = pytest.mark.parametrize("made", [head_motion, heart_rate], ids=["head motion", "heart"])


@TABLES
@pytest.mark.parametrize("name", ADD_NOISE)
def test_every_mechanism_takes_signals_that_are_not_gaze(name, made):
    table, kind = made(), catalogue()[name]
    parameters = kind.games[0] | {"epsilon": 5.0}
    done = eyelid.release(table, mechanism=name, **parameters)
    released, certificate = done.table, done.certificate
    assert released.names == table.names
    assert released.step_ms == table.step_ms
    numbers = released.data.select(table.names)
    assert numbers.select(pl.all().is_finite().all()).row(0) == (True,) * len(table.names)
    recordings = RECORDINGS * (1 if certificate.guarantee.trust is Trust.CENTRAL else PEOPLE)
    assert released.recordings["rows"].to_list() == [ROWS] * recordings
    assert {f.name: (f.lower, f.upper) for f in released.features} == {
        f.name: (f.lower, f.upper) for f in table.features
    }
    assert certificate.guarantee.holds == kind.claims_to_hold
    assert certificate.how
    if kind.claims_to_hold:
        mechanism = kind(**parameters)
        promised = mechanism.cost(mechanism.facts(table), PERSON)
        assert certificate.person_level.epsilon == promised.epsilon == 5.0
        assert certificate.person_level.unit == PERSON


@TABLES
@pytest.mark.parametrize("name", list(KEEP_EVERYTHING))
def test_signals_come_back_when_next_to_no_noise_is_asked_for(name, made):
    table, kind = made(), catalogue()[name]
    mechanism = kind(**{"epsilon": 1e6} | KEEP_EVERYTHING[name])
    expected = mechanism.expected_rmse_of_span(mechanism.facts(table))
    released = mechanism.apply(table, randomness(9)).data
    assert released["time_ms"].equals(table.data["time_ms"])
    errors = []
    for feature in table.features:
        raw = table.data[feature.name].fill_nan((feature.lower + feature.upper) / 2)
        errors.append(((released[feature.name] - raw) / feature.span).to_numpy())
    assert expected < 0.1
    assert np.sqrt(np.square(errors).mean()) < 2 * expected


@TABLES
@pytest.mark.parametrize("name", ["fpa", "cfpa", "dcfpa"])
def test_a_private_number_of_coefficients_works_there_too(name, made):
    table = made()
    chunk = {} if name == "fpa" else {"chunk": 16}
    done = eyelid.release(table, mechanism=name, epsilon=5.0, k="private", **chunk)
    assert done.certificate.person_level.epsilon == 5.0
    assert done.certificate.parameters["choice_share"] == 0.1
    assert "with ε = 0.5 in total for one person" in done.certificate.noise["sampler"]
    assert done.table.data.select(pl.col(table.names).is_finite().all()).row(0) == (True,) * len(
        table.names
    )


def test_a_mechanism_s_parameters_speak_of_no_eyes():
    for name in (*ADD_NOISE, *HAVE_NO_EPSILON):
        for item in fields(catalogue()[name]):
            assert "gaze" not in item.metadata.get("help", "")


def test_all_that_do_not_only_add_noise_are_tried_too():
    others = {
        n for n, kind in catalogue().items() if kind.release.of_features and not kind.predictable
    }
    assert others == {*HAVE_NO_EPSILON, "synthetic"}


@TABLES
def test_people_are_made_up_of_other_signals_too(made):
    table = made()
    done = eyelid.release(table, mechanism="synthetic", epsilon=5.0, carry=len(table.names))
    assert done.table.names == table.names
    numbers = done.table.data.select(table.names)
    for feature in table.features:
        assert numbers[feature.name].is_between(feature.lower, feature.upper).all()
    assert done.certificate.guarantee.holds


@TABLES
@pytest.mark.parametrize("name", HAVE_NO_EPSILON)
def test_promises_without_an_epsilon_are_made_of_other_signals_too(name, made):
    table = made()
    done = eyelid.release(table, mechanism=name, **HAVE_NO_EPSILON[name])
    assert done.table.names == table.names
    numbers = done.table.data.select(table.names)
    for feature in table.features:
        assert numbers[feature.name].is_between(feature.lower, feature.upper).all()
    assert done.certificate.guarantee.holds == catalogue()[name].claims_to_hold
    assert done.certificate.to_dict()["person_level"]["epsilon"] is None
    assert done.certificate.guarantee.k == HAVE_NO_EPSILON[name]["k"]
