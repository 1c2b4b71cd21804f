"""What people do in a task: means and spreads of parameters, places, and a kind of movement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.generator.parameters import MOVEMENTS, NAMES, PARAMETERS, Floats, Parameter

# So many repetitions the norm is worth, where they are few.
_NORMS_WORTH = 10
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Places:
    """Where on a screen people look: probabilities over a grid, rows from the top.

    Attributes:
        shares: of fixations in each cell; they need not sum to 1, and negative ones count as 0.
    """

    shares: Floats

    def __post_init__(self) -> None:
        shares = np.maximum(np.nan_to_num(np.asarray(self.shares, dtype=np.float64)), 0.0)
        if shares.ndim != 2 or not shares.size:
            raise InputError(f"places are a grid of rows and columns, got shape {shares.shape}")
        total = shares.sum()
        even = np.full(shares.shape, 1.0 / shares.size)
        object.__setattr__(self, "shares", shares / total if total > 0 else even)

    def density(self, across: Floats, down: Floats) -> Floats:
        """Relative density at shares of the screen from its top left; 0 beyond it.

        Args:
            across: shares of its width.
            down: shares of its height.

        >>> Places(np.array([[0.0, 1.0]])).density(np.array([0.2, 0.7, 1.2]), np.full(3, 0.5))
        array([0., 2., 0.])
        """
        rows, columns = self.shares.shape
        column, row = np.floor(across * columns), np.floor(down * rows)
        inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        row = np.clip(row, 0, rows - 1).astype(np.intp)
        column = np.clip(column, 0, columns - 1).astype(np.intp)
        return np.where(inside, self.shares[row, column] * self.shares.size, 0.0)


@dataclass(frozen=True)
class Profile:
    """All that is needed of a task besides a person: what is not given is the norm's.

    Attributes:
        means: of parameters over people, on their scales.
        between: standard deviations between people, on the scales.
        within: standard deviations between recordings of a person, on the scales.
        places: by stimulus where people look; under ``""`` where they do on any other one. Without
            any, around the middle as far as the parameters of spread say.
        movement: ``reading``, ``scene`` or ``search``: what a movement owes to the one before.
    """

    means: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    between: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    within: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    places: Mapping[str, Places] = field(default_factory=dict)
    movement: str = "scene"

    def __post_init__(self) -> None:
        if self.movement not in MOVEMENTS:
            raise unknown("movement", self.movement, MOVEMENTS)
        for values in (self.means, self.between, self.within):
            for name in values:
                if name not in NAMES:
                    raise unknown("parameter", name, NAMES)

    def table(self) -> tuple[Floats, Floats, Floats]:
        """Means and both spreads of every parameter in order, the norm where none is given."""

        def filled(given: Mapping[str, float], norm: str, least: float) -> Floats:
            values = [given.get(one.name, getattr(one, norm)) for one in PARAMETERS]
            norms = [getattr(one, norm) for one in PARAMETERS]
            known = np.where(np.isfinite(values), values, norms)
            return np.asarray(np.maximum(known, least))

        means = filled(self.means, "centre", -np.inf)
        lower, upper = np.array([one.bounds for one in PARAMETERS]).T
        return (
            np.clip(means, lower, upper),
            filled(self.between, "between", 0.0),
            filled(self.within, "within", 0.0),
        )

    def places_of(self, stimulus: str) -> Places | None:
        """Where people look on a stimulus; None where nothing says so."""
        return self.places.get(stimulus, self.places.get(""))


def profiles_of(measured: pl.DataFrame, movements: Mapping[str, str]) -> dict[str, Profile]:
    """Profiles by task of measured recordings, exactly: they show whose recordings these are.

    Args:
        measured: as `eyelid.gaze.generator.measured` gives it.
        movements: the kind of movement of each task; others are ``scene``.
    """
    found = {}
    for (task,), rows in measured.partition_by("task", as_dict=True).items():
        person = rows["person"].rank("dense").to_numpy().astype(np.intp) - 1
        means, between, within = {}, {}, {}
        for one in PARAMETERS:
            values = rows[one.name].to_numpy().astype(np.float64)
            known = np.isfinite(values)
            if not known.any():
                continue
            scaled = one.scaled(values[known])
            count = np.bincount(person[known])
            there = count > 0
            own = np.bincount(person[known], scaled)[there] / count[there]
            means[one.name] = float(own.mean())
            if len(own) < 2:
                continue
            spare = scaled - own[np.cumsum(there)[person[known]] - 1]
            variance, share = float(scaled.var(ddof=1)), _within_share(one)
            repeated = len(scaled) - len(own)
            if repeated and variance > 0:
                # Few repetitions do not tell persons from days: as well by the norm's shares.
                seen = min(float((spare**2).sum() / repeated) / variance, 1.0)
                share = (repeated * seen + _NORMS_WORTH * share) / (repeated + _NORMS_WORTH)
            within[one.name] = (variance * share) ** 0.5
            between[one.name] = (variance * (1.0 - share)) ** 0.5
        found[str(task)] = Profile(
            means, between, within, movement=movements.get(str(task), "scene")
        )
    return found


def _within_share(one: Parameter) -> float:
    """What part of the variance is a person's own from recording to recording, by the norm."""
    return one.within**2 / (one.between**2 + one.within**2)
