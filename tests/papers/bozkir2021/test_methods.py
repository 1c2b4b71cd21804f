"""The paper's noise, for many runs: what it keeps, how wide it is, which k it takes."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.papers.bozkir2021.methods import KEPT, Method, best_k, noisy, without_signals
from eyelid.papers.bozkir2021.printed import METHODS
from eyelid.papers.signals import signals_of


@pytest.mark.parametrize("name", METHODS)
def test_each_method_is_one_of_the_catalogue(name):
    method = Method.called(name)
    mechanism = method.mechanism(4.8, runs=2)
    assert mechanism.name == f"{name.partition('-')[0].lower()}-paper"
    assert getattr(mechanism, "chunk", None) == method.chunk
    assert not mechanism.claims_to_hold


@pytest.mark.parametrize("family", ["FPA", "CFPA-16"])
def test_a_mean_without_noise_is_released_as_it_is(family, make_source):
    task = next(signals_of(make_source().table))
    method = Method.called(f"{family}, {KEPT}")
    assert (method.name, method.row) == (family, f"{family}, {KEPT}")
    noise = method.noise_of(task)
    release = noisy(noise, np.zeros(noise.sensitivity.shape, dtype=np.intp), 0.01, [1])
    assert np.abs(release - task.values).max() > 100
    assert release.mean(axis=2) == pytest.approx(task.values.mean(axis=2))


def test_what_is_left_without_the_noise_is_the_mean_when_k_is_one(make_source):
    task = next(signals_of(make_source().table))
    first = np.zeros((task.values.shape[1], 1), dtype=np.intp)
    noise = Method("FPA").noise_of(task)
    signal = noisy(noise, first, 0.1, [1, 2]) - noisy(without_signals(noise), first, 0.1, [1, 2])
    means = task.values.mean(axis=2, keepdims=True)
    assert signal == pytest.approx(np.broadcast_to(means, signal.shape))


def test_noise_alone_has_the_printed_scale(table_of):
    # Two people 1 apart all the time: Δ₂ = √16, so that Lap(√16·4/ε) / 16 is added to each value.
    values = np.zeros((2, 1, 16, 1))
    values[1] = 1.0
    task = next(signals_of(table_of(values)))
    chosen = np.zeros((1, 1), dtype=np.intp)
    nothing = without_signals(Method("FPA").noise_of(task))
    drawn = [noisy(nothing, chosen, 0.5, [seed]) for seed in range(1000)]
    constant = np.array(drawn)[:, :, 0, :]
    assert np.ptp(constant, axis=2) == pytest.approx(0, abs=1e-9)
    # The variance of 2000 Laplace draws is within 5% of its value, five standard errors are 25%.
    scale = 4 * 4 / 0.5 / 16
    assert constant[..., 0].var() == pytest.approx(2 * scale**2, rel=0.25)


def test_little_noise_takes_many_coefficients_and_much_noise_takes_one(make_source):
    task = next(signals_of(make_source(rows=32).table))
    chosen = best_k(Method("FPA"), task, (1e-3, 1e6), 3, [1])
    assert chosen.shape == (2, task.values.shape[1], 1)
    assert chosen[0].max() == 0
    assert chosen[1].min() >= 4
