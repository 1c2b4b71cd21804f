"""Everybody's numbers, piece by piece: all that results ever take of people's rows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.gaze.measures.panel import Floats, Panel
from eyelid.gaze.study import Study
from eyelid.io.pieces import Piece, StudyInPieces, each_piece
from eyelid.io.release_folder import digest_of_people
from eyelid.releases.kinds.statistics.questions import Asked


@dataclass(frozen=True, eq=False)
class Survey:
    """What everybody's rows come to.

    Attributes:
        values: people × columns of the panel; NaN where a person has no number. Private.
        digest: a hash of all of them, by person.
    """

    values: Floats
    digest: bytes

    @property
    def lacking(self) -> NDArray[np.int64]:
        """How many people have no number, of each column; for the owner's eyes."""
        return np.asarray(np.isnan(self.values).sum(axis=0), dtype=np.int64)


def surveyed(cut: StudyInPieces, asked: Asked, advance: Advance) -> Survey:
    """Look at everybody, piece by piece: memory follows the largest piece.

    Args:
        cut: the study.
        asked: of whom, and what.
        advance: of the bar of the whole run, by recordings.
    """
    place = {person: row for row, person in enumerate(asked.people)}
    values = np.full((len(asked.people), len(asked.panel.columns)), np.nan)
    with shared((cut.head, asked.panel)) as handle:
        for people, found in each_piece(partial(_of_piece, handle), cut, advance, "measuring"):
            values[[place[person] for person in people]] = found
    return Survey(values, values_digest(asked, values))


def _of_piece(handle: Shared[tuple[Study, Panel]], piece: Piece) -> tuple[tuple[str, ...], Floats]:
    head, panel = handle.get()
    return piece.people, panel.values(piece.read(head), piece.people)


def values_digest(asked: Asked, values: Floats) -> bytes:
    """SHA-256 of everybody's numbers and group, and of what they are.

    Args:
        asked: of whom, and what.
        values: people × columns.
    """
    columns = [[c.measure.name, c.place, c.contrast] for c in asked.panel.columns]
    # There is more than one NaN.
    plain = np.where(np.isnan(values), np.nan, values + 0.0)
    names = [name for name, _ in asked.sizes]
    whose = [names[group] if asked.said.by else "" for group in asked.groups.member]
    own = [
        hashlib.sha256(row.tobytes() + group.encode()).digest()
        for row, group in zip(plain, whose, strict=True)
    ]
    found = hashlib.sha256(json.dumps(columns).encode())
    found.update(digest_of_people(list(asked.people), own))
    return found.digest()
