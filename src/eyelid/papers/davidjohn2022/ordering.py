"""Which mechanism keeps most of a document at equal identification: the paper's claim.

The common level is the lowest that all three published mechanisms reach: the highest of their
lowest rates. Of each mechanism that setting is taken whose rate is nearest to it, and not above.
What they promise is not equal, whatever their rates: that is told besides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eyelid.attacks.statistics import mean_of_people
from eyelid.papers.davidjohn2022.results import Results
from eyelid.papers.davidjohn2022.settings import PUBLISHED, SOUND, Kind, Setting
from eyelid.papers.davidjohn2022.trials import MACHINE, off_by_runs
from eyelid.papers.reproduction import Value

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Chosen:
    """A mechanism at the common level.

    Attributes:
        kind: which one.
        setting: where on its axis.
        named: how many people are.
        told: how many windows' document is, by model; one model under the paper's protocol.
        reaches: whether it is at or below the level.
    """

    kind: Kind
    setting: Setting
    named: Value
    told: dict[str, Value]
    reaches: bool


@dataclass(frozen=True)
class Order:
    """Mechanisms at one level of identification.

    Attributes:
        level: at most so many people are named.
        chosen: the published ones and ours.
    """

    level: float
    chosen: tuple[Chosen, ...]

    def of(self, name: str) -> Chosen:
        """That of one mechanism."""
        return next(one for one in self.chosen if one.kind.name == name)

    def ranked(self, model: str = MACHINE) -> list[Chosen]:
        """The published ones, those that keep most first."""
        published = [self.of(kind.name) for kind in PUBLISHED]
        return sorted(published, key=lambda one: -one.told[model].mean)

    def as_published(self, model: str = MACHINE) -> bool:
        """Whether the order is the paper's: groups, then marginals, then noise."""
        return [one.kind for one in self.ranked(model)] == list(PUBLISHED)


def order_as_printed(results: Results) -> Order | None:
    """At equal identification under the paper's protocol; None where something is missing."""
    points = {}
    for kind in _named_kinds():
        for setting in results.settings(kind):
            named, told = results.named_as_printed(setting), results.told_as_printed(setting)
            if named is not None and told is not None:
                points[setting] = named, {MACHINE: told}
    return _order(results, points)


def order(results: Results) -> Order | None:
    """The same honestly: by the attacker who names most; None where something is missing."""
    points = {
        setting: (results.strongest(setting)[1], results.told(setting))
        for kind in _named_kinds()
        for setting in results.settings(kind)
        if results.told(setting)
    }
    return _order(results, points)


def surely_more(results: Results, more: Setting, less: Setting, model: str) -> bool:
    """Whether one keeps more than the other for people and runs at large.

    That is, whether the lower limit of the difference is above zero; one run is never enough.
    """
    sides = (results.told_by_person(setting, model) for setting in (more, less))
    runs = [np.asarray(one - other) for one, other in zip(*sides, strict=True)]
    found = mean_of_people(np.asarray(np.mean(runs, axis=0)))
    if found is None or found.low is None:
        return False
    return found.value > math.hypot(found.value - found.low, off_by_runs(runs))


def _named_kinds() -> list[Kind]:
    ours = [kind for kinds in SOUND.values() for kind in kinds if kind.named]
    return [*PUBLISHED, *ours]


def _order(results: Results, points: dict[Setting, tuple[Value, dict[str, Value]]]) -> Order | None:
    of_kind = {
        kind: [setting for setting in results.settings(kind) if setting in points]
        for kind in _named_kinds()
    }
    if not all(of_kind[kind] for kind in PUBLISHED):
        return None
    level = max(min(points[setting][0].mean for setting in of_kind[kind]) for kind in PUBLISHED)

    def nearest(kind: Kind) -> Chosen:
        def place(setting: Setting) -> tuple[bool, float, float]:
            named, told = points[setting]
            above = named.mean > level + _ROUNDING
            # Above the level, the less the better; of equal rates the one that keeps more.
            return above, abs(named.mean - level), -told[MACHINE].mean

        setting = min(of_kind[kind], key=place)
        named, told = points[setting]
        return Chosen(kind, setting, named, told, not place(setting)[0])

    return Order(level, tuple(nearest(kind) for kind in of_kind if of_kind[kind]))
