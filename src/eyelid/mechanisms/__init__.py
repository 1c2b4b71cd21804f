"""The mechanisms, one a module; each docstring is its proof note. They join by registering."""

from eyelid.mechanisms import cfpa, dcfpa, exponential, fpa, gaussian, laplace
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
    "cfpa",
    "dcfpa",
    "describe",
    "exponential",
    "find",
    "fpa",
    "gaussian",
    "laplace",
    "mechanism",
    "register",
]
