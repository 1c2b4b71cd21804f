"""Where the eye goes next: saccades of a person's sizes and directions, to places that draw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from eyelid.gaze.generator.parameters import Floats

CANDIDATES = 12
"""So many directions are thought of for every saccade; places decide among them."""
_LEAST_LOG_SD = 0.15
_SMALLEST_DEG, _LARGEST_DEG = 0.05, 60.0
# Directions scatter around right, left, up and down.
_SCATTER_DEG = {"reading": 10.0, "scene": 22.0, "search": 24.0}
# Sizes are log-normal but for so many that are of a kind of their own: far larger ones, or smaller,
# as far as their skewness asks for.
_OTHER_SHARE = 1.0 / 6.0
_MOST_OTHER_VARIANCE = 0.85
# How much likelier a movement is that goes on as the last one did, and one that goes back; pictures
# are looked at with both more often than chance (Smith & Henderson 2009), searches go on.
_ON = {"reading": 1.0, "scene": 1.3, "search": 1.6}
_BACK = {"reading": 1.0, "scene": 1.4, "search": 0.8}

# Who never came back would leave everything behind, so every saccade may also go the other way, but
# only where nothing else is any good.
_TURNED_BACK = 0.001

Density = Callable[[Floats, Floats], Floats]


class Steps(NamedTuple):
    """What a path may do: a size for every saccade, and directions it could have.

    Attributes:
        right: of each saccade and candidate, degrees.
        up: likewise.
        choice: uniform numbers that choose.
    """

    right: Floats
    up: Floats
    choice: Floats


def steps(
    amplitude_deg: Floats, values: dict[str, float], movement: str, rng: np.random.Generator
) -> Steps:
    """Candidates for every saccade of a recording, by a person's shares of directions.

    Without places all candidates have the same size, so that nothing changes how sizes are
    distributed; where places draw the eye they have sizes of their own.

    A direction's share depends on the size: leftward saccades may be larger than rightward ones
    (``sweep``), and then large ones go left.

    Args:
        amplitude_deg: of every saccade, one for all candidates or one for each.
        values: of the parameters, in their units.
        movement: the kind of movement.
        rng: source of randomness.
    """
    count = len(amplitude_deg)
    shares, offsets, spread = _directions(values)
    away = np.log(amplitude_deg) - np.log(values["saccade_amplitude_deg"])
    apart = _apart(values["saccade_skew"])
    likely = shares * _two_kinds_density((away[..., np.newaxis] - offsets) / spread, apart)
    bars = np.cumsum(likely, axis=-1)
    draws = rng.random((count, CANDIDATES)) * bars[..., -1]
    kind = (draws[..., np.newaxis] > bars[..., :-1]).sum(axis=-1)
    scatter = rng.standard_normal((count, CANDIDATES)) * _SCATTER_DEG[movement]
    angle = np.radians(np.array([0.0, 180.0, 90.0, -90.0])[kind] + np.clip(scatter, -44.9, 44.9))
    right, up = amplitude_deg * np.cos(angle), amplitude_deg * np.sin(angle)
    right[:, -1], up[:, -1] = -right[:, 0], up[:, 0]
    return Steps(right, up, rng.random(count))


def amplitudes(count: int, each: int, values: dict[str, float], rng: np.random.Generator) -> Floats:
    """Sizes of saccades, so many for each: a mixture over directions, log-normal of two kinds."""
    shares, offsets, spread = _directions(values)
    kind = rng.choice(len(shares), size=(count, each), p=shares)
    logs = np.log(values["saccade_amplitude_deg"]) + offsets[kind]
    apart = _apart(values["saccade_skew"])
    sizes = np.exp(logs + spread * _two_kinds((count, each), apart, rng))
    return np.asarray(np.clip(sizes, _SMALLEST_DEG, _LARGEST_DEG))


def tailed(size: int | tuple[int, ...], tail: float, rng: np.random.Generator) -> Floats:
    """Numbers of mean 0 and variance 1, normal but for an exponential part to the right.

    Args:
        size: how many.
        tail: standard deviation of the exponential part, 0 to 1; the skewness is 2·tail³.
        rng: source of randomness.
    """
    exponential = rng.standard_exponential(size) - 1.0
    return np.asarray(np.sqrt(1.0 - tail**2) * rng.standard_normal(size) + tail * exponential)


def _two_kinds(size: tuple[int, ...], apart: float, rng: np.random.Generator) -> Floats:
    """Numbers of mean 0 and variance 1: normal, some of them so much farther right."""
    centre, width = _shape(apart)
    beyond = rng.random(size) < _OTHER_SHARE
    return np.asarray(centre + apart * beyond + width * rng.standard_normal(size))


def _two_kinds_density(values: Floats, apart: float) -> Floats:
    """The density of `_two_kinds`, but for a factor."""
    centre, width = _shape(apart)

    def bell(middle: float) -> Floats:
        return np.asarray(np.exp(-0.5 * np.minimum(((values - middle) / width) ** 2, 1000.0)))

    return (1.0 - _OTHER_SHARE) * bell(centre) + _OTHER_SHARE * bell(centre + apart)


def _apart(skewness: float) -> float:
    """How far the two kinds lie apart, in standard deviations of both together."""
    share = _OTHER_SHARE
    apart = np.cbrt(skewness / (share * (1.0 - share) * (1.0 - 2.0 * share)))
    most = np.sqrt(_MOST_OTHER_VARIANCE / (share * (1.0 - share)))
    return float(np.clip(apart, -most, most))


def _shape(apart: float) -> tuple[float, float]:
    """Where the commoner kind is, and how far both scatter."""
    share = _OTHER_SHARE
    return -share * apart, float(np.sqrt(1.0 - share * (1.0 - share) * apart**2))


def _directions(values: dict[str, float]) -> tuple[Floats, Floats, float]:
    """Shares of right, left, up and down, how their mean log sizes differ, and the spread."""
    flat = np.array([values["rightward_share"], values["leftward_share"]])
    flat = flat * min(1.0, 0.98 / max(flat.sum(), 1e-9))
    shares = np.r_[flat, np.full(2, (1.0 - flat.sum()) / 2)]
    offsets = np.zeros(4)
    offsets[:2] = values["sweep"] * np.array([-flat[1], flat[0]]) / max(flat.sum(), 1e-9)
    rest = values["saccade_log_sd"] ** 2 - float((shares * offsets**2).sum())
    return shares, offsets, max(rest, _LEAST_LOG_SD**2) ** 0.5


def walked(
    wanted: Sequence[Steps], density: Sequence[Density], starts: Floats, movement: Sequence[str]
) -> list[tuple[Floats, Floats]]:
    """The fixations of several recordings, all of them a step at a time.

    Args:
        wanted: of each recording.
        density: of each, how places draw the eye, by degrees right and up.
        starts: of each, where its first fixation is.
        movement: of each, its kind.
    """
    longest = max(len(one.choice) for one in wanted)
    size = len(wanted)
    right, up = (np.ones((longest, size, CANDIDATES)) for _ in range(2))
    choice = np.zeros((longest, size))
    for n, path in enumerate(wanted):
        right[: len(path.choice), n], up[: len(path.choice), n] = path.right, path.up
        choice[: len(path.choice), n] = path.choice
    on, back = (np.array([table[kind] for kind in movement])[:, None] for table in (_ON, _BACK))
    same = [
        [n for n, other in enumerate(density) if other is one] for one in dict.fromkeys(density)
    ]
    unlike = [(density[some[0]], np.array(some)) for some in same]
    places = np.empty((longest + 1, size, 2))
    places[0] = starts
    last = np.zeros((size, 2))
    every = np.arange(size)
    for step in range(longest):
        x = places[step, :, :1] + right[step]
        y = places[step, :, 1:] + up[step]
        weight = np.empty_like(x)
        for of, some in unlike:
            weight[some] = of(x[some], y[some])
        length = np.hypot(right[step], up[step])
        along = (right[step] * last[:, :1] + up[step] * last[:, 1:]) / length
        weight[:, -1] *= _TURNED_BACK
        weight *= np.where(along > 0.7, on, np.where(along < -0.7, back, 1.0))
        bars = np.cumsum(weight, axis=1)
        picked = (choice[step][:, None] * bars[:, -1:] >= bars).sum(axis=1)
        picked = np.minimum(picked, CANDIDATES - 1)
        places[step + 1, :, 0], places[step + 1, :, 1] = x[every, picked], y[every, picked]
        moved = places[step + 1] - places[step]
        last = moved / np.maximum(np.hypot(moved[:, 0], moved[:, 1]), 1e-9)[:, None]
    return [
        (places[: len(path.choice), n, 0].copy(), places[: len(path.choice), n, 1].copy())
        for n, path in enumerate(wanted)
    ]
