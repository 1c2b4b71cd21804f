"""An original's gaze, which stays on disk where it can: only what is made of it is in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import one_bar
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.people_choice import Whom, chosen_in
from eyelid.io.pieces import Piece, StudyInPieces, each_piece, in_pieces
from eyelid.io.reading import check_not_a_part
from eyelid.io.remote import here


def gaze_in(
    source: Path | str, people: Whom = None, min_seconds: float | None = None
) -> StudyInPieces | None:
    """The gaze in a study folder, which stays there; None for whatever else is at a place.

    Args:
        source: a path.
        people: whose, as for `eyelid.io.people_choice.people_choice`; everybody's by default.
        min_seconds: what a recording has to last to be summarised; one window by default.
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
    cut = replace(cut, pieces=pieces)
    if people is None and min_seconds is None:
        return cut
    cut = chosen_in(cut, people)
    return replace(cut, head=replace(cut.head, min_seconds=min_seconds))


def summarised(cut: StudyInPieces, make: Callable[[Study], FeatureTable]) -> FeatureTable:
    """A table of everybody, made of some people at a time by the engine of the moment.

    Args:
        cut: a study of samples or fixations.
        make: a function of a module, or a `functools.partial` of one, that summarises every
            recording on its own.
    """
    if len(cut.pieces) == 1:
        # Nobody else need see where it lies.
        return replace(make(cut.pieces[0].read(cut.head)), people=cut.head.people)
    with shared(cut.head) as head, one_bar(len(cut.recordings), "recordings") as bar:
        tables = list(each_piece(partial(_table, head, make), cut, bar, "summarising"))
    return replace(
        tables[0], data=pl.concat([table.data for table in tables]), people=cut.head.people
    )


def _table(
    head: Shared[Study], make: Callable[[Study], FeatureTable], piece: Piece
) -> FeatureTable:
    return make(piece.read(head.get()))
