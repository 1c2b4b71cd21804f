"""The choice of the cap m by Liu et al. (2019), Algorithm 1, in one pass over the counts.

It reads the data, so that a release which uses it does not hold what it promises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Floats


def expected_mse(counts: PersonCounts, sigma_star: float) -> tuple[Floats, Floats]:
    """Every cap m = 1…g_max, and the expected squared error of a map with it (Theorem 4.1).

    Args:
        counts: individual gaze maps, of whole numbers.
        sigma_star: the noise factor σ*: a map with cap m has noise of standard deviation m·σ*.

    >>> counts = PersonCounts.of_dense(np.array([[3.0, 1.0], [0.0, 1.0]]))
    >>> [values.tolist() for values in expected_mse(counts, 0.5)]
    [[1.0, 2.0, 3.0], [0.75, 1.125, 2.25]]
    """
    error = _CapError.of(counts, sigma_star)
    caps = np.arange(1.0, max(1.0, error.steps[-1]) + 1)
    return caps, error.at(caps)


def best_cap(counts: PersonCounts, sigma_star: float) -> int:
    """The cap with the least of `expected_mse`; how large the counts are does not matter for time.

    >>> best_cap(PersonCounts.of_dense(np.array([[9.0, 1.0], [0.0, 1.0]])), 0.5)
    3
    """
    error = _CapError.of(counts, sigma_star)
    caps = np.unique(np.maximum(error.candidates(), 1.0))
    return int(caps[np.argmin(error.at(caps))])


@dataclass(frozen=True)
class _CapError:
    """The expected squared error as a function of the cap.

    With B the number of people who look at a cell more than m times, and A their looks, what the
    cap cuts off a cell is (A - m·B)/N. From one count that occurs to the next, A and B stay what
    they are, so that the error is a parabola there.

    Attributes:
        steps: the counts that occur, from 0, increasing.
        squares: sums of A², A·B and B² over cells at a cap from each of them on.
        noise: r·N²·σ*².
        scale: r·N².
    """

    steps: Floats
    squares: tuple[Floats, Floats, Floats]
    noise: float
    scale: float

    @classmethod
    def of(cls, counts: PersonCounts, sigma_star: float) -> _CapError:
        if not (math.isfinite(sigma_star) and sigma_star >= 0):
            raise InputError(f"the noise factor must be 0 or more, got {sigma_star}")
        if np.any(counts.count % 1):
            raise InputError(
                "Algorithm 1 is about whole counts, and these are not: weigh every look the same"
            )
        order = np.lexsort((-counts.count, counts.cell))
        cell, count = counts.cell[order], counts.count[order]
        # Within a cell from the largest count down: A and B with each person added.
        entry = np.arange(1.0, len(cell) + 1)
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        lengths = np.diff(first, append=len(cell))
        more = entry - np.repeat(entry[first] - 1, lengths)
        sums = np.cumsum(count)
        points = sums - np.repeat(sums[first] - count[first], lengths)
        fewer, without = more - 1, points - count
        steps, step = np.unique(np.append(0.0, count), return_inverse=True)

        def beyond(added: Floats) -> Floats:
            """What people with a larger count add, for each count that occurs."""
            of_step = np.bincount(step[1:], weights=added, minlength=len(steps))
            return np.append(np.cumsum(of_step[:0:-1])[::-1], 0.0)

        squares = (
            beyond(points**2 - without**2),
            beyond(points * more - without * fewer),
            beyond(more**2 - fewer**2),
        )
        scale = counts.cells * float(counts.people) ** 2
        return cls(steps, squares, scale * sigma_star**2, scale)

    def at(self, caps: Floats) -> Floats:
        step = np.searchsorted(self.steps, caps, side="right") - 1
        points, mixed, people = (square[step] for square in self.squares)
        cut = points - 2 * caps * mixed + caps**2 * people
        return (caps**2 * self.noise + cut) / self.scale

    def candidates(self) -> Floats:
        """Caps of which one is the best: ends of the parabolas, and whole numbers by their feet."""
        _, mixed, people = self.squares
        steep = people + self.noise
        foot = np.divide(mixed, steep, out=np.zeros_like(mixed), where=steep > 0)
        ends = np.append(self.steps[1:], self.steps[-1])
        near = [np.clip(around, self.steps, ends) for around in (np.floor(foot), np.ceil(foot))]
        return np.concatenate([self.steps, *near])
