"""What may differ between two neighbouring studies, as each mechanism promises it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from eyelid.mechanisms.aoi_tables import AoiTables
from eyelid.mechanisms.maps.map_mechanism import MapMechanism
from eyelid.mechanisms.means import MeanMechanism
from eyelid.mechanisms.measuring import MeasuringMechanism
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.mechanisms.seeded import Seeded
from eyelid.mechanisms.streams.stream import SceneMechanism
from eyelid.mechanisms.synthetic import Synthetic


@dataclass(frozen=True)
class Changes:
    """What may be another when a participant's data are replaced; values always may.

    Attributes:
        recordings: how many recordings there are, and which, of the tasks of the study.
        lengths: how many rows each of them has, at least one.
        lost: where samples or values are missing, and the time stamps.
    """

    recordings: bool = False
    lengths: bool = False
    lost: bool = True


def allowed_changes(mechanism: Mechanism) -> Changes:
    """What the guarantee of a mechanism, with its parameters, lets a neighbour differ in."""
    if isinstance(mechanism, SceneMechanism):
        return Changes(lost=False)
    if isinstance(mechanism, MapMechanism | AoiTables | Synthetic | Seeded):
        return Changes(recordings=True, lengths=True)
    if isinstance(mechanism, MeasuringMechanism):
        return Changes(
            recordings=isinstance(mechanism, MeanMechanism), lengths=_length_is_public(mechanism)
        )
    return Changes()


def _length_is_public(mechanism: MeasuringMechanism) -> bool:
    """Whether the common length is a number, or what a command without settings gives."""
    (default,) = (item.default for item in fields(mechanism) if item.name == "length")
    return isinstance(mechanism.length, int) or mechanism.length == default
