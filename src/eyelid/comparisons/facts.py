"""The public facts of a study, and simulated studies that have the same ones.

What is read off a person's data here is what the certificate of any release of them lists as
unprotected: how many people there are, which recordings and tasks they have, the common length, the
features. Nothing else of them goes into a simulated study.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.features import (
    event_feature_set,
    event_features,
    window_feature_set,
    window_features,
)
from eyelid.gaze.simulator import QUICKEST, simulate
from eyelid.gaze.simulator.pages import TASKS
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.releases.kinds.features.plan import people_alike

# Simulated participants make no fewer than two fixations, and saccades, a second.
_MOST_MS_OF_EVENT = 500.0
# Whose place the simulator's people take where an attribute is asked for that they lack.
_STAND_IN = "gender"


@dataclass(frozen=True)
class Facts:
    """What is publicly known of a study before anything is released.

    Attributes:
        people: N.
        recordings: R, the most of any person.
        length: n, rows of a recording as planned, or the default.
        tasks: their names.
        features: their names.
        attributes: columns of people; only names that goals ask for are used.
        step_ms: time between rows; None where there is no regular step.
        window_ms: what a row summarises; None where rows are no windows.
        alike: whether everybody has the same recordings of the same tasks.
    """

    people: int
    recordings: int
    length: int
    tasks: tuple[str, ...]
    features: tuple[str, ...]
    attributes: tuple[str, ...]
    step_ms: float | None = None
    window_ms: float | None = None
    alike: bool = True

    @classmethod
    def of(cls, table: FeatureTable) -> Facts:
        """The facts of a table."""
        recordings = table.recordings
        known = recordings["task"].drop_nulls().unique().sort() if "task" in recordings else ()
        return cls(
            people=recordings["person"].n_unique(),
            recordings=int(recordings["person"].value_counts()["count"].to_numpy().max()),
            length=table.public_rows,
            tasks=tuple(known),
            features=tuple(table.names),
            attributes=tuple(name for name in table.people.columns if name != "person"),
            step_ms=table.step_ms,
            window_ms=table.window_ms,
            alike=people_alike(table),
        )

    @property
    def chance(self) -> float:
        """Chance of re-identifying a person by guessing."""
        return 1 / self.people

    @property
    def rows_are(self) -> str:
        """``windows``, ``fixations`` or ``saccades`` as eyelid makes them; empty for all else."""
        if self.step_ms and self.window_ms:
            return "windows" if self._known(window_feature_set()) else ""
        kinds = ("fixations", "saccades")
        return next((kind for kind in kinds if self._known(event_feature_set(kind))), "")

    def _known(self, features: tuple[Feature, ...]) -> bool:
        return set(self.features) <= {feature.name for feature in features}

    @property
    def simulable(self) -> str:
        """Why no such study can be simulated; empty if one can."""
        if self.rows_are:
            return ""
        every = (window_feature_set(), *map(event_feature_set, ("fixations", "saccades")))
        known = {feature.name for features in every for feature in features}
        foreign = [name for name in self.features if name not in known]
        what = f"'{foreign[0]}' is none of" if foreign else "together they are no set of"
        return (
            f"the simulator generates gaze, of which eyelid computes its own features of windows, "
            f"fixations or saccades: {what} them"
        )

    @property
    def tasks_made_up(self) -> tuple[str, ...]:
        """Simulated participants' tasks: these where the simulator has them, or as many others."""
        own = set(self.tasks) <= set(TASKS)
        found = self.tasks if own and self.tasks else tuple(TASKS)[: max(1, len(self.tasks))]
        # All have as many recordings as the person with most.
        return tuple(islice(cycle(found), max(self.recordings, len(found))))

    def attribute_made_up(self, name: str) -> str:
        """The attribute of simulated participants that stands for one of these people."""
        return name if name in ("age", "gender", "glasses") else _STAND_IN

    @property
    def tasks_are_too_many(self) -> bool:
        """Whether simulated participants have fewer tasks, which are easier to tell apart."""
        return len(self.tasks) > len(TASKS)

    def in_words(self, attributes: Sequence[str] = ()) -> list[str]:
        """In words: what was used, and what stands for what."""
        if self.simulable:
            # None was simulated, and the candidates follow from these all the same.
            return [
                f"{self.people} people, {self.recordings} recordings of the person with most, "
                f"{self.length} rows of each, {len(self.features)} features, tasks: "
                f"{', '.join(self.tasks) or 'none'}"
            ]
        minutes = self._minutes * QUICKEST
        tasks = ", ".join(dict.fromkeys(self.tasks_made_up))
        lines = [
            f"{self.people} people, {self.recordings} recordings each, {self.length} "
            f"{self.rows_are} of each (up to {minutes:.1f} min), {len(self.features)} features, "
            f"tasks: {tasks}"
        ]
        if set(self.tasks) != set(self.tasks_made_up) and self.tasks:
            lines.append(
                f"your {len(self.tasks)} tasks are others than the simulator's: "
                f"{len(set(self.tasks_made_up))} of its own stand for them"
            )
        if self.tasks_are_too_many:
            lines.append("so few tasks are easier to recognise, so that the rate is left out")
        lines += [
            f"people's {name} is not in the simulator: gender stands for it, two kinds whose eyes "
            "differ a little"
            for name in attributes
            if self.attribute_made_up(name) != name
        ]
        if not self.alike:
            lines.append(
                "your people do not all have the same recordings; simulated ones all have as many "
                "as the person with most"
            )
        return lines

    @property
    def _minutes(self) -> float:
        """Minutes to ask of the simulator, so that every recording has rows enough."""
        long_ms = self.length * _MOST_MS_OF_EVENT
        if self.step_ms and self.window_ms:
            long_ms = self.window_ms + (self.length - 1) * self.step_ms
        return long_ms / 60_000 / QUICKEST

    def simulated(self, seed: int, attributes: Sequence[str] = ()) -> FeatureTable:
        """A study of people who do not exist, with the same public facts.

        Args:
            seed: of these people.
            attributes: of people, that goals ask for.
        """
        if self.simulable:
            raise InputError(self.simulable)
        # A moment more, for the last window to be whole.
        minutes = math.ceil(100 * self._minutes + 1) / 100
        study = simulate(self.people, self.tasks_made_up, minutes=minutes, seed=seed)
        if self.step_ms and self.window_ms:
            table = window_features(study, self.window_ms / 1000, self.step_ms / 1000)
        else:
            table = event_features(study, self.rows_are)
        row = pl.int_range(pl.len()).over("person", "recording")
        kinds = [pl.col(self.attribute_made_up(name)).alias(name) for name in attributes]
        people = table.people.select("person", *kinds)
        cut = replace(table, data=table.data.filter(row < self.length), people=people)
        return cut.only(*self.features)

    def to_dict(self) -> dict[str, Any]:
        """Those that were used."""
        return {
            "people": self.people,
            "recordings": self.recordings,
            "length": self.length,
            "rows": self.rows_are or None,
            "tasks": list(self.tasks),
            "features": len(self.features),
            "step_ms": self.step_ms,
            "window_ms": self.window_ms,
            "alike": self.alike,
        }
