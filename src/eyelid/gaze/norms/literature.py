"""The published norms, and which of them is for a feature."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from eyelid.errors import unknown
from eyelid.gaze.norms.definitions import measure_of
from eyelid.gaze.norms.norm import ANY, BY_THEMSELVES, OWN, TASKS, Norm, Source, converts
from eyelid.gaze.study import Feature

_SOURCE = ("short", "reference", "place", "printed", "population", "instrument", "arithmetic")


def norms(measure: str | None = None, task: str | None = None) -> tuple[Norm, ...]:
    """Published norms, in the order of the file that has them.

    Args:
        measure: one, by its name or one that tables know it by; all by default.
        task: one of `TASKS`; all by default.

    >>> [norm.task for norm in norms("blink_rate")]
    ['silent-reading', 'walking', 'fixation', 'any']
    >>> norms("wpm", "reading-aloud")[0].between
    30.3
    """
    if task is not None and task not in TASKS:
        raise unknown("kind of task", task, TASKS)
    name = None if measure is None else measure_of(measure)
    if measure is not None and name is None:
        measures = {norm.measure for norm in _published()}
        raise unknown("measure", measure, measures, "eyelid norms")
    return tuple(
        norm for norm in _published() if name in (None, norm.measure) and task in (None, norm.task)
    )


def norm_for(
    feature: Feature, task: str, own: Iterable[Norm] = (), statistic: str = "mean"
) -> Norm | None:
    """The norm of a feature, in its unit: one's own before a published one, the task before any.

    None where there is none, or where published ones are in a unit that does not convert, as
    degrees do not into pixels. A norm of one's own in a wrong unit is an error. Norms for any task
    are not for head-mounted displays and webcams, and those of medians are not for means.

    Args:
        feature: whose people's averages are wanted.
        task: one of `TASKS`.
        own: norms of one's own, as `eyelid.io.norms.read_norms` gives them.
        statistic: what is taken of each person: ``mean`` or ``median``.

    >>> seconds = Feature("gaze_duration", "s", "", 0.0, 10.0)
    >>> norm = norm_for(seconds, "silent-reading")
    >>> norm.mean, norm.between, norm.range(5, seconds)
    (0.325, 0.075, (0.0, 0.7))
    """
    if task not in TASKS:
        raise unknown("kind of task", task, TASKS)
    name = measure_of(feature.name) or feature.name
    wanted = (task,) if task in BY_THEMSELVES else (task, ANY)
    found = [
        norm
        for norms_of_one in (tuple(own), _published())
        for kind in wanted
        for norm in norms_of_one
        if (measure_of(norm.measure) or norm.measure, norm.task, norm.statistic)
        == (name, kind, statistic)
    ]
    fitting = [n for n in found if n.grade == OWN or converts(n.unit, feature.unit)]
    return fitting[0].converted(feature.unit) if fitting else None


@cache
def _published() -> tuple[Norm, ...]:
    text = resources.files("eyelid.gaze.norms").joinpath("published.toml").read_text("utf-8")
    return tuple(_norm(dict(entry)) for entry in tomllib.loads(text)["norms"])


def _norm(entry: dict[str, Any]) -> Norm:
    about = {key: entry.pop(key) for key in _SOURCE if key in entry}
    return Norm(**entry | {"source": Source(entry["source"], **about)})
