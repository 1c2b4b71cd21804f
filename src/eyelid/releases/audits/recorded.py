"""An original's gaze, which stays on disk where it can: only what is made of it is in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import one_bar
from eyelid.gaze.study import Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.people_choice import (
    Whom,
    chosen_in,
    chosen_of,
)
from eyelid.io.pieces import Piece, StudyInPieces, each_piece, in_pieces
from eyelid.io.reading import check_not_a_part
from eyelid.io.remote import here


@dataclass(frozen=True, eq=False)
class Recorded:
    """Gaze samples of people, or their fixations.

    Attributes:
        cut: the study, in pieces.
        held: the same in memory, where it is there anyway.
    """

    cut: StudyInPieces
    held: Study | None = None

    @classmethod
    def of(cls, study: Study) -> Recorded:
        """The gaze of a study that is in memory."""
        return cls(in_pieces(study), study)

    def choosing(self, people: Whom, min_seconds: float | None = None) -> Recorded:
        """That of those chosen alone, shorter recordings left out when it is summarised.

        Args:
            people: as for `eyelid.io.people_choice.people_choice`.
            min_seconds: what a recording has to last; one window by default.
        """
        if people is None and min_seconds is None:
            return self
        cut = chosen_in(self.cut, people)
        cut = replace(cut, head=replace(cut.head, min_seconds=min_seconds))
        held = None if self.held is None else chosen_of(self.held, people)
        return Recorded(cut, None if held is None else replace(held, min_seconds=min_seconds))

    def under(self, origin: Origin | None) -> Recorded:
        """The same with another origin."""
        return Recorded(replace(self.cut, head=replace(self.cut.head, origin=origin)))

    @cached_property
    def study(self) -> Study:
        """All of it, in memory."""
        return self.cut.whole() if self.held is None else self.held

    @property
    def samples(self) -> Study | None:
        """All of it, in memory; None where there are fixations alone."""
        return self.study if self.cut.head.kind == "samples" else None

    def summarised(self, make: Callable[[Study], FeatureTable]) -> FeatureTable:
        """A table of everybody, made of some people at a time by the engine of the moment.

        Args:
            make: a function of a module, or a `functools.partial` of one, that summarises every
                recording on its own.
        """
        pieces = self.cut.pieces
        if len(pieces) == 1:
            # Nobody else need see where it lies.
            return replace(make(pieces[0].read(self.cut.head)), people=self.cut.head.people)
        with shared(self.cut.head) as head, one_bar(len(self.cut.recordings), "recordings") as bar:
            work = partial(_table, head, make)
            tables = list(each_piece(work, self.cut, bar, "summarising"))
        return replace(
            tables[0],
            data=pl.concat([table.data for table in tables]),
            people=self.cut.head.people,
        )


def _table(
    head: Shared[Study], make: Callable[[Study], FeatureTable], piece: Piece
) -> FeatureTable:
    return make(piece.read(head.get()))


def recorded_in(source: Path | str) -> Recorded | None:
    """The gaze in a study folder, which stays there; None for whatever else is at a place.

    Args:
        source: a path.
    """
    path = Path(source)
    if not study_folder.recognises(path):
        return None
    check_not_a_part(path)
    if study_folder.read_head(here(path), pl.DataFrame()).kind == "features":
        return None
    cut = in_pieces(path)
    # What was found of events is not needed.
    pieces = tuple(replace(piece, events=None) for piece in cut.pieces)
    return Recorded(replace(cut, pieces=pieces))
