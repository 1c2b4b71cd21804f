"""The noise that is there against the noise that was declared: sound releases pass, faults do not.

Sound ones are found wanting less than once in a million tries; seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.override import override
from eyelid.attacks.residuals import examine, noise_objection
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.differential import noise_of
from eyelid.privacy import randomness

LAWS = [
    pytest.param("laplace", {}, id="laplace"),
    pytest.param("gaussian", {}, id="gaussian"),
    pytest.param("exponential", {}, id="exponential"),
    pytest.param("fpa", {}, id="fpa"),
    pytest.param("cfpa", {"unit": "chunk"}, id="cfpa"),
    pytest.param("dcfpa", {"chunk": 10}, id="dcfpa"),
    pytest.param("dct", {"k": 4}, id="dct"),
    pytest.param("envelope", {}, id="envelope"),
]
each_law = pytest.mark.parametrize(("name", "parameters"), LAWS)


@pytest.fixture(scope="module")
def table():
    """People with unequal recordings of many rows, and a gap."""
    values = np.random.default_rng(3).random((24, 3, 64, 4))
    values[2, 1, 5, 0] = np.nan
    features = [Feature(f"feature_{j}", "", "", -1.0, 2.0 + j) for j in range(4)]
    whole = table_from_arrays(values, features)
    row = pl.int_range(pl.len()).over("person", "recording")
    kept = (pl.col("person") != "3") | ((pl.col("recording") != "1") & (row < 50))
    return replace(whole, data=whole.data.filter(kept))


def with_draws(change):
    """A mechanism whose draws, people first, are changed before they are added."""

    def perturb(self, integers, facts, noise):
        draws = noise_of(self, facts).draw(integers.shape, noise)
        return integers + change(draws)

    return {"perturb": perturb}


@each_law
@pytest.mark.parametrize("length", ["shortest", "longest", 60])
@pytest.mark.parametrize("epsilon", [0.5, 50.0, 5000.0])
def test_a_sound_release_passes(name, parameters, length, epsilon, table):
    mechanism = mechanism_named(name, epsilon=epsilon, length=length, **parameters)
    assert noise_objection(mechanism, table, mechanism.apply(table, randomness(1))) is None


def without_some(draws):
    draws[..., 1, :] = 0
    return draws


def on_one_feature(draws):
    draws[..., 2] = draws[..., 1]
    return draws


@each_law
@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(lambda d: np.rint(0.6 * d).astype(int), "times the noise", id="less noise"),
        pytest.param(without_some, "next to no noise added", id="a coordinate without noise"),
        pytest.param(on_one_feature, "the same noise was added more than once", id="reused"),
        pytest.param(np.abs, "moved as a whole", id="one-sided"),
    ],
)
def test_faults_are_found(name, parameters, change, words, table):
    mechanism = mechanism_named(name, epsilon=50.0, **parameters)
    broken = override(mechanism, with_draws(change))
    assert words in (
        noise_objection(mechanism, table, broken.apply(table, randomness(2))) or "nothing"
    )


def test_a_release_in_another_order_is_read_as_well(table):
    mechanism = mechanism_named("fpa", epsilon=1.0)
    released = mechanism.apply(table, randomness(1))
    turned = released.data.select(pl.all().reverse()).sort("time_ms", maintain_order=True)
    assert turned["person"][0] == "23"
    assert noise_objection(mechanism, table, replace(released, data=turned)) is None


def test_missing_values_are_no_release(table):
    mechanism = mechanism_named("cfpa", epsilon=1.0)
    released = mechanism.apply(table, randomness(1))
    gaps = released.data.with_columns(pl.lit(None, pl.Float64).alias("feature_0"))
    found = noise_objection(mechanism, table, replace(released, data=gaps))
    assert found == "the release has values that no release has (missing or infinite ones)"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("fpa", {"k": "private"}), ("dct", {"law": "spherical"})],
    ids=["a chosen k", "noise of a whole vector"],
)
def test_what_cannot_be_read_off_is_not_judged(name, parameters, table):
    mechanism = mechanism_named(name, epsilon=1.0, **parameters)
    assert noise_objection(mechanism, table, mechanism.apply(table, randomness(1))) is None


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("laplace", {}), ("dct", {"k": 2}), ("groupmean", {"inner": "gaussian"})],
)
def test_the_noise_that_is_examined_is_that_of_the_output(name, parameters):
    mechanism = mechanism_named(name, epsilon=2.0, **parameters)
    as_it_came = override(mechanism, {"apply": lambda self, table, noise: self.present(table)})
    found = examine(as_it_came, randomness(1), declared=mechanism)
    assert found.missing == found.draws
    assert found.refuted

    def twice(self, table, noise):
        one, other = (self.perturbed(table, noise) for _ in range(2))
        means = [(pl.col(n) + other.data[n]) / 2 for n in one.names]
        return replace(one, data=one.data.with_columns(means))

    halved = examine(override(mechanism, {"apply": twice}), randomness(1), declared=mechanism)
    assert halved.missing == 0
    assert halved.spread > 6
