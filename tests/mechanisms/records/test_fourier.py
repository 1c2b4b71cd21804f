"""The first Fourier coefficients, against scipy and against a plain sum over values."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.mechanisms.records.fourier import (
    coordinates_of_first,
    distinct,
    first_coefficients,
    frequencies_of_first,
    from_first_coefficients,
    l1_of_first,
)

lengths = st.integers(1, 40)


def plain_coefficients(signal, k):
    """Real parts, then imaginary parts that are not zero for every signal, by the definition."""
    n = len(signal)
    kept = min(k, n // 2 + 1)
    turn = [[-2 * math.pi * m * i / n for i in range(n)] for m in range(kept)]
    real = [sum(x * math.cos(a) for x, a in zip(signal, row, strict=True)) for row in turn]
    imaginary = [
        sum(x * math.sin(a) for x, a in zip(signal, turn[m], strict=True))
        for m in range(1, kept)
        if 2 * m != n
    ]
    return real + imaginary


@given(lengths, st.integers(1, 40), st.integers(0, 1000))
def test_coefficients_are_those_of_the_definition(n, k, seed):
    signal = np.random.default_rng(seed).normal(size=n)
    found = first_coefficients(signal[:, None], k)[:, 0]
    wanted = plain_coefficients(signal.tolist(), k)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert len(wanted) == coordinates_of_first(k, n) == len(frequencies_of_first(k, n))


@given(lengths, st.integers(0, 1000))
def test_all_coefficients_give_the_signal_back(n, seed):
    signal = np.random.default_rng(seed).normal(size=(2, n, 3))
    again = from_first_coefficients(first_coefficients(signal, n), n)
    np.testing.assert_allclose(again, signal, atol=1e-9)


@given(lengths, st.integers(1, 40), st.integers(0, 1000))
def test_a_signal_of_so_many_coefficients_has_these_and_no_others(n, k, seed):
    count = coordinates_of_first(k, n)
    chosen = np.random.default_rng(seed).normal(size=(count, 2))
    signal = from_first_coefficients(chosen, n)
    np.testing.assert_allclose(first_coefficients(signal, k), chosen, atol=1e-9)
    everything = first_coefficients(signal, n)
    beyond = frequencies_of_first(n, n) >= distinct(k, n)
    np.testing.assert_allclose(everything[beyond], 0.0, atol=1e-9)


@pytest.mark.parametrize("n", [7, 8, 31, 64])
def test_what_is_kept_is_a_low_pass_by_scipy(n):
    import scipy.fft

    signal = np.random.default_rng(n).normal(size=n)
    k = n // 3
    spectrum = scipy.fft.fft(signal)
    spectrum[k : n - k + 1] = 0
    kept = from_first_coefficients(first_coefficients(signal[:, None], k), n)[:, 0]
    np.testing.assert_allclose(kept, scipy.fft.ifft(spectrum).real, atol=1e-12)


def test_mirror_images_are_measured_once():
    assert [distinct(k, 8) for k in (1, 4, 5, 6, 8)] == [1, 4, 5, 5, 5]
    assert [coordinates_of_first(k, 8) for k in (1, 4, 5, 8)] == [1, 7, 8, 8]
    assert [coordinates_of_first(k, 7) for k in (1, 4, 5, 7)] == [1, 7, 7, 7]


def test_the_printed_scale_is_right_up_to_the_middle_and_too_small_beyond():
    """THEORY's golden numbers: L1/(√(nk)·Δ₂) at n = 64."""
    ratios = [l1_of_first(k, 64) / math.sqrt(64 * k) for k in (10, 33, 64)]
    assert ratios == [pytest.approx(r, abs=5e-5) for r in (1.0, 1.0, 1.4031)]


@given(st.integers(1, 64), st.integers(2, 64))
def test_no_signal_of_norm_one_moves_more_than_the_l1_norm_and_one_moves_as_much(k, n):
    """The best signal for given signs of the parts is their sum of waves; mirrors count."""
    k = min(k, n)
    matrix = np.fft.fft(np.eye(n))[:, :k]
    parts = np.concatenate([matrix.real, matrix.imag], axis=1)
    rng = np.random.default_rng(k * 64 + n)
    signs = np.where(rng.random((200, 2 * k)) < 0.5, -1.0, 1.0)
    # Mirrored frequencies must point the same way to add up.
    frequency = np.arange(k)
    mirrored = frequency > n / 2
    signs[:, :k][:, mirrored] = signs[:, :k][:, n - frequency[mirrored]]
    signs[:, k:][:, mirrored] = -signs[:, k:][:, n - frequency[mirrored]]
    signals = signs @ parts.T
    signals = signals / np.linalg.norm(signals, axis=1, keepdims=True)
    reached = np.abs(signals @ parts).sum(axis=1).max() / l1_of_first(k, n)
    assert reached <= 1 + 1e-9
    assert reached >= 0.99


@pytest.mark.parametrize("n", range(1, 11))
def test_no_corner_of_the_box_moves_the_coefficients_more_than_is_declared(n):
    """The L1 norm is convex: over values in [−1, 1] its maximum is at a corner."""
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=n)))[:, :, None]
    for k in range(1, n + 1):
        moved = np.abs(first_coefficients(corners, k)).sum(axis=(1, 2)).max()
        declared = l1_of_first(distinct(k, n), n) * math.sqrt(n)
        assert moved <= declared * (1 + 1e-12)
        if k == 1:
            assert moved == pytest.approx(declared, rel=1e-12)
