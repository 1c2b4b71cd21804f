import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.papers.bozkir2021.fourier_noise import Pieces, Treatment, candidates, nmse


def plain_noisy(piece, draws, k, scale, treatment):
    """One piece made noisy as a person would write it down: transform, add, cut off, invert."""
    length = len(piece)
    spectrum = np.fft.rfft(np.diff(piece, prepend=0.0) if treatment.differenced else piece)
    first = 0 if treatment.noisy_mean else 1
    draw = iter(draws)
    for j in range(first, first + k):
        if j == 0 or 2 * j == length:
            spectrum[j] += scale * next(draw)
        else:
            spectrum[j] += scale * (next(draw) + 1j * next(draw))
    spectrum[first + k :] = 0
    noisy = np.fft.irfft(spectrum, n=length)
    return noisy.cumsum() if treatment.differenced else noisy


@given(
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
    st.floats(0.01, 100),
    st.integers(0, 2**32 - 1),
)
def test_errors_and_sums_are_those_of_the_noisy_piece(length, differenced, noisy, epsilon, seed):
    rng = np.random.default_rng(seed)
    treatment = Treatment(differenced, noisy)
    ks = [k for k in candidates(length, treatment) if k <= treatment.most(length)]
    if not ks:
        return
    values = rng.normal(3.0, 1.0, size=(2, 3, length))
    delta = rng.uniform(0.1, 5.0, size=3)
    draws = rng.laplace(size=(4, 2, 3, length))
    pieces = Pieces.of(values, treatment, ks, delta)
    squares, sums = pieces.outcome(pieces.respond(draws), epsilon)
    for run, person, feature, index in np.ndindex(4, 2, 3, len(ks)):
        scale = np.sqrt(length * ks[index]) * delta[feature] / epsilon
        x, z = values[person, feature], draws[run, person, feature]
        made = plain_noisy(x, z, ks[index], scale, treatment)
        at = (run, person, feature, index)
        assert squares[at] == pytest.approx(((made - x) ** 2).sum(), rel=1e-7, abs=1e-9)
        assert sums[at] == pytest.approx(made.sum(), rel=1e-7, abs=1e-7)


def test_the_chosen_candidates_are_picked_out():
    rng = np.random.default_rng(1)
    values, draws = rng.normal(size=(2, 3, 16)), rng.laplace(size=(5, 2, 3, 16))
    for differenced in (False, True):
        pieces = Pieces.of(values, Treatment(differenced), (1, 4, 9), np.ones(3))
        response = pieces.respond(draws)
        everything = pieces.outcome(response, 2.0)
        chosen = np.array([2, 0, 1])
        for whole, picked in zip(everything, pieces.outcome(response, 2.0, chosen), strict=True):
            np.testing.assert_allclose(picked, whole[:, :, np.arange(3), chosen])


def test_a_mean_without_noise_stays_where_it_is():
    values = np.random.default_rng(2).normal(size=(1, 1, 32))
    pieces = Pieces.of(values, Treatment(noisy_mean=False), (1, 5, 16), np.ones(1))
    draws = np.random.default_rng(3).laplace(size=(7, 1, 1, 32))
    _, sums = pieces.outcome(pieces.respond(draws), 0.1)
    np.testing.assert_allclose(sums, values.sum())


def test_nmse_is_that_of_the_audit(wandering):
    from eyelid.attacks.error import error_of
    from eyelid.mechanisms import mechanism
    from eyelid.papers.signals import signals_of
    from eyelid.privacy import randomness

    table = wandering()
    released = mechanism("lpa-paper", epsilon=50.0).apply(table, randomness(4))
    ours = []
    for x, y in zip(signals_of(table), signals_of(released), strict=True):
        squares = ((x.values - y.values) ** 2).sum(axis=2)
        ours.append(nmse(squares, y.values.sum(axis=2), x.values.sum(axis=2), 70.0))
    assert error_of(table, released).nmse == pytest.approx(np.mean(ours))


def test_candidates_are_powers_of_two_and_all():
    assert candidates(128, Treatment()) == (1, 2, 4, 8, 16, 32, 64, 65)
    assert candidates(32, Treatment(noisy_mean=False)) == (1, 2, 4, 8, 16)
    assert candidates(1, Treatment()) == candidates(1, Treatment(noisy_mean=False)) == (1,)
