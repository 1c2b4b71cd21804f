"""What is known of the gaze that a filter takes, piece by piece and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.streams.study_scene import gaze_columns
from eyelid.releases.fingerprint import person_digests

KEYS = ["person", "recording", "task", "stimulus", "time_ms"]


@dataclass(frozen=True)
class GazeFacts:
    """What a plan needs to know of gaze; the gaze itself stays with whoever reads it.

    Attributes:
        people: their names, in order.
        recordings: how many there are.
        samples: how many these have.
        shape: the public facts.
        shortest: samples of the shortest recording.
        seen: whether any sample is not lost.
        digests: of what is taken of each person.
        shown: of what is released as it is, one for each way in which people differ.
    """

    people: tuple[str, ...]
    recordings: int
    samples: int
    shape: Shape
    shortest: int
    seen: bool
    digests: tuple[bytes, ...]
    shown: frozenset[bytes]

    @cached_property
    def digest_of(self) -> dict[str, bytes]:
        """The digest of what is taken of each person, by name."""
        return dict(zip(self.people, self.digests, strict=True))

    @property
    def alike(self) -> bool:
        """Whether everybody has the same recordings, time stamps and lost samples."""
        return len(self.shown) == 1


def facts_of(taken: Study) -> GazeFacts:
    """The facts of what a filter takes of some people.

    Args:
        taken: see `eyelid.releases.streams.plan.taken_of`.
    """
    data = taken.data
    return GazeFacts(
        people=tuple(data["person"].unique(maintain_order=True)),
        recordings=data.select(RECORDING_KEY).n_unique(),
        samples=len(data),
        shape=shape_of(taken),
        shortest=shortest_of(taken),
        seen=data[gaze_columns(taken)[0]].null_count() < len(data),
        digests=tuple(person_digests(data)),
        shown=_shown(taken),
    )


def together(parts: Sequence[GazeFacts]) -> GazeFacts:
    """The facts of everybody.

    Args:
        parts: of the pieces, in order; nobody is in two of them.
    """
    shapes = [part.shape for part in parts]
    return GazeFacts(
        people=tuple(name for part in parts for name in part.people),
        recordings=sum(part.recordings for part in parts),
        samples=sum(part.samples for part in parts),
        shape=Shape(
            people=sum(shape.people for shape in shapes),
            recordings=max(shape.recordings for shape in shapes),
            length=max(shape.length for shape in shapes),
            features=shapes[0].features,
            window=1,
        ),
        shortest=min(part.shortest for part in parts),
        seen=any(part.seen for part in parts),
        digests=tuple(digest for part in parts for digest in part.digests),
        shown=frozenset[bytes]().union(*(part.shown for part in parts)),
    )


def shape_of(taken: Study) -> Shape:
    """The public facts: people, the most recordings of anybody, the longest recording."""
    lengths = taken.data.group_by(RECORDING_KEY).len()
    return Shape(
        people=lengths["person"].n_unique(),
        recordings=int(lengths["person"].unique_counts().max()),  # type: ignore[arg-type]
        length=int(lengths["len"].max()),  # type: ignore[arg-type]
        features=len(gaze_columns(taken)),
        window=1,
    )


def shortest_of(taken: Study) -> int:
    """Samples of the shortest recording."""
    return int(taken.data.group_by(RECORDING_KEY).len()["len"].min())  # type: ignore[arg-type]


def recordings_touched(window: int, recordings: int, shortest: int) -> int:
    """In how many recordings of a person so many samples in a row can lie, at most.

    Two of them may be touched at an end, by one sample each; those between are touched whole.

    Args:
        window: samples in a row.
        recordings: of a person, one after the other.
        shortest: samples of the shortest.

    >>> recordings_touched(30, 3, 600), recordings_touched(30, 40, 10), recordings_touched(1, 3, 9)
    (2, 4, 1)
    """
    return 1 if window == 1 else min(recordings, 2 + (window - 2) // shortest)


def same_for_all(taken: Study) -> bool:
    """Whether everybody has the same recordings, time stamps and lost samples."""
    return len(_shown(taken)) == 1


def _shown(taken: Study) -> frozenset[bytes]:
    """One digest for each way in which recordings, time stamps and lost samples are."""
    lost = pl.col(gaze_columns(taken)[0]).is_null().cast(pl.Float64)
    return frozenset(person_digests(taken.data.select(*KEYS, lost.alias("lost"))))
