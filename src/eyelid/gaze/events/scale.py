"""How large a degree is in other units, where the screen does not say."""

from __future__ import annotations

from eyelid.errors import unknown

# Pixels are those of a desktop screen, a fraction is of 1920 of them, and normalised are pupil
# positions in an eye camera image.
PER_DEGREE = {"deg": 1.0, "px": 35.0, "fraction": 35.0 / 1920, "normalised": 1 / 150}


def in_units(degrees: float, units: str) -> float:
    """About as much in other units.

    >>> in_units(2.0, "px")
    70.0
    """
    if units not in PER_DEGREE:
        raise unknown("units", units, PER_DEGREE)
    return degrees * PER_DEGREE[units]
