"""The first look at gaze that is to be filtered: piece by piece, before anything is settled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.gaze.study import Study
from eyelid.io.pieces import Piece, StudyInPieces, each_piece
from eyelid.releases.streams.facts import GazeFacts, facts_of, together
from eyelid.releases.streams.plan import (
    check_eyes,
    eyes_of,
    stated_eyes,
    taken_of,
    with_lost_eye,
    without_eye,
)


@dataclass(frozen=True)
class _Look:
    """What is in a piece.

    Attributes:
        eyes: that there is gaze of.
        lacking: the first person and recording, by name, without the eye that was named.
        facts: of what is taken; None where it is not clear what that would be.
    """

    eyes: tuple[str, ...]
    lacking: tuple[str, str] | None
    facts: GazeFacts | None


def looked_at(cut: StudyInPieces, eye: str | None, times: str, advance: Advance) -> GazeFacts:
    """The facts of everything that a filter takes, each piece looked at by whoever is free.

    Args:
        cut: a study of samples.
        eye: which of several eyes.
        times: whether time stamps are those recorded, or regular.
        advance: of the bar of the whole run, by recordings.
    """
    with shared(cut.head) as head:
        looks = list(each_piece(partial(_look, head, eye, times), cut, advance, "looking"))
    eyes = stated_eyes(sorted({each for look in looks for each in look.eyes}))
    lacking = min((look.lacking for look in looks if look.lacking is not None), default=None)
    check_eyes(eyes, eye, lacking)
    return together([look.facts for look in looks if look.facts is not None])


def _look(head: Shared[Study], eye: str | None, times: str, piece: Piece) -> _Look:
    study = piece.read(head.get())
    eyes, lacking = eyes_of(study.data), without_eye(with_lost_eye(study, eye).data, eye)
    clear = lacking is None and (len(eyes) < 2 if eye is None else eye in eyes or not any(eyes))
    return _Look(tuple(eyes), lacking, facts_of(taken_of(study, eye, times)) if clear else None)
