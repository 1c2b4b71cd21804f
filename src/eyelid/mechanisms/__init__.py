"""The mechanisms, one a module, one folder for each kind of release; they join by registering."""

from eyelid.mechanisms import groups, maps, means, records, streams, synthetic
from eyelid.mechanisms.mechanism import (
    Mechanism,
    NeighbourPair,
    Shape,
    catalogue,
    describe,
    find,
    mechanism,
    register,
)

__all__ = [
    "Mechanism",
    "NeighbourPair",
    "Shape",
    "catalogue",
    "describe",
    "find",
    "groups",
    "maps",
    "means",
    "mechanism",
    "records",
    "register",
    "streams",
    "synthetic",
]
