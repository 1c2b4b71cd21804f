"""What synthetic recordings are drawn after: of each parameter and place, the answers or the norm.

Everything here is made of what was measured and of public facts, and of nothing else of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.generator.parameters import LOG, MOVEMENTS, PARAMETERS, Parameter
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.statistics.ranges import Range

Floats = NDArray[np.float64]

WHOLE = float("inf")
"""In the place of a number of standard deviations: all of a parameter's public bounds."""
WIDER = 1.25
"""A norm's spread is taken so much wider: people of one study may differ more than those of the
norm."""
# Measured spreads within these multiples of the norm's are believed.
_NARROWEST, _WIDEST = 0.25, 2.5
_WORDS = {
    "reading": ("read", "text", "book", "newspaper", "comic", "story", "sentence", "page", "novel"),
    "search": ("search", "find", "target"),
}


@dataclass(frozen=True, eq=False)
class Portrait:
    """What the synthetic participants of everybody, or of a group, are drawn after.

    Attributes:
        people: how many synthetic participants there are.
        means: of each task its parameters, on their scales, by name.
        between: of each parameter the standard deviation between people, on its scale.
        places: of each slot, rows × columns that add up to 1; None where places are the norm's.
        group: its name; empty for everybody.
    """

    people: int
    means: tuple[Mapping[str, float], ...]
    between: Mapping[str, float]
    places: tuple[Floats | None, ...]
    group: str = ""
    within: Mapping[str, float] = field(
        default_factory=lambda: {each.name: each.within for each in PARAMETERS}
    )


def range_of(one: Parameter, k: float) -> Range:
    """Where people's values of a parameter are clipped to: the norm's mean ± k deviations.

    Args:
        one: the parameter.
        k: how many standard deviations, of people's single recordings, or `WHOLE`.
    """
    mean = float(np.exp(one.centre)) if one.scale == LOG else one.centre
    sd = float(np.hypot(one.between, one.within))
    if k == WHOLE:
        return Range(one.lower, one.upper, one.scale, "norm", mean, sd, (one.lower, one.upper))
    return Range.around(mean, sd, k, one.scale, (one.lower, one.upper))


def norm_means(facts: GazeDesignFacts) -> list[dict[str, float]]:
    """The norm's parameters, of every task."""
    return [{each.name: each.centre for each in PARAMETERS} for _ in facts.tasks]


def norm_spreads(wider: float = 1.0) -> dict[str, float]:
    """The norm's spreads between people.

    Args:
        wider: how many times as wide.
    """
    return {each.name: wider * each.between for each in PARAMETERS}


def believed(variance: float, one: Parameter, recordings: float) -> float:
    """The standard deviation between people by the variance of their averages.

    Args:
        variance: of people's averages, on the parameter's scale.
        one: the parameter.
        recordings: that an average is over.
    """
    between = max(variance - one.within**2 / recordings, 0.0) ** 0.5
    return float(np.clip(between, _NARROWEST * one.between, _WIDEST * one.between))


def as_shares(noisy: Floats) -> Floats:
    """The distribution that is nearest to noisy shares: not below 0, adding up to 1.

    >>> as_shares(np.array([0.7, 0.4, -0.3])).round(2).tolist()
    [0.65, 0.35, 0.0]
    """
    flat = np.sort(noisy.ravel())[::-1]
    above = (np.cumsum(flat) - 1) / np.arange(1, flat.size + 1)
    cut = above[np.flatnonzero(flat > above)[-1]]
    shares = np.maximum(noisy - cut, 0.0)
    return np.asarray(shares / shares.sum())


def movements_of(said: str, tasks: Sequence[str]) -> tuple[str, ...]:
    """How gaze moves in each task: ``reading``, ``scene`` or ``search``.

    Args:
        said: one for all tasks, or ``TASK:MOVEMENT,…``; ``auto`` goes by names of tasks.
        tasks: their names.

    >>> movements_of("auto", ["newspaper", "look"]), movements_of("look:search", ["a", "look"])
    (('reading', 'scene'), ('scene', 'search'))
    """
    found = [_by_name(task) for task in tasks]
    if said in MOVEMENTS:
        return (said,) * len(tasks)
    for each in said.split(",") if said != "auto" else ():
        task, colon, movement = each.strip().rpartition(":")
        if not colon or task not in tasks or movement not in MOVEMENTS:
            raise InputError(
                f"movement is {', '.join(MOVEMENTS)} or auto, or TASK:MOVEMENT with commas between "
                f"several, got '{each}'; tasks are {', '.join(filter(None, tasks)) or 'not named'}"
            )
        found[list(tasks).index(task)] = movement
    return tuple(found)


def _by_name(task: str) -> str:
    for movement, words in _WORDS.items():
        if any(word in task.lower() for word in words):
            return movement
    return "scene"
