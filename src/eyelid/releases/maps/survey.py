"""What a look at everybody's gaze tells its owner before a map is paid for: in no file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.io.pieces import Piece, StudyInPieces, each_piece
from eyelid.releases.fingerprint import NO_LOOKS, digest_of_looks, look_digests
from eyelid.releases.maps.plan import MapPlan
from eyelid.releases.maps.sight import Sight


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
