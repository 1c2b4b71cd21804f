"""The first Fourier coefficients of real signals, as real coordinates, and how far they can move.

A real signal of n values has n//2 + 1 different coefficients; the others are their mirror images.
The first k give 2k − 1 real coordinates (the imaginary parts of the mean and of the highest
frequency of an even n are zero and are left out).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values


def distinct(k: int, length: int) -> int:
    """How many of the first k coefficients are different.

    >>> distinct(64, 64), distinct(10, 64)
    (33, 10)
    """
    return min(k, length // 2 + 1)


def coordinates_of_first(k: int, length: int) -> int:
    """How many real coordinates the first k different coefficients have.

    >>> coordinates_of_first(3, 64), coordinates_of_first(33, 64), coordinates_of_first(33, 65)
    (5, 64, 65)
    """
    return 2 * distinct(k, length) - 1 - (length % 2 == 0 and k > length // 2)


def frequencies_of_first(k: int, length: int) -> NDArray[np.int64]:
    """The frequency of each of these coordinates, in periods of the signal.

    >>> frequencies_of_first(3, 64).tolist()
    [0, 1, 2, 1, 2]
    """
    kept = distinct(k, length)
    imaginary = coordinates_of_first(k, length) - kept
    return np.concatenate([np.arange(kept), 1 + np.arange(imaginary)])


def first_coefficients(values: Values, k: int) -> Values:
    """Real parts, then imaginary parts, of the first k different coefficients, over axis −2.

    >>> first_coefficients(np.array([[1.0], [2.0], [4.0], [1.0]]), 2).ravel().round(6).tolist()
    [8.0, -3.0, -1.0]
    """
    length = values.shape[-2]
    kept = distinct(k, length)
    spectrum = np.fft.rfft(values, axis=-2)[..., :kept, :]
    imaginary = spectrum.imag[..., 1 : coordinates_of_first(k, length) - kept + 1, :]
    both: Values = np.concatenate([spectrum.real, imaginary], axis=-2)
    return both


def from_first_coefficients(coordinates: Values, length: int) -> Values:
    """The signal of so many values whose first coefficients these are, the others being zero."""
    count = coordinates.shape[-2]
    kept = (count + 2) // 2
    spectrum = coordinates[..., :kept, :].astype(np.complex128)
    spectrum[..., 1 : count - kept + 1, :] += 1j * coordinates[..., kept:, :]
    signal: Values = np.fft.irfft(spectrum, n=length, axis=-2)
    return signal


def l1_of_first(k: int, length: int) -> float:
    """The largest L1 norm of real and imaginary parts for a signal of L2 norm 1, mirrors and all.

    √n·√Σc², c the number of times that the first k of n coefficients show a frequency: √(nk) up to
    the middle, more beyond, where mirror images count again (what FPA prints is too little there).

    >>> [round(l1_of_first(k, 64) / math.sqrt(64 * k), 4) for k in (10, 33, 64)]
    [1.0, 1.0, 1.4031]
    """
    frequency = np.minimum(np.arange(k), length - np.arange(k))
    return math.sqrt(length * float((np.bincount(frequency) ** 2).sum()))
