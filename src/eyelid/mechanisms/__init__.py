"""The mechanisms, one a module; each docstring is its proof note. They join by registering."""

from eyelid.mechanisms import (
    cfpa,
    dcfpa,
    dct,
    envelope,
    exponential,
    fpa,
    gaussian,
    groupmean,
    laplace,
    papers,
    prewindow,
)
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
    "dct",
    "describe",
    "envelope",
    "exponential",
    "find",
    "fpa",
    "gaussian",
    "groupmean",
    "laplace",
    "mechanism",
    "papers",
    "prewindow",
    "register",
]
