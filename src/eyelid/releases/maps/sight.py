"""Where the people of a piece looked: all that a map ever takes of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.maps.looks import Looks, Weight
from eyelid.gaze.study import Study
from eyelid.io.pieces import Piece
from eyelid.releases.fingerprint import NO_LOOKS, look_digests
from eyelid.releases.maps.plan import MapPlan, group_of, seen
from eyelid.releases.maps.view import View


@dataclass(frozen=True, eq=False)
class Sight:
    """What whoever reads a piece needs to know.

    Attributes:
        head: everything about the study but its rows.
        view: what was looked at, without pictures.
        weight: what a look counts.
        stretches_ms: where stretches of time begin, and where the last one ends.
        by: the attribute that groups are made by.
        groups: their names; one without a name for everybody.
        known: digests of where people looked, by name, if others are to be refused.
    """

    head: Study
    view: View
    weight: Weight
    stretches_ms: tuple[float, ...] | None
    by: str | None
    groups: tuple[str, ...]
    known: Mapping[str, bytes] | None = None

    @classmethod
    def of(cls, head: Study, plan: MapPlan, known: Mapping[str, bytes] | None = None) -> Sight:
        """As the plan says."""
        groups = tuple(each.name for each in plan.observers) if plan.by else ("",)
        view = replace(plan.view, pictures=())
        return cls(head, view, plan.weight, plan.stretches_ms, plan.by, groups, known)

    def looks(self, piece: Piece) -> Iterator[tuple[int, Looks]]:
        """Those of the people of each group who are in the piece, with the group's number."""
        study = piece.read(self.head)
        for number, name in enumerate(self.groups):
            people = study.people
            if self.by is not None:
                people = people.filter(group_of(self.by) == name)
            if not people.is_empty():
                yield number, self._of(study, people["person"])

    def all_looks(self, study: Study) -> list[Looks]:
        """Those of everybody of each group, who are all in memory."""
        people = study.people
        if self.by is None:
            return [self._of(study, people["person"])]
        return [
            self._of(study, people.filter(group_of(self.by) == name)["person"])
            for name in self.groups
        ]

    def _of(self, study: Study, people: pl.Series) -> Looks:
        looks = seen(
            study, self.view, self.weight, self.stretches_ms, people.to_list(), self.view.stimuli
        )
        if self.known is not None:
            planned = [self.known.get(name, NO_LOOKS) for name in looks.people]
            if look_digests(looks) != planned:
                raise InputError(
                    "the recordings changed after they were looked at, and what is promised may "
                    "not be true of them: make the heatmap again when nobody writes them"
                )
        return looks
