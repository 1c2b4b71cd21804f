"""Random convolutions in whole numbers: the same figures from numpy and from numba.

Paper: Dempster, Schmidt & Webb 2021, MiniROCKET. 84 kernels of length 9, six weights of −1 and
three of 2, so that what is constant counts nothing; dilated; thresholds are quantiles of what the
kernels give on training data; a feature is the share of a window above its threshold. Other than
there, windows are not padded, and every channel is convolved by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int32]
Counts = NDArray[np.int32]

TAPS = 9
PLACES = np.array(list(itertools.combinations(range(TAPS), 3)), dtype=np.int64)
"""Where each of the 84 kernels has its weights of 2."""

# A tenth of values is farther out than this many whole numbers; what is beyond them is cut.
UNIT, FARTHEST = 1000, 1_000_000
_DILATIONS, _THRESHOLDS = 6, 3
# Of the training windows, to read quantiles off.
_SAMPLE, _EACH = 200, 8
# The longest kernel spans this much of a window.
_SPAN = 0.8
_BATCH = 128
_GOLDEN = (np.sqrt(5.0) + 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class Kernels:
    """Kernels with thresholds that were read off training data.

    Attributes:
        scale: of each channel: what one whole number is.
        dilations: steps between the taps.
        thresholds: channels × dilations × kernels × thresholds.
    """

    scale: NDArray[np.float64]
    dilations: NDArray[np.int64]
    thresholds: Whole

    @classmethod
    def of(cls, windows: NDArray[np.float32], seed: int) -> Kernels:
        """Kernels for windows like these.

        Args:
            windows: windows × channels × samples, of training data only.
            seed: of which of them quantiles are read off.
        """
        rng = np.random.default_rng([seed, *b"kernels"])
        picked = windows[rng.permutation(len(windows))[:_SAMPLE]]
        away = np.abs(picked - np.median(picked, axis=(0, 2), keepdims=True))
        scale = np.quantile(away, 0.9, axis=(0, 2)).astype(np.float64) / UNIT
        # A channel that stands still is nothing but zeros.
        scale = np.where(scale > 0, scale, 1.0)
        spread = np.linspace(0.0, np.log2(_SPAN * (windows.shape[2] - 1) / (TAPS - 1)), _DILATIONS)
        dilations = np.unique(np.floor(2**spread)).astype(np.int64)
        shape = (windows.shape[1], len(dilations), len(PLACES), _THRESHOLDS)
        whole = whole_numbers(picked, scale)
        thresholds = np.empty(shape, dtype=np.int32)
        level = 0
        for channel, step, kernel in np.ndindex(*shape[:3]):
            some = whole[rng.integers(0, len(whole), _EACH), channel].T
            dilation = int(dilations[step])
            found = _convolved(some, dilation, PLACES[kernel], _summed(some, dilation))
            quantiles = (np.arange(level + 1, level + 1 + _THRESHOLDS) * _GOLDEN) % 1.0
            thresholds[channel, step, kernel] = np.floor(np.quantile(found, quantiles))
            level += _THRESHOLDS
        return cls(scale, dilations, thresholds)

    def shares(self, windows: NDArray[np.float32], fast: bool | None = None) -> NDArray[np.float32]:
        """The share of each window above each threshold: windows × features.

        Args:
            windows: windows × channels × samples.
            fast: whether numba is to count; by default where it is installed.
        """
        count = _counter(fast)
        whole = whole_numbers(windows, self.scale)
        length = windows.shape[2]
        lengths = (length - (TAPS - 1) * self.dilations).astype(np.float32)[:, None, None]
        each = []
        for channel, thresholds in enumerate(self.thresholds):
            counts = count(np.ascontiguousarray(whole[:, channel]), self.dilations, thresholds)
            shares = counts.astype(np.float32) / lengths
            each.append(shares.reshape(len(windows), -1))
        return np.concatenate(each, axis=1)


def whole_numbers(windows: NDArray[np.float32], scale: NDArray[np.float64]) -> Whole:
    """Signals in whole numbers, which add up alike in any order."""
    scaled = np.rint(windows / scale.astype(np.float32)[:, None])
    return np.asarray(np.clip(scaled, -FARTHEST, FARTHEST).astype(np.int32))


def count_with_numpy(signal: Whole, dilations: NDArray[np.int64], thresholds: Whole) -> Counts:
    """How many places of each window lie above each threshold.

    Args:
        signal: windows × samples.
        dilations: steps between the taps.
        thresholds: dilations × kernels × thresholds.
    """
    counts = np.empty((len(signal), *thresholds.shape), dtype=np.int32)
    for start in range(0, len(signal), _BATCH):
        # Times first: what is counted then lies side by side.
        some = np.ascontiguousarray(signal[start : start + _BATCH].T)
        for step, dilation in enumerate(dilations.tolist()):
            summed = _summed(some, dilation)
            for kernel, places in enumerate(PLACES):
                found = _convolved(some, dilation, places, summed)
                for level, threshold in enumerate(thresholds[step, kernel]):
                    above = np.add.reduce(found > threshold, axis=0, dtype=np.int32)
                    counts[start : start + _BATCH, step, kernel, level] = above
    return counts


def _summed(signal: Whole, dilation: int) -> Whole:
    """The sum of all taps at every place: times × windows."""
    length = len(signal) - (TAPS - 1) * dilation
    total = np.zeros((length, signal.shape[1]), dtype=np.int32)
    for tap in range(TAPS):
        total += signal[tap * dilation : tap * dilation + length]
    return total


def _convolved(signal: Whole, dilation: int, places: NDArray[np.int64], summed: Whole) -> Whole:
    """One kernel at every place: thrice its three taps, less all nine."""
    length = len(summed)
    first, second, third = (signal[at : at + length] for at in places * dilation)
    return np.asarray(3 * (first + second + third) - summed)


def _counter(fast: bool | None) -> Callable[[Whole, NDArray[np.int64], Whole], Counts]:
    if fast is False:
        return count_with_numpy
    try:
        compiled = _compiled()
    except ImportError:
        if fast:
            raise
        return count_with_numpy

    def count(signal: Whole, dilations: NDArray[np.int64], thresholds: Whole) -> Counts:
        counts = np.empty((len(signal), *thresholds.shape), dtype=np.int32)
        compiled(signal, dilations, thresholds, PLACES, counts)
        return counts

    return count


@cache
def _compiled() -> Any:
    """`count_with_numpy`, compiled; it needs the extra ``fast``."""
    import numba

    def count(signal: Any, dilations: Any, thresholds: Any, places: Any, counts: Any) -> None:
        windows, samples = signal.shape
        steps, kernels, levels = thresholds.shape
        total = np.empty(samples, np.int32)
        found = np.empty(samples, np.int32)
        for window in range(windows):
            one = signal[window]
            for step in range(steps):
                dilation = dilations[step]
                length = samples - 8 * dilation
                summed, above = total[:length], found[:length]
                summed[:] = one[:length]
                for tap in range(1, 9):
                    shifted = one[tap * dilation : tap * dilation + length]
                    for at in range(length):
                        summed[at] += shifted[at]
                for kernel in range(kernels):
                    first = one[places[kernel, 0] * dilation :][:length]
                    second = one[places[kernel, 1] * dilation :][:length]
                    third = one[places[kernel, 2] * dilation :][:length]
                    for at in range(length):
                        taps = first[at] + second[at] + third[at]
                        above[at] = np.int32(3) * taps - summed[at]
                    for level in range(levels):
                        threshold = thresholds[step, kernel, level]
                        reached = np.int32(0)
                        for at in range(length):
                            reached = np.int32(reached + np.int32(above[at] > threshold))
                        counts[window, step, kernel, level] = reached

    compile_it: Any = numba.njit(nogil=True)
    return compile_it(count)
