"""Where people looked, piece by piece: all that a map ever takes of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.errors import InputError
from eyelid.gaze.maps.looks import Looks, Weight, looks_of
from eyelid.gaze.study import Study
from eyelid.io.pieces import Piece, StudyInPieces, each_piece
from eyelid.releases.fingerprint import NO_LOOKS, digest_of_looks, look_digests
from eyelid.releases.kinds.maps.plan import MapPlan
from eyelid.releases.kinds.maps.settings import MS, group_of
from eyelid.releases.kinds.maps.view import View


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


@dataclass(frozen=True, eq=False)
class Survey:
    """What there is to see.

    Attributes:
        looks: how many are on the picture.
        outside: and how many beside it.
        without: people who have none on it.
        most: of one person.
        layers: whether anybody looked at each of them.
        digests: of those of each person who has rows, by name.
        digest: of all of them.
    """

    looks: int
    outside: int
    without: int
    most: int
    layers: NDArray[np.bool_]
    digests: dict[str, bytes]
    digest: bytes


@dataclass(frozen=True, eq=False)
class _Part:
    """The same of some people, by their names."""

    people: tuple[str, ...]
    digests: list[bytes]
    looks: NDArray[np.int64]
    outside: int
    layers: NDArray[np.bool_]


def surveyed(cut: StudyInPieces, plan: MapPlan, advance: Advance) -> Survey:
    """Look at everybody, piece by piece.

    Args:
        cut: the study.
        plan: of the map.
        advance: of the bar of the whole run, by recordings.
    """
    digests: dict[str, bytes] = {}
    looks = outside = most = present = 0
    layers = np.zeros(len(plan.layers), dtype=np.bool_)
    with shared(Sight.of(cut.head, plan)) as handle:
        for parts in each_piece(partial(_surveyed, handle), cut, advance, "looking"):
            for part in parts:
                digests.update(zip(part.people, part.digests, strict=True))
                looks += int(part.looks.sum())
                most = max(most, int(part.looks.max()))
                present += int(np.count_nonzero(part.looks))
                outside += part.outside
                layers |= part.layers
    everybody = [digests.get(name, NO_LOOKS) for name in plan.people]
    digest = digest_of_looks(plan.people, plan.layers, plan.view.size, everybody)
    return Survey(looks, outside, len(plan.people) - present, most, layers, digests, digest)


def _surveyed(handle: Shared[Sight], piece: Piece) -> list[_Part]:
    return [
        _Part(
            looks.people,
            look_digests(looks),
            np.bincount(looks.person, minlength=len(looks.people)),
            looks.outside,
            np.bincount(looks.layer, minlength=len(looks.layers)) > 0,
        )
        for _, looks in handle.get().looks(piece)
    ]


def seen(
    study: Study,
    view: View,
    weight: Weight,
    stretches_ms: Sequence[float] | None = None,
    people: Sequence[str] | None = None,
    known: Sequence[str] | None = None,
) -> Looks:
    """Where people looked on the picture. Durations weigh in seconds, and so do caps of them."""
    looks = looks_of(
        study,
        width_px=view.width_px,
        height_px=view.height_px,
        stimuli=view.stimuli,
        placement=view.placement,
        weight=weight,
        stretches_ms=stretches_ms,
        people=people,
        known=known,
    )
    return replace(looks, weight=looks.weight / MS) if weight == "duration" else looks
